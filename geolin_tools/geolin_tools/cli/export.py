# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin export``: a robot as a C library."""

import argparse
import re
from pathlib import Path
from typing import Any

from geolin_control.cli._stance import add_contacts_argument, add_positions_argument, read_supports

from geolin_ros.cli._options import add_robot_arguments, read_model
from geolin_ros.description import parse_overlay
from geolin_ros.errors import counted
from geolin_ros.model.wrenches import Wrench
from geolin_ros.robots import locate
from geolin_tools.export import FUNCTIONS, Build, export
from geolin_tools.export.machine_code import NAMES, default_names

INTERRUPTED = 'interrupted, nothing is written'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add_robot_arguments(parser)
    add('-o', '--output', type=Path, required=True, metavar='FOLDER', help='a new folder')
    add('--name', help='name of the library (default: that of the robot)')
    about = (
        f'processors: some of {", ".join(NAMES)}; the best one that a processor has is chosen '
        'when the library is loaded (default: all of this kind of processor)'
    )
    add('--target', nargs='+', default=default_names(), metavar='LEVEL', help=about)
    about = f'beside A, B and nu_dot: some of {", ".join(FUNCTIONS)} (default: all)'
    add('--functions', nargs='*', default=list(FUNCTIONS), metavar='FUNCTION', help=about)
    add_contacts_argument(parser, 'the active ones are chosen at run time', default=[])
    about = (
        'links of external wrenches, with values given at run time; KIND is body (default; in '
        'link axes), world (about the world origin) or world_oriented (in world axes, about the '
        'point x,y,z of the link [m])'
    )
    form = 'LINK[:KIND][@x,y,z]'
    add('--wrenches', nargs='+', default=[], type=_wrench, metavar=form, help=about)
    add('--casadi', action='store_true', help='also a library of functions for CasADi')
    about = 'also a component in C++, rclcpp, built by colcon'
    add('--ros2', action='store_true', help=about)
    about = 'order of the joints; others are locked'
    add('--joints', nargs='+', metavar='JOINT', help=about)
    add_positions_argument(parser, '--locked', 'joints that do not move [rad or m]')
    about = 'the columns of B (default: all joints)'
    add('--actuated', nargs='+', metavar='JOINT', help=about)
    about = 'masses on links [kg]; x,y,z is the position of their centre in the link [m]'
    form = 'LINK=MASS[@x,y,z]'
    add('--payload', nargs='+', default=[], type=_payload, metavar=form, help=about)


def run(options: argparse.Namespace) -> int:
    """Write the folder, and print what is in it."""
    file, overlay = locate(options.urdf), options.overlay
    if options.payload:
        overlay = {} if overlay is None else dict(parse_overlay(overlay.read_text(), str(overlay)))
        overlay['payloads'] = [*(overlay.get('payloads') or ()), *options.payload]
    model = read_model(
        file,
        options,
        joints=options.joints,
        locked_joints=dict(options.locked),
        actuated_joints=options.actuated,
        overlay=overlay,
    )

    name = export(
        model,
        options.output,
        name=options.name,
        contacts=read_supports(file, model, options.contacts),
        wrenches=options.wrenches,
        build=Build(options.target, options.functions, options.casadi, options.ros2),
    )
    objects = sorted(options.output.glob('lib/*/*.o'))
    size = sum(path.stat().st_size for path in objects) / 1024
    print(
        f'{options.output}: library {name} of {model.name}, '
        f'{counted(model.n, "joint coordinate")}, model {model.hash}; code for '
        f'{", ".join(path.stem for path in objects)}, {size:.0f} KiB'
    )
    tool = f'cmake -S {options.output} -B build && cmake --build build'
    print(f'build it: {f"colcon build --base-paths {options.output}" if options.ros2 else tool}')
    return 0


def _wrench(text: str) -> Wrench:
    """Return the place of ``link``, ``link:kind`` or ``link:world_oriented@x,y,z``."""
    match = re.fullmatch(r'([^:@]+)(?::(body|world|world_oriented(?:@(.+))?))?', text)
    point = _numbers(match[3] or '0,0,0') if match else []
    if not match or len(point) != 3:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not LINK, LINK:body, LINK:world or LINK:world_oriented@x,y,z'
        )
    kind: Any = (match[2] or 'body').partition('@')[0]
    return Wrench(match[1], kind=kind, point=point)


def _payload(text: str) -> dict[str, Any]:
    """Return ``link=mass@x,y,z`` as an overlay has it."""
    match = re.fullmatch(r'([^=]+)=([^@,]+)(?:@(.+))?', text)
    numbers = _numbers(f'{match[2]},{match[3] or "0,0,0"}') if match else []
    if not match or len(numbers) != 4:
        raise argparse.ArgumentTypeError(f'{text!r} is not LINK=MASS or LINK=MASS@x,y,z')
    return {'frame': match[1], 'mass': numbers[0], 'com': numbers[1:]}


def _numbers(text: str) -> list[float]:
    """Return the numbers between commas, none if one is not."""
    try:
        return [float(number) for number in text.split(',')]
    except ValueError:
        return []
