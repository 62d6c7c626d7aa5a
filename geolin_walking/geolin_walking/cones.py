# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the ground can do to feet along a trajectory, as rows C z + D w + e <= 0.

    point   |f_x|, |f_y| <= mu f_z,   f_z >= f_min            in world axes, z up           (1)
    sole    (1) in its own axes, its centre of pressure within its edges,  |m_z| <= nu f_z  (2)

with f = f0 + F_z z + F_u w of `LinearizedTrajectory`. In world axes forces turn with their foot:

    d(R f) = R (F_z z + F_u w) + (J_angular z) x R f0                                       (3)
"""

from collections.abc import Sequence

import numpy as np

from geolin_ros.control.support import Support
from geolin_ros.dynamics.kinematics import Places
from geolin_ros.linearization.along import LinearizedTrajectory
from geolin_ros.model.tree import STANDARD_GRAVITY, TreeModel
from geolin_ros.spatial.se3 import cross3
from geolin_ros.typing import Array

KINDS = *('friction',) * 4, 'pulling', *('centre of pressure',) * 4, *('twist',) * 2
"""Of the rows of a sole; the first five are those of a point."""
CROSS = np.array([cross3(unit).ravel() for unit in np.eye(3)])
"""(3, 9), f CROSS is f^ row by row."""
LEAST = 0.03
"""f_min, as a share of the weight."""
EDGE = 0.85
"""Share of a sole within which its centre of pressure stays."""
TWIST = 0.05
"""nu of the moment about the normal of a sole [m]."""


class Cones:
    """The rows of a robot's feet, those of feet in the air zero, and their ``kinds`` (rows,).

    Feet are in the order of the contacts of the linearizer.
    """

    def __init__(
        self, model: TreeModel, supports: Sequence[Support], friction: float = 0.5
    ) -> None:
        self.supports = tuple(supports)
        self._weight = model.total_mass * float(np.linalg.norm(STANDARD_GRAVITY))
        self._maps = [_map(support, friction) for support in supports]
        self.kinds = tuple(kind for L in self._maps for kind in KINDS[: len(L)])

    def __call__(self, plan: LinearizedTrajectory, places: Places) -> tuple[Array, Array, Array]:
        """Return C (N, rows, 2 m), D (N, rows, n_u), e (N, rows), forces as shares of the weight.

        ``places`` are those of the contact frames at the nodes at which intervals begin.
        """
        N, _, n_x = plan.wrench_by_state.shape
        C, D, e = [], [], []
        for number, (support, L) in enumerate(zip(self.supports, self._maps, strict=True)):
            first = plan.first[support.frame]
            own = slice(first, first + support.rows)
            f, f_z, f_u = (
                part[:, own] for part in (plan.wrenches, plan.wrench_by_state, plan.wrench_by_tau)
            )
            if support.kind == 'point':
                R, J = places.R[:N, number], places.J[:N, number]
                f = (R @ f[..., None])[..., 0]
                f_z, f_u = R @ f_z, R @ f_u
                f_z[..., : n_x // 2] -= (f @ CROSS).reshape(N, 3, 3) @ J[:, 3:]
            C.append(L @ f_z / self._weight)
            D.append(L @ f_u / self._weight)
            e.append(f @ L.T / self._weight)
            e[-1][:, 4] += [LEAST * (support.frame in names) for names in plan.in_force]
        return np.hstack(C), np.hstack(D), np.hstack(e)


def _map(support: Support, friction: float) -> Array:
    """Return L of L f <= 0; its fifth row is -f_z."""
    pyramid = [[1, 0, -friction], [-1, 0, -friction], [0, 1, -friction], [0, -1, -friction]]
    L = np.array([*pyramid, [0, 0, -1]], dtype=np.float64)
    if support.kind == 'point':
        return L
    points = np.asarray(support.points)
    centre = 0.5 * (points.max(axis=0) + points.min(axis=0))
    upper, lower = (centre + EDGE * (end(points, axis=0) - centre) for end in (np.max, np.min))
    moments = [
        [0, 0, -upper[0], 0, -1, 0],
        [0, 0, lower[0], 0, 1, 0],
        [0, 0, -upper[1], 1, 0, 0],
        [0, 0, lower[1], -1, 0, 0],
        [0, 0, -TWIST, 0, 0, 1],
        [0, 0, -TWIST, 0, 0, -1],
    ]
    return np.vstack((np.hstack((L, np.zeros((5, 3)))), moments))
