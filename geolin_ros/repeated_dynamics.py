# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The dynamics of one robot, again and again, at the cost of little more than the kernels."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from geolin_ros import dynamics
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.packed_dynamics import prepare
from geolin_ros.typing import Array
from geolin_ros.wrenches import Wrench


class Dynamics:
    """`inverse_dynamics`, `forward_dynamics` and `mass_matrix` in a workspace (one per thread).

    Arguments, units and errors are those of the functions.

    Parameters
    ----------
    model
        The robot.

    Examples
    --------
    >>> import numpy as np
    >>> from geolin_ros import Dynamics, TreeModel, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> Dynamics(model).mass_matrix(model.neutral_state()).shape
    (18, 18)
    """

    def __init__(self, model: TreeModel) -> None:
        self.model = model
        fast = prepare(model)
        self._inverse, self._forward = fast.inverse_dynamics, fast.forward_dynamics
        self._mass_matrix = fast.mass_matrix

    def inverse_dynamics(
        self, state: State, acceleration: ArrayLike, wrenches: Sequence[Wrench] = ()
    ) -> Array:
        """Return the forces (m,) that produce an acceleration (m,), valid until the next call."""
        found = None if wrenches else self._inverse(state, acceleration)
        if found is not None:
            return found
        return dynamics.inverse_dynamics(self.model, state, acceleration, wrenches)

    def forward_dynamics(
        self, state: State, tau: ArrayLike, wrenches: Sequence[Wrench] = ()
    ) -> Array:
        """Return the acceleration (m,) that efforts (n,) produce, valid until the next call."""
        found = None if wrenches else self._forward(state, tau)
        if found is not None:
            return found
        return dynamics.forward_dynamics(self.model, state, tau, wrenches)

    def mass_matrix(self, state: State) -> Array:
        """Return M (m, m), valid until the next call."""
        found = self._mass_matrix(state)
        return dynamics.mass_matrix(self.model, state) if found is None else found
