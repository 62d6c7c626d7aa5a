# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse, forward and hybrid dynamics against Pinocchio, dense matrices, and each other."""

import dataclasses

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close, deviation
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.several_axes import SeveralAxesReference
from support.trees import (
    TILTED_GRAVITY,
    every_kind_description,
    random_description,
)

from geolin_ros import (
    Description,
    Joint,
    Linearizer,
    Link,
    State,
    TreeModel,
    Wrench,
    bias_force,
    forward_dynamics,
    hybrid_dynamics,
    inverse_dynamics,
    mass_matrix,
    mass_matrix_inverse,
)
from geolin_ros.errors import (
    InputError,
    NotFiniteError,
    ShapeError,
    SingularInertiaError,
    UnknownNameError,
)

SHAPES = ('chain', 'star', 'branched')
ROBOTS = ('solo12', 'talos_reduced')


@dataclasses.dataclass
class Case:
    """A robot with two referees at a random motion, accelerations chosen apart from it."""

    dense: SeveralAxesReference
    pinocchio: PinocchioOracle
    model: TreeModel
    state: State
    nu_dot: np.ndarray
    tau: np.ndarray
    wrenches: list

    @property
    def base(self):
        return self.model.m - self.model.n


def make_case(description, model, oracle, rng):
    state = model.random_state(rng, speed=2.0)
    links = list(model.link_names)
    wrenches = [
        Wrench(links[k], rng.normal(size=3), rng.normal(size=3), kind, rng.normal(size=3))
        for k, kind in zip(
            (1, -1, len(links) // 2), ('body', 'world', 'world_oriented'), strict=True
        )
    ]
    for k, wrench in enumerate(wrenches):  # the dense referee applies it at the link origin
        wrenches[k] = dataclasses.replace(wrench, point=np.zeros(3))
    nu_dot, tau = rng.normal(size=model.m), rng.normal(size=model.n)
    dense = SeveralAxesReference(description, model)
    return Case(dense, oracle, model, state, nu_dot, tau, wrenches)


@pytest.fixture(scope='module', params=['floating', 'fixed'])
def base(request):
    return request.param


@pytest.fixture(scope='module', params=(*SHAPES, *ROBOTS))
def case(request, base):
    rng = default_rng(31)
    if request.param in ROBOTS:
        path = example_robot(request.param)
        description, model = read_robot(path, base=base)
        return make_case(description, model, PinocchioOracle.read_urdf(path, model), rng)
    description = every_kind_description(rng, request.param, damping=0.3)
    order = [f'joint{i}' for i in 1 + rng.permutation(len(description.joints))]
    model = TreeModel.from_description(
        description, base=base, gravity=TILTED_GRAVITY, joints=order
    )
    oracle = PinocchioOracle.from_description(description, model)
    return make_case(description, model, oracle, rng)


@pytest.fixture(
    scope='module', params=[(0.0, False), (0.2, False), (0.8, False), (0.5, True), (1.0, True)]
)
def split(request):
    """Which joint coordinates, and whether the base, are prescribed."""
    share, base = request.param
    rng = default_rng(round(10 * share))
    return lambda n: (rng.random(n) < share, base)


@pytest.mark.shows('Kim 2012: Table 2')
def test_inverse_dynamics__equals_rnea(case):
    expected = case.pinocchio.inverse_dynamics(case.state, case.nu_dot)
    assert_close(inverse_dynamics(case.model, case.state, case.nu_dot), expected, 1e-12)
    expected = case.pinocchio.inverse_dynamics(case.state, np.zeros(case.model.m))
    assert_close(bias_force(case.model, case.state), expected, 1e-12)
    expected = case.dense.bias(case.state, case.wrenches)
    assert_close(bias_force(case.model, case.state, case.wrenches), expected, 1e-12)


@pytest.mark.shows('Kim 2012: Eq. (32)')
def test_mass_matrix__equals_crba_and_dense(case):
    M = mass_matrix(case.model, case.state)
    assert_close(M, case.pinocchio.mass_matrix(case.state), 1e-12)
    assert_close(M, case.dense.mass_matrix(case.state), 1e-12)


def test_mass_matrix_inverse__equals_compute_minverse(case):
    Minv = mass_matrix_inverse(case.model, case.state)
    assert_close(Minv, case.pinocchio.inverse_mass_matrix(case.state), 1e-10)
    assert_close(Minv @ case.dense.mass_matrix(case.state), np.eye(case.model.m), 1e-10)


@pytest.mark.shows('Kim 2012: Table 3')
def test_forward_dynamics__equals_aba(case):
    expected = case.pinocchio.forward_dynamics(case.state, case.tau)
    assert_close(forward_dynamics(case.model, case.state, case.tau), expected, 1e-11)


@pytest.mark.shows(
    'Kim 2012: Eqs. (33)',
    'Kim 2012: Table 1',
    'Kim 2012: - q_v = q',
    'Kim 2012: - q_u = q',
)
def test_hybrid_dynamics__equals_dense_blocks(case, split):
    prescribed, base_prescribed = split(case.model.n)
    base_prescribed = base_prescribed and case.base > 0
    given = np.where(prescribed, case.nu_dot[case.base :], np.nan)
    if base_prescribed:
        given = np.concatenate((case.nu_dot[:6], given))
    nu_dot, tau = hybrid_dynamics(
        case.model,
        case.state,
        given,
        np.where(prescribed, np.nan, case.tau),
        prescribed,
        case.wrenches,
    )
    free = np.concatenate((np.full(case.base, not base_prescribed), ~prescribed))
    solved = case.dense.hybrid(case.state, case.nu_dot, case.tau, free, case.wrenches)
    expected, expected_tau = np.split(solved, 2)
    scale = np.abs(case.dense.bias(case.state, case.wrenches)).max()
    assert_close(nu_dot, expected, 1e-12)
    assert_close(tau, expected_tau[0 if base_prescribed else case.base :], 1e-12, scale=scale)


def test_hybrid_dynamics__completes_the_motion_of_pinocchio(case, split):
    prescribed, _ = split(case.model.n)
    nu_dot = case.pinocchio.forward_dynamics(case.state, case.tau)
    found, tau = hybrid_dynamics(
        case.model,
        case.state,
        np.where(prescribed, nu_dot[case.base :], np.nan),
        np.where(prescribed, np.nan, case.tau),
        prescribed,
    )
    assert_close(found, nu_dot, 1e-10)
    scale = np.abs(bias_force(case.model, case.state)).max()
    assert_close(tau, case.tau, 1e-11, scale=scale)


@pytest.mark.shows('Kim 2012: S_i(q_i)')
def test_universal_joint__equals_two_revolute_joints():
    rng = default_rng(7)
    links = [Link.from_mass(f'link{i}', 1.0, rng.normal(size=3), np.eye(3)) for i in (0, 1)]
    axis, second = rng.normal(size=3), rng.normal(size=3)
    one = Description(
        'one',
        tuple(links),
        (Joint('u', 'universal', 'link0', 'link1', axis=axis, second_axis=second),),
    )
    two = Description(
        'two',
        (*links, Link('cross')),
        (
            Joint('a', 'revolute', 'link0', 'cross', axis=axis),
            Joint('b', 'revolute', 'cross', 'link1', axis=second),
        ),
    )
    one, two = TreeModel.from_description(one), TreeModel.from_description(two)
    state, tau = one.random_state(rng, speed=3.0), rng.normal(size=2)
    ours, chain = Linearizer(one), Linearizer(two)
    theirs = chain(state, tau)
    L = ours(state, tau)
    assert_close(L.nu_dot, theirs.nu_dot, 1e-12)
    assert_close(L.A, theirs.A, 1e-11)
    assert_close(L.B, theirs.B, 1e-12)


@pytest.fixture(scope='module')
def arm():
    description = random_description(default_rng(8), 3, 'chain')
    return TreeModel.from_description(description, base='fixed')


@pytest.fixture(scope='module')
def flyer():
    return TreeModel.from_description(random_description(default_rng(8), 3, 'chain'))


def test_errors__name_argument_and_size(flyer, arm):
    state, zeros = flyer.neutral_state(), np.zeros(3)
    none = np.zeros(3, dtype=bool)
    with pytest.raises(ShapeError, match=r'acceleration has shape \(3,\), expected \(9,\)'):
        inverse_dynamics(flyer, state, zeros)
    with pytest.raises(ShapeError, match=r'tau has shape \(2,\), expected \(3,\)'):
        forward_dynamics(flyer, state, zeros[:2])
    expected = r'acceleration has shape \(4,\), expected \(3,\).* or \(9,\)'
    with pytest.raises(ShapeError, match=expected):
        hybrid_dynamics(flyer, state, np.zeros(4), zeros, none)
    with pytest.raises(ShapeError, match=r'prescribed has shape \(2,\), expected \(3,\)'):
        hybrid_dynamics(flyer, state, zeros, zeros, none[:2])
    with pytest.raises(InputError, match='truth values'):
        hybrid_dynamics(flyer, state, zeros, zeros, [0.5, 0.0, 1.0])
    with pytest.raises(ShapeError, match=r'tau has shape \(9,\)'):
        hybrid_dynamics(flyer, state, zeros, np.zeros(9), none)
    with pytest.raises(ShapeError, match=r'\(9,\), expected \(3,\), that of joints for'):
        hybrid_dynamics(arm, arm.neutral_state(), np.zeros(9), zeros, none)
    with pytest.raises(ShapeError, match='state has 2 joint positions'):
        mass_matrix(flyer, State(np.eye(4), [0, 0], np.zeros(6), [0, 0]))
    with pytest.raises(UnknownNameError, match="link 'lnk1'"):
        bias_force(flyer, state, [Wrench('lnk1', [1.0, 0.0, 0.0])])


def test_errors__name_what_is_not_finite(flyer):
    state, zeros = flyer.neutral_state(), np.zeros(3)
    with pytest.raises(NotFiniteError, match='acceleration of robot'):
        inverse_dynamics(flyer, state, np.full(9, np.nan))
    with pytest.raises(NotFiniteError, match='tau of robot'):
        forward_dynamics(flyer, state, [0.0, np.inf, 0.0])
    with pytest.raises(NotFiniteError, match='the prescribed accelerations of robot'):
        hybrid_dynamics(flyer, state, [np.nan, 0.0, 0.0], zeros, [True, False, False])
    state.r[1] = np.nan
    for call in (bias_force, forward_dynamics):
        with pytest.raises(NotFiniteError, match='r of robot'):
            call(flyer, state, zeros) if call is forward_dynamics else call(flyer, state)
    state.s[0] = np.nan
    for call in (mass_matrix, mass_matrix_inverse):
        with pytest.raises(NotFiniteError, match='s and r of robot'):
            call(flyer, state)


def test_singular_posture__names_the_joint():
    """Two axes that become parallel leave no inertia to one of them."""
    link = Link.from_mass('tip', 1.0, np.zeros(3), np.diag([1.0, 1.0, 1.0]))
    middle = [Link(f'middle{i}') for i in range(2)]
    base = Link.from_mass('base', 1.0, np.zeros(3), np.eye(3))
    axes = ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    names = ('base', 'middle0', 'middle1', 'tip')
    joints = tuple(
        Joint(name, 'revolute', names[i], names[i + 1], axis=np.array(axes[i]))
        for i, name in enumerate(('yaw', 'pitch', 'roll'))
    )
    model = TreeModel.from_description(Description('gimbal', (base, *middle, link), joints))
    state = model.neutral_state()
    with pytest.raises(SingularInertiaError, match="joint 'yaw' has no inertia to move"):
        forward_dynamics(model, state, np.zeros(3))
    state.s[1] = 0.5
    assert np.all(np.isfinite(forward_dynamics(model, state, np.zeros(3))))
    state.s[1] = 0.0
    nu_dot, tau = hybrid_dynamics(model, state, np.ones(3), np.zeros(3), [True, False, False])
    assert nu_dot[6] == 1.0
    assert deviation(nu_dot[8:], [-1.0]) < 1e-12, 'roll undoes yaw'
    assert tau[0] == pytest.approx(0.0, abs=1e-12)
