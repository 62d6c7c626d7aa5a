# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Mass matrix by composite rigid bodies (CRBA).

[Featherstone 2008, Table 6.2; Bos 2022, section 4.1]
"""

from geolin_ros.kernels._jit import kernel
from geolin_ros.kernels.packing.types import Tree, Workspace
from geolin_ros.kernels.recursions.joints import place_bodies
from geolin_ros.kernels.recursions.mimic import expand_state, reduce_matrix
from geolin_ros.kernels.spatial import (
    add_inertia_to_parent,
    add_matvec,
    add_wrench_to_parent,
    dot6,
)


@kernel
def mass_matrix(tree: Tree, ws: Workspace, M_out):
    """Fill ``M_out`` (6 + n, 6 + n), armature included; needs `place_bodies`.

    Mc_p += _pX^i Mc_i ^iX_p;   F = Mc_i S_i carried up the path;   M[j, i] = S_j' F   (1)
    """
    nb = tree.parent.shape[0]
    M_out[:, :] = 0.0
    for i in range(nb):
        ws.inertia[i, :, :] = tree.inertia[i]
    for i in range(nb - 1, 0, -1):
        add_inertia_to_parent(ws.R[i], ws.o[i], ws.inertia[i], ws.inertia[tree.parent[i]])
    for i in range(1, nb):
        for c in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]):
            here, above = ws.moved, ws.rate
            for e in range(6):
                here[e] = 0.0
            add_matvec(ws.inertia[i], ws.S[c], here)
            j = i
            while j > 0:
                for b in range(tree.v_start[j], tree.v_start[j] + tree.v_size[j]):
                    M_out[6 + b, 6 + c] = dot6(ws.S[b], here)
                    M_out[6 + c, 6 + b] = M_out[6 + b, 6 + c]
                for e in range(6):
                    above[e] = 0.0
                add_wrench_to_parent(ws.R[j], ws.o[j], here, above)
                for e in range(6):
                    here[e] = above[e]
                j = tree.parent[j]
            for e in range(6):
                M_out[e, 6 + c] = here[e]
                M_out[6 + c, e] = here[e]
            M_out[6 + c, 6 + c] += tree.armature[c]
    for a in range(6):
        for b in range(6):
            M_out[a, b] = ws.inertia[0, a, b]


@kernel
def reduced_mass_matrix(tree: Tree, ws: Workspace, x_y, M_y_out):
    """Fill the mass matrix of the independent coordinates at x = [H (16) | s | v | r]."""
    expand_state(tree, x_y, ws.x)
    place_bodies(tree, ws, ws.x)
    mass_matrix(tree, ws, ws.M)
    reduce_matrix(tree, ws.M, 1, M_y_out)
