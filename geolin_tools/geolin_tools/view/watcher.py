# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A watcher of a running node: keeps the newest message of each topic, and sends pushes.

It subscribes with a depth of 1 and takes messages when it is asked to: what came between is
overwritten in the middleware, and costs neither it nor the node what reading it would. It takes
them from the subscriptions, as rclpy.wait_for_message does: an executor would wake up for each.
"""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from geolin_msgs.msg import LinearizationSummary, LinearizedDynamics, WalkingPlan
from geolin_ros.ros.executor import init
from geolin_ros.ros.topics import LATCHED

LATEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
PERIODS = {'linearization': 0.1, 'summary': 0.1, 'diagnostics': 0.2}
"""Least time from one message of a topic to the next [s]; of others there is none."""
STEP = 0.01  # from one look to the next while it waits [s]
NICE = 5  # added to the niceness of a process that watches: the node comes first


class Watcher:
    """Subscriptions to the linearizer of a full name, and to what it subscribes to.

    ``newest`` holds messages by what they are: linearization, summary, diagnostics, joint_states,
    odom, plan, robot_description; ``counts`` how many of each were taken. Remaps are ``from:=to``.
    """

    def __init__(self, node: str, remaps: Sequence[str] = ()) -> None:
        self.newest: dict[str, Any] = {}
        self.counts: Counter[str] = Counter()
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
            ('plan', WalkingPlan, 'walking_node/plan', LATEST),
        )
        # messages are taken: no executor calls back
        self._subscriptions = {
            name: self._node.create_subscription(kind, topic, lambda message: None, profile)
            for name, kind, topic, profile in topics
        }
        self._full_name, self._due = node, dict.fromkeys(self._subscriptions, 0.0)
        self._push = self._node.create_publisher(WrenchStamped, 'push', 10)

    def poll(self) -> bool:
        """Take what has come of each topic that is due; return whether anything has."""
        now, before = time.monotonic(), self.counts.total()
        for name, subscription in self._subscriptions.items():
            if now < self._due[name]:
                continue
            while (message := _take(subscription)) is not None:
                if name == 'diagnostics' and not self._is_of_node(message):
                    continue
                self.newest[name] = message
                self.counts[name] += 1
                self._due[name] = now + PERIODS.get(name, 0.0)
                break
        return self.counts.total() > before

    def _is_of_node(self, message: DiagnosticArray) -> bool:
        return any(f'/{status.name.lstrip("/")}' == self._full_name for status in message.status)

    def wait(self, seconds: float) -> None:
        """Take what comes next, or let a time [s] go by."""
        end = time.monotonic() + seconds
        while not self.poll() and time.monotonic() < end:
            time.sleep(STEP)

    @property
    def has_listeners(self) -> bool:
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
        self._node.destroy_node()
        rclpy.try_shutdown()


def _take(subscription: Any) -> Any:
    """Return a message that has come, or None."""
    with subscription.handle:  # it stays until the message is taken
        taken = subscription.handle.take_message(subscription.msg_type, False)
    return None if taken is None else taken[0]
