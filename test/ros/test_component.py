# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The component that `geolin export --ros2` writes: built by colcon, beside the node in Python."""

import os
import subprocess
import time

import numpy as np
import pytest
from support.c_library import PRELOADED, build_package, needs_rclcpp, needs_tools, with_prefix
from support.processes import Program
from support.ros_graph import AGAIN, RELIABLE

from geolin_msgs.msg import LinearizedDynamics
from geolin_ros import TreeModel, robots
from geolin_ros.cli import main

pytestmark = [needs_tools, needs_rclcpp]
FEET = 'FL_foot', 'FR_foot', 'RL_foot'
ARRAYS = 'joint_efforts', 'nu_dot', 'drift'
SAME = (
    *('header', 'odometry_stamp', 'model_name', 'model_hash', 'base_frame', 'floating_base'),
    *('joint_names', 'actuated_joints', 'gravity', 'effort_source', 'nu_dot_source', 'reference'),
    *('form', 'method', 'representation'),
)


@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    """The package of a quadruped on three feet, one joint of which has no actuator."""
    folder = tmp_path_factory.mktemp('component')
    options = '--contacts', *(f'{foot}:0' for foot in FEET), '--target', 'native', '--quiet'
    words = 'export', 'quadruped', '-o', str(folder / 'source'), '--name', 'robot', '--ros2'
    assert main([*words, *options, '--actuated', *actuated()]) == 0
    return build_package(folder / 'source', folder)


def actuated():
    """Return all joints but the last."""
    return TreeModel.from_urdf(robots.path('quadruped')).joint_names[:-1]


@pytest.fixture
def component(installed, client):
    """The component's answers, beside the node's; ends with a signal."""
    libraries = f'{installed}/lib{os.pathsep}{os.environ.get("LD_LIBRARY_PATH", "")}'
    environment = with_prefix() | client.environment | PRELOADED | {'LD_LIBRARY_PATH': libraries}
    names = '-r', f'__ns:={client.namespace}', '-r', '__node:=component'
    program = [installed / 'lib/robot/robot_linearizer', '--ros-args', *names]
    log = client.folder / 'component.txt'
    with log.open('w') as output:
        process = Program(program, env=environment, stdout=output, stderr=subprocess.STDOUT)
    answers = []
    topic = client.topic('component/linearization')
    client.graph.node.create_subscription(LinearizedDynamics, topic, answers.append, RELIABLE)
    yield answers, log
    process.send_signal(2)
    assert process.wait(30.0) == 0, log.read_text()


def numbers(message):
    """Return all that is computed, by name."""
    held = message.contact_dynamics
    found = {name: np.array(getattr(message, name)) for name in ARRAYS}
    for name, matrix in (
        ('a', message.a),
        ('b', message.b),
        ('by_state', held.wrench_by_state),
        ('by_effort', held.wrench_by_tau),
    ):
        found[name] = np.array(matrix.data).reshape(matrix.rows, matrix.cols)
    pose, twist = message.state.base_pose, message.state.base_twist
    found['place'] = np.array([getattr(pose.position, x) for x in 'xyz'])
    turn = np.array([getattr(pose.orientation, x) for x in 'xyzw'])
    found['turn'] = turn * np.sign(turn[3])
    for name, vector in (('v', twist.linear), ('w', twist.angular)):
        found[name] = np.array([getattr(vector, x) for x in 'xyz'])
    found['s'] = np.array(message.state.joint_positions)
    found['r'] = np.array(message.state.joint_rates)
    found['wrenches'] = np.array(held.wrenches)
    found['feet'] = np.array([[getattr(c.wrench.force, x) for x in 'xyz'] for c in held.contacts])
    return found


def test_component__publishes_what_the_node_publishes(component, client):
    answers, log = component
    points = [f'{foot} point' for foot in FEET]
    client.serve(contacts=points, actuated_joints=list(actuated()))

    def pair(joints, base):
        """Send until both have answered; return their messages."""
        due = 0.0

        def answered():
            nonlocal due
            if time.monotonic() > due:
                due = time.monotonic() + AGAIN
                client.send(joints, base)
            found = [a for a in answers if a.header.stamp == joints.header.stamp]
            node = client.answer_to(joints)
            return found and node and (node, found[0])

        return client.wait_for(answered)

    names = list(client.model.joint_names)
    for skew in (0, 7, -20, 49):  # [ms] from the odometry to the joint state
        base_stamp = client.tick(100)
        joints = client.make_joint_state(client.time + skew * 1_000_000, names[::-1])
        node, found = pair(joints, client.make_odometry(base_stamp))
        for name in SAME:
            assert getattr(found, name) == getattr(node, name), name
        mine, theirs = numbers(found), numbers(node)
        for name, expected in theirs.items():
            size = np.abs(expected).max(initial=1.0)
            assert mine[name].shape == expected.shape, name
            assert np.abs(mine[name] - expected).max(initial=0.0) <= 1e-12 * size, name
        held, expected = found.contact_dynamics, node.contact_dynamics
        assert (held.source, held.rank) == (expected.source, expected.rank)
        for one, other in zip(held.contacts, expected.contacts, strict=True):
            assert (one.frame, one.link, one.kind) == (other.frame, other.link, other.kind)
            assert one.active

    def refuses():
        """Send what cannot be used; return whether the component has said why."""
        foot = client.make_odometry(client.tick(), child_frame_id='foot')
        client.send(client.make_joint_state(client.tick(), names[:5]), foot)
        said = log.read_text()
        return 'it lacks joint' in said and "of frame 'foot', expected base" in said

    client.wait_for(refuses)
    assert answers[-1].header.stamp == node.header.stamp
