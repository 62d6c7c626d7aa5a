# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The three checks of the demo: functions of arrays, each with its limit.

A, B and accelerations are judged by code that shares nothing with the kernels.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geolin_ros.errors import ModelError, ModelWarning
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.outputs.reading import ReceivedLinearization
from geolin_ros.typing import Array, IntArray
from geolin_ros.verification.accelerations import PrescribedAccelerations
from geolin_ros.verification.bodies import Bodies
from geolin_ros.verification.directional import Directional, Form

LINEARIZATION_LIMIT = 1e-6  # per block, relative to its largest entry
ROUNDING = 1e-9  # of a matrix's largest entry: blocks below are zero, as in flight that of r by H
ACCELERATION_LIMIT = 0.02  # relative to the accelerations of a group
ANSWERED_LIMIT = 0.95
LEAST_COMPARED = 0.5  # of the accelerations
LONG_GAP = 1.5  # times the median distance of samples: none is missing between neighbours
GROUPS = (('base linear', slice(0, 3)), ('base angular', slice(3, 6)), ('joints', slice(6, None)))

Referee = Callable[[State, Array], tuple[Array, Array, Array]]
"""A (2 m, 2 m), B (2 m, n) and nu_dot (m,) about a state and efforts (n,)."""


class Verdict(NamedTuple):
    """Outcome of a check; ``details`` has the worst deviation of each part."""

    passed: bool
    text: str
    details: Mapping[str, float] = {}

    def __str__(self) -> str:
        """Return one line."""
        return f'{"PASS" if self.passed else "FAIL"}  {self.text}'


def referee_for(description: str | Path, received: ReceivedLinearization) -> Referee:
    """Return what the linearizations of a URDF text, or of an MJCF file, have to be.

    Derivatives of Newton and Euler's equations by complex steps, along unit vectors. Raises
    `ModelError` if what was received is of another robot, or the description cannot be used.
    """
    read = TreeModel.from_mjcf if isinstance(description, Path) else TreeModel.from_urdf
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)  # the node says the same
        model = read(
            description,
            base='floating' if len(received.nu_dot) > len(received.tau) else 'fixed',
            gravity=received.gravity.tolist(),
        )
    if model.joint_names != received.joint_names:
        raise ModelError(
            f'linearizations are of joints {list(received.joint_names)}, expected those of robot '
            f'{model.name!r}, {list(model.joint_names)}; another robot publishes on this '
            'ROS_DOMAIN_ID, choose one of your own'
        )
    acting, m = PrescribedAccelerations(Bodies(model), ()), model.m
    directions = np.eye(2 * m + len(model.actuated))

    def linearize(state: State, tau: Array) -> tuple[Array, Array, Array]:
        products = Directional(Form(), acting, state, tau)
        A_B = products(directions[: 2 * m], directions[2 * m :])
        return A_B[:, : 2 * m], A_B[:, 2 * m :], products.f[m:]

    return linearize


def check_linearizations(received: Sequence[ReceivedLinearization], referee: Referee) -> Verdict:
    """Compare A and B, block by block, and nu_dot with the referee's."""
    worst: dict[str, float] = {}
    for one in received:
        A, B, nu_dot = referee(one.state, one.tau)
        base = len(nu_dot) - len(one.tau)
        off = np.max(np.abs(one.nu_dot - nu_dot)) / np.max(np.abs(nu_dot))
        found = {
            **block_deviations(one.A, A, base),
            **block_deviations(one.B, B, base),
            'nu_dot': float(np.nan_to_num(off, nan=np.inf)),
        }
        worst = {name: max(worst.get(name, 0.0), value) for name, value in found.items()}
    if not worst:
        return Verdict(False, 'A and B: no linearization came, expected some')
    name = max(worst, key=lambda block: worst[block])
    return Verdict(
        worst[name] <= LINEARIZATION_LIMIT,
        f"A and B of {len(received)} states against derivatives of Newton and Euler's equations: "
        f'worst deviation {worst[name]:.1e} (block {name}), limit {LINEARIZATION_LIMIT:.0e}',
        worst,
    )


def check_accelerations(stamps: IntArray, nu: Array, nu_dot: Array, base: int = 6) -> Verdict:
    """Compare accelerations (N, base + n) with differences of the velocities before and after.

    Velocities (N, base + n) are body twist, unless ``base`` is 0, and joint rates at stamps (N,)
    [ns], increasing. Beside samples that were lost they are left out. All but a twentieth have to
    agree: throws are jumps.
    """
    gap = np.diff(stamps)
    longest = LONG_GAP * np.median(gap) if gap.size else 0.0
    k = np.flatnonzero(np.maximum(gap[1:], gap[:-1]) < longest)
    what = f'accelerations against differenced velocities at {k.size} of {stamps.size} states'
    if k.size < max(1.0, LEAST_COMPARED * stamps.size):
        return Verdict(
            False,
            f'{what}, others beside lost samples; expected at least {LEAST_COMPARED:.0%}, is the '
            'machine too busy?',
        )
    slope = (nu[k + 2] - nu[k]) / (1e-9 * (stamps[k + 2] - stamps[k]))[:, None]
    worst = {}
    for name, part in GROUPS if base else (('joints', slice(None)),):
        off, size = (
            np.percentile(np.abs(values[:, part]).max(axis=1), 95.0)
            for values in (nu_dot[k + 1] - slope, slope)
        )
        worst[name] = float(off / size) if np.isfinite(off) else np.inf
    name = max(worst, key=lambda group: worst[group])
    return Verdict(
        worst[name] <= ACCELERATION_LIMIT,
        f'{what}: deviation {worst[name]:.2%} ({name}; 95 in 100 are nearer), limit '
        f'{ACCELERATION_LIMIT:.0%}',
        worst,
    )


def check_answered(joint_states: IntArray, answered: IntArray) -> Verdict:
    """Count the joint states from the first linearization on that have a linearization."""
    due = joint_states[joint_states >= answered.min()] if answered.size else joint_states
    if due.size == 0:
        return Verdict(False, 'joint states answered: none came, expected some')
    count = int(np.isin(due, answered).sum())
    share = count / due.size
    return Verdict(
        share >= ANSWERED_LIMIT,
        f'joint states answered: {count} of {due.size}, {share:.2%}, limit {ANSWERED_LIMIT:.0%}',
    )


def block_starts(m: int, base: int) -> dict[str, int]:
    """Return where the parts of [H; s; v; r] begin; without those of a base that is fixed."""
    return {'H': 0, 's': base, 'v': m, 'r': m + base} if base else {'s': 0, 'r': m}


def block_deviations(actual: Array, expected: Array, base: int = 6) -> dict[str, float]:
    """Return the largest deviation of each block of A (2 m, 2 m) or B (2 m, n), by name.

    Relative to the largest entry of the block; where that is zero but for rounding, so must be A
    or B. Inf where a number is not finite.
    """
    rows = block_starts(len(actual) // 2, base)
    columns = rows if actual.shape[1] == len(actual) else {' tau': 0}

    def largest(matrix: Array) -> Array:
        by_rows = np.maximum.reduceat(np.abs(matrix), list(rows.values()), axis=0)
        return np.maximum.reduceat(by_rows, list(columns.values()), axis=1)

    sizes, zero = largest(expected), ROUNDING * np.max(np.abs(expected))
    sizes[sizes <= zero] = zero / LINEARIZATION_LIMIT
    found = np.nan_to_num(largest(actual - expected) / sizes, nan=np.inf)
    names = (f'{row}{column}' for row in rows for column in columns)
    return dict(zip(names, found.ravel().tolist(), strict=True))
