# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a linearization is about, and what follows from that alone: rank and geometry."""

from collections.abc import Sequence
from typing import Any

from geolin_ros.kernels.status import OK, REDUNDANT
from geolin_ros.linearization.contacts.constraints import Constraint
from geolin_ros.linearization.contacts.geometry import Geometry, geometry_of
from geolin_ros.linearization.contacts.redundancy import Redundancy
from geolin_ros.linearization.workspace import Workspace
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array


class About:
    """State, efforts, wrenches and contacts of one linearization.

    Rank and geometry are functions of them. They are read from the scratch of the engine while it
    is still there, and computed again later.

    Parameters
    ----------
    constraints
        Contacts and loops in force.
    length
        See `Linearizer`.
    x : (22 + n_s + n,)
        `State.data`, kept as it is.
    tau : (n,)
        Joint efforts [N m or N], kept as they are.
    wrenches
        On links, besides those of contacts.
    workspace
        Whose scratch is that of this as long as its ``last`` is ``x``.
    redundancy, geometry
        Where they are known.
    """

    __slots__ = ('_geometry', '_later', '_redundancy', '_tau', '_workspace', '_x',
                 'constraints', 'length', 'model', 'wrenches')  # fmt: skip

    def __init__(
        self,
        model: TreeModel,
        constraints: Sequence[Constraint],
        length: float,
        x: Array,
        tau: Array,
        wrenches: Sequence[Wrench] = (),
        *,
        workspace: Workspace | None = None,
        redundancy: Redundancy | None = None,
        geometry: Geometry | None = None,
    ) -> None:
        self.model, self.constraints, self.length = model, tuple(constraints), length
        self._x, self._tau, self.wrenches = x, tau, tuple(wrenches)
        self._redundancy, self._geometry = redundancy, geometry
        self._workspace = workspace
        self._later: Workspace | None = None

    @property
    def state(self) -> State:
        """The state, a copy."""
        return self.model.neutral_state().over(self._x.copy())

    @property
    def tau(self) -> Array:
        """The joint efforts [N m or N], a copy."""
        return self._tau.copy()

    def velocity(self) -> Array:
        """Return [v; r] (m,), of a fixed base [r]."""
        return self._x[self._x.size - self.model.m :].copy()

    @property
    def redundancy(self) -> Redundancy:
        """How the rank was decided."""
        if self._redundancy is None:
            self._redundancy = self._at().judge(self.state, self._tau)[1]
        return self._redundancy

    @property
    def rank(self) -> int:
        """Number of independent rows."""
        if not self.constraints:
            return 0
        if self._redundancy is None:
            return self._at().rank(self.state, self._tau)
        return self._redundancy.rank

    @property
    def geometry(self) -> Geometry:
        """J and its change, and the mass matrix."""
        if self._geometry is not None:
            return self._geometry
        state, here = self.state, self._scratch()
        if not self.constraints:
            return geometry_of(self.model, (), state)
        rows = None if here is None else here.rows_at(state)
        self._geometry = geometry_of(self.model, self.constraints, state, rows)
        return self._geometry

    def renew(self, wrenches: tuple[Wrench, ...] = ()) -> None:
        """Be about others: ``x`` and ``tau`` have been written to, and the scratch from them."""
        self.wrenches, self._redundancy, self._geometry, self._later = wrenches, None, None, None
        self._workspace.last = self._x  # type: ignore[union-attr]

    def copy(self, redundancy: Redundancy) -> 'About':
        """Return the same with memory of its own and a known rank."""
        own = self._x.copy(), self._tau.copy(), self.wrenches
        return About(self.model, self.constraints, self.length, *own, redundancy=redundancy)

    def _scratch(self) -> Workspace | None:
        """Return a workspace that was here last, if there is one."""
        here = self._workspace
        return self._later if here is None or here.last is not self._x else here

    def _at(self) -> Workspace:
        """Return a workspace that was here last."""
        here = self._scratch()
        if here is None:
            here = Workspace(self.model, self.constraints, self.length)
            status = here.bind(self._x, self._tau, here.spare.out, self.wrenches)()
            if status not in (OK, REDUNDANT):
                raise here.failure(status, self.state, self._tau)
            self._later = here
        return here

    def __getstate__(self) -> dict[str, Any]:
        scratch = '_workspace', '_later'
        return {name: getattr(self, name) for name in self.__slots__ if name not in scratch}

    def __setstate__(self, fields: dict[str, Any]) -> None:
        """Take the fields; the engine's scratch is of another process."""
        self._workspace = self._later = None
        for name, value in fields.items():
            setattr(self, name, value)
