# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses, twists, accelerations and Jacobians of every frame [Traversaro 2019, section 8].

A Jacobian ^D J_{A,E/C} takes the velocity nu = (^C v_{A,B}; r) to the twist ^D v_{A,E} of a frame
E. Both D, ``expressed_in``, and C, ``base``, are any frame: 'body', 'inertial', 'mixed' or a
`MovingFrame`. With the body Jacobian ^E J_{A,E/B} of the tree,

    ^D J_{A,E/C} = ^D X_E ^E J_{A,E/B} Y,   Y = blkdiag(^B X_C, 1)                        (75)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import state_data
from geolin_ros.errors import NotFiniteError, ShapeError
from geolin_ros.kernels.kinematics import move_bodies, place_points, propagate_jacobians
from geolin_ros.kernels.packing.types import make_workspace
from geolin_ros.model.state import State
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.spatial import se3
from geolin_ros.spatial.frames import (
    Expression,
    MovingFrame,
    apparent_acceleration,
    expression_frame,
    intrinsic_acceleration,
    mixed,
    twist,
    twist_map,
    twist_map_rate,
)
from geolin_ros.typing import Array

if TYPE_CHECKING:  # imported when it is first used
    from geolin_ros.dynamics.samples import States


class Kinematics:
    """Everything that moves, at one state; the state is read once, here.

    [Traversaro 2019, Eqs. (70)-(74)].

    A frame is named by its link, or is a `Frame` fixed to a body: ``model.frame('foot')`` with
    another placement. Velocities nu (m,) are (base twist; joint rates), m = 6 + n; of a fixed base
    the joint rates alone, m = n, and ``base`` then changes nothing. Mimic joints count with their
    master.

    Raises `ShapeError` if the state has not the model's size, `NotFiniteError` if it holds NaN or
    inf, `InputError` if H is no pose, or the base is fixed and the state gives it a twist. An
    unknown frame is an `UnknownNameError`.

    Attributes
    ----------
    H : (nb, 4, 4)
        Poses of the bodies in the world.
    v : (nb, 6)
        Their body twists [m/s, rad/s].
    J, J_dot : (nb, 6, m)
        Their body Jacobians ^i J_{A,i/B} and time derivatives along the state's velocity.

    Examples
    --------
    >>> from geolin_ros import TreeModel, robots
    >>> from geolin_ros.dynamics.kinematics import Kinematics
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> at = Kinematics(model, model.neutral_state())
    >>> at.jacobian(model.base_link, expressed_in='mixed', base='mixed').shape
    (6, 18)
    """

    def __init__(self, model: TreeModel, state: State) -> None:
        check_state(model, state)
        self.model = model
        self._first = 6 + model.n - model.m  # a fixed base has no columns
        self._nu = np.concatenate((state.v, state.r))[self._first :]
        self._workspace = workspace = make_workspace(model.tree)
        move_bodies(model.tree, workspace, state.data, model.gravity)
        self.H = np.zeros((len(model.body_names), 4, 4))
        self.H[:, :3, :3], self.H[:, :3, 3] = workspace.world_R, workspace.world_o
        self.H[:, 3, 3] = 1.0
        self.v = workspace.v

    @property
    def J(self) -> Array:
        """Body Jacobians."""
        return self._jacobians[0]

    @property
    def J_dot(self) -> Array:
        """Their time derivatives."""
        return self._jacobians[1]

    @cached_property
    def _jacobians(self) -> tuple[Array, Array]:
        """Return both when one is asked for; poses and twists do without."""
        rows, rows_dot = np.zeros((2, len(self.H), 6 + self.model.n, 6))
        propagate_jacobians(self.model.tree, self._workspace, rows, rows_dot)
        first = self._first
        return rows[:, first:].transpose(0, 2, 1), rows_dot[:, first:].transpose(0, 2, 1)

    def frame(self, frame: str | Frame) -> MovingFrame:
        """Return pose and body twist of a frame."""
        at = self._fixed_frame(frame)
        X = se3.adjoint(se3.inverse(at.placement))
        return MovingFrame(self.H[at.body] @ at.placement, X @ self.v[at.body])

    def pose(self, frame: str | Frame) -> Array:
        """Return ^A H_E (4, 4), which takes coordinates in E to coordinates in the world."""
        at = self._fixed_frame(frame)
        H: Array = self.H[at.body] @ at.placement
        return H

    def twist(self, frame: str | Frame, *, expressed_in: Expression = 'body') -> Array:
        """Return ^D v_{A,E} (6,) [m/s, rad/s]."""
        E = self.frame(frame)
        return twist(E, expression_frame(E, expressed_in))

    def velocity(self, base: Expression = 'body') -> Array:
        """Return nu (m,) with the base twist in another frame."""
        B, C = self._base_frames(base)
        nu = self._nu.copy()
        if self.model.base == 'floating':
            nu[:6] = twist(B, C)
        return nu

    def base_map(self, base: Expression = 'body') -> Array:
        """Return Y (m, m), (^B v; r) = Y (^C v; r) [Traversaro 2019, Eqs. (77)-(79)]."""
        return self._on_base(np.eye(self.model.m), twist_map, base)

    def base_map_rate(self, base: Expression = 'body') -> Array:
        """Return dY/dt (m, m) [Traversaro 2019, Eqs. (77)-(79)]."""
        return self._on_base(np.zeros((self.model.m, self.model.m)), twist_map_rate, base)

    def _on_base(
        self, Y: Array, of: Callable[[MovingFrame, MovingFrame], Array], base: Expression
    ) -> Array:
        B, C = self._base_frames(base)
        if self.model.base == 'floating':
            Y[:6, :6] = of(C, B)
        return Y

    def jacobian(
        self, frame: str | Frame, *, expressed_in: Expression = 'body', base: Expression = 'body'
    ) -> Array:
        """Return ^D J_{A,E/C} (6, m) [Traversaro 2019, Eqs. (75), (76)]."""
        E = self.frame(frame)
        J, _ = self._body_jacobian(frame)
        return twist_map(E, expression_frame(E, expressed_in)) @ J @ self.base_map(base)

    def jacobian_rate(
        self, frame: str | Frame, *, expressed_in: Expression = 'body', base: Expression = 'body'
    ) -> Array:
        """Return its time derivative (6, m) along the velocity of the state."""
        E = self.frame(frame)
        D = expression_frame(E, expressed_in)
        J, J_dot = self._body_jacobian(frame)
        X, Y = twist_map(E, D), self.base_map(base)
        return (twist_map_rate(E, D) @ J + X @ J_dot) @ Y + X @ J @ self.base_map_rate(base)

    def bias_acceleration(
        self, frame: str | Frame, *, expressed_in: Expression = 'body', base: Expression = 'body'
    ) -> Array:
        """Return Jdot nu (6,): the apparent acceleration at nu_dot = 0 [m/s^2, rad/s^2]."""
        still = np.zeros(self.model.m)
        return self.apparent_acceleration(frame, still, expressed_in=expressed_in, base=base)

    def apparent_acceleration(
        self,
        frame: str | Frame,
        nu_dot: ArrayLike,
        *,
        expressed_in: Expression = 'body',
        base: Expression = 'body',
    ) -> Array:
        """Return d/dt ^D v_{A,E} = J nu_dot + Jdot nu (6,), Eq. (44); gravity is no part of it.

        ``nu_dot`` (m,) is the rate of `velocity` in the same ``base``; of the body twist it is
        what forward dynamics returns. ``expressed_in='mixed'`` gives the acceleration of E's
        origin in world axes.
        """
        E = self.frame(frame)
        v_dot = self._body_acceleration(frame, nu_dot, base)
        return apparent_acceleration(E, v_dot, expression_frame(E, expressed_in))

    def intrinsic_acceleration(
        self,
        frame: str | Frame,
        nu_dot: ArrayLike,
        *,
        expressed_in: Expression = 'body',
        base: Expression = 'body',
    ) -> Array:
        """Return ^D a_{A,E} (6,), Eq. (47), of the arguments of `apparent_acceleration`."""
        E = self.frame(frame)
        v_dot = self._body_acceleration(frame, nu_dot, base)
        return intrinsic_acceleration(E, v_dot, expression_frame(E, expressed_in))

    def contact_frame(
        self, link: str | Frame, placement: ArrayLike, *, sliding: ArrayLike | None = None
    ) -> MovingFrame:
        """Return C[A] of a contact frame C that moves on its link L, as a frame to express in.

        [Traversaro 2019, Eqs. (81), (82)].

        The contact Jacobian (81) of a wrench at C in world axes, and its derivative, are those
        of the link itself, expressed there: ``jacobian(link, expressed_in=contact_frame(...))``.
        The twist of C as a frame of its own would hold its sliding too. ``placement`` (4, 4) is
        ^L H_C, where the contact is on the link now, ``sliding`` (6,) ^C v_{L,C}, how it moves
        there, in its own axes [m/s, rad/s]; zero by default.
        """
        at = self.frame(link)
        X = se3.adjoint(se3.inverse(placement))
        moving = np.zeros(6) if sliding is None else np.asarray(sliding, dtype=np.float64)
        if moving.shape != (6,):
            raise ShapeError(f'sliding has shape {moving.shape}, expected (6,): ^C v_(L,C)')
        return mixed(MovingFrame(at.H @ np.asarray(placement), X @ at.v + moving))

    def _base_frames(self, base: Expression) -> tuple[MovingFrame, MovingFrame]:
        B = MovingFrame(self.H[0], self.v[0])
        return B, expression_frame(B, base)

    def _fixed_frame(self, frame: str | Frame) -> Frame:
        return self.model.frame(frame) if isinstance(frame, str) else frame

    def _body_jacobian(self, frame: str | Frame) -> tuple[Array, Array]:
        """Return ^E J_{A,E/B} and its derivative; E stands still on its body."""
        at = self._fixed_frame(frame)
        X = se3.adjoint(se3.inverse(at.placement))
        return X @ self.J[at.body], X @ self.J_dot[at.body]

    def _body_acceleration(self, frame: str | Frame, nu_dot: ArrayLike, base: Expression) -> Array:
        """Return d/dt ^E v_{A,E} for the rate of the velocity in ``base``."""
        rate = np.asarray(nu_dot, dtype=np.float64)
        if rate.shape != (self.model.m,):
            raise ShapeError(f'nu_dot has shape {rate.shape}, expected ({self.model.m},)')
        J, J_dot = self._body_jacobian(frame)
        rate = self.base_map(base) @ rate + self.base_map_rate(base) @ self.velocity(base)
        return J @ rate + J_dot @ self._nu


def check_state(model: TreeModel, state: State) -> None:
    """Raise where `Kinematics` says so."""
    if not np.isfinite(state_data(model, state)).all():
        raise NotFiniteError(f'the state of robot {model.name!r} holds NaN or inf')


class Places(NamedTuple):
    """Where K frames are at N states, and how they move."""

    p: Array
    """(N, K, 3) origins in the world [m]."""
    R: Array
    """(N, K, 3, 3) axes in the world."""
    J: Array
    """(N, K, 6, m) from nu = (base twist; joint rates) to [linear; angular] in world axes."""


class Points:
    """Frames, see `TreeModel.frame`, of a robot with a floating base, at many states at a time."""

    def __init__(self, model: TreeModel, frames: Sequence[Frame]) -> None:
        self.model = model
        self._workspace = make_workspace(model.tree)
        self._bodies = np.array([frame.body for frame in frames], dtype=np.int64)
        self._places = np.array([frame.placement[:3, 3] for frame in frames])
        self._turns = np.array([frame.placement[:3, :3] for frame in frames])

    def __call__(self, states: States) -> Places:
        """Return where the frames are; `ShapeError` if the states are not those of the robot."""
        from geolin_ros.dynamics.samples import state_rows

        data = state_rows(self.model, states)
        shape = len(data), len(self._bodies)
        p, R = np.empty((*shape, 3)), np.empty((*shape, 3, 3))
        J = np.empty((*shape, 6, 6 + self.model.n))
        place_points(self.model.tree, self._workspace, data, self._bodies, self._places, p, R, J)
        return Places(p, R @ self._turns, J)
