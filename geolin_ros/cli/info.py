# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin info``: the summary of a model, its links, and what it could stand on."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from geolin_ros.cli._options import add_robot_arguments, read_model
from geolin_ros.control.soles import candidate_feet
from geolin_ros.errors import ConfigurationError, GeolinError
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import require
from geolin_ros.robots import locate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_robot_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print the summary, with the model's warnings at its end, links by body, candidate feet."""
    file = locate(options.urdf)
    model = read_model(file, options)
    print(model.summary())
    print('links by body:')
    for body, name in enumerate(model.body_names):
        links = [link for link, frame in model.frames.items() if frame.body == body]
        print(f'  {body:3d} {name}: {", ".join(links)}')
    print('feet that shapes of end links make (--contacts FRAME takes any link):')
    print('\n'.join(f'  {line}' for line in _feet(model, file)))
    return 0


def _feet(model: TreeModel, file: Path) -> Iterator[str]:
    try:
        require('scipy', extra='control')
        feet = candidate_feet(file, model)
    except (ConfigurationError, GeolinError) as error:
        yield f'none: {error}'
        return
    if not feet:
        yield 'none; give FRAME:LENGTHxWIDTH for a sole, FRAME:RADIUS for a ball [m]'
    for foot in feet:
        yield foot.assumed
