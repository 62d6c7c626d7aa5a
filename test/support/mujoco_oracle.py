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
        spec = mujoco.MjSpec.from_string(bodies_only(path))
        spec.compiler.fusestatic = False
        spec.compiler.balanceinertia = False
        spec.option.gravity = model.gravity
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        spec.worldbody.first_body().add_freejoint()
        for joint in spec.joints:
            joint.frictionloss = 0.0
        self.mujoco_model = spec.compile()
        self.data = mujoco.MjData(self.mujoco_model)
        joints = [self.mujoco_model.joint(name) for name in model.joint_names]
        self.q = np.array([int(joint.qposadr[0]) for joint in joints])
        self.v = np.array([int(joint.dofadr[0]) for joint in joints])
        assert self.mujoco_model.nv == model.m, 'both sides have the same joints'

    def forward_dynamics(self, state, tau):
        """Return nu_dot (m,) for joint efforts ``tau`` (n,)."""
        data, R, w = self.data, state.H[:3, :3], state.v[3:]
        data.qpos[:3] = state.H[:3, 3]
        mujoco.mju_mat2Quat(data.qpos[3:7], np.ascontiguousarray(R).ravel())
        data.qvel[:3], data.qvel[3:6] = R @ state.v[:3], w
        data.qpos[self.q], data.qvel[self.v] = state.s, state.r
        data.qfrc_applied[self.v] = tau
        mujoco.mj_forward(self.mujoco_model, data)
        linear = R.T @ data.qacc[:3] - np.cross(w, state.v[:3])
        return np.concatenate((linear, data.qacc[3:6], data.qacc[self.v]))

    def mass(self):
        """Return the mass of all links."""
        return float(np.sum(self.mujoco_model.body_mass))


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
