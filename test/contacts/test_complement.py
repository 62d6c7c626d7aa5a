# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Orthogonal complements by Householder reflections, against LAPACK's."""

import numpy as np
import pytest

from geolin_ros.kernels.engine.complement import orthogonal_complement


@pytest.mark.parametrize(('r', 'm'), [(0, 3), (1, 1), (3, 18), (12, 18), (12, 50), (7, 7)])
def test_complement__is_lapacks(r, m):
    rng = np.random.default_rng(m)
    A = rng.normal(size=(m, r)) * 10.0 ** rng.uniform(-3.0, 3.0, r)
    N = np.full((m, m - r), np.nan)
    orthogonal_complement(A.copy(), N, np.empty((2, m)))
    Q = np.linalg.qr(A)[0]
    np.testing.assert_allclose(N.T @ N, np.eye(m - r), atol=1e-14)
    np.testing.assert_allclose(N @ N.T, np.eye(m) - Q @ Q.T, atol=1e-14)


@pytest.mark.parametrize('column', [(0.0, 0.0, 2.0), (-0.0, 3.0, 0.0), (-1.0, 0.0, 0.0)])
def test_column_with_zeros__has_its_complement(column):
    N = np.empty((3, 2))
    orthogonal_complement(np.array(column)[:, None], N, np.empty((2, 3)))
    np.testing.assert_allclose(np.array(column) @ N, 0.0, atol=1e-15)
    np.testing.assert_allclose(N.T @ N, np.eye(2), atol=1e-15)


def access_everything():
    """Run by `kernels/test_bounds.py` where every access is checked."""
    for r, m in ((1, 1), (3, 18), (12, 18), (7, 7)):
        test_complement__is_lapacks(r, m)
