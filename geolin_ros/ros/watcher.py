# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A watcher of a running node: keeps the newest message of each topic, and sends pushes.

It subscribes with a depth of 1 and takes messages when it is asked to: what came between is
overwritten in the middleware, and costs neither it nor the node what reading it would.
"""

from collections.abc import Sequence
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from geolin_msgs.msg import LinearizationSummary, LinearizedDynamics
from geolin_ros.ros.executor import init
from geolin_ros.ros.qos import LATCHED

LATEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
PUSH = 'push'
"""Topic on which `geolin_demos.balance` takes pushes."""


class Watcher:
    """Subscriptions to a node and to what it subscribes to.

    Parameters
    ----------
    node
        Full name of the linearizer.
    remaps
        Names as ``from:=to``.

    Attributes
    ----------
    newest
        Messages by what they are: linearization, summary, diagnostics, joint_states, odom,
        robot_description.
    counts
        How many of each were taken.
    """

    def __init__(self, node: str, remaps: Sequence[str] = ()) -> None:
        self.newest: dict[str, Any] = {}
        self.counts: dict[str, int] = {}
        arguments = [text for remap in remaps for text in ('-r', remap)]
        init(['--ros-args', *arguments] if arguments else [])
        self._node: Node = rclpy.create_node(
            'geolin_view', enable_rosout=False, start_parameter_services=False
        )
        topics: tuple[tuple[str, Any, str, QoSProfile], ...] = (
            ('robot_description', String, 'robot_description', LATCHED),
            ('linearization', LinearizedDynamics, f'{node}/linearization', LATEST),
            ('summary', LinearizationSummary, f'{node}/summary', LATEST),
            ('diagnostics', DiagnosticArray, '/diagnostics', QoSProfile(depth=10)),
            ('joint_states', JointState, 'joint_states', LATEST),
            ('odom', Odometry, 'odom', LATEST),
        )
        for name, kind, topic, profile in topics:
            self._subscribe(name, kind, topic, profile, node)
        self._push = self._node.create_publisher(WrenchStamped, PUSH, 10)
        self._executor = SingleThreadedExecutor()  # an events executor counts what is overwritten
        self._executor.add_node(self._node)
        self._topics = len(topics)

    def _subscribe(self, name: str, kind: Any, topic: str, profile: QoSProfile, node: str) -> None:
        def take(message: Any) -> None:
            if name == 'diagnostics' and not any(
                f'/{status.name.lstrip("/")}' == node for status in message.status
            ):
                return  # of another node
            self.newest[name] = message
            self.counts[name] = self.counts.get(name, 0) + 1

        self._node.create_subscription(kind, topic, take, profile)

    def poll(self) -> None:
        """Take what has come, at most one message of each topic."""
        for _ in range(self._topics):
            self._executor.spin_once(timeout_sec=0.0)

    def wait(self, seconds: float) -> None:
        """Take the next message, or let a time [s] go by."""
        self._executor.spin_once(timeout_sec=seconds)

    @property
    def is_heard(self) -> bool:
        """Whether somebody takes pushes."""
        return bool(self._push.get_subscription_count())

    def push(self, frame: str, force: Sequence[float]) -> None:
        """Ask for a push by a force (3,) in axes of the world frame [N]."""
        message = WrenchStamped()
        message.header.frame_id = frame
        message.header.stamp = self._node.get_clock().now().to_msg()
        place = message.wrench.force
        place.x, place.y, place.z = (float(value) for value in force)
        self._push.publish(message)

    def close(self) -> None:
        """Leave the graph."""
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown()
