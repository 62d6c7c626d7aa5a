# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The law on a nonlinear robot: MuJoCo's, on a floor, with the URDF's effort limits."""

import dataclasses

import numpy as np
import pytest
from support.standing import held, standing_robot, urdf_of

from geolin_ros.control.lqr import PERIOD, Feedback, Tuning, design, regulate
from geolin_ros.errors import ShapeError
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.reduction import reduce

pytest.importorskip('mujoco')
from geolin_demos.sim.simulator import Push, Simulator


def hold(name, model, gains, duration, impulse=0.0, axis=1, delay=0):
    """Return the largest displacement of the base [m or rad] after a push, infinite after a fall.

    The push is so many weights times a second, along x or y; efforts act ``delay`` periods late.
    """
    robot, law = Simulator(urdf_of(name), model, standing_robot(name)[1]), Feedback(gains)
    force = np.eye(3)[axis] * impulse * 9.81 * model.total_mass / 0.1
    robot.pushes, robot.state, worst = [Push(0.1, tuple(force))], gains.state, 0.0
    on_their_way = [gains.feedforward] * delay
    for _ in range(round(duration / PERIOD)):
        efforts = np.clip(law.efforts(robot.state), -model.limits.effort, model.limits.effort)
        law.sent(efforts)
        on_their_way.append(efforts)
        robot.advance(on_their_way.pop(0), PERIOD)
        worst = max(worst, np.abs(law.gains.state.difference(robot.state)[:6]).max())
        if worst > 0.25:
            return np.inf
    return worst


@pytest.mark.parametrize(
    ('name', 'feet'), [('go2', None), ('humanoid', None), ('go2', 3), ('g1_29dof_rev_1_0', 1)]
)
def test_robot__stands_and_bears_a_push(name, feet):
    model, point = held(name, feet)
    worst = hold(name, model, design(model, point), 1.0, 0.02 if name == 'go2' else 0.01)
    assert 1e-3 < worst < 0.15


def test_projection__along_the_mass_matrix_stands_and_the_orthogonal_one_falls():
    """K_r W against K_r P'; rotors, which the URDF leaves out, would hide the difference."""
    model, point = held('go2', armature=0.0)
    gains, reduced = design(model, point), reduced_at(model, point)
    orthogonal = dataclasses.replace(gains, K=gains.K @ reduced.P @ reduced.P.T)
    assert hold('go2', model, gains, 2.0) < 0.01
    assert hold('go2', model, orthogonal, 2.0) == np.inf


def reduced_at(model, point):
    linearizer = Linearizer(model, [s.contact for s in point.supports])
    return reduce(linearizer(point.state, point.tau).copy())


def test_contact_forces__left_out_of_A_make_a_standing_humanoid_unstable():
    """By the A of the free robot, reduced as if the floor gave it no forces."""
    name = 'g1_29dof_rev_1_0'
    model, point = held(name)
    reduced, free = reduced_at(model, point), Linearizer(model)(point.state, point.tau)
    k, A = reduced.N.shape[1], reduced.A.copy()
    A[k:] = reduced.W @ free.A[model.m :] @ reduced.P
    gains, without = (
        regulate(model, point, dataclasses.replace(reduced, A=a)) for a in (reduced.A, A)
    )
    assert hold(name, model, gains, 2.5, 0.02, axis=0) < 0.04
    assert hold(name, model, without, 2.5, 0.02, axis=0) == np.inf


def test_delay__falls_if_ignored_and_stands_if_designed_for():
    model, point = held('go2', armature=0.0)
    assert hold('go2', model, design(model, point), 2.0, delay=3) == np.inf
    assert hold('go2', model, design(model, point, tuning=Tuning(delay=3)), 2.0, delay=3) < 0.02


def test_complement__brings_back_a_robot_that_loses_its_feet():
    model, point = held('go2')
    assert hold('go2', model, design(model, point), 2.0, 0.08) < 0.25
    without = design(model, point, tuning=Tuning(bandwidth=0.0))
    assert hold('go2', model, without, 2.0, 0.08) == np.inf


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
    extra = law.efforts(state, reference=state, feedforward=gains.feedforward + 1.0)
    np.testing.assert_allclose(extra, gains.feedforward + 1.0)
    with pytest.raises(ShapeError, match=r'feedforward has shape \(3,\), expected \(12,\)$'):
        law.efforts(state, feedforward=np.zeros(3))


def test_law__with_delay_remembers_the_last_inputs_only():
    model, point = held('quadruped')
    gains = design(model, point, tuning=Tuning(delay=2))
    law = Feedback(gains)
    u = gains.feedforward
    np.testing.assert_allclose(law.efforts(point.state), u)
    for step in (3.0, 1.0, 2.0):
        law.sent(u + step)
    past = np.repeat([2.0, 1.0], u.size)
    np.testing.assert_allclose(law.efforts(point.state), u - gains.K_past @ past)
