# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Mimic joints: the tree's coordinates from independent ones, and back for forces.

s = G y + s0, one entry of G a row; T = blkdiag(1_6, G), T2 = blkdiag(1_6, G, 1_6, G):

    M_y = T' M T,   tau_y = T' tau,   nu = T nu_y,   D_y = T' D T2                     (1)

Joints that follow no other have a row of the identity; (1) then copies.
"""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.packing.types import Tree


@kernel
def expand_state(tree: Tree, x, x_out):
    """Fill ``x_out`` = [H | s | v | r] of the tree from ``x`` = [H | y | v | y_dot]."""
    n, n_q = tree.master.shape[0], tree.offset.shape[0]
    more = n_q - n  # mimic joints have one axis: as many positions more than rates in y as in s
    n_y = (x.shape[0] - 22 - more) // 2
    for e in range(16):
        x_out[e] = x[e]
    for e in range(6):
        x_out[16 + n_q + e] = x[16 + n_y + more + e]
    for c in range(n_q):
        x_out[16 + c] = tree.position_multiplier[c] * x[16 + tree.position_master[c]]
        x_out[16 + c] += tree.offset[c]
    for c in range(n):
        x_out[22 + n_q + c] = tree.multiplier[c] * x[22 + n_y + more + tree.master[c]]


@kernel
def expand_velocity(tree: Tree, nu_y, nu_out):
    """Nu = T nu_y."""
    for e in range(6):
        nu_out[e] = nu_y[e]
    for c in range(tree.master.shape[0]):
        nu_out[6 + c] = tree.multiplier[c] * nu_y[6 + tree.master[c]]


@kernel
def reduce_force(tree: Tree, tau, tau_y_out):
    """tau_y = T' tau."""
    tau_y_out[:] = 0.0
    for e in range(6):
        tau_y_out[e] = tau[e]
    for c in range(tree.master.shape[0]):
        tau_y_out[6 + tree.master[c]] += tree.multiplier[c] * tau[6 + c]


@kernel
def reduce_matrix(tree: Tree, D, columns, D_y_out):
    """D_y = T' D blkdiag(T, ...) with ``columns`` groups of 6 + n columns: 1 for M, 2 for dtau."""
    n, m, m_y = tree.master.shape[0], D.shape[0], D_y_out.shape[0]
    D_y_out[:, :] = 0.0
    for row in range(m):
        row_y, row_factor = row, 1.0
        if row >= 6:
            row_y, row_factor = 6 + tree.master[row - 6], tree.multiplier[row - 6]
        for group in range(columns):
            at, at_y = group * m, group * m_y
            for e in range(6):
                D_y_out[row_y, at_y + e] += row_factor * D[row, at + e]
            for c in range(n):
                D_y_out[row_y, at_y + 6 + tree.master[c]] += (
                    row_factor * tree.multiplier[c] * D[row, at + 6 + c]
                )
