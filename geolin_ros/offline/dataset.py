# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Datasets opened with the full A, B and drift, which are put together when they are used."""

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
from geolin_ros.offline.job import SPECTRA, varying
from geolin_ros.offline.layout import Entries
from geolin_ros.typing import Array

MATRICES = {'A': ('row', 'col'), 'B': ('row', 'input'), 'drift': ('row',)}


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
        return _opened(path, group, chunks)
    except (KeyError, TypeError, ValueError, AssertionError, AttributeError) as error:
        raise RecordingError(
            f'{path} is a damaged dataset ({type(error).__name__}: {error}), expected what '
            '`geolin linearize` has written; write it again'
        ) from error


def _opened(path: str, group: zarr.Group, chunks: Any) -> xr.Dataset:
    rows = _finished(group, 'time')
    spectra = _finished(group, 'spectrum')
    stored: xr.Dataset = xr.open_zarr(path, chunks=None, consolidated=False, zarr_format=3)
    tables = {name for name in stored if str(name).endswith(('_constant', '_entries'))}
    marks = {name for name in stored if str(name).startswith(store.DONE)}
    hidden = {varying(name) for name in MATRICES} | {'eigenvalues_real', 'eigenvalues_imag'}
    dataset: xr.Dataset = stored.drop_vars(
        [name for name in stored if name in tables | marks | hidden]
    )
    for name, dimensions in MATRICES.items():
        variable = xr.Variable(
            ('time', *dimensions), indexing.LazilyIndexedArray(_Matrix(group, name))
        )
        dataset[name] = variable
    dataset['eigenvalues'] = xr.Variable(
        ('spectrum', 'mode'),
        indexing.LazilyIndexedArray(_Complex(group)),
        stored.eigenvalues_real.attrs,
    )
    dataset = dataset.isel(time=slice(0, rows), spectrum=slice(0, spectra))
    dataset = dataset.assign_coords(_coordinates(group)).set_coords(('time', 'odometry_time'))
    dataset = dataset.assign_coords(
        spectrum_time=('spectrum', dataset.time.values[dataset.spectrum_row.values])
    )
    dataset.attrs = dict(group.attrs)
    if chunks is not None:
        stored_chunks = {'time': _chunk(group, 'time'), 'spectrum': SPECTRA}
        dataset = dataset.chunk(chunks or stored_chunks)
    return dataset


class _Matrix(BackendArray):
    """A matrix of each sample, put together of what varies and what does not."""

    def __init__(self, group: zarr.Group, name: str) -> None:
        self._entries = Entries(_read(group, f'{name}_constant'), _read(group, f'{name}_entries'))
        self._packed = store.array(group, varying(name)) if self._entries.varying.size else None
        self.shape = (store.array(group, 'time').shape[0], *self._entries.constant.shape)
        self.dtype = np.dtype(np.float64)

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER_1VECTOR, self._read
        )

    def _read(self, key: tuple[Any, ...]) -> Array:
        time, *inner = key
        if isinstance(time, int | np.integer):
            return np.asarray(self._read((slice(int(time), int(time) + 1), *inner))[0])
        if self._packed is None:
            count = len(np.arange(self.shape[0])[time])
            packed = np.zeros((count, 0))
        else:
            packed = np.asarray(self._packed.oindex[(time, slice(None))])
        return np.asarray(_outer(self._entries.unpack(packed), inner))


class _Complex(BackendArray):
    """Eigenvalues, which are stored as two arrays."""

    def __init__(self, group: zarr.Group) -> None:
        names = 'eigenvalues_real', 'eigenvalues_imag'
        self._parts = tuple(store.array(group, name) for name in names)
        self.shape = self._parts[0].shape
        self.dtype = np.dtype(np.complex128)

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._read
        )

    def _read(self, key: tuple[Any, ...]) -> Array:
        real, imag = (np.asarray(part.oindex[key]) for part in self._parts)
        return np.asarray(real + 1j * imag)


def _outer(values: Array, keys: list[Any]) -> Array:
    """Index the axes behind the first one by one."""
    axis = 1
    for key in keys:
        values = values[(slice(None),) * axis + (key,)]
        axis += not isinstance(key, int | np.integer)
    return values


def _coordinates(group: zarr.Group) -> dict[str, Any]:
    attributes: Any = group.attrs
    found: dict[str, Any] = {}
    state = [Label(*label) for label in attributes['columns']]
    for dimension, labels in (
        ('row', attributes['rows']),
        ('col', state),
        ('input', attributes['inputs']),
        ('acceleration', [rate_label(label) for label in state[len(state) // 2 :]]),
    ):
        names, units = zip(*labels, strict=True) if labels else ((), ())
        found[dimension] = (dimension, np.array(names, dtype=object))
        found[f'{dimension}_unit'] = (dimension, np.array(units, dtype=object))
    if attributes.get('contacts'):
        found['contact'] = ('contact', np.array(attributes['contacts'], dtype=object))
    found['joint'] = ('joint', np.array(attributes['joints'], dtype=object))
    found['position'] = ('position', np.array(attributes['positions'], dtype=object))
    found['twist'] = ('twist', np.array(['x', 'y', 'z', 'wx', 'wy', 'wz'], dtype=object))
    return found


def _finished(group: zarr.Group, dimension: str) -> int:
    array = store.array(group, 'time' if dimension == 'time' else 'spectrum_row')
    if group.attrs['complete']:
        return int(array.shape[0])
    return store.finished_rows(store.Progress(group, dimension).read(), array.chunks[0])


def _chunk(group: zarr.Group, name: str) -> int:
    return int(store.array(group, name).chunks[0])


def _read(group: zarr.Group, name: str) -> Any:
    return np.asarray(store.array(group, name)[...])
