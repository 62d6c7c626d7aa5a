# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin export``: a robot as a C library."""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from geolin_control.cli._stance import add_contacts_argument, add_positions_argument, read_supports

from geolin_ros.cli._robots import add_robot_arguments, read_model
from geolin_ros.description import parse_overlay
from geolin_ros.errors import ConfigurationError, counted
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.robots import locate
from geolin_tools.export import FUNCTIONS, Build, export
from geolin_tools.export.machine_code import NAMES, Target, default_names

INTERRUPTED = 'interrupted, nothing is written'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_robot_arguments(parser)
    parser.add_argument(
        '-o', '--output', type=Path, required=True, metavar='FOLDER', help='a new folder'
    )
    parser.add_argument('--name', help='name of the library (default: that of the robot)')
    parser.add_argument(
        '--target',
        nargs='+',
        default=default_names(),
        metavar='LEVEL',
        help=f'processors: some of {", ".join(NAMES)}; the best one that a processor has is '
        'chosen when the library is loaded (default: all of this kind of processor)',
    )
    parser.add_argument(
        '--functions',
        nargs='*',
        default=list(FUNCTIONS),
        metavar='FUNCTION',
        help=f'beside A, B and nu_dot: some of {", ".join(FUNCTIONS)} (default: all)',
    )
    add_contacts_argument(parser, 'the active ones are chosen at run time', default=[])
    parser.add_argument(
        '--wrenches',
        nargs='+',
        default=[],
        type=_wrench,
        metavar='LINK[:KIND][@x,y,z]',
        help='links of external wrenches, with values given at run time; KIND is body '
        '(default; in link axes), world (about the world origin) or world_oriented (in world '
        'axes, about the point x,y,z of the link [m])',
    )
    parser.add_argument(
        '--casadi', action='store_true', help='also a library of functions for CasADi'
    )
    parser.add_argument(
        '--ros2', action='store_true', help='also a component in C++, rclcpp, built by colcon'
    )
    parser.add_argument(
        '--joints', nargs='+', metavar='JOINT', help='order of the joints; others are locked'
    )
    add_positions_argument(parser, '--locked', 'joints that do not move [rad or m]')
    parser.add_argument(
        '--actuated', nargs='+', metavar='JOINT', help='the columns of B (default: all joints)'
    )
    parser.add_argument(
        '--payload',
        nargs='+',
        default=[],
        type=_payload,
        metavar='LINK=MASS[@x,y,z]',
        help='masses on links [kg]; x,y,z is the position of their centre in the link [m]',
    )
    parser.add_argument('--quiet', action='store_true', help='do not say what is compiled')


def run(options: argparse.Namespace) -> int:
    """Write the folder, and print what is in it."""
    file = locate(options.urdf)
    if options.output.exists():  # checked before anything is compiled
        raise ConfigurationError(
            f'{options.output} exists, expected a new folder; remove it, or choose another one'
        )
    model = _model(options, file)

    def announced(targets: Iterable[Target]) -> Iterator[Target]:
        for target in targets:
            if not options.quiet and sys.stderr.isatty():
                print(f'compiles for {target.name} ...', file=sys.stderr)
            yield target

    name = export(
        model,
        options.output,
        name=options.name,
        contacts=read_supports(file, model, options.contacts),
        wrenches=options.wrenches,
        build=Build(options.target, options.functions, announced, options.casadi, options.ros2),
    )
    objects = sorted(options.output.glob('lib/*/*.o'))
    size = sum(path.stat().st_size for path in objects) / 1024
    levels = ', '.join(path.stem for path in objects)
    print(
        f'{options.output}: library {name} of {model.name}, '
        f'{counted(model.n, "joint coordinate")}, model {model.hash}; code for {levels}, '
        f'{size:.0f} KiB'
    )
    tool = f'cmake -S {options.output} -B build && cmake --build build'
    print(f'build it: {f"colcon build --base-paths {options.output}" if options.ros2 else tool}')
    return 0


def _model(options: argparse.Namespace, file: Path) -> TreeModel:
    overlay: Any = options.overlay
    if options.payload:
        overlay = {} if overlay is None else dict(parse_overlay(overlay.read_text(), str(overlay)))
        overlay['payloads'] = [*(overlay.get('payloads') or ()), *options.payload]
    return read_model(
        file,
        options,
        joints=options.joints,
        locked_joints=dict(options.locked),
        actuated_joints=options.actuated,
        overlay=overlay,
    )


def _wrench(text: str) -> Wrench:
    """Return the place of ``link``, ``link:kind`` or ``link:world_oriented@x,y,z``."""
    match = re.fullmatch(r'([^:@]+)(?::(body|world|world_oriented))?(?:@(.+))?', text)
    if match is None or (match[3] and match[2] != 'world_oriented'):
        raise argparse.ArgumentTypeError(
            f'{text!r} is not LINK, LINK:body, LINK:world or LINK:world_oriented@x,y,z'
        )
    kind: Any = match[2] or 'body'
    return Wrench(match[1], kind=kind, point=_numbers(match[3] or '0,0,0', 3, text))


def _payload(text: str) -> dict[str, Any]:
    """Return ``link=mass@x,y,z`` as an overlay has it."""
    match = re.fullmatch(r'([^=]+)=([^@]+)(?:@(.+))?', text)
    if match is None:
        raise argparse.ArgumentTypeError(f'{text!r} is not LINK=MASS or LINK=MASS@x,y,z')
    (mass,) = _numbers(match[2], 1, text)
    return {'frame': match[1], 'mass': mass, 'com': _numbers(match[3] or '0,0,0', 3, text)}


def _numbers(numbers: str, count: int, text: str) -> list[float]:
    try:
        found = [float(number) for number in numbers.split(',')]
    except ValueError:
        found = []
    if len(found) != count:
        raise argparse.ArgumentTypeError(
            f'{text!r} has {numbers!r}, expected {count} number{"s" * (count > 1)}'
        )
    return found
