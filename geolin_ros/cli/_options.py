# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What subcommands have in common: arguments about robots and recorded runs, progress, output."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geolin_ros.description.safe_yaml import parse_yaml
from geolin_ros.model.tree import TreeModel
from geolin_ros.robots import locate
from geolin_ros.stream.parameters.linearizer import loops_of
from geolin_ros.urdf.reader import argument_of

if TYPE_CHECKING:
    from geolin_ros.offline.source import Source
    from geolin_ros.stream.topic_stream import DroppedInput

URDF_HELP = 'path of a URDF, xacro or MJCF file, or a bundled robot: humanoid, quadruped'
BAG_STAYS = 'interrupted; what was written stays, in a bag that ends there'
ROLES = (
    *('joint_states', 'odom', 'tf', 'tf_static', 'imu', 'joint_efforts', 'contact_states'),
    'robot_description',
)


def add_bag_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare bags, topics, robot and parameters."""
    about = 'rosbag2 folder or file (mcap, sqlite3) or ROS 1 bag; several are merged by time'
    parser.add_argument('bags', nargs='+', type=Path, metavar='BAG', help=about)
    add_bag_options(parser)
    add_xacro_argument(parser)


def add_bag_options(parser: 'argparse._ActionsContainer') -> None:
    """Declare topics, robot and parameters."""
    add, about = parser.add_argument, 'URDF, xacro or MJCF, or a bundled robot'
    add('--urdf', metavar='FILE', help=f'{about} (default: the one in the bag)')
    about = 'parameter file of the node (default: what geolin record found it to have)'
    add('--params', type=Path, metavar='FILE', help=about)
    about = 'one parameter, as for the node; overrides the file'
    add('-p', dest='values', action='append', default=[], metavar='NAME:=VALUE', help=about)
    for role in ROLES:
        about = f'topic of {role.replace("_", " ")} (default: guessed)'
        option = f'--{role.replace("_", "-")}'
        add(option, dest=f'topic_{role}', metavar='TOPIC', help=about)


def add_xacro_argument(parser: 'argparse._ActionsContainer') -> None:
    """Declare the values of a xacro file, for `main`."""
    add, about = parser.add_argument, 'values of the <xacro:arg> of a xacro file'
    add('--xacro-args', nargs='+', default=[], metavar='NAME:=VALUE', help=about)


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the robot, and how it is read."""
    parser.add_argument('urdf', metavar='URDF', help=URDF_HELP)
    add_reading_arguments(parser)


def add_reading_arguments(parser: 'argparse._ActionsContainer') -> None:
    """Declare how a robot is read, for `read_model`."""
    add = parser.add_argument
    about = (
        'whether the root link moves (default: floating, unless it is called world; of MJCF, as '
        'in the file)'
    )
    add('--base', choices=('floating', 'fixed'), help=about)
    about = 'mimic joints: exact constraints, or independent joints (default: %(default)s)'
    add('--mimic', choices=('exact', 'independent'), default='exact', help=about)
    about = (
        "closed loops, as 'FRAME_A=FRAME_B point' or surface, perhaps with kp and kd behind; "
        'none for none (default: those of an MJCF file)'
    )
    add('--loops', nargs='+', metavar='LOOP', help=about)
    add('--overlay', type=Path, help='rotors, gears, friction: a YAML file')
    add_file_arguments(parser)


def add_file_arguments(parser: 'argparse._ActionsContainer') -> None:
    """Declare what a file needs to be read: values of a xacro file are for `main`."""
    about = 'first body of the robot, of an MJCF file in which several trees move'
    parser.add_argument('--root', metavar='BODY', help=about)
    add_xacro_argument(parser)


def read_model(file: Path, options: argparse.Namespace, **reading: Any) -> TreeModel:
    """Return the robot as `add_reading_arguments` say and ``reading``."""
    given: dict[str, Any] = {
        'mimic': options.mimic,
        'overlay': options.overlay,
        'root': options.root,
        'loops': None if options.loops is None else loops_of(options.loops),
        **reading,
    }
    if options.base is not None:
        given['base'] = options.base
    return TreeModel.from_file(file, **given)


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
    from geolin_ros.stream.topic_stream import EARLY

    if usable == 0:
        return 1
    # what came before the first of other inputs is not wrong
    return 2 if set(dropped) - {cause.value for cause in EARLY} else 0


def first_drops() -> 'Callable[[DroppedInput], None]':
    """Return what prints the first dropped input of each cause."""
    causes = set()

    def take(drop: 'DroppedInput') -> None:
        if drop.cause not in causes:
            causes.add(drop.cause)
            print(f'dropped: {drop}', file=sys.stderr)

    return take


def show(options: argparse.Namespace, result: Any, text: str) -> None:
    """Print a text, or the result as JSON, in which NaN and inf are null: JSON has neither."""
    if options.json:
        strict = json.loads(json.dumps(result), parse_constant=lambda _: None)
        text = json.dumps(strict, indent=2)
    print(text)


def _parameter(text: str) -> tuple[str, Any]:
    name, value = argument_of(text)
    return name, parse_yaml(value)
