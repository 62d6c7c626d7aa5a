# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `geolin linearize` has written, as a name that is there without the extra ``offline``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from xarray import Dataset


def open_dataset(path: str | Path, chunks: Any = None) -> Dataset:
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
    from geolin_ros.offline import dataset

    return dataset.open_dataset(path, chunks)
