# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What else makes a quadruped trot, to compare with: on the same gait, footholds and swings.

- `RigidBody`: model predictive control of one rigid body under the forces of the feet
  [Di Carlo 2018], with feet in the air on their splines by operational space control.
- `JointPD`: joints follow the reference.
- `Playback`: gains of the gait, played by the time alone.
- `nominal`: A and B of the standing posture in place of those along the plan.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from geolin_control.stages import StageProblem
from geolin_demos.walk.course import Answer
from geolin_walking.cli.gait_gains import gait_gains
from geolin_walking.gait import Phase
from geolin_walking.reference import STILL, Command, Planner, Reference
from geolin_walking.walker import FALLEN, Linearize, contacts_of, has_fallen

from geolin_ros import Linearizer
from geolin_ros.control.lqr import Feedback
from geolin_ros.control.support import level
from geolin_ros.control.weights import effort_limits
from geolin_ros.dynamics.functions import bias_force, mass_matrix
from geolin_ros.linearization.along import LinearizedTrajectory
from geolin_ros.model.state import State
from geolin_ros.model.tree import STANDARD_GRAVITY, TreeModel
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

SWING = 40.0
"""Bandwidth of a foot in the air [rad/s]."""
LEAST_FORCE = 0.03
"""Of a foot that stands, of the weight."""
CONE_WEIGHT = 1e4
FROM_ABOVE = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
"""e_z x: the moment of the weight when the centre of mass moves below it."""


@dataclass(frozen=True)
class Tuning:
    """What the control of a rigid body weighs.

    Attributes
    ----------
    weights : 12
        Of rotation, position, angular velocity and velocity.
    force
        Of the squares of forces [1 / N^2], on a robot of 9 kg.
    stiffness, damping
        Of the joints of legs that stand, about the reference [N m], [N m s].
    attitude
        How many times the weights of rotation and angular velocity about x and y count.
    """

    words: str
    weights: tuple[float, ...]
    force: float
    stiffness: float
    damping: float
    attitude: float = 1.0


DI_CARLO = (1, 1, 1, 1, 1, 50, 0, 0, 1, 1, 1, 1)
"""[Di Carlo 2018], table I."""
MINI_CHEETAH = (0.25, 0.25, 10, 2, 2, 50, 0, 0, 0.3, 0.2, 0.2, 0.1)
"""[Kim 2019], of the same controller on a robot of 9 kg."""
FASTER = (0.25, 0.25, 10, 2, 2, 50, 0.05, 0.05, 0.3, 1, 1, 0.5)
"""The same, but for velocities."""
TUNINGS = (
    Tuning('Kim, attitude x 8', MINI_CHEETAH, 4e-5, 0.0, 1.0, 8.0),
    Tuning('Di Carlo, dear forces', DI_CARLO, 4e-5, 0.0, 1.0),
    Tuning('Di Carlo, joints held', DI_CARLO, 1e-6, 60.0, 2.0),
    Tuning('Kim', MINI_CHEETAH, 4e-5, 0.0, 1.0),
    Tuning('Kim, attitude x 8, damped', MINI_CHEETAH, 4e-5, 0.0, 3.0, 8.0),
    Tuning('Kim, attitude x 8, joints held', MINI_CHEETAH, 4e-5, 60.0, 2.0, 8.0),
    Tuning('Kim, attitude x 20, dear forces', MINI_CHEETAH, 1e-4, 0.0, 1.0, 20.0),
    Tuning('twist weighed more', FASTER, 4e-5, 0.0, 1.0, 4.0),
    Tuning('twist weighed more, joints held', FASTER, 4e-5, 60.0, 2.0, 4.0),
)
PD_GAINS = (120.0, 3.0), (60.0, 2.0), (200.0, 5.0)
"""[N m / rad], [N m s / rad]"""


class _Rival:
    """Follows the reference of a planner until it falls.

    Parameters
    ----------
    planner
        As of the walker that it is compared with.
    """

    def __init__(self, planner: Planner) -> None:
        self.planner, self.model = planner, planner.model
        self._limit = effort_limits(self.model)

    def __call__(
        self, time: float, state: State, touching: Sequence[bool], command: Command
    ) -> Answer:
        """Return the law until the next cycle."""
        if has_fallen(self.planner, state):
            return Answer(Phase.DAMPING, lambda *_: np.zeros(len(self._limit)), 0.0, None)
        reference = self.planner(time, state, touching, command)
        follow = self._law(reference, state)

        def law(elapsed: float, state: State) -> Array:
            share = min(elapsed / (reference.times[1] - time), 1.0)
            tau = follow(share, state)[self.model.actuated]
            return np.asarray(np.clip(tau, -self._limit, self._limit))

        return Answer(self.planner.phase, law, 0.0, None)

    def _law(self, reference: Reference, state: State) -> Callable[[float, State], Array]:
        """Return efforts (n,) by the share of the first interval that is over, and the state."""
        raise NotImplementedError


class JointPD(_Rival):
    """Joints follow the reference, by its efforts and gains (kp, kd)."""

    def __init__(self, planner: Planner, gains: tuple[float, float]) -> None:
        super().__init__(planner)
        self._kp, self._kd = gains

    def _law(self, reference: Reference, state: State) -> Callable[[float, State], Array]:
        n = self.model.n
        s, r = reference.states[:2, 16 : 16 + n], reference.states[:2, 22 + n :]

        def follow(share: float, state: State) -> Array:
            away = s[0] + share * (s[1] - s[0]) - state.s
            late = r[0] + share * (r[1] - r[0]) - state.r
            tau: Array = reference.efforts[0] + self._kp * away + self._kd * late
            return tau

        return follow


class RigidBody(_Rival):
    """Forces of the feet that stand, by a quadratic program over the horizon.

        phi' = w,  p' = v,  I w' = sum (r_i - p) x f_i,  m v' = sum f_i + m g

    about the reference, with its inertia and its centre of mass at each node. Legs carry the
    forces, and their own weight; springs and dampers hold their joints to the reference.
    """

    def __init__(self, planner: Planner, tuning: Tuning, friction: float = 0.5) -> None:
        super().__init__(planner)
        self._mass, self._tuning = self.model.total_mass, tuning
        self._weight = self._mass * float(np.linalg.norm(STANDARD_GRAVITY))
        K, N = len(planner.supports), planner.gait.horizon
        self._problem = problem = StageProblem(N, 12, 3 * K, 5 * K)
        weights = np.array(tuning.weights, dtype=np.float64)
        weights[[0, 1, 6, 7]] *= tuning.attitude
        problem.Q[:] = np.diag(weights)
        problem.R[:] = tuning.force * (9.0 / self._mass * self._weight) ** 2 * np.eye(3 * K)
        problem.row_weights[:] = CONE_WEIGHT
        of_foot = np.array(
            [
                [1, 0, -friction],
                [-1, 0, -friction],
                [0, 1, -friction],
                [0, -1, -friction],
                [0, 0, -1],
            ]
        )
        problem.D[:] = np.kron(np.eye(K), of_foot)

    def _law(self, reference: Reference, state: State) -> Callable[[float, State], Array]:
        forces, legs = self._forces(reference, state), self.planner.legs
        names, n, m = self.planner.names, self.model.n, self.model.m
        stands = [name in reference.in_force[0] for name in names]
        p, v = reference.p, reference.v[..., :3]
        dt, one = reference.times[1] - reference.times[0], self._tuning
        s, r = reference.states[:2, 16 : 16 + n], reference.states[:2, 22 + n :]

        def follow(share: float, state: State) -> Array:
            at = legs.points([state])
            nu = np.concatenate((state.v, state.r))
            M, tau = mass_matrix(self.model, state), bias_force(self.model, state)[m - n :].copy()
            for foot, on in enumerate(stands):
                own = legs.joints[foot]
                J = at.J[0, foot, :3]
                J_leg = J[:, 6 + own]
                if on:
                    tau[own] -= J_leg.T @ forces[foot]
                    away = s[0, own] + share * (s[1, own] - s[0, own]) - state.s[own]
                    late = r[0, own] + share * (r[1, own] - r[0, own]) - state.r[own]
                    tau[own] += one.stiffness * away + one.damping * late
                    continue
                h = share * dt
                a = (v[1, foot] - v[0, foot]) / dt
                away = p[0, foot] + h * v[0, foot] + 0.5 * h * h * a - at.p[0, foot]
                a = a + SWING**2 * away + 2.0 * SWING * (v[0, foot] + h * a - J @ nu)
                inverse = np.linalg.inv(M[np.ix_(6 + own, 6 + own)])
                tau[own] += J_leg.T @ np.linalg.solve(
                    J_leg @ inverse @ J_leg.T + 1e-6 * np.eye(3), a
                )
            return tau

        return follow

    def _forces(self, reference: Reference, state: State) -> Array:
        """Return the forces (K, 3) of the feet in the first interval, world axes [N]."""
        problem, n = self._problem, self.model.n
        N, K = len(reference.efforts), len(self.planner.names)
        dt = np.diff(reference.times)
        data = np.vstack((reference.states, state.data))
        R, p, v, inertia = self._bodies(data)
        w = (R @ data[:, 19 + n : 22 + n, None])[..., 0]
        fall = np.array(STANDARD_GRAVITY)
        problem.A[:], problem.B[:], problem.c[:], problem.e[:] = np.eye(12), 0.0, 0.0, 0.0
        loads = np.zeros((N, K, 3))
        loads[..., 2] = reference.loads
        for k in range(N):
            problem.A[k, :6, 6:] += dt[k] * np.eye(6)
            inverse = np.linalg.inv(inertia[k])
            problem.A[k, 6:9, 3:6] = dt[k] * self._weight * inverse @ FROM_ABOVE
            problem.c[k, 3:6] = p[k] + dt[k] * v[k] + 0.5 * dt[k] ** 2 * fall - p[k + 1]
            problem.c[k, 6:9] = w[k] - w[k + 1]
            problem.c[k, 9:] = v[k] + dt[k] * fall - v[k + 1]
            for foot, name in enumerate(self.planner.names):
                if name not in reference.in_force[k]:
                    continue
                own = slice(3 * foot, 3 * foot + 3)
                x, y, z = reference.p[k, foot] - p[k]
                turns = inverse @ np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
                by_force = np.vstack((turns, np.eye(3) / self._mass)) * self._weight
                problem.B[k, :6, own] = 0.5 * dt[k] ** 2 * by_force
                problem.B[k, 6:, own] = dt[k] * by_force
                problem.e[k, 5 * foot + 4] = LEAST_FORCE
        problem.r[:] = -(problem.R @ loads.reshape(N, -1, 1))[..., 0]
        turned = 0.5 * (R[-1] @ R[0].T - R[0] @ R[-1].T)
        turn = np.array([turned[2, 1], turned[0, 2], turned[1, 0]])
        z = np.concatenate((turn, p[-1] - p[0], w[-1] - w[0], v[-1] - v[0]))
        problem.forget()
        found = problem.solve(z, rounds=4)
        return np.asarray(self._weight * found.w[0].reshape(K, 3))

    def _bodies(self, data: Array) -> tuple[Array, Array, Array, Array]:
        """Return axes of the base, centres of mass, their velocities, inertias about them."""
        M, m, mass = mass_matrix(self.model, data), self.model.m, self._mass
        H = data[:, :16].reshape(-1, 4, 4)
        R, own = H[:, :3, :3], np.column_stack((M[:, 1, 5], M[:, 2, 3], M[:, 0, 4])) / mass
        momentum = M[:, :3] @ data[:, -m:, None]
        eye = np.eye(3) * np.sum(own**2, axis=1)[:, None, None]
        about = M[:, 3:6, 3:6] - mass * (eye - own[:, :, None] * own[:, None])
        turned = R @ about @ R.transpose(0, 2, 1)
        return R, H[:, :3, 3] + (R @ own[..., None])[..., 0], (R @ momentum)[..., 0] / mass, turned


class Playback:
    """What a file of `geolin gait-gains` makes of the robot, from the first command on."""

    def __init__(self, planner: Planner, command: Command) -> None:
        model = planner.model
        self._gait = gait_gains(model, planner.supports, command, planner.posture)
        self._feedback, self._limit = Feedback(self._gait.knots[0]), effort_limits(model)
        self._place: Array | None = None
        self._begun = np.inf

    def __call__(
        self, time: float, state: State, touching: Sequence[bool], command: Command
    ) -> Answer:
        """Return the law until the next cycle."""
        if self._place is None:
            self._place = level(state.H) @ se3.inverse(level(self._gait.knots[0].state.H))
            self._place[2, 3] = 0.0
        if max(np.abs(command)) > STILL:
            self._begun = min(self._begun, time)
        if state.H[2, 2] < np.cos(FALLEN):
            return Answer(Phase.DAMPING, lambda *_: np.zeros(len(self._limit)), 0.0, None)
        place, since = self._place, max(time - self._begun, 0.0)
        waits = np.isinf(self._begun)

        def law(elapsed: float, state: State) -> Array:
            self._feedback.gains = self._gait.at(0.0 if waits else since + elapsed, place)
            return np.asarray(np.clip(self._feedback.efforts(state), -self._limit, self._limit))

        return Answer(Phase.WALK, law, 0.0, None)


def nominal(model: TreeModel, planner: Planner) -> Linearize:
    """Return what gives A, B and forces' derivatives of the standing posture, set by set.

    Defect and forces are those of the trajectory.
    """
    along = Linearizer(model, contacts_of(planner.supports)).along
    one = planner.posture.data[None]

    def linearize(
        states: Array, tau: Array, times: Array, *, contacts: Sequence[tuple[str, ...]]
    ) -> LinearizedTrajectory:
        found = along(states, tau, times, contacts=contacts)
        count = len(tau)
        stands = np.array([[name in names for name in planner.names] for names in contacts])
        there = planner.efforts(np.repeat(one, count, axis=0), stands)
        nodes = np.repeat(one, count + 1, axis=0)
        standing = along(nodes, there, times, contacts=contacts)
        for name in ('A', 'B', 'wrench_by_state', 'wrench_by_tau'):
            getattr(found, name)[:] = getattr(standing, name)
        return found

    return linearize
