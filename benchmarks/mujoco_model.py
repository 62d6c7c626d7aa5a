# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot for MuJoCo: floating, without shapes and constraints."""

from pathlib import Path
from xml.etree import ElementTree

import mujoco


def free_model(path: Path) -> mujoco.MjModel:
    """Return the robot of a URDF."""
    robot = ElementTree.parse(path).getroot()
    for element in [*robot.findall('transmission'), *robot.findall('gazebo')]:
        robot.remove(element)
    for link in robot.iter('link'):
        for shape in (*link.findall('visual'), *link.findall('collision')):
            link.remove(shape)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding='unicode'))
    spec.compiler.balanceinertia = True
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    spec.worldbody.first_body().add_freejoint()
    return spec.compile()
