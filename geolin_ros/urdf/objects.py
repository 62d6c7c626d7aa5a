# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parsed robots of other libraries (urdf_parser_py, urdfpy, yourdfpy) to a `Description`.

The three share names: a robot has ``links`` and ``joints``; they differ in how they keep a pose
(xyz and rpy, or 4x4) and an inertia (six numbers, or 3x3). Every value is checked here, so that
text and objects obey the same bounds.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from geolin_ros.description import (
    Description,
    Finding,
    Joint,
    Limits,
    Link,
    Mimic,
    Refused,
    tree_findings,
)
from geolin_ros.description.values import check_link
from geolin_ros.errors import GeolinError
from geolin_ros.spatial import se3
from geolin_ros.typing import Array
from geolin_ros.urdf.safe_xml import URDF_KINDS

T = TypeVar('T')

MAX_MAGNITUDE = 1e9
MIN_AXIS_NORM = 1e-9
MAX_LINKS = 10_000

_MOVING_ALONG_AXIS = ('revolute', 'continuous', 'prismatic', 'planar')
_BOUNDED_RANGE = ('revolute', 'prismatic')


def describe(parsed: Any, source: str, found: list[Finding]) -> Description:
    """Return the description of a parsed robot.

    Raises `Refused` if the object lacks an attribute, or is too large.

    Parameters
    ----------
    parsed
        What `read_robot` returns, ``urdf_parser_py.urdf.URDF``, ``urdfpy.URDF``,
        ``yourdfpy.URDF`` or its ``robot``.
    source
        Opens every error message.
    found
        What is odd or wrong is appended; after an error of a value a harmless one stands for it.
    """
    robot = getattr(parsed, 'robot', parsed)
    try:
        links, joints = list(robot.links), list(robot.joints or ())
        if len(links) > MAX_LINKS:
            raise Refused(
                '', f'{len(links)} links, expected at most {MAX_LINKS}', 'split the robot'
            )
        reader = _Reader(found, _gear_ratios(robot))
        description = Description(
            name=reader.name(robot.name, 'robot', 'robot'),
            links=tuple(reader.link(*pair) for pair in _without_placeholders(links, found)),
            joints=tuple(joint for joint in map(reader.joint, joints) if joint is not None),
            source=source,
        )
    except AttributeError as error:
        raise Refused(
            '',
            f'{error}, expected an object of the shape of urdfpy.URDF (links, joints)',
            'pass URDF text, a path, or such an object',
        ) from error
    if not any(finding.severity == 'error' for finding in found):
        found += tree_findings(description)
    return description


def _without_placeholders(links: list[Any], found: list[Finding]) -> list[tuple[Any, Any]]:
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
        found.append(
            Finding(
                'warning', '',
                f'links {", ".join(undone)} have 1 kg and unit inertia, which urdfpy gives to '
                'links without <inertial>, and are read as massless',
                'pass the URDF text if they are meant',
            )
        )  # fmt: skip
    return pairs


def _is_placeholder(inertial: Any) -> bool:
    return bool(
        inertial is not None
        and inertial.mass == 1.0
        and np.array_equal(inertial.inertia, np.eye(3))
        and (inertial.origin is None or np.array_equal(inertial.origin, np.eye(4)))
    )


class _Reader:
    """Reads element by element; what is wrong is collected, and something harmless taken."""

    def __init__(self, found: list[Finding], gear_ratios: Mapping[str, float]) -> None:
        self._found, self._gear_ratios = found, gear_ratios

    def _try(self, default: T, function: Callable[..., T], *arguments: Any) -> T:
        try:
            return function(*arguments)
        except Refused as refused:
            self._found.append(refused.finding)
            return default

    def _warn(self, element: str, problem: str, fix: str) -> None:
        self._found.append(Finding('warning', element, problem, fix))

    def name(self, value: Any, element: str, default: str) -> str:
        return self._try(default, _name, value, element)

    def link(self, link: Any, inertial: Any) -> Link:
        name = self.name(link.name, 'link', f'link {len(self._found)}')
        where = f'link {name!r}'
        if inertial is None:
            return Link(name)
        # Objects made by hand; the text has been completed as urdfdom does.
        if inertial.mass is None or inertial.inertia is None:
            what = 'mass value="..."' if inertial.mass is None else 'inertia ixx="..." ...'
            lacks = what.split(' ', 1)[0]
            self._found.append(
                Finding('error', where, f'<inertial> has no <{lacks}>', f'add <{what}/>')
            )
            return Link(name)
        mass = self._try(1.0, _number, inertial.mass, where, 'mass')
        pose = self._try(np.eye(4), _pose, inertial.origin, where, 'inertial origin')
        rotation = pose[:3, :3]
        rotational = self._try(np.eye(3), _inertia, inertial.inertia, where)
        found = Link.from_mass(name, mass, pose[:3, 3], rotation @ rotational @ rotation.T)
        self._try(None, check_link, found)
        return found

    def joint(self, joint: Any) -> Joint | None:
        name = self.name(joint.name, 'joint', '')
        where = f'joint {name!r}'
        kind = getattr(joint, 'joint_type', None) or joint.type
        if kind not in URDF_KINDS:
            self._found.append(
                Finding(
                    'error', where,
                    f'type is {kind!r}, expected one of {", ".join(URDF_KINDS)}',
                    'set type="..."',
                )
            )  # fmt: skip
            kind = 'fixed'
        parent = self.name(joint.parent, f'{where}, parent link', '')
        child = self.name(joint.child, f'{where}, child link', '')
        if not (name and parent and child):
            return None
        return Joint(
            name=name,
            kind=kind,
            parent=parent,
            child=child,
            placement=self._try(np.eye(4), _pose, joint.origin, where, 'origin'),
            axis=self._try(np.array([1.0, 0.0, 0.0]), _axis, joint.axis, kind, where),
            limits=self._limits(joint.limit, kind, where),
            damping=self._loss(joint.dynamics, 'damping', where),
            friction=self._loss(joint.dynamics, 'friction', where),
            gear_ratio=self._try(1.0, _gear_ratio, self._gear_ratios.get(name, 1.0), where),
            mimic=self._mimic(joint.mimic, where),
        )

    def _limits(self, limit: Any, kind: str, where: str) -> Limits:
        if limit is None:
            return Limits()
        bounds = {}
        for what in ('velocity', 'effort'):
            value = getattr(limit, what)
            bounds[what] = self._try(np.inf, _limit, value, np.inf, where, f'{what} limit')
            if bounds[what] < 0.0:
                self._warn(
                    where, f'{what} limit is {bounds[what]!r}: taken as no limit',
                    f'set <limit {what}="...">',
                )  # fmt: skip
                bounds[what] = np.inf
        if kind not in _BOUNDED_RANGE:
            return Limits(**bounds)
        # A bound left out is zero (URDF specification).
        lower = self._try(0.0, _limit, limit.lower, 0.0, where, 'lower limit')
        upper = self._try(0.0, _limit, limit.upper, 0.0, where, 'upper limit')
        if lower > upper:
            self._warn(
                where, f'lower limit {lower!r} is above upper limit {upper!r}: taken as swapped',
                'swap them',
            )  # fmt: skip
            lower, upper = upper, lower
        return Limits(lower, upper, **bounds)

    def _loss(self, dynamics: Any, what: str, where: str) -> float:
        value = getattr(dynamics, what, None)
        number = 0.0 if value is None else self._try(0.0, _number, value, where, what)
        if number < 0.0:
            self._warn(where, f'{what} is {number!r}, a source of power', 'change its sign')
        return number

    def _mimic(self, mimic: Any, where: str) -> Mimic | None:
        if mimic is None:
            return None
        multiplier = 1.0 if mimic.multiplier is None else mimic.multiplier
        offset = 0.0 if mimic.offset is None else mimic.offset
        joint = self.name(mimic.joint, f'{where}, mimicked joint', '')
        if not joint:
            return None
        return Mimic(
            joint,
            self._try(1.0, _number, multiplier, where, 'mimic multiplier'),
            self._try(0.0, _number, offset, where, 'mimic offset'),
        )


def _axis(axis: Any, kind: str, where: str) -> Array:
    if axis is None or kind not in _MOVING_ALONG_AXIS:
        return np.array([1.0, 0.0, 0.0])
    vector = _array(axis, (3,), where, 'axis')
    norm = float(np.linalg.norm(vector))
    if norm <= MIN_AXIS_NORM:
        raise Refused(
            where, f'axis has norm {norm!r}, expected > {MIN_AXIS_NORM}', 'set <axis xyz="...">'
        )
    return vector


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
    ratio = _number(value, where, 'mechanicalReduction')
    if ratio == 0.0:
        raise Refused(where, 'mechanicalReduction is 0, expected a gear ratio', 'correct it')
    return ratio


def _pose(origin: Any, where: str, what: str) -> Array:
    if origin is None:
        return np.eye(4)
    if not hasattr(origin, 'xyz'):
        try:
            return se3.check_pose(_array(origin, (4, 4), where, what), what)
        except GeolinError as error:
            raise Refused(where, *str(error).partition('; ')[::2]) from error
    pose = np.eye(4)
    rpy = (0, 0, 0) if origin.rpy is None else origin.rpy
    pose[:3, :3] = se3.rotation_from_rpy(_array(rpy, (3,), where, what))
    pose[:3, 3] = _array((0, 0, 0) if origin.xyz is None else origin.xyz, (3,), where, what)
    return pose


def _inertia(inertia: Any, where: str) -> Array:
    if hasattr(inertia, 'ixx'):
        inertia = [
            [inertia.ixx, inertia.ixy, inertia.ixz],
            [inertia.ixy, inertia.iyy, inertia.iyz],
            [inertia.ixz, inertia.iyz, inertia.izz],
        ]
    return _array(inertia, (3, 3), where, 'inertia')


def _name(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise Refused(where, f'name is {value!r}, expected a non-empty printable text', 'set it')
    return value


def _number(value: Any, where: str, what: str) -> float:
    return float(_array(value, (), where, what))


def _limit(value: Any, default: float, where: str, what: str) -> float:
    """Return a limit; beyond `MAX_MAGNITUDE` (some tools write 1e16 or inf) there is none."""
    if value is None:
        return default
    try:
        limit = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise Refused(where, f'{what} is {value!r}, expected a number', 'correct it') from error
    if np.isnan(limit):
        raise Refused(where, f'{what} is nan, expected a number', 'correct or remove it')
    return limit if abs(limit) <= MAX_MAGNITUDE else float(np.copysign(np.inf, limit))


def _array(value: Any, shape: tuple[int, ...], where: str, what: str) -> Array:
    """Return finite, bounded numbers of a shape."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise Refused(where, f'{what} is {value!r}, expected numbers', 'correct it') from error
    if array.shape != shape:
        raise Refused(where, f'{what} has shape {array.shape}, expected {shape}', 'correct it')
    if not np.all(np.abs(array) <= MAX_MAGNITUDE):  # catches NaN
        raise Refused(
            where,
            f'{what} is {array.tolist()!r}, expected finite numbers of magnitude at most '
            f'{MAX_MAGNITUDE:g} in SI units',
            'correct it',
        )
    return array
