# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Postures: feet and centre of mass where they should be, by Pinocchio's kinematics."""

import dataclasses
import re

import numpy as np
import pytest
from support.pinocchio_oracle import PinocchioOracle, pin
from support.robots import example_robot
from support.standing import SUPPORTS, stance, standing_robot, urdf_of
from support.states import rotation_about

from geolin_ros import TreeModel
from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.soles import read_feet
from geolin_ros.control.support import distance_inside, support_polygon
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import centre_of_mass
from geolin_ros.errors import ConfigurationError, InfeasibleError, NotFiniteError, UnknownNameError


def poses_by_pinocchio(name, model, supports, state):
    """Return the poses of contact frames, and the centre of mass, by Pinocchio."""
    oracle = PinocchioOracle.read_urdf(urdf_of(name), model)
    q = oracle.q(state)
    pin.framesForwardKinematics(oracle.pin_model, oracle.data, q)
    com = np.array(pin.centerOfMass(oracle.pin_model, oracle.data, q))
    poses = {}
    for support in supports:
        index = oracle.pin_model.getFrameId(support.frame)
        poses[support.frame] = oracle.data.oMf[index].homogeneous @ support.placement
    return poses, com


def check_limits(model, state):
    assert np.all(state.s >= model.limits.lower - 1e-9)
    assert np.all(state.s <= model.limits.upper + 1e-9)
    assert not np.any(state.v)
    assert not np.any(state.r)


@pytest.mark.parametrize('name', SUPPORTS)
def test_posture__stands_level_with_the_centre_of_mass_over_the_feet(name):
    model, supports, state = stance(name)
    poses, com = poses_by_pinocchio(name, model, supports, state)
    corners = []
    for support in supports:
        pose = poses[support.frame]
        assert abs(pose[2, 3] - support.radius) < 1e-9
        if support.kind == 'surface':
            np.testing.assert_allclose(pose[2, :3], [0.0, 0.0, 1.0], atol=1e-9)
        corners.append(np.asarray(support.points) @ pose[:3, :3].T + pose[:3, 3])
    polygon = support_polygon(np.vstack(corners))
    np.testing.assert_allclose(com, centre_of_mass(model, state).com, atol=1e-9)
    assert distance_inside(polygon, com[:2]) > 0.07
    np.testing.assert_allclose(state.H[2, :3], [0.0, 0.0, 1.0], atol=1e-3)
    check_limits(model, state)


@pytest.mark.parametrize(
    ('moving', 'lean'), [('.*', 0.0), ('.*_(hip_.*|knee|ankle_pitch)_joint', 0.45)]
)
def test_posture__of_legs_with_five_joints_is_met_too(moving, lean):
    """With legs alone the base leans to bring the centre of mass over feet, which come closer."""
    file, sides = example_robot('g1_29dof_rev_1_0'), ('left', 'right')
    names = TreeModel.from_urdf(file).joint_names
    locked = {name: 0.0 for name in names if not re.fullmatch(moving, name)}
    locked |= {f'{side}_ankle_roll_joint': 0.0 for side in sides}
    locked |= {'left_shoulder_roll_joint': lean}
    model = TreeModel.from_urdf(file, locked_joints=locked)
    frames = [f'{side}_ankle_roll_link' for side in sides]
    supports = [foot.support for foot in read_feet(file, model, frames)]
    state = standing_posture(model, supports)
    whole = TreeModel.from_urdf(file)  # at zero where the other is locked
    s = np.zeros(whole.n)
    s[whole.joint_index('left_shoulder_roll_joint')] = lean
    s[[whole.joint_index(name) for name in model.joint_names]] = state.s
    oracle = PinocchioOracle.read_urdf(file, whole)
    q = oracle.q(whole.state(state.H, s, np.zeros(6), np.zeros(whole.n)))
    pin.framesForwardKinematics(oracle.pin_model, oracle.data, q)
    for support in supports:
        pose = oracle.data.oMf[oracle.pin_model.getFrameId(support.frame)].homogeneous
        np.testing.assert_allclose((pose @ support.placement)[2], [0.0, 0.0, 1.0, 0.0], atol=1e-9)
    check_limits(model, state)


def test_height__leaves_a_reserve():
    """Knees that would be at a tenth of their reserve at the usual height stand higher."""
    model, supports, usual = stance('quadruped')
    calves = [c for c, name in enumerate(model.joint_names) if 'calf' in name]
    effort = model.limits.effort.copy()
    effort[calves] = np.abs(equilibrium(model, usual, supports).tau[calves]).max() / 0.9
    weak = dataclasses.replace(model, limits=dataclasses.replace(model.limits, effort=effort))
    state = standing_posture(weak, supports)
    assert state.H[2, 3] > 1.02 * usual.H[2, 3]
    assert equilibrium(weak, state, supports).effort_use.max() < 0.85
    asked = standing_posture(weak, supports, height=float(usual.H[2, 3]))
    assert asked.H[2, 3] == pytest.approx(usual.H[2, 3], abs=0.01)


@pytest.mark.parametrize('name', ['go2', 'humanoid'])
def test_posture__with_one_foot_less_lifts_it(name):
    model, supports, state = stance(name)
    foot = supports[-1].frame
    before = Kinematics(model, state)
    up = before.pose(foot)[:3, 3] + [0.0, 0.0, 0.05]
    lifted = standing_posture(model, supports[:-1], start=state, feet={foot: up})
    after = Kinematics(model, lifted)
    np.testing.assert_allclose(after.pose(foot)[:3, 3], up, atol=1e-9)
    for support in supports[:-1]:
        at = support.at(model)
        np.testing.assert_allclose(after.pose(at)[:3, 3], before.pose(at)[:3, 3], atol=1e-9)
    _, com = poses_by_pinocchio(name, model, supports, lifted)
    polygon = support_polygon(np.vstack([s.world_points(after) for s in supports[:-1]]))
    assert distance_inside(polygon, com[:2]) > 0.02
    check_limits(model, lifted)


@pytest.mark.parametrize('name', ['go2', 'humanoid'])
def test_posture__takes_height_footholds_and_centre_of_mass(name):
    model, supports, first = stance(name)
    at = Kinematics(model, first)
    turn = rotation_about([0, 0, 1], 2.0)
    turn[:3, 3] = 1.0, -2.0, 0.3
    footholds = {s.frame: turn @ at.pose(s.at(model)) for s in supports}
    com = (turn[:3, :3] @ centre_of_mass(model, first).com + turn[:3, 3])[:2] + 0.01
    height = first.H[2, 3] - 0.03
    start = model.state(turn @ first.H, first.s, first.v, first.r)
    state = standing_posture(model, supports, feet=footholds, com=com, height=height, start=start)
    np.testing.assert_allclose(centre_of_mass(model, state).com[:2], com, atol=1e-9)
    after = Kinematics(model, state)
    for support in supports:
        expected, pose = footholds[support.frame], after.pose(support.at(model))
        np.testing.assert_allclose(pose[:3, 3], expected[:3, 3], atol=1e-9)
    assert state.H[2, 3] == pytest.approx(0.3 + height, abs=2e-3)
    assert abs(state.H[2, 2] - 1.0) < 1e-4


def test_posture__stays_near_the_joints_asked_for():
    model, supports = standing_robot('humanoid')
    state = standing_posture(model, supports, joints={'left_elbow': -1.0, 'left_knee': 0.8})
    assert state.s[model.joint_index('left_elbow')] == pytest.approx(-1.0, abs=1e-2)
    assert state.s[model.joint_index('right_elbow')] == pytest.approx(0.0, abs=1e-2)


def test_posture__out_of_reach_is_explained():
    model, supports = standing_robot('quadruped')
    far = np.eye(4)
    far[0, 3] = 3.0
    with pytest.raises(InfeasibleError, match=r"missed foot 'FL_foot'.*at their limits") as raised:
        standing_posture(model, supports, feet={'FL_foot': far})
    assert 'quadruped' in str(raised.value)


@pytest.mark.parametrize(
    ('feet', 'options', 'error', 'said'),
    [
        ([], {}, ConfigurationError, 'supports'),
        ([0, 1, 0], {}, ConfigurationError, 'each of another frame'),
        (range(4), {'feet': {'base': np.eye(4)}}, ConfigurationError, r"'base' has shape"),
        (range(4), {'joints': {'FL_nee': 1.0}}, UnknownNameError, 'FL_nee'),
        (range(4), {'height': np.nan}, NotFiniteError, 'height is nan m'),
    ],
)
def test_posture__wrong_arguments_are_named(feet, options, error, said):
    model, supports = standing_robot('quadruped')
    with pytest.raises(error, match=said):
        standing_posture(model, [supports[k] for k in feet], **options)
