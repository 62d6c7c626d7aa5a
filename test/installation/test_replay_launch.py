# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""replay.launch.py: a bag is answered, and its answers are recorded, from the first on."""

import sys

import pytest
from support.installation import NOT_HERE

if sys.version_info < (3, 11):
    pytest.skip('geolin_ros[offline] needs Python 3.11', allow_module_level=True)
pytest.importorskip('launch_ros', reason=NOT_HERE)
pytest.importorskip('ros2launch', reason=NOT_HERE)

from support.bags import Messages, flight, quadruped, write_bag

from geolin_ros import robots
from geolin_ros.offline.recording import Recording

COUNT, RATE = 300, 100


@pytest.fixture(scope='module')
def bag(tmp_path_factory):
    """Three seconds of a flying quadruped."""
    model, _ = quadruped()
    samples = flight(model, COUNT, RATE)
    folder = tmp_path_factory.mktemp('bag') / 'flight'
    return write_bag(folder, Messages(model).of_samples(samples))


def words(bag, output, *more):
    file = f'robot_description_file:={robots.path("quadruped")}'
    return 'geolin_ros', 'replay.launch.py', f'bag:={bag}', f'output:={output}', file, *more


def stamps(folder, topic):
    """Return the stamps of the messages on a topic, which begin with a header."""
    with Recording([folder]) as recording:
        found = [message.header.stamp for message in recording.of_topic(topic)]
    return [stamp.sec * 10**9 + stamp.nanosec for stamp in found]


def test_replay__records_the_answers_from_the_first_joint_state_on(installed, bag, tmp_path):
    output, node = tmp_path / 'out', '/geometry'
    with installed.launch(*words(bag, output, 'name:=geometry')) as launch:
        assert launch.wait() == 0, launch.log
    asked = stamps(bag, '/joint_states')
    assert len(asked) == COUNT
    found = stamps(output, f'{node}/linearization')
    assert found == asked, launch.log
    for topic in ('forward_dynamics', 'summary'):
        assert stamps(output, f'{node}/{topic}') == found, launch.log


def test_bag_without_joint_states__is_refused(installed, tmp_path):
    model, _ = quadruped()
    messages = Messages(model).of_samples(flight(model, 3))
    other = write_bag(tmp_path / 'other', messages, namespace='/elsewhere')
    with installed.launch(*words(other, tmp_path / 'out')) as launch:
        assert launch.wait() == 1, launch.log
    assert 'no /joint_states, which the node would linearize at' in launch.log
    assert '/elsewhere/joint_states, /elsewhere/odom' in launch.log


def test_folder_that_cannot_be__ends_the_launch_at_once(installed, tmp_path):
    with installed.launch(*words(tmp_path / 'nope', tmp_path / 'out')) as launch:
        assert launch.wait() == 1, launch.log
    assert f'bag:={tmp_path}/nope does not exist' in launch.log
    assert 'process started' not in launch.log
