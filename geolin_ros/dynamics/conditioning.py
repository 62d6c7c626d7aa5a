# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How many digits the accelerations of a robot keep at a state."""

from typing import NamedTuple

import numpy as np

from geolin_ros.dynamics.arguments import about_state
from geolin_ros.dynamics.functions import mass_matrix, mass_matrix_inverse
from geolin_ros.model.labels import state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel

SMALL_SHARE = 1e-8
"""Below it half of the sixteen digits of a number are lost."""
SURE = 1e-10
"""Above it the inverse of a matrix has a digit of each share."""


class Conditioning(NamedTuple):
    """How near a mass matrix is to a singular one."""

    share: float
    """Smallest part of the inertia at a velocity that is left where all others are free."""
    velocity: str
    """The velocity that has it."""

    @property
    def warning(self) -> str:
        """What to think of it, as a sentence; empty if nothing is wrong."""
        if self.share >= SMALL_SHARE:
            return ''
        return (
            f'of the inertia at {self.velocity} only {self.share:.1e} is left where all others '
            f'are free, expected {SMALL_SHARE:.0e} or more: nu_dot, A and B lose '
            f'{-np.log10(self.share):.0f} of 16 digits; leave the posture, or give the links '
            'behind that joint, or its rotor, more inertia'
        )


@about_state
def conditioning(model: TreeModel, state: State) -> Conditioning:
    """Return how near the mass matrix M (m, m) is to a singular one.

    The share of velocity c is 1 / (M_cc (M^-1)_cc), whatever the units. Its inverse is at most the
    condition number of M, however rows and columns are scaled; with a diagonal of ones that number
    is at most m^2 times as large.

    Errors as of `mass_matrix_inverse`: one that names the joint if M is singular to working
    precision.

    Examples
    --------
    >>> from geolin_ros import TreeModel, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> found = conditioning(model, model.neutral_state())
    >>> found.share > 0.01, found.warning
    (True, '')
    """
    M = mass_matrix(model, state)
    scale = np.sqrt(M.diagonal())
    with np.errstate(divide='ignore', invalid='ignore'):
        try:
            shares = 1.0 / np.linalg.inv(M / np.outer(scale, scale)).diagonal()
        except np.linalg.LinAlgError:
            shares = np.zeros(model.m)
    if not np.all(shares > SURE):  # what is left may be rounding alone
        shares = 1.0 / (M.diagonal() * mass_matrix_inverse(model, state).diagonal())
    c = int(np.argmin(shares))
    return Conditioning(float(shares[c]), str(state_labels(model)[model.m + c]))
