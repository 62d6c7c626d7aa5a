# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Twists, accelerations and wrenches of a frame B, expressed in any frame C.

A is the world. A frame is where it is and how it moves, `MovingFrame`; C may move as it likes, and
three choices have names [Traversaro 2019, section 5]:

    name       C                                 ^C v_{A,B}
    body       B itself                          left-trivialized: velocity of B's origin, B's axes
    inertial   A                                 right-trivialized: of the point at A's origin
    mixed      B[A], origin of B, axes of A      (d/dt ^A o_B; ^A w_{A,B})

The apparent acceleration is the time derivative of these numbers, Eq. (44); the intrinsic one is
the derivative taken where no frame moves and then transformed, Eq. (47).
"""

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.errors import check_choice
from geolin_ros.renamed import old_names
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

__getattr__ = old_names(__name__)
Representation = Literal['body', 'inertial', 'mixed']

_STILL = np.zeros(6)
_STILL.setflags(write=False)


class MovingFrame(NamedTuple):
    """A frame F: pose and twist relative to the world A.

    [Traversaro 2019, Eqs. (10)-(16), (36)].
    """

    H: Array
    """(4, 4) pose ^A H_F."""
    v: Array = _STILL
    """(6,) twist ^F v_{A,F} in its own axes [m/s, rad/s]; zero: it stands still in the world."""


WORLD = MovingFrame(np.eye(4))
Expression: TypeAlias = Representation | MovingFrame


def mixed(B: MovingFrame) -> MovingFrame:
    """Return B[A]: the origin of B with the axes of the world; it moves but does not turn.

    [Traversaro 2019, Eqs. (35), (88)-(91)].
    """
    H, v = np.eye(4), np.zeros(6)
    H[:3, 3] = B.H[:3, 3]
    v[:3] = B.H[:3, :3] @ B.v[:3]
    return MovingFrame(H, v)


def expression_frame(B: MovingFrame, expressed_in: Expression) -> MovingFrame:
    """Return the frame C that a name stands for, or the given one.

    Raises `ConfigurationError` if the name is unknown.
    """
    if isinstance(expressed_in, MovingFrame):
        return expressed_in
    check_choice('representation', expressed_in, get_args(Representation))
    if expressed_in == 'body':
        return B
    return WORLD if expressed_in == 'inertial' else mixed(B)


def twist_map(B: MovingFrame, C: MovingFrame) -> Array:
    """Return ^C X_B (6, 6): twists in B to twists in C [Traversaro 2019, Eqs. (27)-(33)]."""
    return np.eye(6) if B is C else se3.adjoint(se3.relative(C.H, B.H))


def wrench_map(B: MovingFrame, C: MovingFrame) -> Array:
    """Return _C X^B = ^B X_C' (6, 6): wrenches in B to wrenches in C.

    [Traversaro 2019, Eqs. (57)-(60), (64)].
    """
    return twist_map(C, B).T


def relative_twist(B: MovingFrame, C: MovingFrame) -> Array:
    """Return ^B v_{C,B} (6,): the twist of B relative to C, in B."""
    return B.v - twist_map(C, B) @ C.v


def twist_map_rate(B: MovingFrame, C: MovingFrame) -> Array:
    """Return d/dt ^C X_B = ^C X_B (^B v_{C,B} x) (6, 6) [Traversaro 2019, Eqs. (37), (42)]."""
    return twist_map(B, C) @ se3.cross(relative_twist(B, C))


def wrench_map_rate(B: MovingFrame, C: MovingFrame) -> Array:
    """Return d/dt _C X^B = _C X^B (^B v_{C,B} xb*) (6, 6) [Traversaro 2019, Eqs. (61), (66)]."""
    return wrench_map(B, C) @ se3.cross_wrench(relative_twist(B, C))


def twist(B: MovingFrame, C: MovingFrame) -> Array:
    """Return ^C v_{A,B} (6,) [Traversaro 2019, Eqs. (17)-(26), (34), (92)-(94)]."""
    return twist_map(B, C) @ B.v


def intrinsic_acceleration(B: MovingFrame, v_dot: ArrayLike, C: MovingFrame) -> Array:
    """Return ^C a_{A,B} = ^C X_B ^B vdot_{A,B} (6,), Eq. (47).

    [Traversaro 2019, Eqs. (46)-(55), (85)-(87)].

    ``v_dot`` (6,) is the rate of the body twist, d/dt B.v [m/s^2, rad/s^2]; no cross product is
    needed between B and A, Eq. (46).
    """
    return twist_map(B, C) @ np.asarray(v_dot, dtype=np.float64)


def apparent_acceleration(B: MovingFrame, v_dot: ArrayLike, C: MovingFrame) -> Array:
    """Return d/dt ^C v_{A,B} = ^C X_B (^B v_{C,B} x ^B v_{A,B} + ^B vdot_{A,B}) (6,), Eq. (45).

    [Traversaro 2019, Eqs. (44), (45), (49)-(56)].

    Of the mixed frame B[A] it is (d^2/dt^2 ^A o_B; d/dt ^A w_{A,B}), Eq. (52), often called
    classical.
    """
    turning = se3.cross(relative_twist(B, C)) @ B.v
    return twist_map(B, C) @ (turning + np.asarray(v_dot, dtype=np.float64))
