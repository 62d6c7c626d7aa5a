# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Legged robots walk in MuJoCo: start, forward, turn, sideways, stop, start, pushed all the way.

Robot, walking_node and linearizer are processes that talk over DDS; the robot waits for each plan.
The exit status is 0 if it does not fall, and goes as commanded where nothing pushes it.
"""

import argparse
import os
import sys
from collections.abc import Callable
from itertools import islice

from geolin_ros.ros.programs import end_early, stop_on_signals

if __name__ == '__main__':
    end_early('walk', 130)  # while modules are imported

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # small matrices: threads only wait

import numpy as np
from geolin_walking.gait import Phase
from geolin_walking.reference import Command
from geolin_walking.walker import Walker

from geolin_demos.balance.robots import BUNDLED, overlay, simulator_of
from geolin_demos.demo.__main__ import (
    as_arguments,
    discovery,
    file_parameter,
    published,
    supervise,
)
from geolin_demos.demo.processes import INTERRUPTED, Child, run_on_graph, run_reported
from geolin_demos.sim.simulator import Simulator, random_pushes
from geolin_demos.sim.world import text_of
from geolin_demos.walk.course import CYCLE, Ask, Course, Leg, at_times, in_process, prepare, walk
from geolin_ros.robots import locate
from geolin_ros.typing import Array

TROT = [
    Leg('stands', Command(), 1.0),
    Leg('goes forward', Command(0.5), 4.0),
    Leg('turns', Command(0.3, 0.0, 0.6), 3.0),
    Leg('goes sideways', Command(0.0, 0.2), 3.0),
    Leg('stops', Command(), 3.0),
    Leg('goes forward', Command(0.5), 3.0),
]
STEPS = [
    Leg('stands', Command(), 1.0),
    Leg('goes forward', Command(0.2), 8.0),
    Leg('turns', Command(0.1, 0.0, 0.3), 5.0),
    Leg('goes sideways', Command(0.0, 0.1), 5.0),
    Leg('stops', Command(), 5.0),
    Leg('goes forward', Command(0.2), 5.0),
]
IMPULSE = {'point': 0.06, 'surface': 0.03}
EVERY = {'point': 1.0, 'surface': 2.0}
SETTLING = 1.0
"""Of a command, before velocities count [s]."""
NEAR = np.array([0.05, 0.05, 0.08])
"""How far mean velocities may be from the command [m/s, m/s, rad/s]."""
TURNS = {'point': 0.05, 'surface': 0.15}
"""How far the rate of a turn may be from the command, of the command."""


def main() -> int:
    """Run the tour without pushes, then with; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m geolin_demos.walk', description=__doc__)
    add = parser.add_argument
    add('--robot', help='name, or URDF or MJCF path (quadruped, then humanoid)')
    add('--feet', help='frame,frame,...: four points, or two soles')
    add('--legs', type=int, help='only so many parts of the tour')
    whether = 'whether walking_node asks the linearizer for A and B (%(default)s)'
    add('--dynamics', choices=('service', 'library'), default='service', help=whether)
    where = parser.add_mutually_exclusive_group()
    where.add_argument('--in-process', action='store_true', help='all in one, without ROS')
    where.add_argument('--alone', action='store_true', help='the robot alone, nodes are there')
    options = parser.parse_args()
    is_tour = options.robot is None and options.feet is None
    status = 0
    for robot in BUNDLED if is_tour else [options.robot or BUNDLED[0]]:
        options.robot = robot
        simulator = simulator_of(robot, options.feet)
        if options.alone:
            return by_nodes(options, simulator)
        walker = prepare(simulator)  # which tells what is wrong before anything is started
        if options.in_process:
            status |= int(not tours(options, simulator, in_process))
            continue
        supports = [text_of(foot) for foot in walker.supports]
        status = max(status, start(options, supports, [*sys.argv[1:], '--robot', robot]))
        if status == INTERRUPTED:
            break
    return status


def start(options: argparse.Namespace, supports: list[str], arguments: list[str]) -> int:
    """Run robot, walker and linearizer; return the exit status of all."""
    stop = stop_on_signals()
    environment = {**discovery(), 'OPENBLAS_NUM_THREADS': '1'}
    print(f'walk of {options.robot} on ROS_DOMAIN_ID {environment["ROS_DOMAIN_ID"]}', flush=True)
    shared = {'overlay': overlay(), **file_parameter(locate(options.robot))}
    walker = {'supports': supports, 'dynamics': options.dynamics, 'service_timeout': 10.0}
    nodes = [('walking_node', 'geolin_walking.walking_node', walker)]
    if options.dynamics == 'service':  # cycles go by as fast as plans come
        service = {'service.rate': 1000, 'service.budget': 1.0}
        linearizer = {'max_rate': 10.0, 'contact_source': 'topic', **service}
        nodes.append(('linearizer', 'geolin_ros.ros.linearizer', linearizer))
    servers = [
        Child(name, module, as_arguments(shared | parameters), environment)
        for name, module, parameters in nodes
    ]
    robot = Child('robot', 'geolin_demos.walk', ['--alone', *arguments], environment, False)
    return supervise('walk', servers, robot, stop)


def by_nodes(options: argparse.Namespace, simulator: Simulator) -> int:
    """Walk on the plans of a node; return the exit status."""
    import rclpy

    from geolin_demos.walk.graph import WalkGraph

    def run() -> int:
        stop = stop_on_signals()
        node = rclpy.create_node('simulator', start_parameter_services=False)
        graph = WalkGraph(node, simulator, published(locate(options.robot)))
        graph.asked_to_stop = stop.is_set
        passed = tours(options, simulator, lambda _: graph.begin())
        graph.close()
        return int(not passed)

    return run_on_graph('walk', run)


def tours(
    options: argparse.Namespace, simulator: Simulator, begin: Callable[[Walker], Ask]
) -> bool:
    """Walk the tour of a robot, then pushed; return whether all went well."""
    kind = next(iter(simulator.feet.values())).kind
    tour = (TROT if kind == 'point' else STEPS)[: options.legs]
    duration, passed = sum(leg.duration for leg in tour), True
    for impulse in (0.0, IMPULSE[kind]):
        count = int(duration / EVERY[kind]) - 1 if impulse else 0
        mass = simulator.model.total_mass
        simulator.pushes = random_pushes(impulse, mass, 0, count, 1.5, EVERY[kind])
        course, ask, begun = Course(), begin(prepare(simulator)), 0.0
        cycles = walk(simulator, ask, at_times(tour), duration, course)
        for leg in tour:
            for _ in islice(cycles, round(leg.duration / CYCLE)):
                pass
            if not impulse and course.fallen is None:
                (vx, vy, rate), near = went(course, leg, begun, kind)
                passed &= reported(
                    near,
                    f'{leg.words}: {vx:.3f} m/s, {vy:.3f} m/s to the left, {rate:.3f} rad/s; '
                    'asked for {:g}, {:g}, {:g}'.format(*leg.command),
                )
            begun += leg.duration
        for _ in cycles:  # whose last one is counted only now
            pass
        stands, tilt = course.fallen is None, np.degrees(max(course.tilts, default=0.0))
        p50, p99 = (1e3 * course.percentile(share) for share in (50, 99))
        passed &= reported(
            stands,
            f'{f"{count} pushes of J {impulse:g} s: " if count else ""}'
            f'{f"walks for {duration:g} s" if stands else f"falls at {course.fallen:.2f} s"}, '
            f'tilt at most {tilt:.1f} degrees; a cycle takes {p50:.1f} ms, 99 of 100 {p99:.1f} ms',
        )
    return passed


def reported(passed: bool, text: str) -> bool:
    """Print a verdict, and return it."""
    print(f'{"PASS" if passed else "FAIL"}  {text}', flush=True)
    return passed


def went(course: Course, leg: Leg, begin: float, kind: str) -> tuple[Array, bool]:
    """Return the mean velocities in a part of a tour, and whether they are as commanded.

    A robot that was to stop stands on all feet at the end.
    """
    end = begin + leg.duration
    found = course.mean_velocity(begin + min(SETTLING, 0.5 * leg.duration), end)
    near = NEAR.copy()
    if leg.command.yaw_rate:
        near[2] = TURNS[kind] * abs(leg.command.yaw_rate)
    last = course.phases[round(end / CYCLE) - 1]
    stands = any(leg.command) or last is Phase.STAND
    return found, bool(stands and np.all(np.abs(found - leg.command) <= near))


if __name__ == '__main__':
    sys.exit(run_reported('walk', main))
