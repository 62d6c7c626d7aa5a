# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The linearization of any robot under any contacts by dense factorizations, as referee.

    M nu_dot + h = [0; tau] + J' lam,   J nu_dot + gamma = 0                               (1)
    Lam = J M^-1 J',   lam = -Lam^+ (J M^-1 ([0; tau] - h) + gamma)                        (2)
    nu_dot = M^-1 ([0; tau] - h + J' lam)                                                  (3)

With c = J nu_dot + gamma, D the derivative of inverse dynamics at (nu_dot, lam) and dc that of c,
lam and nu_dot held, and S = [0; 1]:

    dlam    = -Lam^+ (dc - J M^-1 D) + N N' d(J w),   J w = lam, N a basis of null(J')     (4)
    dnu_dot = M^-1 (-D + J' dlam)                                                          (5)
    A = [[-(v x), 0, 1, 0], [0, 0, 0, 1], [dnu_dot]],   B = [0; 0; M^-1 (S + J' lam_tau)]  (6)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geolin_ros.dynamics.arguments import failure, state_data
from geolin_ros.errors import NotFiniteError
from geolin_ros.kernels.cholesky import solve_rows
from geolin_ros.kernels.kinematics.jacobians import propagate_jacobians
from geolin_ros.kernels.kinematics.motion import (
    differentiate_motion,
    expand_state,
    propagate_motion,
)
from geolin_ros.kernels.packing.types import BODY_WRENCH, Wrenches
from geolin_ros.kernels.status import OK
from geolin_ros.linearization.about import About
from geolin_ros.linearization.contacts.constraints import Change, Constraint, End, Motion
from geolin_ros.linearization.contacts.description import wrench_labels
from geolin_ros.linearization.contacts.geometry import Geometry
from geolin_ros.linearization.contacts.rank import RANK_TOLERANCE, weights_of
from geolin_ros.linearization.contacts.redundancy import Redundancy
from geolin_ros.linearization.result import Linearization
from geolin_ros.model.labels import input_labels, state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.model.wrenches import Wrench, pack
from geolin_ros.spatial import se3
from support import general_linearization
from support.body_frames import make_workspace
from support.general_linearization import forward_dynamics


class Referee:
    """Called as a `Linearizer`; contacts are those of the beginning."""

    def __init__(self, model, contacts=(), length=0.1):
        self.model, self.dense = model, Dense(model, length)
        self.constraints = [Constraint(model, contact) for contact in contacts if contact.active]

    def __call__(self, state, tau, wrenches=()):
        return self.dense.linearize(self.constraints, state, np.array(tau, dtype=float), wrenches)

    def forward_dynamics(self, state, tau, wrenches=()):
        tau = np.array(tau, dtype=float)
        return self.dense.forward_dynamics(self.constraints, state, tau, wrenches)


class Decision(NamedTuple):
    """Which directions of contact forces count, by the eigenvalues w of Lam."""

    inverse: np.ndarray
    """(rows, rows) Lam^+."""
    dropped: np.ndarray
    """(rows, rows - rank) orthonormal basis of the forces without effect, J' lam = 0."""
    rank: int
    smallest_kept: float
    """The last w that counts, over the largest one; 0 if none does."""
    largest_dropped: float
    """The first w that does not, over the largest one; 0 if all do."""


class Solution(NamedTuple):
    """A robot at a state, held; rows of torques multiplied by the length ("weighed")."""

    constraints: list[Constraint]
    """What holds it, in the order of the rows."""
    weights: np.ndarray
    """(rows,) what rows were multiplied by."""
    J: np.ndarray
    """(rows, m) weighed."""
    response: np.ndarray
    """(m, rows) M^-1 J', weighed."""
    bias: np.ndarray
    """(rows,) J nu_dot + gamma of the free robot, weighed."""
    decision: Decision
    lam: np.ndarray
    """(rows,) contact forces [N, N m]."""
    nu_dot: np.ndarray
    """(m,)"""
    M: np.ndarray
    """(m, m)"""


class ConstrainedDynamics:
    """Solves (1) for one robot, again and again; one per thread.

    Parameters
    ----------
    model
        The robot.
    length
        What a torque is divided by to compare it with a force [m].
    """

    def __init__(self, model: TreeModel, length: float) -> None:
        self.model, self.length = model, length
        self.workspace = make_workspace(model.tree)
        self._J, self._J_dot = np.zeros((2, len(model.body_names), 6 + model.n, 6))
        self.motion = Motion(model, self.workspace, self._J)

    def solve(
        self,
        constraints: list[Constraint],
        state: State,
        tau: np.ndarray,
        wrenches: list[Wrench],
    ) -> Solution:
        """Return accelerations and contact forces; leaves M factored in the workspace.

        Raises
        ------
        ShapeError, NotFiniteError, SingularInertiaError
            As `dynamics.forward_dynamics`; NotFiniteError also if contacts overflow.
        """
        model, ws = self.model, self.workspace
        full = np.empty(6 + model.n)
        status = forward_dynamics(
            model.tree,
            ws,
            state_data(model, state),
            tau,
            model.gravity,
            pack(model, wrenches),
            full,
        )
        if status != OK:
            raise failure(model, status, state, {'tau': tau})
        propagate_jacobians(model.tree, ws, self._J, self._J_dot)
        pairs = [constraint.rows(*constraint.ends(self.motion)) for constraint in constraints]
        weights = weights_of(constraints, self.length)
        J = np.vstack([np.zeros((0, model.m)), *(rows for rows, _ in pairs)])
        gamma = np.concatenate([np.zeros(0), *(c for _, c in pairs)])
        J *= weights[:, np.newaxis]
        first = 6 + model.n - model.m
        free = full[first:]
        response = self.respond(J.T)
        bias = J @ free + weights * gamma
        Lam = J @ response
        if not np.isfinite(Lam).all():
            raise NotFiniteError(
                f'contacts of robot {model.name!r} overflow, expected contact frames within its '
                'reach; correct their placements'
            )
        decision = decide(Lam)
        lam = -decision.inverse @ bias
        nu_dot = free + response @ lam
        M = ws.M_y[first:, first:].copy()
        return Solution(
            constraints, weights, J, response, bias, decision, weights * lam, nu_dot, M
        )

    def respond(self, forces: np.ndarray) -> np.ndarray:
        """Return M^-1 times forces (m, columns); needs `solve` at the state."""
        first = 6 + self.model.n - self.model.m
        columns = np.zeros((6 + self.model.n, forces.shape[1]))
        columns[first:] = forces
        solve_rows(self.workspace.chol, first, columns)
        return columns[first:]


def decide(Lam: np.ndarray) -> Decision:
    """Return the pseudo-inverse of Lam (rows, rows), and how its rank was decided."""
    w, U = np.linalg.eigh(Lam)
    largest = float(np.max(w, initial=0.0))
    kept = w > RANK_TOLERANCE * largest
    inverse = (U[:, kept] / w[kept]) @ U[:, kept].T
    return Decision(
        inverse,
        U[:, ~kept],
        int(np.count_nonzero(kept)),
        float(w[kept][0] / largest) if kept.any() else 0.0,
        float(max(w[~kept][-1], 0.0) / largest) if largest > 0.0 and not kept.all() else 0.0,
    )


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
        constraints: list[Constraint],
        state: State,
        tau: np.ndarray,
        wrenches: list[Wrench],
    ) -> np.ndarray:
        """Return nu_dot (m,)."""
        return self._dynamics.solve(constraints, state, tau, wrenches).nu_dot

    def linearize(
        self,
        constraints: list[Constraint],
        state: State,
        tau: np.ndarray,
        wrenches: list[Wrench],
    ) -> Linearization:
        """Return the linearization of the moving reference; its arrays are the caller's."""
        solution = self._dynamics.solve(constraints, state, tau, wrenches)
        return self._linearize(solution, state, tau, wrenches)

    def _linearize(
        self,
        solution: Solution,
        state: State,
        tau: np.ndarray,
        wrenches: list[Wrench],
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
            About(
                *(self.model, solution.constraints, 0.1),
                *(state.data.copy(), tau, wrenches),
                redundancy=redundancy,
                geometry=geometry,
            ),
            contacts,
        )

    def _under_forces(
        self, solution: Solution, state: State, tau: np.ndarray, wrenches: list[Wrench]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return A and B of the robot with lam as forces that are constant on their links."""
        model, n, motion = self.model, self.model.n, self._dynamics.motion
        forces = [
            force
            for constraint, part in split(solution)
            for force in body_forces(constraint, *constraint.ends(motion), part)
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

    def _differentiate(
        self, solution: Solution
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return dc, d(J nu) (rows, 2 m) and what lam does (m, 2 m) as partner frames turn."""
        motion, width = self._dynamics.motion, 2 * self.model.m
        rows, turning = [np.zeros((2, 0, width))], None
        for constraint, part in split(solution):
            ends = constraint.ends(motion)
            changes = constraint.changes(motion, ends)
            rows.append(np.stack(constraint.differentiate(*ends, *changes)))
            more = partner_change(constraint, *ends, *changes, part)
            if more is not None:
                turning = more if turning is None else turning + more
        dc, dV = np.concatenate(rows, axis=1)
        return dc, dV, turning

    def _velocity_change(self, state: State, solution: Solution) -> np.ndarray:
        """Return d(J w) (rows, 2 m), w held, of the velocity w with weighed J w = lam."""
        ws, model = self._dynamics.workspace, self.model
        weighed = solution.decision.inverse @ (solution.lam / solution.weights)
        as_if = state.copy()
        as_if.data[-model.m :] = solution.response @ weighed
        expand_state(model.tree, as_if.data, ws.x)
        propagate_motion(model.tree, ws, ws.x, model.gravity, ws.nu_dot)
        differentiate_motion(model.tree, ws, ws.x, ws.nu_dot)
        return self._differentiate(solution)[1]


def body_forces(
    constraint: Constraint, one: End, two: End, lam: np.ndarray
) -> list[tuple[Frame, np.ndarray]]:
    """Return the wrenches of lam, each on the body that carries the frame, in body axes."""
    on = [np.zeros(6), np.zeros(6)]
    on[0][: constraint.size] = lam
    if constraint.contact.kind == 'surface':
        on[1] = -se3.adjoint(se3.relative(one.H, two.H)).T @ lam
    else:
        on[1][:3] = -two.H[:3, :3].T @ one.H[:3, :3] @ lam
    return [
        (frame, se3.adjoint(se3.inverse(frame.placement)).T @ force)
        for frame, force in zip(constraint.frames, on, strict=False)
    ]


def partner_change(
    constraint: Constraint, one: End, two: End, by_one: Change, by_two: Change, lam: np.ndarray
) -> np.ndarray | None:
    """Return the change (m, 2 m) by z of the force on link 2, lam constant in axes of frame 1.

    surface: J_2' X' N(lam) rel with N(f) y = y xb* f;  point: -J_2' R' (lam x turn).
    None where frame 2 is the world.
    """
    if len(constraint.frames) == 1:
        return None
    X = se3.adjoint(se3.relative(one.H, two.H))
    rel = by_one.d - X @ by_two.d
    if constraint.contact.kind != 'surface':
        return -two.J[:3].T @ (X[:3, :3].T @ (se3.cross3(lam) @ rel[3:]))
    f, t = se3.cross3(lam[:3]), se3.cross3(lam[3:])
    N = -np.block([[np.zeros((3, 3)), f], [f, t]])
    return two.J.T @ (X.T @ (N @ rel))


def with_forces(wrenches: Wrenches, forces: list[tuple[Frame, np.ndarray]]) -> Wrenches:
    """Return packed wrenches and forces that are constant in axes of their bodies."""
    count = len(forces)
    added = Wrenches(
        np.array([frame.body for frame, _ in forces], dtype=np.int64),
        np.full(count, BODY_WRENCH, dtype=np.int64),
        np.array([force for _, force in forces], dtype=np.float64).reshape(count, 6),
        np.zeros((count, 3)),
    )
    return Wrenches(*(np.concatenate(both) for both in zip(wrenches, added, strict=True)))


def split(solution: Solution) -> list[tuple[Constraint, np.ndarray]]:
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
