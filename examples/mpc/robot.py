# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot as a process: it shifts its base and goes back, then it is pushed.

A state is published at the start of each period; the efforts that answer it act in the next one,
however soon they come: the controller has a whole period. In lock step, the default, the robot
waits for an answer; in real time it goes on without, and counts the period as missed. The exit
status is 1 if the base strays from its reference while it shifts, the robot falls, or more than
one period in a hundred is missed.
"""

import argparse
import sys

from geolin_ros.ros.programs import end_early, handled_signals

if __name__ == '__main__':
    end_early('simulator', 130)  # until there is a node

import numpy as np
import rclpy
from geolin_demos.balance.cases import Motion, stand, stops
from geolin_demos.balance.graph import Answers, RobotGraph, Run
from geolin_demos.balance.robots import simulator_of
from geolin_demos.demo.__main__ import published
from geolin_demos.demo.processes import run_on_graph
from geolin_demos.sim.simulator import Recording, Simulator, push_of
from geolin_demos.sim.world import Floor

from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.posture import standing_posture
from geolin_ros.dynamics.momentum import centre_of_mass
from geolin_ros.errors import ConfigurationError
from geolin_ros.robots import locate

PERIOD = 0.01
SHIFT, DURATION, NEAR = 0.05, 3.0, 0.01  # [m, s, m]
IMPULSE, EVERY = 0.04, 2.0  # J of a push of m g J, and time from one to the next [s]
START, REST = 0.5, 0.5
FIRST_PUSH = START + 2.0 * (DURATION + REST)


def shift(simulator: Simulator, duration: float) -> Motion:
    """Return a motion of the base, forward and back, feet in place, that ends at rest."""
    model, standing = simulator.model, stand(simulator, duration).knots[0]
    start, feet = standing.state, standing.supports
    com, wanted = centre_of_mass(model, start).com[:2], SHIFT
    for _ in range(3):  # the legs move too: the base goes further than the centre of mass
        there = standing_posture(model, feet, start=start, com=com + np.array((wanted, 0.0)))
        wanted *= SHIFT / (there.H[0, 3] - start.H[0, 3])
    times = np.cumsum([START, DURATION, REST, DURATION]).tolist()
    knots = (standing, equilibrium(model, there, feet), standing)
    return Motion(knots, stops(times, [0, 1, 1, 2]), duration)


def require_points(simulator: Simulator) -> None:
    """Check that all feet are points: the controller plans forces in pyramids, no moments.

    Raises
    ------
    ConfigurationError
        If one is a sole.
    """
    for frame, support in simulator.feet.items():
        if support.kind != 'point':
            raise ConfigurationError(
                f'foot {frame!r} is a sole, expected feet that are points: give {frame}:RADIUS, '
                'or see what stands on soles by `make balance`'
            )


def verdict(recording: Recording, answers: Answers, pushes: int) -> bool:
    """Print what came of it; return whether the robot did what it had to."""
    away = np.linalg.norm(recording.errors()[:, :3], axis=1)
    times = np.array(recording.times)
    shifting, pushed = away[times < FIRST_PUSH], away[times >= FIRST_PUSH]
    is_near = times[-1] >= FIRST_PUSH and shifting.max() <= NEAR
    print(
        f'{_word(is_near)}  base {SHIFT:g} m forward and back in {DURATION:g} s each: '
        f'at most {1e3 * shifting.max():.1f} mm from its reference, {1e3 * NEAR:g} mm allowed'
    )
    fell = 'stands' if recording.stands else f'fell at {recording.fallen} s'
    largest = 1e3 * pushed.max(initial=0.0)
    print(
        f'{_word(recording.stands)}  {pushes} pushes of J {IMPULSE:g} s: {fell}, '
        f'displaced by at most {largest:.1f} mm'
    )
    p50, p99 = 1e3 * np.array(answers.percentiles())
    periods = len(times)
    is_in_time = answers.missed <= 0.01 * periods
    print(
        f'{_word(is_in_time)}  {answers.missed} of {periods} periods of {1e3 * PERIOD:g} ms '
        f'missed; from a state to its efforts p50 {p50:.2f} ms, p99 {p99:.2f} ms by the clock',
        flush=True,
    )
    return bool(is_near and recording.stands and is_in_time)


def _word(holds: bool) -> str:
    return 'PASS' if holds else 'FAIL'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which robot it is, and what it is asked."""
    parser.add_argument(
        '--robot', default='quadruped', help='URDF or MJCF path, or bundled robot (%(default)s)'
    )
    parser.add_argument(
        '--feet',
        metavar='FRAME,FRAME,...',
        help='its feet, all of them points: a frame whose shapes are a ball, or frame:RADIUS [m] '
        '(default: those of robots that are known)',
    )
    parser.add_argument(
        '--pushes', type=int, default=8, help='each 45 degrees further (%(default)s)'
    )
    about = 'of the floor (%(default)s)'
    parser.add_argument('--friction', type=float, default=Floor.friction, help=about)
    parser.add_argument('--realtime', action='store_true', help='against the clock')


def main(arguments: list[str] | None = None) -> int:
    """Run the robot; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m mpc.robot', description=__doc__)
    add_arguments(parser)
    options = parser.parse_args(arguments)

    def run() -> int:
        simulator = simulator_of(options.robot, options.feet, friction=options.friction)
        require_points(simulator)
        motion = shift(simulator, FIRST_PUSH + EVERY * options.pushes)
        simulator.pushes = [
            push_of(IMPULSE, 0.25 * np.pi * k, FIRST_PUSH + EVERY * k, simulator.model.total_mass)
            for k in range(options.pushes)
        ]
        with handled_signals() as asked_to_stop:
            node = rclpy.create_node('simulator', start_parameter_services=False)
            text = published(locate(options.robot))
            graph = RobotGraph(node, simulator.model, text, list(simulator.feet), 'mpc/command')
            graph.asked_to_stop = asked_to_stop
            course = Run(
                simulator, graph, period=PERIOD, is_realtime=options.realtime, is_late=True
            )
            course.hold(motion.at(0.0))
            recording, answers = course.go(motion)
            graph.close()
            return int(not verdict(recording, answers, options.pushes))

    return run_on_graph('simulator', run)


if __name__ == '__main__':
    sys.exit(main())
