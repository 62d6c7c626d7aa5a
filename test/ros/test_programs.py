# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs of nodes: arguments that are not those of ROS, and what they leave behind."""

import os
import subprocess
import sys
from xml.etree.ElementTree import fromstring

import pytest
from support.environment import PROGRAMS, ROOT
from support.ros_graph import START, Process, left_behind

from geolin_ros import robots

OF_ALL_NODES = {'/clock', '/parameter_events', '/rosout', '~/transition_event'}


@pytest.mark.parametrize('node', PROGRAMS)
def test_help__says_topics_and_where_parameters_are(node, graph, tmp_path):
    process = Process(tmp_path, arguments=('--', '--help'), module=node, forked=True)
    assert process.wait(START) == 0, process.log
    assert process.log.startswith('usage: ')
    policy = fromstring((ROOT / 'config' / 'security' / f'{node}.policy.xml').read_text())
    topics = {topic.text for topic in policy.iter('topic')} - OF_ALL_NODES
    words = process.log.replace(',', ' ').replace(';', ' ').split()
    assert topics <= set(words)
    assert f'geolin parameters {node}' in process.log


@pytest.mark.parametrize(
    ('node', 'arguments', 'status', 'says'),
    [
        ('linearizer', ('--', 'robot.urdf'), 2, ('unrecognized arguments: robot.urdf', '--ros')),
        ('lqr_node', ('-p', 'supports'), 1, ('lqr_node: ', '-p supports')),
        ('state_estimator', (), 1, ('parameter contacts is empty, expected the feet',)),
    ],
)
def test_program_that_cannot_start__ends_with_a_sentence(
    node, arguments, status, says, graph, tmp_path
):
    process = Process(tmp_path, arguments=arguments, module=node, forked=True)
    assert process.wait(START) == status, process.log
    for words in says:
        assert words in process.log
    assert 'Traceback' not in process.log


@pytest.mark.parametrize(
    ('package', 'fix'),
    [
        ('rclpy', 'source its setup.bash'),
        ('geolin_msgs', '`colcon build` in the workspace'),
        ('geolin_ros.ros.running', ''),
    ],
)
def test_node_without_ros__says_what_is_missing(package, fix):
    program = (
        'import sys\n'
        f'sys.modules["{package}"] = None  # as if it were not installed\n'
        'from geolin_control.programs import lqr_node\n'
        'sys.exit(lqr_node())\n'
    )
    said = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, timeout=START, cwd=ROOT
    )
    assert said.returncode == 1
    if not fix:  # a broken installation is no missing ROS
        assert f'import of {package} halted' in said.stderr
        return
    assert said.stderr.startswith(f'lqr_node: package {package} is not installed, expected ')
    assert fix in said.stderr
    assert said.stderr.count('\n') == 1


LEAVING = 10.0
"""Deadline [s]; a participant that was never destroyed stays for 20 s."""


def test_ended_node__is_not_listed_and_leaves_no_file(graph, tmp_path):
    others, place = set(os.listdir('/dev/shm')), f'/exits{os.getpid()}'
    given = {'robot_description_file': str(robots.path('quadruped'))}
    process = Process(tmp_path, given, place)
    try:
        graph.wait_for(lambda: 'serve quadruped' in process.log, START, process)
        graph.wait_for(lambda: graph.listed(f'{place}/linearizer'), START, process)
        used = process.shared_memory() - others
        assert used, 'no shared memory is used: nothing could be left'
        process.stop()
        graph.wait_for(lambda: not graph.listed(f'{place}/linearizer'), LEAVING)
        graph.wait_for(lambda: not left_behind(used), LEAVING)  # the test's node closes ports too
    finally:
        process.end()
