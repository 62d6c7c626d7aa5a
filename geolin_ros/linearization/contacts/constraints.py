# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows c = J nu_dot + gamma = 0 of contacts and loops, and the derivative of J nu.

Frame 1 is the contact frame, frame 2 what it is in contact with; X = ^1X_2, R its rotation. The
world is a frame 2 at rest. All in axes of frame 1, V = (v; w) body twists of the frames, a the
rates of these numbers, a' = a_lin + w x v the classical acceleration, W = X V_2:

    surface   c = a_1 - X a_2 + V_1 x W + kd (V_1 - W) + kp e,   e = log(H_2^-1 H_1)         (1)
    point     c = a'_1 - R a'_2 + kd (v_1 - R v_2) + kp e,       e = R_1' (o_1 - o_2)        (2)
    force     f_1 = lam on link 1,  -X' lam on link 2   (point: -R' lam at the origin of 2)  (3)

[Featherstone 2008, chapter 8; Traversaro 2019, section 8]
"""

from typing import NamedTuple

import numpy as np

from geolin_ros.kernels.packing.types import Workspace
from geolin_ros.linearization.contacts.description import (
    SIZES,
    Closure,
    Contact,
    check,
    pose_of,
    resolve,
)
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.spatial import se3
from geolin_ros.typing import Array


class End(NamedTuple):
    """A frame of a constraint as it moves."""

    H: Array
    """(4, 4) in the world."""
    V: Array
    """(6,) body twist."""
    a: Array
    """(6,) its rate, gravity left out."""
    J: Array
    """(6, m) body Jacobian."""


class Change(NamedTuple):
    """Derivatives of the motion of a frame by z."""

    d: Array
    """(6, 2 m) displacement, [J, 0]."""
    dV: Array
    """(6, 2 m)"""


class Constraint:
    """One active contact or loop of a robot.

    Raises `UnknownNameError`, `ConfigurationError`, `ShapeError` or `NotFiniteError` if the
    contact does not fit the robot, see `description.resolve` and `description.check`.
    """

    def __init__(self, model: TreeModel, contact: Closure) -> None:
        check(contact)
        self.contact = contact
        self.size = SIZES[contact.kind]
        self._surface = contact.kind == 'surface'
        self._kp, self._kd = contact.kp, contact.kd
        self.frames = [frame for frame in resolve(model, contact) if frame is not None]
        self._X = [se3.adjoint(se3.inverse(frame.placement)) for frame in self.frames]
        self.anchor = None
        if isinstance(contact, Contact) and contact.reference is not None:
            self.anchor = pose_of(contact, 'reference', contact.reference)

    def ends(self, motion: 'Motion') -> tuple[End, End]:
        """Return both frames as they move."""
        found = [motion.end(*at) for at in zip(self.frames, self._X, strict=True)]
        if len(found) == 1:
            found.append(motion.still(found[0].H if self.anchor is None else self.anchor))
        return found[0], found[1]

    def changes(self, motion: 'Motion', ends: tuple[End, End]) -> tuple[Change, Change]:
        """Return how the motion of both frames changes with z."""
        one = motion.change(ends[0], self.frames[0], self._X[0])
        if len(self.frames) == 1:
            return one, Change(np.zeros_like(one.d), np.zeros_like(one.d))
        return one, motion.change(ends[1], self.frames[1], self._X[1])

    def rows(self, one: End, two: End) -> tuple[Array, Array]:
        """Return J (rows, m) and c (rows,): Eq. (1) or (2)."""
        X = se3.adjoint(se3.relative(one.H, two.H))
        if self._surface:
            W = X @ two.V
            c = one.a - X @ two.a + se3.cross(one.V) @ W
            c += self._kd * (one.V - W) + self._kp * se3.log(se3.relative(two.H, one.H))
            return one.J - X @ two.J, c
        R = X[:3, :3]
        c = _classical(one) - R @ _classical(two)
        c += self._kd * (one.V[:3] - R @ two.V[:3]) + self._kp * _distance(one, two)
        return one.J[:3] - R @ two.J[:3], c

    def differentiate(self, one: End, two: End, by_one: Change, by_two: Change) -> Array:
        """Return the derivative (rows, 2 m) by z of J nu.

        For constant y: surface d(X y) = ((X y) x) rel, point d(R y) = (R y) x turn.
        """
        X = se3.adjoint(se3.relative(one.H, two.H))
        rel = by_one.d - X @ by_two.d
        if self._surface:
            return by_one.dV - X @ by_two.dV - se3.cross(X @ two.V) @ rel
        R = X[:3, :3]
        return by_one.dV[:3] - R @ by_two.dV[:3] - se3.cross3(R @ two.V[:3]) @ rel[3:]


class Motion:
    """What kernels left in a workspace, read as the motion of frames of the robot.

    Parameters
    ----------
    workspace
        `end` needs what `propagate_motion` fills, `change` also `differentiate_motion`.
    J : (nb, 6 + n, 6)
        Body Jacobians as `kernels.jacobians.propagate_jacobians` fills them.
    """

    def __init__(self, model: TreeModel, workspace: Workspace, J: Array) -> None:
        self._ws, self._J, self._up = workspace, J, -model.gravity
        self._m, self._first = model.m, 6 + model.n - model.m
        self._T = _expansion(model)

    def end(self, at: Frame, X: Array) -> End:
        """Return a frame of the robot as it moves; X = ^CX_body."""
        ws, i = self._ws, at.body
        H = np.eye(4)
        H[:3, :3], H[:3, 3] = ws.world_R[i], ws.world_o[i]
        H = H @ at.placement
        a = X @ ws.a[i]
        a[:3] -= H[:3, :3].T @ self._up
        return End(H, X @ ws.v[i], a, X @ self._J[i, self._first :].T)

    def still(self, H: Array) -> End:
        """Return a frame that stands still in the world."""
        return End(H, np.zeros(6), np.zeros(6), np.zeros((6, self._m)))

    def change(self, end: End, at: Frame, X: Array) -> Change:
        """Return how the motion of a frame of the robot changes with z."""
        d = np.hstack((end.J, np.zeros_like(end.J)))
        return Change(d, self._by_z(X @ self._ws.dv[at.body].T))

    def _by_z(self, columns: Array) -> Array:
        """Return columns of the independent coordinates from those of the tree."""
        half, first = columns.shape[1] // 2, self._first
        if self._T is None:
            return np.hstack((columns[:, first:half], columns[:, half + first :]))
        return np.hstack((columns[:, :half] @ self._T, columns[:, half:] @ self._T))


def _classical(end: End) -> Array:
    return end.a[:3] + se3.cross3(end.V[3:]) @ end.V[:3]


def _distance(one: End, two: End) -> Array:
    """Return R_1' (o_1 - o_2)."""
    return one.H[:3, :3].T @ (one.H[:3, 3] - two.H[:3, 3])


def _expansion(model: TreeModel) -> Array | None:
    """Return T of nu = T nu_y for mimic joints, None where it is the identity."""
    if not model.dependent_joints:
        return None
    tree, n = model.tree, model.tree.master.size
    T = np.zeros((6 + n, 6 + model.n))
    T[:6, :6] = np.eye(6)
    T[6 + np.arange(n), 6 + tree.master] = tree.multiplier
    return T[:, 6 + model.n - model.m :]
