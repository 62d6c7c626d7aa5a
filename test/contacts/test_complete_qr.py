# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Complete factorizations by Householder reflections, and orthogonal complements of columns."""

import numpy as np
import pytest

from geolin_ros.kernels.engine.complete_qr import complete_qr


@pytest.mark.parametrize(('r', 'm'), [(0, 3), (1, 1), (3, 18), (12, 18), (12, 50), (7, 7)])
def test_factorization__has_lapacks_complement(r, m):
    rng = np.random.default_rng(m)
    A = rng.normal(size=(m, r)) * 10.0 ** rng.uniform(-3.0, 3.0, r)
    Q, R = np.full((m, m), np.nan), A.copy()
    complete_qr(R, Q, np.empty((2, m)))
    N, by_lapack = Q[:, r:], np.linalg.qr(A)[0]
    np.testing.assert_allclose(N.T @ N, np.eye(m - r), atol=1e-14)
    np.testing.assert_allclose(N @ N.T, np.eye(m) - by_lapack @ by_lapack.T, atol=1e-14)
    np.testing.assert_allclose(Q.T @ Q, np.eye(m), atol=1e-14)
    product = Q[:, :r] @ np.triu(R[:r])
    np.testing.assert_allclose(product, A, atol=1e-14 * np.abs(A).max(initial=0.0))


@pytest.mark.parametrize('column', [(0.0, 0.0, 2.0), (-0.0, 3.0, 0.0), (-1.0, 0.0, 0.0)])
def test_column_with_zeros__has_its_complement(column):
    Q = np.empty((3, 3))
    complete_qr(np.array(column)[:, None], Q, np.empty((2, 3)))
    N = Q[:, 1:]
    np.testing.assert_allclose(np.array(column) @ N, 0.0, atol=1e-15)
    np.testing.assert_allclose(N.T @ N, np.eye(2), atol=1e-15)


def access_everything():
    """Run by `kernels/test_bounds.py` where every access is checked."""
    for r, m in ((1, 1), (3, 18), (12, 18), (7, 7)):
        test_factorization__has_lapacks_complement(r, m)
