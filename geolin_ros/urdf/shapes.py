# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The shapes of links: collision and visual elements of a URDF."""

from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from geolin_ros.description import Refused
from geolin_ros.description.shapes import Shape
from geolin_ros.errors import UrdfError
from geolin_ros.spatial import se3
from geolin_ros.urdf.reader import TEXT_SOURCE, document
from geolin_ros.urdf.safe_xml import parse


def read_shapes(source: str | Path) -> dict[str, list[Shape]]:
    """Return the shapes of each link of a URDF or xacro file, or text, collision shapes first.

    Raises `UrdfError` if the text is not well-formed, or a size or pose is malformed.
    """
    try:
        root = parse(*document(source), [])
    except Refused as refused:
        name = TEXT_SOURCE if isinstance(source, str) and '<' in source else source
        raise UrdfError(f'{name}: {refused.finding.sentence}') from refused
    found: dict[str, list[Shape]] = {}
    for link in root.iter('link'):
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
