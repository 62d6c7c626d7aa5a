# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of one state through `Linearizer`, against Pinocchio's computeABADerivatives.

Ours fills A (2m x 2m) and B; Pinocchio fills the accelerations' part only. Both are called from
Python on one thread with everything warm.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pinocchio as pin

from benchmarks.measure import environment, interleaved_medians
from benchmarks.robots import Pair, paths, read
from geolin_ros import Linearizer

ROBOTS = [
    'solo12',
    'go2',
    'b1',
    'g1_29dof_rev_1_0',
    'icub',
    'talos_reduced',
    'talos_full_v2',
    'centauro',
]


def compare(pair: Pair, rounds: int) -> dict[str, float | str]:
    """Return times [us], their ratio."""
    (state, tau), theirs = pair.operating_point(np.random.default_rng(1))
    linearizer = Linearizer(pair.model)
    times = interleaved_medians(
        {
            'ours': lambda: linearizer(state, tau),
            'pinocchio': lambda: pin.computeABADerivatives(pair.pin_model, pair.pin_data, *theirs),
        },
        rounds,
    )
    return {
        'robot': pair.name,
        'joints': pair.model.n,
        'ours_us': 1e6 * times['ours'],
        'pinocchio_us': 1e6 * times['pinocchio'],
        'ratio': times['ours'] / times['pinocchio'],
    }


def main() -> None:
    """Print the table; with ``--json`` write it too."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('robots', nargs='*', default=ROBOTS, help='names of URDF files')
    parser.add_argument('--all', action='store_true', help='every URDF of the wheel')
    parser.add_argument('--rounds', type=int, default=200, help='interleaved blocks')
    parser.add_argument('--json', type=Path, help='file to write')
    options = parser.parse_args()
    rows = []
    print(f'{"robot":28} joints   ours us    pin us   ratio')
    for path in paths([] if options.all else options.robots):
        pair = read(path)
        if pair is None:
            print(f'{path.stem:28} not read by both')
            continue
        row = compare(pair, options.rounds)
        rows.append(row)
        print(
            f'{row["robot"]:28} {row["joints"]:6} {row["ours_us"]:9.2f} '
            f'{row["pinocchio_us"]:9.2f} {row["ratio"]:7.3f}',
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps({'environment': environment(), 'rows': rows}, indent=1))


if __name__ == '__main__':
    main()
