# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forces that hold a posture: by Pinocchio's recursion, and by another solver."""

import dataclasses

import numpy as np
import pytest
import scipy.optimize
from support.close import assert_close
from support.constrained_reference import ConstrainedReference
from support.pinocchio_oracle import PinocchioOracle, pin
from support.standing import SUPPORTS, stance, standing_robot, urdf_of

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.control.equilibrium import equilibrium, statics
from geolin_ros.control.lqr import design
from geolin_ros.control.posture import standing_posture
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, InfeasibleError

CASES = [(name, None) for name in SUPPORTS] + [('go2', 3), ('humanoid', 1)]


@pytest.mark.parametrize(('name', 'feet'), CASES)
def test_equilibrium__leaves_no_force_by_pinocchio(name, feet):
    model, supports, state = stance(name, feet)
    held = equilibrium(model, state, supports)
    oracle = PinocchioOracle.read_urdf(urdf_of(name), model)
    missing = oracle.inverse_dynamics(state, np.zeros(model.m))
    missing[6:] -= held.tau
    pin.computeJointJacobians(oracle.pin_model, oracle.data, oracle.q(state))
    first = 0
    for support in held.supports:  # wrenches in contact axes
        frame = pin.Frame(oracle.pin_model.frames[oracle.pin_model.getFrameId(support.frame)])
        frame.placement = frame.placement * pin.SE3(np.asarray(support.placement))
        index = oracle.pin_model.addFrame(
            pin.Frame(f'{support.frame} sole', frame.parentJoint, frame.placement, pin.OP_FRAME)
        )
        data = oracle.pin_model.createData()
        J = pin.computeFrameJacobian(oracle.pin_model, data, oracle.q(state), index, pin.LOCAL)
        rows = support.rows
        missing -= (J[:rows].T @ held.wrenches[first : first + rows])[oracle.order]
        first += rows
    weight = 9.81 * model.total_mass
    assert np.max(np.abs(missing)) < 1e-9 * weight
    assert np.max(np.abs(held.residual)) < 1e-12 * weight
    assert held.forces.sum(axis=0) == pytest.approx([0.0, 0.0, weight], abs=1e-8 * weight)
    assert held.load_share.sum() == pytest.approx(1.0)
    most = 0.4 if feet is None and name in robots.ROBOTS else 1.0
    assert 0.0 < np.max(held.effort_use) < most
    assert np.max(held.friction_use) <= 1.0 + 1e-9
    assert np.min(held.forces[:, 2]) > -1e-9 * weight


def test_closed_loop__is_held_by_posture_forces_and_gains():
    """A humanoid that holds its own hand, by Pinocchio's constraint dynamics."""
    _, supports = standing_robot('humanoid')
    path = urdf_of('humanoid')
    model = TreeModel.from_urdf(path, loops=['left_hand=right_hand point'])
    state = standing_posture(model, supports)
    held = equilibrium(model, state, supports)
    hands = [Kinematics(model, state).pose(f'{side}_hand')[:3, 3] for side in ('left', 'right')]
    assert_close(hands[0], hands[1], 1e-9)
    contacts = [support.contact for support in held.supports]
    reference = ConstrainedReference(
        PinocchioOracle.read_urdf(path, model), [*contacts, *model.loops]
    )
    assert np.max(np.abs(reference.forward_dynamics(held.state, held.tau)[0])) < 1e-8
    assert Linearizer(model, contacts)(held.state, held.tau).wrenches.size == 15
    assert design(model, held).margin < 1.0


@pytest.mark.parametrize('name', ['go2', 'humanoid'])
def test_equilibrium__is_the_least_one_by_another_solver(name):
    """Nonnegative multiples of the edges of the pyramids, by SciPy's nnls."""
    model, supports, state = stance(name)
    held = equilibrium(model, state, supports, friction=0.5)
    weight = 9.81 * model.total_mass
    at = Kinematics(model, state)
    angles = np.pi * (2 * np.arange(8) + 1) / 8
    edges = np.stack((0.5 * np.cos(angles), 0.5 * np.sin(angles), np.ones(8)))
    V = np.kron(np.eye(len(held.points)), edges)
    rows = []
    for support in held.supports:
        frame = support.at(model)
        for point in np.asarray(support.points):
            placed = dataclasses.replace(frame, placement=frame.placement.copy())
            placed.placement[:3, 3] += placed.placement[:3, :3] @ point
            rows.append(at.jacobian(placed, expressed_in='mixed')[:3])
    J = np.vstack(rows)
    scale = model.limits.effort / weight
    h = PinocchioOracle.read_urdf(urdf_of(name), model).inverse_dynamics(state, np.zeros(model.m))
    E = np.vstack((1e4 * J[:, :6].T, np.eye(J.shape[0]), J[:, 6:].T / scale[:, None]))
    e = np.concatenate((1e4 * h[:6], np.zeros(J.shape[0]), h[6:] / scale)) / weight
    multiples, _ = scipy.optimize.nnls(E @ V, e, maxiter=10000)
    np.testing.assert_allclose(held.forces.ravel() / weight, V @ multiples, atol=1e-6)


def test_centre_of_mass_beside_the_feet__is_explained():
    model, supports, state = stance('go2')
    with pytest.raises(InfeasibleError, match='mm off its supports') as raised:
        equilibrium(model, state, supports[:1])
    assert raised.value.report.margin < -0.2
    assert statics(model, state, supports).margin > 0.1


def limited(model, joints, most):
    """Return a model of which some joints have another effort limit."""
    effort = np.array(model.limits.effort)
    effort[joints] = most
    return dataclasses.replace(model, limits=dataclasses.replace(model.limits, effort=effort))


def test_weak_joint__is_named():
    model, supports, state = stance('go2')
    calves = [model.joint_index(f'{leg}_calf_joint') for leg in ('FL', 'FR', 'RL', 'RR')]
    with pytest.raises(InfeasibleError, match=r"'.._calf_joint' would need .* its limit is 1 "):
        equilibrium(limited(model, calves, 1.0), state, supports)


def test_effort_limit__moves_the_load_to_other_feet():
    model, supports, state = stance('go2')
    calf = model.joint_index('RL_calf_joint')
    free = equilibrium(model, state, supports)
    most = 0.98 * abs(free.tau[calf])
    held = equilibrium(limited(model, calf, most), state, supports)
    assert abs(held.tau[calf]) <= most * (1.0 + 1e-8)
    assert held.load_share[2] < free.load_share[2]
    assert np.max(np.abs(held.residual)) < 1e-9


def test_slippery_floor__turns_the_forces_upright():
    model, supports, state = stance('go2')
    held = equilibrium(model, state, supports, friction=0.02)
    assert np.max(held.friction_use) <= 1.0 + 1e-8
    assert np.max(np.abs(held.forces[:, :2]) / held.forces[:, 2:]) <= 0.02


def test_wrong_arguments__are_named():
    model, supports, state = stance('quadruped')
    with pytest.raises(ConfigurationError, match='friction 0'):
        equilibrium(model, state, supports, friction=0.0)
    with pytest.raises(ConfigurationError, match='0 supports'):
        equilibrium(model, state, [])
