# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of a robot from joint states and odometry, for every node that needs one."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.drops import Cause, starts_anew
from geolin_ros.stream.inputs.base_input import BaseInput
from geolin_ros.stream.inputs.joint_input import JointInput, JointParts
from geolin_ros.stream.inputs.pairing import BaseSample, Pairing
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.typing import Array


class StateInput:
    """Finds the state of the base at each joint state.

    ``topics`` has what takes the messages about the base, by topic, and returns the sample that it
    makes of one, if any; it raises `DroppedInput` where it cannot be used.
    """

    def __init__(self, model: TreeModel, settings: StreamSettings) -> None:
        self._model = model
        self._joints = JointInput(model)
        self._parts = JointParts(model, settings.max_skew)
        self._is_in_parts = settings.joint_states_in_parts
        self._pairing = Pairing(settings.pairing, settings.max_skew, settings.max_wait > 0.0)
        self._base: Any = BaseInput(model, settings)
        self.topics: Mapping[str, Callable[[Any], BaseSample | None]]
        self.topics = {'odom': partial(self._take, self._base.take)}
        if settings.base_source == 'tf' and model.base == 'floating':
            from geolin_ros.stream.inputs.transform_input import TransformInput  # rare

            base = self._base = TransformInput(model, settings)
            self.topics = {
                'tf': partial(self._take, base.take),
                'tf_static': partial(self._take, partial(base.take, is_static=True)),
                'imu': base.take_imu,
            }
        self._fixed_frame = settings.frame_prefix + model.base_link
        self._last_stamp: int | None = None

    @property
    def world_frame(self) -> str:
        """Frame that the base pose is seen from; of a fixed base it is the base link itself."""
        return self._fixed_frame if self._model.base == 'fixed' else str(self._base.world_frame)

    @property
    def newest_stamps(self) -> dict[str, int | None]:
        """Stamps [ns] of the inputs taken last, None before the first."""
        name = 'odometry' if 'odom' in self.topics else 'transform'
        return {'joint state': self._last_stamp, name: self._base.stamp}

    @property
    def base_velocity_delay(self) -> float:
        """How late the linear velocity of the base is [s], where it is filtered."""
        return float(self._base.delay)

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
        return self._parts.merge(message) if self._is_in_parts else message

    def check_order(self, stamp: int) -> bool:
        """Note the stamp [ns] of a joint state; return whether it is the first of its clock.

        Raises `DroppedInput` if it is not after the last one, without a clock that was set back.
        """
        first = starts_anew('joint state', stamp, self._last_stamp)
        self._last_stamp = stamp
        return first

    def is_ready(self, stamp: int) -> bool:
        """Whether the state at ``stamp`` [ns] waits for no later message."""
        return self._model.base == 'fixed' or self._pairing.is_ready(stamp)

    def read(self, message: Any, stamp: int, state: State) -> float:
        """Write the state at ``stamp`` [ns] into ``state``; return the age of the odometry [s].

        Raises `DroppedInput` if the joint state (sensor_msgs/JointState) lacks something, or no
        odometry is near.
        """
        self._joints.read(message, 'position', state.s, Cause.MISSING_JOINT)
        self._joints.read(message, 'velocity', state.r, Cause.MISSING_VELOCITY)
        return self._pairing.at(stamp, state) if self._model.base == 'floating' else 0.0

    def read_efforts(self, message: Any, tau: Array) -> None:
        """Write the efforts of a joint state into ``tau`` (n,), as `read` does the rest."""
        self._joints.read(message, 'effort', tau, Cause.MISSING_EFFORT)
