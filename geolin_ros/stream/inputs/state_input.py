# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of a robot from joint states and odometry, or transforms and an IMU."""

import math
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.errors import ConfigurationError
from geolin_ros.kernels.se3 import CHILD_TWIST, WORLD_TWIST, place_base, retract
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.stream.inputs.differentiation import Differentiator
from geolin_ros.stream.inputs.joint_input import JointInput, JointParts
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.topic_stream import (
    Cause,
    DroppedInput,
    NewestMessage,
    T,
    TopicStream,
    check_finite,
    check_unit,
    nanoseconds,
    starts_anew,
)
from geolin_ros.typing import Array

HISTORY = 16384
"""Samples that are kept at most where joint states wait for them."""


class BaseSample(NamedTuple):
    """Pose H (4, 4) and body twist v (6,) of the base at ``stamp`` [ns]."""

    stamp: int
    H: Array
    v: Array


class Pairing:
    """Finds the state of the base at other instants than those of its samples.

    ``'newest'`` takes the newest sample that is not after the instant, carried along its twist:
    H exp(v dt), v. ``'interpolate'`` goes between two neighbours 0 and 1:
    H_0 exp(a log(H_0^-1 H_1)), (1 - a) v_0 + a v_1. No sample counts that is further away than
    ``max_skew`` [s]. With ``waits``, joint states wait for a sample that is not before them, as
    they always do where it is interpolated; else the newest has to do, whatever its stamp.
    """

    def __init__(self, name: str, max_skew: float, waits: bool = False) -> None:
        self._max_skew, self._interpolates = max_skew, name == 'interpolate'
        self._waits = waits or self._interpolates
        self._samples: deque[BaseSample] = deque(maxlen=HISTORY if self._waits else 1)
        self._step = np.zeros(6)

    def add(self, sample: BaseSample) -> None:
        """Take a sample; one that is older than the last starts anew."""
        if self._samples and sample.stamp <= self._samples[-1].stamp:
            self._samples.clear()
        self._samples.append(sample)

    def is_ready(self, stamp: int) -> bool:
        """Whether no later sample is needed for ``stamp`` [ns]."""
        return not self._waits or (bool(self._samples) and self._samples[-1].stamp >= stamp)

    def at(self, stamp: int, state: State) -> float:
        """Write H and v at ``stamp`` into ``state``; return its distance to the sample used [s].

        Where it is interpolated, that is the earlier one. Raises `DroppedInput` if there is no
        sample, or none within max_skew.
        """
        if not self._samples:
            raise DroppedInput(
                Cause.NO_ODOMETRY, 'no odometry yet, expected one before the first joint state'
            )
        later: Any = None
        earlier: Any = None
        for sample in reversed(self._samples):
            if sample.stamp >= stamp:
                later = sample
            if sample.stamp <= stamp:
                earlier = sample
                break
        if self._interpolates:
            before = self._distance('nearest odometry before it', stamp, earlier)
            self._distance('nearest odometry after it', stamp, later)
            share = before * 1e9 / max(later.stamp - earlier.stamp, 1)
            retract(earlier.H, share * se3.log(se3.relative(earlier.H, later.H)), state.H)
            state.v[:] = (1.0 - share) * earlier.v + share * later.v
            return before
        sample = earlier or self._samples[0]
        dt = self._distance('newest odometry', stamp, sample)
        np.multiply(sample.v, dt, out=self._step)
        retract(sample.H, self._step, state.H)
        state.v[:] = sample.v
        return dt

    def _distance(self, what: str, stamp: int, sample: BaseSample | None) -> float:
        """Return how far a sample is from a stamp [s], if that is not too far."""
        dt = np.inf if sample is None else (stamp - sample.stamp) * 1e-9
        if abs(dt) > self._max_skew:
            raise DroppedInput(
                Cause.SKEW,
                f'the {what} is {dt:+.4f} s away from the joint state, expected at most '
                f'{self._max_skew:g} s; raise max_skew or synchronize the publishers',
            )
        return dt


class _Transform(NamedTuple):
    """Pose (4, 4) of a frame seen from its parent; ``stamp`` is None for a static one."""

    parent: str
    pose: Array
    stamp: int | None


class TransformInput:
    """Makes a sample of the base of each new transform between the world and the base.

    The chain from ``tf_world_frame`` to ``child_frame`` (if empty, the base link) is made of the
    newest transform of each of its frames. A sample has the stamp of the one next to the base that
    is not static, the angular velocity of the newest IMU message, and as linear velocity the
    filtered rate of the base origin (`Differentiator`). Start at a frame in which the base moves
    without jumps (odom of REP 105). Raises `ConfigurationError` if the child frame is no link
    fixed to the base. ``stamp`` is of the sample made last, ``velocity`` the linear one.
    """

    def __init__(self, model: TreeModel, settings: StreamSettings) -> None:
        tip = settings.child_frame or model.base_link
        self._frames = BaseFrames(model, settings.frame_prefix, tip)
        self._tip = settings.frame_prefix + tip
        self._tip_P_base = se3.inverse(model.frame(tip).placement)
        self._max_skew, self._tolerance = settings.max_skew, settings.quaternion_tolerance
        self.world_frame = settings.tf_world_frame
        self._transforms: dict[str, _Transform] = {}
        self.velocity = Differentiator(settings.tf_velocity_cutoff)
        self._imu = NewestMessage('IMU message')
        self.stamp: int | None = None

    def take_imu(self, message: Any) -> None:
        """Keep the angular velocity of a sensor_msgs/Imu.

        Raises `DroppedInput` if its frame is not fixed to the base, it measures no angular
        velocity (REP 145: first covariance -1), or a number is not finite.
        """
        mount = self._frames.placement('IMU', message.header.frame_id)
        w = message.angular_velocity
        rate = np.array((w.x, w.y, w.z), dtype=np.float64)
        if message.angular_velocity_covariance[0] == -1.0:
            rate[:] = np.nan
        check_finite('angular velocity of the IMU (NaN: its covariance says not measured)', rate)
        self._imu.stamp = nanoseconds(message.header.stamp)
        self._imu.value = mount[:3, :3] @ rate

    def take(self, message: Any, is_static: bool = False) -> BaseSample | None:
        """Keep the transforms of a tf2_msgs/TFMessage; return a sample if the base has moved.

        Raises `DroppedInput` if a quaternion is not of unit length, a number not finite (the other
        transforms are kept), there are no two poses yet, or no angular velocity near them.
        """
        unusable: DroppedInput | None = None
        for stamped in message.transforms:
            stamp = None if is_static else nanoseconds(stamped.header.stamp)
            try:
                pose = _pose(stamped, self._tolerance)
            except DroppedInput as drop:
                unusable = drop
                continue
            transform = _Transform(stamped.header.frame_id.lstrip('/'), pose, stamp)
            self._transforms[stamped.child_frame_id.lstrip('/')] = transform
        if unusable is not None:
            raise unusable
        chain = self._chain()
        stamp = next((link.stamp for link in chain if link.stamp is not None), None)
        if stamp is None or stamp == self.stamp:
            return None
        if starts_anew('transform', stamp, self.stamp):
            self.velocity.forget()
        self.stamp = stamp
        H = self._tip_P_base
        for link in chain:
            H = link.pose @ H
        self.velocity.add(stamp, H[:3, 3])
        if self.velocity.rate is None:
            raise DroppedInput(
                Cause.NO_VELOCITY, 'no velocity of the base yet, expected two transforms first'
            )
        lack = self._imu.lack(stamp, self._max_skew, of='transforms')
        if lack:
            raise DroppedInput(Cause.NO_VELOCITY, f'{lack}; check topic imu, or raise max_skew')
        v = np.concatenate((H[:3, :3].T @ self.velocity.rate, self._imu.value))
        return BaseSample(stamp, H, v)

    def _chain(self) -> list[_Transform]:
        """Return the transforms from the base up to the world; none while one is missing."""
        chain: list[_Transform] = []
        name = self._tip
        while name != self.world_frame:
            transform = self._transforms.get(name)
            if transform is None or len(chain) > len(self._transforms):
                return []
            chain.append(transform)
            name = transform.parent
        return chain


def _pose(stamped: Any, tolerance: float) -> Array:
    place, turn = stamped.transform.translation, stamped.transform.rotation
    quaternion = np.array((turn.x, turn.y, turn.z, turn.w), dtype=np.float64)
    H, what = np.eye(4), f'transform of {stamped.child_frame_id!r}'
    H[:3, 3] = place.x, place.y, place.z
    length = float(np.linalg.norm(quaternion))
    check_finite(what, H[:3, 3])
    check_unit(what, length, tolerance)
    H[:3, :3] = se3.rotation_from_quaternion(quaternion / length)
    return H


class BaseFrames:
    """Placements (4, 4) on the base of the links that are fixed to it, by frame of messages.

    These have ``prefix``, robot_state_publisher's frame_prefix, before the name, or have not.
    Raises `ConfigurationError` if ``child_frame``, unless it is empty, is no such link.
    """

    def __init__(self, model: TreeModel, prefix: str, child_frame: str = '') -> None:
        self._placements = {
            name: np.ascontiguousarray(frame.placement)
            for name, frame in model.frames.items()
            if frame.body == 0
        }
        links = ', '.join(map(repr, list(self._placements)[:8]))
        self._expected = f'a link fixed to the base of robot {model.name!r} ({links})'
        self._placements |= {prefix + name: H for name, H in self._placements.items()}
        if child_frame and child_frame not in self._placements:
            raise ConfigurationError(
                f'parameter odometry.child_frame is {child_frame!r}, expected {self._expected}'
            )

    def placement(self, what: str, name: str) -> Array:
        """Return the placement of a frame that ``what`` is about.

        Raises `DroppedInput` if it is not fixed to the base.
        """
        if name not in self._placements:
            raise DroppedInput(
                Cause.FRAME,
                f'{what} is about frame {name!r}, expected {self._expected}; correct the '
                'publisher or set odometry.child_frame',
            )
        return self._placements[name]


class BaseInput:
    """Turns odometry about a link that is fixed to the base into samples of the base.

    Raises `ConfigurationError` if ``child_frame`` is not fixed to a floating base. ``stamp`` [ns]
    and ``world_frame`` are of the odometry taken last.
    """

    def __init__(self, model: TreeModel, settings: StreamSettings) -> None:
        self._child_frame, self._tolerance = settings.child_frame, settings.quaternion_tolerance
        child = self._child_frame if model.base == 'floating' else ''
        self._frames = BaseFrames(model, settings.frame_prefix, child)
        self._twist_code = CHILD_TWIST if settings.twist_frame == 'child' else WORLD_TWIST
        self._sample = np.zeros(13)
        self.stamp: int | None = None
        self.world_frame = ''

    def take(self, message: Any) -> BaseSample:
        """Return the base at an odometry message.

        Raises `DroppedInput` if its frame is not fixed to the base, its quaternion not of unit
        length, a number not finite, or its stamp not after the last one.
        """
        child = self._child_frame or message.child_frame_id
        placement = self._frames.placement('odometry', child)
        stamp = nanoseconds(message.header.stamp)
        starts_anew('odometry', stamp, self.stamp)
        pose, twist, sample = message.pose.pose, message.twist.twist, self._sample
        place, turn, linear, angular = pose.position, pose.orientation, twist.linear, twist.angular
        sample[:] = (  # here, not by functions: for each odometry
            place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w,
            linear.x, linear.y, linear.z, angular.x, angular.y, angular.z,
        )  # fmt: skip
        check_finite('odometry', sample)
        norm = math.hypot(turn.x, turn.y, turn.z, turn.w)
        check_unit('odometry', norm, self._tolerance)
        H, v = np.empty((4, 4)), np.empty(6)
        place_base(sample, self._twist_code, placement, H, v)
        self.stamp, self.world_frame = stamp, message.header.frame_id
        return BaseSample(stamp, H, v)


class StateInput:
    """Finds the state of the base at each joint state.

    ``topics`` has what takes the messages about the base, by topic, and returns the sample that it
    makes of one, if any; it raises `DroppedInput` where it cannot be used. ``stamp`` [ns] is that
    of the newest joint state, ``fixed_frame`` the world frame of a fixed base, else empty.
    """

    def __init__(self, model: TreeModel, settings: StreamSettings) -> None:
        self._model = model
        self.joints = JointInput(model)
        in_parts = settings.joint_states_in_parts
        self._parts = JointParts(model, settings.max_skew) if in_parts else None
        self._pairing = Pairing(settings.pairing, settings.max_skew, settings.max_wait > 0.0)
        self.base: Any = BaseInput(model, settings)
        self.topics: Mapping[str, Callable[[Any], BaseSample | None]]
        self.topics = {'odom': partial(self._take, self.base.take)}
        if settings.base_source == 'tf' and model.base == 'floating':
            base = self.base = TransformInput(model, settings)
            self.topics = {
                'tf': partial(self._take, base.take),
                'tf_static': partial(self._take, partial(base.take, is_static=True)),
                'imu': base.take_imu,
            }
        self.fixed_frame = (
            '' if model.base == 'floating' else settings.frame_prefix + model.base_link
        )
        self.stamp: int | None = None

    def _take(self, make: Callable[[Any], BaseSample | None], message: Any) -> BaseSample | None:
        sample = make(message)
        if sample is not None:
            self._pairing.add(sample)
        return sample

    def take_odometry(self, message: Any) -> None:
        """Keep a nav_msgs/Odometry; raise `DroppedInput` where it cannot be used."""
        self.topics['odom'](message)

    def merge(self, message: Any) -> Any | None:
        """Return a joint state that is whole, or None while parts of it are missing.

        Raises `DroppedInput` as `JointParts.merge` does.
        """
        return message if self._parts is None else self._parts.merge(message)

    def check_order(self, stamp: int) -> bool:
        """Note the stamp [ns] of a joint state; return whether it is the first of its clock.

        Raises `DroppedInput` if it is not after the last one, without a clock that was set back.
        """
        first = starts_anew('joint state', stamp, self.stamp)
        self.stamp = stamp
        return first

    def is_ready(self, stamp: int) -> bool:
        """Whether the state at ``stamp`` [ns] waits for no later message."""
        return self._model.base == 'fixed' or self._pairing.is_ready(stamp)

    def read(self, message: Any, stamp: int, state: State) -> float:
        """Write the state at ``stamp`` [ns] into ``state``; return the age of the odometry [s].

        Raises `DroppedInput` if the joint state (sensor_msgs/JointState) lacks something, or no
        odometry is near.
        """
        self.joints.read(message, 'position', state.s, Cause.MISSING_JOINT)
        self.joints.read(message, 'velocity', state.r, Cause.MISSING_VELOCITY)
        return self._pairing.at(stamp, state) if self._model.base == 'floating' else 0.0


class StateStream(TopicStream[T]):
    """A stream that answers about the state of base and joints."""

    _states: StateInput

    @property
    def world_frame(self) -> str:
        """Frame that the base pose is seen from; of a fixed base it is the base link itself."""
        return self._states.fixed_frame or str(self._states.base.world_frame)

    @property
    def newest_stamps(self) -> dict[str, int | None]:
        """Stamps [ns] of the inputs taken last, None before the first."""
        states = self._states
        name = 'odometry' if 'odom' in states.topics else 'transform'
        return {'joint state': states.stamp, name: states.base.stamp}
