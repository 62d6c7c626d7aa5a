# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The exponential of a matrix, and the integral of exponentials over a time step."""

import threading

from geolin_ros.kernels.engine import exponential
from geolin_ros.typing import Array, IntArray


class _Memory(threading.local):
    """What exponentials are computed in, by size: fresh pages cost more than a small one."""

    def __init__(self) -> None:
        self.of_size: dict[tuple[int, int], tuple[Array, IntArray, Array]] = {}


_memory = _Memory()


def zero_order_hold(A: Array, B: Array, dt: float) -> tuple[Array, Array]:
    """Return exp(dt A) (k, k) and the integral of exp(t A) B over 0 <= t <= dt (k, n).

    By a series that multiplies the rows of accelerations alone, with scaling and squaring: see
    `geolin_ros.kernels.engine.exponential`.
    """
    E, k = integrals(dt, A, B), A.shape[0]
    return E[:, :k].copy(), E[:, k:].copy()


def integrals(dt: float, A: Array, *columns: Array) -> Array:
    """Return [exp(dt A) | integrals for the columns], a view that the next call overwrites."""
    k, n = A.shape[0], sum(part.shape[1] for part in columns)
    if (k, n) not in _memory.of_size:
        work, lists = exponential.make_work(k, n)
        _memory.of_size[k, n] = work, lists, exponential.parts_of(work, k)
    work, lists, parts = _memory.of_size[k, n]
    at = 0
    for part in (A, *columns):
        exponential.fill(work, k, at, part, float(dt))
        at += part.shape[1]
    found: int = exponential.exponential(work, lists, k, n)
    return parts[found, :k, : k + n]
