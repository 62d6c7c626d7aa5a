# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin linearize``: a dataset of linearizations from a bag of inputs."""

import argparse
import time

from geolin_ros.cli._options import (
    Progress,
    add_bag_arguments,
    add_output_arguments,
    exit_status,
    open_bags,
    show,
)
from geolin_ros.errors import counted

INTERRUPTED = 'interrupted; the same command goes on'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_bag_arguments(parser)
    parser.add_argument(
        '-o', '--output', required=True, metavar='OUT.zarr', help='folder, or store (s3://...)'
    )
    thin = parser.add_mutually_exclusive_group()
    thin.add_argument('--every', type=int, default=1, metavar='N', help='every N-th sample (1)')
    thin.add_argument('--rate', type=float, metavar='HZ', help='samples per second (all)')
    parser.add_argument(
        '--eig-rate', type=float, default=50.0, metavar='HZ', help='rate of eigenvalues (50)'
    )
    parser.add_argument(
        '--workers', type=int, metavar='N', help='processes on this machine (one per core)'
    )
    parser.add_argument('--scheduler', metavar='ADDRESS', help='run on a Dask cluster')
    parser.add_argument('--chunk', type=int, metavar='N', help='samples in a chunk')
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Write the dataset; 2 if inputs were dropped."""
    from geolin_ros.offline.linearize import linearize

    start = time.monotonic()
    with open_bags(options) as source:
        names = 'every', 'rate', 'eig_rate', 'chunk', 'workers', 'scheduler'
        chosen = {name: getattr(options, name) for name in names}
        result = linearize(source, options.output, **chosen, watch=Progress(options))
    lines = [
        f'{options.output}: {counted(result.samples, "sample")}, {result.computed} of them now, '
        f'{result.spectra} {"spectrum" if result.spectra == 1 else "spectra"}, in '
        f'{time.monotonic() - start:.1f} s',
        *(f'dropped: {count} x {cause}' for cause, count in result.drops.items()),
    ]
    show(options, {'output': options.output, **result._asdict()}, '\n'.join(lines))
    return exit_status(result.samples, result.drops)
