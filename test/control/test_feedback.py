# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The law on a nonlinear robot: MuJoCo's, on a floor, with the URDF's effort limits."""

import dataclasses

import numpy as np
import pytest
from support.standing import SUPPORTS, held, standing_robot, urdf_of

from geolin_ros import Linearizer
from geolin_ros.control.feedback import Feedback
from geolin_ros.control.lqr import PERIOD, Tuning, design, regulate
from geolin_ros.errors import ShapeError
from geolin_ros.linearization.reduction import reduce

pytest.importorskip('mujoco')
from geolin_demos.sim.simulator import Push, Simulator


def simulator(name, model, state, pushes=()):
    supports = standing_robot(name)[1]
    robot = Simulator(urdf_of(name), model, supports, pushes=pushes)
    robot.state = state
    return robot


def hold(name, model, gains, duration, pushes=(), delay=0):
    """Return the largest displacement z[:6] of the base over time, infinite after a fall."""
    robot, law = simulator(name, model, gains.state, pushes), Feedback(gains)
    on_their_way = [gains.feedforward] * delay
    worst = np.zeros(6)
    for _ in range(round(duration / PERIOD)):
        on_their_way.append(
            np.clip(law.efforts(robot.state), -model.limits.effort, model.limits.effort)
        )
        law.sent(on_their_way[-1])
        robot.advance(on_their_way.pop(0), PERIOD)
        away = np.abs(law.displacement(robot.state)[:6])
        worst = np.maximum(worst, away)
        if np.max(away) > 0.25:
            return np.full(6, np.inf)
    return worst


CASES = [(name, None) for name in SUPPORTS] + [
    ('go2', 3),
    ('g1_29dof_rev_1_0', 1),
    ('humanoid', 1),
]


@pytest.mark.parametrize(('name', 'feet'), CASES)
def test_robot__stands_and_bears_a_push(name, feet):
    model, point = held(name, feet)
    impulse = (0.02 if name in ('go2', 'quadruped') else 0.01) * 9.81 * model.total_mass
    push = Push(0.3, (0.0, impulse / 0.1, 0.0))
    worst = hold(name, model, design(model, point), 1.2, [push])
    assert 1e-3 < np.max(worst) < 0.15


def test_projection__along_the_mass_matrix_stands_and_the_orthogonal_one_falls():
    """K_r W against K_r P'; rotors, which the URDF leaves out, would hide the difference."""
    model, point = held('go2', armature=0.0)
    gains = design(model, point)
    linearizer = Linearizer(model, [s.contact for s in point.supports])
    reduced = reduce(linearizer(point.state, point.tau))
    K_r = gains.K @ reduced.P
    np.testing.assert_allclose(reduced.full_gain(K_r), gains.K, atol=1e-9 * np.max(gains.K))
    orthogonal = dataclasses.replace(gains, K=K_r @ reduced.P.T)
    np.testing.assert_allclose(orthogonal.K @ reduced.P, K_r, atol=1e-9 * np.max(gains.K))
    assert np.max(hold('go2', model, gains, 2.0)) < 0.01
    assert np.max(hold('go2', model, orthogonal, 2.0)) == np.inf


def without_contact_forces(model, point, reduced):
    """Return the reduced system of the free robot's A, made without the forces of the floor."""
    m, k = model.m, reduced.N.shape[1]
    free = Linearizer(model)(point.state, point.tau)
    A = reduced.A.copy()
    A[k:] = reduced.W @ free.A[m:] @ reduced.P
    return dataclasses.replace(reduced, A=A)


@pytest.mark.parametrize(('name', 'falls'), [('humanoid', False), ('g1_29dof_rev_1_0', True)])
def test_contact_forces__left_out_of_A_make_a_standing_humanoid_unstable(name, falls):
    """In the simulator the bundled humanoid ends up leaning, by 5 cm, and g1 falls."""
    model, point = held(name)
    linearizer = Linearizer(model, [s.contact for s in point.supports])
    reduced = reduce(linearizer(point.state, point.tau))
    with_forces = regulate(model, point, reduced)
    left_out = regulate(model, point, without_contact_forces(model, point, reduced))
    Phi, Gamma = reduced.discretize(PERIOD)
    radii = [
        np.abs(np.linalg.eigvals(Phi - Gamma @ gains.K @ reduced.P)).max()
        for gains in (with_forces, left_out)
    ]
    assert radii[0] < 0.995
    assert radii[1] > 1.001
    push = Push(0.1, (0.02 * 9.81 * model.total_mass / 0.1, 0.0, 0.0))
    assert np.max(hold(name, model, with_forces, 2.5, [push])) < 0.04
    assert (np.max(hold(name, model, left_out, 2.5, [push])) == np.inf) == falls


def test_complement__brings_back_a_robot_that_loses_its_feet():
    model, point = held('go2')
    push = Push(0.2, (0.0, 0.08 * 9.81 * model.total_mass / 0.1, 0.0))
    gains = design(model, point)
    assert np.max(hold('go2', model, gains, 2.0, [push])) < 0.25
    without = design(model, point, Tuning(bandwidth=0.0))
    assert np.max(hold('go2', model, without, 2.0, [push])) == np.inf


def test_delay__falls_if_ignored_and_stands_if_designed_for():
    model, point = held('go2', armature=0.0)
    assert np.max(hold('go2', model, design(model, point), 2.0, delay=3)) == np.inf
    assert np.max(hold('go2', model, design(model, point, Tuning(delay=3)), 2.0, delay=3)) < 0.02


def test_law__is_feedforward_less_gains_times_displacement():
    model, point = held('quadruped')
    gains = design(model, point)
    law = Feedback(gains)
    z = 0.1 * np.random.default_rng(0).normal(size=2 * model.m)
    state = point.state.retract(z)
    expected = gains.feedforward - (gains.K + gains.K_complement) @ z
    np.testing.assert_allclose(law.efforts(state), expected, rtol=1e-9)
    np.testing.assert_allclose(law.efforts(point.state), gains.feedforward)
    np.testing.assert_allclose(law.efforts(state, reference=state), gains.feedforward)
    extra = law.efforts(state, state, gains.feedforward + 1.0)
    np.testing.assert_allclose(extra, gains.feedforward + 1.0)
    with pytest.raises(ShapeError, match='feedforward has shape'):
        law.efforts(state, feedforward=np.zeros(3))


def test_law__with_delay_remembers_the_last_inputs_only():
    model, point = held('quadruped')
    gains = design(model, point, Tuning(delay=2))
    law = Feedback(gains)
    u = gains.feedforward
    np.testing.assert_allclose(law.efforts(point.state), u)
    for step in (3.0, 1.0, 2.0):
        law.sent(u + step)
    past = np.repeat([2.0, 1.0], u.size)
    np.testing.assert_allclose(law.efforts(point.state), u - gains.K_past @ past)
