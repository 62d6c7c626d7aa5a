# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot on the graph: it asks `walking_node` by its states, and waits for plans."""

import time as clock
from collections.abc import Sequence

from geolin_walking.gait import Phase
from geolin_walking.reference import Command
from geolin_walking.walking_stream import read_law
from geometry_msgs.msg import Twist
from rclpy.node import Node

from geolin_demos.balance.graph import RobotGraph
from geolin_demos.sim.simulator import Simulator
from geolin_demos.walk.course import CYCLE, Answer, Ask
from geolin_msgs.msg import WalkingPlan
from geolin_ros.control.weights import effort_limits
from geolin_ros.errors import InputError
from geolin_ros.model.state import State
from geolin_ros.ros.topics import NEWEST
from geolin_ros.stream.topic_stream import nanoseconds

PATIENCE, FIRST_PATIENCE = 10.0, 900.0
"""For a plan, and for the first one: kernels may have to be compiled [s]."""
AGAIN = 0.5
"""From a question to the next, until there is a first answer [s]."""
BEGIN = 1_000_000_000
"""First stamp of a tour [ns]; an earlier one than the last of the tour before starts anew."""
STEP = round(1e9 * CYCLE)  # [ns]


class WalkGraph(RobotGraph):
    """Publishes states, touching feet and commands; receives plans."""

    def __init__(self, node: Node, simulator: Simulator, description: str) -> None:
        super().__init__(node, simulator.model, description, [], answers='')
        self._limit, self._simulator = effort_limits(simulator.model), simulator
        self._plan, self._is_late = WalkingPlan(), False
        self._commands = node.create_publisher(Twist, 'cmd_vel', NEWEST)
        node.create_subscription(WalkingPlan, 'walking_node/plan', self._on_plan, NEWEST)

    def _on_plan(self, message: WalkingPlan) -> None:
        self._plan, self.answered = message, nanoseconds(message.header.stamp)

    def begin(self) -> Ask:
        """Return how to ask along a tour, once the walker stands.

        Raises `InputError` if it does not answer at first. A later plan that does not come is
        waited for once; then the robot goes on by the last one.
        """
        state, stamp = self._simulator.state, BEGIN
        down = [True] * len(self._simulator.feet)
        end = clock.monotonic() + FIRST_PATIENCE
        while clock.monotonic() < end:
            if self._asked(stamp, state, down, Command(), AGAIN):
                first = self.answered + STEP
                return lambda *question: self._ask(first, *question)
            stamp += STEP
        raise InputError(
            f'walking_node has not answered for {FIRST_PATIENCE:g} s, see what it says'
        )

    def _asked(
        self, stamp: int, state: State, down: Sequence[bool], command: Command, patience: float
    ) -> bool:
        """Publish a state; return whether its plan has come."""
        twist = Twist()
        twist.linear.x, twist.linear.y, twist.angular.z = map(float, command)
        self._commands.publish(twist)
        feet = self._simulator.feet.values()
        touching = tuple(foot for foot, on in zip(feet, down, strict=True) if on)
        self.publish_contacts(touching, stamp)
        self.publish_state(state, self._simulator.efforts[self._model.actuated], stamp)
        return self.spin_until(clock.monotonic() + patience, stamp)

    def _ask(
        self, begin: int, time: float, state: State, touching: Sequence[bool], command: Command
    ) -> Answer:
        stamp = begin + round(1e9 * time)
        patience = CYCLE if self._is_late else PATIENCE
        is_answered = self._asked(stamp, state, touching, command, patience)
        if not (is_answered or self._is_late):
            self._node.get_logger().error(
                f'walking_node has not answered for {PATIENCE:g} s, see what it says; its last '
                'plan is followed as long as it holds, then joints are damped'
            )
        self._is_late = not is_answered
        phase, law = read_law(self._plan, self._limit)
        law = law.since(1e-9 * (stamp - self.answered))
        phase = Phase.DAMPING if law.until < 0.0 else phase
        return Answer(phase, law, self._plan.gains.compute_time, self._plan)
