# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The engine where its blocks of lanes begin and end, its digits, its memory, and what it refuses.

`oracle/test_matrix.py` has small robots of any kind; referees here give whole matrices.
"""

import dataclasses
from contextlib import nullcontext
from functools import partial

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from support import extended_reference, general
from support.close import assert_close, deviation
from support.light_robots import gripper, mixed, standing
from support.passive_joints import with_passive_joints
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.trees import gimbal, gram_link, random_description, random_parents, tree_description

from geolin_ros import Contact, Linearizer, Loop, TreeModel, Wrench, forward_dynamics_derivatives
from geolin_ros.description import Description, Joint, Link, Mimic
from geolin_ros.errors import ModelError, NotFiniteError, SingularInertiaError
from geolin_ros.kernels.engine import linearization, own_results
from geolin_ros.kernels.engine.contact_linearization import linearize_in_contact
from geolin_ros.kernels.packing.layout import SMALLEST_SHARE, make_inputs
from geolin_ros.model.wrenches import pack
from geolin_ros.spatial.se3 import exp

EPS = np.finfo(float).eps


def assert_as_referee(model, state, tau, wrenches=(), tolerance=1e-11):
    """Compare the engine's, and those in plain loops, which have no kinematic rows."""
    A, B, nu_dot = general.linearization(model, state, tau, wrenches)
    linearizer, m = Linearizer(model), model.m
    D = forward_dynamics_derivatives(model, state, tau, wrenches=wrenches)
    for _ in range(2):  # the second call finds what the first one left
        L = linearizer(state, tau, wrenches=wrenches)
        assert_close(L.nu_dot, nu_dot, tolerance, 'nu_dot')
        assert_close(L.A[:m], A[:m], tolerance, 'kinematic rows')
        for by_state, by_tau in ((L.A[m:], L.B[m:]), (np.hstack(D[:4]), D.dnu_dot_dtau)):
            assert_close(by_state[:, :m], A[m:, :m], tolerance, 'A by position')
            scale = max(1.0, np.abs(A[m:, m:]).max(initial=0.0))  # joints may not feel each other
            assert_close(by_state[:, m:], A[m:, m:], tolerance, 'A by rate', scale)
            assert_close(by_tau, B[m:], tolerance, 'B')


def wrenches_of(model, rng):
    """Return a wrench of each kind, on the base and on drawn links."""
    links = [model.base_link, *rng.choice(model.link_names, 2)]
    return [
        Wrench(str(link), 5.0 * rng.normal(size=3), rng.normal(size=3), kind)
        for link, kind in zip(links, ('body', 'world', 'world_oriented'), strict=True)
    ]


def legs(length):
    """Return the parents of four legs of so many links."""
    return [0 if i % length == 0 else i for i in range(4 * length)]


TREES = {  # parents, or number of joints and shape; which joint follows which
    **{f'{count} {shape}': ((count, shape), {}) for shape in ('chain', 'branched')
       for count in (1, 4, 8, 9, 17, 33)},
    **{f'star of {count}': ((count, 'star'), {}) for count in (2, 7, 24)},
    **{f'legs of {length}': (legs(length), {}) for length in (2, 3, 5, 8)},
    'a chain of mimics': ((6, 'branched'), {4: 3, 3: 2, 6: 2}),
    'two masters': ((9, 'branched'), {2: 1, 3: 1, 7: 6, 9: 6}),
    'mimics of more than a block': ((20, 'branched'), dict.fromkeys(range(3, 17), 2)),
    'all mimic the last': ((5, 'branched'), {1: 5, 2: 5, 3: 5, 4: 5}),
}  # fmt: skip


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize(('tree', 'followers'), TREES.values(), ids=TREES)
def test_trees_that_fill_blocks_or_do_not__equal_the_referee(tree, followers, base):
    parents = tree if isinstance(tree, list) else random_parents(np.random.default_rng(1), *tree)
    rng = np.random.default_rng(len(parents))
    kinds = rng.choice(('revolute', 'prismatic', 'helical'), len(parents))
    description = tree_description(rng, parents, [str(kind) for kind in kinds])
    joints = list(description.joints)
    for follower, master in followers.items():
        rule = Mimic(f'joint{master}', rng.uniform(-2.0, 2.0), rng.uniform(-1.0, 1.0))
        joints[follower - 1] = dataclasses.replace(joints[follower - 1], mimic=rule)
    for k in range(0, len(joints), 2):
        joints[k] = dataclasses.replace(
            joints[k],
            damping=rng.uniform(0.0, 1.0),
            stiffness=rng.uniform(0.0, 3.0),
            rotor_inertia=rng.uniform(0.0, 0.1),
        )
    description = dataclasses.replace(description, joints=tuple(joints))
    model = TreeModel.from_description(description, base=base)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    assert_as_referee(model, state, tau, wrenches_of(model, rng) if len(parents) % 2 else ())


@pytest.mark.parametrize(
    ('name', 'base'),
    [('talos_full_v2', 'floating'), ('tiago_pro', 'fixed'), ('quadrotor_base', 'floating')],
)
def test_robots_with_mimic_joints_or_none__equal_the_referee(name, base):
    rng = np.random.default_rng(3)
    model = TreeModel.from_urdf(example_robot(name), base=base)
    if name == 'quadrotor_base':
        none = TreeModel.from_urdf(example_robot(name), base='fixed')
        assert Linearizer(none)(none.neutral_state(), np.zeros(0)).A.shape == (0, 0)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    for wrenches in ((), wrenches_of(model, rng)):
        assert_as_referee(model, state, tau, wrenches)


# ---- Digits


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason='no extended precision here')
@pytest.mark.parametrize('name', ['solo12', 'g1_29dof_rev_1_0', 'talos_full_v2'])
def test_rounding__is_smaller_than_pinocchios(name):
    path = example_robot(name)
    model = read_robot(path)[1]
    pinocchio, linearizer, m = PinocchioOracle.read_urdf(path, model), Linearizer(model), model.m
    found = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        state, tau = model.random_state(rng), rng.normal(size=model.n)
        exact, L = extended_reference.linearization(model, state, tau), linearizer(state, tau)
        of_both = (L.A, L.B, L.nu_dot), pinocchio.linearization(state, tau)
        for kept, (A, B, nu_dot) in zip(found, of_both, strict=True):
            pairs = zip((A[m:], B[m:], nu_dot), exact, strict=True)
            kept.append([deviation(value, reference) for value, reference in pairs])
    ours, theirs = (np.exp(np.mean(np.log(kept), axis=0)) for kept in found)
    assert np.all(ours <= theirs), f'A, B, nu_dot: {ours}, Pinocchio {theirs}'


OFFSET, PULLED = np.eye(4), {'kp': 30.0, 'kd': 9.0, 'reference': np.eye(4)}
OFFSET[:3, 3] = 0.02, 0.01, -0.03
HELD = {  # least joints a leg, legs, contacts
    'a sole': (1, 1, lambda end: [Contact(f'leg0_{end}', 'surface', kd=3.0)]),
    'a sole that is pulled': (1, 1, lambda end: [Contact(f'leg0_{end}', 'surface', **PULLED)]),
    'a point': (1, 1, lambda end: [Contact(f'leg0_{end}', placement=OFFSET)]),
    'a sole and a hand': (
        *(3, 1),
        lambda end: [Contact(f'leg0_{end}', 'surface'), Contact('arm')],
    ),
    'a loop of points': (2, 2, lambda end: [Loop(f'leg0_{end}', f'leg1_{end}', 'point')]),
    'a loop of surfaces': (
        *(3, 2),
        lambda end: [Loop(f'leg0_{end}', f'leg1_{end}', 'surface', kd=1.0)],
    ),
    'a loop to a heavy link': (2, 1, lambda end: [Loop('arm', f'leg0_{end}', 'point')]),
}


def assert_exact(description, contacts, seed, what, size=1.0):
    """Compare with the reference; return whether the contacts are independent, as they must be."""
    model = TreeModel.from_description(description)
    rng = np.random.default_rng(seed)
    state, tau = model.random_state(rng), rng.normal(size=model.n) * model.total_mass
    exact = general.Reduced(model, state, tau, contacts)
    if exact.rank < sum(3 if c.kind == 'point' else 6 for c in contacts):
        return False
    L = Linearizer(model, contacts)(state, tau)
    assert L.rank == exact.rank
    limit = max(1e-8, 10.0 * EPS * exact.condition)
    # where contacts lock what efforts move
    least = 1.0 / np.linalg.norm(exact.M, 2) / min(size, 1.0)
    for name in ('A', 'B', 'nu_dot', 'wrenches', 'wrench_by_state'):
        expected = getattr(exact, name)
        scale = max(np.abs(expected).max(initial=0.0), least if name == 'B' else 0.0)
        assert_close(getattr(L, name), expected, limit, f'{name} {what}', scale)
    J, gamma, B = exact.J, exact.gamma, L.B[model.m :]
    largest, most = np.abs(J).max(initial=0.0), max(np.abs(B).max(), least)
    assert np.abs(J @ B).max(initial=0.0) <= 1e-8 * largest * most, what
    whole = largest * np.abs(L.nu_dot).max() + np.abs(gamma).max(initial=0.0)
    assert np.abs(J @ L.nu_dot + gamma).max(initial=0.0) <= 1e-8 * whole, what
    return True


@pytest.mark.parametrize('held', HELD)
def test_light_links__are_as_exact_as_what_they_hold(held):
    """The motions that contacts leave have the same inertia, whatever a foot weighs."""
    least, legs, contacts = HELD[held]
    for joints in range(least, 4):
        for mass in (1.0, 1e-5, 1e-9):
            what = f'with {joints} links of {mass} kg'
            robot = standing(mass, joints, legs)
            assert assert_exact(robot, contacts(joints - 1), joints, what)


@pytest.mark.parametrize(('scale', 'size'), [(1e-6, 1.0), (1e6, 1.0), (1.0, 0.1), (1.0, 10.0)])
def test_robots_of_light_and_heavy_links__are_as_exact(scale, size):
    """Ten of each size; some of these have contacts that depend on each other."""
    exact = 0
    for seed in range(10):
        description, contacts = mixed(np.random.default_rng(seed), scale, size)
        exact += assert_exact(description, contacts, seed, f'of robot {seed}', size)
    assert exact > 5


@pytest.mark.parametrize('wrist', [None, 0.3, 1e-7])
@pytest.mark.parametrize('chain', [False, True], ids=['both follow the drive', 'one the other'])
@pytest.mark.parametrize('kind', ['prismatic', 'revolute'])
def test_light_drive_of_a_gripper__has_the_inertia_of_its_fingers(kind, chain, wrist):
    for mass in (1.0, 1e-6, 1e-11, 0.0):
        description, what = gripper(mass, kind, chain, wrist), f'with a drive of {mass} kg'
        model, rng = TreeModel.from_description(description), np.random.default_rng(9)
        state, tau = model.random_state(rng), rng.normal(size=model.n)
        exact = general.Reduced(model, state, tau)
        assert exact.condition < 2e4
        linearizer = Linearizer(model)
        for found in (linearizer(state, tau), linearizer.batch([state] * 2, [tau] * 2)[1]):
            for name in ('A', 'B', 'nu_dot'):
                assert_close(getattr(found, name), getattr(exact, name), 1e-11, what)
        assert_close(linearizer.forward_dynamics(state, tau), exact.nu_dot, 1e-11, what)
        if chain and wrist == 0.3:
            assert assert_exact(description, [Contact('left', kd=2.0)], 10, what)


# ---- Memory

GO2 = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]


@pytest.mark.parametrize('feet', [(), GO2], ids=['free', 'standing'])
def test_repeated_calls__give_the_same_bytes_whatever_came_between(feet):
    model, rng = read_robot(example_robot('go2'))[1], np.random.default_rng(10)
    contacts = [Contact(foot, kd=3.0) for foot in feet]
    linearizer = Linearizer(model, contacts)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    first = linearizer(state, tau).copy()
    linearizer(model.random_state(rng), tau, wrenches=wrenches_of(model, rng)).frozen()
    bad = state.copy()
    bad.r[2] = 1e200
    with pytest.raises(NotFiniteError, match='the accelerations'):
        linearizer(bad, tau)
    bad.s[:] = np.nan
    with pytest.raises(NotFiniteError):
        linearizer(bad, tau)
    for again in (linearizer(state, tau), Linearizer(model, contacts)(state, tau)):
        for name in ('A', 'B', 'nu_dot', 'wrenches', 'wrench_by_state', 'wrench_by_tau'):
            assert getattr(first, name).tobytes() == getattr(again, name).tobytes(), name


def test_kernels__have_one_signature_and_allocate_nothing():
    rng = np.random.default_rng(11)
    calls, kernels = [], (linearization.linearize, own_results.linearize_own)
    known = [len(kernel.signatures) for kernel in kernels]  # trajectories have another
    for base in ('floating', 'fixed'):
        model = TreeModel.from_description(random_description(rng, 9), base=base)
        state, tau = model.random_state(rng), np.zeros(model.n)
        calls += [(Linearizer(model), state, tau), (Linearizer(model), state, list(tau))]
    for linearizer, state, tau in calls[::2]:
        linearizer(state, tau)
    first = [len(kernel.signatures) for kernel in kernels]
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
    assert [len(kernel.signatures) for kernel in kernels] == first
    assert all(now <= before + 1 for before, now in zip(known, first, strict=True))


def assert_cut_arrays_are_noticed(kernel, arrays, which):
    for short in which:
        cut = [a[: a.size // 2] if k == short else a for k, a in enumerate(arrays)]
        with pytest.raises(IndexError):
            kernel(*cut)


def access_everything():
    """Run by `kernels/test_bounds.py` where every access is checked."""
    rng = np.random.default_rng(12)
    parents = [0, 1, 2, 3, 2, 0, 6, 7, 0, 9, 10]  # numbered as the engine does
    description = tree_description(rng, parents, ['revolute', *10 * ['helical']])
    model = with_passive_joints(TreeModel.from_description(description), rng)
    linearizer, state, tau = Linearizer(model), model.random_state(rng), rng.normal(size=model.n)
    assert_as_referee(model, state, tau, wrenches_of(model, rng), 1e-10)
    own = linearizer.workspace
    inputs = make_inputs(model.packed, pack(model, ()))
    arrays = [*own._robot(None), state.data, inputs, own.scratch, own.spare.out]
    assert_cut_arrays_are_noticed(linearization.linearize, arrays, (1, 2, 5))
    model = read_robot(example_robot('go2'))[1]
    state, tau = model.random_state(np.random.default_rng(0)), np.ones(model.n)
    for links in ({'base': 'surface', 'FL_foot': 'point'}, dict.fromkeys(GO2, 'point')):
        contacts = [Contact(link, kind, **PULLED) for link, kind in links.items()]
        linearizer = Linearizer(model, contacts)
        assert np.isfinite(linearizer(state, tau).wrench_by_state).all()
    own = linearizer.workspace
    arrays = [*own._robot(None), state.data, tau, own.scratch, own.spare.out]
    assert_cut_arrays_are_noticed(linearize_in_contact, arrays, (2, 3, 7))


# ---- Refusals


@pytest.mark.filterwarnings('ignore::geolin_ros.errors.ModelWarning')
def test_inertia_of_no_rigid_body__is_refused():
    rng = np.random.default_rng(7)
    gram = TreeModel.from_description(random_description(rng, 5, make_link=gram_link))
    with pytest.raises(ModelError, match='rigid body'):
        Linearizer(gram)


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


@pytest.mark.parametrize('base', ['fixed', 'floating'])
def test_joint__is_refused_from_the_share_of_inertia_on_that_rounding_leaves(base):
    """Of a ball at o, about an axis normal to o, 4 m o'o is the bound that rounding comes from."""
    axis, o, mass = np.array([2.0, -1.0, 2.0]) / 3.0, np.array([0.5, 0.4, -0.3]), 0.7
    place = exp(np.array([*o, 0.0, 0.0, 0.0]))
    body, arm, ball = (Link.from_mass(n, mass, np.zeros(3), np.eye(3)) for n in ('a', 'b', 'c'))
    joints = Joint('swing', 'revolute', 'a', 'b'), Joint('spin', 'revolute', 'b', 'c', place, axis)
    model = TreeModel.from_description(Description('r', (body, arm, ball), joints), base=base)
    for share, is_enough in ((0.9, False), (1.1, True)):
        inertia = model.tree.inertia.copy()
        inertia[-1, 3:, 3:] = share * SMALLEST_SHARE * 4.0 * mass * (o @ o) * np.eye(3)
        light = dataclasses.replace(model, tree=model.tree._replace(inertia=inertia))
        for call in (Linearizer(light), partial(forward_dynamics_derivatives, light)):
            expected = (
                nullcontext() if is_enough else pytest.raises(SingularInertiaError, match='spin')
            )
            with expected:
                call(light.neutral_state(), np.zeros(2))


def test_joint_without_inertia_that_others_mimic__is_refused():
    description = random_description(np.random.default_rng(8), 4)
    joints = list(description.joints)
    joints[2] = dataclasses.replace(joints[2], mimic=Mimic('joint1', 1.4, 0.2))
    model = TreeModel.from_description(dataclasses.replace(description, joints=tuple(joints)))
    inertia = np.zeros_like(model.tree.inertia)
    empty = dataclasses.replace(model, tree=model.tree._replace(inertia=inertia))
    with pytest.raises(SingularInertiaError, match='joint'):
        Linearizer(empty)(model.random_state(np.random.default_rng(9)), np.zeros(model.n))
