# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of a robot about a state, in the air or in contact: what the package stands on."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any, Literal

import numba
import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.functions import failure, vector, wrong_state
from geolin_ros.errors import ShapeError
from geolin_ros.kernels.engine.contact_linearization import linearize_in_contact
from geolin_ros.kernels.engine.linearization import linearize
from geolin_ros.kernels.engine.own_results import linearize_own
from geolin_ros.kernels.packing import contact_layout, layout
from geolin_ros.kernels.packing.own_layout import pack_own
from geolin_ros.kernels.status import OK, REDUNDANT, SINGULAR
from geolin_ros.linearization.batch import Batches
from geolin_ros.linearization.contacts.constraints import Constraint
from geolin_ros.linearization.contacts.dense import Dense
from geolin_ros.linearization.contacts.description import Closure, Loop, activated
from geolin_ros.linearization.contacts.dynamics import RANK_TOLERANCE, check_length, weights_of
from geolin_ros.linearization.contacts.redundancy import Redundancy
from geolin_ros.linearization.discretization import (
    Discretization,
    Method,
    Options,
    discretize,
)
from geolin_ros.linearization.result import (
    About,
    Linearization,
    Reference,
    check_reference,
    read_only,
)
from geolin_ros.model.labels import input_labels, state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench, pack
from geolin_ros.typing import Array

NO_MEMORY_OF_FLOATS = (TypeError, ValueError, NotImplementedError, BufferError)
"""What a memoryview says to it."""
NO_WRENCHES: Sequence[Wrench] = ()

ByMatrices = Callable[[Sequence[Constraint], State, Array, Sequence[Wrench]], Linearization]


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
    batch
        Linearizes about many states: ``linearizer.batch(states, taus)``, see `Batches`.

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
        self._n, self._size = model.n, 22 + model.n_q + model.n
        self._engine: _Engine | None = None
        self.contacts = tuple(contacts)

    @property
    def contacts(self) -> tuple[Closure, ...]:
        """All contacts."""
        return self._contacts

    @contacts.setter
    def contacts(self, contacts: Sequence[Closure]) -> None:
        constraints = [Constraint(self.model, contact) for contact in contacts]
        active = [c for c in constraints if c.contact.active]
        self._contacts, self._active = tuple(contacts), active
        packed = self.model.packed
        loops = any(isinstance(constraint.contact, Loop) for constraint in active)
        self._engine = None
        if packed is not None and not loops:
            self._engine = _Engine(self.model, packed, active, self._length, self._linearize_as)
        self._tau = np.zeros(self._n) if self._engine is None else self._engine.tau
        self._tau_memory = memoryview(self._tau)  # type: ignore[arg-type]

    def activate(self, names: Iterable[str]) -> None:
        """Put the contacts with these names into force, and no others.

        Raises
        ------
        UnknownNameError
            If no contact has one of the names.
        """
        self.contacts = activated(self._contacts, names)

    @property
    def algorithm(self) -> Literal['fast', 'general']:
        """Which algorithm serves robot and contacts.

        ``'fast'``: single-axis joints, mimic joints too, between rigid bodies, in contact with the
        world; where contacts depend on each other the general one is asked.
        ``'general'``: everything else, a dense factorization.
        """
        return 'general' if self._engine is None else 'fast'

    @cached_property
    def batch(self) -> Batches:
        """Linearizes about many states in one call."""
        return Batches(self)

    @cached_property
    def _dense(self) -> Dense:
        return Dense(self.model, self._length)

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
        x = state.data
        if len(x) != self._size:
            raise wrong_state(self.model, state)
        try:
            self._tau_memory[:] = tau  # type: ignore[assignment]
        except NO_MEMORY_OF_FLOATS:  # or of another size
            self._take(tau)
        engine = self._engine
        if engine is None:
            result = self._linearize_as(self._active, state, self._tau, wrenches)
        else:
            run, inputs, workspace, out, result, x_memory = engine.at_hand
            if wrenches:
                inputs = engine.inputs_with(wrenches)
            status = run(x, inputs, workspace, out)
            if status == OK:
                x_memory[:] = x  # type: ignore[call-overload]
                if self._active:
                    engine.remember(wrenches)
            elif status == REDUNDANT:
                result = self._linearize_as(self._active, state, self._tau, wrenches)
            else:
                raise self._failure(status, state)
        if reference == 'moving':
            return result
        check_reference(reference)
        return result.frozen()

    def forward_dynamics(
        self, state: State, tau: ArrayLike, wrenches: Sequence[Wrench] = ()
    ) -> Array:
        """Return nu_dot (m,) alone: base twist rate in base axes, joint accelerations.

        Same arguments and errors as a linearization; the array is the caller's.
        """
        if len(state.data) != self._size:
            raise wrong_state(self.model, state)
        efforts, engine = vector('tau', tau, self._n, self.model.name), self._engine
        if engine is not None:  # the whole linearization costs less than a dense factorization
            self._tau[:] = efforts
            inputs = engine.inputs if not wrenches else engine.inputs_with(wrenches)
            engine.is_current = False
            status = engine.run(state.data, inputs, engine.workspace, engine.spare.out)
            if status == OK:
                return engine.spare.nu_dot.copy()
            if status != REDUNDANT:
                raise self._failure(status, state, efforts)
        return self._dense.forward_dynamics(self._active, state, efforts, wrenches)

    def discretize(
        self,
        state: State,
        tau: ArrayLike,
        dt: float,
        method: Method = 'midpoint',
        reference: Reference = 'moving',
        wrenches: Sequence[Wrench] = (),
        next_reference: State | None = None,
    ) -> Discretization:
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
        options = Options(dt, method, reference)
        return discretize(self, state, tau, options, wrenches, next_reference)

    def _linearize_as(
        self,
        constraints: Sequence[Constraint],
        state: State,
        tau: Array,
        wrenches: Sequence[Wrench],
    ) -> Linearization:
        return self._dense.linearize(constraints, state, tau.copy(), wrenches)

    def about(self, state: State, tau: Array, wrenches: Sequence[Wrench]) -> About:
        """Return what a linearization of this robot is about, arrays of its own."""
        twin, efforts, active = state.copy(), tau.copy(), self._active

        def general() -> Linearization:
            return self._linearize_as(active, twin, efforts, wrenches)

        return About(self.model, twin.data, lambda: general().dropped, lambda: general().geometry)

    def _failure(self, status: int, state: State, tau: Array | None = None) -> Exception:
        """Return the error for a status of the engine."""
        joint, packed = status - SINGULAR - 6, self.model.packed
        if joint >= 0 and packed is not None:
            status = SINGULAR + 6 + int(packed.mimics.masters[joint])
        return failure(self.model, status, state, {'tau': self._tau if tau is None else tau})

    def _take(self, tau: ArrayLike) -> None:
        """Keep efforts of any kind."""
        values = np.asarray(tau, dtype=np.float64)
        if values.shape != (self._n,):
            raise ShapeError(f'tau has shape {values.shape}, expected ({self._n},), one a joint')
        self._tau[...] = values


class _Engine:
    """The engine for one robot and its contacts, with memory of its own.

    Parameters
    ----------
    model, packed
        The robot.
    constraints
        Contacts in force, no loops.
    length
        See `Linearizer`.
    by_matrices
        The dense linearization, for what the kernel does not fill.

    Attributes
    ----------
    run
        (x, inputs, workspace, out) -> status, machine code: called itself, a kernel would look at
        the types of its arguments first, for 0.4 us.
    inputs, tau
        [efforts | wrenches] of all joints without wrenches, and the caller's efforts, which may be
        the same.
    outputs
        Of the last linearization.
    result
        The same, and who answers for what is seldom asked; it stays that of these contacts.
    x
        The state it is about.
    at_hand
        What every call needs.
    is_current
        Whether the kernel ran last there.
    """

    def __init__(
        self,
        model: TreeModel,
        packed: layout.Packed,
        constraints: Sequence[Constraint],
        length: float,
        by_matrices: ByMatrices,
    ) -> None:
        actuated = [model.joint_index(name) for name in model.actuated_joints]
        own = pack_own(packed, model.base == 'floating', actuated)
        self._model, self._packed, self._is_plain = model, packed, own.is_all
        self._constraints, self._by_matrices = constraints, by_matrices
        self._weights = weights_of(constraints, length)
        self._shape = model.m, len(actuated), sum(constraint.size for constraint in constraints)
        self.workspace = layout.make_workspace(packed)
        self.inputs = layout.make_inputs(packed, pack(model, ()))
        self.tau = self.inputs if own.is_all else np.zeros(model.n)
        self.outputs = contact_layout.outputs_of(*self._shape)
        sites, work = pack_constraints(packed, constraints)
        self._inverse = contact_layout.inverse_of(sites, work)
        robot: tuple[Any, ...] = packed.ints, packed.floats
        self.x = x = np.zeros(22 + 2 * model.n)
        self._tau, self._wrenches = np.zeros(model.n), NO_WRENCHES
        self._general: Linearization | None = None
        self.is_current = False
        self.result = self._make_result()
        if own.is_all and not constraints:
            self.run = self._code(linearize, robot, x)
        elif own.is_all:
            self.run = self._code(linearize_in_contact, (*robot, sites, work), x)
        else:
            robot = *robot, sites, work, own.ints, own.floats
            self.run = self._code(linearize_own, robot, x, self.tau)
        x_memory = memoryview(x)  # type: ignore[arg-type]
        out = self.outputs.out
        self.at_hand = self.run, self.inputs, self.workspace, out, self.result, x_memory

    def _code(
        self, kernel: Any, robot: tuple[Any, ...], x: Array, *tau: Array
    ) -> Callable[[Array, Array, Array, Array], int]:
        others = x, *tau, self.inputs, self.workspace, self.outputs.out
        code = kernel.compile(tuple(map(numba.typeof, (*robot, *others))))
        if not tau:
            return partial(code, *robot)
        (efforts,) = tau

        def run(x: Array, inputs: Array, workspace: Array, out: Array) -> int:
            status: int = code(*robot, x, efforts, inputs, workspace, out)
            return status

        return run

    @cached_property
    def spare(self) -> contact_layout.Outputs:
        """Outputs that leave those of the last linearization alone."""
        return contact_layout.outputs_of(*self._shape)

    def inputs_with(self, wrenches: Sequence[Wrench]) -> Array:
        """Return [efforts | wrenches]."""
        inputs = layout.make_inputs(self._packed, pack(self._model, wrenches))
        if self._is_plain:
            inputs[: self._model.n] = self.tau
        return inputs

    def remember(self, wrenches: Sequence[Wrench]) -> None:
        """Keep what the result is about, besides the state."""
        self._general, self._wrenches, self.is_current = None, wrenches, True
        self._tau[:] = self.tau

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
            About(model, read_only(self.x), self._judge, lambda: self._densely().geometry),
            tuple(constraint.contact for constraint in self._constraints),
        )

    def _judge(self) -> Redundancy:
        """Return the rank decision of the result, which counted all rows."""
        spread = self._mobility_spread() if self.is_current else 0.0
        if self._constraints and not spread > RANK_TOLERANCE:
            return self._densely().dropped
        rows = self.result.contact_rows
        nothing = np.zeros((len(rows), 0))
        return Redundancy(rows, self._model.m, len(rows), spread, 0.0, nothing, 0.0)

    def _densely(self) -> Linearization:
        """Return the general result at the same state."""
        if self._general is None or not self._constraints:  # or what it was about is not known
            state = self._model.neutral_state()
            state.data[:] = self.x
            self._general = self._by_matrices(self._constraints, state, self._tau, self._wrenches)
        return self._general

    def _mobility_spread(self) -> float:
        """Return the smallest over the largest eigenvalue of J M^-1 J' of the last call.

        The kernel keeps the inverse of -J M^-1 J'.
        """
        if not self._weights.size:
            return 0.0
        inverse = -self._inverse / np.outer(self._weights, self._weights)
        sizes = np.linalg.eigvalsh(inverse)
        return float(sizes[0] / sizes[-1])


def pack_constraints(
    packed: layout.Packed, constraints: Sequence[Constraint]
) -> contact_layout.Contacts:
    """Return contacts as kernels read them."""
    frames = [constraint.frames[0] for constraint in constraints]
    contacts = [constraint.contact for constraint in constraints]
    anchors = [np.eye(4) if c.anchor is None else c.anchor for c in constraints]
    return contact_layout.pack_contacts(
        packed,
        np.array([frame.body for frame in frames], dtype=np.int64),
        np.array([constraint.size for constraint in constraints], dtype=np.int64),
        np.array([frame.placement for frame in frames]).reshape(-1, 4, 4),
        np.array([(c.stiffness, c.damping) for c in contacts]).reshape(-1, 2),
        np.array(anchors).reshape(-1, 4, 4),
    )
