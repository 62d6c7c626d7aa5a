# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From a state to its effort: the controller in C++ beside the linearizer and LQR nodes.

The same simulated quadruped, pushed, against the clock; it says when a state was sent and when the
efforts that answer it were there. States go to examples/cpp_controller through shared memory, to
the nodes over DDS. What the nodes do not answer within a period counts as more than that; late
efforts of the program are timed. In lock step each state waits for its efforts.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from geolin_demos.balance.robots import MODULES, node_parameters, simulator_of
from geolin_demos.demo.__main__ import as_arguments, discovery
from geolin_demos.demo.processes import Child

from benchmarks.measure import environment
from examples.cpp_controller import simulator
from geolin_ros.typing import Array

EXAMPLE = Path(__file__).parents[1] / 'examples/cpp_controller'
LOCK_STEP = 1000.0  # [Hz] of the robot's time
PERCENTILES = (50.0, 99.0, 99.9, 100.0)


def main() -> int:
    """Measure, print the table, write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--rates', nargs='*', type=float, default=[500.0, 1000.0], help='[Hz]')
    parser.add_argument('--pushes', type=int, default=8, help='one every 2 s')
    parser.add_argument('--json', type=Path, help='file to write')
    options = parser.parse_args()
    names = ''.join(f'{f"p{p:g}" if p < 100.0 else "max":>9}' for p in PERCENTILES)
    print(f'{"":28}{names}   [us]')
    rows: list[dict[str, Any]] = []
    for rate in (0.0, *options.rates):
        for what, measure in (('C++, shared memory', of_program), ('two nodes, DDS', of_nodes)):
            with tempfile.TemporaryDirectory(prefix='geolin-latency-') as folder:
                latencies, missed = measure(Path(folder), rate, options.pushes)
            found = 1e6 * np.percentile(latencies, PERCENTILES, method='higher')
            late = f'>{1e6 / (rate or LOCK_STEP):.0f}'
            pace = f'{rate:.0f} Hz' if rate else 'lock step'
            figures = ''.join(f'{f"{us:.0f}" if us < np.inf else late:>9}' for us in found)
            print(
                f'{pace:9} {what:18}{figures}   {len(latencies)} states, {missed} periods '
                f'missed, load {os.getloadavg()[0]:.1f}',
                flush=True,
            )
            us = [value if value < np.inf else None for value in found.tolist()]
            rows.append(
                {'rate': rate, 'what': what, 'us': us, 'n': len(latencies), 'missed': missed}
            )
    if options.json is not None:
        text = json.dumps({'environment': environment(), 'rows': rows}, indent=2)
        options.json.write_text(f'{text}\n')
    return 0


def paced(rate: float, pushes: int) -> list[str]:
    """Return options of both simulators."""
    period = f'--period={1.0 / (rate or LOCK_STEP)!r}'
    return [period, f'--pushes={pushes}', *(['--realtime'] if rate else [])]


def of_program(folder: Path, rate: float, pushes: int) -> tuple[Array, int]:
    """Return latencies [s] of the program, and how many periods it missed."""
    period = 1.0 / (rate or LOCK_STEP)
    geolin = f'-DGEOLIN={Path(sys.executable).with_name("geolin")}'
    for words in (
        ('-S', EXAMPLE, '-B', folder, geolin, f'-DPERIOD={period!r}'),
        ('--build', folder),
    ):
        subprocess.run(['cmake', *words], check=True, capture_output=True)
    words = [str(folder / 'controller'), *paced(rate, pushes)]
    _, program = simulator.run(simulator.parse(words))
    return np.array(program.latencies[1:]), program.missed  # the first waits for its start


def of_nodes(folder: Path, rate: float, pushes: int) -> tuple[Array, int]:
    """Return latencies [s] of the nodes, and how many periods they missed."""
    nodes = node_parameters(simulator_of('quadruped'), 'quadruped', rate > 0.0)
    around = {**discovery(), 'OPENBLAS_NUM_THREADS': '1'}
    servers = [
        Child(name, MODULES[name], as_arguments(given), around) for name, given in nodes.items()
    ]
    asked = ['--robot=quadruped', *paced(rate, pushes), f'--output={folder}']
    asked += ['--cases', '4 feet']
    robot_process = Child('simulator', 'geolin_demos.balance.robot', asked, around)
    try:
        while robot_process.status is None and all(server.status is None for server in servers):
            time.sleep(0.1)
    finally:
        for child in (robot_process, *servers):
            child.interrupt(mute=True)
            child.finish()
    outcome = json.loads((folder / '0.json').read_text())
    missed = int(outcome['missed'])
    return np.append(np.load(folder / '0.npz')['latencies'], np.full(missed, np.inf)), missed


if __name__ == '__main__':
    sys.exit(main())
