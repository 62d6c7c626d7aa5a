# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots as people write them in MJCF: defaults, several joints a body, motors, a floor."""

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
