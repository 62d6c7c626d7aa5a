# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics: a posture with feet in given places and the centre of mass over them.

Gauss and Newton's method on SE(3) x R^n with the body Jacobians of the frames [Murray 1994]:
errors are twists log(H^-1 H_wanted) in the axes of each frame, steps bounded least squares within
the joint limits. What must hold, feet and centre of mass, is weighted far above what is only
wished for, height, uprightness and joint positions, and is met to rounding at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.support import Support, level, polygon_centre, support_polygon
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import centre_of_mass
from geolin_ros.errors import ConfigurationError, InfeasibleError, NotFiniteError
from geolin_ros.linearization.contacts.description import resolve
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

optimize = optional('scipy.optimize', extra='control')

CROUCH = 0.9
"""Height of the base above the feet, of what it is with joints at rest, unless it is given."""
TOLERANCE = 1e-9
"""Largest error of a foot or the centre of mass [m, rad]."""
ROUNDING = 1e-13
"""Error at which further steps change nothing [m, rad]."""
FOLDED, STRETCHED, BENT = 0.5, 0.85, 0.75
"""Distance from hip to foot, of the leg's length: outside of the first two a leg on a point has no
room for a push, and stands at the third by default."""
RESERVE = 0.25
"""Of effort limits, of ways to joint limits and of friction: what a posture keeps for pushes."""
HEIGHTS = 1.05, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7
"""Heights that are tried where it keeps less, of the default one."""
HEIGHT_TOLERANCE = 0.01
"""By which a height that was asked for may be missed [m]; other wishes pull at it a little."""
NEARLY = 1e-3
"""Error up to which soles that nobody has placed need only be level on the ground [m, rad]."""
_MUST, _HEIGHT, _UPRIGHT, _LEG, _JOINT = 1e3, 10.0, 10.0, 0.1, 3.0
_BEND = 0.1  # of the way to the middle of a joint's range: a stretched leg cannot start to bend
_LARGEST_STEP = 0.3  # [m, rad]: beyond, a linear step promises too much
_STEPS = 60


def standing_posture(
    model: TreeModel,
    supports: Sequence[Support],
    *,
    joints: Mapping[str, float] | None = None,
    height: float | None = None,
    feet: Mapping[str, ArrayLike] | None = None,
    com: ArrayLike | None = None,
    start: State | None = None,
) -> State:
    """Return a state at rest that stands on its supports, upright, centre of mass over them.

    Parameters
    ----------
    model, supports
        A robot with a floating base, and what it stands on.
    joints
        Positions that joints should be near [rad or m]; the others near zero, or the limit
        nearest to it.
    height
        Of the base above the lowest foothold or the ground below a ball [m]; by default ``CROUCH``
        of what it is with joints where they should be. Where none are given, legs on points that
        are then nearly stretched, or folded, are bent to ``BENT`` instead, feet below the hips
        where they are far off; and where efforts, joint limits or friction leave less than
        ``RESERVE`` there, it is the one of ``HEIGHTS`` that leaves most.
    feet
        Where feet are, by frame. Of a support the world pose (4, 4), of which points read the
        position alone, balls that of their centre; by default where it is, level and on the ground
        z = 0. Of a link in the air the world position (3,).
    com : (2,)
        Where the centre of mass should be, seen from above [m]; by default over the supports.
    start
        Where to begin, instead of ``joints``; its feet stay where they are unless ``feet`` moves
        them.

    Raises
    ------
    InfeasibleError
        If no posture within the joint limits was found: what is missed, and by how much.
    NotFiniteError
        If the height is NaN or inf.
    ConfigurationError, UnknownNameError
        If the base is fixed, there is no support, or two are of one frame; if a joint or frame is
        not of the robot.
    """
    frames = [support.frame for support in supports]
    if model.base != 'floating' or not frames or len({*frames}) < len(frames):
        raise ConfigurationError(
            f'robot {model.name!r} has a {model.base} base and supports {frames}, expected a '
            'floating base and a support, each of another frame'
        )
    if height is not None and not np.isfinite(height):
        raise NotFiniteError(f'height is {height} m, expected a finite number')
    seed = state_with(model, joints or {}) if start is None else start.at_rest()
    at = Kinematics(model, seed)
    wanted = {support.frame: at.pose(support.at(model)) for support in supports}
    asked, is_bent = height, False
    if start is None:
        stretched = seed.H[2, 3] - _floor(wanted, supports)
        for support in supports:
            wanted[support.frame] = level(wanted[support.frame])
            wanted[support.frame][2, 3] = support.radius
        if height is None:
            height = CROUCH * float(stretched)
            better = None if joints else _bent_legs(at, supports, height)
            if better is not None:
                height, is_bent = better[0], True
                wanted |= better[1]
    lifted: dict[str, Array] = {}
    for name, given in (feet or {}).items():
        place = np.asarray(given, dtype=np.float64)
        stands = name in wanted
        if place.shape != ((4, 4) if stands else (3,)):
            raise ConfigurationError(
                f'foot {name!r} has shape {place.shape}, expected the pose (4, 4) of a support, '
                f'{", ".join(wanted)}, or the position (3,) of another link, in the air'
            )
        (wanted if stands else lifted)[name] = place
    floor = _floor(wanted, supports)
    if height is None:
        height = float(seed.H[2, 3]) - floor
    if com is None:
        places = [(np.asarray(support.points), wanted[support.frame]) for support in supports]
        points = np.vstack([own @ H[:3, :3].T + H[:3, 3] for own, H in places])
        com = polygon_centre(support_polygon(points))
    moves = np.array([at.jacobian(link)[:, 6:] for link in (*wanted, *lifted)]) != 0.0
    legs = moves.any(axis=(0, 1))
    task = _Task(model, supports, wanted, lifted, np.asarray(com), floor, height, seed.s, legs)
    begins = [seed if start is not None else _bent(seed, legs, model)]
    begins += _ways_to_bend(seed, legs, model) if is_bent else []
    state = min((_solve(task, begin) for begin in begins), key=task.regret)
    if start is None and feet is None and TOLERANCE < task.missing(state) <= NEARLY:
        task = task._replace(may_step=True)
        state = _solve(task, state)
    if asked is None and start is None and not joints:
        state = _at_ease(task, state)
    _check(task, state)
    if asked is not None and abs(state.H[2, 3] - floor - asked) > HEIGHT_TOLERANCE:
        raise InfeasibleError(
            f'robot {model.name!r} stands {state.H[2, 3] - floor:.3f} m high at best, asked for '
            f'{asked:.3f} m; ask for less than its legs are long, and more than they fold to'
        )
    return state


class _Task(NamedTuple):
    """What the posture has to meet, and what it should; ``legs`` are joints that move feet.

    With ``may_step`` soles must only be level on the ground, wherever.
    """

    model: TreeModel
    supports: Sequence[Support]
    wanted: Mapping[str, Array]
    lifted: Mapping[str, Array]
    com: Array
    floor: float
    height: float
    joints: Array
    legs: NDArray[np.bool_]
    may_step: bool = False

    def must(self, state: State) -> tuple[dict[str, Array], Array]:
        """Return what is missing by name, and how it changes with z[:m] all together."""
        at, mass = Kinematics(self.model, state), centre_of_mass(self.model, state)
        missing, rows = {}, []
        for support in self.supports:
            frame = support.at(self.model)
            apart, J = se3.relative(at.pose(frame), self.wanted[support.frame]), at.jacobian(frame)
            error, J = _closing(support.kind, apart, J)
            kept = slice(2, 5) if self.may_step and support.kind == 'surface' else slice(None)
            missing[f'foot {support.frame!r}'] = error[kept]
            rows.append(J[kept])
        for name, position in self.lifted.items():
            missing[f'lifted foot {name!r}'] = position - at.pose(name)[:3, 3]
            rows.append(at.jacobian(name, expressed_in='mixed')[:3])
        for loop in self.model.loops:
            first, second = resolve(self.model, loop)
            assert second is not None
            apart = se3.relative(at.pose(first), at.pose(second))
            J = at.jacobian(first) - se3.adjoint(apart) @ at.jacobian(second)
            missing[f'loop {loop.name!r}'], J = _closing(loop.kind, apart, J)
            rows.append(J)
        missing['centre of mass'] = self.com - mass.com[:2]
        rows.append(mass.jacobian[:2])
        return missing, np.vstack(rows)

    def missing(self, state: State) -> float:
        """Return the largest error of a foot or the centre of mass [m, rad]."""
        return max(float(np.abs(error).max()) for error in self.must(state)[0].values())

    def regret(self, state: State) -> float:
        """Return how far a posture is from what is asked of it [m, rad]."""
        off = abs(self.floor + self.height - state.H[2, 3])
        return 1e3 * max(0.0, self.missing(state) - TOLERANCE) + float(off)

    def should(self, state: State) -> tuple[Array, Array]:
        """Return weighted wishes: what is missing (rows,), and how it changes (rows, m)."""
        weights = np.where(self.legs, _LEG, _JOINT)
        J = np.zeros((4 + self.model.n, self.model.m))
        J[:3, 3:6] = _UPRIGHT * np.eye(3)
        J[3, :3] = _HEIGHT * state.H[2, :3]
        J[4:, 6:] = np.diag(weights)
        tilt = se3.log(se3.relative(state.H, level(state.H)))[3:]
        rise = self.floor + self.height - state.H[2, 3]
        goal = self.model.state(state.H, self.joints, state.v, state.r)
        away = state.difference(goal)[6 : self.model.m]
        return np.concatenate((_UPRIGHT * tilt, [_HEIGHT * rise], weights * away)), J


def _closing(kind: str, apart: Array, J: Array) -> tuple[Array, Array]:
    """Return the error of a frame (4, 4) off its goal, and how that changes, by J (6, m)."""
    if kind == 'point':
        return apart[:3, 3], J[:3]
    error = se3.log(apart)
    return error, se3.left_jacobian_inverse(error) @ J


def _solve(task: _Task, state: State) -> State:
    """Return the posture after Gauss-Newton steps, the last ones on what must hold alone."""
    model, last = task.model, np.inf
    placed = task._replace(may_step=False)
    for _ in range(_STEPS):
        missing, J = placed.must(state)
        should, K = task.should(state)
        with np.errstate(all='ignore'):
            step = optimize.lsq_linear(
                np.vstack((_MUST * J, K)),
                np.concatenate((_MUST * np.concatenate(list(missing.values())), should)),
                _room(model, state),
                method='bvls',
                tol=1e-12,
            ).x
        size = float(np.max(np.abs(step)))
        state = _moved(state, step * min(1.0, _LARGEST_STEP / max(size, 1e-300)))
        if size < 1e-6 or (size < 1e-3 and size > 0.9 * last):
            break
        last = size
    # Where all cannot be met, these steps wander by centimetres, as rounding will: keep the best.
    best, least, last = state, np.inf, np.inf
    for _ in range(_STEPS):
        missing, J = task.must(state)
        error = np.concatenate(list(missing.values()))
        most = float(np.max(np.abs(error)))
        if most < least:
            best, least = state, most
        if most <= ROUNDING or (most <= TOLERANCE and most > 0.5 * last):
            break
        last = most
        lower, upper = _room(model, state)
        free = (lower < -1e-9) & (upper > 1e-9)
        step = np.zeros(model.m)
        step[free] = np.linalg.lstsq(J[:, free], error, rcond=1e-9)[0]
        state = _moved(state, np.clip(step, lower, upper))
    return best


def _at_ease(task: _Task, state: State) -> State:
    """Return a posture that keeps `RESERVE`, or the one that keeps most of some heights."""
    best, most = state, _reserve(task, state)
    for share in HEIGHTS if most < RESERVE else ():
        other = task._replace(height=share * task.height)
        found = _solve(other, state)
        kept = _reserve(other, found)
        if kept > most:
            best, most = found, kept
    return best


def _reserve(task: _Task, state: State) -> float:
    """Return what of efforts, room of the legs' joints and friction is left at least, up to 1."""
    if task.missing(state) > TOLERANCE or task.regret(state) > HEIGHT_TOLERANCE:
        return -np.inf
    try:
        point = equilibrium(task.model, state, task.supports)
    except InfeasibleError:
        return -np.inf
    limits = task.model.limits
    to_limit = np.minimum(*np.abs(_room(task.model, state)))[6:][task.legs]
    half = 0.5 * (limits.upper - limits.lower)[task.legs]
    room = np.where(np.isfinite(half), to_limit / np.where(half > 0.0, half, 1.0), 1.0)
    use = max(np.max(point.effort_use), np.max(point.friction_use))
    return float(min(1.0 - use, np.min(room, initial=1.0)))


def _check(task: _Task, state: State) -> None:
    sizes = {name: float(np.abs(error).max()) for name, error in task.must(state)[0].items()}
    missed = [f'{name} by {size:.3g}' for name, size in sizes.items() if size > TOLERANCE]
    if missed:
        lower, upper = (limit[6:] for limit in _room(task.model, state))
        stuck = np.array(task.model.joint_names)[(lower > -1e-9) | (upper < 1e-9)]
        raise InfeasibleError(
            f'no posture of robot {task.model.name!r} found: missed {", ".join(missed)} [m, rad], '
            f'at their limits: {", ".join(stuck) or "none"}; move the feet, or the centre of '
            'mass, or start from other joint positions'
        )


def state_with(model: TreeModel, joints: Mapping[str, float]) -> State:
    """Return the state at rest at the origin with joints in given positions, others near zero.

    Raises `UnknownNameError` if a joint is not part of the robot; `ConfigurationError` if it is
    part of a joint with several axes.
    """
    state = model.neutral_state()
    for name, position in joints.items():
        model.joint_index(name)
        if name not in model.position_names:
            raise ConfigurationError(
                f'joint {name!r} is part of a joint with several axes, expected one with one axis'
            )
        state.s[model.position_names.index(name)] = position
    return _moved(state, np.clip(np.zeros(model.m), *_room(model, state)))


def _bent(state: State, legs: NDArray[np.bool_], model: TreeModel) -> State:
    lower, upper = (limit[6:] for limit in _room(model, state))
    bent = np.isfinite(upper - lower) & legs
    step = np.zeros(model.m)
    step[6:][bent] = 0.5 * _BEND * (lower[bent] + upper[bent])
    if np.max(np.abs(step), initial=0.0) < 1e-6:  # limits that do not tell where knees bend to
        step[6:][bent] = _BEND * np.minimum(upper[bent], 1.0)
    return _moved(state, step)


def _bent_legs(
    at: Kinematics, supports: Sequence[Support], height: float
) -> tuple[float, dict[str, Array]] | None:
    """Return a height and places of feet for legs that would have no room at a height, or None."""
    model, shares, heights, places = at.model, [], [], {}
    if any(support.kind != 'point' for support in supports):
        return None
    for support in supports:
        body, joints = model.frame(support.frame).body, list[Array]()
        foot = at.pose(support.at(model))
        while body > 0:
            joints.insert(0, at.H[body, :3, 3])
            body = int(model.tree.parent[body])
        joints = joints[1:] if len(joints) > 2 else joints  # from the hip's pitch on
        if len(joints) < 2:
            return None
        hip = joints[0]
        length = float(np.linalg.norm(np.diff([*joints, foot[:3, 3]], axis=0), axis=1).sum())
        above = at.H[0, 2, 3] - hip[2] + support.radius
        shares.append((height - above) / length)
        heights.append(above + BENT * length)
        if np.linalg.norm(foot[:2, 3] - hip[:2]) > 0.5 * length:
            places[support.frame] = level(foot)
            places[support.frame][:3, 3] = *hip[:2], support.radius
    if not places and min(shares) >= FOLDED and max(shares) <= STRETCHED:
        return None
    return float(np.mean(heights)), places


def _ways_to_bend(seed: State, legs: NDArray[np.bool_], model: TreeModel) -> list[State]:
    """Return postures to begin with: knees either way, within the limits."""
    depth = np.zeros(model.n, dtype=np.int64)
    for joint in range(model.n):
        parent = int(model.tree.parent[joint + 1]) - 1
        depth[joint] = depth[parent] + 1 if parent >= 0 and legs[parent] else 0
    turn = np.where(legs, np.select([depth == 1, depth == 2], [0.7, -1.4]), 0.0)
    step, room = np.concatenate((np.zeros(6), turn)), _room(model, seed)
    return [_moved(seed, np.clip(side * step, *room)) for side in (1.0, -1.0)]


def _floor(poses: Mapping[str, Array], supports: Sequence[Support]) -> float:
    """Return the height of the ground below the lowest foot."""
    return float(min(poses[support.frame][2, 3] - support.radius for support in supports))


def _room(model: TreeModel, state: State) -> tuple[Array, Array]:
    """Return how far each entry of z[:m] may go down and up."""
    lower, upper = np.full(model.m, -np.inf), np.full(model.m, np.inf)
    q, v = model.positions.plain_q, model.positions.plain_v
    at = model.m - model.n + v
    lower[at] = model.limits.lower[v] - state.s[q]
    upper[at] = model.limits.upper[v] - state.s[q]
    return lower, np.maximum(upper, lower + 1e-12)


def _moved(state: State, step: Array) -> State:
    return state.retract(np.concatenate((step, np.zeros_like(step))))
