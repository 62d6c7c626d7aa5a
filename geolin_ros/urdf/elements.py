# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The elements of a URDF to a `Description`; visuals, collisions and vendor tags are not read.

What urdfdom, the parser of ROS, takes otherwise than it is written is taken as urdfdom does, with
a warning.
"""

import contextlib
import math
from collections.abc import Callable
from functools import partial
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
    Severity,
    tree_findings,
)
from geolin_ros.description.checks import SHORTEST_AXIS, link_findings
from geolin_ros.errors import GeolinError, nearest
from geolin_ros.spatial import se3
from geolin_ros.typing import Array
from geolin_ros.urdf.safe_xml import Located

T = TypeVar('T')

MAX_MAGNITUDE = 1e9
MAX_LINKS = 10_000
MAX_ATTRIBUTE_LENGTH = 1_000
MAX_FINDINGS = 1_000
POSE, INERTIA = '4x4', '3x3'
"""Attributes of what was an object: a matrix in place of xyz and rpy, or of ixx and the others."""

_KINDS = ('revolute', 'continuous', 'prismatic', 'fixed', 'planar', 'floating')
_MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_REDUCTIONS = ('mechanicalReduction', 'mechanical_reduction')
_WORDS = {
    'robot': 'name version link joint transmission material gazebo sensor',
    'link': 'name inertial visual collision',
    'inertial': 'origin mass inertia inertial',
    'joint': 'name type origin axis parent child limit dynamics mimic calibration'
    ' safety_controller',
    'origin': f'xyz rpy quat_xyzw {POSE}',
    'mass': 'value',
    'inertia': f'{" ".join(_MOMENTS)} {INERTIA}',
    'axis': 'xyz',
    'parent': 'link',
    'child': 'link',
    'limit': 'lower upper velocity effort',
    'dynamics': 'damping friction',
    'mimic': 'joint multiplier offset',
}
"""Attributes and parts that an element may have here or for other readers."""
_WORDS_ALIKE = 0.75
"""Likeness from which another word is taken for a misspelled one."""


def describe(root: Located, source: str, found: list[Finding]) -> Description:
    """Return the description of a ``<robot>`` element; raise `Refused` if it is none.

    What is odd or wrong is added to ``found``; after an error of a value a harmless one stands for
    it, or the element is left out.
    """
    if root.tag != 'robot':
        raise Refused(
            f'line {root.line}', f'root element is <{root.tag[:80]}>, expected <robot>',
            'pass a URDF',
        )  # fmt: skip
    links = root.parts('link')
    if len(links) > MAX_LINKS:
        raise Refused('', f'{len(links)} links, expected at most {MAX_LINKS}', 'split the robot')
    reader = Reader(root, found)
    description = Description(
        name=reader.name(root) or 'robot',
        links=tuple(filter(None, map(reader.link, links))),
        joints=tuple(filter(None, map(reader.joint, root.parts('joint')))),
        source=source,
    )
    if not any(finding.severity == 'error' for finding in found):
        found += tree_findings(description)
    return description


class Reader:
    """Reads element by element; what is wrong is collected, and something harmless taken."""

    def __init__(self, root: Located, found: list[Finding]) -> None:
        self._found = found
        self._is_old = root.get('version', '1.0') in ('1', '1.0')
        self._ask_what_is_meant(root)
        self._gear_ratios = dict(map(self._gear_ratio, root.parts('transmission')))

    def _say(self, severity: Severity, element: Located, problem: str, fix: str) -> None:
        if len(self._found) >= MAX_FINDINGS:
            raise Refused(element.where, f'more than {MAX_FINDINGS} oddities', 'pass a URDF')
        self._found.append(Finding(severity, element.where, problem, fix))

    def _warn(self, element: Located, problem: str, fix: str) -> None:
        self._say('warning', element, problem, fix)

    def _ask_what_is_meant(self, element: Located) -> None:
        known = _WORDS.get(element.tag, '').split()
        for word in dict.fromkeys((*element.attrib, *(part.tag for part in element))):
            if word in known or ':' in word:
                continue
            absent = [name for name in known if name not in element.attrib]
            shown = f'attribute {word[:80]}' if word in element.attrib else f'<{word[:80]}>'
            for near in nearest(word, absent, _WORDS_ALIKE)[:1]:
                self._warn(element, f'{shown} is not read', f'did you mean {near}?')

    def _part(self, element: Located, tag: str) -> Located | None:
        """Return the first part of a tag, where there is one."""
        found = element.parts(tag)
        if not found:
            return None
        if len(found) > 1:
            problem = f'more than one <{tag}>: the first is taken'
            self._warn(element, problem, 'remove the others')
        self._ask_what_is_meant(found[0])
        return found[0]

    def _value(
        self,
        element: Located,
        key: str,
        read: Callable[[Any], T],
        expected: str,
        default: T,
        is_needed: bool = False,
    ) -> T:
        """Return what an attribute holds, the default without it or with an error."""
        value: Any = element.get(key)
        if value is None:
            if is_needed:
                self._say('error', element, f'attribute {key} is missing', f'add {key}="..."')
            return default
        problem = f'{key}={value!r:.200}'
        if isinstance(value, str) and len(value) > MAX_ATTRIBUTE_LENGTH:
            problem = f'{key} has {len(value)} characters'
            expected = f'at most {MAX_ATTRIBUTE_LENGTH}'
        else:
            with contextlib.suppress(TypeError, ValueError, OverflowError, GeolinError):
                return read(value)
        self._say('error', element, f'{problem}, expected {expected}', f'correct {key}')
        return default

    def name(self, element: Located, key: str = 'name') -> str:
        """Return a name; an empty one after an error."""
        return self._value(element, key, _name, 'a non-empty printable text', '', True)

    def numbers(
        self, element: Located, key: str, count: int, default: Array, is_needed: bool = False
    ) -> Array:
        """Return so many numbers of an attribute."""
        expected = (
            f'{count} finite decimal {"number" if count == 1 else "numbers"} of magnitude at most '
            f'{MAX_MAGNITUDE:g} in SI units'
        )
        read = partial(_numbers, shape=(count,))
        return self._value(element, key, read, expected, default, is_needed)

    def _number(self, element: Located, key: str, default: float) -> float:
        return float(self.numbers(element, key, 1, np.array([default]))[0])

    def link(self, element: Located) -> Link | None:
        """Return a link; None after an error of its name."""
        self._ask_what_is_meant(element)
        name, inertial = self.name(element), self._part(element, 'inertial')
        if not name:
            return None
        if inertial is None:
            return Link(name)
        mass = self._part(inertial, 'mass')
        if mass is None or mass.get('value') is None:
            problem = 'no mass value: taken as massless'
            self._warn(inertial, problem, 'add <mass value="..."/>')
            return Link(name)
        pose, rotational = self.pose(inertial), self._rotational(inertial)
        R = pose[:3, :3]
        kilograms = self._number(mass, 'value', 1.0)
        link = Link.from_mass(name, kilograms, pose[:3, 3], R @ rotational @ R.T)
        self._found += link_findings(link)
        return link

    def _rotational(self, inertial: Located) -> Array:
        """Return the inertia about the centre of mass; without one that of a point mass."""
        inertia = self._part(inertial, 'inertia')
        if inertia is None:
            inertia = Located('inertia')
        if inertia.get(INERTIA) is not None:
            read = partial(_numbers, shape=(3, 3))
            return self._value(inertia, INERTIA, read, 'finite numbers (3, 3)', np.eye(3))
        xx, xy, xz, yy, yz, zz = (self._number(inertia, key, 1.0) for key in _MOMENTS)
        missing = [key for key in _MOMENTS if inertia.get(key) is None]
        if not missing:
            return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        problem = f'no {", ".join(missing)}: taken as a point mass'
        self._warn(inertial, problem, 'add them to <inertia>')
        return np.zeros((3, 3))

    def pose(self, element: Located) -> Array:
        """Return the pose of an <origin>; without one the identity."""
        pose, origin = np.eye(4), self._part(element, 'origin')
        if origin is None:
            return pose
        if origin.get(POSE) is not None:
            return self._value(origin, POSE, se3.check_pose, 'a pose (4, 4)', pose)
        pose[:3, 3] = self.numbers(origin, 'xyz', 3, np.zeros(3))
        rpy = self.numbers(origin, 'rpy', 3, np.zeros(3))
        pose[:3, :3] = se3.rotation_from_rpy(rpy)
        if np.abs(rpy).max() > math.tau + 0.01:
            problem = f'rpy="{origin.get("rpy")}" is more than a turn'
            self._warn(origin, problem, 'write radians, not degrees')
        if origin.get('quat_xyzw') is None:
            return pose
        if self._is_old:
            self._warn(
                origin, 'quat_xyzw is ignored in a URDF of version 1.0',
                'write <robot version="1.1">, or rpy="roll pitch yaw"',
            )  # fmt: skip
        elif origin.get('rpy') is not None:
            self._say('error', origin, 'both rpy and quat_xyzw', 'remove one')
        else:
            expected = 'a rotation: 4 finite decimal numbers, not all zero'
            pose[:3, :3] = self._value(origin, 'quat_xyzw', _rotation, expected, np.eye(3))
        return pose

    def joint(self, element: Located) -> Joint | None:
        """Return a joint; None after an error of its name or of those of its links."""
        self._ask_what_is_meant(element)
        name = self.name(element)
        kind = self._value(element, 'type', _kind, f'one of {", ".join(_KINDS)}', 'fixed', True)
        dynamics = self._part(element, 'dynamics')
        damping, friction = (
            0.0 if dynamics is None else self._number(dynamics, key, 0.0)
            for key in ('damping', 'friction')
        )
        joint = Joint(
            name=name,
            kind=kind,
            placement=self.pose(element),
            axis=self._axis(element, kind),
            limits=self._limits(element, kind),
            damping=damping,
            friction=friction,
            gear_ratio=self._gear_ratios.get(name, 1.0),
            mimic=self._mimic(element),
            parent=self._end(element, 'parent'),
            child=self._end(element, 'child'),
        )
        return joint if name and joint.parent and joint.child else None

    def _end(self, joint: Located, role: str) -> str:
        part = self._part(joint, role)
        if part is None:
            self._say('error', joint, f'no <{role}>', f'add <{role} link="..."/>')
            return ''
        return self.name(part, 'link')

    def _axis(self, joint: Located, kind: str) -> Array:
        axis, along_x = self._part(joint, 'axis'), np.array([1.0, 0.0, 0.0])
        if axis is None or kind in ('fixed', 'floating'):
            return along_x
        expected = f'3 finite decimal numbers of norm above {SHORTEST_AXIS:g}'
        return self._value(axis, 'xyz', _direction, expected, along_x, True)

    def _limits(self, joint: Located, kind: str) -> Limits:
        limit = self._part(joint, 'limit')
        if limit is None:
            return Limits()
        bounds = {}
        for key in ('velocity', 'effort'):
            bounds[key] = self._value(limit, key, _limit, 'a decimal number', np.inf)
            if limit.get(key) is None:
                self._warn(limit, f'no {key}: taken as no limit', f'add {key}="..."')
            elif bounds[key] < 0.0:
                problem = f'{key} limit is {bounds[key]!r}: taken as no limit'
                self._warn(joint, problem, f'set <limit {key}="...">')
                bounds[key] = np.inf
        # A bound left out is zero (URDF specification).
        lower, upper = (
            self._value(limit, key, _limit, 'a decimal number', 0.0) for key in ('lower', 'upper')
        )
        if kind not in ('revolute', 'prismatic'):
            return Limits(**bounds)
        if lower > upper:
            self._warn(
                joint, f'lower limit {lower!r} is above upper limit {upper!r}: taken as swapped',
                'swap them',
            )  # fmt: skip
            lower, upper = upper, lower
        return Limits(lower, upper, **bounds)

    def _mimic(self, joint: Located) -> Mimic | None:
        mimic = self._part(joint, 'mimic')
        if mimic is None:
            return None
        master, offset = self.name(mimic, 'joint'), self._number(mimic, 'offset', 0.0)
        multiplier = self._number(mimic, 'multiplier', 1.0)
        return Mimic(master, multiplier, offset) if master else None

    def _gear_ratio(self, transmission: Located) -> tuple[str, float]:
        """Return joint and reduction of a transmission; of one with several, no name."""
        joints = transmission.parts('joint')
        reductions = [part.text for part in transmission.iter() if part.tag in _REDUCTIONS]
        if len(joints) != 1 or len(reductions) != 1:
            return '', 1.0  # differentials and the like have no single ratio
        try:
            ratio = float(_numbers(reductions[0], (1,))[0])
        except (TypeError, ValueError):
            ratio = 0.0
        if ratio == 0.0:
            problem = f'mechanicalReduction is {reductions[0]!r:.80}: taken as 1'
            self._warn(joints[0], problem, 'write the gear ratio of the transmission')
        return joints[0].get('name', ''), ratio or 1.0


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise ValueError
    return value


def _kind(value: Any) -> str:
    if value not in _KINDS:
        raise ValueError
    return str(value)


def _as_floats(value: Any) -> Array:
    """Return numbers of a text as C reads them, or of what an object holds."""
    if isinstance(value, str):
        if not value.isascii() or '_' in value:  # digits of Python alone
            raise ValueError
        value = value.split()
    return np.array(value, dtype=np.float64)


def _numbers(value: Any, shape: tuple[int, ...]) -> Array:
    array = _as_floats(value).reshape(shape)
    if not (np.abs(array) <= MAX_MAGNITUDE).all():  # catches NaN
        raise ValueError
    return array


def _direction(value: Any) -> Array:
    axis = _numbers(value, (3,))
    if np.linalg.norm(axis) <= SHORTEST_AXIS:
        raise ValueError
    return axis


def _rotation(value: Any) -> Array:
    return se3.rotation_from_quaternion(_numbers(value, (4,)))


def _limit(value: Any) -> float:
    """Return a limit; beyond `MAX_MAGNITUDE` (some tools write 1e16 or inf) there is none."""
    limit = float(_as_floats(value).reshape(()))
    if math.isnan(limit):
        raise ValueError
    return limit if abs(limit) <= MAX_MAGNITUDE else math.copysign(math.inf, limit)
