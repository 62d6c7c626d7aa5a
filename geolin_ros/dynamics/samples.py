# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot as kernels have it: about one state or many, on threads, with its failures."""

import dataclasses
import functools
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from math import prod
from typing import Any, TypeGuard
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import (
    check_base,
    failure,
    packed_of,
    state_data,
    vector,
    wrong_state,
)
from geolin_ros.dynamics.engine import Engine
from geolin_ros.errors import ConfigurationError, GeolinError, ShapeError
from geolin_ros.kernels import se3 as kernels
from geolin_ros.kernels.kinematics import group_transform
from geolin_ros.kernels.packing import layout
from geolin_ros.kernels.packing.layout import LANES, Packed
from geolin_ros.kernels.plain.batch import differentiate_samples, evaluate_samples, mass_matrices
from geolin_ros.kernels.plain.passes import hybrid_dynamics, mass_matrix
from geolin_ros.kernels.plain.regressor import PARAMETERS, regressor
from geolin_ros.kernels.status import NOT_FINITE, OK, SINGULAR
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import External, pack
from geolin_ros.spatial import se3
from geolin_ros.typing import Array, BoolArray, IntArray

States = Sequence[State] | ArrayLike
GROUPS = 8  # of samples that a thread takes at a time
LARGE = 1 << 19  # doubles in 4 MB


class Robot:
    """A robot for kernels, with scratch for each of its threads; calls must not overlap.

    The packed robot has a coordinate for each axis of the tree, y_tree = T y: mimic joints follow
    others, so that forces are T' those of the tree. What moves freely under forces is then found
    with a dense mass matrix; without mimic joints all is O(n) [Kim 2012, section 2]. Raises
    `ModelError` if a link has an inertia that no rigid body has.
    """

    def __init__(self, model: TreeModel) -> None:
        packed = packed_of(model)
        self.packed, self._n, self.m = packed, model.n, model.m
        joints = int(packed.ints[layout.NB]) - 1
        self._size = m = 6 + joints
        scratch, state = layout.plain_workspace_size(packed), 22 + 2 * joints
        self._scratch_sizes = scratch, state + 12 * len(packed.groups), m, m, 3 * m * m
        self._scratch: list[tuple[Array, ...]] = []
        self._all: IntArray = np.arange(m)
        self._all[6 + layout.bodies_of(packed)[1:, layout.COORDINATE]] = np.arange(6, m)
        mimics = packed.mimics
        self._is_tied = len(mimics.bodies) > 0
        self._T = np.zeros((m, 6 + model.n))
        self._T[:6, :6] = np.eye(6)
        self._T[6 + np.arange(joints), 6 + mimics.masters] = mimics.rule[0]
        self._first = 6 + model.n - model.m
        self.rows: IntArray = self._all if self._is_tied else self._all[self._first :]
        """Where a result has rows [v; r], of a fixed base [r]; of the tree with mimic joints."""
        self._is_plain, self.engine = packed.is_plain, Engine(model.n, model.m, packed)

    def is_for_engine(self, state: object, wrenches: External = ()) -> TypeGuard[State]:
        """Whether `engine` computes, for one state without wrenches; else `kernels.plain`."""
        return self._is_plain and isinstance(state, State) and not wrenches

    def hybrid(self, task: 'Task', free: BoolArray) -> Array:
        """Return accelerations where ``free`` (6 + n,), else forces: (N, m)."""
        result = np.empty((task.count, self.rows.size))
        if not self._is_tied:
            robot = self._prescribed(~free[6:], not free[0])
            self._run(evaluate_samples, robot, task, result.reshape(-1))
            return result
        still = dataclasses.replace(task, given=np.where(free, 0.0, task.given))
        self._run(evaluate_samples, self._prescribed(), still, result.reshape(-1))
        found = self._own(result[:, :, np.newaxis])[:, :, 0]
        if not free.any():
            return found
        M, given, f = self.mass_matrices(task), task.given[:, self._first :], free[self._first :]
        self._check(task, M, f)
        for k in range(task.count):
            found[k] = freed(found[k], M[k], given[k], f)
            if not np.isfinite(found[k]).all():
                raise task.failure(k, NOT_FINITE)
        return found

    def mass_matrices(self, task: 'Task') -> Array:
        """Return mass matrices (N, m, m)."""
        size = self.rows.size
        M = np.empty((task.count, size, size))
        # what is given changes nothing but rounding
        still = dataclasses.replace(task, given=np.zeros_like(task.given))
        self._run(mass_matrices, self._prescribed(), still, M.reshape(-1))
        return self._own(np.swapaxes(self._own(M), 1, 2)) if self._is_tied else M

    def derivatives(self, task: 'Task', free: BoolArray, columns: IntArray | None = None) -> Array:
        """Return those of `hybrid` (N, m, ...) by [H; s; v; r; what is given], or some columns."""
        size, m, first = self._size, self.m, self._first
        chosen = np.concatenate([k * size + self.rows for k in range(3)])
        if self._is_tied:
            given, robot = np.where(free, 0.0, task.given), self._prescribed()
            if free.any():
                given[:, first:] += self.hybrid(task, free) * free[first:]
            task = dataclasses.replace(task, given=given)
        else:
            chosen = chosen if columns is None else chosen[columns]
            robot = self._prescribed(~free[6:], not free[0])
        D = np.empty((task.count, self.rows.size, chosen.size))
        result, out = np.empty(D.shape[:2]), (D, D[:, :, :0])
        self.differentiate(task, (chosen, chosen[:0]), result, out, robot=robot)
        if not self._is_tied:
            return D
        blocks = self._own(D).reshape(task.count, m, 3, size) @ self._T[:, first:]
        D = self._freed(task, blocks.reshape(task.count, m, 3 * m), free[first:])
        return D if columns is None else D[:, :, columns]

    def differentiate(
        self,
        task: 'Task',
        columns: tuple[IntArray, IntArray],
        result: Array,
        out: tuple[Array, Array],
        above: int = 0,
        robot: Packed | None = None,
    ) -> None:
        """Fill result and derivatives, see `kernels.plain.batch.differentiate_samples`."""
        flat = out[0].reshape(-1), out[1].reshape(-1)
        robot = robot or self.packed
        self._run(differentiate_samples, robot, task, columns, result.reshape(-1), flat, above)

    def regressor(self, task: 'Task') -> Array:
        """Return the regressor (m, 10 bodies) of given accelerations, about one state."""
        robot, bodies = self._prescribed(), self.packed.bodies
        turns = np.ascontiguousarray(self.packed.turns[bodies]).reshape(-1)
        ws, result = np.zeros(self._scratch_sizes[0]), np.empty(self._size)
        Y, status = np.zeros((self._size, PARAMETERS * bodies.size)), np.full(1, OK, np.int64)
        x, given = self.expanded(task.states)[0], self._T @ task.given[0]
        hybrid_dynamics(robot.ints, robot.floats, task.wrenches, x, given, ws, result, status, 0)
        if status[0] != OK:
            raise task.failure(0, int(status[0]))
        regressor(robot.ints, bodies, turns, ws, Y.reshape(-1))
        return self._own(Y[self._all])

    def varied(
        self, floats: Any, wrenches: Any, x: Any, given: Any, free: BoolArray
    ) -> tuple[Any, int]:
        """Return `hybrid` (m,) of complex numbers, and the status.

        ``x`` is the state of the tree, ``given`` (6 + n,).
        """
        if self._is_tied:
            robot, value = self._prescribed(), np.where(free, 0.0, given)
        else:
            robot, value = self._prescribed(~free[6:], not free[0]), given
        ws = np.zeros(self._scratch_sizes[0], np.complex128)
        result, status = np.empty(self._size, np.complex128), np.full(1, OK, np.int64)
        arguments = robot.ints, floats, wrenches, x, self._T @ value, ws, result
        hybrid_dynamics(*arguments, status, 0)
        found: Any = (self._T.T @ result[self._all])[self._first :]
        f = free[self._first :]
        if self._is_tied and f.any():
            M: Any = np.zeros((self._size, self._size), np.complex128)
            mass_matrix(robot.ints, floats, ws, M.reshape(-1))
            T = self._T[:, self._first :]
            M = T.T @ M[np.ix_(self._all, self._all)] @ T
            found = freed(found, M, given[self._first :], f)
        return found, int(status[0])

    def wrenches(self, model: TreeModel, wrenches: External) -> Array:
        """Return the wrenches of a task."""
        return layout.make_inputs(self.packed, pack(model, wrenches))[self._size - 6 :]

    def expanded(self, states: Array, groups: Sequence[layout.Group] | None = None) -> Array:
        """Return states of the tree (N, ...), see `kernels.plain.passes.hybrid_dynamics`."""
        packed, groups = self.packed, self.packed.groups if groups is None else groups
        if packed.is_plain:
            return states
        mimics, joints, n = packed.mimics, self._size - 6, self._n
        x = np.zeros((len(states), 22 + 2 * joints + 12 * len(groups)), states.dtype)
        v = states.shape[1] - n - 6
        x[:, :16], x[:, 16 + joints : 22 + joints] = states[:, :16], states[:, v : v + 6]
        s = states[:, 16 + mimics.positions] * mimics.rule[0] + mimics.rule[1]
        x[:, 16 : 16 + joints] = np.where(mimics.positions < 0, 0.0, s)
        x[:, 22 + joints : 22 + 2 * joints] = states[:, v + 6 + mimics.masters] * mimics.rule[0]
        R, o = np.empty((3, 3)), np.empty(3)
        for g, group in enumerate(groups):
            begin = 22 + 2 * joints + 12 * g
            for k in range(len(states)):
                q = states[k, 16 + group.positions].real
                group_transform(group.kind, group.subspace.real, q, R, o)
                x[k, begin : begin + 9] = (group.rotation @ R @ group.turn).T.ravel()
                x[k, begin + 9 : begin + 12] = group.rotation @ o + group.translation
        return x

    def _own(self, tree: Array) -> Array:
        """Return rows (N, m, ...) of the caller's coordinates from those of the tree."""
        return np.asarray(self._T[:, self._first :].T @ tree)

    def _check(self, task: 'Task', M: Array, f: BoolArray) -> None:
        """Raise for the first free coordinate with a pivot of M (N, m, m) at rounding level."""
        masked = M if f.all() else np.where(f[:, np.newaxis] & f, M, np.eye(self.m))
        if _is_definite(masked):
            return
        k = next(k for k, own in enumerate(masked) if not _is_definite(own))
        sizes = (i for i in range(1, self.m) if not _is_definite(masked[k, :i, :i]))
        raise task.failure(k, SINGULAR + self._first + next(sizes, self.m) - 1)

    def _freed(self, task: 'Task', D: Array, is_free: BoolArray) -> Array:
        """Return derivatives from those of forces: M_ff dnu_f = dtau_f - M_fu dnu_u - D_f."""
        f, u, m = np.flatnonzero(is_free), np.flatnonzero(~is_free), self.m
        if not f.size:
            return D
        M, right = D[:, :, 2 * m :].copy(), -D[:, f]
        right[:, :, 2 * m + f] = np.eye(f.size)
        self._check(task, M, is_free)
        D[:, f] = np.linalg.solve(M[:, f][:, :, f], right)
        D[:, u[:, np.newaxis], 2 * m + f] = 0.0
        D[:, u] += M[:, u][:, :, f] @ D[:, f]
        return D

    def _prescribed(self, joints: ArrayLike | None = None, base: bool = True) -> Packed:
        """Return the robot with accelerations given, by default all, see `layout.prescribe`."""
        given = np.ones(self._size - 6, np.bool_) if joints is None else joints
        return layout.prescribe(self.packed, given, base)

    def _run(
        self, kernel: Callable[..., None], packed: Packed, task: 'Task', *arguments: object
    ) -> None:
        """Run a kernel over the samples and raise the first failure.

        Threads take a part at a time, so that none waits for one that others hold up.
        """
        robot = packed.ints, packed.floats, task.wrenches
        given = task.given @ self._T.T if self._is_tied else task.given
        flat = _read_only(self.expanded(task.states)), _read_only(given), self.rows
        count, groups = task.count, -(-task.count // LANES)
        status = np.full(groups * LANES, OK, np.int64)
        part = LANES * min(GROUPS, -(-groups // task.threads)) if task.threads > 1 else count
        begins = iter(range(0, count, part or 1))

        def work(buffers: tuple[Array, ...]) -> None:
            for begin in begins:
                end = min(begin + part, count)
                kernel(robot, buffers, *flat, *arguments, status, begin, end)

        own, *others = self._buffers(max(1, min(task.threads, -(-count // (part or 1)))))
        in_threads(work, own, others)
        if status.any():
            failed = int(np.flatnonzero(status)[0])
            raise task.failure(failed, int(status[failed]))

    def _buffers(self, count: int) -> list[tuple[Array, ...]]:
        """Return scratch for so many threads."""
        while len(self._scratch) < count:
            shapes = ((LANES * size,) for size in self._scratch_sizes)
            self._scratch.append(tuple(zeros_together(*shapes)))
        return self._scratch[:count]


def _is_definite(M: Array) -> bool:
    """Whether all pivots of M (..., m, m) are positive beyond rounding."""
    try:
        factors = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return False
    pivots = factors.diagonal(axis1=-2, axis2=-1) ** 2
    return bool(np.all(pivots > 1e-14 * M.diagonal(axis1=-2, axis2=-1)))


def freed(bias: Any, M: Any, given: Any, free: BoolArray) -> Any:
    """Return accelerations where free, else forces, (m,), of M nu_dot + bias = tau.

    ``bias`` holds the forces with free velocities at rest; complex numbers carry derivatives.
    """
    found = bias.copy()
    found[free] = np.linalg.solve(M[np.ix_(free, free)], (given - bias)[free])
    found[~free] += M[np.ix_(~free, free)] @ found[free]
    return found


class _Robots(threading.local):
    """What was prepared of each robot, a thread: kernels write into its scratch.

    Values must not know their robot, which would never be let go.
    """

    def __init__(self) -> None:
        self.of: WeakKeyDictionary[TreeModel, Robot] = WeakKeyDictionary()
        self.last: tuple[TreeModel | None, Robot | None] = None, None


_robots = _Robots()


def robot_of(model: TreeModel) -> Robot:
    """Return this thread's kernels of a robot."""
    known, robot = _robots.last
    if known is not model or robot is None:
        robot = _robots.of.get(model) or _robots.of.setdefault(model, Robot(model))
        _robots.last = model, robot
    return robot


@dataclass
class Task:
    """States and what is given about them, checked."""

    model: TreeModel
    states: Array
    """(N, 22 + n_s + n)"""
    given: Array
    """(N, 6 + n) accelerations where prescribed, forces elsewhere."""
    wrenches: Array
    """The same about every state, of `Robot.wrenches`."""
    threads: int
    inputs: dict[str, Array]
    """Where a NaN may come from, by name: N rows each."""
    is_one: bool = False
    """Whether the caller knows of no samples."""

    def __post_init__(self) -> None:
        """Check the threads."""
        if self.threads < 1:
            raise ConfigurationError(f'threads is {self.threads}, expected at least 1')

    @classmethod
    def about(
        cls, model: TreeModel, states: 'State | States', wrenches: External = (), threads: int = 1
    ) -> 'Task':
        """Return the task about one state or many, with nothing given."""
        if isinstance(states, State):
            data = state_data(model, states)[np.newaxis].copy()
        else:
            data = state_rows(model, states)
        external = robot_of(model).wrenches(model, wrenches or ())
        given = np.zeros((len(data), 6 + model.n))
        return cls(model, data, given, external, threads, {}, isinstance(states, State))

    def take(self, name: str, values: ArrayLike, size: int) -> Array:
        """Return values (N, size), of one state (size,), checked; a NaN of them is named."""
        if self.is_one:
            found = vector(name, values, size, self.model.name)[np.newaxis]
        else:
            found = rows(name, values, size, self.model, self.count)
        self.inputs[name] = found
        return found

    def of(self, results: Array) -> Array:
        """Return the results (N, ...) as the caller wants them."""
        return results[0] if self.is_one else results

    def give(self, name: str, values: ArrayLike, size: int) -> None:
        """Give values for the last velocities."""
        self.given[:, 6 + self.model.n - size :] = self.take(name, values, size)

    @property
    def count(self) -> int:
        """Return N."""
        return len(self.states)

    def failure(self, k: int, status: int) -> GeolinError:
        """Return the error for the status of sample k."""
        state = self.model.neutral_state()
        state.data[:] = self.states[k]
        cause = failure(self.model, status, state, {name: a[k] for name, a in self.inputs.items()})
        return cause if self.is_one else type(cause)(f'sample {k}: {cause}')


def zeros_together(*shapes: tuple[int, ...]) -> list[Array]:
    """Return zeros, each from a cache line on, in one piece of memory of few, large pages.

    NumPy asks for such pages from 4 MB on; what of them is not touched takes no memory.
    """
    places = np.cumsum([0, *(-(-prod(shape) // LANES) * LANES for shape in shapes)]).tolist()
    memory = layout.aligned_zeros(max(places[-1], LARGE))
    pieces = zip(places, shapes, strict=False)
    return [memory[k : k + prod(shape)].reshape(shape) for k, shape in pieces]


def in_threads(work: Callable[[Any], None], own: Any, others: Sequence[Any]) -> None:
    """Call with each, the first in this thread; once all are done, raise what one has raised."""
    running = [pool_of(os.getpid(), len(others)).submit(work, each) for each in others]
    try:
        work(own)
    finally:
        wait(running)
    for done in running:
        done.result()


@functools.cache
def pool_of(process: int, threads: int) -> ThreadPoolExecutor:
    """Return threads that wait for work; a process that forks off starts its own."""
    return ThreadPoolExecutor(threads, thread_name_prefix='batch')


def _read_only(rows: Array) -> Array:
    """Return the numbers as kernels are compiled for: flat, and not to be written."""
    flat = rows.reshape(-1)
    flat.setflags(write=False)
    return flat


def state_rows(model: TreeModel, states: States) -> Array:
    """Return states as the rows of an array, (N, 22 + n_s + n)."""
    data: Any = states
    if not isinstance(states, np.ndarray):
        for state in data:
            if isinstance(state, State) and len(state.r) != model.n:
                raise wrong_state(model, state)
        data = [state.data if isinstance(state, State) else state for state in data]
    found = rows('states', data, 22 + model.n_s + model.n, model)
    bad = kernels.first_without_pose(found.reshape(-1), found.shape[1])
    if bad < len(found) and np.isfinite(found[bad, :16]).all():  # NaN is found by the kernels
        se3.check_pose(found[bad, :16].reshape(4, 4), f'H of sample {bad}')
    twists = found[:, 16 + model.n_s :][:, :6]
    if model.base == 'fixed' and twists.any():
        for k, twist in enumerate(twists):
            check_base(model, twist, f'sample {k}')
    return found


def rows(name: str, values: ArrayLike, size: int, model: TreeModel, count: int = -1) -> Array:
    """Return ``values`` as a contiguous array of ``count`` rows of ``size``."""
    found = np.ascontiguousarray(values, dtype=np.float64)
    if found.shape == (0,):
        found = found.reshape(0, size)
    if found.ndim != 2 or found.shape[1] != size or count not in (-1, found.shape[0]):
        expected = 'N' if count == -1 else count
        raise ShapeError(
            f'{name} has shape {found.shape}, expected ({expected}, {size}) for robot '
            f'{model.name!r}'
        )
    return found
