# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A table of parameters: names, defaults, bounds and meanings, and what is made of them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar, get_args

from geolin_ros.errors import ConfigurationError, check_choice

T = TypeVar('T')
Value = str | int | float | bool | list[float] | list[str]
NO_NAMES = ['']
"""An empty list of names: ROS cannot tell the type of a list without entries."""


@dataclass(frozen=True)
class Parameter:
    """One row of the table.

    ``choices`` are the allowed values of a text, ``bounds`` the smallest and largest number.
    ``live``: it may change while the node runs. Not so what names files: whoever reaches
    ``~/set_parameters`` would have them opened. ``entry`` reads one entry of a list of texts, or
    raises `ConfigurationError`.
    """

    name: str
    default: Value
    text: str
    unit: str = ''
    choices: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    live: bool = True
    entry: Callable[[str], object] | None = None

    def check(self, value: Any) -> None:
        """Raise `ConfigurationError` if ``value`` is not allowed."""
        if self.choices:
            check_choice(f'parameter {self.name}', value, self.choices)
        low, high = self.bounds or (0.0, 0.0)
        if self.bounds and not low <= value <= high:
            expected = f'{low:g} to {high:g} {self.unit}'.rstrip()
            raise ConfigurationError(f'parameter {self.name} is {value!r}, expected {expected}')
        if self.entry is not None:
            for text in entries_of(value):
                self.entry(text)
        if isinstance(self.default, list) and self.default != NO_NAMES:
            count = len(self.default)
            if len(value) != count or not all(map(math.isfinite, value)):
                raise ConfigurationError(
                    f'parameter {self.name} is {list(value)}, expected {count} finite numbers'
                )


def row_of(
    settings: type,
    name: str,
    text: str,
    unit: str = '',
    bounds: tuple[float, float] | None = None,
    choices: tuple[str, ...] = (),
) -> Parameter:
    """Return the row of a field of a dataclass, whose default and choices it has."""
    found = next(found for found in fields(settings) if found.name in _fields_of(name))
    default: Any = found.default
    return Parameter(name, default, text, unit, choices or get_args(found.type), bounds)


def rows_of(settings: type, texts: Mapping[str, str]) -> Iterator[Parameter]:
    """Yield rows of fields of a dataclass, by ``name`` or ``name lowest ... largest [unit]``.

    Defaults and choices are those of the fields.
    """
    for key, text in texts.items():
        words, _, unit = key.rstrip(']').partition(' [')
        name, *bounds = words.replace('...', '').split()
        low, high = map(float, bounds or (0.0, 0.0))
        yield row_of(settings, name, text, unit, (low, high) if bounds else None)


def deviations_of(
    settings: type, rows: Sequence[tuple[str, str, str]], bounds: tuple[float, float] = (1e-9, 1e3)
) -> tuple[Parameter, ...]:
    """Return the rows of fields that are standard deviations, of name, text and unit."""
    return tuple(
        row_of(settings, f'deviation.{name}', f'Standard deviation of {text}.', unit, bounds)
        for name, text, unit in rows
    )


def _fields_of(name: str) -> tuple[str, ...]:
    """Return the names that a parameter's field may have: without its group, or with it by _."""
    return name.rpartition('.')[2], name.replace('.', '_'), name.removeprefix('contact_')


def check_all(values: Mapping[str, Any], table: Mapping[str, Parameter]) -> None:
    """Raise `ConfigurationError` for the first value of the table that is not allowed."""
    for name, value in values.items():
        if name in table:
            table[name].check(value)


def entries_of(entries: Sequence[str]) -> list[str]:
    """Return the entries of a list that are not empty."""
    return [entry for entry in entries if entry]


def settings_of(kind: Callable[..., T], values: Mapping[str, Any], **own: Any) -> T:
    """Return a dataclass of fields named as the parameters, but for its ``own``."""
    given = {field: value for name, value in values.items() for field in _fields_of(name)}
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**({name: given[name] for name in names & set(given)} | own))
