# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The stream of the state estimator, its messages, and the command that makes bags of them."""

import json

import numpy as np
import pytest
from geolin_estimation.base_stream import START_SAMPLES, BaseStream, BaseWriter, base_settings
from support.bags import FOLDER, START, Messages, Sample, quadruped
from support.taking import dropped, take

from geolin_ros.cli import main
from geolin_ros.dynamics.functions import bias_force
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError
from geolin_ros.offline.bags import (
    CONTACT_STATES,
    IMU,
    JOINT_STATE,
    STRING,
    WRENCH,
    BagWriter,
    empty_message,
)
from geolin_ros.offline.recording import Recording, runs
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.topic_stream import Cause, DroppedInput

FEET = 'FL_foot', 'FR_foot', 'RL_foot', 'RR_foot'
PERIOD = 5_000_000
UP = (0.0, 0.0, 9.81)
ON_POINTS = {'contacts': [f'{foot} point' for foot in FEET]}


def stream_of(**values):
    model, _ = quadruped()
    values = default_values('state_estimator') | ON_POINTS | values
    return BaseStream(model, base_settings(values, model.base_link))


def imu(model, k, acceleration=UP):
    message = empty_message(IMU)
    message.header = Messages(model).header(START + k * PERIOD)
    a = message.linear_acceleration
    a.x, a.y, a.z = acceleration
    return message


def standing(model):
    return model.state(positions=dict(zip(model.joint_names, (0.0, 0.7, -1.4) * 4, strict=True)))


def joints(model, k):
    sample = Sample(START + k * PERIOD, standing(model), np.zeros(model.n))
    return Messages(model).joint_state(sample)


def standing_pose(model):
    """The pose (4, 4) of the base above its lowest foot; the joints are those of `joints`."""
    state = standing(model)
    at, H = Kinematics(model, state), np.eye(4)
    H[2, 3] = -min(at.pose(foot)[2, 3] for foot in FEET)
    return H


def efforts_that_hold(model, s, feet):
    """Return efforts (n,) of a robot at rest whose weight is on some feet."""
    state = model.state(s=s)
    at, weight = Kinematics(model, state), bias_force(model, state)
    J = np.vstack([at.jacobian(foot, expressed_in='mixed')[:3] for foot in feet])
    f = np.linalg.lstsq(J[:, :6].T, weight[:6], rcond=None)[0]
    return (weight - J.T @ f)[6:]


def feed(stream, k, acceleration=UP, **changes):
    """Send an IMU message and a joint state, with changes of its fields; return the answer."""
    take(stream, 'imu', imu(stream.model, k, acceleration))
    message = joints(stream.model, k)
    for name, value in changes.items():
        setattr(message, name, value)
    return take(stream, 'joint_states', message)


def stand(stream, count=60, first=0, **options):
    """Let the robot stand; return the last answer."""
    return [feed(stream, k, **options) for k in range(first, first + count)][-1]


def test_robot_that_stands__stays_where_it_is_and_knows_its_gyro():
    stream = stream_of()
    answer = stand(stream)
    assert stream.counts.skipped == START_SAMPLES - 1
    assert stream.counts.answered == 60 - START_SAMPLES + 1
    assert np.allclose(answer.estimate.H, standing_pose(stream.model), atol=1e-3)
    assert np.allclose(answer.estimate.v, 0.0, atol=1e-2)
    assert answer.estimate.on_ground == set(FEET)
    assert answer.estimate.bias_covariance[2, 2] < stream.settings.deviations.gyro_bias**2
    assert answer.rates is None  # which are published


@pytest.mark.parametrize(
    'up', [(0.0, 0.0, 1.0), (0.0, np.sin(0.2), np.cos(0.2)), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)]
)
def test_start__is_where_the_parameter_says_upright_by_gravity(up):
    """However the robot is turned, nose up and nose down too."""
    x, y, yaw = 1.0, -2.0, 0.5
    answer = stand(stream_of(start=[x, y, yaw], imu_link='imu'), acceleration=9.81 * np.array(up))
    H = answer.estimate.H
    assert np.allclose(H[2, :3], up, atol=1e-3)
    if up[2] == 1.0:
        expected = standing_pose(quadruped()[0])
        expected[:2, 3] += x, y
        expected[:2, :2] = (np.cos(yaw), -np.sin(yaw)), (np.sin(yaw), np.cos(yaw))
        assert np.allclose(H, expected, atol=2e-3)


def test_messages__hold_the_answer():
    stream = stream_of(frame_prefix='r/', world_frame='map', imu_link='imu')
    assert np.any(stream.model.frame('imu').placement != np.eye(4))
    answer = stand(stream)
    writer = BaseWriter(empty_message, stream)
    odometry, bias, contacts, rates = writer.write(answer).values()
    assert (odometry.header.frame_id, odometry.child_frame_id) == ('map', 'r/base')
    assert odometry.header.stamp.nanosec == (START + 59 * PERIOD) % 1_000_000_000
    assert odometry.pose.pose.position.z == answer.estimate.H[2, 3]
    assert np.array_equal(odometry.pose.covariance, answer.estimate.pose_covariance.ravel())
    assert bias.header.frame_id == 'r/imu'
    assert bias.linear_acceleration.z == answer.estimate.biases[5]
    assert [contact.frame for contact in contacts.contacts] == list(FEET)
    assert all(contact.active for contact in contacts.contacts)
    assert rates is None


def test_forces__tell_which_feet_stand():
    topics = [f'{foot}/force {foot}' for foot in FEET]
    stream = stream_of(contact_source='forces', foot_force_topics=topics)
    for k in range(60):
        for foot in FEET:
            message = empty_message(WRENCH)
            message.header = Messages(stream.model).header(START + k * PERIOD, foot)
            message.wrench.force.z = 0.0 if foot == 'FL_foot' else 30.0
            take(stream, f'{foot}/force', message)
        answer = feed(stream, k)
    assert answer.estimate.on_ground == set(FEET[1:])


@pytest.mark.parametrize('standing', [FEET, FEET[1:3]])
def test_efforts__tell_which_feet_stand(standing):
    stream = stream_of(contact_source='efforts')
    s = joints(stream.model, 0).position
    tau = efforts_that_hold(stream.model, s, standing)
    assert stand(stream, effort=tau).estimate.on_ground == set(standing)
    with dropped(Cause.MISSING_EFFORT, 'expected them as contact_source'):
        feed(stream, 60, effort=np.zeros(0))


@pytest.mark.parametrize('unknown', [(), (np.nan,) * 12])
def test_rates_that_nobody_publishes__come_from_a_filter(unknown):
    stream = stream_of()
    stand(stream, START_SAMPLES)
    message, speed, found = joints(stream.model, 0), 0.3, []
    for k in range(START_SAMPLES, START_SAMPLES + 60):
        position = message.position + speed * k * PERIOD * 1e-9
        answer = feed(stream, k, position=position, velocity=np.array(unknown))
        writer = BaseWriter(empty_message, stream)
        found.append(writer.write(answer)['joint_states'])
    assert found[0] is None
    assert np.allclose(found[-1].velocity, speed, rtol=1e-3)
    assert found[-1].name == message.name
    assert np.array_equal(found[-1].position, position)
    assert found[-1].header.stamp.nanosec == (START + k * PERIOD) % 1_000_000_000


def test_silent_imu__is_told_and_starts_anew():
    stream = stream_of()
    stand(stream)
    with dropped(Cause.NO_IMU, r'0\.2050 s away'):
        take(stream, 'joint_states', joints(stream.model, 100))
    assert feed(stream, 400) is None
    assert stand(stream, 30, 401) is not None


def test_sample_without_its_message__counts_as_the_message():
    """Where the rest of an Imu message is that of the one before, and its stamp in order."""
    one, other = stream_of(), stream_of()
    assert not one.repeat_imu(START, (0.0, 0.0, 0.0, *UP))
    for stream in (one, other):
        stand(stream)
    for k in range(60, 80):
        stamp, acceleration = START + k * PERIOD, (0.1 * k - 7.0, 0.3, 9.81)
        sample = (0.0, 0.0, 0.0, *acceleration)
        assert one.repeat_imu(stamp, sample)
        a = take(one, 'joint_states', joints(one.model, k)).estimate
        b = feed(other, k, acceleration).estimate
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    for wrong in (stamp - 1, stamp, stamp + 1_000_000_000):
        assert not one.repeat_imu(wrong, sample)
    assert not one.repeat_imu(stamp + 1, (np.nan, *sample[1:]))
    assert one.repeat_imu(stamp + 999_999_999, sample)


def test_what_cannot_be_estimated__is_refused():
    with pytest.raises(DroppedInput, match='correct the unit'):  # of gravity
        stand(stream_of(), acceleration=(0.0, 0.0, 1.0))
    with pytest.raises(ConfigurationError, match='parameter contacts is empty'):
        stream_of(contacts=[''])


def test_command__writes_the_bag_of_the_node(tmp_path, capsys):
    model, text = quadruped()
    make = Messages(model)
    with BagWriter(tmp_path / 'in') as bag:
        for topic, kind in (
            *(('/robot_description', STRING), ('/imu/data', IMU)),
            *(('/joint_states', JOINT_STATE), ('/contact_states', CONTACT_STATES)),
        ):
            bag.add_topic(topic, kind)
        bag.write('/robot_description', START, make.make(STRING, data=text))
        bag.write('/contact_states', START, make.contact_states(START, FEET))
        for k in range(60):
            stamp = START + k * PERIOD
            bag.write('/imu/data', stamp, imu(model, k))
            bag.write('/joint_states', stamp, joints(model, k))
    arguments = ['estimate', str(tmp_path / 'in'), '-o', str(tmp_path / 'out'), '--json']
    values = [f'contacts:=[{", ".join(ON_POINTS["contacts"])}]', 'contact_source:=topic']
    for value in values:
        arguments += ['-p', value]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)['estimates'] == 60 - START_SAMPLES + 1
    both = [tmp_path / 'in', tmp_path / 'out']
    assert runs([*both, FOLDER / 'demo']) == [both, [FOLDER / 'demo']]
    with Recording(both) as merged:
        assert merged.topics['joint_states'] == '/joint_states'  # which have rates
        assert merged.topics['contact_states'] == '/state_estimator/contact_states'
        assert merged.topics['imu'] == '/imu/data'
    assert main(['estimate', *map(str, both), '-o', str(tmp_path / 'more'), *arguments[4:]]) == 0
    with Recording([tmp_path / 'out']) as first, Recording([tmp_path / 'more']) as second:
        assert second.counts == first.counts
    expected = stand(stream_of())
    with Recording([tmp_path / 'out']) as out:
        *_, last = out.messages(['odom'])
    assert last.message.pose.pose.position.x == pytest.approx(expected.estimate.H[0, 3])
    assert main([*arguments[:-2], '-p', 'sole:=wide']) == 1
    assert 'sole' in capsys.readouterr().err
