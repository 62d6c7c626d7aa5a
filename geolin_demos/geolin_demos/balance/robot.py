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
from pathlib import Path
from typing import Any

from geolin_ros.ros.programs import end_early, stop_on_signals

if __name__ == '__main__':
    end_early('simulator', 130)  # until there is a node

import numpy as np
import rclpy

from geolin_demos.balance.cases import Case, Moment, cases_of, introduce
from geolin_demos.balance.graph import PATIENCE, STAMPED_COMMANDS, Answers, RobotGraph, Run
from geolin_demos.balance.robots import INFEASIBLE, add_robot_arguments, simulator_of
from geolin_demos.demo.__main__ import published
from geolin_demos.demo.processes import run_on_graph
from geolin_demos.sim.simulator import PERIOD, Recording, Sensors
from geolin_msgs.msg import FeedbackGains
from geolin_ros.errors import ConfigurationError
from geolin_ros.model.tree import TreeModel
from geolin_ros.robots import locate
from geolin_ros.stream.compiling import compile_line
from geolin_ros.stream.outputs.reading import read_state

NEAR = 1e-3, 0.01
"""Of a reference to the operating point of gains [m, rad], and of efforts to their own [limit]."""
NEAR_ESTIMATED = 0.03, 0.1
"""Where the state is estimated."""


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


def outcome_of(case: Case, recording: Recording, answers: Answers) -> dict[str, Any]:
    """Return what came of a case, times in s and lengths in m.

    ``latency`` is median and 99th percentile from a state sent to the efforts received, ``missed``
    how many of the periods ended without the answer to their state.
    """
    return {
        'name': case.name,
        'impulse': case.impulse,
        'pushes': [push.start for push in case.pushes],
        **recording.summary(case.pushes),
        'latency': answers.percentiles(),
        'periods': len(answers.latencies) + answers.missed,
        'missed': answers.missed,
    }


def line_of(outcome: dict[str, Any]) -> str:
    """Return an outcome in a line."""
    fallen, stands = outcome['fallen'], outcome['stands']
    fell = 'moves on' if fallen is None else f'falls at {fallen:.2f} s'
    return (
        f'{"PASS" if stands else "FAIL"}  {outcome["name"]}, J {outcome["impulse"]:g} s: '
        f'{"stands" if stands else fell}, base off by at most '
        f'{1e3 * outcome["peak_error"]:.1f} mm, '
        f'{outcome["missed"]} of {outcome["periods"]} periods missed'
    )


def save(file: Path, outcome: dict[str, Any], recording: Recording, answers: Answers) -> None:
    """Write an outcome as JSON; states, references, errors [m] and latencies beside it."""
    file.write_text(json.dumps(outcome))
    np.savez_compressed(
        file.with_suffix('.npz'),
        times=recording.times[::5],
        states=[state.data for state in recording.states[::5]],
        references=[state.data for state in recording.references[::5]],
        errors=recording.distances()[::5],
        latencies=answers.latencies,
    )


def run_cases(options: argparse.Namespace) -> bool:
    """Run the cases of a robot; return whether it stood in all.

    Raises `GeolinError` if robot, feet or case cannot be used, or no controller answers; `OSError`
    if a file cannot be read or written.
    """
    simulator = simulator_of(options.robot, options.feet, options.effort_limit, options.friction)
    found = cases_of(simulator, options.cases, options.height, options.pushes, options.seed)
    # a robot that is put elsewhere has no odometry
    cases = found.feasible[:1] if options.estimated else found.feasible
    if not options.period > 0.0:
        raise ConfigurationError(f'--period is {options.period:g} s, expected more than 0')
    introduce(simulator, found)
    if options.output is not None:
        (options.output / INFEASIBLE).write_text(json.dumps(found.infeasible))
    stop = stop_on_signals()
    node = rclpy.create_node('simulator', start_parameter_services=False)
    is_ours = options.answers is None
    stamped = STAMPED_COMMANDS if is_ours else options.answers
    description = published(locate(options.robot))
    feet, is_estimated = list(simulator.feet), options.estimated
    graph = RobotGraph(node, simulator.model, description, feet, stamped, is_estimated)
    near = NEAR_ESTIMATED if options.estimated else NEAR
    is_led = leads(graph, simulator.model, near) if is_ours else lambda _: True
    graph.asked_to_stop = stop.is_set
    run = Run(
        simulator,
        graph,
        Sensors(options.noise, options.delay, options.seed),
        period=options.period,
        is_realtime=options.realtime,
        patience=options.patience,
        is_estimated=is_estimated,
    )
    stood = []
    gc.collect()
    gc.freeze()  # a collection that goes through all that was imported takes 50 periods
    try:
        for index, case in enumerate(cases):
            simulator.pushes = list(case.pushes)
            run.hold(case.motion.at(0.0), is_led)
            course = run.go(case.motion)
            outcome = outcome_of(case, *course) | {'height': found.height}
            print(line_of(outcome), flush=True)
            stood.append(outcome['stands'])
            if options.output is not None:
                save(options.output / f'{index}.json', outcome, *course)
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
    add = parser.add_argument
    answers = (
        'for a controller that is not the LQR node: topic where it says, as '
        'sensor_msgs/JointState with its stamp, which state its efforts answer; without '
        'a topic, what comes answers the newest state'
    )
    add('--answers', nargs='?', const='', metavar='TOPIC', help=answers)
    add('--period', type=float, default=PERIOD, help='from state to state [s] (%(default)s)')
    add('--patience', type=float, default=PATIENCE, help='for the controller [s] (%(default)s)')
    estimated = (
        'for controllers on odometry that begins below the robot, as of the state estimator: '
        'references are given in its world, of the first case alone'
    )
    add('--estimated', action='store_true', help=estimated)
    add('--output', type=Path, help='folder for what comes of each case, N.json and N.npz')
    options = parser.parse_args(arguments)
    if options.robot is None:
        parser.error('--robot is missing, expected a URDF path, quadruped or humanoid')
    return options


if __name__ == '__main__':
    options = parse(None)
    with compile_line('simulator'):
        sys.exit(run_on_graph('simulator', lambda: int(not run_cases(options))))
