# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a linearization is about, and what follows from that alone: rank and geometry."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from geolin_ros.kernels.status import OK, REDUNDANT
from geolin_ros.linearization.contacts.constraints import Geometry
from geolin_ros.linearization.contacts.redundancy import Redundancy
from geolin_ros.linearization.workspace import Workspace
from geolin_ros.model.state import State
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array

Reference = Literal['moving', 'frozen']
"""What errors are taken to: the motion through a state, or the state itself."""


def frozen(A: Array) -> Array:
    """Return A (..., 2 m, 2 m) for errors that are taken to the state itself.

    First order of zdot = J_r^-1(z) f(g exp z): of -(v x), of the base and of group joints, half is
    left.
    """
    found, m = A.copy(), A.shape[-1] // 2
    found[..., :m, :m] *= 0.5
    return found


class About:
    """State, efforts, wrenches and contacts of one linearization.

    Rank and geometry are functions of them. They are read from the scratch of the workspace as
    long as its ``last`` is ``x``, the `State.data`, and computed again later. Arrays are not
    copied.
    """

    __slots__ = '_geometry', '_later', '_redundancy', '_tau', '_wrenches', '_x', 'workspace'

    def __init__(
        self,
        workspace: Workspace,
        x: Array,
        tau: Array,
        wrenches: Sequence[Wrench] = (),
        redundancy: Redundancy | None = None,
    ) -> None:
        self.workspace, self._x, self._tau, self._wrenches = workspace, x, tau, tuple(wrenches)
        self._redundancy = redundancy
        self._geometry: Geometry | None = None
        self._later: Workspace | None = None

    @property
    def state(self) -> State:
        """The state, a copy."""
        return self.workspace.model.neutral_state().over(self._x.copy())

    @property
    def tau(self) -> Array:
        """The joint efforts [N m or N], a copy."""
        return self._tau.copy()

    def rate(self, nu_dot: Array) -> Array:
        """Return [v; r; nu_dot] (2 m,), of a fixed base [r; nu_dot]."""
        return np.concatenate((self._x[self._x.size - nu_dot.size :], nu_dot))

    @property
    def redundancy(self) -> Redundancy:
        """How the rank was decided."""
        if self._redundancy is None:
            self._redundancy = self._there().judge(self.state, self._tau)[1]
        return self._redundancy

    @property
    def rank(self) -> int:
        """Number of independent rows."""
        if self._redundancy is not None:
            return self._redundancy.rank
        if not self.workspace.constraints:
            return 0
        return self._there().rank(self.state, self._tau)

    @property
    def geometry(self) -> Geometry:
        """J and its change, and the mass matrix."""
        from geolin_ros.dynamics.functions import mass_matrix  # few ask for it

        if self._geometry is not None:
            return self._geometry
        state = self.state
        there = self._there() if self.workspace.leaves_rows(state) else self.workspace
        found = Geometry(*there.rows_at(state), mass_matrix(there.model, state))
        if there.constraints:
            self._geometry = found
        return found

    def renew(self, wrenches: tuple[Wrench, ...] = ()) -> None:
        """Be about others: ``x`` and ``tau`` have been written to, and the scratch from them."""
        self._wrenches, self._redundancy, self._geometry, self._later = wrenches, None, None, None
        self.workspace.last = self._x

    def _there(self) -> Workspace:
        """Return a workspace that was here last."""
        here, there = self.workspace, self._later
        if here.last is self._x:
            return here
        if there is None:
            there = Workspace(here.model, here.constraints, here.length)
            status = there.bind(self._x, self._tau, there.spare.out, self._wrenches)()
            if status not in (OK, REDUNDANT):
                raise there.failure(status, self.state, self._tau)
            self._later = there
        return there
