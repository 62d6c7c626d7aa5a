# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivative of the extended inverse dynamics by the base pose H [Bos 2022, Table 5]."""

import numpy as np

from geolin_papers.bos_2022.extended_inverse_dynamics import ExtendedInverseDynamics
from geolin_papers.bos_2022.spatial import (
    columns_cross_twist,
    columns_cross_wrench,
    cross_twist,
    cross_wrench,
)
from geolin_ros.kernels.packing.types import Tree
from geolin_ros.typing import Array


def derivative_by_pose(tree: Tree, eid: ExtendedInverseDynamics) -> Array:
    """Return D_1 (6 + n, 6) = d tau_bar(H exp(z^)) / dz at 0, rows [base wrench; joint efforts].

    The body twist, the rates and the accelerations are constant.

    Notes
    -----
    Differs from Table 5 line 1: dv_0 = 0. The printed Eq. (67) equals v_0 x, the derivative with
    the twist ^A v_{A,0} constant; in Tables 6-8 and Eq. (42) the body twist is (errata B1). The
    two readings differ by D_3 (v_0 x).

    Differs from Table 5 line 12: the sum starts from db[p], the print says db[i] (errata B2).

    Gravity accelerates all bodies alike, so D_1 = M[:, :6] (a_r,0 x) in closed form.

    References
    ----------
    [Bos 2022, Table 5, Eqs. (62), (68)].
    """
    nb, n = tree.parent.shape[0], tree.armature.shape[0]
    c, M, X = tree.v_start, tree.inertia, eid.X
    dv, da_r, dm, db_c = np.zeros((4, nb, 6, 6))
    dtau = np.zeros((n, 6))

    dv[0] = np.zeros((6, 6))  # 1, differs (errata B1)
    da_r[0] = cross_twist(eid.a_r[0])  # 2, Eq. (68) in one word
    dm[0] = M[0] @ dv[0]  # 3
    db_c[0] = (  # 4
        M[0] @ da_r[0] + columns_cross_wrench(dv[0], eid.m[0]) + cross_wrench(eid.v[0]) @ dm[0]
    )
    for i in range(1, nb):  # 5
        p = tree.parent[i]
        dv[i] = X[i] @ dv[p]  # 6
        da_r[i] = X[i] @ da_r[p] + columns_cross_twist(dv[i], eid.v_J[i])  # 7
        dm[i] = M[i] @ dv[i]  # 8
        db_c[i] = (  # 9
            M[i] @ da_r[i] + columns_cross_wrench(dv[i], eid.m[i]) + cross_wrench(eid.v[i]) @ dm[i]
        )
    for i in range(nb - 1, 0, -1):  # 11
        p = tree.parent[i]
        db_c[p] = db_c[p] + X[i].T @ db_c[i]  # 12, differs (errata B2)
    for i in range(1, nb):  # 14
        dtau[c[i]] = eid.Gamma[i] @ db_c[i]  # 15
    dtau_b = db_c[0]  # 17
    # Differs from the printed output [tau; tau_b]: base first, as Tables 6-8 (errata B11).
    return np.vstack((dtau_b, dtau))
