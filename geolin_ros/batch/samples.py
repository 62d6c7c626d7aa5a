# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What all batches share: arguments checked, places of rows and columns, threads, failures."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics import failure
from geolin_ros.errors import ConfigurationError, ShapeError
from geolin_ros.kernels import records
from geolin_ros.kernels.batch import differentiate_samples, evaluate_samples
from geolin_ros.kernels.records import LANES, Packed
from geolin_ros.kernels.status import OK
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array, IntArray
from geolin_ros.wrenches import Wrench, pack

States = Sequence[State] | ArrayLike


class Samples:
    """A robot for the kernels of batches, with scratch for each thread.

    Parameters
    ----------
    model, packed
        The robot; ``packed`` of `records.pack` or `records.hold`.
    threads
        How many share a batch.
    """

    def __init__(self, model: TreeModel, packed: Packed, threads: int) -> None:
        if threads < 1:
            raise ConfigurationError(f'threads is {threads}, expected at least 1')
        self.model, self.packed, self._threads = model, packed, threads

    @cached_property
    def _buffers(self) -> list[tuple[Array, ...]]:
        """Return the scratch of every thread; big, and pages not touched cost nothing."""
        m = 6 + self.model.n
        sizes = (records.plain_workspace_size(self.packed), 22 + 2 * self.model.n, m, m, 3 * m * m)
        return [
            tuple(records.aligned_zeros(LANES * size) for size in sizes)
            for _ in range(self._threads)
        ]

    @cached_property
    def rows(self) -> IntArray:
        """Return where a result has the model's rows, [v; r] in its order (fixed base: [r])."""
        m = 6 + self.model.n
        rows = np.arange(m)
        rows[6 + self.model.tree.v_start[1:]] = np.arange(6, m)
        return rows[m - self.model.m :]

    def evaluate(
        self,
        states: Array,
        given: Array,
        wrenches: Sequence[Wrench],
        inputs: dict[str, Array],
    ) -> Array:
        """Return accelerations, or forces where held, (N, m); ``inputs`` by name, for errors."""
        robot = self._robot(wrenches)
        result = np.empty((states.shape[0], self.rows.size))

        def run(buffers: tuple[Array, ...], status: IntArray, begin: int, end: int) -> None:
            evaluate_samples(
                robot,
                buffers,
                states.reshape(-1),
                given.reshape(-1),
                self.rows,
                result.reshape(-1),
                status,
                begin,
                end,
            )

        self._share(run, states, inputs)
        return result

    def differentiate(
        self,
        states: Array,
        given: Array,
        wrenches: Sequence[Wrench],
        columns: tuple[IntArray, IntArray],
        result: Array,
        out: tuple[Array, Array],
        above: int,
        inputs: dict[str, Array],
    ) -> None:
        """Fill result and derivatives, see `kernels.batch.differentiate_samples`."""
        robot = self._robot(wrenches)

        def run(buffers: tuple[Array, ...], status: IntArray, begin: int, end: int) -> None:
            differentiate_samples(
                robot,
                buffers,
                states.reshape(-1),
                given.reshape(-1),
                self.rows,
                columns,
                result.reshape(-1),
                (out[0].reshape(-1), out[1].reshape(-1)),
                above,
                status,
                begin,
                end,
            )

        self._share(run, states, inputs)

    def _robot(self, wrenches: Sequence[Wrench]) -> tuple[IntArray, Array, Array]:
        inputs = records.make_inputs(self.packed, pack(self.model, wrenches))
        return self.packed.ints, self.packed.floats, inputs[self.model.n :]

    def _share(
        self,
        run: Callable[[tuple[Array, ...], IntArray, int, int], None],
        states: Array,
        inputs: dict[str, Array],
    ) -> None:
        """Run a kernel over the samples, a range a thread, and raise the first failure."""
        count = states.shape[0]
        status = np.full(-(-count // LANES) * LANES, OK, np.int64)
        share = -(-status.size // (LANES * self._threads)) * LANES
        begins = range(0, count, max(share, LANES))
        ranges = [(begin, min(begin + share, count)) for begin in begins]
        tasks = zip(self._buffers, ranges, strict=False)
        if len(ranges) <= 1:
            for buffers, (begin, end) in tasks:
                run(buffers, status, begin, end)
        else:
            with ThreadPoolExecutor(len(ranges)) as pool:
                running = [pool.submit(run, buffers, status, *place) for buffers, place in tasks]
            for task in running:
                task.result()
        failed = np.flatnonzero(status[:count] != OK)
        if failed.size:
            self._fail(int(failed[0]), int(status[failed[0]]), states, inputs)

    def _fail(self, k: int, status: int, states: Array, inputs: dict[str, Array]) -> None:
        state = self.model.neutral_state()
        state.data[:] = states[k]
        cause = failure(
            self.model, status, state, {name: rows[k] for name, rows in inputs.items()}
        )
        raise type(cause)(f'sample {k}: {cause}')


def state_rows(model: TreeModel, states: States) -> Array:
    """Return states as the rows of an array, (N, 22 + n_q + n)."""
    data: Any = states
    if not isinstance(states, np.ndarray):
        data = [state.data if isinstance(state, State) else state for state in data]
    return rows('states', data, 22 + model.n_q + model.n, model)


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
