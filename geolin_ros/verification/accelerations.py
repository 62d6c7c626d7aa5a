# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Accelerations, contact-constrained or free, from inverse dynamics and one dense matrix.

    K x = -r(0),   K = [M  -J'],   x = [nu_dot],   r(x) = [ID(nu_dot) - [0; tau] - J' lam]
                       [J   0 ]       [lam   ]          [J nu_dot + gamma               ]    (1)

[Featherstone 2008, chapter 8], with ID, M and the twists of `bodies`. At a point that moves by
i h, x moves by -i K^-1 Im r(x): r is zero here, so that how K changes does not count.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.linearization.contacts.description import Closure, Contact
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array
from geolin_ros.verification import group
from geolin_ros.verification.bodies import Bodies, Motion, Point


class PrescribedAccelerations:
    """Solves (1) under wrenches and the contacts that are in force.

    Raises `UnknownNameError`, `ShapeError` or `NotFiniteError` if a contact does not fit the
    robot.

    Parameters
    ----------
    contacts
        Constraints on it; those that are not active do not count.
    """

    def __init__(
        self, bodies: Bodies, contacts: Sequence[Closure], wrenches: Sequence[Wrench] = ()
    ) -> None:
        self.bodies, self._wrenches = bodies, wrenches
        self._contacts = [
            _ActiveContact(bodies, contact) for contact in contacts if contact.active
        ]
        self._newest: tuple[bytes, Array, Array] | None = None
        self._solved: tuple[bytes, Array, Array] | None = None

    def matrices(self, at: Point) -> tuple[Array, Array]:
        """Return M (m, m) and J (rows, m) at a real point; those of the newest one are kept."""
        key = b''.join(part.tobytes() for part in at)
        if self._newest is None or self._newest[0] != key:
            moving = self.bodies.motion(at, at.G[0, 0, :3, 3])
            M = self.bodies.mass_matrix(moving)
            still = moving._replace(V=0.0 * moving.V, bias=0.0 * moving.bias)
            unit = self.bodies.acceleration(still, np.vstack((np.eye(len(M)), np.zeros(len(M)))))
            rows = [c.rows(*c.ends(still, unit, at.G[0, 0, :3, 3])) for c in self._contacts]
            J = np.hstack([np.zeros((len(M) + 1, 0)), *rows])
            self._newest = key, M, (J[:-1] - J[-1]).T
        return self._newest[1:]

    def conditions(self, at: Point) -> tuple[float, float, float]:
        """Return the condition numbers of M, of M along the motions that contacts leave, of J J'.

        The second one is |M| |(N' M N)^-1| with a basis N of these motions, 1 without any. Rows of
        J have length one in the third one, which is near 1 / eps^2 where they depend on each
        other, then (1) has no unique forces.
        """
        M, J = self.matrices(at)
        of_M = float(np.linalg.cond(M))
        if not len(J):
            return of_M, of_M, 1.0
        length = np.linalg.norm(J, axis=1, keepdims=True)
        _, sizes, motions = np.linalg.svd(J / np.maximum(length, np.finfo(np.float64).tiny))
        N = motions[len(J) :]
        inner = np.linalg.inv(N @ M @ N.T)
        left = float(np.linalg.norm(M, 2) * np.linalg.norm(inner, 2)) if len(N) else 1.0
        smallest = sizes[-1] if len(J) <= len(M) else 0.0
        redundancy = float(sizes[0] / smallest) ** 2 if smallest > 0.0 else np.inf
        return of_M, left, redundancy

    def slip(self, at: Point, tau: Array, nu_dot: Array, by_tau: Array) -> tuple[float, float]:
        """Return how far nu_dot (m,) and its derivative by efforts are from what contacts allow.

        Largest J nu_dot + gamma and J d nu_dot / d tau, relative to the largest entries of J times
        those of nu_dot or its derivative, or `least`: rounding alone, whatever the inertias, also
        of joints that contacts lock.
        """
        _, J = self.matrices(at)
        m, lam = len(nu_dot), np.zeros(len(J))
        if not len(J):
            return 0.0, 0.0
        asked = self._residual(at, tau, np.concatenate((nu_dot, lam)))[0, m:]
        gamma = self._residual(at, tau, np.concatenate((0.0 * nu_dot, lam)))[0, m:]
        size, (by_force, by_effort) = float(np.abs(J).max()), self.least(at, tau)
        whole = size * max(float(np.abs(nu_dot).max()), by_force) + float(np.abs(gamma).max())
        most = max(float(np.abs(by_tau).max()), by_effort)
        return _share(asked, whole), _share(J @ by_tau, size * most)

    def least(self, at: Point, tau: Array) -> tuple[float, float]:
        """Return the least sizes of accelerations and of their derivatives by efforts.

        What the largest of forces and efforts tau (1, n), and 1, give the largest inertia: parts
        that contacts hold altogether have rounding alone.
        """
        m = self.bodies.model.m
        x = np.zeros(m + len(self.matrices(at)[1]))
        force = float(np.abs(self._residual(at, tau, x)[0, :m]).max())
        unit = 1.0 / float(np.abs(self.matrices(at)[0]).max())
        return unit * force, unit

    def rate(self, at: Point, tau: Array) -> Array:
        """Return f (k, 2 m) at points that differ by imaginary parts alone, efforts tau (k, n).

        Raises `numpy.linalg.LinAlgError` if K is singular.
        """
        m = self.bodies.model.m
        here = at.map(lambda part: np.ascontiguousarray(part[:1].real))
        x, inverse = self._solve(here, tau[:1].real)
        nu_dot = np.broadcast_to(x[:m], (len(tau), m))
        if np.iscomplexobj(at.s):
            nu_dot = nu_dot - 1j * (self._residual(at, tau, x).imag @ inverse.T)[:, :m]
        return np.hstack((np.broadcast_to(at.nu, nu_dot.shape), nu_dot))

    def without_efforts(self, at: Point, tau: Array) -> Array:
        """Return nu_dot (m,) at a real point if efforts tau (1, n) were zero."""
        (x, inverse), m = self._solve(at, tau), self.bodies.model.m
        return np.asarray(x[:m] - inverse[:m, m - tau.shape[1] : m] @ tau[0])

    def _solve(self, at: Point, tau: Array) -> tuple[Array, Array]:
        """Return x and K^-1 at a real point; those of the newest one are kept."""
        key = b''.join(part.tobytes() for part in (*at, tau))
        if self._solved is None or self._solved[0] != key:
            M, J = self.matrices(at)
            m, size = len(M), len(M) + len(J)
            K, x = np.zeros((size, size)), np.zeros(size)
            K[:m, :m], K[:m, m:], K[m:, :m] = M, -J.T, J
            inverse = np.asarray(np.linalg.inv(K), dtype=np.float64)
            for _ in range(2):  # the second one mends the rounding of the first
                x = x - inverse @ self._residual(at, tau, x)[0]
            self._solved = key, x, inverse
        return self._solved[1:]

    def _residual(self, at: Point, tau: Array, x: Array) -> Array:
        """Return r(x) (k, m + rows) of Eq. (1)."""
        bodies, m, about = self.bodies, self.bodies.model.m, at.G[0, 0, :3, 3].real
        moving = bodies.motion(at, about)
        nu_dot = np.broadcast_to(x[:m], (len(tau), m))
        A = bodies.acceleration(moving, nu_dot)
        applied = np.zeros_like(moving.V)
        for wrench in self._wrenches:
            _apply(bodies, moving, about, wrench, applied)
        rows, row = [], m
        for contact in self._contacts:
            ends = contact.ends(moving, A, about)
            rows.append(contact.rows(*ends))
            row_end = row + rows[-1].shape[1]
            contact.push(ends, x[row:row_end], applied)
            row = row_end
        force = bodies.inverse_dynamics(at, moving, nu_dot, applied)
        force[:, m - tau.shape[1] :] -= tau
        return np.hstack((force, *rows))


def _share(values: Array, whole: float) -> float:
    """Return the largest value over a size."""
    return float(np.max(np.abs(values))) / whole if whole > 0.0 else 0.0


def _apply(bodies: Bodies, moving: Motion, about: Array, wrench: Wrench, applied: Array) -> None:
    """Add a wrench, in world axes about ``about``, to those on its body."""
    frame = bodies.model.frame(wrench.link)
    body = frame.body
    H = moving.H[:, body] @ frame.placement
    R, place = H[:, :3, :3], H[:, :3, 3]
    axes = R if wrench.kind == 'body' else np.broadcast_to(np.eye(3), R.shape)
    f, t = (axes @ np.asarray(w, dtype=np.float64) for w in (wrench.force, wrench.moment))
    if wrench.kind == 'world':
        place = np.broadcast_to(-about, place.shape)
    if wrench.kind == 'world_oriented':
        place = place + R @ np.asarray(wrench.point, dtype=np.float64)
    applied[:, body, :3] += f
    applied[:, body, 3:] += t + group.cross(place, f)


class _End(NamedTuple):
    """A frame as it moves: its body, pose, twist and its rate about the fixed place."""

    body: int
    H: Array
    V: Array
    A: Array


class _ActiveContact:
    """One contact in force: rows of a point in world axes, of a surface in its own."""

    def __init__(self, bodies: Bodies, contact: Closure) -> None:
        self._contact = contact
        if isinstance(contact, Contact):
            names, poses = [contact.frame], [contact.placement]
            self._anchor = contact.reference
        else:
            names, poses = [contact.frame_a, contact.frame_b], [None, contact.reference]
            self._anchor = None
        self._frames = []
        for name, pose in zip(names, poses, strict=True):
            frame, own = bodies.model.frame(name), np.eye(4) if pose is None else pose
            placement = frame.placement @ np.asarray(own, dtype=np.float64)
            self._frames.append((frame.body, placement))
        self._is_point = contact.kind == 'point'

    def ends(self, moving: Motion, A: Array, about: Array) -> list[_End]:
        """Return its frames; of a contact with the world the second one stands still."""
        found = [
            _End(body, moving.H[:, body] @ placement, moving.V[:, body], A[:, body])
            for body, placement in self._frames
        ]
        if len(found) == 1:
            still = np.zeros_like(found[0].V)
            H = np.array(found[0].H.real)
            if self._anchor is not None:
                H[:] = np.asarray(self._anchor, dtype=np.float64)
                H[:, :3, 3] -= about
            found.append(_End(-1, H, still, still))
        return found

    def rows(self, one: _End, two: _End) -> Array:
        """Return J nu_dot + gamma (k, rows)."""
        kp, kd = self._contact.kp, self._contact.kd
        if self._is_point:
            v, a = (x - y for x, y in zip(_of_origin(one), _of_origin(two), strict=True))
            return a + kd * v + kp * (one.H[:, :3, 3] - two.H[:, :3, 3])
        c = one.A - two.A + group.motion_cross(one.V, two.V) + kd * (one.V - two.V)
        c = (group.adjoint(group.inverse(one.H)) @ c[..., np.newaxis])[..., 0]
        if kp:
            c = c + kp * np.array([group.log(H) for H in group.inverse(two.H) @ one.H])
        return c

    def push(self, ends: Sequence[_End], lam: Array, applied: Array) -> None:
        """Add the forces lam on the first link, and minus these on the second one."""
        X = group.adjoint(group.inverse(ends[0].H))
        for end, sign in zip(ends, (1.0, -1.0), strict=True):
            if end.body < 0:
                continue
            if self._is_point:
                force = np.broadcast_to(lam, end.V[:, :3].shape)
                wrench = np.hstack((force, group.cross(end.H[:, :3, 3], force)))
            else:
                wrench = np.swapaxes(X, -1, -2) @ lam
            applied[:, end.body] += sign * wrench


def _of_origin(end: _End) -> tuple[Array, Array]:
    """Return velocity and acceleration (k, 3) of a frame's origin, in world axes."""
    o, w = end.H[:, :3, 3], end.V[:, 3:]
    v = end.V[:, :3] + group.cross(w, o)
    return v, end.A[:, :3] + group.cross(end.A[:, 3:], o) + group.cross(w, v)
