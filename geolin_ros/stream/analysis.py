# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Numbers about a linearization that take too long for each of them: made now and then."""

from typing import NamedTuple

import numpy as np

from geolin_ros.linearization import Linearizer
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.settings import StreamSettings
from geolin_ros.typing import Array
from geolin_ros.wrenches import Wrench


class Snapshot(NamedTuple):
    """What is analysed: an answer's stamp [ns], A and state, with arrays of their own."""

    stamp: int
    A: Array
    state: State


class Analysis(NamedTuple):
    """What was found; see geolin_msgs/LinearizationSummary."""

    stamp: int
    largest_real_part: float
    spectral_radius: float
    mass_matrix_condition: float


class Analyst:
    """Analyses snapshots with a linearizer of its own, beside the stream.

    Parameters
    ----------
    model, settings
        Of the stream that the snapshots are from.
    """

    def __init__(self, model: TreeModel, settings: StreamSettings) -> None:
        self._linearizer = Linearizer(model.with_gravity((0.0, 0.0, 0.0)))
        self._discrete = settings.form == 'discrete'

    def analyse(self, snapshot: Snapshot) -> Analysis:
        """Return eigenvalues of A, and the condition number of the mass matrix."""
        eigenvalues = np.linalg.eigvals(snapshot.A)
        return Analysis(
            snapshot.stamp,
            float('nan') if self._discrete else float(eigenvalues.real.max()),
            float(np.abs(eigenvalues).max()),
            float(np.linalg.cond(self._inverse_mass_matrix(snapshot.state))),
        )

    def _inverse_mass_matrix(self, state: State) -> Array:
        """Return M^-1 (m, m): what unit forces add to the accelerations at rest."""
        model, accelerations = self._linearizer.model, self._linearizer.forward_dynamics
        at_rest = State(state.H, state.s, np.zeros(6), np.zeros(state.r.size))
        no_effort = np.zeros(model.n)
        columns = [accelerations(at_rest, effort) for effort in np.eye(model.n)]
        if model.base == 'floating':
            wrenches = [Wrench(model.base_link, unit[:3], unit[3:]) for unit in np.eye(6)]
            columns = [accelerations(at_rest, no_effort, [w]) for w in wrenches] + columns
        return np.array(columns).T - accelerations(at_rest, no_effort)[:, np.newaxis]
