# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers about joint states: which are given, and that they are the library's."""

import dataclasses

import numpy as np
import pytest
from support.messages import SECOND
from support.states import seen_from
from support.taking import Source, take

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import LinearizationStream

T0, MS = 50 * SECOND, 1_000_000


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
    np.testing.assert_array_equal(answer.state.s, message.position)
    np.testing.assert_array_equal(answer.state.r, message.velocity)
    np.testing.assert_array_equal(answer.tau, message.effort)
    assert_library_says_the_same(answer, quadruped, settings)
    assert answer.compute_time > 0.0


def test_fixed_base__needs_no_odometry():
    model = TreeModel.from_urdf(robots.path('quadruped'), base='fixed')
    stream = LinearizationStream(model, StreamSettings())
    answer = Source(model).feed(stream, T0)
    assert answer.A.shape == (24, 24)
    assert (answer.odometry_stamp, answer.world_frame) == (0, 'base')
    assert_library_says_the_same(answer, model, stream.settings)


def test_timer__answers_once_about_the_newest_joint_state(quadruped):
    stream = LinearizationStream(quadruped, StreamSettings(trigger='timer'))
    source = Source(quadruped)
    take(stream, 'odom', source.odometry(T0))
    assert take(stream, 'timer', None) is None
    messages = [source.joint_state(T0 + k * MS) for k in range(3)]
    assert all(take(stream, 'joint_states', message) is None for message in messages)
    answer = take(stream, 'timer', None)
    np.testing.assert_array_equal(answer.state.s, messages[-1].position)
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
        np.testing.assert_array_equal(take(stream, 'joint_states', message).tau, efforts)


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
    assert source.feed(stream, set_back).stamp == set_back
