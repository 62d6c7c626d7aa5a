# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of one state through `Linearizer`, against Pinocchio's computeABADerivatives.

Ours fills A (2m x 2m) and B; Pinocchio fills the accelerations' part only. Both are called from
Python on one thread with everything warm.
"""

import argparse
import math
import warnings
from functools import partial

import numpy as np
import pinocchio as pin

from benchmarks.measure import interleaved_medians
from benchmarks.report import Figure, Row, compare, line
from benchmarks.robots import Pair, paths, read
from geolin_ros import Linearizer, TreeModel
from geolin_ros.errors import ModelError, ModelWarning

ROBOTS = {
    'solo12': 0.30,
    'go2': 0.30,
    'b1': 0.30,
    'g1_29dof_rev_1_0': 0.30,
    'icub': 0.30,
    'talos_reduced': 0.30,
    'talos_full_v2': 0.30,
    'centauro': 0.30,
}
LIMIT, FEWEST_JOINTS = 0.45, 6  # of every other floating robot; smaller ones have no limit
ADDED, ADDED_LIMIT = ['go2', 'talos_reduced'], 0.8  # [us]; of the clock too: 0.53 to 0.75 so far
MIMIC_LIMIT, SMALL_MIMIC_LIMIT, SMALL = 0.35, 0.5, 10  # up to SMALL joints the latter
NO_JOINTS_LIMIT = 1.0
WHAT, PEER = 'A and B', 'pin.computeABADerivatives'


def kind(pair: Pair) -> tuple[str, float | None]:
    """Return which line of the table a robot belongs to, and its limit."""
    if pair.name in ROBOTS:
        return WHAT, ROBOTS[pair.name]
    if pair.model.n >= FEWEST_JOINTS:
        return f'{WHAT}, other robots of {FEWEST_JOINTS} joints or more', LIMIT
    if pair.model.n == 0:
        return f'{WHAT}, no joints', NO_JOINTS_LIMIT
    return f'{WHAT}, 1 to 5 joints', None


def compare_pair(pair: Pair, rounds: int) -> Row:
    """Time both about one state."""
    (state, tau), theirs = pair.operating_point(np.random.default_rng(1))
    what, limit = kind(pair)
    return compare(
        what,
        pair.name,
        partial(Linearizer(pair.model), state, tau),
        PEER,
        partial(pin.computeABADerivatives, pair.pin_model, pair.pin_data, *theirs),
        rounds,
        limit,
    )


def compare_exact_mimics(pair: Pair, rounds: int) -> Row | None:
    """Time the exact form of a robot with mimic joints; Pinocchio takes them as independent."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        try:
            model = TreeModel.from_urdf(pair.path)
        except ModelError:  # mimics a joint that it has not
            return None
    if not model.dependent_joints:
        return None
    _, theirs = pair.operating_point(np.random.default_rng(1))
    state = model.random_state(np.random.default_rng(1))
    is_large = pair.model.n > SMALL
    return compare(
        f'{WHAT}, mimic joints exact{"" if is_large else f", {SMALL} joints or fewer"}',
        pair.name,
        partial(Linearizer(model), state, np.zeros(model.n)),
        PEER,
        partial(pin.computeABADerivatives, pair.pin_model, pair.pin_data, *theirs),
        rounds,
        MIMIC_LIMIT if is_large else SMALL_MIMIC_LIMIT,
    )


def added(rounds: int) -> list[Figure]:
    """Return what `Linearizer` adds to the call of its kernel [us]."""
    figures = []
    for path in paths(ADDED):
        pair = read(path)
        if pair is not None:
            what, spent = 'Linearizer adds to its kernel', call_overhead(pair, rounds)
            figures.append(Figure(what, pair.name, spent, 'us', ADDED_LIMIT))
            print(line(figures[-1]), flush=True)
    return figures


def call_overhead(pair: Pair, rounds: int) -> float:
    """Return the difference between a call and its kernel [us]."""
    (state, tau), _ = pair.operating_point(np.random.default_rng(1))
    lin = Linearizer(pair.model)
    kernel = lin.workspace.bind(state.data, tau, lin.workspace.spare.out)
    contenders = {'all': partial(lin, state, tau), 'kernel': kernel}
    times = interleaved_medians(contenders, 10 * rounds)  # their difference is a small one
    return 1e6 * (times['all'] - times['kernel'])


def measure(names: list[str], rounds: int) -> list[Row]:
    """Compare robots of the wheel, all without names."""
    rows: list[Row] = []
    for path in paths(names):
        pair = read(path)
        if pair is None:
            print(f'{WHAT:32} {path.stem:28} not read by both')
            continue
        rows.append(compare_pair(pair, rounds))
        exact = compare_exact_mimics(pair, rounds)
        if exact is not None:
            rows.append(exact)
    return sorted(rows, key=lambda row: row.limit or math.inf)


def main() -> None:
    """Print the table, and what the call adds to the kernel."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('robots', nargs='*', default=list(ROBOTS), help='names of URDF files')
    parser.add_argument('--all', action='store_true', help='every URDF of the wheel')
    parser.add_argument('--rounds', type=int, default=200, help='interleaved blocks')
    options = parser.parse_args()
    measure([] if options.all else options.robots, options.rounds)
    added(options.rounds)


if __name__ == '__main__':
    main()
