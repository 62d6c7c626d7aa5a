# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin info``: the summary of a model."""

import argparse
import warnings
from pathlib import Path

from geolin_ros.errors import ModelWarning
from geolin_ros.model.tree import TreeModel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('urdf', type=Path, metavar='URDF', help='path of a URDF file')
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
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        model = TreeModel.from_urdf(options.urdf, base=options.base, mimic=options.mimic)
    print(model.summary())
    return 0
