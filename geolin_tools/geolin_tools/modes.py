# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Modes of a linearization as motions of the robot's skeleton."""

from typing import Any, NamedTuple

import numpy as np

from geolin_ros.description import Description
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.model.labels import state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.analysis import STILL, leading_modes
from geolin_ros.typing import Array

PHASES = 24
AMPLITUDE = 0.35
"""Largest entry of the displacement that is shown [rad or m]."""
MOST = 4
"""Modes that are shown."""


class Skeleton:
    """Origins of all links, and which of them joints connect."""

    def __init__(self, model: TreeModel, description: Description) -> None:
        self._model = model
        self.names = list(model.frames)
        number = {name: k for k, name in enumerate(self.names)}
        joints = [joint for joint in description.joints if joint.child in number]
        self.edges = [(number[joint.parent], number[joint.child]) for joint in joints]

    def points(self, state: State) -> Array:
        """Return the origins (links, 3) in the world."""
        H = Kinematics(self._model, state).H
        frames = self._model.frames.values()
        return np.array([(H[f.body] @ f.placement)[:3, 3] for f in frames])


class Mode(NamedTuple):
    """A rate [1/s] of a mode, and the positions of the skeleton over one period."""

    eigenvalue: complex
    kind: str
    frames: Array
    """(PHASES, links, 3) [m], relative to the base at rest"""
    strongest: list[str]


def slow_or_unstable(
    model: TreeModel, skeleton: Skeleton, state: State, A: Array, dt: float
) -> list[Mode]:
    """Return the most unstable modes of A (2 m, 2 m), then the slowest, one of each pair.

    ``dt`` is the step if A is discrete [s], else 0.
    """
    columns = [label.name for label in state_labels(model)]
    phases = 2.0 * np.pi * np.arange(PHASES) / PHASES
    found = []
    for eigenvalue, vector in leading_modes(A, dt)[:MOST]:
        moved = (displaced(model, state, vector, AMPLITUDE, phase) for phase in phases)
        frames = np.array([skeleton.points(there) - state.H[:3, 3] for there in moved])
        strongest = [columns[k] for k in np.argsort(-np.abs(vector[: model.m]))[:3]]
        kind = 'unstable' if eigenvalue.real > STILL else 'slow'
        found.append(Mode(eigenvalue, kind, frames, strongest))
    return found


def displaced(model: TreeModel, state: State, shape: Any, amplitude: float, phase: float) -> State:
    """Return a state moved along a mode, by ``amplitude`` [rad or m] of its largest position.

    ``shape`` (2 m,) is the eigenvector, turned so that this position is real: it is largest at
    phase 0 [rad].
    """
    position = shape[: model.m]
    largest = position[np.argmax(np.abs(position))]
    step = np.zeros(2 * model.m)
    if largest != 0.0:
        step[: model.m] = (position / largest * np.exp(1j * phase)).real * amplitude
    return state.retract(step)
