# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin estimate``: a bag of odometry from a bag of IMU, joint states and contacts."""

import argparse
from typing import Any

from geolin_ros.cli._options import (
    BAG_STAYS,
    Progress,
    add_bag_arguments,
    add_new_bag_arguments,
    add_output_arguments,
    exit_status,
    first_drops,
    opening,
    show,
)

INTERRUPTED = BAG_STAYS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_bag_arguments(parser)
    add_new_bag_arguments(parser)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Write the bag; 1 if there is no odometry, 2 if inputs were dropped."""
    from geolin_estimation.base_run import estimate, open_stream

    with open_stream(**opening(options)) as (recording, stream):
        stream.on_drop = first_drops()
        watch = Progress(options)
        counts = estimate(recording, stream, options.output, options.storage, watch)
    result: dict[str, Any] = {
        'output': str(options.output),
        'joint_states': counts.received,
        'estimates': counts.answered,
        'before_the_start': counts.skipped,
        'dropped': {cause.value: count for cause, count in counts.drops.items()},
    }
    show(
        options,
        result,
        f'{options.output}: {counts.answered} odometries of {counts.received} joint states, '
        f'{counts.skipped} before the start, {counts.dropped} inputs dropped; its inputs are not '
        f'in it, give both: geolin inspect {" ".join(map(str, options.bags))} {options.output}',
    )
    return exit_status(counts.answered, result['dropped'])
