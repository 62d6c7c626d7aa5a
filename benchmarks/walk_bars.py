# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a walking robot has to bear, case by case, in one process; prints a table.

The robot knows a flat floor, its own mass, and a friction of 0.5. The exit status is 0 if it walks
in every case, straight on as commanded and upright.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # small matrices: threads only wait

import numpy as np
from geolin_demos.balance.robots import ARMATURE, FEET, overlay
from geolin_demos.sim.simulator import Simulator, random_pushes
from geolin_demos.sim.world import Floor, parse_feet
from geolin_demos.walk.__main__ import EVERY, IMPULSE, STEPS, TROT, went
from geolin_demos.walk.course import (
    Ask,
    Course,
    at_times,
    in_process,
    prepare,
    walk,
)
from geolin_walking.reference import Command

from benchmarks.walk_senses import STANDS, after_standing, delayed, noisy, on_odometry
from geolin_ros.description import parse_overlay
from geolin_ros.errors import GeolinError
from geolin_ros.model.tree import STANDARD_GRAVITY, TreeModel
from geolin_ros.robots import EXAMPLES, locate

SLOPE, STEP, LOAD, OFF, SLIPPERY = np.radians(5.0), 0.02, 0.1, 0.05, 0.4
NOISE = 0.03, 0.06
"""Of the velocity of the base and of its rate [m/s, rad/s]."""
BEGIN = STANDS + 2.0
"""From here on velocities count [s]."""
FIRST = STANDS + 1.5
"""When pushes begin [s]."""


class Limits(NamedTuple):
    """What is asked of a robot on the flat."""

    speed: float
    """Commanded [m/s]."""
    off: float
    """How far the mean may be from it, of it."""
    rms: float
    """Of its error [m/s]; two soles sway more within each step."""
    tilt: float
    """[rad]"""


LIMITS = {
    'point': Limits(0.5, 0.02, 0.05, float(np.radians(2.0))),
    'surface': Limits(0.2, 0.1, np.inf, float(np.radians(3.0))),
}
ESTIMATED = Limits(0.0, 0.1, np.inf, float(np.radians(5.0)))
"""The same on odometry, at the speed of the others."""


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
    is_judged: bool = False
    """By its velocity and tilt too."""
    seconds: float = 10.0
    """In which it walks."""
    seed: int = 0
    most: int | None = None
    """Pushes at most."""


BARS = {
    'flat': Bar(is_judged=True, seconds=20.0),
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
    'odometry': Bar(is_estimated=True, is_judged=True),
    'odometry, pushes by 0.7': Bar(is_estimated=True, pushes=0.7, seconds=20.0, seed=1),
    'all of it, pushes by two thirds': Bar(
        Floor(step=STEP), LOAD, True, True, 2.0 / 3.0, seconds=20.0, seed=1
    ),
    'four pushes': Bar(pushes=1.0, seconds=10.0, seed=1, most=4),
}
SHORT = 'flat', 'four pushes'
"""Cases of robots that nothing was tuned on."""


class Robot(NamedTuple):
    """Who walks."""

    path: str
    """Or name; in example-robot-data, unless it is bundled."""
    feet: str
    cases: Sequence[str] = SHORT
    effort_limit: float | None = None
    """Where those of the URDF are made up [N m]."""
    armature: float = ARMATURE
    """Of every joint [kg m^2]."""


UNITREE, SOLO = FEET['go2'], 'FL_FOOT,FR_FOOT,HL_FOOT,HR_FOOT'
ANYMAL = 'LF_FOOT,RF_FOOT,LH_FOOT,RH_FOOT'
G1 = FEET['g1_29dof_rev_1_0']
LONG = tuple(name for name in BARS if name != 'four pushes')
ROBOTS = {
    'quadruped': Robot('quadruped', FEET['quadruped'], LONG),
    'humanoid': Robot('humanoid', FEET['humanoid'], LONG),
    'go2': Robot('go2_description/urdf/go2.urdf', UNITREE, LONG),
    'g1': Robot('g1_description/urdf/g1_29dof_rev_1_0.urdf', G1, LONG),
    'a1': Robot('a1_description/urdf/a1.urdf', UNITREE),
    'anymal_b': Robot('anymal_b_simple_description/robots/anymal.urdf', ANYMAL),
    'anymal_c': Robot('anymal_c_simple_description/urdf/anymal.urdf', ANYMAL),
    'b1': Robot('b1_description/urdf/b1.urdf', UNITREE),
    'go1': Robot('go1_description/urdf/go1.urdf', UNITREE),
    'hyq': Robot('hyq_description/robots/hyq_no_sensors.urdf', 'lf_foot,rf_foot,lh_foot,rh_foot'),
    'laikago': Robot('laikago_description/urdf/laikago.urdf', UNITREE),
    # rotors of 4.5e-6 kg m^2 behind gears of 9
    'solo12': Robot('solo_description/robots/solo12.urdf', SOLO, SHORT, 2.7, 3.6e-4),
    'alexander': Robot(
        'alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf', 'LEFT_FOOT,RIGHT_FOOT'
    ),
    'romeo_small': Robot('romeo_description/urdf/romeo_small.urdf', 'l_sole,r_sole'),
    'talos_reduced': Robot(
        'talos_data/robots/talos_reduced.urdf', 'left_sole_link,right_sole_link'
    ),
}
HEAD = (
    *('robot', 'case', 'walks', 'vx, vy [m/s]', 'yaw [rad/s]', 'rms of vx [m/s]'),
    *('tilt [deg]', 'cycle p50, p99 [ms]'),
)


def run(robot: Robot, bar: Bar, seconds: float = 0.0) -> tuple[Simulator, Course]:
    """Return the simulator and the course of a robot under a bar."""
    path = EXAMPLES / robot.path if robot in ROBOTS.values() else Path(robot.path)
    path = path if path.is_file() else locate(robot.path)
    given = parse_overlay(overlay(robot.effort_limit, robot.armature))
    model = TreeModel.from_file(path, overlay=given, gravity=STANDARD_GRAVITY)
    load = {
        'frame': model.base_link,
        'mass': bar.load * model.total_mass,
        'com': [OFF, 0.0, 0.0],
        'inertia': [0.0] * 6,
    }
    loaded = model
    if bar.load:
        given = {**given, 'payloads': [load]}
        loaded = TreeModel.from_file(path, overlay=given, gravity=STANDARD_GRAVITY)
    simulator = Simulator(path, loaded, parse_feet(robot.feet), bar.floor)
    kind = next(iter(simulator.feet.values())).kind
    tour = TROT if kind == 'point' else STEPS
    duration = STANDS + (seconds or bar.seconds)
    if bar.is_tour:
        duration = sum(leg.duration for leg in tour)
    count = int((duration - FIRST - 0.5) / EVERY[kind]) + 1 if bar.pushes else 0
    simulator.pushes = random_pushes(
        bar.pushes * IMPULSE[kind],
        model.total_mass,
        bar.seed,
        min(count, bar.most or count),
        FIRST,
        EVERY[kind],
    )
    walker = prepare(simulator, model)
    ask: Ask = in_process(walker)
    if bar.is_estimated:
        ask = on_odometry(ask, simulator, bar.seed)
    if bar.is_noisy:
        ask = noisy(ask, *NOISE, bar.seed)
    if bar.is_late:
        ask = delayed(ask)
    course = Course()
    command_at = at_times(tour) if bar.is_tour else after_standing(Command(LIMITS[kind].speed))
    for _ in walk(simulator, ask, command_at, duration, course):
        pass
    return simulator, course


def judged(bar: Bar, kind: str, course: Course) -> tuple[bool, list[str]]:
    """Return whether a robot did what it had to, and how fast it went, as cells of the table."""
    if course.fallen is not None:
        return False, ['-'] * 3
    if bar.is_tour:
        passed, begin, turn = True, 0.0, 0.0
        for leg in TROT if kind == 'point' else STEPS:
            found, near = went(course, leg, begin, kind)
            passed, begin = passed and near, begin + leg.duration
            turn = float(found[2]) if leg.command.yaw_rate else turn
        return passed, ['as commanded' if passed else 'not as commanded', f'{turn:.3f}', '-']
    speed, off, rms, tilt = LIMITS[kind]
    if bar.is_estimated:
        _, off, rms, tilt = ESTIMATED
    found = course.mean_velocity(BEGIN, course.times[-1])
    own = np.array(course.velocities)[np.array(course.times) > BEGIN, 0]
    error = float(np.sqrt(np.mean((own - speed) ** 2)))
    passed = not bar.is_judged or bool(
        abs(found[0] - speed) <= off * speed and error <= rms and max(course.tilts) <= tilt
    )
    return passed, [f'{found[0]:.3f}, {found[1]:.3f}', f'{found[2]:.3f}', f'{error:.3f}']


def row_of(name: str, robot: Robot, case: str, seconds: float) -> tuple[bool, list[str]]:
    """Return whether a robot did what it had to, and its row of the table."""
    try:
        simulator, course = run(robot, BARS[case], seconds)
    except GeolinError as error:
        return False, [name, case, str(error), *['-'] * (len(HEAD) - 3)]
    kind = next(iter(simulator.feet.values())).kind
    passed, cells = judged(BARS[case], kind, course)
    walks = 'yes' if course.fallen is None else f'falls at {course.fallen:.1f} s'
    return passed, [
        *(name, case, walks if passed or course.fallen is not None else 'yes, not well', *cells),
        f'{np.degrees(max(course.tilts, default=0.0)):.1f}',
        f'{1e3 * course.percentile(50):.1f}, {1e3 * course.percentile(99):.1f}',
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bars; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.walk_bars', description=__doc__)
    parser.add_argument(
        '--robots',
        nargs='+',
        default=['quadruped'],
        metavar='ROBOT',
        help=f'all, {", ".join(ROBOTS)}, or a URDF or MJCF path with --feet (%(default)s)',
    )
    parser.add_argument('--feet', help='frame,frame,...: four points, or two soles')
    parser.add_argument(
        '--cases',
        nargs='+',
        choices=BARS,
        metavar='CASE',
        help='default: all of the bundled robots, go2 and g1, two of the others',
    )
    parser.add_argument('--seconds', type=float, default=0.0, help='of each case but the tour')
    parser.add_argument('--effort-limit', type=float, help='of each motor [N m or N]')
    parser.add_argument('--table', type=Path, help='file for the table')
    parser.add_argument(
        '--kept', type=Path, help='file of results: those in it are not run again, all are printed'
    )
    options = parser.parse_args(arguments)
    names = list(ROBOTS) if options.robots == ['all'] else options.robots
    given = options.feet, LONG, options.effort_limit
    unknown = [name for name in names if name not in ROBOTS]
    if unknown and not options.feet:
        parser.error(f'the feet of {", ".join(unknown)} are not known: give --feet')
    robots = {name: Robot(name, *given) if options.feet else ROBOTS[name] for name in names}
    found: dict[str, tuple[bool, list[str]]] = {}
    if options.kept and options.kept.exists():
        found = json.loads(options.kept.read_text())
    try:
        for name, robot in robots.items():
            for case in options.cases or robot.cases:
                if f'{name}, {case}' in found:
                    continue
                passed, row = found[f'{name}, {case}'] = row_of(name, robot, case, options.seconds)
                print('PASS' if passed else 'FAIL', ' | '.join(row), flush=True)
                if options.kept:
                    options.kept.parent.mkdir(parents=True, exist_ok=True)
                    options.kept.write_text(json.dumps(found))
    except KeyboardInterrupt:
        return 130
    order = [*ROBOTS, *names, *(row[0] for _, row in found.values())]
    cases = list(BARS)
    results = sorted(
        found.values(), key=lambda one: (order.index(one[1][0]), cases.index(one[1][1]))
    )
    count = sum(passed for passed, _ in results)
    text = f'{count} of {len(results)} cases pass. Processor time of cycles in the run itself.'
    print(text)
    if options.table:
        lines = [HEAD, ['---'] * len(HEAD), *(row for _, row in results)]
        options.table.write_text(
            '\n'.join([text, '', *(f'| {" | ".join(line)} |' for line in lines), ''])
        )
    return int(count < len(results))


if __name__ == '__main__':
    sys.exit(main())
