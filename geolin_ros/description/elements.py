# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a description, and what there is to say about them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.errors import ConfigurationError, GeolinError
from geolin_ros.renamed import with_old_names
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

ContactKind = Literal['point', 'surface']
Severity = Literal['error', 'warning', 'note']
SEVERITIES: tuple[Severity, ...] = ('error', 'warning', 'note')

MOST_NAMED = 3
"""Elements that one sentence names; of the others it gives the number."""

SINGLE_AXIS_KINDS = ('revolute', 'continuous', 'prismatic', 'helical')


@dataclass(frozen=True)
class Link:
    """A rigid body [Traversaro 2019, Eqs. (67)-(69)].

    Attributes
    ----------
    name
        Unique in its description.
    inertia : (6, 6)
        Spatial inertia about the link frame, in link axes, for [linear; angular] twists
        [kg, kg m, kg m^2]; zeros for a massless link.
    """

    name: str
    inertia: Array = field(default_factory=lambda: np.zeros((6, 6)))

    @classmethod
    def from_mass(cls, name: str, mass: float, com: Array, rotational: Array) -> Link:
        """Return a link of mass [kg], centre of mass [m] and inertia about it [kg m^2].

        [Kim 2012, Eqs. (14)-(20), (22)].

        All in link axes.
        """
        c, m = se3.cross3(com), mass
        return cls(name, np.block([[m * np.eye(3), -m * c], [m * c, rotational - m * c @ c]]))


def mass_properties(inertia: Array) -> tuple[float, Array, Array]:
    """Return mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2].

    Of a spatial inertia (6, 6), see `Link`.
    """
    mass = float(inertia[0, 0])
    if mass == 0.0:
        return 0.0, np.zeros(3), inertia[3:, 3:]
    cross = inertia[3:, :3] / mass
    com = np.array([cross[2, 1], cross[0, 2], cross[1, 0]])
    return mass, com, inertia[3:, 3:] + mass * cross @ cross


@dataclass(frozen=True)
class Limits:
    """Joint limits [rad or m, rad/s or m/s, N m or N]; infinite where none is given."""

    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf


@dataclass(frozen=True)
class Mimic:
    """s = multiplier * s_master + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Joint:
    """A joint from a parent link to a child link.

    Attributes
    ----------
    kind
        One of URDF, or ``'helical'``, which advances ``pitch`` metres per radian. Beyond these:
        ``'universal'`` turns about ``axis``, then about ``second_axis``; ``'cylindrical'`` turns
        about and slides along ``axis``; ``'spherical'``, position a unit quaternion (x, y, z, w);
        ``'se2'`` moves in the plane with normal ``axis`` as one joint, position (x, y, cos, sin),
        rates in the moving frame (``'planar'``, as in URDF, is a chain x, y, yaw). ``'floating'``
        below the root has the position (x, y, z, quaternion), its rates are the child's twist.
    placement : (4, 4)
        Pose of the joint frame (= child link frame at zero position) in the parent link frame.
    axis : (3,)
        Axis in the joint frame (normal of the plane for ``planar``, ``se2``); need not be
        normalised.
    second_axis : (3,)
        Of a universal joint, in the frame turned about the first.
    limits
        Position limits hold for joints with one axis, the others for each rate of a joint.
    damping, friction
        For each rate of a joint: URDF ``<dynamics>`` values [N m s/rad or N s/m, N m or N].
    friction_speed
        Smoothing speed v0 of the Coulomb friction f tanh(r / v0) [rad/s or m/s].
    rotor_inertia
        Of the motor, about its own axis [kg m^2]; gear_ratio^2 times as much acts on the joint.
    stiffness, rest
        Joint spring k (s - rest) [N m/rad or N/m, rad or m]; not for spherical, se2, floating.
    gear_ratio
        Motor revolutions per joint revolution, ``mechanicalReduction`` of its transmission;
        1 where none is given. Efforts are on the joint side all the same.
    effort_scale, effort_offset
        Efforts act as effort_scale * measured - effort_offset [N m or N].
    """

    name: str
    kind: str
    parent: str
    child: str
    placement: Array = field(default_factory=lambda: np.eye(4))
    axis: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    _: KW_ONLY
    pitch: float = 0.0
    limits: Limits = Limits()
    damping: float = 0.0
    friction: float = 0.0
    friction_speed: float = 0.01
    gear_ratio: float = 1.0
    rotor_inertia: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    mimic: Mimic | None = None
    second_axis: Array = field(default_factory=lambda: np.array([0.0, 1.0, 0.0]))
    effort_scale: float = 1.0
    effort_offset: float = 0.0


@with_old_names
@dataclass(frozen=True, eq=False)
class Loop:
    """A frame of the robot constrained to another one: a closed kinematic loop.

    Acceleration + kd * velocity + kp * error = 0, in axes of frame a [Baumgarte 1972].

    Attributes
    ----------
    frame_a
        The contact frame, a link: rows and forces are in its axes, forces act on it.
    frame_b
        The frame it is constrained to; the opposite forces act on that link.
    kind
        ``'point'``: position constrained, 3 rows; ``'surface'``: position and orientation, 6 rows,
        linear before angular.
    kp, kd
        Gains that stabilize the constraint [1/s^2] and [1/s].
    reference : (4, 4)
        Pose of frame a as seen from frame b; by default they coincide.
    active
        Whether it is in force; else it has no rows.
    """

    frame_a: str
    frame_b: str
    kind: ContactKind = 'surface'
    _: KW_ONLY
    kp: float = 0.0
    kd: float = 0.0
    reference: ArrayLike | None = None
    active: bool = True

    @property
    def name(self) -> str:
        """``frame_a=frame_b``: what `Linearizer.activate` calls it."""
        return f'{self.frame_a}={self.frame_b}'

    @classmethod
    def parse(cls, text: str) -> Loop:
        """Return the loop of ``frame_a=frame_b kind``, or with gains kp and kd behind.

        Raises
        ------
        ConfigurationError
            If the text is none of these.
        """
        found = constraint_of(text)
        match found[0].split('=') if found else ():
            case [frame_a, frame_b] if found and frame_a and frame_b:
                return cls(frame_a, frame_b, **found[1])
        raise ConfigurationError(
            f'loop {text!r} is not understood, expected frame_a=frame_b, point or surface, and '
            'perhaps the gains kp and kd, with blanks between'
        )


def constraint_of(text: str) -> tuple[str, dict[str, Any]] | None:
    """Return name, and kind and gains as arguments, of a contact or loop in a text, or None."""
    match text.split():
        case [name, ('point' | 'surface') as kind]:
            return name, {'kind': kind}
        case [name, ('point' | 'surface') as kind, kp, kd]:
            with contextlib.suppress(ValueError):
                return name, {'kind': kind, 'kp': float(kp), 'kd': float(kd)}
    return None


@dataclass(frozen=True)
class Finding:
    """One thing to look at: where (empty: the whole), what, and what to do about it."""

    severity: Severity
    element: str
    problem: str
    fix: str

    @property
    def sentence(self) -> str:
        """Everything but the severity."""
        return f'{self.element + ": " if self.element else ""}{self.problem}; {self.fix}'

    def __str__(self) -> str:
        """Return one line."""
        return f'{self.severity}: {self.sentence}'


class Refused(Exception):  # noqa: N818 - never leaves the package
    """An element cannot be used; raised with a `Finding`, for whoever collects them."""

    def __init__(self, element: str, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.finding = Finding('error', element, problem, fix)


@dataclass(frozen=True)
class Description:
    """Links and joints of one robot, in document order, and the loops they form.

    ``source`` says where it came from (a file path, or a phrase such as ``URDF text``) and opens
    every error message about it. ``findings`` say what a reader took otherwise than written.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    source: str = 'description'
    findings: tuple[Finding, ...] = ()
    loops: tuple[Loop, ...] = ()


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with those joined that say the same of several elements, in order."""
    elements: dict[tuple[Severity, str, str], list[str]] = {}
    for found in findings:
        names = elements.setdefault((found.severity, found.problem, found.fix), [])
        if found.element not in names:
            names.append(found.element)
    joined = []
    for (severity, problem, fix), names in elements.items():
        more = len(names) - MOST_NAMED
        where = ', '.join(names[:MOST_NAMED]) + (f' and {more} more' if more > 0 else '')
        joined.append(Finding(severity, where, problem, fix))
    return joined


def raise_errors(source: str, findings: Iterable[Finding], error: type[GeolinError]) -> None:
    """Raise ``error`` with the first error of the findings; it says how many others there are."""
    errors = tuple(found for found in findings if found.severity == 'error')
    if errors:
        more = f' ({len(errors) - 1} more: geolin lint-urdf)' if len(errors) > 1 else ''
        raised = error(f'{source}: {errors[0].sentence}{more}')
        raised.findings = errors
        raise raised
