# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The numbers of links and joints must be those of bodies and of joints that move them."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from geolin_ros.description.elements import FIXED_KINDS, Description, Joint, Link
from geolin_ros.description.findings import Finding, raise_errors
from geolin_ros.errors import GeolinError, ModelError
from geolin_ros.spatial import se3

SHORTEST_AXIS = 1e-9
_WITHOUT_AXIS = (*FIXED_KINDS, 'spherical', 'floating')
_RANGES: tuple[tuple[str, str, Any], ...] = (
    ('pitch stiffness rest effort_offset', 'a finite number', np.isfinite),
    ('gear_ratio effort_scale', 'a number that is not 0', lambda x: x != 0.0),
    ('damping friction rotor_inertia', 'a finite number, 0 or more', lambda x: x >= 0.0),
    ('friction_speed', 'a number above 0', lambda x: x > 0.0),
)


def check_values(description: Description) -> None:
    """Raise `ModelError` for masses, placements, axes and coefficients that none can have."""
    found = chain(
        *map(link_findings, description.links), *map(_joint_findings, description.joints)
    )
    raise_errors(description.source, found, ModelError)


def link_findings(link: Link) -> Iterator[Finding]:
    """Yield why no body can have the inertia of a link."""
    where, inertia = f'link {link.name!r}', np.asarray(link.inertia, dtype=np.float64)
    if inertia.shape != (6, 6) or not np.all(np.isfinite(inertia)):
        problem = f'inertia has shape {inertia.shape} or numbers that are not finite'
        yield _error(where, f'{problem}, expected (6, 6)', 'make it by Link.from_mass')
    elif not np.allclose(inertia, inertia.T, rtol=1e-9, atol=1e-12):
        yield _error(where, 'inertia is not symmetric', 'make it equal to its transpose')
    elif (mass := float(np.diag(inertia)[:3].min())) < 0.0:
        yield _error(where, f'mass is {mass!r} kg, expected >= 0')


def _joint_findings(joint: Joint) -> Iterator[Finding]:
    where = f'joint {joint.name!r}'
    try:
        se3.check_pose(joint.placement, 'placement')
    except GeolinError as error:
        yield _error(where, *str(error).partition('; ')[::2])
    axes = {} if joint.kind in _WITHOUT_AXIS else {'axis': joint.axis}
    if joint.kind == 'universal':
        axes['second_axis'] = joint.second_axis
    for name, values in axes.items():
        axis = np.asarray(values, dtype=np.float64)
        if axis.shape != (3,) or not SHORTEST_AXIS < float(np.linalg.norm(axis)) < np.inf:
            expected = f'three numbers of norm above {SHORTEST_AXIS:g}'
            problem = f'{name} is {axis.tolist()}, expected {expected}'
            yield _error(where, problem, 'set <axis xyz="..."/>')
    for names, expected, is_good in _RANGES:
        for name in names.split():
            value = getattr(joint, name)
            if not (np.isfinite(value) and is_good(value)):
                yield _error(where, f'{name} is {value!r}, expected {expected}')
    if np.isnan(tuple(vars(joint.limits).values())).any():
        yield _error(where, 'a limit is NaN, expected a number', 'correct it, or leave it out')
    mimic = joint.mimic
    if mimic is not None and not np.isfinite((mimic.multiplier, mimic.offset)).all():
        yield _error(where, f'mimics by {mimic}, expected finite numbers', 'correct them')


def _error(where: str, problem: str, fix: str = 'correct it') -> Finding:
    return Finding('error', where, problem, fix)
