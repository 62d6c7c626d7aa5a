# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The zarr group of a dataset: what arrays it has, and which parts of it are finished.

Samples are written in units of one chunk, each by one worker. Marks say how many samples of each
unit are there; they are written last, so that what they promise is complete, and removed at the
end.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import zarr
from numpy.typing import ArrayLike
from zarr.codecs import BloscCodec, BytesCodec, TransposeCodec

from geolin_ros.errors import GeolinError, RecordingError
from geolin_ros.typing import Array, IntArray

FORMAT = 'geolin_ros dataset 1'
CODECS = frozenset(('blosc', 'bytes', 'transpose', 'zstd'))
"""Of arrays that are read. Others, of objects above all, might run what is stored."""
DONE = 'done'
CHUNK_BYTES = 1 << 23
"""Chunks of the largest array are about this long, before compression."""


class Column(NamedTuple):
    """An array that has a row for each sample."""

    kind: str
    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    """Of one row."""
    attributes: Mapping[str, Any]
    fill: Any = np.nan


def chunk_length(row_bytes: int) -> int:
    """Return a power of two of samples for chunks of `CHUNK_BYTES`."""
    return int(2 ** np.clip(np.round(np.log2(CHUNK_BYTES / row_bytes)), 5, 14))


def open_group(path: str, mode: Any) -> zarr.Group:
    """Open a local folder or a store that fsspec knows (``s3://...``).

    Raises
    ------
    RecordingError
        If there is no dataset, it has arrays with other codecs than `CODECS`, or the store cannot
        be reached.
    """
    try:
        with reached(path):
            group = zarr.open_group(path, mode=mode, zarr_format=3, storage_options=_options(path))
            members: Any = {} if mode == 'w' else dict(group.arrays())
    except (FileNotFoundError, KeyError, TypeError, ValueError) as error:
        raise RecordingError(
            f'{path} is no dataset, expected one that `geolin linearize` has written'
        ) from error
    for name, member in members.items():
        codecs = {codec['name'] for codec in member.metadata.to_dict()['codecs']}
        if codecs - CODECS:
            raise RecordingError(
                f'{path}: array {name!r} is stored by {", ".join(sorted(codecs - CODECS))}, '
                f'expected {", ".join(sorted(CODECS))}: it is not one of `geolin linearize`'
            )
    return group


@contextmanager
def reached(path: str) -> Iterator[None]:
    """Say in words why a store cannot be reached.

    Raises
    ------
    RecordingError
        For errors of the store's own package, of which each has others.
    """
    try:
        yield
    except (GeolinError, OSError, KeyError):
        raise
    except ImportError as error:
        raise RecordingError(
            f'{path} cannot be reached: {error}; install the fsspec package of this kind of '
            'store, for s3:// with pip install "geolin_ros[s3]"'
        ) from error
    except Exception as error:
        if '://' not in path:
            raise
        raise RecordingError(
            f'{path} cannot be reached: {type(error).__name__}: {error}; check address, '
            'credentials and network. What was written stays, and the same command goes on there'
        ) from error


def _options(path: str) -> dict[str, Any] | None:
    return {'auto_mkdir': True} if path.startswith('file://') else None


def array(group: zarr.Group, name: str) -> 'zarr.Array[Any]':
    """Return an array of a group."""
    found = group[name]
    assert isinstance(found, zarr.Array)
    return found


def exists(path: str) -> bool:
    """Whether there is anything that `open_group` opens; errors as there.

    In a folder, files that zarr did not come to finish are nothing.
    """
    if '://' not in path:
        if not os.path.isdir(path):
            return os.path.exists(path)
        return any(not name.endswith('.partial') for name in os.listdir(path))
    try:
        with reached(path):
            zarr.open_group(path, mode='r', storage_options=_options(path))
    except (FileNotFoundError, KeyError):
        return False
    return True


def create_columns(
    group: zarr.Group, columns: Mapping[str, Column], dimension: str, count: int, chunk: int
) -> None:
    """Make room for ``count`` rows of each column, ``chunk`` of them in a file.

    Inside a chunk the samples of an entry stand side by side: they are alike, which is what
    compression lives on.
    """
    for name, column in columns.items():
        shape = (count, *column.shape)
        order = (*range(1, len(shape)), 0)
        group.create_array(
            name,
            shape=shape,
            chunks=(chunk, *column.shape),
            dtype=column.kind,
            filters=[TransposeCodec(order=order)] if len(shape) > 1 else None,
            serializer=BytesCodec(),
            compressors=[BloscCodec(cname='lz4', clevel=5, shuffle='shuffle')],
            fill_value=column.fill,
            dimension_names=(dimension, *column.dimensions),
            attributes=dict(column.attributes),
        )


def write_table(group: zarr.Group, name: str, values: ArrayLike, *dimensions: str) -> None:
    """Write a small array at once."""
    group.create_array(name, data=np.asarray(values), dimension_names=dimensions)


class Progress:
    """Which units of a dimension are finished.

    Parameters
    ----------
    group
        The dataset.
    dimension
        ``'time'`` or ``'spectrum'``.
    """

    def __init__(self, group: zarr.Group, dimension: str) -> None:
        self._group, self._name = group, f'{DONE}_{dimension}'

    def create(self, units: int) -> None:
        """Make room for marks, one file each."""
        self._group.create_array(
            self._name,
            shape=(units,),
            chunks=(1,),
            dtype='uint32',
            compressors=None,
            fill_value=0,
            dimension_names=(self._name,),
        )

    def mark(self, unit: int, rows: int) -> None:
        """Say that the first ``rows`` rows of a unit are there."""
        self._array[unit] = rows

    def read(self) -> IntArray:
        """Return the finished rows of each unit; of none if there is no room for marks yet."""
        if self._name not in self._group:
            return np.zeros(0, dtype=np.int64)
        return np.asarray(self._array[:]).astype(np.int64)

    def remove(self) -> None:
        """Forget the marks, if there are any: everything is there."""
        if self._name in self._group:
            del self._group[self._name]

    @property
    def _array(self) -> zarr.Array[Any]:
        return array(self._group, self._name)


def finished_rows(done: IntArray, chunk: int) -> int:
    """Return how many rows are there from the beginning without a gap."""
    rows = 0
    for count in done.tolist():
        rows += count
        if count < chunk:
            break
    return rows


def write_rows(
    group: zarr.Group, chunk: int, unit: int, values: Mapping[str, Array | IntArray]
) -> None:
    """Write one unit of several columns."""
    begin = unit * chunk
    for name, rows in values.items():
        array(group, name)[begin : begin + len(rows)] = rows


def shorten(group: zarr.Group, columns: Mapping[str, Column], rows: int) -> None:
    """Cut the columns to the rows that there are."""
    for name in columns:
        column = array(group, name)
        column.resize((rows, *column.shape[1:]))
