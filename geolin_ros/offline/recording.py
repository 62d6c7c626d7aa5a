# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags of ROS 2 and ROS 1 as one sequence of messages."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from rosbags.interfaces import Connection, MessageDefinitionFormat
from rosbags.rosbag1 import Reader as Reader1
from rosbags.rosbag2 import Reader as Reader2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from geolin_ros.errors import RecordingError, unknown_name
from geolin_ros.offline.bags import (
    CONTACT_STATES,
    IMU,
    JOINT_STATE,
    ODOMETRY,
    STRING,
    TRANSFORMS,
    known_types,
)
from geolin_ros.stream.inputs.serialized import VIEWS, InputReader

ROLES = {
    'robot_description': STRING,
    'joint_states': JOINT_STATE,
    'odom': ODOMETRY,
    'tf': TRANSFORMS,
    'tf_static': TRANSFORMS,
    'imu': IMU,
    'joint_efforts': JOINT_STATE,
    'contact_states': CONTACT_STATES,
}
"""Type of each input; the keys are the node's names for them."""
ESTIMATOR = 'state_estimator'
"""Node whose joint states, with rates, and contact states go before what it made them of."""
SOLE_IS_ENOUGH = ('joint_states', 'odom', 'imu')

STORAGES = ('.mcap', '.db3')
ADVICE = (
    'A bag that was cut short can often be mended: `ros2 bag reindex`, `mcap recover`, '
    '`rosbag reindex`'
)


class Recorded(NamedTuple):
    """A message, what it is for, and when it was recorded [ns]."""

    role: str
    time: int
    message: Any


class Recording(ExitStack):
    """One or several bags, merged by the times at which their messages were recorded.

    To be used as a context manager, which closes them. Raises `RecordingError` if a bag cannot be
    opened, or topics are ambiguous; `UnknownNameError` if a topic is not in the bags.

    Parameters
    ----------
    paths
        Rosbag2 folders, with their metadata or without; their mcap or sqlite3 files; ROS 1 bags.
    topics
        Topics of inputs by role. Another role goes to the topic of its type that is named like it,
        in whatever namespace; joint states, odometry and IMU also to the only one of their type,
        or with their name inside its own.
    takes_estimates
        Whether of several topics with messages that of the state estimator is meant, or another.

    Attributes
    ----------
    name
        The paths, for messages.
    types, counts
        Message type of each topic, and how many messages it has.
    span
        First and last time of all messages [ns]; zeros if there are none.
    topics
        Topic of each role that is there.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        topics: Mapping[str, str] | None = None,
        takes_estimates: bool = True,
    ):
        super().__init__()
        self.paths = [Path(path) for path in paths]
        self.name = ', '.join(map(str, self.paths))
        bags = _open(self.paths, self)
        self.span = _span(bags)
        self._connections = [connection for bag in bags for connection in bag.connections]
        self.types = {c.topic: c.msgtype for c in self._connections}
        counts = Counter[str]()
        for connection in self._connections:
            counts[connection.topic] += connection.msgcount
        self.counts = dict(counts)
        try:
            self.topics = _assigned(self.types, topics or {}, self.counts, takes_estimates)
        except Exception:
            self.close()
            raise

    def topic(self, role: str) -> str:
        """Return the topic of a role; raise `RecordingError` if there is none."""
        if role not in self.topics:
            listed = ', '.join(f'{topic} ({kind})' for topic, kind in sorted(self.types.items()))
            raise RecordingError(
                f'{self.name} has no {role} ({ROLES[role]}), only {listed or "nothing"}; record '
                f'it, or name its topic with --{role.replace("_", "-")}'
            )
        return self.topics[role]

    def add_role(self, name: str, kind: str) -> None:
        """Let the topic ``name`` of a type, in whatever namespace, be a role of that name."""
        absolute = f'/{name.strip("/")}'
        of_kind = [topic for topic, other in self.types.items() if other == kind]
        exact = [topic for topic in of_kind if topic in (name, absolute)]
        found = exact[:1] or [topic for topic in of_kind if topic.endswith(absolute)]
        if len(found) != 1:
            raise RecordingError(
                f'{self.name} has {len(found)} topics {name} ({kind}), expected one; correct the '
                'parameter that names it'
            )
        self.topics[name] = found[0]

    def messages(self, roles: Iterable[str]) -> Iterator[Recorded]:
        """Yield the messages of some roles in the order in which they were recorded.

        Raises `RecordingError` where the bags are damaged.
        """
        yield from self._of({self.topics[role]: role for role in roles if role in self.topics})

    def of_topic(self, topic: str) -> Iterator[Any]:
        """Yield the messages of a topic; raises as `messages`."""
        return (recorded.message for recorded in self._of({topic: topic}))

    def _of(self, role_of: Mapping[str, str]) -> Iterator[Recorded]:
        """Yield the messages of topics whose roles are given."""
        connections = [c for c in self._connections if c.topic in role_of]
        decode = {c.topic: self._decoder(c) for c in connections}
        raw = _merged(connections)
        time = self.span[0]
        while True:
            # Damaged bytes end in exceptions of many kinds: of the storage, of decompression, of
            # the types. What the caller does with a message is outside.
            try:
                connection, time, data = next(raw)
                time = int(time)  # of a damaged row sqlite may return REAL
                message = decode[connection.topic](data)
            except StopIteration:
                return
            except Exception as error:
                after = (time - self.span[0]) * 1e-9
                raise RecordingError(
                    f'{self.name} cannot be read further than {after:.3f} s after its start: '
                    f'{_words(error)}. {ADVICE}'
                ) from error
            yield Recorded(role_of[connection.topic], time, message)

    def description(self) -> str:
        """Return the first robot description; raise `RecordingError` if there is none."""
        for recorded in self.messages(['robot_description']):
            return str(recorded.message.data)
        raise RecordingError(
            f'{self.name} has no message with a robot_description ({STRING}); give the robot with '
            '--urdf FILE, or name the topic with --robot-description'
        )

    def _decoder(self, connection: Connection) -> Callable[[bytes], Any]:
        """Return the function for a topic: of its type as the bag has it, else as ROS 2 does."""
        kind, definition, store = connection.msgtype, connection.msgdef, known_types()
        if definition.format == MessageDefinitionFormat.MSG and definition.data.strip():
            store = get_typestore(Stores.EMPTY)
            try:
                store.register(get_types_from_msg(definition.data, kind))
            except Exception as error:
                raise RecordingError(
                    f'{self.name} defines {kind} of topic {connection.topic} in a way that '
                    f'cannot be read: {_words(error)}'
                ) from error
        if isinstance(connection.owner, Reader1):
            return lambda data: store.deserialize_ros1(data, kind)
        if kind in VIEWS and store.hash_rihs01(kind) == known_types().hash_rihs01(kind):
            return InputReader(kind, lambda data: store.deserialize_cdr(data, kind)).read
        return lambda data: store.deserialize_cdr(data, kind)


def _assigned(
    types: Mapping[str, str],
    chosen: Mapping[str, str],
    counts: Mapping[str, int],
    takes_estimates: bool,
) -> dict[str, str]:
    """Return the topic of each role, see `Recording`."""
    found = {}
    for role, wanted in ROLES.items():
        if role in chosen:
            topic = found[role] = chosen[role]
            if topic not in types:
                raise unknown_name('topic', topic, types, 'the bag')
            if types[topic] != wanted:
                raise RecordingError(
                    f'topic {topic} has type {types[topic]}, expected {wanted} as {role}'
                )
            continue
        last = {topic: topic.rpartition('/')[2] for topic, kind in types.items() if kind == wanted}
        candidates = [topic for topic in last if last[topic] == role]
        if not candidates and role in SOLE_IS_ENOUGH:
            taken = {*chosen.values(), *found.values()}
            others = (*ROLES, 'imu_bias')
            free = [topic for topic in last if topic not in taken and last[topic] not in others]
            candidates = [topic for topic in free if role in topic] or free
        if len(candidates) > 1:
            candidates = [topic for topic in candidates if counts[topic]] or candidates
            estimate = f'/{ESTIMATOR}/{role}'
            candidates = [
                topic for topic in candidates if topic.endswith(estimate) == takes_estimates
            ] or candidates
        if len(candidates) > 1:
            raise RecordingError(
                f'topics {", ".join(sorted(candidates))} could all be {role} ({wanted}), expected '
                f'one; choose with --{role.replace("_", "-")} TOPIC'
            )
        if candidates:
            found[role] = candidates[0]
    return found


def runs(paths: Sequence[str | Path]) -> list[list[Path]]:
    """Return bags by the run that they are of, in the given order.

    Bags are of one run if their times overlap, but for bags with the same joint states: times of
    logs often begin at 0.

    Raises `RecordingError` if a bag cannot be opened, or could be of several runs.
    """
    found: list[dict[Path, tuple[int, int, set[str]]]] = []
    for path in map(Path, paths):
        with ExitStack() as stack:
            bags = _open([path], stack)
            joints = {c.topic for bag in bags for c in bag.connections if c.msgtype == JOINT_STATE}
            begin, end = _span(bags)
        of = [
            run
            for run in found
            if any(max(begin, first) < min(end, last) for first, last, _ in run.values())
            and all(joints.isdisjoint(others) for _, _, others in run.values())
        ]
        if len(of) > 1:
            names = ' and '.join(str(next(iter(run))) for run in of)
            raise RecordingError(
                f'{path} is at the time of {names}, expected one of them; give one run at a time, '
                'or correct the stamps'
            )
        if not of:
            found.append({})
            of = found[-1:]
        of[0][path] = begin, end, joints
    return [list(run) for run in found]


def _open(paths: Sequence[Path], stack: ExitStack) -> list[Reader1 | Reader2]:
    """Open bags, which the stack closes."""
    name = ', '.join(map(str, paths))
    files = [file for path in paths for file in _files(path)]
    if len({file.suffix == '.bag' for file in files}) > 1:
        raise RecordingError(f'{name} are of ROS 1 and ROS 2, expected bags of one kind')
    try:
        bags = [Reader1(file) if file.suffix == '.bag' else Reader2(file) for file in files]
        for bag in bags:
            stack.enter_context(bag)
        return bags
    except Exception as error:
        stack.close()
        raise RecordingError(f'cannot open {name}: {_words(error)}. {ADVICE}') from error


def _files(path: Path) -> list[Path]:
    """Return what the reader takes for a path: storage files where a folder lacks metadata."""
    if not path.exists():
        raise RecordingError(f'{path} does not exist, expected a bag')
    if not path.is_dir() or (path / 'metadata.yaml').exists():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix in STORAGES)
    if not files:
        raise RecordingError(
            f'folder {path} has neither metadata.yaml nor {" or ".join(STORAGES)} files, expected '
            'a bag'
        )
    return files


def _span(bags: Sequence[Reader1 | Reader2]) -> tuple[int, int]:
    filled = [bag for bag in bags if bag.message_count]
    if not filled:
        return 0, 0
    return min(bag.start_time for bag in filled), max(bag.end_time for bag in filled) - 1


def _merged(connections: Sequence[Connection]) -> Iterator[tuple[Connection, int, bytes]]:
    """Yield what was recorded, by time; of messages of the same time, that of the first bag."""
    of_bag: dict[Any, list[Connection]] = {}
    for connection in connections:
        of_bag.setdefault(connection.owner, []).append(connection)
    parts = [bag.messages(connections=same) for bag, same in of_bag.items()]
    return heapq.merge(*parts, key=lambda entry: entry[1])


def _words(error: Exception) -> str:
    return f'{type(error).__name__}: {error}'.rstrip('.: ')
