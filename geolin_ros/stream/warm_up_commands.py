# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compile, or load from the cache, what commands take beside."""

import numpy as np

from geolin_ros.dynamics.batch import mass_matrix
from geolin_ros.kernels.engine import stein
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.spatial.se3 import rotation_from_quaternion
from geolin_ros.stream.warm_up import small_model


def warm_up_commands() -> None:
    """Run what commands take beside: many samples at once, bases in a posture, differences."""
    model = small_model()
    state = model.neutral_state()
    Linearizer(model).batch([state], np.zeros((1, model.n)))
    mass_matrix(model, [state])
    work, _, numbers = stein.make_work(model.m)
    stein.stein(work, numbers, 1e-9, 1)
    state.difference(state)
    rotation_from_quaternion([0.0, 0.0, 0.0, 1.0])
