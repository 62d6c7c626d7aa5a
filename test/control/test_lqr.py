# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains of standing robots: optimal by SciPy, priced in physical units, stable where they act."""

import dataclasses
from functools import cache

import numpy as np
import pytest
import scipy.linalg
from support.standing import SUPPORTS, held, standing_robot

from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.lqr import PERIOD, Tuning, design, lqr, plant_of, regulate
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.weights import HUMANOID, QUADRUPED, Weights, cost, weights_for
from geolin_ros.dynamics.momentum import centre_of_mass
from geolin_ros.errors import ConfigurationError, NotStabilizableError, UnknownNameError
from geolin_ros.linearization.constrained_dynamics import constrained_forward_dynamics
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.reduction import reduce
from geolin_ros.model.tree import JointLimits


@cache
def stand(name, feet=None):
    """Return model, equilibrium and reduced system of a robot on its first ``feet``, or all."""
    model, point = held(name, feet)
    linearizer = Linearizer(model, [s.contact for s in point.supports])
    return model, point, reduce(linearizer(point.state, point.tau).copy())


def priced(name, weights=None, feet=None):
    model, point, reduced = stand(name, feet)
    return cost(
        weights or weights_for(point.supports),
        model,
        point.state,
        point.supports,
        point.wrenches,
        reduced,
    )


@pytest.mark.parametrize(
    ('name', 'feet'),
    [*((name, None) for name in SUPPORTS), ('go2', 3), ('g1_29dof_rev_1_0', 1)],
)
@pytest.mark.parametrize('dt', [PERIOD, 0.0])
def test_gain__equals_scipy(name, feet, dt):
    model, point, reduced = stand(name, feet)
    price = priced(name, feet=feet)
    if dt:
        k, u = reduced.B.shape
        both = np.block([[reduced.A, reduced.B], [np.zeros((u, k + u))]])
        held = scipy.linalg.expm(dt * both)
        A, B = held[:k, :k], held[:k, k:]
        P = scipy.linalg.solve_discrete_are(A, B, price.Q, price.R, s=price.S)
        K = np.linalg.solve(price.R + B.T @ P @ B, B.T @ P @ A + price.S.T)
        margin = np.max(np.abs(np.linalg.eigvals(A - B @ K)))
    else:
        A, B = reduced.A, reduced.B
        P = scipy.linalg.solve_continuous_are(A, B, price.Q, price.R, s=price.S)
        K = np.linalg.solve(price.R, B.T @ P + price.S.T)
        margin = np.max(np.linalg.eigvals(A - B @ K).real)
    gains = design(model, point, Tuning(dt=dt))
    expected = np.hstack(
        (K[:, : K.shape[1] // 2] @ reduced.W, K[:, K.shape[1] // 2 :] @ reduced.W)
    )
    assert np.linalg.norm(gains.K - expected) < 1e-8 * np.linalg.norm(expected)
    assert gains.margin == pytest.approx(margin, rel=1e-9)
    assert gains.solution.method == 'doubling'


@pytest.mark.parametrize('name', ['go2', 'humanoid'])
def test_closed_loop__of_the_whole_robot_has_the_reduced_poles_and_zeros(name):
    model, point, reduced = stand(name)
    gains = design(model, point, Tuning(dt=0.0, bandwidth=0.0))
    A_r = reduced.A - reduced.B @ (gains.K @ reduced.P)
    A = reduced.full.A - reduced.full.B @ gains.K
    poles = np.sort_complex(np.linalg.eigvals(A_r))
    whole = np.linalg.eigvals(A)
    assert len(whole) - len(poles) == 2 * reduced.full.rank
    for pole in poles:
        nearest = np.argmin(np.abs(whole - pole))
        assert abs(whole[nearest] - pole) < 1e-6 * abs(pole)
        whole = np.delete(whole, nearest)
    assert np.max(np.abs(whole)) < 1e-3  # constraint modes without stabilization are zeros


@pytest.mark.parametrize('name', ['go2', 'humanoid'])
def test_complement__does_nothing_while_contacts_hold(name):
    model, point, reduced = stand(name)
    gains = design(model, point)
    largest = np.max(np.abs(gains.K_complement))
    assert np.max(np.abs(gains.K_complement @ reduced.P)) < 1e-9 * largest
    forbidden = np.linalg.svd(reduced.full.J)[2][0]
    assert np.max(np.abs(gains.K_complement[:, : model.m] @ forbidden)) > 1e-3 * largest


@pytest.mark.parametrize(
    ('name', 'weights'),
    [
        ('go2', QUADRUPED),
        ('go2', dataclasses.replace(HUMANOID, single={'s.FL_calf_joint': 0.1})),
        ('humanoid', HUMANOID),
    ],
)
def test_cost__is_the_sum_of_squared_ratios_of_what_moves(name, weights):
    """Of the nonlinear robot, displaced a little along the contacts, by constrained dynamics."""
    model, point, reduced = stand(name)
    price = priced(name, weights)
    rng = np.random.default_rng(1)
    k, u = reduced.B.shape
    y, du, h = rng.normal(size=k), 10.0 * rng.normal(size=u), 1e-5
    contacts = [s.contact for s in point.supports]
    m = model.m

    def measure(scale):
        state = point.state.retract(scale * reduced.lift(y))
        mass = centre_of_mass(model, state)
        _, forces = constrained_forward_dynamics(model, state, point.tau + scale * du, contacts)
        nu = np.concatenate((state.v, state.r))
        return np.concatenate((mass.com, mass.jacobian @ nu, forces))

    change = (measure(h) - measure(-h)) / (2.0 * h)
    com, com_velocity, forces = change[:3], change[3:6], change[6:]
    z = reduced.lift(y)
    deviations = np.repeat(
        [
            weights.base_position,
            weights.base_rotation,
            weights.joints,
            weights.base_velocity,
            weights.base_rate,
            weights.joint_rates,
        ],
        [3, 3, model.n, 3, 3, model.n],
    )
    if weights.single:
        deviations[6 + model.joint_index('FL_calf_joint')] = 0.1
    effort = weights.effort_price * np.sum((du / model.limits.effort) ** 2)
    expected = np.sum((z / deviations) ** 2) + effort
    expected += np.sum((com / weights.com) ** 2) + np.sum(
        (com_velocity / weights.com_velocity) ** 2
    )
    if weights.normal_force:
        first = 0
        for support in point.supports:
            load = point.wrenches[first : first + support.rows]
            df = forces[first : first + support.rows]
            acceptable = np.array([weights.tangential_force] * 2 + [weights.normal_force])
            expected += np.sum((df[:3] / (acceptable * load[2])) ** 2)
            if support.kind == 'surface':
                size = np.array([0.04, 0.09, 0.09])
                expected += np.sum((df[3:] / (weights.sole_moment * load[2] * size)) ** 2)
            first += support.rows
    found = y @ price.Q @ y + 2.0 * y @ price.S @ du + du @ price.R @ du
    assert found == pytest.approx(expected, rel=1e-6)
    assert du @ price.R_effort @ du == pytest.approx(effort)
    assert m == model.m


@pytest.mark.parametrize('name', ['quadruped', 'humanoid'])
def test_warm_design__at_a_lower_posture_starts_from_the_gain_above(name):
    model, supports = standing_robot(name)
    _, point, _ = stand(name)
    above = design(model, point)
    lower = standing_posture(
        model, supports, start=point.state, height=point.state.H[2, 3] - 0.002
    )
    low_point = equilibrium(model, lower, supports)
    warm, cold = design(model, low_point, previous=above), design(model, low_point)
    assert warm.solution.method == 'warm'
    assert cold.solution.method == 'doubling'
    error = np.linalg.norm(warm.K - cold.K) / np.linalg.norm(cold.K)
    assert error < 20.0 * warm.solution.correction**2
    assert error < 2e-3
    assert error < 0.2 * np.linalg.norm(above.K - cold.K) / np.linalg.norm(cold.K)


def test_contact_switch__is_solved_cold():
    model, supports = standing_robot('quadruped')
    _, point, _ = stand('quadruped')
    three = equilibrium(
        model, standing_posture(model, supports[:3], start=point.state), supports[:3]
    )
    gains = design(model, three, previous=design(model, point))
    assert gains.solution.method == 'doubling'
    assert gains.contacts == ('FL_foot', 'FR_foot', 'RL_foot')


@pytest.mark.parametrize('delay', [1, 3])
@pytest.mark.parametrize('name', ['go2', 'humanoid'])
def test_delay__is_part_of_the_state(name, delay):
    """The closed loop with a queue of efforts, written as such, has the poles of the design."""
    model, point, reduced = stand(name)
    gains = design(model, point, Tuning(delay=delay))
    Phi, Gamma = reduced.discretize(PERIOD)
    K = gains.K @ reduced.P
    k, u = Gamma.shape
    x = np.eye(k + delay * u)
    y, sent = x[:k], [x[k + i * u : k + (i + 1) * u] for i in range(delay)]
    now = -K @ y - gains.K_past @ np.vstack(sent)
    after = np.vstack((Phi @ y + Gamma @ sent[-1], now, *sent[:-1]))
    assert np.max(np.abs(np.linalg.eigvals(after))) == pytest.approx(gains.margin, rel=1e-9)
    assert gains.margin < 1.0
    plant = plant_of(reduced, priced(name), PERIOD, delay)
    P = scipy.linalg.solve_discrete_are(plant.A, plant.B, plant.Q, plant.R, s=plant.S)
    expected = np.linalg.solve(plant.R + plant.B.T @ P @ plant.B, plant.B.T @ P @ plant.A)
    found = np.hstack((K, gains.K_past))
    assert np.linalg.norm(found - expected) < 1e-8 * np.linalg.norm(expected)


def test_robot_that_cannot_be_kept__is_refused():
    model, point, reduced = stand('go2')
    weak = dataclasses.replace(reduced, B=np.zeros_like(reduced.B))
    with pytest.raises(NotStabilizableError, match='go2_description standing on FL_foot') as error:
        regulate(model, point, weak, Tuning(dataclasses.replace(QUADRUPED)))
    report = error.value.report
    assert (report.controllable, report.states, report.stabilizable) == (0, 12, False)
    assert report.text() in str(error.value)


def test_wrong_arguments__are_named():
    model, point, _ = stand('quadruped')
    with pytest.raises(ConfigurationError, match='delay -1'):
        Tuning(delay=-1)
    with pytest.raises(ConfigurationError, match='no delay in continuous time'):
        Tuning(dt=0.0, delay=1)
    with pytest.raises(ConfigurationError, match="weight 'com' is 0"):
        Weights(com=0.0)
    with pytest.raises(ConfigurationError, match=r"weight 's\.x' is -1"):
        Weights(single={'s.x': -1.0})
    with pytest.raises(UnknownNameError, match=r's\.FL_kne'):
        design(model, point, Tuning(Weights(single={'s.FL_kne': 1.0})))
    effort = np.full(model.n, np.inf)
    limits = JointLimits(model.limits.lower, model.limits.upper, model.limits.velocity, effort)
    with pytest.raises(ConfigurationError, match='effort limit inf'):
        design(dataclasses.replace(model, limits=limits), point)


def test_gain_of_two_matrices__is_that_of_scipy_and_says_what_contacts_need():
    model, _, reduced = stand('quadruped')
    k, u = reduced.B.shape
    Q, R = np.eye(k), 0.1 * np.eye(u)
    S = scipy.linalg.solve_continuous_are(reduced.A, reduced.B, Q, R)
    np.testing.assert_allclose(lqr(reduced.A, reduced.B, Q, R), reduced.B.T @ S / 0.1, 1e-6, 1e-8)
    with pytest.raises(NotStabilizableError, match=r'needs A and B of reduce\(C\)'):
        lqr(reduced.full.A, reduced.full.B, np.eye(2 * model.m), R)
