# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which bodies in contact are light for what stands on them, and what they are lent.

See `ballast` for why. A foot is lent a mass in the directions that its contact holds.
"""

import numpy as np

from geolin_ros.kernels.packing.layout import (
    ALPHA,
    ARMATURE,
    BETA,
    BODY_INTS,
    COM,
    EX,
    ICX,
    INT_HEADER,
    MASS,
    MODEL_HEADER,
    MODEL_RECORD,
    NB,
    PARENT,
    Packed,
    T,
)
from geolin_ros.typing import Array, IntArray

LIGHT = 1e-4  # share of the mass of the robot that acts at a contact, below which it is light
LENT = 1e-2  # share of it that is lent: more rounds more where the joint of a foot is free to turn
LENGTH = 0.1  # of turns beside motions [m]


def ballast_of_sites(
    packed: Packed, bodies: IntArray, widths: IntArray, poses: Array
) -> tuple[IntArray, Array]:
    """Return which contacts need ballast, and W, the diagonal of it (6,) [kg, kg m^2].

    Arguments as of `contact_layout.pack_contacts`.
    """
    nb = int(packed.ints[NB])
    records = packed.floats[MODEL_HEADER:][: nb * MODEL_RECORD].reshape(nb, -1)
    parents = packed.ints[INT_HEADER:][: nb * BODY_INTS].reshape(nb, -1)[:, PARENT]
    mass = float(records[:, MASS].sum())
    light = [
        _is_light(records, parents, int(b), packed.turns[b].T @ pose[:3, 3], width > 3, mass)
        for b, width, pose in zip(bodies, widths, poses, strict=True)
    ]
    W = LENT * mass * np.repeat((1.0, LENGTH**2), 3)
    return np.flatnonzero(light), W


def _is_light(
    records: Array, parents: IntArray, b: int, p: Array, turns: bool, mass: float
) -> bool:
    """Return whether a joint on the way to body b moves less than `LIGHT` at the point p of it.

    That is the inertia about the joint of the bodies on the way alone, at zero, over the square
    of how far a unit of the joint moves the contact.
    """
    smallest = LIGHT * mass
    m, h, inertia = 0.0, np.zeros(3), np.zeros((3, 3))  # about the origin of body b
    if b > 0 and records[b, MASS] < smallest:
        return True
    while b > 0 and m < LENT * mass:
        record = records[b]
        c = record[COM : COM + 3]
        own = record[ICX : ICX + 12].reshape(3, 4)[:, :3]
        m, h = m + record[MASS], h + record[MASS] * c
        inertia = inertia + own + record[MASS] * (c @ c * np.eye(3) - np.outer(c, c))
        alpha, beta = record[ALPHA], record[BETA]
        acting = alpha**2 * m + beta**2 * inertia[2, 2] + record[ARMATURE]
        lever = max(np.hypot(alpha, beta * np.hypot(p[0], p[1])), LENGTH * beta * turns)
        if acting < smallest * lever**2:
            return True
        E, t = record[EX : EX + 12].reshape(3, 4)[:, :3].T, record[T : T + 3]
        p, h, inertia = E @ p + t, E @ h, E @ inertia @ E.T
        cross = np.outer(h, t)
        inertia += (2.0 * h @ t + m * t @ t) * np.eye(3) - cross - cross.T - m * np.outer(t, t)
        h, b = h + m * t, int(parents[b])
    return False
