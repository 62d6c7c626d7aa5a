# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Operating points where formulas tend to break."""

import numpy as np

from geolin_ros import State
from support.finite_difference import exp


def rotation_about(axis, angle):
    """Return the pose (4, 4) turned by ``angle`` about ``axis`` through the origin."""
    w = angle * np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    return exp(np.concatenate((np.zeros(3), w)))


def edge_states(model, rng):
    """Yield name and state: random, rest, upside down, near pi, high speed."""
    drawn = model.random_state(rng)
    yield 'random', drawn
    n = model.n
    yield 'rest', State(drawn.H, drawn.s, np.zeros(6), np.zeros(n))
    fast = model.random_state(rng, speed=30.0)
    if model.base == 'fixed':
        yield 'high speed', fast
        return
    yield 'upside down', State(rotation_about((1.0, 0.0, 0.0), np.pi), drawn.s, drawn.v, drawn.r)
    near_pi = rotation_about(rng.normal(size=3), np.pi - 1e-9)
    yield 'near pi', State(near_pi, drawn.s, drawn.v, drawn.r)
    yield 'high speed', fast


def seen_from(L, reference):
    """Return a linearization of the moving reference about the given one."""
    return {'moving': L, 'frozen': L.frozen()}[reference]
