# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The three checks of the demo: functions of arrays, each with its limit.

A, B and accelerations are judged by code that shares nothing with the kernels.
"""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geolin_ros.errors import ModelError, ModelWarning
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.outputs.reading import ReceivedLinearization
from geolin_ros.typing import Array, IntArray
from geolin_ros.verification.certificate import Certifier, Claim, Form

ACCELERATION_LIMIT = 0.02  # relative to the accelerations of a group
ANSWERED_LIMIT = 0.95
LEAST_COMPARED = 0.5  # of the accelerations
LONG_GAP = 1.5  # times the median distance of samples: none is missing between neighbours
GROUPS = (('base linear', slice(0, 3)), ('base angular', slice(3, 6)), ('joints', slice(6, None)))


class Verdict(NamedTuple):
    """Outcome of a check."""

    passed: bool
    text: str

    def __str__(self) -> str:
        """Return one line."""
        return f'{"PASS" if self.passed else "FAIL"}  {self.text}'


def referee_for(description: str | Path, received: ReceivedLinearization) -> Certifier:
    """Return what judges the linearizations of a URDF text, or of an MJCF file.

    Raises `ModelError` if what was received is of another robot, or the description cannot be
    used.
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
    return Certifier(model, Form())


def check_linearizations(received: Sequence[ReceivedLinearization], referee: Certifier) -> Verdict:
    """Compare A, B and nu_dot with the referee's."""
    claims = [Claim(one.state, one.tau, one.A, one.B, one.nu_dot) for one in received]
    if not claims:
        return Verdict(False, 'A and B: no linearization came, expected some')
    worst = max(map(referee.check, claims), key=lambda found: found.deviation / found.limit)
    return Verdict(
        not worst.failed,
        f"A and B of {len(received)} states against derivatives of Newton and Euler's equations: "
        f'worst deviation {worst.deviation:.1e} (block {worst.worst}), limit {worst.limit:.0e}',
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
    )


def check_answered(joint_states: IntArray, answered: IntArray) -> Verdict:
    """Count the joint states from the first linearization on that have a linearization."""
    due = joint_states[joint_states >= answered.min()] if answered.size else joint_states
    if due.size == 0:
        return Verdict(False, 'joint states answered: none came, expected some')
    count = int(np.isin(due, answered).sum())
    share, load, processors = count / due.size, os.getloadavg()[0], os.cpu_count() or 1
    what = f'joint states answered: {count} of {due.size}, {share:.2%}, limit {ANSWERED_LIMIT:.0%}'
    if share < ANSWERED_LIMIT and load > processors:
        what += f'; the machine is busy (load {load:.1f} on {processors} processors), try it alone'
    return Verdict(share >= ANSWERED_LIMIT, what)
