# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin record``: what nodes take and give, into a bag."""

import argparse
import sys
import time
from functools import partial
from importlib.util import find_spec

from geolin_ros.cli._options import Progress, add_new_bag_arguments, add_output_arguments, show
from geolin_ros.errors import ConfigurationError, counted

PATIENCE = 3.0  # time [s] after which the log states what is waited for


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_new_bag_arguments(parser)
    add = parser.add_argument
    about = (
        'node to record, with its inputs and outputs; may be repeated (default: all nodes that '
        'publish messages of geolin_msgs)'
    )
    add('--node', action='append', default=[], metavar='/NAME', help=about)
    about = 'another topic to record'
    add('--topic', action='append', default=[], metavar='/NAME', help=about)
    about = 'time after the first message (default: no limit)'
    add('--duration', type=float, metavar='SECONDS', help=about)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Record until Ctrl-C or the end of the duration; return 1 if no message came."""
    for name in (*options.node, *options.topic):
        if not name.startswith('/'):
            raise ConfigurationError(f'{name!r} is no full name, expected /{name}')
    require_ros()
    from geolin_ros.offline.bags import BagWriter
    from geolin_ros.ros.programs import handled_signals
    from geolin_ros.ros.running import init, spin
    from geolin_tools.recorder import Recorder

    begin, waits = time.monotonic(), True
    with (
        Progress(options)((), 0) as bar,
        handled_signals() as interrupted,
        BagWriter(options.output, options.storage) as writer,
    ):
        init([])
        say = partial(bar.write, file=sys.stderr)
        recorder = Recorder(writer, options.node, options.topic, say)

        def is_over() -> bool:
            nonlocal waits
            bar.update(sum(recorder.counts.values()) - bar.n)
            now, limit = time.monotonic(), options.duration
            if waits and recorder.first is None and now > begin + PATIENCE:
                waits = False
                names = ', '.join(sorted(recorder.found or options.node))
                what = names or 'a node that publishes geolin_msgs'
                say(f'waiting for messages of {what} (Ctrl-C ends)')
            since = 0.0 if recorder.first is None else now - recorder.first
            return interrupted() or (limit is not None and since >= limit)

        try:
            spin(recorder, is_over)
            recorder.take_the_rest()
            for name in recorder.unanswered:
                say(f'the parameters of {name} are not in the bag: it did not answer')
        finally:
            recorder.leave()
    seconds = 0.0 if recorder.first is None else time.monotonic() - recorder.first
    output, found, counts = str(options.output), sorted(recorder.found), recorder.counts
    result = {'output': output, 'seconds': seconds, 'nodes': found, 'messages': counts}
    lines = [f'{output}: {counted(sum(counts.values()), "message")} of {seconds:.1f} s']
    lines.append(f'nodes: {", ".join(found) or "none was found"}')
    for topic, count in sorted(counts.items()):
        lines.append(f'  {count:7d}  {topic}' + ('' if count else '  (nothing came)'))
    show(options, result, '\n'.join(lines))
    return int(recorder.first is None)


def require_ros(otherwise: str = '') -> None:
    """Raise `ConfigurationError` without ROS 2; ``otherwise`` is what else a user can do."""
    if find_spec('rclpy') is None:
        raise ConfigurationError(
            'package rclpy is not installed, expected ROS 2: source its installation, as by '
            '`. /opt/ros/kilted/setup.sh`' + otherwise
        )
