# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Words for directions of the state: "base yaw rate", "linear momentum x", or what they mix."""

import numpy as np

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


def entries(model: TreeModel) -> list[str]:
    """Return the entries of z (2 m,) in words."""
    return [entry_words(label.name) for label in state_labels(model)]


def words_for(
    model: TreeModel, state: State, directions: Array, lift: Array, scaled: Array
) -> tuple[str, ...]:
    """Return words that together stand for a space of directions.

    Known directions within the space, as far as these span it, then mixtures of entries, led by
    the one that tells it best from the others.

    Parameters
    ----------
    directions : (k, d)
        Orthonormal basis in coordinates y.
    lift, scaled : (2 m, k)
        z = lift y, and z over its units = scaled y.
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
    """Return momenta, what they are rates of, and entries of the state, as covectors (2 m,).

    Momenta are those about the centre of mass in world axes, and their changes those from the
    motion of the state; what they are rates of holds for small displacements from rest.
    """
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
