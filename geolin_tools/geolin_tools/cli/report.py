# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin report``: a page about a dataset."""

import argparse
from pathlib import Path

from geolin_ros.cli._recordings import Progress, add_output_arguments, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('dataset', metavar='OUT.zarr', help='dataset of geolin linearize')
    page, about = Path('report.html'), '(default: %(default)s)'
    parser.add_argument('-o', '--output', type=Path, default=page, help=about)
    add = parser.add_mutually_exclusive_group().add_argument
    add('--instants', type=int, default=6, metavar='N', help='matrices to show (%(default)s)')
    about = 'times after the start at which to show matrices'
    add('--at', type=float, nargs='+', default=[], metavar='SECONDS', help=about)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Write the page."""
    from geolin_tools.reports.report import write_report

    output, watch = options.output, Progress(options, ' parts')
    write_report(options.dataset, output, options.instants, options.at, watch)
    size = output.stat().st_size
    result = {'output': str(output), 'bytes': size}
    show(options, result, f'{output}: {size / 1e6:.1f} MB, opens in any browser')
    return 0
