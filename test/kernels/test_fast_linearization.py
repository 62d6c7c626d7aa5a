# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Linearization by lanes and in plain loops against the dense referee and extended precision."""

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from support import extended_reference, general
from support.close import assert_close, deviation
from support.passive_joints import with_passive_joints
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.trees import gimbal, gram_link, random_description, random_model, tree_description

from geolin_ros import Linearizer, State, TreeModel, Wrench, forward_dynamics_derivatives
from geolin_ros.errors import ModelError, NotFiniteError, SingularInertiaError
from geolin_ros.kernels.engine import linearization, own_results


def assert_as_referee(model, state, tau, wrenches=(), tolerance=1e-11):
    """Compare the engine's, and those in plain loops, which have no kinematic rows."""
    A, B, nu_dot = general.linearization(model, state, tau, wrenches)
    L, m = Linearizer(model)(state, tau, wrenches=wrenches), model.m
    D = forward_dynamics_derivatives(model, state, tau, wrenches)
    assert_close(L.nu_dot, nu_dot, tolerance, 'nu_dot')
    assert_close(L.A[:m], A[:m], tolerance, 'kinematic rows')
    for by_state, by_tau in ((L.A[m:], L.B[m:]), (np.hstack(D[:4]), D.dnu_dot_dtau)):
        assert_close(by_state[:, :m], A[m:, :m], tolerance, 'A by position')
        scale = max(1.0, np.abs(A[m:, m:]).max())  # zero where joints do not feel each other
        assert_close(by_state[:, m:], A[m:, m:], tolerance, 'A by rate', scale)
        assert_close(by_tau, B[m:], tolerance, 'B')


def wrenches_of(model, rng):
    """Return a wrench of each kind, on the base and on drawn links."""
    links = [model.base_link, *rng.choice(model.link_names, 2)]
    return [
        Wrench(str(link), 5.0 * rng.normal(size=3), rng.normal(size=3), kind)
        for link, kind in zip(links, ('body', 'world', 'world_oriented'), strict=True)
    ]


@pytest.mark.parametrize('shape', ['chain', 'star', 'branched'])
@pytest.mark.parametrize('count', [1, 2, 3, 4, 7, 8, 9, 15, 17, 24, 33, 40])
def test_linearization__of_trees_that_fill_blocks_or_do_not(count, shape):
    for base in ('floating', 'fixed'):
        rng = np.random.default_rng([count, ord(shape[0])])
        model = random_model(rng, count, shape, base=base)[1]
        if count % 2:
            model = with_passive_joints(model, rng)
        assert_as_referee(model, model.random_state(rng), rng.normal(size=model.n))


@pytest.mark.parametrize('length', [1, 2, 3, 4, 5, 6, 8, 11])
def test_linearization__of_legs_that_share_blocks_or_fill_several(length):
    rng = np.random.default_rng(length)
    parents = [0 if i % length == 0 else i for i in range(4 * length)]
    description = tree_description(rng, parents, ['revolute'] * len(parents))
    model = TreeModel.from_description(description)
    assert_as_referee(model, model.random_state(rng), rng.normal(size=model.n))


@pytest.mark.parametrize(
    'name', ['solo12', 'b1', 'g1_29dof_rev_1_0', 'icub', 'talos_full_v2', 'centauro', 'panda']
)
def test_linearization__of_robots_with_and_without_wrenches(name):
    rng = np.random.default_rng(5)
    model = read_robot(example_robot(name), base='fixed' if name == 'panda' else 'floating')[1]
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    condition = np.linalg.cond(general.mass_matrix(model, state))
    tolerance = max(1e-12, 10.0 * np.finfo(float).eps * condition)
    for wrenches in ((), wrenches_of(model, rng)):
        assert_as_referee(model, state, tau, wrenches, tolerance)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason='no extended precision here')
@pytest.mark.parametrize(
    'name', ['solo12', 'go2', 'g1_29dof_rev_1_0', 'icub', 'talos_reduced', 'talos_full_v2']
)
def test_rounding__is_smaller_than_pinocchios(name):
    path = example_robot(name)
    model = read_robot(path)[1]
    pinocchio, linearizer = PinocchioOracle.read_urdf(path, model), Linearizer(model)
    ours, theirs = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        state, tau = model.random_state(rng), rng.normal(size=model.n)
        exact = extended_reference.linearization(model, state, tau)
        found = linearizer(state, tau)
        ours.append(deviations(model, (found.A, found.B, found.nu_dot), exact))
        theirs.append(deviations(model, pinocchio.linearization(state, tau), exact))
    means = np.exp(np.mean(np.log(ours), axis=0)), np.exp(np.mean(np.log(theirs), axis=0))
    assert np.all(means[0] <= means[1]), f'A, B, nu_dot: {means[0]}, Pinocchio {means[1]}'


def deviations(model, found, exact):
    """Return the deviations of the rows of nu_dot of A and B, and of nu_dot."""
    A, B, nu_dot = found
    return [
        deviation(value, reference)
        for value, reference in zip((A[model.m :], B[model.m :], nu_dot), exact, strict=True)
    ]


@pytest.mark.filterwarnings('ignore::geolin_ros.errors.ModelWarning')
def test_inertia_of_no_rigid_body__is_refused():
    rng = np.random.default_rng(7)
    gram = TreeModel.from_description(random_description(rng, 5, make_link=gram_link))
    with pytest.raises(ModelError, match=r'not that of a rigid body.*make them from mass'):
        Linearizer(gram)


def test_infinite_rates__are_found_in_the_accelerations():
    rng = np.random.default_rng(8)
    model = random_model(rng, 6)[1]
    state = model.random_state(rng)
    state.r[3] = 1e200
    for call in (Linearizer(model), lambda *at: forward_dynamics_derivatives(model, *at)):
        with pytest.raises(NotFiniteError, match='the accelerations'):
            call(state, np.zeros(6))


@pytest.mark.parametrize('line', [0, 1, 2])
@pytest.mark.parametrize('order', [('pan', 'tilt', 'roll'), ('roll', 'pan', 'tilt')])
@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_gimbal_lock_of_massless_links__names_the_joint(base, order, line):
    """Two axes in line with nothing between them: the first has no inertia of its own to move.

    Of what it has where they nearly are, a share of tilt^2, rounding leaves no two digits.
    """
    model = gimbal(base, order, line)
    linearizer, state = Linearizer(model), model.neutral_state()
    state.s[:] = 0.3
    linearizer(state, np.zeros(3))
    for tilt in (0.0, 3e-8):
        state.s[order.index('tilt')] = tilt
        for call in (linearizer, linearizer.forward_dynamics):
            with pytest.raises(SingularInertiaError, match="'pan'"):
                call(state, np.zeros(3))


def test_repeated_calls__give_the_same_bytes_whatever_came_between():
    rng = np.random.default_rng(10)
    model = random_model(rng, 17)[1]
    linearizer = Linearizer(model)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    first = linearizer(state, tau).copy()
    wrenches = wrenches_of(model, rng)
    linearizer(model.random_state(rng), tau, wrenches=wrenches).frozen()
    bad = state.copy()
    bad.s[:] = np.nan
    with pytest.raises(NotFiniteError):
        linearizer(bad, tau)
    again = linearizer(state, tau)
    for name in ('A', 'B', 'nu_dot', 'drift'):
        assert getattr(first, name).tobytes() == getattr(again, name).tobytes(), name
    fresh = Linearizer(model)(state, tau)
    assert fresh.A.tobytes() == again.A.tobytes()


def test_kernels__have_one_signature_and_allocate_nothing():
    rng = np.random.default_rng(11)
    calls = []
    for base in ('floating', 'fixed'):
        model = random_model(rng, 9, base=base)[1]
        state, tau = model.random_state(rng), np.zeros(model.n)
        calls += [(Linearizer(model), state, tau), (Linearizer(model), state, list(tau))]
    for linearizer, state, tau in calls:
        linearizer(state, tau)
        linearizer(state, tau, wrenches=[Wrench(linearizer.model.base_link)]).frozen()
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        for linearizer, state, tau in calls:
            linearizer(state, tau)
        assert rtsys.get_allocation_stats() == before
        numba.njit(lambda: np.zeros(3))()  # not of that kind: the counters do count
        assert rtsys.get_allocation_stats() != before
    finally:
        _nrt_python.memsys_disable_stats()
    for kernel in (linearization.linearize, own_results.linearize_own):
        assert len(kernel.signatures) == 1, kernel


def access_everything():
    """Run by `kernels/test_bounds.py` where every access is checked."""
    rng = np.random.default_rng(12)
    parents = [0, 1, 2, 3, 2, 0, 6, 7, 0, 9, 10]  # numbered as the engine does
    description = tree_description(rng, parents, ['revolute', *10 * ['helical']])
    model = with_passive_joints(TreeModel.from_description(description), rng)
    linearizer, state, tau = Linearizer(model), model.random_state(rng), rng.normal(size=model.n)
    assert_as_referee(model, state, tau, wrenches_of(model, rng), 1e-10)
    engine = linearizer.workspace
    arrays = [*engine._robot(None), state.data, engine._inputs, engine.scratch, engine.spare.out]
    for short in (1, 2, 5):
        with pytest.raises(IndexError):
            linearization.linearize(
                *[a[: a.size // 2] if k == short else a for k, a in enumerate(arrays)]
            )


def test_state_of_another_type__is_read_as_numbers():
    rng = np.random.default_rng(13)
    model = random_model(rng, 3)[1]
    state = State(np.eye(4), [0.5, 0.25, -1.0], np.zeros(6), np.zeros(3))
    expected = Linearizer(model)(state, np.zeros(3)).copy()
    state.data = state.data.astype(np.float32)
    found = Linearizer(model)(state, np.zeros(3))
    assert np.array_equal(found.A, expected.A)
    assert np.array_equal(found.nu_dot, expected.nu_dot)
    nu_dot = Linearizer(model).forward_dynamics(state, np.zeros(3))
    assert np.array_equal(nu_dot, expected.nu_dot)
