# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo as referee of accelerations: its own URDF parser, inertias and recursion.

Its free joint holds the velocity of the base origin in world axes and the angular velocity in
base axes; ours is the body twist v = (u; w), so that qacc = (R (udot + w x u); wdot).
"""

from xml.etree import ElementTree

import numpy as np
import pytest

mujoco = pytest.importorskip('mujoco')


class MujocoOracle:
    """Forward dynamics by MuJoCo in the coordinates of a `TreeModel` with a floating base.

    Contacts, joint limits and dry friction are off; damping is the URDF's.

    Parameters
    ----------
    path
        The URDF.
    model
        The model under test: gives names, order and gravity, no numbers.
    """

    def __init__(self, path, model):
        self.model = model
        spec = floating(path)
        spec.option.gravity = model.gravity
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        for joint in spec.joints:
            joint.frictionloss = 0.0
        self.mujoco_model = spec.compile()
        joints = [self.mujoco_model.joint(name) for name in model.joint_names]
        self.v = np.array([int(joint.dofadr[0]) for joint in joints])
        assert self.mujoco_model.nv == model.m, 'both sides have the same joints'

    def forward_dynamics(self, state, tau):
        """Return nu_dot (m,) for joint efforts ``tau`` (n,)."""
        return forward_dynamics(self.mujoco_model, self.model, state, tau)

    def mass(self):
        """Return the mass of all links."""
        return float(np.sum(self.mujoco_model.body_mass))


def forward_dynamics(theirs, model, state, tau):
    """Return nu_dot (m,) by MuJoCo's M and h; a joint that follows another does so exactly."""
    data, tree = mujoco.MjData(theirs), model.tree
    joints = [theirs.joint(name) for name in model.coordinate_names]
    R, v, w = state.H[:3, :3], state.v[:3], state.v[3:]
    T = np.zeros((theirs.nv, model.m))
    T[:6, :6] = np.eye(6)  # velocity of the origin in world axes, then as ours
    T[[int(joint.dofadr[0]) for joint in joints], 6 + tree.master] = tree.multiplier
    data.qpos[:3] = state.H[:3, 3]
    mujoco.mju_mat2Quat(data.qpos[3:7], np.ascontiguousarray(R).ravel())
    s = tree.position_multiplier * state.s[tree.position_master] + tree.offset
    data.qpos[[int(joint.qposadr[0]) for joint in joints]] = s
    data.qvel[:] = T @ np.concatenate((R @ v, w, state.r))
    mujoco.mj_forward(theirs, data)
    M = np.empty((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, M)
    force = T.T @ (data.qfrc_passive - data.qfrc_bias) + np.concatenate((np.zeros(6), tau))
    found = np.linalg.solve(T.T @ M @ T, force)
    found[:3] = R.T @ found[:3] - np.cross(w, v)
    return found


def floating(path):
    """Return MuJoCo's specification of a URDF, all links kept, on a free joint."""
    spec = mujoco.MjSpec.from_string(bodies_only(path))
    spec.compiler.fusestatic = spec.compiler.balanceinertia = False
    spec.worldbody.first_body().add_freejoint()
    return spec


def bodies_only(path):
    """Return the URDF text without shapes, sensors and the like, massless end links included."""
    robot = ElementTree.parse(path).getroot()
    for element in list(robot):
        if element.tag not in ('link', 'joint'):
            robot.remove(element)
    for link in robot.iter('link'):
        for shape in (*link.findall('visual'), *link.findall('collision')):
            link.remove(shape)
    return ElementTree.tostring(robot, encoding='unicode')
