# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a regulator minimizes, in physical units: the deviations that would cost 1 each.

Bryson's rule [Bryson 1975]: a deviation counts as the square of its ratio to the largest one that
is acceptable,

    z'Qz = sum (z_i / z_max,i)^2 + |com / com_max|^2 + |d com/dt / com_velocity_max|^2
    u'Ru = effort_price sum (u_i / u_limit,i)^2
    + |df / (share of the load of each foot)|^2,  df = F_z z + F_u u

The last term, the deviation of contact forces from those at rest, couples state and efforts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from geolin_ros.control.support import Support
from geolin_ros.errors import ConfigurationError, unknown_name
from geolin_ros.linearization.reduction import ReducedLinearization
from geolin_ros.model.labels import state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array

_LIGHT = 0.01  # of the weight: a foot that carries less is scaled as if it carried this


class Cost(NamedTuple):
    """y'Qy + 2 y'Su + u'Ru of the displacements y that contacts admit, and of efforts u.

    ``R_effort`` is the part of R that prices the efforts themselves, not the forces.
    """

    Q: Array
    S: Array
    R: Array
    R_effort: Array


@dataclass(frozen=True)
class Weights:
    """Deviations that cost as much as each other.

    Attributes
    ----------
    base_position, base_rotation, joints
        Of the base [m, rad] and of every joint [rad or m].
    base_velocity, base_rate, joint_rates
        Of their rates [m/s, rad/s, rad/s or m/s].
    com, com_velocity
        Of the centre of mass in world axes [m, m/s].
    effort_price
        Cost of all efforts at their limits, per joint.
    normal_force, tangential_force, sole_moment
        Of contact forces, as shares of the load that the foot carries at rest, of moments times
        half the size of the sole. None: they cost nothing.
    single
        Other values for entries of the state by name, such as ``{'s.left_knee': 0.2}``.
    """

    base_position: float = 0.03
    base_rotation: float = 0.06
    joints: float = 0.5
    base_velocity: float = 0.3
    base_rate: float = 0.8
    joint_rates: float = 5.0
    com: float = 0.02
    com_velocity: float = 0.1
    effort_price: float = 1.0
    normal_force: float | None = None
    tangential_force: float | None = None
    sole_moment: float | None = None
    single: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what is no size."""
        for name, value in (vars(self) | dict(self.single)).items():
            if name != 'single' and value is not None and not 0.0 < value < np.inf:
                raise ConfigurationError(f'weight {name!r} is {value}, expected a number above 0')

    def deviations(self, model: TreeModel) -> Array:
        """Return the acceptable deviation (2 m,) of each entry of the state.

        Raises `UnknownNameError` if ``single`` names an entry that the robot has not.
        """
        sizes = 2 * [3, 3, model.n]
        poses = self.base_position, self.base_rotation, self.joints
        twists = self.base_velocity, self.base_rate, self.joint_rates
        values = np.repeat(np.array((*poses, *twists), dtype=np.float64), sizes)
        names = [label.name for label in state_labels(model)] if self.single else []
        for name, value in self.single.items():
            if name not in names:
                raise unknown_name('state entry', name, names, f'robot {model.name!r}')
            values[names.index(name)] = value
        return values


QUADRUPED = Weights(normal_force=2.0, tangential_force=1.0)
"""For points far apart: stiff, a low price on contact forces, so that feet do not slide."""
HUMANOID = Weights(
    base_position=0.3,
    base_rotation=0.3,
    base_velocity=3.0,
    base_rate=5.0,
    joint_rates=20.0,
    com=0.3,
    com_velocity=1.0,
    normal_force=1.0,
    tangential_force=0.5,
    sole_moment=0.7,
)
"""Soft, with a price on contact forces: for soles, which a stiff regulator would tip over."""


def weights_for(supports: Sequence[Support]) -> Weights:
    """Return what has proved itself: `HUMANOID` on soles, `QUADRUPED` on points."""
    return HUMANOID if any(s.kind == 'surface' for s in supports) else QUADRUPED


def cost(
    weights: Weights,
    model: TreeModel,
    state: State,
    supports: Sequence[Support],
    wrenches: Array,
    reduced: ReducedLinearization,
) -> Cost:
    """Return the cost in the coordinates of a reduced system about a state at rest.

    ``wrenches`` (rows,) are the forces there of the supports, in the order of the contacts of
    ``reduced``. Raises `ConfigurationError` if an actuated joint has no effort limit;
    `UnknownNameError` if a weight names an entry that the robot has not.
    """
    P, m = reduced.P, model.m
    com = state.H[:3, :3] @ reduced.M[:3] / reduced.M[0, 0]  # its Jacobian
    terms = [
        P / weights.deviations(model)[:, None],
        com @ P[:m] / weights.com,
        com @ P[m:] / weights.com_velocity,
    ]
    R = R_effort = np.diag(weights.effort_price / effort_limits(model) ** 2)
    S = np.zeros_like(reduced.B)
    shares = weights.tangential_force, weights.normal_force, weights.sole_moment
    if any(shares):
        prices = [1.0 / share if share else 0.0 for share in shares]
        D = _force_scale(prices, model, state, supports, wrenches, reduced.full.J)
        by_state = D @ reduced.wrench_by_state[: len(D)]  # loops of the robot come behind
        by_tau = D @ reduced.wrench_by_tau[: len(D)]
        terms.append(by_state)
        S, R = by_state.T @ by_tau, R_effort + by_tau.T @ by_tau
    stacked = np.concatenate(terms)
    return Cost(stacked.T @ stacked, S, R, R_effort)


def effort_limits(model: TreeModel) -> Array:
    """Return the largest efforts of the actuated joints (n_u,) [N m or N].

    Raises `ConfigurationError` if a joint has none.
    """
    limits = np.asarray(model.limits.effort)[model.actuated]
    for name, limit in zip(model.actuated_joints, limits.tolist(), strict=True):
        if not 0.0 < limit < math.inf:
            raise ConfigurationError(
                f'joint {name!r} of robot {model.name!r} has effort limit {limit}, expected a '
                'positive number: give it in the URDF as <limit effort="..."/>, in MJCF as '
                'actuatorfrcrange="..." of the joint, or leave it out of actuated_joints'
            )
    return limits


def _force_scale(
    prices: Sequence[float],
    model: TreeModel,
    state: State,
    supports: Sequence[Support],
    wrenches: Array,
    J: Array,
) -> Array:
    """Return D (rows, rows): forces in contact axes, of points z up, to acceptable shares."""
    tangential, normal, moment = prices
    least = _LIGHT * model.total_mass * math.hypot(*model.gravity)
    D, first = np.zeros((wrenches.size, wrenches.size)), 0
    for support in supports:
        force = slice(first, first + 3)
        # the first columns of J, by the velocity of the base, turn its axes into those of contact
        R = state.H[:3, :3] @ J[force, :3].T if support.kind == 'point' else np.eye(3)
        load = max(float((R @ wrenches[force])[2]), least)
        D[force, force] = np.array([[tangential], [tangential], [normal]]) * R / load
        if support.kind == 'surface':
            x, y, _ = np.abs(support.points).max(axis=0)
            moments = range(first + 3, first + 6)
            D[moments, moments] = moment / (load * np.array([y, x, max(x, y)]))
        first += support.rows
    return D
