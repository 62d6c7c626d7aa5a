# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The packed layout of the fast linearization: a few flat arrays, their offsets by name.

Numba unpacks each array argument at every call, so model, workspace and results are one array
each. Bodies are numbered as in `Tree`, body 0 is the base; column c belongs to body 1 + c. Columns
are handled in *blocks* of at most eight, one lane each: small root branches share a block, large
ones fill several.

All vectors are in base axes about the base origin; each joint frame is turned once, here, so that
its axis is its own z.

A joint with several axes is a chain of bodies, massless but for the last one, each of which one
axis moves. The axes of a group joint (spherical, planar, floating) stay at zero: the placement of
the first one is where the joint stands now, see `own_results.pose_groups`, and its coordinates are
displacements about that, in axes of the moved body. A column is then that of a displacement of
the last body and what it carries, whichever axis it belongs to.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.kernels.packing.ballast import AtZero, at_zero, ballast_of_ties, hat
from geolin_ros.kernels.packing.types import BODY_WRENCH, SINGLE_AXIS, Tree, Wrenches
from geolin_ros.typing import Array, IntArray

LANES = 8
ROW_BLOCK = 4  # rows and columns that products keep in registers
COLUMN_BLOCK = 2 * LANES
SMALLEST_SHARE = 1e-14  # of the inertia behind a joint that must be left once its links are free


@dataclass
class Places:
    """Gives the fields of headers and records their places, one after the other."""

    size: int = 0

    def __call__(self, size: int = 1, align: int = 1) -> int:
        """Return where a field of a size begins, at a multiple of ``align``."""
        begin = -(-self.size // align) * align
        self.size = begin + size
        return begin

    def each(self, count: int, size: int = 1) -> range:
        """Return where so many fields of a size begin."""
        return range(self(count * size), self.size, size)

    def end(self, align: int = 1) -> int:
        """Return the size of the whole, a multiple of ``align``; what follows begins at zero."""
        size, self.size = self(0, align), 0
        return size


_place = Places()

# --- integers: header | bodies | blocks | order | relations; the header holds the offsets ------
NB = _place()  # number of bodies, base included
FLOATING = _place()  # 1 if the base moves
BLOCKS = _place()  # number of blocks
BODY_TABLE, BLOCK_TABLE = _place.each(2)  # offsets of the bodies and blocks
ORDER = _place()  # offset of the bodies 1 .. nb-1 by depth: neighbours do not wait for each other
RELATIONS = _place()  # offset of the relations (nb x blocks) of bodies to the lanes of each block
INT_HEADER = _place.end(LANES)

PARENT = _place()
COORDINATE = _place()  # position of the joint in s, r, tau as the caller orders them
SLOT = _place()  # where `own_branch` keeps the acceleration of a body that forks; -1: nowhere
LANE = _place()  # place of its lane in the blocks of the workspace
END = _place()  # one past the last body of its subtree
FREE = _place()  # 1 if the joint moves under a force, 0 if its acceleration is given
OUTER = _place()  # what the joint moves it against: the parent, but for the axes of a group joint
AXES_BEGIN = _place()  # first axis of the joint that the body is the last one of; i + 1: it is not
PLACE = _place()  # where `plain` has the pose of a group joint, at its first axis; else 0
BODY_INTS = _place.end()

FIRST, COUNT = _place.each(2)  # first body of a block; number of its columns, at most LANES
BLOCK_BEGIN, BLOCK_END = _place.each(2)  # root branches that it touches: bodies begin .. end-1
BLOCK_INTS = _place.end()

# A relation holds one bit per lane j: bits 0..7 body i supports body j (j = i included),
# bits 8..15 body j supports body i, j != i.

# --- floats of the model: header | bodies -----------------------------------------------------
GRAVITY = 0  # 3, world axes
MODEL_HEADER = 8

EX, EY, EZ = _place.each(3, 4)  # axes of the joint frame at zero position, in the parent body
T = _place(4)  # its origin
COM = _place(4)  # centre of mass in the body
ICX, ICY, ICZ = _place.each(3, 4)  # rows of the inertia about the centre of mass
MASS, ARMATURE = _place.each(2)
ALPHA = _place()  # advance along z per unit of s: 1 prismatic, pitch helical
BETA = _place()  # turn about z per unit of s: 1, prismatic 0
DAMPING, FRICTION, FRICTION_SPEED, STIFFNESS, REST = _place.each(5)
BALLASTED = _place()  # armature and what `ballast` lends
SPARE = _place(12, LANES)  # where group joints stand in their frames
MODEL_RECORD = _place.end(LANES)

# --- workspace: header | bodies | displacements | blocks | columns | slots | turns----------------
DISPLACEMENTS, BLOCK_PART, COLUMN_PART, SLOT_PART, TURN_PART = _place.each(5)  # their offsets
WRENCH_BLOCKS = _place()  # 1 if a wrench depends on the pose of its link: displacement passes run
G = _place(6 * 8, LANES)  # rows of the inverse articulated inertia of the base; zero if fixed
UPWARD = _place(3)  # minus gravity in base axes
SCRATCH = _place(24, LANES)
WORK_HEADER = _place.end()

# A spatial vector takes eight doubles, [linear 3, pad | angular 3, pad]; its entries sit at:
AXES = (0, 1, 2, 4, 5, 6)
COLUMNS = (0, 1, 2, 4, 5, 6, 8, 9, 10, 11)  # of the rows [IA | BA | pA]
RESPONSES = COLUMNS[:9]  # of the rows of Fwd: without the acceleration
ANGULAR = 4

POSE = _place(16)  # columns x y z o, four doubles each
S = _place(8)  # motion subspace; the next eight are spatial vectors too, pads are zero
SD = _place(8)  # its rate V_p x S
V = _place(8)  # twist
AV = _place(8)  # velocity-product acceleration, gravity included
ACC = _place(8)  # acceleration without AV
SDD = _place(8)  # Sdd
UT = _place(8)  # U / D
Y = _place(12)  # y: eight entries, then four
FU = _place(4)  # [F | u]
SOURCE = FU - 8  # 12: S' [IA | BA | pA], before y
D_INVERSE = _place()
CARRIED_MASS, CARRIED_TRACE = _place.each(2)  # mass of the subtree, trace of its Ibar
EFFORT = _place()  # tau less the passive torque
SLOPE = _place()  # of the passive torque by the rate
ROWS = _place(6 * 12, LANES)  # [IA 8 | BA 3, pA 1]
FWD = ROWS  # 6 x 12, in the same place once the sources of a body's column are known
JUMP = _place(8)  # acceleration that a rate adds behind its joint, 2 Sd for a single axis
P_S, P_R = _place.each(2, 8)  # sources of the columns of s and r
WORK_RECORD = _place.end()

N = _place(6 * 8)  # wrench of a displacement of the body; later FwdN
FWDN = N
FN, YN = _place.each(2, 8)
DISPLACEMENT_RECORD = _place.end()

# Per block, one column a lane
STIFFNESS_ROWS = _place(8 * 8)  # slope of the effort of a body of the block (row) by s (lane)
NO_STIFFNESS = _place(8)  # 8 zeros
SLOPE_LANES = _place(8)  # slope of the passive torque by r
BLOCK_RECORD = _place.end()

U_ROW = 24  # per body: u of one block, 8 lanes each of s, r, tau
SLOT_RECORD = 144  # per slot: 18 x 8
# Turns: cosines of all joints, then sines, both a vector longer than the bodies

# Workspace of `kernels.plain`: header | bodies | displacements as above, then
# fields | columns | slots
FIELD_PART = 72  # 6 x 12: accelerations that a displacement and a twist of the base leave over
PLAIN_P = _place(3 * 6)  # sources of the columns of s, r and what is given
PLAIN_TURNED = _place(6)  # wrench through the joint, turned with it
PLAIN_U = _place(3)  # u of one column
PLAIN_COLUMN = _place.end(4)
PLAIN_SLOT = 18  # a of one column

# --- inputs: tau | wrenches -------------------------------------------------------------------
WRENCH_BODY, WRENCH_KIND, WRENCH_VALUE, WRENCH_POINT, WRENCH_RECORD = 0, 1, 2, 8, 11


class Mimics(NamedTuple):
    """Mimic joints, r_dep = k r_leader, and the N coordinates of all joints by the n own ones."""

    bodies: IntArray
    """(count, 2) body of a mimic joint, body of the joint it follows."""
    multipliers: Array
    """(count,) k."""
    leaders: IntArray
    """(n,) the body of each own coordinate."""
    masters: IntArray
    """(N,) the own coordinate that a joint follows."""
    rule: Array
    """(2, N) multiplier and offset to it."""
    positions: IntArray
    """(N,) the own position that a joint follows; -1 for the axes of group joints."""
    ballasted: IntArray
    """Bodies of joints that are followed and were lent inertia, with their followers."""
    ballast: Array
    """How much of it, seen there, see `ballast`."""


class Group(NamedTuple):
    """A spherical, planar or floating joint."""

    kind: int
    """Its code, of `types`."""
    first: int
    """The body of its first axis; the others follow."""
    coordinate: int
    """Its first own rate."""
    positions: IntArray
    """Its own positions."""
    subspace: Array
    """(rates, 6) unit twists of its rates, in the moved body."""
    rotation: Array
    """(3, 3) from the joint frame to the turned parent body."""
    translation: Array
    """(3,) origin of the joint frame there."""
    turn: Array
    """(3, 3) columns: axes of the first turned body in the joint frame."""


class Packed(NamedTuple):
    """A robot for the fast linearization."""

    ints: IntArray
    """Topology, read-only."""
    floats: Array
    """Placements, inertias, passive joint parameters, gravity; read-only."""
    turns: Array
    """(nb, 3, 3) columns: axes of the turned body frame in the frame of `Tree`."""
    origins: Array
    """(nb, 3) its origin there: zero, but for what a twist of an axis changes by a parameter."""
    bodies: IntArray
    """Number of each body of `Tree` here: the last one of its joint."""
    groups: tuple[Group, ...]
    """Joints whose positions are an element of a group."""
    mimics: Mimics
    """Joints that follow another one: here they move for themselves, rows tie them to it."""
    at_zero: AtZero
    """All of them at positions zero, with what mimic joints are lent."""

    @property
    def is_plain(self) -> bool:
        """Whether the caller's coordinates are those of the bodies, one a joint."""
        chains = len(self.bodies) < int(self.ints[NB])
        return not chains and len(self.mimics.bodies) == 0


class _Chains(NamedTuple):
    """Bodies of `Tree`, one an axis: the base, then those of each joint one after the other."""

    parent: IntArray
    outer: IntArray
    begin: IntArray
    """See `OUTER` and `AXES_BEGIN`."""
    owner: IntArray
    """Body of `Tree`."""
    rate: IntArray
    """Its rate there; -1 for the base."""
    position: IntArray
    """Its position there; -1 where that is not one number."""
    last: IntArray
    """Of each body of `Tree`."""


def pack(tree: Tree, gravity: Array) -> Packed | None:
    """Return the packed robot, or None if an inertia is none of [[m 1, -h^], [h^, Ibar]]."""
    if not all(map(is_of_rigid_body, tree.inertia)):
        return None
    chains, at = _chains(tree), at_zero(tree)
    lent, total = ballast_of_ties(tree, at)
    at.M[6:, 6:] += np.diag(lent)
    floats, turns, origins, groups = pack_numbers(tree, gravity)
    records = floats[MODEL_HEADER:].reshape(-1, MODEL_RECORD)
    records[1:, BALLASTED] = records[1:, ARMATURE] + lent[chains.rate[1:]]
    ints = _pack_topology(chains, tree.v_size[0] == 6)
    floats.setflags(write=False)
    mimics = _mimics(tree, chains, total)
    return Packed(ints, floats, turns, origins, chains.last, groups, mimics, at)


def pack_numbers(tree: Tree, gravity: Array) -> tuple[Array, Array, Array, tuple[Group, ...]]:
    """Return floats, turns, origins and groups of `Packed`.

    Where those of ``tree`` are complex, their imaginary parts carry a derivative.
    """
    chains, dtype = _chains(tree), tree.inertia.dtype
    nb = chains.parent.size
    floats = np.zeros(MODEL_HEADER + nb * MODEL_RECORD, dtype)
    floats[GRAVITY : GRAVITY + 3] = gravity
    turns, origins = np.tile(np.eye(3, dtype=dtype), (nb, 1, 1)), np.zeros((nb, 3), dtype)
    for i in range(nb):
        record = floats[MODEL_HEADER + i * MODEL_RECORD :][:MODEL_RECORD]
        if i > 0:
            _pack_joint(tree, chains, i, turns, origins, record)
        if chains.last[chains.owner[i]] == i:
            _pack_inertia(tree.inertia[chains.owner[i]], turns[i], origins[i], record)
    return floats, turns, origins, _groups(tree, chains, turns, origins)


def _chains(tree: Tree) -> _Chains:
    rows = [(-1, -1, 1, 0, -1, -1)]
    last = np.zeros(tree.parent.size, np.int64)
    for b in range(1, tree.parent.size):
        outer, first, size = int(last[tree.parent[b]]), len(rows), int(tree.v_size[b])
        position = int(tree.q_start[b]) if size == 1 else -1
        for k in range(size):
            i, rate = first + k, int(tree.v_start[b]) + k
            parent, begin = outer if k == 0 else i - 1, first if k == size - 1 else i + 1
            rows.append((parent, outer, begin, b, rate, position))
        last[b] = len(rows) - 1
    return _Chains._make((*np.array(rows, np.int64).T.copy(), last))


def _groups(tree: Tree, chains: _Chains, turns: Array, origins: Array) -> tuple[Group, ...]:
    found = []
    for b in np.flatnonzero(tree.kind > SINGLE_AXIS):
        first = int(chains.last[b]) + 1 - int(tree.v_size[b])
        outer, v, q = chains.outer[first], int(tree.v_start[b]), int(tree.q_start[b])
        up, moved = turns[outer].T, tree.translation[b] - origins[outer]
        positions = tree.position_master[q : q + tree.q_size[b]]
        subspace = tree.subspace[v : v + tree.v_size[b]]
        where = up @ tree.rotation[b], up @ moved, turns[first]
        kind, coordinate = int(tree.kind[b]), int(tree.master[v])
        found.append(Group(kind, first, coordinate, positions, subspace, *where))
    return tuple(found)


def _mimics(tree: Tree, chains: _Chains, ballast: Array) -> Mimics:
    """Return the joints that follow another one of multiplier 1, which any of these may be."""
    count = chains.parent.size - 1
    body, position = np.zeros(count, np.int64), np.zeros(count, np.int64)
    body[chains.rate[1:]], position[chains.rate[1:]] = np.arange(1, 1 + count), chains.position[1:]
    leaders: dict[int, int] = {}
    for c in np.flatnonzero(tree.multiplier == 1.0).tolist():
        leaders.setdefault(int(tree.master[c]), c)
    followers = [c for c in range(count) if leaders[int(tree.master[c])] != c]
    pairs = [(body[c], body[leaders[int(tree.master[c])]]) for c in followers]
    numbers = position >= 0
    offsets = np.where(numbers, np.append(tree.offset, 0.0)[position], 0.0)
    own, lent = body[[leaders[c] for c in range(len(leaders))]], ballast > 0.0
    bodies, rule = np.array(pairs, np.int64).reshape(-1, 2), np.array((tree.multiplier, offsets))
    positions = np.where(numbers, np.append(tree.position_master, -1)[position], -1)
    given = own, tree.master, rule, positions, own[lent], ballast[lent]
    return Mimics(bodies, tree.multiplier[followers], *given)


def make_workspace(packed: Packed) -> Array:
    """Return a zeroed workspace; its pads must stay zero, so nobody else writes into it."""
    nb = int(packed.ints[NB])
    sizes = {
        DISPLACEMENTS: nb * DISPLACEMENT_RECORD,
        BLOCK_PART: int(packed.ints[BLOCKS]) * BLOCK_RECORD,
        COLUMN_PART: nb * U_ROW,
        SLOT_PART: _slots(packed) * SLOT_RECORD,
        TURN_PART: 2 * (nb + LANES),
    }
    places, size = offsets_of(sizes, WORK_HEADER + nb * WORK_RECORD)
    workspace = aligned_zeros(size)
    workspace[list(places)] = list(places.values())
    return workspace


def plain_workspace_size(packed: Packed) -> int:
    """Return how many numbers `kernels.plain` write into."""
    nb = int(packed.ints[NB])
    bodies = WORK_RECORD + DISPLACEMENT_RECORD + PLAIN_COLUMN
    return WORK_HEADER + nb * bodies + FIELD_PART + _slots(packed) * PLAIN_SLOT


def prescribe(packed: Packed, joints: ArrayLike, base: bool) -> Packed:
    """Return the robot with accelerations given: where ``joints`` is true, and the base's."""
    ints = packed.ints.copy()
    bodies = bodies_of(packed._replace(ints=ints))
    bodies[1:, FREE] = ~np.asarray(joints, dtype=np.bool_)[bodies[1:, COORDINATE]]
    if base:
        ints[FLOATING] = 0
    ints.setflags(write=False)
    return packed._replace(ints=ints)


def bodies_of(packed: Packed) -> IntArray:
    """Return the integers of each body (nb, BODY_INTS)."""
    nb = int(packed.ints[NB])
    return packed.ints[INT_HEADER:][: nb * BODY_INTS].reshape(nb, -1)


def _slots(packed: Packed) -> int:
    return int(bodies_of(packed)[:, SLOT].max()) + 1


def make_inputs(packed: Packed, wrenches: Wrenches) -> Array:
    """Return [tau (n, zeros) | wrenches], the wrenches in turned body frames."""
    n, count = int(packed.ints[NB]) - 1, wrenches.body.shape[0]
    inputs = np.zeros(n + count * WRENCH_RECORD, np.result_type(wrenches.value, packed.turns))
    for w in range(count):
        record = inputs[n + w * WRENCH_RECORD :][:WRENCH_RECORD]
        body = packed.bodies[wrenches.body[w]]
        turn, origin = packed.turns[body], packed.origins[body]
        record[WRENCH_BODY], record[WRENCH_KIND] = body, wrenches.kind[w]
        value = f, t = wrenches.value[w].reshape(2, 3)
        if wrenches.kind[w] == BODY_WRENCH:
            value = np.array((f, t - np.cross(origin, f))) @ turn
        record[WRENCH_VALUE : WRENCH_VALUE + 6] = np.ravel(value)
        record[WRENCH_POINT : WRENCH_POINT + 3] = turn.T @ (wrenches.point[w] - origin)
    return inputs


def _pack_joint(
    tree: Tree, chains: _Chains, i: int, turns: Array, origins: Array, record: Array
) -> None:
    """Fill turns[i], origins[i] and the joint's part of a record.

    Real twists are of unit length, about axes through the origin; not what they change by.
    """
    c, b, p = int(chains.rate[i]), int(chains.owner[i]), int(chains.parent[i])
    u, w = tree.subspace[c, :3], tree.subspace[c, 3:]
    along = w if w.real.any() else u / (np.linalg.norm(u.real) or 1.0)
    size = np.sqrt(along @ along / (along.real @ along.real or 1.0))
    axis = along / (size or 1.0)
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    x = helper - axis * (axis @ helper)
    x /= np.sqrt(x @ x)
    turns[i] = np.column_stack((x, np.cross(axis, x), axis))
    if w.real.any():
        off = np.cross(w, u)
        origins[i] = off - off.real
    rotation, translation = np.eye(3), np.zeros(3)
    if chains.owner[p] != b:
        rotation, translation = tree.rotation[b], tree.translation[b]
    up = turns[p].T
    placement = up @ rotation @ turns[i]
    record[EX : EX + 3], record[EY : EY + 3], record[EZ : EZ + 3] = placement.T
    record[T : T + 3] = up @ (translation + rotation @ origins[i] - origins[p])
    record[ALPHA], record[BETA] = axis @ u, size if w.real.any() else axis @ w
    passive = tree.damping, tree.friction, tree.friction_speed, tree.stiffness, tree.rest
    record[ARMATURE], record[DAMPING : REST + 1] = tree.armature[c], [each[c] for each in passive]


def _pack_inertia(inertia: Array, turn: Array, origin: Array, record: Array) -> None:
    """Fill the inertia's part of a record."""
    mass, h = mass_and_moment(inertia)
    com = h / mass if mass != 0.0 else h
    central = turn.T @ (inertia[3:, 3:] + mass * hat(com) @ hat(com)) @ turn
    record[MASS], record[COM : COM + 3] = mass, turn.T @ (com - origin)
    record[ICX : ICX + 3], record[ICY : ICY + 3], record[ICZ : ICZ + 3] = 0.5 * (
        central + central.T
    )


def mass_and_moment(inertia: Array) -> tuple[Any, Array]:
    """Return mass and first moment (3,) of a spatial inertia."""
    return inertia[0, 0], np.array([inertia[5, 1], inertia[3, 2], inertia[4, 0]])


def is_of_rigid_body(inertia: Array, has_mass: bool = False) -> bool:
    """Whether it is [[m 1, -h^], [h^, Ibar]] with a symmetric Ibar, and h = 0 without mass."""
    mass, h = mass_and_moment(inertia)
    rebuilt = np.block([[mass * np.eye(3), -hat(h)], [hat(h), inertia[3:, 3:].T]])
    off = np.abs(inertia - rebuilt).max()
    bad = off > 1e-12 * np.abs(inertia).max() or (mass == 0.0 and h.any() and not has_mass)
    return not bad


def _pack_topology(chains: _Chains, floating: bool) -> IntArray:
    nb, parents = chains.parent.size, chains.parent
    ends = np.arange(1, nb + 1)
    for i in range(nb - 1, 0, -1):
        ends[parents[i]] = max(ends[parents[i]], ends[i])
    roots = [i for i in range(1, nb) if parents[i] == 0]
    blocks = _blocks([(root, int(ends[root])) for root in roots], chains)
    depth = np.zeros(nb, np.int64)
    for i in range(1, nb):
        depth[i] = depth[parents[i]] + 1
    bodies = np.zeros((nb, BODY_INTS), np.int64)
    bodies[:, PARENT], bodies[:, SLOT] = parents, -1
    bodies[:, END], bodies[:, FREE] = ends, 1
    bodies[:, OUTER], bodies[:, AXES_BEGIN] = chains.outer, chains.begin
    bodies[1:, COORDINATE] = chains.rate[1:]
    groups = [i for i in range(1, nb) if chains.position[i] < 0]
    firsts = [i for i in groups if chains.owner[i - 1] != chains.owner[i]]
    bodies[firsts, PLACE] = 22 + 2 * (nb - 1) + 12 * np.arange(len(firsts))
    forks = sorted({int(parents[i]) for i in range(1, nb) if 0 < parents[i] != i - 1})
    bodies[forks, SLOT] = np.arange(len(forks))
    relations = np.zeros((nb, len(blocks)), np.int64)
    for k, (first, count, _, _) in enumerate(blocks):
        bodies[first : first + count, LANE] = k * BLOCK_RECORD + np.arange(count)
        for i in range(1, nb):
            for lane, j in enumerate(range(first, first + count)):
                together = is_one_joint(chains, i, j)
                relations[i, k] |= int(i <= j < ends[i] or together) << lane
                relations[i, k] |= int(j < i < ends[j] and not together) << (LANES + lane)
    parts = {
        BODY_TABLE: bodies,
        BLOCK_TABLE: blocks,
        ORDER: 1 + np.argsort(depth[1:], kind='stable'),
        RELATIONS: relations,
    }
    return integers(INT_HEADER, {NB: nb, FLOATING: floating, BLOCKS: len(blocks)}, parts)


def is_one_joint(chains: _Chains, i: int, j: int) -> bool:
    """Whether two bodies belong to the same group joint."""
    return bool(chains.owner[i] == chains.owner[j] and chains.position[i] < 0)


def _blocks(branches: list[tuple[int, int]], chains: _Chains) -> list[tuple[int, int, int, int]]:
    """Return (first, count, begin, end) of each block; begin .. end are its root branches.

    A block costs all rows once, and those of its own branches once more; of all ways to cut the
    columns into blocks the cheapest is taken. The axes of a group joint stay in one block.
    """
    last = branches[-1][1] if branches else 1
    best: dict[int, tuple[int, list[tuple[int, int, int, int]]]] = {1: (0, [])}
    for stop in range(2, last + 1):
        if stop < last and is_one_joint(chains, stop - 1, stop):
            continue
        ways = []
        for first in range(max(1, stop - LANES), stop):
            if first in best:
                begin = max(begin for begin, _ in branches if begin <= first)
                end = min(end for _, end in branches if end >= stop)
                cost, blocks = best[first]
                block = first, stop - first, begin, end
                ways.append((cost + last - 1 + end - begin, [*blocks, block]))
        best[stop] = min(ways)
    return best[last][1]


def integers(size: int, header: Mapping[int, int], parts: Mapping[int, Any]) -> IntArray:
    """Return [header | parts], read-only; the header, of a size, also tells where parts begin."""
    flat = {key: np.asarray(part, np.int64).ravel() for key, part in parts.items()}
    places, _ = offsets_of({key: part.size for key, part in flat.items()}, size)
    ints = np.concatenate((np.zeros(size, np.int64), *flat.values()))
    for key, number in {**header, **places}.items():
        ints[key] = number
    ints.setflags(write=False)
    return ints


def offsets_of(sizes: Mapping[int, int], begin: int) -> tuple[dict[int, int], int]:
    """Return where parts of these sizes begin, one after the other, and where the last ends."""
    place = Places(begin)
    return {part: place(size) for part, size in sizes.items()}, place.size


def aligned_zeros(size: int) -> Array:
    """Return zeros that start at a cache line."""
    memory = np.zeros(size + LANES)
    start = -memory.ctypes.data % 64 // 8
    return memory[start : start + size]
