# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`make walk` as it is run: a robot on the plans of a node, watched as the page does."""

import re
import subprocess
import sys
import time

import numpy as np
import pytest
from support.processes import Program

pytest.importorskip('mujoco')
pytest.importorskip('geolin_msgs.msg')

from geolin_tools.view.live import Live
from geolin_tools.view.watcher import Watcher

PATIENCE = 300.0
OVERLAY = '{joints: {"*": {rotor_inertia: 0.01, gear_ratio: 1.0}}}'


def test_walk__keeps_its_commands_pushed_and_its_plan_is_drawn(ros_domain, tmp_path):
    (tmp_path / 'rotors.yaml').write_text(OVERLAY)
    command = [sys.executable, '-m', 'geolin_demos.walk', '--robot=quadruped', '--legs=2']
    pipe = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT, 'text': True}
    with Program(command, **pipe) as program:
        watcher, end = Watcher('/linearizer'), time.monotonic() + PATIENCE
        try:
            over = lambda: program.poll() is not None or time.monotonic() > end  # noqa: E731
            live = Live.wait_for(watcher, None, tmp_path / 'rotors.yaml', print, over)
            ahead, carried = [], []
            while live is not None and not over():
                watcher.wait(0.05)
                instant = live.newest()
                if instant is None or not instant.paths:
                    continue
                base, *feet = instant.paths
                assert [path.shape for path in (base, *feet)] == [(26, 3)] * 5
                assert np.linalg.norm(base[0] - instant.state.H[:3, 3]) < 0.1
                lowest = min(path[:, 2].min() for path in feet)
                assert (
                    -0.02 < lowest < 0.04
                )  # a ball of 0.02 m; swings aim 0.015 m below the floor
                ahead.append(base[-1, 0] - base[0, 0])
                contacts = [one.force[2] for one in instant.forces if one.is_contact]
                carried.append(sum(contacts) / (9.81 * live.model.total_mass))
        finally:
            watcher.close()
        said = program.communicate(timeout=PATIENCE)[0]
    assert program.returncode == 0, said
    assert re.search(rf'^walk of quadruped on ROS_DOMAIN_ID {ros_domain}$', said, re.M), said
    assert re.search('^PASS  goes forward: ', said, re.M), said
    assert re.search(r'^PASS  4 pushes of J 0.06 s: walks for 5 s', said, re.M), said
    assert 0.8 < np.median(carried) < 1.2
    assert min(ahead) < 0.05  # while it stands
    assert 0.15 < np.median(ahead) < 0.3  # 0.5 m/s for half a second
