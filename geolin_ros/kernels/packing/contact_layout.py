# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The packed layout of constraints for the fast linearization, see `layout`.

A contact holds up to six *rows*, directions in which its frame may not accelerate: x y z of its
own axes at a point, and the turns about them on a surface. Spatial vectors of all rows are kept as
six vectors of eight lanes, one row a lane; the lanes that a contact does not use are zero.

After the rows of the contacts come those of ballast, as of sites of their own, then those of
mimic joints, r_dep - k r_master = 0, in blocks of up to `BLOCK_ROWS`, and of their ballast, whose
master is the base with k = 0. Their coefficients are eight numbers a body and block, one row a
lane.
"""

import math
from typing import NamedTuple

import numpy as np

from geolin_ros.kernels.packing.ballast import ballast_of_sites
from geolin_ros.kernels.packing.layout import AXES as SPATIAL
from geolin_ros.kernels.packing.layout import (
    COLUMN_BLOCK,
    LANES,
    NB,
    PARENT,
    ROW_BLOCK,
    WORK_HEADER,
    WORK_RECORD,
    Packed,
    Places,
    S,
    aligned_zeros,
    bodies_of,
    integers,
    offsets_of,
)
from geolin_ros.kernels.packing.layout import END as SUBTREE_END
from geolin_ros.typing import Array, BoolArray, IntArray

BLOCK_ROWS = 6  # rows of mimic joints in a block; the seventh lane carries the free motion
SMALLEST_PIVOT = 1e-9  # of its diagonal entry: contacts below it are redundant

_place = Places()

# --- integers: header | sites | parts, whose offsets are in the header ---------------------------
# Numbers of sites, of all rows, of those of contacts, the first ones, and of those of their
# ballast, the last of these; of the rows that are kept, and of those of contacts among them; of
# the rows whose forces the caller sees
COUNT, ROWS, CONTACT_ROWS, BALLAST_ROWS, KEPT_ROWS, KEPT_CONTACT_ROWS, OUT_ROWS = _place.each(7)
COMBINED = _place()  # 1 if the rows that are kept are combinations of those of the sites
BY_EFFORT = _place()  # where the second part of a row of RATES or CHANGES begins
# Lengths of rows: of MATRIX and RESPONSES, of the same of rows that are kept, of COMBINATION and
# HALF, of RATES and CHANGES
MATRIX_ROW, KEPT_ROW, COMBINATION_ROW, RATE_ROW = _place.each(4)
IDENTITY = _place()  # the numbers 0, 1, 2, ...
PIVOTS = _place()  # the rows that are kept in the order in which they are eliminated
SUPPORTS = _place()  # velocities that move each site
MIMICS = _place()  # [its body, body of its master] of each mimic joint
TOUCHED_BLOCKS = _place()  # begin of each block in what follows, and the end of the last
TOUCHED = _place()  # the bodies from mimic joints and their masters to the base, last first
# Parts of the workspace
FORCES = _place()
MATRIX = _place()  # rows of [-Lambda | right-hand side], later of [-Lambda^-1 | forces]
RESPONSES = _place()  # M^-1 J', a row per velocity
RATES = _place()  # rows of [dc by state | by effort], c the acceleration of the contact rows
CHANGES = _place()  # the same of the forces
OWN_RATES, OWN_RESPONSES = _place.each(2)  # of the caller's coordinates
FIELD = _place()  # acceleration of each body under the forces of one contact
COEFFICIENTS = _place()  # of the rows of mimic joints
EFFORTS = _place()  # 8 a body: u under the unit forces of a block
TREE_STATE, TREE_RESULTS = _place.each(2)  # state, and A, B and nu_dot, of all joints
MOBILITIES = _place()  # copy of KEPT_MATRIX before it is inverted
BALLAST_MOBILITIES = _place()  # W^-1 of rows of ballast, zero of others
KEPT_FORCES, KEPT_MATRIX, KEPT_RESPONSES, KEPT_RATES = _place.each(4)  # of the rows that are kept
COMBINATION, TRANSPOSED = _place.each(2)  # C, a row per row that is kept, and C'
HALF = _place()  # C times MATRIX
LIFT = _place()  # rows of C' whose forces the caller sees
LIFTED, LIFTED_FORCES = _place.each(2)  # CHANGES and forces of these rows
SITES = _place()  # the sites
SITE_HEADER = _place.end()

BODY = _place()
WIDTH = _place()  # 3 rows at a point, 6 on a surface
FIRST = _place()  # its first row
BEGIN, END = _place.each(2)  # its root branch is the bodies begin .. end-1; empty at the base
SUPPORT = _place()  # offset of the velocities that move it: 0..5, then one per joint from the base
DEPTH = _place()  # number of these joints
JACOBIAN = _place()  # offset of J' in the workspace: velocity after velocity, a row a lane
LOOP = _place()  # 0: against the world; 1: first frame of a loop; 2: its second one, the next site
OF_BALLAST = 3  # 3: ballast of another site, the partner
PARTNER = _place()
SITE_INTS = _place.end()

# --- workspace: contacts | Jacobians and projected rows | parts named above ----------------------
AXES = _place(16)  # columns x y z o of the contact frame in the turned body, four doubles each
BALLAST = AXES  # of a site of ballast: 8, one a row
STIFFNESS, DAMPING = _place.each(2)
RADIUS = _place()  # of a ball about the origin, which touches level ground below it
REFERENCE = _place(3 * 4, 4)  # inverse of the reference pose
BASE_POSE = _place(3 * 4)  # base frame seen from the reference
MISMATCH = _place(4 * 4)  # contact frame seen from the reference
ERROR = _place(8, LANES)  # its logarithm
PULL = _place(6 * 6)  # inverse right Jacobian of the error
TURNED = _place(6 * 8, LANES)  # its transpose, times the stiffness
PULL_LANES = _place(6 * 8)  # derivative by the displacement of the body of what the stiffness adds
BIAS = _place(8)  # contact acceleration but for the accelerations of the velocities
BY_TWIST = _place(6 * 8)  # derivative of the contact acceleration by the twist of the body
BY_POSE = _place(6 * 8)  # by its displacement
RISEN = _place(6 * 8)  # minus the rows, projected to the base
BASE = _place(6 * 8)  # acceleration of the base under unit forces
FORCE_TURN = _place(6 * 8)  # change of the force on the second body of a loop, see `turn_loops`
CONTACT_RECORD = _place.end()


class Contacts(NamedTuple):
    """A set of contacts for the fast linearization."""

    sites: IntArray
    """Where the contacts are; read-only."""
    work: Array
    """Their frames and gains, and scratch."""


class Outputs(NamedTuple):
    """Views of one flat array."""

    out: Array
    A: Array
    B: Array
    nu_dot: Array
    forces: Array
    """(rows,) in contact axes, on the robot."""
    by_state: Array
    """(rows, k)"""
    by_effort: Array
    """(rows, n)"""


def pack_contacts(
    packed: Packed,
    bodies: IntArray,
    widths: IntArray,
    poses: Array,
    gains: Array,
    references: Array,
    loops: IntArray,
    combination: Array | None = None,
) -> Contacts:
    """Return contacts, and mimic joints of the robot, as the kernel reads them.

    Parameters
    ----------
    packed
        The robot.
    bodies, widths : (count,)
        Body of each contact; 3 for a point, 6 for a surface.
    poses : (count, 4, 4)
        Contact frame in the frame of the body of `Tree`.
    gains : (count, 2)
        Stiffness [1/s^2] and damping [1/s].
    references : (count, 4, 4)
        Pose in the world that the stiffness pulls to.
    loops : (count,)
        `LOOP` of each.
    combination : (kept, rows of all)
        Combinations of the rows that are kept; by default all rows are, those of a loop as one.
    """
    if combination is None and loops.any():
        combination = differences(widths, loops)
    seen = np.repeat(loops < 2, widths)
    of_tree = np.searchsorted(packed.bodies, bodies)
    partners, W = ballast_of_sites(packed.at_zero, of_tree, widths, poses)
    bodies, widths = np.append(bodies, bodies[partners]), np.append(widths, widths[partners])
    loops = np.append(loops, np.full(partners.size, OF_BALLAST))
    mimics, nb, count = packed.mimics, int(packed.ints[NB]), len(bodies)
    lent = np.column_stack((mimics.ballasted, np.zeros_like(mimics.ballasted)))
    ties = np.vstack((mimics.bodies, lent))
    blocks = -(-len(ties) // BLOCK_ROWS)
    touched, block_ends = [], [0]
    for begin in range(0, len(ties), BLOCK_ROWS):
        moved = ties[begin : begin + BLOCK_ROWS].ravel().tolist()
        touched += sorted({i for body in moved for i in _path(packed, body)}, reverse=True)
        block_ends.append(len(touched))

    contact_rows, ballast_rows = int(widths.sum()), int(widths[loops == OF_BALLAST].sum())
    own = contact_rows - ballast_rows if combination is None else len(combination)
    n, rows, tied = nb - 1, contact_rows + len(ties), own + ballast_rows
    kept, followers = tied + len(ties), tied + len(mimics.bodies)
    by_effort = _padded(12 + 2 * n, COLUMN_BLOCK)
    rate_row, matrix_row = by_effort + _padded(n, COLUMN_BLOCK), _padded(rows + LANES, LANES)
    kept_row = matrix_row if combination is None else _padded(kept + LANES, COLUMN_BLOCK)
    half_row, out_rows = _padded(rows + 1, COLUMN_BLOCK), int(seen.sum())
    sizes = {
        FORCES: matrix_row,
        MATRIX: _padded(rows, ROW_BLOCK) * matrix_row,
        RESPONSES: _padded(6 + n, ROW_BLOCK) * matrix_row,
        RATES: (rows + ROW_BLOCK) * rate_row,
        CHANGES: (rows + ROW_BLOCK) * rate_row,
        OWN_RATES: (rows + ROW_BLOCK) * rate_row,
        OWN_RESPONSES: _padded(6 + n, ROW_BLOCK) * kept_row,
        FIELD: nb * 48,
        COEFFICIENTS: blocks * nb * LANES,
        EFFORTS: nb * LANES,
        TREE_STATE: _padded(22 + 2 * n, LANES),
        TREE_RESULTS: _padded((12 + 2 * n) * (12 + 3 * n) + 6 + n + LANES, LANES),
        MOBILITIES: _padded(kept, ROW_BLOCK) * kept_row,
        BALLAST_MOBILITIES: _padded(kept, LANES),
    }
    if combination is not None:
        sizes |= {
            KEPT_FORCES: _padded(kept + LANES, LANES),
            KEPT_MATRIX: _padded(kept, ROW_BLOCK) * kept_row,
            KEPT_RESPONSES: _padded(6 + n, ROW_BLOCK) * kept_row,
            KEPT_RATES: (kept + ROW_BLOCK) * rate_row,
            COMBINATION: _padded(kept, ROW_BLOCK) * half_row,
            TRANSPOSED: _padded(rows, ROW_BLOCK) * kept_row,
            HALF: _padded(kept, ROW_BLOCK) * half_row,
            LIFT: _padded(out_rows, ROW_BLOCK) * kept_row,
            LIFTED: (out_rows + ROW_BLOCK) * rate_row,
            LIFTED_FORCES: _padded(out_rows, LANES),
        }
    paths = [_path(packed, int(body)) for body in bodies]
    depths = np.array([len(path) for path in paths], np.int64)
    sizes_of_sites = LANES * (6 + 2 * depths)
    jacobians = count * CONTACT_RECORD + np.cumsum(sizes_of_sites) - sizes_of_sites
    memory, size = offsets_of(sizes, count * CONTACT_RECORD + int(sizes_of_sites.sum()))
    if combination is None:
        memory |= {KEPT_FORCES: memory[FORCES], KEPT_MATRIX: memory[MATRIX]}
        memory |= {KEPT_RESPONSES: memory[RESPONSES], KEPT_RATES: memory[RATES]}

    table = np.zeros((count, SITE_INTS), np.int64)
    table[:, BODY], table[:, WIDTH], table[:, LOOP] = bodies, widths, loops
    table[:, FIRST], table[:, DEPTH] = np.cumsum(widths) - widths, depths
    table[:, JACOBIAN], table[len(poses) :, PARTNER] = jacobians, partners
    table[:, SUPPORT] = SITE_HEADER + table.size + np.cumsum(6 + depths) - (6 + depths)
    roots = np.array([path[0] if path else 0 for path in paths], np.int64)
    table[:, BEGIN] = roots
    table[:, END] = np.where(roots > 0, bodies_of(packed)[roots, SUBTREE_END], 0)
    header = {COUNT: count, ROWS: rows, CONTACT_ROWS: contact_rows, BALLAST_ROWS: ballast_rows}
    header |= {KEPT_ROWS: kept, KEPT_CONTACT_ROWS: own, OUT_ROWS: out_rows, BY_EFFORT: by_effort}
    header |= {MATRIX_ROW: matrix_row, KEPT_ROW: kept_row, COMBINATION_ROW: half_row}
    header |= {RATE_ROW: rate_row, COMBINED: combination is not None}
    parts = {
        SITES: table,
        SUPPORTS: [i for path in paths for i in (*range(6), *(5 + joint for joint in path))],
        IDENTITY: np.arange(rows),
        PIVOTS: np.r_[tied:followers, :tied, followers:kept],
        MIMICS: ties,
        TOUCHED_BLOCKS: block_ends,
        TOUCHED: touched,
    }
    sites = integers(SITE_HEADER, header | memory, parts)
    work = aligned_zeros(size)
    records = work[: count * CONTACT_RECORD].reshape(count, CONTACT_RECORD)
    for c, record in enumerate(records[: len(poses)]):
        turned = packed.turns[bodies[c]].T @ poses[c][:3]
        record[AXES : AXES + 16].reshape(4, 4)[:, :3] = turned.T
        record[STIFFNESS], record[DAMPING] = gains[c]
        record[REFERENCE : REFERENCE + 12] = np.linalg.inv(references[c])[:3].ravel()
        record[MISMATCH + 15] = 1.0
    records[len(poses) :, BALLAST : BALLAST + 6] = W
    multipliers = np.append(mimics.multipliers, np.zeros(len(lent)))
    coefficients = work[memory[COEFFICIENTS] :][: blocks * nb * LANES].reshape(blocks, nb, LANES)
    for row, (follower, master) in enumerate(ties):
        block, lane = divmod(row, BLOCK_ROWS)
        coefficients[block, follower, lane] = 1.0
        coefficients[block, master, lane] = -multipliers[row]
    mobilities = work[memory[BALLAST_MOBILITIES] :][:kept]
    mobilities[own:tied] = [1.0 / w for width in widths[len(poses) :] for w in W[:width]]
    mobilities[followers:] = 1.0 / mimics.ballast
    contacts = Contacts(sites, work)
    if combination is not None:
        combine(contacts, combination, seen)
    return contacts


def outputs_of(m: int, inputs: int, rows: int) -> Outputs:
    """Return views of fresh memory; what never changes of A is in place.

    They are [A | B | nu_dot | forces | forces by state | by effort | spare]. Products run over the
    end of a part by whole blocks of zeros, therefore some memory is spare.
    """
    k = 2 * m
    sizes = k * k, k * inputs, m, rows, rows * k, rows * inputs
    out = aligned_zeros(sum(sizes) + ROW_BLOCK * k + COLUMN_BLOCK)
    A, B, nu_dot, forces, by_state, by_effort, _ = np.split(out, np.cumsum(sizes))
    A.reshape(k, k)[:m, m:] = np.eye(m)
    changes = by_state.reshape(rows, k), by_effort.reshape(rows, inputs)
    return Outputs(out, A.reshape(k, k), B.reshape(k, inputs), nu_dot, forces, *changes)


def differences(widths: IntArray, loops: IntArray) -> Array:
    """Return the rows of constraints from those of sites: of a loop, of its first less second."""
    found = np.eye(int(np.sum(widths)))
    firsts, seconds = (np.flatnonzero(np.repeat(loops == k, widths)) for k in (1, 2))
    found[firsts, seconds] = -1.0
    return np.delete(found, seconds, axis=0)


def combine(contacts: Contacts, combination: Array, seen: BoolArray) -> None:
    """Set the combinations of rows that are kept, as many as contacts were packed for.

    Parameters
    ----------
    combination : (kept, rows of contacts)
    seen : (rows of contacts,)
        Whether the caller sees the force of a row.
    """
    rows, kept, own = (int(contacts.sites[k]) for k in (ROWS, KEPT_ROWS, KEPT_CONTACT_ROWS))
    contact_rows = rows - kept + own
    whole = np.zeros((kept, rows))
    whole[:own, :contact_rows] = combination
    whole[own:, contact_rows:] = np.eye(kept - own)
    lift = whole[:, :contact_rows][:, seen].T
    _part(contacts, COMBINATION, COMBINATION_ROW, kept)[:, :rows] = whole
    _part(contacts, TRANSPOSED, KEPT_ROW, rows)[:, :kept] = whole.T
    _part(contacts, LIFT, KEPT_ROW, len(lift))[:, :kept] = lift


def mobilities_of(contacts: Contacts) -> tuple[Array, Array]:
    """Return J M^-1 J' and J nu_dot + gamma of the free robot, of the rows that were kept.

    Of the last call; what mimic joints give way is taken out. Light bodies count with their
    ballast, which does not change which rows are independent.
    """
    rows, own, ballast = contacts.sites[[KEPT_ROWS, KEPT_CONTACT_ROWS, BALLAST_ROWS]].tolist()
    ties = own + ballast
    copy = _part(contacts, MOBILITIES, KEPT_ROW, rows)
    both = np.delete(copy[:, : rows + 1], np.s_[own:ties], axis=0)
    both[:, :rows] *= -1.0
    if ties < rows:
        given = np.linalg.solve(both[own:, ties:rows], both[own:])
        both = both[:own] - both[:own, ties:rows] @ given
    return both[:own, :own], both[:own, rows]


def condition_of(contacts: Contacts, scales: Array) -> float:
    """Return a bound of the condition of J M^-1 J', times scales, of the rows that were kept.

    Of the last call: what mimic joints give way makes J M^-1 J' smaller, and is in its inverse.
    """
    own = len(scales)
    copy = _part(contacts, MOBILITIES, KEPT_ROW, own)[:, :own] * scales
    inverse = _part(contacts, KEPT_MATRIX, KEPT_ROW, own)[:, :own] / scales
    return math.sqrt(np.vdot(copy, copy) * np.vdot(inverse, inverse))


def _part(contacts: Contacts, part: int, row: int, count: int) -> Array:
    """Return rows of a part of the workspace, whole."""
    begin, length = int(contacts.sites[part]), int(contacts.sites[row])
    return contacts.work[begin : begin + count * length].reshape(count, length)


def site_table(contacts: Contacts) -> IntArray:
    """Return the integers of all sites but those of ballast, a row each."""
    sites = contacts.sites
    table = sites[SITE_HEADER:][: sites[COUNT] * SITE_INTS].reshape(-1, SITE_INTS)
    found: IntArray = table[table[:, LOOP] != OF_BALLAST]
    return found


def places_of(contacts: Contacts, columns: int) -> IntArray:
    """Return where in the workspace each entry of J (rows, columns) of all sites is.

    Entries that are zero are in the last lane of a vector, which no row uses.
    """
    table = site_table(contacts)
    places = np.full((int(table[:, WIDTH].sum()), columns), table[0, JACOBIAN] + LANES - 1)
    for site in table:
        own, support = np.arange(site[WIDTH]), contacts.sites[site[SUPPORT] :][: 6 + site[DEPTH]]
        vectors = site[JACOBIAN] + LANES * np.arange(support.size)
        places[np.ix_(site[FIRST] + own, support)] = np.add.outer(own, vectors)
    return places


def turning_of(contacts: Contacts, workspace: Array, J: Array, nu: Array) -> Array:
    """Return J nu by the positions (rows, 6 + n) where the last call was, J of all sites.

    A site sees the same twist wherever the base is. A joint j before it changes that twist by
    Sd_j = V_p x S_j, its axis as it turns with the body before: d(J nu) / ds_j = W' Sd_j.
    """
    by_position = np.zeros_like(J)
    for site in site_table(contacts):
        joints = contacts.sites[site[SUPPORT] :][6 : 6 + site[DEPTH]]
        own = slice(site[FIRST], site[FIRST] + site[WIDTH])
        axes = workspace[np.add.outer(WORK_HEADER + (joints - 5) * WORK_RECORD + S, SPATIAL)]
        steps = axes * nu[joints, np.newaxis]
        Sd = _crossed(nu[:6] + np.cumsum(steps, axis=0) - steps, axes)
        by_position[own, joints] = J[own, :6] @ Sd.T
    return by_position


def _crossed(V: Array, X: Array) -> Array:
    """Return V x X, twist by twist."""
    v, w, x, y = V[:, :3], V[:, 3:], X[:, :3], X[:, 3:]
    one, two = [1, 2, 0], [2, 0, 1]
    linear = w[:, one] * x[:, two] - w[:, two] * x[:, one]
    linear += v[:, one] * y[:, two] - v[:, two] * y[:, one]
    return np.hstack((linear, w[:, one] * y[:, two] - w[:, two] * y[:, one]))


def _padded(size: int, block: int) -> int:
    return -(-size // block) * block


def _path(packed: Packed, body: int) -> list[int]:
    """Return the bodies from the one next to the base to ``body``."""
    parents, path = bodies_of(packed)[:, PARENT], []
    while body > 0:
        path.append(body)
        body = int(parents[body])
    return path[::-1]
