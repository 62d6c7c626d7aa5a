# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin inspect``: what is in a bag, and what a linearization would leave out of it and why."""

import argparse
import math
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from geolin_control.whole_file import whole_file

from geolin_ros.cli._options import (
    Progress,
    add_bag_arguments,
    add_output_arguments,
    exit_status,
    open_bags,
    show,
)
from geolin_ros.errors import RecordingError
from geolin_ros.offline.bags import CLOCK
from geolin_ros.offline.points import Watch, feed, point_stream
from geolin_ros.offline.recording import Recorded
from geolin_ros.offline.source import Source
from geolin_ros.stream.inputs.plausibility import OdometryCheck
from geolin_ros.stream.topic_stream import CLOCK_RESET, DroppedInput, nanoseconds
from geolin_tools import identification
from geolin_tools.identification.joint_log import joint_signals

ANOTHER_CLOCK = 86_400.0
"""Stamps farther from their recording [s] are of another clock: a simulation's."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_bag_arguments(parser)
    about = (
        'say too what geolin identify can learn: excitation, delay of efforts, units '
        '(-p base:=fixed for an arm)'
    )
    parser.add_argument('--for-identify', action='store_true', help=about)
    about = (
        'the same, and write a joint trajectory of an arm, within its limits, for what the bag '
        'does not determine'
    )
    parser.add_argument('--propose', type=Path, metavar='FILE', help=about)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print the findings; 1 if no sample could be linearized, 2 if inputs would be dropped."""
    with open_bags(options) as source:
        report = inspect(source, Progress(options))
        if options.for_identify or options.propose is not None:
            watches = Progress(options), Progress(options, ' motions')
            found = examine(source, options.propose, *watches)
            report['problems'] += found.pop('problems')
            report |= found
    show(options, report, '\n'.join(_lines(report)))
    return exit_status(report['linearizable'], report['dropped'])


def _lines(report: dict[str, Any]) -> Iterator[str]:
    clock = ', simulated time' if report['sim_time'] else ''
    yield f'{", ".join(report["bags"])}: {report["duration"]:.3f} s{clock}'
    for topic, found in report['topics'].items():
        role = f'  <- {found["role"]}' if found['role'] else ''
        rate = f'{found["rate"]:.1f} Hz' if found['rate'] else 'once'
        count = f'{found["count"]:>9} {rate:>12}'
        yield f'  {count}  {topic} ({found["type"]}){role}'
    robot, joints = report['robot'], report['joints']
    matches = 'names match' if not joints['missing'] else f'{len(joints["missing"])} missing'
    others = f', others: {", ".join(joints["unknown"])}' if joints['unknown'] else ''
    yield f'robot {robot["name"]}: {robot["joints"]} joints, {matches}{others}'
    for role, timing in report['timing'].items():
        if 'rate' in timing:
            stamped = f'recorded {timing["delay"] * 1e3:+.1f} ms after the stamp'
            if report['sim_time'] or abs(timing['delay']) > ANOTHER_CLOCK:
                stamped = 'stamped in simulated time'
            yield (
                f'{role}: {timing["rate"]:.1f} Hz in the median, '
                f'jitter {timing["jitter"] * 1e3:.3f} ms, {stamped}'
            )
    for part, off in report['odometry']['deviation'].items():
        verdict = report['odometry']['twist_frame'] or 'not clear'
        yield (
            f'{part} odometry twist against its pose: {off["child"]:.1%} off in child axes, '
            f'{off["world"]:.1%} in world axes: {verdict}'
        )
    for part in sorted({'linear', 'angular'} - report['odometry']['deviation'].keys()):
        yield f'{part} odometry twist against its pose: undetermined, it is short or hardly moves'
    total = report['linearizable'] + report['left_out_by_max_rate']
    yield f'{report["linearizable"]} of {total} usable joint states would be linearized'
    found, proposed = report.get('identify'), report.get('proposed')
    if found:
        delay = f'efforts {found["delay"] * 1e3:+.1f} ms after the motion'
        if math.isnan(found['delay']):
            delay = 'the delay of efforts is not determined'
        yield (
            f'for identify: {found["determined"]} of {found["possible"]} combinations of masses, '
            f'condition number {found["condition"]:.3g}; {found["rate"]:.4g} samples a second, '
            f'{found["needed_rate"]:.4g} asked for by the motion; {delay}'
        )
    if proposed:
        yield (
            f'{proposed["file"]}: a motion with which {proposed["determined"]} combinations are '
            'determined; collisions are not checked: '
            'see it in a simulation first. To play it: ros2 topic pub --once '
            '/joint_trajectory_controller/joint_trajectory trajectory_msgs/msg/JointTrajectory '
            f'"$(cat {proposed["file"]})"'
        )
    yield from (f'! {problem}' for problem in report['problems'])


GAP = 2.5  # a distance this many times the median is a gap: at least one message is missing
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
    roles = [role for role in source.inputs if role in recording.topics]
    stamps = {role: (array('q'), array('q')) for role in roles}  # 16 bytes a message
    odometry, seen = OdometryCheck(), set[str]()
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
                seen.update(message.name)
            yield recorded

    stream = point_stream(source, count)
    for _ in feed(stream, noted()):
        pass
    report: Report = {
        'bags': [str(path) for path in recording.paths],
        'start': recording.span[0] * 1e-9,
        'duration': (recording.span[1] - recording.span[0]) * 1e-9,
        'sim_time': CLOCK in recording.types.values(),
        'topics': _topics(source),
        'robot': {'name': model.name, 'hash': model.hash, 'joints': len(model.joint_names)},
        'joints': {
            'missing': [name for name in model.joint_names if name not in seen],
            'unknown': sorted(seen - set(model.joint_names)),
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


def _topics(source: Source) -> dict[str, Report]:
    """Return what is known of each topic; rates over the whole recording [Hz]."""
    recording, found = source.recording, {}
    role_of = {topic: role for role, topic in recording.topics.items()}
    seconds = max(recording.span[1] - recording.span[0], 1) * 1e-9
    for topic, kind in sorted(recording.types.items()):
        count = recording.counts[topic]
        rate = max(count - 1, 0) / seconds
        found[topic] = {'type': kind, 'count': count, 'rate': rate, 'role': role_of.get(topic)}
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


def examine(source: Source, path: Path | None, watch: Watch, tries: Watch) -> Report:
    """Say what a recording tells `identify`, and write a motion for the rest into a path.

    Other than `inspect` this keeps all joint states in memory. Raises `ConfigurationError` as
    `joint_signals` does, and `UnsolvableError` as `identification.propose`.
    """
    model = source.model
    try:
        signals = joint_signals(source, watch)
        identification.check(signals, model)
        found = identification.examine(model, signals)
    except RecordingError as error:
        return {'identify': {}, 'problems': [str(error)]}
    factors = dict(zip(model.joint_names, map(float, found.factors), strict=True))
    excitation = found._asdict() | {'factors': factors}
    report: Report = {'problems': list(excitation.pop('problems')), 'identify': excitation}
    if path is not None:
        motion = identification.propose(model, signals, tries)
        text = yaml.safe_dump(motion.message, sort_keys=False, default_flow_style=None)
        with whole_file(path) as file:
            file.write(text.encode())
        report['proposed'] = {'file': str(path), 'determined': motion.determined}
    return report
