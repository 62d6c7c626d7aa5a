# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Play a bag into the linearizer and record what it answers, without losing a message.

`ros2 bag record` and `ros2 bag play` do the work. All queues are reliable and deep. The player
starts paused, goes on once node, recorder and player know of each other, and pauses while the node
is behind. In the end, what was sent, answered, dropped and recorded is counted.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import rclpy
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from geolin_msgs.msg import LinearizationSummary
from geolin_ros.errors import ConfigurationError, GeolinError
from geolin_ros.ros.signals import ignore_signals, stop_on_signals

INTERRUPTED = 130
PLAYER, RECORDER = 'rosbag2_player', 'rosbag2_recorder'
OUTPUTS = ('linearization', 'forward_dynamics', 'summary')
INPUT_DEPTH, OUTPUT_DEPTH = 10_000, 1000
"""Messages that wait at most, of a topic in the bag and of an output."""
MOST_BEHIND, LESS_BEHIND = 500, 50
"""The player pauses where the node has so many joint states to answer, and goes on below."""
STEP = 5.0  # between signs of life [s]
PATIENCE = 300.0  # a first start compiles [s]
CALL = 2.0  # then a service is asked again, as another client [s]
SETTLING = 0.5  # what the node has found finds the node as well, soon [s]
QUIET = 3  # diagnostics without news: nothing is on its way any more
WRITING = 60.0  # for the recorder to write the last of it [s]
MAX_WAIT = 1e6  # for odometry, by stamps: topics may come one after the other [s]
FUTILE = 100  # joint states, none of them answered, while a topic is missing
COUNTED = 'publishers of ', 'subscribers of '  # in the diagnostics
CAUSE = 'dropped: '  # there too
RECEIVED, ANSWERED = 'joint states', 'linearizations'
SKIPPED, MERGED = 'left out by max_rate', 'merged into later ones'
CLOCK = '/clock'


@dataclass(frozen=True)
class Bag:
    """What the metadata of a bag tells: messages of each topic, and which topics are latched."""

    path: Path
    counts: Mapping[str, int]
    latched: frozenset[str] = frozenset()
    start: int = 0

    @classmethod
    def of(cls, path: Path) -> 'Bag':
        """Read the metadata of a bag that is complete.

        Raises
        ------
        ConfigurationError
            If there are none.
        """
        file = path / 'metadata.yaml'
        try:
            known = yaml.safe_load(file.read_text())['rosbag2_bagfile_information']
            topics = {
                row['topic_metadata']['name']: (row['message_count'], row['topic_metadata'])
                for row in known['topics_with_message_count']
            }
            start = known['starting_time']['nanoseconds_since_epoch']
        except OSError:
            raise ConfigurationError(
                f'{path} has no metadata.yaml, expected the folder of a complete bag '
                f'(`ros2 bag reindex {path}` makes one)'
            ) from None
        except (yaml.YAMLError, KeyError, TypeError) as error:
            raise ConfigurationError(f'{file} is not readable: {error!r}') from None
        latched = {name for name, (_, about) in topics.items() if _is_latched(name, about)}
        counts = {name: count for name, (count, _) in topics.items()}
        return cls(path, counts, frozenset(latched), start)


def _is_latched(name: str, about: Mapping[str, Any]) -> bool:
    """Whether a topic was published to those who come late; of some bags the name has to tell."""
    profiles = about.get('offered_qos_profiles') or []
    if isinstance(profiles, str):
        profiles = yaml.safe_load(profiles)
    if not profiles:
        return name.endswith(('tf_static', 'robot_description'))
    return any(profile.get('durability') in (1, 'transient_local') for profile in profiles)


def check(bag: Path, output: Path, joint_states: str) -> Bag:
    """Refuse what can be seen to fail before anything starts; return what the bag holds.

    Raises
    ------
    ConfigurationError
        If there is no such bag, or no time or no joint states in it; if the output exists; if
        there is no `ros2 bag`.
    """
    instead = f'`geolin replay {bag} -o {output}`'
    if not bag.exists():
        raise ConfigurationError(f'bag:={bag} does not exist, expected a folder of rosbag2')
    content = Bag.of(bag)
    if content.start == 0:
        raise ConfigurationError(
            f'bag:={bag} starts at time 0, which on /clock means that there is no time yet: '
            f'recorder and nodes would wait for ever; {instead} needs no clock'
        )
    if not content.counts.get(joint_states):
        raise ConfigurationError(
            f'bag:={bag} has no {joint_states}, which the node would linearize at, but '
            f'{", ".join(sorted(content.counts)) or "no topics"}; name it by joint_states:=TOPIC'
        )
    if output.exists():
        raise ConfigurationError(f'output:={output} exists, expected a folder that is to be made')
    try:
        done = subprocess.run(['ros2', 'bag', 'record', '--help'], capture_output=True)
        is_there = done.returncode == 0
    except FileNotFoundError:
        is_there = False
    if not is_there:
        raise ConfigurationError(
            'there is no `ros2 bag` here: install the package ros-DISTRIBUTION-rosbag2, or let '
            f'{instead} do the same without it'
        )
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


def _profile(depth: int, durability: str = 'volatile') -> dict[str, object]:
    """Return qualities of service as `ros2 bag` reads them."""
    return {
        'history': 'keep_last',
        'depth': depth,
        'reliability': 'reliable',
        'durability': durability,
    }


@dataclass
class Report:
    """What the diagnostics of the node said last."""

    values: dict[str, str] = field(default_factory=dict)

    def count(self, key: str) -> int:
        """Return a number, 0 where there is none."""
        return int(self.values.get(key, 0))

    @property
    def ends(self) -> dict[str, int]:
        """How many others each input and output is connected with."""
        return {key: int(value) for key, value in self.values.items() if key.startswith(COUNTED)}

    @property
    def inputs(self) -> set[str]:
        """The topics that the node subscribes to."""
        return {key.removeprefix(COUNTED[0]) for key in self.ends if key.startswith(COUNTED[0])}

    @property
    def waiting(self) -> int:
        """How many joint states have been received that nothing has become of yet."""
        done = ANSWERED, SKIPPED, MERGED, 'dropped'
        return max(self.count(RECEIVED) - sum(map(self.count, done)), 0)

    @property
    def drops(self) -> dict[str, int]:
        """How many joint states were dropped, by cause."""
        return {
            key.removeprefix(CAUSE): int(value)
            for key, value in self.values.items()
            if key.startswith(CAUSE)
        }


class Stage:
    """What can be known of node, recorder and player.

    The graph says who is there. Whom the node has found, and what it has done, it says in its
    diagnostics.

    Parameters
    ----------
    graph
        Where to look from.
    name
        Full name of the lifecycle node that the bag is played into.
    joint_states
        The topic that it answers.
    bag
        What is played.
    """

    def __init__(self, graph: Node, name: str, joint_states: str, bag: Bag) -> None:
        self._graph, self._name, self._bag = graph, name, bag
        self._is_active = False
        self.topics = [f'{name}/{output}' for output in OUTPUTS]
        self.report = Report()
        self.quiet = 0  # diagnostics in a row without another joint state
        self.sent = self.answered = 0
        graph.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        # of a node that is never spun: taken now and then, messages wake nobody up
        self._counter = rclpy.create_node('replay_counter', start_parameter_services=False)
        qos = QoSProfile(depth=INPUT_DEPTH, reliability=ReliabilityPolicy.RELIABLE)
        self._joint_states, self._answers = (
            self._counter.create_subscription(kind, topic, lambda _: None, qos)
            for kind, topic in (
                (JointState, joint_states),
                (LinearizationSummary, f'{name}/summary'),
            )
        )

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == self._name:
                report = Report({item.key: item.value for item in status.values})
                news = report.count(RECEIVED) - self.report.count(RECEIVED)
                self.quiet = 0 if news else self.quiet + 1
                self.report = report

    def look(self) -> None:
        """Take what has come."""
        rclpy.spin_once(self._graph, timeout_sec=0.1)
        self.sent += _take_all(self._joint_states)
        self.answered += _take_all(self._answers)

    @property
    def behind(self) -> int:
        """How many joint states were sent that the node has not dealt with yet."""
        others = self.report.count(RECEIVED) - self.report.count(ANSWERED)
        return self.sent - self.answered - others

    def missing(self) -> str | None:
        """Return what is not there yet, or None if all is."""
        if not self._is_active:
            response = self.ask(GetState, f'{self._name}/get_state')
            if response is None or response.current_state.id != State.PRIMARY_STATE_ACTIVE:
                return f'{self._name} to be active'
            self._is_active = True
        found = self.report.ends
        received = self.report.inputs & self._bag.counts.keys()
        if not received:
            return f'the diagnostics of {self._name}'
        if not self._played() >= {CLOCK, *received}:
            return 'the player'
        for topic in received:
            if found[f'{COUNTED[0]}{topic}'] < self._graph.count_publishers(topic):
                return f'{self._name} to find the player on {topic}'
        if not self._joint_states.get_publisher_count():
            return 'the joint states of the player'
        for topic in self.topics:
            ends = self._graph.get_subscriptions_info_by_topic(topic)
            if not any(end.node_name == RECORDER for end in ends):
                return f'the recorder on {topic}'
            if found.get(f'{COUNTED[1]}{topic}', 0) < len(ends):
                return f'{self._name} to find the recorder on {topic}'
        return None

    def _played(self) -> set[str]:
        """Return the topics that the player publishes."""
        if (PLAYER, '/') not in self._graph.get_node_names_and_namespaces():
            return set()
        ends = self._graph.get_publisher_names_and_types_by_node(PLAYER, '/')
        return {topic for topic, _ in ends}

    def ask(self, kind: Any, name: str, **request: Any) -> Any:
        """Call a service; return its response, or None if none comes in time.

        Each time as another client: a server that learns late of a client never answers it.
        """
        client: Any = self._graph.create_client(kind, name)
        try:
            deadline = time.monotonic() + CALL
            while not client.service_is_ready() and time.monotonic() < deadline:
                self.look()
            future = (
                client.call_async(kind.Request(**request)) if client.service_is_ready() else None
            )
            while future is not None and not future.done() and time.monotonic() < deadline:
                self.look()
            return None if future is None or not future.done() else future.result()
        finally:
            self._graph.destroy_client(client)

    def end(self) -> None:
        """Deactivate the node, which answers what still waits for odometry."""
        transition = Transition(id=Transition.TRANSITION_DEACTIVATE)
        self.ask(ChangeState, f'{self._name}/change_state', transition=transition)
        self.quiet = 0

    def close(self) -> None:
        """Leave the graph."""
        self._counter.destroy_node()


def _take_all(subscription: Any) -> int:
    """Take what has come and return how many messages it was."""
    count, handle = 0, subscription.handle
    with handle:
        while handle.take_message(subscription.msg_type, True) is not None:
            count += 1
    return count


class _Interrupt(Exception):  # noqa: N818
    """A signal came."""


class Replay:
    """A node, a player and a recorder, from the first message to the last.

    Parameters
    ----------
    stage
        What is known of them.
    processes
        Those of ``ros2 bag play`` and ``ros2 bag record``.
    stop
        Set by a signal.
    log
        Takes sentences.
    """

    def __init__(
        self,
        stage: Stage,
        processes: Mapping[str, 'subprocess.Popen[bytes]'],
        stop: Event,
        log: Any,
    ) -> None:
        self._stage, self._processes, self._stop, self._log = stage, processes, stop, log
        self._futile: Report | None = None

    def wait_until_ready(self) -> None:
        """Wait until nothing is missing, for a while."""
        begin = said = time.monotonic()
        complete_since = None
        while complete_since is None or time.monotonic() - complete_since < SETTLING:
            missing, now = self._stage.missing(), time.monotonic()
            if missing is None:
                complete_since = complete_since or now
            else:
                complete_since = None
                if now - begin > PATIENCE:
                    raise GeolinError(f'not within {PATIENCE:g} s: {missing}')
                if now - said > STEP:
                    said = now
                    self._log.info(f'{now - begin:.0f} s, waits for {missing}')
            self._look('play', 'record')

    def play(self, bag: Bag) -> None:
        """Let the player play, no faster than the node follows."""
        from rosbag2_interfaces.srv import Pause, Resume  # they come with `ros2 bag`

        self._log.info('node, recorder and player know of each other: play')
        self._call(Resume, 'resume')
        player, stage, is_paused = self._processes['play'], self._stage, False
        while player.poll() is None:
            self._look('record')
            self._check_use(bag)
            if not is_paused and stage.behind > MOST_BEHIND:
                self._call(Pause, 'pause')
                is_paused = True
            elif is_paused and (stage.behind < LESS_BEHIND or stage.quiet >= QUIET):
                self._call(Resume, 'resume')
                is_paused = False
        if player.returncode != 0:
            raise GeolinError(f'`ros2 bag play` ended with status {player.returncode}, see above')

    def finish(self, bag: Bag, joint_states: str) -> None:
        """Wait for the last answers, of which none is to be recorded any more."""
        stage = self._stage
        while stage.report.count(RECEIVED) < bag.counts[joint_states] and stage.quiet < QUIET:
            self._look('record')
        stage.end()
        while stage.quiet == 0 or (stage.report.waiting and stage.quiet < QUIET):
            self._look('record')
            self._check_use(bag)

    def end_recording(self, output: Path) -> None:
        """Let the recorder write what it has, until nothing is added, and close the bag."""
        size, since = -1, time.monotonic()
        while time.monotonic() - since < 2.0 * SETTLING:
            written = sum(file.stat().st_size for file in output.glob('*'))
            if written != size:
                size, since = written, time.monotonic()
            self._look('record')
        recorder = self._processes['record']
        recorder.send_signal(2)
        if recorder.wait(WRITING) not in (0, -2, INTERRUPTED):
            raise GeolinError(
                f'`ros2 bag record` ended with status {recorder.returncode}, see above'
            )

    def _check_use(self, bag: Bag) -> None:
        """Refuse to go on where nothing is answered because a topic is not in the bag.

        Two reports have to say so: a node that stalled may get joint states before odometry.
        """
        report = self._stage.report
        if report.count(RECEIVED) >= FUTILE and not report.count(ANSWERED):
            absent = report.inputs - bag.counts.keys()
            self._futile = self._futile or report
            if absent and report is not self._futile:
                raise GeolinError(_nothing_answered(report, absent))

    def _call(self, kind: Any, verb: str) -> None:
        """Call a service of the player until it answers."""
        name = f'/{PLAYER}/{verb}'
        while self._processes['play'].poll() is None and self._stage.ask(kind, name) is None:
            self._look('record')
            self._log.warning(f'{name} does not answer, ask again')

    def _look(self, *needed: str) -> None:
        """Take what has come; raise where a signal did, or one of the processes is gone."""
        self._stage.look()
        if self._stop.is_set():
            raise _Interrupt
        for verb in needed:
            status = self._processes[verb].poll()
            if status is not None:
                raise GeolinError(
                    f'`ros2 bag {verb}` ended early, with status {status}, see above'
                )


def _nothing_answered(report: Report, absent: set[str]) -> str:
    """Return why no joint state was answered."""
    causes = ', '.join(f'{cause}: {count}' for cause, count in report.drops.items())
    of_bag = f'; the bag has no {" and no ".join(sorted(absent))}' if absent else ''
    return (
        f'none of {report.count(RECEIVED)} joint states could be linearized '
        f'({causes or "all wait"}){of_bag}: name topics of the bag by odom:=TOPIC and others, or '
        'set parameter base: fixed if the robot is'
    )


def conclude(report: Report, sent: int, recorded: Bag, topics: list[str]) -> str:
    """Return in a sentence what became of all messages.

    Raises
    ------
    GeolinError
        With that sentence, if some were lost on the way, or none was answered.
    """
    received, answered = report.count(RECEIVED), report.count(ANSWERED)
    drops = ', '.join(f'{cause} {count}' for cause, count in report.drops.items())
    sentence = (
        f'{sent} joint states sent, {answered} answered, '
        f'{report.count(SKIPPED)} {SKIPPED}, {report.count(MERGED)} {MERGED}, '
        f'{sum(report.drops.values())} dropped{drops and f" ({drops})"}; recorded: '
        + ', '.join(f'{recorded.counts.get(topic, 0)} of {topic}' for topic in topics)
    )
    lost = max(sent - received, 0)
    missing = sum(max(answered - recorded.counts.get(topic, 0), 0) for topic in topics)
    if lost or missing:
        raise GeolinError(
            f'{sentence}; lost on the way: {lost} to the node, {missing} to the recorder: the '
            'machine is too busy; replay with rate:=0.5'
        )
    return sentence


@contextmanager
def processes(
    options: argparse.Namespace, bag: Bag, topics: list[str]
) -> Generator[dict[str, 'subprocess.Popen[bytes]']]:
    """Start recorder and paused player; both have ended afterwards."""
    profiles = {
        'record': {topic: _profile(OUTPUT_DEPTH) for topic in topics},
        'play': {
            topic: _profile(INPUT_DEPTH, 'transient_local' if topic in bag.latched else 'volatile')
            for topic in bag.counts
        },
    }
    words = {
        'record': [
            *('--use-sim-time', '--output', options.output, '--max-cache-size', '0'),
            *('--topics', *topics, '/diagnostics'),
        ],
        'play': [
            *(options.bag, '--clock', '--start-paused', '--disable-keyboard-controls'),
            *('--rate', options.rate),
        ],
    }
    started = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for verb in words:
                file = Path(folder) / f'{verb}.yaml'
                file.write_text(yaml.safe_dump(profiles[verb]))
                command = ['ros2', 'bag', verb, *map(str, words[verb])]
                started[verb] = subprocess.Popen(
                    [*command, '--qos-profile-overrides-path', str(file)],
                    stdin=subprocess.DEVNULL,
                )
            yield started
        finally:
            for process in started.values():
                _end(process)


def _end(process: 'subprocess.Popen[bytes]') -> None:
    if process.poll() is None:
        process.send_signal(2)
        try:
            process.wait(CALL)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def run(options: argparse.Namespace, stop: Event) -> int:
    """Replay a bag; return the exit status."""
    bag = check(options.bag, options.output, options.joint_states)
    graph = rclpy.create_node('replay', start_parameter_services=False)
    stage = Stage(graph, options.node, options.joint_states, bag)
    try:
        with processes(options, bag, stage.topics) as started:
            replay = Replay(stage, started, stop, graph.get_logger())
            replay.wait_until_ready()
            replay.play(bag)
            replay.finish(bag, options.joint_states)
            replay.end_recording(options.output)
        if not stage.report.count(ANSWERED):
            raise GeolinError(
                _nothing_answered(stage.report, stage.report.inputs - bag.counts.keys())
            )
        sent, recorded = bag.counts[options.joint_states], Bag.of(options.output)
        graph.get_logger().info(conclude(stage.report, sent, recorded, stage.topics))
    except _Interrupt:
        return INTERRUPTED
    finally:
        stage.close()
        graph.destroy_node()
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(
        prog='python -m geolin_ros.ros.bag_replay', description=__doc__
    )
    parser.add_argument('--node', required=True, help='full name of the linearizer')
    parser.add_argument('--joint-states', default='/joint_states', help='its topic (%(default)s)')
    parser.add_argument('--bag', type=Path, required=True, help='folder of the bag to be played')
    parser.add_argument('--output', type=Path, required=True, help='folder of the bag written')
    parser.add_argument('--rate', type=float, default=1.0, help='speed of the replay')
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Return 0 if all was answered or counted, 1 if something was lost, 130 if interrupted."""
    stop = stop_on_signals()
    options = parse(arguments)
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        return run(options, stop)
    except GeolinError as error:
        sys.stderr.write(f'replay: {error}\n')
        return 1
    finally:
        ignore_signals()
        rclpy.try_shutdown()


if __name__ == '__main__':
    sys.exit(main())
