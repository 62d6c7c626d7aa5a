# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a walking robot has to bear, case by case, in one process; prints a table.

The robot knows a flat floor, its own mass, and a friction of 0.5. The exit status is 0 if it walks
in every case, and straight on as commanded.
"""

import argparse
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # small matrices: threads only wait

import numpy as np
from geolin_walking.reference import Command

from geolin_demos.balance.robots import ARMATURE, FEET, feet_of, overlay
from geolin_demos.sim.feet import parse_feet
from geolin_demos.sim.simulator import Simulator
from geolin_demos.sim.trial import random_pushes
from geolin_demos.sim.world import Floor
from geolin_demos.walk.__main__ import IMPULSE, STEPS, TROT
from geolin_demos.walk.course import (
    Ask,
    Course,
    at_times,
    delayed,
    in_process,
    noisy,
    on_odometry,
    prepare,
    walk,
)
from geolin_ros.description import parse_overlay
from geolin_ros.errors import GeolinError
from geolin_ros.model.tree import STANDARD_GRAVITY, TreeModel
from geolin_ros.robots import locate

SLOPE, STEP, LOAD, OFF, SLIPPERY = np.radians(5.0), 0.02, 0.1, 0.05, 0.4
NOISE = 0.03, 0.06
"""Of the velocity of the base and of its rate [m/s, rad/s]."""
SPEED = {'point': 0.5, 'surface': 0.2}
EVERY = {'point': 1.0, 'surface': 2.0}
BEGIN = 2.0
"""From here on velocities count [s]."""


@dataclass(frozen=True)
class Bar:
    """A case."""

    floor: Floor = field(default_factory=Floor)
    load: float = 0.0
    """Of the mass, on the base, `OFF` ahead of its middle."""
    is_late: bool = False
    is_noisy: bool = False
    pushes: float = 0.0
    """Of the impulse that the robot has to bear, again and again."""
    is_tour: bool = False
    is_estimated: bool = False
    seconds: float = 10.0
    seed: int = 0


BARS = {
    'flat': Bar(seconds=20.0),
    'tour': Bar(is_tour=True),
    'slope up, 5 degrees': Bar(Floor(slope=SLOPE)),
    'slope down, 5 degrees': Bar(Floor(slope=-SLOPE)),
    'steps of 2 cm': Bar(Floor(step=STEP)),
    'mass + 10 %, 5 cm off': Bar(load=LOAD),
    'friction 0.4': Bar(Floor(friction=SLIPPERY)),
    'a cycle of delay': Bar(is_late=True),
    'noise': Bar(is_noisy=True),
    'pushes, seed 1': Bar(pushes=1.0, seconds=20.0, seed=1),
    'pushes, seed 2': Bar(pushes=1.0, seconds=20.0, seed=2),
    'pushes, seed 3': Bar(pushes=1.0, seconds=20.0, seed=3),
    'odometry, pushes by 0.7': Bar(is_estimated=True, pushes=0.7, seconds=20.0, seed=1),
    'all of it, pushes by two thirds': Bar(
        Floor(step=STEP), LOAD, True, True, 2.0 / 3.0, seconds=20.0, seed=1
    ),
}
SHORT = 'flat', 'pushes, seed 1'
UNITREE, SOLO = 'FL_foot,FR_foot,RL_foot,RR_foot', 'FL_FOOT,FR_FOOT,HL_FOOT,HR_FOOT'
ANYMAL = 'LF_FOOT,RF_FOOT,LH_FOOT,RH_FOOT'
G1 = 'left_ankle_roll_link,right_ankle_roll_link'
STRANGERS: tuple[tuple[str, str, float | None], ...] = (
    ('a1_description/urdf/a1.urdf', UNITREE, None),
    ('anymal_b_simple_description/robots/anymal.urdf', ANYMAL, None),
    ('anymal_c_simple_description/urdf/anymal.urdf', ANYMAL, None),
    ('b1_description/urdf/b1.urdf', UNITREE, None),
    ('go1_description/urdf/go1.urdf', UNITREE, None),
    ('go2_description/urdf/go2.urdf', UNITREE, None),
    ('hyq_description/robots/hyq_no_sensors.urdf', 'lf_foot,rf_foot,lh_foot,rh_foot', None),
    ('laikago_description/urdf/laikago.urdf', UNITREE, None),
    ('solo_description/robots/solo12.urdf', SOLO, 2.7),
    ('alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf', 'LEFT_FOOT,RIGHT_FOOT', None),
    ('g1_description/urdf/g1_29dof_rev_1_0.urdf', G1, None),
    ('romeo_description/urdf/romeo_small.urdf', 'l_sole,r_sole', None),
    ('talos_data/robots/talos_reduced.urdf', 'left_sole_link,right_sole_link', None),
)
"""Robots that nothing is tuned on, feet, and efforts where those of the URDF are made up."""
HEAD = (
    *('robot', 'case', 'walks', 'vx, vy [m/s]', 'yaw [rad/s]', 'rms of vx [m/s]'),
    *('tilt [deg]', 'cycle p50, p99 [ms]'),
)


def run(robot: str, feet: str, bar: Bar, effort_limit: float | None, seconds: float = 0.0) -> Any:
    """Return the simulator and the course of a robot under a bar."""
    path = locate(robot)
    given = parse_overlay(overlay(ARMATURE, effort_limit))
    options: dict[str, Any] = {'gravity': STANDARD_GRAVITY}
    model = TreeModel.from_file(path, overlay=given, **options)
    load = {
        'frame': model.base_link,
        'mass': bar.load * model.total_mass,
        'com': [OFF, 0.0, 0.0],
        'inertia': [0.0] * 6,
    }
    loaded = TreeModel.from_file(path, overlay={**given, 'payloads': [load]}, **options)
    simulator = Simulator(path, loaded if bar.load else model, parse_feet(feet), bar.floor)
    kind = next(iter(simulator.feet.values())).kind
    tour = TROT if kind == 'point' else STEPS
    duration = sum(leg.duration for leg in tour) if bar.is_tour else seconds or bar.seconds
    count = int((duration - 2.0) / EVERY[kind]) + 1 if bar.pushes else 0
    impulse = bar.pushes * IMPULSE[kind]
    simulator.pushes = random_pushes(impulse, model.total_mass, bar.seed, count, 1.5, EVERY[kind])
    walker = prepare(simulator, model)
    ask: Ask = in_process(walker)
    if bar.is_estimated:
        ask = on_odometry(ask, simulator, bar.seed)
    if bar.is_noisy:
        ask = noisy(ask, *NOISE, bar.seed)
    if bar.is_late:
        ask = delayed(ask)
    command, course = Command(SPEED[kind]), Course()
    command_at = at_times(tour) if bar.is_tour else lambda _: command
    for _ in walk(simulator, ask, command_at, duration, course):
        pass
    return simulator, course


def rows(
    robot: str, feet: str, limit: float | None, cases: Collection[str], seconds: float
) -> Iterator[tuple[bool, list[str]]]:
    """Yield whether a robot does what it has to, and what it does, case by case."""
    for name in cases:
        bar = BARS[name]
        simulator, course = run(robot, feet, bar, limit, seconds)
        speed = SPEED[next(iter(simulator.feet.values())).kind]
        passed = course.fallen is None
        vx = vy = yaw = rms = '-'
        if passed and not bar.is_tour:
            found = course.mean_velocity(BEGIN, course.times[-1])
            vx, vy, yaw = f'{found[0]:.3f}', f'{found[1]:.3f}', f'{found[2]:.3f}'
            late = np.array(course.times) > BEGIN
            own = np.array(course.velocities)[late, 0]
            rms = f'{np.sqrt(np.mean((own - speed) ** 2)):.3f}'
            if name == 'flat':
                passed = abs(found[0] - speed) <= (0.02 if speed > 0.3 else 0.1) * speed
        tilt = f'{np.degrees(max(course.tilts, default=0.0)):.1f}'
        walks = 'yes' if course.fallen is None else f'falls at {course.fallen:.1f} s'
        cycle = f'{1e3 * course.percentile(50):.1f}, {1e3 * course.percentile(99):.1f}'
        row = [simulator.model.name, name, walks, f'{vx}, {vy}', yaw, rms, tilt, cycle]
        print('PASS' if passed else 'FAIL', ' | '.join(row), flush=True)
        yield passed, row


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bars; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m geolin_demos.walk.bars', description=__doc__)
    parser.add_argument('--robot', default='quadruped', help='URDF or MJCF path, or bundled robot')
    parser.add_argument('--feet', help='frame,frame,...: four points, or two soles')
    parser.add_argument('--cases', nargs='+', default=BARS, choices=BARS, metavar='CASE')
    parser.add_argument(
        '--thorough',
        type=Path,
        metavar='FOLDER',
        help='also the bundled humanoid, and robots of example-robot-data that are there',
    )
    parser.add_argument('--seconds', type=float, default=0.0, help='of each case but the tour')
    parser.add_argument('--effort-limit', type=float, help='of each motor [N m or N]')
    parser.add_argument('--table', type=Path, help='file for the table')
    options = parser.parse_args(arguments)
    found: list[tuple[bool, list[str]]] = []
    try:
        jobs = [
            (options.robot, feet_of(options), options.effort_limit, options.cases, options.seconds)
        ]
        if options.thorough:
            jobs.append(('humanoid', FEET['humanoid'], None, options.cases, options.seconds))
            jobs += [
                (str(options.thorough / path), feet, limit, SHORT, 8.0)
                for path, feet, limit in STRANGERS
            ]
        for robot, *job in jobs:
            try:
                found += rows(robot, *job)
            except GeolinError as error:
                print(f'FAIL {robot}: {error}', flush=True)
                found.append((False, [robot, str(error), *['-'] * (len(HEAD) - 2)]))
    except KeyboardInterrupt:
        return 130
    passed = sum(one for one, _ in found)
    text = f'{passed} of {len(found)} cases pass. Processor time of cycles in the run itself.'
    print(text)
    if options.table:
        lines = [HEAD, ['---'] * len(HEAD), *(row for _, row in found)]
        options.table.write_text(
            '\n'.join([text, '', *(f'| {" | ".join(line)} |' for line in lines), ''])
        )
    return int(passed < len(found))


if __name__ == '__main__':
    sys.exit(main())
