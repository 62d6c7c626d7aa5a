# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots at random motions beside Pinocchio's model of them, and the frames of their twists."""

import numpy as np
import pytest

from geolin_ros import robots
from geolin_ros.spatial.frames import MovingFrame
from support.finite_difference import exp
from support.pinocchio_oracle import PinocchioOracle, pin
from support.robots import example_robot, read_robot

PINOCCHIO = {
    'body': pin.ReferenceFrame.LOCAL,
    'inertial': pin.ReferenceFrame.WORLD,
    'mixed': pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}
NAMES = tuple(PINOCCHIO)
ARBITRARY = MovingFrame(exp(np.array([0.3, -0.2, 0.5, 1.0, -0.4, 0.7])), np.linspace(-1, 1, 6))
EXPRESSIONS = [pytest.param(name, id=name) for name in NAMES]
EXPRESSIONS.append(pytest.param(ARBITRARY, id='arbitrary'))
FLOATING = (('quadruped', 'floating'), ('talos_reduced', 'floating'))
ROBOTS = (*FLOATING, ('quadruped', 'fixed'))


class MovingRobot:
    """A robot at a random state, accelerations chosen apart from it."""

    def __init__(self, name, base='floating', seed=7):
        path = robots.path(name) if name == 'quadruped' else example_robot(name)
        _, self.model = read_robot(path, base=base)
        self.oracle = PinocchioOracle.read_urdf(path, self.model)
        rng = np.random.default_rng(seed)
        self.state = self.model.random_state(rng, speed=2.0)
        self.nu_dot = rng.normal(size=self.model.m)

    def along(self, t, nu_dot=None):
        """Return the state a time t later; first order is enough for a derivative."""
        return later(self.model, self.state, self.nu_dot if nu_dot is None else nu_dot, t)


def later(model, state, nu_dot, t):
    """Return the state a time t later, to first order."""
    nu = np.concatenate((state.v, state.r))[-model.m :]
    return state.retract(t * np.concatenate((nu, nu_dot)))
