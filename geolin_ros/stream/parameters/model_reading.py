# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot description and the parameters about it into a model, for a node or an offline run."""

import functools
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from geolin_ros import urdf
from geolin_ros.description import Description, attach_payloads
from geolin_ros.errors import ModelError, ModelWarning
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.parameters.linearizer import model_options, payloads

MOST_JOINTS = 1000


def read_model(
    description: str | Path, values: Mapping[str, Any], warn: Callable[[str], object]
) -> TreeModel:
    """Return the model of a description; what is suspicious about it goes to ``warn``.

    A text may have come over the network or from a bag: only a `Path` makes this open a file.

    Raises
    ------
    ModelError
        If it cannot be used, or has more than `MOST_JOINTS` joints that move.
    """
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        parts = attach_payloads(_read(description), payloads(values))
    moving = sum(joint.kind != 'fixed' for joint in parts.joints)
    if moving > MOST_JOINTS:
        raise ModelError(
            f'robot {parts.name!r} has {moving} moving joints, expected at most {MOST_JOINTS}: '
            'A and B would fill the memory; use the Python API, or fix joints'
        )
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        model = TreeModel.from_description(parts, **model_options(values))
    for sentence in model.warnings:
        warn(sentence)
    return model


def _read(description: str | Path) -> Description:
    return urdf.read(description) if isinstance(description, Path) else _read_text(description)


@functools.lru_cache(maxsize=1)
def _read_text(text: str) -> Description:
    """Keep the last one: parameters change oftener than the robot."""
    return urdf.read_text(text)
