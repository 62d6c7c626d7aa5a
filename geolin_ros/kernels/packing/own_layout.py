# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The packed way from the joints of the tree to the caller's coordinates, see `own_results`.

Rows and columns are copied in runs of consecutive ones.
"""

from typing import NamedTuple

import numpy as np

from geolin_ros.kernels.packing import layout
from geolin_ros.typing import Array, IntArray

_place = layout.Places()

# --- integers: header | parts, which begin where the header says and end where the next begins ---
N, JOINTS = _place.each(2)  # own coordinates, joints of the tree
STATES, INPUTS = _place.each(2)  # columns by the state, by efforts
TOP = _place()  # size of the block of the base in A
OWN_POSITIONS = _place()  # number of own positions
TURNED_FACTORS = _place()  # offset of the factors of TURNED in the numbers
MASTERS = _place()  # the own coordinate that each joint follows
POSITIONS = _place()  # the own position that each joint follows, -1 for axes of group joints
LEADERS = _place()  # the joint, in the caller's order, that an own coordinate pushes
ROWS = _place()  # the rows of nu_dot that are kept
STATE_RUNS, INPUT_RUNS = _place.each(2)  # [from, to, length] of runs of these columns
TIES = _place()  # [column of a mimic joint, own column that it adds to]
GROUPS = _place()  # the group joints
TURNED = _place()  # [place in A, own rate] of their blocks -S' (S r x) S
END = _place()
OWN_HEADER = _place.end()

KIND, FIRST = _place.each(2)  # of a group joint; body of its first axis
POSITION, GROUP_NUMBERS = _place.each(2)  # its first own position; where its numbers begin
GROUP_INTS = _place.end()

# --- numbers: multipliers (N) | offsets (N) | factors of ties | group joints | of blocks ---------
TWISTS = _place(6 * 6)
ROTATION = _place(3 * 3)
TRANSLATION = _place(3)
TURN = _place(3 * 3)  # see `layout.Group`
GROUP_RECORD = _place.end()


class Own(NamedTuple):
    """What the caller sees of a robot; read-only."""

    ints: IntArray
    floats: Array
    is_all: bool
    """Whether it is all, in the order of the kernel: nothing needs to be copied."""


def pack_own(packed: layout.Packed, floating: bool, actuated: IntArray) -> Own:
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
    mimics, joints = packed.mimics, packed.mimics.masters.size
    leaders, first = mimics.leaders - 1, 6 if floating else 0
    base = np.arange(first)
    columns = np.concatenate((base, 6 + leaders, 6 + joints + base, 12 + joints + leaders))
    inputs, numbers = leaders[actuated], 2 * (joints + len(mimics.bodies))
    place = {int(column): to for to, column in enumerate(columns)}
    ties = [
        (shift + 5 + follower, place[int(shift + 5 + leader)])
        for shift in (0, 6 + joints)
        for follower, leader in mimics.bodies
    ]
    groups = [
        (group.kind, group.first, group.positions[0], numbers + k * GROUP_RECORD)
        for k, group in enumerate(packed.groups)
    ]
    turned = [entry for group in packed.groups for entry in _turned(group, first, columns.size)]
    parts = {
        MASTERS: mimics.masters,
        POSITIONS: mimics.positions,
        LEADERS: layout.bodies_of(packed)[1:, layout.COORDINATE][leaders],
        ROWS: np.concatenate((base, 6 + leaders)),
        STATE_RUNS: _runs(columns),
        INPUT_RUNS: _runs(inputs),
        TIES: ties,
        GROUPS: groups,
        TURNED: [entry[:2] for entry in turned],
        END: (),
    }
    followed = {int(p) for p in mimics.positions} - {-1}
    own_positions = len(followed) + sum(len(group.positions) for group in packed.groups)
    factors = numbers + len(groups) * GROUP_RECORD
    header = {N: leaders.size, JOINTS: joints, STATES: columns.size, INPUTS: inputs.size}
    header |= {TOP: first, OWN_POSITIONS: own_positions, TURNED_FACTORS: factors}
    ints = layout.integers(OWN_HEADER, header, parts)
    records = [_numbers(group) for group in packed.groups]
    ties_and_groups = mimics.rule.ravel(), np.tile(mimics.multipliers, 2), *records
    floats = np.concatenate((*ties_and_groups, [entry[2] for entry in turned]))
    floats.setflags(write=False)
    whole = floating and packed.is_plain and np.array_equal(columns, np.arange(12 + 2 * joints))
    return Own(ints, floats, whole and np.array_equal(inputs, np.arange(joints)))


def _runs(numbers: IntArray) -> IntArray:
    """Return [from, to, length] of each run of consecutive numbers."""
    starts = np.flatnonzero(np.diff(numbers, prepend=-2) != 1)
    lengths = np.diff(np.append(starts, numbers.size))
    return np.column_stack((numbers[starts], starts, lengths)).astype(np.int64)


def _numbers(group: layout.Group) -> Array:
    """Return the record of a group joint."""
    subspace = np.zeros((6, 6))
    subspace[: len(group.subspace)] = group.subspace
    parts = subspace, group.rotation, group.translation, group.turn
    return np.concatenate([part.ravel() for part in parts])


def _turned(group: layout.Group, first: int, width: int) -> list[tuple[int, int, float]]:
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
