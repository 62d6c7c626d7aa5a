# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A check of A and B that shares nothing with how they were made.

For displacements z of a state and du of the efforts, in the chart that A and B are about,

    A z + B du = d/dh zdot(h z, tau + h du)   at h = 0                                   (1)

where the rate zdot follows from the mass matrix of the composite bodies and recursive
Newton-Euler: no articulated body, no derivative; contacts add rows of their own, see
`prescribed_accelerations`. The right-hand side is a central difference with Richardson's
extrapolation. Random directions, one for each block of columns, make it see every entry of A
and B. What a shorter step explains is no deviation.

The discrete forms follow from what Eq. (1) gives, at the state or at the midpoint; ``rkmk4`` is
the derivative of its own step, by differences too. For ``zoh``, A and B of the same state are made
and checked first; then Phi and Gamma have to be the exponential of these, along the directions.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.errors import UnsolvableError
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array
from geolin_ros.verification.differences import Directional, Form
from geolin_ros.verification.prescribed_accelerations import PrescribedAccelerations

LIMIT = 1e-6
"""Largest deviation of a well-conditioned robot, relative to the largest entry of the block."""
ROUNDING = 1e3 * np.finfo(np.float64).eps
"""Times the condition number of M, or of J M^-1 J': largest deviation of another one."""
LEAST = 1e-3
"""A block with entries below this part of its row's largest is judged by that."""
STEPS = (1e-3, 1e-4)
"""Of the differences, in every unit of z and du; less where smoothed friction bends faster."""
REDUNDANT = 1e9
"""Contacts with a larger condition number of J M^-1 J' depend on each other."""


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
    model
        The robot.
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
        ends = np.cumsum(list(sizes.values()))
        self._columns = {
            name: slice(end - size, end)
            for (name, size), end in zip(sizes.items(), ends, strict=True)
            if size
        }
        self._rows = {name: part for name, part in self._columns.items() if name != 'tau'}
        rubbing = model.tree.friction_speed[model.tree.friction != 0.0]
        shortest = min(0.05 * rubbing) if rubbing.size else np.inf
        self._steps = sorted({float(min(step, shortest)) for step in STEPS}, reverse=True)
        self._linearizer: Linearizer = Linearizer(model)
        self._contacts: Sequence[Closure] = ()

    def check(self, claim: Claim, rng: np.random.Generator | None = None) -> Certificate:
        """Return how far ``claim`` is from the differences.

        Parameters
        ----------
        claim
            Of the form given.
        rng
            Where the random directions come from this time.

        Raises
        ------
        UnsolvableError
            If contacts in force depend on each other at the state: differences leave what they
            admit.
        GeolinError
            If the state or a contact does not fit the robot.
        """
        rng = rng or self._rng
        acting = PrescribedAccelerations(self._model, claim.contacts, claim.wrenches)
        condition, redundancy = acting.conditions(claim.state)
        if not redundancy < REDUNDANT:
            raise UnsolvableError(
                f'contacts of robot {self._model.name!r} depend on each other: condition number '
                f"{redundancy:.1e} of J M^-1 J', expected below {REDUNDANT:.0e}; A and B hold "
                'along motions that they admit, which differences leave'
            )
        limit = max(LIMIT, ROUNDING * max(condition, redundancy))
        if not all(np.isfinite(part).all() for part in (claim.A, claim.B, claim.nu_dot)):
            return Certificate(np.inf, limit, condition, 'not finite')
        directions = np.zeros((claim.A.shape[0] + claim.B.shape[1], len(self._columns)))
        for column, part in zip(directions.T, self._columns.values(), strict=True):
            column[part] = rng.standard_normal(part.stop - part.start)
        found: dict[str, float] = {}
        for step in self._steps:
            again = self._deviations(claim, acting, directions, step)
            found = {block: min(off, found.get(block, np.inf)) for block, off in again.items()}
            worst = max(found, key=lambda block: found[block])
            if found[worst] <= limit:
                break
        return Certificate(found[worst], limit, condition, worst)

    def _deviations(
        self, claim: Claim, acting: PrescribedAccelerations, directions: Array, step: float
    ) -> dict[str, float]:
        """Return the deviation of nu_dot and of each block of A and B."""
        form, about = self._form, (acting, claim.state, claim.tau, step)
        found, made_of = {}, None
        if form.method == 'zoh':
            made_of = self._made_of(claim)
            plain = Directional(self._model, Form(form.reference), *about)
            found = self._off(*made_of, plain, directions)
            found = {f'{block} of the continuous form': off for block, off in found.items()}
        products = Directional(self._model, form, *about, made_of)
        m = self._model.m
        nu_dot = products.here.f[m:]
        falling = products.here.near(claim.state, np.zeros_like(claim.tau))[m:]
        scale = max(_largest(nu_dot), _largest(falling), np.finfo(np.float64).tiny)
        found |= self._off(claim.A, claim.B, products, directions)
        found['nu_dot'] = _largest(nu_dot - claim.nu_dot) / scale
        return {block: off if off == off else np.inf for block, off in found.items()}

    def _off(
        self, A: Array, B: Array, products: Directional, directions: Array
    ) -> dict[str, float]:
        """Return the deviation of each block of A and B, relative to its largest entry."""
        both, found = np.hstack((A, B)), {}
        expected = products(*np.split(directions, [len(A)]))
        deviations = np.abs(both @ directions - expected)
        for (name, part), deviation in zip(self._columns.items(), deviations.T, strict=True):
            for row_name, rows in self._rows.items():
                scale = max(_largest(both[rows, part]), LEAST * _largest(both[rows]))
                found[f'{row_name} by {name}'] = _largest(deviation[rows]) / scale
        return found

    def _made_of(self, claim: Claim) -> tuple[Array, Array]:
        """Return A and B of the continuous form, to be checked."""
        if claim.contacts is not self._contacts:
            self._contacts = claim.contacts
            self._linearizer = Linearizer(self._model)
            if claim.contacts:
                self._linearizer = Linearizer(self._model, claim.contacts)
        L = self._linearizer(claim.state, claim.tau, self._form.reference, claim.wrenches)
        return L.A.copy(), L.B.copy()


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))
