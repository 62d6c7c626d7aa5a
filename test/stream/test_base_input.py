# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from support.close import assert_close
from support.finite_difference import exp
from support.messages import SECOND, odometry, random_quaternion
from support.taking import dropped

from geolin_ros.stream.drops import Cause
from geolin_ros.stream.inputs.base_input import BaseInput
from geolin_ros.stream.inputs.pairing import make_pairing
from geolin_ros.stream.inputs.settings import StreamSettings

pin = pytest.importorskip('pinocchio')
T0 = 100 * SECOND


def sample(seed=0):
    """Return place, quaternion and twist."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=3), random_quaternion(rng), rng.normal(size=6)


class Base:
    """Odometry, of which the newest is carried."""

    def __init__(self, model, twist_frame='child', **options):
        settings = StreamSettings(twist_frame=twist_frame, **options)
        self.model, self.input = model, BaseInput(model, settings)
        self.pairing = make_pairing('newest', settings.max_skew)

    def take(self, message):
        self.pairing.add(self.input.take(message))

    def at(self, stamp):
        """Return pose, twist and time difference at a stamp."""
        state = self.model.neutral_state()
        dt = self.pairing.at(stamp, state)
        return state.H, state.v, dt


def reference(model, frame, place, turn, twist, twist_frame='child'):
    """Return H and v of the base by Pinocchio."""
    H_child = pin.SE3(pin.Quaternion(*turn[[3, 0, 1, 2]]).matrix(), place)
    if twist_frame == 'world':
        R = H_child.rotation.T
        twist = np.concatenate((R @ twist[:3], R @ twist[3:]))
    P = pin.SE3(model.frame(frame).placement)
    return (H_child * P.inverse()).homogeneous, P.act(pin.Motion(twist)).vector


@pytest.mark.parametrize('seed', range(5))
@pytest.mark.parametrize('frame', ['base', 'camera'])
@pytest.mark.parametrize('twist_frame', ['child', 'world'])
def test_pose_and_twist__equal_pinocchio(sensor_robot, frame, twist_frame, seed):
    base = Base(sensor_robot, twist_frame)
    place, turn, twist = sample(seed)
    base.take(odometry(T0, place, turn, twist, frame))
    H, v, dt = base.at(T0)
    H_expected, v_expected = reference(sensor_robot, frame, place, turn, twist, twist_frame)
    assert dt == 0.0
    assert_close(H, H_expected, 1e-14, 'pose')
    assert_close(v, v_expected, 1e-14, 'twist')
    np.testing.assert_array_equal(H[3], (0.0, 0.0, 0.0, 1.0))


def test_half_turn__loses_no_digits(sensor_robot):
    turn = np.array((np.sqrt(0.5), np.sqrt(0.5), 0.0, 1e-10))
    base = Base(sensor_robot)
    base.take(odometry(T0, np.zeros(3), turn, np.zeros(6)))
    H, _, _ = base.at(T0)
    expected, _ = reference(sensor_robot, 'base', np.zeros(3), turn, np.zeros(6))
    assert_close(H, expected, 1e-15)


@pytest.mark.parametrize('milliseconds', [-40, -1, 0, 3, 50])
def test_base__is_carried_along_its_twist(sensor_robot, milliseconds):
    base = Base(sensor_robot, max_skew=0.05)
    place, turn, twist = sample()
    base.take(odometry(T0, place, turn, twist))
    H, v, dt = base.at(T0 + milliseconds * 1_000_000)
    H0, v0 = reference(sensor_robot, 'base', place, turn, twist)
    assert dt == pytest.approx(milliseconds * 1e-3, abs=1e-12)
    assert_close(H, H0 @ exp(v0 * milliseconds * 1e-3), 1e-14, 'pose')
    np.testing.assert_array_equal(v, v0)


@pytest.mark.parametrize('milliseconds', [-51, 51, 5000])
def test_odometry_beyond_max_skew__is_not_used(sensor_robot, milliseconds):
    base = Base(sensor_robot, max_skew=0.05)
    base.take(odometry(T0, *sample()))
    with dropped(Cause.SKEW, r'expected at most 0\.05 s; raise max_skew'):
        base.at(T0 + milliseconds * 1_000_000)
    base.at(T0)


def test_newest_odometry__is_used(sensor_robot):
    base = Base(sensor_robot)
    for k in range(3):
        base.take(odometry(T0 + k * SECOND, *sample(k), frame_id=f'map{k}'))
    H, _, _ = base.at(T0 + 2 * SECOND)
    assert_close(H[:3, 3], sample(2)[0], 1e-15)
    assert base.input.world_frame == 'map2'


def test_no_odometry__is_said(sensor_robot):
    with dropped(Cause.NO_ODOMETRY, 'no odometry yet'):
        Base(sensor_robot).at(T0)


def test_child_frame__replaces_that_of_the_messages(sensor_robot):
    base = Base(sensor_robot, child_frame='camera')
    base.take(odometry(T0, *sample(), child_frame_id='robot7/base_link'))
    H, v, _ = base.at(T0)
    H_expected, v_expected = reference(sensor_robot, 'camera', *sample())
    assert_close(H, H_expected, 1e-14)
    assert_close(v, v_expected, 1e-14)


@pytest.mark.parametrize('length', [0.9905, 1.0 + 1e-7, 1.0095])
def test_quaternion_within_the_tolerance__is_normalised(sensor_robot, length):
    base = Base(sensor_robot, quaternion_tolerance=0.01)
    place, turn, twist = sample()
    base.take(odometry(T0, place, length * turn, twist))
    H, _, _ = base.at(T0)
    expected, _ = reference(sensor_robot, 'base', place, turn, twist)
    assert_close(H, expected, 1e-14)
    assert_close(H[:3, :3].T @ H[:3, :3], np.eye(3), 1e-15)


FRAME = "{!r}, expected a link fixed to the base .*'camera'"
LENGTH = 'length {:g}, expected 1 within'
REFUSED = [
    *(({'frame': f}, Cause.FRAME, FRAME.format(f)) for f in ('arm', 'base_link', '')),
    *(({'size': x}, Cause.QUATERNION, LENGTH.format(x)) for x in (0.0, 0.9895, 1.0105, 2.0)),
    *(({'late': t}, Cause.BACKWARDS, 'expected a later stamp') for t in (0, -1, 1 - SECOND)),
]


@pytest.mark.parametrize(('changes', 'cause', 'words'), REFUSED)
def test_odometry_that_cannot_be_used__leaves_the_one_before_in_force(
    sensor_robot, changes, cause, words
):
    base = Base(sensor_robot, quaternion_tolerance=0.01)
    base.take(odometry(T0, *sample(0)))
    (place, turn, twist), late = sample(1), changes.get('late', SECOND)
    turn = changes.get('size', 1.0) * turn
    with dropped(cause, words):
        base.take(odometry(T0 + late, place, turn, twist, changes.get('frame', 'base')))
    H, _, _ = base.at(T0)
    assert_close(H[:3, 3], sample(0)[0], 1e-15)


def test_clock_that_was_set_back__is_followed(sensor_robot):
    base = Base(sensor_robot)
    base.take(odometry(T0, *sample(0)))
    base.take(odometry(T0 - SECOND, *sample(1)))
    H, _, _ = base.at(T0 - SECOND)
    assert_close(H[:3, 3], sample(1)[0], 1e-15)
