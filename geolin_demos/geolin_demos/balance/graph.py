# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot on the graph: what a real one would publish, and the efforts it is sent."""

import re
import time
from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray, String

from geolin_demos.balance.motions import Moment
from geolin_msgs.msg import ContactState, ContactStates, FeedbackGains, ReferenceState
from geolin_ros.control.support import Support
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.ros.executor import make_executor
from geolin_ros.ros.qos import LATCHED, NEWEST
from geolin_ros.stream.drops import nanoseconds
from geolin_ros.stream.inputs.contact_state import write_contact
from geolin_ros.stream.message_fields import (
    allocate,
    write_pose,
    write_stamp,
    write_twist,
    write_wrench,
)
from geolin_ros.stream.outputs.messages import StateWriter
from geolin_ros.typing import Array

PUSH = 'push'
COMMANDS = 'joint_group_effort_controller/commands'
STAMPED_COMMANDS = 'lqr_node/command'
GAINS = 'lqr_node/gains'
ESTIMATES = 'state_estimator/odometry'
WORLD = 'odom'


def topic_name(frame: str) -> str:
    """Return a frame as part of a topic: letters, digits and _, and no digit first."""
    name = re.sub('[^A-Za-z0-9_]', '_', frame)
    return f'foot_{name}' if name[0].isdigit() else name


class RobotGraph:
    """Publishers and subscriptions of one simulated robot.

    The efforts that act come as std_msgs/Float64MultiArray, which holds no stamp. The controller
    says on a second topic, as sensor_msgs/JointState, which state they answer; they are taken as
    that answer when both agree. Of a controller that does not, they answer the newest state.

    Parameters
    ----------
    description
        Text of the URDF; nothing is published if it is empty.
    feet
        Frames of which contact wrenches are published.
    answers
        The second topic, empty if there is none.

    Attributes
    ----------
    efforts : (n_u,) or None
        The newest that came; ``answered`` is the stamp [ns] of the newest state they answer.
    gains
        The newest or None; ``linearizations_used`` counts those made of the linearizer's A and B.
    pushes
        Forces (3,) in world axes that came on `PUSH` and were not taken yet [N].
    asked_to_stop
        Called to know whether to end; as it is made, never.
    """

    def __init__(
        self,
        node: Node,
        model: TreeModel,
        description: str,
        feet: list[str],
        answers: str = STAMPED_COMMANDS,
    ) -> None:
        self.efforts: Array | None = None
        self.answered = self._sent = -1
        self.gains: FeedbackGains | None = None
        self.linearizations_used = 0
        self.pushes: list[Array] = []
        self.asked_to_stop: Callable[[], bool] = lambda: False
        self._node, self._model = node, model
        self._answer = -1, np.empty(0)
        self._estimated: int | None = None  # stamp [ns] of the newest estimate, where one is due
        self._executor = make_executor()
        self._executor.add_node(node)
        sensor = qos_profile_sensor_data
        self._odometry = node.create_publisher(Odometry, 'odom', NEWEST)
        self._imu = node.create_publisher(Imu, 'imu', sensor)
        self._joints = node.create_publisher(JointState, 'joint_states', sensor)
        self._clock = node.create_publisher(Clock, '/clock', NEWEST)
        self._contacts = node.create_publisher(ContactStates, 'contact_states', LATCHED)
        self._reference = node.create_publisher(ReferenceState, 'reference', NEWEST)
        self._wrenches = {
            frame: node.create_publisher(WrenchStamped, f'{topic_name(frame)}/wrench', sensor)
            for frame in feet
        }
        self._description = node.create_publisher(String, 'robot_description', LATCHED)
        if description:
            self._description.publish(String(data=description))
        listen = node.create_subscription
        commands = listen(Float64MultiArray, COMMANDS, self._on_efforts, 10)
        self._answer_topics = {commands.topic_name: 'std_msgs/msg/Float64MultiArray'}
        self._is_stamped = bool(answers)
        if answers:
            stamped = listen(JointState, answers, self._on_stamped, 10)
            self._answer_topics[stamped.topic_name] = 'sensor_msgs/msg/JointState'
        listen(FeedbackGains, GAINS, self._on_gains, NEWEST)
        listen(WrenchStamped, PUSH, self._on_push, 10)
        self._base = Odometry(child_frame_id=model.base_link)
        self._base.header.frame_id = WORLD
        self._state = JointState(name=list(model.joint_names))
        fields = 'position', 'velocity', 'effort'
        self._arrays = [allocate(self._state, field, model.n) for field in fields]
        self._wanted = ReferenceState(joint_names=list(model.joint_names))
        self._wanted.header.frame_id = WORLD
        self._reference_state = StateWriter(self._wanted.state, model.n)

    # ---- what comes

    def _on_efforts(self, message: Float64MultiArray) -> None:
        self.efforts = np.array(message.data)
        self._match()

    def _on_stamped(self, message: JointState) -> None:
        self._answer = nanoseconds(message.header.stamp), np.array(message.effort)
        self._match()

    def _match(self) -> None:
        stamp, efforts = self._answer
        if not self._is_stamped:
            self.answered = self._sent
        elif self.efforts is not None and np.array_equal(efforts, self.efforts):
            self.answered = stamp

    def _on_gains(self, message: FeedbackGains) -> None:
        self.gains = message
        self.linearizations_used += message.source == FeedbackGains.SOURCE_LINEARIZATION

    def _on_push(self, message: WrenchStamped) -> None:
        force = message.wrench.force
        pushed = np.array([force.x, force.y, force.z])
        if np.all(np.isfinite(pushed)):
            self.pushes.append(pushed)

    def expect_odometry(self) -> None:
        """Take a state as answered once the state estimator has answered it, too."""
        self._estimated = -1
        self._node.create_subscription(Odometry, ESTIMATES, self._on_estimate, NEWEST)

    def _on_estimate(self, message: Odometry) -> None:
        self._estimated = nanoseconds(message.header.stamp)

    def waits_for(self) -> str:
        """Return what keeps the controller from leading the robot."""
        for topic, kind in self._answer_topics.items():
            if not self._node.get_publishers_info_by_topic(topic):
                return (
                    f'a publisher of {topic} ({kind}): start the controller (lqr_node and '
                    'linearizer, or any with --answers)'
                )
        return (
            'efforts that hold the robot, and of lqr_node gains of linearizations: see what the '
            'controller prints; are its supports the --feet?'
        )

    def spin_until(self, deadline: float, stamp: int | None = None) -> bool:
        """Listen until a state is answered or until a time.monotonic; return whether it was.

        Raises `KeyboardInterrupt` if it is asked to stop.
        """
        if self.asked_to_stop():
            raise KeyboardInterrupt
        while not (self.answered == stamp and self._estimated in (None, stamp)):
            remaining = deadline - time.monotonic()
            if remaining <= 0.0:
                return False
            self._executor.spin_once(timeout_sec=remaining)
        return True

    def close(self) -> None:
        """Stop to listen."""
        self._executor.shutdown()

    # ---- what goes

    def publish_reference(self, moment: Moment, stamp: int) -> None:
        """Publish where the robot should be, and by which efforts."""
        write_stamp(self._wanted.header.stamp, stamp)
        self._reference_state.write(moment.state)
        self._wanted.joint_efforts = moment.tau.tolist()
        self._reference.publish(self._wanted)

    def publish_contacts(self, supports: tuple[Support, ...], stamp: int) -> None:
        """Publish which contacts are in force."""
        message = ContactStates()
        message.header.frame_id = WORLD
        write_stamp(message.header.stamp, stamp)
        for support in supports:
            entry = ContactState()
            write_contact(entry, support.contact, self._model)
            message.contacts.append(entry)
        self._contacts.publish(message)

    def publish_wrenches(self, wrenches: dict[str, Array], stamp: int) -> None:
        """Publish what the floor does to each foot, in axes of its link."""
        for frame, wrench in wrenches.items():
            message = WrenchStamped()
            message.header.frame_id = frame
            write_stamp(message.header.stamp, stamp)
            write_wrench(message.wrench, wrench)
            self._wrenches[frame].publish(message)

    def publish_imu(self, sample: Array, stamp: int) -> None:
        """Publish what an IMU on the base measures (6,) = [gyro; accelerometer]."""
        message = Imu()
        message.header.frame_id = self._model.base_link
        write_stamp(message.header.stamp, stamp)
        message.orientation_covariance[0] = -1.0  # it knows none
        vectors = message.angular_velocity, message.linear_acceleration
        for vector, values in zip(vectors, (sample[:3], sample[3:]), strict=True):
            vector.x, vector.y, vector.z = values.tolist()
        self._imu.publish(message)

    def publish_state(self, state: State, efforts: Array, stamp: int) -> None:
        """Publish odometry and clock, then the joint states that are to be answered.

        ``efforts`` (n_u,) are those of the actuated joints now [N m or N].
        """
        base, joints, clock = self._base, self._state, Clock()
        for place in (base.header.stamp, joints.header.stamp, clock.clock):
            write_stamp(place, stamp)
        write_pose(base.pose.pose, state.H)
        write_twist(base.twist.twist, state.v)
        positions, rates, given = self._arrays
        positions[:], rates[:], given[self._model.actuated] = state.s, state.r, efforts
        self._sent = stamp
        self._clock.publish(clock)
        self._odometry.publish(base)
        self._joints.publish(joints)
