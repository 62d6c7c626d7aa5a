# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An overlay written into a URDF, as far as a URDF can hold it; all else in it stays."""

from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import (
    Element,
    ParseError,
    SubElement,
    TreeBuilder,
    indent,
    tostring,
)

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from geolin_ros.errors import UrdfError, unknown_name

DYNAMICS = ('damping', 'friction')
"""What a URDF says of a joint of what an overlay can."""
MOMENTS = ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
"""In the order of an overlay."""


def write(text: str, overlay: Mapping[str, Any]) -> str:
    """Return URDF text with the links, and damping and friction of the joints, of an overlay.

    The overlay still fits the result: nothing of it counts twice, and what a URDF has no words
    for (rotors, springs, speeds of friction, scales and offsets of efforts) is in it alone.

    Parameters
    ----------
    text
        A URDF that `read_text` takes.
    overlay
        As of `estimation.identification.overlay_of`: ``links`` and ``joints`` by their names.

    Raises
    ------
    UrdfError
        If the text is not well-formed XML.
    UnknownNameError
        If it has no such link or joint.
    """
    robot = _parsed(text)
    for name, values in overlay.get('links', {}).items():
        _write_inertial(_named(robot, 'link', name), values)
    for name, values in overlay.get('joints', {}).items():
        given = {key: repr(float(values[key])) for key in DYNAMICS if key in values}
        joint = _named(robot, 'joint', name)
        if given:
            dynamics = joint.find('dynamics')
            if dynamics is None:
                dynamics = _added(joint, 'dynamics', '\n  ')
            dynamics.attrib.update(given)
    return tostring(robot, encoding='unicode') + '\n'


def _parsed(text: str) -> Element:
    comments = TreeBuilder(insert_comments=True)
    parser = DefusedXMLParser(target=comments, encoding='utf-8', forbid_dtd=True)
    try:
        parser.feed(text.lstrip('\ufeff \t\r\n').encode())
        robot: Element = parser.close()
    except (ParseError, DefusedXmlException) as error:
        raise UrdfError(
            f'URDF text is not well-formed XML: {error}, expected a document that can be written '
            'again; check the file with an XML tool such as xmllint'
        ) from error
    return robot


def _named(robot: Element, kind: str, name: str) -> Element:
    elements = {element.get('name', ''): element for element in robot.findall(kind)}
    if name not in elements:
        raise unknown_name(kind, name, elements, 'the URDF')
    return elements[name]


def _write_inertial(link: Element, values: Mapping[str, Any]) -> None:
    """Put mass, centre of mass and inertia in the place of what a link has; no mass: nothing."""
    inertials = link.findall('inertial')  # the first counts
    if values['mass'] == 0.0:
        for element in inertials:
            link.remove(element)
        return
    inertial = inertials[0] if inertials else _added(link, 'inertial', '\n  ')
    tail = inertial.tail
    inertial.clear()
    SubElement(inertial, 'origin', xyz=' '.join(map(repr, map(float, values['com']))), rpy='0 0 0')
    SubElement(inertial, 'mass', value=repr(float(values['mass'])))
    moments = map(repr, map(float, values['inertia']))
    SubElement(inertial, 'inertia', dict(zip(MOMENTS, moments, strict=True)))
    indent(inertial, level=2)
    inertial.tail = tail


def _added(parent: Element, name: str, tail: str) -> Element:
    """Return a new last element, indented as what is before it."""
    element = SubElement(parent, name)
    if len(parent) > 1:
        element.tail, parent[-2].tail = parent[-2].tail, '\n    '
    else:
        parent.text, element.tail = '\n    ', tail
    return element
