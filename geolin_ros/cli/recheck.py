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
    parser.add_argument('file', type=Path, metavar='FILE', help='breach-ROBOT-STAMP.json')


def run(options: argparse.Namespace) -> int:
    """Check what was published and what this version makes of it; 1 if that is wrong too."""
    from geolin_ros.stream.breach_file import check_again, linearize_again, load_breach

    breach = load_breach(options.file)
    published, again = breach.sample.claim, linearize_again(breach)
    print(f'robot {breach.model.name}, stamp {breach.sample.stamp} ns')
    print(f'the node found:  {_words(breach.certificate)}')
    print(f'published, again: {_words(check_again(breach, published))}')
    verdict = check_again(breach, again)
    print(f'computed anew:   {_words(verdict)}')
    rows = [label.name for label in state_labels(breach.model)]
    columns = rows + [label.name for label in input_labels(breach.model)]
    before, after = (np.hstack((claim.A, claim.B)) for claim in (published, again))
    difference = np.abs(after - before)
    i, j = np.unravel_index(np.argmax(difference), difference.shape)
    print(
        f'{np.count_nonzero(difference)} entries of A and B differ; most: d {rows[i]} / '
        f'd {columns[j]}, published {before[i, j]!r}, anew {after[i, j]!r}'
    )
    return int(verdict.breached)


def _words(found: Certificate) -> str:
    verdict = 'breached' if found.breached else 'passed'
    return f'{verdict}, {found.deviation:.3e} off in {found.worst}, limit {found.limit:.3e}'
