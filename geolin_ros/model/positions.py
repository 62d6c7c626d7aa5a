# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint positions as points of a product of groups: R^k, SO(3), SE(2), SE(3)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geolin_ros.kernels import se3
from geolin_ros.kernels.packing.types import FLOATING, PLANAR, SPHERICAL
from geolin_ros.typing import Array, IntArray

# Entries of a twist [linear; angular] that a group joint's rates are.
AXES = {SPHERICAL: np.array([3, 4, 5]), PLANAR: np.array([0, 1, 5]), FLOATING: np.arange(6)}


class GroupJoint(NamedTuple):
    """A joint whose positions are an element of a group: its kind's code, and its parts."""

    kind: int
    positions: slice
    """Of s."""
    rates: slice
    """Of r, and of displacements of s."""
    axes: IntArray
    """The entries of a twist that its rates are."""


@dataclass(frozen=True, eq=False)
class Positions:
    """Which entries of s (n_s,) and r (n,) belong together.

    Attributes
    ----------
    n_s, n
        Numbers of positions and rates.
    plain_q, plain_v
        Positions that are plain numbers, and their rates.
    groups
        The joints whose positions are not.
    """

    n_s: int
    n: int
    plain_q: IntArray
    plain_v: IntArray
    groups: tuple[GroupJoint, ...]

    def neutral(self) -> Array:
        """Return s with every joint at its zero."""
        s = np.zeros(self.n_s)
        for joint in self.groups:
            s[joint.positions] = _from_pose(joint.kind, np.eye(4))
        return s

    def random(self, rng: np.random.Generator, lower: Array, upper: Array) -> Array:
        """Return s: plain positions within limits (n,), uniform rotations, places within 1 m."""
        s = np.zeros(self.n_s)
        s[self.plain_q] = rng.uniform(lower, upper)[self.plain_v]
        for joint in self.groups:
            H, q = np.eye(4), rng.normal(size=4)
            if joint.kind == PLANAR:
                q[:2] = 0.0  # a turn about z
            se3.rotation(q[0], q[1], q[2], q[3], H)
            if joint.kind != SPHERICAL:
                H[:3, 3] = rng.uniform(-1.0, 1.0, 3)
            s[joint.positions] = _from_pose(joint.kind, H)
        return s

    def retract(self, s: Array, z: Array) -> Array:
        """Return the positions reached from s by the displacement z (n,) in the joints' axes."""
        moved = s.copy()
        moved[self.plain_q] += z[self.plain_v]
        for joint in self.groups:
            twist, H = np.zeros(6), np.empty((4, 4))
            twist[joint.axes] = z[joint.rates]
            before = s[joint.positions]
            se3.retract(_to_pose(joint.kind, before), twist, H)
            q = _from_pose(joint.kind, H)
            if joint.kind != PLANAR and q[-4:] @ before[-4:] < 0.0:
                q[-4:] *= -1.0  # the same rotation, next to the one before
            moved[joint.positions] = q
        return moved

    def difference(self, s: Array, other: Array) -> Array:
        """Return z (n,): ``retract(s, z)`` is ``other``; rotations take the short way."""
        z = np.empty(self.n)
        z[self.plain_v] = other[self.plain_q] - s[self.plain_q]
        for joint in self.groups:
            twist = np.empty(6)
            start, end = (_to_pose(joint.kind, at[joint.positions]) for at in (s, other))
            se3.difference(start, end, np.empty((4, 4)), twist)
            z[joint.rates] = twist[joint.axes]
        return z


def _to_pose(kind: int, q: Array) -> Array:
    """Return the pose (4, 4) of the moving frame; planar: in the plane of x and y."""
    H = np.eye(4)
    if kind == PLANAR:
        cos, sin = q[2:] / np.hypot(q[2], q[3])
        H[:2, :2] = [[cos, -sin], [sin, cos]]
        H[:2, 3] = q[:2]
        return H
    se3.rotation(q[-4], q[-3], q[-2], q[-1], H)
    if kind == FLOATING:
        H[:3, 3] = q[:3]
    return H


def _from_pose(kind: int, H: Array) -> Array:
    """Return the positions of a pose; the inverse of `_to_pose`."""
    if kind == PLANAR:
        return np.array([H[0, 3], H[1, 3], H[0, 0], H[1, 0]])
    quaternion = np.array(se3.quaternion(H))
    return quaternion if kind == SPHERICAL else np.concatenate((H[:3, 3], quaternion))
