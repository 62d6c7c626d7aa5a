# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Steps on two soles, and the centre of mass that they can carry.

The support centre p moves from sole to sole, in a straight line while both stand. The divergent
component xi = c + dc/dt / w of the centre of mass c is found backwards in time, c forwards:

    xi_k = p + e^{-w dt} (xi_{k+1} - p),   c_{k+1} = xi_{k+1} + e^{-w dt} (c_k - xi_k)

with w = sqrt(g / h) [Englsberger 2015]. A step in the air moves by what the measured divergent
component will be off when it lands.
"""

from collections.abc import Sequence

import numpy as np

from geolin_ros.control.support import Support
from geolin_ros.dynamics.functions import mass_matrix
from geolin_ros.dynamics.kinematics import Places
from geolin_ros.dynamics.momentum import centre_of_mass
from geolin_ros.model.state import State
from geolin_ros.model.tree import STANDARD_GRAVITY, TreeModel
from geolin_ros.typing import Array
from geolin_walking.gait import Gait, Swing
from geolin_walking.reference import Command, Path, Planner, about_z

DEAD_ZONE = 0.06
"""Of the divergent component, within which steps stay where they are planned [m]; a leg that
swings moves it by 0.05 m, which the pendulum does not know."""
NEAREST, WIDEST = 0.7, 2.6
"""Of a step to its side, in widths of the stance."""
LONGEST = 0.35
"""Of a correction forwards [m]."""
LEARNING, LEARNED = 0.3, 0.1
"""Share of a stride's error by which the next ones are shorter, and at most so much [m/s]."""
TO_REST = 0.4
"""In which the support centre goes to the middle at the end [s]."""


class Stepper(Planner):
    """Makes the reference of a robot on two soles."""

    below = 0.005
    rising = 0.15  # a toe before an edge clears it

    def __init__(
        self, model: TreeModel, supports: Sequence[Support], gait: Gait, posture: State
    ) -> None:
        super().__init__(model, supports, gait, posture)
        com = centre_of_mass(model, posture).com
        self._offset = com - posture.H[:3, 3]
        height = (com - self.stood.mean(axis=0))[2]
        self._omega = float(np.sqrt(np.linalg.norm(STANDARD_GRAVITY) / height))
        self._sides = self.home[:, 1]
        self._knot: tuple[float, Array] = 0.0, self.stood[:, :2].mean(axis=0)
        self._walked = False
        self._steps: list[tuple[float, Array]] = []
        self._excess = np.zeros(2)
        self._com = np.zeros((gait.horizon + 1, 2))

    def _lead(
        self, times: Array, tick: int, state: State, command: Command
    ) -> tuple[Path, list[Array]]:
        path, now = self._path(times, command), float(times[0])
        mass = centre_of_mass(self.model, state)
        c, speed = mass.com[:2], (mass.jacobian @ np.concatenate((state.v, state.r)))[:2]
        swings, goals = self.schedule.swings, list[Array]()
        if swings:
            if not self._walked:
                self._steps, self._excess = [], np.zeros(2)
            yaws, first = np.unwrap(path.yaw), swings[0]
            goals = self._goals(times, yaws)
            self._learn(first.lift * self.gait.dt, c, float(path.yaw[0]))
            if first.lift <= tick:
                late = c + speed / self._omega - self._divergent(times, goals)[0][0]
                goals[0] = self._caught(goals[0], first, now, late, float(path.yaw[0]))
                goals = self._goals(times, yaws, goals[0])
                stance = self.stood[1 - first.group[0], :2]
                self._knot = first.land * self.gait.dt, stance.copy()
        elif self._walked:
            self._knot = now, self._knot[1]
        self._walked = bool(swings)
        xi, self._p = self._divergent(times, goals)
        left = np.exp(-self._omega * (times - now))[:, None]  # of what c is off
        self._com = xi + left * (c - xi[0])
        xy = self._com - (about_z(path.yaw) @ self._offset)[:, :2]
        self._at[:2] = xy[0]
        v = np.column_stack((self._omega * (xi - self._com), path.v[:, 2]))
        return Path(xy, path.yaw, v), goals

    def _reach(self, times: Array, data: Array, feet: Array, turns: Array) -> Places:
        """Bend the legs, with the base where the centre of mass is on its path."""
        self.legs.approach(data, feet, turns, self._passed)
        count, n = len(data), self.model.n
        H = data[:, :16].reshape(count, 4, 4)
        M = mass_matrix(self.model, data)
        own = np.column_stack((M[:, 1, 5], M[:, 2, 3], M[:, 0, 4])) / M[:, :1, 0]
        com = H[:, :3, 3] + (H[:, :3, :3] @ own[..., None])[..., 0]
        H[:, :2, 3] += self._com - com[:, :2]
        v = np.zeros((count, 3, 1))
        v[:, :2, 0] = np.gradient(H[:, :2, 3], times, axis=0)
        data[:, 16 + n : 19 + n] = (H[:, :3, :3].transpose(0, 2, 1) @ v)[..., 0]
        return self.legs.bend(data, feet, turns)

    def _learn(self, lift: float, c: Array, yaw: float) -> None:
        """Learn from each stride of two steps by how much steps are too long."""
        if self._steps and lift <= self._steps[-1][0]:
            return
        self._steps = [*self._steps[-2:], (lift, c.copy())]
        if len(self._steps) > 2:
            (begin, start), _, (end, stop) = self._steps
            v = about_z(yaw)[:2, :2].T @ (stop - start) / (end - begin)
            error = np.clip(v - self._v[:2], -LEARNED, LEARNED)
            self._excess = np.clip(self._excess + LEARNING * error, -LEARNED, LEARNED)

    def _goals(self, times: Array, yaws: Array, first: Array | None = None) -> list[Array]:
        """Return footholds, each beside the other foot and half a stride ahead of it."""
        places, goals = self.stood.copy(), list[Array]()
        stride = self.gait.half * self.gait.dt * (self._v - [*self._excess, 0.0]) * [1, 1, 0]
        for swing in self.schedule.swings:
            foot = swing.group[0]
            if first is None or goals:
                yaw = float(np.interp(swing.land * self.gait.dt, times, yaws))
                aside = np.array([0.0, self._sides[foot] - self._sides[1 - foot], 0.0])
                goal = places[1 - foot] + about_z(yaw) @ (aside + stride)
                goal[2] = self._ground(goal[:2])
            else:
                goal = first[0]
            places[foot] = goal
            goals.append(goal[None])
        return goals

    def _caught(self, goal: Array, swing: Swing, now: float, error: Array, yaw: float) -> Array:
        """Return a foothold moved by what the divergent component will be off."""
        size = float(np.linalg.norm(error))
        error = error * max(0.0, size - DEAD_ZONE) / max(size, 1e-9)
        remaining = max(0.0, swing.land * self.gait.dt - now)
        R, foot = about_z(yaw)[:2, :2], swing.group[0]
        stance = self.stood[1 - foot, :2]
        planned = R.T @ (goal[0, :2] - stance)
        away = planned + np.exp(self._omega * remaining) * (R.T @ error)
        width = self._sides[foot] - self._sides[1 - foot]
        away[1] = width * np.clip(away[1] / width, NEAREST, WIDEST)
        away[0] = np.clip(away[0], planned[0] - LONGEST, planned[0] + LONGEST)
        return np.array([[*(stance + R @ away), goal[0, 2]]])

    def _divergent(self, times: Array, goals: list[Array]) -> tuple[Array, Array]:
        """Return xi at the nodes, and p (N, 2) of the intervals between them."""
        dt = self.gait.dt
        knots = [self._knot]
        places = self.stood.copy()
        for swing, goal in zip(self.schedule.swings, goals, strict=True):
            foot = swing.group[0]
            support = places[1 - foot, :2].copy()
            knots += [(swing.lift * dt, support), (swing.land * dt, support)]
            places[foot] = goal[0]
        middle = places[:, :2].mean(axis=0)
        if not self.schedule.swings or not self._moving:
            knots.append((max(knots[-1][0], float(times[0])) + TO_REST, middle))
        knots.sort(key=lambda knot: knot[0])
        at, points = (np.array(part) for part in zip(*knots, strict=True))
        end = max(float(times[-1]), float(at[-1])) + dt
        grid = np.concatenate((times, np.arange(times[-1] + dt, end + dt, dt)))
        mid = 0.5 * (grid[1:] + grid[:-1])
        p = np.column_stack([np.interp(mid, at, points[:, e]) for e in (0, 1)])
        left = np.exp(-self._omega * (grid - grid[0]))[:, None]
        passed = np.diff(left, axis=0) * p
        later = np.cumsum(passed[::-1], axis=0)[::-1]
        xi = (left[-1] * p[-1] - np.vstack((later, np.zeros(2)))) / left
        return xi[: len(times)], p[: len(times) - 1]

    def _loads(self, feet: Array, stands: Array) -> Array:
        """Return the shares of the weight, by where the support centre is between the soles."""
        shares = stands.astype(np.float64)
        for k in np.flatnonzero(stands.all(axis=1)):
            a, b = feet[k, :, :2]
            way = b - a
            share = np.clip((self._p[k] - a) @ way / max(float(way @ way), 1e-9), 0.0, 1.0)
            shares[k] = 1.0 - share, share
        return shares
