# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The engine's dynamics of one robot with memory of its own; what does not fit is None."""

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.kernels.engine import fast_dynamics as kernels
from geolin_ros.kernels.entry import machine_code
from geolin_ros.kernels.packing import layout
from geolin_ros.kernels.status import OK
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array


class Workspace:
    """A robot of single-axis joints as arrays for the engine, with scratch (one per thread).

    Results are views of the scratch, valid until the next call of the same function; None where
    the arguments are not those of an answer, for the general functions to say why.
    """

    def __init__(self, model: TreeModel, packed: layout.Packed) -> None:
        self._ints, self._floats = packed.ints, packed.floats
        self._workspace = layout.make_workspace(packed)
        self._n, self._m, self._size = model.n, model.m, 22 + 2 * model.n
        self._tau, self._nu_dot = np.zeros(model.n), np.zeros(model.m)
        self._accelerations, self._forces = np.zeros(model.m), np.zeros(model.m)
        self._M = np.zeros((model.m, model.m))

    @cached_property
    def _inverse(self) -> Callable[..., int]:
        return self._entry(kernels.inverse_dynamics, self._nu_dot, self._workspace, self._forces)

    @cached_property
    def _forward(self) -> Callable[..., int]:
        return self._entry(
            kernels.forward_dynamics, self._tau, self._workspace, self._accelerations
        )

    @cached_property
    def _composite(self) -> Callable[..., int]:
        return self._entry(kernels.mass_matrix, self._workspace, self._M)

    def _entry(self, kernel: Any, *others: Array) -> Callable[..., int]:
        return machine_code(kernel, (self._ints, self._floats, np.zeros(self._size), *others))

    def inverse_dynamics(self, state: State, acceleration: ArrayLike) -> Array | None:
        """Return the forces (m,) that produce an acceleration (m,)."""
        given, x = self._nu_dot, state.data
        try:
            if len(acceleration) != self._m or len(x) != self._size or len(state.r) != self._n:  # type: ignore[arg-type]
                return None
            given[...] = acceleration
        except (TypeError, ValueError):
            return None
        out = self._forces
        status = self._inverse(self._ints, self._floats, x, given, self._workspace, out)
        return out if status == OK else None

    def forward_dynamics(self, state: State, tau: ArrayLike) -> Array | None:
        """Return the acceleration (m,) that joint efforts (n,) produce."""
        given, x = self._tau, state.data
        try:
            if len(tau) != self._n or len(x) != self._size or len(state.r) != self._n:  # type: ignore[arg-type]
                return None
            given[...] = tau
        except (TypeError, ValueError):
            return None
        out = self._accelerations
        status = self._forward(self._ints, self._floats, x, given, self._workspace, out)
        return out if status == OK else None

    def mass_matrix(self, state: State) -> Array | None:
        """Return M (m, m)."""
        x, M = state.data, self._M
        if len(x) != self._size or len(state.r) != self._n:
            return None
        status = self._composite(self._ints, self._floats, x, self._workspace, M)
        return M if status == OK else None


class _Robots(threading.local):
    """What was prepared of each robot, a thread; the last one at hand.

    Values must not know their robot, which would never be let go.
    """

    def __init__(self) -> None:
        self.of: WeakKeyDictionary[TreeModel, Workspace | None] = WeakKeyDictionary()
        self.last: tuple[TreeModel | None, Workspace | None] = None, None


_robots = _Robots()


def workspace_of(model: TreeModel) -> Workspace | None:
    """Return this thread's workspace of a robot, None where it is not of single-axis joints."""
    robot, last = _robots.last
    return last if robot is model else _prepared(model)


def _prepared(model: TreeModel) -> Workspace | None:
    if model not in _robots.of:
        _robots.of[model] = prepare(model)
    _robots.last = model, _robots.of[model]
    return _robots.last[1]


def prepare(model: TreeModel) -> Workspace | None:
    """Return a workspace of a robot, None where it is not of independent single-axis joints."""
    packed = model.packed
    return None if packed is None or not packed.is_plain else Workspace(model, packed)
