# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inputs of a stream: what becomes of them, and every fault: its cause, and what it spoils."""

from functools import partial, reduce
from types import SimpleNamespace

import numpy as np
import pytest
from support.close import assert_close
from support.messages import (
    SECOND,
    contact_state,
    contact_states,
    header,
    joint_state,
    odometry,
    quaternion,
    random_quaternion,
    vector,
    wrench_stamped,
)
from support.messages import stamp as stamp_of
from support.taking import Source, dropped, take

from geolin_ros import Description, Joint, Link, TreeModel, robots
from geolin_ros.errors import ConfigurationError, UnsupportedJointError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.spatial import se3
from geolin_ros.stream.contacts import ContactSettings, FootForce
from geolin_ros.stream.inputs.differentiation import Differentiator
from geolin_ros.stream.inputs.joint_input import JointInput, JointParts
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.state_input import TransformInput
from geolin_ros.stream.inputs.wrench_input import WrenchTopic
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.topic_stream import Cause, DroppedInput, nanoseconds

pin = pytest.importorskip('pinocchio')
T0, MS = 100 * SECOND, 1_000_000
NAMES = list(TreeModel.from_urdf(robots.path('quadruped')).joint_names)


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


def imu(stamp, rate, frame='imu'):
    """Return a sensor_msgs/Imu."""
    return SimpleNamespace(
        header=header(stamp, frame),
        angular_velocity=vector(rate),
        angular_velocity_covariance=np.zeros(9),
    )


# ---- Every fault

SETUPS = {
    'usual': {
        'torque_source': 'topic',
        'wrench_topics': (WrenchTopic('push', 'FL_calf', 'body'),),
        'contacts': ContactSettings('topic'),
    },
    'forces': {
        'wrench_topics': (WrenchTopic('far', 'base', 'world'),),
        'contacts': ContactSettings(
            'forces', (Contact('FL_foot'),), (FootForce('foot', 'FL_foot'),), timeout=0.02
        ),
    },
    'transforms': {'base_source': 'tf'},
    'parts': {'joint_states_in_parts': True},
    'interpolated': {'pairing': 'interpolate'},
}
TOPICS = {
    'usual': ('odom', 'push', 'contact_states', 'joint_efforts', 'joint_states'),
    'forces': ('odom', 'far', 'foot', 'joint_states'),
    'transforms': ('imu', 'tf', 'joint_states'),
    'parts': ('odom', 'joint_states'),
    'interpolated': ('odom', 'joint_states'),
}


def message_of(topic, stamp):
    """Return a random message, always the same at a stamp."""
    rng = np.random.default_rng(stamp)
    place, turn, values = rng.normal(size=3), random_quaternion(rng), rng.normal(size=6)
    make = {
        'odom': lambda: odometry(stamp, place, turn, values, 'imu'),
        'imu': lambda: imu(stamp, values[3:]),
        'tf': lambda: transforms((stamp, 'odom', 'base', se3.exp(values))),
        'push': lambda: wrench_stamped(stamp, values, 'FL_foot'),
        'far': lambda: wrench_stamped(stamp, values, 'odom'),
        'foot': lambda: wrench_stamped(stamp, 100.0 * np.sign(values)),
        'contact_states': lambda: contact_states(stamp, contact_state('RL_foot')),
    }
    joints = partial(joint_state, stamp, NAMES, *rng.uniform(-1.0, 1.0, (3, 12)))
    return make.get(topic, joints)()


def play(stream, setup, milliseconds, without=''):
    """Hand over one message a topic; return the answer."""
    answer = None
    for topic in TOPICS[setup]:
        if topic != without:
            answer = take(stream, topic, message_of(topic, T0 + milliseconds * MS))
    return answer


def start(model, setup, milliseconds=None):
    """Return a stream, and where asked its answer after two messages a topic."""
    stream = LinearizationStream(model, StreamSettings(**SETUPS[setup]))
    stream.on_drop = lambda drop: None  # counted
    if milliseconds is None:
        return stream
    play(stream, setup, milliseconds - 1)
    return stream, play(stream, setup, milliseconds)


def assert_same(answer, expected):
    for name in ('A', 'B', 'nu_dot'):
        np.testing.assert_array_equal(getattr(answer, name), getattr(expected, name))
    np.testing.assert_array_equal(answer.point.tau, expected.point.tau)
    np.testing.assert_array_equal(answer.point.state.data, expected.point.state.data)
    assert answer.point.stamp == expected.point.stamp
    assert answer.point.odometry_stamp == expected.point.odometry_stamp


def times(factor):
    return lambda turn: SimpleNamespace(**{x: factor * value for x, value in vars(turn).items()})


def fifth(value):
    return lambda values: np.where(np.arange(values.size) == 4, value, values)


TURN, PLACED = 'pose.pose.orientation', ((1, 0, 0), (0, 0, 0, 1))
ROTATION, TRANSLATION = (f'transforms.0.transform.{x}' for x in ('rotation.w', 'translation.x'))
FAULTS = [
    *(('odom', 'child_frame_id', x, Cause.FRAME) for x in ('FL_calf', 'base_link', '')),
    *(('odom', TURN, times(x), Cause.QUATERNION) for x in (0.0, 0.9895, 1.0105, 2.0)),
    ('odom', 'pose.pose.position.y', np.nan, Cause.NOT_FINITE),
    ('odom', 'twist.twist.angular.z', np.inf, Cause.NOT_FINITE),
    ('joint_states', 'name', NAMES[1:], Cause.MISSING_JOINT),
    ('joint_states', 'name', [*NAMES, NAMES[0]], Cause.JOINT_TWICE),
    ('joint_states', 'position', [], Cause.MISSING_JOINT),
    ('joint_states', 'velocity', [], Cause.MISSING_VELOCITY),
    *(('joint_states', 'velocity', np.zeros(n), Cause.LENGTH) for n in (11, 13)),
    *(('joint_states', 'velocity', fifth(x), Cause.NOT_FINITE) for x in (np.nan, np.inf, -np.inf)),
    ('joint_states', 'velocity', np.inf * (-1.0) ** np.arange(12), Cause.NOT_FINITE),
    ('joint_states', 'velocity', np.full(12, 1e200), Cause.NOT_FINITE),
    ('joint_states at foot', 'effort', [], Cause.MISSING_EFFORT),
    ('joint_states at parts', 'velocity', np.zeros(4), Cause.LENGTH),
    ('joint_efforts', 'effort', fifth(np.nan), Cause.NOT_FINITE),
    ('joint_efforts', 'effort', [], Cause.MISSING_EFFORT),
    ('push', 'wrench.force.x', np.nan, Cause.NOT_FINITE),
    ('push', 'wrench.torque.z', np.inf, Cause.NOT_FINITE),
    *(('push', 'header.frame_id', x, Cause.WRENCH_FRAME) for x in ('base', 'odom', '')),
    ('foot', 'wrench.force.y', np.nan, Cause.NOT_FINITE),
    *(
        ('contact_states', 'contacts', [contact_state('FL_foot', **x)], Cause.CONTACT)
        for x in ({'kind': 3}, {'kd': -1.0}, {'partner': 'FR_foot', 'placement': PLACED})
    ),
    ('contact_states', 'contacts', [contact_state('FL_fot')], Cause.CONTACT),
    ('imu', 'header.frame_id', 'FL_calf', Cause.FRAME),
    ('imu', 'angular_velocity.y', np.nan, Cause.NOT_FINITE),
    ('imu', 'angular_velocity_covariance', -np.eye(9)[0], Cause.NOT_FINITE),
    ('tf', ROTATION, lambda w: w + 0.5, Cause.QUATERNION),
    ('tf', TRANSLATION, np.nan, Cause.NOT_FINITE),
    *(
        (topic, 'header.stamp', stamp_of(stamp), Cause.BACKWARDS)
        for topic in (
            *('odom', 'joint_states', 'joint_states at parts'),
            *('push', 'foot', 'contact_states'),
        )
        for stamp in (T0, T0 - MS, T0 + MS - SECOND)
    ),
]  # fmt: skip


def change(message, path, to):
    """Set an entry of a message by its path, to a value or by a function of the one it has."""
    *way, name = path.split('.')
    holder = reduce(lambda x, key: x[0] if key == '0' else getattr(x, key), way, message)
    setattr(holder, name, to(getattr(holder, name)) if callable(to) else to)
    return message


@pytest.mark.parametrize(('topic', 'path', 'to', 'cause'), FAULTS)
def test_fault__is_counted_by_its_cause_and_leaves_no_trace(quadruped, topic, path, to, cause):
    topic, _, at = topic.partition(' at ')
    setup = next(name for name, topics in TOPICS.items() if (at or topic) in (*topics, name))
    (clean, _), (faulty, _) = (start(quadruped, setup, 0) for _ in range(2))
    for k in (1, 2):  # the second time, nothing of it may be taken for known
        take(faulty, topic, change(message_of(topic, T0 + k * MS), path, to))
    assert faulty.counts.drops - clean.counts.drops == {cause: 2}
    for k in (3, 4):
        good = message_of('joint_states', T0 + k * MS)
        assert_same(take(faulty, 'joint_states', good), take(clean, 'joint_states', good))
        if topic != 'joint_states':  # the stamp of a fault is none of those before it
            for stream in (faulty, clean):
                take(stream, topic, message_of(topic, T0 + MS))
    assert faulty.counts.dropped == clean.counts.dropped + 2


NEEDED = [
    ('usual', 'odom', Cause.NO_ODOMETRY, 50, Cause.SKEW),
    ('usual', 'joint_efforts', Cause.NO_EFFORT, None, None),
    ('usual', 'contact_states', Cause.NO_CONTACTS, None, None),
    ('usual', 'push', Cause.NO_WRENCH, 100, Cause.NO_WRENCH),
    ('forces', 'foot', Cause.NO_CONTACTS, 20, Cause.NO_CONTACTS),
    ('transforms', 'tf', Cause.NO_ODOMETRY, 50, Cause.SKEW),
    ('transforms', 'imu', Cause.NO_VELOCITY, 50, Cause.NO_VELOCITY),
]


@pytest.mark.parametrize(('setup', 'topic', 'missing', 'most', 'old'), NEEDED)
def test_joint_state__is_dropped_without_what_it_needs(
    quadruped, setup, topic, missing, most, old
):
    stream = start(quadruped, setup)
    for k in (0, 1):
        assert play(stream, setup, k, without=topic) is None
    assert stream.counts.drops[missing] >= 1
    stream, _ = start(quadruped, setup, 0)
    drops = stream.counts.drops.copy()
    assert play(stream, setup, most or 5000, without=topic) is not None
    assert stream.counts.drops == drops
    if most is not None:
        play(stream, setup, most + 1, without=topic)
        assert stream.counts.drops - drops == {old: 1}


@pytest.mark.parametrize('setup', SETUPS)
def test_stream_that_starts_anew__answers_as_a_new_one(quadruped, setup):
    """By itself where the clock was set back by a second or more; else as it is asked to."""
    for first in (-1000, -500):
        stream, _ = start(quadruped, setup, 0)
        if first == -500:
            stream.forget()
        play(stream, setup, first)
        _, expected = start(quadruped, setup, first + 1)
        assert_same(play(stream, setup, first + 1), expected)


@pytest.mark.parametrize('setup', ['usual', 'forces'])
def test_stream__goes_on_with_the_inputs_of_an_earlier_one(quadruped, sensor_robot, setup):
    earlier, _ = start(quadruped, setup, 0)
    later, message = start(quadruped, setup), message_of('joint_states', T0 + MS)
    later.resume(earlier)
    answer = take(later, 'joint_states', message)
    assert_same(answer, take(earlier, 'joint_states', message))
    stranger = LinearizationStream(sensor_robot, StreamSettings(torque_source='topic'))
    stranger.resume(earlier)
    assert stranger.newest_stamps == {'joint state': None, 'odometry': None}
    assert stranger.counts.dropped == 0


# ---- Odometry


def answer_to(model, joint_stamp, *inputs, **settings):
    """Return a stream and its answer to inputs (topic, message) and a joint state."""
    stream = LinearizationStream(model, StreamSettings(torque_source='zero', **settings))
    for topic, message in inputs:
        take(stream, topic, message)
    message = joint_state(joint_stamp, model.joint_names, *np.zeros((3, model.n)))
    return stream, take(stream, 'joint_states', message)


def reference(model, frame, place, turn, twist, twist_frame='child'):
    """Return H and v of the base by Pinocchio."""
    H_child = pin.SE3(pin.Quaternion(*turn[[3, 0, 1, 2]]).matrix(), place)
    if twist_frame == 'world':
        R = H_child.rotation.T
        twist = np.concatenate((R @ twist[:3], R @ twist[3:]))
    P = pin.SE3(model.frame(frame).placement)
    return H_child * P.inverse(), P.act(pin.Motion(twist)).vector


@pytest.mark.parametrize('milliseconds', [-50, -1, 0, 3, 50])
@pytest.mark.parametrize('frame', ['base', 'camera'])
@pytest.mark.parametrize('twist_frame', ['child', 'world'])
def test_base__is_carried_along_its_twist_as_pinocchio_does(
    sensor_robot, frame, twist_frame, milliseconds
):
    rng = np.random.default_rng(milliseconds + 50)
    place, turn, twist = rng.normal(size=3), random_quaternion(rng), rng.normal(size=6)
    older = odometry(T0 - MS, place + 1.0, turn, twist, frame, 'another')
    message = odometry(T0, place, turn, twist, frame, 'map')
    stamp = T0 + milliseconds * MS
    inputs = ('odom', older), ('odom', message)
    stream, answer = answer_to(sensor_robot, stamp, *inputs, twist_frame=twist_frame)
    H, v = reference(sensor_robot, frame, place, turn, twist, twist_frame)
    expected = (H * pin.exp6(v * milliseconds * 1e-3)).homogeneous
    assert_close(answer.point.state.H, expected, 1e-14, 'pose')
    assert_close(answer.point.state.v, v, 1e-14, 'twist')
    point = answer.point
    assert (point.world_frame, point.stamp, point.odometry_stamp) == ('map', stamp, T0)
    assert point.odometry_age == pytest.approx(milliseconds * 1e-3, abs=1e-12)
    assert stream.newest_stamps == {'joint state': stamp, 'odometry': T0}
    if milliseconds < 0:  # an odometry that is after the joint state may be too far, too
        with dropped(Cause.SKEW):
            answer_to(sensor_robot, T0 - 51 * MS, *inputs[1:])


@pytest.mark.parametrize('length', [0.9905, 1.0, 1.0 + 1e-7, 1.0095])
@pytest.mark.parametrize('turn', [(0.1, 0.5, -0.5, 0.7), (np.sqrt(0.5), np.sqrt(0.5), 0.0, 1e-10)])
def test_quaternion_within_the_tolerance__is_normalised(sensor_robot, length, turn):
    turn = np.array(turn) / np.linalg.norm(turn)
    message = odometry(T0, np.zeros(3), length * turn, np.zeros(6))
    _, answer = answer_to(sensor_robot, T0, ('odom', message))
    expected, _ = reference(sensor_robot, 'base', np.zeros(3), turn, np.zeros(6))
    assert_close(answer.point.state.H, expected.homogeneous, 1e-14)
    R = answer.point.state.H[:3, :3]
    assert_close(R.T @ R, np.eye(3), 1e-15)


@pytest.mark.parametrize(
    ('settings', 'child'),
    [
        ({'child_frame': 'camera'}, 'robot7/base_link'),
        ({'frame_prefix': 'robot1/'}, 'robot1/camera'),
        ({'frame_prefix': 'robot1/'}, 'camera'),
    ],
)
def test_child_frame_and_prefix__say_what_messages_are_about(sensor_robot, settings, child):
    inputs = (
        ('odom', Source(None).odometry(T0, child_frame_id=name)) for name in (child, 'camera')
    )
    found, expected = (
        answer_to(sensor_robot, T0, message, **options)[1]
        for message, options in zip(inputs, (settings, {}), strict=True)
    )
    np.testing.assert_array_equal(found.point.state.data, expected.point.state.data)


@pytest.mark.parametrize('name', ['arm', 'base_link'])
@pytest.mark.parametrize('base_source', ['odometry', 'tf'])
def test_child_frame__has_to_be_on_the_base(sensor_robot, base_source, name):
    with pytest.raises(ConfigurationError, match=f'{name!r}, expected a link fixed to the base'):
        LinearizationStream(
            sensor_robot, StreamSettings(child_frame=name, base_source=base_source)
        )


# ---- Transforms and an IMU


class Motion:
    """A base with constant body twist, seen by transforms and by an IMU on the camera."""

    def __init__(self, model, v=(0.4, -0.3, 0.2, 0.5, 1.0, -0.7)):
        self.v, self.model = np.array(v), model
        self.start = se3.exp(np.random.default_rng(0).normal(size=6))

    def pose(self, t):
        return self.start @ se3.exp(t * self.v)

    def run(self, count, tip='base', prefix='', **settings):
        """Return the stream and its answer to ``count`` transforms 2 ms apart."""
        P = {name: self.model.frame(name).placement for name in (tip, 'camera')}
        inputs = []
        for k in range(count):
            stamp, H = T0 + 2 * k * MS, self.pose(2e-3 * k) @ P[tip]
            inputs += [
                ('imu', imu(stamp, P['camera'][:3, :3].T @ self.v[3:], f'{prefix}camera')),
                ('tf', transforms((stamp, 'odom', prefix + tip, H))),
            ]
        stream = LinearizationStream(
            self.model, StreamSettings(torque_source='zero', base_source='tf', **settings)
        )
        stream.on_drop = lambda drop: None
        for one in inputs:
            take(stream, *one)
        assert stream.counts.drops == {Cause.NO_VELOCITY: 1}, 'of the first transform alone'
        stamp = T0 + 2 * (count - 1) * MS
        message = joint_state(stamp, self.model.joint_names, *np.zeros((3, self.model.n)))
        return stream, take(stream, 'joint_states', message)


@pytest.mark.parametrize(
    'options',
    [
        {},
        {'tip': 'camera', 'child_frame': 'camera'},
        {'prefix': 'robot1/', 'frame_prefix': 'robot1/'},
    ],
    ids=str,
)
def test_transforms__give_pose_and_turning_exactly_and_the_velocity_late(sensor_robot, options):
    motion, count, cutoff = Motion(sensor_robot), 300, 20.0
    stream, answer = motion.run(count, tf_velocity_cutoff=cutoff, **options)
    t, late = 2e-3 * (count - 1), 1e-3 + 1.0 / (2.0 * np.pi * cutoff)
    assert_close(answer.point.state.H, motion.pose(t), 1e-12)
    assert_close(answer.point.state.v[3:], motion.v[3:], 1e-13)
    then = motion.pose(t - late)[:3, :3] @ motion.v[:3]  # in world axes
    assert_close(answer.point.state.v[:3], motion.pose(t)[:3, :3].T @ then, 2e-3)
    delay = stream.details['delay of the linear velocity of the base [ms]']
    assert delay == f'{1e3 * late:.3f}'
    assert answer.point.world_frame == 'odom'
    assert stream.newest_stamps['transform'] == T0 + round(t * 1e3) * MS


def test_straight_motion__has_its_velocity_at_once(sensor_robot):
    motion = Motion(sensor_robot, v=(0.4, -0.3, 0.2, 0.0, 0.0, 0.0))
    _, answer = motion.run(3)
    assert_close(answer.point.state.v, motion.v, 1e-9)


def test_chain__is_composed_of_static_and_moving_transforms(sensor_robot):
    given, motion = (
        TransformInput(sensor_robot, StreamSettings(tf_world_frame='map')),
        Motion(sensor_robot),
    )
    fixed, slow = se3.exp(np.linspace(-1, 1, 6)), se3.exp(np.linspace(1, 0, 6))
    static = transforms((0, '', 'of no use', np.nan * fixed), (0, 'footprint', 'base', fixed))
    with dropped(Cause.NOT_FINITE, "'of no use'"):
        given.take(static, is_static=True)
    assert given.take(transforms((T0 - 9 * SECOND, 'map', 'odom', slow))) is None
    given.take_imu(imu(T0, np.ones(3), 'camera'))
    with dropped(Cause.NO_VELOCITY, 'expected two transforms first'):
        given.take(transforms((T0, 'odom', 'footprint', motion.pose(0.0))))
    sample = given.take(transforms((T0 + MS, 'odom', 'footprint', motion.pose(1e-3))))
    assert sample.stamp == T0 + MS
    assert_close(sample.H, slow @ motion.pose(1e-3) @ fixed, 1e-13)
    assert given.take(transforms((T0 + 2 * MS, 'odom', 'other_robot', slow))) is None
    assert given.take(transforms((T0 + 2 * MS, 'map', 'odom', slow))) is None
    with dropped(Cause.BACKWARDS):
        given.take(transforms((T0, 'odom', 'footprint', slow)))
    circle = transforms((T0, 'b', 'base', slow), (T0, 'base', 'b', slow))
    assert given.take(circle) is None


# ---- Rates of what is measured


def rates(signal, stamps, cutoff):
    """Return the rate after each sample, and the differentiator."""
    differentiator = Differentiator(cutoff)
    found = []
    for stamp in stamps:
        differentiator.add(int(stamp), np.array(signal(stamp * 1e-9), dtype=float))
        found.append(differentiator.rate)
    return found, differentiator


def test_rate__of_a_ramp_is_its_slope_at_once():
    slope = np.array((2.0, -3.0))
    found, _ = rates(lambda t: slope * t, [0, 3 * MS, 4 * MS, 9 * MS], 5.0)
    assert found[0] is None
    for rate in found[1:]:
        np.testing.assert_allclose(rate, slope, rtol=1e-12)


@pytest.mark.parametrize(('cutoff', 'step'), [(10.0, 5), (20.0, 2), (40.0, 1)])
def test_rate__of_a_parabola_lags_by_the_delay(cutoff, step):
    """The filter's answer to a rate that grows by 1 a second is late by exactly its delay."""
    stamps = np.arange(0, 2000, step) * MS
    found, differentiator = rates(lambda t: [0.5 * t * t], stamps, cutoff)
    late = stamps[-1] * 1e-9 - found[-1][0]
    share = -np.expm1(-2 * np.pi * cutoff * step * 1e-3)
    exact = (1.0 / share - 1.0) * step * 1e-3 + 0.5 * step * 1e-3  # of the recursion, summed up
    assert late == pytest.approx(exact, rel=1e-6)
    assert differentiator.delay == pytest.approx(exact, abs=0.6e-3 * step)


@pytest.mark.parametrize('stamp', [-5 * MS, 1700 * MS, None])
def test_jump_and_forgetting__start_anew(stamp):
    differentiator = Differentiator(10.0)
    for t in (0, MS):
        differentiator.add(t, np.array([t * 1e-9]))
    if stamp is None:
        differentiator.forget()
        stamp = 2 * MS
    differentiator.add(stamp, np.array([5.0]))
    assert differentiator.rate is None
    differentiator.add(stamp + MS, np.array([5.002]))
    assert differentiator.rate[0] == pytest.approx(2.0)


# ---- Joint states


def test_numbers__go_where_their_names_say(quadruped):
    """Whatever the order, which may change, whatever the arrays, and whatever strangers have."""
    reader, rng = JointInput(quadruped), np.random.default_rng(0)
    mixed = [*NAMES, 'gripper', 'gripper', 'tail']
    for names in (NAMES, NAMES[::-1], mixed, list(rng.permutation(mixed)), NAMES):
        numbers = rng.normal(size=(3, len(names)))
        numbers[:, [name not in NAMES for name in names]] = np.nan
        numbers[0, [names.index(name) for name in NAMES[:2]]] = 1e308  # their sum is infinite
        for kind in (list, tuple, np.array):
            message = joint_state(T0, names, *numbers)
            for field, values in zip(('position', 'velocity', 'effort'), numbers, strict=True):
                setattr(message, field, kind(values))
                out = np.empty(12)
                reader.read(message, field, out, Cause.MISSING_VELOCITY)
                np.testing.assert_array_equal(out, [values[names.index(name)] for name in NAMES])


def test_joints_that_no_joint_state_holds__are_refused():
    links = tuple(Link.from_mass(name, 1.0, np.zeros(3), np.eye(3)) for name in 'ab')
    ball = Description('ball', links, (Joint('hip', 'spherical', 'a', 'b'),))
    with pytest.raises(UnsupportedJointError, match='hip/qw, hip/qx, hip/qy, hip/qz'):
        JointInput(TreeModel.from_description(ball))


HALVES = ['lidar', *NAMES[7:]], [*NAMES[:7][::-1], 'gripper']
"""The joints of two publishers; each has one that is none of the robot's."""


@pytest.fixture
def parts(quadruped):
    return JointParts(quadruped, max_skew=0.05)


def part(half, milliseconds, **changes):
    names, rng = HALVES[half], np.random.default_rng(milliseconds % 1000)
    message = joint_state(T0 + milliseconds * MS, names, *rng.uniform(-1.0, 1.0, (3, len(names))))
    vars(message).update(changes)
    return message


def test_whole__has_all_parts_at_the_newest_stamp(quadruped):
    stream = LinearizationStream(quadruped, StreamSettings(joint_states_in_parts=True))
    take(stream, 'odom', Source(quadruped).odometry(T0))
    both = part(0, 0), part(1, 8)
    first, answer = (take(stream, 'joint_states', message) for message in both)
    assert first is None
    assert answer.point.stamp == T0 + 8 * MS
    for c, name in enumerate(NAMES):
        source, late = (both[0], 0.008) if name in both[0].name else (both[1], 0.0)
        s, r, tau = (
            getattr(source, field)[source.name.index(name)]
            for field in ('position', 'velocity', 'effort')
        )
        assert (answer.point.state.r[c], answer.point.tau[c]) == (r, tau)
        assert answer.point.state.s[c] == pytest.approx(s + late * r, abs=1e-15)
    counts = stream.counts
    assert (counts.received, counts.parts, counts.answered, counts.dropped) == (2, 1, 1, 0)


def test_fast_publisher__waits_for_the_slow_one(parts):
    assert parts.merge(joint_state(T0, ['lidar'], [1.0], [1.0], [1.0])) is None
    stamps = []
    for t in range(1, 101):
        for half in range(1 + (t % 20 == 0)):
            whole = parts.merge(part(half, t))
            if whole is not None:
                stamps.append((nanoseconds(whole.header.stamp) - T0) // MS)
    assert stamps == [20, 40, 60, 80, 100]
    assert parts.merge(part(0, 110)) is None
    assert parts.merge(part(1, 105)) is not None  # another publisher may be late
    for half, t in ((0, 0), (1, 1)):  # the clock is set back by more than a second
        whole = parts.merge(part(half, t - 2000))
    assert nanoseconds(whole.header.stamp) == T0 - 1999 * MS


@pytest.mark.parametrize('before', [0, 1])
def test_joint_that_does_not_come__is_named(parts, before):
    """Whether it never came, or its publisher ended."""
    for half in range(1 + before):
        parts.merge(part(half, 0))
    assert parts.merge(part(0, 50)) is None
    with dropped(Cause.JOINT_TWICE, f'{NAMES[1]!r} 6 times'):
        parts.merge(part(0, 51, name=NAMES[1:2] * len(HALVES[0])))
    with dropped(Cause.MISSING_JOINT, f'{NAMES[0]!r} has not come for 0.0510 s'):
        parts.merge(part(0, 51))
    assert parts.merge(part(1, 52)) is not None


def test_fields_that_a_part_leaves_out__are_missing(parts):
    nothing = np.zeros(0)
    parts.merge(part(0, 0, effort=nothing))
    whole = parts.merge(part(1, 0))
    assert np.isnan(whole.effort).sum() == 5
    parts.merge(part(0, 1, effort=nothing))
    assert parts.merge(part(1, 1, effort=nothing)).effort.size == 0


def test_part_of_a_joint_state__is_answered_with_how_to_merge(quadruped):
    stream = LinearizationStream(quadruped, StreamSettings())
    with pytest.raises(DroppedInput, match='or set joint_states_in_parts'):
        take(stream, 'joint_states', part(0, 0))
