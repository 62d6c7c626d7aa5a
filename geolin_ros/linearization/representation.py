# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The base twist, and z with it, in body, inertial or mixed coordinates.

    body       v = (u; w)                     base axes, velocity of the base origin
    inertial   X(H) v                         world axes, velocity of the point at the world origin
    mixed      blkdiag(R, R) v                world axes, velocity of the base origin

[Traversaro 2019, section 5]. Of z = [H; s; v; r] only the third part changes: it becomes the
displacement of the twist's new numbers, to first order z' = T z with

    z'_v = Y (z_v - K z_H)                                                               (1)
    inertial: Y = X(H), K = (v x);   mixed: Y = blkdiag(R, R), K = [[0, u^], [0, w^]]

A fixed base has no twist: nothing changes. What it makes of A and B: `Linearization` and
`Discretization`.
"""

import numpy as np

from geolin_ros.model.state import State
from geolin_ros.renamed import old_names
from geolin_ros.spatial import se3
from geolin_ros.spatial.frames import MovingFrame, Representation, expression_frame, twist_map
from geolin_ros.typing import Array

__getattr__ = old_names(__name__)


class TwistChange:
    """T of Eq. (1) about a state."""

    def __init__(self, state: State, representation: Representation) -> None:
        B, n = MovingFrame(state.H, state.v), state.r.size
        C = expression_frame(B, representation)
        self.v = slice(6 + n, 12 + n)
        self.Y, self.Y_inverse = twist_map(B, C), twist_map(C, B)
        self.turning = se3.cross(B.v - self.Y_inverse @ C.v)  # Y^-1 Ydot
        self.K = sensitivity(state.v, representation)

    def from_body(self, M: Array) -> Array:
        """Return T M."""
        moved = M.copy()
        moved[self.v] = self.Y @ (M[self.v] - self.K @ M[:6])
        return moved

    def on_columns(self, M: Array) -> Array:
        """Return M T^-1."""
        moved = M.copy()
        moved[:, :6] += M[:, self.v] @ self.K
        moved[:, self.v] = M[:, self.v] @ self.Y_inverse
        return moved


def sensitivity(v: Array, representation: Representation) -> Array:
    """Return K (6, 6): Y K z_H is what the new twist loses when the pose moves by z_H."""
    K = np.zeros((6, 6))
    if representation == 'inertial':
        return se3.cross(v)
    if representation == 'mixed':
        K[:3, 3:], K[3:, 3:] = se3.cross3(v[:3]), se3.cross3(v[3:])
    return K
