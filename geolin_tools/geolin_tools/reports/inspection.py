# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is in a recording, and what a linearization of it would leave out and why."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from geolin_control.whole_file import whole_file

from geolin_ros.errors import RecordingError
from geolin_ros.offline.message_types import CLOCK
from geolin_ros.offline.points import Watch, feed
from geolin_ros.offline.recording import Recorded
from geolin_ros.offline.source import Source
from geolin_ros.stream.drops import DroppedInput
from geolin_ros.stream.inputs.odometry_check import OdometryCheck
from geolin_ros.stream.inputs.stamps import nanoseconds
from geolin_ros.stream.operating_points import OperatingPoints
from geolin_tools import identification
from geolin_tools.identification.joint_log import joint_signals
from geolin_tools.reports.timing import Timing

Report = dict[str, Any]


def inspect(source: Source, watch: Watch = lambda items, total: items) -> Report:
    """Read all inputs of a source once and say what was found, in plain numbers and words.

    Parameters
    ----------
    watch
        Wraps the messages, of which there are ``total``, to show how far the work is.

    Returns
    -------
    dict
        Ready for JSON: span, topics, joints, timing of each input, odometry, what would be
        linearized, skipped and dropped, and ``problems``, sentences for people.
    """
    recording, model = source.recording, source.model
    stream = OperatingPoints(model, source.settings)
    roles = [role for role in source.inputs if role in recording.topics]
    timings = {role: Timing() for role in roles}
    odometry, orders = OdometryCheck(), set[tuple[str, ...]]()
    causes: Counter[str] = Counter()
    first: dict[str, str] = {}

    def count(drop: DroppedInput) -> None:
        causes[drop.cause.value] += 1
        first.setdefault(drop.cause.value, str(drop))

    def noted() -> Iterator[Recorded]:
        for recorded in watch(recording.messages(roles), source.message_count):
            role, time, message = recorded
            timings[role].add(_stamp(message, time), time)
            if role == 'odom':
                odometry.add(message)
            elif role == 'joint_states':
                orders.add(tuple(message.name))
            yield recorded

    stream.on_drop = count
    for _ in feed(stream, noted()):
        pass
    report: Report = {
        'bags': [str(path) for path in recording.paths],
        'start': recording.span[0] * 1e-9,
        'duration': (recording.span[1] - recording.span[0]) * 1e-9,
        'sim_time': CLOCK in recording.types.values(),
        'topics': _topics(source, timings),
        'robot': {'name': model.name, 'hash': model.hash, 'joints': len(model.joint_names)},
        'joints': _joints(model.joint_names, orders),
        'timing': {role: timing.report() for role, timing in timings.items()},
        'odometry': odometry.report(source.values['odometry.twist_frame']),
        'linearizable': stream.counts.answered,
        'left_out_by_max_rate': stream.counts.skipped,
        'dropped': {
            cause: {'count': count, 'first': first[cause]} for cause, count in causes.items()
        },
    }
    report['problems'] = list(_problems(source, report))
    return report


def examine(source: Source, watch: Watch = lambda items, total: items) -> Report:
    """Say what a recording tells `identify` of its robot; ready for JSON.

    Other than `inspect` this keeps all joint states in memory. Raises `ConfigurationError` as
    `joint_signals` does.
    """
    try:
        signals = joint_signals(source, watch)
        identification.check(signals, source.model)
        found = identification.examine(source.model, signals)
    except RecordingError as error:
        return {'problems': [str(error)]}
    names = source.model.joint_names
    report: Report = dataclasses.asdict(found)
    factors = zip(names, map(float, found.factors), strict=True)
    return report | {'factors': dict(factors), 'problems': list(found.problems)}


def propose_motion(source: Source, path: Path, watch: Watch, rounds: Watch) -> Report:
    """Write a motion for what a recording does not determine; ready for JSON.

    Raises `RecordingError` or `ConfigurationError` as `joint_signals` and `identification.check`
    do; `UnsolvableError` as `identification.propose` does.
    """
    import yaml

    signals = joint_signals(source, watch)
    identification.check(signals, source.model)
    found = identification.propose(source.model, signals, rounds)
    message = found.message(source.model.joint_names)
    with whole_file(path) as file:
        file.write(yaml.safe_dump(message, sort_keys=False, default_flow_style=None).encode())
    determined = int((found.eigenvalues > 1.0).sum())
    return {'file': str(path), 'seconds': float(found.time[-1]), 'determined': determined}


def _joints(known: tuple[str, ...], seen: set[tuple[str, ...]]) -> Report:
    """Compare the names in joint states with the model's."""
    named = {name for names in seen for name in names}
    return {
        'missing': [name for name in known if name not in named],
        'unknown': sorted(named - set(known)),
        'orders': len(seen),
    }


def _stamp(message: Any, recorded: int) -> int:
    """Return the stamp of a message [ns]; of transforms that of the first one."""
    stamped = message if hasattr(message, 'header') else next(iter(message.transforms), None)
    return recorded if stamped is None else nanoseconds(stamped.header.stamp)


def _topics(source: Source, timings: Mapping[str, Timing]) -> dict[str, Report]:
    recording = source.recording
    role_of = {topic: role for role, topic in recording.topics.items()}
    duration = max(recording.span[1] - recording.span[0], 1) * 1e-9
    found = {}
    for topic, kind in sorted(recording.types.items()):
        role, count = role_of.get(topic), recording.counts[topic]
        read = timings.get(role or '')  # when others began and ended is not known
        rate = read.mean_rate if read else count / duration if count > 1 else 0.0
        found[topic] = {'type': kind, 'count': count, 'rate': rate, 'role': role}
    return found


def _problems(source: Source, report: Report) -> Iterable[str]:
    """Yield what a user should know, worst first."""
    if source.other_robot:
        yield source.other_robot
    for role in source.inputs:
        if role not in source.recording.topics:
            yield f'no topic can be {role}: nothing can be linearized'
    joints = report['joints']
    if joints['missing'] and 'joint_states' in report['timing']:
        yield (
            f'joint states lack {", ".join(joints["missing"])} of robot '
            f'{source.model.name!r}: wrong robot, or joints to be locked (parameter '
            'locked_joints)'
        )
    wrong = report['odometry'].get('problem')
    if wrong:
        yield wrong
    if report['odometry']['pose_jumps']:
        yield f'{report["odometry"]["pose_jumps"]} times the odometry pose jumps'
    for cause, drop in sorted(report['dropped'].items(), key=lambda item: -item[1]['count']):
        yield f'{drop["count"]} inputs would be dropped, {cause}; the first: {drop["first"]}'
    for role, timing in report['timing'].items():
        yield from (f'{role}: {sentence}' for sentence in timing['problems'])
    if report['linearizable'] == 0:
        yield 'no sample can be linearized'
