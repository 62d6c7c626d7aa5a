# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which ball or sole a foot is, by the shapes of its link and of those that are fixed to it.

What touches the ground is lowest along the z axis of the frame. A single ball there, or a mesh
that is nearly one, makes a point; a flat patch makes a sole, whose frame has to point up.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from geolin_ros import mjcf
from geolin_ros.control.posture import state_with
from geolin_ros.control.support import Support, support_polygon
from geolin_ros.description.shapes import Shape
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, UrdfError
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array
from geolin_ros.urdf.shapes import read_shapes

spatial = optional('scipy.spatial', extra='control')
Shapes = Mapping[str, Sequence[Shape]]
"""By link."""
ROUNDNESS, STOUT = 0.2, 2.5
"""How far, of its radius, the points of a mesh may be off a sphere for it to be a ball, and its
largest extent as a multiple of the smallest."""
FLAT, LEAST_FLAT = 0.01, 0.002
"""How far, of the foot's length, a patch may be off a plane; at least the other [m]."""
CURVED = 0.6
"""A patch that has less than this of its length or width within a quarter of that is round."""
SMALLEST = 0.01
"""Length and width of a sole, at least [m]."""
NEAR = 0.02
"""Distance [m] of a frame from a sole of other links."""
UPRIGHT = np.cos(np.deg2rad(45.0))
MOST_CORNERS = 8
"""Of a sole; of a patch with more the rectangle of the same area is taken."""


class Foot(NamedTuple):
    """A support, and what was assumed about it in words, if anything."""

    support: Support
    assumed: str


def read_feet(urdf: str | Path, model: TreeModel, texts: Sequence[str | Support]) -> list[Foot]:
    """Return what a robot stands on; of a frame alone by its shapes, other texts as `Support`.

    Raises `ConfigurationError` if a text is not understood, or the shapes do not tell what a frame
    is; `UnknownNameError` if it is no link of the robot; `UrdfError` if shapes are malformed.

    Parameters
    ----------
    urdf
        Path or text of its URDF or MJCF; from the path of a URDF meshes are found.
    texts
        ``frame``, or as `Support.parse`; a `Support` stays what it is.
    """
    feet: list[Foot] = []
    shapes: tuple[Shapes, Path | None] | None = None
    for text in texts:
        if isinstance(text, Support) or ':' in text or '@' in text:
            support = text if isinstance(text, Support) else Support.parse(text)
            model.frame(support.frame)
            feet.append(Foot(support, ''))
        else:
            shapes = shapes or shapes_of(urdf)
            feet.append(_foot(text.strip(), model, *shapes))
    return feet


def shapes_of(source: str | Path) -> tuple[Shapes, Path | None]:
    """Return the shapes of each link of a path or text, and the file that names of meshes are of.

    Raises `UrdfError` if the shapes of a URDF are malformed, others as `mjcf.read_shapes`.
    """
    shapes = (mjcf.read_shapes if mjcf.is_mjcf(source) else read_shapes)(source)
    return shapes, None if isinstance(source, str) and '<' in source else Path(source)


def candidate_feet(urdf: str | Path, model: TreeModel) -> list[Foot]:
    """Return the balls and soles of the bodies that carry no other, lowest first, one of each.

    Arguments and errors as in `read_feet`.
    """
    shapes, path = shapes_of(urdf)
    at = Kinematics(model, state_with(model, {}))
    found: list[Foot] = []
    for body in sorted(set(range(len(model.body_names))) - set(model.tree.parent.tolist())):
        links = [name for name, frame in model.frames.items() if frame.body == body]
        for link in reversed([name for name in links if shapes.get(name)]):
            try:
                found.append(_foot(link, model, shapes, path))
                break
            except ConfigurationError:
                continue
    return sorted(found, key=lambda foot: float(at.pose(foot.support.frame)[2, 3]))


class _Patch(NamedTuple):
    """Some shapes of one body as points (k, 3) in the frame of the foot, with a radius each."""

    points: Array
    radii: Array
    what: str
    is_near: bool
    is_mesh: bool


def _foot(frame: str, model: TreeModel, shapes: Shapes, urdf: Path | None) -> Foot:
    """Return the ball or sole that a link's shapes make; errors as `read_feet`."""
    model.frame(frame)
    reasons: list[str] = []
    axis = Kinematics(model, state_with(model, {})).pose(frame)[:3, 2]
    for patch in _patches(frame, model, shapes, urdf, reasons):
        ball = _ball(frame, patch)
        support = ball or _sole(frame, patch)
        if support is None:
            reasons.append(f'{patch.what} is no ball, and not flat along z')
        elif ball or axis[2] >= UPRIGHT:
            return Foot(support, f'{frame}: {_words(support)}, from {patch.what}')
        else:
            reasons.append(
                f'its z axis points along {np.round(axis, 2).tolist()} of the world with joints '
                'at rest, that of a sole has to point up'
            )
            break
    why = '; '.join(dict.fromkeys(reasons)) or 'it has none, nor have links that are fixed to it'
    raise ConfigurationError(
        f'the shapes of robot {model.name!r} do not tell what foot {frame!r} is: {why}; give '
        f'{frame}:LENGTHxWIDTH for a sole, or {frame}:RADIUS for a ball [m], and @x,y,z behind it '
        'where it is off the frame'
    )


def _patches(
    frame: str, model: TreeModel, shapes: Shapes, urdf: Path | None, reasons: list[str]
) -> Iterator[_Patch]:
    """Yield the link's own shapes, and then those of its body; collision before visual ones."""
    own = model.frame(frame)
    others = [name for name, at in model.frames.items() if at.body == own.body and name != frame]
    for names, is_collision in itertools.product(([frame], others), (True, False)):
        points, radii, listed, kinds = [], [], [], set()
        for name in names:
            H = np.linalg.inv(own.placement) @ model.frame(name).placement
            for shape in shapes.get(name, ()):
                if shape.is_collision != is_collision:
                    continue
                try:
                    found, radius = shape.outline(urdf)
                except (ConfigurationError, UrdfError) as error:
                    reasons.append(str(error))
                    continue
                points.append(found @ H[:3, :3].T + H[:3, 3])
                radii.append(np.full(len(found), radius))
                kinds.add(shape.kind)
                words = ['collision' if is_collision else 'visual', shape.kind]
                words += [Path(shape.file).name] if shape.file else []
                listed.append(' '.join(words + ([f'of {name}'] if name != frame else [])))
        if points:
            what = f'the {listed[0]}' + (f' and {len(listed) - 1} more' if listed[1:] else '')
            joined = np.concatenate(points), np.concatenate(radii)
            yield _Patch(*joined, what, names == [frame], kinds == {'mesh'})


def _ball(frame: str, patch: _Patch) -> Support | None:
    """Return the point that the lowest ball makes, or a mesh that is nearly one."""
    if not patch.is_near:
        return None
    points, bottoms = patch.points, patch.points[:, 2] - patch.radii
    lowest = int(np.argmin(bottoms))
    centre, radius, placement = points[lowest], float(patch.radii[lowest]), np.eye(4)
    if radius:
        if np.count_nonzero(bottoms < bottoms[lowest] + LEAST_FLAT) > 1:
            return None
    else:
        extents = np.ptp(points, axis=0)
        if not patch.is_mesh or np.max(extents) > STOUT * np.min(extents):
            return None
        points = points[spatial.ConvexHull(points).vertices]
        rows = np.hstack((2.0 * points, np.ones((len(points), 1))))
        x = np.linalg.lstsq(rows, np.sum(points**2, axis=1), rcond=None)[0]
        centre, radius = x[:3], float(np.sqrt(max(0.0, x[3] + x[:3] @ x[:3])))
        off = np.abs(np.linalg.norm(points - centre, axis=1) - radius)
        if np.max(off) > ROUNDNESS * radius:
            return None
        centre, radius = np.round(centre, 4), round(radius, 4)
    placement[:3, 3] = centre
    return Support(frame, placement=placement, radius=radius)


def _sole(frame: str, patch: _Patch) -> Support | None:
    """Return the flat patch that is lowest along z, if there is one."""
    bottoms = patch.points - patch.radii[:, None] * (0.0, 0.0, 1.0)
    heights = bottoms[:, 2] - np.min(bottoms[:, 2])
    flat = max(LEAST_FLAT, FLAT * float(np.max(np.ptp(bottoms[:, :2], axis=0))))
    touching = bottoms[heights < flat]
    corners, size = support_polygon(touching), np.ptp(touching[:, :2], axis=0)
    is_round = np.any(np.ptp(bottoms[heights < 0.25 * flat, :2], axis=0) < CURVED * size)
    is_far = not patch.is_near and abs(np.min(touching[:, 2])) > NEAR
    if len(corners) < 3 or np.min(size) < SMALLEST or is_round or is_far:
        return None
    centre = 0.5 * (touching.max(axis=0) + touching.min(axis=0))
    if len(corners) > MOST_CORNERS:
        area = spatial.ConvexHull(corners).volume
        length, width = np.round(np.sqrt(area / np.prod(size)) * size, 3).tolist()
        lowest = np.round((*centre[:2], np.min(touching[:, 2])), 4)
        return Support.sole(frame, length, width, offset=lowest)
    placement = np.eye(4)
    placement[:3, 3] = centre
    points = np.column_stack((corners - centre[:2], np.zeros(len(corners))))
    return Support(frame, 'surface', points, placement)


def _words(support: Support) -> str:
    offset = np.asarray(support.placement)[:3, 3]
    where = f' at {",".join(f"{x:.4g}" for x in offset)}' if np.any(offset) else ''
    if support.kind == 'point':
        return f'a ball of radius {support.radius:.4g} m{where}'
    length, width, _ = np.ptp(np.asarray(support.points), axis=0)
    return f'a sole of {length:.4g} x {width:.4g} m{where}'
