# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Extended inverse dynamics of a moving-base tree, EIDAmb [Bos 2022, Table 4]."""

from typing import NamedTuple

import numpy as np

from geolin_papers.bos_2022.joints import jcalc, to_joint_frame
from geolin_papers.bos_2022.spatial import cross_twist, cross_wrench, inverse_transform
from geolin_ros.kernels.packing.types import Tree
from geolin_ros.typing import Array


class ExtendedInverseDynamics(NamedTuple):
    """All outputs and intermediate variables of Table 4, inputs of Tables 5-8.

    Arrays over bodies have nb entries, over coordinates n; the frame is the body's own.
    """

    s: Array
    """(n,) joint positions, as given."""
    r_dot: Array
    """(n,) joint accelerations, as given."""
    X: Array
    """(nb, 6, 6) ^i X_p, twists from parent to body; X[0] = ^0 X_A."""
    Gamma: Array
    """(nb, 6) motion subspace of joint i."""
    v_J: Array
    """(nb, 6) twist of joint i."""
    v: Array
    """(nb, 6) twist of body i relative to A."""
    a_r: Array
    """(nb, 6) ^i a_{A,i} - ^i X_0 a_0 + ^i a_grav, see `extended_inverse_dynamics`."""
    a_vp: Array
    """(nb, 6) the same without the joint accelerations."""
    M_c: Array
    """(nb, 6, 6) composite inertia."""
    m: Array
    """(nb, 6) momentum of body i."""
    b_c: Array
    """(nb, 6) composite bias wrench of a_r."""
    b_vp: Array
    """(nb, 6) composite bias wrench of a_vp."""
    a: Array
    """(nb, 6) ^i a_{A,0}: the base acceleration carried to frame i."""
    F: Array
    """(nb, 6, n) F[j][:, c]: wrench for a unit acceleration of coordinate c, in frame j; zero
    where j does not support c."""
    tau_bar: Array
    """(6 + n,) [base wrench; joint efforts]."""


def extended_inverse_dynamics(
    tree: Tree,
    H: Array,
    s: Array,
    v_0: Array,
    r: Array,
    r_dot: Array,
    gravity: Array,
    a_0: Array | None = None,
) -> ExtendedInverseDynamics:
    """Return tau_bar = M nu_dot + h and all that Table 4 computes on the way.

    Parameters
    ----------
    tree
        Floating base, single-axis joints.
    H : (4, 4)
        Pose of the base in the world frame A.
    s, r, r_dot : (n,)
        Joint positions, rates and accelerations.
    v_0 : (6,)
        Body twist of the base. Differs from Table 4, whose input is ^A v_{A,0}: the body twist
        is the state of the linearized system, so that it, not ^A v_{A,0}, is constant in
        the derivatives (errata B1).
    gravity : (3,)
        Gravity in world axes, (0, 0, -9.81) on Earth.
    a_0 : (6,), optional
        Acceleration ^0 a_{A,0} = d/dt ^0 v_{A,0} of the base in base axes. Without it the
        consistent one is taken, which leaves no base wrench (third remark of Table 4).

    Notes
    -----
    Differs from Table 4 line 15: the last factor is the constant ^{p|i} X_p, the print has ^p X_p
    (errata B29).

    Eq. (61) omits a term of a_r (errata B13): with the intrinsic acceleration ^i a_{0,i} relative
    to frame 0 it is ^i a_{0,i} + ^i v_{A,0} x ^i v_{0,i} + ^i a_grav.

    Lines 7, 11, 18, 22, 27 and 32-38 are kept, but nothing needs them: tau_b of line 40 equals
    M_c[0] a_0 + b_c[0] (errata B25). The quantities called vp contain gravity (errata B16).

    References
    ----------
    [Bos 2022, Table 4, Eqs. (39), (54)-(61)].
    """
    nb, n = tree.parent.shape[0], tree.armature.shape[0]
    c, M = tree.v_start, tree.inertia
    X, M_c = np.zeros((nb, 6, 6)), np.zeros((nb, 6, 6))
    Gamma, v_J, v, a_r, a_vp, m, b_c, b_vp, a = np.zeros((9, nb, 6))
    F = np.zeros((nb, 6, n))
    tau = np.zeros(n)

    X[0] = inverse_transform(H[:3, :3], H[:3, 3])  # 1-4
    v[0] = v_0  # 5, differs: see v_0
    # Differs from "gravitational acceleration": it is minus gravity, upwards (errata B12).
    a_grav = np.concatenate((-gravity, np.zeros(3)))
    a_r[0] = X[0] @ a_grav  # 6
    a_vp[0] = a_r[0]  # 7
    M_c[0] = M[0]  # 8
    m[0] = M[0] @ v[0]  # 9
    b_c[0] = M[0] @ a_r[0] + cross_wrench(v[0]) @ m[0]  # 10
    b_vp[0] = b_c[0]  # 11
    for i in range(1, nb):  # 12
        p = tree.parent[i]
        X_joint, Gamma[i] = jcalc(tree, i, s[c[i]])  # 13
        v_J[i] = Gamma[i] * r[c[i]]  # 14
        X[i] = X_joint @ to_joint_frame(tree, i)  # 15, differs (errata B29)
        v[i] = X[i] @ v[p] + v_J[i]  # 16
        a_r[i] = X[i] @ a_r[p] + Gamma[i] * r_dot[c[i]] + cross_twist(v[i]) @ v_J[i]  # 17
        a_vp[i] = X[i] @ a_vp[p] + cross_twist(v[i]) @ v_J[i]  # 18
        M_c[i] = M[i]  # 19
        m[i] = M[i] @ v[i]  # 20
        b_c[i] = M[i] @ a_r[i] + cross_wrench(v[i]) @ m[i]  # 21
        b_vp[i] = M[i] @ a_vp[i] + cross_wrench(v[i]) @ m[i]  # 22
    for i in range(nb - 1, 0, -1):  # 24
        p = tree.parent[i]
        M_c[p] = M_c[p] + X[i].T @ M_c[i] @ X[i]  # 25
        b_c[p] = b_c[p] + X[i].T @ b_c[i]  # 26
        b_vp[p] = b_vp[p] + X[i].T @ b_vp[i]  # 27
    a[0] = -np.linalg.solve(M_c[0], b_c[0]) if a_0 is None else a_0  # third remark
    for i in range(1, nb):  # 29
        a[i] = X[i] @ a[tree.parent[i]]  # 30
        tau[c[i]] = Gamma[i] @ (M_c[i] @ a[i] + b_c[i])  # 31
        F[i][:, c[i]] = M_c[i] @ Gamma[i]  # 32
        j = i  # 33
        while j > 0:  # 34; the last round is line 38
            F[tree.parent[j]][:, c[i]] = X[j].T @ F[j][:, c[i]]  # 35, 38
            j = tree.parent[j]  # 36
    tau_b = M_c[0] @ a[0] + F[0] @ r_dot + b_vp[0]  # 40
    # Differs from the printed output [tau; tau_b]: base first, as in Eq. (32) (errata B11).
    tau_bar = np.concatenate((tau_b, tau))
    return ExtendedInverseDynamics(
        s, r_dot, X, Gamma, v_J, v, a_r, a_vp, M_c, m, b_c, b_vp, a, F, tau_bar
    )
