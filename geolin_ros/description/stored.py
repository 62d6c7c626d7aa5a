# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A description as JSON text that needs no other file and keeps every bit of every number."""

import dataclasses
import json
from typing import Any

import numpy as np

from geolin_ros.description.elements import Description, Joint, Limits, Link, Loop, Mimic
from geolin_ros.errors import ModelError

FORMAT = 'geolin_ros description 1'


def dump(description: Description) -> str:
    """Return a description as text for `load`; ``findings`` are left out."""
    found = {'format': FORMAT, **dataclasses.asdict(description), 'findings': ()}
    return json.dumps(found, default=np.ndarray.tolist)


def is_stored(text: str) -> bool:
    """Whether a text is one of `dump`."""
    return text.startswith('{')


def load(text: str) -> Description:
    """Return the description of a text of `dump`.

    Raises `ModelError` if it is not such a text.
    """
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


def _joint(limits: Any, mimic: Any, **fields: Any) -> Joint:
    own: dict[str, Any] = {
        name: np.array(value) if isinstance(value, list) else value
        for name, value in fields.items()
    }
    followed = None if mimic is None else Mimic(**mimic)
    return Joint(**own, limits=Limits(**limits), mimic=followed)
