# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node that writes into a bag what others take and give, by the QoS of publishers."""

import time
from collections.abc import Callable, Collection
from typing import Any

import rclpy
from rcl_interfaces.msg import ParameterEvent
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_parameter_events
from rclpy.serialization import serialize_message
from std_msgs.msg import String

from geolin_ros.offline.bags import STRING, BagWriter, known_types
from geolin_ros.offline.source import PARAMETERS, parameter_text, with_files
from geolin_ros.ros.topics import type_of

SCAN = 0.5  # time from one look at the graph to the next [s]
DEPTH = 500  # messages that may wait for the disk, on each topic
OWN = 'geolin_msgs/'
_OF_ROS = frozenset({'rosout', 'parameter_events'})


class Recorder(Node):
    """Looks for nodes again and again, and records all that they subscribe to and publish.

    ``nodes`` are full names, by default all that publish a message of geolin_msgs; ``topics`` are
    recorded as well. ``say`` is called once about each topic that cannot be recorded.
    """

    def __init__(
        self,
        writer: BagWriter,
        nodes: Collection[str],
        topics: Collection[str],
        say: Callable[[str], object],
    ) -> None:
        super().__init__('geolin_record', enable_rosout=False, start_parameter_services=False)
        self.counts: dict[str, int] = {}
        self.first: float | None = None  # time of the first message, of the monotonic clock [s]
        self.found: set[str] = set()  # full names of nodes
        self._writer, self._nodes, self._topics, self._say = writer, nodes, set(topics), say
        self._subscriptions_of: dict[str, tuple[Any, QoSProfile]] = {}
        self._refused: set[str] = set()
        self._questions: dict[str, _Question] = {}
        self.create_subscription(
            ParameterEvent, '/parameter_events', self._on_change, qos_profile_parameter_events
        )
        self.create_timer(SCAN, self.scan)
        self.scan()

    def scan(self) -> None:
        """Subscribe to what has appeared on the graph; again, where a publisher offers less."""
        wanted = set(self._topics)
        for name, namespace in self.get_node_names_and_namespaces():
            wanted |= self._topics_of(name, namespace)
        for topic in sorted(wanted - self._refused):
            publishers = self.get_publishers_info_by_topic(topic)
            if publishers:
                offered = [publisher.qos_profile for publisher in publishers]
                profile = QoSProfile(depth=DEPTH)  # reliable and volatile
                if any(one.reliability != ReliabilityPolicy.RELIABLE for one in offered):
                    profile.reliability = ReliabilityPolicy.BEST_EFFORT
                if all(one.durability == DurabilityPolicy.TRANSIENT_LOCAL for one in offered):
                    profile.durability = DurabilityPolicy.TRANSIENT_LOCAL
                self._subscribe(topic, publishers[0].topic_type, profile)
        for name in self.found:
            if name not in self._questions:
                self._questions[name] = _Question(self, name, self._on_parameters)
            self._questions[name].ask()

    @property
    def unanswered(self) -> list[str]:
        """Nodes whose parameters are not in the bag."""
        return sorted(name for name, asked in self._questions.items() if not asked.is_answered)

    def _on_change(self, event: ParameterEvent) -> None:
        if event.node in self._questions:
            self._questions[event.node].ask(again=True)

    def _on_parameters(self, name: str, values: dict[str, Any]) -> None:
        topic = f'{name}/{PARAMETERS}'
        values = with_files(values, lambda sentence: self._say(f'{name}: {sentence}'))
        if topic not in self.counts:
            self._writer.add_topic(topic, STRING, True)
            self.counts[topic] = 0
        message = String(data=parameter_text(name, values))
        self._writer.write_serialized(topic, time.time_ns(), serialize_message(message))
        self.counts[topic] += 1

    def _topics_of(self, name: str, namespace: str) -> set[str]:
        """Return what a node takes and gives, if it is one of those that are asked for."""
        full = f'{namespace.rstrip("/")}/{name}'
        if self._nodes and full not in self._nodes:
            return set()
        try:
            gives = self.get_publisher_names_and_types_by_node(name, namespace)
            takes = self.get_subscriber_names_and_types_by_node(name, namespace)
        except RuntimeError:  # it has ended since
            return set()
        if not self._nodes and not any(kind.startswith(OWN) for _, ks in gives for kind in ks):
            return set()
        self.found.add(full)
        return {topic for topic, _ in (*gives, *takes) if topic.rpartition('/')[2] not in _OF_ROS}

    def _subscribe(self, topic: str, kind: str, profile: QoSProfile) -> None:
        known = self._subscriptions_of.get(topic)
        if known is not None and known[1] == profile:
            return
        message_type = type_of(kind)
        if message_type is None or kind not in known_types().types:
            self._refused.add(topic)
            self._say(f'{topic} is left out: type {kind} is not known here')
            return
        if known is None:
            latched = profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
            self._writer.add_topic(topic, kind, latched)
        else:
            self.destroy_subscription(known[0])
        self.counts.setdefault(topic, 0)
        subscription = self.create_subscription(
            message_type, topic, lambda data: self._write(topic, data), profile, raw=True
        )
        self._subscriptions_of[topic] = subscription, profile

    def take_the_rest(self) -> None:
        """Write what has come and waits to be taken."""
        for topic, (subscription, _) in self._subscriptions_of.items():
            with subscription.handle:
                for _ in range(DEPTH):
                    taken = subscription.handle.take_message(subscription.msg_type, True)
                    if taken is None:
                        break
                    self._write(topic, taken[0])

    def leave(self) -> None:
        """Go, and end rclpy: it can be started again."""
        self.destroy_node()
        rclpy.try_shutdown()

    def _write(self, topic: str, data: bytes) -> None:
        self._writer.write_serialized(topic, time.time_ns(), data)
        self.counts[topic] += 1
        self.first = self.first or time.monotonic()


class _Question:
    """Asks a node for all of its parameters, until it answers: with its name and them."""

    def __init__(
        self, node: Node, name: str, answer: Callable[[str, dict[str, Any]], None]
    ) -> None:
        self._client, self._answer = AsyncParameterClient(node, name), answer
        self._is_due, self._is_open, self.is_answered = True, False, False

    def ask(self, again: bool = False) -> None:
        """Ask, if the node can be asked and has not been, or its parameters have changed."""
        self._is_due |= again
        if self._is_due and not self._is_open and self._client.services_are_ready():
            self._is_due, self._is_open = False, True
            self._client.list_parameters(callback=self._on_names)

    def _on_names(self, future: Any) -> None:
        names = list(future.result().result.names)
        self._client.get_parameters(names, lambda answered: self._on_values(names, answered))

    def _on_values(self, names: list[str], future: Any) -> None:
        found = map(parameter_value_to_python, future.result().values)
        self._is_open, self.is_answered = False, True
        self._answer(self._client.remote_node_name, dict(zip(names, found, strict=True)))
