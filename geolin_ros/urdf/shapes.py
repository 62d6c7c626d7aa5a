# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The shapes of links: collision and visual elements of a URDF."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.sax import SAXException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

import numpy as np
from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from geolin_ros.description.shapes import Shape
from geolin_ros.errors import UrdfError
from geolin_ros.spatial import se3
from geolin_ros.urdf.safe_xml import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS
from geolin_ros.urdf.xacro_file import expand, is_xacro


def read_shapes(source: str | Path) -> dict[str, list[Shape]]:
    """Return the shapes of each link of a URDF or xacro file, or text, collision shapes first.

    Raises
    ------
    UrdfError
        If the text is not well-formed, or a size or pose is malformed.
    """
    is_text = isinstance(source, str) and '<' in source
    if is_text or is_xacro(source):
        data = str(source if is_text else expand(source)).encode()
    else:
        data = Path(source).read_bytes()
    if len(data) > MAX_BYTES:
        raise UrdfError(f'the URDF has {len(data)} bytes, expected at most {MAX_BYTES}')
    parser, handler = DefusedExpatParser(forbid_dtd=True), _Builder()
    parser.setContentHandler(handler)
    try:
        parser.parse(BytesIO(data.lstrip()))
    except (SAXException, DefusedXmlException, ValueError) as error:
        raise UrdfError(f'{"URDF text" if is_text else source}: {error}') from error
    found: dict[str, list[Shape]] = {}
    for link in handler.builder.close().iter('link'):
        name = link.get('name', '')
        try:
            found[name] = [
                shape
                for tag in ('collision', 'visual')
                for element in link.findall(tag)
                for shape in _shapes(element)
            ]
        except ValueError as error:
            raise UrdfError(
                f'link {name!r}: a shape is malformed ({error}), expected numbers; correct it'
            ) from error
    return found


class _Builder(ContentHandler):
    """Keeps all elements, prefixes that nobody declared too, as many as `read_robot` takes."""

    def __init__(self) -> None:
        super().__init__()
        self.builder = TreeBuilder()
        self._elements = self._depth = 0

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        self._elements, self._depth = self._elements + 1, self._depth + 1
        if self._elements > MAX_ELEMENTS or self._depth > MAX_DEPTH:
            raise ValueError(f'more than {MAX_ELEMENTS} elements, or deeper than {MAX_DEPTH}')
        self.builder.start(name, dict(attrs))

    def endElement(self, name: str) -> None:
        self._depth -= 1
        self.builder.end(name)


def _numbers(text: str | None, default: str, count: int) -> tuple[float, ...]:
    numbers = tuple(float(number) for number in (text or default).split())
    if len(numbers) != count:
        raise ValueError(f'{text!r} holds {len(numbers)} numbers, expected {count}')
    return numbers


def _shapes(element: Element) -> list[Shape]:
    origin, geometry = element.find('origin'), element.find('geometry')
    place = {} if origin is None else origin.attrib
    H = np.eye(4)
    H[:3, :3] = se3.rotation_from_rpy(_numbers(place.get('rpy'), '0 0 0', 3))
    H[:3, 3] = _numbers(place.get('xyz'), '0 0 0', 3)
    found = []
    for one in () if geometry is None else geometry:
        file, read = one.get('filename', ''), _SIZES.get(one.tag)
        if read is not None:
            found.append(Shape(one.tag, read(one), H, element.tag == 'collision', file))
    return found


def _round(element: Element) -> tuple[float, ...]:
    return _numbers(f'{element.get("radius")} {element.get("length")}', '', 2)


_SIZES: dict[str, Callable[[Element], tuple[float, ...]]] = {
    'box': lambda element: _numbers(element.get('size'), '', 3),
    'sphere': lambda element: _numbers(element.get('radius'), '', 1),
    'cylinder': _round,
    'capsule': _round,
    'mesh': lambda element: _numbers(element.get('scale'), '1 1 1', 3),
}
