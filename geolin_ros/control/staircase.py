# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The controllable part of (A, B) by orthogonal steps [Van Dooren 1981].

Each step asks how many new directions the inputs reach through the last ones, a rank decision on
one small block. Poles in long Jordan chains, which every robot in free flight has at 0, are no
trouble, as they are for tests on [A - x 1, B], nor do powers of A lose digits as in [B, AB, ...].
"""

from typing import NamedTuple

import numpy as np

from geolin_ros.typing import Array

NEGLIGIBLE = 1e-8
"""Of |[A B]|: reached so weakly, a state counts as not reached. Rounding is at 1e-15, robots that
stand at 1e-6 and more, and what a posture is off its equilibrium by at 1e-10."""


class Staircase(NamedTuple):
    """(A, B) in the axes of T: the first ``controllable`` states are reached, the others not."""

    T: Array
    """(k, k) orthogonal; T[:, controllable:]' is left-invariant under A and has no part in B."""
    A: Array
    """(k, k) T'AT."""
    controllable: int
    blocks: tuple[int, ...]
    """How many directions each step has added."""
    smallest_kept: float
    """Singular value next above the decisions; infinite if nothing was kept."""
    largest_dropped: float
    """And next below; 0 if nothing was dropped."""


def staircase(A: Array, B: Array) -> Staircase:
    """Return the staircase form of A (k, k) and B (k, u), both scaled to be of order 1."""
    k = len(A)
    T, A = np.eye(k), A.copy()
    X, off = B, 0
    tolerance = NEGLIGIBLE * np.linalg.norm(np.hstack((A, B)))
    blocks, kept, dropped = [], np.inf, 0.0
    while off < k:
        U, sizes, _ = np.linalg.svd(X)
        rank = int(np.sum(sizes > tolerance))
        kept = min(kept, float(np.min(sizes[:rank], initial=np.inf)))
        dropped = max(dropped, float(np.max(sizes[rank:], initial=0.0)))
        if rank == 0:
            break
        A[off:, :] = U.T @ A[off:, :]
        A[:, off:] = A[:, off:] @ U
        T[:, off:] = T[:, off:] @ U
        blocks.append(rank)
        off += rank
        X = A[off:, off - rank : off]
    return Staircase(T, A, off, tuple(blocks), kept, dropped)
