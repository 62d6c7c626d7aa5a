# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Linearization where rows of contacts depend on each other."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.kernels.packing import contact_layout
from geolin_ros.kernels.status import OK
from geolin_ros.linearization.contacts.geometry import RowsLeft
from geolin_ros.linearization.contacts.redundancy import Redundancy
from geolin_ros.linearization.workspace import Workspace
from geolin_ros.model.state import State
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array


class Solved(NamedTuple):
    """Results, in arrays of their own."""

    A: Array
    B: Array
    nu_dot: Array
    wrenches: Array
    wrench_by_state: Array
    wrench_by_tau: Array
    redundancy: Redundancy


class RankSolver:
    """Linearizes with as many independent combinations of the rows as their rank."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._independent: dict[int, RowsLeft] = {}

    def __call__(self, state: State, tau: Array, wrenches: Sequence[Wrench]) -> Solved:
        """Return the linearization where the engine has just found dependent rows.

        The forces are those of least norm. Where they lie in the range of J moves with the state:
        with an orthonormal basis N of null(J') and J w = lam they change by N N' d(J w) more.
        """
        workspace = self._workspace
        decision, redundancy = workspace.judge(state, tau)
        rank, weights = decision.kept.shape[1], workspace.weights
        frames = workspace.differences
        combination = (decision.kept.T * weights) @ frames
        if rank not in self._independent:
            self._independent[rank] = workspace.combined(combination)
        left = self._independent[rank]
        contact_layout.combine(left.contacts, combination, frames.sum(axis=0) > 0.0)
        spare = workspace.spare
        status = workspace.bind(state.data, tau, spare.out, wrenches, left.contacts)()
        if status != OK:
            raise workspace.failure(status, state, tau)
        by_state, N = spare.by_state.copy(), decision.dropped
        if N.size:
            J, _ = workspace.rows_at(state.at_rest(), left)
            w = np.linalg.lstsq(weights[:, np.newaxis] * J, spare.forces / weights, rcond=1e-9)[0]
            as_if = state.copy()
            as_if.data[-workspace.model.m :] = w
            change = weights[:, np.newaxis] * workspace.rows_at(as_if, left)[1]
            by_state += weights[:, np.newaxis] * (N @ (N.T @ change))
        return Solved(
            spare.A.copy(),
            spare.B.copy(),
            spare.nu_dot.copy(),
            spare.forces.copy(),
            by_state,
            spare.by_effort.copy(),
            redundancy,
        )
