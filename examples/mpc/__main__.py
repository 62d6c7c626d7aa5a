# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A quadruped under model predictive control: simulator, linearizer, controller over DDS.

The exit status is 0 if the base shifts and comes back near its reference, the robot bears its
pushes, and 99 of 100 problems are solved within a period.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from geolin_ros.ros.programs import end_early, stop_on_signals

if __name__ == '__main__':
    end_early('mpc', 130)  # while modules are imported

from geolin_demos.balance.robots import overlay
from geolin_demos.demo.__main__ import as_arguments, discovery, file_parameter, supervise
from geolin_demos.demo.processes import Child

from geolin_ros.errors import GeolinError
from geolin_ros.robots import locate
from mpc.controller import Settings
from mpc.robot import add_arguments


def main(arguments: list[str]) -> int:
    """Run the three processes; return the exit status of all."""
    parser = argparse.ArgumentParser(prog='python -m mpc', description=__doc__)
    add_arguments(parser)
    options = parser.parse_args(arguments)  # before anything is started
    try:
        read = file_parameter(locate(options.robot))
    except GeolinError as error:
        print(f'mpc: {error}', file=sys.stderr)
        return 1
    stop = stop_on_signals()
    environment = {**discovery(), 'OPENBLAS_NUM_THREADS': '1'}
    with tempfile.TemporaryDirectory(prefix='geolin-mpc-') as folder:
        rotors = Path(folder) / 'overlay.json'
        rotors.write_text(overlay())
        parameters = {
            **read,
            'overlay_file': str(rotors),
            'contact_source': 'topic',
            'form': 'discrete',
            'method': 'zoh',
            'dt': Settings().period,
            'reference': 'frozen',
        }
        of_file = [f'--robot={file}' for file in read.values()]
        servers = [
            Child(
                'linearizer',
                'geolin_ros.ros.linearizer',
                as_arguments(parameters),
                environment,
            ),
            Child('mpc', 'mpc.node', [f'--overlay={rotors}', *of_file], environment),
        ]
        robot = Child('robot', 'mpc.robot', arguments, environment)
        return supervise('mpc', servers, robot, stop)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
