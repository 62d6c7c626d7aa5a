# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The state g = (H, s, v, r) on SE(3) x R^n x R^6 x R^n [Bos 2022, Eq. (16)].

Joint positions may be points of other groups too: SO(3), SE(2), SE(3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.errors import NotFiniteError, ShapeError
from geolin_ros.kernels import se3
from geolin_ros.kernels.packing.types import FLOATING, PLANAR, SPHERICAL
from geolin_ros.spatial import se3 as poses
from geolin_ros.spatial.se3 import rotation_from_quaternion
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


class State:
    """Base pose, joint positions, base twist and joint rates of a robot.

    [Bos 2022, Eqs. (14)-(17)].

    Raises `ShapeError` if an array has another shape, or the last row of ``H`` is not
    [0, 0, 0, 1]; `NotFiniteError` for NaN or inf; `InputError` if ``H`` holds no rotation.

    Parameters
    ----------
    H : (4, 4) or (7,)
        Pose of the base frame in the world; or [x, y, z | quaternion x, y, z, w].
    s : (n_s,)
        Joint positions [rad or m]; n_s = n unless there are spherical, planar or inner floating
        joints, see `TreeModel.position_names`.
    v : (6,)
        Body twist of the base, [linear; angular] in base axes [m/s, rad/s].
    r : (n,)
        Joint rates [rad/s or m/s].
    positions
        Which positions and rates belong together, `TreeModel.positions`; needed to step or to
        compare states if n_s is not n. `TreeModel.state` fills it in.

    Attributes
    ----------
    data : (22 + n_s + n,)
        All numbers in one array, [H by rows (16) | s | v | r]. ``H``, ``s``, ``v`` and ``r`` are
        views into it for good: what is assigned to one of them is written into ``data``.
    """

    __slots__ = ('H', 'data', 'positions', 'r', 's', 'v')
    H: Array
    s: Array
    v: Array
    r: Array
    data: Array
    positions: Positions | None

    def __init__(
        self,
        H: ArrayLike,
        s: ArrayLike,
        v: ArrayLike,
        r: ArrayLike,
        positions: Positions | None = None,
    ) -> None:
        pose, twist = _pose(H), finite_array('v', v, (6,))
        place, rates = finite_array('s', s, None), finite_array('r', r, None)
        poses.check_pose(pose)
        if positions is not None and (place.size, rates.size) != (positions.n_s, positions.n):
            raise ShapeError(
                f's has {place.size} and r {rates.size} entries, expected {positions.n_s} and '
                f'{positions.n}'
            )
        self._adopt(np.concatenate((pose.ravel(), place, twist, rates)), place.size, positions)

    def _adopt(self, data: Array, n_s: int, positions: Positions | None) -> None:
        keep = object.__setattr__
        keep(self, 'data', data)
        keep(self, 'positions', positions)
        keep(self, 'H', data[:16].reshape(4, 4))
        keep(self, 's', data[16 : 16 + n_s])
        keep(self, 'v', data[16 + n_s : 22 + n_s])
        keep(self, 'r', data[22 + n_s :])

    def __setattr__(self, name: str, value: ArrayLike) -> None:
        """Write into a part; the views stay what they are."""
        if name not in ('H', 's', 'v', 'r', 'data'):
            raise AttributeError(f'a state has H, s, v, r and data to assign to, not {name!r}')
        part: Array = getattr(self, name)
        values = finite_array(name, value, part.shape)
        if name in ('H', 'data'):
            poses.check_pose(values.ravel()[:16].reshape(4, 4))
        part[...] = values

    def __getstate__(self) -> tuple[Array, int, Positions | None]:
        return self.data, self.s.size, self.positions

    def __setstate__(self, state: tuple[Array, int, Positions | None]) -> None:
        self._adopt(*state)

    @classmethod
    def from_pinocchio(cls, q: ArrayLike, v: ArrayLike) -> State:
        """Return the state of Pinocchio's q and v, joints of one position each in their order.

        Raises `ShapeError` if the sizes do not fit each other, `NotFiniteError` for NaN or inf.

        Parameters
        ----------
        q : (7 + n,) or (n,)
            [x, y, z | quaternion x, y, z, w | joint positions]; fixed base: the latter alone.
        v : (6 + n,) or (n,)
            [body twist, linear; angular | joint rates]; fixed base: the latter alone.
        """
        place, rates = finite_array('q', q, None), finite_array('v', v, None)
        if place.size == rates.size:
            return cls(np.eye(4), place, np.zeros(6), rates)
        if place.size != rates.size + 1 or rates.size < 6:
            raise ShapeError(
                f'q has {place.size} and v {rates.size} entries, expected 7 + n and 6 + n, or n '
                'of both with a fixed base'
            )
        return cls(place[:7], place[7:], rates[:6], rates[6:])

    def to_pinocchio(self, *, base: str = 'floating') -> tuple[Array, Array]:
        """Return Pinocchio's q and v, the inverse of `from_pinocchio`; without a fixed base."""
        if base == 'fixed':
            return self.s.copy(), self.r.copy()
        turn = poses.quaternion_from_rotation(self.H[:3, :3])
        return np.concatenate((self.H[:3, 3], turn, self.s)), np.concatenate((self.v, self.r))

    def copy(self) -> State:
        """Return a state with arrays of its own."""
        return self.over(self.data.copy())

    __copy__ = copy

    def over(self, data: Array) -> State:
        """Return a state of the same robot whose numbers are those in ``data``, a view of it."""
        twin = object.__new__(State)
        twin._adopt(data, self.s.size, self.positions)
        return twin

    def at_rest(self) -> State:
        """Return the same pose and joint positions, without velocities."""
        still = self.copy()
        still.v[:], still.r[:] = 0.0, 0.0
        return still

    def retract(self, z: ArrayLike) -> State:
        """Return the state g exp(z), reached from this one by a step in its own axes.

        [Bos 2022, Eqs. (14)-(17)].

        Raises `ShapeError` if z has another size, or the state has n_s != n and no ``positions``;
        `NotFiniteError` for NaN or inf.

        Parameters
        ----------
        z : (12 + 2 n,) or (2 n,)
            [H; s; v; r], H as a twist in base axes [m, rad]; or [s; r], which leaves the base
            where it is (fixed base). The part of a spherical, planar or inner floating joint is
            a displacement in the axes of the moved link.
        """
        step = finite_array('z', z, None)
        n = self.r.size
        if step.size not in (2 * n, 12 + 2 * n):
            raise ShapeError(
                f'z has {step.size} entries, expected {12 + 2 * n}, [H; s; v; r], or {2 * n}, '
                '[s; r]'
            )
        moved, layout = self.copy(), self._layout()
        if step.size == 2 * n:
            step = np.concatenate((np.zeros(6), step[:n], np.zeros(6), step[n:]))
        else:
            se3.retract(self.H, step[:6], moved.H)
        if layout is None:
            moved.data[16:] += step[6:]
        else:
            moved.s[:] = layout.retract(self.s, step[6 : 6 + n])
            moved.data[16 + self.s.size :] += step[6 + n :]
        return moved

    def _layout(self) -> Positions | None:
        """Return which positions and rates belong together, or None where they are pairs."""
        if self.positions is None and self.s.size != self.r.size:
            raise ShapeError(
                f'state has {self.s.size} positions, {self.r.size} rates and no layout of them; '
                'make it with model.state(H, s, v, r)'
            )
        return self.positions

    def difference(self, other: State) -> Array:
        """Return z (12 + 2 n,) with ``self.retract(z)`` equal to ``other``: log(g^-1 g_other).

        [Bos 2022, Eqs. (14)-(17)].

        The rotation takes the short way, at most pi; [s; r] of a fixed base are the entries
        [6 : 6 + n] and [12 + n :]. Raises `ShapeError` if the states have different sizes.
        """
        if self.data.size != other.data.size or self.s.size != other.s.size:
            raise ShapeError(
                f'other state has {other.s.size} joint positions and {other.r.size} rates, '
                f'expected {self.s.size} and {self.r.size}'
            )
        n, layout = self.r.size, self._layout()
        z = np.empty(12 + 2 * n)
        se3.difference(self.H, other.H, np.empty((4, 4)), z[:6])
        if layout is None:
            np.subtract(other.data[16:], self.data[16:], out=z[6:])
        else:
            z[6 : 6 + n] = layout.difference(self.s, other.s)
            z[6 + n : 12 + n], z[12 + n :] = other.v - self.v, other.r - self.r
        return z

    def __repr__(self) -> str:
        """Return the four parts, one a line."""
        with np.printoptions(precision=4, suppress=True):
            return f'State(H=\n{self.H},\n s={self.s},\n v={self.v},\n r={self.r})'


def _pose(H: ArrayLike) -> Array:
    """Return a matrix, of itself or of position and quaternion."""
    given = np.asarray(H)
    if given.shape != (7,):
        return finite_array('H', H, (4, 4))
    values, pose = finite_array('H', H, (7,)), np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation_from_quaternion(values[3:]), values[:3]
    return pose


def finite_array(name: str, value: ArrayLike, shape: tuple[int, ...] | None) -> Array:
    """Return finite numbers of a shape, or of one dimension, as an array of their own."""
    array = np.array(value, dtype=np.float64)
    if array.ndim != 1 if shape is None else array.shape != shape:
        expected = 'one dimension' if shape is None else shape
        raise ShapeError(f'{name} has shape {array.shape}, expected {expected}')
    if not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise NotFiniteError(f'{name}{list(index)} is {array[index]}, expected a finite number')
    return array


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
