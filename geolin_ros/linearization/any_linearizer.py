# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What stands on a linearizer asks of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from numpy.typing import ArrayLike

from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.linearization.result import Linearization
from geolin_ros.linearization.workspace import Workspace
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench

if TYPE_CHECKING:
    from geolin_ros.linearization.discretization import Discretization, Method


class AnyLinearizer(Protocol):
    """A `Linearizer`."""

    model: TreeModel

    @property
    def contacts(self) -> tuple[Closure, ...]:
        """All contacts."""

    @property
    def workspace(self) -> Workspace:
        """Robot and contacts as the engine has them."""

    def __call__(
        self,
        state: State,
        tau: ArrayLike,
        *,
        contacts: Sequence[Closure | str] | None = None,
        wrenches: Sequence[Wrench] = (),
    ) -> Linearization:
        """Return A and B."""

    def discretize(
        self,
        state: State,
        tau: ArrayLike,
        dt: float,
        *,
        method: 'Method' = 'midpoint',
        contacts: Sequence[Closure | str] | None = None,
        next_reference: State | None = None,
    ) -> 'Discretization':
        """Return a step."""
