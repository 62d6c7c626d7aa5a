# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Write the bundled robots, ``geolin_ros/robots/*.urdf``.

A link is a mass spread evenly over its primitives, so its inertia follows from what one sees; the
right side is the mirror image of the left one by construction.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Comment, Element, SubElement, indent, tostring

import numpy as np

ROBOTS = Path(__file__).parents[1] / 'geolin_ros' / 'robots'
TURN = {'x': (0, np.pi / 2, 0), 'y': (np.pi / 2, 0, 0), 'z': (0, 0, 0)}
AXIS = {'x': (1, 0, 0), 'y': (0, 1, 0), 'z': (0, 0, 1)}


class Motor(NamedTuple):
    """What moves a joint: limits of effort [N m] and rate [rad/s], and damping [N m s/rad]."""

    effort: float
    velocity: float
    damping: float


@dataclass(frozen=True)
class Part:
    """A primitive at ``at`` in the link frame; a cylinder points along ``axis``."""

    shape: str
    size: tuple[float, ...]  # box: x y z; cylinder: radius length; sphere: radius
    at: tuple[float, float, float] = (0, 0, 0)
    axis: str = 'z'
    collides: bool = False

    def volume_and_gyration(self):
        """Return volume and inertia per mass about the centre (diagonal, in link axes)."""
        if self.shape == 'box':
            x, y, z = np.square(self.size)
            return float(np.prod(self.size)), np.array([y + z, x + z, x + y]) / 12
        if self.shape == 'sphere':
            (r,) = self.size
            return 4 / 3 * np.pi * r**3, np.full(3, 0.4 * r**2)
        r, length = self.size
        across = (3 * r**2 + length**2) / 12
        along = np.array(AXIS[self.axis], dtype=bool)
        return np.pi * r**2 * length, np.where(along, r**2 / 2, across)


class Robot:
    """Collects links and joints of one URDF."""

    def __init__(self, name, about):
        self.xml = Element('robot', name=name)
        self.xml.append(Comment(f' {about} '))
        # Keep frames such as feet and soles when MuJoCo loads the file.
        compiler = SubElement(self.xml, 'mujoco')
        SubElement(compiler, 'compiler', fusestatic='false', discardvisual='false')
        for color, rgba in (('dark', '0.2 0.2 0.22 1'), ('light', '0.75 0.77 0.8 1')):
            SubElement(SubElement(self.xml, 'material', name=color), 'color', rgba=rgba)

    def link(self, name, mass=0.0, parts=(), color='light'):
        """Add a link of a mass spread evenly over its parts; without mass, a mere frame."""
        link = SubElement(self.xml, 'link', name=name)
        if not mass:
            return
        volumes, gyrations = zip(*(p.volume_and_gyration() for p in parts), strict=True)
        masses = mass * np.array(volumes) / sum(volumes)
        com = masses @ np.array([p.at for p in parts]) / mass
        inertia = np.zeros((3, 3))
        for part, m, gyration in zip(parts, masses, gyrations, strict=True):
            d = np.array(part.at) - com
            inertia += m * (np.diag(gyration) + d @ d * np.eye(3) - np.outer(d, d))
        inertial = SubElement(link, 'inertial')
        SubElement(inertial, 'origin', xyz=text(com), rpy='0 0 0')
        SubElement(inertial, 'mass', value=text(mass))
        entries = {f'i{"xyz"[i]}{"xyz"[j]}': inertia[i, j] for i in range(3) for j in range(i, 3)}
        SubElement(inertial, 'inertia', {key: text(value) for key, value in entries.items()})
        for part in parts:
            for kind in ('visual', 'collision') if part.collides else ('visual',):
                element = SubElement(link, kind)
                SubElement(element, 'origin', xyz=text(part.at), rpy=text(TURN[part.axis]))
                geometry = SubElement(element, 'geometry')
                if part.shape == 'box':
                    SubElement(geometry, 'box', size=text(part.size))
                elif part.shape == 'sphere':
                    SubElement(geometry, 'sphere', radius=text(part.size[0]))
                else:
                    radius, length = part.size
                    SubElement(geometry, 'cylinder', radius=text(radius), length=text(length))
                if kind == 'visual':
                    SubElement(element, 'material', name=color)

    def fixed(self, parent, child, at):
        """Add a fixed joint."""
        joint = SubElement(self.xml, 'joint', name=f'{child}_fixed', type='fixed')
        SubElement(joint, 'origin', xyz=text(at), rpy='0 0 0')
        SubElement(joint, 'parent', link=parent)
        SubElement(joint, 'child', link=child)

    def revolute(self, name, parent, child, at, axis, span, motor):
        """Add a hinge."""
        joint = SubElement(self.xml, 'joint', name=name, type='revolute')
        SubElement(joint, 'origin', xyz=text(at), rpy='0 0 0')
        SubElement(joint, 'parent', link=parent)
        SubElement(joint, 'child', link=child)
        SubElement(joint, 'axis', xyz=text(AXIS[axis]))
        lower, upper = (text(value) for value in span)
        limits = {'lower': lower, 'upper': upper}
        effort, velocity = text(motor.effort), text(motor.velocity)
        SubElement(joint, 'limit', limits, effort=effort, velocity=velocity)
        SubElement(joint, 'dynamics', damping=text(motor.damping), friction='0')

    def __str__(self):
        indent(self.xml)
        header = (
            '<?xml version="1.0"?>\n'
            '<!-- SPDX-FileCopyrightText: 2026 geolin_ros contributors -->\n'
            '<!-- SPDX-License-Identifier: Apache-2.0 -->\n'
        )
        return header + tostring(self.xml, encoding='unicode') + '\n'


def text(values):
    """Return numbers with seven digits, without negative zeros."""
    return ' '.join(f'{float(value) + 0.0:.7g}' for value in np.atleast_1d(np.round(values, 12)))


def mirrored(span, side):
    """Return a range as seen from the left (side = 1) or right (-1)."""
    return span if side > 0 else (-span[1], -span[0])


def quadruped():
    """Return a 15 kg quadruped: 12 joints, legs of 0.22 + 0.22 m, point feet of radius 20 mm."""
    robot = Robot('quadruped', 'Generic 12-joint quadruped, 15 kg; x forward, z up.')
    robot.link('base', 6.96, [Part('box', (0.38, 0.16, 0.11), collides=True)], 'dark')
    robot.link('imu')
    robot.fixed('base', 'imu', (0, 0, 0.03))
    for leg, front, side in (('FL', 1, 1), ('FR', 1, -1), ('RL', -1, 1), ('RR', -1, -1)):
        hip, thigh, calf, foot = (f'{leg}_{part}' for part in ('hip', 'thigh', 'calf', 'foot'))
        robot.link(hip, 0.68, [Part('cylinder', (0.044, 0.05), (0, 0.03 * side, 0), 'y')], 'dark')
        motor = Part('cylinder', (0.044, 0.04), (0, -0.022 * side, 0), 'y')
        robot.link(thigh, 1.12, [motor, Part('box', (0.036, 0.024, 0.2), (0, 0, -0.12))])
        robot.link(calf, 0.17, [Part('cylinder', (0.01, 0.2), (0, 0, -0.1))], 'dark')
        robot.link(foot, 0.04, [Part('sphere', (0.02,), collides=True)], 'dark')
        robot.revolute(f'{hip}_joint', 'base', hip, (0.19 * front, 0.05 * side, 0), 'x',
                       mirrored((-0.8, 1.0), side), Motor(24, 30, 0.05))  # fmt: skip
        robot.revolute(f'{thigh}_joint', hip, thigh, (0, 0.09 * side, 0), 'y',
                       (-1.5, 3.4), Motor(24, 30, 0.05))  # fmt: skip
        robot.revolute(f'{calf}_joint', thigh, calf, (0, 0, -0.22), 'y',
                       (-2.7, -0.6), Motor(45, 16, 0.05))  # fmt: skip
        robot.fixed(calf, foot, (0, 0, -0.22))
    return robot


def humanoid():
    """Return a 42 kg humanoid: 28 joints, legs of 0.73 m, soles of 176 x 60 mm."""
    robot = Robot('humanoid', 'Generic 28-joint humanoid, 42 kg; x forward, z up.')
    pelvis = Part('box', (0.14, 0.2, 0.12), (0, 0, -0.04), collides=True)
    robot.link('pelvis', 4.4, [pelvis], 'dark')
    robot.link('imu')
    robot.fixed('pelvis', 'imu', (0, 0, 0.01))
    robot.link('waist_yaw_link', 0.4, [Part('cylinder', (0.06, 0.04))], 'dark')
    robot.link('waist_roll_link', 0.4, [Part('cylinder', (0.04, 0.08), axis='x')], 'dark')
    robot.link('torso', 10.2, [Part('box', (0.18, 0.24, 0.34), (0.01, 0, 0.2), collides=True)])
    robot.link('head', 1.8, [Part('sphere', (0.085,), (0.01, 0, 0.11), collides=True)], 'dark')
    robot.revolute('waist_yaw', 'pelvis', 'waist_yaw_link', (0, 0, 0.04), 'z',
                   (-2.4, 2.4), Motor(90, 20, 0.2))  # fmt: skip
    robot.revolute('waist_roll', 'waist_yaw_link', 'waist_roll_link', (0, 0, 0.05), 'x',
                   (-0.5, 0.5), Motor(90, 20, 0.2))  # fmt: skip
    robot.revolute('waist_pitch', 'waist_roll_link', 'torso', (0, 0, 0), 'y',
                   (-0.5, 0.8), Motor(90, 20, 0.2))  # fmt: skip
    robot.revolute('neck_yaw', 'torso', 'head', (0, 0, 0.38), 'z', (-1.4, 1.4), Motor(5, 10, 0.05))
    for name, side in (('left', 1), ('right', -1)):
        leg(robot, name, side)
        arm(robot, name, side)
    return robot


def leg(robot, name, side):
    """Add a leg: hip pitch, roll, yaw, knee, ankle pitch, roll, and the frame of the sole."""
    parent = 'pelvis'
    thigh = [
        Part('cylinder', (0.055, 0.18), (0, 0, -0.09)),
        Part('cylinder', (0.05, 0.09), (0, 0, -0.24), 'y'),
    ]
    shank = [Part('cylinder', (0.035, 0.26), (0, 0, -0.16))]
    # The ankle stands 30 mm behind the middle of the sole.
    foot = [
        Part('box', (0.176, 0.06, 0.02), (0.03, 0, -0.035), collides=True),
        Part('box', (0.07, 0.04, 0.03), (0, 0, -0.01)),
    ]
    for joint, at, axis, span, effort, velocity, mass, parts, color in (
        ('hip_pitch', (0, 0.06 * side, -0.08), 'y', (-2.4, 1.2), 120, 20,
         1.4, [Part('cylinder', (0.05, 0.06), (0, 0.025 * side, 0), 'y')], 'dark'),
        ('hip_roll', (0, 0.045 * side, 0), 'x', mirrored((-0.4, 1.4), side), 120, 20,
         1.4, [Part('cylinder', (0.048, 0.09), (0, 0, -0.01), 'x')], 'light'),
        ('hip_yaw', (0, 0, -0.09), 'z', mirrored((-1.2, 1.2), side), 90, 25,
         3.1, thigh, 'light'),
        ('knee', (0, 0, -0.25), 'y', (-0.05, 2.5), 150, 20, 2.2, shank, 'light'),
        ('ankle_pitch', (0, 0, -0.33), 'y', (-0.9, 0.6), 60, 25,
         0.2, [Part('cylinder', (0.02, 0.05), axis='y')], 'dark'),
        ('ankle_roll', (0, 0, -0.015), 'x', mirrored((-0.35, 0.35), side), 40, 25,
         0.7, foot, 'dark'),
    ):  # fmt: skip
        link = f'{name}_foot' if joint == 'ankle_roll' else f'{name}_{joint}_link'
        robot.link(link, mass, parts, color)
        robot.revolute(
            f'{name}_{joint}', parent, link, at, axis, span, Motor(effort, velocity, 0.2)
        )
        parent = link
    robot.link(f'{name}_sole')
    robot.fixed(parent, f'{name}_sole', (0.03, 0, -0.045))


def arm(robot, name, side):
    """Add an arm: shoulder pitch, roll, yaw, elbow, wrist yaw, pitch."""
    parent = 'torso'
    for joint, at, axis, span, effort, velocity, mass, parts, color in (
        ('shoulder_pitch', (0, 0.14 * side, 0.32), 'y', (-2.8, 1.2), 30, 25,
         0.7, [Part('cylinder', (0.04, 0.05), (0, 0.02 * side, 0), 'y')], 'dark'),
        ('shoulder_roll', (0, 0.05 * side, 0), 'x', mirrored((-0.3, 2.2), side), 30, 25,
         0.7, [Part('cylinder', (0.038, 0.08), axis='x')], 'light'),
        ('shoulder_yaw', (0, 0, -0.06), 'z', mirrored((-1.6, 1.6), side), 30, 25,
         0.9, [Part('cylinder', (0.032, 0.17), (0, 0, -0.085))], 'light'),
        ('elbow', (0, 0, -0.18), 'y', (-2.2, 0.05), 30, 25,
         0.6, [Part('cylinder', (0.03, 0.11), (0, 0, -0.055))], 'light'),
        ('wrist_yaw', (0, 0, -0.11), 'z', mirrored((-1.6, 1.6), side), 10, 20,
         0.3, [Part('cylinder', (0.026, 0.09), (0, 0, -0.045))], 'dark'),
        ('wrist_pitch', (0, 0, -0.1), 'y', (-1.2, 1.2), 10, 20,
         0.3, [Part('box', (0.05, 0.03, 0.1), (0, 0, -0.06))], 'light'),
    ):  # fmt: skip
        link = f'{name}_hand' if joint == 'wrist_pitch' else f'{name}_{joint}_link'
        robot.link(link, mass, parts, color)
        robot.revolute(
            f'{name}_{joint}', parent, link, at, axis, span, Motor(effort, velocity, 0.05)
        )
        parent = link


def main():
    """Write the files."""
    for robot in (quadruped(), humanoid()):
        (ROBOTS / f'{robot.xml.get("name")}.urdf').write_text(str(robot), encoding='utf-8')


if __name__ == '__main__':
    main()
