# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Least squares under constraints against LAPACK's."""

import numpy as np
import pytest
from scipy.linalg.lapack import dgglse
from support.close import assert_close

from geolin_ros.kernels.sparse.least_squares import minimize

SIZES = [(3, 12, 9), (0, 8, 8), (4, 4, 4), (5, 40, 30), (1, 1, 1)]
"""Constraints, rows and unknowns."""


def problem(sizes, seed=1):
    """Return E and C, most of its rows with a single entry and some without any."""
    rng = np.random.default_rng(seed)
    p, rows, k = sizes
    E, C = rng.normal(size=(p, 1 + k)), rng.normal(size=(rows, 1 + k))
    for r in range(max(rows - 4, 0)):
        single = C[r, 1 + r % k]
        C[r, 1:] = 0.0
        C[r, 1 + r % k] = single
    return E, C


def solve(E, C):
    """Return z, chi squared, what is free, the factors, and whether z is determined."""
    E, C = E.copy(), C.copy()
    p, k = E.shape[0], E.shape[1] - 1
    z, bound, free = np.zeros(k), np.zeros(p, np.int64), np.zeros(k - p, np.int64)
    determined = minimize(E, C, z, bound, free, np.zeros(1 + k))
    return z, float(np.sum(C[k - p :, 0] ** 2)), (bound, free, E, C), determined


def lapacks(E, C):
    """Return z; LAPACK's function for constraints does not take none."""
    if not len(E):
        return np.linalg.lstsq(C[:, 1:], -C[:, 0], rcond=None)[0]
    *_, z, info = dgglse(C[:, 1:], E[:, 1:], -C[:, 0], -E[:, 0])
    assert info == 0
    return z


@pytest.mark.parametrize('sizes', SIZES)
def test_minimum__is_lapacks(sizes):
    E, C = problem(sizes)
    z, chi_squared, (bound, free, solved, factored), determined = solve(E, C)
    assert determined
    expected = lapacks(E, C)
    assert_close(z, expected, 1e-11)
    residual = C @ np.concatenate(([1.0], expected))
    assert chi_squared == pytest.approx(float(residual @ residual), rel=1e-9, abs=1e-20)
    assert sorted([*bound, *free]) == list(range(len(z)))
    # R' R is the matrix of the normal equations in what is free
    R = factored[: free.size, 1 + free]
    assert np.all(np.tril(R, -1) == 0.0)
    Z = np.zeros((len(z), free.size))
    Z[free], Z[bound] = np.eye(free.size), -solved[:, 1 + free]
    assert_close(R.T @ R, Z.T @ C[:, 1:].T @ C[:, 1:] @ Z, 1e-11)
    assert_close(E[:, 1:] @ Z, np.zeros((len(E), free.size)), 1e-12, scale=1.0)


@pytest.mark.parametrize(
    'spoil',
    [
        lambda E, C: E.__setitem__(1, 2.0 * E[0]),
        lambda E, C: C.__setitem__((slice(None), 3), C[:, 4]) or E.__setitem__(np.s_[:, 3:5], 0.0),
        lambda E, C: C.__setitem__(np.s_[3:], 0.0),
        lambda E, C: C.__setitem__(np.s_[:, 2:], np.nan),
    ],
    ids=['constraints repeat', 'two columns are one', 'too few rows', 'not a number'],
)
def test_what_is_not_determined__is_said(spoil):
    E, C = problem((3, 12, 9))
    spoil(E, C)
    assert not solve(E, C)[-1]


def test_rows_far_apart__keep_their_digits():
    """Row by row: good sensors and bad ones, the good ones last."""
    E, C = problem((2, 30, 12))
    C *= np.geomspace(1e-4, 1e4, len(C))[:, np.newaxis]
    assert_close(solve(E, C)[0], lapacks(E, C[::-1]), 1e-9)


def access_everything():
    """Run by `kernels/test_bounds.py` where every access is checked."""
    for sizes in SIZES:
        test_minimum__is_lapacks(sizes)
