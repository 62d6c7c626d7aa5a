# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Modes as motions of the robot's skeleton, and pictures of their poles."""

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
_LINES = 40  # of words about what is out of reach


def joined_links(model: TreeModel, description: Description) -> list[tuple[int, int]]:
    """Return which links joints connect, by their place in ``model.frames``."""
    number = {name: k for k, name in enumerate(model.frames)}
    joints = (joint for joint in description.joints if joint.child in number)
    return [(number[joint.parent], number[joint.child]) for joint in joints]


def origins(model: TreeModel, state: State) -> Array:
    """Return the origins (links, 3) of ``model.frames`` in the world [m]."""
    H = Kinematics(model, state).H
    return np.array([(H[f.body] @ f.placement)[:3, 3] for f in model.frames.values()])


def slow_or_unstable(model: TreeModel, state: State, A: Array, dt: float) -> list[dict[str, Any]]:
    """Return the most unstable modes of A (2 m, 2 m), then the slowest, one of each pair.

    Each has ``real`` and ``imag`` of its eigenvalue [1/s], ``kind``, unstable or slow,
    ``strongest`` positions, and ``frames`` (PHASES, links, 3) [m]: `origins` over one period,
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
                'frames': np.array([origins(model, at) - state.H[:3, 3] for at in moved]),
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


def draw_poles(axes: Any, poles: Any) -> None:
    """Draw poles [1/s] in the complex plane, linear within 1/s and logarithmic beyond."""
    reach = 1.6 * np.abs(poles).max(initial=2.0)
    axes.axvspan(0.0, reach, color='#fbeeec', zorder=0)
    axes.axhline(0.0, color='#7b8794', linewidth=0.8)
    axes.axvline(0.0, color='#7b8794', linewidth=0.8)
    axes.plot(poles.real, poles.imag, 'o', color='#b23a2e', fillstyle='none')
    axes.set_xscale('symlog', linthresh=1.0)
    axes.set_yscale('symlog', linthresh=1.0)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), box_aspect=1.0)
    axes.set(xlabel='real part [1/s]', ylabel='imaginary part [1/s]')


def save_picture(report: ModeReport, path: str | Path) -> None:
    """Draw the poles in the complex plane, and words for what is out of reach, into a file.

    Its suffix says which format, such as ``.png`` or ``.svg``.
    """
    figure = figures.Figure(figsize=(7.0, 7.0), layout='constrained')
    figure.suptitle(report.text().splitlines()[0], fontsize=9)
    axes, hidden = figure.subplots(), report.uncontrollable_eigenvalues
    poles = np.array([*(mode.eigenvalue for mode in report.modes), *hidden])
    draw_poles(axes, np.concatenate((poles, poles.conj())))
    axes.plot(hidden.real, hidden.imag, 'x', color='#222222')
    if report.uncontrollable:
        text = '\n'.join(('x: out of reach', *report.uncontrollable[:_LINES]))
        axes.text(0.02, 0.02, text, transform=axes.transAxes, fontsize=6, va='bottom')
    figure.savefig(path, dpi=120)
