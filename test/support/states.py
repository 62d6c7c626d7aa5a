# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Operating points: the ones where formulas tend to break, and random ones for properties."""

import numpy as np
from hypothesis import strategies as st

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


@st.composite
def states(draw, model):
    """Draw a state: any of the `edge_states`, identity or a tiny rotation, with drawn numbers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    named = dict(edge_states(model, rng))
    drawn = named['random']
    zero = np.zeros(model.n)
    named['neutral'] = State(np.eye(4), zero, np.zeros(6), zero)
    if model.base == 'floating':
        tiny = rotation_about(rng.normal(size=3), 1e-9)
        named['nearly neutral'] = State(tiny, drawn.s, drawn.v, drawn.r)
    return named[draw(st.sampled_from(sorted(named)))]


def seen_from(L, reference):
    """Return a linearization of the moving reference about the given one."""
    return {'moving': L, 'frozen': L.frozen()}[reference]
