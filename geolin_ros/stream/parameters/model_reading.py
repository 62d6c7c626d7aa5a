# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot description and the parameters about it into a model, for a node or an offline run."""

import dataclasses
import functools
import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from geolin_ros import mjcf, urdf
from geolin_ros.description import Description, Joint, Limits, Link, Loop, Mimic
from geolin_ros.description.overlay import apply_overlay, attach_payloads
from geolin_ros.errors import ConfigurationError, ModelError, ModelWarning
from geolin_ros.model.tree import Base, TreeModel
from geolin_ros.stream.parameters.linearizer import model_options, payloads
from geolin_ros.stream.parameters.table import entries_of
from geolin_ros.urdf.reader import argument_of, expand, is_xacro, xacro_arguments

MOST_JOINTS = 1000
FORMAT = 'geolin_ros description 1'


def read_model(
    description: str | Path | Description, values: Mapping[str, Any], warn: Callable[[str], object]
) -> TreeModel:
    """Return the model of a description; what is suspicious about it goes to ``warn``.

    A text may have come over the network or from a bag: only a `Path` makes this open a file, and
    only a path may be one of MJCF. Its gravity is that of ``values``. Raises `ConfigurationError`
    if the base floats by ``values``, and an MJCF file has no free joint; `ModelError` if it cannot
    be used, or has more than `MOST_JOINTS` joints that move.
    """
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        options = model_options(values)
        parts, options['base'] = _read(description, values, options['base'], warn)
        overlay = options.pop('overlay')
        if overlay is not None:
            parts = apply_overlay(parts, overlay)
        parts = attach_payloads(parts, payloads(values))  # on links that an overlay may weigh anew
        moving = sum(joint.kind != 'fixed' for joint in parts.joints)
        if moving > MOST_JOINTS:
            raise ModelError(
                f'robot {parts.name!r} has {moving} moving joints, expected at most '
                f'{MOST_JOINTS}: A and B would fill the memory; use the Python API, or fix joints'
            )
        model = TreeModel.from_description(parts, **options)
    for sentence in model.warnings:
        warn(sentence)
    return model


def to_text(description: str | Path, values: Mapping[str, Any] | None = None) -> str:
    """Return URDF text, xacro expanded, or what an MJCF file says, for `from_text`.

    ``values`` of parameters say what else the file needs.
    """
    if isinstance(description, str):
        return description
    if mjcf.is_mjcf(description):
        return dump(mjcf.read(description, (values or {}).get('root')).description)
    if not is_xacro(description):
        return description.read_text()
    with xacro_arguments(_arguments(values or {})):
        return expand(description)


def _arguments(values: Mapping[str, Any]) -> dict[str, str]:
    return dict(map(argument_of, entries_of(values.get('xacro_args', ()))))


def from_text(text: str) -> Description:
    """Return what `to_text` kept; opens no file.

    Raises `ModelError` if it cannot be used.
    """
    if not is_stored(text):
        return _read_text(text)
    try:
        found = json.loads(text)
        if found.get('format') != FORMAT:
            raise ModelError(f'format is {found.get("format")!r}, expected {FORMAT!r}')
        links = tuple(Link(link['name'], np.array(link['inertia'])) for link in found['links'])
        joints = tuple(_joint(**joint) for joint in found['joints'])
        loops = tuple(Loop(**loop) for loop in found.get('loops', ()))
        return Description(found['name'], links, joints, found['source'], loops=loops)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ModelError(f'stored description cannot be read: {error}') from error


def dump(description: Description) -> str:
    """Return a description as JSON, which keeps every bit; ``findings`` are left out."""
    found = {'format': FORMAT, **dataclasses.asdict(description), 'findings': ()}
    return json.dumps(found, default=np.ndarray.tolist)


def is_stored(text: str) -> bool:
    """Whether a text is one of `dump`."""
    return text.startswith('{')


def _joint(limits: Any, mimic: Any, **fields: Any) -> Joint:
    own: dict[str, Any] = {
        name: np.array(value) if isinstance(value, list) else value
        for name, value in fields.items()
    }
    followed = None if mimic is None else Mimic(**mimic)
    return Joint(**own, limits=Limits(**limits), mimic=followed)


@functools.lru_cache(maxsize=1)  # parameters change oftener than the robot
def _read_text(text: str) -> Description:
    return urdf.read_text(text)


def _read(
    description: str | Path | Description,
    values: Mapping[str, Any],
    base: Base | None,
    warn: Callable[[str], object],
) -> tuple[Description, Base | None]:
    """Return links and joints, and the base if it is known what it does."""
    if isinstance(description, Description):
        return description, base
    if isinstance(description, str):
        return _read_text(description), base
    if not mjcf.is_mjcf(description):
        mjcf.check_no_root(description, values['root'])
        with xacro_arguments(_arguments(values)):
            return urdf.read(description), base
    found = mjcf.read(description, values['root'] or None)
    if found.base == 'fixed' and base == 'floating':
        raise ConfigurationError(
            f"parameter base is 'floating', but {description} has no free joint; set base: fixed, "
            'or add <freejoint/> to its first body'
        )
    if not np.allclose(found.gravity, values['gravity']):
        warn(
            f'{description} has gravity {list(found.gravity)} m/s^2; parameter gravity counts, '
            f'{list(values["gravity"])}'
        )
    return found.description, base or found.base
