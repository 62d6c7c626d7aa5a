# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Modes of a linearization as motions of the robot's skeleton."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.description import Description
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.model.labels import state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array

PHASES = 24
AMPLITUDE = 0.35
"""Largest entry of the displacement that is shown [rad or m]."""
STILL = 1e-3
"""Modes slower than this [1/s] are the robot carried to another place, no motion."""


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
    """A rate of A [1/s], see `rates`, and the positions of the skeleton over one period."""

    eigenvalue: complex
    kind: str
    frames: Array
    """(PHASES, links, 3) [m], relative to the base at rest"""
    strongest: list[str]


def rates(eigenvalues: Any, settings: Mapping[str, Any]) -> Any:
    """Return what eigenvalues amount to in continuous time [1/s]: log(z) / dt if A is discrete."""
    if settings['form'] == 'continuous':
        return eigenvalues
    with np.errstate(divide='ignore'):
        return np.log(np.asarray(eigenvalues, dtype=complex)) / settings['dt']


def slow_or_unstable(
    model: TreeModel,
    skeleton: Skeleton,
    state: State,
    A: Array,
    settings: Mapping[str, Any],
    most: int = 4,
) -> list[Mode]:
    """Return the most unstable modes, then the slowest others, one of each conjugate pair.

    Parameters
    ----------
    model, skeleton, state
        The robot about which A (2m, 2m) is.
    A, settings
        A and the form, and step if discrete [s], that it has.
    most
        Most modes.
    """
    columns = [label.name for label in state_labels(model)]
    found, vectors = np.linalg.eig(A)
    eigenvalues = rates(found, settings)
    moving = [
        k
        for k, value in enumerate(eigenvalues)
        if STILL < abs(value) < np.inf and value.imag >= 0.0
    ]
    unstable = sorted(
        (k for k in moving if eigenvalues[k].real > STILL), key=lambda k: -eigenvalues[k].real
    )
    slow = sorted((k for k in moving if k not in unstable), key=lambda k: abs(eigenvalues[k]))
    return [
        _mode(model, skeleton, state, complex(eigenvalues[k]), vectors[:, k], columns)
        for k in (unstable + slow)[:most]
    ]


def _mode(
    model: TreeModel,
    skeleton: Skeleton,
    state: State,
    eigenvalue: complex,
    vector: Any,
    columns: list[str],
) -> Mode:
    m, n = model.m, model.n
    displacement = vector[:m]
    strongest = np.argsort(-np.abs(displacement))[:3]
    displacement = displacement * (AMPLITUDE / np.abs(displacement[strongest[0]]))
    # starts where the strongest entry is largest: a real mode then swings through rest
    turn = np.conj(displacement[strongest[0]]) / np.abs(displacement[strongest[0]])
    frames = []
    for phase in 2.0 * np.pi * np.arange(PHASES) / PHASES:
        shown = (displacement * turn * np.exp(1j * phase)).real
        z = np.zeros(12 + 2 * n)
        z[6 - (m - n) : 6 + n] = shown
        frames.append(skeleton.points(state.retract(z)) - state.H[:3, 3])
    kind = 'unstable' if eigenvalue.real > STILL else 'slow'
    return Mode(eigenvalue, kind, np.array(frames), [columns[k] for k in strongest])
