# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`geolin view` of the robot of `make balance`, pushed by a button of the page."""

import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from support.browser import PATIENCE, button, click, errors, wait
from support.environment import own_domain
from support.processes import Program
from support.view import serving

pytest.importorskip('mujoco')
pytest.importorskip('rclpy')
pytest.importorskip('geolin_msgs.msg')

from geolin_tools.view.live import PUSH_TIME
from geolin_tools.view.watcher import Watcher

from geolin_ros import TreeModel, robots
from geolin_ros.stream.geometry import read_pose
from geolin_ros.stream.inputs.stamps import nanoseconds

IMPULSE = 0.04
"""Of the slider as it is at the start [m g s]."""
EVERY = 1.0
"""From one click to the next [s]."""
PUSHED = re.compile(r'pushed by (\d+) N from outside at ([\d.]+) s')


@contextmanager
def balancing():
    """Run what `make balance` does with a quadruped on four feet; yield the lines it prints."""
    cases = ('--robot=quadruped', '--cases=4 feet', '--skip-largest', '--thorough')
    process = Program(
        [sys.executable, '-m', 'geolin_demos.balance', *cases],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = []

    def read():
        for line in process.stdout:
            lines.append(line)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield lines
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
    finally:
        process.kill()
        process.wait()
        reader.join()
        process.stdout.close()


class Motion:
    """Velocities of the base to its left [m/s] by stamp [s], as the simulator publishes them."""

    def __init__(self):
        self._watcher, self._over = Watcher('/linearizer'), threading.Event()
        self._samples = []
        self._thread = threading.Thread(target=self._listen)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        self._watcher.close()

    def _listen(self):
        while not self._over.wait(0.001):
            self._watcher.poll()
            odometry = self._watcher.newest.get('odom')
            if odometry is None:
                continue
            stamp = nanoseconds(odometry.header.stamp) * 1e-9
            if not self._samples or stamp != self._samples[-1][0]:
                R, v = read_pose(odometry.pose.pose)[:3, :3], odometry.twist.twist.linear
                left = np.array([-R[1, 0], R[0, 0]]) / np.linalg.norm(R[:2, 0])
                self._samples.append((stamp, float(left @ (R @ (v.x, v.y, v.z))[:2])))

    def change(self, start, end):
        """Return by how much the velocity changes from one time to another; NaN before that."""
        times, velocities = np.array(self._samples).T
        if not times.min() <= start < end <= times.max():
            return np.nan
        return float(np.diff(np.interp((start, end), times, velocities))[0])


@pytest.fixture(scope='module')
def url():
    """The page of the node of `make balance`, which has ended and will be run again."""
    with ExitStack() as stack:
        domain = stack.enter_context(own_domain())  # where no other test had a robot
        stack.enter_context(pytest.MonkeyPatch.context()).setenv('ROS_DOMAIN_ID', str(domain))
        with balancing():
            url = stack.enter_context(serving('--node', '/linearizer'))
        yield url


def test_button__pushes_the_robot_of_make_balance(browser, url):
    browser.set_window_size(500, 400)  # a browser that draws in software leaves time to others
    for patience in (60.0, 60.0, PATIENCE):  # loaded again, as people do
        browser.get(url)
        with suppress(AssertionError if patience < PATIENCE else ()):
            wait(browser, lambda: browser.find_element(By.XPATH, button('left')), patience)
            break
    force = IMPULSE * TreeModel.from_urdf(robots.path('quadruped')).total_mass * 9.81 / PUSH_TIME
    with balancing() as lines, Motion() as motion:
        clicked = 0.0

        def pushes():
            """Return force [N] and change of velocity [m/s] of each push; click if it is time."""
            nonlocal clicked
            if time.monotonic() > clicked + EVERY:
                click(browser, 'left')
                clicked = time.monotonic()
            found = PUSHED.findall(''.join(lines))
            return [(int(N), motion.change(float(t), float(t) + PUSH_TIME)) for N, t in found]

        # In the air the base would change its velocity by the impulse over the mass. The feet and
        # the feedback take most of it; a push of `make balance` itself may come at once.
        wait(
            browser,
            lambda: any(
                round(force) == N and 0.03 < change < 1.2 * IMPULSE * 9.81
                for N, change in pushes()
            ),
        )
    assert errors(browser) == []
