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
from geolin_ros.offline.bags import (
    CLOCK,
    CONTACT,
    CONTACT_STATES,
    IMU,
    JOINT_STATE,
    ODOMETRY,
    STRING,
    TRANSFORMS,
    WRENCH,
    BagWriter,
    empty_message,
    known_types,
)
from geolin_ros.offline.recording import ROLES
from geolin_ros.spatial import se3
from support import messages as plain
from support.messages import fill

FOLDER = Path(__file__).resolve().parents[1] / 'bags'
START = 1_700_000_000_000_000_000
TYPES = ROLES | {'clock': CLOCK}


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
    """Makes the messages of a robot, of the types that bags are read in."""

    def __init__(self, model):
        self._model = model

    def make(self, kind, **values):
        """Return a message of a type."""
        return known_types().types[kind](**values)

    def header(self, stamp, frame_id=''):
        """Return a std_msgs/Header."""
        return fill(empty_message('std_msgs/msg/Header'), plain.header(stamp, frame_id))

    def joint_state(self, sample, **changes):
        """Return a sensor_msgs/JointState; changes replace fields."""
        numbers = sample.state.s, sample.state.r, sample.tau
        message = plain.joint_state(sample.stamp, self._model.joint_names, *numbers)
        vars(message).update(changes)
        return fill(empty_message(JOINT_STATE), message)

    def odometry(self, sample, child_frame_id=None, quaternion=None):
        """Return a nav_msgs/Odometry about the base link."""
        H, v = sample.state.H, sample.state.v
        turn = se3.quaternion_from_rotation(H[:3, :3]) if quaternion is None else quaternion
        child = child_frame_id or self._model.base_link
        message = plain.odometry(sample.stamp, H[:3, 3], turn, v, child, 'world')
        return fill(empty_message(ODOMETRY), message)

    def transforms(self, sample, parent='odom'):
        """Return a tf2_msgs/TFMessage about the base link."""
        message = empty_message(TRANSFORMS)
        stamped = empty_message('geometry_msgs/msg/TransformStamped')
        stamped.header = self.header(sample.stamp, parent)
        stamped.child_frame_id = self._model.base_link
        fill(stamped.transform.translation, plain.vector(sample.state.H[:3, 3]))
        stamped.transform.rotation = self.odometry(sample).pose.pose.orientation
        message.transforms = [stamped]
        return message

    def imu(self, sample):
        """Return a sensor_msgs/Imu on the base link: its angular velocity."""
        message = empty_message(IMU)
        message.header = self.header(sample.stamp, self._model.base_link)
        fill(message.angular_velocity, plain.vector(sample.state.v[3:]))
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
    text = known_types().types[STRING](data=description)
    with Ros1Writer(path) as bag:
        connections = {
            role: bag.add_connection(f'/{role}', TYPES[role], typestore=store)
            for role in ('robot_description', 'odom', 'joint_states')
        }
        entries = [('robot_description', samples[0].stamp, text)]
        entries += Messages(model).of_samples(samples)
        for number, (role, stamp, message) in enumerate(entries):
            if role != 'robot_description':
                message.header.seq = number
            bag.write(connections[role], stamp, store.serialize_ros1(message, TYPES[role]))
    return path
