# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers about joint states: which are given, and that they are the library's."""

import dataclasses
import time

import numpy as np
import pytest
from support.close import assert_close
from support.messages import SECOND
from support.states import seen_from
from support.taking import Source, dropped, take

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.spatial.se3 import exp
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.state_input import BaseSample, Pairing
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.topic_stream import Cause, nanoseconds

pin = pytest.importorskip('pinocchio')
T0, MS = 50 * SECOND, 1_000_000


def assert_library_says_the_same(answer, model, settings):
    """Compare an answer with the public API about the answer's own state, to the last bit."""
    state, tau = answer.point.state.copy(), answer.point.tau.copy()
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
def test_answer__is_what_the_library_says(quadruped, method, reference, representation):
    settings = StreamSettings(reference=reference, representation=representation)
    if method is not None:
        settings = dataclasses.replace(settings, form='discrete', method=method, dt=0.004)
    stream, source = LinearizationStream(quadruped, settings), Source(quadruped)
    stream.warm_up()
    assert stream.counts.received == stream.counts.dropped == 0
    take(stream, 'odom', source.odometry(T0))
    message = source.joint_state(T0)
    answer = take(stream, 'joint_states', message)
    np.testing.assert_array_equal(answer.point.state.s, message.position)
    np.testing.assert_array_equal(answer.point.state.r, message.velocity)
    np.testing.assert_array_equal(answer.point.tau, message.effort)
    assert_library_says_the_same(answer, quadruped, settings)
    assert answer.compute_time > 0.0


def test_fixed_base__needs_no_odometry():
    model = TreeModel.from_urdf(robots.path('quadruped'), base='fixed')
    stream = LinearizationStream(model, StreamSettings())
    answer = Source(model).feed(stream, T0)
    assert answer.A.shape == (24, 24)
    assert (answer.point.odometry_stamp, answer.point.world_frame) == (0, 'base')
    assert_library_says_the_same(answer, model, stream.settings)


def test_timer__answers_once_about_the_newest_joint_state(quadruped):
    stream = LinearizationStream(quadruped, StreamSettings(trigger='timer'))
    source = Source(quadruped)
    take(stream, 'odom', source.odometry(T0))
    assert take(stream, 'timer', None) is None
    messages = [source.joint_state(T0 + k * MS) for k in range(3)]
    assert all(take(stream, 'joint_states', message) is None for message in messages)
    answer = take(stream, 'timer', None)
    np.testing.assert_array_equal(answer.point.state.s, messages[-1].position)
    assert take(stream, 'timer', None) is None
    assert (stream.counts.received, stream.counts.skipped, stream.counts.answered) == (3, 2, 1)


@pytest.mark.parametrize('source', ['zero', 'topic'])
def test_efforts__may_be_others_than_those_of_the_joint_states(quadruped, source):
    stream = LinearizationStream(quadruped, StreamSettings(torque_source=source))
    efforts, robot = np.zeros(12), Source(quadruped)
    if source == 'topic':
        commands = robot.joint_state(T0)
        commands.position = commands.velocity = np.zeros(0)
        take(stream, 'joint_efforts', commands)
        efforts = commands.effort
    take(stream, 'odom', robot.odometry(T0))
    for k in range(2):
        message = robot.joint_state(T0 + k * MS)
        message.effort = message.effort[: 12 * k]
        np.testing.assert_array_equal(take(stream, 'joint_states', message).point.tau, efforts)


@pytest.mark.parametrize(
    ('max_rate', 'answered'), [(0.0, 100), (1000.0, 100), (250.0, 25), (1.0, 1)]
)
def test_max_rate__leaves_out_what_comes_faster(quadruped, max_rate, answered):
    stream = LinearizationStream(quadruped, StreamSettings(max_rate=max_rate))
    source = Source(quadruped)
    for k in range(100):
        if k % 50 == 0:
            take(stream, 'odom', source.odometry(T0 + k * MS))
        take(stream, 'joint_states', source.joint_state(T0 + k * MS))
    counts = stream.counts
    assert (counts.received, counts.answered, counts.skipped) == (100, answered, 100 - answered)
    set_back = T0 - 2 * SECOND  # the first is answered whatever the last one was
    assert source.feed(stream, set_back).point.stamp == set_back


# ---- Joint states between odometries, and those that wait for one


@pytest.mark.parametrize('milliseconds', [0, 1, 10, 20, 33, 47, 60])
def test_base__is_where_pinocchio_interpolates_it(quadruped, milliseconds):
    rng, state = np.random.default_rng(0), quadruped.neutral_state()
    pairing = Pairing('interpolate', 0.03)
    samples = [
        BaseSample(T0 + k * 20 * MS, exp(rng.normal(size=6)), rng.normal(size=6)) for k in range(4)
    ]
    for sample in samples:
        pairing.add(sample)
    age = pairing.at(T0 + milliseconds * MS, state)
    k, rest = divmod(milliseconds, 20)
    first, second = samples[k], samples[min(k + 1, 3)]
    expected = pin.SE3.Interpolate(pin.SE3(first.H), pin.SE3(second.H), rest / 20)
    assert_close(state.H, expected.homogeneous, 1e-13)
    assert_close(state.v, first.v + rest / 20 * (second.v - first.v), 1e-14)
    assert age == pytest.approx(rest * 1e-3)


@pytest.mark.parametrize(
    ('milliseconds', 'says'),
    [(-1, 'before it is'), (101, 'after it is'), (50, r'\+0.0500 s away')],
)
def test_joint_state__outside_or_in_a_gap_is_refused(quadruped, milliseconds, says):
    pairing = Pairing('interpolate', max_skew=0.03)
    for stamp in (T0, T0 + 100 * MS):
        pairing.add(BaseSample(stamp, np.eye(4), np.zeros(6)))
    with dropped(Cause.SKEW, says):
        pairing.at(T0 + milliseconds * MS, quadruped.neutral_state())


def test_samples_before_the_clock_was_set_back__are_forgotten(quadruped):
    pairing = Pairing('newest', max_skew=0.03, waits=True)
    for stamp in (T0, T0 - 2 * SECOND):
        pairing.add(BaseSample(stamp, np.eye(4), np.zeros(6)))
    age = pairing.at(T0 - 2 * SECOND - 5 * MS, quadruped.neutral_state())
    assert age == pytest.approx(-5e-3)


def joints(model, milliseconds):
    return Source(model, milliseconds).joint_state(T0 + milliseconds * MS)


def base(milliseconds):
    return Source(None, milliseconds).odometry(T0 + milliseconds * MS)


@pytest.fixture
def stream(quadruped):
    return LinearizationStream(quadruped, StreamSettings(pairing='interpolate', max_skew=0.05))


def test_joint_states__wait_for_the_odometry_after_them(stream, quadruped):
    take(stream, 'odom', base(0))
    before = time.perf_counter()
    for t in (1, 5, 9, 12):
        assert take(stream, 'joint_states', joints(quadruped, t)) is None
    after, stamps = time.perf_counter(), []
    for answer in stream.take('odom', base(10)):
        stamps.append(answer.point.stamp)
        position = joints(quadruped, (answer.point.stamp - T0) // MS).position
        np.testing.assert_array_equal(answer.point.state.s, position)
        assert answer.point.odometry_stamp == T0
        assert before < answer.point.received_at < after < answer.point.began_at
    assert stamps == [T0 + t * MS for t in (1, 5, 9)]
    counts = stream.counts
    assert (counts.received, counts.answered, counts.dropped) == (4, 3, 0)
    stream.forget()  # that which waits too
    for t in (0, 10):
        assert take(stream, 'odom', base(t)) is None
    answer = take(stream, 'joint_states', joints(quadruped, 4))  # at once
    assert answer.point.stamp == T0 + 4 * MS
    assert_close(answer.point.odometry_age, 4e-3, 1e-9)


def test_patient_joint_states__are_answered_whichever_topic_comes_first(quadruped):
    """As a bag that is replayed into a node that could not follow for a while."""
    times = range(0, 2000, 10)
    states = [('joint_states', joints(quadruped, t)) for t in times]
    bases = [('odom', base(t)) for t in times[:-10:5]]
    for pairing in ('newest', 'interpolate'):
        answers = []
        for order in (
            sorted(bases + states, key=lambda m: nanoseconds(m[1].header.stamp)),
            states + bases,
            bases + states,
        ):
            stream = LinearizationStream(quadruped, StreamSettings(pairing=pairing, max_wait=1e6))
            stream.on_drop = lambda drop: None
            answers.append(
                {
                    answer.point.stamp: answer.A.copy()
                    for topic, message in [*order, ('end', None)]
                    for answer in stream.take(topic, message)
                }
            )
            assert stream.counts.received == stream.counts.answered + stream.counts.dropped
        expected = len(times) - 9 if pairing == 'newest' else 5 * len(bases) - 4
        for found in answers:
            assert list(found) == list(answers[0])
            assert len(found) == expected
            for stamp, A in found.items():
                np.testing.assert_array_equal(A, answers[0][stamp])


@pytest.mark.parametrize(
    ('settings', 'most'), [({'pairing': 'interpolate'}, 50), ({'max_wait': 0.02}, 20)]
)
def test_patience__has_an_end(quadruped, settings, most):
    stream = LinearizationStream(quadruped, StreamSettings(**settings))
    take(stream, 'odom', base(0))
    for t in (10, 20, 10 + most):
        assert take(stream, 'joint_states', joints(quadruped, t)) is None
    with dropped(Cause.SKEW, f'has waited for {(most + 1) * 1e-3:.4f} s .* max_wait'):
        take(stream, 'joint_states', joints(quadruped, 11 + most))
    assert [answer.point.stamp for answer in stream.take('odom', base(25))] == [T0 + 20 * MS]


@pytest.mark.parametrize('first', ['joint states', 'odometry'])
def test_max_rate__counts_those_that_wait_and_those_that_need_not(quadruped, first):
    stream = LinearizationStream(quadruped, StreamSettings(pairing='interpolate', max_rate=250.0))
    messages = [('joint_states', joints(quadruped, t)) for t in range(1, 10)]
    messages.insert(0 if first == 'odometry' else 9, ('odom', base(10)))
    take(stream, 'odom', base(0))
    stamps = [answer.point.stamp for message in messages for answer in stream.take(*message)]
    assert stamps == [T0 + t * MS for t in (1, 5, 9)]
    assert stream.counts.skipped == 6
