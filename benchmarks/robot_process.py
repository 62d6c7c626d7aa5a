# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The flying robot of the demo at another rate [Hz]: the first argument.

One throw is simulated beforehand and published again and again, so that the processors are left
to what is measured.
"""

import sys

from geolin_demos.demo import robot
from geolin_demos.demo.flight import THROW_PERIOD, Flight

from geolin_ros import TreeModel


class Throw:
    """The states and efforts of a flight's first throw, in a circle."""

    def __init__(self, model: TreeModel) -> None:
        flight, self._period = Flight(model), robot.PERIOD * 1e-9
        self._samples = []
        for _ in range(round(THROW_PERIOD / self._period)):
            self._samples.append((flight.state.copy(), flight.tau.copy()))
            flight.advance(self._period)
        self._at = 0
        self.state, self.tau = self._samples[0]

    def advance(self, duration: float) -> None:
        """Go on [s], by whole samples."""
        self._at = (self._at + round(duration / self._period)) % len(self._samples)
        self.state, self.tau = self._samples[self._at]


if __name__ == '__main__':
    robot.PERIOD = round(1e9 / float(sys.argv[1]))
    robot.Flight = Throw
    sys.exit(robot.run_robot(robot.FlyingRobot, 'robot', 'quadruped', sys.argv[2:]))
