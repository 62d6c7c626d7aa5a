# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin view``: a page in the browser about a robot."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from geolin_control.cli._stance import add_contacts_argument, add_positions_argument, read_supports

from geolin_ros.cli._options import (
    Progress,
    add_bag_options,
    add_reading_arguments,
    open_bags,
    read_model,
)
from geolin_ros.optional import require
from geolin_ros.robots import locate
from geolin_tools.cli.record import require_ros

if TYPE_CHECKING:
    from geolin_tools.view.source import Source

BAGS = ('.mcap', '.db3', '.bag')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'what',
        nargs='?',
        metavar='ROBOT|BAG',
        help='a URDF, xacro or MJCF file or a bundled robot (standing still, with sliders), or a '
        'bag (with a time slider); without it a running node is shown',
    )
    about = 'address to listen on (%(default)s: this machine alone)'
    parser.add_argument('--host', default='127.0.0.1', help=about)
    parser.add_argument('--port', type=_port, default=8080, help='(default: %(default)s)')
    live = parser.add_argument_group('of a running node')
    live.add_argument('--node', default='/linearizer', help='the linearizer (%(default)s)')
    about = 'another name for joint_states, odom, robot_description or push'
    live.add_argument('--remap', action='append', default=[], metavar='FROM:=TO', help=about)
    robot = parser.add_argument_group('standing still')
    add_contacts_argument(robot, 'without it the robot is in the air', default=[])
    add_positions_argument(robot, '--posture', 'desired joint positions [rad or m]')
    robot.add_argument('--height', type=float, help='height of the base above the feet [m]')
    add_reading_arguments(robot)
    add_bag_options(parser.add_argument_group('of a bag'))
    parser.set_defaults(quiet=False, json=False)


def _port(text: str) -> int:
    if not (text.isdecimal() and 0 <= int(text) < 65536):
        raise argparse.ArgumentTypeError(f'{text!r} is no port, expected 0 (any) to 65535')
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    require('viser', 'plotly', extra='view')
    from geolin_ros.ros.programs import handled_signals
    from geolin_tools.view.page import Page

    with handled_signals() as interrupted:
        source = _source(options, interrupted)
        if source is None:
            return 0
        page = Page(source, options.host, options.port, _say)
        try:
            print(f'{source.model.name}: {page.url} (Ctrl-C ends)', flush=True)
            page.run(interrupted)
        finally:
            page.close()
    return 0


def _source(options: argparse.Namespace, interrupted: Callable[[], bool]) -> 'Source | None':
    if options.what is None:
        return _live(options, interrupted)
    from geolin_tools.view.source import Bag, Standing

    if Path(options.what).is_dir() or Path(options.what).suffix in BAGS:
        options.bags = [Path(options.what)]
        with open_bags(options) as opened:
            return Bag(opened, Progress(options))
    urdf = locate(options.what)
    model = read_model(urdf, options)
    supports = read_supports(urdf, model, options.contacts)
    return Standing(model, urdf, supports, dict(options.posture), options.height)


def _live(options: argparse.Namespace, interrupted: Callable[[], bool]) -> 'Source | None':
    require_ros(', or name a robot or a bag')
    from geolin_tools.view.live import NICE, Live, Watcher

    os.nice(NICE)
    watcher = Watcher(f'/{options.node.lstrip("/")}', options.remap)
    urdf = None if options.urdf is None else locate(options.urdf)
    domain = os.environ.get('ROS_DOMAIN_ID', '0')
    found = Live.wait_for(
        watcher,
        urdf,
        options.overlay,
        lambda words: _say(f'{words} {options.node} on ROS_DOMAIN_ID {domain}'),
        interrupted,
    )
    if found is None:
        watcher.close()
    return found


def _say(sentence: str) -> None:
    print(f'geolin view: {sentence}', file=sys.stderr, flush=True)
