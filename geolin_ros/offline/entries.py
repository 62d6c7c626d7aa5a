# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which entries of A, B and drift vary with the state: only these are stored for each sample."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from geolin_ros.errors import InputError
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline.store import Column
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.typing import Array, IntArray

MATRICES = {'A': ('row', 'col'), 'B': ('row', 'input'), 'drift': ('row',)}


@dataclass(frozen=True)
class Entries:
    """The entries of one matrix, or vector, that vary, and what the others are.

    Attributes
    ----------
    constant
        Value of every entry that does not vary, zero elsewhere.
    varying : (k,)
        Flat indices of the entries that vary, ascending.
    """

    constant: Array
    varying: IntArray

    @cached_property
    def _others(self) -> IntArray:
        return np.setdiff1d(np.arange(self.constant.size), self.varying)

    def pack(self, values: Array, name: str) -> Array:
        """Return the varying entries (T, k) of matrices (T, ...).

        Raises
        ------
        InputError
            If an entry differs that was found not to: nothing is ever lost in silence.
        """
        flat = values.reshape(len(values), -1)
        rest, expected = flat[:, self._others], self.constant.ravel()[self._others]
        differs = rest != expected
        if differs.any() and (differs & ~np.isnan(rest)).any():
            row, k = np.argwhere(differs & ~np.isnan(rest))[0]
            place = np.unravel_index(self._others[k], self.constant.shape)
            raise InputError(
                f'{name}{[int(i) for i in place]} is {rest[row, k]} at a sample, expected '
                f'{expected[k]} at all of them: please report this'
            )
        return np.asarray(flat[:, self.varying])

    def unpack(self, packed: Array) -> Array:
        """Return the matrices (T, ...) of packed ones (T, k)."""
        flat = np.repeat(self.constant.reshape(1, -1), len(packed), axis=0)
        flat[:, self.varying] = packed
        return flat.reshape(len(packed), *self.constant.shape)


Layout = Mapping[str, Entries]
"""By the name of the matrix."""


def find_layout(model: TreeModel, settings: StreamSettings, probes: dict[str, Column]) -> Layout:
    """Return the entries that are not the same in linearizations about random points.

    An entry that is the same there to the last bit is the same everywhere: zero because two joints
    are unrelated, one because a position's rate is a rate. Of a robot that may be in contact every
    acceleration depends on everything.
    """
    layout = {}
    for name in MATRICES:
        values = probes[name].values
        varies = (values != values[0]).any(axis=0)
        if settings.contacts.are_expected or model.loops:
            varies[model.m if settings.form == 'continuous' else 0 :] = True
        layout[name] = Entries(np.where(varies, 0.0, values[0]), np.flatnonzero(varies))
    return layout


def varying(name: str) -> str:
    """Return the name of the array with the varying entries of a matrix."""
    return f'{name}_varying'


def packed(columns: dict[str, Column], layout: Layout) -> dict[str, Column]:
    """Return variables with what varies of the matrices instead of them."""
    found = {}
    for name, column in columns.items():
        if name not in layout:
            found[name] = column
        elif layout[name].varying.size:
            found[varying(name)] = Column(
                layout[name].pack(column.values, name), (f'{name}_entry',)
            )
    return found
