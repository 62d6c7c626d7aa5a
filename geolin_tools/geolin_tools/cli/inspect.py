# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin inspect``: what is in a bag, and what would be left out of it."""

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from geolin_ros.cli._recordings import (
    Progress,
    add_bag_arguments,
    add_output_arguments,
    exit_status,
    open_bags,
    show,
)
from geolin_ros.errors import ConfigurationError

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
        'with --for-identify: write a joint trajectory of an arm, within its limits, for what '
        'the bag does not determine'
    )
    parser.add_argument('--propose', type=Path, metavar='FILE', help=about)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print the findings; 1 if no sample could be linearized, 2 if inputs would be dropped."""
    from geolin_tools.reports.inspection import examine, inspect, propose_motion

    if options.propose is not None and not options.for_identify:
        raise ConfigurationError(
            f'--propose is {options.propose}, expected it with --for-identify; add that'
        )
    with open_bags(options) as source:
        report = inspect(source, Progress(options))
        if options.for_identify:
            report['identify'] = examine(source, Progress(options))
            report['problems'] += report['identify'].pop('problems')
            if options.propose is not None:
                report['proposed'] = propose_motion(
                    source, options.propose, Progress(options), Progress(options, ' rounds')
                )
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
            f'{proposed["file"]}: {proposed["seconds"]:g} s of motion, with which '
            f'{proposed["determined"]} combinations are determined; collisions are not checked: '
            'see it in a simulation first. To play it: ros2 topic pub --once '
            '/joint_trajectory_controller/joint_trajectory trajectory_msgs/msg/JointTrajectory '
            f'"$(cat {proposed["file"]})"'
        )
    yield from (f'! {problem}' for problem in report['problems'])
