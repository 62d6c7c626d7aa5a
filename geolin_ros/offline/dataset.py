# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Datasets opened: what is finished of them."""

from pathlib import Path
from typing import Any

import xarray as xr

from geolin_ros.errors import RecordingError
from geolin_ros.offline import store


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
        stored: xr.Dataset = xr.open_zarr(group.store, chunks=chunks, **store.PLAIN)
        finished = {
            dimension: slice(store.written(stored[name].values.astype('int64')))
            for dimension, name in store.TIMES.items()
        }
        return stored.isel(finished).set_coords(('odometry_time', 'spectrum_time'))
    except (KeyError, TypeError, ValueError, AssertionError, AttributeError) as error:
        raise RecordingError(
            f'{path} is a damaged dataset ({type(error).__name__}: {error}), expected what '
            '`geolin linearize` has written; write it again'
        ) from error
