# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot, its state and wrenches as complex numbers x + i h x', x' the derivative by a scalar.

[Kim 2012, Lemma 3, Corollary 1, Eqs. (81)-(89)].

What a kernel returns of them is f(x) + i h f'(x): exact to rounding, for h is tiny and nothing is
subtracted [Squire 1998].
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import vector
from geolin_ros.dynamics.samples import Robot
from geolin_ros.errors import InputError, ShapeError, unknown_name
from geolin_ros.kernels.packing import layout as at
from geolin_ros.kernels.packing.types import BODY_WRENCH, PRODUCT, SINGLE_AXIS
from geolin_ros.kernels.plain.regressor import PARAMETERS
from geolin_ros.model.numbering import moved_inertia
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench, pack
from geolin_ros.typing import Array

STEP = 1e-60
# of a spatial inertia: m, m c, then Ixx, Ixy, Iyy, Ixz, Iyz, Izz
_PARAMETERS = ((0, 0), (5, 1), (3, 2), (4, 0), (3, 3), (3, 4), (4, 4), (3, 5), (4, 5), (5, 5))
_INERTIA, _AXES = (
    np.add.outer(rows, np.arange(3)) for rows in ((at.ICX, at.ICY, at.ICZ), (at.EX, at.EY, at.EZ))
)
"""Where a record of an axis holds them, (3, 3); of axes the columns are rows."""
_PASSIVE = {
    'armature': at.ARMATURE,
    'damping': at.DAMPING,
    'friction': at.FRICTION,
    'friction_speed': at.FRICTION_SPEED,
    'stiffness': at.STIFFNESS,
    'rest': at.REST,
}


class Varied:
    """What `Robot.varied` takes, with methods that let a scalar move it."""

    def __init__(
        self, model: TreeModel, robot: Robot, data: Array, wrenches: Sequence[Wrench]
    ) -> None:
        self._model, self._packed, self._external = model, robot.packed, wrenches
        self.floats = robot.packed.floats.astype(np.complex128)
        self.wrenches = robot.wrenches(model, wrenches).astype(np.complex128)
        self.x: Any = robot.expanded(data[np.newaxis])[0].astype(np.complex128)
        self._bodies = at.bodies_of(robot.packed)
        self._joints = len(self._bodies) - 1
        self._axes = np.zeros(self._joints, np.int64)  # body of each rate of the tree
        self._axes[self._bodies[1:, at.COORDINATE]] = np.arange(1, 1 + self._joints)

    def move(self, pose: Array, positions: Array, twist: Array, rates: Array) -> None:
        """Move base (6,) and joints (n,), and change the base twist and the rates."""
        H, mimics = self.x[:16].reshape(4, 4), self._packed.mimics
        H[:, 3] += 1j * STEP * (H[:, :3] @ pose[:3])
        H[:, :3] += 1j * STEP * (H[:, :3] @ _cross(pose[3:]))
        moved = mimics.rule[0] * positions[mimics.masters]
        numbers = mimics.positions >= 0
        self.x[16 : 16 + self._joints][numbers] += 1j * STEP * moved[numbers]
        for group in self._packed.groups:
            own = positions[group.coordinate : group.coordinate + len(group.subspace)]
            u, w = np.split(own @ group.subspace, 2)
            R, o = self._place(group.first)
            K = R @ group.turn.T
            R += 1j * STEP * (K @ _cross(w) @ group.turn)
            o += 1j * STEP * (K @ u)
            self._put(group.first, R, o)
        v = 16 + self._joints
        self.x[v : v + 6] += 1j * STEP * twist
        moved = mimics.rule[0] * rates[mimics.masters]
        self.x[v + 6 : v + 6 + self._joints] += 1j * STEP * moved

    def weigh(self, by_link: Mapping[str, ArrayLike]) -> None:
        """Change inertias: spatial ones about the link frame, or ten parameters, by link."""
        changes: dict[int, Array] = {}
        for name, values in by_link.items():
            inertia = np.asarray(values, dtype=np.float64)
            if inertia.shape == (PARAMETERS,):
                inertia = inertia_of_parameters(inertia)
            if inertia.shape != (6, 6):
                raise ShapeError(
                    f'inertia of link {name!r} has shape {inertia.shape}, expected (6, 6) or '
                    f'({PARAMETERS},)'
                )
            frame = self._model.frame(name)
            change = moved_inertia(inertia, frame.placement)
            changes[frame.body] = changes.get(frame.body, 0.0) + change
        for body, change in changes.items():
            i, inertia = int(self._packed.bodies[body]), self._model.tree.inertia[body]
            M = inertia + 1j * STEP * change
            mass, h = M[0, 0], np.array([M[5, 1], M[3, 2], M[4, 0]])
            com = h / mass if mass != 0.0 else np.zeros(3)
            rebuilt = np.block([[mass * np.eye(3), -_cross(h)], [_cross(h), M[3:, 3:]]])
            off = np.abs((M - rebuilt).imag).max() / STEP
            if (mass == 0.0 and h.any()) or off > 1e-12 * np.abs(change).max():
                raise InputError(
                    f"inertia of body {self._model.body_names[body]!r} changes as no rigid body's "
                    'can, expected [[m 1, -h x], [h x, I]], with a mass where h changes'
                )
            turn, record = self._packed.turns[i], self._record(i)
            central = M[3:, 3:] + mass * _cross(com) @ _cross(com)
            record[at.MASS], record[at.COM : at.COM + 3] = mass, turn.T @ com
            record[_INERTIA] = turn.T @ central @ turn

    def stiffen(self, by_joint: Mapping[str, Mapping[str, float]]) -> None:
        """Change armature, damping, friction and springs, by joint."""
        for joint, values in by_joint.items():
            for name, value in values.items():
                if name not in _PASSIVE:
                    raise unknown_name('passive parameter', name, _PASSIVE, f'joint {joint!r}')
                _, axes = self._moved(joint, name if name in ('stiffness', 'rest') else '')
                for i in axes:
                    self._record(i)[_PASSIVE[name]] += 1j * STEP * value

    def load(self, values: ArrayLike | None) -> None:
        """Change [force; moment] of each wrench (number of wrenches, 6), in axes of its kind."""
        if values is None:
            return
        rows, count = np.asarray(values, dtype=np.float64), len(self._external)
        if rows.shape != (count, 6):
            raise ShapeError(
                f'variation of wrenches has shape {rows.shape}, expected ({count}, 6): '
                '[force; moment] of each wrench'
            )
        moved = [
            dataclasses.replace(wrench, force=row[:3], moment=row[3:])
            for wrench, row in zip(self._external, rows, strict=True)
        ]
        change = at.make_inputs(self._packed, pack(self._model, moved))[self._joints :]
        change = change.reshape(count, at.WRENCH_RECORD)
        value = slice(at.WRENCH_VALUE, at.WRENCH_VALUE + 6)
        self.wrenches.reshape(count, -1)[:, value] += 1j * STEP * change[:, value]

    def shift(self, by_joint: Mapping[str, ArrayLike]) -> None:
        """Displace joint frames by twists (6,) in their own axes."""
        for name, values in by_joint.items():
            (b, (first, *_)), tree = self._moved(name), self._model.tree
            twist = vector(f'placement of joint {name!r}', values, 6, self._model.name)
            up = self._packed.turns[self._bodies[first, at.PARENT]].T @ tree.rotation[b]
            o = up @ twist[:3]
            R, t = self._place(first)
            angular = up @ _cross(twist[3:]) @ up.T
            begin = self._packed.turns[self._bodies[first, at.PARENT]].T @ tree.translation[b]
            o = o + angular @ (t - begin)
            self._put(first, R + 1j * STEP * (angular @ R), t + 1j * STEP * o)

    def turn(self, by_joint: Mapping[str, ArrayLike]) -> None:
        """Change the unit twists (6,) of axes.

        exp(xi s) of xi = Ad(exp d) (a z; b z) is exp(d) exp((a z; b z) s) exp(-d): the frame of
        the axis moves by d, and what is fixed to the moved body by -d.
        """
        for name, values in by_joint.items():
            _, axes = self._moved(name, 'subspace')
            flat = np.ravel(values)
            changes = vector(f'subspace of joint {name!r}', flat, 6 * len(axes), self._model.name)
            for i, change in zip(axes, changes.reshape(-1, 6), strict=True):
                turn = self._packed.turns[i]
                self._turn(i, turn.T @ change[:3], turn.T @ change[3:], name)

    def _turn(self, i: int, du: Array, dw: Array, name: str) -> None:
        """Change the twist of axis i by (du; dw), in axes of its body, whose z it is."""
        record, z = self._record(i), np.array([0.0, 0.0, 1.0])
        alpha, beta = record[at.ALPHA].real, record[at.BETA].real
        if beta == 0.0 and np.abs(dw[:2]).max() > 1e-12 * np.abs(dw).max():
            raise InputError(
                f'subspace of joint {name!r} adds a turn across its direction, expected one about '
                'it: a prismatic joint turns by (w x a; 0)'
            )
        if beta == 0.0:
            d = np.concatenate((np.zeros(3), np.cross(z, du) / alpha))
        else:
            angular = np.cross(z, dw)
            d = np.concatenate((np.cross(z, du - alpha * np.cross(angular, z)), angular))
        record[at.ALPHA] += 1j * STEP * du[2]
        record[at.BETA] += 1j * STEP * dw[2]
        R, o = self._place(i)
        self._put(i, R + 1j * STEP * (R @ _cross(d[3:])), o + 1j * STEP * (R @ d[:3]))
        self._fix(i, -d)

    def _fix(self, i: int, d: Array) -> None:
        """Displace what is fixed to body i by a twist in its axes."""
        turn, u = 1j * STEP * _cross(d[3:]), 1j * STEP * d[:3]
        for child in np.flatnonzero(self._bodies[:, at.PARENT] == i):
            R, o = self._place(int(child))
            self._put(int(child), R + turn @ R, o + turn @ o + u)
        record = self._record(i)
        inertia = record[_INERTIA]
        record[_INERTIA] = inertia + turn @ inertia - inertia @ turn
        com = record[at.COM : at.COM + 3]
        if record[at.MASS] != 0.0:
            com += turn @ com + u
        for wrench in self.wrenches.reshape(-1, at.WRENCH_RECORD):
            if wrench[at.WRENCH_BODY] != i:
                continue
            if wrench[at.WRENCH_KIND] == BODY_WRENCH:
                f = wrench[at.WRENCH_VALUE : at.WRENCH_VALUE + 3]
                t = wrench[at.WRENCH_VALUE + 3 : at.WRENCH_VALUE + 6]
                t += turn @ t + np.cross(u, f)
                f += turn @ f
            point = wrench[at.WRENCH_POINT : at.WRENCH_POINT + 3]
            point += turn @ point + u

    def _record(self, i: int) -> Any:
        begin = at.MODEL_HEADER + i * at.MODEL_RECORD
        return self.floats[begin : begin + at.MODEL_RECORD]

    def _place(self, i: int) -> tuple[Any, Any]:
        """Return the frame of axis i in its parent: axes as columns, origin."""
        place = self._bodies[i, at.PLACE]
        if place:
            return self.x[place : place + 9].reshape(3, 3).T.copy(), self.x[place + 9 :][:3].copy()
        record = self._record(i)
        return record[_AXES].T, record[at.T : at.T + 3].copy()

    def _put(self, i: int, R: Any, o: Any) -> None:
        """Store what `_place` returns."""
        place = self._bodies[i, at.PLACE]
        if place:
            self.x[place : place + 9], self.x[place + 9 : place + 12] = R.T.ravel(), o
            return
        record = self._record(i)
        record[_AXES] = R.T
        record[at.T : at.T + 3] = o

    def _moved(self, joint: str, of_axes: str = '') -> tuple[int, list[int]]:
        """Return the body of `Tree` that a joint moves, and those of its axes.

        ``of_axes`` names what only joints with axes can have.
        """
        bodies, tree = self._model.body_of_joint, self._model.tree
        if joint not in bodies:
            raise unknown_name('joint', joint, bodies, f'robot {self._model.name!r}')
        b = bodies[joint]
        if of_axes and tree.kind[b] not in (SINGLE_AXIS, PRODUCT):
            raise InputError(
                f'variation has the {of_axes} of joint {joint!r} of robot {self._model.name!r}, '
                'whose motions are all of a group, expected a joint with axes: it has no spring, '
                'and its frame is displaced by placements'
            )
        return b, [int(self._axes[c]) for c in tree.v_start[b] + np.arange(tree.v_size[b])]


def _cross(w: Any) -> Any:
    """Return w^ (3, 3) of numbers that may be complex."""
    x, y, z = w
    return np.array([[0.0 * x, -z, y], [z, 0.0 * x, -x], [-y, x, 0.0 * x]])


def inertia_of_parameters(parameters: ArrayLike) -> Array:
    """Return the spatial inertia (6, 6) with ten given parameters.

    [Kim 2012, Eqs. (14)-(20), (22)].
    """
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = np.asarray(parameters, dtype=np.float64)
    h = _cross((hx, hy, hz))
    rotational = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.block([[m * np.eye(3), -h], [h, rotational]])


def parameters_of_inertias(inertias: Array) -> Array:
    """Return the ten parameters (..., 10) of spatial inertias (..., 6, 6)."""
    rows, columns = zip(*_PARAMETERS, strict=True)
    return inertias[..., rows, columns]
