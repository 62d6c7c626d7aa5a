# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of a robot about many states in one call."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import packed_of
from geolin_ros.dynamics.samples import Robot, States, Task, rows, state_rows, zeros_together
from geolin_ros.errors import ConfigurationError, GeolinError, ShapeError
from geolin_ros.linearization.about import About
from geolin_ros.linearization.any_linearizer import AnyLinearizer
from geolin_ros.linearization.contacts.description import SIZES, Closure
from geolin_ros.linearization.reference import Reference, frozen
from geolin_ros.linearization.result import ARRAYS, Linearization
from geolin_ros.linearization.workspace import Workspace
from geolin_ros.model.labels import Label, input_labels, rate_label, state_labels
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array


@dataclass(eq=False)
class LinearizationBatch:
    """Linearizations about N states: the arrays of `Linearization` with the sample in front.

    Attributes
    ----------
    A : (N, 2 m, 2 m)
    B : (N, 2 m, n_u)
    nu_dot : (N, m)
    drift : (N, 2 m)
    wrenches : (N, rows)
    wrench_by_state : (N, rows, 2 m)
    wrench_by_tau : (N, rows, n_u)
    reference, columns, inputs, contacts
        As in `Linearization`.

    ``len(batch)`` is N, ``batch[k]`` a `Linearization` that shares the memory, ``batch[a:b]`` a
    batch that does.
    """

    A: Array
    B: Array
    nu_dot: Array
    drift: Array
    wrenches: Array
    wrench_by_state: Array
    wrench_by_tau: Array
    columns: tuple[Label, ...]
    inputs: tuple[Label, ...]
    contacts: tuple[Closure, ...]
    workspace: Workspace
    """Robot and contacts."""
    states: Array
    tau: Array
    external: Sequence[Wrench] = ()
    """External wrenches, in force in every state."""
    reference: Reference = 'moving'

    @property
    def rows(self) -> tuple[Label, ...]:
        """Names and units of the rates of the state entries."""
        return tuple(rate_label(label) for label in self.columns)

    def __len__(self) -> int:
        """Return N."""
        return len(self.A)

    def __getitem__(self, k: int | slice) -> Linearization | LinearizationBatch:
        """Return one linearization, or a shorter batch."""
        if isinstance(k, slice):
            return self.part(k)
        workspace = self.workspace
        about = About(
            *(workspace.model, workspace.constraints, workspace.length),
            *(self.states[k].copy(), self.tau[k].copy(), self.external),
        )
        return Linearization(
            **{name: getattr(self, name)[k] for name in ARRAYS},
            columns=self.columns,
            inputs=self.inputs,
            about=about,
            contacts=self.contacts,
            reference=self.reference,
        )

    def frozen(self) -> LinearizationBatch:
        """Return the same, the errors taken to the states themselves, see `Linearization`."""
        if self.reference == 'frozen':
            return self
        m = self.nu_dot.shape[1]
        velocities = self.states[:, self.states.shape[1] - m :]
        drift = np.concatenate((velocities, self.nu_dot), axis=1)
        return dataclasses.replace(self, A=frozen(self.A), drift=drift, reference='frozen')

    def part(self, k: slice) -> LinearizationBatch:
        """Return some of the samples."""
        names = (*ARRAYS, 'states', 'tau')
        return dataclasses.replace(self, **{name: getattr(self, name)[k] for name in names})


class Batches:
    """Linearizes one robot about many states in one call, as `Linearizer.batch`.

    The same A and B as the linearizer's, to rounding, eight states at a time; robots in contact,
    with mimic joints or with joints of several axes go through it state by state.

    Parameters
    ----------
    linearizer
        Its robot and contacts. The scratch belongs to it, so calls must not overlap.

    Examples
    --------
    >>> from geolin_ros import Linearizer, TreeModel, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> L = Linearizer(model).batch([model.neutral_state()] * 20, np.zeros((20, model.n)))
    >>> L.A.shape, L.B.shape
    ((20, 36, 36), (20, 36, 12))
    """

    def __init__(self, linearizer: AnyLinearizer) -> None:
        self._linearizer, self.model = linearizer, linearizer.model
        packed = packed_of(self.model)
        self._prepared = Robot(self.model) if packed.is_plain else None
        self._labels = state_labels(self.model), input_labels(self.model)
        if self._prepared is not None:
            m, places = 6 + self.model.n, self._prepared.rows
            by_tau = 2 * m + places[self.model.m - self.model.n :][self.model.actuated]
            self._columns = np.concatenate((places, m + places)), by_tau

    @property
    def _samples(self) -> Robot | None:
        return None if self._contacts else self._prepared

    @property
    def _contacts(self) -> tuple[Closure, ...]:
        return tuple(c.contact for c in self._linearizer.workspace.constraints)

    def room(self, count: int) -> LinearizationBatch:
        """Return a batch of ``count`` samples to be filled, see ``out`` of a call."""
        model = self.model
        m, n_in, contacts = model.m, len(model.actuated_joints), self._contacts
        contact_rows = sum(SIZES[contact.kind] for contact in contacts)
        shapes = (
            *((count, 2 * m, 2 * m), (count, 2 * m, n_in), (count, m), (count, 2 * m)),
            *((count, contact_rows), (count, contact_rows, 2 * m), (count, contact_rows, n_in)),
            *((count, 22 + model.n_s + model.n), (count, model.n)),
        )
        A, B, nu_dot, drift, wrenches, by_state, by_tau, states, tau = zeros_together(*shapes)
        A[:, np.arange(m), m + np.arange(m)] = 1.0
        return LinearizationBatch(
            *(A, B, nu_dot, drift, wrenches, by_state, by_tau),
            *self._labels,
            contacts,
            self._linearizer.workspace,
            states,
            tau,
        )

    def __call__(
        self,
        states: States,
        tau: ArrayLike,
        *,
        wrenches: Sequence[Wrench] = (),
        out: LinearizationBatch | None = None,
        threads: int = 1,
    ) -> LinearizationBatch:
        """Linearize about N states.

        Parameters
        ----------
        states : (N, 22 + n_s + n)
            Rows of `State.data`, or N states.
        tau : (N, n)
            Joint efforts [N m or N].
        wrenches
            External wrenches on links, the same in every state.
        out
            At least N samples of `room`, of this linearizer, to be overwritten: memory that is
            not touched for the first time is much faster.
        threads
            How many share the call; the results do not depend on it.

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
        task = self._task(states, tau, wrenches, threads)
        batch = self._first(self.room(task.count) if out is None else out, task.count)
        self._fill(batch, task, wrenches)
        return batch

    def stream(
        self,
        states: States,
        tau: ArrayLike,
        *,
        size: int = 1024,
        wrenches: Sequence[Wrench] = (),
        out: LinearizationBatch | None = None,
        threads: int = 1,
    ) -> Iterator[LinearizationBatch]:
        """Yield batches of ``size`` samples (the last may be shorter).

        With ``out``, which has room for one, all are in its memory and valid until the next one.
        Other arguments and errors as of a call; the number of a sample in an error counts from
        the beginning of its batch.
        """
        if size < 1:
            raise ConfigurationError(f'size is {size}, expected at least 1')
        task = self._task(states, tau, wrenches, threads)
        for begin in range(0, task.count, size):
            part = task[begin : begin + size]
            batch = self._first(self.room(part.count) if out is None else out, part.count)
            self._fill(batch, part, wrenches)
            yield batch

    def _task(
        self, states: States, tau: ArrayLike, wrenches: Sequence[Wrench], threads: int
    ) -> Task:
        """Return what is to be done, checked."""
        data = state_rows(self.model, states)
        given = np.zeros((data.shape[0], 6 + self.model.n))
        given[:, 6:] = rows('tau', tau, self.model.n, self.model, data.shape[0])
        forces = (
            np.zeros(0) if self._samples is None else self._samples.wrenches(self.model, wrenches)
        )
        return Task(self.model, data, given, forces, threads, {'tau': given[:, 6:]})

    def _fill(self, batch: LinearizationBatch, task: Task, wrenches: Sequence[Wrench]) -> None:
        """Do it; ``batch`` has as many samples."""
        if self._samples is None:
            self._one_by_one(task, wrenches, batch)
        else:
            matrices = batch.A, batch.B
            self._samples.differentiate(task, self._columns, batch.nu_dot, matrices, self.model.m)
        batch.drift[:] = 0.0
        batch.states[:], batch.tau[:] = task.states, task.given[:, 6:]
        batch.external, batch.reference = tuple(wrenches), 'moving'

    def _first(self, batch: LinearizationBatch, count: int) -> LinearizationBatch:
        if (batch.columns, batch.inputs) != self._labels or batch.contacts != self._contacts:
            raise ShapeError(
                f'out is of another robot than {self.model.name!r}, expected one of room()'
            )
        if len(batch) < count:
            raise ShapeError(f'out has room for {len(batch)} samples, expected at least {count}')
        return batch.part(slice(count))

    def _one_by_one(
        self, task: Task, wrenches: Sequence[Wrench], batch: LinearizationBatch
    ) -> None:
        state = self.model.neutral_state()
        for k in range(task.count):
            state.data[:] = task.states[k]
            try:
                found = self._linearizer(state, task.given[k, 6:], wrenches=wrenches)
            except GeolinError as error:
                raise type(error)(f'sample {k}: {error}') from error
            for name in ARRAYS:
                getattr(batch, name)[k] = getattr(found, name)
