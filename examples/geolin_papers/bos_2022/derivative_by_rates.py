# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivative of the extended inverse dynamics by the joint rates r [Bos 2022, Table 8]."""

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


def derivative_by_rates(tree: Tree, eid: ExtendedInverseDynamics) -> Array:
    """Return D_4 (6 + n, n) = d tau_bar / dr, rows [base wrench; joint efforts].

    As printed; dv[0] = da_r[0] = db_c[0] = 0 is not stated there (errata B15).

    References
    ----------
    [Bos 2022, Table 8, Eq. (65)].
    """
    nb, n = tree.parent.shape[0], tree.armature.shape[0]
    c, M, X = tree.v_start, tree.inertia, eid.X
    dv, da_r, dm, db_c = np.zeros((4, nb, 6, n))
    dtau = np.zeros((n, n))

    for i in range(1, nb):  # 1
        p, k = tree.parent[i], c[i]
        dv_J = eid.Gamma[i]  # 2
        dv[i] = X[i] @ dv[p]  # 3
        dv[i][:, k] = dv[i][:, k] + dv_J  # 4
        da_r[i] = X[i] @ da_r[p] + columns_cross_twist(dv[i], eid.v_J[i])  # 5
        da_r[i][:, k] = da_r[i][:, k] + cross_twist(eid.v[i]) @ dv_J  # 6
        dm[i] = M[i] @ dv[i]  # 7
        db_c[i] = (  # 8
            M[i] @ da_r[i] + columns_cross_wrench(dv[i], eid.m[i]) + cross_wrench(eid.v[i]) @ dm[i]
        )
    for i in range(nb - 1, 0, -1):  # 10
        p = tree.parent[i]
        db_c[p] = db_c[p] + X[i].T @ db_c[i]  # 11
    for i in range(1, nb):  # 13
        dtau[c[i]] = eid.Gamma[i] @ db_c[i]  # 14
    dtau_b = db_c[0]  # 16
    return np.vstack((dtau_b, dtau))
