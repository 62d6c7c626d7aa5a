# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the subcommands about a robot that stands have in common: its feet and joint positions."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geolin_ros.control.soles import read_feet
from geolin_ros.control.support import Support
from geolin_ros.model.tree import TreeModel

CONTACTS_HELP = (
    'contact frames: frame (the ball or sole of its shapes in the URDF), frame:RADIUS (a ball, '
    'constrained where it touches; that this moves as it rolls is not in A; 0: a point) or '
    'frame:LENGTHxWIDTH (a sole), with @x,y,z for an offset in the frame [m]'
)


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
    name, equals, position = text.partition('=')
    if not equals:
        raise argparse.ArgumentTypeError(f'{text!r} is not joint=position')
    return name, float(position)


def read_supports(urdf: Path, model: TreeModel, texts: Sequence[str]) -> list[Support]:
    """Return what texts as of `CONTACTS_HELP` are, by `read_feet`; print what was assumed."""
    feet = read_feet(urdf, model, texts)
    for foot in feet:
        if foot.assumed:
            print(foot.assumed, file=sys.stderr)
    return [foot.support for foot in feet]
