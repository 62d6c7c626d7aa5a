# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Relative comparison of arrays, block by block; NaN and wrong shapes never pass."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Compared(NamedTuple):
    """Limit and deviation of a comparison; the last two of what is printed wrong."""

    limit: float | None = None
    worst: float | None = None
    figure: float | None = None
    found: float | None = None


COMPARED: list[Compared] = []
"""What the running test has compared."""


def deviation(actual, expected, scale=None):
    """Return max|actual - expected| / max|expected|; inf if either is not finite.

    ``scale`` replaces max|expected|. Where that is zero the arrays must be equal: 0 or inf.
    """
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape, f'shape {actual.shape}, expected {expected.shape}'
    if not (np.isfinite(actual).all() and np.isfinite(expected).all()):
        return np.inf
    worst = float(np.max(np.abs(actual - expected), initial=0.0))
    if worst == 0.0:
        return 0.0
    scale = float(np.max(np.abs(expected), initial=0.0)) if scale is None else float(scale)
    return worst / scale if scale > 0.0 else np.inf


def assert_close(actual, expected, tolerance, what='array', scale=None):
    """Fail where the `deviation` of ``actual`` exceeds ``tolerance``."""
    found = deviation(actual, expected, scale)
    COMPARED.append(Compared(limit=tolerance, worst=found))
    assert found <= tolerance, f'{what}: deviation {found:.3g}, expected at most {tolerance:.3g}'


def assert_wrong(printed, right, figure, scale=None):
    """Fail unless what is printed is off by ``figure``, within 10 %."""
    found = deviation(printed, right, scale)
    COMPARED.append(Compared(figure=figure, found=found))
    assert abs(found - figure) <= 0.1 * figure, f'deviation {found:.3g}, expected {figure:.3g}'


def blocks(matrix, model) -> Iterator[tuple[str, np.ndarray]]:
    """Yield name and block of A, B or a derivative of ``nu_dot``: the parts H, s, v, r of z.

    Rows and columns are cut into [H; s; v; r] (fixed base [s; r]) where their number allows it;
    columns of B are one block, rows of ``nu_dot`` are [v; r].
    """
    state = {'H': model.m - model.n, 's': model.n, 'v': model.m - model.n, 'r': model.n}
    rates = {'v': model.m - model.n, 'r': model.n}
    by_rows = state if matrix.shape[0] == 2 * model.m else rates
    by_columns = state if matrix.shape[1] == 2 * model.m else {'tau': matrix.shape[1]}
    row = 0
    for row_name, height in by_rows.items():
        column = 0
        for column_name, width in by_columns.items():
            if height and width:
                block = matrix[row : row + height, column : column + width]
                yield f'{row_name}{column_name}', block
            column += width
        row += height
    assert (row, column) == matrix.shape, f'{matrix.shape} is no matrix of {model!r}'


def assert_blocks_close(actual, expected, model, tolerance):
    """Compare every block apart, relative to its own largest entry; zero blocks must be zero."""
    assert actual.shape == expected.shape, f'shape {actual.shape}, expected {expected.shape}'
    for (name, ours), (_, theirs) in zip(
        blocks(actual, model), blocks(expected, model), strict=True
    ):
        assert_close(ours, theirs, tolerance, f'block {name}')
