# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from support.close import assert_blocks_close, assert_close, blocks
from support.finite_difference import derivative_by_vector
from support.moving_robots import NAMES, PINOCCHIO, MovingRobot
from support.pinocchio_oracle import pin
from support.states import seen_from

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.representation import TwistChange
from geolin_ros.spatial import se3
from geolin_ros.spatial.frames import MovingFrame, expression_frame, twist


class Case(MovingRobot):
    """A quadruped in motion."""

    def __init__(self):
        super().__init__('quadruped', seed=11)
        rng, n = np.random.default_rng(11), self.model.n
        self.lin, self.width, self.v = (
            Linearizer(self.model),
            2 * self.model.m,
            np.s_[6 + n : 12 + n],
        )
        self.tau, self.offset = 0.1 * rng.normal(size=n), 0.1 * rng.normal(size=self.width)


@pytest.fixture(scope='module')
def case():
    return Case()


def twist_from_body(H, v, representation):
    B = MovingFrame(H, v)
    return twist(B, expression_frame(B, representation))


def twist_by_pinocchio(case, state, representation):
    oracle = case.oracle
    pin.forwardKinematics(oracle.pin_model, oracle.data, oracle.q(state), oracle.velocity(state))
    return pin.getVelocity(oracle.pin_model, oracle.data, 1, PINOCCHIO[representation]).vector


def moved(case, z, representation):
    """Return the state displaced by z whose third part adds to the numbers of the twist."""
    reached = case.state.retract(np.where(np.isin(np.arange(case.width), np.r_[case.v]), 0.0, z))
    twist = twist_by_pinocchio(case, case.state, representation) + z[case.v]
    map_to_twist = np.array([twist_from_body(reached.H, e, representation) for e in np.eye(6)]).T
    reached.v[:] = np.linalg.solve(map_to_twist, twist)
    return reached


def displacement(case, reference, state, representation):
    """Return z from one state to another, third part in the numbers of the twist."""
    z = reference.difference(state)
    z[case.v] = twist_by_pinocchio(case, state, representation)
    z[case.v] -= twist_by_pinocchio(case, reference, representation)
    return z


@pytest.mark.parametrize('representation', NAMES)
def test_twist__is_pinocchios(case, representation):
    rng = np.random.default_rng(12)
    for _ in range(10):
        state = case.model.random_state(rng)
        twist = twist_from_body(state.H, state.v, representation)
        assert_close(twist, twist_by_pinocchio(case, state, representation), 1e-13)


@pytest.mark.parametrize('representation', NAMES)
def test_displacement__is_the_derivative_of_the_change_of_numbers(case, representation):
    def new_numbers(z):
        return displacement(case, case.state, case.state.retract(z), representation)

    T = derivative_by_vector(new_numbers, np.zeros(case.width))
    change, eye = TwistChange(case.state, representation), np.eye(case.width)
    assert_close(change.from_body(eye), T, 1e-10)
    assert_close(change.on_columns(T), eye, 1e-10)


@pytest.mark.shows('Traversaro 2019: - A and B in each representation')
@pytest.mark.parametrize('reference', ['moving', 'frozen'])
@pytest.mark.parametrize('representation', NAMES)
def test_linearization__is_the_derivative_of_the_vector_field(case, representation, reference):
    """In coordinates z' = (log(H_0^-1 H), s, displacement of the twist's numbers, r).

    The rate of the twist is a difference of its numbers along Pinocchio's accelerations.
    """
    model, n = case.model, case.model.n

    def rate(z, tau):
        at = moved(case, z, representation)
        nu_dot = case.oracle.forward_dynamics(at, tau)

        def numbers(t):
            H, v = at.H @ se3.exp(t[0] * at.v), at.v + t[0] * nu_dot[:6]
            return twist_from_body(H, v, representation)

        twist_dot = derivative_by_vector(numbers, np.zeros(1), 1e-2)[:, 0]
        H_dot = se3.right_jacobian_inverse(z[:6]) @ at.v
        return np.concatenate((H_dot, at.r, twist_dot, nu_dot[6:]))

    zero = np.zeros(case.width)
    A = derivative_by_vector(lambda z: rate(z, case.tau), zero)
    B = derivative_by_vector(lambda tau: rate(zero, tau), case.tau)
    drift = rate(zero, case.tau)
    if reference == 'moving':  # z of the moving reference: -ad of its own velocity more
        A[:6, :6] -= 0.5 * se3.cross(case.state.v)
        drift = zero
    L = seen_from(case.lin(case.state, case.tau), reference).in_representation(representation)
    assert L.reference == reference
    for (name, ours), (_, theirs) in zip(blocks(L.A, model), blocks(A, model), strict=True):
        assert_close(ours, theirs, 1e-8, f'block {name}', scale=max(1e-2, np.abs(theirs).max()))
    assert_close(L.B, B, 1e-9)
    assert_close(L.drift, drift, 1e-10, scale=1.0)
    assert n == L.B.shape[1]


@pytest.mark.parametrize('reference', ['moving', 'frozen', 'given'])
@pytest.mark.parametrize('representation', NAMES)
def test_discretization__is_the_derivative_of_the_step(case, representation, reference):
    dt = 0.01
    options = {'reference': 'frozen'} if reference == 'frozen' else {}
    ahead = case.lin.discretize(case.state, case.tau, dt, method='rkmk4').next_state
    arrival = {'moving': ahead, 'frozen': case.state, 'given': ahead.retract(case.offset)}[
        reference
    ]
    if reference == 'given':
        options = {'next_reference': arrival}
    found = case.lin.discretize(case.state, case.tau, dt, method='rkmk4', **options)
    found = found.in_representation(representation)

    def end(z, tau):
        after = case.lin.discretize(moved(case, z, representation), tau, dt, method='rkmk4')
        return displacement(case, arrival, after.next_state, representation)

    zero = np.zeros(case.width)
    assert_close(found.Phi, derivative_by_vector(lambda z: end(z, case.tau), zero), 1e-9)
    assert_close(found.Gamma, derivative_by_vector(lambda t: end(zero, t), case.tau), 1e-9)
    assert_close(found.defect, end(zero, case.tau), 1e-12, scale=1.0)
    assert_close(found.next_state.data, ahead.data, 0.0)


@pytest.mark.parametrize('representation', NAMES)
def test_fixed_base__has_no_twist_to_convert(representation):
    model = TreeModel.from_urdf(robots.path('quadruped'), base='fixed')
    lin, state = Linearizer(model), model.random_state(np.random.default_rng(0))
    tau = np.ones(model.n)
    L = lin(state, tau).in_representation(representation)
    assert_blocks_close(L.A, lin(state, tau).A, model, 0.0)
    step = lin.discretize(state, tau, 0.01).in_representation(representation)
    assert_close(step.Phi, lin.discretize(state, tau, 0.01).Phi, 0.0)


def test_unknown_representation__is_named(case):
    with pytest.raises(ConfigurationError, match="representation is 'spatial'"):
        case.lin(case.state, case.tau).in_representation('spatial')
