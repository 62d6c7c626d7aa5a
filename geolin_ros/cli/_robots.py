# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the subcommands about a robot have in common: which one, and what it stands on."""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geolin_ros.control.soles import read_feet
from geolin_ros.control.support import Support
from geolin_ros.errors import ModelWarning
from geolin_ros.model.tree import TreeModel

URDF_HELP = 'path of a URDF, xacro or MJCF file, or a bundled robot: humanoid, quadruped'
CONTACTS_HELP = (
    'contact frames: frame (the ball or sole of its shapes in the URDF), frame:RADIUS (a ball, '
    'constrained where it touches; that this moves as it rolls is not in A; 0: a point) or '
    'frame:LENGTHxWIDTH (a sole), with @x,y,z for an offset in the frame [m]'
)


def add_robot_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the robot."""
    parser.add_argument('urdf', metavar='URDF', help=URDF_HELP)
    add_xacro_argument(parser)


def add_xacro_argument(parser: 'argparse._ActionsContainer') -> None:
    """Declare the values of a xacro file, for `main`."""
    parser.add_argument(
        '--xacro-args',
        nargs='+',
        default=[],
        type=_xacro_argument,
        metavar='NAME:=VALUE',
        help='values of the <xacro:arg> of a xacro file',
    )


def _xacro_argument(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(':=')
    if not separator:
        raise argparse.ArgumentTypeError(f'{text!r} is not NAME:=VALUE')
    return name, value


def add_base_argument(parser: argparse.ArgumentParser) -> None:
    """Declare whether the base moves, for `of_base`."""
    parser.add_argument(
        '--base',
        choices=('floating', 'fixed'),
        help='whether the root link moves (default: floating, unless it is called world; of '
        'MJCF, as in the file)',
    )


def add_mimic_argument(parser: argparse.ArgumentParser) -> None:
    """Declare what mimic joints do."""
    parser.add_argument(
        '--mimic',
        choices=('exact', 'independent'),
        default='exact',
        help='mimic joints: exact constraints, or independent joints (default: %(default)s)',
    )


def add_overlay_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the overlay."""
    parser.add_argument('--overlay', type=Path, help='rotors, gears, friction: a YAML file')


def joint_position(text: str) -> tuple[str, float]:
    """Return name and position of ``joint=position``."""
    name, equals, position = text.partition('=')
    if not equals:
        raise argparse.ArgumentTypeError(f'{text!r} is not joint=position')
    return name, float(position)


def of_base(options: argparse.Namespace) -> dict[str, str]:
    """Return --base, if it is given, as an option of `read_model`."""
    return {} if options.base is None else {'base': options.base}


def read_model(urdf: Path, **reading: Any) -> TreeModel:
    """Return the robot, its warnings unsaid."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        return TreeModel.from_file(urdf, **reading)


def read_supports(urdf: Path, model: TreeModel, texts: Sequence[str]) -> list[Support]:
    """Return what texts as of `CONTACTS_HELP` stand for; say on stderr what was assumed.

    Raises
    ------
    ConfigurationError
        If a text is not understood, or the shapes of a frame alone do not tell what it is.
    UnknownNameError
        If a frame is no link.
    """
    feet = read_feet(urdf, model, texts)
    for foot in feet:
        if foot.assumed:
            print(foot.assumed, file=sys.stderr)
    return [foot.support for foot in feet]
