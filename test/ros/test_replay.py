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


@pytest.mark.parametrize(
    ('values', 'max_rate'),
    [
        ({}, 0.0),
        (
            {
                'form': 'discrete',
                'representation': 'mixed',
                'reference': 'frozen',
                'method': 'euler',
                'torque_source': 'zero',
            },
            90.0,
        ),
        # no stiffness: contacts would be held where the hand shake left the robot
        ({'contacts': ['FL_foot point', 'RR_foot point']}, 0.0),
    ],
    ids=['defaults', 'discrete', 'contacts'],
)
def test_replay__writes_the_bytes_that_the_node_publishes(
    client, entries, values, max_rate, tmp_path
):
    _, text = quadruped()
    client.start(robot_description=text, **values)
    client.wait_until_active()
    client.wait_until_serving()
    client.shake_hands()
    if max_rate:
        assert client.set_parameters(max_rate=max_rate)[0]
        client.wait_for(lambda: client.process.log.count('serve quadruped') == 2)
        values = values | {'max_rate': max_rate}
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
