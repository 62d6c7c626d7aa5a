# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of a robot about a state, in the air or in contact: what the package stands on."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import cached_property
from sys import getrefcount as count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import about_state, state_data, vector, wrong_state
from geolin_ros.errors import ConfigurationError, ShapeError
from geolin_ros.kernels.status import OK, REDUNDANT
from geolin_ros.linearization.about import About, Reference
from geolin_ros.linearization.contacts.constraints import Constraint
from geolin_ros.linearization.contacts.description import (
    Closure,
    activated,
    check_is_list,
    content,
    named,
    with_own_loops,
)
from geolin_ros.linearization.recycling import ContactSet, Room
from geolin_ros.linearization.result import Linearization, read_only
from geolin_ros.linearization.workspace import Workspace
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import External
from geolin_ros.renamed import with_old_names
from geolin_ros.typing import Array

if TYPE_CHECKING:  # imported when they are first used: who wants A and B alone needs neither
    from geolin_ros.linearization.along import Along
    from geolin_ros.linearization.batch import Batches
    from geolin_ros.linearization.discretization import Discretization, Method

NO_FLOATS = AttributeError, TypeError, ValueError, NotImplementedError, BufferError, ShapeError
"""What a memoryview says to other memory."""
NO_ROOM: Any = (*[None] * 6, (), *[None] * 5)
"""Before the first result."""
Contacts = Sequence[Closure | str] | None
"""Those of one call, names for some; None for the linearizer's."""
SETS = 16
"""Sets of contacts that are kept ready, those used last."""


@with_old_names
class Linearizer:
    """Linearizes one robot, again and again, in a workspace of its own (one per thread).

    [Bos 2022, Propositions 1, 2, Eqs. (1), (2), (11)-(13), (19)-(26), (28)-(31)].

    Parameters
    ----------
    model
        The robot.
    contacts
        Frames of it that are in contact, and loops beside those of the model; they may change at
        any time.
    length
        What a torque is divided by to compare it with a force where contacts are redundant [m].

    Attributes
    ----------
    contacts
        All contacts; assign others, or call `activate`, at any time.
    state, tau
        What `run` linearizes about: yours to write into.
    workspace
        The engine with its contacts.
    batch, along
        Linearize about many states, see `Batches`, and along a trajectory, see `Along`.

    Raises if a contact does not fit the robot, on assignment too: `UnknownNameError` for a frame,
    `ConfigurationError` for kind or gains, `ShapeError` or `NotFiniteError` for a pose.

    Examples
    --------
    >>> from geolin_ros import Contact, Linearizer, TreeModel, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> lin = Linearizer(model)
    >>> L = lin(model.neutral_state(), np.zeros(model.n))
    >>> L.A.shape, L.B.shape
    ((36, 36), (36, 12))
    >>> feet = [Contact(f'{leg}_foot') for leg in ('FL', 'FR', 'RL', 'RR')]
    >>> lin = Linearizer(model, feet)
    >>> C = lin(model.random_state(np.random.default_rng(0)), np.zeros(model.n))
    >>> C.A.shape, C.wrench_by_tau.shape, C.rank
    ((36, 36), (12, 12), 12)
    """

    def __init__(
        self, model: TreeModel, contacts: Sequence[Closure | str] = (), *, length: float = 0.1
    ) -> None:
        if not 0.0 < length < np.inf:
            raise ConfigurationError(f'length is {length!r}, expected a positive number of metres')
        self.model, self.length = model, length
        self._n, start = model.n, model.neutral_state()
        here = np.append(start.data, np.zeros(model.n))
        self._state, self._tau = start.over(here[: start.data.size]), here[start.data.size :]
        self._here = memoryview(here)  # type: ignore[arg-type]
        self._sets: OrderedDict[object, ContactSet] = OrderedDict()
        self._contacts: tuple[Closure, ...] = ()
        self.contacts = contacts

    @property
    def contacts(self) -> tuple[Closure, ...]:
        """All contacts."""
        return self._contacts

    @contacts.setter
    def contacts(self, contacts: Sequence[Closure | str]) -> None:
        self._set = self._set_of(contacts)
        self._contacts = self._set.contacts
        self._room: Room = NO_ROOM
        self._unused = -1

    def _other_room(self) -> Room:
        """Return other room than `_room`, which is in use; the first time, compile."""
        free = self._set.free_room()
        self._room, self._unused = self._set.next, self._set.unused
        return free

    def activate(self, names: Iterable[str]) -> None:
        """Put the contacts with these names into force, and no others; the model's loops stay.

        Raises `UnknownNameError` if no contact has one of the names.
        """
        names = with_own_loops(self.model, self.contacts, names)
        self.contacts = activated(self.contacts, names)

    @property
    def workspace(self) -> Workspace:
        """The robot and its contacts as the engine has them."""
        return self._set.workspace

    @property
    def state(self) -> State:
        """What `run` linearizes about, with efforts `tau` (n,) [N m or N]: to be written into."""
        return self._state

    @property
    def tau(self) -> Array:
        """Efforts that `run` linearizes about."""
        return self._tau

    @cached_property
    def batch(self) -> Batches:
        """Linearizes about many states in one call."""
        from geolin_ros.linearization.batch import Batches

        return Batches(self)

    @cached_property
    def along(self) -> Along:
        """Linearizes along trajectories through sets of contacts in one call."""
        from geolin_ros.linearization.along import Along

        return Along(self)

    def __call__(
        self, state: State, tau: ArrayLike, *, contacts: Contacts = None, wrenches: External = ()
    ) -> Linearization:
        """Linearize about a state.

        The result stays as it is; its memory is used again when nobody holds it. See
        `Linearization.frozen` for the other reference.

        Parameters
        ----------
        state
            Where; its sizes must be the model's.
        tau : (n,)
            Joint efforts [N m or N].
        contacts
            Those of this call alone, instead of the linearizer's; names stand for contacts of
            the linearizer, or for points. They are read at the level of accelerations: the state
            need not satisfy them unless they are redundant.
        wrenches
            External wrenches on links, besides those of contacts.

        Raises `ShapeError` if the state or tau has not the model's size, `NotFiniteError` if an
        input holds NaN or inf, `SingularInertiaError` if a joint has no inertia to move here.
        """
        if contacts is not None or wrenches:
            return self._linearize(state, tau, contacts, wrenches)
        # what `recycling.references` does, here and in `run` for speed
        L, A, B, nu_dot, about, memory, forces, _, x, efforts, run, _ = self._room
        uses = count(L) + count(A) + count(B) + count(nu_dot) + count(about) + count(memory)
        if forces:
            f, by_state, by_tau = forces
            uses += count(f) + count(by_state) + count(by_tau)
        if uses != self._unused:
            L, _, _, _, about, _, forces, _, x, efforts, run, _ = self._other_room()
        try:
            if len(state.r) != self._n:  # its parts may add up all the same
                raise wrong_state(self.model, state)
            x[:] = state.data  # type: ignore[call-overload]
            efforts[:] = tau  # type: ignore[assignment]
        except NO_FLOATS:  # or of another size
            self._take(state, tau, x, efforts)
        status = run()
        if status != OK:
            return self._settle(self._set, status, about)
        if forces:
            about.renew()
        return L

    def run(self) -> Linearization:
        """Linearize about `state` and `tau` as they are, without other wrenches: the fastest call.

        Errors are those of a call.

        Examples
        --------
        >>> from geolin_ros import Linearizer, TreeModel, robots
        >>> lin = Linearizer(TreeModel.from_urdf(robots.path('quadruped')))
        >>> lin.state.s[:], lin.tau[:] = 0.1, 2.0
        >>> lin.run().A.shape
        (36, 36)
        """
        L, A, B, nu_dot, about, memory, forces, here, _, _, run, _ = self._room
        uses = count(L) + count(A) + count(B) + count(nu_dot) + count(about) + count(memory)
        if forces:
            f, by_state, by_tau = forces
            uses += count(f) + count(by_state) + count(by_tau)
        if uses != self._unused:
            L, _, _, _, about, _, forces, here, _, _, run, _ = self._other_room()
        here[:] = self._here
        status = run()
        if status != OK:
            return self._settle(self._set, status, about)
        if forces:
            about.renew()
        return L

    def _linearize(
        self, state: State, tau: ArrayLike, contacts: Contacts, wrenches: External
    ) -> Linearization:
        chosen = self._set if contacts is None else self._set_of(contacts)
        L, _, _, _, about, _, _, _, x, efforts, run, arrays = chosen.free_room()
        self._take(state, tau, x, efforts)
        if wrenches:
            run = chosen.workspace.bind(*arrays, wrenches)
        status = run()
        if status != OK:
            return self._settle(chosen, status, about, wrenches)
        about.renew(tuple(wrenches or ()))
        return L

    def _settle(
        self, chosen: ContactSet, status: int, about: About, wrenches: External = ()
    ) -> Linearization:
        """Return the linearization by rank, if rows are dependent; raise for what else failed."""
        workspace, state, tau = chosen.workspace, about.state, about.tau
        workspace.last = None
        if status != REDUNDANT:
            raise workspace.failure(status, state, tau)
        outputs, redundancy = workspace.linearize_by_rank(state, tau, wrenches)
        names = 'A', 'B', 'nu_dot', 'wrenches', 'wrench_by_state', 'wrench_by_tau'
        found: dict[str, Any] = dict(zip(names, map(read_only, outputs[1:]), strict=True))
        about = About(workspace, state.data, tau, wrenches, redundancy)
        return dataclasses.replace(chosen.next[0], about=about, **found)

    def _set_of(self, contacts: Sequence[Closure | str]) -> ContactSet:
        """Return the set of contacts, one used lately or a new one."""
        if contacts is self._contacts and self._sets:
            return self._set
        check_is_list(contacts)
        mine = {contact.name: contact for contact in self._contacts}
        given = tuple(named(contact, mine) for contact in contacts)
        names = {contact.name for contact in given}
        given += tuple(loop for loop in self.model.loops if loop.name not in names)
        known = tuple(content(contact) for contact in given)
        found = self._sets.pop(known, None)
        if found is None:
            constraints = [Constraint(self.model, contact) for contact in given]
            active = [c for c in constraints if c.contact.active]
            found = ContactSet(given, Workspace(self.model, active, self.length))
            if len(self._sets) >= SETS:
                self._sets.popitem(last=False)
        self._sets[known] = found
        return found

    def forward_dynamics(
        self, state: State, tau: ArrayLike, *, contacts: Contacts = None, wrenches: External = ()
    ) -> Array:
        """Return nu_dot (m,) alone: base twist rate in base axes, joint accelerations.

        Same arguments and errors as a linearization; the array is the caller's.
        """
        # the whole linearization costs less than a factorization
        return self(state, tau, contacts=contacts, wrenches=wrenches).nu_dot.copy()

    def discretize(
        self,
        state: State,
        tau: ArrayLike,
        dt: float,
        *,
        method: Method = 'midpoint',
        reference: Reference = 'moving',
        contacts: Contacts = None,
        wrenches: External = (),
        next_reference: State | None = None,
    ) -> Discretization:
        """Step over ``dt`` with constant efforts, and linearize the step; arrays are the caller's.

        Parameters
        ----------
        state, tau, contacts, wrenches
            As for a linearization.
        dt
            Time step [s].
        method
            ``'midpoint'``: local error dt^3 for one linearization; ``'euler'``, ``'zoh'``: dt^2;
            ``'rkmk4'``: dt^5, the exact derivative of its own step. See `discretization`.
        reference
            ``'moving'``: the error is taken to the motion through the state. ``'frozen'``: to the
            state itself, as a fixed point; the drift is the defect, and Phi and Gamma have a local
            error of dt^2 with ``'euler'`` and ``'zoh'``, which discretize A, B and drift.
        next_reference
            Where a reference that does not follow the model is after ``dt`` (``'moving'`` only);
            the defect is then log(next_reference^-1 next_state).

        Raises `ConfigurationError` if dt is not positive, or method or reference is none of the
        above, `InputError` if the base is fixed and the state gives it a twist, `NotFiniteError`
        if the step overflows, else as a linearization.
        """
        from geolin_ros.linearization.discretization import Rate, discretize

        def rate_at(at: State) -> Rate:
            L = self(at, tau, contacts=contacts, wrenches=wrenches)
            if reference == 'frozen' and method in ('euler', 'zoh'):
                L = L.frozen()
            return Rate(L.about.rate(L.nu_dot), L.A, L.B)

        return discretize(self.model, state, rate_at, dt, method, reference, next_reference)

    def _take(self, state: State, tau: ArrayLike, x: memoryview, efforts: memoryview) -> None:
        """Write down a state, and efforts of any kind."""
        data = state_data(self.model, state)
        x[:] = data  # type: ignore[call-overload]
        values = vector('tau', tau, self._n, self.model.name)
        efforts[:] = np.ascontiguousarray(values)  # type: ignore[call-overload]

    def __getstate__(self) -> dict[str, Any]:
        about = {'state': self._state.data, 'tau': self._tau}
        return {'model': self.model, 'contacts': self.contacts, 'length': self.length, **about}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Prepare the engine anew: its memory is of one process."""
        self.__init__(kept['model'], kept['contacts'], length=kept['length'])  # type: ignore[misc]
        self._state.data[:], self._tau[:] = kept['state'], kept['tau']


@about_state
def constrained_forward_dynamics(
    model: TreeModel,
    state: State,
    tau: ArrayLike,
    contacts: Sequence[Closure],
    *,
    wrenches: External = (),
    length: float = 0.1,
) -> tuple[Array, Array]:
    """Return the accelerations and contact forces that joint efforts produce.

    [Featherstone 2008, chapter 8]. Arguments and errors as of a `Linearizer` and its call.

    Returns
    -------
    nu_dot : (m,)
        Base twist rate in base axes, then joint accelerations; fixed base: the latter alone.
    wrenches : (rows,)
        On the robot, 3 or 6 a contact, in axes of and about the contact frame [N, N m].
    """
    found = Linearizer(model, contacts, length=length)(state, tau, wrenches=wrenches)
    return found.nu_dot.copy(), found.wrenches.copy()
