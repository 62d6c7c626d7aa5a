# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A linearization from outside, and whether gains may be made of it."""

import dataclasses
from typing import NamedTuple

import numpy as np

from geolin_ros.errors import InputError
from geolin_ros.linearization.contacts.description import Closure, resolve
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.result import Linearization
from geolin_ros.model.state import State
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

        All within ``calm`` [m, rad, m/s, rad/s].
        """
        moving = max(np.abs(self.state.v).max(), np.abs(self.state.r).max(initial=0.0))
        z = posture.difference(self.state)
        away = np.abs(z[: z.size // 2]).max()
        return bool(moving <= calm and away <= calm) and self._holds_the_same(own, calm)

    def _holds_the_same(self, own: Linearizer, calm: float) -> bool:
        def place(contact: Closure) -> tuple[str, int, Array]:
            at, _ = resolve(own.model, contact)
            return contact.kind, at.body, at.placement

        ours, theirs = ([place(c) for c in one] for one in (own.contacts, self.contacts))
        return len(ours) == len(theirs) and all(
            a[:2] == b[:2] and np.abs(a[2] - b[2]).max() <= calm
            for a, b in zip(ours, theirs, strict=True)
        )

    def on(self, linearizer: Linearizer) -> Linearization:
        """Return A and B with the geometry of the own linearizer.

        Raises
        ------
        InputError
            If they are further from those of this model than these are from zero.
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
        return dataclasses.replace(
            own, A=self.A, B=self.B, nu_dot=self.nu_dot, wrenches=self.wrenches,
            wrench_by_state=self.wrench_by_state, wrench_by_tau=self.wrench_by_tau,
        )  # fmt: skip
