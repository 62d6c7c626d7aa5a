# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses and twists: SE(3) with [linear; angular] six-vectors [Traversaro 2019, section 2].

[Kim 2012, Eqs. (1)-(13)].

Arrays in, new arrays out. A pose H (4, 4) of frame B in A takes B coordinates to A coordinates.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.errors import InputError, NotFiniteError, ShapeError
from geolin_ros.kernels import se3 as kernels
from geolin_ros.typing import Array


def check_pose(H: ArrayLike, what: str = 'H') -> Array:
    """Return a pose (4, 4).

    Raises `ShapeError` if it is not (4, 4) with a last row [0, 0, 0, 1], `NotFiniteError` for NaN
    and inf, `InputError` if it holds no rotation: scaled, mirrored, or off by more than 1e-5.
    """
    pose = np.asarray(H, dtype=np.float64)
    if pose.shape != (4, 4):
        raise ShapeError(f'{what} has shape {pose.shape}, expected (4, 4)')
    if not np.isfinite(pose).all():
        raise NotFiniteError(f'{what} holds NaN or inf, expected finite numbers')
    if pose[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise ShapeError(f'{what} has last row {pose[3].tolist()}, expected [0, 0, 0, 1]')
    if not kernels.is_pose(pose.flatten()):
        R = pose[:3, :3]
        raise InputError(
            f"{what} is no pose: det R is {np.linalg.det(R):.6g}, R R' off the identity by "
            f'{np.abs(R @ R.T - np.eye(3)).max():.2g}, expected a rotation; make R orthonormal, '
            'for example by se3.rotation_from_quaternion'
        )
    return pose


def exp(z: ArrayLike) -> Array:
    """Return the pose (4, 4) reached by the twist z (6,) [m, rad] within unit time.

    [Traversaro 2019, Eqs. (1)-(8)].
    """
    H = np.empty((4, 4))
    kernels.exp(_twist(z), H)
    return H


def log(H: ArrayLike) -> Array:
    """Return the twist (6,) of smallest angle whose `exp` is H (4, 4).

    Its angle is at most pi, and exact to rounding near 0 and near pi; at pi its axis has either
    sign. Raises `ShapeError`, `NotFiniteError` or `InputError` as `check_pose`.
    """
    z = np.empty(6)
    kernels.log(_pose(check_pose(H)), z)
    return z


def adjoint(H: ArrayLike) -> Array:
    """Return X = [[R, o^ R], [0, R]] (6, 6): twists in B to twists in A."""
    pose = _pose(H)
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = R = pose[:3, :3]
    X[:3, 3:] = cross3(pose[:3, 3]) @ R
    return X


def inverse(H: ArrayLike) -> Array:
    """Return the pose (4, 4) of A in B."""
    pose = _pose(H)
    G = np.eye(4)
    G[:3, :3] = pose[:3, :3].T
    G[:3, 3] = -pose[:3, :3].T @ pose[:3, 3]
    return G


def relative(H1: ArrayLike, H2: ArrayLike) -> Array:
    """Return the pose (4, 4) of frame 2 in frame 1, H1^-1 H2."""
    first, second = _pose(H1), _pose(H2)
    R = first[:3, :3].T
    G = np.eye(4)
    G[:3, :3] = R @ second[:3, :3]
    G[:3, 3] = R @ (second[:3, 3] - first[:3, 3])
    return G


def wrench_map(H: ArrayLike) -> Array:
    """Return _A X^B = X^-T (6, 6): wrenches [force; moment] in B to wrenches in A."""
    return adjoint(inverse(H)).T


def cross(v: ArrayLike) -> Array:
    """Return (v x) = ad_v = [[w^, u^], [0, w^]] (6, 6) of a twist v = (u; w).

    [Bos 2022, Eqs. (18), (27); Traversaro 2019, Eqs. (38)-(41), (43)].
    """
    twist, ad = _twist(v), np.zeros((6, 6))
    ad[:3, :3] = ad[3:, 3:] = cross3(twist[3:])
    ad[:3, 3:] = cross3(twist[:3])
    return ad


def cross_wrench(v: ArrayLike) -> Array:
    """Return (v xb*) = -(v x)' = [[w^, 0], [u^, w^]] (6, 6), the twist v acting on wrenches.

    [Traversaro 2019, Eqs. (62), (63), (65)].
    """
    return -cross(v).T


def cross3(w: ArrayLike) -> Array:
    """Return w^ (3, 3), w^ y = w x y [Traversaro 2019, Eqs. (1)-(8)]."""
    x, y, z = np.asarray(w, dtype=np.float64)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def left_jacobian(z: ArrayLike) -> Array:
    """Return J (6, 6) of exp(z + dz) = exp(J dz) exp(z), to first order.

    [Traversaro 2019, Eq. (9)].
    """
    return _six_by_six(kernels.left_jacobian, z, 1.0)


def right_jacobian(z: ArrayLike) -> Array:
    """Return J (6, 6) of exp(z + dz) = exp(z) exp(J dz), to first order."""
    return _six_by_six(kernels.left_jacobian, z, -1.0)


def left_jacobian_inverse(z: ArrayLike) -> Array:
    """Return the inverse of `left_jacobian`; the angle must be below 2 pi."""
    return _six_by_six(kernels.left_jacobian_inverse, z, 1.0)


def right_jacobian_inverse(z: ArrayLike) -> Array:
    """Return the inverse of `right_jacobian`; the angle must be below 2 pi."""
    return _six_by_six(kernels.left_jacobian_inverse, z, -1.0)


def adjoint_of_exp(z: ArrayLike) -> Array:
    """Return ``adjoint(exp(z))`` (6, 6)."""
    return _six_by_six(kernels.adjoint_of_exp, z, 1.0)


def rotation_from_quaternion(q: ArrayLike) -> Array:
    """Return R (3, 3) of a quaternion (x, y, z, w), normalised on the way.

    Raises `InputError` if the quaternion is zero or not finite.
    """
    quaternion = np.asarray(q, dtype=np.float64)
    if quaternion.shape != (4,):
        raise ShapeError(f'quaternion has shape {quaternion.shape}, expected (4,): x, y, z, w')
    largest = float(np.max(np.abs(quaternion)))
    if not 0.0 < largest < np.inf:
        raise InputError(
            f'quaternion {quaternion.tolist()} has no direction, expected one of unit length'
        )
    R = np.empty((3, 3))
    x, y, z, w = quaternion / largest
    kernels.rotation(x, y, z, w, R)
    return R


def rotation_from_rpy(rpy: ArrayLike) -> Array:
    """Return R (3, 3) = Rz(yaw) Ry(pitch) Rx(roll) of roll, pitch, yaw [rad], as in URDF."""
    angles = np.asarray(rpy, dtype=np.float64)
    cr, cp, cy = np.cos(angles).tolist()
    sr, sp, sy = np.sin(angles).tolist()
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_rotation(R: ArrayLike) -> Array:
    """Return roll, pitch, yaw (..., 3) [rad] of R (..., 3, 3), the inverse of `rotation_from_rpy`.

    At a pitch of plus or minus pi/2, where only their sum or difference is determined, roll is 0.
    """
    R = np.asarray(R, dtype=np.float64)
    level = np.hypot(R[..., 0, 0], R[..., 1, 0])
    roll = np.arctan2(R[..., 2, 1], R[..., 2, 2])
    yaw = np.arctan2(R[..., 1, 0], R[..., 0, 0])
    steep = level <= 1e-9
    roll = np.where(steep, 0.0, roll)
    yaw = np.where(steep, np.arctan2(-R[..., 0, 1], R[..., 1, 1]), yaw)
    return np.stack((roll, np.arctan2(-R[..., 2, 0], level), yaw), axis=-1)


def quaternion_from_rotation(R: ArrayLike) -> Array:
    """Return the unit quaternion (x, y, z, w), w >= 0, of R (3, 3)."""
    matrix = np.array(R, dtype=np.float64, order='C')
    if matrix.shape != (3, 3):
        raise ShapeError(f'rotation has shape {matrix.shape}, expected (3, 3)')
    return np.array(kernels.quaternion(matrix))


def _six_by_six(fill: Callable[[Array, float, Array], None], z: ArrayLike, sign: float) -> Array:
    out = np.empty((6, 6))
    fill(_twist(z), sign, out)
    return out


def _twist(z: ArrayLike) -> Array:
    twist = np.array(z, dtype=np.float64)
    if twist.shape != (6,):
        raise ShapeError(f'twist has shape {twist.shape}, expected (6,): [linear; angular]')
    return twist


def _pose(H: ArrayLike) -> Array:
    pose = np.array(H, dtype=np.float64, order='C')
    if pose.shape != (4, 4):
        raise ShapeError(f'pose has shape {pose.shape}, expected (4, 4)')
    return pose
