# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which directions of contact forces count, where rows depend on each other.

The mobility Lam = J M^-1 J' = U diag(w) U' of the rows has the rank of those eigenvalues with
w > `RANK_TOLERANCE` max(w). Forces along them alone are the solution of least norm, while the
accelerations are the only ones [Featherstone 2008, section 3.4]. Forces and torques are weighed by
a length l: rows of torques are multiplied by l before, which makes |f|^2 + |t/l|^2 least.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.contacts.constraints import Constraint
from geolin_ros.typing import Array

RANK_TOLERANCE = 1e-9


class Decision(NamedTuple):
    """Which directions of contact forces count, by the eigenvalues w of Lam."""

    kept: Array
    """(rows, rank) orthonormal directions that count."""
    dropped: Array
    """(rows, rows - rank) orthonormal basis of the forces without effect, J' lam = 0."""
    smallest_kept: float
    """The last w that counts, over the largest one; 0 if none does."""
    largest_dropped: float
    """The first w that does not, over the largest one; 0 if all do."""


def decide(Lam: Array) -> Decision:
    """Return how the rank of Lam (rows, rows) is decided."""
    w, U = np.linalg.eigh(Lam)
    largest = float(np.max(w, initial=0.0))
    kept = w > RANK_TOLERANCE * largest
    return Decision(
        U[:, kept],
        U[:, ~kept],
        float(w[kept][0] / largest) if kept.any() else 0.0,
        float(max(w[~kept][-1], 0.0) / largest) if largest > 0.0 and not kept.all() else 0.0,
    )


def check_length(length: float) -> None:
    """Raise ConfigurationError unless it is a positive number of metres."""
    if not 0.0 < length < np.inf:
        raise ConfigurationError(f'length is {length!r}, expected a positive number of metres')


def weights_of(constraints: Sequence[Constraint], length: float) -> Array:
    """Return 1 for each row of a force, the length for each of a torque."""
    six = np.repeat((1.0, length), 3)
    return np.concatenate([np.zeros(0), *(six[: c.size] for c in constraints)])
