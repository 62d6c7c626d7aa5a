# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What joint efforts can do with a robot: which motions they reach, and how fast these run away.

About an equilibrium on contacts by the staircase form of the reduced pair; in free flight of the
falling frame, gravity 0, at rest. There the momentum and its integral are out of reach, 12 states.
Of a robot that flies and moves it is the range of R, R <- [Phi R, Gamma], along its motion over a
horizon. Elsewhere the question has no answer, and none is given.

Entries of the state are scaled by a length l and the time sqrt(l / g), inputs by the largest
column of B; rank decisions hold for these units.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.mode_report import Mode, ModeReport, entries, words_for
from geolin_ros.control.support import Support
from geolin_ros.dynamics.arguments import about_state
from geolin_ros.dynamics.functions import bias_force, mass_matrix
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, InputError
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.reduction import ReducedLinearization, reduce
from geolin_ros.linearization.result import Linearization
from geolin_ros.model.labels import joint_units
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array

STILL = 1e-6
"""Largest velocity and acceleration, scaled, of what counts as an equilibrium."""
SLOW = 1e-6
"""Rates below this, scaled, count as 0: of poles in Jordan chains they are not exact."""
HORIZON_STEPS = 24
"""Of a horizon, at least; joints whose damping stops them sooner take more."""
MOST_STEPS = 4000
NEGLIGIBLE = 1e-8
"""Of |[A B]|: reached so weakly, a state counts as not reached. Rounding is at 1e-15, errors of an
equilibrium are at 1e-10, robots that stand at 1e-6 and more."""


@about_state
def analyze_modes(
    model: TreeModel,
    state: State,
    supports: Sequence[Support] = (),
    *,
    tau: ArrayLike | None = None,
    horizon: float | None = None,
) -> ModeReport:
    """Return what joint efforts can do with a robot about a state.

    Parameters
    ----------
    state, supports
        An equilibrium on its supports; without any it flies, at rest, and gravity is set to 0, or
        in any state with a horizon. Of a fixed base, at rest.
    tau : (n,)
        Joint efforts [N m or N]; by default those that hold the posture, or zero in flight.
    horizon
        Analyse what can be reached within this time in free flight along the motion [s].

    Raises
    ------
    InputError, InfeasibleError
        If the state is no equilibrium; if no efforts hold the posture.
    ConfigurationError
        If a horizon is given with supports, either with a fixed base, or one that takes more than
        `MOST_STEPS` steps, as the damping of a joint may stop it in a short time.
    """
    is_fixed, has_horizon = model.base == 'fixed', horizon is not None
    if is_fixed + bool(supports) + has_horizon > 1:
        raise ConfigurationError(
            f'robot {model.name!r} has a {model.base} base and {len(supports)} supports'
            + (f' with a horizon of {horizon:g} s' if horizon is not None else '')
            + ', expected a floating base with supports or with a horizon, or neither'
        )
    if horizon is not None:
        return _reachability(model, state, np.zeros(model.n) if tau is None else tau, horizon)
    _check_still(model, state, np.zeros(model.m))
    if supports or is_fixed:
        if tau is None:
            tau = bias_force(model, state) if is_fixed else equilibrium(model, state, supports).tau
        at = Kinematics(model, state)
        L = Linearizer(model, [support.grounded(at).contact for support in supports])(state, tau)
        _check_still(model, state, L.nu_dot)
        about = f'{model.name} on a fixed base, at rest'
    else:
        L = Linearizer(model.with_gravity([0.0, 0.0, 0.0]))(state, np.zeros(model.n))
        about = f'{model.name} in free flight at rest, gravity 0 (the falling frame)'
    if supports:
        return analyze_reduced(model, state, reduce(L))
    return _report(about, model, state, reduce(L) if model.loops else L)


def analyze_reduced(model: TreeModel, state: State, reduced: ReducedLinearization) -> ModeReport:
    """Return the report of a reduced pair about an equilibrium, which the caller answers for."""
    own = {loop.name for loop in model.loops}
    feet = ', '.join(c.name for c in reduced.full.contacts if c.name not in own)
    return _report(f'{model.name} standing on {feet}', model, state, reduced)


def _report(
    about: str, model: TreeModel, state: State, L: Linearization | ReducedLinearization
) -> ModeReport:
    """Return the report of A and B in coordinates y of z over its units = scaled y."""
    units, time = _units(model, state)
    if isinstance(L, ReducedLinearization):
        scaled, R = np.linalg.qr(L.P / units[:, None])
        A, B = R @ L.A @ np.linalg.inv(R), R @ L.B
    else:
        scaled = np.eye(2 * model.m)
        A, B = L.A * units / units[:, None], L.B / units[:, None]
    inputs = np.max(np.linalg.norm(B, axis=0), initial=0.0) or 1.0
    T, stairs, reached, kept, dropped = staircase(time * A, B / inputs)
    poles = np.linalg.eigvals(stairs[reached:, reached:]).astype(np.complex128)
    return ModeReport(
        about,
        len(A),
        reached,
        words_for(model, state, T[:, reached:], units[:, None] * scaled, scaled),
        poles / time,
        bool(np.all(poles.real < -SLOW)),
        _modes(model, A, scaled, units, SLOW / time),
        kept,
        dropped,
        constrained=2 * model.m - len(A),
    )


def _reachability(model: TreeModel, state: State, tau: ArrayLike, horizon: float) -> ModeReport:
    """Return what efforts beside ``tau`` reach within a horizon in free flight, gravity on."""
    if not horizon > 0.0 or not model.n:
        raise ConfigurationError(
            f'horizon is {horizon:g} s and robot {model.name!r} has {model.n} joints, expected a '
            'positive time and joints, whose efforts reach anything'
        )
    units, _ = _units(model, state)
    linearizer, at = Linearizer(model), state
    steps = _steps(model, linearizer(state, tau).A, horizon)
    R = np.zeros((2 * model.m, 0))
    for _ in range(steps):
        step = linearizer.discretize(at, tau, horizon / steps, method='rkmk4')
        R = np.hstack((step.Phi @ R, step.Gamma))
        if R.shape[1] > 8 * model.m:  # a factor of the same singular values, and square
            R = np.asarray(np.linalg.qr(R.T, mode='r')).T
        at = step.next_state
    scaled = R / units[:, None]
    U, sizes, _ = np.linalg.svd(scaled / np.max(np.linalg.norm(scaled, axis=0)))
    floor = np.finfo(np.float64).eps * sizes[0]
    # The rank is where the singular values of the reachability matrix drop most.
    drops = np.maximum(sizes[:-1], floor) / np.maximum(sizes[1:], floor)
    rank = int(np.argmax(drops)) + 1 if np.max(drops) > 1e3 else len(sizes)
    return ModeReport(
        f'{model.name} in free flight, reachable within {horizon:g} s',
        2 * model.m,
        rank,
        words_for(model, at, U[:, rank:], np.diag(units), np.eye(2 * model.m)),
        np.zeros(0, dtype=np.complex128),
        None,
        (),
        float(sizes[rank - 1]),
        float(np.max(sizes[rank:], initial=0.0)),
    )


def _steps(model: TreeModel, A: Array, horizon: float) -> int:
    """Return the steps of a horizon: explicit ones bear |pole| dt <= 1."""
    values, vectors = np.linalg.eig(A)
    fastest = int(np.argmax(np.abs(values)))
    rate = float(np.abs(values[fastest]))
    steps = max(HORIZON_STEPS, int(np.ceil(min(rate * horizon, 1e9))))
    if steps > MOST_STEPS:
        joint = model.joint_names[int(np.argmax(np.abs(vectors[-model.n :, fastest])))]
        raise ConfigurationError(
            f'horizon is {horizon:g} s, expected at most {MOST_STEPS / rate:.2g} s: the damping '
            f'of joint {joint!r} stops it within {1.0 / rate:.1e} s; correct the damping, or give '
            'its rotor_inertia in an overlay'
        )
    return steps


def _modes(
    model: TreeModel, A: Array, scaled: Array, units: Array, slow: float
) -> tuple[Mode, ...]:
    values, vectors = np.linalg.eig(A)
    values = values.astype(np.complex128)
    for part in (values.real, values.imag):
        part[np.abs(part) < slow] = 0.0
    names, modes = entries(model), []
    for value, vector in zip(values, (scaled @ vectors).T, strict=True):
        if value.imag < 0.0:
            continue
        sizes = np.abs(vector[: model.m])
        if np.max(sizes) < 1e-6:
            sizes = np.abs(vector[model.m :])
        order = np.argsort(-sizes)[:3]
        words = ', '.join(names[k] for k in order if sizes[k] > 0.3 * sizes[order[0]])
        modes.append(Mode(complex(value), words, (units * vector).astype(np.complex128)))
    return tuple(sorted(modes, key=lambda mode: (-mode.time_constant, mode.frequency, mode.words)))


def _units(model: TreeModel, state: State) -> tuple[Array, float]:
    """Return the units of z (2 m,), and the time [s] in them.

    Of a length it is the radius of gyration about the base, or about a joint's axis.
    """
    M = mass_matrix(model, state)
    turns = np.array([unit == 'rad' for unit in joint_units(model)], dtype=np.bool_)
    length, pose = 1.0, np.zeros(0)
    if model.base == 'floating':
        length = float(np.sqrt(np.trace(M[3:6, 3:6]) / M[0, 0]))
        pose = np.array([length] * 3 + [1.0] * 3)
    elif turns.any():
        length = float(np.sqrt(np.diag(M)[turns].max() / model.total_mass))
    time = float(np.sqrt(length / (float(np.linalg.norm(model.gravity)) or 9.81)))
    positions = np.concatenate((pose, np.where(turns, 1.0, length)))
    return np.concatenate((positions, positions / time)), time


def _check_still(model: TreeModel, state: State, nu_dot: Array) -> None:
    """Refuse a state that moves or starts to."""
    z, time = _units(model, state)
    unit = z[model.m :]
    velocity = np.concatenate((state.v, state.r))[-model.m :]
    for what, values in (('moves', velocity / unit), ('accelerates', nu_dot * time / unit)):
        worst = int(np.argmax(np.abs(values)))
        if abs(values[worst]) > STILL:
            raise InputError(
                f'robot {model.name!r} {what}: {entries(model)[model.m + worst]} by '
                f'{values[worst]:.2g} (scaled), expected an equilibrium; take its posture and '
                'efforts, or a horizon in free flight'
            )


def staircase(A: Array, B: Array) -> tuple[Array, Array, int, float, float]:
    """Return the staircase form of A (k, k) and B (k, u), both scaled to be of order 1.

    That is orthogonal axes T (k, k), T'AT, and how many of the axes the inputs reach, the first
    ones; the others are left-invariant and have no part in B. And the singular values next to the
    decisions, the smallest kept, infinite if there is none, and the largest dropped.

    By orthogonal steps [Van Dooren 1981]: each asks how many new directions the inputs reach
    through the last ones, a rank decision on one small block. Unlike tests on [A - x 1, B] they
    bear the long Jordan chains at 0 of free flight, and lose no digits as [B, AB, ...].
    """
    k, X, off = len(A), B, 0
    T, A = np.eye(k), A.copy()
    tolerance = NEGLIGIBLE * np.linalg.norm(np.hstack((A, B)))
    kept, dropped = np.inf, 0.0
    while off < k:
        U, sizes, _ = np.linalg.svd(X)
        rank = int(np.sum(sizes > tolerance))
        kept = min(kept, float(np.min(sizes[:rank], initial=np.inf)))
        dropped = max(dropped, float(np.max(sizes[rank:], initial=0.0)))
        if rank == 0:
            break
        A[off:, :] = U.T @ A[off:, :]
        A[:, off:] = A[:, off:] @ U
        T[:, off:] = T[:, off:] @ U
        off += rank
        X = A[off:, off - rank : off]
    return T, A, off, kept, dropped
