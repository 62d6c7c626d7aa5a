# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Zarr groups in folders and stores of fsspec, written a chunk of rows at a time."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import zarr
from numpy.typing import ArrayLike
from zarr.codecs import BloscCodec, BytesCodec, TransposeCodec

from geolin_ros.errors import GeolinError, RecordingError

FORMAT = 'geolin_ros dataset 2'
CODECS = frozenset(('blosc', 'bytes', 'transpose', 'zstd'))
"""Of arrays that are read. Others, of objects above all, might run what is stored."""
NEVER = np.iinfo(np.int64).min
"""Time of rows that are not there yet."""
TIMES = {'time': 'time', 'spectrum': 'spectrum_time'}
"""What has the times of the rows of each dimension."""
PLAIN: dict[str, Any] = {'consolidated': False, 'zarr_format': 3}
CHUNK_BYTES = 1 << 23
"""Chunks of the largest array are about this long, before compression."""


class Column(NamedTuple):
    """A variable with a row for each sample."""

    values: Any
    dimensions: tuple[str, ...] = ()
    """Of one row."""
    attributes: Mapping[str, Any] = {}


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


def write_table(group: zarr.Group, name: str, values: ArrayLike, *dimensions: str) -> None:
    """Write a small array at once."""
    group.create_array(name, data=np.asarray(values), dimension_names=dimensions)


def create(
    group: zarr.Group, like: Mapping[str, Column], dimension: str, count: int, chunk: int
) -> None:
    """Make room for ``count`` rows of variables like some, ``chunk`` of them in a file.

    Inside a chunk the samples of an entry stand side by side: they are alike, which is what
    compression lives on.
    """
    for name, column in like.items():
        shape = column.values.shape[1:]
        is_integer = column.values.dtype == np.int64
        group.create_array(
            name,
            shape=(count, *shape),
            chunks=(chunk, *shape),
            dtype=column.values.dtype,
            filters=[TransposeCodec(order=(*range(1, 1 + len(shape)), 0))] if shape else None,
            serializer=BytesCodec(),
            compressors=[BloscCodec(cname='lz4', clevel=5, shuffle='shuffle')],
            fill_value=NEVER if is_integer else column.values.dtype.type(0),
            dimension_names=(dimension, *column.dimensions),
            attributes=dict(column.attributes),
        )


def write(path: str, columns: Mapping[str, Column], begin: int) -> int:
    """Write rows from ``begin`` on, the last variable last; return how many.

    Those are the times: where there is one, all of its row is there, see `written`.
    """
    group, rows = open_group(path, 'r+'), 0
    with reached(path):
        for name, column in columns.items():
            rows = len(column.values)
            array(group, name)[begin : begin + rows] = column.values
    return rows


def written(times: ArrayLike, chunk: int | None = None) -> Any:
    """Return how many rows are there without a gap, or in each chunk, by their times [ns]."""
    there = np.asarray(times) != NEVER
    if chunk is None:
        return there.size if there.all() else int(there.argmin())
    return np.add.reduceat(there, np.arange(0, there.size, chunk), dtype=np.int64)


def shorten(group: zarr.Group, names: Iterable[str], rows: int) -> None:
    """Cut variables to the rows that there are."""
    for name in names:
        found = array(group, name)
        found.resize((rows, *found.shape[1:]))
