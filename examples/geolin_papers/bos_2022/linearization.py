# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B from the tables [Bos 2022, Propositions 1-3]."""

import numpy as np

from geolin_papers.bos_2022.derivative_by_pose import derivative_by_pose
from geolin_papers.bos_2022.derivative_by_positions import derivative_by_positions
from geolin_papers.bos_2022.derivative_by_rates import derivative_by_rates
from geolin_papers.bos_2022.derivative_by_twist import derivative_by_twist
from geolin_papers.bos_2022.extended_inverse_dynamics import extended_inverse_dynamics
from geolin_papers.bos_2022.inverse_mass_matrix import inverse_mass_matrix
from geolin_papers.bos_2022.spatial import cross_twist
from geolin_ros.kernels.packing.types import Tree
from geolin_ros.typing import Array


def linearization(
    tree: Tree, H: Array, s: Array, v: Array, r: Array, tau: Array, gravity: Array
) -> tuple[Array, Array, Array]:
    """Return A (2 m, 2 m), B (2 m, n) and nu_dot (m,) about a state and efforts, m = 6 + n.

    nu_dot = M^-1 ([0; tau] - h)                                                       (19)
    A = [[-(v x), 0, 1, 0], [0, 0, 0, 1], [-M^-1 D_1, -M^-1 D_2, -M^-1 D_3, -M^-1 D_4]]  (42)
    B = [0; 0; M^-1 [0; 1]]                                                            (31)

    of zdot = A z + B w, w the variation of tau: Proposition 1 prints w = tau (errata B28);
    with D_1..D_4 at the accelerations of (19), where the extended inverse dynamics is consistent.
    Arguments as in `extended_inverse_dynamics`, ^A H_0 perturbed as H exp(z_H^).

    References
    ----------
    [Bos 2022, Propositions 1-3].
    """
    n = tree.armature.shape[0]
    m = 6 + n
    Minv = inverse_mass_matrix(tree, s)
    at_rest = np.zeros(n)
    h = extended_inverse_dynamics(tree, H, s, v, r, at_rest, gravity, np.zeros(6)).tau_bar
    nu_dot = Minv @ (np.concatenate((np.zeros(6), tau)) - h)
    eid = extended_inverse_dynamics(tree, H, s, v, r, nu_dot[6:], gravity, nu_dot[:6])
    D = (
        derivative_by_pose(tree, eid),
        derivative_by_positions(tree, eid),
        derivative_by_twist(tree, eid),
        derivative_by_rates(tree, eid),
    )
    A, B = np.zeros((2 * m, 2 * m)), np.zeros((2 * m, n))
    A[:6, :6] = -cross_twist(v)
    A[:m, m:] = np.eye(m)
    A[m:] = -Minv @ np.hstack(D)
    B[m:] = Minv[:, 6:]
    return A, B, nu_dot
