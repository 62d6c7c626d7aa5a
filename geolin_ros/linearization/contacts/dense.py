# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of a contact-constrained robot, and how its contact forces depend on state and efforts.

With c = J nu_dot + gamma, D the derivative of inverse dynamics at (nu_dot, lam) and dc that of c,
lam and nu_dot constant, and S = [0; 1]:

    dlam    = -Lam^+ (dc - J M^-1 D) + N N' d(J w),   J w = lam, N a basis of null(J')     (1)
    dnu_dot = M^-1 (-D + J' dlam)                                                          (2)
    A = [[-(v x), 0, 1, 0], [0, 0, 0, 1], [dnu_dot]],   B = [0; 0; M^-1 (S + J' lam_tau)]  (3)

lam is constant in axes of its contact frame. The last term of (1) is zero unless rows are
redundant; derivatives hold along motions that the contacts admit then, at states that satisfy
them.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from geolin_ros.dynamics.functions import failure
from geolin_ros.kernels.recursions import general_linearization
from geolin_ros.kernels.recursions.inverse_dynamics import propagate_motion
from geolin_ros.kernels.recursions.inverse_dynamics_derivatives import differentiate_motion
from geolin_ros.kernels.recursions.mimic import expand_state
from geolin_ros.kernels.status import OK
from geolin_ros.linearization.contacts.constraints import Constraint, with_forces
from geolin_ros.linearization.contacts.dynamics import ConstrainedDynamics, Solution
from geolin_ros.linearization.contacts.redundancy import Redundancy
from geolin_ros.linearization.result import About, Geometry, Linearization, wrench_labels
from geolin_ros.model.labels import input_labels, state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench, pack
from geolin_ros.typing import Array


class Dense:
    """The linearization of any robot under any contacts, by dense factorizations.

    Parameters
    ----------
    model
        The robot.
    length
        What a torque is divided by to compare it with a force where contacts are redundant [m].
    """

    def __init__(self, model: TreeModel, length: float) -> None:
        self.model = model
        self._dynamics = ConstrainedDynamics(model, length)
        self._labels = state_labels(model), input_labels(model)
        self._inputs = [model.joint_index(name) for name in model.actuated_joints]

    def forward_dynamics(
        self,
        constraints: Sequence[Constraint],
        state: State,
        tau: Array,
        wrenches: Sequence[Wrench],
    ) -> Array:
        """Return nu_dot (m,)."""
        return self._dynamics.solve(constraints, state, tau, wrenches).nu_dot

    def linearize(
        self,
        constraints: Sequence[Constraint],
        state: State,
        tau: Array,
        wrenches: Sequence[Wrench],
    ) -> Linearization:
        """Return the linearization of the moving reference; its arrays are the caller's."""
        solution = self._dynamics.solve(constraints, state, tau, wrenches)
        return self._linearize(solution, state, tau, wrenches)

    def _linearize(
        self,
        solution: Solution,
        state: State,
        tau: Array,
        wrenches: Sequence[Wrench],
    ) -> Linearization:
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
        contacts = tuple(constraint.contact for constraint in solution.constraints)
        geometry, redundancy = Geometry(J / weights, dV, solution.M), judge(solution)
        return Linearization(
            A,
            B,
            solution.nu_dot,
            np.zeros(2 * m),
            *self._labels,
            solution.lam,
            weights * dlam,
            weights * lam_tau,
            About(self.model, state.data.copy(), lambda: redundancy, lambda: geometry),
            contacts,
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
        """Return d(J w) (rows, 2 m), w constant, of the velocity w with weighed J w = lam."""
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


def judge(solution: Solution) -> Redundancy:
    """Return what the rank decision of a solution means."""
    decision, asked = solution.decision, float(np.linalg.norm(solution.bias))
    denied = float(np.linalg.norm(decision.dropped.T @ solution.bias))
    return Redundancy(
        rows=wrench_labels(constraint.contact for constraint in solution.constraints),
        velocities=solution.nu_dot.size,
        rank=decision.rank,
        smallest_kept=decision.smallest_kept,
        largest_dropped=decision.largest_dropped,
        dropped=solution.weights[:, np.newaxis] * decision.dropped,
        contradiction=denied / asked if asked > 0.0 else 0.0,
    )
