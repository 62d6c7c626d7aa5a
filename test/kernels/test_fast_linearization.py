# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The fast linearization against its plain version, the general one, and extended precision."""

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from support import extended_reference, general, plain
from support.close import assert_close, deviation
from support.passive_joints import with_passive_joints
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.trees import gimbal, gram_link, random_description, random_model, tree_description

from geolin_ros import Linearizer, State, TreeModel, Wrench
from geolin_ros.errors import ModelError, NotFiniteError, SingularInertiaError
from geolin_ros.kernels.engine import linearization, own_results
from geolin_ros.kernels.packing import contact_layout, layout
from geolin_ros.kernels.status import NOT_FINITE, OK
from geolin_ros.model.wrenches import pack

WRENCH_KINDS = ('body', 'world', 'world_oriented')
FAST = {'fast': linearization.linearize, 'plain': plain.linearize}


def make_output(n):
    """Return (out, A, B, nu_dot) without memory behind their end."""
    out, A, B, nu_dot, *_ = contact_layout.outputs_of(6 + n, n, 0)
    return out[: A.size + B.size + nu_dot.size], A, B, nu_dot


def by_kernel(kernel, model, state, tau, wrenches=()):
    """Return A, B, nu_dot in the order of the bodies, and the status."""
    packed = layout.pack(model.tree, model.gravity)
    out, A, B, nu_dot = make_output(model.n)
    for part in (A[6 + model.n :], B[6 + model.n :], nu_dot):
        part[...] = np.nan
    inputs = layout.make_inputs(packed, pack(model, wrenches))
    inputs[: model.n] = tau
    workspace = layout.make_workspace(packed)
    status = kernel(packed.ints, packed.floats, state.data, inputs, workspace, out)
    if model.base == 'fixed':  # what the kernels leave in rows of the base differs
        kept = np.concatenate((6 + np.arange(model.n), 12 + model.n + np.arange(model.n)))
        return A[np.ix_(kept, kept)], B[kept], nu_dot[6:], status
    return A, B, nu_dot, status


def by_general(model, state, tau, wrenches=()):
    """Return the same of the dense referee, whose status is always good."""
    A, B, nu_dot = general.linearization(model, state, tau, wrenches)
    first, joints = model.m - model.n, model.tree.v_start[1:]
    order = np.concatenate((np.arange(first), first + joints))
    both = np.concatenate((order, model.m + order))
    return A[np.ix_(both, both)], B[np.ix_(both, joints)], nu_dot[order], OK


def assert_same(model, ours, theirs, tolerance):
    assert (ours[3], theirs[3]) == (OK, OK)
    (A, B, nu_dot), (expected_A, expected_B, expected_nu_dot) = ours[:3], theirs[:3]
    assert_close(nu_dot, expected_nu_dot, tolerance, 'nu_dot')
    assert_close(B, expected_B, tolerance, 'B')
    for name, columns in (('by position', np.s_[: model.m]), ('by rate', np.s_[model.m :])):
        assert_close(A[:, columns], expected_A[:, columns], tolerance, f'A {name}')


def wrenches_of(kinds, model, rng):
    """Return a wrench of each kind, on the base and on drawn links."""
    links = [model.base_link, *rng.choice(model.link_names, len(kinds))]
    return [
        Wrench(str(link), 5.0 * rng.normal(size=3), rng.normal(size=3), kind)
        for link, kind in zip(links, kinds, strict=False)
    ]


def legs(rng, count, length):
    """Return a base with ``count`` chains of ``length`` joints."""
    parents = [0 if i % length == 0 else i for i in range(count * length)]
    description = tree_description(rng, parents, ['revolute'] * len(parents))
    return TreeModel.from_description(description)


@pytest.mark.parametrize('kernel', FAST.values(), ids=FAST)
@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('shape', ['chain', 'star', 'branched'])
@pytest.mark.parametrize('count', [1, 2, 3, 4, 7, 8, 9, 15, 17, 24, 33, 40])
def test_linearization__equals_the_general_one(count, shape, base, kernel):
    rng = np.random.default_rng([count, ord(shape[0])])
    model = random_model(rng, count, shape, base=base)[1]
    if count % 2:
        model = with_passive_joints(model, rng)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    expected = by_general(model, state, tau)
    assert_same(model, by_kernel(kernel, model, state, tau), expected, 1e-11)


@pytest.mark.parametrize('kernel', FAST.values(), ids=FAST)
@pytest.mark.parametrize('length', [1, 2, 3, 4, 5, 6, 8, 11])
def test_linearization__of_legs_that_share_blocks_or_fill_several(length, kernel):
    rng = np.random.default_rng(length)
    model = legs(rng, 4, length)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    expected = by_general(model, state, tau)
    assert_same(model, by_kernel(kernel, model, state, tau), expected, 1e-11)


@pytest.mark.parametrize('kernel', FAST.values(), ids=FAST)
@pytest.mark.parametrize(
    'name', ['solo12', 'b1', 'g1_29dof_rev_1_0', 'icub', 'talos_full_v2', 'centauro', 'panda']
)
def test_robot__equals_the_general_linearization(name, kernel):
    rng = np.random.default_rng(5)
    model = read_robot(example_robot(name), base='fixed' if name == 'panda' else 'floating')[1]
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    expected = by_general(model, state, tau)
    condition = np.linalg.cond(general.mass_matrix(model, state))
    tolerance = max(1e-12, 10.0 * np.finfo(float).eps * condition)
    wrenches = wrenches_of(WRENCH_KINDS, model, rng)
    assert_same(model, by_kernel(kernel, model, state, tau), expected, tolerance)
    expected = by_general(model, state, tau, wrenches)
    assert_same(model, by_kernel(kernel, model, state, tau, wrenches), expected, tolerance)


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


def test_status__finds_infinite_rates_and_accelerations():
    rng = np.random.default_rng(8)
    model = random_model(rng, 6)[1]
    state = model.random_state(rng)
    state.r[3] = 1e200
    for kernel in FAST.values():
        assert by_kernel(kernel, model, state, np.zeros(6))[3] == NOT_FINITE
    with pytest.raises(NotFiniteError, match='the accelerations'):
        Linearizer(model)(state, np.zeros(6))


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
    wrenches = wrenches_of(WRENCH_KINDS, model, rng)
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
    model = with_passive_joints(random_model(rng, 11)[1], rng)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    wrenches = wrenches_of(WRENCH_KINDS, model, rng)
    results = [by_kernel(kernel, model, state, tau, wrenches) for kernel in FAST.values()]
    assert_same(model, *results, 1e-12)
    packed = layout.pack(model.tree, model.gravity)
    arrays = [packed.ints, packed.floats, state.data, layout.make_inputs(packed, pack(model, ()))]
    arrays += [layout.make_workspace(packed), make_output(model.n)[0]]
    for kernel in FAST.values():
        for short in (1, 2, 5):
            with pytest.raises(IndexError):
                kernel(*[a[: a.size // 2] if k == short else a for k, a in enumerate(arrays)])


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
