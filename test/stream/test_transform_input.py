# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from support.close import assert_close
from support.finite_difference import exp
from support.messages import SECOND, header, joint_state, quaternion, vector
from support.taking import dropped, take

from geolin_ros.errors import ConfigurationError
from geolin_ros.spatial import se3
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.transform_input import TransformInput
from geolin_ros.stream.linearization_stream import LinearizationStream

T0 = 100 * SECOND
MS = 1_000_000


def transforms(*entries):
    """Return a tf2_msgs/TFMessage from (stamp, parent, child, pose)."""
    return SimpleNamespace(
        transforms=[
            SimpleNamespace(
                header=header(stamp, parent),
                child_frame_id=child,
                transform=SimpleNamespace(
                    translation=vector(pose[:3, 3]),
                    rotation=quaternion(se3.quaternion_from_rotation(pose[:3, :3])),
                ),
            )
            for stamp, parent, child, pose in entries
        ]
    )


def imu(stamp, rate, frame='camera', measured=True):
    """Return a sensor_msgs/Imu."""
    covariance = np.zeros(9)
    covariance[0] = 0.0 if measured else -1.0
    return SimpleNamespace(
        header=header(stamp, frame),
        angular_velocity=vector(rate),
        angular_velocity_covariance=covariance,
    )


class Motion:
    """A base with constant body twist, seen by transforms and by an IMU on the camera."""

    def __init__(self, model, v=(0.4, -0.3, 0.2, 0.5, 1.0, -0.7), seed=0):
        self.v, self.model = np.array(v), model
        self.start = exp(np.random.default_rng(seed).normal(size=6))
        self.mount = model.frame('camera').placement

    def pose(self, t):
        return self.start @ exp(t * self.v)

    def feed(self, given, stamp, tip='base', tip_pose=None, prefix=''):
        """Send IMU and transform at a stamp; return what comes."""
        given.take_imu(imu(stamp, self.mount[:3, :3].T @ self.v[3:], f'{prefix}camera'))
        H = self.pose((stamp - T0) * 1e-9) @ (np.eye(4) if tip_pose is None else tip_pose)
        return given.take(transforms((stamp, 'odom', prefix + tip, H)))


def run(motion, given, count, step=2 * MS, **options):
    """Feed ``count`` poses; return the last sample."""
    with pytest.raises(DroppedInput, match='expected two transforms first'):
        motion.feed(given, T0, **options)
    return [motion.feed(given, T0 + k * step, **options) for k in range(1, count)][-1]


def test_sample__has_pose_and_angular_velocity_exactly_and_the_linear_one_late(sensor_robot):
    motion, given = (
        Motion(sensor_robot),
        TransformInput(sensor_robot, StreamSettings(tf_velocity_cutoff=20.0)),
    )
    sample = run(motion, given, 500)
    t = (sample.stamp - T0) * 1e-9
    assert_close(sample.H, motion.pose(t), 1e-12)
    assert_close(sample.v[3:], motion.v[3:], 1e-14)
    # world velocity a delay ago, in base axes now
    late = motion.pose(t - given.delay)[:3, :3] @ motion.v[:3]
    assert_close(sample.v[:3], motion.pose(t)[:3, :3].T @ late, 2e-3)
    assert given.delay == pytest.approx(0.001 + 1.0 / (40.0 * np.pi))


def test_straight_motion__has_its_velocity_at_once(sensor_robot):
    motion = Motion(sensor_robot, v=(0.4, -0.3, 0.2, 0.0, 0.0, 0.0))
    sample = run(motion, TransformInput(sensor_robot, StreamSettings()), 3)
    assert_close(sample.v, motion.v, 1e-9)


def test_transforms__may_lead_to_a_link_fixed_to_the_base(sensor_robot):
    motion = Motion(sensor_robot)
    plain = run(motion, TransformInput(sensor_robot, StreamSettings()), 5)
    given = TransformInput(sensor_robot, StreamSettings(child_frame='camera'))
    sample = run(motion, given, 5, tip='camera', tip_pose=motion.mount)
    assert_close(sample.H, plain.H, 1e-12)
    assert_close(sample.v, plain.v, 1e-7)


def test_chain__is_composed_of_static_and_moving_transforms(sensor_robot):
    motion, given = (
        Motion(sensor_robot),
        TransformInput(sensor_robot, StreamSettings(tf_world_frame='map')),
    )
    fixed, slow = exp(np.linspace(-1, 1, 6)), exp(np.linspace(1, 0, 6))
    given.take(transforms((0, 'footprint', 'base', fixed)), is_static=True)
    assert given.take(transforms((T0 - 9 * SECOND, 'map', 'odom', slow))) is None
    for k in range(2):
        stamp = T0 + k * MS
        given.take_imu(imu(stamp, np.ones(3)))
        message = transforms((stamp, 'odom', 'footprint', motion.pose(k * 1e-3)))
        if k == 0:
            with pytest.raises(DroppedInput, match='expected two transforms first'):
                given.take(message)
    sample = given.take(message)
    assert sample.stamp == T0 + MS
    assert_close(sample.H, slow @ motion.pose(1e-3) @ fixed, 1e-13)
    assert given.take(transforms((T0 + 2 * MS, 'odom', 'other_robot', slow))) is None
    assert given.take(transforms((T0 + 2 * MS, 'map', 'odom', slow))) is None
    given.forget()  # but the static ones
    assert given.take(transforms((T0, 'odom', 'footprint', motion.pose(0.0)))) is None
    with pytest.raises(DroppedInput, match='expected two transforms first'):
        given.take(transforms((T0, 'map', 'odom', slow)))


def test_frame_prefix__is_that_of_the_messages(sensor_robot):
    given = TransformInput(sensor_robot, StreamSettings(frame_prefix='robot1/'))
    assert run(Motion(sensor_robot), given, 3, prefix='robot1/') is not None


def test_imu_that_is_too_old__is_said(sensor_robot):
    motion, given = (
        Motion(sensor_robot),
        TransformInput(sensor_robot, StreamSettings(max_skew=0.05)),
    )
    run(motion, given, 3)
    late = T0 + 100 * MS
    with dropped(Cause.NO_VELOCITY, r'newest IMU message is \+0.0960 s away'):
        given.take(transforms((late, 'odom', 'base', motion.pose(0.1))))


@pytest.mark.parametrize(
    ('message', 'cause'),
    [
        (imu(T0, np.ones(3), 'arm'), Cause.FRAME),
        (imu(T0, np.array((0.0, np.nan, 0.0))), Cause.NOT_FINITE),
        (imu(T0, np.ones(3), measured=False), Cause.NOT_FINITE),
    ],
)
def test_imu_that_cannot_be_used__is_refused(sensor_robot, message, cause):
    with dropped(cause):
        TransformInput(sensor_robot, StreamSettings()).take_imu(message)


@pytest.mark.parametrize('spoil', ['quaternion', 'translation'])
def test_transform_that_cannot_be_used__is_refused(sensor_robot, spoil):
    message = transforms((T0, 'odom', 'base', np.eye(4)))
    if spoil == 'quaternion':
        message.transforms[0].transform.rotation.w = 0.5
    else:
        message.transforms[0].transform.translation.x = np.nan
    with dropped(Cause.QUATERNION):
        TransformInput(sensor_robot, StreamSettings()).take(message)


def test_stamps__must_increase_until_the_clock_is_set_back(sensor_robot):
    motion, given = Motion(sensor_robot), TransformInput(sensor_robot, StreamSettings())
    run(motion, given, 4)
    with dropped(Cause.BACKWARDS):
        motion.feed(given, T0 + MS)
    for k in range(2):
        stamp = T0 - 5 * SECOND + k * MS
        if k == 0:
            with pytest.raises(DroppedInput, match='expected two transforms first'):
                motion.feed(given, stamp)
    assert motion.feed(given, stamp).stamp == stamp


def test_circle_of_frames__is_no_chain(sensor_robot):
    given = TransformInput(sensor_robot, StreamSettings())
    loop = transforms((T0, 'b', 'base', np.eye(4)), (T0, 'base', 'b', np.eye(4)))
    assert given.take(loop) is None


def test_child_frame__has_to_be_on_the_base(sensor_robot):
    for name in ('arm', 'base_link'):  # it moves, and there is none
        with pytest.raises(
            ConfigurationError, match=f'{name!r}, expected a link fixed to the base'
        ):
            TransformInput(sensor_robot, StreamSettings(child_frame=name))


def test_stream__takes_the_base_from_transforms(sensor_robot):
    settings = StreamSettings(base_source='tf', tf_velocity_cutoff=20.0, torque_source='zero')
    stream, motion = LinearizationStream(sensor_robot, settings), Motion(sensor_robot)

    inputs = SimpleNamespace(
        take_imu=partial(take, stream, 'imu'), take=partial(take, stream, 'tf')
    )
    run(motion, inputs, 5)
    message = joint_state(T0 + 8 * MS, ['shoulder'], [0.1], [0.2], [])
    answer = take(stream, 'joint_states', message)
    assert_close(answer.state.H, motion.pose(0.008), 1e-12)
    assert_close(answer.state.v[3:], motion.v[3:], 1e-14)
    assert answer.world_frame == 'odom'
    delay = stream.details['delay of the linear velocity of the base [ms]']
    assert delay == f'{1.0 + 1e3 / (40.0 * np.pi):.3f}'
    assert stream.newest_stamps['transform'] == T0 + 8 * MS
