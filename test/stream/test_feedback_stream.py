# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages about a robot that stands in; efforts out, and gains as the library designs them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from geolin_control.feedback_messages import read_reference
from geolin_control.feedback_stream import LQR_TABLE, FeedbackStream
from geolin_control.regulator import Mode
from support.messages import (
    SECOND,
    contact_state,
    contact_states,
    empty_contact_state,
    header,
    joint_state,
    linearized_dynamics,
    odometry,
    robot_state,
)
from support.standing import SUPPORTS, standing_robot
from support.taking import dropped, take

from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.lqr import Tuning, design
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.weights import weights_for
from geolin_ros.errors import ConfigurationError, InputError
from geolin_ros.spatial.se3 import quaternion_from_rotation
from geolin_ros.stream.contacts import ContactSettings
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.outputs.messages import LinearizationWriter, StateWriter
from geolin_ros.stream.topic_stream import Cause, Counts, DroppedInput

MODEL, BALLS = standing_robot('quadruped')
POSTURE = standing_posture(MODEL, BALLS)
POINT = equilibrium(MODEL, POSTURE, BALLS)
FEET = [support.frame for support in BALLS]
PERIOD = 2_000_000
LIMITS = np.array(MODEL.limits.effort)
NAMES = list(MODEL.joint_names)
TURNING = POSTURE.copy()
"""The posture with joints that turn."""
TURNING.r[:] = 1.0


def odometry_of(state, stamp):
    return odometry(stamp, state.H[:3, 3], quaternion_from_rotation(state.H[:3, :3]), state.v)


class Robot:
    """What a robot publishes, period by period, to a stream with parameters of its own."""

    def __init__(self, **parameters):
        own = {'supports': list(SUPPORTS['quadruped']), 'gains_timeout': 0.0}
        defaults = {row.name: row.default for row in LQR_TABLE}
        self.stream = FeedbackStream(MODEL, defaults | own | parameters, Counts())
        self.stream.is_active = True
        self.stamp = 1000 * SECOND

    def tell(self, state=POSTURE, base=True):
        """Publish a state; return what the motors get."""
        self.stamp += PERIOD
        if base:
            take(self.stream, 'odom', odometry_of(state, self.stamp))
        message = joint_state(self.stamp, NAMES, state.s, state.r, np.zeros(MODEL.n))
        return take(self.stream, 'joint_states', message)

    def tell_often(self, count, *told, **options):
        """Publish a state many times; return the last command."""
        return [self.tell(*told, **options) for _ in range(count)][-1]

    def stand(self):
        """Design gains, and publish the posture until feedback has taken over."""
        self.tell()
        gains = self.stream.design()
        assert self.tell_often(150).mode is Mode.FEEDBACK
        return gains

    @property
    def standing_on(self):
        """Return what its regulator takes for supports."""
        return self.stream.regulator.standing_on

    def feel(self, *frames):
        """Say what it stands on."""
        message = contact_states(self.stamp, *map(contact_state, frames))
        take(self.stream, 'contact_states', message)

    def drops(self, cause):
        """Return how many inputs were dropped for a cause."""
        return self.stream.counts.drops[cause]


def linearization(**settings):
    """Return what a linearizer says of the posture."""
    contacts = ContactSettings(contacts=tuple(support.contact for support in POINT.supports))
    settings = StreamSettings(contacts=contacts, **settings)
    stream = LinearizationStream(MODEL, settings)
    take(stream, 'odom', odometry_of(POSTURE, SECOND))
    message = joint_state(SECOND, NAMES, POSTURE.s, POSTURE.r, POINT.tau)
    answer = take(stream, 'joint_states', message)
    writer = LinearizationWriter(
        linearized_dynamics(), MODEL, settings, make_contact=empty_contact_state
    )
    return writer.write(answer)


def reference(names=NAMES, efforts=()):
    """Return a geolin_msgs/ReferenceState."""
    message = SimpleNamespace(
        header=header(0), state=robot_state(0), joint_names=list(names), joint_efforts=efforts
    )
    StateWriter(message.state, MODEL.n).write(POSTURE)
    return message


def close(gains, expected):
    np.testing.assert_allclose(gains.K, expected.K, atol=1e-6 * np.abs(expected.K).max())


def test_efforts__are_those_of_the_gains_at_each_state():
    robot = Robot(anchor=False)
    assert robot.tell().reason == 'no gains yet'
    gains = robot.stand()
    close(gains, design(MODEL, POINT))
    moved = POSTURE.retract(1e-3 * np.random.default_rng(1).normal(size=36))
    command = robot.tell_often(20, moved)
    expected = POINT.tau - (gains.K + gains.K_complement) @ POSTURE.difference(moved)
    np.testing.assert_allclose(command.efforts, np.clip(expected, -LIMITS, LIMITS), atol=1e-4)
    assert robot.stream.stamp == robot.stamp
    assert robot.stream.counts.answered == robot.stream.counts.received == 172


def test_inactive_stream__damps():
    robot = Robot()
    robot.stand()
    robot.stream.is_active = False
    command = robot.tell_often(20, TURNING)
    assert (command.mode, command.reason) == (Mode.DAMPING, 'the node is not active')
    np.testing.assert_allclose(command.efforts, -0.05 * LIMITS)


def test_odometry_that_stops__leaves_joints_that_are_damped():
    robot = Robot()
    first = robot.tell(base=False)
    assert (first.mode, first.reason[:21]) == (Mode.DAMPING, 'no state of the base:')
    assert robot.drops(Cause.NO_ODOMETRY) == 1
    robot.stand()
    modes = [robot.tell(base=False).mode for _ in range(25)]
    assert modes == [Mode.FEEDBACK] * 25  # as long as odometry may be late
    command = robot.tell_often(20, TURNING, base=False)
    assert command.mode is Mode.DAMPING
    assert 'the newest odometry is' in command.reason
    np.testing.assert_allclose(command.efforts, -0.05 * LIMITS)
    assert robot.drops(Cause.SKEW) == 20
    assert robot.stream.stamp == robot.stamp
    assert robot.stream.counts.answered == robot.stream.counts.received - 21
    assert robot.tell_often(150).mode is Mode.FEEDBACK


@pytest.mark.parametrize(
    ('given', 'begins'),
    [(0.1 * LIMITS, 0.1 * LIMITS), (9.0 * LIMITS, LIMITS), ([], 0.0), ([np.nan] * 12, 0.0)],
    ids=['some', 'beyond limits', 'none', 'NaN'],
)
def test_efforts__begin_with_those_that_the_motors_give(given, begins):
    robot = Robot()
    message = joint_state(robot.stamp, NAMES, POSTURE.s, POSTURE.r, given)
    command = take(robot.stream, 'joint_states', message)
    np.testing.assert_array_equal(command.efforts, begins * np.ones(12))
    robot.tell()
    command = robot.tell()  # what it says they give later does not count
    np.testing.assert_allclose(command.efforts, np.maximum(begins - 0.4 * LIMITS, 0.0), atol=1e-6)


def successor(earlier, **parameters):
    """Return a robot whose stream goes on where another one is."""
    robot = Robot(**parameters)
    robot.stream.resume(earlier.stream)
    robot.stamp = earlier.stamp
    return robot


@pytest.mark.parametrize('parameters', [{'delay': 0.004}, {'supports': FEET[:3]}, {'dt': 0.005}])
def test_resumed_stream__feeds_back_by_earlier_gains_until_it_has_its_own(parameters):
    earlier = Robot()
    gains = earlier.stand()
    earlier.stream.is_obeyed = True
    robot = successor(earlier, **parameters)
    command = robot.tell(base=False)  # the newest odometry is known too
    assert command.mode is Mode.FEEDBACK
    np.testing.assert_allclose(command.efforts, POINT.tau, atol=1e-4)
    assert robot.stream.regulator.gains is gains
    assert robot.stream.design() is not gains


def test_resumed_stream__stands_on_what_was_felt_but_begins_anew_where_no_motor_obeyed():
    earlier = Robot()
    gains = earlier.stand()
    earlier.feel(*FEET[1:])
    earlier.tell()
    robot = successor(earlier)
    np.testing.assert_array_equal(robot.tell().efforts, np.zeros(12))
    assert robot.stream.regulator.gains is gains
    assert robot.standing_on == tuple(FEET[1:])


def test_ramp_down__ends_without_efforts_and_takes_its_time():
    robot = Robot(full_swing_time=0.2)
    robot.stand()
    efforts = np.array([command.efforts for command in robot.stream.ramp_down('it ends', 0.002)])
    assert not efforts[-1].any()
    assert np.all(np.abs(np.diff(efforts[:, 2])) <= 0.02 * LIMITS[2] + 1e-9)
    # the first is what is left after the silence until then
    assert len(efforts) > np.abs(efforts[0] / LIMITS).max() / 0.02


def test_gains__are_made_of_a_linearization_that_comes():
    robot = Robot()
    robot.stand()
    assert robot.stream.regulator.source == 'model'
    assert robot.stream.design() is None  # nothing is new
    take(robot.stream, 'linearization', linearization())
    close(robot.stream.design(), design(MODEL, POINT))
    assert robot.stream.regulator.source == 'linearization'


def test_linearizations_that_cannot_be_used__are_refused():
    robot = Robot()
    gains = robot.stand()
    spoilt = linearization()
    spoilt.b.data[3] = np.inf
    with pytest.raises(DroppedInput, match='NaN or inf in a or b'):
        take(robot.stream, 'linearization', spoilt)
    assert robot.drops(Cause.NOT_FINITE) == 1
    foreign = linearization()
    foreign.model_hash = 'another'
    for message, why in (
        (foreign, "of model another .*expected '?" + MODEL.hash),
        (linearization(form='discrete'), 'is discrete, moving, body, expected continuous'),
        (linearization(representation='mixed'), 'is continuous, moving, mixed'),
    ):
        take(robot.stream, 'linearization', message)
        with pytest.raises(InputError, match=why):
            robot.stream.design()
    assert robot.stream.regulator.gains is gains


def test_contacts__count_when_they_have_lasted():
    robot = Robot(contact_dwell=0.02)
    robot.stand()
    robot.feel(*FEET[:3])
    robot.tell_often(5)  # 10 ms
    robot.feel(*FEET)
    robot.tell_often(20)
    assert robot.standing_on == tuple(FEET)
    robot.feel(*FEET[1:])
    changed = [robot.standing_on for _ in range(20) if robot.tell()]
    assert changed.index(tuple(FEET[1:])) in (10, 11)
    with pytest.raises(DroppedInput, match="support 'nose'"):
        robot.feel(*FEET[:3], 'nose')
    assert robot.drops(Cause.CONTACTS) == 1
    robot.tell_often(20)
    assert robot.standing_on == tuple(FEET[1:])
    at_once = Robot()
    at_once.feel(*FEET[1:])
    at_once.tell()
    assert at_once.standing_on == tuple(FEET[1:])


WEIGHTS = replace(weights_for(BALLS), com=0.005, single={f's.{NAMES[1]}': 0.01})


@pytest.mark.parametrize(
    ('parameters', 'tuning'),
    [
        ({'delay': 0.004}, Tuning(delay=2)),
        ({'dt': 0.005}, Tuning(dt=0.005)),
        ({'weights': ['com=0.005', f's.{NAMES[1]}=0.01']}, Tuning(WEIGHTS)),
    ],
)
def test_parameters__reach_the_design(parameters, tuning):
    gains, expected = Robot(**parameters).stand(), design(MODEL, POINT, tuning=tuning)
    close(gains, expected)
    assert gains.dt == tuning.dt
    if tuning.delay:  # past inputs are part of it
        np.testing.assert_allclose(gains.K_past, expected.K_past, atol=1e-6)
    with pytest.raises(ConfigurationError, match=r'delay is 0.003 s, expected a multiple of dt'):
        Robot(delay=0.003)


# ---- references


def test_reference__names_joints_in_any_order_and_leaves_others_where_they_are():
    message = reference([NAMES[5], NAMES[2]], [1.0, 2.0])
    message.state.joint_positions, message.state.joint_rates = np.array([0.5, 0.2]), np.zeros(2)
    state, efforts = read_reference(message, MODEL, POSTURE)
    expected = POSTURE.s.copy()
    expected[[5, 2]] = 0.5, 0.2
    np.testing.assert_array_equal(state.s, expected)
    np.testing.assert_array_equal(efforts, 2.0 * np.eye(12)[2] + np.eye(12)[5])
    assert read_reference(reference(), MODEL, None).efforts is None
    with pytest.raises(DroppedInput, match=f'leaves out joints .*{NAMES[3]}.*name all of them'):
        take(Robot().stream, 'reference', message)  # which knows no state yet


def spoil(**changes):
    message = reference()
    for name, value in changes.items():
        setattr(message.state if hasattr(message.state, name) else message, name, value)
    return message


@pytest.mark.parametrize(
    ('message', 'why'),
    [
        (spoil(joint_positions=np.zeros(3)), '3 positions, 12 rates and 0 efforts for 12 joints'),
        (spoil(joint_rates=np.zeros(11)), '12 positions, 11 rates'),
        (spoil(joint_efforts=[1.0]), '12 rates and 1 efforts for 12 joints, expected one each'),
        (spoil(joint_names=['tail', *NAMES[1:]]), "joint 'tail'"),
        (spoil(joint_positions=np.full(12, np.nan)), 'is nan, expected a finite number'),
        (spoil(joint_efforts=[np.inf] * 12), 'NaN or inf'),
    ],
)
def test_reference_that_cannot_be_used__is_dropped_and_the_last_one_stays(message, why):
    robot = Robot()
    robot.stand()
    with dropped(Cause.REFERENCE, why):
        take(robot.stream, 'reference', message)
    assert robot.drops(Cause.REFERENCE) == 1
    np.testing.assert_allclose(robot.tell().efforts, POINT.tau, atol=1e-4)
