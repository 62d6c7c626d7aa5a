# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of a robot from joint states and odometry, for every node that needs one."""

from typing import Any

from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.base_input import BaseInput
from geolin_ros.stream.drops import Cause
from geolin_ros.stream.joint_input import JointInput
from geolin_ros.stream.settings import StreamSettings
from geolin_ros.stream.stamps import starts_anew
from geolin_ros.typing import Array


class StateInput:
    """Pairs the newest odometry with each joint state.

    Parameters
    ----------
    model
        The robot.
    settings
        How to read and pair the messages.
    """

    def __init__(self, model: TreeModel, settings: StreamSettings) -> None:
        self._model = model
        self._joints = JointInput(model)
        self._base = BaseInput(
            model,
            settings.twist_frame,
            settings.child_frame,
            settings.max_skew,
            settings.quaternion_tolerance,
        )
        self._last_stamp: int | None = None

    @property
    def world_frame(self) -> str:
        """Frame that the base pose is seen from; of a fixed base it is the base link itself."""
        floating = self._model.base == 'floating'
        return self._base.world_frame if floating else self._model.base_link

    @property
    def newest_stamps(self) -> dict[str, int | None]:
        """Stamps [ns] of the inputs taken last, None before the first."""
        return {'joint state': self._last_stamp, 'odometry': self._base.stamp}

    @property
    def base_twist(self) -> Array:
        """Body twist (6,) of the newest odometry."""
        return self._base.v

    def take_odometry(self, message: Any) -> None:
        """Keep a nav_msgs/Odometry; raise `DroppedInput` where it cannot be used."""
        self._base.take(message)

    def check_order(self, stamp: int) -> bool:
        """Note the stamp [ns] of a joint state; return whether it is the first of its clock.

        Raises
        ------
        DroppedInput
            If it is not after the last one, without a clock that was set back.
        """
        first = starts_anew('joint state', stamp, self._last_stamp)
        self._last_stamp = stamp
        return first

    def read(self, message: Any, stamp: int, state: State) -> float:
        """Write the state at ``stamp`` [ns] into ``state``; return the age of the odometry [s].

        Raises
        ------
        DroppedInput
            If the joint state (sensor_msgs/JointState) lacks something, or no odometry is near.
        """
        self._joints.read(message, 'position', state.s, Cause.MISSING_JOINT)
        self._joints.read(message, 'velocity', state.r, Cause.MISSING_VELOCITY)
        return self._base.carry_to(stamp, state) if self._model.base == 'floating' else 0.0

    def read_efforts(self, message: Any, tau: Array) -> None:
        """Write the efforts of a joint state into ``tau`` (n,), as `read` does the rest."""
        self._joints.read(message, 'effort', tau, Cause.MISSING_EFFORT)
