# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Words for directions of the state: "base yaw rate", "linear momentum x", or what they mix."""

from collections.abc import Sequence
from typing import NamedTuple

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


class Named(NamedTuple):
    """A direction of the state that has words."""

    words: str
    covector: Array
    """What it measures, by the entries of z (2 m,), or of other coordinates (k,)."""


def known_directions(model: TreeModel, state: State) -> list[Named]:
    """Return single entries of the state, momenta, and what momenta are rates of.

    Momenta are those about the centre of mass in world axes, and their changes those from the
    motion of the state; what they are rates of holds for small displacements from rest.
    """
    words = [entry_words(label.name) for label in state_labels(model)]
    entries = [Named(*item) for item in zip(words, np.eye(2 * model.m), strict=True)]
    if model.base == 'fixed':
        return entries  # no momentum is kept
    A = centroidal(model, state).A
    positions = np.hstack((A, np.zeros_like(A)))
    momenta = np.hstack((np.zeros_like(A), A))
    if np.any(state.v) or np.any(state.r):
        momenta[:, : model.m] = _momentum_by_position(model, state)
    kinds = [f'{kind} momentum {axis}' for kind in ('linear', 'angular') for axis in 'xyz']
    places = [f'centre of mass {axis}' for axis in 'xyz']
    words = [*kinds, *places, *(f'integral of {kind}' for kind in kinds[3:])]
    covectors = np.vstack((momenta, positions))
    return [*(Named(*item) for item in zip(words, covectors, strict=True)), *entries]


def _momentum_by_position(model: TreeModel, state: State) -> Array:
    """Return the derivative (6, m) of the momentum by [H; s], by central differences."""
    columns = []
    for k in range(model.m):
        z = np.zeros(2 * model.m)
        z[k] = _STEP
        ahead, behind = (centroidal(model, state.retract(step)).h for step in (z, -z))
        columns.append((ahead - behind) / (2.0 * _STEP))
    return np.array(columns).T


def words_for(
    directions: Array, known: list[Named], names: Sequence[str], by_coordinates: Array
) -> list[str]:
    """Return words that together stand for a space of directions.

    Parameters
    ----------
    directions : (k, d)
        Orthonormal basis, in some scaled coordinates of the state.
    known
        Directions with words, in the same coordinates.
    names, by_coordinates
        Words of the entries of the state, and the scaled entries by those coordinates (2 m, k).

    Returns
    -------
    list
        d texts: of known directions within the space, as far as these span it, then mixtures of
        entries, led by the one that tells it best from the others.
    """
    count = directions.shape[1]
    words: list[str] = []
    left = directions
    for name, covector in known:
        if len(words) == count:
            return words
        size = np.linalg.norm(covector)
        rest = covector - directions @ (directions.T @ covector)
        if size == 0.0 or np.linalg.norm(rest) > _SAME * size:
            continue
        new = left.T @ covector
        if np.linalg.norm(new) > 1e-3 * size:
            words.append(name)
            left = left @ linalg.null_space(new[None] / np.linalg.norm(new))
    return words + _mixtures(left.T @ by_coordinates.T, names)


def _mixtures(rows: Array, names: Sequence[str]) -> list[str]:
    """Return each row as a text, pivots chosen by QR with column pivoting."""
    if not len(rows):
        return []
    R, pivots = linalg.qr(rows, mode='r', pivoting=True)
    reduced = linalg.solve_triangular(R[:, : len(rows)], R)
    texts = []
    for row in reduced:
        order = np.argsort(-np.abs(row))
        terms = [(names[pivots[k]], float(row[k])) for k in order[:4] if abs(row[k]) > _SMALL]
        texts.append(' '.join(f'{value:+.2g} {name}' for name, value in terms))
    return texts
