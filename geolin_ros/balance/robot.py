# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator as a process: runs the cases of one robot under the efforts it is sent.

Lock step by default: a control period goes by when the effort that answers the last state has
come, or after a time-out, which is counted. In real time a period goes by with the clock, and what
has not come by then is counted as a missed deadline. Between cases the robot is held until there
are gains for where it is.
"""

import argparse
import gc
import json
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import rclpy
from rclpy.signals import SignalHandlerOptions

from geolin_ros.balance.answers import Answers, SilenceError
from geolin_ros.balance.cases import Case, cases_of
from geolin_ros.balance.graph import RobotGraph
from geolin_ros.balance.motions import Moment
from geolin_ros.balance.robots import add_robot_arguments, plan_of, simulator_of
from geolin_ros.control.support import Support
from geolin_ros.errors import GeolinError
from geolin_ros.sim.recording import Recording
from geolin_ros.sim.sensors import Noise, Sensors
from geolin_ros.sim.simulator import Simulator
from geolin_ros.sim.trial import PERIOD
from geolin_ros.stream.reading import read_state

INTERRUPTED = 130
FIRST_STAMP = 1_000 * 10**9
PATIENCE = 240.0  # for nodes, which may have to compile, and for gains of a case [s]
ANSWER_TIMEOUT = 0.5  # [s]
FOOT_PERIODS = 5  # from one message about the feet to the next
NEAR = 1e-3  # of a reference to the operating point of gains [m, rad]


@dataclass(frozen=True)
class Outcome:
    """What came of one case; times in s, lengths in m."""

    name: str
    impulse: float
    stands: bool
    fallen: float | None
    peak_error: float
    drift: float
    settling: float
    """Median over the pushes."""
    rate: float
    """Answered states a second of the robot's time [Hz]."""
    speed: float
    """Time of the robot over time of the clock."""
    latency: tuple[float, float]
    """Median and 99th percentile from a state sent to the efforts received."""
    missed: int
    """Periods without the answer to their state."""
    clipped: int
    """Steps of the physics in which an effort was cut at its limit."""
    measured: int | None
    """Gains that were made of the linearizer's A and B, others are of the LQR node's own model;
    None if they come from a bank."""


class Run:
    """The cases of one robot, one after the other, on one graph."""

    def __init__(
        self, simulator: Simulator, graph: RobotGraph, realtime: bool, sensors: Sensors
    ) -> None:
        self._simulator, self._graph, self._realtime = simulator, graph, realtime
        self._sensors, self._stamp = sensors, FIRST_STAMP
        self._efforts = np.zeros(len(simulator.model.actuated_joints))
        self._supports: tuple[Support, ...] = ()

    def wait_for_listeners(self) -> None:
        """Return when somebody takes the states.

        Raises
        ------
        SilenceError
            If nobody does.
        """
        deadline = time.monotonic() + PATIENCE
        while not self._graph.has_listeners():
            if time.monotonic() > deadline:
                raise SilenceError(f'no node took states within {PATIENCE:g} s of the start')
            self._graph.spin_until(time.monotonic() + 0.05)

    def case(self, case: Case) -> tuple[Outcome, Recording]:
        """Run one case.

        Raises
        ------
        SilenceError
            If there is no feedback to begin with.
        """
        simulator, recording = self._simulator, Recording()
        simulator.pushes = list(case.pushes)
        simulator.reset(case.motion.at(0.0).state)
        used = self._graph.linearizations_used
        self._begin(case.motion.at(0.0))
        answers = Answers(self._graph, PERIOD, ANSWER_TIMEOUT, self._realtime)
        start = time.monotonic()
        for _ in range(round(case.motion.duration / PERIOD)):
            moment, state = case.motion.at(simulator.time), simulator.state
            if not recording.add(simulator.time, state, moment.state):
                break
            if len(case.motion.knots) > 1:
                self._graph.publish_reference(moment, self._stamp)
            answers.wait(self._send(moment.supports), self._stamp)
            self._advance()
        elapsed = time.monotonic() - start
        return _outcome(
            case, recording, answers, elapsed, simulator,
            None if case.scheduled else self._graph.linearizations_used - used,
        ), recording  # fmt: skip

    def _begin(self, moment: Moment) -> None:
        """Hold the robot where it is until gains for it are in use and lead to its efforts."""
        graph, deadline = self._graph, time.monotonic() + PATIENCE
        graph.publish_reference(moment, self._stamp)
        said = time.monotonic()
        while not (self._has_gains(moment) and self._is_led(moment)):
            if time.monotonic() > deadline:
                raise SilenceError(
                    f'no feedback within {PATIENCE:g} s: gains for the posture came: '
                    f'{self._has_gains(moment)}, efforts: {graph.efforts}'
                )
            if time.monotonic() > said + 0.2:  # a node that has just got its model
                graph.publish_reference(moment, self._stamp)
                said = time.monotonic()
            sent = self._send(moment.supports, is_held=True)
            graph.spin_until(sent + 0.05, self._stamp)
            if self._realtime:
                graph.spin_until(sent + PERIOD)
            self._stamp += round(PERIOD * 1e9)
        if graph.efforts is not None:
            self._efforts = graph.efforts

    def _has_gains(self, moment: Moment) -> bool:
        gains = self._graph.gains
        if gains is None:
            return False
        state = read_state(gains.state)
        frames = {contact.frame for contact in gains.contacts}
        return frames == {support.frame for support in moment.supports} and bool(
            np.max(np.abs(moment.state.difference(state))) < NEAR
        )

    def _is_led(self, moment: Moment) -> bool:
        efforts, limits = self._graph.efforts, self._simulator.model.limits.effort
        if efforts is None or efforts.size != moment.tau.size:
            return False
        return bool(np.all(np.abs(efforts - moment.tau) <= 0.01 * np.minimum(limits, 1e3)))

    def _send(self, supports: tuple[Support, ...], is_held: bool = False) -> float:
        """Publish what is felt and sensed, while the robot is held without noise and delay."""
        sensed = self._sensors(self._simulator.state)
        seen = self._simulator.state if is_held else sensed
        is_turn = (self._stamp // round(PERIOD * 1e9)) % FOOT_PERIODS == 0
        if is_turn:
            self._graph.publish_wrenches(self._simulator.wrenches(), self._stamp)
        if is_turn or supports is not self._supports:
            self._graph.publish_contacts(supports, self._stamp)
            self._supports = supports
        sent = time.monotonic()
        self._graph.publish_state(seen, self._efforts, self._stamp)
        return sent

    def _advance(self) -> None:
        if self._graph.efforts is not None and self._graph.efforts.size == self._efforts.size:
            self._efforts = self._graph.efforts
        self._efforts = self._simulator.advance(self._efforts, PERIOD)
        self._stamp += round(PERIOD * 1e9)


def _outcome(
    case: Case,
    recording: Recording,
    answers: Answers,
    elapsed: float,
    simulator: Simulator,
    measured: int | None,
) -> Outcome:
    settling = recording.settling_times(case.pushes)
    duration = len(recording.times) * PERIOD
    return Outcome(
        case.name,
        case.impulse,
        recording.stands,
        recording.fallen,
        recording.peak_error(),
        recording.drift(),
        float(np.median(settling)) if settling.size else float('nan'),
        len(answers.latencies) / duration,
        duration / elapsed,
        answers.percentiles(),
        answers.missed,
        simulator.clipped,
        measured,
    )


def save(folder: Path, index: int, case: Case, outcome: Outcome, recording: Recording) -> None:
    """Write what the report reads: an outcome as JSON, states and references beside it."""
    (folder / f'{index}.json').write_text(json.dumps(asdict(outcome)))
    np.savez_compressed(
        folder / f'{index}.npz',
        times=recording.times[::5],
        states=[state.data for state in recording.states[::5]],
        references=[state.data for state in recording.references[::5]],
        pushes=[(push.start, *push.force) for push in case.pushes],
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the cases of a robot; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m geolin_ros.balance.robot')
    add_robot_arguments(parser)
    parser.add_argument(
        '--scheduled',
        action='store_true',
        help='the cases on gains made beforehand, or the others',
    )
    parser.add_argument('--output', type=Path, required=True, help='folder for the outcomes')
    options = parser.parse_args(arguments)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(INTERRUPTED))
    noise = Noise(velocity=options.noise, angular_velocity=2.0 * options.noise)
    try:
        simulator, text = simulator_of(options)
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        node = rclpy.create_node('simulator', start_parameter_services=False)
        graph = RobotGraph(node, simulator.model, text, list(simulator.feet))
        run = Run(simulator, graph, options.realtime, Sensors(noise, options.delay, options.seed))
        run.wait_for_listeners()
        gc.collect()
        gc.freeze()  # a collection that goes through all that was imported takes 50 periods
        for index, case in enumerate(cases_of(simulator, plan_of(options))):
            outcome, recording = run.case(case)
            save(options.output, index, case, outcome, recording)
        graph.close()
    except (GeolinError, OSError) as error:
        print(f'simulator: {error}', file=sys.stderr)
        return 1
    finally:
        rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
