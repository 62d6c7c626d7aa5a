# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of a robot about a state, in the air or in contact: what the package stands on."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import failure, vector, wrong_state
from geolin_ros.errors import ModelError, NotFiniteError, ShapeError
from geolin_ros.kernels.engine.contact_linearization import linearize_in_contact
from geolin_ros.kernels.engine.linearization import linearize
from geolin_ros.kernels.engine.own_results import linearize_own, pose_groups
from geolin_ros.kernels.entry import machine_code
from geolin_ros.kernels.packing import contact_layout, layout
from geolin_ros.kernels.packing.own_layout import pack_own
from geolin_ros.kernels.status import NOT_FINITE, OK, REDUNDANT, SINGULAR
from geolin_ros.linearization.contacts.constraints import Constraint
from geolin_ros.linearization.contacts.description import Closure, activated, content
from geolin_ros.linearization.contacts.geometry import RowsLeft, geometry_of, rows_at
from geolin_ros.linearization.contacts.rank import (
    RANK_TOLERANCE,
    Decision,
    check_length,
    decide,
    weights_of,
)
from geolin_ros.linearization.contacts.redundancy import Redundancy
from geolin_ros.linearization.result import (
    About,
    Geometry,
    Linearization,
    Reference,
    check_reference,
    read_only,
    wrench_labels,
)
from geolin_ros.model.labels import input_labels, state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench, pack
from geolin_ros.typing import Array, IntArray

if TYPE_CHECKING:  # imported when they are first used: who wants A and B alone needs neither
    from geolin_ros.linearization.along import Along
    from geolin_ros.linearization.batch import Batches
    from geolin_ros.linearization.discretization import Discretization, Method

NO_MEMORY_OF_FLOATS = (TypeError, ValueError, NotImplementedError, BufferError)
"""What a memoryview says to it."""
NO_WRENCHES: Sequence[Wrench] = ()


class Linearizer:
    """Linearizes one robot, again and again, in a workspace of its own (one per thread).

    Parameters
    ----------
    model
        The robot.
    contacts
        Frames of it that are in contact, and loops; they may change at any time.
    length
        What a torque is divided by to compare it with a force where contacts are redundant [m].

    Attributes
    ----------
    contacts
        All contacts; assign others, or call `activate`, at any time.
    state, tau
        What was linearized about last; write into their arrays, then call `run`.
    batch
        Linearizes about many states: ``linearizer.batch(states, taus)``, see `Batches`.
    along
        Linearizes along a trajectory: ``linearizer.along(states, taus, times)``, see `Along`.

    Raises
    ------
    UnknownNameError, ConfigurationError, ShapeError, NotFiniteError
        If a contact does not fit the robot, see `Contact`; the same on assignment.

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
        self, model: TreeModel, contacts: Sequence[Closure] = (), length: float = 0.1
    ) -> None:
        check_length(length)
        self.model, self._length = model, length
        self._state, self._tau, self._n = model.neutral_state(), np.zeros(model.n), model.n
        self._x_memory = memoryview(self._state.data)  # type: ignore[arg-type]
        self._tau_memory = memoryview(self._tau)  # type: ignore[arg-type]
        self._known: list[tuple[object, ...]] | None = None
        self.contacts = tuple(contacts)

    @property
    def contacts(self) -> tuple[Closure, ...]:
        """All contacts."""
        return self._contacts

    @contacts.setter
    def contacts(self, contacts: Sequence[Closure]) -> None:
        known = [content(contact) for contact in contacts]
        if known == self._known:  # the engine that is there serves them
            return
        constraints = [Constraint(self.model, contact) for contact in contacts]
        active = [c for c in constraints if c.contact.active]
        self._contacts, self._active, self._known = tuple(contacts), active, known
        self._engine = _Engine(self.model, active, self._length, (self._state, self._tau))

    def activate(self, names: Iterable[str]) -> None:
        """Put the contacts with these names into force, and no others.

        Raises
        ------
        UnknownNameError
            If no contact has one of the names.
        """
        self.contacts = activated(self._contacts, names)

    @property
    def state(self) -> State:
        """State that `run` linearizes about."""
        return self._state

    @property
    def tau(self) -> Array:
        """Joint efforts (n,) that `run` linearizes about [N m or N]."""
        return self._tau

    @cached_property
    def batch(self) -> 'Batches':
        """Linearizes about many states in one call."""
        from geolin_ros.linearization.batch import Batches

        return Batches(self)

    @cached_property
    def along(self) -> 'Along':
        """Linearizes along trajectories through sets of contacts in one call."""
        from geolin_ros.linearization.along import Along

        return Along(self, self._length)

    def __call__(
        self,
        state: State,
        tau: ArrayLike,
        reference: Reference = 'moving',
        wrenches: Sequence[Wrench] = (),
        contacts: Sequence[Closure] | None = None,
    ) -> Linearization:
        """Linearize about a state.

        Parameters
        ----------
        state
            Where; its sizes must be the model's.
        tau : (n,)
            Joint efforts [N m or N].
        reference
            See `Linearization`.
        wrenches
            External wrenches on links, besides those of contacts.
        contacts
            Others than until now, from now on. They are read at the level of accelerations: the
            state need not satisfy them unless they are redundant.

        Returns
        -------
        Linearization
            Its arrays are read-only views of the workspace, valid until the next call, but for
            those that another reference or redundant contacts need.

        Raises
        ------
        ShapeError
            If the state or tau has not the model's size.
        NotFiniteError
            If an input holds NaN or inf.
        SingularInertiaError
            If a joint has no inertia to move at this state.
        """
        if contacts is not None and contacts is not self._contacts:
            self.contacts = tuple(contacts)
        if len(state.r) != self._n:  # its parts may add up all the same
            raise wrong_state(self.model, state)
        try:
            self._x_memory[:] = state.data  # type: ignore[call-overload]
            self._tau_memory[:] = tau  # type: ignore[assignment]
        except NO_MEMORY_OF_FLOATS:  # or of another size
            self._take(state, tau)
        result = self._engine.run_under(wrenches) if wrenches else self.run()
        if reference == 'moving':
            return result
        check_reference(reference)
        return result.frozen()

    def run(self) -> Linearization:
        """Linearize about `state` and `tau` as they are, without other wrenches: the fastest call.

        Returns
        -------
        Linearization
            Of the moving reference. It is valid until the next call, and until `state` or `tau`
            is written to.

        Raises
        ------
        NotFiniteError, SingularInertiaError
            As for any linearization.

        Examples
        --------
        >>> from geolin_ros import Linearizer, TreeModel, robots
        >>> lin = Linearizer(TreeModel.from_urdf(robots.path('quadruped')))
        >>> lin.state.s[:], lin.tau[:] = 0.1, 2.0
        >>> lin.run().A.shape
        (36, 36)
        """
        engine = self._engine
        status = engine.run_here()
        if status != OK:
            return engine.settle(status, engine.inputs)
        if self._active:
            engine.remember(NO_WRENCHES)
        return engine.result

    def forward_dynamics(
        self, state: State, tau: ArrayLike, wrenches: Sequence[Wrench] = ()
    ) -> Array:
        """Return nu_dot (m,) alone: base twist rate in base axes, joint accelerations.

        Same arguments and errors as a linearization; the array is the caller's.
        """
        if (state.s.size, state.r.size) != (self.model.n_q, self._n):
            raise wrong_state(self.model, state)
        efforts, engine = vector('tau', tau, self.model.n, self.model.name), self._engine
        engine.tau[:] = efforts  # the whole linearization costs less than a factorization
        inputs = engine.inputs if not wrenches else engine.inputs_with(wrenches)
        engine.is_current = False
        status = engine.run(state.data, inputs, engine.workspace, engine.spare.out)
        if status == REDUNDANT:
            return engine.by_rank(state, inputs).nu_dot.copy()
        if status != OK:
            raise engine.failure(status, state)
        return engine.spare.nu_dot.copy()

    def discretize(
        self,
        state: State,
        tau: ArrayLike,
        dt: float,
        method: 'Method' = 'midpoint',
        reference: Reference = 'moving',
        wrenches: Sequence[Wrench] = (),
        next_reference: State | None = None,
    ) -> 'Discretization':
        """Step over ``dt`` with constant efforts, and linearize the step.

        Parameters
        ----------
        state, tau, wrenches
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

        Returns
        -------
        Discretization
            Its arrays are the caller's.

        Raises
        ------
        ConfigurationError
            If dt is not positive, or method or reference is none of the above.
        InputError
            If the base is fixed and the state gives it a twist.
        ShapeError, NotFiniteError, SingularInertiaError
            As for a linearization; NotFiniteError also if the step overflows.
        """
        from geolin_ros.linearization.discretization import Options, discretize

        options = Options(dt, method, reference)
        return discretize(self, state, tau, options, wrenches, next_reference)

    def about(self, state: State, tau: Array, wrenches: Sequence[Wrench]) -> About:
        """Return what a linearization of this robot is about, arrays of its own."""
        return About(
            self.model,
            state.data.copy(),
            *later(self.model, self._active, self._length, state.copy(), tau.copy(), wrenches),
        )

    def _take(self, state: State, tau: ArrayLike) -> None:
        """Keep a state, and efforts of any kind."""
        if state.data.size != self._state.data.size:
            raise wrong_state(self.model, state)
        values = np.asarray(tau, dtype=np.float64)
        if values.shape != self._tau.shape:
            raise ShapeError(
                f'tau has shape {values.shape}, expected {self._tau.shape}, one a joint'
            )
        self._state.data[:], self._tau[:] = state.data, values


class _Engine:
    """The engine for one robot and its contacts, with memory of its own.

    Parameters
    ----------
    model
        The robot.
    constraints
        Contacts and loops in force.
    length
        See `Linearizer`.
    about
        Memory of the state and of the efforts.

    Attributes
    ----------
    run
        (x, inputs, workspace, out) -> status, machine code: called itself, a kernel would look at
        the types of its arguments first, for 0.4 us.
    run_here
        The same about the state and the efforts in memory, into `outputs`.
    inputs, tau
        [efforts | wrenches] of all joints without wrenches, and the caller's efforts, which may be
        the same.
    outputs
        Of the last linearization.
    result
        The same, and who answers for what is seldom asked; it stays that of these contacts.
    x
        The state it is about.
    is_current
        Whether the kernel ran last there.

    Raises
    ------
    ModelError
        If a link has an inertia that no rigid body has, or bodies are not numbered depth first.
    """

    def __init__(
        self,
        model: TreeModel,
        constraints: Sequence[Constraint],
        length: float,
        about: tuple[State, Array],
    ) -> None:
        packed = model.packed
        if packed is None:
            raise ModelError(
                f'robot {model.name!r} has a link whose inertia is not that of a rigid body, or '
                'bodies that are not numbered depth first; expected inertias [[m 1, -h x], '
                '[h x, I]] with a symmetric I: make them from mass, centre of mass and inertia'
            )
        self._own = pack_own(packed, model.base == 'floating', model.actuated)
        self._model, self._packed, self._length = model, packed, length
        self._constraints, self._weights = constraints, weights_of(constraints, length)
        self._scales = np.outer(self._weights, self._weights)
        self._rows = wrench_labels(constraint.contact for constraint in constraints)
        self._shape = (
            model.m,
            len(model.actuated),
            sum(constraint.size for constraint in constraints),
        )
        self.workspace = layout.make_workspace(packed)
        self._state, self.tau = about
        self.inputs = self.tau
        if not self._own.is_all:
            self.inputs = layout.make_inputs(packed, pack(model, ()))
        self.outputs = contact_layout.outputs_of(*self._shape)
        self._poses, self._floats = packed.floats.copy(), packed.floats
        if packed.groups:
            self._floats = read_only(self._poses)
        self._contacts = pack_constraints(packed, constraints)
        self.x = self._state.data
        self._tau, self._wrenches = np.zeros(model.n), NO_WRENCHES
        self.is_current = False
        self.result = self._make_result()
        self._independent: dict[int, tuple[Any, RowsLeft]] = {}

    @cached_property
    def run(self) -> Callable[[Array, Array, Array, Array], int]:
        """See above; compiled when first used."""
        return self._runner(self._contacts)

    @cached_property
    def run_here(self) -> Callable[[], int]:
        """See above."""
        return partial(self.run, self.x, self.inputs, self.workspace, self.outputs.out)

    def _runner(
        self, contacts: contact_layout.Contacts
    ) -> Callable[[Array, Array, Array, Array], int]:
        robot: tuple[Any, ...] = self._packed.ints, self._floats
        kernel: Any = linearize
        if not self._own.is_all:
            kernel = linearize_own
            robot = *robot, *contacts, self._own.ints, self._own.floats
        elif self._constraints:
            kernel, robot = linearize_in_contact, (*robot, *contacts)
        others = (self.inputs, self.workspace, self.outputs.out)
        if self._own.is_all:
            return partial(machine_code(kernel, (*robot, self.x, *others)), *robot)
        efforts = self.tau
        code = machine_code(kernel, (*robot, self.x, efforts, *others))

        def run(x: Array, inputs: Array, workspace: Array, out: Array) -> int:
            status: int = code(*robot, x, efforts, inputs, workspace, out)
            return status

        def run_posed(x: Array, inputs: Array, workspace: Array, out: Array) -> int:
            pose_groups(self._own.ints, self._own.floats, x, self._poses)
            return run(x, inputs, workspace, out)

        return run_posed if self._packed.groups else run

    @cached_property
    def spare(self) -> contact_layout.Outputs:
        """Outputs that leave those of the last linearization alone."""
        return contact_layout.outputs_of(*self._shape)

    def inputs_with(self, wrenches: Sequence[Wrench]) -> Array:
        """Return [efforts | wrenches]."""
        inputs = layout.make_inputs(self._packed, pack(self._model, wrenches))
        if self._own.is_all:
            inputs[: self._model.n] = self.tau
        return inputs

    def run_under(self, wrenches: Sequence[Wrench]) -> Linearization:
        """Return the linearization about the state and the efforts in memory under wrenches."""
        inputs = self.inputs_with(wrenches)
        status = self.run(self.x, inputs, self.workspace, self.outputs.out)
        if status != OK:
            return self.settle(status, inputs)
        self.remember(wrenches)
        return self.result

    def settle(self, status: int, inputs: Array) -> Linearization:
        """Return the linearization by rank, if rows are dependent; raise for what else failed."""
        self.is_current = False
        if status != REDUNDANT:
            raise self.failure(status, self._state)
        return self.by_rank(self._state, inputs)

    def remember(self, wrenches: Sequence[Wrench]) -> None:
        """Keep what the result is about, besides the state."""
        self._wrenches, self.is_current = wrenches, True
        self._tau[:] = self.tau

    def by_rank(self, state: State, inputs: Array) -> Linearization:
        """Return the linearization about a state where the kernel has just found dependent rows.

        It runs again with as many independent combinations of the rows as their rank. The forces
        are those of least norm. Where they lie in the range of J moves with the state: with an
        orthonormal basis N of null(J') and J w = lam they change by N N' d(J w) more.
        """
        decision, redundancy = self._decide(state)
        rank, weights = decision.kept.shape[1], self._weights
        frames = contact_layout.differences(*_widths(self._constraints))
        combination = (decision.kept.T * weights) @ frames
        if rank not in self._independent:
            contacts = pack_constraints(self._packed, self._constraints, combination)
            left = RowsLeft(self._model, self._packed, contacts)
            self._independent[rank] = self._runner(contacts), left
        run, left = self._independent[rank]
        seen = frames.sum(axis=0) > 0.0
        contact_layout.combine(left.contacts, combination, seen)
        spare = self.spare
        self.is_current = False
        status = run(state.data, inputs, self.workspace, spare.out)
        if status != OK:
            raise self.failure(status, state)
        model, twin = self._model, state.copy()
        by_state, N = spare.by_state.copy(), decision.dropped
        if N.size:
            J, _ = self._rows_at(left, twin.at_rest())
            w = np.linalg.lstsq(weights[:, np.newaxis] * J, spare.forces / weights, rcond=1e-9)[0]
            as_if = twin.copy()
            as_if.data[-model.m :] = w
            change = weights[:, np.newaxis] * self._rows_at(left, as_if)[1]
            by_state += weights[:, np.newaxis] * (N @ (N.T @ change))
        about = About(
            model,
            twin.data,
            lambda: redundancy,
            lambda: geometry_of(model, self._constraints, twin),
        )
        return dataclasses.replace(
            self.result,
            A=spare.A.copy(),
            B=spare.B.copy(),
            nu_dot=spare.nu_dot.copy(),
            wrenches=spare.forces.copy(),
            wrench_by_state=by_state,
            wrench_by_tau=spare.by_effort.copy(),
            about=about,
        )

    def failure(self, status: int, state: State) -> Exception:
        """Return the error for a status of the engine."""
        joint = status - SINGULAR - 6
        if joint >= 0:
            status = SINGULAR + 6 + int(self._packed.mimics.masters[joint])
        return failure(self._model, status, state, {'tau': self.tau[: self._model.n]})

    def _make_result(self) -> Linearization:
        outputs, model = self.outputs, self._model
        return Linearization(
            read_only(outputs.A),
            read_only(outputs.B),
            read_only(outputs.nu_dot),
            read_only(np.zeros(2 * model.m)),
            state_labels(model),
            input_labels(model),
            read_only(outputs.forces),
            read_only(outputs.by_state),
            read_only(outputs.by_effort),
            About(model, read_only(self.x), self._judge, self._geometry, self._rank),
            tuple(constraint.contact for constraint in self._constraints),
        )

    def _judge(self) -> Redundancy:
        """Return the rank decision of the result, which counted all rows."""
        if self.is_current or not self._constraints:
            return self._decide(self._state)[1]
        return self._again[0]()

    def _rank(self) -> int:
        """Return the rank of the result: all rows, where a bound spares their eigenvalues."""
        if not (self.is_current and self._constraints):
            return self._judge().rank
        condition = contact_layout.condition_of(self._contacts, self._scales)
        return len(self._rows) if RANK_TOLERANCE * condition < 0.1 else self._judge().rank

    def _geometry(self) -> Geometry:
        """Return J and its change as the kernel left them, where it can be read from there."""
        state, model = self._state, self._model
        if not self.is_current or not self._constraints:
            return geometry_of(model, self._constraints, state)
        return geometry_of(model, self._constraints, state, self._rows_at(self._left, state))

    @cached_property
    def _left(self) -> RowsLeft:
        return RowsLeft(self._model, self._packed, self._contacts)

    def _rows_at(self, left: RowsLeft, state: State) -> tuple[Array, Array]:
        """Return `rows_at` the pose where the kernel has just run with these contacts."""
        found = left.at(self.workspace, state)
        return found or rows_at(self._model, self._constraints, state)

    @property
    def _again(self) -> 'Later':
        return later(
            *(self._model, self._constraints, self._length),
            *(self._state.copy(), self._tau.copy(), self._wrenches),
        )

    def _decide(self, state: State) -> tuple[Decision, Redundancy]:
        """Return the rank decision of the last call of `run`, about a state."""
        weights, m = self._weights, self._model.m
        mobilities, bias = np.zeros((0, 0)), np.zeros(0)
        if self._constraints:
            mobilities, bias = contact_layout.mobilities_of(self._contacts)
        if not np.isfinite(mobilities).all():
            if not (np.isfinite(state.data).all() and np.isfinite(self.tau).all()):
                raise self.failure(NOT_FINITE, state)
            raise NotFiniteError(
                f'contacts of robot {self._model.name!r} overflow, expected contact frames '
                'within its reach; correct their placements'
            )
        decision, asked = decide(mobilities * self._scales), bias * weights
        denied, size = decision.dropped.T @ asked, float(np.linalg.norm(asked))
        return decision, Redundancy(
            rows=self._rows,
            velocities=m,
            rank=decision.kept.shape[1],
            smallest_kept=decision.smallest_kept,
            largest_dropped=decision.largest_dropped,
            dropped=weights[:, np.newaxis] * decision.dropped,
            contradiction=float(np.linalg.norm(denied)) / size if size > 0.0 else 0.0,
        )


Later = tuple[Callable[[], Redundancy], Callable[[], Geometry]]


def later(
    model: TreeModel,
    constraints: Sequence[Constraint],
    length: float,
    state: State,
    tau: Array,
    wrenches: Sequence[Wrench],
) -> Later:
    """Return who answers for the rank and the geometry of contacts about a state."""

    def dropped() -> Redundancy:
        contacts = [constraint.contact for constraint in constraints]
        return Linearizer(model, contacts, length)(state, tau, wrenches=wrenches).dropped

    return dropped, lambda: geometry_of(model, constraints, state)


def _widths(constraints: Sequence[Constraint]) -> tuple[IntArray, IntArray]:
    """Return the rows of each site, and what it is of a loop, see `contact_layout.LOOP`."""
    frames = [len(constraint.frames) for constraint in constraints]
    widths = np.repeat([constraint.size for constraint in constraints], frames)
    loops = [k for count in frames for k in ((0,) if count == 1 else (1, 2))]
    return widths.astype(np.int64), np.array(loops, np.int64)


def pack_constraints(
    packed: layout.Packed, constraints: Sequence[Constraint], combination: Array | None = None
) -> contact_layout.Contacts:
    """Return constraints as kernels read them: a site per frame of the robot."""
    sites = [(frame, c) for c in constraints for frame in c.frames]
    anchors = [np.eye(4) if c.anchor is None else c.anchor for _, c in sites]
    widths, loops = _widths(constraints)
    return contact_layout.pack_contacts(
        packed,
        packed.bodies[np.array([frame.body for frame, _ in sites], dtype=np.int64)],
        widths,
        np.array([frame.placement for frame, _ in sites]).reshape(-1, 4, 4),
        np.array([(c.contact.stiffness, c.contact.damping) for _, c in sites]).reshape(-1, 2),
        np.array(anchors).reshape(-1, 4, 4),
        loops,
        combination,
    )
