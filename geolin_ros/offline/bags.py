# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The message types that bags are read and written with, and new rosbag2 bags."""

import errno
import functools
import os
import shutil
from array import array
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from rosbags.interfaces import (
    Nodetype,
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer, WriterError
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from geolin_ros.errors import RecordingError, check_choice
from geolin_ros.stream.outputs.messages import OUTPUTS

JOINT_STATE = 'sensor_msgs/msg/JointState'
ODOMETRY = 'nav_msgs/msg/Odometry'
TRANSFORMS = 'tf2_msgs/msg/TFMessage'
IMU = 'sensor_msgs/msg/Imu'
STRING = 'std_msgs/msg/String'
WRENCH = 'geometry_msgs/msg/WrenchStamped'
CONTACT = 'geolin_msgs/msg/ContactState'
CONTACT_STATES = 'geolin_msgs/msg/ContactStates'
CLOCK = 'rosgraph_msgs/msg/Clock'
LINEARIZATION, FORWARD_DYNAMICS, SUMMARY = OUTPUTS.values()

_DEFINITIONS = Path(__file__).parent / 'msg'
_QUATERNION = 'geometry_msgs/msg/Quaternion'
_ZEROS = {'bool': False, 'string': '', 'float32': 0.0, 'float64': 0.0}

Storage = Literal['mcap', 'sqlite3']
Compression = Literal['none', 'file', 'message', 'storage']
FORMAT: Literal[8] = 8
"""Version of the metadata: the newest that Jazzy reads."""
NO_LIMIT = QosTime(9223372036, 854775807)
LATCHED = Qos(
    history=QosHistory.KEEP_LAST,
    depth=1,
    reliability=QosReliability.RELIABLE,
    durability=QosDurability.TRANSIENT_LOCAL,
    deadline=NO_LIMIT,
    lifespan=NO_LIMIT,
    liveliness=QosLiveliness.AUTOMATIC,
    liveliness_lease_duration=NO_LIMIT,
    avoid_ros_namespace_conventions=False,
)
ROOM = 8 << 20
"""Bytes that stay free on the disk: for what storages keep back, 2 MB at most, and the index."""


@functools.cache
def known_types() -> Typestore:
    """Return the common types of ROS 2, equal from Humble to Lyrical, and those of geolin_msgs."""
    store = get_typestore(Stores.ROS2_KILTED)
    own: dict[str, Any] = {}
    for file in sorted(_DEFINITIONS.glob('*.msg')):
        own |= get_types_from_msg(file.read_text(), f'geolin_msgs/msg/{file.stem}')
    store.register(own)
    return store


def empty_message(name: str) -> Any:
    """Return a message of type ``name`` as ROS makes it: zeros, empty texts and lists, no turn."""
    store = known_types()
    _, members = store.fielddefs[name]
    message: Any = store.types[name](
        **{field: _empty(description) for field, description in members}
    )
    if name == _QUATERNION:
        message.w = 1.0  # the only default among these types, which rosbags does not keep
    return message


def _empty(description: Any) -> Any:
    node, inner = description
    if node == Nodetype.NAME:
        return empty_message(inner)
    if node == Nodetype.BASE:
        return _ZEROS.get(inner[0], 0)
    (element, of), length = inner
    if element == Nodetype.BASE and of[0] != 'string':
        return np.zeros(length if node == Nodetype.ARRAY else 0, dtype=of[0])
    return [_empty((element, of)) for _ in range(length if node == Nodetype.ARRAY else 0)]


def share_arrays(message: Any) -> Any:
    """Put NumPy views in the place of ``array.array`` fields, and return the message.

    The writers of `geolin_ros.stream.outputs.messages` allocate the one, rosbags serializes the
    other.
    """
    for field in fields(message):
        value = getattr(message, field.name)
        if isinstance(value, array):
            setattr(message, field.name, np.frombuffer(value, dtype=value.typecode))
        elif is_dataclass(value):
            share_arrays(value)
    return message


class BagWriter:
    """Writes one bag; to be used as a context manager.

    After an exception inside, the bag ends with what was written so far, and can be read. Writing
    ends while there is still `ROOM` for that. Raises `ConfigurationError` if the storage has no
    such compression, `RecordingError` if the folder ``path`` exists or cannot be written so;
    `OSError`, as all other methods, if the disk is full.
    """

    def __init__(
        self, path: str | Path, storage: Storage = 'mcap', compression: Compression = 'none'
    ) -> None:
        check_choice(f'storage of {path}', storage, get_args(Storage))
        kinds = [kind for kind in get_args(Compression) if kind != 'storage' or storage == 'mcap']
        check_choice(f'compression of {path} with {storage}', compression, kinds)
        self._path = Path(path)
        self._require_room(next(p for p in self._path.absolute().parents if p.exists()))
        try:
            plugin, mode = StoragePlugin[storage.upper()], CompressionMode[compression.upper()]
            self._writer = Writer(path, version=FORMAT, storage_plugin=plugin)
            self._writer.set_compression(mode, CompressionFormat.ZSTD)
            self._writer.open()
        except WriterError as error:
            raise RecordingError(
                f'cannot write {path}: {error}; choose another folder or remove this one'
            ) from error
        self._connections: dict[str, Any] = {}

    def __enter__(self) -> 'BagWriter':
        """Return the writer, which is open already."""
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Close the bag, so that it can be read whatever went wrong."""
        try:
            self._writer.close()
        except Exception:
            self._writer.abort()
            if error is None:
                raise

    def add_topic(self, topic: str, kind: str, is_latched: bool | None = None) -> None:
        """Declare a topic of `known_types`; players latch it, by default one of descriptions."""
        latch = kind == STRING if is_latched is None else is_latched
        self._connections[topic] = self._writer.add_connection(
            topic, kind, typestore=known_types(), offered_qos_profiles=[LATCHED] * latch
        )

    def write(self, topic: str, time: int, message: Any) -> None:
        """Write a message of rosbags' types, recorded at ``time`` [ns]."""
        kind = self._connections[topic].msgtype
        self.write_serialized(topic, time, known_types().serialize_cdr(message, kind))

    def write_serialized(self, topic: str, time: int, data: bytes | memoryview) -> None:
        """Write a message that is in CDR already."""
        self._require_room(self._path, len(data))
        self._writer.write(self._connections[topic], time, data)

    def _require_room(self, folder: Path, size: int = 0) -> None:
        needed = size + ROOM
        if shutil.disk_usage(folder).free < needed:
            raise OSError(
                errno.ENOSPC,
                f'{os.strerror(errno.ENOSPC)}, expected {needed / 1e6:.1f} MB to be free; what '
                'was written stays, if anything was',
                str(self._path),
            )
