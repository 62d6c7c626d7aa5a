# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is known of the base into nav_msgs/Odometry, sensor_msgs/Imu and contact states.

Joint states go through, with rates, where they came without.
"""

from array import array
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from geolin_estimation.base_stream import BaseAnswer, BaseSettings
from geolin_estimation.imu_input import NOT_MEASURED
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.geometry import write_pose, write_stamp, write_twist
from geolin_ros.stream.inputs.contact_state import write_contact
from geolin_ros.typing import Array


class BaseMessages(NamedTuple):
    """One message of each kind; they live as long as the writer."""

    odometry: Any
    """nav_msgs/Odometry about the base."""
    imu_bias: Any
    """sensor_msgs/Imu with biases in the place of angular velocity and acceleration."""
    contacts: Any
    """geolin_msgs/ContactStates"""
    joint_states: Any
    """sensor_msgs/JointState with rates by the filter; None of an answer without."""


class BaseWriter:
    """Fills the messages with one answer after another.

    Parameters
    ----------
    messages
        The writer's from now on.
    make_contact
        Returns an empty geolin_msgs/ContactState.
    """

    def __init__(
        self,
        messages: BaseMessages,
        model: TreeModel,
        settings: BaseSettings,
        make_contact: Callable[[], Any],
    ) -> None:
        self.messages = messages
        self._contacts = settings.contacts.contacts
        odometry, bias, contacts, _ = messages
        odometry.header.frame_id = contacts.header.frame_id = settings.world_frame
        odometry.child_frame_id = settings.frame_prefix + model.base_link
        bias.header.frame_id = settings.frame_prefix + settings.imu.link
        bias.orientation_covariance[0] = NOT_MEASURED
        self._states = [make_contact() for _ in self._contacts]
        for state, contact in zip(self._states, self._contacts, strict=True):
            write_contact(state, replace(contact, active=False), model)
        contacts.contacts = self._states
        self._on_ground: frozenset[str] = frozenset()

    def write(self, answer: BaseAnswer) -> BaseMessages:
        """Fill the messages."""
        odometry, bias, contacts, _ = self.messages
        estimate = answer.estimate
        for message in (odometry, bias, contacts):
            write_stamp(message.header.stamp, answer.stamp)
        write_pose(odometry.pose.pose, estimate.H)
        write_twist(odometry.twist.twist, estimate.v)
        odometry.pose.covariance = estimate.pose_covariance.ravel()
        odometry.twist.covariance = estimate.twist_covariance.ravel()
        w, a = bias.angular_velocity, bias.linear_acceleration
        w.x, w.y, w.z, a.x, a.y, a.z = estimate.biases.tolist()
        P = estimate.bias_covariance
        bias.angular_velocity_covariance = np.ravel(P[:3, :3])
        bias.linear_acceleration_covariance = np.ravel(P[3:, 3:])
        if estimate.on_ground != self._on_ground:
            self._on_ground = estimate.on_ground
            for state in self._states:
                state.active = state.frame in estimate.on_ground
        if answer.rates is None:
            return self.messages._replace(joint_states=None)
        self._write_rates(answer.joint_state, answer.rates, answer.stamp)
        return self.messages

    def _write_rates(self, received: Any, rates: Array, stamp: int) -> None:
        joints = self.messages.joint_states
        write_stamp(joints.header.stamp, stamp)
        joints.name = list(received.name)
        for field, values in (
            ('position', received.position),
            ('velocity', rates),
            ('effort', received.effort),
        ):
            setattr(joints, field, array('d', np.asarray(values, dtype=np.float64).tobytes()))
