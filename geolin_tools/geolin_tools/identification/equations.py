# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Equations of motion along recordings: what the description predicts, and how that changes.

Forces f of contacts that are not measured, and efforts that are not, drop out of

    P (Y pi - tau) = P [J' S'] f = 0,   P = D (1 - X X^+) / D,   X = D^-1 [J' S']        (1)

with J the Jacobian of the contacts, S the joints without effort, and D the size of the rows: what
is left are motions that contacts leave free [Mistry 2010]. P is applied before the filter, as J
changes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.dynamics.derivatives import inverse_dynamics_regressor
from geolin_ros.dynamics.functions import inverse_dynamics
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.linearization.contacts.description import SIZES, resolve
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array
from geolin_tools.identification.signals import Motion, Track


@dataclass(frozen=True)
class Equations:
    """Rows of inverse dynamics, m a sample: those of the base, if it floats, then the joints'.

    In contact those of (1), which have the rank of P.
    """

    measured: Array
    """(N, m) Efforts, NaN where none were measured; of a floating base zero, as only the measured
    wrenches, which are in ``described``, act on it."""
    described: Array
    """(N, m) What the description predicts."""
    regressor: Array
    """(N, m, 10 nb) Its derivative by the inertial parameters of all bodies."""
    position: Array
    rate: Array
    acceleration: Array
    """(N, n) Of the joints."""
    friction: Array
    """(N, m, n) The part of ``described`` that is Coulomb friction of each joint."""
    motions: tuple[Motion, ...]
    """The recordings."""
    free: tuple[Array | None, ...]
    """P (M, m, m) along the sharp motion of each; None where nothing drops out."""

    @property
    def parts(self) -> list[slice]:
        """Samples of each recording."""
        ends = np.cumsum([len(motion.time) for motion in self.motions]).tolist()
        return [slice(begin, end) for begin, end in pairwise([0, *ends])]

    def of_rate(self, joint: int, function: Callable[[Array], Array]) -> Array:
        """Return a function (N,) of a joint's rate, see `Motion.of_rate`."""
        return np.concatenate([motion.of_rate(joint, function) for motion in self.motions])

    def direction(self, joint: int) -> Array:
        """Return where a joint moves (N,), from -1 to 1."""
        speed = 0.1 * float(np.sqrt(np.mean(self.rate[:, joint] ** 2))) + 1e-9
        return self.of_rate(joint, lambda rate: np.tanh(rate / speed))

    def rows_of(self, joint: int, effort: Callable[[Track], Array]) -> Array:
        """Return what an effort (N,) of a joint, which follows from its motion, adds (N, m)."""
        parts, m = [], self.measured.shape[1]
        at = m - self.position.shape[1] + joint
        for motion, free in zip(self.motions, self.free, strict=True):
            if free is None:
                parts.append(np.zeros((len(motion.time), m)))
                parts[-1][:, at] = effort(motion)
            else:
                column = effort(motion.sharp)[:, np.newaxis]
                parts.append(motion.sharp_grid.smooth(free[:, :, at] * column))
        return np.concatenate(parts)

    @property
    def contacts(self) -> tuple[str, ...]:
        """Names of the contacts whose forces drop out."""
        return tuple({contact.name: None for m in self.motions for contact in m.contacts})

    @property
    def shares(self) -> Array:
        """Which part (k, m) of the noise of each row P leaves to it: its variance."""
        every = np.ones(self.measured.shape[1])
        of_free = [every if P is None else np.einsum('kii->i', P) / len(P) for P in self.free]
        return np.array(of_free)


class Likeness(NamedTuple):
    """How measured efforts compare with the description, beside rotors, friction and offsets."""

    factor: Array
    """(n,) Measured by described effort; NaN where they are not alike."""
    share: Array
    """(n,) Part of the measured effort that is the described one times its factor."""
    size: Array
    """(n,) Variation of the measured by that of the described effort."""
    friction: Array
    """(n,) Correlation of what is left with the direction of motion: friction has a positive."""


LEAST, RANK = 1e-3, 1e-6
"""Rows of (1) count as so large at least, by the largest; contacts depend on each other below."""
ALIKE = 0.7  # correlation from which on efforts of a joint can be compared in size


def likeness(equations: Equations) -> Likeness:
    """Return how the measured efforts of each joint compare with what the description predicts."""
    n = equations.position.shape[1]
    factor, share, ratio, friction = np.full((4, n), np.nan)
    if any(free is not None for free in equations.free):
        return Likeness(factor, share, ratio, friction)  # rows are of several joints
    measured = equations.measured[:, -n:]
    described = (equations.described - equations.friction.sum(axis=2))[:, -n:]
    for c in np.flatnonzero(np.isfinite(measured).all(axis=0)):
        rate, size = equations.rate[:, c], float(measured[:, c].std())
        way = equations.direction(int(c))
        one, model = np.ones_like(rate), described[:, c]
        ratio[c] = size / max(float(model.std()), 1e-300)
        inert = equations.acceleration[:, c]
        product, sizes, square = _beside((inert, rate, way, one), measured[:, c], model)
        if sizes > 0.0 and abs(product) > ALIKE * sizes:
            factor[c] = product / square
            share[c] = abs(factor[c]) * float(model.std()) / size
        product, sizes, _ = _beside((inert, model, one), measured[:, c], way)
        friction[c] = product / sizes if sizes > 0.0 else np.nan
    return Likeness(factor, share, ratio, friction)


def _beside(columns: Sequence[Array], a: Array, b: Array) -> tuple[float, float, float]:
    """Return a' b, |a| |b| and b' b of what columns (N,) do not explain of a and b."""
    Q = np.linalg.qr(np.column_stack(columns))[0]
    left, right = a - Q @ (Q.T @ a), b - Q @ (Q.T @ b)
    square = float(right @ right)
    if square < 1e-12 * float(b @ b):
        return 0.0, 0.0, square
    return float(left @ right), float(np.sqrt((left @ left) * square)), square


def equations_of(model: TreeModel, motions: Sequence[Motion]) -> Equations:
    """Return the equations along motions, one after the other."""
    return joined([_along(model, motion) for motion in motions])


def joined(parts: Sequence[Equations]) -> Equations:
    """Return equations one after the other."""
    columns: dict[str, Any] = {}
    for name in vars(parts[0]):
        values = [getattr(part, name) for part in parts]
        is_list = isinstance(values[0], tuple)
        columns[name] = tuple(chain(*values)) if is_list else np.concatenate(values)
    return Equations(**columns)


def _along(model: TreeModel, motion: Motion) -> Equations:
    """Return the equations along a motion: computed along the sharp one, then filtered."""
    track, grid, six = motion.sharp, motion.sharp_grid, model.m - model.n
    count = len(track.time)
    acceleration = track.acceleration
    if six:
        assert track.twist_dot is not None
        acceleration = np.hstack((track.twist_dot, acceleration))
    described = np.empty((count, model.m))
    regressor = np.empty((count, model.m, 10 * len(model.body_names)))
    # a base without pose rests at the origin
    H = np.broadcast_to(np.eye(4), (count, 4, 4)) if track.pose is None else track.pose
    v = np.zeros((count, 6)) if track.twist is None else track.twist
    states = [model.state(H[k], track.position[k], v[k], track.rate[k]) for k in range(count)]
    for k, state in enumerate(states):
        wrenches = [
            Wrench(link, force[k, :3], force[k, 3:], 'world')
            for link, force in track.forces.items()
        ]
        described[k] = inverse_dynamics(model, state, acceleration[k], wrenches=wrenches)
        regressor[k] = inverse_dynamics_regressor(model, state, acceleration[k])
    own, tree = model.own_coordinate, model.tree
    rubbed = tree.friction[own] * np.tanh(track.rate / tree.friction_speed[own])
    friction = np.zeros((count, model.m, model.n))
    friction[:, range(six, model.m), range(model.n)] = rubbed
    free = None
    if track.holds is None:
        measured = np.hstack((np.zeros((len(motion.time), six)), motion.effort))
    else:
        free = _free(model, track, states, described)
        effort = np.hstack((np.zeros((count, six)), np.nan_to_num(track.effort)))
        measured = grid.smooth((free @ effort[:, :, np.newaxis])[:, :, 0])
        measured[:, six:][:, np.isnan(track.effort).any(axis=0)] = np.nan
        described = (free @ described[:, :, np.newaxis])[:, :, 0]
        regressor, friction = free @ regressor, free @ friction
    rows = [grid.smooth(regressor[:, row]) for row in range(model.m)]  # each at a time: memory
    return Equations(
        *(measured, grid.smooth(described), np.stack(rows, axis=1)),
        *(motion.position, motion.rate, motion.acceleration, grid.smooth(friction)),
        *((motion,), (free,)),
    )


def _free(model: TreeModel, track: Track, states: Sequence[State], described: Array) -> Array:
    """Return P (N, m, m) of (1)."""
    assert track.holds is not None
    size = np.maximum(described.std(axis=0), LEAST * described.std(axis=0).max())
    unknown = np.eye(model.m)[:, model.m - model.n :][:, np.isnan(track.effort).any(axis=0)]
    places = [(resolve(model, contact)[0], SIZES[contact.kind]) for contact in track.contacts]
    found = np.empty((len(states), model.m, model.m))
    for k, (state, holds) in enumerate(zip(states, track.holds, strict=True)):
        at = Kinematics(model, state)
        standing = [place for place, hold in zip(places, holds, strict=True) if hold]
        J = [at.jacobian(frame)[:rows].T for frame, rows in standing]
        X = np.hstack((*J, unknown)) / size[:, np.newaxis]
        U, sizes, _ = np.linalg.svd(X, full_matrices=False)
        U = U[:, sizes > RANK * sizes.max(initial=0.0)]
        found[k] = (np.eye(model.m) - U @ U.T) * size[:, np.newaxis] / size
    return found
