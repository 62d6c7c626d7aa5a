# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is in a recording, and what a linearization of it would leave out and why."""

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from geolin_control.whole_file import whole_file

from geolin_ros.errors import RecordingError
from geolin_ros.offline.message_types import CLOCK
from geolin_ros.offline.points import Watch, feed
from geolin_ros.offline.recording import Recorded
from geolin_ros.offline.source import Source
from geolin_ros.stream.drops import DroppedInput
from geolin_ros.stream.inputs.odometry_check import OdometryCheck
from geolin_ros.stream.inputs.stamps import CLOCK_RESET, nanoseconds
from geolin_ros.stream.linearization_stream import OperatingPoints
from geolin_tools import identification
from geolin_tools.identification.joint_log import joint_signals

GAP = 2.5
"""A distance this many times the median is a gap: at least one message is missing."""
CLOCK_JUMP = 0.1
"""Stamps and recording times that move apart this much [s] at once: a clock was set."""
PROBLEMS = {
    'gaps': '{gaps} gaps, the longest {longest_gap:.3f} s: messages were lost',
    'repeated_stamps': '{repeated_stamps} stamps repeat the one before',
    'backward_steps': '{backward_steps} stamps go back',
    'clock_resets': '{clock_resets} times the clock starts anew',
    'clock_jumps': '{clock_jumps} times stamps and recording times move apart: a clock was set',
}
Report = dict[str, Any]


def inspect(source: Source, watch: Watch = lambda items, total: items) -> Report:
    """Read all inputs of a source once and say what was found, ready for JSON.

    That is span, topics, joints, timing of each input, odometry, what would be linearized,
    skipped and dropped, and ``problems``, sentences for people. ``watch`` wraps the messages, of
    which there are ``total``.
    """
    recording, model = source.recording, source.model
    stream = OperatingPoints(model, source.settings)
    roles = [role for role in source.inputs if role in recording.topics]
    stamps = {role: (array('q'), array('q')) for role in roles}  # 16 bytes a message
    odometry, orders = OdometryCheck(), set[tuple[str, ...]]()
    dropped: dict[str, Report] = {}

    def count(drop: DroppedInput) -> None:
        dropped.setdefault(drop.cause.value, {'count': 0, 'first': str(drop)})['count'] += 1

    def noted() -> Iterator[Recorded]:
        for recorded in watch(recording.messages(roles), source.message_count):
            role, time, message = recorded
            stamps[role][0].append(_stamp(message, time))
            stamps[role][1].append(time)
            if role == 'odom':
                odometry.add(message)
            elif role == 'joint_states':
                orders.add(tuple(message.name))
            yield recorded

    stream.on_drop = count
    for _ in feed(stream, noted()):
        pass
    seen = {name for names in orders for name in names}
    report: Report = {
        'bags': [str(path) for path in recording.paths],
        'start': recording.span[0] * 1e-9,
        'duration': (recording.span[1] - recording.span[0]) * 1e-9,
        'sim_time': CLOCK in recording.types.values(),
        'topics': _topics(source, {role: times for role, (_, times) in stamps.items()}),
        'robot': {'name': model.name, 'hash': model.hash, 'joints': len(model.joint_names)},
        'joints': {
            'missing': [name for name in model.joint_names if name not in seen],
            'unknown': sorted(seen - set(model.joint_names)),
            'orders': len(orders),
        },
        'timing': {role: _timing(*map(np.array, both)) for role, both in stamps.items()},
        'odometry': odometry.report(source.values['odometry.twist_frame']),
        'linearizable': stream.counts.answered,
        'left_out_by_max_rate': stream.counts.skipped,
        'dropped': dropped,
    }
    report['problems'] = list(_problems(source, report))
    return report


def _stamp(message: Any, recorded: int) -> int:
    """Return the stamp of a message [ns]; of transforms that of the first one."""
    stamped = message if hasattr(message, 'header') else next(iter(message.transforms), None)
    return recorded if stamped is None else nanoseconds(stamped.header.stamp)


def _topics(source: Source, times: dict[str, Any]) -> dict[str, Report]:
    """Return what is known of each topic; times of recording [ns] by role."""
    recording = source.recording
    role_of = {topic: role for role, topic in recording.topics.items()}
    begin, end = recording.span  # when topics that are not read began and ended is not known
    found = {}
    for topic, kind in sorted(recording.types.items()):
        role, count = role_of.get(topic), recording.counts[topic]
        rate = count * 1e9 / max(end - begin, 1) if count > 1 else 0.0
        if role in times:
            read = times[role]
            span = read[-1] - read[0] if len(read) > 1 else 0
            rate = (len(read) - 1) * 1e9 / span if span else 0.0
        found[topic] = {'type': kind, 'count': count, 'rate': rate, 'role': role}
    return found


def _timing(stamps: Any, times: Any) -> Report:
    """Return median rate [Hz], gaps, jumps and delays [s], and what is wrong in words."""
    if stamps.size < 2:
        return {'count': int(stamps.size), 'problems': []}
    steps, delays = np.diff(stamps), (times - stamps) * 1e-9
    forward = steps[steps > 0]
    median = float(np.median(forward)) if forward.size else 0.0
    found: Report = {
        'count': int(stamps.size),
        'rate': 1e9 / median if median else 0.0,
        'jitter': float(np.percentile(np.abs(forward - median), 99) * 1e-9) if median else 0.0,
        'gaps': int((steps > GAP * median).sum()),
        'longest_gap': float(steps.max() * 1e-9),
        'repeated_stamps': int((steps == 0).sum()),
        'backward_steps': int(((steps < 0) & (steps > -CLOCK_RESET)).sum()),
        'clock_resets': int((steps <= -CLOCK_RESET).sum()),
        'clock_jumps': int((np.abs(np.diff(delays)) > CLOCK_JUMP).sum()),
        'delay': float(np.median(delays)),
    }
    return found | {
        'problems': [PROBLEMS[name].format(**found) for name in PROBLEMS if found[name]]
    }


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
    report: Report = found._asdict()
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
