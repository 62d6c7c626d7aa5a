# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Let robots balance: simulator, linearizer and LQR node as three processes that talk over DDS.

Each robot is pushed, lifts a foot or squats, in lock step unless --realtime is given. Beside it PD
with gravity compensation does the same in one process, and both are pushed harder until they
fall. Prints a table, saves a picture with a filmstrip, and exits with 1 if a robot fell that must
stand.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from threading import Event
from typing import NamedTuple

from geolin_ros.ros.signals import end_early, stop_on_signals

if __name__ == '__main__':
    end_early('balance', 130)  # while modules are imported

from geolin_control.gain_bank import build
from geolin_control.gain_file import save_bank

from geolin_demos.balance.baseline import Job, compare, jobs_of
from geolin_demos.balance.cases import Case, cases_of, introduce
from geolin_demos.balance.picture import draw
from geolin_demos.balance.report import Refused, Row, markdown, verdict
from geolin_demos.balance.robots import (
    BUNDLED,
    MODULES,
    add_robot_arguments,
    feet_of,
    node_parameters,
    overlay,
    plan_of,
    simulator_of,
)
from geolin_demos.demo.__main__ import INTERRUPTED, discovery, supervise
from geolin_demos.demo.processes import Child
from geolin_ros.errors import GeolinError
from geolin_ros.robots import locate
from geolin_ros.stream.compiling import compile_line

SEEDS = 3


def main(arguments: list[str] | None = None) -> int:
    """Run all cases of all robots; return the exit status."""
    stop = stop_on_signals()
    options = parse(arguments)
    rows: list[Row] = []
    refused: list[Refused] = []
    failed = False
    try:
        with (
            tempfile.TemporaryDirectory(prefix='geolin-balance-') as folder,
            compile_line('balance'),
        ):
            jobs: list[Job] = []
            for index, robot in enumerate(robots(options)):
                found = prepare(robot)
                refused += [Refused(found.name, *item) for item in found.infeasible.items()]
                for part, scheduled in enumerate((False, True)):
                    place = Path(folder, f'{index}-{part}')
                    place.mkdir()
                    given = argparse.Namespace(**vars(robot))
                    names = [case.name for case in found.feasible if case.scheduled == scheduled]
                    given.cases, given.height, given.scheduled = names, found.height, scheduled
                    failed |= run_robot(given, place, stop) != 0
                    if stop.is_set():
                        return INTERRUPTED
                    jobs += jobs_of(given, place)
            if jobs:
                rows = compare(jobs, stop, not options.skip_largest)
                if stop.is_set():
                    return INTERRUPTED
        failed |= not verdict(rows, refused)
        if rows:
            draw(rows, options.output)
            print(f'picture   {options.output}', flush=True)
        if options.table:
            options.table.write_text(markdown(rows, refused))
    except (GeolinError, OSError) as error:
        print(f'balance: {error}', file=sys.stderr)
        return 1
    return int(failed)


def robots(options: argparse.Namespace) -> list[argparse.Namespace]:
    """Return the options of each robot and seed that are asked for.

    Raises `GeolinError` if a robot is unknown, or a foot of it is.
    """
    names = [options.robot] if options.robot else [*BUNDLED, *(options.also or ())]
    found = []
    for name in names:
        path = str(locate(name).resolve())
        feet = feet_of(argparse.Namespace(robot=path, feet=options.feet))
        for seed in range(options.seed, options.seed + (SEEDS if options.thorough else 1)):
            of_robot = {'robot': path, 'feet': feet, 'seed': seed}
            found.append(argparse.Namespace(**{**vars(options), **of_robot}))
    return found


class Prepared(NamedTuple):
    """Name of a robot, and its `Cases`."""

    name: str
    feasible: list[Case]
    infeasible: dict[str, str]
    height: float | None


def prepare(robot: argparse.Namespace) -> Prepared:
    """Return what a robot can do; say what was assumed about it, and what it cannot.

    Raises `GeolinError` if the robot or its feet cannot be used; `OSError` if the file cannot be
    read.
    """
    simulator, _ = simulator_of(robot)
    found, name = cases_of(simulator, plan_of(robot)), simulator.model.name
    print(f'\n{name}', flush=True)
    introduce(simulator, found)
    return Prepared(name, *found)


def run_robot(robot: argparse.Namespace, folder: Path, stop: Event) -> int:
    """Run the three processes for one robot, if it has cases; return the exit status of all."""
    if not robot.cases:
        return 0
    simulator, _ = simulator_of(robot)
    cases = cases_of(simulator, plan_of(robot)).feasible
    bank = ''
    if robot.scheduled:
        bank = str(folder / 'gains.npz')
        made = build(simulator.model, [cases[0].motion.knots], tolerance=float('inf'))
        save_bank(made, simulator.model, bank)
    rotors = folder / 'overlay.json'
    rotors.write_text(overlay(robot.effort_limit))
    nodes = node_parameters(simulator, robot.robot, rotors, robot.realtime, bank)
    parameters = folder / 'parameters.yaml'
    parameters.write_text(
        json.dumps({name: {'ros__parameters': values} for name, values in nodes.items()})
    )
    environment = {**discovery(), 'OPENBLAS_NUM_THREADS': '1'}
    name, named = simulator.model.name, ', '.join(robot.cases)
    print(f'\n{name}, seed {robot.seed}, feet {robot.feet}: {named}', flush=True)
    servers = [
        Child(
            program,
            MODULES[program],
            ['--ros-args', '--params-file', str(parameters)],
            environment,
        )
        for program in nodes
    ]
    valued = ('robot', 'feet', 'seed', 'pushes', 'noise', 'delay', 'friction')
    given = [f'--{option}={getattr(robot, option)}' for option in valued]
    for option, value in (('height', robot.height), ('effort-limit', robot.effort_limit)):
        given += [] if value is None else [f'--{option}={value!r}']
    given += ['--cases', *robot.cases]
    flags = ('thorough', 'realtime', 'scheduled')
    given += [f'--{option}' for option in flags if getattr(robot, option)]
    given.append(f'--output={folder}')
    simulator_process = Child('simulator', 'geolin_demos.balance.robot', given, environment)
    return supervise('balance', servers, simulator_process, stop)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog='python -m geolin_demos.balance', description=__doc__)
    add_robot_arguments(parser)
    parser.add_argument('--also', nargs='*', help='URDF paths of more robots')
    parser.add_argument(
        '--skip-largest',
        action='store_true',
        help='do not look for the largest impulses, which takes longest',
    )
    parser.add_argument('--table', type=Path, help='file for the table, in Markdown')
    parser.add_argument(
        '--output', type=Path, default=Path('geolin_balance.png'), help='picture (%(default)s)'
    )
    return parser.parse_args(arguments)


if __name__ == '__main__':
    sys.exit(main())
