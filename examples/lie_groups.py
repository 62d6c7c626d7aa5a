#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Linearize two systems on Lie groups that are no robots: a heavy top and an underwater vehicle.

Each has its left-trivialized vector field and the derivatives of it, by hand. A and B follow
[Bos 2022, section 2.4], exactly from the derivatives and by differences without them. The proof
that A is right: the error between two nonlinear motions grows as zdot = A z says.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geolin_papers.lie_groups import SE3, SO3, LieGroup, euclidean, linearize, product
from geolin_ros.spatial import se3

Array = NDArray[np.float64]
STEPS = 120  # of the integration


@dataclass(frozen=True)
class System:
    """gdot = g field(g, u)^ from ``start`` under the input ``effort(t)``."""

    name: str
    group: LieGroup
    field: Callable[[Any, Array], Array]
    derivatives: Callable[[Any, Array], tuple[Array, Array]]
    start: Any
    effort: Callable[[float], Array]

    def motion(self, t: float, start: Any = None) -> tuple[Any, Array]:
        """Return state and input at a time."""
        g = self.start if start is None else start
        dt = t / STEPS
        for k in range(STEPS):
            g = step(self.group, lambda g, t: self.field(g, self.effort(t)), g, k * dt, dt)
        return g, self.effort(t)


def step(group: LieGroup, rate: Callable[[Any, float], Array], g: Any, t: float, dt: float) -> Any:
    """Return g after dt: Runge and Kutta's fourth order in the algebra [Munthe-Kaas 1999]."""

    def slope(theta: Array, t: float) -> Array:
        x = rate(group.retract(g, theta), t)
        ad = group.ad(theta)
        return x + 0.5 * ad @ x + ad @ ad @ x / 12.0

    k1 = slope(np.zeros(group.dimension), t)
    k2 = slope(0.5 * dt * k1, t + 0.5 * dt)
    k3 = slope(0.5 * dt * k2, t + 0.5 * dt)
    k4 = slope(dt * k3, t + dt)
    return group.retract(g, dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4))


def heavy_top() -> System:
    """Return a top that turns about a fixed point under gravity: g = (R, w), u a torque.

    lambda = [w; J^-1 (m c x R'g - w x J w + u)], in body axes.
    """
    J, first_moment = np.diag([0.04, 0.05, 0.02]), np.array([0.0, 0.02, 0.15])
    J_inverse, gravity = np.linalg.inv(J), np.array([0.0, 0.0, -9.81])

    def field(g: Any, u: Array) -> Array:
        R, w = g
        torque = np.cross(first_moment, R.T @ gravity) - np.cross(w, J @ w) + u
        return np.concatenate((w, J_inverse @ torque))

    def derivatives(g: Any, u: Array) -> tuple[Array, Array]:
        R, w = g
        by_g = np.zeros((6, 6))
        by_g[:3, 3:] = np.eye(3)
        # R'g of R exp(z): (1 - z^) R'g, so (R'g)^ z
        by_g[3:, :3] = J_inverse @ se3.cross3(first_moment) @ se3.cross3(R.T @ gravity)
        by_g[3:, 3:] = J_inverse @ (se3.cross3(J @ w) - se3.cross3(w) @ J)
        return by_g, np.vstack((np.zeros((3, 3)), J_inverse))

    return System(
        name='heavy top',
        group=product(SO3, euclidean(3)),
        field=field,
        derivatives=derivatives,
        start=(se3.exp([0.0, 0.0, 0.0, 0.5, 0.3, 0.0])[:3, :3], np.array([0.5, -0.4, 12.0])),
        effort=lambda t: np.array([0.05 * np.sin(3.0 * t), 0.0, 0.02]),
    )


def underwater_vehicle() -> System:
    """Return a body in water: g = (H, v), u four thrusters; added mass, buoyancy and drag.

    lambda = [v; M^-1 (-v xb* M v + weight - D v + K u)], in body axes.
    """
    M = np.diag([14.0, 22.0, 26.0, 0.9, 1.6, 1.8])  # added mass: no rigid body's
    drag = np.diag([6.0, 12.0, 14.0, 0.4, 0.7, 0.8])
    righting = np.array([0.0, 0.0, -0.6])  # weight times height of the buoyancy over it [N m]
    up = np.array([0.0, 0.0, 1.0])
    K = np.zeros((6, 4))
    K[0, :2], K[5, 0], K[5, 1] = 1.0, 0.25, -0.25
    K[2, 2:], K[4, 2], K[4, 3] = 1.0, 0.3, -0.3
    M_inverse = np.linalg.inv(M)

    def field(g: Any, u: Array) -> Array:
        H, v = g
        weight = np.zeros(6)
        weight[3:] = np.cross(righting, -(H[:3, :3].T @ up))
        force = -se3.cross_wrench(v) @ M @ v + weight - drag @ v + K @ u
        return np.concatenate((v, M_inverse @ force))

    def derivatives(g: Any, u: Array) -> tuple[Array, Array]:
        H, v = g
        by_g = np.zeros((12, 12))
        by_g[:6, 6:] = np.eye(6)
        by_g[9:, 3:6] = -se3.cross3(righting) @ se3.cross3(H[:3, :3].T @ up)
        f, t = np.split(M @ v, 2)
        N = np.block([[np.zeros((3, 3)), se3.cross3(f)], [se3.cross3(f), se3.cross3(t)]])
        by_g[6:, 6:] = N - se3.cross_wrench(v) @ M - drag  # y xb* M v = -N y
        by_g[6:] = M_inverse @ by_g[6:]
        return by_g, np.vstack((np.zeros((6, 4)), M_inverse @ K))

    return System(
        name='underwater vehicle',
        group=product(SE3, euclidean(6)),
        field=field,
        derivatives=derivatives,
        start=(se3.exp([1.0, 2.0, -3.0, 0.4, 1.2, 0.5]), np.array([1.5, 0.3, -0.2, 0.4, 0.8, 1])),
        effort=lambda t: np.array([12.0, 8.0 + 4.0 * np.sin(2.0 * t), 3.0, -3.0]),
    )


class Errors(NamedTuple):
    """z(t) per unit of z(0), for each column of z(0)."""

    nonlinear: Array
    linear: Array


def error_after(system: System, t: float, without_adjoint: bool = False) -> Errors:
    """Return what becomes of errors between two motions: of the motions, and by zdot = A z."""
    group, k = system.group, system.group.dimension
    end, _ = system.motion(t)
    size = 1e-3  # central differences, extrapolated: errors of order size^4
    columns = []
    for e in np.eye(k):
        coarse, fine = (
            (
                group.difference(end, system.motion(t, group.retract(system.start, h * e))[0])
                - group.difference(end, system.motion(t, group.retract(system.start, -h * e))[0])
            )
            / (2.0 * h)
            for h in (size, 0.5 * size)
        )
        columns.append((4.0 * fine - coarse) / 3.0)

    dt, g, Z = t / STEPS, system.start, np.eye(k)

    def A(g: Any, t: float) -> Array:
        u = system.effort(t)
        found, _ = linearize(group, system.field, g, u, system.derivatives)
        return found + group.ad(system.field(g, u)) if without_adjoint else found

    for i in range(STEPS):
        now = i * dt
        middle, after = (
            step(group, lambda g, t: system.field(g, system.effort(t)), g, now, h)
            for h in (0.5 * dt, dt)
        )
        A0, A1, A2 = A(g, now), A(middle, now + 0.5 * dt), A(after, now + dt)
        k1 = A0 @ Z
        k2 = A1 @ (Z + 0.5 * dt * k1)
        k3 = A1 @ (Z + 0.5 * dt * k2)
        k4 = A2 @ (Z + dt * k3)
        g, Z = after, Z + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return Errors(np.array(columns).T, Z)


def report(system: System) -> str:
    """Return A and B of a system and how well they hold, as text."""
    g, u = system.motion(0.4)
    A, B = linearize(system.group, system.field, g, u, system.derivatives)
    A_differences, B_differences = linearize(system.group, system.field, g, u)
    errors = error_after(system, 0.5)
    with np.printoptions(precision=3, suppress=True, linewidth=130):
        return '\n'.join(
            (
                f'{system.name} on {system.group.name}, {B.shape[1]} inputs',
                f'A = {str(A).replace(chr(10), chr(10) + "    ")}',
                f'differences: A within {np.abs(A_differences - A).max():.1e}, '
                f'B within {np.abs(B_differences - B).max():.1e}',
                'error between two motions after 0.5 s: zdot = A z within '
                f'{np.abs(errors.linear - errors.nonlinear).max():.1e}',
                '',
            )
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print A of both systems and the checks."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    for system in (heavy_top(), underwater_vehicle()):
        print(report(system))


if __name__ == '__main__':
    main()
