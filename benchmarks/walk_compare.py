# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Quadrupeds trot by several controllers, on the same gait, footholds and swings; prints a table.

Each stands, trots at 0.5 m/s, then bears single pushes of 0.1 s in several directions, at two
moments of the gait: the largest counts that is borne with all smaller ones. Of controllers with
knobs the best tuning does. The exit status is 0 if predictive control about the last plan is as
much better as expected.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # small matrices: threads only wait

import numpy as np
from geolin_demos.balance.robots import simulator_of
from geolin_demos.sim.simulator import Push, Simulator, push_of
from geolin_demos.walk.course import (
    Answer,
    Ask,
    Course,
    in_process,
    prepare,
    walk,
)
from geolin_walking.reference import Command
from geolin_walking.walker import Walker

from benchmarks.walk_rivals import (
    PD_GAINS,
    TUNINGS,
    JointPD,
    Playback,
    RigidBody,
    Tuning,
    nominal,
)
from benchmarks.walk_senses import STANDS, after_standing, on_odometry
from geolin_ros.typing import Array

COMMAND = Command(0.5)
FLAT, SETTLED = STANDS + 10.0, STANDS + 2.0
"""When a walk without pushes ends, and from when on velocities count [s]."""
MOMENTS = STANDS + 1.5, STANDS + 1.62
"""At which pushes begin: a quarter of the gait apart [s]."""
WATCHED = 2.5
"""After a push [s]."""
STEP, MOST = 0.04, 0.6
"""Of impulses, before the last is halved, and the largest tried [s]."""
GOALS = {'quadruped': 1.15, 'go2': 1.3}
"""Of the mean largest push, times that of the best rigid body."""
Make = Callable[[Simulator], Ask]


class Result(NamedTuple):
    """What a controller can do."""

    words: str
    fallen: float | None
    speed: float
    rms: float
    tilt: float
    largest: Array
    """J of the largest pushes [s]."""


def about_last(simulator: Simulator) -> Ask:
    """Plan about the last plan."""
    return in_process(prepare(simulator))


def by_odometry(simulator: Simulator) -> Ask:
    """Plan about the last plan, from what the state estimator knows."""
    return on_odometry(in_process(prepare(simulator)), simulator)


def about_reference(simulator: Simulator) -> Ask:
    """Plan about the reference."""
    planner = prepare(simulator).planner
    return in_process(Walker(planner, prepare(simulator).weights, about_last_plan=False))


def by_one_pair(simulator: Simulator) -> Ask:
    """Plan with A and B of the standing posture, in the right contacts."""
    walker = prepare(simulator)
    linearize = nominal(walker.model, walker.planner)
    return in_process(
        Walker(walker.planner, walker.weights, about_last_plan=False, linearize=linearize)
    )


def by_playback(simulator: Simulator) -> Ask:
    """Play the gains of the gait by the time, without any plan."""
    return Playback(prepare(simulator).planner, COMMAND)


def begun(simulator: Simulator, make: Make, until: float) -> tuple[Iterator[Answer], Course]:
    """Return a walk that has come to a time, and its course."""
    simulator.pushes, course = [], Course()
    steps = walk(simulator, make(simulator), after_standing(COMMAND), until + WATCHED, course)
    for _ in steps:
        if course.fallen is not None or simulator.time >= until - 0.019:
            break
    return steps, course


def directions(count: int) -> Array:
    """Return so many directions, none of them along an axis [rad]."""
    return 2.0 * np.pi * np.arange(count) / count + 0.4


def by_rigid_body(tuning: Tuning, simulator: Simulator) -> Ask:
    """Plan with one rigid body."""
    return RigidBody(prepare(simulator).planner, tuning)


def by_joints(gains: tuple[float, float], simulator: Simulator) -> Ask:
    """Hold the joints to the reference."""
    return JointPD(prepare(simulator).planner, gains)


def _bears(simulator: Simulator, steps: Iterator[Answer], course: Course, push: Push) -> bool:
    """Whether the robot bears a push where it is now; it stays there."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            simulator.pushes = [push]
            while course.fallen is None and next(steps, None) is not None:
                pass
            status = int(course.fallen is not None)
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in (0, 1):
        raise ChildProcessError(f'the walk under {push} ended with status {status}')
    return status == 0


def largest_pushes(
    simulator: Simulator, make: Make, moments: Sequence[float], angles: Array, step: float
) -> Array:
    """Return the largest J of each moment and direction [s]; each push is a process of its own."""
    found = np.zeros((len(moments), len(angles)))
    for row, moment in zip(found, moments, strict=True):
        steps, course = begun(simulator, make, moment)
        if course.fallen is not None:
            continue
        for number, angle in enumerate(angles):
            rise = step
            while rise > 0.3 * step and row[number] < MOST:
                push = push_of(row[number] + rise, angle, moment, simulator.model.total_mass)
                borne = _bears(simulator, steps, course, push)
                row[number] += rise * borne
                if not borne or rise < step:
                    rise *= 0.5
    return found.ravel()


def tried(simulator: Simulator, words: str, make: Make, angles: Array, moments: int) -> Result:
    """Return what a controller can do, under pushes in directions and at so many moments."""
    simulator.pushes, course = [], Course()
    for _ in walk(simulator, make(simulator), after_standing(COMMAND), FLAT, course):
        if course.fallen is not None:
            break
    late = np.array(course.times) > SETTLED
    speeds = np.array(course.velocities)[late, 0] if late.any() else np.array([np.nan])
    return Result(
        words,
        course.fallen,
        float(speeds.mean()),
        float(np.sqrt(np.mean((speeds - COMMAND.vx) ** 2))),
        float(np.degrees(max(course.tilts, default=0.0))),
        largest_pushes(simulator, make, MOMENTS[:moments], angles, STEP),
    )


def best_of(simulator: Simulator, makes: dict[str, Make]) -> str:
    """Return the name of the tuning that bears the largest pushes in four directions."""
    means, angles = {}, directions(4)
    for words, make in makes.items():
        means[words] = float(largest_pushes(simulator, make, MOMENTS[:1], angles, STEP).mean())
        print(f'          {words}: {means[words]:.3f}', flush=True)
    return max(means, key=lambda words: means[words])


def controllers(simulator: Simulator, most: int | None = None) -> Iterator[tuple[str, Make]]:
    """Yield the controllers that are compared, those with knobs at their best."""
    bodies: dict[str, Make] = {
        f'rigid body, {one.words}': partial(by_rigid_body, one) for one in TUNINGS[:most]
    }
    joints: dict[str, Make] = {
        f'joint PD, {gains[0]:g} and {gains[1]:g}': partial(by_joints, gains)
        for gains in PD_GAINS[:most]
    }
    yield 'A, B about the last plan', about_last
    yield 'the same, on odometry', by_odometry
    yield 'A, B about the reference', about_reference
    yield 'one A, B a contact set', by_one_pair
    yield 'gains of the gait, by the time', by_playback
    for family in (bodies, joints):
        words = best_of(simulator, family) if len(family) > 1 else next(iter(family))
        yield words, family[words]


def judged(robot: str, found: dict[str, Result]) -> Iterator[tuple[bool, str]]:
    """Yield what is expected of the results, and whether it holds."""
    of = {key.partition(',')[0]: result for key, result in found.items()}
    own, body = found['A, B about the last plan'], of['rigid body']
    ratio, goal = own.largest.mean() / body.largest.mean(), GOALS.get(robot, 1.0)
    yield (
        ratio >= goal,
        f'{robot}: mean push {ratio:.2f} of that of the rigid body, expected {goal}',
    )
    least, other = own.largest.min(), body.largest.min()
    yield (
        bool(least >= other - 1e-9),
        f'{robot}: smallest push {least:.2f} s, of the rigid body {other:.2f} s, expected no less',
    )
    tilt = own.tilt / body.tilt
    yield tilt <= 0.5, f'{robot}: tilt {tilt:.2f} of that of the rigid body, expected 0.5'
    known = found['the same, on odometry'].largest.mean() / own.largest.mean()
    yield known >= 0.7, f'{robot}: on odometry {known:.2f} of the mean push, expected 0.7'
    one = found['one A, B a contact set'].largest.mean() / own.largest.mean()
    yield one <= 2.0 / 3.0, f'{robot}: one A, B bears {one:.2f} of the mean push, expected 0.67'


def cells(robot: str, one: Result) -> list[str]:
    """Return a row of the table."""
    walks = 'yes' if one.fallen is None else f'falls at {one.fallen:.1f} s'
    low, middle, mean, high = (f(one.largest) for f in (np.min, np.median, np.mean, np.max))
    return [
        *(robot, one.words, walks, f'{one.speed:.3f}, {one.rms:.3f}', f'{one.tilt:.1f}'),
        f'{low:.2f} / {middle:.2f} / {mean:.3f} / {high:.2f}',
    ]


HEAD = (
    *('robot', 'controller', 'walks', 'mean and rms error of vx [m/s]', 'tilt [deg]'),
    'J of the largest push, min / median / mean / max [s]',
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.walk_compare')
    parser.add_argument('--robots', nargs='+', default=['quadruped', 'go2'])
    parser.add_argument('--feet', help='frame,frame,...: four points')
    parser.add_argument('--controllers', default='', help='only those whose name begins so')
    parser.add_argument('--directions', type=int, default=8, help='of pushes (%(default)s)')
    parser.add_argument('--moments', type=int, choices=(1, 2), default=2, help='of the gait')
    parser.add_argument('--tunings', type=int, help='only so many of each controller')
    parser.add_argument('--table', type=Path, help='file for the table')
    options = parser.parse_args(arguments)
    table: list[Sequence[str]] = [HEAD, ['---'] * len(HEAD)]
    verdicts: list[tuple[bool, str]] = []
    for robot in options.robots:
        simulator = simulator_of(robot, options.feet)
        found = {}
        for words, make in controllers(simulator, options.tunings):
            if words.startswith(options.controllers):
                found[words] = one = tried(
                    simulator, words, make, directions(options.directions), options.moments
                )
                table.append(cells(robot, one))
                print(' | '.join(table[-1]), flush=True)
        if not options.controllers:
            verdicts += judged(robot, found)
    for holds, words in verdicts:
        print('PASS' if holds else 'FAIL', words)
    if options.table:
        pushes = options.directions * options.moments
        text = f'{pushes} directions and moments of pushes. ' + ' '.join(
            f'{words}: {"yes" if holds else "no"}.' for holds, words in verdicts
        )
        lines = [f'| {" | ".join(line)} |' for line in table]
        options.table.write_text('\n'.join([text, '', *lines, '']))
    return int(not all(holds for holds, _ in verdicts))


if __name__ == '__main__':
    sys.exit(main())
