# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a URDF cannot say: rotors, gears, springs, friction, screws and payloads, laid over it.

An overlay is a mapping, usually from a YAML file::

    joints:
      "*_knee_joint": {rotor_inertia: 1.0e-4, gear_ratio: 9.1, damping: 0.1}
      spine: {stiffness: 300.0, rest: 0.0}
      ankle_screw: {kind: helical, pitch: 0.002}
    links:
      shank: {mass: 0.21, com: [0.0, 0.0, -0.1], inertia: [1.2e-3, 1.2e-3, 4.0e-5, 0, 0, 0]}
    payloads:
      - {frame: base, mass: 2.0, com: [0.0, 0.0, 0.1], inertia: [0.01, 0.01, 0.01, 0, 0, 0]}

Names of joints may hold the wildcards ``*`` and ``?``. Links take the place of what the
description says about their masses; payloads come on top. `estimation.identification.overlay_of`
makes overlays of recordings.
"""

import dataclasses
import fnmatch
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from geolin_ros.description.elements import Description, Joint, Link
from geolin_ros.description.safe_yaml import parse_yaml, read_yaml
from geolin_ros.errors import InputError, ModelError, unknown_name

JOINT_KEYS = {
    'rotor_inertia': 'moment of inertia of the rotor about its own axis [kg m^2]',
    'gear_ratio': 'rotor revolutions per joint revolution (rad/m for a prismatic joint)',
    'damping': 'viscous friction [N m s/rad or N s/m]',
    'friction': 'Coulomb friction [N m or N]',
    'friction_speed': 'speed over which the Coulomb friction changes sign [rad/s or m/s]',
    'stiffness': 'joint spring [N m/rad or N/m]',
    'rest': 'rest position of the spring [rad or m]',
    'kind': 'helical, for a revolute or continuous joint of the URDF',
    'effort_scale': 'torque by measured effort, for joints that show amperes or motor torques',
    'effort_offset': 'what measured efforts, scaled, show too much [N m or N]',
    'effort_limit': 'largest effort of the motor, in place of the limit of the description '
    '[N m or N]',
    'pitch': 'advance of a helical joint along its axis [m/rad], either sign',
}
_SIGNED_KEYS = ('rest', 'gear_ratio', 'effort_offset')
_NOT_ZERO = ('gear_ratio', 'friction_speed', 'effort_scale', 'effort_limit')
LINK_KEYS = ('mass', 'com', 'inertia')
PAYLOAD_KEYS = ('frame', *LINK_KEYS)
KEYS = ('joints', 'links', 'payloads')


def apply_overlay(
    description: Description, overlay: Mapping[str, Any] | str | Path
) -> Description:
    """Return the description with an overlay (mapping, or path of a YAML file) laid over it.

    Raises `ModelError` if a key is unknown, a value is no finite number in its range, or a file
    cannot be read; `UnknownNameError` if a joint pattern matches nothing, or a frame is unknown.
    """
    where = 'overlay'
    if not isinstance(overlay, Mapping):
        where = str(overlay)
        overlay = _checked(read_yaml, overlay, where)
    _check_keys(where, overlay, KEYS)
    description = _over_joints(description, overlay.get('joints') or {}, where)
    description = _over_links(description, overlay.get('links') or {}, where)
    return attach_payloads(description, overlay.get('payloads') or (), where)


def attach_payloads(
    description: Description, payloads: Sequence[Mapping[str, Any]], where: str = 'payload'
) -> Description:
    """Return the description with masses attached to links.

    Parameters
    ----------
    payloads
        Each with ``frame`` (a link), ``mass`` [kg], and if not zero ``com`` (3) [m] and
        ``inertia`` about it (ixx, iyy, izz, ixy, ixz, iyz) [kg m^2], in link axes.
    """
    if not isinstance(payloads, Sequence) or isinstance(payloads, str):
        raise ModelError(f'{where}: payloads is {payloads!r}, expected a list of mappings')
    links = {link.name: link for link in description.links}
    for payload in payloads:
        _check_keys(where, payload, PAYLOAD_KEYS)
        name = payload.get('frame')
        if not isinstance(name, str) or name not in links:
            raise unknown_name('link', str(name), links, f'robot {description.name!r}')
        at = f'{where}: payload on {name!r}'
        load = _link(at, name, payload)
        links[name] = Link(name, links[name].inertia + load.inertia)
    return dataclasses.replace(description, links=tuple(links.values()))


def _over_links(description: Description, rows: Any, where: str) -> Description:
    if not isinstance(rows, Mapping):
        raise ModelError(f'{where}: links is {rows!r}, expected a mapping of names to masses')
    links = {link.name: link for link in description.links}
    for name, values in rows.items():
        if name not in links:
            raise unknown_name('link', str(name), links, f'robot {description.name!r}')
        _check_keys(f'{where}: link {name!r}', values, LINK_KEYS)
        links[name] = _link(f'{where}: link {name!r}', name, values)
    return dataclasses.replace(description, links=tuple(links.values()))


def _link(at: str, name: str, values: Mapping[str, Any]) -> Link:
    """Return a link with the mass, centre of mass and inertia about it of a mapping."""
    (mass,) = _numbers(at, 'mass', [values.get('mass')], 1)
    com = _numbers(at, 'com', values.get('com', (0.0, 0.0, 0.0)), 3)
    ixx, iyy, izz, ixy, ixz, iyz = _numbers(at, 'inertia', values.get('inertia', (0.0,) * 6), 6)
    rotational = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    if mass < 0.0 or float(np.linalg.eigvalsh(rotational)[0]) < 0.0:
        raise ModelError(f'{at}: mass {mass:g} and inertia must not be negative')
    return Link.from_mass(name, mass, np.array(com), rotational)


def _over_joints(description: Description, rows: Any, where: str) -> Description:
    if not isinstance(rows, Mapping):
        raise ModelError(f'{where}: joints is {rows!r}, expected a mapping of names to values')
    joints = {joint.name: joint for joint in description.joints}
    for pattern, values in rows.items():
        matched = fnmatch.filter(joints, str(pattern))
        if not matched:
            raise unknown_name('joint', str(pattern), joints, f'robot {description.name!r}')
        at = f'{where}: joint {pattern!r}'
        _check_keys(at, values, tuple(JOINT_KEYS))
        screw = _screw(at, values, [joints[name] for name in matched])
        checked: dict[str, Any] = {
            key: _numbers(at, key, [value], 1)[0]
            for key, value in values.items()
            if key not in ('kind', 'pitch')
        }
        for key, value in checked.items():
            if (value < 0.0 and key not in _SIGNED_KEYS) or (value == 0.0 and key in _NOT_ZERO):
                least = 'more than 0' if key in _NOT_ZERO else '0 or more'
                raise ModelError(f'{at}: {key} is {value:g}, expected {least}: {JOINT_KEYS[key]}')
        limit = {'effort': checked.pop('effort_limit')} if 'effort_limit' in checked else {}
        for name in matched:
            limits = dataclasses.replace(joints[name].limits, **limit)
            joints[name] = dataclasses.replace(joints[name], limits=limits, **checked, **screw)
    return dataclasses.replace(description, joints=tuple(joints.values()))


def _screw(at: str, values: Mapping[str, Any], joints: Sequence[Joint]) -> dict[str, Any]:
    """Return kind and pitch of joints that are to be helical; nothing if the overlay has none."""
    if 'kind' not in values and 'pitch' not in values:
        return {}
    if values.get('kind', 'helical') != 'helical':
        raise ModelError(
            f'{at}: kind is {values["kind"]!r}, expected {JOINT_KEYS["kind"]}; other kinds are '
            "the URDF's"
        )
    for joint in joints:
        if joint.kind not in ('revolute', 'continuous', 'helical'):
            raise ModelError(
                f'{at}: joint {joint.name!r} is {joint.kind} and has no pitch, expected a '
                'revolute or continuous joint to make helical'
            )
        if 'kind' not in values and joint.kind != 'helical':
            raise ModelError(
                f'{at}: pitch is given and joint {joint.name!r} is {joint.kind}, expected a '
                'helical joint; add kind: helical'
            )
    if 'pitch' not in values and any(joint.kind != 'helical' for joint in joints):
        raise ModelError(f'{at}: pitch is missing, expected {JOINT_KEYS["pitch"]}')
    if 'pitch' not in values:
        return {}
    (pitch,) = _numbers(at, 'pitch', [values['pitch']], 1)
    if pitch == 0.0:
        raise ModelError(f'{at}: pitch is 0, expected an {JOINT_KEYS["pitch"]}; leave out kind')
    return {'kind': 'helical', 'pitch': pitch}


def parse_overlay(text: str, where: str = 'overlay') -> Mapping[str, Any]:
    """Return the mapping that a YAML text holds.

    Raises `ModelError` if it is no YAML or no mapping; says ``where`` it is from.
    """
    return _checked(parse_yaml, text, where)


def _checked(read: Callable[[Any], Any], source: Any, where: str) -> Mapping[str, Any]:
    try:
        content = read(source) or {}
    except InputError as error:
        raise ModelError(f'{where}: cannot be read as YAML: {error}') from error
    _check_keys(where, content, KEYS)
    return cast(Mapping[str, Any], content)


def _check_keys(where: str, mapping: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(mapping, Mapping):
        raise ModelError(
            f'{where}: holds {mapping!r}, expected a mapping with {", ".join(allowed)}'
        )
    for key in mapping:
        if key not in allowed:
            raise unknown_name('key', str(key), allowed, where)


def _numbers(where: str, key: str, values: Any, count: int) -> list[float]:
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != count:
        raise ModelError(f'{where}: {key} is {values!r}, expected {count} numbers')
    for value in values:
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not math.isfinite(value)
        ):
            raise ModelError(f'{where}: {key} holds {value!r}, expected a finite number')
    return [float(value) for value in values]
