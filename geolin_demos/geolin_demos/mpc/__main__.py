# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A quadruped under model predictive control: simulator, linearizer, controller over DDS.

The exit status is 0 if the base shifts and comes back near its reference, the robot bears its
pushes, and 99 of 100 problems are solved within a period.
"""

import argparse
import json
import signal
import sys
import tempfile
from pathlib import Path
from threading import Event

from geolin_demos.balance.robots import ARMATURE, overlay
from geolin_demos.demo.__main__ import discovery, supervise
from geolin_demos.demo.processes import Child
from geolin_demos.mpc.controller import Settings
from geolin_demos.mpc.robot import add_arguments


def main(arguments: list[str]) -> int:
    """Run the three processes; return the exit status of all."""
    parser = argparse.ArgumentParser(prog='python -m geolin_demos.mpc', description=__doc__)
    add_arguments(parser)
    parser.parse_args(arguments)  # before anything is started
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    environment = {**discovery(), 'OPENBLAS_NUM_THREADS': '1'}
    with tempfile.TemporaryDirectory(prefix='geolin-mpc-') as folder:
        rotors = Path(folder) / 'overlay.json'
        rotors.write_text(overlay(ARMATURE))
        parameters = {
            'overlay_file': str(rotors),
            'contact_source': 'topic',
            'form': 'discrete',
            'method': 'zoh',
            'dt': Settings().period,
            'reference': 'frozen',
        }
        given = [f'{name}:={json.dumps(value)}' for name, value in parameters.items()]
        ros = ['--ros-args', *(word for text in given for word in ('-p', text))]
        servers = [
            Child('linearizer', 'geolin_ros.ros.linearization_node', ros, environment),
            Child('mpc', 'geolin_demos.mpc.node', [f'--overlay={rotors}'], environment),
        ]
        robot = Child('robot', 'geolin_demos.mpc.robot', arguments, environment)
        return supervise('mpc', servers, robot, stop)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
