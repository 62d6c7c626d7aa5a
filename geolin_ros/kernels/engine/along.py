# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A, B and defect of every interval of a trajectory, each in its own set of contacts.

    z_{k+1} = A_k z_k + B_k dtau_k + c_k,   z_k = log(x_k^-1 g_k)                           (1)
    exp(dt [[A, B, f], [0, 0, 0]]) = [[Phi, Gamma, theta], [0, 1]]                          (2)
    c_k = log(x_{k+1}^-1 x_k exp(theta)),   A_k = J_r^-1(c_k) Phi,   B_k = J_r^-1(c_k) Gamma (3)

The trajectory need not be a motion of the robot: c_k is by how much it is not.
"""

from geolin_ros.kernels import se3
from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.engine.exponential import PARTS, exponential, fill
from geolin_ros.kernels.engine.own_results import linearize_own
from geolin_ros.kernels.packing import own_layout as of
from geolin_ros.kernels.packing.layout import ROW_BLOCK
from geolin_ros.kernels.simd.vector import get, get_int
from geolin_ros.kernels.status import NOT_FINITE, OK

SCRATCH = 80  # a pose, its scratch, a matrix of twists, a twist

# --- a set of contacts: integers of a row -------------------------------------------------------
SITES = 0  # where its integers begin
WORK = 1  # its frames and scratch
OUT = 2  # its outputs
ROWS = 3  # number of its rows
PLACES = 4  # offset, in the places, of the row of all contacts that each of its rows is
SET_INTS = 5


@lean_kernel
def linearize_along(
    robot, sets, places, sites, cw, outs, memory, begin, given, A, B, c, nu_dot, f, f_z, f_u
):
    """Fill (1) of the intervals from ``begin`` on; return the first that failed, and its status.

    Parameters
    ----------
    robot
        ``(ints, floats, own, rule)`` of `own_results.linearize_own`.
    sets, places, sites, cw, outs
        The sets of contacts one behind the other, see above.
    memory
        ``(inputs, workspace, work, lists, scratch)``; two of `exponential.make_work`.
    given
        ``(states, tau, times, numbers of sets)``.
    A, B, c, nu_dot, f, f_z, f_u
        (N, ...) to be filled, rows of forces where the contact is in force.
    """
    ints, floats, own, rule = robot
    inputs, ws, work, lists, scratch = memory
    states, tau, times, numbers = given
    size, n_u = get_int(own, of.STATES), get_int(own, of.INPUTS)
    m = size // 2
    for k in range(begin, tau.shape[0]):
        s, dt = numbers[k], times[k + 1] - times[k]
        out, rows = outs[sets[s, OUT] :], sets[s, ROWS]
        site, contact = sites[sets[s, SITES] :], cw[sets[s, WORK] :]
        x, efforts = states[k], tau[k]
        status = linearize_own(ints, floats, site, contact, own, rule, x, efforts, inputs, ws, out)
        if status != OK:
            return k, status
        forces = size * size + size * n_u
        for e in range(m):
            nu_dot[k, e] = get(out, forces + e)
        forces += m
        for r in range(rows):
            row = places[sets[s, PLACES] + r]
            f[k, row] = get(out, forces + r)
            for e in range(size):
                f_z[k, row, e] = get(out, forces + rows + r * size + e)
            for e in range(n_u):
                f_u[k, row, e] = get(out, forces + rows + rows * size + r * n_u + e)
        fill(work, size, 0, out[: size * size].reshape(size, size), dt)
        effect = out[size * size : size * (size + n_u)].reshape(size, n_u)
        fill(work, size, size, effect, dt)
        stride = work.shape[0] // (PARTS * (size + ROW_BLOCK) + 1)
        velocity = states.shape[1] - m
        for e in range(m):
            work[e * stride + size + n_u] = dt * states[k, velocity + e]
            work[(m + e) * stride + size + n_u] = dt * nu_dot[k, e]
        E = exponential(work, lists, size, n_u + 1) * (size + ROW_BLOCK) * stride
        first = get_int(own, of.TOP)
        if not write_step(work[E:], stride, first, x, states[k + 1], scratch, A[k], B[k], c[k]):
            return k, NOT_FINITE
    return tau.shape[0], OK


@lean_kernel
def write_step(E, stride, first, x, x_next, scratch, A, B, c):
    """Fill (3) of one interval from (2); return whether it is finite."""
    size, n_u = B.shape
    theta, total = size + n_u, 0.0
    for e in range(first, size):
        at = 16 + e - first
        if first == 0 and e >= size // 2:
            at += 6  # a fixed base moves with no twist
        c[e] = x[at] + get(E, e * stride + theta) - x_next[at]
    for i in range(first, size):
        for j in range(size):
            A[i, j] = get(E, i * stride + j)
        for j in range(n_u):
            B[i, j] = get(E, i * stride + size + j)
    if first > 0:
        H, G = scratch[:16].reshape(4, 4), scratch[16:32].reshape(4, 4)
        J, z = scratch[32:68].reshape(6, 6), scratch[68:74]
        for e in range(6):
            z[e] = get(E, e * stride + theta)
        se3.retract(x[:16].reshape(4, 4), z, H)
        se3.difference(x_next[:16].reshape(4, 4), H, G, c[:6])
        se3.left_jacobian_inverse(c[:6], -1.0, J)
        for i in range(6):
            for j in range(size + n_u):
                entry = 0.0
                for e in range(6):
                    entry += J[i, e] * get(E, e * stride + j)
                if j < size:
                    A[i, j] = entry
                else:
                    B[i, j - size] = entry
    for i in range(size):
        total += c[i]
        for j in range(size):
            total += A[i, j]
    return total - total == 0.0


@lean_kernel
def difference_along(states, others, scratch, z):
    """Fill log(x_k^-1 y_k) (N, 12 + 2 n) of [H | s | v | r] whose joints have single axes."""
    G = scratch[:16].reshape(4, 4)
    for k in range(states.shape[0]):
        x, y = states[k], others[k]
        se3.difference(x[:16].reshape(4, 4), y[:16].reshape(4, 4), G, z[k, :6])
        for e in range(16, states.shape[1]):
            z[k, e - 10] = y[e] - x[e]


@lean_kernel
def retract_along(states, z, found):
    """Fill x_k exp(z_k) (N, 22 + 2 n)."""
    for k in range(states.shape[0]):
        x = found[k]
        se3.retract(states[k, :16].reshape(4, 4), z[k, :6], x[:16].reshape(4, 4))
        for e in range(16, states.shape[1]):
            x[e] = states[k, e] + z[k, e - 10]
