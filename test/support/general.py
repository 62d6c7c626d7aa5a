# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The dense linearization of any tree, as referee of the engine."""

import numpy as np

from geolin_ros.dynamics.arguments import failure
from geolin_ros.kernels.status import OK
from geolin_ros.model.wrenches import pack
from support.body_frames import make_workspace
from support.general_linearization import linearize


def linearization(model, state, tau, wrenches=()):
    """Return A, B and nu_dot with the rows, columns and inputs of the model."""
    n, first = model.n, 6 + model.n - model.m
    A, B, nu_dot = np.zeros((12 + 2 * n, 12 + 2 * n)), np.zeros((12 + 2 * n, n)), np.zeros(6 + n)
    status = linearize(
        model.tree,
        make_workspace(model.tree),
        state.data,
        np.asarray(tau, dtype=float),
        model.gravity,
        pack(model, wrenches),
        A,
        B,
        nu_dot,
    )
    if status != OK:
        raise failure(model, status, state, {'tau': np.asarray(tau)})
    kept = np.r_[first : 6 + n, 6 + n + first : 12 + 2 * n]
    inputs = [model.joint_index(name) for name in model.actuated_joints]
    return A[np.ix_(kept, kept)], B[np.ix_(kept, inputs)], nu_dot[first:]
