# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node hears as bytes: serialized messages, one after the other.

Each message is: the number of its input, its length in two bytes, its CDR. What is no message at
all is left out, as the middleware does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.errors import GeolinError
from geolin_ros.offline.message_types import known_types
from support.bags import START

LATER = START + 3600 * 10**9
STEP_BACK = 10**10
"""So far back [ns] a stamp is of a clock that was set, never one that is only late."""


class Input(NamedTuple):
    """Type of a message, and what takes it: returns the numbers of an answer if there is one."""

    kind: str
    take: Callable[[Any], Any]


@dataclass(frozen=True)
class Node:
    """A node without its graph.

    Attributes
    ----------
    make
        Returns the inputs, by name, of a new one.
    good
        Returns (name, message) from a stamp [ns] on, for every input, with an answer to the last.
    """

    make: Callable[[], dict[str, Input]]
    good: Callable[[int], list[tuple[str, Any]]]

    def reads(self, data: bytes) -> bool:
        """Take what bytes hold, then what is good.

        Returns
        -------
        bool
            Whether each input has taken one of the bytes' messages, and the last was answered.
        """
        inputs = self.make()
        with np.errstate(all='ignore'):
            taken, answer = _take_all(inputs, _messages(inputs, data))
        fresh, lively = _take_all(inputs, self.good(LATER))
        if lively is None:  # what was late is not when clocks are set back
            fresh, lively = _take_all(inputs, self.good(LATER - STEP_BACK))
        assert lively is not None, f'of good messages only {fresh} are taken'
        return taken == set(inputs) and answer is not None

    def seeds(self) -> list[bytes]:
        """Return what is good, in bytes."""
        numbers = {name: number for number, name in enumerate(self.make())}
        parts = []
        for name, message in self.good(START):
            kind = self.make()[name].kind
            body = bytes(known_types().serialize_cdr(message, kind))
            parts.append(bytes([numbers[name]]) + len(body).to_bytes(2, 'little') + body)
        return [b''.join(parts)]


def _messages(inputs, data):
    names = list(inputs)
    while len(data) > 3:
        name, length = names[data[0] % len(names)], int.from_bytes(data[1:3], 'little')
        body, data = data[3 : 3 + length], data[3 + length :]
        try:
            yield name, known_types().deserialize_cdr(body, inputs[name].kind)
        except Exception:
            continue


def _take_all(inputs, messages):
    """Return the names of inputs that have taken a message, and the answer to the last one."""
    taken, answer = set(), None
    for name, message in messages:
        try:
            answer = inputs[name].take(message)
        except GeolinError:
            answer = None
            continue
        taken.add(name)
        if answer is not None:
            assert np.isfinite(answer).all(), f'{name} is answered by NaN or inf'
    return taken, answer
