# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""YAML as plain values, within bounds: no tags of Python, no aliases that multiply, no abyss."""

from pathlib import Path
from typing import Any

import yaml

from geolin_ros.errors import InputError

MOST_BYTES = 100_000
MOST_DEPTH = 20
# libyaml's, which comes with PyYAML's wheels and packages, is an order of magnitude faster.
_Loader: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


def read_yaml(path: str | Path) -> Any:
    """Return the value that a YAML file holds.

    Raises `InputError` if it cannot be read, or as `parse_yaml`.
    """
    try:
        with Path(path).open('rb') as file:
            return parse_yaml(file.read(MOST_BYTES + 1).decode())
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a NUL in the path
        if isinstance(error, InputError):
            raise
        raise InputError(f'{error}, expected a file in UTF-8') from error


def parse_yaml(text: str, most_bytes: int = MOST_BYTES) -> Any:
    """Return the value that a YAML text holds.

    Raises `InputError` if it is no YAML, longer than ``most_bytes``, deeper than `MOST_DEPTH`, or
    has aliases.
    """
    if len(text) > most_bytes:
        raise InputError(f'longer than {most_bytes} bytes, expected fewer')
    try:
        _check_events(text)
        return yaml.load(text, _Loader)
    # Not all errors of the library are its own: dates and very long numbers end in ValueError.
    except (yaml.YAMLError, ValueError, OverflowError, TypeError, KeyError) as error:
        raise InputError(f'no YAML that is read here: {error}') from error


def _check_events(text: str) -> None:
    """Refuse what would take memory or stack out of proportion to its length."""
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError(f'an alias (*{event.anchor}), expected values')
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_DEPTH:
            raise yaml.YAMLError(f'more than {MOST_DEPTH} levels, expected fewer')
