# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivative of the extended inverse dynamics by the joint positions s [Bos 2022, Table 6]."""

import numpy as np

from geolin_papers.bos_2022.extended_inverse_dynamics import ExtendedInverseDynamics
from geolin_papers.bos_2022.joints import jcalcderv, to_joint_frame
from geolin_papers.bos_2022.spatial import (
    columns_cross_twist,
    columns_cross_wrench,
    cross_wrench,
)
from geolin_ros.kernels.packing.types import Tree
from geolin_ros.typing import Array


def derivative_by_positions(tree: Tree, eid: ExtendedInverseDynamics) -> Array:
    """Return D_2 (6 + n, n) = d tau_bar / ds, rows [base wrench; joint efforts].

    The loops of the table over k are array operations on axis k here.

    Notes
    -----
    Differs from Table 6 line 16: the last factor is ^i X_p, the print lost its i (errata B4).

    Differs from Table 6 line 18: the last factor is d ^i X_p / ds_i, the print says
    d _p X^i / ds_i (errata B3).

    Differs from Table 6 line 47: times the number r_dot_i, the print has the vector (errata B5).

    Line 31 is the part of d(M_c a)/ds that comes from M_c, line 34 adds the part that comes from
    a; lines 35-47 are kept, but dtau_b equals d(M_c[0] a_0)/ds + db_c[0] (errata B6, B25).

    References
    ----------
    [Bos 2022, Table 6, Eq. (63)].
    """
    nb, n = tree.parent.shape[0], tree.armature.shape[0]
    c, M, X = tree.v_start, tree.inertia, eid.X
    # Zero where the table starts from a value that it does not give (errata B15).
    dv, da_r, da_vp, dm, db_c, db_vp, da = np.zeros((7, nb, 6, n))
    dX = np.zeros((nb, 6, 6))  # by s_i alone; d _p X^i / ds_i is its transpose (errata B15)
    dM_c = np.zeros((nb, n, 6, 6))
    dtau, dFr_dot = np.zeros((n, n)), np.zeros((6, n))

    for i in range(1, nb):  # 1
        p, k = tree.parent[i], c[i]
        dX[i] = jcalcderv(tree, i, eid.s[k]) @ to_joint_frame(tree, i)  # 2, 3
        dv[i] = X[i] @ dv[p]  # 4
        dv[i][:, k] = dv[i][:, k] + dX[i] @ eid.v[p]  # 5
        da_r[i] = X[i] @ da_r[p] + columns_cross_twist(dv[i], eid.v_J[i])  # 6
        da_r[i][:, k] = da_r[i][:, k] + dX[i] @ eid.a_r[p]  # 7
        da_vp[i] = X[i] @ da_vp[p] + columns_cross_twist(dv[i], eid.v_J[i])  # 8
        da_vp[i][:, k] = da_vp[i][:, k] + dX[i] @ eid.a_vp[p]  # 9
        dm[i] = M[i] @ dv[i]  # 10
        gyroscopic = columns_cross_wrench(dv[i], eid.m[i]) + cross_wrench(eid.v[i]) @ dm[i]
        db_c[i] = M[i] @ da_r[i] + gyroscopic  # 11
        db_vp[i] = M[i] @ da_vp[i] + gyroscopic  # 12
    for i in range(nb - 1, 0, -1):  # 14
        p, k = tree.parent[i], c[i]
        dM_c[p] = dM_c[p] + X[i].T @ dM_c[i] @ X[i]  # 15-17, differs (errata B4)
        # 18, differs (errata B3)
        dM_c[p, k] = dM_c[p, k] + dX[i].T @ eid.M_c[i] @ X[i] + X[i].T @ eid.M_c[i] @ dX[i]
        db_c[p] = db_c[p] + X[i].T @ db_c[i]  # 19
        db_c[p][:, k] = db_c[p][:, k] + dX[i].T @ eid.b_c[i]  # 20
        db_vp[p] = db_vp[p] + X[i].T @ db_vp[i]  # 21
        db_vp[p][:, k] = db_vp[p][:, k] + dX[i].T @ eid.b_vp[i]  # 22
    dM_a0 = (dM_c[0] @ eid.a[0]).T  # 24-26
    for i in range(1, nb):  # 27
        p, k = tree.parent[i], c[i]
        da[i] = X[i] @ da[p]  # 28
        da[i][:, k] = da[i][:, k] + dX[i] @ eid.a[p]  # 29
        dM_a = (dM_c[i] @ eid.a[i]).T  # 31
        dF = (dM_c[i] @ eid.Gamma[i]).T  # 32
        dtau[k] = eid.Gamma[i] @ (dM_a + eid.M_c[i] @ da[i] + db_c[i])  # 34
        j = i  # 35
        while j > 0:  # 36; the last round is lines 43-46
            dF = X[j].T @ dF  # 37-39
            dF[:, c[j]] = dF[:, c[j]] + dX[j].T @ eid.F[j][:, k]  # 40
            j = tree.parent[j]  # 41
        dFr_dot = dFr_dot + dF * eid.r_dot[k]  # 47, differs (errata B5)
    dtau_b = dM_a0 + dFr_dot + db_vp[0]  # 49
    return np.vstack((dtau_b, dtau))
