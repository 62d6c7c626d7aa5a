# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Resume a paused `ros2 bag play` once node, recorder and player know of each other.

What is published before that is lost. Asks services and the graph, so that it does not matter
which of them was first.
"""

import argparse
import sys
import time
from threading import Event
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from geolin_ros.ros.signals import ignore_signals, stop_on_signals

INTERRUPTED = 130
PLAYER, RECORDER = 'rosbag2_player', 'rosbag2_recorder'
STEP = 5.0  # between signs of life [s]
PATIENCE = 300.0  # a first start compiles [s]
CALL = 2.0  # then a service is asked again, as another client [s]
SETTLING = 0.5  # what the node has found finds the node as well, soon [s]
COUNTED = 'publishers of ', 'subscribers of '  # in the diagnostics
NO_INPUTS = {'/clock', '/parameter_events', '/rosout'}


class Stage:
    """What can be known of node, recorder and player.

    The graph says who is there. Whom the node has found, it says in its diagnostics.

    Parameters
    ----------
    graph
        Where to look from.
    name
        Full name of the lifecycle node that the bag is played into.
    topics
        What is recorded of it.
    """

    def __init__(self, graph: Node, name: str, topics: list[str]) -> None:
        self._graph, self._name, self._topics = graph, name, topics
        self._is_active = False
        self._found: dict[str, int] = {}
        graph.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == self._name:
                values = {item.key: item.value for item in status.values}
                self._found = {
                    key: int(value) for key, value in values.items() if key.startswith(COUNTED)
                }

    def missing(self) -> str | None:
        """Return what is not there yet, or None if all is."""
        if not self._is_active:
            response = self.ask(GetState, f'{self._name}/get_state')
            if response is None or response.current_state.id != State.PRIMARY_STATE_ACTIVE:
                return f'{self._name} to be active'
            self._is_active = True
        heard = {key.rpartition(' ')[2] for key in self._found if key.startswith(COUNTED[0])}
        if not heard:
            return f'the diagnostics of {self._name}'
        played = self._played()
        if '/clock' not in played:
            return 'the player'
        if not heard & played:
            others = ', '.join(sorted(played - NO_INPUTS)) or 'nothing'
            wanted = ', '.join(sorted(heard))
            return f'one of {wanted}, which {self._name} hears; the player has {others}'
        for topic in heard & played:
            there = self._graph.count_publishers(topic)
            if self._found[f'{COUNTED[0]}{topic}'] < there:
                return f'{self._name} to find the player on {topic}'
        for topic in self._topics:
            ends = self._graph.get_subscriptions_info_by_topic(topic)
            if not any(end.node_name == RECORDER for end in ends):
                return f'the recorder on {topic}'
            if self._found.get(f'{COUNTED[1]}{topic}', 0) < len(ends):
                return f'{self._name} to find the recorder on {topic}'
        return None

    def _played(self) -> set[str]:
        """Return the topics that the player publishes."""
        if (PLAYER, '/') not in self._graph.get_node_names_and_namespaces():
            return set()
        ends = self._graph.get_publisher_names_and_types_by_node(PLAYER, '/')
        return {topic for topic, _ in ends}

    def ask(self, kind: Any, name: str) -> Any:
        """Call a service; return its response, or None if none comes in time.

        Each time as another client: a server that learns late of a client never answers it.
        """
        client: Any = self._graph.create_client(kind, name)
        try:
            deadline = time.monotonic() + CALL
            while not client.service_is_ready() and time.monotonic() < deadline:
                rclpy.spin_once(self._graph, timeout_sec=0.1)
            future = client.call_async(kind.Request()) if client.service_is_ready() else None
            while future is not None and not future.done() and time.monotonic() < deadline:
                rclpy.spin_once(self._graph, timeout_sec=0.1)
            return None if future is None or not future.done() else future.result()
        finally:
            self._graph.destroy_client(client)


def wait(stage: Stage, graph: Node, patience: float, stop: Event) -> bool:
    """Wait until nothing is missing, for a while; return whether that came to be."""
    begin = said = time.monotonic()
    complete_since = None
    while not stop.is_set():
        missing = stage.missing()
        now = time.monotonic()
        if missing is not None:
            complete_since = None
            if now - begin > patience:
                graph.get_logger().error(f'not within {patience:g} s: {missing}')
                return False
            if now - said > STEP:
                said = now
                graph.get_logger().info(f'{now - begin:.0f} s, waits for {missing}')
        elif complete_since is None:
            complete_since = now
        elif now - complete_since > SETTLING:
            return True
        rclpy.spin_once(graph, timeout_sec=0.1)
    return False


def run(options: argparse.Namespace, stop: Event) -> int:
    """Wait, then let the player play; return the exit status."""
    from rosbag2_interfaces.srv import Resume  # comes with `ros2 bag`, and only then is it needed

    graph = rclpy.create_node('replay_start', start_parameter_services=False)
    stage = Stage(graph, options.node, options.topics)
    try:
        if not wait(stage, graph, options.patience, stop):
            return INTERRUPTED if stop.is_set() else 1
        graph.get_logger().info('node, recorder and player know of each other: play')
        while stage.ask(Resume, f'/{PLAYER}/resume') is None and not stop.is_set():
            graph.get_logger().warning(f'/{PLAYER}/resume does not answer, ask again')
    finally:
        graph.destroy_node()
    return INTERRUPTED if stop.is_set() else 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(
        prog='python -m geolin_ros.ros.replay_start', description=__doc__
    )
    parser.add_argument('--node', required=True, help='full name of the lifecycle node')
    parser.add_argument('--topics', nargs='+', required=True, help='what is recorded')
    parser.add_argument(
        '--patience', type=float, default=PATIENCE, help='time limit [s] (%(default)s)'
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Resume the player when all is ready; return 0, 1 if it never is, 130 if interrupted."""
    stop = stop_on_signals()
    options = parse(arguments)
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        return run(options, stop)
    finally:
        ignore_signals()
        rclpy.try_shutdown()


if __name__ == '__main__':
    sys.exit(main())
