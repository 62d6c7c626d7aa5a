# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is laid over a robot: rotors, gears, springs, friction, screws, payloads, locked joints.

An overlay is a mapping, usually from a YAML file::

    joints:
      "*_knee_joint": {rotor_inertia: 1.0e-4, gear_ratio: 9.1, damping: 0.1}
      spine: {stiffness: 300.0, rest: 0.0}
      ankle_screw: {kind: helical, pitch: 0.002}
    links:
      shank: {mass: 0.21, com: [0.0, 0.0, -0.1], inertia: [1.2e-3, 1.2e-3, 4.0e-5, 0, 0, 0]}
    payloads:
      - {frame: base, mass: 2.0, com: [0.0, 0.0, 0.1], inertia: [0.01, 0.01, 0.01, 0, 0, 0]}

Names of joints may hold the wildcards ``*`` and ``?``; their keys are fields of `Joint`, and
``effort_limit`` [N m or N]. Links take the place of what the description says about their masses;
payloads come on top. `geolin_tools.identification.overlay_of` makes overlays of recordings.
"""

import dataclasses
import fnmatch
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geolin_ros.description.checks import check_values
from geolin_ros.description.elements import SINGLE_AXIS_KINDS, Description, Joint, Link
from geolin_ros.description.safe_yaml import parse_yaml, read_yaml
from geolin_ros.errors import InputError, ModelError, unknown_name
from geolin_ros.spatial import se3

_JOINT_KEYS = (
    *('rotor_inertia', 'gear_ratio', 'damping', 'friction', 'friction_speed', 'stiffness', 'rest'),
    *('kind', 'pitch', 'effort_scale', 'effort_offset', 'effort_limit'),
)
_LINK_KEYS = ('mass', 'com', 'inertia')
_KEYS = ('joints', 'links', 'payloads')


def apply_overlay(
    description: Description, overlay: Mapping[str, Any] | str | Path
) -> Description:
    """Return the description with an overlay (mapping, or path of a YAML file) laid over it.

    Raises `ModelError` if a key is unknown, a value is no finite number in its range, or a file
    cannot be read; `UnknownNameError` if a joint pattern matches nothing, or a frame is unknown.
    """
    where = 'overlay' if isinstance(overlay, Mapping) else str(overlay)
    if isinstance(overlay, Mapping):
        _check_keys(where, overlay, _KEYS)
    else:
        overlay = parse_overlay(overlay, where, read_yaml)
    links, joints = overlay.get('links') or {}, overlay.get('joints') or {}
    for key, rows in (('joints', joints), ('links', links)):
        if not isinstance(rows, Mapping):
            raise ModelError(f'{where}: {key} is {rows!r}, expected a mapping of names to values')
    description = _over_joints(description, joints, where)
    description = _weighed(description, links.items(), where, _LINK_KEYS)
    return attach_payloads(description, overlay.get('payloads') or (), where)


def parse_overlay(
    text: str | Path, where: str = 'overlay', parse: Callable[[Any], Any] = parse_yaml
) -> Mapping[str, Any]:
    """Return the mapping that a YAML text holds.

    Raises `ModelError` if it is no YAML or no mapping; says ``where`` it is from.
    """
    try:
        content: Mapping[str, Any] = parse(text) or {}
    except InputError as error:
        raise ModelError(f'{where}: cannot be read as YAML: {error}') from error
    _check_keys(where, content, _KEYS)
    return content


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
    keys = ('frame', *_LINK_KEYS)
    for payload in payloads:
        _check_keys(where, payload, keys)
    loads = [(payload.get('frame'), payload) for payload in payloads]
    return _weighed(description, loads, where, keys, adds=True)


def _weighed(
    description: Description,
    rows: Iterable[tuple[Any, Any]],
    where: str,
    keys: Sequence[str],
    adds: bool = False,
) -> Description:
    """Return the description with other inertias of links, or with more."""
    inertias = {link.name: link.inertia for link in description.links}
    for name, values in ((str(name), values) for name, values in rows):
        if name not in inertias:
            raise unknown_name('link', name, inertias, f'robot {description.name!r}')
        at = f'{where}: link {name!r}'
        _check_keys(at, values, keys)
        (mass,) = _numbers(at, 'mass', [values.get('mass')], 1)
        com = _numbers(at, 'com', values.get('com', (0.0,) * 3), 3)
        moments = _numbers(at, 'inertia', values.get('inertia', (0.0,) * 6), 6)
        xx, yy, zz, xy, xz, yz = moments
        rotational = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if mass < 0.0 or float(np.linalg.eigvalsh(rotational)[0]) < 0.0:
            raise ModelError(f'{at}: mass {mass:g} and inertia must not be negative')
        inertia = Link.from_mass(name, mass, np.array(com), rotational).inertia
        inertias[name] = inertias[name] + inertia if adds else inertia
    links = tuple(Link(name, inertia) for name, inertia in inertias.items())
    return dataclasses.replace(description, links=links)


def _over_joints(description: Description, rows: Mapping[Any, Any], where: str) -> Description:
    joints = {joint.name: joint for joint in description.joints}
    for pattern, values in rows.items():
        matched = fnmatch.filter(joints, str(pattern))
        if not matched:
            raise unknown_name('joint', str(pattern), joints, f'robot {description.name!r}')
        at = f'{where}: joint {pattern!r}'
        _check_keys(at, values, _JOINT_KEYS)
        changes: dict[str, Any] = {
            key: _numbers(at, key, [value], 1)[0] for key, value in values.items() if key != 'kind'
        }
        if 'kind' in values or 'pitch' in values:
            changes['kind'] = 'helical'
            _check_screw(at, values, [joints[name] for name in matched])
        if changes.get('effort_limit', 1.0) <= 0.0:
            raise ModelError(f'{at}: effort_limit is {changes["effort_limit"]:g}, expected > 0')
        limit = {'effort': changes.pop('effort_limit')} if 'effort_limit' in changes else {}
        for name in matched:
            limits = dataclasses.replace(joints[name].limits, **limit)
            joints[name] = dataclasses.replace(joints[name], limits=limits, **changes)
    changed = dataclasses.replace(description, joints=tuple(joints.values()))
    check_values(dataclasses.replace(changed, source=where))
    return changed


def _check_screw(at: str, values: Mapping[str, Any], joints: Sequence[Joint]) -> None:
    """Refuse what does not make joints helical, or give helical ones another pitch."""
    kinds = {joint.kind for joint in joints}
    kind = values.get('kind', 'helical' if kinds == {'helical'} else None)
    turn = kinds <= {'revolute', 'continuous', 'helical'}
    if kind != 'helical' or not values.get('pitch') or not turn:
        raise ModelError(
            f'{at}: has kind {kind!r} and pitch {values.get("pitch")!r}, and is '
            f'{", ".join(sorted(kinds))}, expected kind: helical and a pitch other than 0 '
            '[m/rad], for revolute or continuous joints'
        )


def _check_keys(where: str, mapping: Any, allowed: Sequence[str]) -> None:
    if not isinstance(mapping, Mapping):
        raise ModelError(
            f'{where}: holds {mapping!r}, expected a mapping with {", ".join(allowed)}'
        )
    for key in mapping:
        if key not in allowed:
            raise unknown_name('key', str(key), allowed, where)


def _numbers(where: str, key: str, values: Any, count: int) -> list[float]:
    is_list = isinstance(values, Sequence) and not isinstance(values, str)
    if not is_list or len(values) != count or not all(map(_is_number, values)):
        shown, expected = values, f'{count} finite numbers'
        if count == 1:
            shown, expected = values[0], 'a finite number'
        raise ModelError(f'{where}: {key} is {shown!r:.200}, expected {expected}')
    return [float(value) for value in values]


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max


def lock_joints(
    description: Description, positions: Mapping[str, float]
) -> tuple[Description, dict[str, float]]:
    """Return a description in which some single-axis joints are fixed, and where each is.

    Joints that mimic a locked one are locked with it, chains of mimics too. Raises
    `UnknownNameError` if there is no such joint; `ModelError` if a joint is of a kind that cannot
    be locked, its position is not finite, or a mimic joint is asked to be elsewhere than its
    locked master puts it.

    Parameters
    ----------
    positions
        Position of each joint to lock, by name [rad or m].
    """
    by_name = {joint.name: joint for joint in description.joints}
    for name, position in positions.items():
        if name not in by_name:
            raise unknown_name('joint', name, by_name, f'robot {description.name!r}')
        kind = by_name[name].kind
        if kind not in SINGLE_AXIS_KINDS or not math.isfinite(position):
            raise ModelError(
                f'{description.source}: joint {name!r} is {kind} and locked at {position}, '
                f'expected one of {", ".join(SINGLE_AXIS_KINDS)} and a finite position [rad or '
                'm]; correct the locked joints'
            )
    all_positions = _with_followers(description, dict(positions))
    joints = tuple(
        _fixed(joint, all_positions[joint.name]) if joint.name in all_positions else joint
        for joint in description.joints
    )
    return dataclasses.replace(description, joints=joints), all_positions


def _with_followers(description: Description, positions: dict[str, float]) -> dict[str, float]:
    """Add the joints that mimic a locked one, until no more are found."""
    before = -1
    while before != len(positions):
        before = len(positions)
        for joint in description.joints:
            mimic = joint.mimic if joint.kind in SINGLE_AXIS_KINDS else None
            if mimic is None or mimic.joint not in positions:
                continue
            position = mimic.multiplier * positions[mimic.joint] + mimic.offset
            given = positions.setdefault(joint.name, position)
            if abs(given - position) > 1e-9:
                raise ModelError(
                    f'{description.source}: joint {joint.name!r} is locked at {given:g}, but it '
                    f'mimics {mimic.joint!r}, which puts it at {position:g}; lock only one'
                )
    return positions


def _fixed(joint: Joint, position: float) -> Joint:
    axis = np.asarray(joint.axis, dtype=np.float64) / np.linalg.norm(joint.axis)
    pitch = joint.pitch if joint.kind == 'helical' else 0.0
    along, about = (1.0, 0.0) if joint.kind == 'prismatic' else (pitch, 1.0)
    motion = se3.exp(position * np.concatenate((along * axis, about * axis)))
    return dataclasses.replace(joint, kind='fixed', placement=joint.placement @ motion, mimic=None)
