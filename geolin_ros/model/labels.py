# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Names and units of the rows and columns of A and B."""

import functools
from typing import NamedTuple

from geolin_ros.model.tree import TreeModel

_UNITS = ('m', 'm', 'm', 'rad', 'rad', 'rad')
_WORDS = {f'H.{axis}': f'base position {axis}' for axis in 'xyz'}
_WORDS |= {'H.rx': 'base roll', 'H.ry': 'base pitch', 'H.rz': 'base yaw'}
_WORDS |= {f'v.{axis}': f'base velocity {axis}' for axis in 'xyz'}
_WORDS |= {'v.wx': 'base roll rate', 'v.wy': 'base pitch rate', 'v.wz': 'base yaw rate'}


class Label(NamedTuple):
    """Name and unit of one row or column."""

    name: str
    unit: str

    def __str__(self) -> str:
        """Return ``name [unit]``."""
        return f'{self.name} [{self.unit}]'


@functools.lru_cache(maxsize=8)
def state_labels(model: TreeModel) -> tuple[Label, ...]:
    """Return one label for each entry of z = [H; s; v; r] (fixed base: [s; r])."""
    units = joint_units(model)
    joints = list(zip(model.joint_names, units, strict=True))
    positions = tuple(Label(f's.{name}', unit) for name, unit in joints)
    rates = tuple(Label(f'r.{name}', f'{unit}/s') for name, unit in joints)
    if model.base == 'fixed':
        return positions + rates
    names = tuple(_WORDS)
    pose = tuple(map(Label, names[:6], _UNITS))
    twist = tuple(map(Label, names[6:], (f'{unit}/s' for unit in _UNITS)))
    return pose + positions + twist + rates


@functools.lru_cache(maxsize=8)
def input_labels(model: TreeModel) -> tuple[Label, ...]:
    """Return one label for each actuated joint's effort."""
    units = dict(zip(model.joint_names, joint_units(model), strict=True))
    return tuple(
        Label(f'tau.{name}', 'N m' if units[name] == 'rad' else 'N')
        for name in model.actuated_joints
    )


def rate_label(label: Label) -> Label:
    """Return the label of the time derivative: a row of A or B."""
    unit = f'{label.unit}^2' if label.unit.endswith('/s') else f'{label.unit}/s'
    return Label(f'd{label.name}/dt', unit)


def row_labels(model: TreeModel, form: str) -> tuple[Label, ...]:
    """Return one label for each row of A and B: rates, or the next step's state if discrete."""
    labels = state_labels(model)
    return labels if form == 'discrete' else tuple(rate_label(label) for label in labels)


def joint_units(model: TreeModel) -> tuple[str, ...]:
    """Return ``rad`` or ``m`` for each joint coordinate."""
    turns = (model.tree.subspace[model.own_coordinate, 3:] != 0.0).any(axis=1)
    return tuple('rad' if turn else 'm' for turn in turns)


def entry_words(name: str) -> str:
    """Return words for an entry of the state by its label's name."""
    if name in _WORDS:
        return _WORDS[name]
    part, joint = name.split('.', 1)
    return f'position of {joint}' if part == 's' else f'rate of {joint}'
