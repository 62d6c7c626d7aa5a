# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of a robot that is held, and how its contact forces depend on state and efforts.

With c = J nu_dot + gamma, D the derivative of inverse dynamics at (nu_dot, lam) and dc that of c,
lam and nu_dot held, and S = [0; 1]:

    dlam    = -Lam^+ (dc - J M^-1 D) + N N' d(J w),   J w = lam, N a basis of null(J')     (1)
    dnu_dot = M^-1 (-D + J' dlam)                                                          (2)
    A = [[-(v x), 0, 1, 0], [0, 0, 0, 1], [dnu_dot]],   B = [0; 0; M^-1 (S + J' lam_tau)]  (3)

lam is held in axes of its contact frame. The last term of (1) is zero unless rows are redundant;
derivatives hold along motions that the contacts admit then, at states that satisfy them.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.contacts.constraints import Constraint, with_forces
from geolin_ros.contacts.description import Closure, Loop, activated
from geolin_ros.contacts.dynamics import ConstrainedDynamics, Solution
from geolin_ros.contacts.held import HeldLinearizer, HeldResult, RedundantContactsError
from geolin_ros.contacts.result import ConstrainedLinearization, Geometry, judge
from geolin_ros.discretization import Discretization, Method, discretize
from geolin_ros.dynamics import failure, vector
from geolin_ros.kernels import general_linearization
from geolin_ros.kernels.coupling import expand_state
from geolin_ros.kernels.inverse_dynamics import propagate_motion
from geolin_ros.kernels.inverse_dynamics_derivatives import differentiate_motion
from geolin_ros.kernels.status import OK
from geolin_ros.labels import input_labels, state_labels
from geolin_ros.linearization import Linearization, Reference, check_reference
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array
from geolin_ros.wrenches import Wrench, pack


class ConstrainedLinearizer:
    """Linearizes one robot that is held, again and again, in a workspace of its own.

    Parameters
    ----------
    model
        The robot.
    contacts
        Frames of it that are held; they may change at any time.
    length
        What a torque is divided by to compare it with a force where contacts are redundant [m].

    Attributes
    ----------
    contacts
        All contacts; assign others, or call `activate`, at any time.

    Raises
    ------
    UnknownNameError, ConfigurationError, ShapeError, NotFiniteError
        If a contact does not fit the robot, see `Contact`; the same on assignment.

    Examples
    --------
    >>> from geolin_ros import ConstrainedLinearizer, Contact, TreeModel, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> feet = [Contact(f'{leg}_foot') for leg in ('FL', 'FR', 'RL', 'RR')]
    >>> lin = ConstrainedLinearizer(model, feet)
    >>> C = lin(model.random_state(np.random.default_rng(0)), np.zeros(model.n))
    >>> C.A.shape, C.wrench_by_tau.shape, C.rank
    ((36, 36), (12, 12), 12)
    """

    def __init__(
        self, model: TreeModel, contacts: Sequence[Closure] = (), length: float = 0.1
    ) -> None:
        self.model = model
        self._dynamics = ConstrainedDynamics(model, length)
        self._labels = state_labels(model), input_labels(model)
        self._inputs = [model.joint_index(name) for name in model.actuated_joints]
        self.contacts = tuple(contacts)

    @property
    def contacts(self) -> tuple[Closure, ...]:
        """All contacts."""
        return self._contacts

    @contacts.setter
    def contacts(self, contacts: Sequence[Closure]) -> None:
        constraints = [Constraint(self.model, contact) for contact in contacts]
        self._contacts = tuple(contacts)
        self._active = [c for c in constraints if c.contact.active]
        self._fast = self._make_fast()

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
        """Which kernel serves robot and contacts.

        ``'fast'``: a robot that the fast `Linearizer.algorithm` serves, held against the world; at
        states where its contacts depend on each other it is served by the general one.
        ``'general'``: everything else.
        """
        return 'general' if self._fast is None else 'fast'

    def __call__(
        self,
        state: State,
        tau: ArrayLike,
        reference: Reference = 'moving',
        wrenches: Sequence[Wrench] = (),
    ) -> ConstrainedLinearization:
        """Linearize about a state.

        The arrays of the result are read-only views of the workspace, valid until the next call.

        Parameters
        ----------
        state
            Where. Contacts are read at the level of accelerations: the state need not satisfy
            them unless they are redundant.
        tau : (n,)
            Joint efforts [N m or N].
        reference
            See `Linearization`.
        wrenches
            External wrenches on links, besides those of the contacts.

        Raises
        ------
        ShapeError
            If the state or tau has not the model's size.
        NotFiniteError
            If an input holds NaN or inf.
        SingularInertiaError
            If a joint moves no inertia at this state.
        """
        fast = self._fast
        if fast is not None:
            try:
                fast.held(state, tau, reference, wrenches)
            except RedundantContactsError:
                return self._by_matrices(self._active, state, tau, reference, wrenches)
            fast.state.data[:], fast.tau[:], fast.wrenches = state.data, tau, wrenches
            fast.matrices, fast.current = None, True
            return fast.result
        return self._by_matrices(self._active, state, tau, reference, wrenches)

    def forward_dynamics(
        self, state: State, tau: ArrayLike, wrenches: Sequence[Wrench] = ()
    ) -> Array:
        """Return nu_dot (m,) alone; arguments and errors as for a linearization."""
        if self._fast is not None:
            self._fast.current = False
            with suppress(RedundantContactsError):
                return self._fast.held.forward_dynamics(state, tau, wrenches)
        efforts = vector('tau', tau, self.model.n, self.model.name)
        return self._dynamics.solve(self._active, state, efforts, wrenches).nu_dot

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
        """Step over ``dt`` with the efforts held, and linearize the step.

        Arguments, result and errors as in `Linearizer.discretize`. With stiff contacts,
        dt^2 stiffness or dt damping near 1 or above, take ``'zoh'``.
        """
        return discretize(self, state, tau, dt, method, reference, wrenches, next_reference)

    def _make_fast(self) -> HeldResult | None:
        """Return what serves the contacts in force fast, or None."""
        if any(isinstance(constraint.contact, Loop) for constraint in self._active):
            return None
        held = HeldLinearizer(self.model, self._active)
        if held.algorithm == 'general':
            return None
        return HeldResult(held, self._active, self._dynamics, self._by_matrices)

    def _by_matrices(
        self,
        constraints: Sequence[Constraint],
        state: State,
        tau: ArrayLike,
        reference: Reference,
        wrenches: Sequence[Wrench],
    ) -> ConstrainedLinearization:
        check_reference(reference)
        efforts = vector('tau', tau, self.model.n, self.model.name)
        solution = self._dynamics.solve(constraints, state, efforts, wrenches)
        return self._linearize(solution, state, efforts, reference, wrenches)

    def _linearize(
        self,
        solution: Solution,
        state: State,
        tau: Array,
        reference: Reference,
        wrenches: Sequence[Wrench],
    ) -> ConstrainedLinearization:
        weights, J, response = solution.weights[:, np.newaxis], solution.J, solution.response
        m, inverse, N = self.model.m, solution.decision.inverse, solution.decision.dropped
        A, B = self._under_forces(solution, state, tau, wrenches)
        dc, dV, turning = self._differentiate(solution)
        if turning is not None:
            A[m:] -= self._dynamics.respond(turning)
        dlam = -inverse @ (weights * dc + J @ A[m:])
        lam_tau = -inverse @ (J @ B[m:])
        if N.size:
            dlam += N @ (N.T @ (weights * self._velocity_change(state, solution)))
        A[m:] += response @ dlam
        B[m:] += response @ lam_tau
        drift = np.zeros(2 * m)
        if reference == 'frozen':  # see `Linearizer`
            A[:m, :m] *= 0.5
            drift[:m], drift[m:] = state.data[-m:], solution.nu_dot
        free = Linearization(A, B, solution.nu_dot, drift, *self._labels, reference)
        contacts = tuple(constraint.contact for constraint in solution.constraints)
        forces = solution.lam, weights * dlam, weights * lam_tau
        geometry = Geometry(J / weights, dV, solution.M)
        return ConstrainedLinearization(
            free, contacts, *forces, lambda: judge(solution), lambda: geometry
        )

    def _under_forces(
        self, solution: Solution, state: State, tau: Array, wrenches: Sequence[Wrench]
    ) -> tuple[Array, Array]:
        """Return A and B of the robot with lam as forces that are constant on their links."""
        model, n, motion = self.model, self.model.n, self._dynamics.motion
        forces = [
            force
            for constraint, part in split(solution)
            for force in constraint.forces(*constraint.ends(motion), part)
        ]
        A, B = np.empty((12 + 2 * n, 12 + 2 * n)), np.empty((12 + 2 * n, n))
        status = general_linearization.linearize(
            model.tree,
            self._dynamics.workspace,
            state.data,
            tau,
            model.gravity,
            with_forces(pack(model, wrenches), forces),
            A,
            B,
            np.empty(6 + n),
        )
        if status != OK:
            raise failure(model, status, state, {'tau': tau})
        first = 6 + n - model.m
        kept = np.r_[first : 6 + n, 6 + n + first : 12 + 2 * n]
        return A[np.ix_(kept, kept)], B[np.ix_(kept, self._inputs)]

    def _differentiate(self, solution: Solution) -> tuple[Array, Array, Array | None]:
        """Return dc, d(J nu) (rows, 2 m) and what lam does (m, 2 m) as partner frames turn."""
        motion, width = self._dynamics.motion, 2 * self.model.m
        rows, turning = [np.zeros((2, 0, width))], None
        for constraint, part in split(solution):
            ends = constraint.ends(motion)
            changes = constraint.changes(motion, ends)
            rows.append(np.stack(constraint.differentiate(*ends, *changes)))
            more = constraint.turning(*ends, *changes, part)
            if more is not None:
                turning = more if turning is None else turning + more
        dc, dV = np.concatenate(rows, axis=1)
        return dc, dV, turning

    def _velocity_change(self, state: State, solution: Solution) -> Array:
        """Return d(J w) (rows, 2 m), w held, of the velocity w with weighed J w = lam."""
        ws, model = self._dynamics.workspace, self.model
        weighed = solution.decision.inverse @ (solution.lam / solution.weights)
        as_if = state.copy()
        as_if.data[-model.m :] = solution.response @ weighed
        expand_state(model.tree, as_if.data, ws.x)
        propagate_motion(model.tree, ws, ws.x, model.gravity, ws.nu_dot)
        differentiate_motion(model.tree, ws, ws.x, ws.nu_dot)
        return self._differentiate(solution)[1]


def split(solution: Solution) -> Iterator[tuple[Constraint, Array]]:
    """Return each constraint with its forces."""
    first = 0
    for constraint in solution.constraints:
        yield constraint, solution.lam[first : first + constraint.size]
        first += constraint.size
