# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of a robot about many states in one call."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.batch.samples import Samples, States, Task, rows, state_rows, zeros_together
from geolin_ros.errors import ConfigurationError, GeolinError, ShapeError
from geolin_ros.kernels import records
from geolin_ros.labels import Label, input_labels, rate_label, state_labels
from geolin_ros.linearization import Linearization, Linearizer, Reference, check_reference
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array
from geolin_ros.wrenches import Wrench


class LinearizationBatch:
    """Linearizations about N states: the arrays of `Linearization` with the sample in front.

    Attributes
    ----------
    A : (N, 2 m, 2 m)
    B : (N, 2 m, n_u)
    nu_dot : (N, m)
    drift : (N, 2 m)
    reference, columns, inputs
        As in `Linearization`.

    ``len(batch)`` is N, ``batch[k]`` a `Linearization` that shares the memory, ``batch[a:b]`` a
    batch that does.
    """

    def __init__(
        self,
        A: Array,
        B: Array,
        nu_dot: Array,
        drift: Array,
        columns: tuple[Label, ...],
        inputs: tuple[Label, ...],
        reference: Reference = 'moving',
    ) -> None:
        self.A, self.B, self.nu_dot, self.drift = A, B, nu_dot, drift
        self.columns, self.inputs = columns, inputs
        self.reference: Reference = reference

    @property
    def rows(self) -> tuple[Label, ...]:
        """Names and units of the rates of the state entries."""
        return tuple(rate_label(label) for label in self.columns)

    def __len__(self) -> int:
        """Return N."""
        return len(self.A)

    def __getitem__(self, k: int | slice) -> 'Linearization | LinearizationBatch':
        """Return one linearization, or a shorter batch."""
        kind = LinearizationBatch if isinstance(k, slice) else Linearization
        arrays = self.A[k], self.B[k], self.nu_dot[k], self.drift[k]
        return kind(*arrays, self.columns, self.inputs, self.reference)


class BatchLinearizer:
    """Linearizes one robot about many states in one call.

    The same A and B as `Linearizer`, to rounding, eight states at a time; models that only its
    general algorithm carries go through that, state by state.

    Parameters
    ----------
    model
        The robot.
    threads
        How many share a call; the results do not depend on it. The scratch belongs to the
        linearizer, so calls must not overlap.

    Examples
    --------
    >>> from geolin_ros import BatchLinearizer, TreeModel, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> lin = BatchLinearizer(model)
    >>> L = lin([model.neutral_state()] * 20, np.zeros((20, model.n)))
    >>> L.A.shape, L.B.shape
    ((20, 36, 36), (20, 36, 12))
    """

    def __init__(self, model: TreeModel, threads: int = 1) -> None:
        self.model, self._threads = model, threads
        packed = records.pack(model.tree, model.gravity)
        self._samples = None if packed is None else Samples(model, packed)
        self._linearizer = Linearizer(model) if packed is None else None
        self._labels = state_labels(model), input_labels(model)
        if self._samples is not None:
            m, places = 6 + model.n, self._samples.rows
            joints = [model.joint_index(name) for name in model.actuated_joints]
            by_tau = 2 * m + places[model.m - model.n :][joints]
            self._columns = np.concatenate((places, m + places)), by_tau

    def room(self, count: int) -> LinearizationBatch:
        """Return a batch of ``count`` samples to be filled, see ``out`` of a call."""
        m, n_in = self.model.m, len(self.model.actuated_joints)
        shapes = (count, 2 * m, 2 * m), (count, 2 * m, n_in), (count, m), (count, 2 * m)
        A, B, nu_dot, drift = zeros_together(*shapes)
        A[:, np.arange(m), m + np.arange(m)] = 1.0
        return LinearizationBatch(A, B, nu_dot, drift, *self._labels)

    def __call__(
        self,
        states: States,
        tau: ArrayLike,
        reference: Reference = 'moving',
        wrenches: Sequence[Wrench] = (),
        out: LinearizationBatch | None = None,
    ) -> LinearizationBatch:
        """Linearize about N states.

        Parameters
        ----------
        states : (N, 22 + n_q + n)
            Rows of `State.data`, or N states.
        tau : (N, n)
            Joint efforts [N m or N].
        reference
            See `Linearization`.
        wrenches
            External wrenches on links, the same in every state.
        out
            At least N samples of `room`, of this linearizer, to be overwritten: memory that is
            not touched for the first time is much faster.

        Returns
        -------
        LinearizationBatch
            The first N samples of ``out`` if that is given.

        Raises
        ------
        ShapeError
            If an array has not the size of the robot, or ``out`` is too small.
        NotFiniteError, SingularInertiaError
            As `Linearizer`, about the first such sample. Others are filled.
        """
        task = self._task(states, tau, reference, wrenches)
        batch = self._first(self.room(task.count) if out is None else out, task.count)
        self._fill(batch, task, reference, wrenches)
        return batch

    def stream(
        self,
        states: States,
        tau: ArrayLike,
        size: int = 1024,
        reference: Reference = 'moving',
        wrenches: Sequence[Wrench] = (),
        out: LinearizationBatch | None = None,
    ) -> Iterator[LinearizationBatch]:
        """Yield batches of ``size`` samples (the last may be shorter), all in the same memory.

        A batch is valid until the next one. ``out`` has room for one, to be used by one stream
        after another. Other arguments and errors as of a call; the number of a sample in an error
        counts from the beginning of its batch.
        """
        if size < 1:
            raise ConfigurationError(f'size is {size}, expected at least 1')
        task = self._task(states, tau, reference, wrenches)
        size = min(size, task.count)
        batch = self._first(self.room(size) if out is None else out, size)
        for begin in range(0, task.count, max(size, 1)):
            part = task[begin : begin + size]
            if part.count < len(batch):
                batch = self._first(batch, part.count)
            self._fill(batch, part, reference, wrenches)
            yield batch

    def _task(
        self, states: States, tau: ArrayLike, reference: Reference, wrenches: Sequence[Wrench]
    ) -> Task:
        """Return what is to be done, checked."""
        check_reference(reference)
        data = state_rows(self.model, states)
        given = np.zeros((data.shape[0], 6 + self.model.n))
        given[:, 6:] = rows('tau', tau, self.model.n, self.model, data.shape[0])
        forces = (
            np.zeros(0) if self._samples is None else self._samples.wrenches(self.model, wrenches)
        )
        return Task(self.model, data, given, forces, self._threads, {'tau': given[:, 6:]})

    def _fill(
        self,
        batch: LinearizationBatch,
        task: Task,
        reference: Reference,
        wrenches: Sequence[Wrench],
    ) -> None:
        """Do it; ``batch`` has as many samples."""
        if self._samples is None:
            self._one_by_one(task, reference, wrenches, batch)
        else:
            matrices = batch.A, batch.B
            self._samples.differentiate(task, self._columns, batch.nu_dot, matrices, self.model.m)
            batch.drift[:] = 0.0
            if reference == 'frozen':
                self._freeze(batch, task.states)
        batch.reference = reference

    def _first(self, batch: LinearizationBatch, count: int) -> LinearizationBatch:
        if (batch.columns, batch.inputs) != self._labels:
            raise ShapeError(
                f'out is of another robot than {self.model.name!r}, expected one of room()'
            )
        if len(batch) < count:
            raise ShapeError(f'out has room for {len(batch)} samples, expected at least {count}')
        first = batch[:count]
        assert isinstance(first, LinearizationBatch)
        return first

    def _one_by_one(
        self,
        task: Task,
        reference: Reference,
        wrenches: Sequence[Wrench],
        batch: LinearizationBatch,
    ) -> None:
        assert self._linearizer is not None
        state = self.model.neutral_state()
        for k in range(task.count):
            state.data[:] = task.states[k]
            try:
                found = self._linearizer(state, task.given[k, 6:], reference, wrenches)
            except GeolinError as error:
                raise type(error)(f'sample {k}: {error}') from error
            batch.A[k], batch.B[k], batch.nu_dot[k] = found.A, found.B, found.nu_dot
            batch.drift[k] = found.drift

    def _freeze(self, batch: LinearizationBatch, states: Array) -> None:
        """Do what `Linearizer` does for a reference that stands still."""
        n, m = self.model.n, self.model.m
        batch.A[:, : m - n, : m - n] *= 0.5
        if self.model.base == 'floating':
            batch.drift[:, :6] = states[:, 16 + n : 22 + n]
        batch.drift[:, m - n : m] = states[:, 22 + n :]
        batch.drift[:, m:] = batch.nu_dot
