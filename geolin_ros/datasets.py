# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `geolin linearize` has written, as a name that is there without the extra ``offline``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geolin_ros.errors import RecordingError

if TYPE_CHECKING:
    from pathlib import Path

    from xarray import Dataset


def open_dataset(path: str | Path, *, chunks: Any = None) -> Dataset:
    """Open a dataset of linearizations; nothing is read before it is used.

    Parameters
    ----------
    path
        Folder, or a store that fsspec knows.
    chunks
        As for `xarray.open_zarr`: None for plain lazy arrays, ``{}`` for Dask arrays of the
        chunks that are stored.

    Returns
    -------
    xarray.Dataset
        ``A`` (time, row, col), ``B`` (time, row, input), ``drift`` (time, row), ``nu_dot`` and
        ``residual``, measured minus predicted, (time, acceleration); the state ``H``, ``s``,
        ``v``, ``r`` and ``tau``; ``eigenvalues`` (spectrum, mode) and ``mass_matrix_condition``
        with ``spectrum_time``. Coordinates name rows, columns and inputs, and their units. Of a
        run that was broken off, the finished beginning, with ``attrs['complete']`` false.

    Raises
    ------
    ConfigurationError
        If the packages of the extra are not installed.
    RecordingError
        If there is no dataset.
    """
    from geolin_ros.offline import store  # isort: skip  # asks for the extra
    import numpy as np
    import xarray as xr

    path = str(path)
    group = store.open_group(path, 'r')
    if group.attrs.get('format') != store.FORMAT:
        raise RecordingError(
            f'{path} has format {group.attrs.get("format")!r}, expected {store.FORMAT!r}, which '
            '`geolin linearize` writes'
        )
    with store.undamaged(path):
        stored: xr.Dataset = xr.open_zarr(group.store, chunks=chunks, **store.PLAIN)
        for dimension, name in store.TIMES.items():  # up to the first row that is not there yet
            there = np.append(stored[name].notnull().values, False)
            stored = stored.isel({dimension: slice(int(there.argmin()))})
        return stored.set_coords(('odometry_time', 'spectrum_time'))
