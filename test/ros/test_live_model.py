# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What parameters make of the robot while the node runs, and what they cannot, over DDS."""

import gc
import json
import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from support.close import assert_close
from support.kernel_cache import copy_cache
from support.ros_graph import RELIABLE, START, set_and_wait

from geolin_msgs.msg import LinearizedDynamics
from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.stream.outputs.reading import read_linearization
from geolin_ros.stream.parameters.linearizer import BY_NAME

QUADRUPED = robots.path('quadruped')
MOTORS = {'rotor_inertia': 1e-4, 'gear_ratio': 9.0, 'friction': 0.5}
OVERLAY = {'joints': {'*': MOTORS, '*_calf_joint': {'kind': 'helical', 'pitch': 0.03}}}


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
    assert_close(received.nu_dot, expected.nu_dot, 1e-11)
    return message


def test_lock__makes_a_new_model_while_the_old_one_serves(robot):
    locks = {'FL_hip_joint': 0.1, 'RR_calf_joint': -1.2}
    model = TreeModel.from_urdf(QUADRUPED, locked_joints=locks)
    served = robot.process.log.count('serve quadruped')
    entries = [f'{name}={position}' for name, position in locks.items()]
    robot.new_drops()
    hashes, deadline = [robot.ask().model_hash], time.monotonic() + START
    assert robot.set_parameters(locked_joints=entries)[0]
    while robot.process.log.count('serve quadruped') == served or len(set(hashes)) < 2:
        hashes.append(robot.ask().model_hash)  # all joints: they suit both models
        assert time.monotonic() < deadline
    assert hashes == sorted(hashes, key=[robot.model.hash, model.hash].index)
    assert robot.new_drops() == {}
    message = ask(robot, model)  # the locked ones may be missing
    assert {joint.name: joint.position for joint in message.locked_joints} == locks
    assert message.a.rows == 2 * (6 + 10)
    set_and_wait(robot, {'locked_joints': ['']})
    ask(robot, robot.model)


FRONT = [f'{side}_{joint}_joint' for side in ('FL', 'FR') for joint in ('hip', 'thigh', 'calf')]
LOAD = {'frame': 'base', 'mass': 3.0, 'com': [0.1, 0.0, 0.2], 'inertia': [0.1] * 3 + [0.0] * 3}


@pytest.mark.parametrize(
    ('values', 'options'),
    [
        ({'gravity': [0.0, 0.0, -1.62]}, {'gravity': (0.0, 0.0, -1.62)}),
        (
            {'joints': FRONT, 'actuated_joints': FRONT[:4]},
            {'joints': FRONT, 'actuated_joints': FRONT[:4]},
        ),
        pytest.param(
            {'overlay': json.dumps(OVERLAY), 'coulomb_friction': True},
            {'overlay': OVERLAY, 'coulomb_friction': True},
            marks=pytest.mark.shows('Bos 2022: Helical joints'),
        ),
        (
            {f'payload__{key}': value for key, value in LOAD.items()},
            {'overlay': {'payloads': [LOAD]}},
        ),
    ],
    ids=['gravity', 'joints', 'overlay', 'payload'],
)
def test_parameters_of_the_model__are_served(robot, values, options):
    model = TreeModel.from_urdf(QUADRUPED, **options)
    assert model.hash != robot.model.hash
    set_and_wait(robot, values)
    message = ask(robot, model)
    assert list(message.actuated_joints) == list(model.actuated_joints)
    _, _, diagnosed = robot.next_diagnostics()
    assert float(diagnosed['total mass [kg]']) == pytest.approx(model.total_mass, abs=1e-3)
    set_and_wait(robot, {name: BY_NAME[name.replace('__', '.')].default for name in values})
    ask(robot, robot.model)


def test_file_of_parameters__is_one_change(robot):
    """As `ros2 param load` sends it: all of a dump in one request, not atomically."""
    from rcl_interfaces.msg import Parameter
    from rcl_interfaces.srv import ListParameters, SetParameters

    served = robot.process.log.count('serve quadruped')

    def ask_for(kind, name, **values):
        client = robot.graph.node.create_client(kind, f'{robot.node_name}/{name}')
        response, client = robot.graph.call(client, kind.Request(**values), robot.process)
        robot.graph.node.destroy_client(client)
        return response

    names = ask_for(ListParameters, 'list_parameters').result.names
    pairs = zip(names, robot.get_parameters(*names), strict=True)
    dump = {name: Parameter(name=name, value=value) for name, value in pairs}
    dump['gravity'].value.double_array_value = [0.0, 0.0, -2.0]
    dump['max_skew'].value.double_value += 0.01
    results = ask_for(SetParameters, 'set_parameters', parameters=[*dump.values()]).results
    assert len(results) == len(names) > 35
    assert all(result.successful or 'read-only' in result.reason for result in results), results
    model = robot.model.with_gravity((0.0, 0.0, -2.0))
    robot.wait_for(lambda: robot.ask().model_hash == model.hash)
    assert robot.process.log.count('serve quadruped') == served + 1
    set_and_wait(robot, {'gravity': [0.0, 0.0, -9.81]})


FORCES = {'contact_source': 'forces', 'contacts': ['FL_foot point']}
REFUSED = [
    ({'locked_joints': ['knee=0.0']}, "'knee'"),
    ({'contacts': ['FL_sole point']}, "'FL_sole'"),
    (FORCES | {'foot_force_topics': ['force FL_sole']}, "'FL_sole'"),
    ({'wrench_topics': ['push hand body']}, "'hand'"),
    ({'payload__mass': 1.0}, 'payload.frame is empty'),
    ({'overlay': '{joints: {knee: {friction: 1.0}}}'}, "'knee'"),
    ({'odometry__child_frame': 'FL_foot'}, "odometry.child_frame is 'FL_foot', expected"),
    ({'robot_description': '<robot name="broken"><link name="a"/>'}, 'not well-formed'),
    ({'overlay': 'joints: ['}, 'parameter overlay: cannot be read as YAML'),
    ({'torque_source': 'motors'}, "torque_source is 'motors', expected one of 'effort'"),
    ({'gravity': [0.0, 0.0, float('nan')]}, 'gravity is [0.0, 0.0, nan], expected 3 finite'),
    ({'robot_description_file': '/etc/passwd'}, 'robot_description_file'),
    ({'max_rate': 'fast'}, 'type'),
    ({'reference': 'frozen', 'form': 'step'}, 'form'),
]


@pytest.mark.parametrize(('values', 'says'), REFUSED)
def test_value_that_cannot_be__is_refused_with_the_reason_and_changes_nothing(robot, values, says):
    names = [name.replace('__', '.') for name in values]
    before = robot.get_parameters(*names)
    accepted, reason = robot.set_parameters(**values)
    assert not accepted
    assert says in reason
    assert robot.get_parameters(*names) == before
    ask(robot, robot.model)


@pytest.mark.parametrize(
    ('module', 'parameters', 'values', 'says'),
    [
        ('lqr_node', {'supports': ['FL_foot:0.02']}, {'weights': ['s.knee=0.1']}, "'s.knee'"),
        ('torque_estimator', {'imu_topics': ['imu base']}, {'imu_topics': ['imu tray']}, "'tray'"),
    ],
)
def test_name_that_the_robot_has_not__is_refused_by_other_nodes(
    new_client, quadruped, module, parameters, values, says
):
    client = new_client(quadruped, module=module)
    client.start(robot_description_file=str(QUADRUPED), **parameters)
    client.wait_until_serving()
    accepted, reason = client.set_parameters(**values)
    assert not accepted
    assert says in reason
    assert client.set_parameters(**parameters) == (True, '')


def test_refused_values__are_in_the_way_of_no_others(robot):
    assert not robot.set_parameters(contacts=['FL_sole point'])[0]
    set_and_wait(robot, {'gravity': [0.0, 0.0, -1.0]})
    ask(robot, robot.model.with_gravity((0.0, 0.0, -1.0)))
    set_and_wait(robot, {'gravity': [0.0, 0.0, -9.81]})
    robot.wait_for(lambda: robot.next_diagnostics()[2]['pending'] == 'nothing')


def test_value_that_cannot_be_served__is_set_back(robot):
    """Numbers overflow only when they are used."""
    before = robot.get_parameters('gravity')
    assert robot.set_parameters(gravity=[0.0, 0.0, -1e200])[0]
    robot.wait_for(lambda: 'set back gravity: ' in robot.process.log)
    assert 'cannot use the new parameters: linearization of' in robot.process.log
    robot.wait_for(lambda: robot.get_parameters('gravity') == before)
    ask(robot, robot.model)
    robot.wait_for(lambda: robot.next_diagnostics()[2]['pending'] == 'nothing')


def test_names_of_a_robot_that_waits_for_them__are_accepted(client):
    """The humanoid cannot be served while contacts are those of the quadruped."""
    humanoid = TreeModel.from_urdf(robots.path('humanoid'))
    client.describe(QUADRUPED.read_text())
    client.start(contacts=['FL_foot point'])
    client.wait_until_active()
    client.wait_until_serving()
    client.describe(robots.path('humanoid').read_text())

    def refused():
        level, _, values = client.next_diagnostics()
        return level != DiagnosticStatus.OK and "'FL_foot'" in values['pending']

    client.wait_for(refused)
    assert not client.set_parameters(contacts=['tail point'])[0]
    assert client.set_parameters(contacts=['left_sole surface']) == (True, '')
    client.wait_until_serving('humanoid')
    assert client.next_diagnostics()[2]['robot'] == humanoid.name
    assert client.next_diagnostics()[2]['pending'] == 'nothing'


SETS = [
    {'contacts': [f'{leg}_foot point' for leg in ('FL', 'FR', 'RL', 'RR')]},
    {'payload__frame': 'base', 'payload__mass': 2.0},
    {'reference': 'frozen'},
    {'max_skew': 0.03},
    {'actuated_joints': ['FL_hip_joint', 'FR_hip_joint']},
    {'contacts': ['FL_foot point', 'RR_foot surface']},
    {'actuated_joints': ['']},
    {'gravity': [0.0, 0.0, -1.0]},
    {'contacts': [''], 'payload__frame': ''},
    {'payload__mass': 2.0},  # as it is: a file that is loaded again
]
LONGEST_GAP, BUSY = 0.4, 3.0
"""Between two answers [s], of which one that waited for a set to compile would last seconds; where
the machine is busy, this times what it is while none compile."""


def test_node__answers_at_100_hz_while_ten_sets_of_parameters_compile(client, tmp_path):
    """The cache holds what every robot takes, and nothing of contacts or passive joints.

    Joint states that come while the kernels of their robot compile are no error.
    """
    cold = copy_cache(tmp_path, 'contact_linearization.linearize_*', 'own_results.linearize_*')
    client.environment = client.environment | {'NUMBA_CACHE_DIR': str(cold)}
    client.start(actuated_joints=['FL_hip_joint'])
    client.wait_until_active()
    client.describe(QUADRUPED.read_text())
    client.shake_hands()
    client.next_diagnostics()
    waiting = [values for _, said, values in client.diagnostics if 'kernels of its robot' in said]
    assert any(int(values['dropped']) for values in waiting)
    assert DiagnosticStatus.ERROR not in {level for level, _, _ in client.diagnostics}
    set_and_wait(client, {'actuated_joints': ['']})
    compiled = client.process.log.count('compiles kernels for this machine')
    arrivals, node = [], client.graph.node
    topic = f'{client.node_name}/linearization'
    node.create_subscription(
        LinearizedDynamics, topic, lambda _: arrivals.append(time.monotonic()), RELIABLE
    )

    def send():
        stamp = client.tick()
        client.send(client.make_joint_state(stamp), client.make_odometry(stamp))

    gc.disable()  # a collection here, after the test has loaded kernels, would hold up the sender
    timer = node.create_timer(0.01, send)
    client.wait_for(lambda: len(arrivals) > 320)
    quiet_gap, served = np.diff(arrivals[20:]).max(), client.process.log.count('serve quadruped')
    del arrivals[:-1]
    for values in SETS:
        assert client.set_parameters(**values) == (True, '')
    client.wait_for(lambda: client.process.log.count('serve quadruped') > served, START)
    client.wait_for(lambda: client.next_diagnostics()[2]['pending'] == 'nothing', START)
    gc.enable()
    node.destroy_timer(timer)
    assert client.process.log.count('compiles kernels for this machine') > compiled
    assert np.diff(arrivals).max() < max(LONGEST_GAP, BUSY * quiet_gap)
