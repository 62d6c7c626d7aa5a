# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Numbers about a linearization that take too long for each of them: made now and then."""

from typing import NamedTuple

import numpy as np

from geolin_ros.dynamics.functions import mass_matrix
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.typing import Array


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
    """Analyses snapshots beside the stream.

    Parameters
    ----------
    model, settings
        Of the stream that the snapshots are from.
    """

    def __init__(self, model: TreeModel, settings: StreamSettings) -> None:
        self._model, self._discrete = model, settings.form == 'discrete'

    def analyse(self, snapshot: Snapshot) -> Analysis:
        """Return eigenvalues of A, and the condition number of the mass matrix."""
        eigenvalues = np.linalg.eigvals(snapshot.A)
        return Analysis(
            snapshot.stamp,
            float('nan') if self._discrete else float(eigenvalues.real.max()),
            float(np.abs(eigenvalues).max()),
            float(np.linalg.cond(mass_matrix(self._model, snapshot.state))),
        )
