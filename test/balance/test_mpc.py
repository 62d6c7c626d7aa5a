# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""examples/mpc: its controller by arrays, and all of it as three processes."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg
from support.standing import simulator_of, standing_robot

pytest.importorskip('mujoco')
pytest.importorskip('geolin_msgs.msg')

from geolin_control.regulator import Reference

from geolin_ros import Linearizer
from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.weights import Weights, cost
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.reduction import reduce
from mpc import robot as example
from mpc.controller import ModelPredictiveControl, Settings

MODEL, BALLS = standing_robot('quadruped')
POINT = equilibrium(MODEL, standing_posture(MODEL, BALLS), BALLS)
FEET = [support.contact for support in POINT.supports]
REFERENCE = Reference(POINT.state, POINT.tau)
LINEARIZER = Linearizer(MODEL, FEET)
REDUCED = reduce(LINEARIZER(POINT.state, POINT.tau).copy())


def published(state, tau=POINT.tau):
    """Return what the linearizer says of a state, and the state a period later."""
    held = LINEARIZER(state, tau).copy()
    step = LINEARIZER.discretize(state, tau, Settings().period, method='zoh', reference='frozen')
    now = SimpleNamespace(A=step.Phi, B=step.Gamma, drift=step.defect, state=state, tau=tau)
    forces = SimpleNamespace(
        active=tuple(foot.frame for foot in FEET),
        wrenches=held.wrenches,
        wrench_by_state=held.wrench_by_state,
        wrench_by_tau=held.wrench_by_tau,
    )
    return now, forces, step.next_state


def controller(**settings):
    return ModelPredictiveControl(MODEL, REFERENCE, FEET, Settings(**settings))


def regulator():
    """Return the gain of a period, in full coordinates, by SciPy."""
    price = cost(Weights(), MODEL, POINT.state, POINT.supports, POINT.wrenches, REDUCED)
    Phi, Gamma = REDUCED.discretize(Settings().period)
    P = scipy.linalg.solve_discrete_are(Phi, Gamma, price.Q, price.R)
    return np.linalg.solve(price.R + Gamma.T @ P @ Gamma, Gamma.T @ P @ Phi) @ REDUCED.L


def outside_cone(state, efforts):
    """Return by how much [N] forces leave their friction cones, by the nonlinear robot."""
    forces, at = LINEARIZER(state, efforts).wrenches.reshape(-1, 3), Kinematics(MODEL, state)
    feet = [at.pose(support.at(MODEL))[:3, :3] for support in POINT.supports]
    world = np.array([R @ force for R, force in zip(feet, forces, strict=True)])
    slip = np.linalg.norm(world[:, :2], axis=1) - Settings().friction * world[:, 2]
    return slip.max()


@pytest.mark.parametrize('steps', [2, 15])
def test_plan__is_the_regulators_where_no_constraint_is_active(steps):
    y = np.random.default_rng(1).normal(size=12)
    now, forces, following = published(POINT.state.retract(5e-3 * REDUCED.P @ y))
    found = controller(steps=steps).efforts(now, forces, REFERENCE) - POINT.tau
    expected = -regulator() @ POINT.state.difference(following)
    assert np.abs(expected).max() > 0.5
    np.testing.assert_allclose(found, expected, atol=0.02 * np.abs(expected).max())


def test_plan__keeps_forces_in_their_cones_where_the_regulator_would_slip():
    moving = POINT.state.copy()
    moving.v[1] = 0.5
    J = REDUCED.full.J
    moving.r[:] = -np.linalg.lstsq(J[:, 6:], J[:, :6] @ moving.v, None)[0]
    now, forces, following = published(moving)
    free = POINT.tau - regulator() @ POINT.state.difference(following)
    planned = controller().efforts(now, forces, REFERENCE)
    assert np.abs(planned).max() <= MODEL.limits.effort.max()
    assert outside_cone(following, planned) < 0.01 * MODEL.total_mass * 9.81
    assert outside_cone(following, free) > 0.1 * MODEL.total_mass * 9.81


def test_problem_without_solution__goes_on_with_the_plan_before():
    mpc = controller()
    moved = POINT.state.retract(1e-3 * REDUCED.P[:, 2])
    now, forces, _ = published(moved)
    mpc.efforts(now, forces, REFERENCE)
    next_of_plan = mpc._plan[1].copy()
    pulling = SimpleNamespace(**vars(forces))
    pulling.wrenches = -100.0 * np.tile([0.0, 0.0, 1.0], 4)
    pulling.wrench_by_tau, pulling.wrench_by_state = np.zeros((12, 12)), np.zeros((12, 36))
    np.testing.assert_array_equal(mpc.efforts(now, pulling, REFERENCE), next_of_plan)
    assert mpc.unsolved == 1


def test_robot_on_soles__is_refused():
    with pytest.raises(ConfigurationError, match="foot 'left_foot' is a sole, expected feet that"):
        example.require_points(simulator_of('humanoid'))
