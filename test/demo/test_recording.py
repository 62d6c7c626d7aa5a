# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the consumer reads from messages is what robot and node wrote into them."""

from types import SimpleNamespace

import numpy as np
import pytest
from geolin_demos.demo.recording import KEPT, Recording
from support.messages import header, joint_state, odometry, stamp
from support.taking import take

from geolin_ros import TreeModel, robots
from geolin_ros.spatial import se3
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.outputs.messages import LinearizationWriter

START = 1_700_000_000_000_000_000
PERIOD = 2_000_000


@pytest.fixture(scope='module')
def model():
    return TreeModel.from_urdf(robots.path('quadruped'))


@pytest.fixture
def state(model):
    return model.random_state(np.random.default_rng(3), speed=2.0)


def inputs(model, state, time, effort):
    turn = se3.quaternion_from_rotation(state.H[:3, :3])
    # another order than the model's
    names = model.joint_names[::-1]
    return (
        odometry(time, state.H[:3, 3], turn, state.v, model.base_link),
        joint_state(time, names, state.s[::-1], state.r[::-1], effort[::-1]),
    )


def answer(model, base, joints):
    messages = pytest.importorskip('geolin_msgs.msg')
    stream = LinearizationStream(model, StreamSettings())
    take(stream, 'odom', base)
    writer = LinearizationWriter(messages.LinearizedDynamics(), model, stream.settings)
    return writer.write(take(stream, 'joint_states', joints))


class Clock:
    def __init__(self):
        self.time = START

    def __call__(self):
        return self.time


def record(model, state, samples, duration=1.0, is_answered=lambda k: True):
    clock = Clock()
    recording = Recording(duration, clock)
    base, joints = inputs(model, state, START, np.zeros(model.n))
    message = answer(model, base, joints)
    for k in range(samples):
        clock.time = START + k * PERIOD
        for part in (base, joints, message):
            part.header = header(clock.time)
        recording.on_odometry(base)
        recording.on_joint_state(joints)
        if is_answered(k):
            clock.time += 700_000
            recording.on_linearization(
                SimpleNamespace(
                    header=header(START + k * PERIOD),
                    odometry_stamp=stamp(START + k * PERIOD),
                    nu_dot=message.nu_dot,
                    joint_names=message.joint_names,
                    base_frame=message.base_frame,
                    floating_base=True,
                    gravity=message.gravity,
                )
            )
    return recording


def test_recording__brings_joints_into_the_order_of_the_linearization(model, state):
    recording = record(model, state, 10)
    stamps, nu, base_velocity = recording.motion()
    assert stamps.tolist() == [START + k * PERIOD for k in range(10)]
    assert nu[4] == pytest.approx(np.concatenate((state.v, state.r)), abs=1e-15)
    assert base_velocity[4] == pytest.approx(state.H[:3, :3] @ state.v[:3], abs=1e-14)


def test_recording__ends_after_its_duration(model, state):
    recording = record(model, state, 200, duration=0.2)
    assert recording.is_over
    assert recording.joint_state_stamps.size == recording.answered_stamps.size
    assert recording.joint_state_stamps.size == pytest.approx(101, abs=1)
    assert recording.received('linearization') == 200


def test_recording__keeps_linearizations_spread_over_the_time(model, state):
    recording = record(model, state, 600)
    times = [m.header.stamp.sec * 1e9 + m.header.stamp.nanosec for m in recording.kept]
    assert len(times) == KEPT
    gaps = np.diff(times) * 1e-9
    assert gaps.min() > 0.9 / KEPT
    assert gaps.max() < 1.1 / KEPT


def test_recording__measures_the_delay_to_the_stamp(model, state):
    assert record(model, state, 5).delays == pytest.approx([0.7e-3] * 5)


def test_recording__separates_answers_about_older_odometry(model, state):
    recording = record(model, state, 10)
    late = START + 3 * PERIOD
    arrival, _, nu_dot = recording._answers[late]
    recording._answers[late] = (arrival, late - PERIOD, nu_dot)
    stamps, nu_dots, left_out = recording.accelerations()
    assert (stamps.size, len(nu_dots), left_out) == (9, 9, 1)
    assert late not in stamps
