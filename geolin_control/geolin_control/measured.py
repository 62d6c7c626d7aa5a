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
from geolin_ros.typing import Array

MOST_DEVIATION = 1.0
"""Of A and of B, relative to those of the own model."""


class Measured(NamedTuple):
    """A linearization from outside, and what it was about; arrays of its own."""

    time: float
    """Stamp [s]."""
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
    """Contacts, in the order of the rows."""

    def fits(self, posture: State, own: Linearizer, calm: float) -> bool:
        """Whether it is about this posture, at rest, on the contacts of the own linearizer.

        All within ``calm`` [m, rad, m/s, rad/s]; a point may have any axes.
        """
        moving = max(np.abs(self.state.v).max(), np.abs(self.state.r).max(initial=0.0))
        z = posture.difference(self.state)
        away = np.abs(z[: z.size // 2]).max()
        return bool(moving <= calm and away <= calm) and self._holds_the_same(own, calm)

    def _holds_the_same(self, own: Linearizer, calm: float) -> bool:
        ours, theirs = self._placed(own.model, own.contacts), self._placed(own.model)
        return len(ours) == len(theirs) and all(
            a[:2] == b[:2]
            and np.abs(a[2] - b[2])[:3, slice(3 if a[0] == 'point' else 0, 4)].max() <= calm
            for a, b in zip(ours, theirs, strict=True)
        )

    def _placed(
        self, model: TreeModel, contacts: Sequence[Closure] | None = None
    ) -> list[tuple[str, int, Array]]:
        """Return kind, body and placement there of contacts, by default those from outside."""
        found: list[tuple[str, int, Array]] = []
        for contact in self.contacts if contacts is None else contacts:
            at, _ = resolve(model, contact)
            found.append((contact.kind, at.body, at.placement))
        return found

    def _turn(self, own: Linearizer) -> Array:
        """Return what takes wrenches from the axes of the contacts outside to the own ones."""
        turn, row = np.zeros((self.wrenches.size, self.wrenches.size)), 0
        ours, theirs = self._placed(own.model, own.contacts), self._placed(own.model)
        for (kind, _, here), (_, _, there) in zip(ours, theirs, strict=True):
            for _ in range(1 if kind == 'point' else 2):
                turn[row : row + 3, row : row + 3] = here[:3, :3].T @ there[:3, :3]
                row += 3
        return turn

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
        turn = self._turn(linearizer)
        return dataclasses.replace(
            own, A=self.A, B=self.B, nu_dot=self.nu_dot, wrenches=turn @ self.wrenches,
            wrench_by_state=turn @ self.wrench_by_state, wrench_by_tau=turn @ self.wrench_by_tau,
        )  # fmt: skip
