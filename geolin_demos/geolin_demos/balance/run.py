# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot in the loop with a controller: held until that answers, then let go.

Lock step by default: a control period goes by when the efforts that answer the last state have
come, or after a time-out, which is counted. In real time a period goes by with the clock, and what
has not come by then is counted as a missed deadline.
"""

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from geolin_demos.balance.graph import RobotGraph
from geolin_demos.balance.motions import Moment, Motion
from geolin_demos.sim.sensors import ImuSensor, Sensors
from geolin_demos.sim.simulator import Push, Simulator
from geolin_demos.sim.trial import PERIOD, Recording
from geolin_ros.control.support import Support
from geolin_ros.errors import GeolinError

FIRST_STAMP = 1_000 * 10**9
PATIENCE = 400.0  # for nodes, which may have to compile, and for gains [s]
ANSWER_TIMEOUT, HELD_TIMEOUT = 0.5, 0.05  # while the robot moves, and while it is held [s]
WORD = 3.0  # until the log states what the robot waits for [s]
REMINDER = 0.2  # from one reference to the next while it is held: nodes come up meanwhile [s]
FOOT_PERIODS = 5  # from one message about the feet to the next


class Answers:
    """Waits for one answer after another; counts those that were missed and the latencies [s].

    In lock step until it is there or ``timeout`` is over; against the clock always to the end of
    the ``period`` [s].
    """

    def __init__(
        self, graph: RobotGraph, period: float, timeout: float, is_realtime: bool
    ) -> None:
        self.latencies: list[float] = []
        self.missed = 0
        self._graph, self._period, self._timeout = graph, period, timeout
        self._realtime, self._due = is_realtime, time.monotonic()

    def wait(self, sent: float, stamp: int) -> None:
        """Return when the robot may go on after the state that was ``sent`` (time.monotonic)."""
        if self._realtime:  # where the robot itself is late, its controller has a period still
            begin = self._due if sent < self._due + 0.2 * self._period else sent
            self._due = begin + self._period
        else:
            self._due = sent + self._timeout
        if self._graph.spin_until(self._due, stamp):
            self.latencies.append(time.monotonic() - sent)
        else:
            self.missed += 1
        if self._realtime:
            self._graph.spin_until(self._due)

    def percentiles(self) -> tuple[float, float]:
        """Return the median and the 99th percentile of the latencies [s], NaN without any."""
        p50, p99 = np.percentile(self.latencies or [np.nan], (50, 99))
        return float(p50), float(p99)


class Course(NamedTuple):
    """What came of a motion: where the robot was, and what was answered."""

    recording: Recording
    answers: Answers


class Run:
    """One robot on one graph; motions one after the other.

    Sensors tell what is published of its state while it moves, by default all of it. With
    ``is_late`` efforts act from the next period on, however soon they come; with ``is_estimated``
    references are given in a world that begins below the robot, as that of the state estimator.
    """

    def __init__(
        self,
        simulator: Simulator,
        graph: RobotGraph,
        sensors: Sensors | None = None,
        *,
        period: float = PERIOD,
        is_realtime: bool = False,
        is_late: bool = False,
        patience: float = PATIENCE,
        is_estimated: bool = False,
    ) -> None:
        self._simulator, self._graph, self._sensors = simulator, graph, sensors or Sensors()
        self._period, self._realtime, self._late = period, is_realtime, is_late
        self._patience, self._stamp = patience, FIRST_STAMP
        self._origin = np.full(2, np.nan if is_estimated else 0.0)
        self._imu = ImuSensor(simulator.model.gravity)
        self._efforts = np.zeros(len(simulator.model.actuated))
        self._supports: tuple[Support, ...] = ()

    def hold(self, moment: Moment, is_led: Callable[[Moment], bool] = lambda _: True) -> None:
        """Hold the robot where a motion begins until its states are answered and it is led.

        Raises `GeolinError` if that takes too long.
        """
        graph, begin = self._graph, time.monotonic()
        word, logged, is_answered = begin + WORD, -np.inf, False
        self._simulator.reset(moment.state)
        self._imu.forget()
        self._efforts = moment.tau[self._simulator.model.actuated]
        if np.isnan(self._origin[0]):
            self._origin[:] = moment.state.H[:2, 3]
        while not (is_answered and is_led(self._wanted(moment))):
            now = time.monotonic()
            if now > begin + self._patience:
                raise GeolinError(
                    f'no controller leads the robot within {self._patience:g} s, which waits for '
                    f'{graph.waits_for()}; the last state '
                    f'was {"" if is_answered else "not "}answered'
                )
            if now > word:
                print(f'robot waits for {graph.waits_for()}', file=sys.stderr)
                word = now + 2.0 * WORD
            if now > logged + REMINDER:
                graph.publish_reference(self._wanted(moment), self._stamp)
                logged = now
            sent = self._send(moment.supports, is_held=True)
            is_answered = graph.spin_until(sent + HELD_TIMEOUT, self._stamp)
            if self._realtime:
                graph.spin_until(sent + self._period)
            self._stamp += round(self._period * 1e9)

    def go(self, motion: Motion) -> Course:
        """Let the robot move until the motion is over or it falls."""
        simulator, recording = self._simulator, Recording()
        self._graph.pushes.clear()  # of when it was locked in place
        answers = Answers(self._graph, self._period, ANSWER_TIMEOUT, self._realtime)
        for _ in range(round(motion.duration / self._period)):
            moment = motion.at(simulator.time)
            if not recording.add(simulator.time, simulator.state, moment.state):
                break
            if len(motion.knots) > 1:
                self._graph.publish_reference(self._wanted(moment), self._stamp)
            answers.wait(self._send(moment.supports), self._stamp)
            self._take_pushes()
            self._advance()
        return Course(recording, answers)

    def _wanted(self, moment: Moment) -> Moment:
        """Return where the robot should be, in the world of its odometry."""
        state = moment.state.copy()
        state.H[:2, 3] -= self._origin
        return moment._replace(state=state)

    def _take_pushes(self) -> None:
        """Let forces that came from outside act from now on, as long as any other push."""
        while self._graph.pushes:
            force = self._graph.pushes.pop(0)
            self._simulator.pushes.append(
                Push(self._simulator.time, (force[0], force[1], force[2]))
            )
            size, now = np.linalg.norm(force), 1e-9 * self._stamp
            print(f'pushed by {size:.0f} N from outside at {now:.3f} s', flush=True)

    def _send(self, supports: tuple[Support, ...], is_held: bool = False) -> float:
        """Publish forces and sensors, while the robot is held without noise and delay."""
        graph, stamp, state = self._graph, self._stamp, self._simulator.state
        sensed = self._sensors(state)
        sample = self._imu(1e-9 * stamp, state)
        if sample is not None:
            graph.publish_imu(sample, stamp)
        is_turn = (stamp // round(self._period * 1e9)) % FOOT_PERIODS == 0
        if is_turn:
            graph.publish_wrenches(self._simulator.wrenches(), stamp)
        if is_turn or supports is not self._supports:
            graph.publish_contacts(supports, stamp)
            self._supports = supports
        sent = time.monotonic()
        graph.publish_state(state if is_held else sensed, self._efforts, stamp)
        return sent

    def _advance(self) -> None:
        newest = self._graph.efforts
        if newest is None or newest.size != self._efforts.size:
            newest = self._efforts
        given = self._simulator.advance(self._efforts if self._late else newest, self._period)
        self._efforts = newest if self._late else given
        self._stamp += round(self._period * 1e9)
