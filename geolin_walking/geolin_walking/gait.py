# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which feet are in the air when: swings, in ticks of the plan's time step."""

from dataclasses import dataclass, field
from enum import IntEnum

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

    @property
    def stance(self) -> float:
        """Time a foot stands between two swings [s]."""
        return (len(self.groups) * self.half - self.swing) * self.dt


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
        at = self.swings.index(swing)
        swing.land += ticks
        for later in self.swings[at + 1 :]:
            if later.lift > swing.lift:
                later.lift, later.land = later.lift + ticks, later.land + ticks
