# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What all batches share: arguments checked, places of rows and columns, threads, failures."""

import copy
import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import failure, wrong_state
from geolin_ros.errors import ConfigurationError, GeolinError, ShapeError
from geolin_ros.kernels import se3 as kernels
from geolin_ros.kernels.engine.batch import differentiate_samples, evaluate_samples, mass_matrices
from geolin_ros.kernels.packing import layout
from geolin_ros.kernels.packing.layout import LANES, Packed
from geolin_ros.kernels.status import OK
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench, pack
from geolin_ros.spatial import se3
from geolin_ros.typing import Array, IntArray

States = Sequence[State] | ArrayLike
GROUPS = 8  # of samples that a thread takes at a time
LARGE = 1 << 19  # doubles in 4 MB


class Samples:
    """A robot for the kernels of batches, with scratch for each thread.

    Parameters
    ----------
    model, packed
        The robot; ``packed`` of `layout.pack`.
    """

    def __init__(self, model: TreeModel, packed: Packed) -> None:
        self._n, self._packed = model.n, packed
        self._scratch: list[tuple[Array, ...]] = []
        m = 6 + model.n
        workspace = layout.plain_workspace_size(packed)
        self._scratch_sizes = workspace, 22 + 2 * model.n, m, m, 3 * m * m
        rows = np.arange(m)
        rows[6 + model.tree.v_start[1:]] = np.arange(6, m)
        self.rows: IntArray = rows[m - model.m :]
        """Where a result has the model's rows, [v; r] in its order (fixed base: [r])."""

    def prescribe(self, joints: ArrayLike, base: bool) -> 'Samples':
        """Return the robot with accelerations given, see `layout.prescribe`; scratch is shared."""
        other = copy.copy(self)
        other._packed = layout.prescribe(self._packed, joints, base)
        return other

    def evaluate(self, task: 'Task') -> Array:
        """Return accelerations, or forces where prescribed, (N, m)."""
        result = np.empty((task.count, self.rows.size))
        self._run(evaluate_samples, task, result.reshape(-1))
        return result

    def mass_matrices(self, task: 'Task') -> Array:
        """Return mass matrices (N, m, m); everything must be prescribed."""
        out = np.empty((task.count, self.rows.size, self.rows.size))
        self._run(mass_matrices, task, out.reshape(-1))
        return out

    def differentiate(
        self,
        task: 'Task',
        columns: tuple[IntArray, IntArray],
        result: Array,
        out: tuple[Array, Array],
        above: int = 0,
    ) -> None:
        """Fill result and derivatives, see `kernels.batch.differentiate_samples`."""
        flat = out[0].reshape(-1), out[1].reshape(-1)
        self._run(differentiate_samples, task, columns, result.reshape(-1), flat, above)

    def wrenches(self, model: TreeModel, wrenches: Sequence[Wrench]) -> Array:
        """Return the wrenches of a task."""
        return layout.make_inputs(self._packed, pack(model, wrenches))[self._n :]

    def _run(self, kernel: Callable[..., None], task: 'Task', *arguments: object) -> None:
        """Run a kernel over the samples and raise the first failure.

        Threads take a part at a time, so that none waits for one that others hold up.
        """
        robot = self._packed.ints, self._packed.floats, task.wrenches
        flat = _read_only(task.states), _read_only(task.given), self.rows
        count, groups = task.count, -(-task.count // LANES)
        status = np.full(groups * LANES, OK, np.int64)
        part = LANES * min(GROUPS, -(-groups // task.threads)) if task.threads > 1 else count
        begins = iter(range(0, count, part or 1))

        def work(buffers: tuple[Array, ...]) -> None:
            for begin in begins:
                end = min(begin + part, count)
                kernel(robot, buffers, *flat, *arguments, status, begin, end)

        own, *others = self._buffers(max(1, min(task.threads, -(-count // (part or 1)))))
        if others:
            pool = _pool(os.getpid(), len(others))
            running = [pool.submit(work, buffers) for buffers in others]
            try:
                work(own)
            finally:
                for done in running:
                    done.result()
        else:
            work(own)
        if status.any():
            failed = int(np.flatnonzero(status)[0])
            raise task.failure(failed, int(status[failed]))

    def _buffers(self, count: int) -> list[tuple[Array, ...]]:
        """Return scratch for so many threads."""
        while len(self._scratch) < count:
            shapes = ((LANES * size,) for size in self._scratch_sizes)
            self._scratch.append(tuple(zeros_together(*shapes)))
        return self._scratch[:count]


def prepare(model: TreeModel) -> Samples | None:
    """Return a robot for the kernels of batches; None if they do not carry it."""
    packed = model.packed
    if packed is None or not packed.is_plain or model.n == 0:
        return None
    return Samples(model, packed)


@dataclass
class Task:
    """States and what is given about them, checked.

    Attributes
    ----------
    model
        Whose states they are.
    states : (N, 22 + n_q + n)
    given : (N, 6 + n)
        Accelerations where prescribed, forces elsewhere.
    wrenches
        The same about every state, of `Samples.wrenches`.
    inputs
        Where a NaN may come from, by name: N rows each.
    """

    model: TreeModel
    states: Array
    given: Array
    wrenches: Array
    threads: int
    inputs: dict[str, Array]

    def __post_init__(self) -> None:
        """Check the threads."""
        if self.threads < 1:
            raise ConfigurationError(f'threads is {self.threads}, expected at least 1')

    @property
    def count(self) -> int:
        """Return N."""
        return len(self.states)

    def __getitem__(self, part: slice) -> 'Task':
        """Return the task of some of the samples."""
        inputs = {name: rows[part] for name, rows in self.inputs.items()}
        states, given = self.states[part], self.given[part]
        return Task(self.model, states, given, self.wrenches, self.threads, inputs)

    def failure(self, k: int, status: int) -> GeolinError:
        """Return the error for the status of sample k."""
        state = self.model.neutral_state()
        state.data[:] = self.states[k]
        cause = failure(self.model, status, state, {name: a[k] for name, a in self.inputs.items()})
        return type(cause)(f'sample {k}: {cause}')


def zeros_together(*shapes: tuple[int, ...]) -> list[Array]:
    """Return zeros, each from a cache line on, in one piece of memory of few, large pages.

    NumPy asks for such pages from 4 MB on; what of them is not touched takes no memory.
    """
    places = np.cumsum([0, *(-(-prod(shape) // LANES) * LANES for shape in shapes)]).tolist()
    memory = layout.aligned_zeros(max(places[-1], LARGE))
    pieces = zip(places, shapes, strict=False)
    return [memory[k : k + prod(shape)].reshape(shape) for k, shape in pieces]


@functools.cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Return threads that wait for work; a process that forks off starts its own."""
    return ThreadPoolExecutor(threads, thread_name_prefix='batch')


def _read_only(rows: Array) -> Array:
    """Return the numbers as kernels are compiled for: flat, and not to be written."""
    flat = rows.reshape(-1)
    flat.setflags(write=False)
    return flat


def state_rows(model: TreeModel, states: States) -> Array:
    """Return states as the rows of an array, (N, 22 + n_q + n)."""
    data: Any = states
    if not isinstance(states, np.ndarray):
        for state in data:
            if isinstance(state, State) and len(state.r) != model.n:
                raise wrong_state(model, state)
        data = [state.data if isinstance(state, State) else state for state in data]
    found = rows('states', data, 22 + model.n_q + model.n, model)
    bad = kernels.first_without_pose(found.reshape(-1), found.shape[1])
    if bad < len(found) and np.all(np.isfinite(found[bad, :16])):  # NaN is found by the kernels
        se3.check_pose(found[bad, :16].reshape(4, 4), f'H of sample {bad}')
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
