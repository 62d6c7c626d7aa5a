# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The shapes of links: collision and visual elements of a URDF, and the meshes that they name.

Dynamics needs none of it: this is read where somebody asks what a foot looks like.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.sax import SAXException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

import numpy as np
from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from geolin_ros.errors import UrdfError
from geolin_ros.optional import optional
from geolin_ros.spatial import se3
from geolin_ros.typing import Array
from geolin_ros.urdf.safe_xml import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS
from geolin_ros.urdf.xacro_file import expand, is_xacro

trimesh = optional('trimesh', extra='meshes')
ROUND = 24
"""Points around a cylinder."""


@dataclass(frozen=True)
class Shape:
    """A shape of a link.

    Attributes
    ----------
    kind
        ``'box'`` (three edges), ``'sphere'`` (radius), ``'cylinder'``, ``'capsule'`` (radius,
        length) or ``'mesh'`` (three scales).
    size
        As above [m].
    placement : (4, 4)
        Pose in the link.
    is_collision
        Or else it is visual.
    file
        Of a mesh, as the URDF names it.
    """

    kind: str
    size: tuple[float, ...]
    placement: Array
    is_collision: bool
    file: str = ''

    def outline(self, urdf: Path | None = None) -> tuple[Array, float]:
        """Return points (k, 3) in the link, and the radius of the ball about each [m].

        The shape is the convex hull of these balls, a mesh lies within it.

        Parameters
        ----------
        urdf
            The file from which the names of meshes start.

        Raises
        ------
        UrdfError
            If the mesh cannot be found or read.
        ConfigurationError
            If the extra that reads meshes is not installed.
        """
        radius, points = 0.0, np.zeros((1, 3))
        if self.kind == 'box':
            corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
            points = 0.5 * corners * self.size
        elif self.kind == 'mesh':
            points = _vertices(find_mesh(self.file, urdf)) * self.size
        elif self.kind == 'sphere':
            radius = self.size[0]
        else:
            half = 0.5 * self.size[1]
            points = np.array([(0.0, 0.0, -half), (0.0, 0.0, half)])
            if self.kind == 'capsule':
                radius = self.size[0]
            else:
                angles = 2.0 * np.pi * np.arange(ROUND) / ROUND
                rim = self.size[0] * np.stack((np.cos(angles), np.sin(angles), 0.0 * angles), 1)
                points = (rim[:, None] + points).reshape(-1, 3)
        return points @ self.placement[:3, :3].T + self.placement[:3, 3], radius


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


def find_mesh(name: str, urdf: Path | None = None) -> Path:
    """Return the file that a URDF calls by a name.

    ``package://PACKAGE/...`` is looked for where ROS keeps packages (AMENT_PREFIX_PATH,
    ROS_PACKAGE_PATH), and in the folders around the URDF; other names start at the URDF.

    Raises
    ------
    UrdfError
        If there is no such file.
    """
    here = Path.cwd() if urdf is None else Path(urdf).resolve().parent
    tried: list[Path]
    if name.startswith(('package://', 'model://')):
        package, _, rest = name.split('://', 1)[1].partition('/')
        prefixes, packages = (
            [Path(folder) for folder in os.environ.get(name, '').split(os.pathsep) if folder]
            for name in ('AMENT_PREFIX_PATH', 'ROS_PACKAGE_PATH')
        )
        shares = [prefix / 'share' for prefix in prefixes]
        tried = [folder / package / rest for folder in [*shares, *packages, here, *here.parents]]
        tried += [folder / rest for folder in (here, *here.parents) if folder.name == package]
    else:
        tried = [here / name.removeprefix('file://')]
    for path in tried:
        if path.is_file():
            return path
    raise UrdfError(f'mesh {name!r} is not found, looked in {here} and the folders around it')


def _vertices(path: Path) -> Array:
    """Return the vertices (k, 3) of a mesh, each once."""
    load = trimesh.load_mesh
    try:
        vertices = load(path, process=False).vertices
    except Exception as error:  # of many libraries, by file type
        raise UrdfError(f'mesh {path} is not read: {error}') from error
    if not len(vertices):
        raise UrdfError(f'mesh {path} is empty')
    return np.unique(np.asarray(vertices, dtype=np.float64), axis=0)
