# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where base and feet should be over the horizon: a kinematic reference with its efforts.

Feet stand where they are measured, then where they were planned, and legs reach for them at all
nodes at once. It need not be possible: what it asks of the dynamics is the defect of its
linearization.
"""

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from geolin_ros.control.support import Support
from geolin_ros.dynamics.functions import inverse_dynamics
from geolin_ros.dynamics.kinematics import Places, Points
from geolin_ros.errors import ConfigurationError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array, IntArray
from geolin_walking.gait import Gait, Phase, Schedule, Swing

ACCELERATION = 2.0
"""Of the command [m/s^2], and [rad/s^2] of its turning."""
LEASH, YAW_LEASH = 0.1, 0.3
"""How far the reference may be from where the robot is [m], [rad]."""
CAPTURE, FARTHEST = 0.2, 0.15
"""Footholds move by so much of the excess of velocity [s], at most so far [m]."""
HEIGHT = 0.07
"""Of a swing [m]."""
DESCENT, LATEST = 0.3, 0.1
"""A foot that has not landed goes down so fast [m/s], for so long [s]."""
EARLIEST = 0.6
"""Share of a swing from which on a touch is the landing."""
STILL = 0.02
"""A command, and a velocity of the reference, below it is a stop [m/s, rad/s]."""
DAMPING = 1e-4  # of the least squares of legs
LARGEST_STEP = 0.5  # [rad]
ITERATIONS = 6
ENOUGH = 5e-5  # [m, rad]


class Command(NamedTuple):
    """Velocity in the robot's own heading [m/s, m/s, rad/s]."""

    vx: float = 0.0
    vy: float = 0.0
    yaw_rate: float = 0.0


class Reference(NamedTuple):
    """Nodes t_0 ... t_N of a horizon."""

    times: Array
    states: Array
    """(N + 1, 22 + 2 n) rows of `State.data`."""
    efforts: Array
    """(N, n) [N m or N]."""
    in_force: tuple[tuple[str, ...], ...]
    """Of each interval."""
    p: Array
    """(N + 1, K, 3) feet in the world [m]."""
    R: Array
    """(N + 1, K, 3, 3)"""
    v: Array
    """(N + 1, K, 6) their velocities in world axes [m/s, rad/s]."""
    swinging: Array
    """(N + 1, K) whether a foot comes from the air or goes into it."""
    loads: Array
    """(N, K) share of the weight that each foot should carry."""


class Path(NamedTuple):
    """The base seen from above at the nodes."""

    xy: Array
    yaw: Array
    v: Array
    """(N + 1, 3) in the world: x, y, yaw."""


class Legs:
    """The ``joints`` between the base and each foot, by number."""

    def __init__(self, model: TreeModel, supports: Sequence[Support]) -> None:
        self.model = model
        self.points = Points(model, [support.at(model) for support in supports])
        state = model.random_state(np.random.default_rng(0))
        J = self.points([state]).J[0]
        joints = [np.flatnonzero(np.any(leg[:, 6:], axis=0)) for leg in J]
        self.joints: list[IntArray] = joints
        alike: dict[tuple[int, int], list[int]] = {}
        for k, support in enumerate(supports):
            alike.setdefault((support.rows, len(joints[k])), []).append(k)
        self._legs = [
            (size, np.array(feet), np.array([joints[k] for k in feet]))
            for (size, _), feet in alike.items()
        ]
        self._s = slice(16, 16 + model.n)
        self._last: Array | None = None

    def bend(self, data: Array, p: Array, R: Array, passed: int = 0) -> Places:
        """Move the legs of states (N, ...) so that feet are at p (N, K, 3), soles along R.

        Legs start as they were after the last call, where so many nodes have passed since.
        """
        self._take_up(data, passed)
        limits = self.model.limits
        for _ in range(ITERATIONS):
            at, error = self._step(data, p, R)
            if error < ENOUGH:
                break
        else:
            at = self.points(data)
        self._last = data[:, self._s].copy()
        np.clip(data[:, self._s], limits.lower, limits.upper, out=data[:, self._s])
        return at if np.array_equal(self._last, data[:, self._s]) else self.points(data)

    def approach(self, data: Array, p: Array, R: Array, passed: int) -> None:
        """Move the legs nearly as `bend`, by one step."""
        self._take_up(data, passed)
        self._step(data, p, R)
        self._last = data[:, self._s].copy()

    def _take_up(self, data: Array, passed: int) -> None:
        if self._last is not None:
            nodes = np.minimum(np.arange(len(data)) + passed, len(data) - 1)
            for _, _, joints in self._legs:
                data[:, 16 + joints] = self._last[nodes][:, joints]

    def _step(self, data: Array, p: Array, R: Array) -> tuple[Places, float]:
        """Move the legs unless they are near enough; return where feet were, and how far off."""
        at, errors = self.points(data), []
        for size, feet, _ in self._legs:
            error = p[:, feet] - at.p[:, feet]
            if size == 6:
                turn = turn_between(at.R[:, feet], R[:, feet])
                error = np.concatenate((error, turn), axis=-1)
            errors.append(error)
        largest = max(float(np.abs(error).max()) for error in errors)
        if largest >= ENOUGH:
            for (size, feet, joints), error in zip(self._legs, errors, strict=True):
                step = _least_squares(at, size, feet, joints, error)
                data[:, 16 + joints] += np.clip(step, -LARGEST_STEP, LARGEST_STEP)
        return at, largest

    def move(self, data: Array, at: Places, v: Array) -> None:
        """Set the rates of the legs so that feet move with v (N, K, 6) in world axes."""
        base = data[:, None, 16 + self.model.n : 22 + self.model.n, None]
        for size, feet, joints in self._legs:
            missing = v[:, feet, :size] - (at.J[:, feet, :size, :6] @ base)[..., 0]
            rates = _least_squares(at, size, feet, joints, missing)
            data[:, 22 + self.model.n + joints] = rates


class Planner:
    """Makes the reference of a robot, cycle after cycle.

    Of its ``posture`` it keeps the height of the base, the feet below it and the positions of
    other joints. Raises `ConfigurationError` if joints have several axes.
    """

    below = 0.015
    """How far below the ground a swing aims: its foot then lands in time [m]."""
    rising = 0.0
    """Share of a swing in which a foot goes up alone."""

    def __init__(
        self, model: TreeModel, supports: Sequence[Support], gait: Gait, posture: State
    ) -> None:
        if model.n_s != model.n:
            raise ConfigurationError(
                f'robot {model.name!r} has joints with several axes, expected single ones to walk'
            )
        self.model, self.supports, self.gait = model, tuple(supports), gait
        self.names = [support.frame for support in supports]
        self.legs, self.schedule = Legs(model, supports), Schedule(gait)
        self.posture = posture
        stood = self.legs.points([posture])
        H = posture.H
        self.home: Array = stood.p[0] - H[:3, 3]
        """(K, 3) feet seen from the base."""
        self._turns = stood.R[0]
        self.stood: Array = stood.p[0].copy()
        """(K, 3) where feet stand or stood last."""
        self._plane = self._lay_plane()
        self._yaws = np.zeros(len(self.names))
        self._at, self._v = np.array([*H[:2, 3], 0.0]), np.zeros(3)
        self._time: float | None = None
        self._tick = self._passed = 0
        self._moving = False

    @property
    def phase(self) -> Phase:
        """What the robot does."""
        if not self.schedule.swings:
            return Phase.STAND
        return Phase.WALK if self._moving else Phase.STOP

    def __call__(
        self, time: float, state: State, touching: Sequence[bool], command: Command
    ) -> Reference:
        """Return the reference from a measured state on; ``touching``: which feet press."""
        gait = self.gait
        tick = int(np.ceil(time / gait.dt + 0.3 - 1e-9)) - 1
        times = np.concatenate(([time], (tick + 1 + np.arange(gait.horizon)) * gait.dt))
        self._follow(time, state, command)
        now = self.legs.points([state])
        p, R = now.p[0], now.R[0] @ self._turns.transpose(0, 2, 1)
        yaws = np.arctan2(R[:, 1, 0], R[:, 0, 0])
        self._sense(tick, touching)
        moves = max(np.abs(command)) > STILL or np.abs(self._v).max() > STILL
        self._moving = self._goes_on(bool(moves), p)
        self.schedule.extend(tick, self._moving)
        for foot in range(len(self.names)):
            if self.schedule.swing_of(foot, tick) is None:
                self.stood[foot], self._yaws[foot] = p[foot], yaws[foot]
        self._plane = self._lay_plane()
        path, goals = self._lead(times, tick, state, command)
        feet, turns, v = self._swing(times, tick, path, goals)
        data = self._base(path)
        air = [
            [self.schedule.swing_of(foot, k) is not None for foot in range(len(self.names))]
            for k in range(tick, tick + gait.horizon)
        ]
        stands = ~np.array(air)
        swinging = ~np.vstack((stands, stands[-1:]))
        swinging[1:] |= ~stands
        self._passed, self._tick = tick - self._tick, tick
        at = self._reach(times, data, feet, turns)
        self.legs.move(data, at, v)
        efforts, loads = self.efforts(data[:-1], stands, at), self._loads(feet, stands)
        in_force = tuple(tuple(compress(self.names, own)) for own in stands.tolist())
        return Reference(times, data, efforts, in_force, feet, turns, v, swinging, loads)

    def _follow(self, time: float, state: State, command: Command) -> None:
        """Move the reference on by what has passed, and not far from the robot."""
        yaw = np.arctan2(state.H[1, 0], state.H[0, 0])
        if self._time is None:
            self._time, self._at = time, np.array([*state.H[:2, 3], yaw])
        elapsed, self._time = time - self._time, time
        self._v += np.clip(command - self._v, -ACCELERATION * elapsed, ACCELERATION * elapsed)
        self._at += elapsed * in_world(self._v, self._at[2])
        away = self._at[:2] - state.H[:2, 3]
        far = np.linalg.norm(away)
        if far > LEASH:
            self._at[:2] = state.H[:2, 3] + LEASH / far * away
        self._at[2] = yaw + np.clip(_shortest(self._at[2] - yaw), -YAW_LEASH, YAW_LEASH)

    def _sense(self, tick: int, touching: Sequence[bool]) -> None:
        """End swings of feet that touch early, and prolong those of feet that do not."""
        for swing in list(self.schedule.swings):
            if swing.lift > tick:
                continue
            for foot in swing.group:
                swing.starts.setdefault(foot, (self.stood[foot].copy(), float(self._yaws[foot])))
            down = [touching[foot] for foot in swing.group]
            late = (swing.land - swing.lift - self.gait.swing) * self.gait.dt
            if tick - swing.lift > EARLIEST * self.gait.swing and all(down):
                swing.land = min(swing.land, tick)
            elif swing.land <= tick and not any(down) and late < LATEST:
                self.schedule.delay(swing, 1)

    def _goes_on(self, moves: bool, p: Array) -> bool:
        """Return whether further swings are planned; to a stop, feet come back below the hips."""
        if moves:
            return True
        away = p - self.home @ about_z(self._at[2]).T
        away -= away.mean(axis=0)
        return bool(self.schedule.swings and np.abs(away[:, :2]).max() > 0.04)

    def _lead(
        self, times: Array, tick: int, state: State, command: Command
    ) -> tuple[Path, list[Array]]:
        """Return the base, and where the feet of each swing land."""
        path, goals, dt = self._path(times, command), list[Array](), self.gait.dt
        for swing in self.schedule.swings:
            if swing.lift * dt > times[-1]:
                break
            node = min(int(np.searchsorted(times, swing.land * dt)), len(times) - 1)
            feet = [self._foothold(foot, node, path, state) for foot in swing.group]
            goals.append(np.array(feet))
        return path, goals

    def _path(self, times: Array, command: Command) -> Path:
        """Return the base at the nodes, by the command."""
        dt = np.diff(times)[:, None]
        most = ACCELERATION * (times - times[0])[:, None]
        v = self._v + np.clip(command - self._v, -most, most)
        yaw = self._at[2] + np.concatenate(([0.0], np.cumsum(dt[:, 0] * v[1:, 2])))
        moved = dt * in_world(v[1:], yaw[:-1] + 0.5 * dt[:, 0] * v[1:, 2])
        xy = self._at[:2] + np.vstack((np.zeros(2), np.cumsum(moved[:, :2], axis=0)))
        return Path(xy, yaw, in_world(v, yaw))

    def _base(self, path: Path) -> Array:
        """Return states of a level base above the ground, joints as they stand."""
        n, count = self.model.n, len(path.yaw)
        data = np.tile(self.posture.data, (count, 1))
        H = data[:, :16].reshape(count, 4, 4)
        R = about_z(path.yaw)
        H[:, :3, :3] = R
        H[:, :2, 3] = path.xy
        H[:, 2, 3] = self._ground(path.xy) - self.home[:, 2].mean()
        v = np.column_stack((path.v[:, :2], path.v[:, :2] @ self._plane[1:]))
        data[:, 16 + n : 19 + n] = (R.transpose(0, 2, 1) @ v[..., None])[..., 0]
        data[:, 21 + n] = path.v[:, 2]
        return data

    def _lay_plane(self) -> Array:
        """Return (a, b, c) of the height a + b x + c y of the feet that stand or stood last."""
        centre = self.stood.mean(axis=0)
        away = self.stood - centre
        M = away[:, :2].T @ away[:, :2] + (1e-3 if len(away) > 2 else 1e3) * np.eye(2)
        slope = np.linalg.solve(M, away[:, :2].T @ away[:, 2])
        return np.array([centre[2] - slope @ centre[:2], *slope])

    def _ground(self, xy: Array) -> Array:
        """Return the height of feet that stand at places (..., 2)."""
        return np.asarray(self._plane[0] + xy @ self._plane[1:])

    def _foothold(self, foot: int, node: int, path: Path, state: State) -> Array:
        """Return where a foot lands at a node: below its hip, ahead by half a stance."""
        v = path.v[node, :2]
        excess = (state.H[:3, :3] @ state.v[:3])[:2] - path.v[0, :2]
        R = about_z(path.yaw[node])
        gait = self.gait
        stance = (len(gait.groups) * gait.half - gait.swing) * gait.dt  # between two swings [s]
        lead = 0.5 * stance
        turned = about_z(path.yaw[node] + lead * path.v[node, 2])
        catch = CAPTURE * excess
        catch *= min(1.0, FARTHEST / max(float(np.linalg.norm(catch)), 1e-9))
        xy = path.xy[node] + (0.5 * (R + turned) @ self.home[foot])[:2] + lead * v + catch
        return np.array([*xy, self._ground(xy)])

    def _swing(
        self, times: Array, tick: int, path: Path, goals: list[Array]
    ) -> tuple[Array, Array, Array]:
        """Return positions, axes and velocities of the feet at the nodes."""
        count, feet, dt = len(times), len(self.names), self.gait.dt
        p = np.repeat(self.stood[None], count, axis=0)
        yaws = np.repeat(self._yaws[None], count, axis=0)
        v = np.zeros((count, feet, 6))
        heading = np.unwrap(path.yaw)
        for foot in range(feet):
            start, yaw = self.stood[foot], self._yaws[foot]
            for swing, goal in zip(self.schedule.swings, goals, strict=False):
                begin, end = swing.lift * dt, swing.land * dt
                if foot not in swing.group or begin > times[-1]:
                    continue
                own = times >= begin - 1e-9
                if swing.lift <= tick:
                    start, yaw = swing.starts[foot]
                    own[:] = True
                there = goal[swing.group.index(foot)]
                p[own, foot], v[own, foot, :3] = self._fly(swing, times[own], start, there)
                turned = _shortest(float(np.interp(end, times, heading)) - yaw)
                share = np.clip((times[own] - begin) / (end - begin), 0.0, 1.0)
                yaws[own, foot] = yaw + turned * share
                v[own, foot, 5] = np.where(share < 1.0, turned / (end - begin), 0.0)
                start, yaw = there, yaw + turned
        return p, about_z(yaws) @ self._turns[None], v

    def _fly(self, swing: Swing, times: Array, start: Array, goal: Array) -> tuple[Array, Array]:
        """Return positions and velocities along a swing, at its end from there on."""
        begin, length = swing.lift * self.gait.dt, self.gait.swing * self.gait.dt
        elapsed = times - begin
        s = np.clip(elapsed / length, 0.0, 1.0)[:, None]
        t = np.maximum(s - self.rising, 0.0) / (1.0 - self.rising)
        along = t**3 * (10.0 - 15.0 * t + 6.0 * t * t)
        rate = 30.0 * (t * (1.0 - t)) ** 2 / (1.0 - self.rising)
        rise, climb = 64.0 * (s * (1.0 - s)) ** 3, 192.0 * (s * (1.0 - s)) ** 2 * (1.0 - 2.0 * s)
        up, aim = np.array([0.0, 0.0, HEIGHT]), goal - [0.0, 0.0, self.below]
        p = start + along * (aim - start) + rise * up
        v = (rate * (aim - start) + climb * up) / length
        landed = times >= swing.land * self.gait.dt - 1e-9
        late = (elapsed > length + 1e-9) & ~landed
        p[late, 2] -= DESCENT * (elapsed[late] - length)
        v[late, 2] = -DESCENT
        p[landed] = goal
        v[landed] = 0.0
        return p, v

    def _loads(self, feet: Array, stands: Array) -> Array:
        return np.asarray(stands / np.maximum(stands.sum(axis=1, keepdims=True), 1))

    def _reach(self, times: Array, data: Array, feet: Array, turns: Array) -> Places:
        """Bend the legs of states so that feet are where they should be."""
        return self.legs.bend(data, feet, turns, self._passed)

    def efforts(self, data: Array, stands: Array, at: Places) -> Array:
        """Return inverse dynamics without acceleration, less the least forces of feet.

        Of rows (N, 22 + 2 n) of `State.data`, on the feet (N, K) that stand, which are ``at``.
        """
        model, count = self.model, len(data)
        h = inverse_dynamics(model, data, np.zeros((count, model.m)))
        rows = [
            at.J[:count, k, : support.rows] * stands[:, k, None, None]
            for k, support in enumerate(self.supports)
        ]
        J = np.concatenate(rows, axis=1)
        J_b, J_t = J[..., :6], J.transpose(0, 2, 1)
        f = J_b @ np.linalg.solve(J_t[:, :6] @ J_b + 1e-6 * np.eye(6), h[:, :6, None])
        efforts = h[:, 6:] - (J_t[:, 6:] @ f)[..., 0]
        limit = model.limits.effort
        return np.asarray(np.clip(efforts, -limit, limit))


def _shortest(turn: float) -> float:
    return (turn + np.pi) % (2.0 * np.pi) - np.pi


def about_z(angle: Array | float) -> Array:
    """Return turns (..., 3, 3) about z."""
    angle = np.asarray(angle)
    R = np.zeros((*angle.shape, 3, 3))
    R[..., 0, 0] = R[..., 1, 1] = np.cos(angle)
    R[..., 1, 0] = np.sin(angle)
    R[..., 0, 1] = -R[..., 1, 0]
    R[..., 2, 2] = 1.0
    return R


def in_world(v: Array, yaw: Array | float) -> Array:
    """Return (vx, vy, yaw rate) (..., 3) in world axes."""
    return np.asarray((about_z(yaw) @ v[..., None])[..., 0])


def turn_between(first: Array, second: Array) -> Array:
    """Return the sine times the axis (..., 3) of the turn from axes to others (..., 3, 3)."""
    R = second @ first.swapaxes(-1, -2)
    skew = 0.5 * (R - R.swapaxes(-1, -2))
    return np.stack((skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]), axis=-1)


def _least_squares(at: Places, size: int, feet: IntArray, joints: IntArray, error: Array) -> Array:
    """Return damped J^+ e of all nodes and legs, J (size, joints) of a foot by its own joints."""
    J = np.take_along_axis(at.J[:, feet, :size, 6:], joints[None, :, None, :], axis=3)
    J_t = J.swapaxes(-1, -2)
    M = J_t @ J + DAMPING * np.eye(J.shape[-1])
    return np.asarray(np.linalg.solve(M, J_t @ error[..., None])[..., 0], dtype=np.float64)
