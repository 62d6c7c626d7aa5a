# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The engine's dynamics of one robot about one state, with memory of its own."""

from collections.abc import Callable
from functools import cached_property
from sys import getrefcount
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import failure, state_data, vector
from geolin_ros.kernels._jit import machine_code
from geolin_ros.kernels.engine import fast_dynamics as kernels
from geolin_ros.kernels.packing import layout
from geolin_ros.kernels.status import OK
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array


class Engine:
    """A robot of independent single-axis joints for the engine, with scratch (one per thread).

    A result stays: its memory is used again once nobody refers to it or to a view of it. Arguments
    and errors are those of `dynamics.functions`.
    """

    def __init__(self, n: int, m: int, packed: layout.Packed) -> None:
        self._ints, self._floats = packed.ints, packed.floats
        self._workspace = layout.make_workspace(packed)
        self._n, self._size = n, 22 + 2 * n
        self._tau, self._nu_dot = np.zeros(n), np.zeros(m)
        self._solution, self._forces = np.zeros(m), np.zeros(m)
        self._M = M = np.zeros((m, m))
        self._unused = getrefcount(M)

    @cached_property
    def _inverse(self) -> Callable[..., int]:
        return self._entry(kernels.inverse_dynamics, self._nu_dot, self._workspace, self._forces)

    @cached_property
    def _forward(self) -> Callable[..., int]:
        return self._entry(kernels.forward_dynamics, self._tau, self._workspace, self._solution)

    @cached_property
    def _composite(self) -> Callable[..., int]:
        return self._entry(kernels.mass_matrix, self._workspace, self._M)

    def _entry(self, kernel: Any, *others: Array) -> Callable[..., int]:
        return machine_code(kernel, (self._ints, self._floats, np.zeros(self._size), *others))

    def inverse_dynamics(self, model: TreeModel, state: State, acceleration: ArrayLike) -> Array:
        """Return the forces (m,) that produce an acceleration (m,)."""
        x, given, out = self._data(model, state), self._nu_dot, self._forces
        if getrefcount(out) > self._unused:
            self._forces = out = np.zeros_like(out)
        take(model, 'acceleration', acceleration, given)
        status = self._inverse(self._ints, self._floats, x, given, self._workspace, out)
        if status != OK:
            raise failure(model, status, state, {'acceleration': given})
        return out

    def forward_dynamics(self, model: TreeModel, state: State, tau: ArrayLike) -> Array:
        """Return the acceleration (m,) that joint efforts (n,) produce."""
        x, given, out = self._data(model, state), self._tau, self._solution
        if getrefcount(out) > self._unused:
            self._solution = out = np.zeros_like(out)
        take(model, 'tau', tau, given)
        status = self._forward(self._ints, self._floats, x, given, self._workspace, out)
        if status != OK:
            raise failure(model, status, state, {'tau': given})
        return out

    def mass_matrix(self, model: TreeModel, state: State) -> Array:
        """Return M (m, m)."""
        x, M = self._data(model, state), self._M
        if getrefcount(M) > self._unused:
            self._M = M = np.zeros_like(M)
        status = self._composite(self._ints, self._floats, x, self._workspace, M)
        if status != OK:
            raise failure(model, status, state, {})
        return M

    def _data(self, model: TreeModel, state: State) -> Array:
        """Return the numbers of a state, whose sizes must be the robot's."""
        try:
            x = state.data
            if len(x) == self._size and len(state.r) == self._n:
                return x
        except AttributeError:
            pass
        return state_data(model, state)


def take(model: TreeModel, name: str, values: ArrayLike, into: Array) -> None:
    """Copy values, which must be as many."""
    try:
        if len(values) == len(into):  # type: ignore[arg-type]
            into[...] = values
            return
    except (TypeError, ValueError):
        pass
    into[...] = vector(name, values, len(into), model.name)
