# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What errors are taken to: the motion through a state, or the state itself."""

from typing import Literal

from geolin_ros.typing import Array

Reference = Literal['moving', 'frozen']


def frozen(A: Array) -> Array:
    """Return A (..., 2 m, 2 m) for errors that are taken to the state itself.

    First order of zdot = J_r^-1(z) f(g exp z): of -(v x), of the base and of group joints, half is
    left.
    """
    found, m = A.copy(), A.shape[-1] // 2
    found[..., :m, :m] *= 0.5
    return found
