# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Numbers about a linearization that take too long for each of them: made now and then."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.typing import Array

Complex = NDArray[np.complex128]
STILL = 1e-3
"""Modes slower than this [1/s] are the robot carried to another place, no motion."""


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


def analyse(model: TreeModel, settings: StreamSettings, snapshot: Snapshot) -> Analysis:
    """Return eigenvalues of A, and the condition number of the mass matrix."""
    from geolin_ros.dynamics.functions import mass_matrix  # few ask for it

    eigenvalues = np.linalg.eigvals(snapshot.A)
    return Analysis(
        snapshot.stamp,
        float('nan') if settings.form == 'discrete' else float(eigenvalues.real.max()),
        float(np.abs(eigenvalues).max()),
        float(np.linalg.cond(mass_matrix(model, snapshot.state))),
    )


def continuous_rates(eigenvalues: Complex, dt: float) -> Complex:
    """Return eigenvalues of steps of ``dt`` [s] as rates log(z) / dt [1/s]; 0: as they are."""
    if not dt:
        return eigenvalues
    with np.errstate(divide='ignore'):
        return np.asarray(np.log(np.asarray(eigenvalues, dtype=np.complex128)) / dt)


def leading_modes(A: Array, dt: float) -> list[tuple[complex, Complex]]:
    """Return rate [1/s] and eigenvector of each mode that moves, one of a conjugate pair.

    The most unstable ones come first, then the slowest of the others; ``dt`` as in
    `continuous_rates`.
    """
    found, vectors = np.linalg.eig(A)
    values = continuous_rates(found.astype(np.complex128), dt)
    moving = [
        k for k, value in enumerate(values) if STILL < abs(value) < np.inf and value.imag >= 0.0
    ]
    moving.sort(key=lambda k: (-max(float(values[k].real), STILL), abs(values[k])))
    return [(complex(values[k]), vectors[:, k]) for k in moving]
