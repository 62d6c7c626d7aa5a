# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forces and modes as RViz shows them; velocities of bodies by Pinocchio."""

import re

import numpy as np
import pinocchio as pin
import pytest
from support.close import assert_close
from support.messages import SECOND
from support.pinocchio_oracle import PinocchioOracle
from support.taking import Source

from geolin_ros import Contact, State, robots
from geolin_ros.stream.analysis import Snapshot
from geolin_ros.stream.contacts import ContactSettings
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.outputs.markers import COLOURS, GREEN, GREY, MarkerWriter

T0 = 7 * SECOND + 25
FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')
SETTINGS = StreamSettings(contacts=ContactSettings(contacts=tuple(Contact(f) for f in FEET)))


@pytest.fixture
def stream(quadruped):
    return LinearizationStream(quadruped, SETTINGS)


@pytest.fixture
def writer(quadruped):
    messages = pytest.importorskip('visualization_msgs.msg')
    Point = pytest.importorskip('geometry_msgs.msg').Point
    return MarkerWriter(messages.MarkerArray, messages.Marker, Point, quadruped, 0.1)


def vector(point):
    return np.array((point.x, point.y, point.z))


def arrow(marker):
    """Return where an arrow begins, and how it points."""
    start, end = map(vector, marker.points)
    assert (marker.type, marker.action, marker.pose.orientation.w) == (0, 0, 1.0)
    assert_close(vector(marker.scale), (0.012, 0.03, 0.0), 0.0)
    return start, end - start


def colour(marker):
    shade = marker.color
    return pytest.approx((shade.r, shade.g, shade.b, shade.a), abs=1e-6)


def test_forces__start_at_the_feet_and_are_scaled_by_the_weight(stream, writer, quadruped):
    answer = Source(quadruped).feed(stream, T0)
    clear, *arrows = writer.write(answer).markers
    assert (clear.action, clear.ns, clear.id, colour(clear)) == (3, 'contact_forces', 0, GREY)
    oracle = PinocchioOracle.read_urdf(robots.path('quadruped'), quadruped)
    pin.framesForwardKinematics(oracle.pin_model, oracle.data, oracle.q(answer.point.state))
    scale = 0.6 / (9.81 * pin.computeTotalMass(oracle.pin_model))
    wrenches = answer.contacts.wrenches.reshape(4, -1)
    for k, (foot, one, wrench) in enumerate(zip(FEET, arrows, wrenches, strict=True)):
        placement = oracle.data.oMf[oracle.pin_model.getFrameId(foot)]
        start, force = arrow(one)
        assert_close(start, placement.translation, 1e-12)
        assert_close(force, scale * placement.rotation @ wrench[:3], 1e-12)
        assert (one.ns, one.id, one.header.frame_id) == ('contact_forces', k, 'odom')
        assert (one.header.stamp.sec, one.header.stamp.nanosec) == (7, 25)
        assert colour(one) == GREEN


def test_modes__move_bodies_as_pinocchio_does_and_say_how_fast(stream, writer, quadruped):
    answer = Source(quadruped).feed(stream, T0)
    writer.show_modes(SETTINGS, Snapshot(answer.point.stamp, answer.A.copy(), answer.point.state))
    markers = writer.write(answer).markers
    values, vectors = np.linalg.eig(answer.A)
    oracle = PinocchioOracle.read_urdf(robots.path('quadruped'), quadruped)
    for rank in range(3):
        *arrows, words = [one for one in markers if one.ns == f'mode_{rank + 1}']
        assert [one.id for one in (*arrows, words)] == list(range(len(quadruped.body_names) + 1))
        assert {words.type, *(one.type for one in arrows)} == {9, 0}
        assert (colour(words), words.scale.z) == (COLOURS[rank], 0.06)
        height = vector(words.pose.position) - answer.point.state.H[:3, 3]
        assert_close(height, (0.0, 0.0, 0.4 + 0.08 * rank), 1e-12)
        named = re.fullmatch(r'(.+): (\S+) Hz, (grows|decays), (\S+) s', words.text)
        frequency, time = float(named[2]), float(named[4]) * (1 if named[3] == 'decays' else -1)
        value = complex(-1.0 / time, 2.0 * np.pi * frequency)
        k = int(np.argmin(abs(values - value)))
        assert abs(values[k] - value) < 0.01 * abs(value)
        shape = vectors[: quadruped.m, k]
        shape = (shape / shape[np.argmax(np.abs(shape))]).real
        moving = State(answer.point.state.H, answer.point.state.s, shape[:6], shape[6:])
        pin.forwardKinematics(
            oracle.pin_model, oracle.data, oracle.q(moving), oracle.velocity(moving)
        )
        at, v = oracle.data.oMi, oracle.data.v
        expected = np.array([at[j].rotation @ v[j].linear for j in body_joints(oracle)])
        expected *= 0.3 / np.linalg.norm(expected, axis=1).max()
        assert_close([arrow(one)[1] for one in arrows], expected, 1e-3)


def body_joints(oracle):
    """Return Pinocchio's joints that move our bodies: the base, then each joint's."""
    return [1, *(joint.id for joint in oracle.joints)]


def test_arrays__are_due_once_a_period_and_when_the_clock_was_set_back(stream, writer, quadruped):
    answer = Source(quadruped).feed(stream, T0)
    stamps = T0, T0 + SECOND // 20, T0 + SECOND // 10, T0 + SECOND * 19 // 100, T0 + SECOND // 20
    points = (answer.point._replace(stamp=stamp) for stamp in stamps)
    due = [writer.is_due(answer._replace(point=point)) for point in points]
    assert due == [True, False, True, False, True]
