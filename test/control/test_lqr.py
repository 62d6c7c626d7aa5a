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
from geolin_ros.linearization.linearizer import Linearizer, constrained_forward_dynamics
from geolin_ros.linearization.reduction import reduce


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


@pytest.mark.parametrize(('name', 'feet'), [*((name, None) for name in SUPPORTS), ('go2', 3)])
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
    gains = design(model, point, tuning=Tuning(dt=dt))
    expected = np.hstack(
        (K[:, : K.shape[1] // 2] @ reduced.W, K[:, K.shape[1] // 2 :] @ reduced.W)
    )
    assert np.linalg.norm(gains.K - expected) < 1e-8 * np.linalg.norm(expected)
    assert gains.margin == pytest.approx(margin, rel=1e-9)
    assert gains.solution.method == ('doubling' if dt else 'scipy')


@pytest.mark.parametrize('name', ['go2', 'humanoid'])
def test_complement__does_nothing_while_contacts_hold(name):
    model, point, reduced = stand(name)
    gains = design(model, point)
    largest = np.max(np.abs(gains.K_complement))
    assert np.max(np.abs(gains.K_complement @ reduced.P)) < 1e-9 * largest
    forbidden = np.linalg.svd(reduced.full.J)[2][0]
    assert np.max(np.abs(gains.K_complement[:, : model.m] @ forbidden)) > 1e-3 * largest


def test_deviations_of_whole_numbers__are_kept_beside_a_fraction():
    model = standing_robot('go2')[0]
    found = Weights(1, 1, 1, 2, 2, 2, single={'s.FL_calf_joint': 0.1}).deviations(model)
    assert sorted(set(found)) == [0.1, 1.0, 2.0]


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

    def measure(scale):
        state = point.state.retract(scale * reduced.P @ y)
        mass = centre_of_mass(model, state)
        _, forces = constrained_forward_dynamics(model, state, point.tau + scale * du, contacts)
        nu = np.concatenate((state.v, state.r))
        return np.concatenate((mass.com, mass.jacobian @ nu, forces))

    change = (measure(h) - measure(-h)) / (2.0 * h)
    com, com_velocity, forces = change[:3], change[3:6], change[6:]
    z = reduced.P @ y
    parts = ['base_position', 'base_rotation', 'joints']
    parts += ['base_velocity', 'base_rate', 'joint_rates']
    sizes = [3, 3, model.n, 3, 3, model.n]
    deviations = np.repeat([getattr(weights, part) for part in parts], sizes)
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
def test_delay__is_part_of_the_state(delay):
    """The closed loop with a queue of efforts, written as such, has the poles of the design."""
    model, point, reduced = stand('go2')
    gains = design(model, point, tuning=Tuning(delay=delay))
    Phi, Gamma = reduced.discretize(PERIOD)
    K = gains.K @ reduced.P
    k, u = Gamma.shape
    x = np.eye(k + delay * u)
    y, sent = x[:k], [x[k + i * u : k + (i + 1) * u] for i in range(delay)]
    now = -K @ y - gains.K_past @ np.vstack(sent)
    after = np.vstack((Phi @ y + Gamma @ sent[-1], now, *sent[:-1]))
    assert np.max(np.abs(np.linalg.eigvals(after))) == pytest.approx(gains.margin, rel=1e-9)
    assert gains.margin < 1.0
    plant = plant_of(reduced, priced('go2'), PERIOD, delay)
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


@pytest.mark.parametrize(
    ('make', 'error', 'said'),
    [
        (lambda: Tuning(delay=-1), ConfigurationError, 'delay -1'),
        (lambda: Tuning(delay=100_000), ConfigurationError, 'at most 100 steps'),
        (lambda: Tuning(dt=np.nan), ConfigurationError, 'dt is nan'),
        (lambda: Tuning(dt=0.0, delay=1), ConfigurationError, 'no delay in continuous time'),
        (lambda: Weights(com=0.0), ConfigurationError, "weight 'com' is 0"),
        (lambda: Weights(single={'s.x': -1.0}), ConfigurationError, r"weight 's\.x' is -1"),
        (lambda: design(*stand('quadruped')[:2], tuning=KNEE), UnknownNameError, r's\.FL_kne'),
        (lambda: design(*without_limits()), ConfigurationError, 'effort limit inf'),
    ],
)
def test_wrong_arguments__are_named(make, error, said):
    with pytest.raises(error, match=said):
        make()


KNEE = Tuning(Weights(single={'s.FL_kne': 1.0}))


def without_limits():
    """Return a robot whose efforts have none, and its equilibrium."""
    model, point, _ = stand('quadruped')
    limits = dataclasses.replace(model.limits, effort=np.full(model.n, np.inf))
    return dataclasses.replace(model, limits=limits), point


def test_gain_of_two_matrices__is_that_of_scipy_and_says_what_contacts_need():
    model, _, reduced = stand('quadruped')
    k, u = reduced.B.shape
    Q, R = np.eye(k), 0.1 * np.eye(u)
    S = scipy.linalg.solve_continuous_are(reduced.A, reduced.B, Q, R)
    np.testing.assert_allclose(lqr(reduced.A, reduced.B, Q, R), reduced.B.T @ S / 0.1, 1e-6, 1e-8)
    with pytest.raises(NotStabilizableError, match=r'needs A and B of reduce\(C\)'):
        lqr(reduced.full.A, reduced.full.B, np.eye(2 * model.m), R)
