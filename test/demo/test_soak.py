# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node at 500 Hz for ten minutes: it lives, it answers, and it does not grow.

``python -m pytest -m soak -s test/demo/test_soak.py``; GEOLIN_SOAK_SECONDS makes it shorter.
"""

import os
import sys
import time
from pathlib import Path

import pytest

from geolin_ros import robots
from geolin_ros.demo.processes import Child

SECONDS = min(600.0, float(os.environ.get('GEOLIN_SOAK_SECONDS', 'inf')))
WARM = 0.1 * SECONDS
MOST_GROWTH = 4 * 1024  # kB


def resident_kilobytes(pid):
    status = Path(f'/proc/{pid}/status').read_text()
    return int(next(line for line in status.splitlines() if line.startswith('VmRSS')).split()[1])


@pytest.mark.soak
@pytest.mark.ros
@pytest.mark.skipif(not Path('/proc/self/status').exists(), reason='needs /proc')
def test_node__does_not_grow():
    pytest.importorskip('geolin_msgs.msg')
    path = str(robots.path('humanoid'))
    domain = {'ROS_DOMAIN_ID': os.environ['ROS_DOMAIN_ID']}
    robot = Child('robot', 'geolin_ros.demo.robot', ['--robot', path], domain)
    node = Child('node', 'geolin_ros.ros.linearization_node', [], domain)
    sizes = []
    start = time.monotonic()
    try:
        while time.monotonic() - start < SECONDS:
            time.sleep(5.0)
            assert node.status is None
            assert robot.status is None
            if time.monotonic() - start > WARM:
                sizes.append(resident_kilobytes(node.pid))
    finally:
        robot.interrupt(mute=True)
        robot.finish()
        node.interrupt(mute=False)
        status = node.finish()
    assert status == 0
    grown = max(sizes) - sizes[0]
    sys.stdout.write(f'{grown} kB more than the {sizes[0]} kB after {WARM:g} s\n')
    assert grown < MOST_GROWTH, sizes
