# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The shapes of links, and the meshes that they name.

Dynamics needs none of it: this is read where somebody asks what a foot looks like.
"""

import itertools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from geolin_ros.errors import UrdfError
from geolin_ros.optional import optional
from geolin_ros.typing import Array, IntArray

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
    surface
        Vertices (k, 3) and triangles (j, 3) of a mesh that a reader has read already, unscaled.
    """

    kind: str
    size: tuple[float, ...]
    placement: Array
    is_collision: bool
    file: str = ''
    surface: tuple[Array, IntArray] | None = None

    def outline(self, urdf: Path | None = None) -> tuple[Array, float]:
        """Return points (k, 3) in the link, and the radius of the ball about each [m].

        The shape is the convex hull of these balls, a mesh lies within it. Raises `UrdfError` if
        the mesh cannot be found or read; `ConfigurationError` if the extra that reads meshes is
        not installed.

        Parameters
        ----------
        urdf
            The file from which the names of meshes start.
        """
        radius, points = 0.0, np.zeros((1, 3))
        if self.kind == 'box':
            corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
            points = corners * self.size
        elif self.kind == 'mesh':
            known = self.surface and self.surface[0]
            if known is None:
                known = np.unique(read_mesh(find_mesh(self.file, urdf)).vertices, axis=0)
            points = known * self.size
        elif self.kind == 'sphere':
            radius = self.size[0]
        else:
            ends = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]]) * self.size[1]
            angles = 2.0 * np.pi * np.arange(ROUND) / ROUND
            rim = self.size[0] * np.stack((np.cos(angles), np.sin(angles), 0.0 * angles), 1)
            points = ends if self.kind == 'capsule' else (rim[:, None] + ends).reshape(-1, 3)
            radius = self.size[0] if self.kind == 'capsule' else 0.0
        return points @ self.placement[:3, :3].T + self.placement[:3, 3], radius


def find_mesh(name: str, urdf: Path | None = None) -> Path:
    """Return the file that a URDF calls by a name.

    ``package://PACKAGE/...`` is looked for where ROS keeps packages (AMENT_PREFIX_PATH,
    ROS_PACKAGE_PATH), and in the folders around the URDF; other names start at the URDF. Raises
    `UrdfError` if there is no such file.
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


def read_mesh(path: Path, process: bool = False) -> Any:
    """Return a mesh of trimesh, if ``process`` with vertices that are the same as one.

    Raises `UrdfError` if there is none, or it is not read.
    """
    load = trimesh.load_mesh  # which may say that it is not installed
    try:
        mesh = load(path, process=process)
    except Exception as error:  # of many libraries, by file type
        raise UrdfError(f'mesh {path} is not read: {error}') from error
    if not len(mesh.vertices):
        raise UrdfError(f'mesh {path} is empty')
    return mesh
