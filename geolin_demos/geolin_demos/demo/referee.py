# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by code that is not ours, from the description that the node read."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from geolin_demos.demo.dense_dynamics import DenseDynamics
from geolin_ros import mjcf, urdf
from geolin_ros.errors import ModelError
from geolin_ros.model.state import State
from geolin_ros.typing import Array

ForwardDynamics = Callable[[State, Array], Array]


@dataclass(frozen=True)
class Coordinates:
    """Names and order that a linearization message is in."""

    joint_names: tuple[str, ...]
    base_link: str
    gravity: Array
    base: int = 6
    """Velocities of the base, 0 if it is fixed."""

    @property
    def n(self) -> int:
        """Number of joint coordinates."""
        return len(self.joint_names)

    @property
    def m(self) -> int:
        """Number of velocities."""
        return self.base + self.n


@dataclass(frozen=True)
class Referee:
    """A forward dynamics, what it is called, and how many states it can judge in a few seconds."""

    name: str
    coordinates: Coordinates
    forward_dynamics: ForwardDynamics
    states: int


def make_referee(description: str | Path, coordinates: Coordinates) -> Referee:
    """Return who judges a URDF text, or an MJCF file.

    A file is MuJoCo's; a text Pinocchio's, where that is installed and reads the robot as we do,
    else that of dense matrices.
    """
    if isinstance(description, Path):
        import mujoco

        dynamics = mujoco_dynamics(mujoco, description, coordinates)
        return Referee(f'MuJoCo {mujoco.__version__}', coordinates, dynamics, 24)
    try:
        import pinocchio
    except ImportError:
        return dense_referee(description, coordinates)
    try:
        root = [pinocchio.JointModelFreeFlyer()] if coordinates.base else []
        model = pinocchio.buildModelFromXML(description, *root)
    except ValueError:  # it is stricter about some files
        return dense_referee(description, coordinates)
    if sorted(list(model.names)[1 + len(root) :]) != sorted(coordinates.joint_names):
        return dense_referee(description, coordinates)
    dynamics = pinocchio_dynamics(pinocchio, model, coordinates)
    return Referee(f'Pinocchio {pinocchio.__version__}', coordinates, dynamics, 24)


def dense_referee(description: str, coordinates: Coordinates) -> Referee:
    """Return the textbook dynamics in plain NumPy."""
    dynamics = DenseDynamics(urdf.read_text(description), coordinates)
    return Referee('dense matrices', coordinates, dynamics.forward_dynamics, 4)


def mujoco_dynamics(mj: Any, file: Path, coordinates: Coordinates) -> ForwardDynamics:
    """Return MuJoCo's mass matrix and forces of its own model, solved in our coordinates.

    Its free joint has the velocity of the base origin in world axes. Constraints and actuators are
    off; a joint that follows another does so exactly, by the columns of T. Raises `ModelError` if
    the linearizations are of another robot.
    """
    model = mj.MjModel.from_xml_path(str(file))
    model.opt.gravity[:] = coordinates.gravity
    model.opt.disableflags = mj.mjtDisableBit.mjDSBL_CONSTRAINT | mj.mjtDisableBit.mjDSBL_ACTUATION
    data = mj.MjData(model)
    k = coordinates.base
    column_of = {name: c for c, name in enumerate(coordinates.joint_names, start=k)}
    follows = {joint.name: joint.mimic for joint in mjcf.read(file).description.joints}
    if not set(column_of) <= set(follows):
        raise ModelError(
            f'linearizations are of joints {list(column_of)}, expected those of {file}; another '
            'robot publishes on this ROS_DOMAIN_ID, choose one of your own'
        )
    free = [j for j in range(model.njnt) if model.jnt_type[j] == mj.mjtJoint.mjJNT_FREE]
    T, offset, places = np.zeros((model.nv, coordinates.m)), np.zeros(model.nq), []
    for j in free:
        T[model.jnt_dofadr[j] : model.jnt_dofadr[j] + 6, :6] = np.eye(6)
    for j in sorted(set(range(model.njnt)) - set(free)):
        name, ratio, start = model.joint(j).name or f'joint{j}', 1.0, 0.0
        while (mimic := follows[name]) is not None:
            name, ratio, start = (
                mimic.joint, ratio * mimic.multiplier, start + ratio * mimic.offset
            )  # fmt: skip
        T[model.jnt_dofadr[j], column_of[name]] = ratio
        offset[model.jnt_qposadr[j]] = start
        places.append((int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])))
    q_of, v_of = (list(place) for place in zip(*places, strict=True))
    columns, M_T = T.T.copy(), np.empty((coordinates.m, model.nv))

    def forward_dynamics(state: State, tau: Array) -> Array:
        R, w = state.H[:3, :3], state.v[3:]
        nu = np.concatenate((R @ state.v[:3], w, state.r))[6 - k :]
        data.qpos[:] = offset
        data.qpos[q_of] += T[v_of, k:] @ state.s
        for j in free:
            at = int(model.jnt_qposadr[j])
            data.qpos[at : at + 3] = state.H[:3, 3]
            mj.mju_mat2Quat(data.qpos[at + 3 : at + 7], np.ascontiguousarray(R).ravel())
        data.qvel[:] = T @ nu
        mj.mj_forward(model, data)
        for product, column in zip(M_T, columns, strict=True):
            mj.mj_mulM(model, data, product, column)
        force = T.T @ (data.qfrc_passive - data.qfrc_bias)
        force[k:] += tau
        nu_dot = np.linalg.solve(M_T @ T, force)
        if k:
            nu_dot[:3] = R.T @ nu_dot[:3] - np.cross(w, state.v[:3])
        return nu_dot

    return forward_dynamics


def pinocchio_dynamics(pin: Any, model: Any, coordinates: Coordinates) -> ForwardDynamics:
    """Return Pinocchio's articulated-body algorithm in our order of coordinates.

    Its free flyer has pose and body twist as ours. A continuous joint is stored as (cos, sin),
    and damping does not enter its dynamics: it is added here, as an effort.
    """
    model.gravity.linear = np.array(coordinates.gravity)
    data = model.createData()
    joints = [model.joints[model.getJointId(name)] for name in coordinates.joint_names]
    k = coordinates.base
    order = np.array([*range(k), *(joint.idx_v for joint in joints)])
    plain = [(c, joint.idx_q) for c, joint in enumerate(joints) if joint.nq == 1]
    turning = [(c, joint.idx_q) for c, joint in enumerate(joints) if joint.nq == 2]
    damping = np.array(model.damping)[order[k:]]
    q, nu, effort = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)

    def forward_dynamics(state: State, tau: Array) -> Array:
        if k:
            q[:7] = pin.SE3ToXYZQUAT(pin.SE3(state.H[:3, :3], state.H[:3, 3]))
        for c, at in plain:
            q[at] = state.s[c]
        for c, at in turning:
            q[at : at + 2] = np.cos(state.s[c]), np.sin(state.s[c])
        nu[order] = np.concatenate((state.v[:k], state.r))
        effort[order[k:]] = tau - damping * state.r
        nu_dot: Array = np.array(pin.aba(model, data, q, nu, effort))[order]
        return nu_dot

    return forward_dynamics
