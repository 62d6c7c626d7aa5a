# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Model predictive control of a walking robot, about its own last plan.

    z_{k+1} = A_k z_k + B_k w_k + c_k   about x_k, u_k: the last plan, moved on in time
    minimize    |log(ref_k^-1 x_k) + z_k|^2_Q + |u_k + w_k - u_ref|^2_R + feet in the air
    subject to  friction cones of the feet that stand, effort limits

One step of Newton's method on the nonlinear problem each cycle [Diehl 2005]. The law until the
next plan feeds back deviations from it, and what contacts forbid by an impedance:

    tau = u_0 + K_0 log(x_want^-1 g) - S (Kp C z_q + Kd C z_v)

It stands, walks and stops by the command; a fall ends in damping, for good.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from geolin_control.stages import Solution, StageProblem

from geolin_ros.control.support import Support
from geolin_ros.control.weights import effort_limits
from geolin_ros.dynamics.functions import mass_matrix
from geolin_ros.dynamics.kinematics import Places
from geolin_ros.errors import ConfigurationError, NotFiniteError, SingularInertiaError
from geolin_ros.linearization.along import LinearizedTrajectory, differences, retracted
from geolin_ros.linearization.contacts.description import Contact
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.state import State
from geolin_ros.model.tree import STANDARD_GRAVITY, TreeModel
from geolin_ros.typing import Array, IntArray
from geolin_walking.cones import Cones
from geolin_walking.footsteps import Stepper
from geolin_walking.gait import HUMANOID, QUADRUPED, Phase, WalkingWeights, steps, trot
from geolin_walking.reference import Command, Planner, Reference, turn_between

CONTACT_DAMPING = 40.0
"""Of the contacts in the model: a foot that still moves is at rest soon [1/s]."""
FORCE_WEIGHT, BOUND_WEIGHT = 300.0, 1000.0
"""Of violated cones, as shares of the weight, and of violated limits, as shares of their mean."""
RECURSIONS = {'point': 10, 'surface': 4}
"""Riccati recursions of a cycle at most: many joints take longer, and the next one goes on."""
BANDWIDTH = 80.0
"""Of the impedance of what contacts forbid [rad/s]."""
FALLEN, LOW = 0.9, 0.6
"""Tilt [rad] of a robot that has fallen; height, of what it stands at."""
DAMPING_TIME = 0.05
"""Damping reaches the effort limit at a joint rate of 1 over this [s]."""
INTERVALS = 5
"""Of a plan, for which its law holds: 0.1 s on four feet, 0.15 s on two; two plans at least."""

Linearize = Callable[..., LinearizedTrajectory]
"""Of states, efforts, times and ``contacts=``, what `Linearizer.along` returns."""


class Law(NamedTuple):
    """tau = u_0 + K log(x_want^-1 g), cut at its limits; x_want moves between two states.

    Those are rows (2, 22 + 2 n) of `State.data` at times (2,) [s]; u_0 and its limit are (n_u,), K
    is (n_u, 2 m), of the actuated joints (n_u,). ``until`` when a newer law must have come [s]:
    joints are damped from then on.
    """

    times: Array
    states: Array
    efforts: Array
    gains: Array
    limit: Array
    actuated: IntArray
    until: float

    def since(self, time: float) -> 'Law':
        """Return the same law, its times counted from a time [s]."""
        return self._replace(times=self.times - time, until=self.until - time)

    def wanted(self, time: float) -> Array:
        """Return x_want (1, 22 + 2 n) at a time [s]."""
        begin, end = self.times
        share = float(np.clip((time - begin) / (end - begin), 0.0, 1.0))
        first, second = self.states[:1], self.states[1:]
        return retracted(first, share * differences(first, second))

    def __call__(self, time: float, state: State) -> Array:
        """Return the efforts (n_u,) at a time [s]."""
        if time > self.until:
            tau = -DAMPING_TIME * self.limit * state.r[self.actuated]
            return np.asarray(np.clip(tau, -self.limit, self.limit))
        z = differences(self.wanted(time), state.data[None])[0]
        return np.asarray(np.clip(self.efforts + self.gains @ z, -self.limit, self.limit))


def valid_until(times: Array) -> float:
    """Return until when the law of a plan with these nodes holds [s]; without end if damped."""
    return float(times[INTERVALS]) if len(times) > INTERVALS else np.inf


@dataclass(frozen=True, eq=False)
class Plan:
    """What a robot does, and its law.

    Attributes
    ----------
    times, states : (N + 1,), (N + 1, 22 + 2 n)
        Of the nodes [s], and rows of `State.data` there.
    efforts : (N, n)
    gains, complement : (n_u, 2 m)
        K_0 of the first interval, and the impedance of what its contacts forbid.
    in_force
        Feet that stand in each interval.
    wrenches : (N, rows)
        Forces of all feet at the nodes, in contact axes [N, N m].
    reference, solution
        What it should be, and of the quadratic program; None while damping.
    """

    phase: Phase
    times: Array
    states: Array
    efforts: Array
    gains: Array
    complement: Array
    in_force: tuple[tuple[str, ...], ...]
    wrenches: Array
    model: TreeModel
    reference: Reference | None = None
    solution: Solution | None = None

    @property
    def law(self) -> Law:
        """What acts until the next plan."""
        actuated, K = self.model.actuated, self.gains - self.complement
        tau, limit = self.efforts[0][actuated], effort_limits(self.model)
        until = valid_until(self.times)
        return Law(self.times[:2], self.states[:2], tau, K, limit, actuated, until)


class Walker:
    """Plans again and again, with a coefficient of friction.

    ``linearize`` gives A and B along trajectories, by default a `Linearizer` of its own: about the
    last plan, or, without ``about_last_plan``, about the reference. ``problem`` is the quadratic
    program of the newest plan.
    """

    def __init__(
        self,
        planner: Planner,
        weights: WalkingWeights,
        friction: float = 0.5,
        about_last_plan: bool = True,
        linearize: Linearize | None = None,
    ) -> None:
        self.planner, self.weights = planner, weights
        self.model = model = planner.model
        self.supports: Sequence[Support] = planner.supports
        N, k = planner.gait.horizon, 2 * model.m
        if linearize is None:
            along = Linearizer(model, contacts_of(self.supports)).along
            linearize = partial(along, out=along.room(N))
        self._linearize = linearize
        self._cones = Cones(model, self.supports, friction)
        self.problem = StageProblem(N, k, len(model.actuated), self._cones.kinds)
        self._limit = effort_limits(model)
        self._diagonals = [np.einsum('kii->ki', M) for M in (self.problem.Q, self.problem.R)]
        self.problem.row_weights[:] = FORCE_WEIGHT
        self.problem.bound_weights[:] = BOUND_WEIGHT / np.mean(self._limit) ** 2
        self._prices, self._about_last = weights.state(model), about_last_plan
        self._last: Plan | None = None
        self._has_fallen = False

    def plan(self, time: float, state: State, touching: Sequence[bool], command: Command) -> Plan:
        """Return the plan from a measured state on; after a fall, joints are damped.

        A robot has fallen if it is tilted or low, or if there is no plan any more; ``touching``
        says which feet press on the ground.
        """
        found = None
        if not (self._has_fallen or has_fallen(self.planner, state)):
            found = self._planned(self.planner(time, state, touching, command), state)
        self._has_fallen, self._last = found is None, found
        return self.damping(time, state) if found is None else found

    def damping(self, time: float, state: State) -> Plan:
        """Return the plan of a robot that has fallen, or shall not move."""
        model, n_u = self.model, len(self._limit)
        gains = np.zeros((n_u, 2 * model.m))
        gains[np.arange(n_u), model.m + 6 + model.actuated] = -DAMPING_TIME * self._limit
        return Plan(
            phase=Phase.DAMPING,
            times=np.array([time, time + 1.0]),
            states=np.repeat(state.at_rest().data[None], 2, axis=0),
            efforts=np.zeros((1, model.n)),
            gains=gains,
            complement=np.zeros_like(gains),
            in_force=((),),
            wrenches=np.zeros((1, sum(support.rows for support in self.supports))),
            model=model,
        )

    def _planned(self, reference: Reference, state: State) -> Plan | None:
        """Return a plan about the last one, or else about the reference."""
        last, found = self._last, None
        if last is not None:
            passed = np.searchsorted(last.times, reference.times[0] + 1e-9) - 1
            self.problem.shift(int(passed))
            if self._about_last:
                found = self._solve(reference, *self._moved_on(last, reference, state), state)
        if found is None:
            if self._about_last:
                self.problem.forget()
            found = self._solve(reference, reference.states.copy(), reference.efforts, state)
        return found

    def _moved_on(self, last: Plan, reference: Reference, state: State) -> tuple[Array, Array]:
        """Return states and efforts of the last plan at the new nodes, beyond it the reference."""
        states, efforts = reference.states.copy(), reference.efforts.copy()
        k = np.searchsorted(last.times, reference.times + 1e-9, 'right') - 1
        known = k < len(last.efforts)
        k = k[known]
        share = (reference.times[known] - last.times[k]) / (last.times[k + 1] - last.times[k])
        way = differences(last.states[k], last.states[k + 1])
        states[known] = retracted(last.states[k], share[:, None] * way)
        efforts[known[:-1]] = last.efforts[k[: known[:-1].sum()]]
        states[0] = state.data
        return states, efforts

    def _solve(
        self, reference: Reference, states: Array, efforts: Array, state: State
    ) -> Plan | None:
        """Return the plan about states and efforts, None if the numbers overflow."""
        model, problem = self.model, self.problem
        if not np.isfinite(states).all():
            return None
        try:
            L = self._linearize(states, efforts, reference.times, contacts=reference.in_force)
        except (NotFiniteError, SingularInertiaError):
            return None
        at = self.planner.legs.points(states)
        self._fill(L, at, reference, states, efforts[:, model.actuated])
        z0 = differences(states[:1], state.data[None])[0]
        solution = problem.solve(z0, most=RECURSIONS[self.supports[0].kind])
        if not solution.is_finite or np.abs(solution.z).max() > 1e3:
            problem.forget()
            return None
        tau = efforts.copy()
        tau[:, model.actuated] += solution.w
        by_z = (L.wrench_by_state @ solution.z[:-1, :, None])[..., 0]
        by_w = (L.wrench_by_tau @ solution.w[..., None])[..., 0]
        return Plan(
            phase=self.planner.phase,
            times=reference.times,
            states=retracted(states, solution.z),
            efforts=tau,
            gains=solution.K[0],
            complement=self._impedance(states[:1], reference.in_force[0], at.J[0]),
            in_force=reference.in_force,
            wrenches=L.wrenches + by_z + by_w,
            model=model,
            reference=reference,
            solution=solution,
        )

    def _fill(
        self, L: LinearizedTrajectory, at: Places, reference: Reference, states: Array, own: Array
    ) -> None:
        """Write the quadratic program about states and efforts (N, n_u)."""
        problem, model, weights = self.problem, self.model, self.weights
        m, dt = model.m, self.planner.gait.dt
        problem.A[:], problem.B[:], problem.c[:] = L.A, L.B, L.c
        share = np.append(np.diff(reference.times), dt) / dt
        prices = self._prices * share[:, None]
        prices[-1, :6] *= weights.end
        prices[-1, m : m + 6] *= weights.end
        R = share[:-1, None] / (weights.efforts * self._limit) ** 2
        for matrix in (problem.Q, problem.S, problem.R):
            matrix[:] = 0.0
        self._diagonals[0][:], self._diagonals[1][:] = prices, R
        problem.q[:] = prices * differences(reference.states, states)
        problem.r[:] = R * (own - reference.efforts[:, model.actuated])
        self._add_feet(at, reference, states, share)
        if weights.force is not None:
            self._add_forces(L, reference, share[:-1], weights.force)
        problem.C[:], problem.D[:], problem.e[:] = self._cones(L, at)
        problem.lower[:], problem.upper[:] = -self._limit - own, self._limit - own

    def _add_feet(self, at: Places, reference: Reference, states: Array, share: Array) -> None:
        """Add what feet in the air cost, positions and velocities in world axes."""
        problem, weights, m = self.problem, self.weights, self.model.m
        size = 6 if self.supports[0].kind == 'surface' else 3
        J = at.J[:, :, :size]
        nu = states[:, None, -m:, None]
        missing = at.p - reference.p
        if size == 6:
            missing = np.concatenate((missing, turn_between(reference.R, at.R)), axis=-1)
        moving = (J @ nu)[..., 0] - reference.v[..., :size]
        rotation = [weights.foot_rotation] * (size - 3)
        for part, error, deviations in (
            (slice(0, m), missing, (*weights.foot, *rotation)),
            (slice(m, 2 * m), moving, (*weights.foot_velocity, *np.multiply(10.0, rotation))),
        ):
            price = np.array(deviations) ** -2.0 * (reference.swinging * share[:, None])[..., None]
            weighted = (J * price[..., None]).reshape(len(J), -1, m).transpose(0, 2, 1)
            problem.Q[:, part, part] += weighted @ J.reshape(len(J), -1, m)
            problem.q[:, part] += (weighted @ error.reshape(len(J), -1, 1))[..., 0]

    def _add_forces(
        self, L: LinearizedTrajectory, reference: Reference, share: Array, force: float
    ) -> None:
        """Add what forces on soles cost that are not those wanted."""
        problem, weights = self.problem, self.weights
        weight = self.model.total_mass * float(np.linalg.norm(STANDARD_GRAVITY))
        wanted = np.zeros_like(L.wrenches)
        units = np.full(wanted.shape[1], np.inf)  # forces in loops cost nothing
        for k, support in enumerate(self.supports):
            first = L.first[support.frame]
            wanted[:, first + 2] = weight * reference.loads[:, k]
            half = 0.5 * np.ptp(np.asarray(support.points), axis=0)
            arm = np.array([half[1], half[0], np.hypot(*half[:2])]) * weights.moment
            own = np.array([force, force, weights.normal_force, *arm])
            units[first : first + support.rows] = weight * own[: support.rows]
        W = units**-2.0 * share[:, None]
        by_z = (L.wrench_by_state * W[..., None]).transpose(0, 2, 1)
        by_u = (L.wrench_by_tau * W[..., None]).transpose(0, 2, 1)
        error = (L.wrenches - wanted)[..., None]
        problem.Q[:-1] += by_z @ L.wrench_by_state
        problem.S[:] += by_u @ L.wrench_by_state
        problem.R[:] += by_u @ L.wrench_by_tau
        problem.q[:-1] += (by_z @ error)[..., 0]
        problem.r[:] += (by_u @ error)[..., 0]

    def _impedance(self, data: Array, names: tuple[str, ...], of_feet: Array) -> Array:
        """Return the gains (n_u, 2 m) on what contacts forbid: C = M^-1 J' (J M^-1 J')^-1 J."""
        model, m = self.model, self.model.m
        rows = [of_feet[k, : s.rows] for k, s in enumerate(self.supports) if s.frame in names]
        found = np.zeros((m, 2 * m))
        if rows:
            J, inverse = np.vstack(rows), np.linalg.inv(mass_matrix(model, data)[0])
            MJ = inverse @ J.T
            C = MJ @ np.linalg.solve(J @ MJ + 1e-9 * np.eye(len(J)), J)
            inertia = 1.0 / np.diag(inverse)[:, None]
            found[:, :m] = BANDWIDTH**2 * inertia * C
            found[:, m:] = 2.0 * BANDWIDTH * inertia * C
        return found[6:][model.actuated]


def has_fallen(planner: Planner, state: State) -> bool:
    """Whether a robot is tilted, or low above where its feet stand."""
    height = state.H[2, 3] - float(planner.stood[:, 2].min())
    lowest = -LOW * float(planner.home[:, 2].min())
    return bool(state.H[2, 2] < np.cos(FALLEN) or height < lowest)


def contacts_of(supports: Sequence[Support]) -> list[Contact]:
    """Return the contacts that a model walks on."""
    return [Contact(s.frame, s.kind, kd=CONTACT_DAMPING, placement=s.placement) for s in supports]


def walker_for(
    model: TreeModel, supports: Sequence[Support], posture: State, **options: Any
) -> Walker:
    """Return who makes a robot walk from a posture: four points trot, two soles step.

    ``options`` are those of `Walker`. Raises `ConfigurationError` if its feet are others, or
    joints have several axes.
    """
    kinds = [support.kind for support in supports]
    if kinds == ['surface'] * 2:
        return Walker(Stepper(model, supports, steps(), posture), HUMANOID, **options)
    if kinds != ['point'] * 4:
        raise ConfigurationError(
            f'robot {model.name!r} has feet of kinds {kinds}, expected four points to trot on, or '
            'two soles'
        )
    planner = Planner(model, supports, trot(), posture)
    fore, left = planner.home[:, 0] > planner.home[:, 0].mean(), planner.home[:, 1] > 0.0
    if len({*zip(fore, left, strict=True)}) != 4:
        raise ConfigurationError(
            f'feet of robot {model.name!r} stand at {np.round(planner.home, 3).tolist()} from the '
            'base, expected one at each corner'
        )
    diagonals = [tuple(np.flatnonzero((fore == left) == same).tolist()) for same in (True, False)]
    return Walker(Planner(model, supports, trot(*diagonals), posture), QUADRUPED, **options)
