# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A check of A and B that shares nothing with how they were made.

Along random directions, one for each block of columns so that every entry of A and B counts, A Z +
B dU is compared with what `directional` finds: the derivative of textbook equations by a complex
step, exact to rounding. Nothing here reads the engine, its packed arrays or its placements.

For ``zoh`` A and B of the same state are made here too. The limit grows with the condition number
of M along the motions that contacts leave: light feet count where they are free. J nu_dot + gamma
= 0 and J B = 0 are kept to rounding whatever it is.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.errors import UnsolvableError
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array
from geolin_ros.verification.accelerations import PrescribedAccelerations
from geolin_ros.verification.bodies import Bodies
from geolin_ros.verification.directional import Directional, Form

LIMIT = 1e-8
"""Largest deviation of a well-conditioned robot, relative to the largest entry of the block."""
ROUNDING = 1e3 * np.finfo(np.float64).eps
"""Times the condition of M along the motions that contacts leave, or of J J': of another one."""
LEAST = 1e-3
"""A block with entries below this part of its row's largest is judged by that."""
REDUNDANT = 1e9
"""Contacts with a larger condition number of J J', rows of length one, depend on each other."""


class Certificate(NamedTuple):
    """What a check found."""

    deviation: float
    """Largest deviation of A z + B du and nu_dot, relative to the largest entry of its block."""
    limit: float
    """Above it the check has failed."""
    condition: float
    """Condition number of the mass matrix."""
    worst: str
    """Block of the largest deviation, as ``rows by columns``."""

    @property
    def failed(self) -> bool:
        """Whether A, B or nu_dot are wrong."""
        return not self.deviation <= self.limit


class Claim(NamedTuple):
    """What is checked: A (2m, 2m), B (2m, n_u) and nu_dot (m,) about a state and efforts (n,).

    Under external ``wrenches`` and ``contacts``, of which those count that are active.
    """

    state: State
    tau: Array
    A: Array
    B: Array
    nu_dot: Array
    wrenches: Sequence[Wrench] = ()
    contacts: Sequence[Closure] = ()


class Certifier:
    """Checks one robot's linearizations; not for several threads at once.

    Parameters
    ----------
    form
        Of all the linearizations that will be checked.
    rng
        Where the random directions come from.
    """

    def __init__(
        self, model: TreeModel, form: Form, rng: np.random.Generator | None = None
    ) -> None:
        self._model, self._form = model, form
        self._rng = rng or np.random.default_rng()
        n, first = model.n, model.m - model.n
        sizes = {'H': first, 's': n, 'v': first, 'r': n, 'tau': len(model.actuated_joints)}
        ends = dict(zip(sizes, np.cumsum(list(sizes.values())), strict=True))
        self._columns = {k: slice(ends[k] - size, ends[k]) for k, size in sizes.items() if size}
        self._rows = {name: part for name, part in self._columns.items() if name != 'tau'}
        self._bodies = Bodies(model)

    def check(self, claim: Claim, rng: np.random.Generator | None = None) -> Certificate:
        """Return how far a claim of the form is from the differences, in directions of ``rng``.

        Raises `UnsolvableError` if contacts in force depend on each other at the state:
        differences leave what they admit; `GeolinError` if the state or a contact does not fit the
        robot.
        """
        rng = rng or self._rng
        acting = PrescribedAccelerations(self._bodies, claim.contacts, claim.wrenches)
        condition, left, redundancy = acting.conditions(self._bodies.point(claim.state))
        if not redundancy < REDUNDANT:
            raise UnsolvableError(
                f'contacts of robot {self._model.name!r} depend on each other: condition number '
                f"{redundancy:.1e} of J J', expected below {REDUNDANT:.0e}; A and B hold "
                'along motions that they admit, which differences leave'
            )
        limit = max(LIMIT, ROUNDING * max(left, redundancy))
        if not all(np.isfinite(part).all() for part in (claim.A, claim.B, claim.nu_dot)):
            return Certificate(np.inf, limit, condition, 'not finite')
        directions = np.zeros((claim.A.shape[0] + claim.B.shape[1], len(self._columns)))
        for column, part in zip(directions.T, self._columns.values(), strict=True):
            size = part.stop - part.start
            column[part] = rng.choice([-1.0, 1.0], size) * rng.uniform(0.5, 1.5, size)
        found = self._deviations(claim, acting, directions)
        worst = max(found, key=lambda block: found[block])
        continuous = self._form.method == 'none' and self._form.representation == 'body'
        if found[worst] <= limit and continuous:  # which no condition excuses
            at, by_tau = self._bodies.point(claim.state), claim.B[self._model.m :]
            slips = acting.slip(at, claim.tau[np.newaxis], claim.nu_dot, by_tau)
            broken = int(slips[1] > slips[0])
            if not slips[broken] <= LIMIT:
                name = ('contacts', 'contacts by tau')[broken]
                return Certificate(slips[broken], LIMIT, condition, name)
        return Certificate(found[worst], limit, condition, worst)

    def _deviations(
        self, claim: Claim, acting: PrescribedAccelerations, directions: Array
    ) -> dict[str, float]:
        """Return the deviation of nu_dot and of each block of A and B."""
        products = Directional(self._form, acting, claim.state, claim.tau)
        m = self._model.m
        nu_dot = products.f[m:]
        at, efforts = self._bodies.point(claim.state), claim.tau[np.newaxis]
        by_force, by_effort = acting.least(at, efforts)
        falling = acting.without_efforts(at, efforts)
        scale = max(_largest(nu_dot), _largest(falling), by_force, np.finfo(np.float64).tiny)
        both = np.hstack((claim.A, claim.B))
        expected = products(*np.split(directions, [len(claim.A)]))
        largest = np.abs(np.column_stack((both, both @ directions - expected)))
        starts = [part.start for part in self._rows.values()]
        by_rows = np.maximum.reduceat(largest, starts, axis=0)
        columns = [part.start for part in self._columns.values()]
        sizes = np.maximum.reduceat(by_rows[:, : both.shape[1]], columns, axis=1)
        sizes = np.maximum(sizes, LEAST * sizes.max(axis=1, keepdims=True))
        if self._form.method == 'none':
            of_rates = [name in 'vr' for name in self._rows]
            least = [by_effort if name == 'tau' else by_force for name in self._columns]
            sizes[of_rates] = np.maximum(sizes[of_rates], least)
        found = {'nu_dot': _largest(nu_dot - claim.nu_dot) / scale}
        for i, rows in enumerate(self._rows):
            for j, name in enumerate(self._columns):
                found[f'{rows} by {name}'] = by_rows[i, both.shape[1] + j] / sizes[i, j]
        return {block: float(off) if off == off else np.inf for block, off in found.items()}


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))
