# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin parameters``: the parameter tables of the nodes."""

import argparse

from geolin_ros.stream.parameters.table import as_markdown, as_parameter_file
from geolin_ros.stream.parameters.tables import ALL, table_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'node',
        nargs='?',
        choices=ALL,
        default='linearizer',
        help='the node (default: %(default)s)',
    )
    parser.add_argument(
        '--format',
        choices=('yaml', 'markdown'),
        default='yaml',
        help='a ROS parameter file, or a table (default: %(default)s)',
    )


def run(options: argparse.Namespace) -> int:
    """Print the table."""
    table = table_of(options.node)
    print(as_parameter_file(table) if options.format == 'yaml' else as_markdown(table), end='')
    return 0
