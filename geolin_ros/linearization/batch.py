# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of a robot about many states in one call."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import packed_of
from geolin_ros.dynamics.samples import Robot, States, Task, rows, state_rows, zeros_together
from geolin_ros.errors import GeolinError, ShapeError
from geolin_ros.linearization.about import About, Reference, frozen
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.linearization.result import ARRAYS, Linearization, read_only
from geolin_ros.linearization.workspace import Workspace
from geolin_ros.model.labels import Label, input_labels, state_labels
from geolin_ros.model.wrenches import External
from geolin_ros.renamed import with_old_names
from geolin_ros.typing import Array


@with_old_names
@dataclass(frozen=True, eq=False)
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

    ``len(batch)`` is N, ``batch[k]`` a `Linearization` that shares the memory, read-only,
    ``batch[a:b]`` a batch that does. A call that is given it as ``out`` overwrites the arrays.
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
    external: External = ()
    """External wrenches, in force in every state."""
    reference: Reference = 'moving'

    def __len__(self) -> int:
        """Return N."""
        return len(self.A)

    @overload
    def __getitem__(self, k: int) -> Linearization: ...
    @overload
    def __getitem__(self, k: slice) -> LinearizationBatch: ...
    def __getitem__(self, k: int | slice) -> Linearization | LinearizationBatch:
        """Return one linearization, or a shorter batch."""
        if isinstance(k, slice):
            names = (*ARRAYS, 'states', 'tau')
            return dataclasses.replace(self, **{name: getattr(self, name)[k] for name in names})
        return Linearization(
            **{name: read_only(getattr(self, name)[k]) for name in ARRAYS},
            columns=self.columns,
            inputs=self.inputs,
            about=About(self.workspace, self.states[k].copy(), self.tau[k].copy(), self.external),
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


class Batches:
    """Linearizes one robot about many states in one call, as `Linearizer.batch`.

    The same A and B as the linearizer's, to rounding, eight states at a time; robots in contact,
    with mimic joints or with joints of several axes go through it state by state.

    Calls must not overlap: the scratch belongs to it.

    Examples
    --------
    >>> from geolin_ros import Linearizer, TreeModel, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> L = Linearizer(model).batch([model.neutral_state()] * 20, np.zeros((20, model.n)))
    >>> L.A.shape, L.B.shape
    ((20, 36, 36), (20, 36, 12))
    """

    def __init__(self, linearizer: Any) -> None:  # whose module imports this one
        self._linearizer, self.model = linearizer, linearizer.model
        self._samples = Robot(self.model) if packed_of(self.model).is_plain else None
        if self._samples is not None:
            m, places = 6 + self.model.n, self._samples.rows
            by_tau = 2 * m + places[self.model.m - self.model.n :][self.model.actuated]
            self._columns = np.concatenate((places, m + places)), by_tau

    def room(self, count: int) -> LinearizationBatch:
        """Return a batch of ``count`` samples to be filled, see ``out`` of a call."""
        model, workspace = self.model, self._linearizer.workspace
        k, m, n_u, rows = 2 * model.m, model.m, len(model.actuated), len(workspace.weights)
        A, B, nu_dot, drift, wrenches, by_state, by_tau, states, tau = zeros_together(
            *((count, k, k), (count, k, n_u), (count, m), (count, k)),
            *((count, rows), (count, rows, k), (count, rows, n_u)),
            *((count, 22 + model.n_s + model.n), (count, model.n)),
        )
        A[:, np.arange(m), m + np.arange(m)] = 1.0
        return LinearizationBatch(
            *(A, B, nu_dot, drift, wrenches, by_state, by_tau),
            *(state_labels(model), input_labels(model)),
            tuple(constraint.contact for constraint in workspace.constraints),
            workspace,
            states,
            tau,
        )

    def __call__(
        self,
        states: States,
        tau: ArrayLike,
        *,
        wrenches: External = (),
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

        Raises `ShapeError` if an array has not the size of the robot or ``out`` is too small, else
        as `Linearizer`, about the first such sample; others are filled.
        """
        model, samples, workspace = self.model, self._samples, self._linearizer.workspace
        if workspace.constraints:
            samples = None
        data, wrenches = state_rows(model, states), wrenches or ()
        count = len(data)
        given = np.zeros((count, 6 + model.n))
        given[:, 6:] = rows('tau', tau, model.n, model, count)
        forces = np.zeros(0) if samples is None else samples.wrenches(model, wrenches)
        task = Task(model, data, given, forces, threads, {'tau': given[:, 6:]})
        batch = self.room(count) if out is None else out
        contacts = tuple(constraint.contact for constraint in workspace.constraints)
        found = batch.columns, batch.inputs, batch.contacts
        if found != (state_labels(model), input_labels(model), contacts):
            raise ShapeError(
                f'out is of another robot than {model.name!r} or of other contacts, expected one '
                'of room()'
            )
        if len(batch) < count:
            raise ShapeError(f'out has room for {len(batch)} samples, expected at least {count}')
        batch = batch[:count]
        if samples is None:
            self._one_by_one(task, wrenches, batch)
        else:
            matrices = batch.A, batch.B
            samples.differentiate(task, self._columns, batch.nu_dot, matrices, model.m)
        batch.drift[:] = 0.0
        batch.states[:], batch.tau[:] = data, given[:, 6:]
        return dataclasses.replace(batch, external=tuple(wrenches), reference='moving')

    def _one_by_one(self, task: Task, wrenches: External, batch: LinearizationBatch) -> None:
        state = self.model.neutral_state()
        for k in range(task.count):
            state.data[:] = task.states[k]
            try:
                found = self._linearizer(state, task.given[k, 6:], wrenches=wrenches)
            except GeolinError as error:
                raise type(error)(f'sample {k}: {error}') from error
            for name in ARRAYS:
                getattr(batch, name)[k] = getattr(found, name)
