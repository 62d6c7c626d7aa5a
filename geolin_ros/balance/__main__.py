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
import signal
import sys
import tempfile
from pathlib import Path
from threading import Event

from geolin_ros.balance.baseline import compare
from geolin_ros.balance.picture import draw
from geolin_ros.balance.report import Row, verdict
from geolin_ros.balance.robots import ARMATURE, FEET, overlay, simulator_of
from geolin_ros.demo.__main__ import INTERRUPTED, discovery, supervise
from geolin_ros.demo.locate import locate
from geolin_ros.demo.processes import Child
from geolin_ros.errors import GeolinError
from geolin_ros.sim.feet import text_of

BUNDLED = ('quadruped', 'humanoid')
SEEDS = 3


def main(arguments: list[str] | None = None) -> int:
    """Run all cases of all robots; return the exit status."""
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    options = parse(arguments)
    rows: list[Row] = []
    failed = False
    try:
        for name, feet in robots(options):
            for seed in range(SEEDS if options.thorough else 1):
                robot = argparse.Namespace(**{**vars(options), 'robot': name, 'feet': feet})
                with tempfile.TemporaryDirectory(prefix='geolin-balance-') as folder:
                    status = run_robot(robot, seed + options.seed, Path(folder), stop)
                    if stop.is_set():
                        return INTERRUPTED
                    failed |= status != 0
                    rows += compare(robot, seed + options.seed, Path(folder))
    except (GeolinError, OSError) as error:
        print(f'balance: {error}', file=sys.stderr)
        return 1
    if rows:
        draw(rows, options.output)
        print(f'picture   {options.output}', flush=True)
    return int(failed or not verdict(rows))


def robots(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return name or path, and feet, of the robots that are asked for.

    Raises
    ------
    GeolinError
        If a robot is unknown, or a foot of it is.
    """
    names = [options.robot] if options.robot else [*BUNDLED, *(options.also or ())]
    found = []
    for name in names:
        path = locate(name)
        feet = options.feet or FEET.get(path.stem)
        if feet is None:
            raise GeolinError(f'robot {name!r} has no feet that are known, give FEET=frame,...')
        found.append((str(path.resolve()), feet))
    return found


def run_robot(robot: argparse.Namespace, seed: int, folder: Path, stop: Event) -> int:
    """Run the three processes for one robot; return the exit status of all."""
    simulator, _ = simulator_of(robot)
    supports = [text_of(support) for support in simulator.feet.values()]
    (folder / 'overlay.json').write_text(overlay(robot.armature))
    parameters = folder / 'parameters.yaml'
    shared = {'overlay_file': str(folder / 'overlay.json')}
    regulator = {
        'supports': supports,
        'publish_efforts': True,
        'input_timeout': 0.05 if robot.realtime else 5.0,
    }
    nodes = {'linearization_node': shared, 'lqr_node': shared | regulator}
    parameters.write_text(
        json.dumps({name: {'ros__parameters': values} for name, values in nodes.items()})
    )
    environment = {**discovery(), 'OPENBLAS_NUM_THREADS': '1'}
    name = simulator.model.name
    print(f'\n{name}, seed {seed}, feet {", ".join(supports)}', flush=True)
    servers = [
        Child(
            program,
            f'geolin_ros.ros.{program}',
            ['--ros-args', '--params-file', str(parameters)],
            environment,
        )
        for program in nodes
    ]
    given = ['--robot', robot.robot, '--feet', robot.feet, '--output', str(folder)]
    given += ['--seed', str(seed), '--noise', str(robot.noise), '--delay', str(robot.delay)]
    given += ['--armature', str(robot.armature), '--friction', str(robot.friction)]
    given += ['--thorough'] if robot.thorough else []
    given += ['--realtime'] if robot.realtime else []
    simulator_process = Child('simulator', 'geolin_ros.balance.robot', given, environment)
    return supervise(servers, simulator_process, stop)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog='python -m geolin_ros.balance', description=__doc__)
    parser.add_argument('--robot', help='URDF path, by default both bundled robots')
    parser.add_argument('--also', nargs='*', help='URDF paths of more robots')
    parser.add_argument('--feet', help='frame,frame,...: of a robot that is not known by name')
    parser.add_argument('--thorough', action='store_true', help='more pushes, three seeds')
    parser.add_argument('--seed', type=int, default=0, help='of the pushes (%(default)s)')
    parser.add_argument('--realtime', action='store_true', help='against the clock')
    parser.add_argument('--noise', type=float, default=0.0, help='of sensed velocities [m/s]')
    parser.add_argument('--delay', type=int, default=0, help='of the sensors, in periods')
    parser.add_argument('--armature', type=float, default=ARMATURE, help='of joints [kg m^2]')
    parser.add_argument('--friction', type=float, default=0.8, help='of the floor')
    parser.add_argument(
        '--output', type=Path, default=Path('geolin_balance.png'), help='picture (%(default)s)'
    )
    return parser.parse_args(arguments)


if __name__ == '__main__':
    sys.exit(main())
