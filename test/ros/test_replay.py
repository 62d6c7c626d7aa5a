# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A replay of a bag against a live node that gets the same messages over DDS."""

import sys

import numpy as np
import pytest

if sys.version_info < (3, 11):
    pytest.skip('geolin_ros[offline] needs Python 3.11', allow_module_level=True)

from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from rosbags.serde import SerdeError
from sensor_msgs.msg import JointState
from support.bags import Messages, Sample, flight, quadruped, write_bag

from geolin_ros.offline.message_types import (
    FORWARD_DYNAMICS,
    JOINT_STATE,
    LINEARIZATION,
    ODOMETRY,
    SUMMARY,
    empty_message,
    known_types,
)
from geolin_ros.offline.recording import Recording
from geolin_ros.offline.replay import replay
from geolin_ros.offline.source import open_source
from geolin_ros.stream.parameters.linearizer import TABLE

KINDS = {'odom': (ODOMETRY, Odometry), 'joint_states': (JOINT_STATE, JointState)}
DROPPED = 7, 13
TIME = 'builtin_interfaces/msg/Time'
MEASURED = (
    'compute_time',
    'latency',
    'trust_deviation',
    'largest_real_part',
    'spectral_radius',
    'mass_matrix_condition',
)
"""Fields of a summary that are times, or found beside the stream, now and then."""


@pytest.fixture(scope='module')
def entries():
    """Messages of a flight: (role, stamp, message); two joint states cannot be used."""
    model, _ = quadruped()
    messages = Messages(model)
    samples = [
        Sample(5000 * 10**9 + k * 10_000_000, sample.state, sample.tau)
        for k, sample in enumerate(flight(model, 40, rate=100))
    ]
    found = list(messages.of_samples(samples))
    found[2 * DROPPED[0] + 1][2].position[3] = np.nan
    found[2 * DROPPED[1] + 1][2].velocity = np.zeros(0)
    for k in (20, 22, 24):  # odometry at half the rate for a while
        found[k] = ('odom', found[k][1] - 3_000_000, found[k][2])
        found[k][2].header.stamp.nanosec -= 3_000_000
    return found


def is_usable(message):
    """Whether a joint state has all that it needs."""
    return bool(message.velocity.size and np.isfinite(message.position).all())


def send(client, entries, least_gap):
    """Publish the messages; return them in the order in which the node took them, and how many
    answers there were."""
    order, pending, last, answers = [], [], 0, 0
    for role, stamp, message in entries:
        kind, ros_type = KINDS[role]
        sent = deserialize_message(bytes(known_types().serialize_cdr(message, kind)), ros_type)
        if role == 'odom':
            client.odom.publish(sent)
            pending.append((role, stamp, message))
            continue
        client.joint_states.publish(sent)
        answer = None
        if is_usable(message) and stamp - last > least_gap:
            last, answers = stamp, answers + 1
            answer = client.wait_for(lambda sent=sent: client.answer_to(sent))
        used = None if answer is None else answer.odometry_stamp
        before = [
            entry
            for entry in pending
            if used is None or entry[1] <= used.sec * 10**9 + used.nanosec
        ]
        order += [*before, (role, stamp, message)]
        pending = pending[len(before) :]
    return order, answers


def canonical(data, kind, before=(0, 0, 0)):
    """Return the bytes of a message, zeros between its fields, without what differs by run.

    rclpy leaves whatever was in memory between fields, and adds bytes to the end.
    """
    size = len(data)
    while True:
        try:
            message = known_types().deserialize_cdr(data[:size], kind)
            break
        except SerdeError:
            size -= 1
            assert size > len(data) - 100
    if kind == LINEARIZATION:
        message.compute_time = 0.0
        message.trust = empty_message('geolin_msgs/msg/Trust')
    if kind == SUMMARY:
        for name in MEASURED:
            setattr(message, name, 0.0)
        message.spectrum_stamp = empty_message(TIME)
        message.received -= before[0]  # by the hand shake
        message.published -= before[1]
        message.dropped -= before[2]
    return bytes(known_types().serialize_cdr(message, kind))


MODEL, TEXT = quadruped()
CASES = {
    'defaults': {},
    'discrete': {
        'form': 'discrete',
        'representation': 'mixed',
        'reference': 'frozen',
        'method': 'euler',
        'dt': 0.005,
        'torque_source': 'zero',
        'max_rate': 90.0,
    },
    # no stiffness: contacts would be held where the hand shake left the robot
    'contacts': {'contacts': ['FL_foot point', 'RR_foot point']},
    'another model': {
        'joints': list(MODEL.joint_names[::-1]),
        'actuated_joints': list(MODEL.joint_names[2:7]),
        'overlay': f'{{joints: {{{MODEL.joint_names[1]}: {{rotor_inertia: 1.0e-3}}}}}}',
        'coulomb_friction': True,
        'payload.frame': MODEL.base_link,
        'payload.mass': 3.0,
        'payload.com': [0.1, 0.0, 0.05],
        'payload.inertia': [0.02, 0.02, 0.02, 0.0, 0.0, 0.0],
        'gravity': [0.0, 0.1, -3.7],
    },
    'fixed base': {'base': 'fixed', 'locked_joints': [f'{MODEL.joint_names[0]}=0.1']},
    'odometry': {
        'frame_prefix': 'dog/',
        'odometry.twist_frame': 'world',
        'odometry.child_frame': MODEL.base_link,
        'odometry.quaternion_tolerance': 0.05,
        'max_skew': 0.02,
    },
    'given accelerations': {'nu_dot': 'zero', 'torque_source': 'inverse_dynamics'},
}
ELSEWHERE = {
    'robot_description': 'given in every case',
    'robot_description_file': 'a place of the same text',
    'robot_description_node': 'a place of the same text',
    'description_timeout': 'of messages for people',
    'autostart': 'of the life cycle',
    'overlay_file': 'a place of the same text as overlay',
    'mimic': 'no joint of the robot mimics another; the model is read by the same function',
    'trigger': 'the timer of the node has the clock of the machine',
    'timer_rate': 'the timer of the node has the clock of the machine',
    'base_source': 'test_base__can_come_from_transforms_and_an_imu',
    'tf_world_frame': 'of transforms',
    'tf_velocity_cutoff': 'of transforms',
    'pairing': 'test_joint_states_that_wait_for_odometry__are_all_answered',
    'joint_states_in_parts': 'test/stream/test_joint_parts.py, by take as here',
    'nu_dot_cutoff': 'filters remember the hand shake; test/stream/test_given_acceleration.py',
    'wrench_topics': 'test/stream/test_robot_files.py, by take as here',
    'wrench_timeout': 'of wrenches',
    'missing_wrench': 'of wrenches',
    'contact_source': 'test/stream/test_contact_stream.py, by take as here',
    'foot_force_topics': 'of contacts by forces',
    'contact_on_force': 'of contacts by forces',
    'contact_off_force': 'of contacts by forces',
    'admissible_basis': 'continues the basis before, which the hand shake leaves',
    'marker_rate': 'of markers, which no bag keeps',
    'service.rate': 'of the service',
    'service.size': 'of the service',
    'service.budget': 'of the service',
    'certificate.every': 'of checks beside the answers',
    'certificate.budget': 'of checks beside the answers',
    'certificate.folder': 'of checks beside the answers',
}
"""Parameters that no case has, and why not."""


def test_parameters__are_compared_or_said_why_not():
    compared = {name for values in CASES.values() for name in values}
    assert not compared & set(ELSEWHERE)
    assert compared | set(ELSEWHERE) == {parameter.name for parameter in TABLE}


@pytest.mark.parametrize('case', CASES)
def test_replay__writes_the_bytes_that_the_node_publishes(client, entries, case, tmp_path):
    values, text = CASES[case], TEXT
    max_rate = values.get('max_rate', 0.0)
    client.start(robot_description=text, **{k: v for k, v in values.items() if k != 'max_rate'})
    client.wait_until_active()
    client.wait_until_serving()
    client.shake_hands()
    if max_rate:
        assert client.set_parameters(max_rate=max_rate)[0]
        client.wait_for(lambda: client.process.log.count('serve quadruped') == 2)
    before = len(client.linearizations)
    order, usable = send(client, entries, 1e9 / max_rate if max_rate else 0)
    client.wait_for(lambda: len(client.forward_dynamics) >= before + usable)
    client.wait_for(lambda: client.summaries[-1].header == client.linearizations[-1].header)
    first = client.summaries[-usable]
    live = {
        LINEARIZATION: client.linearizations[before:],
        FORWARD_DYNAMICS: client.forward_dynamics[-usable:],
        SUMMARY: client.summaries[-usable:],
    }
    times = [(role, k, message) for k, (role, _, message) in enumerate(order)]
    bag = write_bag(tmp_path / 'bag', times, text)
    with open_source([bag], values=values) as source:
        counts = replay(source, tmp_path / 'replayed')
    assert counts.answered == usable > 15
    with Recording([tmp_path / 'replayed']) as recording:
        for kind, published in live.items():
            (topic,) = [topic for topic, name in recording.types.items() if name == kind]
            replayed = [canonical(data, kind) for data in recording.raw(topic)]
            shaken = (first.received - 1, first.published - 1, first.dropped)
            assert replayed == [canonical(serialize_message(m), kind, shaken) for m in published]
