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
from geolin_ros.dynamics import batch
from geolin_ros.dynamics.momentum import centre_of_mass
from geolin_ros.dynamics.points import Places
from geolin_ros.model.state import State
from geolin_ros.model.tree import STANDARD_GRAVITY, TreeModel
from geolin_ros.typing import Array
from geolin_walking.gait import Gait, Swing
from geolin_walking.reference import Command, Path, Planner, about_z, in_world

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
        middle = self.home.mean(axis=0)
        self._sides = (self.home - middle)[:, 1]
        self._knot: tuple[float, Array] = 0.0, self.stood[:, :2].mean(axis=0)
        self._walked = False
        self._steps: list[tuple[float, Array]] = []
        self._excess = np.zeros(2)
        self._com = np.zeros((gait.horizon + 1, 2))

    def _lead(
        self, times: Array, tick: int, state: State, command: Command
    ) -> tuple[Path, list[Array]]:
        path, dt = self._path(times, command), self.gait.dt
        yaws = np.unwrap(path.yaw)
        now = float(times[0])
        mass = centre_of_mass(self.model, state)
        nu = np.concatenate((state.v, state.r))
        c, speed = mass.com[:2], (mass.jacobian @ nu)[:2]
        measured = c + speed / self._omega
        swings = self.schedule.swings
        if not swings:
            if self._walked:
                self._knot = now, self._knot[1]
                self._walked = False
            goals: list[Array] = []
        else:
            if not self._walked:
                self._steps, self._excess = [], np.zeros(2)
            self._walked = True
            goals = self._goals(times, yaws, command)
            first = swings[0]
            self._learn(first.lift * self.gait.dt, c, float(path.yaw[0]))
            if first.lift <= tick:
                xi, _ = self._divergent(times, goals)
                late = xi[0]
                goals[0] = self._caught(goals[0], first, now, measured - late, path)
                goals = goals[:1] + self._goals(times, yaws, command, goals[0])[1:]
                self._knot = first.land * dt, self._stance(first)[:2].copy()
        xi, p = self._divergent(times, goals)
        self._p = p
        left = np.exp(-self._omega * (times - now))[:, None]  # of what c is off
        places = xi + left * (c - xi[0])
        rates = self._omega * (xi - places)
        xy = places - (about_z(path.yaw) @ self._offset)[:, :2]
        v = np.column_stack((rates, path.v[:, 2]))
        self._at[:2], self._com = xy[0], places
        return Path(xy, path.yaw, v), goals

    def _reach(self, times: Array, data: Array, feet: Array, turns: Array) -> Places:
        """Bend the legs, with the base where the centre of mass is on its path."""
        self.legs.approach(data, feet, turns, self._passed)
        count, n = len(data), self.model.n
        H = data[:, :16].reshape(count, 4, 4)
        M = batch.mass_matrix(self.model, data)
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

    def _stance(self, swing: Swing) -> Array:
        """Return where the other foot stands, or stood last."""
        return np.asarray(self.stood[1 - swing.group[0]])

    def _goals(
        self, times: Array, yaws: Array, command: Command, first: Array | None = None
    ) -> list[Array]:
        """Return footholds, each beside the other foot and half a stride ahead of it."""
        places, goals = self.stood.copy(), []
        length = self.gait.half * self.gait.dt
        wanted = self._v - [*self._excess, 0.0]
        for number, swing in enumerate(self.schedule.swings):
            foot = swing.group[0]
            yaw = float(np.interp(swing.land * self.gait.dt, times, yaws))
            aside = about_z(yaw) @ np.array([0.0, self._sides[foot] - self._sides[1 - foot], 0.0])
            goal = places[1 - foot] + aside + length * in_world(wanted, yaw) * [1, 1, 0]
            goal[2] = self._ground(goal[:2])
            if number == 0 and first is not None:
                goal = first[0]
            places[foot] = goal
            goals.append(goal[None])
        return goals

    def _caught(self, goal: Array, swing: Swing, now: float, error: Array, path: Path) -> Array:
        """Return a foothold moved by what the divergent component will be off."""
        size = float(np.linalg.norm(error))
        error = error * max(0.0, size - DEAD_ZONE) / max(size, 1e-9)
        remaining = max(0.0, swing.land * self.gait.dt - now)
        moved = goal[0, :2] + np.exp(self._omega * remaining) * error
        R = about_z(path.yaw[0])[:2, :2]
        stance = self._stance(swing)[:2]
        away = R.T @ (moved - stance)
        foot = swing.group[0]
        width = self._sides[foot] - self._sides[1 - foot]
        away[1] = np.sign(width) * np.clip(
            np.sign(width) * away[1], NEAREST * abs(width), WIDEST * abs(width)
        )
        ahead = (R.T @ (goal[0, :2] - stance))[0]
        away[0] = np.clip(away[0], ahead - LONGEST, ahead + LONGEST)
        xy = stance + R @ away
        return np.array([[*xy, goal[0, 2]]])

    def _divergent(self, times: Array, goals: list[Array]) -> tuple[Array, Array]:
        """Return xi at the nodes, and p (N, 2) of the intervals between them."""
        dt = self.gait.dt
        knots = [self._knot]
        places = self.stood.copy()
        for swing, goal in zip(self.schedule.swings, goals, strict=True):
            foot = swing.group[0]
            support = places[1 - foot][:2].copy()
            knots += [(swing.lift * dt, support), (swing.land * dt, support)]
            places[foot] = goal[0]
        middle = places[:, :2].mean(axis=0)
        if not self.schedule.walks or not self._moving:
            knots.append((max(knots[-1][0], float(times[0])) + TO_REST, middle))
        at = np.array([t for t, _ in knots])
        points = np.array([point for _, point in knots])
        order = np.argsort(at, kind='stable')
        at, points = at[order], points[order]
        end = max(float(times[-1]), float(at[-1])) + dt
        grid = np.concatenate((times, np.arange(times[-1] + dt, end + dt, dt)))
        mid = 0.5 * (grid[1:] + grid[:-1])
        p = np.column_stack([np.interp(mid, at, points[:, e]) for e in (0, 1)])
        left = np.exp(-self._omega * (grid - grid[0]))[:, None]
        passed = np.diff(left, axis=0) * p
        later = np.cumsum(passed[::-1], axis=0)[::-1]
        xi = (left[-1] * p[-1] - np.vstack((later, np.zeros(2)))) / left
        return xi[: len(times)], p[: len(times) - 1]

    def _loads(self, times: Array, stands: Array) -> Array:
        """Return the shares of the weight, by where the support centre is between the soles."""
        shares = np.zeros(stands.shape)
        for k in range(len(stands)):
            shares[k] = stands[k]
            if stands[k].all():
                a, b = self._feet[k, :, :2]
                way = b - a
                share = np.clip((self._p[k] - a) @ way / max(float(way @ way), 1e-9), 0.0, 1.0)
                shares[k] = 1.0 - share, share
        return shares
