# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A log into a bag."""

from collections.abc import Callable, Iterable
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from geolin_ros.offline.bag_writer import BagWriter, Storage
from geolin_ros.offline.message_types import (
    IMU,
    JOINT_STATE,
    ODOMETRY,
    STRING,
    WRENCH,
    empty_message,
)
from geolin_ros.stream.geometry import write_stamp
from geolin_tools.importers.log_file import Log, Topic

TYPES = {'joint_states': JOINT_STATE, 'imu': IMU, 'odometry': ODOMETRY, 'wrench': WRENCH}
DESCRIPTION = '/robot_description'
PLACES = {
    ('odometry', 'position'): 'pose.pose.position',
    ('odometry', 'orientation'): 'pose.pose.orientation',
    ('odometry', 'linear_velocity'): 'twist.twist.linear',
    ('odometry', 'angular_velocity'): 'twist.twist.angular',
    ('wrench', 'force'): 'wrench.force',
    ('wrench', 'moment'): 'wrench.torque',
}
"""Where fields are in messages, unless by their own name."""


def write_log(
    log: Log,
    path: str | Path,
    storage: Storage = 'mcap',
    watch: Callable[[Iterable[Any], int], Iterable[Any]] = lambda items, total: items,
) -> None:
    """Write the messages of a log into a new bag, stamped and recorded at its times.

    Raises `RecordingError` if the bag exists or cannot be written.
    """
    messages = {name: _message(topic) for name, topic in log.topics.items()}
    stamps = np.round(log.time * 1e9).astype(np.int64).tolist()
    with BagWriter(path, storage) as bag:
        if log.description:
            bag.add_topic(DESCRIPTION, STRING)
            described = empty_message(STRING)
            described.data = log.description
            bag.write(DESCRIPTION, min(stamps), described)
        for name, topic in log.topics.items():
            bag.add_topic(name, TYPES[topic.kind])
        for k, stamp in watch(enumerate(stamps), len(stamps)):
            for name, topic in log.topics.items():
                write_stamp(messages[name].header.stamp, stamp)
                _write(messages[name], topic, k)
                bag.write(name, stamp, messages[name])


def _message(topic: Topic) -> Any:
    """Return a message with all that is the same in each."""
    message = empty_message(TYPES[topic.kind])
    message.header.frame_id = topic.frame
    if topic.kind == 'joint_states':
        message.name = list(topic.names)
    if topic.kind == 'imu':
        message.orientation_covariance[0] = -1.0  # sensor_msgs/Imu: there is none
    if topic.kind == 'odometry':
        message.child_frame_id = topic.child_frame
    return message


def _write(message: Any, topic: Topic, k: int) -> None:
    """Write row ``k`` of the fields of a topic into its message."""
    for field, values in topic.fields.items():
        if topic.kind == 'joint_states':
            setattr(message, field, values[k])
            continue
        place = attrgetter(PLACES.get((topic.kind, field), field))(message)
        for axis, value in zip('xyzw', values[k].tolist(), strict=False):
            setattr(place, axis, value)
