# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the subcommands about a robot have in common: which one, and what it stands on."""

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geolin_ros.control.support import Support
from geolin_ros.errors import ConfigurationError, ModelWarning
from geolin_ros.model.tree import TreeModel
from geolin_ros.sim.feet import parse_foot
from geolin_ros.urdf.xacro_file import expand, is_xacro

URDF_HELP = 'path of a URDF or xacro file, or a bundled robot: humanoid, quadruped'
CONTACTS_HELP = (
    'what it stands on: frame (the ball or sole that its collision shapes in the URDF make), '
    'frame:RADIUS (a ball; a point with 0), frame:LENGTHxWIDTH (a sole), with @x,y,z behind '
    'either where that is in the frame [m]'
)


def add_robot_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the robot."""
    parser.add_argument('urdf', metavar='URDF', help=URDF_HELP)


def read_model(urdf: Path, **reading: Any) -> TreeModel:
    """Return the robot, its warnings unsaid."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        return TreeModel.from_urdf(urdf, **reading)


def read_supports(urdf: Path, texts: Sequence[str]) -> list[Support]:
    """Return what texts as of `CONTACTS_HELP` stand for.

    Raises
    ------
    ConfigurationError
        If a text is not understood, or shapes are asked for that nobody can read.
    UnknownNameError
        If a frame alone is no link.
    """
    feet = [parse_foot(text) for text in texts]
    bare = [foot for foot in feet if isinstance(foot, str)]
    if not bare:
        return [foot for foot in feet if isinstance(foot, Support)]
    try:
        from geolin_ros.sim.world import read_supports as of_shapes
    except ImportError as error:
        raise ConfigurationError(
            f'contact {bare[0]!r} is a frame alone: MuJoCo reads its collision shapes, and is not '
            f'installed ({error}); install geolin_ros[sim], or give {bare[0]}:RADIUS, '
            f'{bare[0]}:0 for a point, or {bare[0]}:LENGTHxWIDTH'
        ) from error
    return of_shapes(expand(urdf) if is_xacro(urdf) else urdf.read_text(), feet)
