# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by code that is not ours, from the description that the robot published."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from geolin_demos.demo.dense_dynamics import DenseDynamics
from geolin_ros import urdf
from geolin_ros.model.state import State
from geolin_ros.typing import Array

ForwardDynamics = Callable[[State, Array], Array]


@dataclass(frozen=True)
class Coordinates:
    """Names and order that a linearization message is in; its base floats."""

    joint_names: tuple[str, ...]
    base_link: str
    gravity: Array

    @property
    def n(self) -> int:
        """Number of joint coordinates."""
        return len(self.joint_names)

    @property
    def m(self) -> int:
        """Number of velocities."""
        return 6 + self.n


@dataclass(frozen=True)
class Referee:
    """A forward dynamics, what it is called, and how many states it can judge in a few seconds."""

    name: str
    coordinates: Coordinates
    forward_dynamics: ForwardDynamics
    states: int


def make_referee(description: str, coordinates: Coordinates) -> Referee:
    """Return Pinocchio where it is installed and reads the robot as we do, else dense matrices."""
    try:
        import pinocchio
    except ImportError:
        return dense_referee(description, coordinates)
    try:
        model = pinocchio.buildModelFromXML(description, pinocchio.JointModelFreeFlyer())
    except ValueError:  # it is stricter about some files
        return dense_referee(description, coordinates)
    if sorted(list(model.names)[2:]) != sorted(coordinates.joint_names):
        return dense_referee(description, coordinates)
    dynamics = pinocchio_dynamics(pinocchio, model, coordinates)
    return Referee(f'Pinocchio {pinocchio.__version__}', coordinates, dynamics, 24)


def dense_referee(description: str, coordinates: Coordinates) -> Referee:
    """Return the textbook dynamics in plain NumPy."""
    dynamics = DenseDynamics(urdf.read_text(description), coordinates)
    return Referee('dense matrices', coordinates, dynamics.forward_dynamics, 4)


def pinocchio_dynamics(pin: Any, model: Any, coordinates: Coordinates) -> ForwardDynamics:
    """Return Pinocchio's articulated-body algorithm in our order of coordinates.

    Its free flyer has pose and body twist as ours. A continuous joint is stored as (cos, sin),
    and damping does not enter its dynamics: it is added here, as an effort.
    """
    model.gravity.linear = np.array(coordinates.gravity)
    data = model.createData()
    joints = [model.joints[model.getJointId(name)] for name in coordinates.joint_names]
    order = np.array([*range(6), *(joint.idx_v for joint in joints)])
    plain = [(c, joint.idx_q) for c, joint in enumerate(joints) if joint.nq == 1]
    turning = [(c, joint.idx_q) for c, joint in enumerate(joints) if joint.nq == 2]
    damping = np.array(model.damping)[order[6:]]
    q, nu, effort = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)

    def forward_dynamics(state: State, tau: Array) -> Array:
        q[:7] = pin.SE3ToXYZQUAT(pin.SE3(state.H[:3, :3], state.H[:3, 3]))
        for c, at in plain:
            q[at] = state.s[c]
        for c, at in turning:
            q[at : at + 2] = np.cos(state.s[c]), np.sin(state.s[c])
        nu[order] = np.concatenate((state.v, state.r))
        effort[order[6:]] = tau - damping * state.r
        nu_dot: Array = np.array(pin.aba(model, data, q, nu, effort))[order]
        return nu_dot

    return forward_dynamics
