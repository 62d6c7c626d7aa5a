# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node that makes a robot walk: states and commands in, plans with their laws out."""

import sys

if __name__ == '__main__':  # before the imports that take seconds, as the console script
    from geolin_walking.programs import walking_node

    sys.exit(walking_node())

import threading
import time
import traceback
from collections.abc import Sequence
from functools import partial
from typing import Any

from geolin_control.feedback_stream import supports_of
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from sensor_msgs.msg import JointState

from geolin_msgs import msg
from geolin_msgs.msg import ContactStates, WalkingPlan
from geolin_msgs.srv import LinearizeAlong
from geolin_ros.errors import GeolinError
from geolin_ros.linearization.along import LinearizedTrajectory
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.tree import TreeModel
from geolin_ros.ros.robot_node import Input, Output, Pipeline, Reading, RobotNode
from geolin_ros.ros.running import Program, run
from geolin_ros.ros.topics import NEWEST
from geolin_ros.stream.requests import read_trajectory, write_request
from geolin_ros.stream.warm_up import warm_up
from geolin_walking.gait import Phase
from geolin_walking.reference import Command
from geolin_walking.walker import Linearize, contacts_of
from geolin_walking.walking_stream import WALKING_TABLE, Question, WalkingStream, write_plan

SERVICE = 'linearizer/linearize_along'
"""Of the linearizer of the same namespace, unless it is called otherwise."""
PAUSE = 2.0
"""Before a service that has not answered is asked again [s]."""
PROGRAM = Program(
    'walking_node',
    'Makes a legged robot walk, by model predictive control: docs/walk.md.',
    f'robot_description, joint_states, odom, contact_states, cmd_vel; by parameter {SERVICE}',
    '~/plan, ~/contact_states',
)


class WalkingNode(RobotNode):
    """Plans at its rate, in a thread of its own; states that come meanwhile do not wait."""

    compile = staticmethod(warm_up)

    def __init__(self, **options: Any) -> None:
        super().__init__('walking_node', WALKING_TABLE, **options)
        self._planner = self.worker('plans')
        self._client: Any = self.create_client(LinearizeAlong, SERVICE)
        self._is_planning = False

    def outputs(self) -> Sequence[Output]:
        """Return what is published."""
        return Output(WalkingPlan, '~/plan'), Output(ContactStates, '~/contact_states')

    def inputs(self) -> Sequence[Input]:
        """Return what is subscribed to."""
        return (
            Input(JointState, 'joint_states'),
            Input(Odometry, 'odom'),
            Input(ContactStates, 'contact_states', qos=NEWEST),
            Input(Twist, 'cmd_vel', qos=NEWEST),
        )

    def make_stream(self, reading: Reading) -> WalkingStream:
        """Return a stream; it looks up all frames and joints that parameters name."""
        values, linearize, stops = reading.values, None, threading.Event()
        if values['dynamics'] == 'service':
            linearize = self._by_service(reading.model, values, stops)
        return WalkingStream(reading.model, values, self._counts, linearize, stops)

    def make_pipeline(self, reading: Reading) -> Pipeline:
        """Return a walker that has planned in this process, and the writer of its messages."""
        WalkingStream(reading.model, reading.values, self._counts).warm_up()
        stream = self.make_stream(reading)
        return Pipeline(stream, partial(write_plan, lambda name: getattr(msg, name)(), stream))

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stand, and plan from now on; also after a fall."""
        if self._pipeline is not None:
            self._pipeline.stream.rise()
        return super().on_activate(state)

    def publish(self, pipeline: Pipeline, answer: Question, start: float) -> None:
        """Let the planner answer a question, unless it is still at the last one."""
        if self._is_planning:
            pipeline.stream.left_out += 1
            return
        self._is_planning = True
        self._planner.submit(self._plan, pipeline, answer, start)

    def _plan(self, pipeline: Pipeline, question: Question, start: float) -> None:
        stream: WalkingStream = pipeline.stream
        try:
            if stream.stops.is_set():
                question = question._replace(command=Command())
            plan = stream.walker.plan(*question[1:])
            elapsed = time.perf_counter() - start
            messages = pipeline.writer(plan, question.stamp, elapsed)
        except Exception as error:  # else the thread would keep it to itself
            if not isinstance(error, (GeolinError, ConnectionError)):
                self.get_logger().error(traceback.format_exc())
            self._warn('plan', f'no new plan: {error}')
            self._post(self._done)
            return
        self._post(lambda: self._send(stream, plan.phase, messages, start))

    def _done(self) -> None:
        self._is_planning = False

    def _send(
        self, stream: WalkingStream, phase: Phase, messages: tuple[Any, Any], start: float
    ) -> None:
        self._done()
        if not self._is_active:
            return
        for output, message in zip(self._outputs, messages, strict=True):
            output.publish(message)
        self._diagnostics.latencies.append(time.perf_counter() - start)
        if phase is not stream.phase:
            stream.phase = phase
            if phase is Phase.DAMPING:
                self.get_logger().error(
                    'damping: the robot has fallen, or has no plan; deactivate and activate the '
                    'node when it stands again'
                )
            else:
                self.get_logger().info(phase.name.lower())

    def _by_service(self, model: TreeModel, values: Any, stops: threading.Event) -> Linearize:
        """Return what asks a linearizer for A and B; where one that has answered fails, stop."""
        contacts, patience = contacts_of(supports_of(values)), values['service_timeout']
        along, has_answered, again = Linearizer(model, contacts).along, False, 0.0

        def ask(trajectory: Any) -> LinearizedTrajectory:
            nonlocal again
            request = LinearizeAlong.Request()
            write_request(request, msg.ContactState, model, contacts, trajectory)
            name = self._client.srv_name
            if not self._client.service_is_ready():
                raise ConnectionError(f'service {name} is not there; start the linearizer')
            answered = threading.Event()
            answer = self._client.call_async(request)
            answer.add_done_callback(lambda _: answered.set())
            if not answered.wait(patience):
                self._client.remove_pending_request(answer)
                again = time.monotonic() + PAUSE
                raise ConnectionError(
                    f'service {name} has not answered for {patience:g} s; look at its node, or '
                    'raise parameter service_timeout'
                )
            response: Any = answer.result()
            if not response.success:
                raise ConnectionError(f'service {name} refuses: {response.message}')
            return read_trajectory(response.trajectory, contacts, trajectory[3])

        def linearize(*nodes: Any, contacts: Sequence[tuple[str, ...]]) -> LinearizedTrajectory:
            nonlocal has_answered
            if not has_answered or time.monotonic() >= again:
                try:
                    found = ask((*nodes, contacts))
                    has_answered = True
                    stops.clear()
                    return found
                except ConnectionError as error:
                    if not has_answered:
                        raise
                    self._warn('plan', f'the robot stops on all feet: {error}')
            stops.set()
            return along(*nodes, contacts=contacts)

        return linearize


main = partial(run, WalkingNode, PROGRAM)
