# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A bag played into a node, and its answers recorded, without launch: nothing is lost."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

if sys.version_info < (3, 11):
    pytest.skip('geolin_ros[offline] needs Python 3.11', allow_module_level=True)

from support.bags import START, Messages, flight, quadruped, write_bag
from support.environment import ROOT, with_checkout
from support.processes import Program
from support.ros_graph import Process

from geolin_ros import robots
from geolin_ros.errors import ConfigurationError, GeolinError
from geolin_ros.ros.bag_replay import OUTPUTS, Bag, Report, check, conclude, parameters_of_node

NODE = '/linearizer'
COUNT, RATE = 1500, 500


@pytest.fixture(scope='module')
def bag(tmp_path_factory):
    """Of a robot whose last joint states no odometry follows."""
    model, _ = quadruped()
    samples = flight(model, COUNT, RATE)
    last = samples[-4].stamp
    messages = Messages(model).of_samples(samples)
    messages = (entry for entry in messages if entry[0] != 'odom' or entry[1] < last)
    return write_bag(tmp_path_factory.mktemp('bag') / 'flight', messages)


class Replay:
    """A node and the program that replays a bag into it."""

    def __init__(self, bag, folder, domain, **parameters):
        self.output = folder / 'out'
        values = parameters_of_node(Bag.of(bag), NODE) | parameters
        self.node = Process(
            folder, {'robot_description_file': str(robots.path('quadruped')), **values}
        )
        words = '--node', NODE, '--bag', str(bag), '--output', str(self.output), '--rate', '2'
        self._log = folder / 'replay.txt'
        with self._log.open('w') as log:
            self.process = Program(
                [sys.executable, '-m', 'geolin_ros.ros.bag_replay', *words],
                env=with_checkout(),
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
            )

    @property
    def log(self):
        return self._log.read_text()

    def wait_for(self, text, patience=120.0):
        deadline = time.monotonic() + patience
        while text not in self.log:
            self.node.check_runs()
            assert self.process.poll() is None, f'ended before {text!r}:\n{self.log}'
            assert time.monotonic() < deadline, f'not {text!r}:\n{self.log}\n{self.node.log}'
            time.sleep(0.05)

    def wait(self):
        return self.process.wait(180.0)


@pytest.fixture
def replay(bag, tmp_path, ros_domain):
    started = []

    def start(**parameters):
        started.append(Replay(parameters.pop('bag', bag), tmp_path, ros_domain, **parameters))
        return started[-1]

    yield start
    for replay in started:
        replay.process.end()
        replay.node.stop()


def test_node_that_stalls__is_waited_for_and_answers_every_joint_state(replay):
    run = replay()
    run.wait_for('know of each other: play')
    run.node.process.send_signal(signal.SIGSTOP)
    try:
        run.wait_for('is behind: the replay pauses')
    finally:
        run.node.process.send_signal(signal.SIGCONT)
    assert run.wait() == 0, run.log
    assert f'{COUNT} joint states sent, {COUNT} answered, ' in run.log
    counts = Bag.of(run.output).counts
    assert [counts[f'{NODE}/{output}'] for output in OUTPUTS] == [COUNT] * 3, run.log


def test_ctrl_c__ends_with_a_bag_that_can_be_read(replay):
    run = replay()
    run.wait_for('know of each other: play')
    run.process.send_signal(signal.SIGINT)
    assert run.wait() == 130, run.log
    assert Bag.of(run.output).counts.keys() >= {f'{NODE}/{output}' for output in OUTPUTS}


@pytest.mark.parametrize(
    ('given', 'sentence'),
    [
        ({'bag': 'nope'}, 'nope does not exist'),
        ({'bag': 'time_0'}, 'starts at time 0, which on /clock means that there is no time yet'),
        ({'output': '.'}, 'exists, expected a folder'),
        ({'joint_states': '/other'}, 'has no /other, .* but /joint_states, /odom'),
    ],
)
def test_what_cannot_be_replayed__is_refused_at_once(bag, tmp_path, given, sentence, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if given.get('bag') == 'time_0':
        model, _ = quadruped()
        messages = Messages(model).of_samples(flight(model, 2))
        write_bag(tmp_path / 'time_0', ((role, at - START, m) for role, at, m in messages))
    words = {'bag': bag, 'output': 'out', 'joint_states': '/joint_states'} | given
    with pytest.raises(ConfigurationError, match=sentence):
        check(Path(words['bag']), Path(words['output']), words['joint_states'])


def test_messages_that_are_lost__are_counted():
    values = {'joint states': '9', 'linearizations': '7', 'dropped: skew': '2'}
    recorded = {'/a': 7, '/b': 6}
    with pytest.raises(GeolinError, match=r'2 dropped \(skew 2\).*1 to the node, 1 back'):
        conclude(Report(values), 10, recorded, ['/a', '/b'])
    assert '7 answered' in conclude(Report(values), 9, recorded, ['/a'])
