# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from support.close import assert_close
from support.messages import SECOND, wrench_stamped
from support.taking import dropped

from geolin_ros.errors import ConfigurationError, UnknownNameError
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.wrench_input import WrenchInput, WrenchTopic
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.parameters.linearizer import stream_settings

pin = pytest.importorskip('pinocchio')
T0 = 100 * SECOND
VALUE = np.array((1.0, -2.0, 3.0, 0.4, 0.5, -0.6))


def make(model, link='camera', kind='body', **options):
    return WrenchInput(model, [WrenchTopic('ft', link, kind)], **options)


def value_of(wrench):
    return np.concatenate((wrench.force, wrench.moment))


@pytest.mark.parametrize('kind', ['body', 'world', 'world_oriented'])
def test_wrench__is_that_of_the_message(sensor_robot, kind):
    wrenches = make(sensor_robot, kind=kind)
    wrenches.take('ft', wrench_stamped(T0, VALUE, 'camera' if kind == 'body' else 'odom'))
    (wrench,), findings = wrenches.at(T0, 'odom')
    np.testing.assert_array_equal(value_of(wrench), VALUE)
    assert (wrench.link, wrench.kind, findings) == ('camera', kind, [])


@pytest.mark.parametrize(('link', 'frame'), [('base', 'camera'), ('camera', 'base')])
def test_body_wrench__may_be_in_a_frame_fixed_to_the_link(sensor_robot, link, frame):
    wrenches = make(sensor_robot, link)
    wrenches.take('ft', wrench_stamped(T0, VALUE, frame))
    (wrench,), _ = wrenches.at(T0, 'odom')
    link_H_frame = np.linalg.solve(
        sensor_robot.frame(link).placement, sensor_robot.frame(frame).placement
    )
    expected = pin.SE3(link_H_frame).act(pin.Force(VALUE)).vector
    assert_close(value_of(wrench), expected, 1e-14)


def test_frame_prefix__is_taken_off(sensor_robot):
    wrenches = make(sensor_robot, frame_prefix='robot1/')
    wrenches.take('ft', wrench_stamped(T0, VALUE, 'robot1/camera'))
    (wrench,), _ = wrenches.at(T0, 'odom')
    np.testing.assert_array_equal(value_of(wrench), VALUE)


@pytest.mark.parametrize('frame', ['arm', 'odom', ''])
def test_body_wrench__in_a_frame_elsewhere_is_refused(sensor_robot, frame):
    with dropped(Cause.WRENCH_FRAME, "expected link 'camera' or one fixed to it"):
        make(sensor_robot).take('ft', wrench_stamped(T0, VALUE, frame))


@pytest.mark.parametrize('kind', ['world', 'world_oriented'])
def test_world_wrench__in_a_frame_of_the_robot_is_refused(sensor_robot, kind):
    wrenches = make(sensor_robot, kind=kind)
    wrenches.take('ft', wrench_stamped(T0, VALUE, 'camera'))
    with pytest.raises(
        DroppedInput, match="has frame_id 'camera', expected the world frame 'odom'"
    ) as drop:
        wrenches.at(T0, 'odom')
    assert drop.value.cause is Cause.WRENCH_FRAME


class TestRule:
    """A wrench is held for its timeout; then the joint state is dropped, or it counts as zero."""

    @pytest.mark.parametrize('milliseconds', [-100, 0, 99, 100])
    def test_wrench__is_held_until_the_timeout(self, sensor_robot, milliseconds):
        wrenches = make(sensor_robot, timeout=0.1)
        wrenches.take('ft', wrench_stamped(T0, VALUE, 'camera'))
        (wrench,), _ = wrenches.at(T0 + milliseconds * 1_000_000, 'odom')
        np.testing.assert_array_equal(value_of(wrench), VALUE)

    @pytest.mark.parametrize('taken', [True, False])
    def test_missing_wrench__drops_the_joint_state(self, sensor_robot, taken):
        wrenches = make(sensor_robot, timeout=0.1)
        says = 'no wrench on ft yet'
        if taken:
            wrenches.take('ft', wrench_stamped(T0, VALUE, 'camera'))
            says = r'newest wrench on ft is \+0.1010 s away from the joint state, more than 0.1 s'
        with dropped(Cause.NO_WRENCH, says):
            wrenches.at(T0 + 101_000_000, 'odom')

    def test_missing_wrench__can_be_taken_as_zero_with_a_finding(self, sensor_robot):
        wrenches = make(sensor_robot, missing='zero')
        (wrench,), findings = wrenches.at(T0, 'odom')
        np.testing.assert_array_equal(value_of(wrench), np.zeros(6))
        assert findings == ['no wrench on ft yet: taken as zero']

    def test_bad_wrench__leaves_the_good_one_in_force(self, sensor_robot):
        wrenches = make(sensor_robot)
        wrenches.take('ft', wrench_stamped(T0, VALUE, 'camera'))
        for stamp, value, cause in (
            (T0 + 1, VALUE * np.nan, Cause.NOT_FINITE),
            (T0, 2 * VALUE, Cause.BACKWARDS),
        ):
            with dropped(cause):
                wrenches.take('ft', wrench_stamped(stamp, value, 'camera'))
        (wrench,), _ = wrenches.at(T0, 'odom')
        np.testing.assert_array_equal(value_of(wrench), VALUE)

    def test_clock_that_was_set_back__is_followed(self, sensor_robot):
        wrenches = make(sensor_robot)
        wrenches.take('ft', wrench_stamped(T0, VALUE, 'camera'))
        wrenches.take('ft', wrench_stamped(T0 - 2 * SECOND, 2 * VALUE, 'camera'))
        (wrench,), _ = wrenches.at(T0 - 2 * SECOND, 'odom')
        np.testing.assert_array_equal(value_of(wrench), 2 * VALUE)


def test_unknown_link__is_named(sensor_robot):
    with pytest.raises(UnknownNameError, match="link 'foot' is not part of"):
        make(sensor_robot, 'foot')


def test_later_input__goes_on_with_topics_that_are_about_the_same(sensor_robot):
    earlier = make(sensor_robot)
    earlier.take('ft', wrench_stamped(T0, VALUE, 'camera'))
    same, other = make(sensor_robot), make(sensor_robot, 'base')
    for later in (same, other):
        later.resume(earlier)
    assert value_of(same.at(T0, 'odom')[0][0]).any()
    with pytest.raises(DroppedInput):
        other.at(T0, 'odom')


FEET = {'contact_source': 'forces', 'contacts': ['FL_foot point']}


@pytest.mark.parametrize(
    ('values', 'says'),
    [
        ({'wrench_topics': ['f FL_foot push']}, "'f FL_foot push', expected a topic, a link"),
        ({'contacts': ['FL_foot line']}, "'FL_foot line', expected a frame, point or surface"),
        ({'contacts': ['FL_foot point 1.0 soft']}, 'the gains kp and kd'),
        ({'foot_force_topics': ['FL_foot']}, 'expected a topic and a frame'),
        (FEET, 'expected the same frames: one topic each'),
        (
            FEET | {'foot_force_topics': ['f FL_foot'], 'wrench_topics': ['f base body']},
            "'f' stands in wrench_topics and in foot_",
        ),
    ],
)
def test_topics_and_contacts_that_cannot_be__are_refused(values, says):
    with pytest.raises(ConfigurationError, match=says):
        stream_settings(default_values() | values)
