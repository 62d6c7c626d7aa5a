# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Let robots balance: simulator, linearizer and LQR node as three processes that talk over DDS.

Each robot is pushed, lifts a foot or squats, in lock step unless --realtime is given. Beside it PD
with gravity compensation does the same in one process, and both are pushed harder until they
fall. Prints a table, saves a picture, and exits with 1 if a robot fell that must stand.
"""

import argparse
import json
import sys
import tempfile
from itertools import product
from pathlib import Path
from threading import Event

from geolin_ros.ros.programs import end_early, stop_on_signals

if __name__ == '__main__':
    end_early('balance', 130)  # while modules are imported

from geolin_demos.balance.baseline import compare, draw, markdown
from geolin_demos.balance.robots import (
    BUNDLED,
    INFEASIBLE,
    MODULES,
    add_robot_arguments,
    node_parameters,
    simulator_of,
)
from geolin_demos.demo.__main__ import as_arguments, discovery, supervise
from geolin_demos.demo.processes import INTERRUPTED, Child, run_reported
from geolin_ros.robots import locate
from geolin_ros.stream.compiling import compile_line


def main() -> int:
    """Run all cases of all robots; return the exit status."""
    stop = stop_on_signals()
    options = parse(None)
    names = [options.robot] if options.robot else [*BUNDLED, *options.also]
    seeds = range(options.seed, options.seed + options.seeds)
    jobs, infeasible, failed = [], [], False
    with (
        tempfile.TemporaryDirectory(prefix='geolin-balance-') as temporary,
        compile_line('balance'),
    ):
        for index, (name, seed) in enumerate(product(names, seeds)):
            path = str(locate(name).resolve())
            robot = argparse.Namespace(**vars(options) | {'seed': seed, 'robot': path})
            folder = Path(temporary, str(index))
            folder.mkdir()
            failed |= run_robot(robot, folder, stop) != 0
            jobs += [(robot, file) for file in sorted(folder.glob('[0-9]*.json'))]
            refused = folder / INFEASIBLE
            reasons = json.loads(refused.read_text()) if refused.exists() else {}
            infeasible += [f'{Path(name).stem}, {case}: {why}' for case, why in reasons.items()]
            if stop.is_set():
                return INTERRUPTED
        rows = compare(jobs, stop, not options.skip_largest) if jobs else []
        if stop.is_set():
            return INTERRUPTED
    text = markdown(rows, infeasible)
    print(f'\n{"FAIL" if failed else "PASS"}  {text}', flush=True)
    if rows:
        draw(rows, options.output)
        print(f'picture   {options.output}', flush=True)
    if options.table:
        options.table.write_text(text)
    return int(failed)


def run_robot(robot: argparse.Namespace, folder: Path, stop: Event) -> int:
    """Run the three processes for one robot; return the exit status of all.

    Raises `GeolinError` if the robot or its feet cannot be used; `OSError` if the file cannot be
    read.
    """
    simulator = simulator_of(robot.robot, robot.feet, robot.effort_limit, robot.friction)
    environment = {**discovery(), 'OPENBLAS_NUM_THREADS': '1'}
    print(f'\n{simulator.model.name}, seed {robot.seed}', flush=True)
    nodes = node_parameters(simulator, robot.robot, robot.realtime, robot.effort_limit)
    servers = [
        Child(name, MODULES[name], as_arguments(values), environment)
        for name, values in nodes.items()
    ]
    valued = ['robot', 'feet', 'seed', 'pushes', 'noise', 'delay', 'height']
    valued += ['effort_limit', 'friction']
    words = [f'--output={folder}', *(['--realtime'] if robot.realtime else [])]
    words += [
        f'--{name.replace("_", "-")}={value}'
        for name in valued
        if (value := getattr(robot, name)) is not None
    ]
    words += ['--cases', *robot.cases] if robot.cases else []
    child = Child('simulator', 'geolin_demos.balance.robot', words, environment)
    return supervise('balance', servers, child, stop)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog='python -m geolin_demos.balance', description=__doc__)
    add_robot_arguments(parser)
    add = parser.add_argument
    add('--seeds', type=int, default=1, help='how many, from --seed on (%(default)s)')
    add('--also', nargs='*', default=[], help='URDF paths of more robots')
    add('--skip-largest', action='store_true', help='no search for the largest impulses: slow')
    add('--table', type=Path, help='file for the table, in Markdown')
    add('--output', type=Path, default=Path('geolin_balance.png'), help='picture (%(default)s)')
    return parser.parse_args(arguments)


if __name__ == '__main__':
    sys.exit(run_reported('balance', main))
