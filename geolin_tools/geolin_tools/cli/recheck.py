# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin recheck``: a check of A and B that failed in a node, once more."""

import argparse
from pathlib import Path

import numpy as np

from geolin_ros.model.labels import input_labels, state_labels
from geolin_ros.verification.certificate import Certificate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('file', type=Path, metavar='FILE', help='failed-check-ROBOT-STAMP.json')


def run(options: argparse.Namespace) -> int:
    """Check what was published and what this version makes of it; 1 if that is wrong too."""
    from geolin_ros.stream.failed_check import check_again, linearize_again, load_failed_check

    found = load_failed_check(options.file)
    published, again = found.sample.claim, linearize_again(found)
    print(f'robot {found.model.name}, stamp {found.sample.stamp} ns')
    print(f'the node found:  {_words(found.certificate)}')
    print(f'published, again: {_words(check_again(found, published))}')
    verdict = check_again(found, again)
    print(f'computed anew:   {_words(verdict)}')
    rows = [label.name for label in state_labels(found.model)]
    columns = rows + [label.name for label in input_labels(found.model)]
    before, after = (np.hstack((claim.A, claim.B)) for claim in (published, again))
    difference = np.abs(after - before)
    i, j = np.unravel_index(np.argmax(difference), difference.shape)
    print(
        f'{np.count_nonzero(difference)} entries of A and B differ; most: d {rows[i]} / '
        f'd {columns[j]}, published {before[i, j]!r}, anew {after[i, j]!r}'
    )
    return int(verdict.failed)


def _words(found: Certificate) -> str:
    verdict = 'failed' if found.failed else 'passed'
    return f'{verdict}, {found.deviation:.3e} off in {found.worst}, limit {found.limit:.3e}'
