# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What an analysis of modes has found, in words such as "base yaw rate", and for JSON."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolin_ros.dynamics.momentum import centroidal
from geolin_ros.model.labels import entry_words, state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array

linalg = optional('scipy.linalg', extra='control')

_STEP = 1e-5  # of differences [m, rad, m/s, rad/s]
_SAME = 1e-6  # sine of the angle between a direction and what its words stand for
_SMALL = 0.02  # shares that a mixture leaves out
_VERDICTS = {True: 'stabilizable', False: 'NOT stabilizable', None: 'reachable states only'}


@dataclass(frozen=True)
class Mode:
    """An eigenvalue of A, or a conjugate pair of them.

    ``eigenvalue`` [1/s], of a pair the one with positive imaginary part; ``words``, the positions
    that move most in it; ``shape`` (2 m,), the complex eigenvector as a displacement z of the
    state, of any size.
    """

    eigenvalue: complex
    words: str
    shape: NDArray[np.complex128] = field(compare=False, repr=False)

    @property
    def time_constant(self) -> float:
        """In which it grows or decays by the factor e [s]; infinite if it does neither."""
        return 1.0 / abs(self.eigenvalue.real) if self.eigenvalue.real else float('inf')

    @property
    def damping(self) -> float:
        """Damping ratio: 1 and more does not swing, 0 swings for ever, below 0 grows."""
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if size else 0.0

    @property
    def frequency(self) -> float:
        """[rad/s]; 0 if it does not swing."""
        return abs(self.eigenvalue.imag)

    @property
    def trend(self) -> str:
        """``'grows'``, ``'decays'`` or ``'neither grows nor decays'``."""
        return ('neither grows nor decays', 'grows', 'decays')[int(np.sign(self.eigenvalue.real))]

    def text(self) -> str:
        """Return a line."""
        lasting = f' in {self.time_constant:.3g} s' if self.eigenvalue.real else ''
        swing = f', swings at {self.frequency:.3g} rad/s' if self.frequency else ''
        return f'{self.trend}{lasting}{swing}, damping {self.damping:+.2f}: {self.words}'

    def as_dict(self) -> dict[str, Any]:
        """Return the figures."""
        return {
            'real': self.eigenvalue.real,
            'imaginary': self.eigenvalue.imag,
            'time_constant_s': self.time_constant if self.eigenvalue.real else None,
            'frequency_rad_s': self.frequency,
            'damping': self.damping,
            'words': self.words,
        }


@dataclass(frozen=True, eq=False)
class ModeReport:
    """Controllability, stabilizability and modes of a robot.

    Attributes
    ----------
    states, controllable
        Numbers of states, and of those that the inputs reach.
    uncontrollable, uncontrollable_eigenvalues
        The others in words; and their poles [1/s], none for a reachability over a horizon.
    stabilizable
        Whether all of these decay; None for a reachability, which does not say.
    modes
        Of all states, the longest time constants first; empty for a reachability.
    smallest_kept, largest_dropped
        Singular values next to the rank decision, of the scaled state.
    constrained
        Further states of A and B in full coordinates, which contacts and loops hold: they stay
        where they are, or decay by Baumgarte terms.
    """

    about: str
    states: int
    controllable: int
    uncontrollable: tuple[str, ...]
    uncontrollable_eigenvalues: NDArray[np.complex128]
    stabilizable: bool | None
    modes: tuple[Mode, ...]
    smallest_kept: float
    largest_dropped: float
    constrained: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        poles = self.uncontrollable_eigenvalues.tolist()
        return vars(self) | {
            'uncontrollable_eigenvalues': [[pole.real, pole.imag] for pole in poles],
            'modes': [mode.as_dict() for mode in self.modes],
            'smallest_kept': self.smallest_kept if np.isfinite(self.smallest_kept) else None,
        }

    def text(self) -> str:
        """Return the report."""
        reason, others = '', len(self.uncontrollable) - 1
        if self.stabilizable is False and others >= 0:
            more = f' and {others} more' if others else ''
            reason = f': no input reaches {self.uncontrollable[0]}{more}'
        lines = [
            f'{self.about}: {self.controllable} of {self.states} states controllable, '
            f'{_VERDICTS[self.stabilizable]}{reason}'
        ]
        if self.constrained:
            lines.append(
                f'of the {self.states + self.constrained} states of A and B the contacts '
                f'constrain {self.constrained}, which stay where they are or decay'
            )
        lines.append(
            f'rank decision: smallest kept {self.smallest_kept:.1e}, largest dropped '
            f'{self.largest_dropped:.1e}'
        )
        if self.uncontrollable:
            lines += ['out of reach of the inputs:', *(f'  {one}' for one in self.uncontrollable)]
        if self.modes:
            lines.append('modes, longest time constants first:')
            lines += [f'  {mode.text()}' for mode in self.modes]
        return '\n'.join(lines)


def entries(model: TreeModel) -> list[str]:
    """Return the entries of z (2 m,) in words."""
    return [entry_words(label.name) for label in state_labels(model)]


def words_for(
    model: TreeModel, state: State, directions: Array, lift: Array, scaled: Array
) -> tuple[str, ...]:
    """Return words that together stand for a space of directions.

    Known directions within the space (k, d), orthonormal in coordinates y, as far as these span
    it, then mixtures of entries, led by the one that tells it best from the others. z = lift y,
    and z over its units = scaled y.
    """
    words: list[str] = []
    left = directions
    for name, covector in _known_directions(model, state).items():
        if len(words) == directions.shape[1]:
            return tuple(words)
        row = covector @ lift
        size = np.linalg.norm(row)
        rest = row - directions @ (directions.T @ row)
        if size == 0.0 or np.linalg.norm(rest) > _SAME * size:
            continue
        new = left.T @ row
        if np.linalg.norm(new) > 1e-3 * size:
            words.append(name)
            left = left @ linalg.null_space(new[None] / np.linalg.norm(new))
    return (*words, *_mixtures(left.T @ scaled.T, entries(model)))


def _known_directions(model: TreeModel, state: State) -> dict[str, Array]:
    """Return momenta, what they are rates of near rest, and entries of z, as covectors (2 m,)."""
    single = dict(zip(entries(model), np.eye(2 * model.m), strict=True))
    if model.base == 'fixed':
        return single  # no momentum is kept
    A = centroidal(model, state).A
    by_position = np.zeros_like(A)
    if np.any(state.v) or np.any(state.r):
        for k, z in enumerate(_STEP * np.eye(model.m, 2 * model.m)):
            ahead, behind = (centroidal(model, state.retract(step)).h for step in (z, -z))
            by_position[:, k] = (ahead - behind) / (2.0 * _STEP)
    momenta = [f'{kind} momentum {axis}' for kind in ('linear', 'angular') for axis in 'xyz']
    integrals = [f'centre of mass {axis}' for axis in 'xyz']
    integrals += [f'integral of {momentum}' for momentum in momenta[3:]]
    covectors = np.vstack((np.hstack((by_position, A)), np.hstack((A, np.zeros_like(A)))))
    return dict(zip(momenta + integrals, covectors, strict=True)) | single


def _mixtures(rows: Array, names: list[str]) -> list[str]:
    """Return each row as a text, pivots chosen by QR with column pivoting."""
    if not len(rows):
        return []
    R, pivots = linalg.qr(rows, mode='r', pivoting=True)
    texts = []
    for row in linalg.solve_triangular(R[:, : len(rows)], R):
        most = [k for k in np.argsort(-np.abs(row))[:4] if abs(row[k]) > _SMALL]
        texts.append(' '.join(f'{row[k]:+.2g} {names[pivots[k]]}' for k in most))
    return texts
