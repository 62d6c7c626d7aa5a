# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parsed robots of other libraries (urdf_parser_py, urdfpy, yourdfpy) to a `Description`.

The three share names: a robot has ``links`` and ``joints``; they differ in how they keep a pose
(xyz and rpy, or 4x4) and an inertia (six numbers, or 3x3). Every value is checked here, so that
text and objects obey the same bounds.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from geolin_ros.description import Description, Joint, Limits, Link, Mimic, check_tree
from geolin_ros.errors import ModelWarning, UrdfError
from geolin_ros.typing import Array
from geolin_ros.urdf.safe_xml import URDF_KINDS

MAX_MAGNITUDE = 1e9
MIN_AXIS_NORM = 1e-9
MAX_LINKS = 10_000

_MOVING_ALONG_AXIS = ('revolute', 'continuous', 'prismatic', 'planar')
_BOUNDED_RANGE = ('revolute', 'prismatic')
_ORTHONORMALITY_TOLERANCE = 1e-6


def describe(
    parsed: Any, source: str, gear_ratios: Mapping[str, float] | None = None
) -> Description:
    """Return the description of a parsed robot.

    Parameters
    ----------
    parsed
        ``urdf_parser_py.urdf.URDF``, ``urdfpy.URDF``, ``yourdfpy.URDF`` or its ``robot``.
    source
        Opens every error message.
    gear_ratios
        Joint name -> reduction; from the object's transmissions by default.

    Raises
    ------
    UrdfError
        If the object lacks an attribute, a value is out of bounds, or the joints form no tree.
    """
    robot = getattr(parsed, 'robot', parsed)
    try:
        links, joints = list(robot.links), list(robot.joints or ())
        if len(links) > MAX_LINKS:
            raise UrdfError(
                f'{source}: {len(links)} links, expected at most {MAX_LINKS}; split the robot'
            )
        if gear_ratios is None:
            gear_ratios = _gear_ratios(robot)
        description = Description(
            name=_name(robot.name, f'{source}: robot'),
            links=tuple(_link(*pair, source) for pair in _without_placeholders(links, source)),
            joints=tuple(_joint(joint, source, gear_ratios) for joint in joints),
            source=source,
        )
    except AttributeError as error:
        raise UrdfError(
            f'{source}: {error}, expected an object of the shape of urdfpy.URDF (links, joints); '
            'pass URDF text, a path, or such an object'
        ) from error
    check_tree(description, UrdfError)
    return description


def _without_placeholders(links: list[Any], source: str) -> list[tuple[Any, Any]]:
    """Return links with their inertials; undo what urdfpy and its fork urchin make up.

    They give a link without ``<inertial>`` 1 kg and the identity as inertia about its frame.
    """
    pairs, undone = [], []
    for link in links:
        inertial = link.inertial
        library = type(link).__module__.split('.')[0]
        if library in ('urdfpy', 'urchin') and _is_placeholder(inertial):
            undone.append(str(link.name))
            inertial = None
        pairs.append((link, inertial))
    if undone:
        warnings.warn(
            f'{source}: links {", ".join(undone)} have 1 kg and unit inertia, which urdfpy gives '
            'to links without <inertial>, and are read as massless; pass the URDF text if they '
            'are meant',
            ModelWarning,
            stacklevel=4,
        )
    return pairs


def _is_placeholder(inertial: Any) -> bool:
    return bool(
        inertial is not None
        and inertial.mass == 1.0
        and np.array_equal(inertial.inertia, np.eye(3))
        and (inertial.origin is None or np.array_equal(inertial.origin, np.eye(4)))
    )


def _link(link: Any, inertial: Any, source: str) -> Link:
    name = _name(link.name, f'{source}: link')
    if inertial is None:
        return Link(name)
    where = f'{source}: link {name!r}'
    if inertial.mass is None:
        raise UrdfError(f'{where}: <inertial> has no <mass>; add <mass value="..."/>')
    mass = _number(inertial.mass, f'{where}: mass')
    if mass < 0.0:
        raise UrdfError(f'{where}: mass is {mass!r} kg, expected >= 0; correct <mass value>')
    if inertial.inertia is None:
        raise UrdfError(f'{where}: <inertial> has no <inertia>; add <inertia ixx="..." .../>')
    pose = _pose(inertial.origin, f'{where}: inertial origin')
    rotation = pose[:3, :3]
    rotational = rotation @ _inertia(inertial.inertia, where) @ rotation.T
    return Link.from_mass(name, mass, pose[:3, 3], rotational)


def _joint(joint: Any, source: str, gear_ratios: Mapping[str, float]) -> Joint:
    name = _name(joint.name, f'{source}: joint')
    where = f'{source}: joint {name!r}'
    kind = getattr(joint, 'joint_type', None) or joint.type
    if kind not in URDF_KINDS:
        raise UrdfError(
            f'{where}: type is {kind!r}, expected one of {", ".join(URDF_KINDS)}; set type="..."'
        )
    dynamics = joint.dynamics
    return Joint(
        name=name,
        kind=kind,
        parent=_name(joint.parent, f'{where}: parent link'),
        child=_name(joint.child, f'{where}: child link'),
        placement=_pose(joint.origin, f'{where}: origin'),
        axis=_axis(joint.axis, kind, where),
        limits=_limits(joint.limit, kind, where),
        damping=_not_negative(getattr(dynamics, 'damping', None), f'{where}: damping'),
        friction=_not_negative(getattr(dynamics, 'friction', None), f'{where}: friction'),
        gear_ratio=_gear_ratio(gear_ratios.get(name, 1.0), where),
        mimic=_mimic(joint.mimic, where),
    )


def _axis(axis: Any, kind: str, where: str) -> Array:
    if axis is None or kind not in _MOVING_ALONG_AXIS:
        return np.array([1.0, 0.0, 0.0])
    vector = _array(axis, (3,), f'{where}: axis')
    norm = float(np.linalg.norm(vector))
    if norm <= MIN_AXIS_NORM:
        raise UrdfError(
            f'{where}: axis has norm {norm!r}, expected > {MIN_AXIS_NORM}; set <axis xyz="...">'
        )
    return vector


def _limits(limit: Any, kind: str, where: str) -> Limits:
    if limit is None:
        return Limits()
    velocity = _limit(limit.velocity, np.inf, f'{where}: velocity limit')
    effort = _limit(limit.effort, np.inf, f'{where}: effort limit')
    for what, value in (('velocity', velocity), ('effort', effort)):
        if value < 0.0:
            raise UrdfError(
                f'{where}: {what} limit is {value!r}, expected >= 0; set <limit {what}="...">'
            )
    if kind not in _BOUNDED_RANGE:
        return Limits(velocity=velocity, effort=effort)
    # A bound left out is zero (URDF specification).
    lower = _limit(limit.lower, 0.0, f'{where}: lower limit')
    upper = _limit(limit.upper, 0.0, f'{where}: upper limit')
    if lower > upper:
        raise UrdfError(
            f'{where}: lower limit {lower!r} is above upper limit {upper!r}; swap them'
        )
    return Limits(lower, upper, velocity, effort)


def _mimic(mimic: Any, where: str) -> Mimic | None:
    if mimic is None:
        return None
    multiplier = 1.0 if mimic.multiplier is None else mimic.multiplier
    offset = 0.0 if mimic.offset is None else mimic.offset
    return Mimic(
        _name(mimic.joint, f'{where}: mimicked joint'),
        _number(multiplier, f'{where}: mimic multiplier'),
        _number(offset, f'{where}: mimic offset'),
    )


def _gear_ratios(robot: Any) -> dict[str, float]:
    """Return the reductions of transmissions with one joint and one actuator (not in yourdfpy)."""
    return {
        transmission.joints[0].name: transmission.actuators[0].mechanicalReduction
        for transmission in getattr(robot, 'transmissions', None) or ()
        if len(transmission.joints) == 1
        and len(transmission.actuators) == 1
        and transmission.actuators[0].mechanicalReduction is not None
    }


def _gear_ratio(value: Any, where: str) -> float:
    ratio = _number(value, f'{where}: mechanicalReduction')
    if ratio == 0.0:
        raise UrdfError(f'{where}: mechanicalReduction is 0, expected a gear ratio; correct it')
    return ratio


def _pose(origin: Any, where: str) -> Array:
    if origin is None:
        return np.eye(4)
    if not hasattr(origin, 'xyz'):
        return _matrix_pose(origin, where)
    pose = np.eye(4)
    pose[:3, :3] = _rotation(_array((0, 0, 0) if origin.rpy is None else origin.rpy, (3,), where))
    pose[:3, 3] = _array((0, 0, 0) if origin.xyz is None else origin.xyz, (3,), where)
    return pose


def _matrix_pose(origin: Any, where: str) -> Array:
    pose = _array(origin, (4, 4), where)
    rotation = pose[:3, :3]
    error = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
    proper = error <= _ORTHONORMALITY_TOLERANCE and np.linalg.det(rotation) > 0.0
    if not proper or pose[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise UrdfError(
            f'{where} is not a pose (rotation off by {error:.1e}, last row {pose[3].tolist()}), '
            'expected [R p; 0 0 0 1] with R a rotation; normalise it'
        )
    return pose


def _rotation(rpy: Array) -> Array:
    """Return Rz(yaw) Ry(pitch) Rx(roll), URDF's fixed-axis convention."""
    cr, cp, cy = np.cos(rpy).tolist()
    sr, sp, sy = np.sin(rpy).tolist()
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _inertia(inertia: Any, where: str) -> Array:
    if hasattr(inertia, 'ixx'):
        inertia = [
            [inertia.ixx, inertia.ixy, inertia.ixz],
            [inertia.ixy, inertia.iyy, inertia.iyz],
            [inertia.ixz, inertia.iyz, inertia.izz],
        ]
    matrix = _array(inertia, (3, 3), f'{where}: inertia')
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12):
        raise UrdfError(
            f'{where}: inertia {matrix.tolist()} is not symmetric; make it equal to its transpose'
        )
    return matrix


def _name(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise UrdfError(f'{where}: name is {value!r}, expected a non-empty printable text; set it')
    return value


def _number(value: Any, where: str) -> float:
    return float(_array(value, (), where))


def _not_negative(value: Any, where: str) -> float:
    number = 0.0 if value is None else _number(value, where)
    if number < 0.0:
        raise UrdfError(f'{where} is {number!r}, expected >= 0; change its sign')
    return number


def _limit(value: Any, default: float, where: str) -> float:
    """Return a limit; beyond `MAX_MAGNITUDE` (some tools write 1e16 or inf) there is none."""
    if value is None:
        return default
    try:
        limit = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise UrdfError(f'{where} is {value!r}, expected a number; correct it') from error
    if np.isnan(limit):
        raise UrdfError(f'{where} is nan, expected a number; correct or remove it')
    return limit if abs(limit) <= MAX_MAGNITUDE else float(np.copysign(np.inf, limit))


def _array(value: Any, shape: tuple[int, ...], where: str) -> Array:
    """Return finite, bounded numbers of a shape."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise UrdfError(f'{where} is {value!r}, expected numbers; correct it') from error
    if array.shape != shape:
        raise UrdfError(f'{where} has shape {array.shape}, expected {shape}; correct it')
    if not np.all(np.abs(array) <= MAX_MAGNITUDE):  # catches NaN
        raise UrdfError(
            f'{where} is {array.tolist()!r}, expected finite numbers of magnitude at most '
            f'{MAX_MAGNITUDE:g} in SI units; correct it'
        )
    return array
