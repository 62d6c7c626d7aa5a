# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin info``: the summary of a model."""

import argparse

from geolin_ros.cli._robots import add_robot_argument, read_model
from geolin_ros.robots import locate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_robot_argument(parser)
    parser.add_argument(
        '--base',
        choices=('floating', 'fixed'),
        default='floating',
        help='whether the root link moves (default: %(default)s)',
    )
    parser.add_argument(
        '--mimic',
        choices=('exact', 'independent'),
        default='exact',
        help='mimic joints follow their master, or are joints of their own (default: %(default)s)',
    )


def run(options: argparse.Namespace) -> int:
    """Print the summary, with the model's warnings at its end."""
    model = read_model(locate(options.urdf), base=options.base, mimic=options.mimic)
    print(model.summary())
    return 0
