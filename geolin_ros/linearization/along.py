# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B along a trajectory through sets of contacts, in one call.

What model predictive control and time-varying gains need: for the intervals between nodes x_0,
x_1, ..., x_N, each with its own contacts in force,

    z_{k+1} = A_k z_k + B_k dtau_k + c_k,   f_k = f0_k + F_z z_k + F_u dtau_k,
    z_k = log(x_k^-1 g_k)

The nodes need not be a motion of the robot; c_k is by how much they are not.
"""

import copy
import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import packed_of
from geolin_ros.dynamics.samples import States, in_threads, rows, state_rows, zeros_together
from geolin_ros.errors import ConfigurationError, GeolinError, NotFiniteError, ShapeError
from geolin_ros.kernels.engine import along as kernels
from geolin_ros.kernels.engine.exponential import make_work
from geolin_ros.kernels.packing import contact_layout, layout
from geolin_ros.kernels.packing.own_layout import pack_own
from geolin_ros.kernels.status import OK
from geolin_ros.linearization.contacts.constraints import Constraint
from geolin_ros.linearization.contacts.description import SIZES, activated, with_own_loops
from geolin_ros.linearization.workspace import pack_constraints
from geolin_ros.model.wrenches import pack
from geolin_ros.typing import Array, IntArray

Names = tuple[str, ...]
ARRAYS = ('A', 'B', 'c', 'nu_dot', 'wrenches', 'wrench_by_state', 'wrench_by_tau')


@dataclass(frozen=True, eq=False)
class LinearizedTrajectory:
    """z+ = A z + B dtau + c over the N intervals of a trajectory, and the contact forces.

    Forces have a place for every contact of the linearizer, in their order; those that are not in
    force in an interval are zero there. Arrays are overwritten by a call that is given this one as
    ``out``.

    Attributes
    ----------
    A : (N, 2 m, 2 m)
    B : (N, 2 m, n_u)
    c : (N, 2 m)
        The defect: log(x_{k+1}^-1 g_{k+1}) of the motion from x_k under tau_k.
    nu_dot : (N, m)
        Forward dynamics at the nodes, as in `Linearization`.
    wrenches : (N, rows)
        Contact forces at the nodes, in contact axes [N, N m].
    wrench_by_state : (N, rows, 2 m)
        F_z, derivative by z_k.
    wrench_by_tau : (N, rows, n_u)
        F_u, derivative by the efforts of the actuated joints.
    in_force
        Names of the contacts in force in each interval.
    first
        The first row of each contact by name.
    """

    A: Array
    B: Array
    c: Array
    nu_dot: Array
    wrenches: Array
    wrench_by_state: Array
    wrench_by_tau: Array
    in_force: tuple[Names, ...]
    first: dict[str, int]

    def __len__(self) -> int:
        """Return N."""
        return len(self.A)


class Along:
    """Linearizes one robot along trajectories, as `Linearizer.along`.

    All its contacts must have different names. Calls must not overlap: the scratch belongs to it.

    Examples
    --------
    A leg in the air for the second of two intervals of 20 ms:

    >>> from geolin_ros import Contact, Linearizer, TreeModel, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> feet = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]
    >>> lin = Linearizer(model, [Contact(foot) for foot in feet])
    >>> states, tau = [model.neutral_state()] * 3, np.zeros((2, model.n))
    >>> plan = lin.along(states, tau, [0.0, 0.02, 0.04], contacts=[feet, feet[1:]])
    >>> plan.A.shape, plan.B.shape, plan.wrenches.shape
    ((2, 36, 36), (2, 36, 12), (2, 12))
    """

    def __init__(self, linearizer: Any) -> None:  # whose module imports this one
        self._linearizer, self.model = linearizer, linearizer.model
        self._of: object = None
        self._numbers: dict[Names, int] = {}
        self._sets: Any = ()
        self._workers: list[Along] = []
        packed = self.model.packed
        self._is_compiled = packed is not None and not packed.groups
        if packed is not None and self._is_compiled:
            own = pack_own(packed, self.model.base == 'floating', self.model.actuated)
            self._robot = packed.ints, packed.floats, own.ints, own.floats
            self._memory = (
                layout.make_inputs(packed, pack(self.model, ())),
                layout.make_workspace(packed),
                *make_work(2 * self.model.m, len(self.model.actuated) + 1),
                np.zeros(kernels.SCRATCH),
            )

    def room(self, count: int) -> LinearizedTrajectory:
        """Return memory for ``count`` intervals, see ``out`` of a call."""
        model, contacts = self.model, self._linearizer.contacts
        k, n_u = 2 * model.m, len(model.actuated)
        ends = np.cumsum([0, *(SIZES[contact.kind] for contact in contacts)]).tolist()
        A, B, c, nu_dot, f, f_z, f_u = zeros_together(
            *((count, k, k), (count, k, n_u), (count, k), (count, model.m)),
            *((count, ends[-1]), (count, ends[-1], k), (count, ends[-1], n_u)),
        )
        first = {contact.name: at for contact, at in zip(contacts, ends, strict=False)}
        return LinearizedTrajectory(A, B, c, nu_dot, f, f_z, f_u, (), first)

    def __call__(
        self,
        states: States,
        tau: ArrayLike,
        times: ArrayLike,
        *,
        contacts: Sequence[Iterable[str]] | None = None,
        out: LinearizedTrajectory | None = None,
    ) -> LinearizedTrajectory:
        """Linearize along a trajectory.

        Parameters
        ----------
        states : (N + 1, 22 + n_s + n)
            Nodes: rows of `State.data`, or N + 1 states.
        tau : (N, n)
            Joint efforts, constant from node to node [N m or N].
        times : (N + 1,)
            Of the nodes, increasing [s].
        contacts
            Names of the contacts in force in each of the N intervals, beside the model's loops; by
            default those that are now.
        out
            Of `room` for at least N intervals, to be overwritten; its first N are returned.

        Returns
        -------
        LinearizedTrajectory
            Equal to `Linearizer.discretize` by ``'zoh'`` with the next node as next reference.

        Raises `ShapeError` if an array has not the size of the robot or of the trajectory,
        `ConfigurationError` if times do not increase or two contacts have the same name,
        `UnknownNameError` if no contact has one of the names, else as `Linearizer.discretize`,
        about the first such node.
        """
        model, linearizer = self.model, self._linearizer
        data = state_rows(model, states)
        count = max(len(data) - 1, 0)
        efforts = rows('tau', tau, model.n, model, count)
        at = np.ascontiguousarray(times, dtype=np.float64)
        if at.shape != (count + 1,):
            raise ShapeError(f'times have shape {at.shape}, expected ({count + 1},), one a node')
        if not np.all(np.diff(at) > 0.0):
            raise ConfigurationError(
                f'times are {at.tolist()}, expected numbers that increase [s]'
            )
        if not np.isfinite(data[count:]).all():  # the engine sees the others
            raise NotFiniteError(
                f'node {count}: the state of robot {model.name!r} holds NaN or inf, expected '
                'finite numbers'
            )
        if contacts is None:
            contacts = [[each.name for each in linearizer.contacts if each.active]] * count
        if len(contacts) != count:
            raise ShapeError(
                f'contacts are {len(contacts)} sets, expected {count}, one a interval'
            )
        all_contacts = linearizer.contacts
        in_force = tuple(with_own_loops(model, all_contacts, names) for names in contacts)
        room = self.room(count) if out is None else out
        size = sum(SIZES[contact.kind] for contact in all_contacts)
        if room.wrench_by_state.shape[1:] != (size, 2 * model.m):
            raise ShapeError(
                f'out is of another robot than {model.name!r} or of other contacts, expected one '
                'of room()'
            )
        if len(room) < count:
            raise ShapeError(f'out has room for {len(room)} intervals, expected at least {count}')
        arrays = {name: getattr(room, name)[:count] for name in ARRAYS}
        plan = dataclasses.replace(room, **arrays, in_force=in_force)
        plan.wrenches[:], plan.wrench_by_state[:], plan.wrench_by_tau[:] = 0.0, 0.0, 0.0
        self._fill(plan, data, efforts, at)
        return plan

    def many(
        self,
        states: Sequence[States],
        tau: Sequence[ArrayLike],
        times: Sequence[ArrayLike],
        *,
        contacts: Sequence[Sequence[Iterable[str]] | None] | None = None,
        threads: int = 1,
    ) -> list[LinearizedTrajectory]:
        """Linearize along many trajectories, shared by threads.

        Arguments are those of a call for each trajectory; their lengths may differ. Results do not
        depend on the number of threads.

        Raises `ShapeError` if not all are of as many trajectories, `ConfigurationError` if threads
        is less than 1, else as a call, about the first such trajectory a thread meets.
        """
        if threads < 1:
            raise ConfigurationError(f'threads is {threads}, expected at least 1')
        count = len(states)
        sets = [None] * count if contacts is None else contacts
        given = (states, tau, times, sets)
        if any(len(each) != count for each in given):
            raise ShapeError(
                f'states, tau, times and contacts are of {[*map(len, given)]} trajectories, '
                'expected as many of each'
            )
        self._forget_others()
        for _ in range(min(threads, count) - 1 - len(self._workers)):
            self._workers.append(Along(copy.copy(self._linearizer)))
        numbers = iter(range(count))
        plans: list[Any] = [None] * count

        def work(worker: Along) -> None:
            for k in numbers:
                try:
                    plans[k] = worker(states[k], tau[k], times[k], contacts=sets[k])
                except GeolinError as error:
                    list(numbers)  # nobody begins another
                    raise type(error)(f'trajectory {k}: {error}') from error

        in_threads(work, self, self._workers[: threads - 1])
        return plans

    def _fill(self, plan: LinearizedTrajectory, data: Array, tau: Array, times: Array) -> None:
        """Fill the intervals: compiled, but for those where rows are dependent."""
        self._forget_others()
        begin, count = 0, len(plan)
        while begin < count:
            failed = begin
            if self._is_compiled:
                seen = list(dict.fromkeys((*self._numbers, *plan.in_force)))
                if len(seen) > len(self._numbers):
                    self._sets = self._pack(seen)
                    self._numbers = {names: number for number, names in enumerate(seen)}
                numbers = np.array([self._numbers[names] for names in plan.in_force])
                table, places, sites, work, outs = self._sets
                failed, status = kernels.linearize_along(
                    self._robot,
                    *(table, places, sites, work, outs),
                    self._memory,
                    begin,
                    (data, tau, times, numbers),
                    *(plan.A, plan.B, plan.c, plan.nu_dot),
                    *(plan.wrenches, plan.wrench_by_state, plan.wrench_by_tau),
                )
                if status == OK:
                    return
            self._fill_one(plan, failed, data, tau, times)
            begin = failed + 1

    def _forget_others(self) -> None:
        """Forget sets of contacts that the linearizer no longer has."""
        contacts = self._linearizer.contacts
        if self._of is contacts:
            return
        names = [contact.name for contact in contacts]
        if len(set(names)) < len(names):
            raise ConfigurationError(
                f'contacts of robot {self.model.name!r} are called {names}, expected different '
                'names to tell which are in force'
            )
        self._of, self._numbers, self._workers = contacts, {}, []

    def _fill_one(
        self, plan: LinearizedTrajectory, k: int, data: Array, tau: Array, times: Array
    ) -> None:
        """Fill one interval by `Linearizer.discretize`: dependent rows, joints of several axes."""
        names, one = plan.in_force[k], self._linearizer
        contacts, places = activated(one.contacts, names), self._places(names)
        state, following = self.model.neutral_state(), self.model.neutral_state()
        state.data[:], following.data[:] = data[k], data[k + 1]
        under: dict[str, Any] = {'contacts': contacts, 'next_reference': following}
        try:
            L = one(state, tau[k], contacts=contacts)
            step = one.discretize(state, tau[k], times[k + 1] - times[k], method='zoh', **under)
        except GeolinError as error:
            raise type(error)(f'node {k}: {error}') from error
        plan.wrenches[k, places] = L.wrenches
        plan.wrench_by_state[k, places] = L.wrench_by_state
        plan.wrench_by_tau[k, places] = L.wrench_by_tau
        plan.A[k], plan.B[k], plan.c[k] = step.Phi, step.Gamma, step.defect
        plan.nu_dot[k] = step.nu_dot

    def _places(self, names: Names) -> IntArray:
        """Return the rows that contacts with these names have among those of all."""
        contacts = self._linearizer.contacts
        sizes = [SIZES[contact.kind] for contact in contacts]
        return np.flatnonzero(np.repeat([contact.name in names for contact in contacts], sizes))

    def _pack(self, sets: Sequence[Names]) -> tuple[Any, ...]:
        """Pack sets of contacts, each part at the beginning of a cache line.

        Returns table, places, sites, work and results, as `kernels.along` reads them.
        """
        model, packed = self.model, packed_of(self.model)
        table = np.zeros((len(sets), kernels.SET_INTS), np.int64)
        columns = kernels.PLACES, kernels.SITES, kernels.WORK, kernels.OUT
        parts: list[list[Array]] = [[] for _ in columns]
        for s, names in enumerate(sets):
            contacts = activated(self._linearizer.contacts, names)
            constraints = [Constraint(model, contact) for contact in contacts if contact.active]
            places = self._places(names)
            outputs = contact_layout.outputs_of(model.m, len(model.actuated), len(places))
            table[s, kernels.ROWS] = len(places)
            of_set = places, *pack_constraints(packed, constraints), outputs.out
            for part, array, column in zip(parts, of_set, columns, strict=True):
                table[s, column] = sum(map(len, part))
                part.append(np.concatenate((array, np.zeros(-len(array) % 8, array.dtype))))
        all_places, sites, *others = map(np.concatenate, parts)
        aligned = [layout.aligned_zeros(len(array)) for array in others]
        for to, values in zip(aligned, others, strict=True):
            to[:] = values
        return table, all_places, sites, *aligned


def differences(states: Array, others: Array) -> Array:
    """Return log(x_k^-1 y_k) (N, 12 + 2 n) of rows (N, 22 + 2 n) of `State.data`.

    For robots whose joints have single axes; `State.difference` is for all.
    """
    z = np.empty((len(states), states.shape[1] - 10))
    kernels.difference_along(states, others, np.empty(16), z)
    return z


def retracted(states: Array, z: Array) -> Array:
    """Return the rows x_k exp(z_k) (N, 22 + 2 n), see `differences`."""
    found = np.zeros(states.shape)
    found[:, 15] = 1.0
    kernels.retract_along(states, z, found)
    return found
