# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin parameters``: the parameter table of the node."""

import argparse

from geolin_ros.stream.parameters import as_markdown, as_parameter_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        '--format',
        choices=('yaml', 'markdown'),
        default='yaml',
        help='a ROS parameter file, or a table (default: %(default)s)',
    )


def run(options: argparse.Namespace) -> int:
    """Print the table."""
    print(as_parameter_file() if options.format == 'yaml' else as_markdown(), end='')
    return 0
