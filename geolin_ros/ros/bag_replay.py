# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Play a bag into the linearizer and record what it answers, without losing a message.

Messages go out as they were recorded, with their times on /clock; all queues are reliable and
deep. Playing begins once the node has found this program and is found by it, and pauses while the
node is behind. In the end, what was sent, answered, dropped and recorded is counted.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from rosgraph_msgs.msg import Clock

import geolin_msgs.msg  # noqa: F401  (missing, it is named here; `type_of` has None for it)
from geolin_ros.errors import ConfigurationError, GeolinError
from geolin_ros.optional import optional
from geolin_ros.ros.programs import ignore_signals, stop_on_signals
from geolin_ros.ros.topics import name_of, type_of
from geolin_ros.stream.message_fields import write_stamp
from geolin_ros.stream.outputs.messages import OUTPUTS

rosbag2 = optional('rosbags.rosbag2', extra='offline')

INTERRUPTED = 130
INPUT_DEPTH, OUTPUT_DEPTH = 10_000, 1000
"""Messages that wait at most, of a topic in the bag and of an output."""
MOST_BEHIND, LESS_BEHIND = 500, 50
"""Playing pauses where the node has so many joint states to answer, and goes on below."""
PATIENCE = 300.0  # a first start compiles [s]
CALL = 2.0  # then a service is asked again, as another client [s]
SETTLING = 0.5  # what the node has found finds the node as well, soon [s]
QUIET = 3  # diagnostics without news: nothing is on its way any more
TICK = 10_000_000  # between two times on /clock, at least [ns]
MAX_WAIT = 1e6  # for odometry, by stamps: topics may come one after the other [s]
PUBLISHERS, SUBSCRIBERS, CAUSE = 'publishers of ', 'subscribers of ', 'dropped: '
RECEIVED, ANSWERED = 'joint states', 'linearizations'
SKIPPED, MERGED = 'left out by max_rate', 'merged into later ones'
CLOCK, DIAGNOSTICS = '/clock', '/diagnostics'


class Bag(NamedTuple):
    """What the metadata of a bag tells: messages of each topic and their types.

    ``latched`` topics are published to those who come late; ``start`` is that of the bag [ns].
    """

    path: Path
    counts: Mapping[str, int]
    kinds: Mapping[str, str | None]
    latched: frozenset[str]
    start: int

    @classmethod
    def of(cls, path: Path) -> 'Bag':
        """Read the metadata of a bag; raise `ConfigurationError` if it is not complete."""
        try:
            with rosbag2.Reader(path) as reader:
                topics, start = reader.topics, reader.start_time
        except (FileNotFoundError, rosbag2.ReaderError) as error:
            raise ConfigurationError(
                f'{path} has no metadata.yaml that can be read ({error}), expected the folder of '
                f'a complete bag (`ros2 bag reindex {path}` makes one)'
            ) from None
        counts = {name: about.msgcount for name, about in topics.items()}
        kinds = {name: about.msgtype for name, about in topics.items()}
        latched = {name for name, about in topics.items() if _is_latched(name, about.connections)}
        return cls(path, counts, kinds, frozenset(latched), start)


def _is_latched(name: str, connections: list[Any]) -> bool:
    """Whether a topic was published to those who come late; of some bags the name has to tell."""
    profiles = [profile for of in connections for profile in of.ext.offered_qos_profiles]
    if not profiles:
        return name.endswith(('tf_static', 'robot_description'))
    return any(profile.durability.name == 'TRANSIENT_LOCAL' for profile in profiles)


def check(bag: Path, output: Path, joint_states: str) -> Bag:
    """Raise `ConfigurationError` for what can be seen to fail; return what the bag holds."""
    if not bag.exists():
        raise ConfigurationError(f'bag:={bag} does not exist, expected a folder of rosbag2')
    content = Bag.of(bag)
    if content.start == 0:
        raise ConfigurationError(
            f'bag:={bag} starts at time 0, which on /clock means that there is no time yet: '
            f'nodes would wait for ever; `geolin replay {bag} -o {output}` needs no clock'
        )
    if not content.counts.get(joint_states):
        raise ConfigurationError(
            f'bag:={bag} has no {joint_states}, which the node would linearize at, but '
            f'{", ".join(sorted(content.counts)) or "no topics"}; name it by joint_states:=TOPIC'
        )
    if output.exists():
        raise ConfigurationError(f'output:={output} exists, expected a folder that is to be made')
    return content


def parameters_of_node(bag: Bag, node: str) -> dict[str, Any]:
    """Return the parameters of a node that is to lose nothing of a bag, and to go by its clock."""
    return {
        'use_sim_time': True,
        'max_wait': MAX_WAIT,
        **{
            f'qos_overrides.{topic}.subscription.{policy}': value
            for topic in sorted(bag.counts.keys() - bag.latched)
            for policy, value in (('reliability', 'reliable'), ('depth', INPUT_DEPTH))
        },
        **{f'qos_overrides.{node}/{output}.publisher.depth': OUTPUT_DEPTH for output in OUTPUTS},
    }


class Report(dict[str, str]):
    """The newest values of the diagnostics of the node."""

    def count(self, key: str) -> int:
        """Return a number, 0 where there is none."""
        return int(self.get(key, 0))

    def after(self, prefix: str) -> dict[str, str]:
        """Return the values whose keys begin so, by what follows."""
        return {key.removeprefix(prefix): self[key] for key in self if key.startswith(prefix)}

    @property
    def waiting(self) -> int:
        """How many joint states have been received that nothing has become of yet."""
        done = ANSWERED, SKIPPED, MERGED, 'dropped'
        return max(self.count(RECEIVED) - sum(map(self.count, done)), 0)


class Replay:
    """Plays a bag into a node and records its answers, from the first message to the last.

    The graph says who is there. Whom the node has found, and what it has done, it says in its
    diagnostics. ``name`` is the full one of the lifecycle node, ``joint_states`` the topic that it
    answers; a signal sets ``stop``.
    """

    def __init__(
        self, graph: Node, name: str, joint_states: str, bag: Bag, writer: Any, stop: Event
    ) -> None:
        self._graph, self._name, self._bag = graph, name, bag
        self._joint_states, self._writer, self._stop = joint_states, writer, stop
        self._log = graph.get_logger()
        self._is_active, self._now, self._shown = False, bag.start, 0
        self._topics = [f'{name}/{output}' for output in OUTPUTS]
        self._report = Report()
        self._quiet = 0  # diagnostics in a row without another joint state
        self._sent, self._recorded = 0, Counter[str]()
        self._clock = graph.create_publisher(Clock, CLOCK, 10)
        kinds = dict(zip(self._topics, map(type_of, OUTPUTS.values()), strict=True))
        kinds[DIAGNOSTICS] = DiagnosticArray
        self._publishers = {
            topic: publisher
            for topic, kind in bag.kinds.items()
            if topic not in {CLOCK, *kinds} and (publisher := self._publisher(topic, kind))
        }
        self._subscriptions: list[Any] = []
        for topic, message_type in kinds.items():
            writer.add_topic(topic, name_of(message_type))
            profile, record = QoSProfile(depth=OUTPUT_DEPTH), partial(self._record, topic)
            self._subscriptions.append(
                graph.create_subscription(message_type, topic, record, profile, raw=True)
            )

    def _publisher(self, topic: str, kind: str | None) -> Any:
        """Return a publisher, None of a type that is not known here, which nobody can take."""
        message_type = kind and type_of(kind)
        if not message_type:
            self._log.warning(f'{topic} is left out: type {kind} is not known here')
            return None
        latched = topic in self._bag.latched
        durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
        profile = QoSProfile(depth=INPUT_DEPTH, durability=durability)
        return self._graph.create_publisher(message_type, topic, profile)

    def _record(self, topic: str, data: bytes) -> None:
        self._writer.write_serialized(topic, self._now, data)
        self._recorded[topic] += 1
        if topic == DIAGNOSTICS:
            for status in deserialize_message(data, DiagnosticArray).status:
                if status.name == self._name:
                    report = Report((item.key, item.value) for item in status.values)
                    is_news = report.count(RECEIVED) != self._report.count(RECEIVED)
                    self._report, self._quiet = report, 0 if is_news else self._quiet + 1

    def _look(self, pause: float = 0.0) -> None:
        """Record what has come; raise where a signal did."""
        if self._stop.is_set():
            raise KeyboardInterrupt
        if pause > 0.0:
            time.sleep(pause)
        for subscription in self._subscriptions:
            handle = subscription.handle
            with handle:
                while (taken := handle.take_message(subscription.msg_type, True)) is not None:
                    subscription.callback(taken[0])

    def _behind(self) -> int:
        """Return how many joint states were sent that the node has not dealt with yet."""
        others = self._report.count(RECEIVED) - self._report.count(ANSWERED)
        return self._sent - self._recorded[self._topics[-1]] - others

    def wait_until_ready(self) -> None:
        """Wait until nothing is missing, for a while."""
        begin, complete = time.monotonic(), None
        while complete is None or time.monotonic() - complete < SETTLING:
            missing = self._missing()
            if missing is None:
                complete = complete or time.monotonic()
            else:
                complete = None
                self._log.info(f'waits for {missing}', throttle_duration_sec=5.0)
                if time.monotonic() - begin > PATIENCE:
                    raise GeolinError(f'not within {PATIENCE:g} s: {missing}')
            self._look(0.1)

    def _missing(self) -> str | None:
        """Return what is not there yet, or None if all is."""
        graph, report, name = self._graph, self._report, self._name
        if not self._is_active:
            response = self._ask(GetState, 'get_state')
            if response is None or response.current_state.id != State.PRIMARY_STATE_ACTIVE:
                return f'{name} to be active'
            self._is_active = True
        received = report.after(PUBLISHERS).keys() & self._publishers.keys()
        if not received:
            return f'the diagnostics of {name}'
        for topic in received:
            if not self._publishers[topic].get_subscription_count():
                return f'{name} on {topic}'
            if report.count(f'{PUBLISHERS}{topic}') < graph.count_publishers(topic):
                return f'{name} to find what is published on {topic}'
        if not self._clock.get_subscription_count():
            return f'{name} on {CLOCK}'
        for topic, subscription in zip(self._topics, self._subscriptions, strict=False):
            if not subscription.get_publisher_count():
                return f'{name} on {topic}'
            if report.count(f'{SUBSCRIBERS}{topic}') < graph.count_subscribers(topic):
                return f'{name} to find who subscribes to {topic}'
        return None

    def _ask(self, kind: Any, verb: str, **request: Any) -> Any:
        """Call a service of the node; return its response, or None if none comes in time.

        Each time as another client: a server that learns late of a client never answers it.
        """
        client: Any = self._graph.create_client(kind, f'{self._name}/{verb}')
        try:
            deadline = time.monotonic() + CALL
            while not client.service_is_ready():
                if time.monotonic() > deadline:
                    return None
                self._look(0.01)
            future = client.call_async(kind.Request(**request))
            while not future.done() and time.monotonic() < deadline:
                self._look()
                rclpy.spin_once(self._graph, timeout_sec=0.1)
            return future.result() if future.done() else None
        finally:
            self._graph.destroy_client(client)

    def play(self, rate: float) -> None:
        """Publish the messages, no faster than the node follows."""
        self._log.info('node and replay know of each other: play')
        absent = self._report.after(PUBLISHERS).keys() - self._bag.counts.keys()
        if absent:
            self._log.info(f'the bag has no {" and no ".join(sorted(absent))}')
        begin = time.monotonic()
        with rosbag2.Reader(self._bag.path) as reader:
            known = [c for c in reader.connections if c.topic in self._publishers]
            for connection, stamp, data in reader.messages(known):
                due = begin + (stamp - self._bag.start) * 1e-9 / rate
                while (left := due - time.monotonic()) > 0.0:
                    self._look(min(left, 0.01))
                if self._behind() > MOST_BEHIND:
                    paused = time.monotonic()
                    self._log.info(f'{self._name} is behind: the replay pauses')
                    while self._behind() >= LESS_BEHIND and self._quiet < QUIET:
                        self._look(0.01)
                    begin += time.monotonic() - paused
                self._now = stamp
                if stamp - self._shown >= TICK:
                    self._shown, message = stamp, Clock()
                    write_stamp(message.clock, stamp)
                    self._clock.publish(message)
                self._publishers[connection.topic].publish(bytes(data))
                self._sent += connection.topic == self._joint_states
                self._look()

    def finish(self) -> str:
        """Wait for the last answers, and return what became of all; raise as `conclude`."""
        while self._report.count(RECEIVED) < self._sent and self._quiet < QUIET:
            self._look(0.1)
        transition = Transition(id=Transition.TRANSITION_DEACTIVATE)  # it answers what waits
        self._ask(ChangeState, 'change_state', transition=transition)
        self._quiet = 0
        while self._quiet == 0 or (self._report.waiting and self._quiet < QUIET):
            self._look(0.1)
        count, since = -1, time.monotonic()
        while time.monotonic() - since < SETTLING:
            found = sum(self._recorded[topic] for topic in self._topics)
            if found != count:
                count, since = found, time.monotonic()
            self._look(0.05)
        return conclude(self._report, self._sent, self._recorded, self._topics)


def conclude(report: Report, sent: int, recorded: Mapping[str, int], topics: list[str]) -> str:
    """Return what became of all messages; raise `GeolinError` if some were lost."""
    received, answered = report.count(RECEIVED), report.count(ANSWERED)
    drops = report.after(CAUSE)
    causes = ', '.join(f'{cause} {count}' for cause, count in drops.items())
    if not answered:
        raise GeolinError(
            f'none of {received} joint states could be linearized ({causes or "all wait"}): name '
            'topics of the bag by odom:=TOPIC and others, or set parameter base: fixed if the '
            'robot is'
        )
    sentence = (
        f'{sent} joint states sent, {answered} answered, '
        f'{report.count(SKIPPED)} {SKIPPED}, {report.count(MERGED)} {MERGED}, '
        f'{sum(map(int, drops.values()))} dropped{causes and f" ({causes})"}; recorded: '
        + ', '.join(f'{recorded.get(topic, 0)} of {topic}' for topic in topics)
    )
    lost = max(sent - received, 0)
    missing = sum(max(answered - recorded.get(topic, 0), 0) for topic in topics)
    if lost or missing:
        raise GeolinError(
            f'{sentence}; lost on the way: {lost} to the node, {missing} back: the machine is '
            'too busy; replay with rate:=0.5'
        )
    return sentence


def main(arguments: list[str] | None = None) -> int:
    """Return 0 if all was answered or counted, 1 if something was lost, 130 if interrupted."""
    stop = stop_on_signals()
    parser = argparse.ArgumentParser(
        prog='python -m geolin_ros.ros.bag_replay', description=__doc__
    )
    parser.add_argument('--node', required=True, help='full name of the linearizer')
    parser.add_argument('--joint-states', default='/joint_states', help='its topic (%(default)s)')
    parser.add_argument('--bag', type=Path, required=True, help='folder of the bag to be played')
    parser.add_argument('--output', type=Path, required=True, help='folder of the bag written')
    parser.add_argument('--rate', type=float, default=1.0, help='speed of the replay')
    options = parser.parse_args(arguments)
    if not options.rate > 0.0:
        parser.error(f'argument --rate: {options.rate:g}, expected more than 0')
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        bag = check(options.bag, options.output, options.joint_states)
        from geolin_ros.offline.bags import BagWriter  # of the extra that is there

        graph = rclpy.create_node('replay', start_parameter_services=False)
        try:
            with BagWriter(options.output) as writer:
                replay = Replay(graph, options.node, options.joint_states, bag, writer, stop)
                replay.wait_until_ready()
                replay.play(options.rate)
                graph.get_logger().info(replay.finish())
        finally:
            graph.destroy_node()
    except KeyboardInterrupt:
        return INTERRUPTED
    except (GeolinError, OSError) as error:
        sys.stderr.write(f'replay: {error}\n')
        return 1
    finally:
        ignore_signals()
        rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
