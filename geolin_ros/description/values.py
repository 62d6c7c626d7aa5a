# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The numbers of links and joints must be those of bodies and of joints that move them."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np

from geolin_ros.description.elements import FIXED_KINDS, Description, Joint, Link
from geolin_ros.description.findings import Finding, Refused, raise_errors
from geolin_ros.errors import GeolinError, ModelError
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

T = TypeVar('T')
SHORTEST_AXIS = 1e-9
_WITHOUT_AXIS = (*FIXED_KINDS, 'spherical', 'floating')
_FINITE = ('pitch', 'stiffness', 'rest', 'effort_offset')
_NOT_ZERO = ('gear_ratio', 'effort_scale')
_FROM_ZERO = ('damping', 'friction', 'rotor_inertia')


def check_values(description: Description) -> None:
    """Raise `ModelError` for masses, placements, axes and coefficients that none can have."""
    found = [
        *_refusals(check_link, description.links),
        *_refusals(_check_joint, description.joints),
    ]
    raise_errors(description.source, found, ModelError)


def _refusals(check: Callable[[T], None], elements: Iterable[T]) -> Iterator[Finding]:
    for element in elements:
        try:
            check(element)
        except Refused as refused:
            yield refused.finding


def check_link(link: Link) -> None:
    """Raise `Refused` for an inertia that no body can have."""
    where, inertia = f'link {link.name!r}', np.asarray(link.inertia, dtype=np.float64)
    if inertia.shape != (6, 6) or not np.all(np.isfinite(inertia)):
        raise Refused(
            where,
            f'inertia has shape {inertia.shape} or numbers that are not finite, expected (6, 6)',
            'make it by Link.from_mass',
        )
    if not np.allclose(inertia, inertia.T, rtol=1e-9, atol=1e-12):
        raise Refused(where, 'inertia is not symmetric', 'make it equal to its transpose')
    mass = float(np.min(np.diag(inertia)[:3]))
    if mass < 0.0:
        raise Refused(where, f'mass is {mass!r} kg, expected >= 0', 'correct it')


def _check_joint(joint: Joint) -> None:
    where = f'joint {joint.name!r}'
    try:
        se3.check_pose(joint.placement, 'placement')
    except GeolinError as error:
        raise Refused(where, *str(error).partition('; ')[::2]) from error
    for name, axis in _axes(joint):
        if axis.shape != (3,) or not SHORTEST_AXIS < float(np.linalg.norm(axis)) < np.inf:
            raise Refused(
                where,
                f'{name} is {axis.tolist()}, expected three numbers of norm above '
                f'{SHORTEST_AXIS:g}',
                'set <axis xyz="..."/>',
            )
    for name in (*_FINITE, *_NOT_ZERO, *_FROM_ZERO, 'friction_speed'):
        value = getattr(joint, name)
        if name in _FINITE:
            expected, is_good = 'a finite number', True
        elif name in _NOT_ZERO:
            expected, is_good = 'a number that is not 0', value != 0.0
        elif name in _FROM_ZERO:
            expected, is_good = 'a finite number, 0 or more', value >= 0.0
        else:
            expected, is_good = 'a number above 0', value > 0.0
        if not (is_good and np.isfinite(value)):
            raise Refused(where, f'{name} is {value!r}, expected {expected}', 'correct it')
    if np.isnan(tuple(vars(joint.limits).values())).any():
        raise Refused(where, 'a limit is NaN, expected a number', 'correct it, or leave it out')
    mimic = joint.mimic
    if mimic is not None and not np.isfinite((mimic.multiplier, mimic.offset)).all():
        raise Refused(where, f'mimics by {mimic}, expected finite numbers', 'correct them')


def _axes(joint: Joint) -> Iterator[tuple[str, Array]]:
    if joint.kind not in _WITHOUT_AXIS:
        yield 'axis', np.asarray(joint.axis, dtype=np.float64)
    if joint.kind == 'universal':
        yield 'second_axis', np.asarray(joint.second_axis, dtype=np.float64)
