# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""YAML as plain values, within bounds: no tags of Python, no aliases that multiply, no abyss."""

from pathlib import Path
from typing import Any

import yaml

from geolin_ros.errors import InputError

MOST_BYTES = 100_000
MOST_DEPTH = 20


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    _depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError(f'an alias (*{self.peek_event().anchor}), expected values')
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise yaml.YAMLError(f'more than {MOST_DEPTH} levels, expected fewer')
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def read_yaml(path: str | Path) -> Any:
    """Return the value that a YAML file holds.

    Raises
    ------
    InputError
        If it cannot be read, or as `parse_yaml`.
    """
    try:
        with Path(path).open('rb') as file:
            return parse_yaml(file.read(MOST_BYTES + 1).decode())
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a NUL in the path
        if isinstance(error, InputError):
            raise
        raise InputError(f'{error}, expected a file in UTF-8') from error


def parse_yaml(text: str) -> Any:
    """Return the value that a YAML text holds.

    Raises
    ------
    InputError
        If it is no YAML, longer than `MOST_BYTES`, deeper than `MOST_DEPTH`, or has aliases.
    """
    if len(text) > MOST_BYTES:
        raise InputError(f'longer than {MOST_BYTES} bytes, expected a few parameters')
    try:
        return yaml.load(text, _Loader)
    # Not all errors of the library are its own: dates and very long numbers end in ValueError.
    except (yaml.YAMLError, ValueError, OverflowError, TypeError, KeyError) as error:
        raise InputError(f'no YAML that is read here: {error}') from error
