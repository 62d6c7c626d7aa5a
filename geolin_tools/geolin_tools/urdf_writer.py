# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""URDF text: an overlay written into one, and one of a description that was read elsewhere."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from geolin_ros.description import Description, Joint, mass_properties
from geolin_ros.description.shapes import Shape
from geolin_ros.errors import UrdfError, unknown_name
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

DYNAMICS = ('damping', 'friction')  # what a URDF says of a joint of what an overlay can
NONE = 1e10  # written for a limit that there is not: beyond what a reader takes for one
KINDS = ('fixed', 'revolute', 'continuous', 'prismatic', 'floating', 'planar')
MOMENTS = ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')  # in the order of an overlay


class _WithComments(ElementTree.TreeBuilder):
    def doctype(self, *_: Any) -> None:
        raise ElementTree.ParseError('a DTD')


def write(text: str, overlay: Mapping[str, Any]) -> str:
    """Return URDF text with the links, and damping and friction of the joints, of an overlay.

    The overlay still fits the result: nothing of it counts twice, and what a URDF has no words for
    (rotors, springs, speeds of friction, scales and offsets of efforts) is in it alone. It has
    ``links`` and ``joints`` by their names, as `identification.overlay_of` returns it. Raises
    `UrdfError` if the text is not well-formed XML; `UnknownNameError` if it has no such link or
    joint.
    """
    try:
        comments = _WithComments(insert_comments=True)
        parser = ElementTree.XMLParser(target=comments, encoding='utf-8')  # noqa: S314 - entities need a DTD
        parser.feed(text.lstrip('\ufeff \t\r\n').encode())
        robot: Element = parser.close()
    except ElementTree.ParseError as error:
        raise UrdfError(
            f'URDF text is not well-formed XML: {error}, expected a document that can be written '
            'again; check the file with an XML tool such as xmllint'
        ) from error
    for name, values in overlay.get('links', {}).items():
        link = _named(robot, 'link', name)
        if values['mass'] != 0.0:
            _write_inertial(link, values['mass'], values['com'], values['inertia'])
            continue
        for element in link.findall('inertial'):
            link.remove(element)
    for name, values in overlay.get('joints', {}).items():
        given = {key: repr(float(values[key])) for key in DYNAMICS if key in values}
        joint = _named(robot, 'joint', name)
        if given:
            _first(joint, 'dynamics').attrib.update(given)
    return _text(robot)


def _text(robot: Element) -> str:
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding='unicode') + '\n'


def _named(robot: Element, kind: str, name: str) -> Element:
    elements = {element.get('name', ''): element for element in robot.findall(kind)}
    if name not in elements:
        raise unknown_name(kind, name, elements, 'the URDF')
    return elements[name]


def _first(parent: Element, name: str) -> Element:
    """Return the first element of a name, a new one where there is none."""
    found = parent.find(name)
    return SubElement(parent, name) if found is None else found


def _write_inertial(link: Element, mass: float, com: Any, moments: Any) -> None:
    """Write a mass, its centre (3,) and the inertia about that (6,), as an overlay has them."""
    inertial = _first(link, 'inertial')
    inertial.clear()
    SubElement(inertial, 'origin', xyz=_words(com), rpy='0 0 0')
    SubElement(inertial, 'mass', value=_words([mass]))
    words = (_words([moment]) for moment in moments)
    SubElement(inertial, 'inertia', dict(zip(MOMENTS, words, strict=True)))


def text_of(description: Description, shapes: Mapping[str, Sequence[Shape]]) -> str:
    """Return URDF text of a robot that was read from another format, for who draws it.

    Rotors and springs are left out, which a URDF has no words for, and meshes that are no file.
    Raises `UrdfError` if a joint is of a kind that a URDF has not.
    """
    robot = Element('robot', name=description.name)
    for link in description.links:
        element = SubElement(robot, 'link', name=link.name)
        mass, com, rotational = mass_properties(link.inertia)
        if mass > 0.0:
            moments = rotational[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)]
            _write_inertial(element, mass, com, moments)
        for shape in shapes.get(link.name, ()):
            _add_shape(element, shape)
    for joint in description.joints:
        if joint.kind not in KINDS:
            raise UrdfError(
                f'{description.source}: joint {joint.name!r} is {joint.kind}, expected one of a '
                f'URDF, {", ".join(KINDS)}; give the file to who needs the robot'
            )
        _add_joint(robot, joint)
    return _text(robot)


def _words(values: Any) -> str:
    return ' '.join(repr(float(value)) for value in values)


def _add_origin(element: Element, H: Array) -> None:
    rpy = se3.rpy_from_rotation(H[:3, :3])
    SubElement(element, 'origin', xyz=_words(H[:3, 3]), rpy=_words(rpy))


def _add_shape(link: Element, shape: Shape) -> None:
    """Write a shape; a capsule, which a URDF has not, as a cylinder between two balls."""
    if shape.kind == 'mesh' and not shape.file:
        return
    size, parts = shape.size, [(shape.kind, shape.placement)]
    if shape.kind == 'capsule':
        along = np.eye(4)
        along[2, 3] = 0.5 * size[1]
        ends = (shape.placement @ along, shape.placement @ se3.inverse(along))
        parts = [('cylinder', shape.placement), *(('sphere', end) for end in ends)]
    for kind, place in parts:
        element = SubElement(link, 'collision' if shape.is_collision else 'visual')
        _add_origin(element, place)
        if kind == 'mesh':
            given = {'filename': f'file://{shape.file}', 'scale': _words(size)}
        elif kind == 'box':
            given = {'size': _words(size)}
        else:
            given = {'radius': _words(size[:1])}
            if kind == 'cylinder':
                given['length'] = _words(size[1:])
        SubElement(SubElement(element, 'geometry'), kind, given)


def _add_joint(robot: Element, joint: Joint) -> None:
    limits, kind = joint.limits, joint.kind
    if kind == 'revolute' and not np.isfinite((limits.lower, limits.upper)).all():
        kind = 'continuous'
    element = SubElement(robot, 'joint', name=joint.name, type=kind)
    _add_origin(element, joint.placement)
    SubElement(element, 'parent', link=joint.parent)
    SubElement(element, 'child', link=joint.child)
    if kind in ('fixed', 'floating'):
        return
    SubElement(element, 'axis', xyz=_words(joint.axis))
    given = {name: getattr(limits, name) for name in ('lower', 'upper', 'velocity', 'effort')}
    bounds = {name: _words([np.clip(value, -NONE, NONE)]) for name, value in given.items()}
    SubElement(element, 'limit', bounds)
    SubElement(element, 'dynamics', {key: _words([getattr(joint, key)]) for key in DYNAMICS})
    if (mimic := joint.mimic) is not None:
        ratio, offset = _words([mimic.multiplier]), _words([mimic.offset])
        SubElement(element, 'mimic', joint=mimic.joint, multiplier=ratio, offset=offset)
