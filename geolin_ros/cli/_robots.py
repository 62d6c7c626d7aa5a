# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the subcommands about a robot have in common: which one, and what it stands on."""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geolin_ros.cli._recordings import add_xacro_argument
from geolin_ros.control.soles import read_feet
from geolin_ros.control.support import Support
from geolin_ros.errors import ModelWarning
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.parameters.linearizer import loops_of

URDF_HELP = 'path of a URDF, xacro or MJCF file, or a bundled robot: humanoid, quadruped'
CONTACTS_HELP = (
    'contact frames: frame (the ball or sole of its shapes in the URDF), frame:RADIUS (a ball, '
    'constrained where it touches; that this moves as it rolls is not in A; 0: a point) or '
    'frame:LENGTHxWIDTH (a sole), with @x,y,z for an offset in the frame [m]'
)


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the robot, and how it is read."""
    parser.add_argument('urdf', metavar='URDF', help=URDF_HELP)
    add_reading_arguments(parser)


def add_reading_arguments(parser: 'argparse._ActionsContainer') -> None:
    """Declare how a robot is read, for `read_model`."""
    parser.add_argument(
        '--base',
        choices=('floating', 'fixed'),
        help='whether the root link moves (default: floating, unless it is called world; of '
        'MJCF, as in the file)',
    )
    parser.add_argument(
        '--mimic',
        choices=('exact', 'independent'),
        default='exact',
        help='mimic joints: exact constraints, or independent joints (default: %(default)s)',
    )
    parser.add_argument(
        '--loops',
        nargs='+',
        metavar='LOOP',
        help="closed loops, as 'FRAME_A=FRAME_B point' or surface, perhaps with stiffness and "
        'damping behind; none for none (default: those of an MJCF file)',
    )
    parser.add_argument('--overlay', type=Path, help='rotors, gears, friction: a YAML file')
    add_file_arguments(parser)


def add_file_arguments(parser: 'argparse._ActionsContainer') -> None:
    """Declare what a file needs to be read: values of a xacro file are for `main`."""
    parser.add_argument(
        '--root',
        metavar='BODY',
        help='first body of the robot, of an MJCF file in which several trees move',
    )
    add_xacro_argument(parser)


def add_contacts_argument(
    parser: 'argparse._ActionsContainer', about: str, **options: Any
) -> None:
    """Declare what a robot stands on, for `read_supports`; the help ends with ``about``."""
    parser.add_argument(
        '--contacts', nargs='+', metavar='FRAME', help=f'{CONTACTS_HELP}; {about}', **options
    )


def add_positions_argument(parser: 'argparse._ActionsContainer', name: str, about: str) -> None:
    """Declare positions of joints."""
    parser.add_argument(
        name, nargs='+', default=[], type=_joint_position, metavar='JOINT=POSITION', help=about
    )


def _joint_position(text: str) -> tuple[str, float]:
    """Return name and position of ``joint=position``."""
    name, equals, position = text.partition('=')
    if not equals:
        raise argparse.ArgumentTypeError(f'{text!r} is not joint=position')
    return name, float(position)


def read_model(file: Path, options: argparse.Namespace, **reading: Any) -> TreeModel:
    """Return the robot as `add_reading_arguments` say and ``reading``; its warnings unsaid."""
    given: dict[str, Any] = {
        'mimic': options.mimic,
        'overlay': options.overlay,
        'root': options.root,
        'loops': None if options.loops is None else loops_of(options.loops),
        **reading,
    }
    if options.base is not None:
        given['base'] = options.base
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        return TreeModel.from_file(file, **given)


def read_supports(urdf: Path, model: TreeModel, texts: Sequence[str]) -> list[Support]:
    """Return what texts as of `CONTACTS_HELP` stand for; say on stderr what was assumed.

    Raises `ConfigurationError` if a text is not understood, or the shapes of a frame alone do not
    tell what it is; `UnknownNameError` if a frame is no link.
    """
    feet = read_feet(urdf, model, texts)
    for foot in feet:
        if foot.assumed:
            print(foot.assumed, file=sys.stderr)
    return [foot.support for foot in feet]
