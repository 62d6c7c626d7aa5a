# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Zarr groups in folders and stores of fsspec, written by xarray, a chunk of rows at a time."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import xarray as xr
import zarr
from zarr.codecs import BloscCodec, BytesCodec, TransposeCodec

from geolin_ros.errors import GeolinError, RecordingError

FORMAT = 'geolin_ros dataset 3'
CODECS = frozenset(('blosc', 'bytes', 'transpose', 'vlen-utf8', 'zstd'))
"""Of arrays that are read. Others, of objects above all, might run what is stored."""
NEVER = np.iinfo(np.int64).min
"""Time of rows that are not there yet, which xarray reads as NaT."""
TIMES = {'time': 'time', 'spectrum': 'spectrum_time'}
"""What has the times of the rows of each dimension."""
STAMPS: dict[str, Any] = {
    'units': 'nanoseconds since 1970-01-01',
    'calendar': 'proleptic_gregorian',
}
PLAIN: dict[str, Any] = {'consolidated': False, 'zarr_format': 3}
MOST_BYTES = (1 << 31) - 17
"""Blosc compresses no more in one piece."""
CHUNK_BYTES = 1 << 24
"""Chunks of the largest array are about this long, before compression."""


def chunk_length(row_bytes: int) -> int:
    """Return a power of two of samples for chunks of `CHUNK_BYTES`."""
    return int(2 ** np.clip(np.round(np.log2(CHUNK_BYTES / row_bytes)), 5, 14))


def open_group(path: str, mode: Any) -> Any:
    """Open the zarr group of a local folder or a store that fsspec knows (``s3://...``).

    Raises `RecordingError` if there is no dataset, it has arrays with other codecs than `CODECS`,
    or the store cannot be reached.
    """
    with reached(path):
        try:
            group = zarr.open_group(path, mode=mode, zarr_format=3)
            members: Any = dict(group.arrays())
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
    """Raise `RecordingError` for errors of a store's own package, of which each has others."""
    try:
        yield
    except GeolinError:
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


@contextmanager
def undamaged(path: str | Path) -> Iterator[None]:
    """Raise `RecordingError` for what comes of reading a dataset that is not as it was written."""
    try:
        yield
    except GeolinError:
        raise
    except (LookupError, TypeError, ValueError, RuntimeError, AssertionError, AttributeError) as e:
        raise RecordingError(
            f'{path} is a damaged dataset ({type(e).__name__}: {e}), expected what '
            '`geolin linearize` has written; write it again'
        ) from e


def exists(path: str) -> bool:
    """Whether there is anything but files that zarr did not finish; raises as `reached`."""
    with reached(path):
        files, place = fsspec.url_to_fs(path, use_listings_cache=False)
        if not files.isdir(place):
            return bool(files.exists(place))
        return any(not name.endswith('.partial') for name in files.ls(place, detail=False))


def create(
    path: str,
    names: xr.Dataset,
    like: Mapping[str, xr.Dataset],
    lengths: Mapping[str, int],
    rows: int,
) -> Any:
    """Write names and attributes, and make room for ``rows`` rows of variables like some.

    ``lengths`` of them are in a chunk, by their dimension. Inside a chunk the samples of an entry
    stand side by side: they are alike, which is what compression lives on.
    """
    with reached(path):
        names.to_zarr(path, mode='w', **PLAIN)
        group = open_group(path, 'r+')
        for dimension, dataset in like.items():
            for name, variable in dataset.variables.items():
                inner = variable.shape[1:]
                order = *range(1, 1 + len(inner)), 0
                is_time = variable.dtype.kind == 'M'
                group.create_array(
                    str(name),
                    shape=(rows, *inner),
                    chunks=(lengths[dimension], *inner),
                    dtype=np.int64 if is_time else variable.dtype,
                    filters=[TransposeCodec(order=order)] if inner else None,
                    serializer=BytesCodec(),
                    compressors=[BloscCodec(cname='lz4', clevel=5, shuffle='shuffle')],
                    fill_value=NEVER if is_time else variable.dtype.type(0),
                    dimension_names=[str(of) for of in variable.dims],
                    attributes=STAMPS if is_time else variable.attrs,
                )
    return group


def write(path: str, rows: xr.Dataset, dimension: str, begin: int) -> None:
    """Write rows from ``begin`` on, their times last: see `written`."""
    time, end = TIMES[dimension], begin + rows.sizes[dimension]
    with reached(path):
        rows.drop_vars(time).to_zarr(path, region={dimension: slice(begin, end)}, **PLAIN)
        # xarray writes no index into a region
        times = zarr.open_array(path, path=time, mode='r+', zarr_format=3)
        times[begin:end] = rows[time].values.astype(np.int64)


def written(group: Any, lengths: Mapping[str, int]) -> dict[str, Any]:
    """Return how many rows of each chunk are there, by their times and dimension."""
    return {
        dimension: np.add.reduceat(
            group[time][:] != NEVER, np.arange(0, group[time].size, lengths[dimension]), dtype=int
        )
        for dimension, time in TIMES.items()
        if isinstance(group.get(time), zarr.Array)
    }


def shorten(group: Any, rows: Mapping[str, int]) -> None:
    """Cut variables to the rows that there are, by their dimension."""
    for _, found in group.arrays():
        dimension, *_ = found.metadata.dimension_names
        if dimension in rows:
            found.resize((rows[dimension], *found.shape[1:]))
