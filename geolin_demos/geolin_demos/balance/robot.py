# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator as a process: a robot on a floor, pushed, under the efforts it is sent.

It publishes robot_description, joint_states, imu, odom, <foot>/wrench (foot_<foot>/wrench where
the frame starts with a digit), contact_states, reference and /clock, and takes
joint_group_effort_controller/commands, and push (geometry_msgs/WrenchStamped, a force in world
axes on the base for 0.1 s). Before each case the robot is held until its controller answers: the
LQR node, with gains for where it is, or by --answers any other. In lock step, the default, a
period goes by when the efforts that answer the last state have come, or after 0.5 s; with
--realtime it goes by with the clock. Prints a line a case; the exit status is 1 if the robot
falls.
"""

import argparse
import gc
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from geolin_ros.ros.signals import end_early, handled_signals, ignore_signals

if __name__ == '__main__':
    end_early('simulator', 130)  # until there is a node

import numpy as np
import rclpy
from rclpy.signals import SignalHandlerOptions

from geolin_demos.balance.cases import Case, cases_of, introduce
from geolin_demos.balance.graph import STAMPED_COMMANDS, RobotGraph
from geolin_demos.balance.motions import Moment
from geolin_demos.balance.robots import add_robot_arguments, plan_of, simulator_of
from geolin_demos.balance.run import PATIENCE, Course, Run
from geolin_demos.sim.sensors import Sensors
from geolin_demos.sim.trial import PERIOD
from geolin_msgs.msg import FeedbackGains
from geolin_ros.errors import ConfigurationError, GeolinError
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.compiling import compile_line
from geolin_ros.stream.outputs.reading import read_state

INTERRUPTED = 130
NEAR = 1e-3, 0.01
"""Of a reference to the operating point of gains [m, rad], and of efforts to their own [limit]."""
NEAR_ESTIMATED = 0.03, 0.1
"""Where the state is estimated."""


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
    periods: int
    """States sent, one at the start of each."""
    missed: int
    """Periods without the answer to their state."""
    clipped: int
    """Steps of the physics in which an effort was cut at its limit."""
    measured: int | None
    """Gains that were made of the linearizer's A and B, others are of the LQR node's own model;
    None if they come from a bank."""

    def text(self) -> str:
        """Return it in a line."""
        fell = 'moves on' if self.fallen is None else f'falls at {self.fallen:.2f} s'
        return (
            f'{"PASS" if self.stands else "FAIL"}  {self.name}, J {self.impulse:g} s: '
            f'{"stands" if self.stands else fell}, base off by at most '
            f'{1e3 * self.peak_error:.1f} mm, {self.missed} of {self.periods} periods missed'
        )


def leads(
    graph: RobotGraph, model: TreeModel, near: tuple[float, float] = NEAR
) -> Callable[[Moment], bool]:
    """Return whether the LQR node has gains for a moment, and its efforts hold the robot there.

    They have to be of the linearizer's A and B or of a bank: a robot that is let go before there
    is a linearization would be left to damping when the node's patience with it is over.
    """
    limits = np.minimum(model.limits.effort, 1e3)

    def is_led(moment: Moment) -> bool:
        gains, efforts = graph.gains, graph.efforts
        if gains is None or efforts is None or efforts.size != moment.tau.size:
            return False
        if gains.source == FeedbackGains.SOURCE_MODEL:
            return False
        frames = {contact.frame for contact in gains.contacts}
        return (
            frames == {support.frame for support in moment.supports}
            and bool(np.max(np.abs(moment.state.difference(read_state(gains.state)))) < near[0])
            and bool(np.all(np.abs(efforts - moment.tau) <= near[1] * limits))
        )

    return is_led


def outcome_of(
    case: Case, course: Course, period: float, clipped: int, measured: int | None
) -> Outcome:
    """Return the line about a case that was run."""
    recording, answers, elapsed = course
    settling = recording.settling_times(case.pushes)
    periods = max(1, len(answers.latencies) + answers.missed)
    return Outcome(
        case.name,
        case.impulse,
        recording.stands,
        recording.fallen,
        recording.peak_error(),
        recording.drift(),
        float(np.median(settling)) if settling.size else float('nan'),
        len(answers.latencies) / (periods * period),
        periods * period / elapsed,
        answers.percentiles(),
        periods,
        answers.missed,
        clipped,
        measured,
    )


def save(folder: Path, index: int, case: Case, outcome: Outcome, course: Course) -> None:
    """Write an outcome as JSON; states, references, errors [m] and latencies beside it."""
    recording = course.recording
    (folder / f'{index}.json').write_text(json.dumps(asdict(outcome)))
    np.savez_compressed(
        folder / f'{index}.npz',
        times=recording.times[::5],
        states=[state.data for state in recording.states[::5]],
        references=[state.data for state in recording.references[::5]],
        errors=np.linalg.norm(recording.errors()[::5, :3], axis=1),
        pushes=[(push.start, *push.force) for push in case.pushes],
        latencies=course.answers.latencies,
    )


def run_cases(options: argparse.Namespace) -> bool:
    """Run the cases of a robot; return whether it stood in all.

    Raises `GeolinError` if robot, feet or case cannot be used, or no controller answers; `OSError`
    if a file cannot be read or written.
    """
    simulator, text = simulator_of(options)
    found = cases_of(simulator, plan_of(options))
    cases = [case for case in found.feasible if case.scheduled == options.scheduled]
    if options.estimated:
        cases = cases[:1]  # a robot that is put elsewhere has no odometry
    if not options.period > 0.0:
        raise ConfigurationError(f'--period is {options.period:g} s, expected more than 0')
    with handled_signals() as asked_to_stop:
        node = rclpy.create_node('simulator', start_parameter_services=False)
        is_ours = options.answers is None
        stamped = STAMPED_COMMANDS if is_ours else options.answers
        graph = RobotGraph(node, simulator.model, text, list(simulator.feet), stamped)
        near = NEAR_ESTIMATED if options.estimated else NEAR
        is_led = leads(graph, simulator.model, near) if is_ours else lambda _: True
        graph.asked_to_stop = asked_to_stop
        if options.estimated:
            graph.expect_odometry()
        run = Run(
            simulator,
            graph,
            Sensors(options.noise, options.delay, options.seed),
            period=options.period,
            is_realtime=options.realtime,
            patience=options.patience,
            is_estimated=options.estimated,
        )
        stood = []
        introduce(simulator, found)
        gc.collect()
        gc.freeze()  # a collection that goes through all that was imported takes 50 periods
        try:
            for index, case in enumerate(cases):
                simulator.pushes, used = list(case.pushes), graph.linearizations_used
                run.hold(case.motion.at(0.0), is_led)
                course = run.go(case.motion)
                made = None if case.scheduled else graph.linearizations_used - used
                outcome = outcome_of(case, course, options.period, simulator.clipped, made)
                print(outcome.text(), flush=True)
                stood.append(outcome.stands)
                if options.output is not None:
                    save(options.output, index, case, outcome, course)
        finally:  # nothing frozen is collected
            graph.close()
            node.destroy_node()
    return bool(stood) and all(stood)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(
        prog='python -m geolin_demos.balance.robot', description=__doc__
    )
    add_robot_arguments(parser)
    parser.add_argument(
        '--answers',
        nargs='?',
        const='',
        metavar='TOPIC',
        help='for a controller that is not the LQR node: topic where it says, as '
        'sensor_msgs/JointState with its stamp, which state its efforts answer; without '
        'a topic, what comes answers the newest state',
    )
    parser.add_argument(
        '--period', type=float, default=PERIOD, help='from state to state [s] (%(default)s)'
    )
    parser.add_argument(
        '--patience',
        type=float,
        default=PATIENCE,
        help='how long to hold the robot for its controller [s] (%(default)s)',
    )
    parser.add_argument(
        '--scheduled',
        action='store_true',
        help='the cases on gains designed offline, or the others',
    )
    parser.add_argument(
        '--estimated',
        action='store_true',
        help='for controllers on odometry that begins below the robot, as of the state estimator: '
        'references are given in its world, of the first case alone',
    )
    parser.add_argument(
        '--output',
        type=Path,
        help='folder for what came of each case, N.json and N.npz; without it nothing is kept',
    )
    options = parser.parse_args(arguments)
    if options.robot is None:
        parser.error('--robot is missing, expected a URDF path, quadruped or humanoid')
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the cases of a robot; return the exit status."""
    options = parse(arguments)
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        with compile_line('simulator'):
            return int(not run_cases(options))
    except KeyboardInterrupt:
        return INTERRUPTED
    except (GeolinError, OSError) as error:
        print(f'simulator: {error}', file=sys.stderr)
        return 1
    finally:
        ignore_signals()
        rclpy.try_shutdown()


if __name__ == '__main__':
    sys.exit(main())
