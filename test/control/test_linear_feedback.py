# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The message of linear_feedback_controller, read as that controller reads it, by Pinocchio."""

from types import SimpleNamespace

import numpy as np
import pytest
from geolin_tools.export.linear_feedback import write_control
from support.pinocchio_oracle import PinocchioOracle, pin
from support.standing import held, urdf_of

from geolin_ros.control.lqr import Feedback, Tuning, design
from geolin_ros.errors import ConfigurationError, UnknownNameError

std_msgs = pytest.importorskip('std_msgs.msg')
geometry_msgs = pytest.importorskip('geometry_msgs.msg')
sensor_msgs = pytest.importorskip('sensor_msgs.msg')


def new_contact():
    """An empty linear_feedback_controller_msgs/Contact: that package has no wheel."""
    pose, wrench = geometry_msgs.Pose(), geometry_msgs.Wrench()
    return SimpleNamespace(active=False, name='', wrench=wrench, pose=pose)


def new_control():
    """An empty linear_feedback_controller_msgs/Control, of its released definition."""
    pose, twist = geometry_msgs.Pose(), geometry_msgs.Twist()
    sensor = {'base_pose': pose, 'base_twist': twist, 'joint_state': sensor_msgs.JointState()}
    return SimpleNamespace(
        header=std_msgs.Header(),
        feedback_gain=std_msgs.Float64MultiArray(),
        feedforward=std_msgs.Float64MultiArray(),
        initial_state=SimpleNamespace(header=std_msgs.Header(), contacts=[], **sensor),
    )


def matrix(message):
    rows, columns = message.layout.dim
    assert (rows.label, columns.label) == ('rows', 'cols')
    assert (rows.stride, columns.stride) == (rows.size * columns.size, columns.size)
    assert message.layout.data_offset == 0
    return np.array(message.data).reshape(rows.size, columns.size)


@pytest.mark.parametrize('name', ['go2', 'humanoid'])
def test_message__makes_that_controller_do_what_our_law_does(name):
    model, point = held(name)
    gains = design(model, point)
    oracle = PinocchioOracle.read_urdf(urdf_of(name), model)
    order = list(oracle.pin_model.names)[2:]
    message = new_control()
    write_control(
        message, model, gains, std_msgs.MultiArrayDimension, new_contact, joint_order=order
    )
    start = message.initial_state
    assert list(start.joint_state.name) == order
    p, o = start.base_pose.position, start.base_pose.orientation
    desired_q = np.concatenate(([p.x, p.y, p.z, o.x, o.y, o.z, o.w], start.joint_state.position))
    twist = start.base_twist
    desired_v = [twist.linear.x, twist.linear.y, twist.linear.z]
    desired_v += [twist.angular.x, twist.angular.y, twist.angular.z]
    desired_v = np.concatenate((desired_v, start.joint_state.velocity))
    np.testing.assert_allclose(desired_q, oracle.q(point.state), atol=1e-12)
    rng = np.random.default_rng(0)
    state = point.state.retract(0.2 * rng.normal(size=2 * model.m))
    away = pin.difference(oracle.pin_model, oracle.q(state), desired_q)
    x = np.concatenate((away, desired_v - oracle.velocity(state)))
    efforts = matrix(message.feedforward)[:, 0] + matrix(message.feedback_gain) @ x
    ours = Feedback(gains).efforts(state)[[model.joint_names.index(joint) for joint in order]]
    np.testing.assert_allclose(efforts, ours, atol=1e-9 * np.max(np.abs(ours)))
    assert [contact.name for contact in start.contacts] == [s.frame for s in point.supports]
    assert all(contact.active for contact in start.contacts)


@pytest.mark.parametrize(
    ('tuning', 'joints', 'error', 'said'),
    [
        (Tuning(delay=1), None, ConfigurationError, 'past inputs'),
        (Tuning(), ['FL_calf'], UnknownNameError, 'FL_calf'),
        (Tuning(), slice(1, None), ConfigurationError, 'moves 11 joints'),
    ],
)
def test_gains__that_the_message_has_no_place_for_are_refused(tuning, joints, error, said):
    model, point = held('quadruped')
    order = model.joint_names[joints] if isinstance(joints, slice) else joints
    gains, dimension = design(model, point, tuning), std_msgs.MultiArrayDimension
    with pytest.raises(error, match=said):
        write_control(new_control(), model, gains, dimension, new_contact, joint_order=order)
