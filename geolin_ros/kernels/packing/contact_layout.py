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

from geolin_ros.kernels.packing.layout import AXES as SPATIAL
from geolin_ros.kernels.packing.layout import (
    BODY_INTS,
    COLUMN_BLOCK,
    INT_HEADER,
    LANES,
    NB,
    PARENT,
    ROW_BLOCK,
    WORK_HEADER,
    WORK_RECORD,
    Packed,
    S,
    aligned_zeros,
)
from geolin_ros.kernels.packing.site_ballast import ballast_of_sites
from geolin_ros.typing import Array, BoolArray, IntArray

BLOCK_ROWS = 6  # rows of mimic joints in a block; the seventh lane carries the free motion
SMALLEST_PIVOT = 1e-9  # of its diagonal entry: contacts below it are redundant

# --- integers: header | contacts | velocities 0 .. rows-1 | velocities that move each contact |
# mimic joints | bodies on the way to them
COUNT = 0  # number of contacts
ROWS = 1  # number of all rows
IDENTITY = 2  # offset of the numbers 0, 1, 2, ...
FORCES = 3  # offsets of parts of the workspace: the forces
MATRIX = 4  # rows of [-Lambda | right-hand side], later of [-Lambda^-1 | forces]
MATRIX_ROW = 5  # length of such a row
RESPONSES = 6  # M^-1 J', a row per velocity
RESPONSE_ROW = 7
RATES = 8  # rows of [dc by state | by effort], c the acceleration of the contact rows
CHANGES = 9  # the same of the forces
RATE_ROW = 10  # length of a row of either
BY_EFFORT = 11  # where its second part begins
FIELD = 12  # acceleration of each body under the forces of one contact
CONTACT_ROWS = 13  # number of the rows of contacts, the first ones
MIMICS = 14  # offset of [its body, body of its master] of each mimic joint
TOUCHED = 15  # offset of the bodies from mimic joints and their masters to the base, last first
TOUCHED_BLOCKS = 16  # offset of [begin, end] in these of each block
COEFFICIENTS = 17  # offset in the workspace: those of the rows of mimic joints
EFFORTS = 18  # 8 a body: u under the unit forces of a block
OWN_RATES = 19  # as RATES, of the caller's coordinates
OWN_RESPONSES = 20  # as RESPONSES
TREE_STATE = 21  # the state of all joints
TREE_RESULTS = 22  # A, B and nu_dot of all joints
COMBINED = 23  # 1 if the rows that are kept are combinations of those of the sites
KEPT_ROWS = 24  # number of rows that are kept; what follows is theirs, and named as above
KEPT_CONTACT_ROWS = 25  # without those of ballast
KEPT_FORCES = 26
KEPT_MATRIX = 27
KEPT_MATRIX_ROW = 28
KEPT_RESPONSES = 29
KEPT_RESPONSE_ROW = 30
KEPT_RATES = 31
MOBILITIES = 32  # copy of KEPT_MATRIX before it is inverted
COMBINATION = 33  # C, a row per row that is kept
COMBINATION_ROW = 34
TRANSPOSED = 35  # C'
TRANSPOSED_ROW = 36
HALF = 37  # C times MATRIX
HALF_ROW = 38
OUT_ROWS = 39  # number of the rows whose forces the caller sees
LIFT = 40  # their rows of C'
LIFT_ROW = 41
LIFTED = 42  # CHANGES of these rows
LIFTED_FORCES = 43
BALLAST_ROWS = 44  # number of rows of ballast of contacts, the last of CONTACT_ROWS
PIVOTS = 45  # offset of the rows that are kept in the order in which they are eliminated
BALLAST_MOBILITIES = 46  # offset in the workspace: W^-1 of rows of ballast, zero of others
SITE_HEADER = 48

BODY = 0
WIDTH = 1  # 3 rows at a point, 6 on a surface
FIRST = 2  # its first row
BEGIN = 3  # its root branch is the bodies begin .. end-1; empty at the base
END = 4
SUPPORT = 5  # offset of the velocities that move it: 0..5, then one per joint from the base on
DEPTH = 6  # number of these joints
JACOBIAN = 7  # offset of J' in the workspace: a velocity that moves it after another, a row a lane
LOOP = 8  # 0: against the world; 1: first frame of a loop; 2: its second one, the next site
OF_BALLAST = 3  # 3: ballast of another site, the partner
PARTNER = 9
SITE_INTS = 10

# --- workspace: contacts | Jacobians and projected rows | parts named above ----------------------
AXES = 0  # columns x y z o of the contact frame in the turned body, four doubles each
BALLAST = AXES  # of a site of ballast: 8, one a row
STIFFNESS = 16
DAMPING = 17
RADIUS = 18  # of a ball about the origin, which touches level ground below it
REFERENCE = 20  # 3 x 4: inverse of the reference pose
BASE_POSE = 32  # 3 x 4: base frame seen from the reference
MISMATCH = 44  # 4 x 4: contact frame seen from the reference
ERROR = 64  # 8: its logarithm
PULL = 72  # 6 x 6: inverse right Jacobian of the error
TURNED = 112  # 6 x 8: its transpose, times the stiffness
PULL_LANES = 160  # 6 x 8: derivative by the displacement of the body of what the stiffness adds
BIAS = 208  # 8: contact acceleration but for the accelerations of the velocities
BY_TWIST = 216  # 6 x 8: derivative of the contact acceleration by the twist of the body
BY_POSE = 264  # 6 x 8: by its displacement
RISEN = 312  # 6 x 8: minus the rows, projected to the base
BASE = 360  # 6 x 8: acceleration of the base under unit forces
FORCE_TURN = 408  # 6 x 8: change of the force on the second body of a loop, see `loop_rows`
CONTACT_RECORD = 456


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
    loops: IntArray | None = None,
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
        `LOOP` of each; by default all are against the world.
    combination : (kept, rows of all)
        Combinations of the rows that are kept; by default all rows are, those of a loop as one.
    """
    loops = np.zeros(len(bodies), np.int64) if loops is None else loops
    if combination is None and loops.any():
        combination = differences(widths, loops)
    seen = np.repeat(loops < 2, widths)
    of_tree = np.searchsorted(packed.bodies, bodies)
    partners, W = ballast_of_sites(packed.at_zero, of_tree, widths, poses)
    bodies, widths = np.append(bodies, bodies[partners]), np.append(widths, widths[partners])
    loops = np.append(loops, np.full(partners.size, OF_BALLAST))
    mimics, nb, count = packed.mimics, int(packed.ints[NB]), len(bodies)
    contact_rows, ballast_rows = int(np.sum(widths)), int(np.sum(widths[loops == OF_BALLAST]))
    pairs_of_mimics = np.vstack(
        (mimics.bodies, np.column_stack((mimics.ballasted, np.zeros_like(mimics.ballasted))))
    )
    multipliers = np.append(mimics.multipliers, np.zeros(mimics.ballasted.size))
    n, rows = nb - 1, contact_rows + len(pairs_of_mimics)
    blocks = -(-len(pairs_of_mimics) // BLOCK_ROWS)
    touched, ends_of_blocks = [], [0]
    for begin in range(0, len(pairs_of_mimics), BLOCK_ROWS):
        moved = pairs_of_mimics[begin : begin + BLOCK_ROWS].ravel().tolist()
        touched += sorted({i for body in moved for i in _path(packed, body)}, reverse=True)
        ends_of_blocks.append(len(touched))
    paths = [_path(packed, int(body)) for body in bodies]
    identity = SITE_HEADER + count * SITE_INTS
    kept = rows
    if combination is not None:
        kept = len(combination) + ballast_rows + len(pairs_of_mimics)
    pivots = identity + rows
    supports = pivots + kept + np.cumsum([0, *(6 + len(path) for path in paths)])
    jacobians = count * CONTACT_RECORD + LANES * np.cumsum(
        [0, *(6 + 2 * len(path) for path in paths)]
    )
    pairs = int(supports[-1])
    sites = np.zeros(pairs + pairs_of_mimics.size + len(touched) + blocks + 1, np.int64)
    by_effort = _padded(12 + 2 * n, COLUMN_BLOCK)
    rate_row, matrix_row = by_effort + _padded(n, COLUMN_BLOCK), _padded(rows + LANES, LANES)
    kept_row = matrix_row if combination is None else _padded(kept + LANES, COLUMN_BLOCK)
    sizes = {
        FORCES: _padded(rows + LANES, LANES),
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
    out_rows = int(np.sum(seen))
    if combination is not None:
        half_row = _padded(rows + 1, COLUMN_BLOCK)
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
    ends = jacobians[-1] + np.cumsum(list(sizes.values()))
    for part, end in zip(sizes, ends, strict=True):
        sites[part] = end - sizes[part]
    sites[[COUNT, ROWS, IDENTITY, BY_EFFORT]] = count, rows, identity, by_effort
    sites[[MATRIX_ROW, RESPONSE_ROW, RATE_ROW]] = matrix_row, matrix_row, rate_row
    own = kept - len(pairs_of_mimics) - ballast_rows
    sites[[KEPT_ROWS, KEPT_CONTACT_ROWS, OUT_ROWS]] = kept, own, out_rows
    sites[[BALLAST_ROWS, PIVOTS]] = ballast_rows, pivots
    ties = own + ballast_rows + len(mimics.bodies)
    order = np.r_[own + ballast_rows : ties, : own + ballast_rows, ties:kept]
    sites[pivots : pivots + kept] = order
    sites[[KEPT_MATRIX_ROW, KEPT_RESPONSE_ROW]] = kept_row
    if combination is None:
        sites[[KEPT_FORCES, KEPT_MATRIX, KEPT_RESPONSES, KEPT_RATES]] = sites[
            [FORCES, MATRIX, RESPONSES, RATES]
        ]
    else:
        sites[[COMBINED, COMBINATION_ROW, HALF_ROW]] = 1, half_row, half_row
        sites[[TRANSPOSED_ROW, LIFT_ROW]] = kept_row
    sites[[CONTACT_ROWS, MIMICS]] = contact_rows, pairs
    sites[[TOUCHED, TOUCHED_BLOCKS]] = sites.size - len(touched), pairs + pairs_of_mimics.size
    ends_of_blocks = [int(sites[TOUCHED]) + end for end in ends_of_blocks]
    sites[pairs:] = [*pairs_of_mimics.ravel(), *ends_of_blocks, *touched]
    sites[identity : identity + rows] = np.arange(rows)
    work = aligned_zeros(int(ends[-1]))
    ends_of_bodies = _branch_ends(packed)
    for c, path in enumerate(paths):
        site = sites[SITE_HEADER + c * SITE_INTS :][:SITE_INTS]
        begin = path[0] if path else 0
        site[: SITE_INTS - 1] = (
            *(bodies[c], widths[c], np.sum(widths[:c]), begin, ends_of_bodies[begin]),
            *(supports[c], len(path), jacobians[c], loops[c]),
        )
        sites[supports[c] : supports[c + 1]] = [*range(6), *(5 + i for i in path)]
        record = work[c * CONTACT_RECORD :][:CONTACT_RECORD]
        if loops[c] == OF_BALLAST:
            site[PARTNER] = partners[c - len(poses)]
            record[BALLAST : BALLAST + 6] = W
            continue
        turned = packed.turns[bodies[c]].T @ poses[c][:3]
        record[AXES : AXES + 16].reshape(4, 4)[:, :3] = turned.T
        record[STIFFNESS], record[DAMPING] = gains[c]
        record[REFERENCE : REFERENCE + 12] = np.linalg.inv(references[c])[:3].ravel()
        record[MISMATCH + 15] = 1.0
    coefficients = work[sites[COEFFICIENTS] :][: blocks * nb * LANES].reshape(blocks, nb, LANES)
    for row, (follower, master) in enumerate(pairs_of_mimics):
        block, lane = divmod(row, BLOCK_ROWS)
        coefficients[block, follower, lane] = 1.0
        coefficients[block, master, lane] = -multipliers[row]
    mobilities = work[sites[BALLAST_MOBILITIES] :][:kept]
    for c in range(len(poses), count):
        first = own + int(np.sum(widths[len(poses) : c]))
        mobilities[first : first + widths[c]] = 1.0 / W[: widths[c]]
    mobilities[ties:] = 1.0 / mimics.ballast
    sites.setflags(write=False)
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
    return Outputs(
        out,
        A.reshape(k, k),
        B.reshape(k, inputs),
        nu_dot,
        forces,
        by_state.reshape(rows, k),
        by_effort.reshape(rows, inputs),
    )


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
    sites, work = contacts
    rows, kept, own = (int(sites[k]) for k in (ROWS, KEPT_ROWS, KEPT_CONTACT_ROWS))
    contact_rows = rows - kept + own
    whole = np.zeros((kept, rows))
    whole[:own, :contact_rows] = combination
    whole[own:, contact_rows:] = np.eye(kept - own)
    lift = whole[:, :contact_rows][:, seen].T
    for part, row, value in (
        (COMBINATION, COMBINATION_ROW, whole),
        (TRANSPOSED, TRANSPOSED_ROW, whole.T),
        (LIFT, LIFT_ROW, lift),
    ):
        stride = int(sites[row])
        to = work[int(sites[part]) :][: len(value) * stride].reshape(len(value), stride)
        to[:, : value.shape[1]] = value


def mobilities_of(contacts: Contacts) -> tuple[Array, Array]:
    """Return J M^-1 J' and J nu_dot + gamma of the free robot, of the rows that were kept.

    Of the last call; what mimic joints give way is taken out. Light bodies count with their
    ballast, which does not change which rows are independent.
    """
    sites, work = contacts
    rows, own, stride = (int(sites[k]) for k in (KEPT_ROWS, KEPT_CONTACT_ROWS, KEPT_MATRIX_ROW))
    copy = work[int(sites[MOBILITIES]) :][: rows * stride].reshape(rows, stride)
    ties = own + int(sites[BALLAST_ROWS])
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
    sites, work = contacts
    own, stride = len(scales), int(sites[KEPT_MATRIX_ROW])
    copy, inverse = (
        work[int(sites[part]) :][: own * stride].reshape(own, stride)[:, :own]
        for part in (MOBILITIES, KEPT_MATRIX)
    )
    copy, inverse = copy * scales, inverse / scales
    return math.sqrt(np.vdot(copy, copy) * np.vdot(inverse, inverse))


def site_table(contacts: Contacts) -> IntArray:
    """Return the integers of all sites but those of ballast, a row each."""
    sites = contacts.sites
    table = sites[SITE_HEADER:][: sites[COUNT] * SITE_INTS].reshape(-1, SITE_INTS)
    count = np.count_nonzero(table[:, LOOP] != OF_BALLAST)
    return table[:count]


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


def _parents(packed: Packed) -> IntArray:
    nb = int(packed.ints[NB])
    return packed.ints[INT_HEADER : INT_HEADER + nb * BODY_INTS].reshape(nb, -1)[:, PARENT]


def _path(packed: Packed, body: int) -> list[int]:
    """Return the bodies from the one next to the base to ``body``."""
    parents, path = _parents(packed), []
    while body > 0:
        path.append(body)
        body = int(parents[body])
    return path[::-1]


def _branch_ends(packed: Packed) -> IntArray:
    """Return one past the last body of the root branch that begins at a body; 0 for the base."""
    parents = _parents(packed)
    roots = [*np.flatnonzero(parents == 0), parents.size]
    ends = np.zeros(parents.size, np.int64)
    ends[roots[:-1]] = roots[1:]
    return ends
