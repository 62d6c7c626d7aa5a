# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The shapes of links: collision and visual elements of a URDF."""

from pathlib import Path
from typing import Any

import numpy as np

from geolin_ros.description import Finding, Refused, raise_errors
from geolin_ros.description.shapes import Shape
from geolin_ros.errors import UrdfError
from geolin_ros.renamed import old_names
from geolin_ros.urdf.elements import Reader
from geolin_ros.urdf.reader import TEXT_SOURCE, document
from geolin_ros.urdf.safe_xml import Located, parse

__getattr__ = old_names(__name__)
_SIZES = {
    'box': (('size', 3),),
    'sphere': (('radius', 1),),
    'cylinder': (('radius', 1), ('length', 1)),
    'capsule': (('radius', 1), ('length', 1)),
    'mesh': (('scale', 3),),
}
"""Attributes, and how many numbers each holds; only the scale may be left out."""


def read_shapes(source: str | Path) -> dict[str, list[Shape]]:
    """Return the shapes of each link of a URDF or xacro file, or text, collision shapes first.

    Raises `UrdfError` if the text is not well-formed, or a size or pose is malformed.
    """
    name = TEXT_SOURCE if isinstance(source, str) and '<' in source else str(source)
    found: list[Finding] = []
    try:
        root = parse(document(source), found)
    except Refused as refused:
        raise UrdfError(f'{name}: {refused.finding.sentence}') from refused
    reader, shapes = Reader(root, found), dict[str, list[Shape]]()
    for element in root.iter('link'):
        link: Any = element
        shapes[link.get('name', '')] = [
            _shape(reader, holder, part)
            for tag in ('collision', 'visual')
            for holder in link.parts(tag)
            for geometry in holder.parts('geometry')[:1]
            for part in geometry
            if part.tag in _SIZES
        ]
    raise_errors(name, found, UrdfError)
    return shapes


def _shape(reader: Reader, holder: Located, part: Any) -> Shape:
    size = [
        reader.numbers(part, key, count, np.ones(count), is_needed=part.tag != 'mesh')
        for key, count in _SIZES[part.tag]
    ]
    of_file = part.get('filename', '')
    pose, is_collision = reader.pose(holder), holder.tag == 'collision'
    return Shape(part.tag, tuple(np.concatenate(size).tolist()), pose, is_collision, of_file)
