# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How `ros2 launch` of our files ends: at once, with a sentence, with a status."""

import time

import pytest
from support.installation import NOT_HERE
from support.strangers import BIPED

pytest.importorskip('launch_ros', reason=NOT_HERE)
pytest.importorskip('ros2launch', reason=NOT_HERE)

DEMO = 'geolin_demos', 'demo.launch.py'
BALANCE = 'geolin_demos', 'standing.launch.py'
NODE = 'geolin_ros', 'linearization.launch.py'
AT_ONCE = 30.0
"""Limit [s] for what has nothing to wait for, on a busy machine; `demo` waits for 120 s."""


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        ((*DEMO, 'robot:=nope'), "robot 'nope' is not part of the bundled robots"),
        ((*DEMO, 'robot:=nope.urdf'), 'robot:=nope.urdf is not a file'),
        ((*BALANCE, 'robot:=nope'), "robot 'nope' is not part of the bundled robots"),
        ((*NODE, 'parameters:=nope.yaml'), 'parameters:=nope.yaml is not a'),
        (
            (*NODE, 'robot_description_file:=nope.urdf'),
            'robot_description_file:=nope.urdf is not a file',
        ),
    ],
)
def test_argument_that_cannot_be__ends_the_launch_before_anything_starts(
    installed, words, sentence
):
    start = time.monotonic()
    with installed.launch(*words) as launch:
        assert launch.wait() == 1, launch.log
    assert time.monotonic() - start < AT_ONCE
    assert sentence in launch.log
    assert 'process started' not in launch.log


def test_robot_that_ends_early__ends_the_demo(installed, tmp_path):
    (tmp_path / 'broken.urdf').write_text('<robot name="x"><link name="a"/>')
    start = time.monotonic()
    with installed.launch(*DEMO, f'robot:={tmp_path}/broken.urdf') as run:
        assert run.wait() == 1, run.log
    assert time.monotonic() - start < 2 * AT_ONCE
    assert 'robot-1 ended early, with status 1, see above' in run.log
    assert 'no element found' in run.log


def test_check_that_fails__gives_the_demo_its_status(installed):
    words = *DEMO, 'duration:=1.0', 'output:=/nowhere/picture.png'
    with installed.launch(*words) as launch:
        assert launch.wait() == 1, launch.log
    assert '[consumer-3] FAIL  ' in launch.log  # of the picture; on a busy machine of others too
    assert 'consumer-3 ended with status 1, see above' in launch.log


@pytest.mark.parametrize('robot', ['humanoid', 'stranger.xml'])
def test_launch__ends_with_the_status_of_the_demo(robot, installed, tmp_path):
    (tmp_path / 'stranger.xml').write_text(BIPED)
    robot = tmp_path / robot if robot.endswith('.xml') else robot
    words = *DEMO, f'robot:={robot}', 'duration:=2.0', f'output:={tmp_path}/picture.png'
    with installed.launch(*words) as launch:
        status = launch.wait()
    assert status == int('FAIL' in launch.log), launch.log  # on a busy machine answers may be late
    assert 'PASS  A and B of' in launch.log
    assert (tmp_path / 'picture.png').stat().st_size > 1000
