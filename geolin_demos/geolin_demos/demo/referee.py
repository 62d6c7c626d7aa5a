# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A, B and accelerations by code that shares nothing with the kernels."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from geolin_ros.errors import ModelError, ModelWarning
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.outputs.reading import ReceivedLinearization
from geolin_ros.typing import Array
from geolin_ros.verification.accelerations import PrescribedAccelerations
from geolin_ros.verification.bodies import Bodies
from geolin_ros.verification.directional import Directional, Form

Referee = Callable[[State, Array], tuple[Array, Array, Array]]
"""A (2 m, 2 m), B (2 m, n) and nu_dot (m,) about a state and efforts (n,)."""


def referee_for(description: str | Path, received: ReceivedLinearization) -> Referee:
    """Return what the linearizations of a URDF text, or of an MJCF file, have to be.

    Derivatives of Newton and Euler's equations by complex steps, along unit vectors. Raises
    `ModelError` if what was received is of another robot, or the description cannot be used.
    """
    read = TreeModel.from_mjcf if isinstance(description, Path) else TreeModel.from_urdf
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)  # the node says the same
        model = read(
            description,
            base='floating' if len(received.nu_dot) > len(received.tau) else 'fixed',
            gravity=received.gravity.tolist(),
        )
    if model.joint_names != received.joint_names:
        raise ModelError(
            f'linearizations are of joints {list(received.joint_names)}, expected those of robot '
            f'{model.name!r}, {list(model.joint_names)}; another robot publishes on this '
            'ROS_DOMAIN_ID, choose one of your own'
        )
    acting, m = PrescribedAccelerations(Bodies(model), ()), model.m
    directions = np.eye(2 * m + len(model.actuated))

    def linearize(state: State, tau: Array) -> tuple[Array, Array, Array]:
        products = Directional(Form(), acting, state, tau)
        A_B = products(directions[: 2 * m], directions[2 * m :])
        return A_B[:, : 2 * m], A_B[:, 2 * m :], products.f[m:]

    return linearize
