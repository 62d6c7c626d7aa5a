# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What joint efforts can do with a robot: which motions they reach, and how fast these run away.

About an equilibrium on contacts by the staircase form of the reduced pair; in free flight of the
falling frame, gravity 0, at rest. There the momentum and its integral are out of reach, 12 states.
A robot that flies and moves is no equilibrium of anything: what can be reached from there over a
horizon is the range of R, R <- [Phi R, Gamma], along its motion. Elsewhere the question has no
answer, and none is given.

Entries of the state are scaled by a length l and the time sqrt(l / g), inputs by the largest
column of B; rank decisions hold for these units.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.mode_names import Named, known_directions, words_for
from geolin_ros.control.mode_report import FullPair, Mode, ModeReport
from geolin_ros.control.staircase import Staircase, staircase
from geolin_ros.control.support import Support
from geolin_ros.dynamics.arguments import check_is_state
from geolin_ros.dynamics.functions import bias_force, mass_matrix
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, InputError
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.reduction import ReducedLinearization, reduce
from geolin_ros.linearization.result import Linearization
from geolin_ros.model.labels import entry_words, state_labels
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


def analyze_modes(
    model: TreeModel,
    state: State,
    supports: Sequence[Support] = (),
    tau: ArrayLike | None = None,
    horizon: float | None = None,
) -> ModeReport:
    """Return what joint efforts can do with a robot about a state.

    Parameters
    ----------
    model
        The robot.
    state
        An equilibrium on its supports; without supports at rest, and gravity is set to 0, or any
        state with a horizon. Of a fixed base, at rest.
    supports
        What it stands on; none: it flies.
    tau : (n,)
        Joint efforts [N m or N]; by default those that hold the posture, or zero in flight.
    horizon
        Analyse what can be reached within this time in free flight along the motion [s].

    Raises
    ------
    InputError
        If the state is no equilibrium; the message says what moves, and what can be done instead.
    ConfigurationError
        If a horizon is given with supports, or either with a fixed base.
    InfeasibleError
        If no efforts hold the posture.
    """
    check_is_state(state)
    if (supports and horizon is not None) or (model.base == 'fixed' and (supports or horizon)):
        raise ConfigurationError(
            f'robot {model.name!r} has a {model.base} base and {len(supports)} supports'
            + (f' with a horizon of {horizon:g} s' if horizon is not None else '')
            + ', expected a floating base with supports or with a horizon, or neither'
        )
    if model.base == 'fixed':
        _check_still(model, state, np.zeros(model.m))
        return _on_fixed_base(model, state, bias_force(model, state) if tau is None else tau)
    if not supports:
        if horizon is not None:
            return reachability(model, state, np.zeros(model.n) if tau is None else tau, horizon)
        _check_still(model, state, np.zeros(model.m))
        return _free_fall(model, state)
    _check_still(model, state, np.zeros(model.m))
    if tau is None:
        tau = equilibrium(model, state, supports).tau
    at = Kinematics(model, state)
    contacts = [support.grounded(at).contact for support in supports]
    C = Linearizer(model, contacts)(state, tau)
    _check_still(model, state, C.nu_dot)
    return analyze_reduced(model, state, reduce(C))


def analyze_reduced(model: TreeModel, state: State, reduced: ReducedLinearization) -> ModeReport:
    """Return the report of a reduced pair about an equilibrium, which the caller answers for."""
    own = {loop.name for loop in model.loops}
    feet = ', '.join(c.name for c in reduced.full.contacts if c.name not in own)
    return _of_reduced(f'{model.name} standing on {feet}', model, state, reduced)


def _of_reduced(
    about: str, model: TreeModel, state: State, reduced: ReducedLinearization
) -> ModeReport:
    scaled, R = np.linalg.qr(reduced.P / _units(model, state)[0][:, None])
    R_inverse = np.linalg.inv(R)
    pair = R @ reduced.A @ R_inverse, R @ reduced.B
    report = _report(about, model, state, *pair, reduced.P @ R_inverse, scaled)
    return dataclasses.replace(report, full=_full_pair(model, state, reduced))


def _full_pair(model: TreeModel, state: State, reduced: ReducedLinearization) -> FullPair:
    unit, _, time = _units(model, state)
    A, B = reduced.full.A * unit / unit[:, None], reduced.full.B / unit[:, None]
    stairs = _stairs(A, B, time)
    hidden = _out_of_reach(stairs)
    constrained = len(A) - len(reduced.A)
    return FullPair(len(A), stairs.controllable, constrained, _all_decay(hidden))


def _on_fixed_base(model: TreeModel, state: State, tau: ArrayLike) -> ModeReport:
    L = Linearizer(model)(state, tau)
    _check_still(model, state, L.nu_dot)
    return _off_the_ground(f'{model.name} on a fixed base, at rest', model, state, L)


def _off_the_ground(about: str, model: TreeModel, state: State, L: Linearization) -> ModeReport:
    """Return the report of a robot without contacts: of what its loops admit, if it has any."""
    if model.loops:
        return _of_reduced(about, model, state, reduce(L))
    unit = _units(model, state)[0]
    A, B = L.A * unit / unit[:, None], L.B / unit[:, None]
    return _report(about, model, state, A, B, np.diag(unit), np.eye(2 * model.m))


def _free_fall(model: TreeModel, state: State) -> ModeReport:
    weightless = model.with_gravity([0.0, 0.0, 0.0])
    L = Linearizer(weightless)(state, np.zeros(model.n))
    about = f'{model.name} in free flight at rest, gravity 0 (the falling frame)'
    return _off_the_ground(about, model, state, L)


def reachability(model: TreeModel, state: State, tau: ArrayLike, horizon: float) -> ModeReport:
    """Return what efforts beside ``tau`` reach within a horizon in free flight, gravity on.

    The rank is where the singular values of the reachability matrix drop most. Raises
    `ConfigurationError` if the horizon is not positive, there are no joints, or the damping of one
    stops it in so short a time that the horizon takes more than `MOST_STEPS` steps.
    """
    if not horizon > 0.0:
        raise ConfigurationError(f'horizon is {horizon:g} s, expected a positive time')
    if not model.n:
        raise ConfigurationError(
            f'robot {model.name!r} has no joints, whose efforts would reach anything, expected no '
            'horizon'
        )
    unit, length, time = _units(model, state)
    linearizer, at = Linearizer(model), state
    steps = _steps(model, linearizer(state, tau).A, horizon)
    R = np.zeros((2 * model.m, 0))
    for _ in range(steps):
        step = linearizer.discretize(at, tau, horizon / steps, method='rkmk4')
        R = np.hstack((step.Phi @ R, step.Gamma))
        if R.shape[1] > 8 * model.m:  # a factor of the same singular values, and square
            R = np.asarray(np.linalg.qr(R.T, mode='r')).T
        at = step.next_state
    scaled = R / unit[:, None]
    U, sizes, _ = np.linalg.svd(scaled / np.max(np.linalg.norm(scaled, axis=0)))
    floor = np.finfo(np.float64).eps * sizes[0]
    drops = np.maximum(sizes[:-1], floor) / np.maximum(sizes[1:], floor)
    rank = int(np.argmax(drops)) + 1 if np.max(drops) > 1e3 else len(sizes)
    return ModeReport(
        about=f'{model.name} in free flight, reachable within {horizon:g} s',
        states=2 * model.m,
        controllable=rank,
        uncontrollable=_words(model, at, U[:, rank:], np.diag(unit), np.eye(2 * model.m)),
        uncontrollable_eigenvalues=np.zeros(0, dtype=np.complex128),
        stabilizable=None,
        modes=(),
        blocks=(rank,),
        smallest_kept=float(sizes[rank - 1]),
        largest_dropped=float(np.max(sizes[rank:], initial=0.0)),
        length=length,
        time=time,
    )


def _steps(model: TreeModel, A: Array, horizon: float) -> int:
    """Return in how many steps a horizon is gone through: explicit ones bear |pole| dt <= 1."""
    values, vectors = np.linalg.eig(A)
    fastest = int(np.argmax(np.abs(values)))
    rate = float(np.abs(values[fastest]))
    steps = max(HORIZON_STEPS, int(np.ceil(min(rate * horizon, 1e9))))
    if steps > MOST_STEPS:
        joint = int(np.argmax(np.abs(vectors[-model.n :, fastest])))
        raise ConfigurationError(
            f'horizon is {horizon:g} s, expected at most {MOST_STEPS / rate:.2g} s: the damping '
            f'of joint {model.joint_names[joint]!r} stops it within {1.0 / rate:.1e} s, and steps '
            'have to be that short; ask for less, correct the damping, or give its '
            'rotor_inertia in an overlay'
        )
    return steps


def _report(
    about: str, model: TreeModel, state: State, A: Array, B: Array, lift: Array, scaled: Array
) -> ModeReport:
    """Return the report of A, B in coordinates y, z = lift y, z over its units = scaled y."""
    _, length, time = _units(model, state)
    stairs = _stairs(A, B, time)
    hidden = stairs.T[:, stairs.controllable :]
    eigenvalues = _out_of_reach(stairs) / time
    return ModeReport(
        about=about,
        states=len(A),
        controllable=stairs.controllable,
        uncontrollable=_words(model, state, hidden, lift, scaled),
        uncontrollable_eigenvalues=eigenvalues,
        stabilizable=_all_decay(eigenvalues * time),
        modes=_modes(model, A, lift, scaled, time),
        blocks=stairs.blocks,
        smallest_kept=stairs.smallest_kept,
        largest_dropped=stairs.largest_dropped,
        length=length,
        time=time,
    )


def _stairs(A: Array, B: Array, time: float) -> Staircase:
    """Return the staircase form of A, B in scaled entries, times and inputs."""
    inputs = np.max(np.linalg.norm(B, axis=0), initial=0.0) or 1.0
    return staircase(time * A, B / inputs)


def _all_decay(eigenvalues: Array) -> bool:
    """Return whether poles out of reach, scaled, all decay."""
    return bool(np.all(eigenvalues.real < -SLOW))


def _words(
    model: TreeModel, state: State, directions: Array, lift: Array, scaled: Array
) -> tuple[str, ...]:
    known = [Named(item.words, item.covector @ lift) for item in known_directions(model, state)]
    names = [entry_words(label.name) for label in state_labels(model)]
    return tuple(words_for(directions, known, names, scaled))


def _out_of_reach(stairs: Staircase) -> Array:
    hidden = stairs.A[stairs.controllable :, stairs.controllable :]
    return np.asarray(np.linalg.eigvals(hidden).astype(np.complex128))


def _modes(
    model: TreeModel, A: Array, lift: Array, scaled: Array, time: float
) -> tuple[Mode, ...]:
    values, vectors = np.linalg.eig(A)
    labels = [label.name for label in state_labels(model)][: model.m]
    modes = []
    for value, vector in zip(values.astype(np.complex128), vectors.T, strict=True):
        value = complex(
            0.0 if abs(value.real) * time < SLOW else value.real,
            0.0 if abs(value.imag) * time < SLOW else value.imag,
        )
        if value.imag < 0.0:
            continue
        shape = np.abs(scaled[: model.m] @ vector)
        if np.max(shape) < 1e-6:
            shape = np.abs(scaled[model.m :] @ vector)
        order = np.argsort(-shape)[:3]
        most = [entry_words(labels[k]) for k in order if shape[k] > 0.3 * shape[order[0]]]
        z = (lift @ vector).astype(np.complex128)
        modes.append(Mode(value, ', '.join(most), z))
    return tuple(sorted(modes, key=lambda mode: (-mode.time_constant, mode.frequency, mode.words)))


def _units(model: TreeModel, state: State) -> tuple[Array, float, float]:
    """Return the unit (2 m,) of each entry of z, the length [m] and the time [s] they are made of.

    The length is the radius of gyration of the robot about its base, the size of its legs; on a
    fixed base, the largest about an axis of a joint.
    """
    M, n = mass_matrix(model, state), model.n
    turns = [label.unit == 'rad' for label in state_labels(model)[model.m - n : model.m]]
    if model.base == 'floating':
        length = float(np.sqrt(np.trace(M[3:6, 3:6]) / M[0, 0]))
    else:
        turning = np.diag(M)[turns]
        length = float(np.sqrt(turning.max() / model.total_mass)) if any(turns) else 1.0
    gravity = float(np.linalg.norm(model.gravity)) or 9.81
    time = float(np.sqrt(length / gravity))
    joints = np.where(turns, 1.0, length)
    pose = np.array([length] * 3 + [1.0] * 3 if model.base == 'floating' else [])
    return np.concatenate((pose, joints, pose / time, joints / time)), length, time


def _check_still(model: TreeModel, state: State, nu_dot: Array) -> None:
    """Refuse a state that moves or starts to."""
    unit, _, time = _units(model, state)
    velocity = np.concatenate((state.v, state.r))[-model.m :] / unit[model.m :]
    acceleration = nu_dot * time / unit[model.m :]
    for what, values in (('moves', velocity), ('accelerates', acceleration)):
        worst = int(np.argmax(np.abs(values)))
        if abs(values[worst]) > STILL:
            name = entry_words(state_labels(model)[model.m + worst].name)
            raise InputError(
                f'robot {model.name!r} {what}: {name} by {values[worst]:.2g} (scaled), expected '
                'an equilibrium. Eigenvalues elsewhere depend on the chart and mean nothing; take '
                'the efforts and posture of an equilibrium, or ask for what can be reached within '
                'a horizon in free flight'
            )
