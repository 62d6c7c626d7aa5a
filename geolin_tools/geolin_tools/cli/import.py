# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin import``: CSV, other columns of text, and npz into a bag."""

import argparse
from pathlib import Path

from geolin_ros.cli._recordings import (
    BAG_STAYS,
    Progress,
    add_new_bag_arguments,
    add_output_arguments,
    show,
)

INTERRUPTED = BAG_STAYS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'mapping', type=Path, metavar='MAPPING.yaml', help='says which column is what'
    )
    parser.add_argument(
        'data', type=Path, metavar='DATA', help='folder of the files it names, or the file itself'
    )
    add_new_bag_arguments(parser)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Write the bag."""
    from geolin_tools.importers.log_bag import write_log
    from geolin_tools.importers.log_file import read_log

    log = read_log(options.mapping, options.data)
    write_log(log, options.output, options.storage, Progress(options, ' rows'))
    length = float(log.time[-1] - log.time[0])
    result = {
        'output': str(options.output),
        'rows': log.time.size,
        'duration': length,
        'topics': {name: topic.kind for name, topic in log.topics.items()},
    }
    rows = f'{log.time.size} rows in {length:.3f} s on {", ".join(log.topics)}'
    show(options, result, f'{options.output}: {rows}')
    return 0
