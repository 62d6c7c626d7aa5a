# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parsed robots of other libraries (urdf_parser_py, urdfpy, yourdfpy) as elements of a URDF.

The three share names: a robot has ``links`` and ``joints``; they differ in how they keep a pose
(xyz and rpy, or 4x4) and an inertia (six numbers, or 3x3).
"""

from typing import Any

import numpy as np

from geolin_ros.description import Finding, Refused
from geolin_ros.urdf.elements import INERTIA, POSE
from geolin_ros.urdf.safe_xml import Located

_PARTS = {
    'origin': (POSE, 'xyz', 'rpy'),
    'inertia': (INERTIA, 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'),
    'limit': ('', 'lower', 'upper', 'velocity', 'effort'),
    'dynamics': ('', 'damping', 'friction'),
    'mimic': ('', 'joint', 'multiplier', 'offset'),
    'axis': ('xyz',),
    'mass': ('value',),
    'parent': ('link',),
    'child': ('link',),
}
"""The attribute that a part is in objects, if any, and those that it has as in a URDF."""


def elements_of(parsed: Any, found: list[Finding]) -> Located:
    """Return a robot as what its URDF would be.

    ``urdf_parser_py.urdf.URDF``, ``urdfpy.URDF``, ``yourdfpy.URDF`` or its ``robot``. Raises
    `Refused` if the object lacks an attribute; what is odd is appended to ``found``.
    """
    robot = getattr(parsed, 'robot', parsed)
    try:
        root = _element(None, 'robot', name=robot.name)
        made_up = [_add_link(root, link) for link in robot.links]
        for joint in robot.joints or ():
            _add_joint(root, joint)
        for transmission in getattr(robot, 'transmissions', None) or ():  # yourdfpy has none
            element = _element(root, 'transmission')
            for joint in transmission.joints:
                _element(element, 'joint', name=joint.name)
            for actuator in transmission.actuators:
                if (ratio := actuator.mechanicalReduction) is not None:
                    _element(element, 'mechanicalReduction').text = str(ratio)
    except (AttributeError, TypeError) as error:
        raise Refused(
            '',
            f'{error}, expected an object of the shape of urdfpy.URDF (links, joints)',
            'pass URDF text, a path, or such an object',
        ) from error
    names = ', '.join(name for name in made_up if name)
    if names:
        found.append(
            Finding(
                'warning', '',
                f'links {names} have 1 kg and unit inertia, which urdfpy gives to '
                'links without <inertial>, and are read as massless',
                'pass the URDF text if they are meant',
            )
        )  # fmt: skip
    return root


def _element(holder: Located | None, tag: str, **attributes: Any) -> Located:
    """Return a new part of an element, with the attributes that are not None."""
    element = Located(tag)
    for key, value in attributes.items():
        if value is not None:
            element.set(key, value.tolist() if isinstance(value, np.ndarray) else value)
    if holder is not None:
        holder.append(element)
        element.holder = holder
    return element


def _add_parts(holder: Located, of: Any, *tags: str) -> None:
    for tag in tags:
        part, (whole, *several) = getattr(of, tag), _PARTS[tag]
        if part is None:
            continue
        values = {key: getattr(part, key) for key in several if hasattr(part, key)}
        if not values and not whole:
            raise AttributeError(f'{tag} {part!r:.200} has no {" or ".join(several)}')
        _element(holder, tag, **(values or {whole: part}))


def _add_link(root: Located, link: Any) -> str:
    """Add a link; return its name if urdfpy or its fork urchin made its inertial up.

    They give a link without ``<inertial>`` 1 kg and the identity as inertia about its frame.
    """
    element, inertial = _element(root, 'link', name=link.name), link.inertial
    if inertial is None:
        return ''
    if (
        type(link).__module__.split('.')[0] in ('urdfpy', 'urchin')
        and inertial.mass == 1.0
        and np.array_equal(inertial.inertia, np.eye(3))
        and (inertial.origin is None or np.array_equal(inertial.origin, np.eye(4)))
    ):
        return str(link.name)
    _add_parts(_element(element, 'inertial'), inertial, 'mass', 'origin', 'inertia')
    return ''


def _add_joint(root: Located, joint: Any) -> None:
    kind = getattr(joint, 'joint_type', None) or joint.type
    element = _element(root, 'joint', name=joint.name, type=kind)
    ends = 'parent', 'child'
    _add_parts(element, joint, *ends, 'origin', 'axis', 'limit', 'dynamics', 'mimic')
