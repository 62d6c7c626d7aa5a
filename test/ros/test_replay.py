# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A run of the node, noted at its own door, against a replay of what it heard, byte for byte."""

import re
import sys
import time
from collections import Counter
from itertools import dropwhile
from pathlib import Path

import numpy as np
import pytest

if sys.version_info < (3, 11):
    pytest.skip('geolin_ros[offline] needs Python 3.11', allow_module_level=True)

from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.qos import qos_profile_sensor_data
from rclpy.serialization import deserialize_message, serialize_message
from rosbags.serde import SerdeError
from sensor_msgs.msg import Imu, JointState
from support.bags import START, TYPES, Messages, flight, quadruped, write_bag
from support.built_messages import tf2_messages
from support.recorded_node import MATCHED, NOTES

from geolin_msgs.msg import ContactStates
from geolin_ros.offline.bags import (
    FORWARD_DYNAMICS,
    LINEARIZATION,
    SUMMARY,
    WRENCH,
    empty_message,
    known_types,
)
from geolin_ros.offline.recording import Recording
from geolin_ros.offline.replay import replay
from geolin_ros.offline.source import BASE_INPUTS, open_source
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.parameters.linearizer import TABLE, stream_settings

RECORDER = Path(__file__).resolve().parents[1] / 'support' / 'recorded_node.py'
DROPPED = 7, 13
AGAIN = 1.0
"""What has not been heard is sent again after this time [s]."""
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
FEET = {'FL_foot': 'body', 'FR_foot': 'world', 'RL_foot': 'world_oriented'}
FORCES = {f'{foot}/wrench': foot for foot in FEET}
KINDS = {
    'odom': Odometry,
    'joint_states': JointState,
    'joint_efforts': JointState,
    'contact_states': ContactStates,
    'imu': Imu,
    **dict.fromkeys(FORCES, WrenchStamped),
}
MODEL, TEXT = quadruped()
MIMICKING = re.sub(
    '(<joint name="RR_calf_joint" type="revolute">)',
    r'\1<mimic joint="RL_calf_joint" multiplier="0.9" offset="0.1"/>',
    TEXT,
)
CASES = {
    'defaults': {},
    'discrete, of another model': {
        'form': 'discrete',
        'representation': 'mixed',
        'reference': 'frozen',
        'method': 'euler',
        'dt': 0.005,
        'torque_source': 'topic',
        'max_rate': 90.0,
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
    'contacts, odometry in other axes': {
        'contacts': ['FL_foot point 20.0 5.0', 'RR_foot point'],
        'admissible_basis': True,
        'mass_matrix': True,
        'frame_prefix': 'dog/',
        'odometry.twist_frame': 'world',
        'odometry.child_frame': MODEL.base_link,
        'odometry.quaternion_tolerance': 0.05,
        'max_skew': 0.02,
    },
    'contacts of a topic, joint states in parts': {
        'contact_source': 'topic',
        'joint_states_in_parts': True,
    },
    'contacts by forces, interpolated': {
        'contact_source': 'forces',
        'contacts': [f'{foot} point' for foot in FEET],
        'foot_force_topics': [f'{topic} {foot}' for topic, foot in FORCES.items()],
        'contact_on_force': 30.0,
        'contact_off_force': 20.0,
        'pairing': 'interpolate',
    },
    'wrenches, measured accelerations': {
        'wrench_topics': [f'{topic} {foot} {FEET[foot]}' for topic, foot in FORCES.items()],
        'wrench_timeout': 0.015,
        'missing_wrench': 'zero',
        'nu_dot': 'measured',
        'nu_dot_cutoff': 15.0,
    },
    'loops and mimic joints, timer': {
        'loops': ['FL_foot=FR_foot point 9.0 6.0'],
        'robot_description': MIMICKING,
        'mimic': 'independent',
        'trigger': 'timer',
        'timer_rate': 200.0,
    },
    'fixed base, given accelerations': {
        'base': 'fixed',
        'locked_joints': [f'{MODEL.joint_names[0]}=0.1'],
        'nu_dot': 'zero',
        'torque_source': 'inverse_dynamics',
    },
    'transforms': {'base_source': 'tf', 'tf_world_frame': 'map', 'tf_velocity_cutoff': 30.0},
}
ELSEWHERE = {
    'robot_description_file': 'a place of the same text',
    'robot_description_node': 'a place of the same text',
    'xacro_args': 'of files, whose text is a description',
    'root': 'of MJCF files',
    'max_wait': 'of topics that come one after the other',
    'description_timeout': 'of messages for people',
    'autostart': 'of the life cycle',
    'overlay_file': 'a place of the same text as overlay',
    'marker_rate': 'of markers, which no bag keeps',
    'service.rate': 'of the service',
    'service.size': 'of the service',
    'service.budget': 'of the service',
    'certificate.every': 'of checks beside the answers',
    'certificate.budget': 'of checks beside the answers',
    'certificate.folder': 'of checks beside the answers',
}
"""Parameters that change no answer: no case has them."""


def test_parameters__that_change_an_answer_are_compared():
    compared = {name for values in CASES.values() for name in values}
    assert not compared & set(ELSEWHERE)
    assert compared | set(ELSEWHERE) == {parameter.name for parameter in TABLE}


def heard(values):
    """Return the roles of the messages that a node with these parameters makes use of."""
    settings = stream_settings({**default_values(), **values})
    base = () if values.get('base') == 'fixed' else BASE_INPUTS[settings.base_source]
    efforts = ('joint_efforts',) if settings.torque_source == 'topic' else ()
    contacts = ('contact_states',) if settings.contacts.source == 'topic' else ()
    roles = (*settings.force_topics, *contacts, *efforts, *base, 'joint_states')
    return [role for role in roles if role != 'tf_static']


def groups(parts):
    """Yield the messages of a flight, (role, message), a sample at a time.

    Two joint states cannot be used, and odometry, wrenches and contacts do not always come.
    """
    messages, rng = Messages(MODEL), np.random.default_rng(0)
    half = MODEL.n // 2
    for k, sample in enumerate(flight(MODEL, 41, rate=100)):
        group = []
        for topic, foot in FORCES.items():
            if k % 8 < 5:
                wrench = messages.force(sample.stamp - 2_000_000, 40.0 * rng.uniform())
                wrench.header.frame_id = foot if FEET[foot] == 'body' else 'world'
                wrench.wrench.torque.x = rng.normal()
                group.append((topic, wrench))
        if k % 7 == 0:
            held = [foot for foot in FEET if rng.uniform() < 0.6]
            group.append(('contact_states', messages.contact_states(sample.stamp, held)))
        group.append(('joint_efforts', messages.joint_state(sample, effort=2.0 * sample.tau)))
        group.append(('imu', messages.imu(sample)))
        group.append(('tf', messages.transforms(sample, 'map')))
        if not 20 < k < 26 or k % 2:
            group.append(('odom', messages.odometry(sample)))
        whole = messages.joint_state(sample)
        if k == DROPPED[0]:
            whole.position = np.where(np.arange(MODEL.n) == 3, np.nan, whole.position)
        if k == DROPPED[1]:
            whole.velocity = np.zeros(0)
        if parts and k not in DROPPED:
            for part in (slice(0, half), slice(half, None)):
                fields = {
                    name: getattr(whole, name)[part]
                    for name in ('name', 'position', 'velocity', 'effort')
                }
                group.append(('joint_states', messages.joint_state(sample, **fields)))
        else:
            group.append(('joint_states', whole))
        yield group


class Run:
    """The node as it takes one sample after the other."""

    def __init__(self, client, values):
        self.client, self.values = client, values
        self._notes = client.folder / NOTES
        client.module = str(RECORDER)
        self._kinds = dict(KINDS)
        if values.get('base_source') == 'tf':
            self._kinds['tf'], client.environment = tf2_messages()
        given = {'robot_description': TEXT, **values}
        places = (f'/{topic}:={client.topic(topic)}' for topic in ('tf', 'tf_static'))
        client.start(*(word for place in places for word in ('-r', place)), **given)
        client.wait_until_active()
        client.wait_until_serving()
        client.wait_for((client.folder / MATCHED).exists)
        node, qos = client.graph.node, qos_profile_sensor_data
        self._publishers = {
            role: node.create_publisher(self._kinds[role], client.topic(role), qos)
            for role in heard(values)
        }
        client.wait_for(lambda: all(p.get_subscription_count() for p in self._publishers.values()))

    def noted(self):
        """Return what the node has taken, (topic, bytes), in its order."""
        complete = self._notes.read_text().rpartition('\n')[0]
        lines = (line.partition(' ') for line in complete.splitlines())
        return [(topic.lstrip('/'), bytes.fromhex(data)) for topic, _, data in lines]

    def send(self, group):
        """Publish messages until the node has taken all of them."""
        sent = [(role, message) for role, message in group if role in self._publishers]
        wanted = self._counts() + Counter(role for role, _ in sent)
        again = 0.0

        def taken():
            nonlocal again
            if not wanted - self._counts():
                return True
            if time.monotonic() > again:
                again = time.monotonic() + AGAIN
                for role, message in sent:
                    kind = TYPES.get(role, WRENCH)
                    data = bytes(known_types().serialize_cdr(message, kind))
                    self._publishers[role].publish(deserialize_message(data, self._kinds[role]))
            return False

        self.client.wait_for(taken)

    def wait_for_tick(self):
        """Wait until the timer, if there is one, has answered what was taken."""
        if self.values.get('trigger') == 'timer':
            self.client.wait_for(lambda: self.noted()[-1][0] == 'timer')

    def _counts(self):
        return Counter(topic for topic, _ in self.noted())


def recorded(notes, period):
    """Yield (role, time, message): by a clock that lets the timer tick where it did."""
    now = START
    for role, data in dropwhile(lambda note: note[0] == 'timer', notes):
        if role == 'timer':
            now += period - (now - START) % period
        else:
            yield role, now, decode(data, TYPES.get(role, WRENCH))
            now += 1


def decode(data, kind):
    """Return a message of its bytes; rclpy adds some to the end."""
    size = len(data)
    while True:
        try:
            return known_types().deserialize_cdr(data[:size], kind)
        except SerdeError:
            size -= 1
            assert size > len(data) - 100


def canonical(data, kind):
    """Return the bytes of a message, zeros between its fields, without what differs by run."""
    message = decode(data, kind)
    if kind == LINEARIZATION:
        message.compute_time = 0.0
        message.trust = empty_message('geolin_msgs/msg/Trust')
    if kind == SUMMARY:
        for name in MEASURED:
            setattr(message, name, 0.0)
        message.spectrum_stamp = empty_message(TIME)
    return bytes(known_types().serialize_cdr(message, kind))


def same_time(message, stamp):
    """Whether a message of rclpy has a stamp of rosbags."""
    found = message.header.stamp
    return (found.sec, found.nanosec) == (stamp.sec, stamp.nanosec)


@pytest.mark.parametrize('case', CASES)
def test_replay__writes_the_bytes_that_the_node_publishes(client, case, tmp_path):
    values = CASES[case]
    run = Run(client, values)
    *samples, last = groups('joint_states_in_parts' in values)
    for group in samples:
        run.send(group)
    run.wait_for_tick()
    run.send([entry for entry in last if entry[0] != 'joint_states'])
    period = round(1e9 / values.get('timer_rate', 1.0))
    text = values.get('robot_description', TEXT)
    bag = write_bag(tmp_path / 'bag', recorded(run.noted(), period), text)
    with open_source([bag], values=values) as source:
        counts = replay(source, tmp_path / 'replayed')
    assert counts.answered > 5
    live = {
        LINEARIZATION: client.linearizations,
        FORWARD_DYNAMICS: client.forward_dynamics,
        SUMMARY: client.summaries,
    }
    with Recording([tmp_path / 'replayed']) as recording:
        for kind, published in live.items():
            (topic,) = [topic for topic, name in recording.types.items() if name == kind]
            written = (known_types().serialize_cdr(m, kind) for m in recording.of_topic(topic))
            replayed = [canonical(data, kind) for data in written]
            assert len(replayed) == counts.answered

            last = decode(replayed[-1], kind).header.stamp
            client.wait_for(lambda: published and same_time(published[-1], last))  # noqa: B023
            heard = [canonical(serialize_message(message), kind) for message in published]
            assert replayed == heard
