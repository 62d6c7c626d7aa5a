# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The documented consumer: simulator, linearizer and example as three processes over DDS."""

import contextlib
import os
import re
import signal
import subprocess
import sys

import pytest
from support.environment import ROOT, own_domain, with_checkout
from support.processes import Program
from support.robots import example_robot

pytest.importorskip('mujoco')
pytest.importorskip('rclpy')
pytest.importorskip('geolin_msgs.msg')

EXAMPLE = ROOT / 'examples' / 'lqr_consumer.py'
FEET = 'FL_foot,FR_foot,RL_foot,RR_foot'


@pytest.mark.parametrize(
    ('name', 'pushes'), [('go2', 1), pytest.param('b1', 3, marks=pytest.mark.soak)]
)
def test_example__keeps_a_robot_standing_that_is_pushed(name, pushes, tmp_path):
    """Of 15 and 56 kg."""
    rotors = tmp_path / 'rotors.yaml'
    rotors.write_text("joints: {'*': {rotor_inertia: 0.01, gear_ratio: 1.0}}\n")
    parameters = {
        'overlay_file': str(rotors),
        'contact_source': 'topic',
        'admissible_basis': 'true',
        'mass_matrix': 'true',
    }
    given = [word for name, value in parameters.items() for word in ('-p', f'{name}:={value}')]
    nodes = [['-m', 'geolin_ros.ros.linearizer', '--ros-args', *given], [str(EXAMPLE)]]
    robot = ['-m', 'geolin_demos.balance.robot', '--robot', str(example_robot(name))]
    robot += ['--feet', FEET, '--cases', '4 feet', '--pushes', str(pushes)]
    robot += ['--period', '0.005', '--answers']
    with contextlib.ExitStack() as running:
        domain = running.enter_context(own_domain())
        environment = with_checkout(os.environ | {'ROS_DOMAIN_ID': str(domain)})
        environment['OPENBLAS_NUM_THREADS'] = '1'
        for arguments in nodes:
            log = running.enter_context((tmp_path / f'{len(arguments)}.txt').open('w'))
            process = Program(
                [sys.executable, *arguments], env=environment, cwd=ROOT, stdout=log, stderr=log
            )
            running.callback(process.wait)
            running.callback(process.send_signal, signal.SIGINT)
        said = subprocess.run(
            [sys.executable, *robot], env=environment, cwd=ROOT, capture_output=True, text=True
        )
    logs = [file.read_text() for file in tmp_path.glob('*.txt')]
    assert said.returncode == 0, [said.stdout, said.stderr, *logs]
    assert re.search(r'^PASS  4 feet, J 0.06 s: stands', said.stdout, re.MULTILINE), said.stdout
