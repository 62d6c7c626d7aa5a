# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B on Lie groups: the robot's own, axioms, flows; and the examples on SO(3) and SE(3)."""

import numpy as np
import pytest
from scipy.linalg import expm
from support.close import assert_blocks_close, assert_close, deviation
from support.pinocchio_oracle import PinocchioOracle

from examples import lie_groups as example
from geolin_papers.lie_groups import SE3, SO3, euclidean, linearize, product
from geolin_ros import Linearizer, State, TreeModel, robots
from geolin_ros.errors import ConfigurationError, NotFiniteError, ShapeError

GROUPS = {
    'SO(3)': (SO3, np.eye(3)),
    'SE(3)': (SE3, np.eye(4)),
    'R^4': (euclidean(4), np.zeros(4)),
    'SE(3) x R^2 x SO(3)': (product(SE3, euclidean(2), SO3), (np.eye(4), np.zeros(2), np.eye(3))),
}


@pytest.fixture(params=GROUPS)
def group(request):
    found, _ = GROUPS[request.param]
    assert found.name == request.param
    return found


@pytest.fixture
def identity(group):
    return GROUPS[group.name][1]


def flat(g):
    return np.concatenate([np.ravel(part) for part in (g if isinstance(g, tuple) else (g,))])


def test_retraction_and_difference__are_inverse(group, identity):
    rng = np.random.default_rng(1)
    g = group.retract(identity, rng.normal(size=group.dimension))
    z = 0.8 * rng.normal(size=group.dimension)
    h = group.retract(g, z)
    assert_close(group.difference(g, h), z, 1e-12)
    assert_close(flat(group.retract(g, group.difference(g, h))), flat(h), 1e-12)
    assert_close(group.difference(g, g), np.zeros(group.dimension), 1e-15, scale=1.0)


def test_ad__is_the_bracket(group, identity):
    """exp(x) exp(y) exp(-x) = exp(e^ad_x y): the group's own retraction knows it."""
    rng = np.random.default_rng(2)
    x, y = 0.5 * rng.normal(size=(2, group.dimension))
    conjugated = group.retract(group.retract(group.retract(identity, x), y), -x)
    assert_close(group.difference(identity, conjugated), expm(group.ad(x)) @ y, 1e-12)


@pytest.mark.parametrize('group', ['SO(3)', 'SE(3)'], indirect=True)
def test_retraction__is_the_exponential_of_a_matrix(group, identity):
    z = np.random.default_rng(3).normal(size=group.dimension)
    x, y, w = z[-3:]
    V = np.zeros(identity.shape)
    V[:3, :3] = [[0.0, -w, y], [w, 0.0, -x], [-y, x, 0.0]]
    if group is SE3:
        V[:3, 3] = z[:3]
    assert_close(group.retract(identity, z), expm(V), 1e-13)


class Robot:
    """The quadruped as a system on its group [Bos 2022, Eqs. (14)-(19)]."""

    def __init__(self):
        self.model = TreeModel.from_urdf(robots.path('quadruped'))
        self.lin, n = Linearizer(self.model), self.model.n
        state = self.model.random_state(np.random.default_rng(4))
        self.g, self.u = (state.H, state.s, state.v, state.r), np.linspace(-1.0, 1.0, n)
        self.group = product(SE3, euclidean(n), euclidean(6), euclidean(n))
        self.L = self.lin(state, self.u).copy()

    def field(self, g, u):
        return np.concatenate((g[2], g[3], self.lin.forward_dynamics(State(*g), u)))

    def derivatives(self, g, u):
        L = self.lin(State(*g), u).copy()
        L.A[:6, :6] = 0.0
        return L.A, L.B


@pytest.fixture(scope='module')
def robot():
    return Robot()


@pytest.mark.shows('Bos 2022: Section 2.4')
def test_robot__with_exact_derivatives_is_exact(robot):
    A, B = linearize(robot.group, robot.field, robot.g, robot.u, robot.derivatives)
    assert_blocks_close(A, robot.L.A, robot.model, 0.0)
    assert_close(B, robot.L.B, 0.0)


@pytest.mark.shows('Bos 2022: Section 2.4')
def test_robot__of_pinocchio_on_its_group_is_linearized_as_by_pinocchio(robot):
    """Field and referee are Pinocchio's: of ours only the group and what is about it."""
    oracle = PinocchioOracle.read_urdf(robots.path('quadruped'), robot.model)

    def field(g, u):
        return np.concatenate((g[2], g[3], oracle.forward_dynamics(State(*g), u)))

    A, B = linearize(robot.group, field, robot.g, robot.u)
    expected_A, expected_B, _ = oracle.linearization(State(*robot.g), robot.u)
    assert_close(A, expected_A, 1e-9)
    assert_close(B, expected_B, 1e-9)


def test_errors__name_the_source():
    eye, wrong = np.eye(3), (np.zeros((6, 6)), np.zeros((6, 1)))
    for error, what, arguments in (
        (ShapeError, r'field on SO\(3\)', (SO3, lambda R, u: np.zeros(6), eye, [0.0])),
        (
            *(ShapeError, r'derivative by u on SE\(3\)'),
            (SE3, lambda H, u: np.zeros(6), np.eye(4), [0.0, 0.0], lambda H, u: wrong),
        ),
        (NotFiniteError, r'R\^1', (euclidean(1), lambda x, u: x * np.nan, np.zeros(1), [0.0])),
    ):
        with pytest.raises(error, match=what):
            linearize(*arguments)
    with pytest.raises(ConfigurationError, match='step is -1'):
        linearize(SO3, lambda R, u: u, eye, np.zeros(3), step=-1.0)


@pytest.fixture(scope='module', params=['heavy_top', 'underwater_vehicle'])
def system(request):
    return getattr(example, request.param)()


def test_example__differences_equal_exact_derivatives(system):
    g, u = system.motion(0.4)
    A, B = linearize(system.group, system.field, g, u, system.derivatives)
    by_differences = linearize(system.group, system.field, g, u)
    assert_close(by_differences[0], A, 1e-9)
    assert_close(by_differences[1], B, 1e-9)


@pytest.mark.long
@pytest.mark.shows('Bos 2022: Section 2.4')
def test_example__carries_the_error_between_two_flows(system, monkeypatch):
    """z(t) = log(g^-1 g') of the nonlinear flows = the flow of zdot = A z, to first order."""
    found = example.error_after(system, 0.5)
    assert_close(found.linear, found.nonlinear, 1e-6)
    monkeypatch.setattr(example, 'STEPS', 20)
    forgotten = example.error_after(system, 0.5, without_adjoint=True)
    assert deviation(forgotten.linear, forgotten.nonlinear) > 0.05


def test_example__runs(capsys, monkeypatch):
    monkeypatch.setattr(example, 'STEPS', 10)
    example.main([])
    assert 'underwater vehicle on SE(3) x R^6, 4 inputs' in capsys.readouterr().out
