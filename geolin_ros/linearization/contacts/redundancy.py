# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How clear the rank of the contacts is, and what it means, in numbers and words."""

from dataclasses import dataclass

import numpy as np

from geolin_ros.model.labels import Label
from geolin_ros.typing import Array

UNCLEAR_BELOW = 1e-6  # smallest_kept, from which on derivatives grow without bound
CONSISTENT_BELOW = 1e-6


@dataclass(frozen=True, eq=False)
class Redundancy:
    """The rank of the stacked contact Jacobian.

    Attributes
    ----------
    rows
        Name and unit of the force of each row.
    velocities
        Number m of velocities of the robot.
    rank
        Independent rows. Below their number forces are those of least norm.
    smallest_kept, largest_dropped
        Eigenvalues of J M^-1 J' next to the decision, over the largest one; 0 if there is none.
    dropped : (rows, rows - rank)
        Basis of the forces that move nothing, J' dropped = 0; orthonormal once torques are
        divided by the length of `Linearizer`.
    contradiction
        Share of the accelerations that the contacts ask for which they deny each other, in
        [0, 1]; zero at states that satisfy the contacts.
    """

    rows: tuple[Label, ...]
    velocities: int
    rank: int
    smallest_kept: float
    largest_dropped: float
    dropped: Array
    contradiction: float

    @property
    def admissible(self) -> int:
        """Number of independent velocities that the contacts leave."""
        return self.velocities - self.rank

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know, one sentence each; empty where all is clear."""
        found = []
        if self.rows and self.admissible == 0:
            found.append(
                f'the contacts leave no admissible motion: their rank is {self.rank}, the robot '
                f'has {self.velocities} velocities; release a contact, or hold points instead of '
                'surfaces'
            )
        if self.rank < len(self.rows):
            found.append(
                f'{len(self.rows) - self.rank} of {len(self.rows)} rows are redundant, among '
                f'{", ".join(self.redundant_rows)}; forces are those of least norm'
            )
        if 0.0 < self.smallest_kept < UNCLEAR_BELOW:
            found.append(
                f'the rank {self.rank} is unclear: the smallest eigenvalue that counts is '
                f'{self.smallest_kept:.1e} of the largest, expected {UNCLEAR_BELOW:.0e} or more; '
                'near a change of rank forces and derivatives grow without bound'
            )
        if self.contradiction > CONSISTENT_BELOW:
            found.append(
                f'redundant contacts contradict each other by {self.contradiction:.1e} of what '
                'they ask for: the state does not satisfy them, expected J nu = 0'
            )
        return tuple(found)

    @property
    def redundant_rows(self) -> tuple[str, ...]:
        """Names of the rows whose forces are not determined by the motion."""
        share = np.max(np.abs(self.dropped), axis=1, initial=0.0)
        return tuple(
            label.name for label, s in zip(self.rows, share, strict=True) if s > UNCLEAR_BELOW
        )

    def __str__(self) -> str:
        """Return rank and decision in a line, then the warnings."""
        head = (
            f'{len(self.rows)} contact rows of rank {self.rank} on {self.velocities} velocities, '
            f'{self.admissible} admissible; smallest kept {self.smallest_kept:.1e}, largest '
            f'dropped {self.largest_dropped:.1e}'
        )
        return '\n'.join((head, *self.warnings))
