# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A linearization from outside, and whether gains may be made of it."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.errors import InputError
from geolin_ros.linearization.contacts.description import Closure, resolve
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.result import Linearization
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array

linalg = optional('scipy.linalg', extra='control')

MOST_DEVIATION = 1.0
"""Of A and of B, relative to those of the own model."""


class Measured(NamedTuple):
    """A linearization from outside, and what it was about; arrays of its own."""

    state: State
    tau: Array
    A: Array
    """Of the continuous form, moving reference, body twist; the others alike."""
    B: Array
    nu_dot: Array
    wrenches: Array
    wrench_by_state: Array
    wrench_by_tau: Array
    contacts: tuple[Closure, ...]
    """In the order of the rows."""

    def fits(self, posture: State, own: Linearizer, calm: float) -> bool:
        """Whether it is about this posture, at rest, on the contacts of the own linearizer.

        All within ``calm`` [m, rad, m/s, rad/s]; a point may have any axes.
        """
        away = posture.difference(self.state)[: own.model.m]
        if not np.abs(np.concatenate((self.state.v, self.state.r, away))).max() <= calm:
            return False
        ours, theirs = _placed(own.model, own.contacts), _placed(own.model, self.contacts)
        return len(ours) == len(theirs) and all(
            a[:2] == b[:2]
            and np.abs(a[2] - b[2])[:3, slice(3 if a[0] == 'point' else 0, 4)].max() <= calm
            for a, b in zip(ours, theirs, strict=True)
        )

    def on(self, linearizer: Linearizer) -> Linearization:
        """Return A and B with the geometry of the own linearizer.

        Raises `InputError` if they are further from those of this model than these are from zero.
        """
        own = linearizer(self.state, self.tau)
        for name, theirs, ours in (('A', self.A, own.A), ('B', self.B, own.B)):
            deviation = float(np.linalg.norm(theirs - ours) / np.linalg.norm(ours))
            if not deviation <= MOST_DEVIATION:
                raise InputError(
                    f'{name} of the linearization is {deviation:.1f} times as far from that '
                    f'of this model as this is from zero, expected at most {MOST_DEVIATION:g}; '
                    'look at the linearizer'
                )
        blocks: list[Array] = []  # from the axes of the contacts outside to the own ones
        ends = (_placed(linearizer.model, ones) for ones in (linearizer.contacts, self.contacts))
        for (kind, _, inner), (_, _, outer) in zip(*ends, strict=True):
            R = inner[:3, :3].T @ outer[:3, :3]
            blocks += [R] if kind == 'point' else [R, R]
        turn = linalg.block_diag(*blocks)
        names = 'wrenches', 'wrench_by_state', 'wrench_by_tau'
        forces = {name: turn @ getattr(self, name) for name in names}
        return dataclasses.replace(own, A=self.A, B=self.B, nu_dot=self.nu_dot, **forces)


def _placed(model: TreeModel, contacts: Sequence[Closure]) -> list[tuple[str, int, Array]]:
    """Return kind, body and placement there of contacts."""
    ends = [(contact.kind, resolve(model, contact)[0]) for contact in contacts]
    return [(kind, at.body, at.placement) for kind, at in ends]
