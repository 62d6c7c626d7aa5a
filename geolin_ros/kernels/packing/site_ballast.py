# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which bodies in contact are light for what stands on them, and what they are lent.

See `ballast` for why. A foot is lent a mass in the directions that its contact holds.
"""

import numpy as np

from geolin_ros.kernels.packing.ballast import AtZero, mobility, to_frame
from geolin_ros.typing import Array, IntArray

LOST = 2e7  # factor of rounding in what a contact leaves free, above which bodies are light
LENT = 0.1  # share of the mass of the robot that is lent


def ballast_of_sites(
    at: AtZero, bodies: IntArray, widths: IntArray, poses: Array
) -> tuple[IntArray, Array]:
    """Return which contacts get ballast, all or none, and W, its diagonal (6,) [kg, kg m^2].

    From Y = M^-1 J', Lambda = J Y, each contact alone takes Y Lambda^-1 Y' of the mobilities M^-1.
    Rounding grows with the condition of Lambda, and with M^-1 over what is left of it. Lengths are
    in radii of gyration.

    Parameters
    ----------
    at
        The robot at zero.
    bodies
        Of `Tree`.
    widths, poses
        As of `contact_layout.pack_contacts`.
    """
    if not len(bodies):
        return np.zeros(0, np.int64), np.zeros(6)
    mass = at.M[0, 0]
    about = np.trace(at.M[3:6, 3:6]) / 2.0  # m |c|^2 more than about its centre c
    own_moment = about - np.sum(at.M[:3, 3:6] ** 2) / (2.0 * mass)
    radius = np.sqrt(max(own_moment, 1e-12 * about) / mass)
    units = np.where(at.J[:, 3:].any(axis=(0, 1)), 1.0, radius)
    units[:3] = radius
    six, own, worst = np.repeat((1.0, radius), 3), slice(6 - at.base, None), 0.0
    M = (at.M * np.outer(units, units))[own, own]
    free = mobility(M)
    for body, width, pose in zip(bodies, widths, poses, strict=True):
        J = six[:, np.newaxis] * (to_frame(pose[:3, :3], pose[:3, 3]) @ at.J[body]) * units
        J = J[:width, own]
        moved, Y = J.any(axis=0), free @ J.T
        Lambda = J @ Y
        if Lambda.any() and np.isfinite(Lambda).all():  # far away: no answer will be finite
            sizes, V = np.linalg.eigh(Lambda)
            kept = sizes > 1e-14 * sizes[-1]
            left = np.diag(free) - np.sum((Y @ V[:, kept]) ** 2 / sizes[kept], axis=1)
            least = max(np.max(left[moved]), 1.0 / np.max(np.diag(M)))
            condition = sizes[-1] / sizes[kept][0]
            worst = max(worst, condition * np.max(np.diag(free)[moved]) / least)
    return np.arange(len(bodies) if worst > LOST else 0), LENT * mass * six**2
