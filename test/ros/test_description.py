# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the robot description comes from, and what happens to one that cannot be used."""

import contextlib
from pathlib import Path

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from support.ros_graph import START

from geolin_ros import TreeModel, robots
from geolin_ros.stream.topic_stream import Cause

QUADRUPED = robots.path('quadruped')
PARAMETER_FILE = Path(__file__).resolve().parents[2] / 'config' / 'linearizer.yaml'


def ask_as(client, model):
    """Ask with the joints of another robot than the client's; return the message."""
    stamp = client.tick()
    base = client.make_odometry(stamp, child_frame_id=model.base_link)
    message = client.ask(client.make_joint_state(stamp, model.joint_names), base)
    assert message.model_hash == model.hash
    return message


def assert_serves(client):
    client.wait_until_active()
    client.wait_until_serving()
    client.shake_hands()
    assert client.ask().model_hash == client.model.hash


def test_topic__is_waited_for_and_followed(client):
    """One process from no description to one, to another robot's, to a broken one and back.

    With the parameter file that is installed, which changes nothing.
    """
    humanoid = TreeModel.from_urdf(robots.path('humanoid'))
    client.start('--params-file', str(PARAMETER_FILE), description_timeout=0.5)
    client.wait_until_active()

    waits = f'a robot description on topic {client.topic("robot_description")}'
    level, text, _ = client.next_diagnostics()
    assert level == DiagnosticStatus.WARN
    assert text.startswith(f'waits for {waits}')
    client.wait_for(lambda: f'still waits for {waits}' in client.process.log)
    lines = [line for line in client.process.log.splitlines() if 'waits for' in line]
    assert lines[0].startswith('[INFO]')
    assert lines[1].startswith('[ERROR]')
    client.wait_until_matched()
    client.new_drops()
    client.send(client.make_joint_state(client.tick()))
    assert client.new_drops() == {Cause.NO_MODEL.value: 1}
    from geolin_msgs.srv import Linearize

    response = client.linearize(Linearize.Request())
    assert not response.success
    assert waits in response.message

    client.describe(QUADRUPED.read_text())
    assert_serves(client)
    client.new_drops()

    client.describe(robots.path('humanoid').read_text())
    client.wait_until_serving('humanoid')
    old = client.make_joint_state(client.tick())
    client.send(old, client.make_odometry(client.time, child_frame_id=humanoid.base_link))
    assert client.new_drops() == {Cause.MISSING_JOINT.value: 1}
    assert "no joint 'waist" in client.process.log or "of robot 'humanoid'" in client.process.log
    ask_as(client, humanoid)

    client.describe('<robot name="broken"><link name="a"/>')
    client.wait_for(lambda: f'keep the model {humanoid.hash}' in client.process.log)
    ask_as(client, humanoid)

    client.describe(QUADRUPED.read_text())
    client.wait_for(lambda: client.process.log.count('serve quadruped') == 2)
    assert client.ask().model_hash == client.model.hash


@contextlib.contextmanager
def robot_state_publisher(client, **parameters):
    """A node with parameters and their services, and nothing else."""
    overrides = [rclpy.parameter.Parameter(name, value=text) for name, text in parameters.items()]
    node = rclpy.create_node(
        'robot_state_publisher',
        context=client.graph.context,
        namespace=client.namespace,
        enable_rosout=False,
        parameter_overrides=overrides,
        automatically_declare_parameters_from_overrides=True,
    )
    client.graph.executor.add_node(node)
    yield node
    client.graph.executor.remove_node(node)
    node.destroy_node()


def test_other_node__is_asked_until_it_answers(client):
    """First it is not there, then it has no description, then it has one."""
    client.start(robot_description_node='robot_state_publisher', description_timeout=0.5)
    client.wait_until_active()
    service = f'{client.namespace}/robot_state_publisher/get_parameters'
    _, text, _ = client.next_diagnostics()
    assert text == (
        'waits for parameter robot_description of node robot_state_publisher by service '
        f'{service} (rcl_interfaces/GetParameters)'
    )
    with robot_state_publisher(client) as other:
        client.wait_for(lambda: other.count_clients(service))
        client.next_diagnostics()
        assert 'serve' not in client.process.log
        other.declare_parameter('robot_description', QUADRUPED.read_text())
        assert_serves(client)


def test_other_node__is_asked_anew_when_the_parameter_changes(robot):
    humanoid = robots.path('humanoid').read_text()
    with robot_state_publisher(robot, robot_description=humanoid):
        served = robot.process.log.count('serve humanoid:')
        assert robot.set_parameters(robot_description_node='robot_state_publisher')[0]
        robot.wait_for(lambda: robot.process.log.count('serve humanoid:') > served)


BANK = {
    'robot_description_file': str(QUADRUPED),
    'supports': ['FL_foot:0.02'],
    'gain_bank': '/nowhere/bank.yaml',
}


@pytest.mark.parametrize(
    ('module', 'parameters', 'says'),
    [
        ('linearizer', {'robot_description': '<robot'}, 'cannot use the robot description: '),
        ('linearizer', {'torque_source': 'motors'}, "torque_source is 'motors', expected one of"),
        ('linearizer', {'max_rate': 'fast'}, 'max_rate'),
        ('lqr_node', BANK, '/nowhere/bank.yaml'),
    ],
    ids=['xml', 'choice', 'type', 'gain bank'],
)
def test_bad_configuration__ends_the_process_with_the_reason(
    new_client, quadruped, module, parameters, says
):
    process = new_client(quadruped, module=module).start(**parameters)
    assert process.wait(START) == 1
    last = process.log.strip().splitlines()[-1]
    assert last.startswith(f'{module}: ')
    assert says in last
    assert module == 'linearizer' or 'the robot description' not in last  # which is not to blame
    assert 'Traceback' not in process.log
