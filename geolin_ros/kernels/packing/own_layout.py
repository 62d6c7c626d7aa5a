# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The packed way from the joints of the tree to the caller's coordinates, see `own_results`.

Rows and columns are copied in runs of consecutive ones.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.kernels.packing.layout import BODY_INTS, COORDINATE, INT_HEADER, NB, Packed
from geolin_ros.typing import Array, IntArray

# --- integers: header | masters | leaders | rows | runs of columns | of inputs | ties ------------
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
OWN_HEADER = 16

# --- numbers: multipliers (N) | offsets (N) | factors of ties ------------------------------------


class Own(NamedTuple):
    """What the caller sees of a robot; read-only."""

    ints: IntArray
    floats: Array
    is_all: bool
    """Whether it is all, in the order of the kernel: nothing needs to be copied."""


def pack_own(packed: Packed, floating: bool, actuated: Sequence[int]) -> Own:
    """Return the caller's view of a robot.

    Parameters
    ----------
    packed
        The robot.
    floating
        Whether the rows and columns of the base are part of it.
    actuated
        Coordinates of the joints whose efforts are inputs.
    """
    mimics, joints = packed.mimics, int(packed.ints[NB]) - 1
    leaders, first = mimics.leaders - 1, 6 if floating else 0
    base = np.arange(first)
    columns = np.concatenate((base, 6 + leaders, 6 + joints + base, 12 + joints + leaders))
    rows = np.concatenate((base, 6 + leaders))
    inputs = leaders[np.asarray(actuated, dtype=np.int64)]
    place = {int(column): to for to, column in enumerate(columns)}
    ties = [
        (shift + 5 + follower, place[int(shift + 5 + leader)])
        for shift in (0, 6 + joints)
        for follower, leader in mimics.bodies
    ]
    bodies = packed.ints[INT_HEADER:][: (1 + joints) * BODY_INTS].reshape(1 + joints, -1)
    coordinates = bodies[1:, COORDINATE]
    parts = (
        mimics.masters,
        coordinates[leaders],
        rows,
        _runs(columns),
        _runs(inputs),
        np.array(ties, np.int64).reshape(-1, 2),
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
    header[[MASTERS, LEADERS, ROWS, STATE_RUNS, INPUT_RUNS, TIES]] = offsets[:-1]
    header[[STATE_RUNS_COUNT, INPUT_RUNS_COUNT, TIES_COUNT]] = [len(part) for part in parts[3:]]
    ints = np.concatenate((header, *(part.ravel() for part in parts)))
    floats = np.concatenate((mimics.rule.ravel(), np.tile(mimics.multipliers, 2)))
    for array in (ints, floats):
        array.setflags(write=False)
    whole = floating and np.array_equal(columns, np.arange(12 + 2 * joints))
    return Own(ints, floats, whole and np.array_equal(inputs, np.arange(joints)))


def _runs(numbers: IntArray) -> IntArray:
    """Return [from, to, length] of each run of consecutive numbers."""
    starts = np.flatnonzero(np.diff(numbers, prepend=-2) != 1)
    lengths = np.diff(np.append(starts, numbers.size))
    return np.column_stack((numbers[starts], starts, lengths)).astype(np.int64)
