# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint efforts and contact forces that hold a posture, and how much room they leave.

    h(g) = [0; S tau] + sum_k J_k' f_k + J_l' f_l

with a force f_k (3,) in world axes at each point of each support, inside a pyramid of 8 facets
within its friction cone, pressing and not pulling; any forces f_l in the robot's closed loops;
efforts within the limits of the robot. Among
all such forces those of least sum of squares are taken, forces as a share of the weight, efforts
of their limits, by a quadratic program.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geolin_ros.control import quadratic_program
from geolin_ros.control.support import (
    Support,
    distance_inside,
    polygon_centre,
    support_polygon,
    upward,
)
from geolin_ros.dynamics.arguments import check_is_state
from geolin_ros.dynamics.functions import bias_force
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import centre_of_mass
from geolin_ros.errors import ConfigurationError, InfeasibleError
from geolin_ros.linearization.contacts.rows import constraints_of
from geolin_ros.model.state import State
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.typing import Array

FRICTION = 0.5
"""Coefficient to plan with, below that of most floors."""
_FACETS = 8
_LOOP_PRICE = 1e-6  # of the forces in closed loops, against those on supports


@dataclass(frozen=True, eq=False)
class Statics:
    """Where the centre of mass is, against where the robot can press on the ground.

    Attributes
    ----------
    mass
        [kg]
    com : (3,)
        In the world [m].
    polygon : (k, 2)
        Corners of the hull of the points of support, seen from above [m].
    margin
        How far the centre of mass is inside of it, negative outside [m]; on level ground no forces
        hold a robot with a negative one.
    centre : (2,)
        Of the polygon [m].
    """

    mass: float
    com: Array
    polygon: Array
    margin: float
    centre: Array

    def text(self) -> str:
        """Return a sentence."""
        place = f'{"inside" if self.margin >= 0.0 else "outside"} the support polygon'
        if len(self.polygon) < 3:
            what = 'line between' if len(self.polygon) == 2 else 'point of'
            place = (
                f'off the {what} its supports, which have no area: no force of the ground catches '
                'a fall'
            )
        return (
            f'{self.mass:.3f} kg, centre of mass {np.round(self.com, 4).tolist()} m, '
            f'{1e3 * abs(self.margin):.1f} mm {place}'
        )


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A state at rest with the forces that keep it.

    Attributes
    ----------
    state
        The posture.
    supports
        What it stands on; balls by the point where they touch the ground.
    stands_on
        The supports as given: balls are balls.
    tau : (n,)
        Joint efforts [N m or N]; zero where a joint has no actuator.
    wrenches : (rows,)
        Of all supports in order, on the robot, in axes of and about the origin of the contact
        frame: force [N] of a point, force and moment [N, N m] of a surface.
    points, forces : (k, 3)
        Points of support in the world [m], and the force on the robot at each in world axes [N].
    residual : (m,)
        What the equation above lacks [N, N m].
    effort_use : (n,)
        Efforts as a share of their limits.
    friction_use : (k,)
        Tangential force as a share of what friction bears; 0 where nothing presses.
    load_share : (number of supports,)
        Normal force as a share of the weight.
    statics
        The centre of mass over the points of support.
    """

    state: State
    supports: tuple[Support, ...]
    stands_on: tuple[Support, ...]
    tau: Array
    wrenches: Array
    points: Array
    forces: Array
    residual: Array
    effort_use: Array
    friction_use: Array
    load_share: Array
    statics: Statics

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return {
            'mass_kg': self.statics.mass,
            'com_m': self.statics.com.tolist(),
            'support_polygon_m': self.statics.polygon.tolist(),
            'com_margin_m': self.statics.margin,
            'largest_effort_use': float(np.max(self.effort_use)),
            'largest_friction_use': float(np.max(self.friction_use)),
            'load_share': {
                support.frame: float(share)
                for support, share in zip(self.supports, self.load_share, strict=True)
            },
            'tau': self.tau.tolist(),
            'wrenches': self.wrenches.tolist(),
        }

    def text(self) -> str:
        """Return the report, a line a matter."""
        shares = ', '.join(
            f'{support.frame} {100.0 * share:.1f} %'
            for support, share in zip(self.supports, self.load_share, strict=True)
        )
        return (
            f'{self.statics.text()}\n'
            f'load: {shares}\n'
            f'largest use of effort limits {100.0 * np.max(self.effort_use):.1f} %, '
            f'of friction {100.0 * np.max(self.friction_use):.1f} %'
        )


def statics(model: TreeModel, state: State, supports: Sequence[Support]) -> Statics:
    """Return where the centre of mass is over the supports.

    Raises `UnknownNameError` if a support is no link of the robot; `ShapeError` or
    `NotFiniteError` if the state is not the robot's.
    """
    at, com = Kinematics(model, state), centre_of_mass(model, state).com
    polygon = support_polygon(np.vstack([support.world_points(at) for support in supports]))
    margin = distance_inside(polygon, com[:2])
    return Statics(model.total_mass, com, polygon, margin, polygon_centre(polygon))


def equilibrium(
    model: TreeModel, state: State, supports: Sequence[Support], friction: float = FRICTION
) -> Equilibrium:
    """Return the efforts and contact forces that hold a posture.

    Parameters
    ----------
    model
        A robot with a floating base.
    state
        The posture; its velocities are not read.
    supports
        What it stands on. The normal of the ground is the z axis of a flat support's contact
        frame; under a point the ground is level.
    friction
        Coefficient to stay below.

    Raises
    ------
    InfeasibleError
        If no forces hold it: the centre of mass is not over the supports, or an effort would
        exceed its limit; the message says which, ``report`` holds the `Statics`.
    ConfigurationError
        If the base is fixed, there is no support, or friction is not positive.
    """
    check_is_state(state)
    if model.base != 'floating' or not len(supports) or not friction > 0.0:
        raise ConfigurationError(
            f'robot {model.name!r} has a {model.base} base, {len(supports)} supports, friction '
            f'{friction:g}; expected a floating base, a support, friction above 0'
        )
    rest = model.state(state.H, state.s, np.zeros(6), np.zeros(model.n))
    problem = _Problem(model, rest, supports, friction)
    forces = problem.solve(problem.effort_limits)
    if forces is None:
        raise problem.explain()
    return problem.equilibrium(forces)


class _Problem:
    """Forces at the points of support, as multiples of the weight."""

    def __init__(
        self, model: TreeModel, state: State, supports: Sequence[Support], friction: float
    ) -> None:
        self.model, self.state, self.friction = model, state, friction
        self.kinematics, self.stands_on = Kinematics(model, state), tuple(supports)
        self.supports = tuple(support.grounded(self.kinematics) for support in supports)
        self.weight = model.total_mass * float(np.linalg.norm(model.gravity)) or 1.0
        self.h = bias_force(model, state) / self.weight
        points, normals, rows = [], [], []
        for support in self.supports:
            frame = support.at(model)
            normal = (
                self.kinematics.pose(frame)[:3, 2] if support.kind == 'surface' else upward(model)
            )
            for point in np.asarray(support.points, dtype=np.float64):
                at = frame.placement.copy()
                at[:3, 3] += at[:3, :3] @ point
                spot = Frame(frame.body, at)
                points.append(self.kinematics.pose(spot)[:3, 3])
                rows.append(self.kinematics.jacobian(spot, 'mixed')[:3])
                normals.append(normal)
        self.points, self.normals = np.array(points), np.array(normals)
        loops = constraints_of(model, state, model.loops).A
        self.J = np.vstack((*rows, loops))
        self.priced = np.repeat((1.0, _LOOP_PRICE), (3 * len(points), len(loops)))
        limits = np.array(model.limits.effort) / self.weight
        actuated = np.isin(model.joint_names, model.actuated_joints)
        self.effort_limits = np.where(actuated, limits, 0.0)
        self.scale = np.where(np.isfinite(limits) & (limits > 0.0), limits, 1.0)

    def solve(self, effort_limits: Array) -> Array | None:
        """Return forces, first (3 k,) on supports, efforts within limits (n,), or None."""
        G, g = self.J[:, :6].T, self.h[:6]
        Jt = self.J[:, 6:].T / self.scale[:, None]
        wanted = self.h[6:] / self.scale
        passive = effort_limits == 0.0
        cone, upper = self._cone()
        bound = effort_limits[~passive] / self.scale[~passive]
        x = quadratic_program.solve(
            np.diag(self.priced) + Jt.T @ Jt,
            -Jt.T @ wanted,
            np.vstack((G, Jt[passive])),
            np.concatenate((g, wanted[passive])),
            np.vstack((cone, Jt[~passive])),
            np.concatenate((np.full(len(cone), -np.inf), wanted[~passive] - bound)),
            np.concatenate((upper, wanted[~passive] + bound)),
        )
        if x is None:
            return None
        must = np.vstack((G, Jt[passive]))  # from the solver's precision to rounding
        missing = np.concatenate((g, wanted[passive])) - must @ x
        return np.asarray(x + np.linalg.lstsq(must, missing, rcond=1e-12)[0])

    def _cone(self) -> tuple[Array, Array]:
        """Return C, u: C f <= u for forces that press, in pyramids inside the friction cones."""
        angles = 2.0 * np.pi * np.arange(_FACETS) / _FACETS
        inner = self.friction * np.cos(np.pi / _FACETS)
        C = np.zeros((len(self.points), _FACETS + 1, len(self.J)))
        for k, normal in enumerate(self.normals):
            across = np.linalg.svd(normal[None])[2][1:]
            directions = np.stack((np.cos(angles), np.sin(angles)), axis=1) @ across
            C[k, :_FACETS, 3 * k : 3 * k + 3] = directions - inner * normal
            C[k, _FACETS, 3 * k : 3 * k + 3] = -normal
        rows = C.reshape(-1, C.shape[2])
        return rows, np.zeros(len(rows))

    def statics(self) -> Statics:
        """Return where the centre of mass is."""
        return statics(self.model, self.state, self.supports)

    def explain(self) -> InfeasibleError:
        """Return what makes the posture impossible to hold."""
        report = self.statics()
        passive = self.effort_limits == 0.0
        unlimited = self.solve(np.where(passive, 0.0, np.inf))
        if unlimited is None:
            why = f'{report.text()}, friction {self.friction:g}'
            fix = 'move the centre of mass over the supports'
            if np.any(passive):
                fix += ', or actuate every joint'
        else:
            tau = self._efforts(unlimited)
            ratio = np.abs(tau) / np.maximum(self.effort_limits * self.weight, 1e-300)
            ratio[passive] = 0.0
            worst = int(np.argmax(ratio))
            why = (
                f'joint {self.model.joint_names[worst]!r} would need {tau[worst]:.3g}, its limit '
                f'is {self.model.limits.effort[worst]:.3g} [N m or N]'
            )
            fix = 'bend the joints less, or correct the effort limits'
        return InfeasibleError(
            f'no efforts and contact forces hold robot {self.model.name!r} in this posture: '
            f'{why}; {fix}',
            report,
        )

    def _efforts(self, forces: Array) -> Array:
        tau = self.weight * (self.h[6:] - self.J[:, 6:].T @ forces)
        tau[self.effort_limits == 0.0] = 0.0
        return tau

    def equilibrium(self, x: Array) -> Equilibrium:
        """Return the result for forces (3 k,)."""
        tau = self._efforts(x)
        forces = self.weight * x[: 3 * len(self.points)].reshape(-1, 3)
        residual = self.weight * (self.h - self.J.T @ x)
        residual[6:] -= tau
        normal = np.sum(forces * self.normals, axis=1)
        tangential = np.linalg.norm(forces - normal[:, None] * self.normals, axis=1)
        pressing = normal > 1e-9 * self.weight
        wrenches, shares, first = [], [], 0
        for support in self.supports:
            last = first + len(np.asarray(support.points))
            H = self.kinematics.pose(support.at(self.model))
            own = forces[first:last] @ H[:3, :3]
            arms = (self.points[first:last] - H[:3, 3]) @ H[:3, :3]
            wrench = np.concatenate((own.sum(axis=0), np.cross(arms, own).sum(axis=0)))
            wrenches.append(wrench[: support.rows])
            shares.append(normal[first:last].sum() / self.weight)
            first = last
        return Equilibrium(
            self.state,
            self.supports,
            self.stands_on,
            tau,
            np.concatenate(wrenches),
            self.points,
            forces,
            residual,
            np.abs(tau)
            / np.where(self.effort_limits > 0.0, self.effort_limits, 1.0)
            / self.weight,
            np.where(pressing, tangential / (self.friction * np.maximum(normal, 1e-300)), 0.0),
            np.array(shares),
            self.statics(),
        )
