# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""New rosbag2 bags."""

import errno
import os
import shutil
from pathlib import Path
from typing import Any, Literal

from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer, WriterError

from geolin_ros.errors import RecordingError
from geolin_ros.offline.message_types import STRING, known_types

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


class BagWriter:
    """Writes one bag; to be used as a context manager.

    After an exception inside, the bag ends with what was written so far, and can be read. Writing
    ends while there is still `ROOM` for that. Raises `RecordingError` if the folder ``path``
    exists or cannot be written; `OSError`, as all other methods, if the disk is full.
    """

    def __init__(
        self, path: str | Path, storage: Storage = 'mcap', compression: Compression = 'none'
    ) -> None:
        self._path = Path(path)
        self._require_room(next(p for p in self._path.absolute().parents if p.exists()))
        try:
            self._writer = Writer(
                path, version=FORMAT, storage_plugin=StoragePlugin[storage.upper()]
            )
            self._writer.set_compression(
                CompressionMode[compression.upper()], CompressionFormat.ZSTD
            )
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
