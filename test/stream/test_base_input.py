# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from support.close import assert_close
from support.finite_difference import exp
from support.messages import SECOND, odometry, random_quaternion
from support.taking import dropped

from geolin_ros.stream.drops import Cause, DroppedInput
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
        self.input = BaseInput(model, settings)
        self.pairing = make_pairing('newest', settings.max_skew)

    def take(self, message):
        self.pairing.add(self.input.take(message))


def carried(base, model, stamp):
    """Return pose, twist and time difference of ``base`` at ``stamp``."""
    state = model.neutral_state()
    dt = base.pairing.at(stamp, state)
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
    H, v, dt = carried(base, sensor_robot, T0)
    H_expected, v_expected = reference(sensor_robot, frame, place, turn, twist, twist_frame)
    assert dt == 0.0
    assert_close(H, H_expected, 1e-14, 'pose')
    assert_close(v, v_expected, 1e-14, 'twist')
    np.testing.assert_array_equal(H[3], (0.0, 0.0, 0.0, 1.0))


def test_half_turn__loses_no_digits(sensor_robot):
    turn = np.array((np.sqrt(0.5), np.sqrt(0.5), 0.0, 1e-10))
    base = Base(sensor_robot)
    base.take(odometry(T0, np.zeros(3), turn, np.zeros(6)))
    H, _, _ = carried(base, sensor_robot, T0)
    expected, _ = reference(sensor_robot, 'base', np.zeros(3), turn, np.zeros(6))
    assert_close(H, expected, 1e-15)


@pytest.mark.parametrize('milliseconds', [-40, -1, 0, 3, 50])
def test_base__is_carried_along_its_twist(sensor_robot, milliseconds):
    base = Base(sensor_robot, max_skew=0.05)
    place, turn, twist = sample()
    base.take(odometry(T0, place, turn, twist))
    H, v, dt = carried(base, sensor_robot, T0 + milliseconds * 1_000_000)
    H0, v0 = reference(sensor_robot, 'base', place, turn, twist)
    assert dt == pytest.approx(milliseconds * 1e-3, abs=1e-12)
    assert_close(H, H0 @ exp(v0 * milliseconds * 1e-3), 1e-14, 'pose')
    np.testing.assert_array_equal(v, v0)


@pytest.mark.parametrize('milliseconds', [-51, 51, 5000])
def test_odometry_beyond_max_skew__is_not_used(sensor_robot, milliseconds):
    base = Base(sensor_robot, max_skew=0.05)
    base.take(odometry(T0, *sample()))
    with dropped(Cause.SKEW, r'expected at most 0\.05 s; raise max_skew'):
        carried(base, sensor_robot, T0 + milliseconds * 1_000_000)
    carried(base, sensor_robot, T0)


def test_newest_odometry__is_used(sensor_robot):
    base = Base(sensor_robot)
    for k in range(3):
        base.take(odometry(T0 + k * SECOND, *sample(k), frame_id=f'map{k}'))
    H, _, _ = carried(base, sensor_robot, T0 + 2 * SECOND)
    assert_close(H[:3, 3], sample(2)[0], 1e-15)
    assert base.input.world_frame == 'map2'


def test_no_odometry__is_said(sensor_robot):
    with dropped(Cause.NO_ODOMETRY, 'no odometry yet'):
        carried(Base(sensor_robot), sensor_robot, T0)


def test_child_frame__replaces_that_of_the_messages(sensor_robot):
    base = Base(sensor_robot, child_frame='camera')
    base.take(odometry(T0, *sample(), child_frame_id='robot7/base_link'))
    H, v, _ = carried(base, sensor_robot, T0)
    H_expected, v_expected = reference(sensor_robot, 'camera', *sample())
    assert_close(H, H_expected, 1e-14)
    assert_close(v, v_expected, 1e-14)


@pytest.mark.parametrize('frame', ['arm', 'base_link', ''])
def test_frame_that_is_not_on_the_base__is_refused_with_those_that_are(sensor_robot, frame):
    base = Base(sensor_robot)
    with pytest.raises(
        DroppedInput, match=r"expected a link fixed to the base .*'camera'"
    ) as drop:
        base.take(odometry(T0, *sample(), child_frame_id=frame))
    assert drop.value.cause is Cause.FRAME
    assert repr(frame) in str(drop.value)


@pytest.mark.parametrize('length', [0.9905, 1.0 + 1e-7, 1.0095])
def test_quaternion_within_the_tolerance__is_normalised(sensor_robot, length):
    base = Base(sensor_robot, quaternion_tolerance=0.01)
    place, turn, twist = sample()
    base.take(odometry(T0, place, length * turn, twist))
    H, _, _ = carried(base, sensor_robot, T0)
    expected, _ = reference(sensor_robot, 'base', place, turn, twist)
    assert_close(H, expected, 1e-14)
    assert_close(H[:3, :3].T @ H[:3, :3], np.eye(3), 1e-15)


@pytest.mark.parametrize('length', [0.0, 0.9895, 1.0105, 2.0])
def test_quaternion_beyond_the_tolerance__is_refused(sensor_robot, length):
    base = Base(sensor_robot, quaternion_tolerance=0.01)
    place, turn, twist = sample()
    with dropped(Cause.QUATERNION, f'length {length:g}, expected 1 within'):
        base.take(odometry(T0, place, length * turn, twist))


def test_stamp_that_goes_backwards__is_refused_and_the_last_one_stays(sensor_robot):
    base = Base(sensor_robot)
    base.take(odometry(T0, *sample(0)))
    for stamp in (T0, T0 - 1, T0 - SECOND + 1):
        with dropped(Cause.BACKWARDS, 'expected a later stamp'):
            base.take(odometry(stamp, *sample(1)))
    H, _, _ = carried(base, sensor_robot, T0)
    assert_close(H[:3, 3], sample(0)[0], 1e-15)


def test_clock_that_was_set_back__is_followed(sensor_robot):
    base = Base(sensor_robot)
    base.take(odometry(T0, *sample(0)))
    base.take(odometry(T0 - SECOND, *sample(1)))
    H, _, _ = carried(base, sensor_robot, T0 - SECOND)
    assert_close(H[:3, 3], sample(1)[0], 1e-15)


def test_bad_odometry__leaves_the_good_one_before_in_force(sensor_robot):
    base = Base(sensor_robot)
    base.take(odometry(T0, *sample()))
    place, turn, twist = sample(1)
    for bad in (
        odometry(T0 + SECOND, place, 2.0 * turn, twist),
        odometry(T0 + SECOND, place, turn, twist, 'arm'),
    ):
        with pytest.raises(DroppedInput):
            base.take(bad)
    H, _, _ = carried(base, sensor_robot, T0)
    assert_close(H[:3, 3], sample()[0], 1e-15)
