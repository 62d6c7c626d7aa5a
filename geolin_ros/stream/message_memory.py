# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arrays of a message, written through views of its memory, and words of its enumerations."""

from array import array
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from geolin_ros.errors import InputError
from geolin_ros.typing import Array

W = TypeVar('W', bound=str)


def allocate(owner: Any, field: str, size: int) -> Array:
    """Give a float64[] field ``size`` zeros and return a writable view of them."""
    setattr(owner, field, array('d', bytes(8 * size)))
    # the message may have copied what it was given
    return np.frombuffer(getattr(owner, field), dtype=np.float64)


class MatrixWriter:
    """Fills one geolin_msgs/Matrix, whose memory, ``view``, is kept as long as the size stays."""

    def __init__(self, message: Any, rows: int = 0, cols: int = 0) -> None:
        self._message = message
        self._allocate(rows, cols)

    def write(self, values: Array) -> None:
        """Fill the message."""
        if values.shape != self.view.shape:
            self._allocate(*values.shape)
        self.view[:] = values

    def _allocate(self, rows: int, cols: int) -> None:
        self._message.rows, self._message.cols = rows, cols
        self.view = allocate(self._message, 'data', rows * cols).reshape(rows, cols)


def word_of(what: str, code: int, codes: Mapping[W, int]) -> W:
    """Return the word of an enumeration; raise `InputError` for a code that it does not have."""
    for word, known in codes.items():
        if known == code:
            return word
    raise InputError(
        f'{what} = {code}, expected one of {sorted(codes.values())}; the publisher is newer than '
        'this reader, or left the field empty'
    )


def write_matrix(message: Any, values: Array | None) -> None:
    """Write an array into a geolin_msgs/Matrix; none leaves it empty."""
    message.rows, message.cols = (0, 0) if values is None else values.shape
    message.data = array('d', b'' if values is None else np.ascontiguousarray(values).tobytes())


def read_matrix(message: Any) -> Array:
    """Return a geolin_msgs/Matrix as an array that shares its memory.

    Raises `InputError` if the data do not have rows * cols entries.
    """
    values = np.asarray(message.data, dtype=np.float64)
    if values.size != message.rows * message.cols:
        raise InputError(
            f'matrix message has {values.size} entries, expected {message.rows} x {message.cols}'
        )
    return values.reshape(message.rows, message.cols)
