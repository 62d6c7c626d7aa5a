# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin replay``: a bag of linearizations from a bag of inputs."""

import argparse
from pathlib import Path
from typing import Any

from geolin_ros.cli._recordings import (
    Progress,
    Said,
    add_bag_arguments,
    add_output_arguments,
    exit_status,
    open_bags,
    print_json,
)

INTERRUPTED = 'interrupted; what was written stays, in a bag that ends there'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_bag_arguments(parser)
    parser.add_argument('-o', '--output', type=Path, required=True, help='folder of the new bag')
    parser.add_argument(
        '--node', default='/linearization_node', help='name of the node in topics (%(default)s)'
    )
    parser.add_argument(
        '--storage', choices=('mcap', 'sqlite3'), default='mcap', help='(default: %(default)s)'
    )
    parser.add_argument(
        '--compression',
        choices=('none', 'storage', 'file', 'message'),
        default='none',
        help='zstd in the storage (mcap only), of the file, or of each message (%(default)s)',
    )
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Write the bag; 1 if nothing could be linearized, 2 if inputs were dropped."""
    from geolin_ros.offline.replay import replay

    said = Said()
    with open_bags(options) as source:
        counts = replay(
            source,
            options.output,
            node=options.node,
            storage=options.storage,
            compression=options.compression,
            watch=Progress(options),
            on_drop=said,
        )
    result: dict[str, Any] = {
        'output': str(options.output),
        'joint_states': counts.received,
        'linearized': counts.answered,
        'left_out_by_max_rate': counts.skipped,
        'dropped': {cause.value: count for cause, count in counts.drops.items()},
    }
    if options.json:
        print_json(result)
    else:
        print(
            f'{options.output}: {counts.answered} linearizations of {counts.received} joint '
            f'states, {counts.skipped} left out by max_rate, {counts.dropped} inputs dropped'
        )
    return exit_status(counts.answered, result['dropped'])
