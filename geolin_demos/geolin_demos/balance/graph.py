# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot on the graph, in the loop with a controller: held, then let go.

Lock step by default: a control period goes by when the efforts that answer the last state have
come, or after a time-out, which is counted. In real time a period goes by with the clock, and what
has not come by then is counted as a missed deadline.
"""

import re
import sys
import time
from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray

from geolin_demos.balance.cases import Moment, Motion
from geolin_demos.demo.robot import WORLD, StatePublisher, publish_description
from geolin_demos.sim.simulator import PERIOD, ImuSensor, Push, Recording, Sensors, Simulator
from geolin_msgs.msg import ContactState, ContactStates, FeedbackGains, ReferenceState
from geolin_ros.control.support import Support
from geolin_ros.errors import GeolinError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.ros.running import make_executor
from geolin_ros.ros.topics import LATCHED, NEWEST
from geolin_ros.stream.contacts import write_contact
from geolin_ros.stream.message_fields import write_stamp, write_wrench
from geolin_ros.stream.outputs.messages import StateWriter
from geolin_ros.stream.topic_stream import nanoseconds
from geolin_ros.typing import Array

COMMANDS = 'joint_group_effort_controller/commands'
STAMPED_COMMANDS = 'lqr_node/command'
FIRST_STAMP = 1_000 * 10**9
PATIENCE = 400.0  # for nodes, which may have to compile, and for gains [s]
ANSWER_TIMEOUT, HELD_TIMEOUT = 0.5, 0.05  # while the robot moves, and while it is held [s]
WORD = 3.0  # until the log states what the robot waits for [s]
REMINDER = 0.2  # from one reference to the next while it is held: nodes come up meanwhile [s]
FOOT_PERIODS = 5  # from one message about the feet to the next


def topic_name(frame: str) -> str:
    """Return a frame as part of a topic: letters, digits and _, and no digit first."""
    name = re.sub('[^A-Za-z0-9_]', '_', frame)
    return f'foot_{name}' if name[0].isdigit() else name


class RobotGraph:
    """Publishers and subscriptions of one simulated robot.

    The efforts that act come as std_msgs/Float64MultiArray, which holds no stamp. The controller
    says on a second topic, ``answers``, as sensor_msgs/JointState, which state they answer; they
    are taken as that answer when both agree. Of a controller that does not, they answer the newest
    state; if the state ``is_estimated``, once the state estimator has answered it, too. Wrenches
    of ``feet`` are published; a description of the robot unless it is empty.

    ``efforts`` (n_u,) and ``gains`` are the newest that came, or None; ``answered`` is the stamp
    [ns] of the newest state that the efforts answer. ``pushes`` are forces (3,) in world axes that
    came and were not taken yet [N]; ``asked_to_stop`` is called to know whether to end.
    """

    def __init__(
        self,
        node: Node,
        model: TreeModel,
        description: str,
        feet: list[str],
        answers: str = STAMPED_COMMANDS,
        is_estimated: bool = False,
    ) -> None:
        self.efforts: Array | None = None
        self.answered = self._sent = -1
        self.gains: FeedbackGains | None = None
        self.pushes: list[Array] = []
        self.asked_to_stop: Callable[[], bool] = lambda: False
        self._node, self._model = node, model
        self._answer = -1, np.empty(0)
        self._estimated = -1 if is_estimated else None  # stamp of the newest estimate [ns]
        self._executor = make_executor()
        self._executor.add_node(node)
        sensor = qos_profile_sensor_data
        self._state = StatePublisher(node, model)
        self._imu = node.create_publisher(Imu, 'imu', sensor)
        self._clock = node.create_publisher(Clock, '/clock', NEWEST)
        self._contacts = node.create_publisher(ContactStates, 'contact_states', LATCHED)
        self._reference = node.create_publisher(ReferenceState, 'reference', NEWEST)
        self._wrenches = {
            frame: node.create_publisher(WrenchStamped, f'{topic_name(frame)}/wrench', sensor)
            for frame in feet
        }
        publish_description(node, description)
        listen = node.create_subscription
        commands = listen(Float64MultiArray, COMMANDS, self._on_efforts, 10)
        self._answer_topics = {commands.topic_name: 'std_msgs/msg/Float64MultiArray'}
        if answers:
            stamped = listen(JointState, answers, self._on_stamped, 10)
            self._answer_topics[stamped.topic_name] = 'sensor_msgs/msg/JointState'
        if is_estimated:
            listen(Odometry, 'state_estimator/odometry', self._on_estimate, NEWEST)
        listen(FeedbackGains, 'lqr_node/gains', self._on_gains, NEWEST)
        listen(WrenchStamped, 'push', self._on_push, 10)
        self._tau = np.zeros(model.n)
        self._wanted = ReferenceState(joint_names=list(model.joint_names))
        self._wanted.header.frame_id = WORLD
        self._reference_state = StateWriter(self._wanted.state, model.n)

    def _on_efforts(self, message: Float64MultiArray) -> None:
        self.efforts = np.array(message.data)
        self._match()

    def _on_stamped(self, message: JointState) -> None:
        self._answer = nanoseconds(message.header.stamp), np.array(message.effort)
        self._match()

    def _match(self) -> None:
        stamp, efforts = self._answer
        if len(self._answer_topics) == 1:
            self.answered = self._sent
        elif self.efforts is not None and np.array_equal(efforts, self.efforts):
            self.answered = stamp

    def _on_gains(self, message: FeedbackGains) -> None:
        self.gains = message

    def _on_push(self, message: WrenchStamped) -> None:
        force = message.wrench.force
        pushed = np.array([force.x, force.y, force.z])
        if np.isfinite(pushed).all():
            self.pushes.append(pushed)

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
        """Publish the clock and odometry, then the joint states that are to be answered.

        ``efforts`` (n_u,) are those of the actuated joints now [N m or N].
        """
        clock = Clock()
        write_stamp(clock.clock, stamp)
        self._tau[self._model.actuated] = efforts
        self._sent = stamp
        self._clock.publish(clock)
        self._state.publish(state, self._tau, stamp)


class Answers:
    """Waits for one answer after another; counts those that were missed and the latencies [s].

    In lock step until it is there or ``timeout`` is over; against the clock always to the end of
    the ``period`` [s].
    """

    def __init__(
        self, graph: RobotGraph, period: float, timeout: float, is_realtime: bool
    ) -> None:
        self.latencies: list[float] = []
        self.missed = 0
        self._graph, self._period, self._timeout = graph, period, timeout
        self._realtime, self._due = is_realtime, time.monotonic()

    def wait(self, sent: float, stamp: int) -> None:
        """Return when the robot may go on after the state that was ``sent`` (time.monotonic)."""
        if self._realtime:  # where the robot itself is late, its controller has a period still
            begin = self._due if sent < self._due + 0.2 * self._period else sent
            self._due = begin + self._period
        else:
            self._due = sent + self._timeout
        if self._graph.spin_until(self._due, stamp):
            self.latencies.append(time.monotonic() - sent)
        else:
            self.missed += 1
        if self._realtime:
            self._graph.spin_until(self._due)

    def percentiles(self) -> tuple[float, float]:
        """Return the median and the 99th percentile of the latencies [s], NaN without any."""
        p50, p99 = np.percentile(self.latencies or [np.nan], (50, 99))
        return float(p50), float(p99)


class Run:
    """One robot on one graph; motions one after the other.

    Sensors tell what is published of its state while it moves, by default all of it. With
    ``is_late`` efforts act from the next period on, however soon they come; with ``is_estimated``
    references are given in a world that begins below the robot, as that of the state estimator.
    """

    def __init__(
        self,
        simulator: Simulator,
        graph: RobotGraph,
        sensors: Sensors | None = None,
        *,
        period: float = PERIOD,
        is_realtime: bool = False,
        is_late: bool = False,
        patience: float = PATIENCE,
        is_estimated: bool = False,
    ) -> None:
        self._simulator, self._graph, self._sensors = simulator, graph, sensors or Sensors()
        self._period, self._realtime, self._late = period, is_realtime, is_late
        self._patience, self._stamp = patience, FIRST_STAMP
        self._origin = np.full(2, np.nan if is_estimated else 0.0)
        self._imu = ImuSensor(simulator.model.gravity)
        self._efforts = np.zeros(len(simulator.model.actuated))
        self._supports: tuple[Support, ...] = ()

    def hold(self, moment: Moment, is_led: Callable[[Moment], bool] = lambda _: True) -> None:
        """Hold the robot where a motion begins until its states are answered and it is led.

        Raises `GeolinError` if that takes too long.
        """
        graph, begin = self._graph, time.monotonic()
        word, logged, is_answered = begin + WORD, -np.inf, False
        self._simulator.reset(moment.state)
        self._imu.forget()
        self._efforts = moment.tau[self._simulator.model.actuated]
        if np.isnan(self._origin[0]):
            self._origin[:] = moment.state.H[:2, 3]
        while not (is_answered and is_led(self._wanted(moment))):
            now = time.monotonic()
            if now > begin + self._patience:
                raise GeolinError(
                    f'no controller leads the robot within {self._patience:g} s, which waits for '
                    f'{graph.waits_for()}; the last state '
                    f'was {"" if is_answered else "not "}answered'
                )
            if now > word:
                print(f'robot waits for {graph.waits_for()}', file=sys.stderr)
                word = now + 2.0 * WORD
            if now > logged + REMINDER:
                graph.publish_reference(self._wanted(moment), self._stamp)
                logged = now
            self._sensors(moment.state)  # which are late, and remember it
            sent = self._send(moment.state, moment.supports)
            is_answered = graph.spin_until(sent + HELD_TIMEOUT, self._stamp)
            if self._realtime:
                graph.spin_until(sent + self._period)
            self._stamp += round(self._period * 1e9)

    def go(self, motion: Motion) -> tuple[Recording, Answers]:
        """Let the robot move until the motion is over or it falls; return what came of it."""
        simulator, recording = self._simulator, Recording()
        self._graph.pushes.clear()  # of when it was locked in place
        answers = Answers(self._graph, self._period, ANSWER_TIMEOUT, self._realtime)
        for _ in range(round(motion.duration / self._period)):
            moment, state = motion.at(simulator.time), simulator.state
            if not recording.add(simulator.time, state, moment.state):
                break
            if len(motion.knots) > 1:
                self._graph.publish_reference(self._wanted(moment), self._stamp)
            answers.wait(self._send(self._sensors(state), moment.supports), self._stamp)
            self._take_pushes()
            self._advance()
        return recording, answers

    def _wanted(self, moment: Moment) -> Moment:
        """Return where the robot should be, in the world of its odometry."""
        state = moment.state.copy()
        state.H[:2, 3] -= self._origin
        return moment._replace(state=state)

    def _take_pushes(self) -> None:
        """Let forces that came from outside act from now on, as long as any other push."""
        while self._graph.pushes:
            force = self._graph.pushes.pop(0).tolist()
            self._simulator.pushes.append(Push(self._simulator.time, tuple(force)))
            size, now = np.linalg.norm(force), 1e-9 * self._stamp
            print(f'pushed by {size:.0f} N from outside at {now:.3f} s', flush=True)

    def _send(self, sensed: State, supports: tuple[Support, ...]) -> float:
        """Publish forces and a state; return when (time.monotonic)."""
        graph, stamp = self._graph, self._stamp
        sample = self._imu(1e-9 * stamp, self._simulator.state)
        if sample is not None:
            graph.publish_imu(sample, stamp)
        is_turn = (stamp // round(self._period * 1e9)) % FOOT_PERIODS == 0
        if is_turn:
            graph.publish_wrenches(self._simulator.wrenches(), stamp)
        if is_turn or supports is not self._supports:
            graph.publish_contacts(supports, stamp)
            self._supports = supports
        sent = time.monotonic()
        graph.publish_state(sensed, self._efforts, stamp)
        return sent

    def _advance(self) -> None:
        newest = self._graph.efforts
        if newest is None or newest.size != self._efforts.size:
            newest = self._efforts
        given = self._simulator.advance(self._efforts if self._late else newest, self._period)
        self._efforts = newest if self._late else given
        self._stamp += round(self._period * 1e9)
