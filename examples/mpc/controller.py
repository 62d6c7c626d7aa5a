# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Model predictive control of a robot that stands, over published A, B and drift.

The linearizer says of displacements z from where the robot is now, and of its contact forces f,

    z_{k+1} = A z_k + B (u_k - u_now) + drift,   f_k = f + F_z z_k + F_u (u_k - u_now),   z_0 = 0

u_now acts while the problem is being solved, u_1 ... u_N after it. With r_k = log(x_now^-1 x_ref)
of the reference at that time,

    minimize    sum_k |z_k - r_k|^2_Q + |u_k - u_ref|^2_R   k = 1 ... N
                + |z_{N+1} - r_{N+1}|^2_P
    subject to  |u_k| <= effort limits,   f_k in a pyramid within each foot's friction cone

Q and R are those of the regulator [Bryson 1975] and P is its cost to go, which solves the Riccati
equation of a period: where no constraint is active, u_1 is what that regulator would do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from geolin_control.regulator import Reference
from proxsuite import proxqp

from geolin_ros import Contact, Linearizer, State, TreeModel
from geolin_ros.control.riccati import solve_dare
from geolin_ros.control.support import Support
from geolin_ros.control.weights import Weights, cost, effort_limits
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import InputError
from geolin_ros.linearization.contacts.description import resolve
from geolin_ros.linearization.reduction import reduce
from geolin_ros.stream.outputs.reading import ReceivedContacts, ReceivedLinearization
from geolin_ros.typing import Array

PYRAMID = np.array([[1, 0, -1], [-1, 0, -1], [0, 1, -1], [0, -1, -1]])  # @ (fx, fy, mu fz) <= 0
ACCURACY, ITERATIONS = 1e-4, 200  # of efforts as shares of their limits, forces of the weight
NO_BOUND = 1e20  # as proxsuite spells it


@dataclass(frozen=True)
class Settings:
    """What the controller plans, and with what.

    Attributes
    ----------
    period
        From one solution to the next, and step of the published linearization [s].
    steps
        N.
    friction
        Coefficient to plan with, below that of most floors.
    weights
        Deviations that cost as much as each other.
    """

    period: float = 0.01
    steps: int = 15
    friction: float = 0.5
    weights: Weights = field(default_factory=Weights)


class ModelPredictiveControl:
    """Solves for the efforts of the next period, again and again.

    Parameters
    ----------
    model
        The robot.
    posture
        Where to weigh displacements, and the efforts that hold the robot there.
    feet
        Points in contact, in the order of the rows of contact forces.
    settings
        See `Settings`.

    Attributes
    ----------
    unsolved
        How often there was no solution; the plan before goes on then.
    """

    def __init__(
        self, model: TreeModel, posture: Reference, feet: Sequence[Contact], settings: Settings
    ) -> None:
        self.unsolved = 0
        self._model, self._feet, self._settings = model, tuple(feet), settings
        self._actuated = model.actuated
        self._limits = effort_limits(model)
        self._weight = model.total_mass * float(np.linalg.norm(model.gravity))
        self._weigh(posture)
        self._plan = np.tile(efforts_of(posture), (settings.steps, 1))
        rows = settings.steps * len(PYRAMID) * len(self._feet)
        self._qp = proxqp.dense.QP(self._plan.size, 0, rows, True)
        self._qp.settings.initial_guess = proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
        self._qp.settings.eps_abs, self._qp.settings.eps_rel = ACCURACY, 0.0
        self._qp.settings.max_iter = ITERATIONS
        self._is_first = True

    def _weigh(self, posture: Reference) -> None:
        """Find square roots of Q and P, in displacements that the contacts admit, and R."""
        model, settings = self._model, self._settings
        linearizer = Linearizer(model, self._feet)
        tau = np.zeros(model.n)
        tau[self._actuated] = efforts_of(posture)
        rest = model.state(posture.state.H, posture.state.s, np.zeros(6), np.zeros(model.n))
        standing = linearizer(rest, tau)
        reduced = reduce(standing)
        supports = [
            Support(foot.frame, placement=np.eye(4) if foot.placement is None else foot.placement)
            for foot in self._feet
        ]
        price = cost(settings.weights, model, rest, supports, standing.wrenches, reduced)
        Phi, Gamma = reduced.discretize(settings.period)
        P = solve_dare(Phi, Gamma, price.Q, price.R).P
        self._stage = np.linalg.cholesky(price.Q).T @ reduced.L
        self._terminal = np.linalg.cholesky(P).T @ reduced.L
        self._R = price.R

    def efforts(
        self, now: ReceivedLinearization, contacts: ReceivedContacts, reference: Reference
    ) -> Array:
        """Return the efforts (n_u,) of the period after this one.

        Parameters
        ----------
        now
            A, B and drift of a step of one period about the measured state, reference frozen.
        contacts
            Its contact forces.
        reference
            Where the robot should be at that time, how it should move, and by which efforts.
        """
        H, g, C, upper = self._problem(now, contacts, reference)
        size, efforts = self._limits, efforts_of(reference)
        box = [np.tile((s * size - efforts) / size, len(self._plan)) for s in (-1, 1)]
        load = self._qp.init if self._is_first else self._qp.update
        load(H=H, g=g, C=C, l=np.full(len(upper), -NO_BOUND), u=upper, l_box=box[0], u_box=box[1])
        self._is_first = False
        self._qp.solve()
        if self._qp.results.info.status == proxqp.PROXQP_SOLVED:
            shares = self._qp.results.x.reshape(self._plan.shape)
            self._plan = np.clip(efforts + shares * size, -size, size)
        else:
            self.unsolved += 1
            self._plan = np.vstack((self._plan[1:], self._plan[-1:]))
        planned: Array = self._plan[0]
        return planned

    def _problem(
        self, now: ReceivedLinearization, contacts: ReceivedContacts, reference: Reference
    ) -> tuple[Array, Array, Array, Array]:
        """Return H, g, C, upper of min x'Hx/2 + g'x, Cx <= upper, x = (u - u_ref) / limits."""
        N, n_u, period = *self._plan.shape, self._settings.period
        A, B = now.A, now.B * self._limits
        change = efforts_of(reference) - now.tau[self._actuated]
        pyramids = self._pyramids(now.state)
        F_z, F_u = pyramids @ contacts.wrench_by_state, pyramids @ contacts.wrench_by_tau
        rest = now.drift + now.B @ change
        f = pyramids @ contacts.wrenches + F_u @ change
        z, G = now.drift, np.zeros((len(A), N * n_u))  # z_1 = z + G x
        errors, slopes, forces, by_input = [], [], [], []
        for k in range(N):
            u = slice(k * n_u, (k + 1) * n_u)
            forces.append(f + F_z @ z)
            by_input.append(F_z @ G)
            by_input[-1][:, u] = F_u * self._limits
            z, G = A @ z + rest, A @ G
            G[:, u] = B
            root = self._stage if k < N - 1 else self._terminal
            errors.append(root @ (z - now.state.difference(_after(reference, (k + 2) * period))))
            slopes.append(root @ G)
        E, e = np.vstack(slopes), np.concatenate(errors)
        H = E.T @ E + np.kron(np.eye(N), self._R * np.outer(self._limits, self._limits))
        return H, E.T @ e, np.vstack(by_input), -np.concatenate(forces)

    def _pyramids(self, state: State) -> Array:
        """Return what is to be negative of the forces in contact axes, as shares of the weight."""
        at, rows = Kinematics(self._model, state), len(PYRAMID)
        slope = PYRAMID * (1.0, 1.0, self._settings.friction / np.sqrt(2.0))
        blocks = np.zeros((rows * len(self._feet), 3 * len(self._feet)))
        for k, foot in enumerate(self._feet):
            R = at.pose(resolve(self._model, foot)[0])[:3, :3]
            blocks[rows * k : rows * (k + 1), 3 * k : 3 * (k + 1)] = slope @ R / self._weight
        return blocks


def efforts_of(reference: Reference) -> Array:
    """Return the efforts (n_u,) that hold the robot at a reference.

    Raises
    ------
    InputError
        If it has none.
    """
    if reference.efforts is None:
        raise InputError('reference has no joint_efforts, expected those that hold it')
    return reference.efforts


def _after(reference: Reference, time: float) -> State:
    """Return where a reference that goes on as it moves is after a while [s]."""
    state = reference.state
    rest = np.zeros(state.v.size + state.r.size)
    return state.retract(np.concatenate((time * state.v, time * state.r, rest)))
