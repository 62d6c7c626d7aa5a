# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a replay writes; that a live node writes the same is in test/ros/test_replay.py."""

import json

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from support.bags import START, Messages, write_bag

from geolin_ros import open_dataset
from geolin_ros.cli import main
from geolin_ros.errors import ConfigurationError, RecordingError
from geolin_ros.offline.bags import BagWriter
from geolin_ros.offline.linearize import linearize
from geolin_ros.offline.recording import Recording
from geolin_ros.offline.replay import replay
from geolin_ros.offline.source import open_source
from geolin_ros.stream.outputs.reading import read_linearization

TOPICS = tuple(f'/linearizer/{name}' for name in ('linearization', 'forward_dynamics', 'summary'))


@pytest.fixture(scope='module')
def replayed(bag, tmp_path_factory):
    """The replay of the flight."""
    path = tmp_path_factory.mktemp('replay') / 'replayed'
    with open_source([bag]) as source:
        counts = replay(source, path)
    assert (counts.received, counts.answered, counts.dropped) == (250, 250, 0)
    return path


def decoded(path):
    """Yield (topic, recorded, message) as the reader of Foxglove sees them."""
    (file,) = path.glob('*.mcap')
    with file.open('rb') as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        for _, channel, message, content in reader.iter_decoded_messages():
            yield channel.topic, message.log_time, content


def test_bag__is_read_by_an_independent_reader(replayed, samples, robot):
    found = list(decoded(replayed))
    assert [topic for topic, _, _ in found] == [*TOPICS] * len(samples)
    for sample, (_, time, message) in zip(samples, found[::3], strict=True):
        assert time == sample.stamp
        received = read_linearization(message)
        assert received.stamp == sample.stamp
        np.testing.assert_array_equal(received.tau, sample.tau)
        assert received.model_hash == robot[0].hash
    dynamics, summary = found[-2][2], found[-1][2]
    np.testing.assert_array_equal(dynamics.joint_accelerations, received.nu_dot[6:])
    assert (summary.received, summary.published, summary.dropped) == (250, 250, 0)
    eigenvalues = np.linalg.eigvals(read_linearization(found[0][2]).A)
    assert summary.largest_real_part == eigenvalues.real.max()
    assert summary.spectrum_stamp.sec * 10**9 + summary.spectrum_stamp.nanosec == START


def test_times_by_the_timer__are_those_of_the_recording(bag, tmp_path):
    values = {'trigger': 'timer', 'timer_rate': 100.0}
    with open_source([bag], values=values) as source:
        counts = replay(source, tmp_path / 'bag')
    stamps = [
        message.header.stamp.nanosec
        for topic, _, message in decoded(tmp_path / 'bag')
        if topic == TOPICS[0]
    ]
    # the newest joint state before each tick of 10 ms is 2 ms old
    assert stamps == [8_000_000 + 10_000_000 * k for k in range(49)]
    assert (counts.answered, counts.skipped) == (49, 4 * 50)


def sparse_odometry(robot, samples):
    """Odometry with every fifth joint state."""
    entries = list(Messages(robot[0]).of_samples(samples))
    return [entry for k, entry in enumerate(entries) if k % 2 or k % 10 == 0]


def test_joint_states_that_wait_for_odometry__are_all_answered(robot, samples, tmp_path):
    path = write_bag(tmp_path / 'bag', sparse_odometry(robot, samples), robot[1])
    with open_source([path], values={'pairing': 'interpolate'}) as source:
        counts = replay(source, tmp_path / 'replayed')
        linearize(source, str(tmp_path / 'dataset.zarr'), workers=1)
    last = 245  # of the newest odometry: four joint states wait for the next one
    assert (counts.received, counts.answered, counts.dropped) == (250, last + 1, 0)
    assert open_dataset(str(tmp_path / 'dataset.zarr')).sizes['time'] == last + 1
    stamps = [
        message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        for topic, _, message in decoded(tmp_path / 'replayed')
        if topic == TOPICS[0]
    ]
    assert stamps == [sample.stamp for sample in samples[: last + 1]]


def test_command__writes_what_it_is_told_to(bag, tmp_path, capsys):
    path = tmp_path / 'bag'
    command = ['replay', str(bag), '-o', str(path), '--node', '/dog', '--storage', 'sqlite3']
    assert main([*command, '--compression', 'storage']) == 1
    assert f"of {path} with sqlite3 is 'storage', expected one of " in capsys.readouterr().err
    with pytest.raises(ConfigurationError, match=r"of .*bag with mcap is 'zip', expected one of"):
        BagWriter(path, compression='zip')
    assert main([*command, '--compression', 'file', '-p', 'max_rate:=100', '--json']) == 0
    assert json.loads(capsys.readouterr().out) == {
        'output': str(path),
        'joint_states': 250,
        'linearized': 50,
        'left_out_by_max_rate': 200,
        'dropped': {},
    }
    with Recording([path]) as recording:
        assert recording.counts == {topic.replace('linearizer', 'dog', 1): 50 for topic in TOPICS}
    assert [file.suffix for file in path.glob('bag*')] == ['.zstd']
    assert main(command) == 1
    assert 'exists already' in capsys.readouterr().err


def test_missing_input__is_an_error_before_anything_is_written(robot, samples, tmp_path):
    messages = [entry for entry in Messages(robot[0]).of_samples(samples) if entry[0] != 'odom']
    path = write_bag(tmp_path / 'bag', messages, robot[1])
    with open_source([path]) as source, pytest.raises(RecordingError, match='has no odom'):
        replay(source, tmp_path / 'out')
    assert not (tmp_path / 'out').exists()
    with open_source([path], values={'base': 'fixed'}) as source:
        assert replay(source, tmp_path / 'out').answered == len(samples)
