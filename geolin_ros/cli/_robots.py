# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the subcommands about a robot have in common: which one, and how it is read."""

import argparse
import warnings
from pathlib import Path
from typing import Any

from geolin_ros.cli._recordings import add_xacro_argument
from geolin_ros.errors import ModelWarning
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.parameters.linearizer import loops_of

URDF_HELP = 'path of a URDF, xacro or MJCF file, or a bundled robot: humanoid, quadruped'


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
