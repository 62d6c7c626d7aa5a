# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import yaml
from rosbags.rosbag2 import StoragePlugin, Writer
from support.bags import START, Messages, write_bag, write_ros1_bag

from geolin_ros.errors import RecordingError, UnknownNameError
from geolin_ros.offline import bags
from geolin_ros.offline.bags import IMU, JOINT_STATE, ODOMETRY, BagWriter, known_types
from geolin_ros.offline.recording import Recording, runs
from geolin_ros.stream.inputs.serialized import VIEWS

INPUTS = ('odom', 'joint_states')


def read(*paths, topics=None):
    """Return what a recording holds: (role, time, stamp, numbers) of each message."""
    found = []
    with Recording(paths, topics) as recording:
        for role, time, message in recording.messages(INPUTS):
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            if role == 'odom':
                place = message.pose.pose.position
                numbers = [place.x, place.y, place.z]
            else:
                numbers = np.concatenate((message.position, message.velocity, message.effort))
            found.append((role, time, stamp, list(numbers)))
    return found


@pytest.fixture(scope='module')
def expected(bag):
    return read(bag)


def test_messages__are_those_that_were_written(expected, samples):
    assert len(expected) == 2 * len(samples)
    for sample, odom, joints in zip(samples, expected[::2], expected[1::2], strict=True):
        assert odom == ('odom', sample.stamp, sample.stamp, sample.state.H[:3, 3].tolist())
        numbers = np.concatenate((sample.state.s, sample.state.r, sample.tau)).tolist()
        assert joints == ('joint_states', sample.stamp, sample.stamp, numbers)


@pytest.mark.parametrize('kind', VIEWS)
def test_numbers_read_from_bytes__are_those_of_rosbags(kind, samples, robot, tmp_path):
    """Of messages with one head, with others and the first again."""
    messages = Messages(robot[0])
    make = {ODOMETRY: messages.odometry, JOINT_STATE: messages.joint_state, IMU: messages.imu}
    written = [make[kind](sample) for sample in [*samples[:9], samples[0]]]
    for message in written[4:9]:
        message.header.frame_id = 'odom_ö'
    with BagWriter(tmp_path / 'bag') as bag:
        bag.add_topic('/topic', kind)
        for time, message in enumerate(written):
            bag.write('/topic', time, message)
    with Recording([tmp_path / 'bag']) as recording:
        found = list(recording.of_topic('/topic'))
    assert sum(isinstance(message, tuple) for message in found) == len(written) - 3
    for one, other in zip(found, written, strict=True):
        assert bytes(serialized(one, kind)) == bytes(serialized(other, kind))


def serialized(message, kind):
    return known_types().serialize_cdr(message, kind)


@pytest.mark.parametrize(
    ('storage', 'compression'),
    [('mcap', 'storage'), ('mcap', 'message'), ('sqlite3', 'none'), ('sqlite3', 'file')],
)
def test_formats__are_read_alike_and_without_their_metadata(
    storage, compression, robot, samples, expected, tmp_path
):
    path, text = tmp_path / 'bag', robot[1]
    messages = Messages(robot[0]).of_samples(samples)
    write_bag(path, messages, text, storage=storage, compression=compression)
    assert read(path) == expected
    with Recording([path]) as recording:
        assert recording.description() == text
    if compression in ('storage', 'none'):
        (path / 'metadata.yaml').unlink()
        (file,) = path.iterdir()
        assert read(path) == read(file) == expected


def test_ros_1_bags__are_read_alike(robot, samples, expected, tmp_path):
    path = write_ros1_bag(tmp_path / 'run.bag', *robot[:1], samples, robot[1])
    assert read(path) == expected
    with Recording([path]) as recording:
        assert recording.description() == robot[1]


def test_several_bags__are_merged_by_time(robot, samples, expected, tmp_path):
    messages = Messages(robot[0])
    base = [('odom', sample.stamp, messages.odometry(sample)) for sample in samples]
    joints = [('joint_states', sample.stamp, messages.joint_state(sample)) for sample in samples]
    one = write_bag(tmp_path / 'base', base, robot[1])
    two = write_bag(tmp_path / 'joints', joints, storage='sqlite3')
    assert read(one, two) == expected


def as_of_humble(path):
    """Make a sqlite3 bag what Humble writes, version 5: of types their names alone.

    Times are floats, as some programs keep them.
    """
    (file,) = path.glob('*.db3')
    with closing(sqlite3.connect(file)) as database:
        (column,) = database.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'messages'"
        ).fetchone()
        database.executescript(
            'DROP TABLE message_definitions; DROP TABLE metadata;'
            'ALTER TABLE topics DROP COLUMN type_description_hash;'
            "UPDATE schema SET schema_version = 3, ros_distro = 'humble';"
            'ALTER TABLE messages RENAME TO old;'
            + column.replace('timestamp INTEGER', 'timestamp REAL')
            + ';INSERT INTO messages SELECT * FROM old; DROP TABLE old;'
        )
    metadata = path / 'metadata.yaml'
    content = yaml.safe_load(metadata.read_text())
    information = content['rosbag2_bagfile_information']
    information['version'] = 5
    for name in ('custom_data', 'ros_distro'):
        del information[name]
    for topic in information['topics_with_message_count']:
        del topic['topic_metadata']['type_description_hash']
    metadata.write_text(yaml.safe_dump(content))


def stamped(entries):
    """Without the times at which they were recorded, which a float rounds."""
    return sorted((role, *rest) for role, _, *rest in entries)


@pytest.mark.parametrize('version', [5, 8, 9], ids=['humble', 'iron', 'jazzy'])
def test_versions_of_bags__are_read_alike(
    version, robot, samples, expected, tmp_path, monkeypatch
):
    messages = Messages(robot[0]).of_samples(samples)
    monkeypatch.setattr(bags, 'FORMAT', max(version, 8))
    path = write_bag(tmp_path / 'bag', messages, robot[1], storage='sqlite3')
    if version == 5:
        as_of_humble(path)
    content = yaml.safe_load((path / 'metadata.yaml').read_text())
    assert content['rosbag2_bagfile_information']['version'] == version
    found = read(path)
    assert stamped(found) == stamped(expected)
    with Recording([path]) as recording:
        assert recording.description() == robot[1]
        assert all(type(m.time) is int for m in recording.messages(INPUTS))


CUSTOM = 'robot_msgs/msg/Reading'


@pytest.mark.parametrize('storage', StoragePlugin, ids=lambda plugin: plugin.name)
@pytest.mark.parametrize('definition', ['float64 value\n', ''], ids=['defined', 'undefined'])
def test_types__are_those_that_the_bag_defines_or_of_ros(
    storage, definition, robot, samples, expected, tmp_path
):
    """Unknown ones on other topics are no trouble: nobody needs to read them."""
    undefined = {'msgdef': '', 'rihs01': 'RIHS01_0'}
    defined = {'typestore': known_types()} if definition else undefined
    kinds = {'joint_states': JOINT_STATE, 'odom': ODOMETRY}
    with Writer(tmp_path / 'bag', version=9, storage_plugin=storage) as bag:
        of = {role: bag.add_connection(f'/{role}', kinds[role], **defined) for role in kinds}
        other = bag.add_connection('/reading', CUSTOM, **undefined | {'msgdef': definition})
        for role, stamp, message in Messages(robot[0]).of_samples(samples):
            bag.write(other, stamp, b'\0\1\0\0' + bytes(8))
            bag.write(of[role], stamp, known_types().serialize_cdr(message, kinds[role]))
    assert read(tmp_path / 'bag') == expected
    with pytest.raises(RecordingError, match=f'/reading has type {CUSTOM}, expected sensor_'):
        Recording([tmp_path / 'bag'], {'joint_states': '/reading'})


def test_topics__are_found_in_a_namespace_and_can_be_given(robot, samples, expected, tmp_path):
    messages = list(Messages(robot[0]).of_samples(samples))
    path = write_bag(tmp_path / 'dog', messages, robot[1], namespace='/dog')
    assert read(path) == expected
    with Recording([path]) as recording:
        assert recording.topics == {
            role: f'/dog/{role}' for role in ('robot_description', 'odom', 'joint_states')
        }
    other = write_bag(tmp_path / 'other', messages, namespace='/cat')
    with pytest.raises(RecordingError, match=r'/cat/joint_states, /dog/joint_states could all be'):
        read(path, other)
    chosen = {'joint_states': '/dog/joint_states', 'odom': '/dog/odom'}
    assert read(path, other, topics=chosen) == expected


def test_runs__are_bags_that_overlap_in_time_and_have_other_joint_states(robot, samples, tmp_path):
    messages = list(Messages(robot[0]).of_samples(samples))
    first, again, other = (
        write_bag(tmp_path / name, messages, namespace=namespace)
        for name, namespace in (('first', ''), ('again', ''), ('other', '/cat'))
    )
    assert runs([first, again]) == [[first], [again]]
    assert runs([other, first]) == [[other, first]]
    estimated = write_bag(tmp_path / 'estimated', messages, namespace='/state_estimator')
    with Recording([first, estimated]) as recording:
        assert recording.topics['joint_states'] == '/state_estimator/joint_states'
    with pytest.raises(RecordingError, match=f'{other} is at the time of {first} and {again}'):
        runs([first, again, other])


def test_missing_topic__is_explained_with_those_that_are_there(robot, samples, tmp_path):
    message = Messages(robot[0]).joint_state(samples[0])
    path = write_bag(tmp_path / 'bag', [('joint_states', START, message)])
    with Recording([path]) as recording, pytest.raises(RecordingError) as error:
        recording.topic('odom')
    assert '/joint_states (sensor_msgs/msg/JointState)' in str(error.value)
    with Recording([path]) as recording, pytest.raises(RecordingError, match='--robot-descr'):
        recording.description()


def test_message_cut_short__is_explained(robot, samples, tmp_path):
    with BagWriter(tmp_path / 'bag') as bag:
        bag.add_topic('/joint_states', JOINT_STATE)
        bag.write('/joint_states', START, Messages(robot[0]).joint_state(samples[0]))
        bag.write_serialized('/joint_states', START + 10**9, b'\0\1\0\0' + b'\xff' * 40)
    found = []
    with Recording([tmp_path / 'bag']) as recording, pytest.raises(RecordingError) as error:
        found.extend(recording.messages(INPUTS))
    assert 'further than 1.000 s after its start' in str(error.value)
    assert len(found) == 1


@pytest.mark.parametrize(
    ('paths', 'topics', 'error', 'said'),
    [
        (['none'], None, RecordingError, 'does not exist'),
        (['.'], None, RecordingError, 'neither metadata.yaml nor'),
        (['text'], None, RecordingError, 'Unrecognized storage format'),
        (['incomplete'], None, RecordingError, 'database files are missing'),
        (['bag', 'ros1.bag'], None, RecordingError, 'bags of one kind'),
        (['bag'], {'odom': '/odim'}, UnknownNameError, "topic '/odim' is not part .*'/odom'"),
        (['bag'], {'odom': '/joint_states'}, RecordingError, 'has type sensor_msgs/msg/JointSta'),
    ],
)
def test_what_is_no_bag__is_explained(
    paths, topics, error, said, bag, robot, samples, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path('text').write_text('no bag')
    Path('bag').symlink_to(bag)
    Path('incomplete').mkdir()
    shutil.copy(bag / 'metadata.yaml', 'incomplete')
    write_ros1_bag(Path('ros1.bag'), robot[0], samples[:2], robot[1])
    with pytest.raises(error, match=said):
        Recording([Path(path) for path in paths], topics)


def test_existing_bag__is_not_overwritten(bag, robot):
    before = sorted((file.name, file.stat().st_size) for file in bag.iterdir())
    with pytest.raises(RecordingError, match='choose another folder'):
        write_bag(bag, [], robot[1])
    assert sorted((file.name, file.stat().st_size) for file in bag.iterdir()) == before
