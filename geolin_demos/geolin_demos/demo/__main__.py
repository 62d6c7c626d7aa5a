# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Run a robot, the node and a checking consumer as three processes that talk over DDS.

The robot tumbles in the air, thrown up again every 1.5 s; one with a fixed base moves its joints.
The node linearizes at each of its joint states. The consumer compares A, B and the accelerations
with an independent forward dynamics and with the robot's motion, prints what it finds, and saves a
picture. The exit status is 0 only if every check passes.
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event

from geolin_ros.ros.programs import end_early, stop_on_signals

if __name__ == '__main__':
    end_early('demo', 130)  # while modules are imported

from geolin_tools.urdf_writer import text_of

from geolin_demos.demo.processes import INTERRUPTED, Child, run_reported
from geolin_ros import mjcf
from geolin_ros.errors import UrdfError
from geolin_ros.robots import locate
from geolin_ros.stream.parameters.model_reading import to_text

ARMS = ('panda', 'iiwa', 'gen3_robotiq_2f_85')
"""Known by name, whose root link is bolted down and not called world."""
RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
FIRST_PORT, PORTS = 7400, 250  # UDP ports that DDS gives a domain


def main() -> int:
    """Run the demo; return the exit status."""
    stop = stop_on_signals()
    parser = argparse.ArgumentParser(
        prog='python -m geolin_demos.demo',
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add('--robot', default='quadruped', help='URDF or MJCF path, or a robot by name')
    add('--base', choices=('floating', 'fixed'), help='of the root link, if not that of the file')
    add('--duration', type=float, default=5.0, help='measured time [s]')
    add('--output', type=Path, default=Path('geolin_demo.png'), help='where to save the picture')
    options = parser.parse_args()
    robot = locate(options.robot).resolve()
    read, environment = file_parameter(robot), discovery()
    base = options.base or ('fixed' if options.robot in ARMS else None)
    parameters = read | ({'base': base} if base else {})
    flight = ['--robot', str(robot), *(('--base', base) if base else ())]
    asked = ['--duration', str(options.duration), '--output', str(options.output)]
    asked += ['--robot', str(robot)] if read else []
    print(f'demo of {robot} on ROS_DOMAIN_ID {environment["ROS_DOMAIN_ID"]}', flush=True)
    servers = [
        Child('robot', 'geolin_demos.demo.robot', flight, environment),
        Child('linearizer', 'geolin_ros.ros.linearizer', as_arguments(parameters), environment),
    ]
    consumer = Child('consumer', 'geolin_demos.demo.consumer', asked, environment, prefix=False)
    return supervise('demo', servers, consumer, stop)


def supervise(program: str, servers: list[Child], consumer: Child, stop: Event) -> int:
    """Wait for the consumer, then end the others; return the exit status of all.

    ``program`` opens each sentence.
    """
    children = (consumer, *servers)  # the robot before the node, which then has nothing to do
    while not stop.is_set() and all(child.status is None for child in children):
        time.sleep(0.1)
    early = [server.name for server in servers if server.status is not None]
    statuses = {}
    for child in children:
        child.interrupt(mute=bool(early) or stop.is_set())
        statuses[child.name] = child.finish()
    if stop.is_set():
        print(f'{program}: interrupted', file=sys.stderr)
        return INTERRUPTED
    failed = dict.fromkeys(early, 'early') or {
        name: f'with exit status {status}'
        for name, status in statuses.items()
        if status not in (0, INTERRUPTED)  # as of a node that was starting
    }
    for name, how in failed.items():
        print(f'{program}: {name} ended {how}, see above', file=sys.stderr)
    return int(bool(failed))


def as_arguments(parameters: Mapping[str, object]) -> list[str]:
    """Return the arguments that give a node its parameters."""
    given = [f'{name}:={json.dumps(value)}' for name, value in parameters.items()]
    return ['--ros-args', *(word for text in given for word in ('-p', text))] if given else []


def discovery() -> Mapping[str, str]:
    """Return a domain of our own on this machine, unless the user has chosen one."""
    return {
        'ROS_DOMAIN_ID': os.environ.get('ROS_DOMAIN_ID') or str(_free_domain()),
        RANGE: os.environ.get(RANGE) or 'LOCALHOST',
    }


def published(path: Path) -> str:
    """Return what a robot publishes as its description; nothing if no URDF can say it.

    Nodes take no MJCF from the network, because reading it opens files.
    """
    if not mjcf.is_mjcf(path):
        return to_text(path)
    try:
        return text_of(mjcf.read(path).description, mjcf.read_shapes(path))
    except UrdfError:
        return ''


def file_parameter(path: Path) -> dict[str, str]:
    """Return the parameter of nodes that lets them read what is not published."""
    return {'robot_description_file': str(path.resolve())} if mjcf.is_mjcf(path) else {}


def _free_domain() -> int:
    """Return a domain, any of 1 to 101, whose ports no other process of this machine has."""
    sockets = Path('/proc/net/udp')
    lines = sockets.read_text().splitlines()[1:] if sockets.exists() else []
    ports = {int(line.split()[1].rpartition(':')[2], 16) for line in lines}
    used = {(port - FIRST_PORT) // PORTS for port in ports}
    domains = random.sample(range(1, 102), 101)
    return next((domain for domain in domains if domain not in used), domains[0])


if __name__ == '__main__':
    sys.exit(run_reported('demo', main))
