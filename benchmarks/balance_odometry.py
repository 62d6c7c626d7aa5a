# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Let LQR stand on the odometry of the state estimator instead of the truth, pushed harder.

Each case of `python -m geolin_demos.balance`, in one process: the largest impulse that LQR bears
when it knows the state, and when the base is what the state estimator makes of a cheap IMU, joint
positions and foot forces, or joint efforts. The exit status is 1 if it bears less than 0.7 of the
impulse in a case.
"""

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from geolin_demos.balance.baseline import ScheduledLqr, largest_borne, run
from geolin_demos.balance.cases import cases_of
from geolin_demos.balance.robots import BUNDLED, add_robot_arguments, simulator_of
from geolin_demos.sim.simulator import Imu

from benchmarks.simulated_odometry import Odometry
from geolin_ros.errors import GeolinError

SHARE = 0.7
"""Of the largest impulse borne with the truth."""
HEAD = ('robot', 'case', 'largest J, truth', 'by foot forces', 'by joint efforts', 'at least')
TEXT = f"""\
Largest impulse J of m g J [s] that LQR bears in MuJoCo with the true state, and with the base from
the state estimator: an IMU with {Imu().gyro:g} rad/s/sqrt(Hz) and {Imu().accelerometer:g}
m/s^2/sqrt(Hz) of noise and biases of {Imu().gyro_bias:g} rad/s and {Imu().accelerometer_bias:g}
m/s^2 (standard deviations), joint states, and contacts by foot forces or by joint efforts."""


def rows(options: argparse.Namespace) -> Iterator[tuple[str, str, list[float]]]:
    """Yield robot, case, and what is borne with the truth, by forces and by efforts [s]."""
    for name in [options.robot] if options.robot else BUNDLED:
        simulator = simulator_of(name, options.feet, options.effort_limit, options.friction)
        asked = options.cases, options.height, options.pushes, options.seed
        for case in cases_of(simulator, *asked).feasible:
            borne = []
            for sensors in (None, *(partial(Odometry, source=s) for s in ('forces', 'efforts'))):
                first = run(simulator, case, ScheduledLqr, sensors)
                borne.append(largest_borne(simulator, case, ScheduledLqr, first.stands, sensors))
            yield simulator.model.name, case.name, borne


def main(arguments: list[str] | None = None) -> int:
    """Print the table, or write it too; return the exit status."""
    parser = argparse.ArgumentParser(
        prog='python -m benchmarks.balance_odometry', description=__doc__
    )
    add_robot_arguments(parser)
    parser.add_argument('--table', type=Path, help='file for the table, in Markdown')
    options = parser.parse_args(arguments)
    lines = [f'| {" | ".join(cells)} |' for cells in (HEAD, ['---'] * len(HEAD))]
    print(*lines, sep='\n', flush=True)
    bears = True
    try:
        for robot, case, borne in rows(options):
            shares = [x / borne[0] if borne[0] else 0.0 for x in borne[1:]]
            bears &= min(shares) >= SHARE
            cells = [robot, case, *(f'{x:.3f}' for x in borne), f'{min(shares):.2f}']
            lines.append(f'| {" | ".join(cells)} |')
            print(lines[-1], flush=True)
    except (GeolinError, OSError) as error:
        print(f'balance: {error}', file=sys.stderr)
        return 1
    if options.table:
        options.table.write_text('\n'.join([TEXT, '', *lines, '']))
    return int(not bears)


if __name__ == '__main__':
    sys.exit(main())
