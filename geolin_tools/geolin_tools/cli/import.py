# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin import``: CSV, other columns of text, npz and HDF5 into a bag."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from geolin_ros.cli._options import (
    BAG_STAYS,
    Progress,
    add_new_bag_arguments,
    add_output_arguments,
    show,
)
from geolin_tools.importers import read_log, read_table, write_log

INTERRUPTED = BAG_STAYS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add('mapping', type=Path, metavar='MAPPING.yaml', help='says which column is what')
    about = 'folder of the files it names, or the file itself'
    add('data', type=Path, metavar='DATA', help=about)
    about = 'print the columns that a mapping could name, and end'
    add('--preview', action=_Preview, metavar='FILE', help=about)
    add_new_bag_arguments(parser)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Write the bag."""
    log = read_log(options.mapping, options.data)
    write_log(log, options.output, options.storage, Progress(options, ' rows'))
    length = float(log.time[-1] - log.time[0])
    topics = {name: topic.kind for name, topic in log.topics.items()}
    result = {'output': str(options.output), 'rows': log.time.size, 'duration': length}
    rows = f'{log.time.size} rows in {length:.3f} s on {", ".join(topics)}'
    show(options, result | {'topics': topics}, f'{options.output}: {rows}')
    return 0


class _Preview(argparse.Action):
    """Prints what a file holds instead of all else, as --help does."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option: Any = None
    ) -> None:
        """Print, and end."""
        print('\n'.join(_preview(Path(values))))
        parser.exit()


def _preview(path: Path) -> Iterator[str]:
    table = read_table(path)
    width = max(map(len, table), default=0)
    yield f'{path}: from, rows x columns, least to greatest, first row'
    for name, values in table.items():
        known = values[np.isfinite(values)]
        span = f'{known.min():.6g} to {known.max():.6g}' if known.size else 'empty'
        lacking = f', {values.size - known.size} not finite' if known.size < values.size else ''
        steps = np.diff(values[:, 0])
        rises = values.shape[1] == 1 and steps.size and steps.min() > 0.0
        step = f', rises by {np.median(steps):.4g}' if rises else ''
        first = np.array2string(values[:1].ravel(), precision=4, threshold=8, edgeitems=3)
        yield (
            f'  {name:{width}}  {len(values)} x {values.shape[1]}  {span}{lacking}{step}  {first}'
        )
