# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint efforts and contact forces that hold a posture, and how much room they leave.

    h(g) = [0; S tau] + sum_k J_k' f_k + J_l' f_l

with a force f_k (3,) in world axes at each point of each support, pressing, in a pyramid of 8
facets within its friction cone; any forces f_l in closed loops; efforts within their limits. Those
of least squares are taken, forces as a share of the weight, efforts of their limits, by ProxQP
[Bambade 2022].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geolin_ros.control.support import Support, distance_inside, support_polygon, upward
from geolin_ros.dynamics.arguments import about_state
from geolin_ros.dynamics.functions import bias_force
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import centre_of_mass
from geolin_ros.errors import ConfigurationError, InfeasibleError
from geolin_ros.linearization.contacts.constraints import constraints_of
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

linalg = optional('scipy.linalg', extra='control')
proxsuite = optional('proxsuite', extra='control')

FRICTION = 0.5
"""Coefficient to plan with, below that of most floors."""
_FACETS = 8
_LOOP_PRICE = 1e-6  # of the forces in closed loops, against those on supports
_ACCURACY = 1e-9  # of the quadratic program


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
    """

    mass: float
    com: Array
    polygon: Array
    margin: float

    def text(self) -> str:
        """Return a sentence."""
        place = f'{"inside" if self.margin >= 0.0 else "outside"} the support polygon'
        if len(self.polygon) < 3:
            place = 'off its supports, which have no area'
        return (
            f'{self.mass:.3f} kg, centre of mass {np.round(self.com, 4).tolist()} m, '
            f'{1e3 * abs(self.margin):.1f} mm {place}'
        )


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A state at rest with the forces that keep it.

    Attributes
    ----------
    state, statics
        The posture, and its centre of mass over the points of support.
    supports, stands_on
        What it stands on, balls by the point where they touch the ground; and as it was given.
    tau : (n,)
        Joint efforts [N m or N]; zero where a joint has no actuator.
    wrenches : (rows,)
        Of all supports in order, on the robot, in axes of and about the origin of the contact
        frame: force [N] of a point, force and moment [N, N m] of a surface.
    points, forces : (k, 3)
        Points of support in the world [m], and the force on the robot at each in world axes [N].
    residual : (m,)
        What the equation above lacks [N, N m].
    effort_use, friction_use, load_share : (n,), (k,), (supports,)
        Efforts as a share of their limits, tangential forces of what friction bears (0 where
        nothing presses), normal forces of the weight.
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
        frames = [support.frame for support in self.supports]
        return {
            'mass_kg': self.statics.mass,
            'com_m': self.statics.com.tolist(),
            'support_polygon_m': self.statics.polygon.tolist(),
            'com_margin_m': self.statics.margin,
            'largest_effort_use': float(np.max(self.effort_use)),
            'largest_friction_use': float(np.max(self.friction_use)),
            'load_share': dict(zip(frames, self.load_share.tolist(), strict=True)),
            'tau': self.tau.tolist(),
            'wrenches': self.wrenches.tolist(),
        }

    def text(self) -> str:
        """Return the report, a line a matter."""
        found = self.as_dict()
        shares = (f'{foot} {100.0 * share:.1f} %' for foot, share in found['load_share'].items())
        return (
            f'{self.statics.text()}\n'
            f'load: {", ".join(shares)}\n'
            f'largest use of effort limits {100.0 * found["largest_effort_use"]:.1f} %, '
            f'of friction {100.0 * found["largest_friction_use"]:.1f} %'
        )


def statics(model: TreeModel, state: State, supports: Sequence[Support]) -> Statics:
    """Return where the centre of mass is over the supports.

    Raises `UnknownNameError` if one is no link; `ShapeError` or `NotFiniteError` for such a state.
    """
    at, com = Kinematics(model, state), centre_of_mass(model, state).com
    polygon = support_polygon(np.vstack([support.world_points(at) for support in supports]))
    return Statics(model.total_mass, com, polygon, distance_inside(polygon, com[:2]))


@about_state
def equilibrium(
    model: TreeModel, state: State, supports: Sequence[Support], *, friction: float = FRICTION
) -> Equilibrium:
    """Return the efforts and contact forces that hold a posture.

    Parameters
    ----------
    model
        A robot with a floating base.
    state
        The posture; its velocities are not read.
    supports
        What it stands on: the ground is normal to the z axis of a flat one, level under a point.
    friction
        Coefficient to stay below.

    Raises
    ------
    InfeasibleError
        If no forces hold it: the centre of mass is not over the supports, or an effort would
        exceed its limit; ``report`` holds the `Statics`.
    ConfigurationError
        If the base is fixed, there is no support, or friction is not positive.
    """
    if model.base != 'floating' or not len(supports) or not friction > 0.0:
        raise ConfigurationError(
            f'robot {model.name!r} has a {model.base} base, {len(supports)} supports, friction '
            f'{friction:g}; expected a floating base, a support, friction above 0'
        )
    problem = _Problem(model, state.at_rest(), supports, friction)
    forces = problem.solve(problem.limits)
    if forces is None:
        raise problem.refusal()
    return problem.equilibrium(forces)


class _Problem:
    """Forces at the points of support, then in closed loops, as multiples of the weight."""

    def __init__(
        self, model: TreeModel, state: State, supports: Sequence[Support], friction: float
    ) -> None:
        self.model, self.state, self.friction = model, state, friction
        self.at, self.stands_on = Kinematics(model, state), tuple(supports)
        self.supports = tuple(support.grounded(self.at) for support in supports)
        self.weight = model.total_mass * float(np.linalg.norm(model.gravity)) or 1.0
        self.h = bias_force(model, state) / self.weight
        angles = 2.0 * np.pi * np.arange(_FACETS) / _FACETS
        circle = np.column_stack((np.cos(angles), np.sin(angles)))
        inner = friction * np.cos(np.pi / _FACETS)
        points, normals, rows, cones = [], [], [], []
        for support in self.supports:
            frame = support.at(model)
            H, J = self.at.pose(frame), self.at.jacobian(frame, expressed_in='mixed')
            normal = H[:3, 2] if support.kind == 'surface' else upward(model)
            across = np.linalg.svd(normal[None])[2][1:]
            for point in support.world_points(self.at):
                points.append(point)
                rows.append(J[:3] - se3.cross3(point - H[:3, 3]) @ J[3:])
                normals.append(normal)
                cones.append(np.vstack((circle @ across - inner * normal, -normal)))
        self.points, self.normals = np.array(points), np.array(normals)
        loops = constraints_of(model, state, model.loops).A
        self.J = np.vstack((*rows, loops))
        self.cone = linalg.block_diag(*cones, np.zeros((0, len(loops))))  # cone f <= 0
        self.price = np.repeat((1.0, _LOOP_PRICE), (3 * len(points), len(loops)))
        limits = np.array(model.limits.effort) / self.weight
        self.limits = np.where(np.isin(np.arange(model.n), model.actuated), limits, 0.0)
        self.scale = np.where(np.isfinite(limits) & (limits > 0.0), limits, 1.0)

    def solve(self, limits: Array) -> Array | None:
        """Return forces of which efforts stay within limits (n,), or None."""
        Jt, wanted = self.J[:, 6:].T / self.scale[:, None], self.h[6:] / self.scale
        passive, active = limits == 0.0, limits != 0.0
        bound = limits[active] / self.scale[active]
        must = np.vstack((self.J[:, :6].T, Jt[passive]))
        right = np.concatenate((self.h[:6], wanted[passive]))
        lower = np.concatenate((np.full(len(self.cone), -np.inf), wanted[active] - bound))
        upper = np.concatenate((np.zeros(len(self.cone)), wanted[active] + bound))
        problem = proxsuite.proxqp.dense.QP(len(self.price), len(right), len(lower))
        problem.settings.eps_abs = problem.settings.eps_primal_inf = _ACCURACY
        problem.settings.eps_rel = 0.0
        problem.settings.max_iter = 1000
        problem.init(
            np.diag(self.price) + Jt.T @ Jt,
            -Jt.T @ wanted,
            must,
            right,
            np.vstack((self.cone, Jt[active])),
            np.maximum(lower, -1e20),
            np.minimum(upper, 1e20),
        )
        problem.solve()
        if problem.results.info.status != proxsuite.proxqp.PROXQP_SOLVED:
            return None
        x = np.array(problem.results.x)  # from the solver's precision to rounding:
        return np.asarray(x + np.linalg.lstsq(must, right - must @ x, rcond=1e-12)[0])

    def efforts(self, forces: Array) -> Array:
        tau = self.weight * (self.h[6:] - self.J[:, 6:].T @ forces)
        tau[self.limits == 0.0] = 0.0
        return tau

    def refusal(self) -> InfeasibleError:
        """Return what makes the posture impossible to hold."""
        report = statics(self.model, self.state, self.supports)
        unlimited = self.solve(np.where(self.limits == 0.0, 0.0, np.inf))
        why = (
            f'{report.text()}, friction {self.friction:g}; move the centre of mass over the '
            'supports, or actuate every joint'
        )
        if unlimited is not None:
            tau = self.efforts(unlimited)
            use = np.abs(tau) / np.maximum(self.limits * self.weight, 1e-300)
            worst = int(np.argmax(use))
            why = (
                f'joint {self.model.joint_names[worst]!r} would need {tau[worst]:.3g}, its limit '
                f'is {self.model.limits.effort[worst]:.3g} [N m or N]; bend the joints less, or '
                'correct the effort limits'
            )
        return InfeasibleError(
            f'no efforts and contact forces hold robot {self.model.name!r} in this posture: {why}',
            report,
        )

    def equilibrium(self, x: Array) -> Equilibrium:
        """Return the result for forces of `solve`."""
        tau = self.efforts(x)
        forces = self.weight * x[: self.points.size].reshape(-1, 3)
        residual = self.weight * (self.h - self.J.T @ x)
        residual[6:] -= tau
        normal = np.sum(forces * self.normals, axis=1)
        tangential = np.linalg.norm(forces - normal[:, None] * self.normals, axis=1)
        bears = self.friction * np.maximum(normal, 1e-300)
        wrenches, shares, first = [], [], 0
        for support in self.supports:
            own = slice(first, first + len(np.asarray(support.points)))
            H = self.at.pose(support.at(self.model))
            f, arms = forces[own] @ H[:3, :3], (self.points[own] - H[:3, 3]) @ H[:3, :3]
            wrench = np.concatenate((f.sum(axis=0), np.cross(arms, f).sum(axis=0)))
            wrenches.append(wrench[: support.rows])
            shares.append(normal[own].sum() / self.weight)
            first = own.stop
        return Equilibrium(
            self.state,
            self.supports,
            self.stands_on,
            tau,
            np.concatenate(wrenches),
            self.points,
            forces,
            residual,
            effort_use=np.abs(tau) / np.where(self.limits > 0.0, self.limits, 1.0) / self.weight,
            friction_use=np.where(normal > 1e-9 * self.weight, tangential / bears, 0.0),
            load_share=np.array(shares),
            statics=statics(self.model, self.state, self.supports),
        )
