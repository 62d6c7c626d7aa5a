# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Torque estimates into geolin_msgs/TorqueEstimate."""

from collections.abc import Callable, Sequence
from typing import Any

from geolin_estimation.torque_stream import TorqueEstimate
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.geometry import write_stamp, write_wrench
from geolin_ros.stream.message_memory import allocate, write_matrix


class TorqueWriter:
    """Fills one geolin_msgs/TorqueEstimate with one estimate after another.

    Parameters
    ----------
    message
        An empty one; the writer's from now on.
    make_wrench
        Makes an empty geolin_msgs/WrenchWithCovariance.
    model, links
        Of the stream whose estimates will be written.
    frame_prefix
        Of the frames in messages.
    """

    def __init__(
        self,
        message: Any,
        make_wrench: Callable[[], Any],
        model: TreeModel,
        links: Sequence[str],
        frame_prefix: str = '',
    ) -> None:
        self.message = message
        message.header.frame_id = frame_prefix + model.base_link
        message.model_hash = model.hash
        message.joint_names = list(model.joint_names)
        message.wrenches = [make_wrench() for _ in links]
        for wrench, link in zip(message.wrenches, links, strict=True):
            wrench.header.frame_id = frame_prefix + link
        self._torques = allocate(message, 'joint_torques', model.n)
        self._n = model.n

    def write(self, estimate: TorqueEstimate) -> Any:
        """Fill and return the message."""
        message, covariance = self.message, estimate.covariance
        write_stamp(message.header.stamp, estimate.stamp)
        self._torques[:] = estimate.tau
        write_matrix(message.covariance, covariance)
        for k, wrench in enumerate(message.wrenches):
            write_stamp(wrench.header.stamp, estimate.stamp)
            write_wrench(wrench.wrench, estimate.wrenches[k])
            own = slice(self._n + 6 * k, self._n + 6 * k + 6)
            write_matrix(wrench.covariance, None if covariance is None else covariance[own, own])
        message.chi_squared = estimate.chi_squared
        message.degrees_of_freedom = estimate.degrees_of_freedom
        message.compute_time = estimate.compute_time
        return message
