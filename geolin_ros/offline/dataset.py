# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Datasets opened: what is finished, with names, units and A, B, drift put together when used."""

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from xarray.backends import BackendArray
from xarray.core import indexing

from geolin_ros.errors import RecordingError
from geolin_ros.model.labels import Label, rate_label
from geolin_ros.offline import store
from geolin_ros.offline.entries import MATRICES, Entries, varying
from geolin_ros.typing import Array

PARTS = 'constant', 'entries', 'varying'


def open_dataset(path: str | Path, chunks: Any = None) -> xr.Dataset:
    """See `geolin_ros.open_dataset`."""
    path = str(path)
    group = store.open_group(path, 'r')
    if group.attrs.get('format') != store.FORMAT:
        raise RecordingError(
            f'{path} has format {group.attrs.get("format")!r}, expected {store.FORMAT!r}, which '
            '`geolin linearize` writes'
        )
    try:
        stored = xr.open_zarr(group.store, chunks=None, decode_cf=False, **store.PLAIN)
        parts = [f'{name}_{part}' for name in MATRICES for part in PARTS]
        dataset = stored.drop_vars(parts, errors='ignore')
        for name, dimensions in MATRICES.items():
            matrix = indexing.LazilyIndexedArray(_Matrix(group, name))
            dataset[name] = xr.Variable(('time', *dimensions), matrix)
        finished = {of: slice(store.written(stored[name])) for of, name in store.TIMES.items()}
        dataset = xr.decode_cf(dataset.isel(finished))
        names = 'time', 'odometry_time', 'spectrum_time'
        dataset = dataset.set_coords(names).assign_coords(_coordinates(stored.attrs))
        if chunks is None:
            return dataset
        lengths = {of: store.array(group, name).chunks[0] for of, name in store.TIMES.items()}
        return dataset.chunk(chunks or lengths)
    except (KeyError, TypeError, ValueError, AssertionError, AttributeError) as error:
        raise RecordingError(
            f'{path} is a damaged dataset ({type(error).__name__}: {error}), expected what '
            '`geolin linearize` has written; write it again'
        ) from error


class _Matrix(BackendArray):
    """A matrix of each sample, put together of what varies and what does not."""

    def __init__(self, group: zarr.Group, name: str) -> None:
        constant, entries = (store.array(group, f'{name}_{part}')[...] for part in PARTS[:2])
        self._entries = Entries(np.asarray(constant), np.asarray(entries))
        self._packed = store.array(group, varying(name)) if self._entries.varying.size else None
        self.shape = (store.array(group, 'time').shape[0], *self._entries.constant.shape)
        self.dtype = np.dtype(np.float64)

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER_1VECTOR, self._read
        )

    def _read(self, key: tuple[Any, ...]) -> Array:
        time, *inner = key
        rows = np.arange(self.shape[0])[time]
        if self._packed is None:
            packed = np.zeros((rows.size, 0))
        else:
            slices = slice(int(time), int(time) + 1) if rows.ndim == 0 else time
            packed = np.asarray(self._packed.oindex[(slices, slice(None))])
        values = self._entries.unpack(packed)
        for axis in reversed(range(len(inner))):  # one by one, from the last
            values = values[(slice(None),) * (axis + 1) + (inner[axis],)]
        return np.asarray(values[0] if rows.ndim == 0 else values)


def _coordinates(attributes: dict[Any, Any]) -> dict[str, Any]:
    state = [Label(*label) for label in attributes['columns']]
    labels = {
        'row': attributes['rows'],
        'col': state,
        'input': attributes['inputs'],
        'acceleration': [rate_label(label) for label in state[len(state) // 2 :]],
    }
    names = {
        **{dimension: [name for name, _ in of] for dimension, of in labels.items()},
        **{f'{dimension}_unit': [unit for _, unit in of] for dimension, of in labels.items()},
        'joint': attributes['joints'],
        'position': attributes['positions'],
        'twist': ['x', 'y', 'z', 'wx', 'wy', 'wz'],
    }
    if attributes['contacts']:
        names['contact'] = attributes['contacts']
    return {
        name: (name.removesuffix('_unit'), np.array(values, dtype=object))
        for name, values in names.items()
    }
