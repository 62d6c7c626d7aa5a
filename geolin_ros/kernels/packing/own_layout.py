# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The packed way from the joints of the tree to the caller's coordinates, see `own_results`.

Rows and columns are copied in runs of consecutive ones.
"""

from typing import NamedTuple

import numpy as np

from geolin_ros.kernels.packing.layout import (
    BODY_INTS,
    COORDINATE,
    INT_HEADER,
    NB,
    Group,
    Packed,
)
from geolin_ros.typing import Array, IntArray

# --- integers: header | masters | positions | leaders | rows | runs of columns | of inputs |
# ties | group joints | what their displacements turn
N = 0  # own coordinates
JOINTS = 1  # joints of the tree
STATES = 2  # columns by the state
INPUTS = 3  # columns by efforts
TOP = 4  # size of the block of the base in A
MASTERS = 5  # offset: the own coordinate that each joint follows
LEADERS = 6  # offset: the joint, in the caller's order, that an own coordinate pushes
ROWS = 7  # offset: the rows of nu_dot that are kept
STATE_RUNS = 8  # offset of [from, to, length] of runs of columns by the state
STATE_RUNS_COUNT = 9
INPUT_RUNS = 10
INPUT_RUNS_COUNT = 11
TIES = 12  # offset of [column of a mimic joint, own column that it adds to]
TIES_COUNT = 13
OWN_POSITIONS = 14  # number of own positions
POSITIONS = 15  # offset: the own position that each joint follows, -1 for axes of group joints
GROUPS = 16  # offset of the group joints
GROUPS_COUNT = 17
TURNED = 18  # offset of [place in A, own rate] of their blocks -S' (S r x) S
TURNED_COUNT = 19
TURNED_FACTORS = 20  # offset of their factors in the numbers
OWN_HEADER = 24

KIND = 0  # of a group joint
FIRST = 1  # body of its first axis
POSITION = 2  # its first own position
GROUP_NUMBERS = 3  # where its numbers begin
GROUP_INTS = 4

# --- numbers: multipliers (N) | offsets (N) | factors of ties | group joints | of blocks ---------
ROTATION = 36  # 3 x 3, behind 6 x 6 unit twists
TRANSLATION = 45  # 3
TURN = 48  # 3 x 3, see `layout.Group`
GROUP_RECORD = 57


class Own(NamedTuple):
    """What the caller sees of a robot; read-only."""

    ints: IntArray
    floats: Array
    is_all: bool
    """Whether it is all, in the order of the kernel: nothing needs to be copied."""


def pack_own(packed: Packed, floating: bool, actuated: IntArray) -> Own:
    """Return the caller's view of a robot.

    Parameters
    ----------
    packed
        The robot.
    floating
        Whether the rows and columns of the base are part of it.
    actuated : (n_u,)
        Coordinates of the joints whose efforts are inputs.
    """
    mimics, joints = packed.mimics, int(packed.ints[NB]) - 1
    leaders, first = mimics.leaders - 1, 6 if floating else 0
    base = np.arange(first)
    columns = np.concatenate((base, 6 + leaders, 6 + joints + base, 12 + joints + leaders))
    rows = np.concatenate((base, 6 + leaders))
    inputs = leaders[actuated]
    place = {int(column): to for to, column in enumerate(columns)}
    ties = [
        (shift + 5 + follower, place[int(shift + 5 + leader)])
        for shift in (0, 6 + joints)
        for follower, leader in mimics.bodies
    ]
    bodies = packed.ints[INT_HEADER:][: (1 + joints) * BODY_INTS].reshape(1 + joints, -1)
    coordinates = bodies[1:, COORDINATE]
    numbers = 2 * joints + 2 * len(mimics.bodies)
    groups = [
        (group.kind, group.first, group.positions[0], numbers + k * GROUP_RECORD)
        for k, group in enumerate(packed.groups)
    ]
    turned = [entry for group in packed.groups for entry in _turned(group, first, columns.size)]
    parts = (
        mimics.masters,
        mimics.positions,
        coordinates[leaders],
        rows,
        _runs(columns),
        _runs(inputs),
        np.array(ties, np.int64).reshape(-1, 2),
        np.array(groups, np.int64).reshape(-1, GROUP_INTS),
        np.array([entry[:2] for entry in turned], np.int64).reshape(-1, 2),
    )
    offsets = OWN_HEADER + np.cumsum([0, *(part.size for part in parts)])
    header = np.zeros(OWN_HEADER, np.int64)
    header[[N, JOINTS, STATES, INPUTS, TOP]] = (
        leaders.size,
        joints,
        columns.size,
        len(inputs),
        first,
    )
    named = MASTERS, POSITIONS, LEADERS, ROWS, STATE_RUNS, INPUT_RUNS, TIES, GROUPS, TURNED
    header[list(named)] = offsets[:-1]
    counts = STATE_RUNS_COUNT, INPUT_RUNS_COUNT, TIES_COUNT, GROUPS_COUNT, TURNED_COUNT
    header[list(counts)] = [len(part) for part in parts[4:]]
    followed = {int(p) for p in mimics.positions} - {-1}
    header[OWN_POSITIONS] = len(followed) + sum(len(g.positions) for g in packed.groups)
    header[TURNED_FACTORS] = numbers + len(groups) * GROUP_RECORD
    ints = np.concatenate((header, *(part.ravel() for part in parts)))
    floats = np.concatenate(
        (
            mimics.rule.ravel(),
            np.tile(mimics.multipliers, 2),
            *(_numbers(group) for group in packed.groups),
            [entry[2] for entry in turned],
        )
    )
    for array in (ints, floats):
        array.setflags(write=False)
    whole = floating and packed.is_plain and np.array_equal(columns, np.arange(12 + 2 * joints))
    return Own(ints, floats, whole and np.array_equal(inputs, np.arange(joints)))


def _runs(numbers: IntArray) -> IntArray:
    """Return [from, to, length] of each run of consecutive numbers."""
    starts = np.flatnonzero(np.diff(numbers, prepend=-2) != 1)
    lengths = np.diff(np.append(starts, numbers.size))
    return np.column_stack((numbers[starts], starts, lengths)).astype(np.int64)


def _numbers(group: Group) -> Array:
    """Return the record of a group joint."""
    subspace = np.zeros((6, 6))
    subspace[: len(group.subspace)] = group.subspace
    parts = subspace, group.rotation, group.translation, group.turn
    return np.concatenate([part.ravel() for part in parts])


def _turned(group: Group, first: int, width: int) -> list[tuple[int, int, float]]:
    """Return [place in A, own rate, factor] of the block -S' (S r x) S of a group joint."""
    S, found = group.subspace, []
    for c, column in enumerate(S):
        for d, rate in enumerate(S):
            u = np.cross(rate[3:], column[:3]) + np.cross(rate[:3], column[3:])
            turned = -S @ np.concatenate((u, np.cross(rate[3:], column[3:])))
            for b in np.flatnonzero(np.abs(turned) > 1e-15):
                at = first + group.coordinate
                factor = 1.0 if abs(turned[b] - 1.0) < 1e-15 else float(turned[b])
                place = (at + int(b)) * width + at + c
                found.append((place, group.coordinate + d, factor))
    return found
