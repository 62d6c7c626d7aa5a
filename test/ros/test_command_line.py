# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node's program does with arguments that are not those of ROS."""

import subprocess
import sys
from xml.etree.ElementTree import fromstring

import pytest
from support.ros_graph import ROOT, START

from geolin_ros.stream.parameters.tables import NODES

OF_ALL_NODES = {'/clock', '/parameter_events', '/rosout', '~/transition_event'}


def run(node, *arguments):
    command = [sys.executable, '-m', f'geolin_ros.ros.{node}', *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=START, cwd=ROOT)


@pytest.mark.parametrize('node', NODES)
def test_help__says_topics_and_where_parameters_are(node):
    said = run(node, '--help', '--ros-args', '-p', 'autostart:=false')
    assert said.returncode == 0, said.stderr
    assert not said.stderr
    policy = fromstring((ROOT / 'config' / 'security' / f'{node}.policy.xml').read_text())
    topics = {topic.text for topic in policy.iter('topic')} - OF_ALL_NODES
    words = said.stdout.replace(',', ' ').replace(';', ' ').split()
    assert topics <= set(words)
    assert f'geolin parameters {node}' in said.stdout


def test_argument_that_is_none__ends_the_program():
    said = run('linearizer', 'robot.urdf')
    assert said.returncode == 2
    assert 'unrecognized arguments: robot.urdf' in said.stderr
    assert '--ros-args' in said.stderr


def test_arguments_of_ros__are_left_to_it():
    said = run('lqr_node', '--ros-args', '-p', 'supports')
    assert said.returncode == 1
    assert 'lqr_node: ' in said.stderr
    assert '-p supports' in said.stderr


@pytest.mark.parametrize(
    ('package', 'fix'),
    [('rclpy', 'source its setup.bash'), ('geolin_msgs', '`colcon build` in the workspace')],
)
def test_node_without_ros__says_what_is_missing(package, fix):
    program = (
        'import sys\n'
        f'sys.modules["{package}"] = None  # as if it were not installed\n'
        'from geolin_ros.ros.programs import linearizer\n'
        'sys.exit(linearizer())\n'
    )
    said = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, timeout=START, cwd=ROOT
    )
    assert said.returncode == 1
    assert said.stderr.startswith(f'linearizer: package {package} is not installed, expected ')
    assert fix in said.stderr
    assert said.stderr.count('\n') == 1


def test_estimator_without_feet__ends_with_a_sentence():
    said = run('state_estimator')
    assert said.returncode == 1
    assert 'parameter contacts is empty, expected the feet' in said.stderr
    assert 'Traceback' not in said.stderr
