# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a plan minimizes: deviations that would cost 1 each, as in `geolin_ros.control.weights`."""

from dataclasses import dataclass

import numpy as np

from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array


@dataclass(frozen=True)
class WalkingWeights:
    """Deviations that cost as much as each other.

    Attributes
    ----------
    position, rotation, velocity, rate
        Of the base: (3,) [m], [rad], [m/s], [rad/s].
    joints, joint_rates
        [rad or m] and their rates.
    efforts
        Of each joint, as a share of its limit.
    foot, foot_velocity, foot_rotation
        Of a foot in the air, world axes: (3,) [m], [m/s]; of a sole [rad].
    end
        How many times the deviations of the base count at the end of the horizon.
    force, normal_force, moment
        Of the forces on soles from those wanted, as shares of the weight, moments of the weight
        times half the sole; None: they cost nothing.
    """

    position: tuple[float, float, float]
    rotation: float
    velocity: float
    rate: float
    joints: float
    joint_rates: float
    efforts: float
    foot: tuple[float, float, float]
    foot_velocity: tuple[float, float, float]
    foot_rotation: float = 0.05
    end: float = 5.0
    force: float | None = None
    normal_force: float = 1.0
    moment: float = 0.7

    def state(self, model: TreeModel) -> Array:
        """Return the prices (2 m,) of squared deviations of a state."""
        groups = self.rotation, self.joints, self.velocity, self.rate, self.joint_rates
        deviations = np.repeat(groups, (3, model.n, 3, 3, model.n))
        return np.asarray(np.concatenate((self.position, deviations)) ** -2.0)


QUADRUPED = WalkingWeights(
    position=(0.1, 0.1, 0.02),
    rotation=0.06,
    velocity=0.15,
    rate=0.6,
    joints=0.6,
    joint_rates=8.0,
    efforts=0.4,
    foot=(0.1, 0.1, 0.015),
    foot_velocity=(0.8, 0.8, 0.4),
)
"""For points under four legs."""
HUMANOID = WalkingWeights(
    position=(0.06, 0.06, 0.03),
    rotation=0.12,
    velocity=0.3,
    rate=1.0,
    joints=0.5,
    joint_rates=10.0,
    efforts=0.5,
    foot=(0.014, 0.014, 0.01),
    foot_velocity=(0.5, 0.5, 0.3),
    end=3.0,
    force=0.5,
)
"""For two soles."""
