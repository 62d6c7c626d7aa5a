# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Modes as motions of the robot's skeleton, and as a picture of their poles."""

from pathlib import Path
from typing import Any

import numpy as np

from geolin_ros.control.mode_report import ModeReport
from geolin_ros.description import Description
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.model.labels import state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.stream.analysis import STILL, leading_modes
from geolin_ros.typing import Array

figures = optional('matplotlib.figure', extra='plot')


PHASES = 24
AMPLITUDE = 0.35  # largest entry of the displacement that is shown [rad or m]
MOST = 4  # modes that are shown


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


def slow_or_unstable(
    model: TreeModel, skeleton: Skeleton, state: State, A: Array, dt: float
) -> list[dict[str, Any]]:
    """Return the most unstable modes of A (2 m, 2 m), then the slowest, one of each pair.

    Each has ``real`` and ``imag`` of its eigenvalue [1/s], ``kind``, unstable or slow,
    ``strongest`` positions, and ``frames`` (PHASES, links, 3) [m]: the skeleton over one period,
    relative to the base at rest. ``dt`` is the step if A is discrete [s], else 0.
    """
    columns = [label.name for label in state_labels(model)]
    phases = 2.0 * np.pi * np.arange(PHASES) / PHASES
    found = []
    for eigenvalue, vector in leading_modes(A, dt)[:MOST]:
        moved = (displaced(model, state, vector, AMPLITUDE, phase) for phase in phases)
        found.append(
            {
                'real': eigenvalue.real,
                'imag': eigenvalue.imag,
                'kind': 'unstable' if eigenvalue.real > STILL else 'slow',
                'strongest': [columns[k] for k in np.argsort(-np.abs(vector[: model.m]))[:3]],
                'frames': np.array([skeleton.points(at) - state.H[:3, 3] for at in moved]),
            }
        )
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


_COLOURS = {'grows': '#c44e52', 'decays': '#4c72b0', 'neither grows nor decays': '#8c8c8c'}
_LINES = 40


def save_picture(report: ModeReport, path: str | Path) -> None:
    """Draw the poles in the complex plane and their time constants into a file.

    Its suffix says which format, such as ``.png`` or ``.svg``.
    """
    figure = figures.Figure(figsize=(11.0, 5.5), layout='constrained')
    plane, times = figure.subplots(1, 2)
    figure.suptitle(report.text().splitlines()[0], fontsize=9)
    for trend, colour in _COLOURS.items():
        values = np.array([mode.eigenvalue for mode in report.modes if mode.trend == trend])
        values = np.concatenate((values, values.conj()))
        plane.plot(values.real, values.imag, 'x', color=colour, label=trend)
    hidden, ring = report.uncontrollable_eigenvalues, {'mfc': 'none', 'ms': 11, 'color': '#222222'}
    plane.plot(hidden.real, hidden.imag, 'o', label='out of reach', **ring)
    plane.axvline(0.0, color='0.8', lw=0.8, zorder=0)
    plane.set(xlabel='real part [1/s]', ylabel='imaginary part [1/s]', title='poles')
    plane.set_xscale('symlog', linthresh=1.0)
    plane.set_yscale('symlog', linthresh=1.0)
    poles = np.array([*(mode.eigenvalue for mode in report.modes), *hidden, 0.0])
    height = 2.0 * max(1.0, np.abs(poles.imag).max())
    plane.set_ylim(-height, height)
    plane.set_xlim(2.0 * min(-1.0, poles.real.min()), 2.0 * max(1.0, poles.real.max()))
    figure.legend(loc='outside lower center', ncols=4, fontsize=8)
    if report.uncontrollable:
        text = '\n'.join(('out of reach:', *report.uncontrollable[:_LINES]))
        plane.text(0.02, 0.02, text, transform=plane.transAxes, fontsize=6, va='bottom')
    # a bar a mode, the longest time constants first; endless ones as wide as the axes
    drawn = report.modes[:_LINES]
    lasting = [mode.time_constant for mode in drawn if mode.eigenvalue.real]
    endless = 3.0 * max(lasting, default=1.0)
    for row, mode in enumerate(drawn):
        width, hatch = min(mode.time_constant, endless), '' if mode.eigenvalue.real else '//'
        times.barh(row, width, color=_COLOURS[mode.trend], hatch=hatch, edgecolor='white')
    times.set_yticks(range(len(drawn)), [mode.words for mode in drawn], fontsize=5)
    times.invert_yaxis()
    some = '' if len(drawn) == len(report.modes) else f', {len(drawn)} of {len(report.modes)}'
    times.set(xlabel='time constant [s]; hatched: for ever', title=f'what moves most{some}')
    if drawn:
        times.set_xscale('log')
        times.set_xlim(0.5 * min(lasting, default=1.0), endless)
    figure.savefig(path, dpi=120)
