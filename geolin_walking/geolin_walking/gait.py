# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How robots walk on points and on soles: which feet swing when, and what a plan minimizes.

Swings are in ticks of the plan's time step; weights are deviations that would cost 1 each, as in
`geolin_ros.control.weights`.
"""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array


class Phase(IntEnum):
    """What a robot does, as in geolin_msgs/WalkingPlan."""

    STAND = 0
    WALK = 1
    STOP = 2
    """Feet in the air land, no others lift."""
    DAMPING = 3
    """It has fallen."""


@dataclass(frozen=True)
class Gait:
    """Groups of feet, by number, that swing one after another.

    Attributes
    ----------
    dt
        Time step of the plan; feet lift and land at multiples of it, ticks [s].
    half, swing, shift, horizon
        Ticks from the lift of a group to that of the next; in the air, for the others of ``half``
        all feet stand; on all feet before the first lift; of the plan.
    """

    groups: tuple[tuple[int, ...], ...]
    dt: float
    half: int
    swing: int
    shift: int
    horizon: int = 25


def trot(one: tuple[int, ...] = (0, 3), other: tuple[int, ...] = (1, 2)) -> Gait:
    """Return two diagonals of four feet in turn, 0.2 s in the air, 40 ms on all of them."""
    return Gait((one, other), 0.02, 12, 10, 2)


def steps() -> Gait:
    """Return one foot after the other, 0.33 s in the air, 90 ms on both."""
    return Gait(((0,), (1,)), 0.03, 14, 11, 27)


@dataclass
class Swing:
    """Feet in the air from the tick ``lift`` to the tick ``land``."""

    group: tuple[int, ...]
    lift: int
    land: int
    starts: dict[int, tuple[Array, float]] = field(default_factory=dict)
    """Where in the world, and with which yaw, each foot has lifted."""


class Schedule:
    """The ``swings`` there are and those to come, in order; without any the robot stands."""

    def __init__(self, gait: Gait) -> None:
        self.gait = gait
        self.swings: list[Swing] = []
        self._turn = 0

    def extend(self, tick: int, goes_on: bool) -> None:
        """Forget what is over at a tick; where the robot goes on, plan to beyond the horizon."""
        gait = self.gait
        last = self.swings[-1] if self.swings else None
        self.swings = [swing for swing in self.swings if swing.land > tick]
        if not goes_on:
            begun = [swing for swing in self.swings if swing.lift <= tick]
            self._turn -= len(self.swings) - len(begun)
            self.swings = begun
            return
        begin = tick + gait.shift if last is None else max(last.lift + gait.half, tick + 1)
        while begin <= tick + 2 * gait.horizon:
            group = gait.groups[self._turn % len(gait.groups)]
            self.swings.append(Swing(group, begin, begin + gait.swing))
            self._turn, begin = self._turn + 1, begin + gait.half

    def swing_of(self, foot: int, tick: int) -> Swing | None:
        """Return the swing that a foot is in during the interval from a tick on."""
        own = (one for one in self.swings if foot in one.group and one.lift <= tick < one.land)
        return next(own, None)

    def delay(self, swing: Swing, ticks: int) -> None:
        """Let a swing last longer, and those after it begin later."""
        swing.land += ticks
        for later in self.swings[self.swings.index(swing) + 1 :]:
            later.lift, later.land = later.lift + ticks, later.land + ticks


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
