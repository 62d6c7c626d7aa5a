# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the subcommands about recorded runs have in common: arguments, progress, output."""

import argparse
import json
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geolin_ros.description.safe_yaml import parse_yaml
from geolin_ros.errors import ConfigurationError
from geolin_ros.robots import locate

if TYPE_CHECKING:
    from geolin_ros.offline.source import Source
    from geolin_ros.stream.drops import DroppedInput

BAG_STAYS = 'interrupted; what was written stays, in a bag that ends there'
ROLES = (
    *('joint_states', 'odom', 'tf', 'tf_static', 'imu', 'joint_efforts', 'contact_states'),
    'robot_description',
)


def add_bag_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare bags, topics, robot and parameters."""
    parser.add_argument(
        'bags',
        nargs='+',
        type=Path,
        metavar='BAG',
        help='rosbag2 folder or file (mcap, sqlite3) or ROS 1 bag; several are merged by time',
    )
    add_bag_options(parser)
    add_xacro_argument(parser)


def add_bag_options(parser: 'argparse._ActionsContainer') -> None:
    """Declare topics, robot and parameters."""
    parser.add_argument(
        '--urdf',
        metavar='FILE',
        help='URDF, xacro or MJCF, or a bundled robot (default: the one in the bag)',
    )
    parser.add_argument(
        '--params',
        type=Path,
        metavar='FILE',
        help='parameter file of the node (default: what geolin record found it to have)',
    )
    parser.add_argument(
        '-p',
        dest='values',
        action='append',
        default=[],
        metavar='NAME:=VALUE',
        help='one parameter, as for the node; overrides the file',
    )
    for role in ROLES:
        parser.add_argument(
            f'--{role.replace("_", "-")}',
            dest=f'topic_{role}',
            metavar='TOPIC',
            help=f'topic of {role.replace("_", " ")} (default: guessed)',
        )


def add_xacro_argument(parser: 'argparse._ActionsContainer') -> None:
    """Declare the values of a xacro file, for `main`."""
    parser.add_argument(
        '--xacro-args',
        nargs='+',
        default=[],
        metavar='NAME:=VALUE',
        help='values of the <xacro:arg> of a xacro file',
    )


def add_new_bag_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare where a new bag goes."""
    parser.add_argument('-o', '--output', type=Path, required=True, help='folder of the new bag')
    parser.add_argument(
        '--storage', choices=('mcap', 'sqlite3'), default='mcap', help='(default: %(default)s)'
    )


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is printed."""
    parser.add_argument('--json', action='store_true', help='print the result as JSON')
    parser.add_argument('--quiet', action='store_true', help='no progress bar')


def open_bags(options: argparse.Namespace) -> 'AbstractContextManager[Source]':
    """Open the bags and the robot of the arguments."""
    from geolin_ros.offline.source import open_source

    return open_source(**opening(options))


def opening(options: argparse.Namespace) -> dict[str, Any]:
    """Return bags, robot and parameters of the arguments, as `open_source` takes them."""
    topics = {role: getattr(options, f'topic_{role}') for role in ROLES}
    return {
        'bags': options.bags,
        'topics': {role: topic for role, topic in topics.items() if topic is not None},
        'urdf': None if options.urdf is None else locate(options.urdf),
        'params': options.params,
        'values': dict(_parameter(text) for text in options.values),
        'warn': lambda sentence: print(f'warning: {sentence}', file=sys.stderr),
        'note': lambda sentence: print(sentence, file=sys.stderr),
    }


class Progress:
    """Counts items that pass by a progress bar, on a terminal."""

    def __init__(self, options: argparse.Namespace, unit: str = ' messages') -> None:
        hidden = options.quiet or options.json or not sys.stderr.isatty()
        self._look = {'unit': unit, 'unit_scale': True, 'disable': hidden}

    def __call__(self, items: Iterable[Any], total: int) -> Any:
        """Return the items."""
        from tqdm import tqdm

        return tqdm(items, total=total, **self._look)


def exit_status(usable: int, dropped: Iterable[str]) -> int:
    """Return 1 if nothing could be used, 2 if inputs were dropped that were wrong, else 0."""
    from geolin_ros.stream.drops import EARLY

    if usable == 0:
        return 1
    # what came before the first of other inputs is not wrong
    return 2 if set(dropped) - {cause.value for cause in EARLY} else 0


class Printed:
    """Prints the first dropped input of each cause."""

    def __init__(self) -> None:
        self._causes: set[Any] = set()

    def __call__(self, drop: 'DroppedInput') -> None:
        """Take a drop."""
        if drop.cause not in self._causes:
            self._causes.add(drop.cause)
            print(f'dropped: {drop}', file=sys.stderr)


def show(options: argparse.Namespace, result: Any, text: str) -> None:
    """Print a result, as JSON if that is asked for, or as a text."""
    if options.json:
        print_json(result)
    else:
        print(text)


def print_json(result: Any) -> None:
    """Print a result as JSON; NaN and inf, which JSON does not have, become null."""
    strict = json.loads(json.dumps(result), parse_constant=lambda _: None)
    print(json.dumps(strict, indent=2))


def _parameter(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition(':=')
    if not separator:
        raise ConfigurationError(f'-p has {text!r}, expected NAME:=VALUE')
    return name, parse_yaml(value)
