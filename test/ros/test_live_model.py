# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Locks, payloads, overlays and friction that change while the node runs, over DDS."""

import json

import numpy as np
import pytest
from support.close import assert_close
from support.ros_graph import set_and_wait

from geolin_ros import Linearizer, TreeModel, robots, urdf
from geolin_ros.description import attach_payloads
from geolin_ros.stream.reading import read_linearization

QUADRUPED = robots.path('quadruped')
OVERLAY = {'joints': {'*': {'rotor_inertia': 1e-4, 'gear_ratio': 9.0, 'friction': 0.5}}}


def ask(robot, model):
    """Ask with the joints of ``model`` alone; return the message, which has to be exact."""
    stamp = robot.tick()
    joints = robot.make_joint_state(stamp, model.joint_names)
    message = robot.ask(joints, robot.make_odometry(stamp))
    received = read_linearization(message)
    assert message.model_hash == model.hash
    expected = Linearizer(model)(received.state, received.tau)
    assert_close(received.A, expected.A, 1e-11)
    assert_close(received.B, expected.B, 1e-11)
    return message


def test_lock__makes_a_new_model_while_the_old_one_serves(robot):
    locks = {'FL_hip_joint': 0.1, 'RR_calf_joint': -1.2}
    model = TreeModel.from_urdf(QUADRUPED, locked_joints=locks)
    served = robot.process.log.count('serve quadruped')
    entries = [f'{name}={position}' for name, position in locks.items()]
    robot.new_drops()
    assert robot.set_parameters(locked_joints=entries)[0]
    hashes = []
    while robot.process.log.count('serve quadruped') == served or len(set(hashes)) < 2:
        hashes.append(robot.ask().model_hash)  # all joints: they suit both models
        assert len(hashes) < 2000
    assert hashes == sorted(hashes, key=[robot.model.hash, model.hash].index)
    assert robot.new_drops() == {}
    message = ask(robot, model)  # the locked ones may be missing
    assert {joint.name: joint.position for joint in message.locked_joints} == locks
    assert message.a.rows == 2 * (6 + 10)
    set_and_wait(robot, {'locked_joints': ['']})
    ask(robot, robot.model)


def test_wrench__on_a_link_behind_a_locked_joint_is_addressed(robot):
    from geolin_msgs.msg import ExternalWrench
    from geolin_msgs.srv import Linearize
    from geolin_ros.wrenches import Wrench

    set_and_wait(robot, {'locked_joints': ['FL_calf_joint=-1.0']})
    model = TreeModel.from_urdf(QUADRUPED, locked_joints={'FL_calf_joint': -1.0})
    push = ExternalWrench(link='FL_foot', kind=ExternalWrench.KIND_WORLD_ORIENTED)
    push.wrench.force.z = 40.0
    request = Linearize.Request(external_wrenches=[push])
    request.state.base_pose.orientation.w = 1.0
    request.state.joint_positions = [0.1] * model.n
    request.state.joint_rates = [0.0] * model.n
    response = robot.linearize(request)
    assert response.success, response.message
    received = read_linearization(response.linearization)
    wrench = Wrench('FL_foot', (0.0, 0.0, 40.0), kind='world_oriented')
    expected = Linearizer(model)(received.state, received.tau, wrenches=[wrench])
    assert_close(received.A, expected.A, 1e-11)
    set_and_wait(robot, {'locked_joints': ['']})


def test_payload__comes_and_goes_while_the_node_runs(robot):
    load = {'frame': 'base', 'mass': 3.0, 'com': [0.1, 0.0, 0.2], 'inertia': [0.1] * 3 + [0.0] * 3}
    model = TreeModel.from_description(attach_payloads(urdf.read(QUADRUPED), [load]))
    set_and_wait(robot, {f'payload__{key}': value for key, value in load.items()})
    ask(robot, model)
    _, _, values = robot.next_diagnostics()
    assert float(values['total mass [kg]']) == pytest.approx(robot.model.total_mass + 3.0)
    set_and_wait(robot, {'payload__mass': 1.0})
    lighter = attach_payloads(urdf.read(QUADRUPED), [load | {'mass': 1.0}])
    ask(robot, TreeModel.from_description(lighter))
    set_and_wait(robot, {'payload__frame': ''})
    ask(robot, robot.model)


def test_overlay_and_friction__count_in_a(robot):
    for friction in (False, True):
        model = TreeModel.from_urdf(QUADRUPED, overlay=OVERLAY, coulomb_friction=friction)
        set_and_wait(robot, {'overlay': json.dumps(OVERLAY), 'coulomb_friction': friction})
        message = ask(robot, model)
        assert np.isfinite(message.a.data).all()
    set_and_wait(robot, {'overlay': '', 'coulomb_friction': False})
    ask(robot, robot.model)


def test_lock_that_cannot_be__leaves_the_model(robot):
    assert robot.set_parameters(locked_joints=['knee=0.0'])[0]
    robot.wait_for(lambda: "'knee'" in robot.process.log)
    assert f'keep the model {robot.model.hash}' in robot.process.log
    ask(robot, robot.model)
    set_and_wait(robot, {'locked_joints': ['']})
