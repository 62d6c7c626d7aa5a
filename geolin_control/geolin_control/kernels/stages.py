# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A quadratic program over the stages of a linear system, by Riccati recursion.

    minimize    sum_k [z; w; 1]' H_k [z; w; 1] / 2      z_0 given,  w_N absent
    subject to  z_{k+1} = A_k z_k + B_k w_k + c_k,   g_k = C_k z_k + D_k w_k + e_k <= 0,
                lower_k <= w_k <= upper_k

Inequalities enter by an augmented Lagrangian [Nocedal 2006, section 17.3]

    sum max(0, lambda + mu g)^2 / (2 mu)                                                    (1)

which is quadratic where the rows with lambda + mu g > 0, the *active* ones, stay the same. One
recursion with F = [A B c], G the active rows of [C D e + lambda/mu], is a semi-smooth Newton step
[Qi 1993]:

    H <- H + F' [P+ F, + p+ in the last column] + G' mu G                                   (2)
    L L' = H_ww;   Y = L^-1 [H_wz h_w];   [P p] = [H_zz h_z] - Y_z' Y;   [K k] = -L^-T Y    (3)

It is followed by an exact search along the line to what it found, on the convex and piecewise
quadratic function (1) is part of.

Rows that cannot be satisfied move their multipliers by the same y >= 0 each round in the end
[Chiche 2016]. These prove it where, with p_k = C_k' y_k + A_k' p_{k+1}, p_N = 0, the least over
the bounds on w is positive of

    sum y'g = sum y'g at hand + sum (D_k' y_k + B_k' p_{k+1})'(w_k - w_k at hand)           (4)

All matrices of a stage have rows of one length, `Sizes.stride`, zero beyond what they are.
"""

import math
from typing import NamedTuple

import numpy as np

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.packing.layout import COLUMN_BLOCK, LANES, ROW_BLOCK, aligned_zeros
from geolin_ros.kernels.simd.product import add_product, clear
from geolin_ros.kernels.simd.vector import get, lane_sum, load8, put, splat8, store8
from geolin_ros.typing import Array, IntArray

SOLVED, UNSETTLED, INFEASIBLE, INDEFINITE, OVERFLOWED = 0, 1, 2, 3, 4
LEAST_PIVOT = 1e-13  # of its diagonal entry
BISECTIONS = 40
STILL = 1e-11  # of the largest number: the point has not moved
FAR = 1e3  # times the largest input: where inputs without bounds end in (4)
ROUNDING = 1e-10  # of the terms of (4)


class Sizes(NamedTuple):
    """Numbers of stages, states, inputs, rows; lengths of rows, and of F to K of a stage."""

    N: int
    n_x: int
    n_u: int
    rows: int
    stride: int
    F: int
    H: int
    G: int
    K: int


class Memory(NamedTuple):
    """A problem, its solution and scratch, flat."""

    F: Array
    H: Array
    G: Array
    lower: Array
    upper: Array
    mu: Array
    """(N, rows + 2 n_u) weights of rows, upper and lower bounds; the next ones alike."""
    multipliers: Array
    g: Array
    g_new: Array
    x: Array
    """(N + 1, stride) rows [z, w, 1]."""
    x_new: Array
    K: Array
    """(N, n_u, stride) gains [K 0 k]."""
    work: Array
    lists: IntArray


def sizes_of(N: int, n_x: int, n_u: int, rows: int) -> Sizes:
    """Return the sizes of a problem."""
    width = n_x + n_u + 1
    stride = -(-width // COLUMN_BLOCK) * COLUMN_BLOCK + LANES  # not a power of two: caches alias
    F, H, G, K = (stride * (-(-k // ROW_BLOCK) * ROW_BLOCK) for k in (n_x, width, rows, n_u))
    return Sizes(N, n_x, n_u, rows, stride, F, H, G, K)


def make_memory(s: Sizes) -> Memory:
    """Return zeroed memory for a problem; bounds are infinite."""
    every = s.N * (s.rows + 2 * s.n_u)
    return Memory(
        F=aligned_zeros(s.N * s.F + s.stride),
        H=aligned_zeros((s.N + 1) * s.H + s.stride),
        G=aligned_zeros(s.N * s.G + s.stride),
        lower=np.full(s.N * s.n_u, -np.inf),
        upper=np.full(s.N * s.n_u, np.inf),
        mu=np.ones(every),
        multipliers=np.zeros(every),
        g=np.zeros(every),
        g_new=np.zeros(every),
        x=aligned_zeros((s.N + 1) * s.stride),
        x_new=aligned_zeros((s.N + 1) * s.stride),
        K=aligned_zeros(s.N * s.K + s.stride),
        work=aligned_zeros(s.F + 2 * s.H + 2 * s.K + s.G + 4 * s.stride),
        lists=np.arange(max(s.n_x, s.n_u, s.rows) + 1),
    )


@lean_kernel
def solve(s, m, rounds, newton_steps, most):
    """Find z, w and gains from the multipliers and inputs w in memory; return status and steps.

    ``rounds`` updates of the multipliers, of ``newton_steps`` recursions at most, ``most`` in all.
    """
    steps, status = 0, SOLVED
    roll_out(s, m, m.x, False)
    evaluate(s, m, m.x, m.g)
    for _ in range(rounds):
        settled = False
        for _ in range(min(newton_steps, most - steps)):
            steps += 1
            if not recur(s, m):
                return INDEFINITE, steps
            roll_out(s, m, m.x_new, True)
            evaluate(s, m, m.x_new, m.g_new)
            t = step_length(s, m)
            if t - t != 0.0:
                return OVERFLOWED, steps
            changed = move(m, t)
            if not changed:
                settled = True
                break
        status = SOLVED if settled else UNSETTLED
        update_multipliers(m)
        if steps == most:
            break
    if is_infeasible(s, m):
        status = INFEASIBLE
    return status, steps


@lean_kernel
def product(M, row, x, at, stride):
    """Return a row of a matrix times a vector, both as long as a stride."""
    total = splat8(0.0)
    for v in range(0, stride, LANES):
        total = total + load8(M, row + v) * load8(x, at + v)
    return lane_sum(total)


@lean_kernel
def roll_out(s, m, x, by_gains):
    """Fill z from z_0 on and, by the gains, w; z_0 is that of ``m.x``."""
    last = s.n_x + s.n_u
    for i in range(s.n_x):
        put(x, i, get(m.x, i))
    for k in range(s.N + 1):
        at = k * s.stride
        put(x, at + last, 1.0)
        if k == s.N:
            break
        if by_gains:
            for i in range(s.n_u):
                put(x, at + s.n_x + i, 0.0)
            for i in range(s.n_u):
                row = k * s.K + i * s.stride
                put(x, at + s.n_x + i, product(m.K, row, x, at, s.stride))
        for i in range(s.n_x):
            row = k * s.F + i * s.stride
            put(x, at + s.stride + i, product(m.F, row, x, at, s.stride))


@lean_kernel
def evaluate(s, m, x, g):
    """Fill g of all rows and bounds."""
    every = s.rows + 2 * s.n_u
    for k in range(s.N):
        at = k * s.stride
        for r in range(s.rows):
            g[k * every + r] = product(m.G, k * s.G + r * s.stride, x, at, s.stride)
        for i in range(s.n_u):
            w, bound = get(x, at + s.n_x + i), k * every + s.rows + i
            g[bound] = w - m.upper[k * s.n_u + i]
            g[bound + s.n_u] = m.lower[k * s.n_u + i] - w


@lean_kernel
def recur(s, m):
    """Find the gains of all stages by (2) and (3), last first; return whether all are unique."""
    n_x, n_u, stride = s.n_x, s.n_u, s.stride
    last, every = n_x + n_u, s.rows + 2 * s.n_u
    V, H, P, Y, active = 0, s.F, s.F + s.H, s.F + 2 * s.H, s.F + 2 * s.H + 2 * s.K
    less = Y + s.K
    for v in range(0, n_x * stride, LANES):
        store8(m.work, P + v, load8(m.H, s.N * s.H + v))
    for k in range(s.N - 1, -1, -1):
        F = k * s.F
        clear(m.work, V, s.F)
        width = last + 1
        by_P = (P, stride, 1)
        add_product(m.work, V, stride, n_x, width, m.work, by_P, m.F, F, stride, m.lists, 0, n_x)
        for i in range(n_x):
            affine = V + i * stride + last
            put(m.work, affine, get(m.work, affine) + get(m.work, P + i * stride + last))
        for v in range(0, s.H, LANES):
            store8(m.work, H + v, load8(m.H, k * s.H + v))
        by_F = (F, 1, stride)
        add_product(m.work, H, stride, last, width, m.F, by_F, m.work, V, stride, m.lists, 0, n_x)
        count = 0
        for r in range(s.rows):
            e = k * every + r
            mu, price = m.mu[e], m.multipliers[e]
            if price + mu * m.g[e] > 0.0:
                root, to = math.sqrt(mu), active + count * stride
                for v in range(0, stride, LANES):
                    store8(m.work, to + v, root * load8(m.G, k * s.G + r * stride + v))
                put(m.work, to + last, get(m.work, to + last) + price / root)
                count += 1
        if count > 0:
            by_G = (active, 1, stride)
            G = m.work
            add_product(G, H, stride, last, width, G, by_G, G, active, stride, m.lists, 0, count)
        add_bounds(s, m, k, H)
        if not eliminate(s, m, H, Y, less):
            return False
        for v in range(0, n_x * stride, LANES):
            store8(m.work, P + v, load8(m.work, H + v))
        by_Y = (less, 1, stride)
        add_product(
            m.work, P, stride, n_x, width, m.work, by_Y, m.work, Y, stride, m.lists, 0, n_u
        )
        for i in range(n_x):  # what is not symmetric would grow as the system does by itself
            for j in range(i):
                one, other = P + i * stride + j, P + j * stride + i
                mean = 0.5 * (get(m.work, one) + get(m.work, other))
                put(m.work, one, mean)
                put(m.work, other, mean)
        find_gains(s, m, k, H, Y)
    return True


@lean_kernel
def add_bounds(s, m, k, H):
    """Add the active bounds of a stage to H."""
    last, every = s.n_x + s.n_u, s.rows + 2 * s.n_u
    for i in range(s.n_u):
        row = H + (s.n_x + i) * s.stride
        for side in range(2):
            e = k * every + s.rows + side * s.n_u + i
            mu, price = m.mu[e], m.multipliers[e]
            if price + mu * m.g[e] > 0.0:
                put(m.work, row + s.n_x + i, get(m.work, row + s.n_x + i) + mu)
                pull = price - mu * m.upper[k * s.n_u + i]
                if side == 1:
                    pull = -price - mu * m.lower[k * s.n_u + i]
                put(m.work, row + last, get(m.work, row + last) + pull)


@lean_kernel
def eliminate(s, m, H, Y, less):
    """Fill Y and -Y of (3), L in place of the lower part of H_ww; return whether it exists."""
    n_x, stride = s.n_x, s.stride
    for i in range(s.n_u):
        row = H + (n_x + i) * stride
        to = Y + i * stride
        for v in range(0, stride, LANES):
            store8(m.work, to + v, load8(m.work, row + v))
        first = get(m.work, row + n_x + i)
        for j in range(i):
            other = Y + j * stride
            add_row(m.work, to, -get(m.work, other + n_x + i), m.work, other, stride)
        pivot = get(m.work, to + n_x + i)
        if not (pivot > LEAST_PIVOT * first and pivot - pivot == 0.0):
            return False
        scale = 1.0 / math.sqrt(pivot)
        for v in range(0, stride, LANES):
            scaled = scale * load8(m.work, to + v)
            store8(m.work, to + v, scaled)
            store8(m.work, less + i * stride + v, 0.0 - scaled)
    return True


@lean_kernel
def find_gains(s, m, k, H, Y):
    """Fill [K 0 k] = -L^-T Y of a stage; L' is the part of Y by w, upper triangular."""
    n_x, stride = s.n_x, s.stride
    for i in range(s.n_u - 1, -1, -1):
        to, row = k * s.K + i * stride, Y + i * stride
        scale = 1.0 / get(m.work, row + n_x + i)
        for v in range(0, stride, LANES):
            store8(m.K, to + v, 0.0 - scale * load8(m.work, row + v))
        for j in range(i + 1, s.n_u):
            factor = -scale * get(m.work, row + n_x + j)
            add_row(m.K, to, factor, m.K, k * s.K + j * stride, stride)
        for j in range(s.n_u):
            put(m.K, to + n_x + j, 0.0)


@lean_kernel
def step_length(s, m):
    """Return t in [0, 1] where the function is least between the old point and the new one."""
    slope = curvature = 0.0
    last, at = s.n_x + s.n_u, 0
    for k in range(s.N + 1):
        for i in range(s.n_x if k == s.N else last):
            row = k * s.H + i * s.stride
            here = product(m.H, row, m.x, at, s.stride)
            there = product(m.H, row, m.x_new, at, s.stride)
            move_by = get(m.x_new, at + i) - get(m.x, at + i)
            slope += move_by * here
            curvature += move_by * (there - here)
        at += s.stride
    if slope_at(m, slope, curvature, 1.0) <= 0.0:
        return 1.0
    below, above = 0.0, 1.0
    for _ in range(BISECTIONS):
        t = 0.5 * (below + above)
        value = slope_at(m, slope, curvature, t)
        if value - value != 0.0:
            return value
        if value > 0.0:
            above = t
        else:
            below = t
    return above


@lean_kernel
def slope_at(m, slope, curvature, t):
    """Return the derivative of the function along the line."""
    value = slope + t * curvature
    for e in range(m.g.size):
        dg = m.g_new[e] - m.g[e]
        if dg - dg == 0.0:  # not of an infinite bound
            force = m.multipliers[e] + m.mu[e] * (m.g[e] + t * dg)
            if force > 0.0:
                value += force * dg
    return value


@lean_kernel
def move(m, t):
    """Go t of the way to the new point; return whether another Newton step would differ."""
    changed = t < 1.0
    for e in range(m.g.size):
        mu, price = m.mu[e], m.multipliers[e]
        before = price + mu * m.g[e] > 0.0
        if t >= 1.0:
            m.g[e] = m.g_new[e]
        elif m.g_new[e] - m.g[e] == m.g_new[e] - m.g[e]:
            m.g[e] += t * (m.g_new[e] - m.g[e])
        changed = changed or before != (price + mu * m.g[e] > 0.0)
    way, size = 0.0, 1.0
    for e in range(m.x.size):
        old = m.x[e]
        m.x[e] = m.x_new[e] if t >= 1.0 else old + t * (m.x_new[e] - old)
        way, size = max(way, abs(m.x[e] - old)), max(size, abs(old))
    return changed and not way <= STILL * size


@lean_kernel
def update_multipliers(m):
    """Move the multipliers to where they balance the violation; ``g_new`` is how far."""
    for e in range(m.g.size):
        price = max(0.0, m.multipliers[e] + m.mu[e] * m.g[e])
        m.g_new[e] = price - m.multipliers[e]
        m.multipliers[e] = price


@lean_kernel
def is_infeasible(s, m):
    """Return whether (4) proves that nothing within the bounds satisfies all rows."""
    n_x, n_u, stride, every = s.n_x, s.n_u, s.stride, s.rows + 2 * s.n_u
    p, sums = 0, stride
    reach = 1.0
    for k in range(s.N):
        for i in range(n_u):
            reach = max(reach, abs(get(m.x, k * stride + n_x + i)))
            if m.lower[k * n_u + i] > m.upper[k * n_u + i]:
                return True
    least = terms = 0.0
    for i in range(n_x):
        put(m.work, p + i, 0.0)
    for k in range(s.N - 1, -1, -1):
        clear(m.work, sums, stride)
        for i in range(n_x):
            add_row(m.work, sums, get(m.work, p + i), m.F, k * s.F + i * stride, stride)
        for r in range(s.rows):
            y, row = m.g_new[k * every + r], k * s.G + r * stride
            if y > 0.0:
                add_row(m.work, sums, y, m.G, row, stride)
                least += y * m.g[k * every + r]
                for j in range(n_x + n_u + 1):
                    terms += y * abs(get(m.G, row + j) * get(m.x, k * stride + j))
        for i in range(n_u):
            w, slope = get(m.x, k * stride + n_x + i), get(m.work, sums + n_x + i)
            way = w - m.lower[k * n_u + i] if slope > 0.0 else m.upper[k * n_u + i] - w
            least -= abs(slope) * min(way, FAR * reach)
        for i in range(n_x):
            put(m.work, p + i, get(m.work, sums + i))
    return least > ROUNDING * terms


@lean_kernel
def add_row(sums, at, factor, M, row, stride):
    """Add a row of a matrix times a factor."""
    for v in range(0, stride, LANES):
        store8(sums, at + v, load8(sums, at + v) + factor * load8(M, row + v))
