# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the numbers of a message lie in its serialized bytes."""

import re
from collections.abc import Callable, Mapping
from typing import Any

LITTLE_ENDIAN = b'\x00\x01\x00\x00'
"""First bytes of plain CDR [OMG DDSI-RTPS, 10.5]; alignment counts from their end."""
SIZES = {f'{sign}int{8 * size}': size for sign in ('', 'u') for size in (1, 2, 4, 8)}
SIZES |= {'boolean': 1, 'float': 4, 'double': 8}
"""Bytes of the numbers of rosidl."""
_FIXED, _SEQUENCE = re.compile(r'(\w+)\[\d+\]'), re.compile(r'sequence<(.+)>')

FieldTypes = Callable[[Any], Mapping[str, str]]
"""Returns the type of each field of a message, as rosidl names it: ``'sequence<double>'``."""


class Layout:
    """Of one message, and of each one with the same texts and lengths.

    Raises `TypeError` if the message has a field of another type than numbers, strings, messages
    of them, and arrays of numbers and of strings.

    Attributes
    ----------
    at
        Offset of each number, or of the first one of an array, by its field through nested
        messages: ``'pose.pose.position.x'``.
    fixed
        The bytes of texts and lengths; those that are neither here nor numbers mean nothing.
    size
        Bytes of the whole.
    """

    def __init__(self, message: Any, field_types: FieldTypes) -> None:
        self._field_types = field_types
        self.at: dict[str, int] = {}
        self.fixed = [slice(0, len(LITTLE_ENDIAN))]
        self.size = len(LITTLE_ENDIAN)
        self._place_fields('', message)

    def _place_fields(self, path: str, message: Any) -> None:
        for name, kind in self._field_types(message).items():
            self._place(path + name, kind, getattr(message, name))

    def _place(self, name: str, kind: str, value: Any) -> None:
        if kind in SIZES:
            self._place_numbers(name, SIZES[kind], 1)
        elif kind == 'string':
            self._fix(value)
        elif (match := _FIXED.fullmatch(kind)) and match[1] in SIZES:
            self._place_numbers(name, SIZES[match[1]], len(value))
        elif (match := _SEQUENCE.fullmatch(kind)) and match[1] in SIZES:
            self._fix()
            self._place_numbers(name, SIZES[match[1]], len(value))
        elif match and match[1] == 'string':
            self._fix()
            for text in value:
                self._fix(text)
        elif '/' in kind and match is None:
            self._place_fields(name + '.', value)
        else:
            raise TypeError(f'{name} is a {kind}, expected numbers, strings or messages of them')

    def _place_numbers(self, name: str, size: int, count: int) -> None:
        if count > 0:  # nothing is no more aligned than it is long
            self._align(size)
        self.at[name] = self.size
        self.size += size * count

    def _fix(self, text: str | None = None) -> None:
        """Place a length, and a text if it is of one."""
        self._align(4)
        begin = self.size
        self.size += 4 if text is None else 4 + len(text.encode()) + 1
        self.fixed.append(slice(begin, self.size))

    def _align(self, size: int) -> None:
        self.size += -(self.size - len(LITTLE_ENDIAN)) % size
