# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pose, velocity and IMU biases of a floating base from its IMU, its joints and its contacts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_estimation.kernels import invariant_filter as kernels
from geolin_ros.dynamics.functions import Dynamics
from geolin_ros.dynamics.kinematics import Points
from geolin_ros.errors import ConfigurationError, NotFiniteError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.linearization.contacts.description import resolve
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.spatial.se3 import cross3, inverse, rotation_from_rpy
from geolin_ros.typing import Array

CORNERS = np.array([(x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
BASE = 0.1
"""What rows of the base count beside those of joints: pushes that nobody measures act there."""
LEAST = 1e-5
"""Of the size of all singular values: forces that change no row by more are taken to be none."""
LONGEST_STEP = 0.01
"""IMU samples are repeated over longer gaps in steps of this size [s]."""
ALL_CERTAIN: Mapping[str, float] = {}
BUFFER = 64
"""IMU samples are kept until the next correction, or until there are so many."""
LOST = 1e9
"""No place [m], velocity [m/s] or bias is as large; nor is its variance the square of it."""


class Feet:
    """Points of contact frames: the origin of a point, four corners about that of a surface.

    The corners are ``sole`` [m] from the middle, along x and along y; ``imu`` is a link that is
    fixed to the base: where the IMU is, and its axes.

    Raises `ConfigurationError` if the base is fixed, the IMU is not on it, or there are no
    contacts; `UnknownNameError` if a link is not part of the robot.

    Attributes
    ----------
    names : (K,)
        Frame of each point.
    axes : (K, 3, 3)
        Of the frames of the points, as `seen` last.
    """

    def __init__(
        self, model: TreeModel, imu: str, contacts: Sequence[Contact], sole: float = 0.05
    ) -> None:
        at = model.frame(imu)
        if model.base == 'fixed' or at.body != 0:
            raise ConfigurationError(
                f'IMU is on {imu!r} of robot {model.name!r} with a {model.base} base, expected a '
                f'link that is fixed to a floating base, as {model.base_link!r}'
            )
        if not contacts:
            raise ConfigurationError(
                f'robot {model.name!r} has no contacts, expected the frames of its feet, as '
                "contacts: ['left_foot point']"
            )
        self.model, self.contacts = model, tuple(contacts)
        self.base_H_imu = at.placement
        self.imu_H_base = inverse(at.placement)
        self.names: list[str] = []
        points: list[Frame] = []
        for contact in contacts:
            at, _ = resolve(model, contact)
            corners = CORNERS * sole if contact.kind == 'surface' else np.zeros((1, 3))
            for corner in corners:
                self.names.append(contact.frame)
                place = model.frame(contact.frame).placement.copy()
                place[:3, 3] = (at.placement @ (*corner, 1.0))[:3]
                points.append(Frame(at.body, place))
        self._points = Points(model, points)
        self.axes = np.zeros((len(points), 3, 3))
        self._state = model.neutral_state()
        self._state.H[:] = self.imu_H_base  # a world whose axes are those of the IMU

    def seen(self, s: Array) -> tuple[Array, Array]:
        """Return what the IMU sees at joint positions (n,), in its axes.

        These are the points h (K, 3) [m], and J (K, 6, 6 + n), which takes base twist and joint
        rates to [linear; angular] of the points.
        """
        self._state.s[:] = s
        (h,), (self.axes,), (J,) = self._points(self._state.data[np.newaxis])
        return h, J

    def lowest(self, s: Array, H: Array) -> float:
        """Return the height [m] of the lowest point at joint positions (n,) and a base pose H."""
        imu = H @ self.base_H_imu
        return float(np.min(self.seen(s)[0] @ imu[2, :3]) + imu[2, 3])


class FootForces:
    """What the equations of motion say of the forces at the feet.

    Of the motion M nu_dot + h = [0; tau] + sum J_k' f_k, all but f_k, the force at a point or the
    wrench at a surface, is measured: no base pose is needed, as the accelerometer reads
    accelerations less gravity. The angular acceleration of the base counts as none. Least squares
    over all rows: those of joints say most, those of the base what straight legs do not. With w
    their weights and A = w J',

        (A' A + LEAST^2 tr(A' A) 1) f = A' w (what is lacking)
    """

    def __init__(self, feet: Feet) -> None:
        self._model, self._H = feet.model, feet.base_H_imu
        self._dynamics = Dynamics(feet.model)
        self._names = [contact.frame for contact in feet.contacts]
        self._points = Points(feet.model, [resolve(feet.model, c)[0] for c in feet.contacts])
        kinds = [contact.kind == 'surface' for contact in feet.contacts]
        rows = [(k, row) for k, flat in enumerate(kinds) for row in range(6 if flat else 3)]
        self._of_point, self._rows = np.array(rows).T.copy()
        m = feet.model.m
        self._state, self._motion = feet.model.neutral_state(), np.zeros(m)
        self._weights = np.where(np.arange(m) < 6, BASE, 1.0)

    def __call__(
        self, s: Array, r: Array, r_dot: Array, tau: Array, sample: Array
    ) -> dict[str, float]:
        """Return the size of the force on each frame [N].

        Raises `NotFiniteError` if numbers are so large that forces are not finite.

        Parameters
        ----------
        s, r, r_dot, tau : (n,)
            Joint positions, rates, accelerations and efforts [rad or m, 1/s, 1/s^2, N m or N].
        sample : (6,)
            [gyro; accelerometer] of the IMU, in its axes [rad/s, m/s^2].
        """
        state, motion, axes, arm = self._state, self._motion, self._H[:3, :3], self._H[:3, 3]
        turning = axes @ sample[:3]
        spin = cross3(turning)
        state.s[:], state.v[3:], state.r[:] = s, turning, r
        motion[:3] = axes @ sample[3:] - spin @ (spin @ arm) + self._model.gravity
        motion[6:] = r_dot
        lacking = self._dynamics.inverse_dynamics(state, motion)
        lacking[6:] -= tau
        (J,) = self._points(state.data[np.newaxis]).J
        with np.errstate(all='ignore'):
            A = self._weights * J[self._of_point, self._rows]
            G = A @ A.T
            G.ravel()[:: len(G) + 1] += LEAST**2 * G.trace()
            f = np.linalg.solve(G, A @ (self._weights * lacking))
            squares = np.where(self._rows < 3, f * f, 0.0)
            sizes = np.sqrt(np.bincount(self._of_point, squares)).tolist()
        if not np.isfinite(sizes).all():
            raise NotFiniteError(
                f'forces at the feet of robot {self._model.name!r} are {sizes}, expected finite '
                'numbers; look for large numbers in IMU and joint states'
            )
        return dict(zip(self._names, sizes, strict=True))


@dataclass(frozen=True)
class Deviations:
    """Standard deviations; their units are with ``deviation.*`` in the node's parameter table."""

    gyro: float = 0.01
    accelerometer: float = 0.3
    tilt: float = 0.05
    velocity: float = 0.1
    gyro_bias: float = 0.01
    accelerometer_bias: float = 0.2
    gyro_walk: float = 1e-4
    accelerometer_walk: float = 1e-3
    slip: float = 0.1
    joint: float = 0.005
    point: float = 0.003


class BaseEstimate(NamedTuple):
    """The base, and the biases of its IMU; the arrays are its own."""

    H: Array
    """(4, 4) pose of the base in a world that starts below it, with z up."""
    v: Array
    """(6,) body twist [linear; angular] [m/s, rad/s]."""
    pose_covariance: Array
    """(6, 6) of place and turning, both in world axes [m, rad]."""
    twist_covariance: Array
    """(6, 6) of the twist, in base axes."""
    biases: Array
    """(6,) of gyro and accelerometer, in axes of the IMU [rad/s, m/s^2]."""
    bias_covariance: Array
    """(6, 6)"""
    on_ground: frozenset[str]
    """Frames that are taken to stand."""


class BaseFilter:
    """A right-invariant Kalman filter on SE_(2+K)(3) with IMU biases [Hartley 2020].

    Points on the ground stand, but for their slip and, of round feet, rolling. A point that is
    seen too far from where it stood is let go, and believed in again after ``distrust``; if all
    are, the velocity of the base is as uncertain as at the start. ``let_go`` counts such points.

    Parameters
    ----------
    radius
        Of feet that are balls about their points, which roll; 0: sharp [m].
    gate
        Largest squared distance of a point, in standard deviations.
    distrust
        How long a point that was let go does not count [s].
    flat_ground
        Standard deviation of the heights at which points land, about that of the first ones; 0:
        they are not known [m].
    """

    def __init__(
        self,
        feet: Feet,
        deviations: Deviations | None = None,
        radius: float = 0.0,
        gate: float = 16.0,
        distrust: float = 0.1,
        flat_ground: float = 0.0,
    ) -> None:
        chosen = Deviations() if deviations is None else deviations
        self.feet, self.deviations, self.gate, self.distrust = feet, chosen, gate, distrust
        self._radius, self._flat, K = radius, flat_ground, len(feet.names)
        walks = chosen.gyro_walk, chosen.accelerometer_walk
        self._noise = np.square((chosen.gyro, chosen.accelerometer, *walks, chosen.slip))
        n = kernels.FEET + 3 * K
        self._X, self._b = np.zeros((3, kernels.POINTS + K)), np.zeros(6)
        self._P = np.zeros((n, n))
        self._variances = np.einsum('ii->i', self._P)  # its diagonal
        variances = np.square((chosen.joint, chosen.point, chosen.velocity))
        self._rules = np.array((*variances[:2], gate, distrust, variances[2], LOST, 0.0, 0.0))
        self._scratch = np.zeros((n, kernels.FEET)), np.zeros((n, n)), np.zeros((n, n))
        self._small = np.zeros((3, 3)), np.zeros((6, kernels.FEET))
        self._active, self._until = np.zeros(K, dtype=np.bool_), np.zeros(K)
        self._axes = np.zeros((K, 3, 3))
        self._times, self._samples = np.zeros(1 + BUFFER), np.zeros((BUFFER, 6))
        self._kept, self._recent, self._newest = 0, np.zeros((2, 6)), np.zeros(6)
        self._gyro_rate = 1.0
        self.time, self.let_go = 0.0, 0

    def start(
        self, time: float, acceleration: Array, x: float = 0.0, y: float = 0.0, yaw: float = 0.0
    ) -> None:
        """Start upright by a mean of the accelerometer (3,) [m/s^2], the base at (x, y) [m, rad].

        At rest, or moving as fast as the deviation of the velocity says.
        """
        d, variances = self.deviations, self._variances
        up = acceleration / np.linalg.norm(acceleration)
        axes = self.feet.imu_H_base[:3, :3]
        forward = axes[:, 0] if abs(up @ axes[:, 0]) < 0.99 else axes[:, 2]  # nose up or down
        side = np.cross(up, forward)
        side /= np.linalg.norm(side)
        self._X[:], self._b[:], self._P[:] = 0.0, 0.0, 0.0
        turned = rotation_from_rpy((0.0, 0.0, yaw))
        self._X[:, :3] = turned @ (np.cross(side, up), side, up)
        self._X[:, 4] = (x, y, 0.0) - self._X[:, :3] @ self.feet.imu_H_base[:3, 3]
        variances[:2], variances[3:6] = d.tilt**2, d.velocity**2
        variances[9:12], variances[12:15] = d.gyro_bias**2, d.accelerometer_bias**2
        self._active[:], self._until[:], self._rules[6] = False, time, 0.0
        self._kept, self._times[0], self.time = 0, time, time
        self._newest = np.array((0.0, 0.0, 0.0, *acceleration))
        self._recent[0] = self._newest

    def propagate(self, time: float, sample: ArrayLike | None = None) -> None:
        """Go on to ``time`` [s] by an IMU sample (6,) = [gyro; accelerometer] taken then.

        Between two samples their mean counts; None holds the last one. The work is done at the
        next correction, for all samples since the last one.
        """
        if self._kept == BUFFER:
            self._carry()
        row = self._samples[self._kept]
        row[:] = self._newest if sample is None else sample
        if sample is not None:
            if time > self.time:
                self._gyro_rate = 1.0 / (time - self.time)
            self._newest = row
        self.time = max(time, self.time)
        self._kept += 1
        self._times[self._kept] = self.time

    def _carry(self) -> None:
        """Go on to the newest IMU sample."""
        count, (E, T, _) = self._kept, self._scratch
        if count == 0:
            return
        kernels.carry(
            *(self._X, self._b, self._P, self._active, self._recent, self._times[: 1 + count]),
            *(self._samples[:count], LONGEST_STEP, self.feet.model.gravity, self._noise, E, T),
        )
        self._times[0], self._kept = self.time, 0

    def correct(
        self,
        s: Array,
        on_ground: frozenset[str] | set[str],
        inverse_probabilities: Mapping[str, float] = ALL_CERTAIN,
    ) -> None:
        """Correct by joint positions (n,) while the frames ``on_ground`` touch it.

        ``inverse_probabilities`` of contact, by frame (at least 1): the variance of where a foot
        is has grown by so many times as much since the last correction. Raises `NotFiniteError` if
        the estimate is lost; `start` again.
        """
        passed = self._times[self._kept] - self._times[0]
        self._carry()
        for k, name in enumerate(self.feet.names):
            if self._active[k] and name in inverse_probabilities:
                row = kernels.FEET + 3 * k
                more = self._noise[4] * passed * (inverse_probabilities[name] - 1.0)
                self._variances[row : row + 3] += more
        h, J = self.feet.seen(s)
        X, (_, T, L) = self._X, self._scratch
        if self._radius > 0.0:
            kernels.roll(X, self._active, self.feet.axes, self._axes, self._radius)
        touching = np.array([name in on_ground for name in self.feet.names])
        let_go = kernels.meet(
            *(X, self._b, self._P, self._active, self._until, touching, self.time, h, J),
            *(self._rules, self._small[0], L, T),
        )
        if let_go == kernels.LOST:
            raise NotFiniteError(
                f'the base of robot {self.feet.model.name!r} is lost, expected numbers below '
                f'{LOST:g}; look for large numbers in IMU and joint states'
            )
        self.let_go += let_go
        if self._flat > 0.0 and self._rules[6] == 0.0 and self._active.any():
            self._rules[6:] = self._flat**2, X[2, kernels.POINTS :][self._active].mean()

    def estimate(self) -> BaseEstimate:
        """Return where the base is now."""
        self._carry()
        H, v, b, P = np.eye(4), np.empty(6), self._b, self._P
        pose, twist = np.empty((2, 6, 6))
        variance = self.deviations.gyro**2 * self._gyro_rate
        kernels.read_base(
            *(self._X, b, P, self._newest, self.feet.imu_H_base, variance, self._small[1]),
            *(H, v, pose, twist),
        )
        on_ground = frozenset(compress(self.feet.names, self._active))
        return BaseEstimate(H, v, pose, twist, b.copy(), P[9:15, 9:15].copy(), on_ground)
