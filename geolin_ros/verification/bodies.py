# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot's motion, Newton and Euler's equations and mass matrix, straight from its joints.

In world axes about one fixed point near the base, where twists and wrenches of all bodies add
without transforms. With P[t, c] = 1 where coordinate c moves body t, S_c the twist of coordinate c
and V_c that of the body behind it,

    V = P (S nu),   A = P (S nu_dot + V_c x S nu)                                        (1)
    F_t = M_t (A_t - g) + V_t xb* M_t V_t - external,   tau_c = S_c' sum of P[t, c] F_t  (2)
    M[c, d] = S_c' M^c_d S_d where c moves body d or is it,  M^c_d = sum of P[t, d] M_t  (3)

[Featherstone 2008, chapters 5 and 6]. No recursion but the poses; every quantity may be complex
and has a leading axis of states, see `verification.group`. Nothing here is shared with what
computes A and B: the links and joints of `TreeModel` are read as they are.
"""

from typing import Any, NamedTuple

import numpy as np

from geolin_ros.model.joint_kinds import KINDS
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array
from geolin_ros.verification import group

SINGLE_AXIS = KINDS['revolute'].code
PLANAR = KINDS['se2'].code
FREE = KINDS['floating'].code


class Point(NamedTuple):
    """Points of the state space, k of them."""

    G: Array
    """(k, groups, 4, 4) pose of the base, then displacements of group joints."""
    s: Array
    """(k, n) positions that are numbers; those of group joints do not count."""
    nu: Array
    """(k, m) [v; r], of a fixed base [r]."""

    def map(self, function: Any) -> 'Point':
        """Return the point with each part as a function makes it."""
        return Point(*(function(part) for part in self))


class Motion(NamedTuple):
    """How the bodies move at k points; bodies t, coordinates c of the tree."""

    H: Array
    """(k, t, 4, 4) poses, in world axes from the point that all is about."""
    S: Array
    """(k, c, 6) twists of the coordinates."""
    V: Array
    """(k, t, 6) twists."""
    bias: Array
    """(k, t, 6) their rates at nu_dot = 0."""


class Bodies:
    """The equations of one robot.

    Attributes
    ----------
    groups
        Rows of [H; s] that do not commute, with the twists (rows, 6) they are; the base first.
    """

    def __init__(self, model: TreeModel) -> None:
        tree, self.model, self.first = model.tree, model, model.m - model.n
        count = tree.parent.size
        self._parent, self.inertia = tree.parent.tolist(), tree.inertia
        self._placement = np.tile(np.eye(4), (count, 1, 1))
        self._placement[1:, :3, :3] = tree.rotation[1:]
        self._placement[1:, :3, 3] = tree.translation[1:]
        owner = np.zeros(tree.master.size, dtype=np.int64)
        screws, position = [], np.zeros_like(owner)  # coordinates that are no group's, in s
        self.groups = [(slice(0, self.first), np.eye(6)[: self.first])]
        self._elements: list[tuple[int, int, int, Array]] = []  # body, kind, position, twists
        for i in range(1, count):
            q, v = int(tree.q_start[i]), int(tree.v_start[i])
            own = slice(v, v + int(tree.v_size[i]))
            owner[own] = i
            if tree.kind[i] == SINGLE_AXIS:
                screws.append(v)
                position[v] = q
                continue
            at, twists = self.first + int(tree.master[v]), tree.subspace[own]
            self.groups.append((slice(at, at + len(twists)), twists))
            self._elements.append((i, int(tree.kind[i]), int(tree.position_master[q]), twists))
        self._owner = np.concatenate((np.zeros(self.first, dtype=np.int64), owner))
        self.moves = self._owner == np.arange(len(self._parent))[:, np.newaxis]
        for body, parent in enumerate(self._parent[1:], 1):
            self.moves[body] |= self.moves[parent]
        self._P = self.moves.astype(float)
        self._twist = np.vstack((np.eye(6)[: self.first], tree.subspace))
        self._master = np.concatenate((np.arange(self.first), self.first + tree.master))
        self._multiplier = np.concatenate((np.ones(self.first), tree.multiplier))
        self._expansion = np.eye(model.m)[self._master] * self._multiplier[:, np.newaxis]
        self._factor, self._offset = tree.position_multiplier[position], tree.offset[position]
        self._position, self._screws = tree.position_master[position], np.array(screws, np.int64)
        u, w = np.split(tree.subspace[self._screws], 2, axis=1)
        self._W = group.hat(w)
        self._W2 = self._W @ self._W
        self._u = u, *((W @ u[..., np.newaxis])[..., 0] for W in (self._W, self._W2))

    def point(self, state: State) -> Point:
        """Return a state as a stack of one point."""
        s, m = np.zeros(self.model.n), self.model.m
        s[self.model.tree.master[self._screws]] = state.s[self._position[self._screws]]
        G = [_element(kind, state.s[q:], twists) for _, kind, q, twists in self._elements]
        parts = np.array([state.H, *G]), s, np.concatenate((state.v, state.r))[-m:]
        return Point(*(part[np.newaxis] for part in parts))

    def retract(self, at: Point, z: Array) -> Point:
        """Return the points g exp(z), z (k, 2 m) = [H; s; v; r] or [s; r] of a fixed base."""
        m = self.model.m
        twists = np.stack([z[:, rows] @ twist for rows, twist in self.groups], axis=1)
        s = at.s + z[:, self.first : m]
        return Point(at.G @ group.exp(twists), s, at.nu + z[:, m:])

    def difference(self, at: Point, moved: Point) -> Array:
        """Return z (k, 2 m), to first order in moved - at: both are that near."""
        away = group.of_twist_matrix(group.inverse(at.G) @ moved.G - np.eye(4))
        z = np.hstack((away[:, 0, : self.first], moved.s - at.s, moved.nu - at.nu))
        for g, (rows, twist) in enumerate(self.groups):
            z[:, rows] = away[:, g] @ twist.T
        return z

    def motion(self, at: Point, about: Array) -> Motion:
        """Return how the bodies move, about a place (3,) in the world."""
        H = self._poses(at, about)
        own = H[:, self._owner]
        R, o = own[..., :3, :3], own[..., :3, 3]
        u = (R @ self._twist[:, :3, np.newaxis])[..., 0]
        w = (R @ self._twist[:, 3:, np.newaxis])[..., 0]
        S = np.concatenate((u + group.cross(o, w), w), axis=-1)
        moving = S * self._of_tree(at.nu)[..., np.newaxis]
        V = _times(self._P, moving)
        bias = _times(self._P, group.motion_cross(V[:, self._owner], moving))
        return Motion(H, S, V, bias)

    def _poses(self, at: Point, about: Array) -> Array:
        s = self._numbers(at)[:, self._screws, np.newaxis]
        sine, turn, moved = np.sin(s), 1.0 - np.cos(s), self._owner[self.first + self._screws]
        E = np.zeros((len(s), len(self._parent), 4, 4), dtype=s.dtype)
        E[...] = np.eye(4)
        u, Wu, W2u = self._u
        E[:, moved, :3, :3] += sine[..., np.newaxis] * self._W + turn[..., np.newaxis] * self._W2
        E[:, :, :3, 3][:, moved] = s * u + turn * Wu + (s - sine) * W2u
        for g, (body, *_) in enumerate(self._elements, 1):
            E[:, body] = at.G[:, g]
        H = np.ascontiguousarray(_times(self._placement, E).swapaxes(0, 1))
        H[0] = at.G[:, 0]
        H[0, :, :3, 3] -= about
        for body, parent in enumerate(self._parent[1:], 1):
            H[body] = H[parent] @ H[body]
        return H.swapaxes(0, 1)

    def _numbers(self, at: Point) -> Array:
        """Return the positions (k, c) of the tree's joints that are numbers."""
        return np.asarray(self._factor * at.s[:, self.model.tree.master] + self._offset)

    def _of_tree(self, own: Array) -> Array:
        """Return the tree's coordinates (k, c) of a velocity or acceleration (k, m)."""
        return np.asarray(own[:, self._master] * self._multiplier)

    def acceleration(self, moving: Motion, nu_dot: Array) -> Array:
        """Return A (k, t, 6) of Eq. (1), gravity left out."""
        own = self._of_tree(nu_dot)[..., np.newaxis]
        return _times(self._P, moving.S * own) + moving.bias

    def inverse_dynamics(self, at: Point, moving: Motion, nu_dot: Array, applied: Array) -> Array:
        """Return tau (k, m), base wrench first, under applied wrenches (k, t, 6), Eq. (2)."""
        A = self.acceleration(moving, nu_dot)
        A[..., :3] -= self.model.gravity
        R, o = moving.H[..., :3, :3], moving.H[..., :3, 3]
        both = np.stack((A, moving.V), axis=-1)  # of the bodies' origins, in their axes
        both[..., :3, :] -= group.hat(o) @ both[..., 3:, :]
        turned = np.swapaxes(R, -1, -2)
        own = np.concatenate((turned @ both[..., :3, :], turned @ both[..., 3:, :]), axis=-2)
        forces = _times(self.inertia, own)
        F = forces[..., 0] + group.force_cross(own[..., 1], forces[..., 1])
        f, t = ((R @ F[..., part, np.newaxis])[..., 0] for part in (slice(3), slice(3, 6)))
        F = np.concatenate((f, t + group.cross(o, f)), axis=-1) - applied
        tau = (moving.S * _times(self._P.T, F)).sum(axis=-1)
        tau[:, self.first :] += self._passive(at, nu_dot)
        return _times(self._expansion.T, tau[..., np.newaxis])[..., 0]

    def _passive(self, at: Point, nu_dot: Array) -> Array:
        """Return what rotors, damping, friction and springs take, by the tree's coordinates."""
        tree = self.model.tree
        r, r_dot = (self._of_tree(own)[:, self.first :] for own in (at.nu, nu_dot))
        speed = np.where(tree.friction != 0.0, tree.friction_speed, 1.0)
        force: Array = tree.armature * r_dot + tree.damping * r
        force = force + tree.friction * np.tanh(r / speed)
        return force + tree.stiffness * (self._numbers(at) - tree.rest)

    def mass_matrix(self, moving: Motion) -> Array:
        """Return M (m, m) at the first, real, point, Eq. (3)."""
        S, X = moving.S[0].real, group.adjoint(group.inverse(moving.H[0].real))
        composite = self._P.T @ (np.swapaxes(X, -1, -2) @ self.inertia @ X).reshape(-1, 36)
        U = (composite.reshape(-1, 6, 6) @ S[..., np.newaxis])[..., 0]
        behind = self.moves[self._owner].T  # [c, d]: c moves the body of d
        upper = np.where(behind, S @ U.T, 0.0)
        M = np.where(behind.T, upper.T, upper)
        M[self.first :, self.first :] += np.diag(self.model.tree.armature)
        return np.asarray(self._expansion.T @ M @ self._expansion)


def _element(kind: int, q: Array, twists: Array) -> Array:
    """Return the displacement (4, 4) that positions of a group joint stand for."""
    G = np.eye(4)
    if kind == PLANAR:
        G = group.exp(np.arctan2(q[3], q[2]) * twists[2])
        G[:3, 3] = q[:2] @ twists[:2, :3]
        return G
    if kind == FREE:
        G[:3, 3], q = q[:3], q[3:]
    x, y, z, w = q[:4] / np.linalg.norm(q[:4])
    U = group.hat(np.array([x, y, z]))
    G[:3, :3] += 2.0 * (w * U + U @ U)
    return G


def _times(matrix: Array, stack: Array) -> Array:
    """Return a real matrix times stacks (..., c, k) that may be complex, in real numbers."""
    stack = np.ascontiguousarray(stack)
    return np.asarray((matrix @ stack.view(np.float64)).view(stack.dtype))
