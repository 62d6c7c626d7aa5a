# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin report``: a page about a dataset."""

import argparse
from pathlib import Path

from geolin_ros.cli._recordings import Progress, add_output_arguments, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('dataset', metavar='OUT.zarr', help='dataset of geolin linearize')
    parser.add_argument(
        '-o', '--output', type=Path, default=Path('report.html'), help='(default: %(default)s)'
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        '--instants', type=int, default=6, metavar='N', help='matrices to show (%(default)s)'
    )
    shown.add_argument(
        '--at',
        type=float,
        nargs='+',
        default=[],
        metavar='SECONDS',
        help='times after the start at which to show matrices',
    )
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Write the page."""
    from geolin_tools.reports.report import write_report

    write_report(
        options.dataset, options.output, options.instants, options.at, Progress(options, ' parts')
    )
    size = options.output.stat().st_size
    result = {'output': str(options.output), 'bytes': size}
    show(options, result, f'{options.output}: {size / 1e6:.1f} MB, opens in any browser')
    return 0
