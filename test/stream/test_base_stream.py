# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The stream of the state estimator, its messages, and the command that makes bags of them."""

import json

import numpy as np
import pytest
from geolin_estimation.base_parameters import base_settings
from geolin_estimation.base_run import base_writer
from geolin_estimation.base_stream import START_SAMPLES, BaseStream
from support.bags import FOLDER, START, Messages, Sample, quadruped
from support.taking import dropped, take

from geolin_ros.cli import main
from geolin_ros.dynamics.functions import bias_force
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError
from geolin_ros.offline.bag_writer import BagWriter
from geolin_ros.offline.message_types import (
    CONTACT_STATES,
    IMU,
    JOINT_STATE,
    STRING,
    WRENCH,
    empty_message,
)
from geolin_ros.offline.recording import Recording, runs
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.parameters.file import default_values

FEET = 'FL_foot', 'FR_foot', 'RL_foot', 'RR_foot'
PERIOD = 5_000_000
ON_POINTS = {'contacts': [f'{foot} point' for foot in FEET]}


def stream_of(**values):
    model, _ = quadruped()
    values = default_values('state_estimator') | ON_POINTS | values
    return BaseStream(model, base_settings(values, model.base_link))


def imu(make, k, acceleration=(0.0, 0.0, 9.81), frame=''):
    message = empty_message(IMU)
    message.header = make.header(START + k * PERIOD, frame)
    a = message.linear_acceleration
    a.x, a.y, a.z = acceleration
    return message


def joints(make, model, k):
    state = model.neutral_state()
    state.s[:] = np.tile((0.0, 0.7, -1.4), 4)
    return make.joint_state(Sample(START + k * PERIOD, state, np.zeros(model.n)))


def standing_pose(model):
    """The pose (4, 4) of the base above its lowest foot; the joints are those of `joints`."""
    state = model.neutral_state()
    state.s[:] = np.tile((0.0, 0.7, -1.4), 4)
    at, H = Kinematics(model, state), np.eye(4)
    H[2, 3] = -min(at.pose(foot)[2, 3] for foot in FEET)
    return H


def efforts_that_hold(model, s, feet):
    """Return efforts (n,) of a robot at rest whose weight is on some feet."""
    at = Kinematics(model, model.state(np.eye(4), s, np.zeros(6), np.zeros(model.n)))
    J = np.vstack([at.jacobian(foot, 'mixed')[:3] for foot in feet])
    weight = bias_force(model, model.state(np.eye(4), s, np.zeros(6), np.zeros(model.n)))
    f = np.linalg.lstsq(J[:, :6].T, weight[:6], rcond=None)[0]
    return (weight - J.T @ f)[6:]


def stand(stream, count=60, first=0, acceleration=(0.0, 0.0, 9.81)):
    """Let the robot stand; return the last answer."""
    make, answer = Messages(stream.model), None
    for k in range(first, first + count):
        take(stream, 'imu', imu(make, k, acceleration))
        answer = take(stream, 'joint_states', joints(make, stream.model, k))
    return answer


def test_robot_that_stands__stays_where_it_is_and_knows_its_gyro():
    stream = stream_of()
    answer = stand(stream)
    assert stream.counts.skipped == START_SAMPLES - 1
    assert stream.counts.answered == 60 - START_SAMPLES + 1
    assert np.allclose(answer.estimate.H, standing_pose(stream.model), atol=1e-3)
    assert np.allclose(answer.estimate.v, 0.0, atol=1e-2)
    assert answer.estimate.on_ground == set(FEET)
    assert answer.estimate.bias_covariance[2, 2] < stream.settings.deviations.gyro_bias**2


def test_start__is_where_the_parameter_says():
    x, y, yaw = 1.0, -2.0, 0.5
    answer = stand(stream_of(start=[x, y, yaw]))
    H = standing_pose(quadruped()[0])
    H[:2, 3] += x, y
    H[:2, :2] = (np.cos(yaw), -np.sin(yaw)), (np.sin(yaw), np.cos(yaw))
    assert np.allclose(answer.estimate.H, H, atol=1e-3)


def test_tilted_robot__starts_upright_by_gravity():
    tilt = 0.2
    answer = stand(stream_of(), acceleration=(0.0, 9.81 * np.sin(tilt), 9.81 * np.cos(tilt)))
    R = answer.estimate.H[:3, :3]
    assert np.allclose(R[2], (0.0, np.sin(tilt), np.cos(tilt)), atol=1e-3)


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_nose_up_or_down__is_a_start_like_any_other(sign):
    answer = stand(stream_of(), acceleration=(sign * 9.81, 0.0, 0.0))
    assert np.allclose(answer.estimate.H[2, :3], (sign, 0.0, 0.0), atol=1e-3)


def test_imu_off_the_base__tells_the_twist_of_the_base():
    stream = stream_of(imu_link='imu')
    assert np.any(stream.model.frame('imu').placement != np.eye(4))
    assert np.allclose(stand(stream).estimate.H, standing_pose(stream.model), atol=2e-3)


def test_messages__hold_the_answer():
    stream = stream_of(frame_prefix='r/', world_frame='map', imu_link='imu')
    answer = stand(stream)
    odometry, bias, contacts, rates = base_writer(stream).write(answer)
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
    stream = stream_of(
        contact_source='forces', foot_force_topics=[f'{foot}/force {foot}' for foot in FEET]
    )
    make = Messages(stream.model)
    for k in range(60):
        for foot in FEET:
            message = empty_message(WRENCH)
            message.header = make.header(START + k * PERIOD, foot)
            message.wrench.force.z = 0.0 if foot == 'FL_foot' else 30.0
            take(stream, f'{foot}/force', message)
        answer = stand(stream, 1, k)
    assert answer.estimate.on_ground == set(FEET[1:])


@pytest.mark.parametrize('unknown', [(), (np.nan,) * 12])
def test_rates_that_nobody_publishes__come_from_a_filter(unknown):
    stream = stream_of()
    stand(stream, START_SAMPLES)
    make, model, speed, found = Messages(stream.model), stream.model, 0.3, []
    for k in range(START_SAMPLES, START_SAMPLES + 60):
        message = joints(make, model, k)
        message.position = message.position + speed * k * PERIOD * 1e-9
        message.velocity = np.array(unknown)
        take(stream, 'imu', imu(make, k))
        answer = take(stream, 'joint_states', message)
        found.append(base_writer(stream).write(answer).joint_states)
    assert found[0] is None
    assert np.allclose(found[-1].velocity, speed, rtol=1e-3)
    assert found[-1].name == message.name
    assert np.array_equal(found[-1].position, message.position)
    assert found[-1].header.stamp == message.header.stamp


def test_rates_that_are_published__stay():
    stream = stream_of()
    assert stand(stream).rates is None


@pytest.mark.parametrize('standing', [FEET, FEET[1:3]])
def test_efforts__tell_which_feet_stand(standing):
    stream = stream_of(contact_source='efforts')
    model, make, answer = stream.model, Messages(stream.model), None
    tau = efforts_that_hold(model, joints(make, model, 0).position, standing)
    for k in range(60):
        message = joints(make, model, k)
        message.effort = tau
        take(stream, 'imu', imu(make, k))
        answer = take(stream, 'joint_states', message)
    assert answer.estimate.on_ground == set(standing)


def test_efforts_that_nobody_publishes__are_asked_for():
    stream = stream_of(contact_source='efforts')
    make = Messages(stream.model)
    stand(stream, START_SAMPLES)
    message = joints(make, stream.model, START_SAMPLES)
    message.effort = np.zeros(0)
    with dropped(Cause.MISSING_EFFORT, 'no efforts, expected them as contact_source'):
        take(stream, 'joint_states', message)


def test_silent_imu__is_told_and_starts_anew():
    stream, make = stream_of(), None
    make = Messages(stream.model)
    stand(stream)
    with dropped(Cause.NO_IMU, r'0\.2050 s away'):
        take(stream, 'joint_states', joints(make, stream.model, 100))
    take(stream, 'imu', imu(make, 400))
    assert take(stream, 'joint_states', joints(make, stream.model, 400)) is None
    assert stand(stream, 30, 401) is not None


def test_sample_without_its_message__counts_as_the_message():
    """Where the rest of an Imu message is that of the one before, and its stamp in order."""
    one, other = stream_of(), stream_of()
    make, stamp = Messages(one.model), START + 60 * PERIOD
    assert not one.repeat_imu(START, (0.0, 0.0, 0.0, 0.0, 0.0, 9.81))
    for stream in (one, other):
        stand(stream)
    for k in range(60, 80):
        stamp, acceleration = START + k * PERIOD, (0.1 * k - 7.0, 0.3, 9.81)
        sample = (0.0, 0.0, 0.0, *acceleration)
        assert one.repeat_imu(stamp, sample)
        take(other, 'imu', imu(make, k, acceleration))
        a, b = (take(s, 'joint_states', joints(make, s.model, k)).estimate for s in (one, other))
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    for wrong in (stamp - 1, stamp, stamp + 1_000_000_000):
        assert not one.repeat_imu(wrong, sample)
    assert not one.repeat_imu(stamp + 1, (np.nan, *sample[1:]))
    assert one.repeat_imu(stamp + 999_999_999, sample)


def test_imu_in_units_of_gravity__is_refused_at_the_start():
    with pytest.raises(DroppedInput, match='correct the unit'):
        stand(stream_of(), acceleration=(0.0, 0.0, 1.0))


def test_robot_without_feet__is_refused():
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
            bag.write('/imu/data', stamp, imu(make, k))
            bag.write('/joint_states', stamp, joints(make, model, k))
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
