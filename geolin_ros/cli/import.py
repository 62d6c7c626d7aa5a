# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin import``: CSV, other columns of text, and npz into a bag."""

import argparse
from pathlib import Path

from geolin_ros.cli._recordings import Progress, add_output_arguments, print_json

INTERRUPTED = 'interrupted; what was written stays, in a bag that ends there'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'mapping', type=Path, metavar='MAPPING.yaml', help='says which column is what'
    )
    parser.add_argument(
        'data', type=Path, metavar='DATA', help='folder of the files it names, or the file itself'
    )
    parser.add_argument('-o', '--output', type=Path, required=True, help='folder of the new bag')
    parser.add_argument(
        '--storage', choices=('mcap', 'sqlite3'), default='mcap', help='(default: %(default)s)'
    )
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Write the bag."""
    from geolin_ros.offline.log_bag import write_log
    from geolin_ros.offline.log_file import read_log

    log = read_log(options.mapping, options.data)
    write_log(log, options.output, options.storage, Progress(options, ' rows'))
    length = float(log.time[-1] - log.time[0])
    if options.json:
        print_json(
            {
                'output': str(options.output),
                'rows': log.time.size,
                'duration': length,
                'topics': {name: topic.kind for name, topic in log.topics.items()},
            }
        )
    else:
        print(
            f'{options.output}: {log.time.size} rows in {length:.3f} s on {", ".join(log.topics)}'
        )
    return 0
