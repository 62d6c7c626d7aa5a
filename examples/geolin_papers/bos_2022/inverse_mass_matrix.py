# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse of the mass matrix of a moving-base tree, IMMAmb [Bos 2022, Table 9]."""

import numpy as np

from geolin_papers.bos_2022.joints import jcalc, subtree, to_joint_frame
from geolin_ros.kernels.packing.types import Tree
from geolin_ros.typing import Array


def inverse_mass_matrix(tree: Tree, s: Array) -> Array:
    """Return M^-1 (6 + n, 6 + n) at the joint positions s (n,), rows [base; joints].

    The recursion numbers joint i (1, 2, ...) by its body as the table does, in row i + 5 as
    counted from zero (errata B21); the result is ordered by coordinates.

    Notes
    -----
    Differs from Table 9 line 4: the base gets its M_A too; Minv, F and P start from zero
    (errata B9). F_i and P_i have 6 + n columns, not n (errata B10).

    Differs from Table 9 line 11: both terms are carried to the parent, as X (F + U Minv) and not
    X (F) + U Minv (errata B7).

    Differs from Table 9 line 18: columns [:, i + 5:], the print selects rows (errata B8).

    Differs from Table 9 line 26: the lower left block is filled as well (errata B9).

    References
    ----------
    [Bos 2022, Table 9, Eq. (81)].
    """
    nb, n = tree.parent.shape[0], tree.armature.shape[0]
    X, M_A, F, P = np.zeros((nb, 6, 6)), np.zeros((nb, 6, 6)), *np.zeros((2, nb, 6, 6 + n))
    Gamma, U, D = np.zeros((nb, 6)), np.zeros((nb, 6)), np.zeros(nb)
    Minv = np.zeros((6 + n, 6 + n))

    M_A[0] = tree.inertia[0]  # differs (errata B9)
    for i in range(1, nb):  # 1
        X_joint, Gamma[i] = jcalc(tree, i, s[tree.q_start[i]])  # 2
        X[i] = X_joint @ to_joint_frame(tree, i)  # 3
        M_A[i] = tree.inertia[i]  # 4
    for i in range(nb - 1, 0, -1):  # 6
        p, row = tree.parent[i], i + 5
        supported = [j + 5 for j in subtree(tree, i)]
        U[i] = M_A[i] @ Gamma[i]  # 7
        D[i] = Gamma[i] @ U[i]  # 8
        Minv[row, row] = 1.0 / D[i]  # 9
        Minv[row, supported] -= Gamma[i] @ F[i][:, supported] / D[i]  # 10
        # 11, differs (errata B7)
        F[p][:, supported] += X[i].T @ (F[i][:, supported] + np.outer(U[i], Minv[row, supported]))
        M_a = M_A[i] - np.outer(U[i], U[i]) / D[i]  # 12
        M_A[p] = M_A[p] + X[i].T @ M_a @ X[i]  # 13
    P[0][:, 6:] = -np.linalg.solve(M_A[0], F[0][:, 6:])  # 15
    for i in range(1, nb):  # 16
        p, row = tree.parent[i], i + 5
        Minv[row, row:] -= U[i] @ X[i] @ P[p][:, row:] / D[i]  # 17
        # 18, differs (errata B8)
        P[i][:, row:] = np.outer(Gamma[i], Minv[row, row:]) + X[i] @ P[p][:, row:]
    Minv[:6, 6:] = P[0][:, 6:]  # 20
    for i in range(1, nb):  # 21
        for j in range(i, nb):  # 22
            Minv[j + 5, i + 5] = Minv[i + 5, j + 5]  # 23
    Minv[:6, :6] = np.linalg.inv(M_A[0])  # 26
    Minv[6:, :6] = Minv[:6, 6:].T  # differs (errata B9)

    row_of = np.arange(6 + n)
    row_of[6 + tree.v_start[1:]] = 6 + np.arange(n)  # from coordinates to bodies
    by_coordinates: Array = Minv[np.ix_(row_of, row_of)]
    return by_coordinates
