# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A legged robot walks in MuJoCo: start, forward, turn, sideways, stop, start, pushed all the way.

In one process and as fast as possible. The exit status is 0 if the robot does not fall, and goes
as it is told where nothing pushes it.
"""

import argparse
import os
import sys

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # small matrices: threads only wait

import numpy as np
from geolin_walking.reference import Command

from geolin_demos.balance.robots import ARMATURE, simulator_of
from geolin_demos.sim.trial import random_pushes
from geolin_demos.walk.course import Course, Leg, at_times, prepare, walk
from geolin_ros.errors import GeolinError

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


def main(arguments: list[str] | None = None) -> int:
    """Run the tour without pushes, then with; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m geolin_demos.walk', description=__doc__)
    parser.add_argument('--robot', default='quadruped', help='URDF or MJCF path, or bundled robot')
    parser.add_argument('--feet', help='frame,frame,...: four points, or two soles')
    parser.add_argument('--seed', type=int, default=0, help='of the pushes (%(default)s)')
    parser.add_argument('--friction', type=float, default=0.8, help='of the floor (%(default)s)')
    parser.set_defaults(armature=ARMATURE, effort_limit=None)
    options = parser.parse_args(arguments)
    try:
        simulator, _ = simulator_of(options)
        kind = next(iter(simulator.feet.values())).kind
        tour = TROT if kind == 'point' else STEPS
        duration = sum(leg.duration for leg in tour)
        passed = True
        for impulse in (0.0, IMPULSE[kind]):
            count = int(duration / EVERY[kind]) - 1 if impulse else 0
            mass = simulator.model.total_mass
            simulator.pushes = random_pushes(impulse, mass, options.seed, count, 1.5, EVERY[kind])
            walker, course = prepare(simulator), Course()
            for _ in walk(simulator, walker, at_times(tour), duration, course):
                pass
            pushed = f'{count} pushes of J {impulse:g} s: ' if count else ''
            passed &= report(course, tour, duration, pushed)
    except (GeolinError, OSError) as error:
        print(f'walk: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return int(not passed)


def report(course: Course, tour: list[Leg], duration: float, pushed: str) -> bool:
    """Print what came of a tour; return whether the robot did what it had to."""
    begin, passed = 0.0, True
    for leg in tour:
        end = begin + leg.duration
        if not pushed and course.fallen is None:
            found = course.mean_velocity(begin + min(SETTLING, 0.5 * leg.duration), end)
            near = bool(np.all(np.abs(found - leg.command) <= NEAR))
            passed &= near
            print(
                f'{_word(near)}  {leg.words}: {found[0]:.3f} m/s, {found[1]:.3f} m/s to the left, '
                f'{found[2]:.3f} rad/s; asked for {leg.command.vx:g}, {leg.command.vy:g}, '
                f'{leg.command.yaw_rate:g}'
            )
        begin = end
    stands = course.fallen is None
    fell = f'walks for {duration:g} s' if stands else f'falls at {course.fallen:.2f} s'
    print(
        f'{_word(stands)}  {pushed}{fell}, tilt at most '
        f'{np.degrees(max(course.tilts, default=0.0)):.1f} degrees; a cycle takes '
        f'{1e3 * course.percentile(50):.1f} ms, 99 of 100 {1e3 * course.percentile(99):.1f} ms of '
        'processor time',
        flush=True,
    )
    return bool(passed and stands)


def _word(holds: bool) -> str:
    return 'PASS' if holds else 'FAIL'


if __name__ == '__main__':
    sys.exit(main())
