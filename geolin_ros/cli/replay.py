# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin replay``: a bag of linearizations from a bag of inputs."""

import argparse

from geolin_ros.cli._options import (
    BAG_STAYS,
    Progress,
    add_bag_arguments,
    add_new_bag_arguments,
    add_output_arguments,
    exit_status,
    first_drops,
    open_bags,
    show,
)

INTERRUPTED = BAG_STAYS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_bag_arguments(parser)
    add_new_bag_arguments(parser)
    parser.add_argument(
        '--node', default='/linearizer', help='name of the node in topics (%(default)s)'
    )
    about = 'by zstd: in the storage (mcap only), of the file, of each message (%(default)s)'
    kinds = 'none', 'storage', 'file', 'message'
    parser.add_argument('--compression', choices=kinds, default='none', help=about)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Write the bag; 1 if nothing could be linearized, 2 if inputs were dropped."""
    from geolin_ros.offline.replay import replay

    with open_bags(options) as source:
        counts = replay(
            source,
            options.output,
            node=options.node,
            storage=options.storage,
            compression=options.compression,
            watch=Progress(options),
            on_drop=first_drops(),
        )
    dropped = {cause.value: count for cause, count in counts.drops.items()}
    result = {
        'output': str(options.output),
        'joint_states': counts.received,
        'linearized': counts.answered,
        'left_out_by_max_rate': counts.skipped,
        'dropped': dropped,
    }
    text = (
        f'{options.output}: {counts.answered} linearizations of {counts.received} joint states, '
        f'{counts.skipped} left out by max_rate, {counts.dropped} inputs dropped'
    )
    show(options, result, text)
    return exit_status(counts.answered, dropped)
