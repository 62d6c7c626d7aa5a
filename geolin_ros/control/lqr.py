# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains that keep a standing robot at an operating point: u = u_ref - (K + K_complement) z.

z = log(g_ref^-1 g) is the displacement in full coordinates. K acts on the motions that the
contacts admit, K = K_r L with the optimal gain K_r of the reduced system and its projection L
along the mass matrix, blkdiag(W, W) at rest. K_complement acts on what they forbid,
C z = (1 - N W) z, nothing while they hold, as an impedance of bandwidth w:

    tau = -w^2 diag(1 / (M^-1)_ii) C z_q - 2 w diag(1 / (M^-1)_ii) C z_v

Without it a foot that lifts or slips is a limb that nobody moves. An actuation delay of d steps
puts the last d inputs into the state; they get gains of their own, K_past.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.control.equilibrium import Equilibrium
from geolin_ros.control.riccati import RiccatiSolution, solve_care, solve_dare
from geolin_ros.control.stabilizability import analyze_reduced
from geolin_ros.control.support import Support
from geolin_ros.control.weights import Cost, Weights, cost, weights_for
from geolin_ros.errors import ConfigurationError, NotStabilizableError, ShapeError
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.reduction import ReducedLinearization, reduce
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array

lapack = optional('scipy.linalg.lapack', extra='control')

PERIOD = 0.002
"""Sample time, unless another is given [s]."""
POINT_BANDWIDTH, SOLE_BANDWIDTH = 80.0, 60.0
"""Of the impedance of what contacts forbid [rad/s]: points, and soles on long legs."""
MOST_DELAY = 100
"""Of an actuator [steps]: each is an effort a joint more in the state."""


@dataclass(frozen=True, eq=False)
class Gains:
    """State feedback about an operating point.

    Attributes
    ----------
    state, feedforward : State, (n_u,)
        Operating point, at rest, and efforts there of the actuated joints [N m or N].
    K, K_complement : (n_u, 2 m)
        Gains of what the contacts admit, and of what they forbid; columns as
        `geolin_ros.model.labels.state_labels`.
    K_past : (n_u, d n_u)
        Gains of the last inputs' deviations from the feedforward, the latest first; d = 0 without
        delay.
    supports
        What the robot stands on.
    dt
        Sample time: inputs are constant over it [s]; 0: for continuous time.
    closed_loop
        F of x+ = Fx, or xdot = Fx, in the coordinates of the solution, or its ``margin`` alone.
    solution
        Of the Riccati equation, in the coordinates of the reduced system and past inputs.
    """

    state: State
    feedforward: Array
    K: Array
    K_complement: Array
    K_past: Array
    supports: tuple[Support, ...]
    dt: float
    closed_loop: Array | float
    solution: RiccatiSolution | None

    @cached_property
    def margin(self) -> float:
        """Largest modulus of the closed loop's eigenvalues [1], real part [1/s] if dt is 0."""
        if isinstance(self.closed_loop, float):
            return self.closed_loop
        poles = np.linalg.eigvals(self.closed_loop)
        return float(np.max(np.abs(poles)) if self.dt else np.max(poles.real))

    @property
    def contacts(self) -> tuple[str, ...]:
        """Names of the frames the robot stands on."""
        return tuple(support.frame for support in self.supports)


@dataclass(frozen=True)
class Tuning:
    """What gains are designed for.

    Attributes
    ----------
    weights
        What costs how much; by default `weights_for` the supports.
    dt
        Sample time: inputs are constant over it [s]; 0 for continuous time, without delay.
    delay
        Steps of ``dt`` from a measurement to the effort it leads to, beyond the zero-order hold.
    bandwidth
        Of the impedance of what contacts forbid [rad/s], 0 for none; by default `SOLE_BANDWIDTH`
        where soles stand, else `POINT_BANDWIDTH`.
    """

    weights: Weights | None = None
    dt: float = PERIOD
    delay: int = 0
    bandwidth: float | None = None

    def __post_init__(self) -> None:
        dt, delay, bandwidth = self.dt, self.delay, self.bandwidth or 0.0
        is_valid = dt >= 0.0 and 0 <= delay <= MOST_DELAY and bandwidth >= 0.0  # false for NaN
        if not is_valid or (delay and not dt):
            raise ConfigurationError(
                f'dt is {dt:g} s, delay {delay} steps, bandwidth {bandwidth:g} rad/s, expected '
                f'none below 0, at most {MOST_DELAY} steps, and no delay in continuous time'
            )


_last = threading.local()
"""The linearizer of the robot and the supports that gains were last made for, a thread."""


class Plant(NamedTuple):
    """x+ = Ax + Bu, or xdot, with the cost of x and u; x = [y; past inputs]."""

    A: Array
    B: Array
    Q: Array
    R: Array
    S: Array


def lqr(A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike) -> Array:
    """Return K of u = -K z that minimizes the integral of z'Qz + u'Ru over dz/dt = A z + B u.

    Contacts admit only a part of z: of a standing robot give A and B of ``R = reduce(C)``, and use
    ``R.full_gain(K)``; or let `design` do all.
    Raises `NotStabilizableError` if inputs do not reach a motion that does not decay;
    `ShapeError`, `NotFiniteError` or `ConfigurationError` as `riccati.solve_care`.
    """
    return solve_care(A, B, Q, R).K


def design(
    model: TreeModel,
    point: Equilibrium,
    *,
    tuning: Tuning | None = None,
    previous: Gains | None = None,
) -> Gains:
    """Return the gains of a robot about an equilibrium.

    Parameters
    ----------
    point
        Where it stands, on what, and by which forces.
    previous
        Gains of a moment ago to start from; read if they are for the same contacts and delay.

    Raises
    ------
    NotStabilizableError
        If there are no such gains; ``report`` is the stabilizability report.
    ConfigurationError, UnsolvableError
        If an actuated joint has no effort limit; if the contacts leave no motion.
    """
    linearizer: Linearizer | None = getattr(_last, 'linearizer', None)
    if linearizer is None or linearizer.model is not model:
        linearizer = _last.linearizer = Linearizer(model)
        _last.supports = ()
    if point.supports != _last.supports:
        linearizer.contacts = tuple(support.contact for support in point.supports)
        _last.supports = point.supports
    return regulate(model, point, reduce(linearizer(point.state, point.tau)), tuning, previous)


def regulate(
    model: TreeModel,
    point: Equilibrium,
    reduced: ReducedLinearization,
    tuning: Tuning | None = None,
    previous: Gains | None = None,
) -> Gains:
    """Do what `design` says, with a reduced system that is there already."""
    tuning = tuning or Tuning()
    dt, delay, bandwidth = tuning.dt, tuning.delay, tuning.bandwidth
    if bandwidth is None:
        soles = any(support.kind == 'surface' for support in point.supports)
        bandwidth = SOLE_BANDWIDTH if soles else POINT_BANDWIDTH
    weights = tuning.weights or weights_for(point.supports)
    price = cost(weights, model, point.state, point.supports, point.wrenches, reduced)
    plant = plant_of(reduced, price, dt, delay)
    feet, K0 = tuple(support.frame for support in point.supports), None
    if previous is not None and (previous.contacts, previous.dt) == (feet, dt):
        start = np.hstack((previous.K @ reduced.P, previous.K_past))
        K0 = start if start.shape == plant.B.T.shape else None  # else of another delay
    try:
        solution = solve_dare(*plant, K0) if dt else solve_care(*plant)
    except NotStabilizableError as error:
        report = analyze_reduced(model, point.state, reduced)
        raise NotStabilizableError(
            f'robot {report.about} cannot be kept there: {error}\n{report.text()}', report
        ) from error
    k = reduced.P.shape[1]
    return Gains(
        point.state,
        point.tau[model.actuated],
        reduced.full_gain(solution.K[:, :k]),
        complement(reduced, bandwidth)[model.m - model.n + model.actuated],
        solution.K[:, k:],
        point.supports,
        dt,
        solution.F,
        solution,
    )


def plant_of(reduced: ReducedLinearization, price: Cost, dt: float, delay: int) -> Plant:
    """Return the system of the Riccati equation; the effort that acts is the oldest past input."""
    Phi, Gamma = reduced.discretize(dt) if dt else (reduced.A, reduced.B)
    if not delay:
        return Plant(Phi, Gamma, price.Q, price.R, price.S)
    k, u = Gamma.shape
    size = k + delay * u
    now, newest, oldest = slice(k), slice(k, k + u), slice(size - u, size)
    A, B, Q = np.zeros((size, size)), np.zeros((size, u)), np.zeros((size, size))
    A[now, now], A[now, oldest] = Phi, Gamma
    A[k + u :, k : size - u] = np.eye(size - k - u)
    B[newest] = np.eye(u)
    Q[now, now], Q[now, oldest], Q[oldest, now] = price.Q, price.S, price.S.T
    Q[oldest, oldest] = price.R - price.R_effort
    return Plant(A, B, Q, price.R_effort, np.zeros((size, u)))


def complement(reduced: ReducedLinearization, bandwidth: float) -> Array:
    """Return the impedance (m, 2 m) of what contacts forbid, for all generalized forces."""
    factor, _ = lapack.dpotrf(reduced.M.T, lower=True)
    inertia = 1.0 / lapack.dpotri(factor, lower=True)[0].diagonal()
    C = -inertia[:, None] * (reduced.N @ reduced.W)
    C.ravel()[:: len(C) + 1] += inertia
    return np.concatenate((bandwidth**2 * C, 2.0 * bandwidth * C), axis=1)


class Feedback:
    """Feedback by ``gains``, of which others may be assigned; remembers the inputs it has sent.

        u = u_ref - (K + K_complement) z - K_past du,   z = log(g_ref^-1 g)

    with the reference that of the gains, or one that moves beside them, before limits and ramps.
    """

    def __init__(self, gains: Gains) -> None:
        self.gains = gains
        self._sent: list[Array] = []

    def efforts(
        self,
        state: State,
        *,
        reference: State | None = None,
        feedforward: ArrayLike | None = None,
    ) -> Array:
        """Return the efforts (n_u,) of the actuated joints, neither clipped nor ramped.

        Raises `ShapeError` if a state or the feedforward has another size than the gains are for.

        Parameters
        ----------
        state
            Where the robot is.
        reference
            Where it should be, and how it should move; by default at the gains' operating point.
        feedforward : (n_u,)
            Efforts that this takes [N m or N]; by default those of the gains.
        """
        gains = self.gains
        wanted = gains.feedforward
        if feedforward is not None:
            wanted = np.asarray(feedforward, dtype=np.float64)
            if wanted.shape != gains.feedforward.shape:
                size = gains.feedforward.size
                raise ShapeError(f'feedforward has shape {wanted.shape}, expected ({size},)')
        z = (reference or gains.state).difference(state)
        u = wanted - (gains.K + gains.K_complement) @ z
        steps = gains.K_past.shape[1] // max(u.size, 1)
        if steps:
            latest = [sent - wanted for sent in self._sent[:steps]]
            latest += [np.zeros_like(wanted)] * (steps - len(latest))
            u = u - gains.K_past @ np.concatenate(latest)
        return u

    def sent(self, efforts: ArrayLike) -> None:
        """Remember what the motors were really sent this period, clipped and ramped."""
        now = np.array(efforts, dtype=np.float64)
        steps = self.gains.K_past.shape[1] // max(now.size, 1)
        self._sent = [now, *self._sent][:steps]
