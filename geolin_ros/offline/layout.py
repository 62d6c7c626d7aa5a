# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which entries of A, B and drift vary with the state: only these are stored for each sample."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from geolin_ros.errors import InputError
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline.points import PointBatches, Points, tuples
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.typing import Array, IntArray

PROBES = 4


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
        packed: Array = flat[:, self.varying]
        rest, expected = flat[:, self._others], self.constant.ravel()[self._others]
        if not np.array_equal(rest, np.broadcast_to(expected, rest.shape)):
            row, k = np.unravel_index(np.argmax((rest != expected) & ~np.isnan(rest)), rest.shape)
            if rest[row, k] != expected[k] and not np.isnan(rest[row, k]):
                place = np.unravel_index(self._others[k], self.constant.shape)
                raise InputError(
                    f'{name}{[int(i) for i in place]} is {rest[row, k]} at a sample, expected '
                    f'{expected[k]} at all of them: please report this'
                )
        return packed

    def unpack(self, packed: Array) -> Array:
        """Return the matrices (T, ...) of packed ones (T, k)."""
        flat = np.repeat(self.constant.reshape(1, -1), len(packed), axis=0)
        flat[:, self.varying] = packed
        return flat.reshape(len(packed), *self.constant.shape)


class Layout(NamedTuple):
    """What varies in each of the three."""

    A: Entries
    B: Entries
    drift: Entries


def find_layout(model: TreeModel, settings: StreamSettings) -> Layout:
    """Return the entries that are not the same at several random operating points.

    An entry that is the same there to the last bit is the same everywhere: zero because two joints
    are unrelated, one because a position's rate is a rate. The points are always the same ones.
    Of a robot that may be in contact every acceleration depends on everything.
    """
    rng = np.random.default_rng(0)
    linearize = PointBatches(model, settings, PROBES)
    neutral, states = model.neutral_state(), []
    for _ in range(PROBES):
        z = rng.uniform(-0.7, 0.7, 12 + 2 * model.n)
        if model.base == 'fixed':
            z[:6] = z[6 + model.n : 12 + model.n] = 0.0
        states.append(neutral.retract(z).data)
    tau = rng.uniform(-1.0, 1.0, (PROBES, model.n))
    wrenches = rng.uniform(-1.0, 1.0, (PROBES, len(linearize.slots), 6))
    found = linearize(Points(np.array(states), tau, wrenches, tuples([()] * PROBES)))
    layout = []
    for values in (found.A, found.B, found.drift):
        varies = (values != values[0]).any(axis=0)
        if settings.contacts.are_expected or model.loops:
            varies[model.m if settings.form == 'continuous' else 0 :] = True
        layout.append(Entries(np.where(varies, 0.0, values[0]), np.flatnonzero(varies)))
    return Layout(*layout)
