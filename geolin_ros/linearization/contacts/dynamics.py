# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Accelerations and contact forces of a contact-constrained robot [Featherstone 2008, chapter 8].

    M nu_dot + h = [0; tau] + J' lam,   J nu_dot + gamma = 0                               (1)
    Lam = J M^-1 J',   lam = -Lam^+ (J M^-1 ([0; tau] - h) + gamma)                        (2)
    nu_dot = M^-1 ([0; tau] - h + J' lam)                                                  (3)

Lam^+ inverts Lam = U diag(w) U' where w > `RANK_TOLERANCE` max(w): with redundant rows lam is the
solution of least norm, nu_dot the only one. Forces and torques are weighed by a length l: rows of
torques are multiplied by l before, which makes |f|^2 + |t/l|^2 least.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.functions import failure, state_data, vector
from geolin_ros.errors import ConfigurationError, NotFiniteError
from geolin_ros.kernels.cholesky import solve_rows
from geolin_ros.kernels.packing.types import make_workspace
from geolin_ros.kernels.recursions.forward_dynamics import forward_dynamics
from geolin_ros.kernels.recursions.jacobians import propagate_jacobians
from geolin_ros.kernels.status import OK
from geolin_ros.linearization.contacts.constraints import Constraint, Motion
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench, pack
from geolin_ros.typing import Array

RANK_TOLERANCE = 1e-9


class Decision(NamedTuple):
    """Which directions of contact forces count, by the eigenvalues w of Lam."""

    inverse: Array
    """(rows, rows) Lam^+."""
    dropped: Array
    """(rows, rows - rank) orthonormal basis of the forces without effect, J' lam = 0."""
    rank: int
    smallest_kept: float
    """The last w that counts, over the largest one; 0 if none does."""
    largest_dropped: float
    """The first w that does not, over the largest one; 0 if all do."""


class Solution(NamedTuple):
    """A contact-constrained robot; rows of torques multiplied by the length ("weighed")."""

    constraints: Sequence[Constraint]
    """What holds it, in the order of the rows."""
    weights: Array
    """(rows,) what rows were multiplied by."""
    J: Array
    """(rows, m) weighed."""
    response: Array
    """(m, rows) M^-1 J', weighed."""
    bias: Array
    """(rows,) J nu_dot + gamma of the free robot, weighed."""
    decision: Decision
    lam: Array
    """(rows,) contact forces [N, N m]."""
    nu_dot: Array
    """(m,)"""
    M: Array
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
        check_length(length)
        self.model, self.length = model, length
        self.workspace = make_workspace(model.tree)
        self._J, self._J_dot = np.zeros((2, len(model.body_names), 6 + model.n, 6))
        self.motion = Motion(model, self.workspace, self._J)

    def solve(
        self,
        constraints: Sequence[Constraint],
        state: State,
        tau: Array,
        wrenches: Sequence[Wrench],
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

    def respond(self, forces: Array) -> Array:
        """Return M^-1 times forces (m, columns); needs `solve` at the state."""
        first = 6 + self.model.n - self.model.m
        columns = np.zeros((6 + self.model.n, forces.shape[1]))
        columns[first:] = forces
        solve_rows(self.workspace.chol, first, columns)
        return columns[first:]


def check_length(length: float) -> None:
    """Raise ConfigurationError unless it is a positive number of metres."""
    if not 0.0 < length < np.inf:
        raise ConfigurationError(f'length is {length!r}, expected a positive number of metres')


def weights_of(constraints: Sequence[Constraint], length: float) -> Array:
    """Return 1 for each row of a force, the length for each of a torque."""
    six = np.repeat((1.0, length), 3)
    return np.concatenate([np.zeros(0), *(six[: c.size] for c in constraints)])


def constrained_forward_dynamics(
    model: TreeModel,
    state: State,
    tau: ArrayLike,
    contacts: Sequence[Closure],
    wrenches: Sequence[Wrench] = (),
    length: float = 0.1,
) -> tuple[Array, Array]:
    """Return the accelerations and contact forces that joint efforts produce.

    Parameters
    ----------
    model, state, wrenches
        As in `dynamics.inverse_dynamics`.
    tau : (n,)
        Joint efforts [N m or N].
    contacts
        What holds the robot; those that are not active do not.
    length
        What a torque is divided by to compare it with a force where contacts are redundant [m].

    Returns
    -------
    nu_dot : (m,)
        Base twist rate in base axes, then joint accelerations; fixed base: the latter alone.
    wrenches : (rows,)
        On the robot, 3 or 6 a contact, in axes of and about the contact frame [N, N m].

    Raises
    ------
    ShapeError, NotFiniteError, SingularInertiaError
        As `dynamics.forward_dynamics`.
    UnknownNameError, ConfigurationError
        If a contact does not fit the robot, see `Contact`.
    """
    active = [Constraint(model, contact) for contact in contacts if contact.active]
    efforts = vector('tau', tau, model.n, model.name)
    solution = ConstrainedDynamics(model, length).solve(active, state, efforts, wrenches)
    return solution.nu_dot, solution.lam


def decide(Lam: Array) -> Decision:
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
