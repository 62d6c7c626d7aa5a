# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From the joints of the tree to the caller's coordinates: states and efforts there, results back.

Joints that follow others, r = G r_own, are no coordinates: columns by s and r are multiplied by G,
rows are those of the joints that are followed. A fixed base has neither rows nor columns. All
that happens before the products with the forces of constraints, which are smaller then.
"""

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.engine.contact_linearization import add_forces, change_of_forces, constrain
from geolin_ros.kernels.kinematics import group_transform
from geolin_ros.kernels.packing import contact_layout as on
from geolin_ros.kernels.packing import layout as at
from geolin_ros.kernels.packing import own_layout as of
from geolin_ros.kernels.packing.layout import LANES, MODEL_RECORD, SPARE
from geolin_ros.kernels.packing.own_layout import GROUP_INTS
from geolin_ros.kernels.plain.passes import linkage
from geolin_ros.kernels.simd.vector import get, get_int, load8, put, splat8, store8
from geolin_ros.kernels.status import OK


@lean_kernel
def linearize_own(ints, floats, sites, cw, own, rule, x_own, tau, inputs, ws, out):
    """Fill A, B, nu_dot and contact forces with their derivatives; return the status.

    ``own`` and ``rule`` are of `own_layout.pack_own`, ``x_own`` = [H | s | v | r] and ``tau`` (n,)
    the caller's, ``inputs`` of `layout.make_inputs`, whose efforts are filled in; others as of
    `contact_linearization.linearize_in_contact`.
    """
    x, full = cw[get_int(sites, on.TREE_STATE) :], cw[get_int(sites, on.TREE_RESULTS) :]
    expand_state(own, rule, x_own, tau, x, inputs)
    status = constrain(ints, floats, sites, cw, x, inputs, ws, full)
    if status != OK:
        return status
    joints, k, n = get_int(own, of.JOINTS), get_int(own, of.STATES), get_int(own, of.INPUTS)
    size, m = 12 + 2 * joints, k // 2
    rows = get_int(own, of.ROWS)
    for r in range(get_int(own, of.TOP)):
        for c in range(get_int(own, of.TOP)):
            put(out, r * k + c, get(full, r * size + c))
    turn_groups(own, rule, x_own, out)
    by_effort, nu_dot = size * size, size * size + size * joints
    for r in range(m):
        row = 6 + joints + get_int(own, rows + r)
        gather_states(own, rule, full, row * size, out, (m + r) * k)
    store8(out, k * k, splat8(0.0))
    for r in range(m):
        row = 6 + joints + get_int(own, rows + r)
        copy_runs(own, of.INPUT_RUNS, full, by_effort + row * joints, out, k * k + (m + r) * n)
    for r in range(m):
        put(out, k * k + k * n + r, get(full, nu_dot + get_int(own, rows + r)))
    if get_int(sites, on.KEPT_ROWS) == 0 and get_int(sites, on.OUT_ROWS) == 0:
        return OK
    gather_constraints(own, rule, sites, cw)
    change_of_forces(sites, cw, get_int(sites, on.OWN_RATES), k, n)
    add_forces(sites, cw, get_int(sites, on.OWN_RESPONSES), out, m, k, n)
    return OK


@lean_kernel
def expand_state(own, rule, x_own, tau, x, inputs):
    """Fill state and efforts of all joints."""
    n, joints = get_int(own, of.N), get_int(own, of.JOINTS)
    masters, leaders = get_int(own, of.MASTERS), get_int(own, of.LEADERS)
    positions, v = get_int(own, of.POSITIONS), 16 + get_int(own, of.OWN_POSITIONS)
    for e in range(16):
        put(x, e, get(x_own, e))
    for e in range(6):
        put(x, 16 + joints + e, get(x_own, v + e))
    for c in range(joints):
        factor, master = get(rule, c), get_int(own, masters + c)
        position = get_int(own, positions + c)
        if position >= 0:
            put(x, 16 + c, factor * get(x_own, 16 + position) + get(rule, joints + c))
        put(x, 22 + joints + c, factor * get(x_own, v + 6 + master))
    for c in range(n):
        put(inputs, get_int(own, leaders + c), get(tau, c))


@lean_kernel
def pose_groups(own, rule, x_own, poses):
    """Place the first axis of each group joint where the joint stands, before `linearize_own`.

    ``poses`` are the floats of the robot, to be written to.
    """
    for k in range(get_int(own, of.GROUPS), get_int(own, of.GROUPS + 1), GROUP_INTS):
        first, numbers = get_int(own, k + of.FIRST), get_int(own, k + of.GROUP_NUMBERS)
        record = poses[linkage(first) : linkage(first) + MODEL_RECORD]
        S = rule[numbers : numbers + of.ROTATION].reshape(6, 6)
        q = x_own[16 + get_int(own, k + of.POSITION) :]
        moved, o = record[SPARE : SPARE + 9].reshape(3, 3), record[SPARE + 9 : SPARE + 12]
        group_transform(get_int(own, k + of.KIND), S, q, moved, o)
        R = rule[numbers + of.ROTATION : numbers + of.TRANSLATION].reshape(3, 3)
        t, turn = numbers + of.TRANSLATION, numbers + of.TURN
        for a in range(3):
            shift = get(rule, t + a)
            for b in range(3):
                shift += R[a, b] * o[b]
                axis = 0.0
                for c in range(3):
                    turned = R[a, 0] * moved[0, c] + R[a, 1] * moved[1, c] + R[a, 2] * moved[2, c]
                    axis += turned * get(rule, turn + 3 * c + b)
                record[at.EX + 4 * b + a] = axis
            record[at.T + a] = shift


@lean_kernel
def turn_groups(own, rule, x_own, out):
    """Fill the block -S' (S r x) S of A of each group joint, as -(v x) is that of the base."""
    turned = range(get_int(own, of.TURNED), get_int(own, of.TURNED + 1), 2)
    factor, r = get_int(own, of.TURNED_FACTORS), 22 + get_int(own, of.OWN_POSITIONS)
    for k in turned:
        put(out, get_int(own, k), 0.0)
    for k in turned:
        to, rate = get_int(own, k), get(x_own, r + get_int(own, k + 1))
        put(out, to, get(out, to) + get(rule, factor) * rate)
        factor += 1


@lean_kernel
def gather_constraints(own, rule, sites, cw):
    """Fill the rows of E and Y that the caller's coordinates have."""
    k = get_int(own, of.STATES)
    stride, by_effort = get_int(sites, on.RATE_ROW), get_int(sites, on.BY_EFFORT)
    rates, to = get_int(sites, on.KEPT_RATES), get_int(sites, on.OWN_RATES)
    for r in range(get_int(sites, on.KEPT_ROWS)):
        gather_states(own, rule, cw, rates + r * stride, cw, to + r * stride)
        source = rates + r * stride + by_effort
        copy_runs(own, of.INPUT_RUNS, cw, source, cw, to + r * stride + by_effort)
    stride, rows = get_int(sites, on.KEPT_ROW), get_int(own, of.ROWS)
    responses, to = get_int(sites, on.KEPT_RESPONSES), get_int(sites, on.OWN_RESPONSES)
    for r in range(k // 2):
        source = responses + get_int(own, rows + r) * stride
        for v in range(0, stride, LANES):
            store8(cw, to + r * stride + v, load8(cw, source + v))


@lean_kernel
def gather_states(own, rule, source, begin, to, place):
    """Copy the columns by the state of one row, and add those of mimic joints.

    What runs write too much the next ones overwrite.
    """
    copy_runs(own, of.STATE_RUNS, source, begin, to, place)
    factor = 2 * get_int(own, of.JOINTS)
    for tie in range(get_int(own, of.TIES), get_int(own, of.TIES + 1), 2):
        column, sum_ = get_int(own, tie), place + get_int(own, tie + 1)
        put(to, sum_, get(to, sum_) + get(rule, factor) * get(source, begin + column))
        factor += 1


@lean_kernel
def copy_runs(own, part, source, begin, to, place):
    """Copy runs of [from, to, length] of one row, eight numbers at a time."""
    for run in range(get_int(own, part), get_int(own, part + 1), 3):
        first, into = begin + get_int(own, run), place + get_int(own, run + 1)
        for v in range(0, get_int(own, run + 2), LANES):
            store8(to, into + v, load8(source, first + v))
