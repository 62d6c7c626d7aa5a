# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags of robots, made on the fly in every format that is read."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from geolin_demos.demo.flight import Flight
from rosbags.rosbag1 import Writer as Ros1Writer
from rosbags.typesys import Stores, get_typestore

from geolin_ros import robots
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline.bag_writer import BagWriter
from geolin_ros.offline.message_types import (
    CLOCK,
    CONTACT,
    CONTACT_STATES,
    IMU,
    JOINT_STATE,
    ODOMETRY,
    STRING,
    TRANSFORMS,
    WRENCH,
    empty_message,
    known_types,
)
from geolin_ros.spatial import se3

FOLDER = Path(__file__).resolve().parents[1] / 'bags'
START = 1_700_000_000_000_000_000
TYPES = {
    'robot_description': STRING,
    'joint_states': JOINT_STATE,
    'odom': ODOMETRY,
    'tf': TRANSFORMS,
    'tf_static': TRANSFORMS,
    'imu': IMU,
    'joint_efforts': JOINT_STATE,
    'contact_states': CONTACT_STATES,
    'clock': CLOCK,
}


class Sample(NamedTuple):
    """Where a robot is at a stamp [ns], and its efforts."""

    stamp: int
    state: object
    tau: np.ndarray


def quadruped():
    """Return the model and the URDF text of the bundled quadruped."""
    text = robots.path('quadruped').read_text()
    return TreeModel.from_urdf(text), text


def flight(model, count, rate=500):
    """Return ``count`` samples of the demo's tumbling robot."""
    motion = Flight(model)
    samples = []
    for k in range(count):
        motion.advance(1.0 / rate)
        stamp = START + k * (1_000_000_000 // rate)
        samples.append(Sample(stamp, motion.state.copy(), motion.tau.copy()))
    return samples


class Messages:
    """Makes the messages of a robot in the types of one ROS."""

    def __init__(self, model, store=None):
        self.store = store or known_types()
        self._types = self.store.types
        self._model, self._count = model, 0

    def make(self, kind, **values):
        """Return a message of a type of the store."""
        return self._types[kind](**values)

    def header(self, stamp, frame_id=''):
        """Return a std_msgs/Header."""
        sec, nanosec = divmod(stamp, 1_000_000_000)
        time = self.make('builtin_interfaces/msg/Time', sec=sec, nanosec=nanosec)
        sequence = {}
        if 'seq' in [field for field, _ in self.store.fielddefs['std_msgs/msg/Header'][1]]:
            self._count += 1
            sequence = {'seq': self._count}
        return self.make('std_msgs/msg/Header', **sequence, stamp=time, frame_id=frame_id)

    def joint_state(self, sample, **changes):
        """Return a sensor_msgs/JointState; changes replace fields."""
        fields = {
            'name': list(self._model.joint_names),
            'position': sample.state.s,
            'velocity': sample.state.r,
            'effort': sample.tau,
        }
        return self.make(JOINT_STATE, header=self.header(sample.stamp), **(fields | changes))

    def odometry(self, sample, child_frame_id=None, quaternion=None):
        """Return a nav_msgs/Odometry about the base link."""
        H, v = sample.state.H, sample.state.v
        turn = se3.quaternion_from_rotation(H[:3, :3]) if quaternion is None else quaternion
        vector = 'geometry_msgs/msg/Vector3'
        pose = self.make(
            'geometry_msgs/msg/Pose',
            position=self.make('geometry_msgs/msg/Point', **_numbers('xyz', H[:3, 3])),
            orientation=self.make('geometry_msgs/msg/Quaternion', **_numbers('xyzw', turn)),
        )
        twist = self.make(
            'geometry_msgs/msg/Twist',
            linear=self.make(vector, **_numbers('xyz', v[:3])),
            angular=self.make(vector, **_numbers('xyz', v[3:])),
        )
        covariance = np.zeros(36)
        return self.make(
            ODOMETRY,
            header=self.header(sample.stamp, 'world'),
            child_frame_id=child_frame_id or self._model.base_link,
            pose=self.make(
                'geometry_msgs/msg/PoseWithCovariance', pose=pose, covariance=covariance
            ),
            twist=self.make(
                'geometry_msgs/msg/TwistWithCovariance', twist=twist, covariance=covariance
            ),
        )

    def transforms(self, sample, parent='odom'):
        """Return a tf2_msgs/TFMessage about the base link."""
        message = empty_message(TRANSFORMS)
        stamped = empty_message('geometry_msgs/msg/TransformStamped')
        stamped.header = self.header(sample.stamp, parent)
        stamped.child_frame_id = self._model.base_link
        pose = self.odometry(sample).pose.pose
        place, stamped.transform.rotation = stamped.transform.translation, pose.orientation
        place.x, place.y, place.z = pose.position.x, pose.position.y, pose.position.z
        message.transforms = [stamped]
        return message

    def imu(self, sample):
        """Return a sensor_msgs/Imu on the base link: its angular velocity."""
        message = empty_message(IMU)
        message.header = self.header(sample.stamp, self._model.base_link)
        message.angular_velocity = self.odometry(sample).twist.twist.angular
        return message

    def contact_states(self, stamp, frames):
        """Return a geolin_msgs/ContactStates: points that hold."""
        contacts = []
        for frame in frames:
            contact = empty_message(CONTACT)
            contact.frame, contact.kind, contact.active = frame, 1, True
            contacts.append(contact)
        return self.make(CONTACT_STATES, header=self.header(stamp), contacts=contacts)

    def force(self, stamp, size):
        """Return a geometry_msgs/WrenchStamped: a force upward."""
        message = empty_message(WRENCH)
        message.header, message.wrench.force.z = self.header(stamp), size
        return message

    def clock(self, stamp):
        """Return a rosgraph_msgs/Clock."""
        return self.make(CLOCK, clock=self.header(stamp).stamp)

    def of_samples(self, samples):
        """Yield (role, stamp, message): odometry, then the joint state, of each sample."""
        for sample in samples:
            yield 'odom', sample.stamp, self.odometry(sample)
            yield 'joint_states', sample.stamp, self.joint_state(sample)


def write_bag(path, messages, description='', namespace='', **options):
    """Write (role, stamp, message) into a rosbag2 bag and return its path.

    Roles that have no type of their own are topics of wrenches.
    """
    messages = list(messages)
    roles = {role for role, _, _ in messages}
    with BagWriter(path, **options) as bag:
        for role in [*(['robot_description'] if description else []), *sorted(roles)]:
            bag.add_topic(f'{namespace}/{role}', TYPES.get(role, WRENCH))
        if description:
            text = known_types().types[STRING](data=description)
            first = messages[0][1] if messages else START
            bag.write(f'{namespace}/robot_description', first, text)
        for role, stamp, message in messages:
            bag.write(f'{namespace}/{role}', stamp, message)
    return path


def write_ros1_bag(path, model, samples, description):
    """Write samples into a ROS 1 bag and return its path."""
    store = get_typestore(Stores.ROS1_NOETIC)
    messages = Messages(model, store)
    with Ros1Writer(path) as bag:
        connections = {
            role: bag.add_connection(f'/{role}', TYPES[role], typestore=store)
            for role in ('robot_description', 'odom', 'joint_states')
        }

        def write(role, stamp, message):
            bag.write(connections[role], stamp, store.serialize_ros1(message, TYPES[role]))

        text = messages.make(STRING, data=description)
        write('robot_description', samples[0].stamp, text)
        for entry in messages.of_samples(samples):
            write(*entry)
    return path


def _numbers(names, values):
    return dict(zip(names, map(float, values), strict=True))
