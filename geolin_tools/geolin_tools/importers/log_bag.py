# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A log into a bag."""

from collections.abc import Callable, Iterable
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
from geolin_ros.typing import Array
from geolin_tools.importers.log_file import Log, Topic

TYPES = {'joint_states': JOINT_STATE, 'imu': IMU, 'odometry': ODOMETRY, 'wrench': WRENCH}
DESCRIPTION = '/robot_description'


def write_log(
    log: Log,
    path: str | Path,
    storage: Storage = 'mcap',
    watch: Callable[[Iterable[Any], int], Iterable[Any]] = lambda items, total: items,
) -> None:
    """Write the messages of a log into a new bag, stamped and recorded at its times.

    Raises
    ------
    RecordingError
        If the bag exists or cannot be written.
    """
    messages = {name: empty_message(TYPES[topic.kind]) for name, topic in log.topics.items()}
    with BagWriter(path, storage) as bag:
        stamps = np.round(log.time * 1e9).astype(np.int64)
        if log.description:
            bag.add_topic(DESCRIPTION, STRING)
            described = empty_message(STRING)
            described.data = log.description
            bag.write(DESCRIPTION, int(stamps.min()), described)
        for name, topic in log.topics.items():
            bag.add_topic(name, TYPES[topic.kind])
        for k in watch(range(stamps.size), stamps.size):
            for name, topic in log.topics.items():
                message = messages[name]
                write_stamp(message.header.stamp, int(stamps[k]))
                message.header.frame_id = topic.frame
                _WRITERS[topic.kind](message, topic, k)
                bag.write(name, int(stamps[k]), message)


def _write_joint_state(message: Any, topic: Topic, k: int) -> None:
    message.name = list(topic.names)
    for field, values in topic.fields.items():
        setattr(message, field, values[k])


def _write_imu(message: Any, topic: Topic, k: int) -> None:
    message.orientation_covariance[0] = -1.0  # sensor_msgs/Imu: there is none
    for field, values in topic.fields.items():
        _write_xyz(getattr(message, field), values[k])


def _write_odometry(message: Any, topic: Topic, k: int) -> None:
    message.child_frame_id = topic.child_frame
    twist, fields = message.twist.twist, topic.fields
    _write_xyz(message.pose.pose.position, fields['position'][k])
    _write_xyz(message.pose.pose.orientation, fields['orientation'][k])
    for place, field in ((twist.linear, 'linear_velocity'), (twist.angular, 'angular_velocity')):
        if field in fields:
            _write_xyz(place, fields[field][k])


def _write_wrench(message: Any, topic: Topic, k: int) -> None:
    _write_xyz(message.wrench.force, topic.fields['force'][k])
    if 'moment' in topic.fields:
        _write_xyz(message.wrench.torque, topic.fields['moment'][k])


def _write_xyz(place: Any, values: Array) -> None:
    for axis, value in zip('xyzw', values.tolist(), strict=False):
        setattr(place, axis, value)


_WRITERS: dict[str, Callable[[Any, Topic, int], None]] = {
    'joint_states': _write_joint_state,
    'imu': _write_imu,
    'odometry': _write_odometry,
    'wrench': _write_wrench,
}
