# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots as people write them in MJCF: defaults, several joints a body, motors, a floor."""

import numpy as np

LEG = """
<body name="{side}_thigh" pos="0 {y} 0">
 <joint name="{side}_hip_yaw" axis="0 0 1" range="-40 40"/>
 <joint name="{side}_hip_roll" axis="1 0 0" range="-30 30"/>
 <joint name="{side}_hip_pitch" axis="0 1 0"/>
 <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"/>
 <body name="{side}_shin" pos="0 0 -0.4">
  <joint name="{side}_knee" axis="0 1 0" range="0 140" stiffness="2" springref="10"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.04"/>
  <body name="{side}_foot" pos="0 0 -0.4">
   <joint name="{side}_ankle_pitch" axis="0 1 0"/>
   <joint name="{side}_ankle_roll" axis="1 0 0" range="-30 30"/>
   <geom type="box" size="0.11 0.05 0.01" pos="0.02 0 -0.05"/>
</body></body></body>"""
JOINTS = [
    f'{side}_{joint}'
    for side in 'lr'
    for joint in ('hip_yaw', 'hip_roll', 'hip_pitch', 'knee', 'ankle_pitch', 'ankle_roll')
]
BIPED = f"""<mujoco model="stranger"><compiler angle="degree" autolimits="true"/>
<default><joint damping="0.5" armature="0.01" range="-80 80" frictionloss="0.2"/>
 <geom density="600"/><motor gear="4"/></default>
<worldbody><geom name="floor" type="plane" size="5 5 0.1"/>
 <body name="torso" pos="0 0 0.95"><freejoint name="root"/>
  <geom type="box" size="0.08 0.12 0.15" pos="0 0 0.18"/><site name="imu"/>
  {LEG.format(side='l', y=0.1)}{LEG.format(side='r', y=-0.1)}
 </body></worldbody>
<actuator>{''.join(f'<motor joint="{name}" ctrlrange="-30 30"/>' for name in JOINTS)}</actuator>
<sensor><gyro site="imu"/></sensor></mujoco>"""
"""Two legs of six joints; motors of 120 N m at the joint."""


def deviation(file, model, state, tau, nu_dot):
    """Return how far an acceleration is from MuJoCo's of the file, over the largest of it.

    Without constraints and actuators; a joint that follows another does so exactly.
    """
    import mujoco as mj

    theirs = mj.MjModel.from_xml_path(str(file))
    theirs.opt.disableflags = (
        mj.mjtDisableBit.mjDSBL_CONSTRAINT | mj.mjtDisableBit.mjDSBL_ACTUATION
    )
    data, tree = mj.MjData(theirs), model.tree
    joints = [theirs.joint(name) for name in model.coordinate_names]
    R, v, w = state.H[:3, :3], state.v[:3], state.v[3:]
    T = np.zeros((theirs.nv, model.m))
    T[:6, :6] = np.eye(6)  # velocity of the origin in world axes, then as ours
    T[[joint.dofadr[0] for joint in joints], 6 + tree.master] = tree.multiplier
    data.qpos[:3] = state.H[:3, 3]
    mj.mju_mat2Quat(data.qpos[3:7], np.ascontiguousarray(R).ravel())
    s = tree.position_multiplier * state.s[tree.position_master] + tree.offset
    data.qpos[[joint.qposadr[0] for joint in joints]] = s
    data.qvel[:] = T @ np.concatenate((R @ v, w, state.r))
    mj.mj_forward(theirs, data)
    M = np.empty((theirs.nv, theirs.nv))
    mj.mj_fullM(theirs, data, M)
    force = T.T @ (data.qfrc_passive - data.qfrc_bias) + np.concatenate((np.zeros(6), tau))
    expected = np.linalg.solve(T.T @ M @ T, force)
    expected[:3] = R.T @ expected[:3] - np.cross(w, v)
    return np.max(np.abs(nu_dot - expected)) / np.max(np.abs(expected))
