# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joints locked at a value: fixed joints with the motion in their placement."""

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from geolin_ros.description.elements import SINGLE_AXIS_KINDS, Description, Joint
from geolin_ros.errors import ModelError, unknown_name
from geolin_ros.spatial import se3


def lock_joints(
    description: Description, positions: Mapping[str, float]
) -> tuple[Description, dict[str, float]]:
    """Return a description in which some single-axis joints are fixed, and where each is.

    Joints that mimic a locked one are locked with it, chains of mimics too. Raises
    `UnknownNameError` if there is no such joint; `ModelError` if a joint is of a kind that cannot
    be locked, its position is not finite, or a mimic joint is asked to be elsewhere than its
    locked master puts it.

    Parameters
    ----------
    positions
        Position of each joint to lock, by name [rad or m].
    """
    by_name = {joint.name: joint for joint in description.joints}
    for name, position in positions.items():
        if name not in by_name:
            raise unknown_name('joint', name, by_name, f'robot {description.name!r}')
        kind = by_name[name].kind
        if kind not in SINGLE_AXIS_KINDS or not math.isfinite(position):
            raise ModelError(
                f'{description.source}: joint {name!r} is {kind} and locked at {position}, '
                f'expected one of {", ".join(SINGLE_AXIS_KINDS)} and a finite position [rad or '
                'm]; correct the locked joints'
            )
    all_positions = _with_followers(description, dict(positions))
    joints = tuple(
        _fixed(joint, all_positions[joint.name]) if joint.name in all_positions else joint
        for joint in description.joints
    )
    return dataclasses.replace(description, joints=joints), all_positions


def _with_followers(description: Description, positions: dict[str, float]) -> dict[str, float]:
    """Add the joints that mimic a locked one, until no more are found."""
    before = -1
    while before != len(positions):
        before = len(positions)
        for joint in description.joints:
            mimic = joint.mimic
            if mimic is None or mimic.joint not in positions:
                continue
            position = mimic.multiplier * positions[mimic.joint] + mimic.offset
            given = positions.setdefault(joint.name, position)
            if abs(given - position) > 1e-9:
                raise ModelError(
                    f'{description.source}: joint {joint.name!r} is locked at {given:g}, but it '
                    f'mimics {mimic.joint!r}, which puts it at {position:g}; lock only one'
                )
    return positions


def _fixed(joint: Joint, position: float) -> Joint:
    axis = np.asarray(joint.axis, dtype=np.float64)
    axis = axis / np.linalg.norm(axis)
    pitch = joint.pitch if joint.kind == 'helical' else 0.0
    along, about = (1.0, 0.0) if joint.kind == 'prismatic' else (pitch, 1.0)
    motion = se3.exp(position * np.concatenate((along * axis, about * axis)))
    return dataclasses.replace(joint, kind='fixed', placement=joint.placement @ motion, mimic=None)
