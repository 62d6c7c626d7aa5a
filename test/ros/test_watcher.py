# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `geolin view` hears of a running node."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from geolin_tools.view.live import Live, Watcher
from geolin_tools.view.page import Page
from support.environment import with_checkout
from support.processes import Program
from support.ros_graph import START

from geolin_ros import TreeModel, robots
from geolin_ros.stream.outputs.reading import read_linearization


@pytest.fixture
def watcher_of():
    """Return a function that watches a node."""
    found = []

    def watch(node):
        topics = ('joint_states', 'odom', 'robot_description', 'push')
        found.append(Watcher(node.node_name, [f'{name}:={node.topic(name)}' for name in topics]))
        return found[-1]

    yield watch
    for one in found:
        one.close()


@pytest.fixture
def watcher(robot, watcher_of):
    return watcher_of(robot)


def live_of(robot, watcher, path=robots.path('quadruped')):  # noqa: B008
    """Return the source as soon as it has heard the node, which is asked meanwhile."""
    deadline = time.monotonic() + 60.0

    def ask():
        robot.ask()
        return time.monotonic() > deadline

    found = Live.wait_for(watcher, path, None, lambda words: None, ask)
    assert found is not None
    return found


def test_newest_linearization__is_what_is_shown(robot, watcher):
    live = live_of(robot, watcher)
    assert live.model.joint_names == robot.model.joint_names
    expected = read_linearization(robot.ask())

    def shown():
        instant = live.newest()
        is_whole = instant is not None and instant.A is not None  # A and B come 10 times a second
        return is_whole and np.array_equal(instant.A, expected.A) and instant

    instant = robot.wait_for(shown)
    assert instant.time == expected.stamp * 1e-9
    np.testing.assert_array_equal(instant.B, expected.B)
    np.testing.assert_array_equal(instant.state.data, expected.state.data)


def test_view_of_a_node__serves_its_page(robot, tmp_path):
    log = tmp_path / 'log.txt'
    with log.open('w') as out:
        words = 'view', '--node', robot.node_name, '--port', '0', '--urdf', 'quadruped'
        topics = (f'--remap={name}:={robot.topic(name)}' for name in ('joint_states', 'odom'))
        program = [Path(sys.executable).with_name('geolin'), *words, *topics]
        view = Program(program, stdout=out, stderr=subprocess.STDOUT, env=with_checkout())

    def found():
        robot.ask()
        assert view.poll() is None, log.read_text()
        return re.search(r'http://127\.0\.0\.1:\d+', log.read_text())

    with urlopen(robot.wait_for(found, START)[0]) as page:
        assert b'<html' in page.read().lower()
    view.send_signal(signal.SIGINT)
    assert view.wait(60.0) == 0, log.read_text()


def test_another_robot__takes_the_page_and_no_mode_stays_chosen(client, watcher_of):
    """The node's description is replaced: bodies, panels and modes are those of the new one."""
    humanoid = TreeModel.from_urdf(robots.path('humanoid'))
    client.describe(robots.path('quadruped').read_text())
    client.serve()  # both ends of its answers know of each other
    live = live_of(client, watcher_of(client), None)
    page = Page(live, port=0)
    try:
        client.ask()
        client.wait_for(lambda: page.step() or page._instant.A.size)
        page._modes.analyse()
        page._modes._choice.value = next(iter(page._modes._modes))
        page.step()
        assert page._modes.posture() is not None

        client.describe(robots.path('humanoid').read_text())
        client.wait_until_serving('humanoid')
        stamp = client.tick()
        names, base = humanoid.joint_names, humanoid.base_link
        joints = client.make_joint_state(stamp, names)
        client.ask(joints, client.make_odometry(stamp, child_frame_id=base))
        client.wait_for(lambda: page.step() or page._model.name == 'humanoid')
        page.step()
        assert page._modes.posture() is None
        assert len(page._scene._bodies) == len(humanoid.body_names)
        np.testing.assert_array_equal(page._instant.state.s, joints.position)
    finally:
        page.close()
