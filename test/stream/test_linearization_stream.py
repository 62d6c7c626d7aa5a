# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import dataclasses

import numpy as np
import pytest
from support.messages import SECOND
from support.states import seen_from
from support.taking import Source, dropped, take

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import LinearizationStream

T0 = 50 * SECOND
MS = 1_000_000


@pytest.fixture
def source(quadruped):
    return Source(quadruped)


def make_stream(model, **settings):
    return LinearizationStream(model, StreamSettings(**settings))


def assert_library_says_the_same(answer, model, settings):
    """Compare an answer with the public API about the answer's own state, to the last bit."""
    state, tau = answer.state.copy(), answer.tau.copy()
    if settings.form == 'continuous':
        expected = seen_from(Linearizer(model)(state, tau), settings.reference)
        if settings.representation != 'body':
            expected = expected.in_representation(settings.representation)
        A, B, drift, nu_dot = expected.A, expected.B, expected.drift, expected.nu_dot
        assert answer.next_state is None
    else:
        step = Linearizer(model).discretize(
            state, tau, settings.dt, method=settings.method, reference=settings.reference
        )
        if settings.representation != 'body':
            step = step.in_representation(settings.representation)
        A, B, drift, nu_dot = step.Phi, step.Gamma, step.defect, step.nu_dot
        np.testing.assert_array_equal(answer.next_state.data, step.next_state.data)
    for ours, theirs in ((answer.A, A), (answer.B, B), (answer.drift, drift)):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(answer.nu_dot, nu_dot)


@pytest.mark.parametrize('representation', ['body', 'inertial', 'mixed'])
@pytest.mark.parametrize('reference', ['moving', 'frozen'])
@pytest.mark.parametrize('method', [None, 'midpoint', 'euler', 'zoh', 'rkmk4'])
def test_answer__is_what_the_library_says(quadruped, source, method, reference, representation):
    settings = StreamSettings(reference=reference, representation=representation)
    if method is not None:
        settings = dataclasses.replace(settings, form='discrete', method=method, dt=0.004)
    stream = LinearizationStream(quadruped, settings)
    take(stream, 'odom', source.odometry(T0))
    message = source.joint_state(T0)
    answer = take(stream, 'joint_states', message)
    np.testing.assert_array_equal(answer.state.s, message.position)
    np.testing.assert_array_equal(answer.state.r, message.velocity)
    np.testing.assert_array_equal(answer.tau, message.effort)
    assert_library_says_the_same(answer, quadruped, settings)
    assert answer.compute_time > 0.0


def test_stamps_and_frame__are_those_of_the_inputs(quadruped, source):
    stream = make_stream(quadruped)
    take(stream, 'odom', source.odometry(T0, frame_id='map'))
    answer = take(stream, 'joint_states', source.joint_state(T0 + 3 * MS))
    assert (answer.stamp, answer.odometry_stamp) == (T0 + 3 * MS, T0)
    assert answer.odometry_age == pytest.approx(3e-3)
    assert answer.world_frame == 'map'
    assert stream.newest_stamps == {'joint state': T0 + 3 * MS, 'odometry': T0}


def test_timer__answers_once_about_the_newest_joint_state(quadruped, source):
    stream = make_stream(quadruped, trigger='timer')
    take(stream, 'odom', source.odometry(T0))
    assert take(stream, 'timer', None) is None
    messages = [source.joint_state(T0 + k * MS) for k in range(3)]
    assert all(take(stream, 'joint_states', message) is None for message in messages)
    answer = take(stream, 'timer', None)
    np.testing.assert_array_equal(answer.state.s, messages[-1].position)
    assert take(stream, 'timer', None) is None
    assert (stream.counts.received, stream.counts.skipped, stream.counts.answered) == (3, 2, 1)


def test_fixed_base__needs_no_odometry():
    model = TreeModel.from_urdf(robots.path('quadruped'), base='fixed')
    stream, source = make_stream(model), Source(model)
    answer = take(stream, 'joint_states', source.joint_state(T0))
    assert answer.A.shape == (24, 24)
    assert (answer.odometry_stamp, answer.world_frame) == (0, 'base')
    assert_library_says_the_same(answer, model, stream.settings)


class TestEfforts:
    def test_zero__leaves_those_of_the_message_aside(self, quadruped, source):
        stream = make_stream(quadruped, torque_source='zero')
        take(stream, 'odom', source.odometry(T0))
        for effort in (np.full(12, 5.0), np.zeros(0)):
            message = source.joint_state(T0 + int(effort.size == 0))
            message.effort = effort
            np.testing.assert_array_equal(take(stream, 'joint_states', message).tau, np.zeros(12))

    def test_topic__is_waited_for_and_then_held(self, quadruped, source):
        stream = make_stream(quadruped, torque_source='topic')
        take(stream, 'odom', source.odometry(T0))
        with dropped(Cause.NO_EFFORT, 'no efforts yet'):
            take(stream, 'joint_states', source.joint_state(T0))
        commands = source.joint_state(T0)
        commands.position = commands.velocity = np.zeros(0)
        take(stream, 'joint_efforts', commands)
        for k in (1, 2):
            answer = take(stream, 'joint_states', source.joint_state(T0 + k * MS))
            np.testing.assert_array_equal(answer.tau, commands.effort)

    def test_bad_efforts__leave_the_good_ones_in_force(self, quadruped, source):
        stream = make_stream(quadruped, torque_source='topic')
        take(stream, 'odom', source.odometry(T0))
        good = source.joint_state(T0)
        take(stream, 'joint_efforts', good)
        bad = source.joint_state(T0)
        bad.effort[3] = np.nan
        with pytest.raises(DroppedInput, match='has effort nan'):
            take(stream, 'joint_efforts', bad)
        answer = take(stream, 'joint_states', source.joint_state(T0 + 1))
        np.testing.assert_array_equal(answer.tau, good.effort)
        assert stream.counts.drops == {Cause.NOT_FINITE: 1}


class TestOrder:
    def test_stamps__must_increase(self, quadruped, source):
        stream = make_stream(quadruped)
        take(stream, 'odom', source.odometry(T0))
        take(stream, 'joint_states', source.joint_state(T0))
        for stamp in (T0, T0 - MS):
            with dropped(Cause.BACKWARDS, 'expected a later stamp'):
                take(stream, 'joint_states', source.joint_state(stamp))
        assert take(stream, 'joint_states', source.joint_state(T0 + 1)).stamp == T0 + 1

    def test_clock_that_was_set_back__is_followed(self, quadruped, source):
        stream = make_stream(quadruped, max_rate=100.0)
        take(stream, 'odom', source.odometry(T0))
        take(stream, 'joint_states', source.joint_state(T0))
        take(stream, 'odom', source.odometry(T0 - 2 * SECOND))
        answer = take(stream, 'joint_states', source.joint_state(T0 - 2 * SECOND))
        assert answer.stamp == T0 - 2 * SECOND

    @pytest.mark.parametrize(
        ('max_rate', 'answered'), [(0.0, 100), (1000.0, 100), (250.0, 25), (1.0, 1)]
    )
    def test_max_rate__leaves_out_what_comes_faster(self, quadruped, source, max_rate, answered):
        stream = make_stream(quadruped, max_rate=max_rate)
        take(stream, 'odom', source.odometry(T0))
        answers = [
            take(stream, 'joint_states', source.joint_state(T0 + k * MS)) is not None
            for k in range(50)
        ]
        take(stream, 'odom', source.odometry(T0 + 50 * MS))
        answers += [
            take(stream, 'joint_states', source.joint_state(T0 + k * MS)) is not None
            for k in range(50, 100)
        ]
        assert sum(answers) == answered
        counts = stream.counts
        assert (counts.received, counts.answered, counts.skipped) == (
            100,
            answered,
            100 - answered,
        )


class TestDrops:
    def test_bad_message__is_counted_and_the_next_answered(self, quadruped, source):
        stream = make_stream(quadruped)
        take(stream, 'odom', source.odometry(T0))
        for k in range(3):
            bad = source.joint_state(T0 + 2 * k)
            bad.velocity = np.zeros(0)
            with dropped(Cause.MISSING_VELOCITY):
                take(stream, 'joint_states', bad)
            answer = take(stream, 'joint_states', source.joint_state(T0 + 2 * k + 1))
            assert_library_says_the_same(answer, quadruped, stream.settings)
        assert stream.counts.drops == {Cause.MISSING_VELOCITY: 3}
        assert (stream.counts.received, stream.counts.answered) == (6, 3)
        assert stream.counts.dropped == 3

    def test_bad_odometry__is_counted(self, quadruped, source):
        stream = make_stream(quadruped)
        message = source.odometry(T0, child_frame_id='FL_foot')
        with pytest.raises(DroppedInput):
            take(stream, 'odom', message)
        assert stream.counts.drops == {Cause.FRAME: 1}

    def test_overflow__is_a_drop(self, quadruped, source):
        stream = make_stream(quadruped)
        take(stream, 'odom', source.odometry(T0))
        message = source.joint_state(T0)
        message.velocity[:] = 1e200
        with dropped(Cause.NOT_FINITE, 'NaN or inf'):
            take(stream, 'joint_states', message)
        assert take(stream, 'joint_states', source.joint_state(T0 + 1)) is not None


class TestResume:
    def test_stream__goes_on_with_the_inputs_of_an_earlier_one(self, quadruped, source):
        earlier = make_stream(quadruped, torque_source='topic')
        take(earlier, 'odom', source.odometry(T0))
        efforts = source.joint_state(T0)
        take(earlier, 'joint_efforts', efforts)
        message = source.joint_state(T0 + MS)
        expected = take(earlier, 'joint_states', message)
        later = make_stream(quadruped, torque_source='topic')
        later.resume(earlier)
        answer = take(later, 'joint_states', message)
        np.testing.assert_array_equal(answer.A, expected.A)
        np.testing.assert_array_equal(answer.tau, efforts.effort)

    def test_inputs_that_do_not_fit__are_forgotten(self, quadruped, sensor_robot, source):
        earlier = make_stream(quadruped, torque_source='topic')
        take(earlier, 'odom', source.odometry(T0, child_frame_id='imu'))
        take(earlier, 'joint_efforts', source.joint_state(T0))
        later = make_stream(sensor_robot, torque_source='topic')
        later.resume(earlier)
        assert later.newest_stamps == {'joint state': None, 'odometry': None}
        assert later.counts.dropped == 0


def test_warm_up__counts_nothing(quadruped):
    stream = make_stream(quadruped)
    stream.warm_up()
    assert stream.counts.received == stream.counts.dropped == 0
