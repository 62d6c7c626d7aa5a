# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Stein's equation by squaring, against SciPy's solver."""

import numpy as np
import pytest
import scipy.linalg
from support.close import assert_close

from geolin_ros.kernels.engine.stein import make_work, stein


@pytest.mark.parametrize('k', [1, 2, 12, 16, 46, 58])
def test_solution__is_scipys(k):
    rng = np.random.default_rng(k)
    F, root = rng.normal(size=(2, k, k))
    F *= 0.95 / np.max(np.abs(np.linalg.eigvals(F)))
    E = root @ root.T
    work, parts, numbers = make_work(k)
    for _ in range(2):  # the second time in memory that was used
        parts[0], parts[1] = F, E
        assert stein(work, numbers, 1e-8, 40)
        assert_close(parts[1], scipy.linalg.solve_discrete_lyapunov(F.T, E), 1e-11)


@pytest.mark.parametrize('F', [1.01 * np.eye(5), np.full((5, 5), np.nan), 1e200 * np.eye(5)])
def test_what_does_not_settle__is_said(F):
    work, parts, numbers = make_work(5)
    parts[0], parts[1] = F, np.eye(5)
    assert not stein(work, numbers, 1e-8, 40)


def access_everything():
    """Run by `kernels/test_bounds.py` where every access is checked."""
    for k in (1, 12, 16, 46):
        test_solution__is_scipys(k)
