# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node at 500 Hz for ten minutes: it lives, it answers, and it does not grow.

``python -m pytest -m soak --evidence test/demo/test_soak.py`` writes docs/evidence/faults.md;
GEOLIN_SOAK_SECONDS makes it shorter.
"""

import os
import time
from pathlib import Path

import pytest
from geolin_demos.demo.processes import Child
from support.fault_stage import Footprint

from geolin_ros import robots
from tools import evidence

SECONDS = min(600.0, float(os.environ.get('GEOLIN_SOAK_SECONDS', 'inf')))
WARM = 0.1 * SECONDS
MOST_GROWTH = 4 * 1024  # kB


@pytest.mark.soak
@pytest.mark.ros
@pytest.mark.skipif(not Path('/proc/self/status').exists(), reason='needs /proc')
def test_node__does_not_grow(evidence_folder):
    path = str(robots.path('humanoid'))
    domain = {'ROS_DOMAIN_ID': os.environ['ROS_DOMAIN_ID']}
    robot = Child('robot', 'geolin_demos.demo.robot', ['--robot', path], domain)
    node = Child('node', 'geolin_ros.ros.linearizer', [], domain)
    sizes = []
    start = time.monotonic()
    try:
        while time.monotonic() - start < SECONDS:
            time.sleep(5.0)
            assert node.status is None
            assert robot.status is None
            if time.monotonic() - start > WARM:
                sizes.append(Footprint.of(node.pid).kilobytes)
    finally:
        robot.interrupt(mute=True)
        robot.finish()
        node.interrupt(mute=False)
        status = node.finish()
    assert status == 0
    grown = max(sizes) - sizes[0]
    if evidence_folder is not None:
        rows = (f'after {WARM:g} s', sizes[0]), ('most after that', max(sizes)), ('grown', grown)
        text = (
            f'Resident memory of the linearizer, {SECONDS:g} s of the humanoid at 500 Hz, '
            f'{len(sizes)} samples.'
        )
        lines = evidence.table(('', 'kB'), rows)
        evidence.write(evidence_folder / 'faults.md', 'Memory', text, lines)
    assert grown < MOST_GROWTH, sizes
