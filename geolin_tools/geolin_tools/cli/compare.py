# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin compare``: how far two runs, or two models, are apart."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from geolin_ros.cli._options import Progress, add_output_arguments, add_xacro_argument, show
from geolin_ros.datasets import open_dataset
from geolin_ros.errors import RecordingError
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.mjcf import is_mjcf
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline.points import Watch
from geolin_ros.offline.store import undamaged
from geolin_ros.robots import ROBOTS, locate
from geolin_ros.typing import Array, IntArray


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add('a', metavar='A', help='dataset of geolin linearize, URDF, xacro or a bundled robot')
    add('b', metavar='B', help='another dataset or robot to compare with')
    about = 'largest relative difference for exit status 0 (default: %(default)s)'
    add('--tolerance', type=float, default=1e-9, help=about)
    add_xacro_argument(parser)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print the differences; 1 if a quantity is further apart than the tolerance."""
    a, b = (str(locate(x)) if x in ROBOTS else x for x in (options.a, options.b))
    result = compare(a, b, Progress(options, ' quantities'))
    where = 'common samples' if result['kind'] == 'runs' else 'random states'
    lines = [f'two {result["kind"]}, {result["common"]} {where}']
    lines += [f'! {sentence}' for sentence in result['differences']]
    lines += [
        f'{name:9} largest difference {found["absolute"]:.3e}, '
        f'{found["relative"]:.3e} of the largest entry'
        for name, found in result['quantities'].items()
    ]
    show(options, result, '\n'.join(lines))
    apart = [found['relative'] for found in result['quantities'].values()]
    return int(not apart or not max(apart) <= options.tolerance)


STRIDE = 512
STATES = 20
RUN_VARIABLES = ('H', 's', 'v', 'r', 'tau', 'nu_dot', 'A', 'B', 'drift')
Difference = dict[str, Any]


def compare(a: str, b: str, watch: Watch = lambda items, total: items) -> Difference:
    """Compare two datasets, or two descriptions (URDF, xacro, MJCF); ready for JSON.

    There are ``kind``, ``differences``, sentences about what cannot be compared by numbers, and
    ``quantities``: largest ``absolute`` difference, and ``relative`` to the largest entry in
    ``a``, of each. ``watch`` wraps the quantities of datasets as they are read, of which there
    are ``total``. Raises `RecordingError` if they are of different kinds, or have nothing in
    common.
    """
    are_models = [Path(path).suffix in ('.urdf', '.xacro') or is_mjcf(path) for path in (a, b)]
    if any(are_models) and not all(are_models):
        raise RecordingError(f'{a} and {b} are a model and a run, expected two of one kind')
    kind = 'models' if all(are_models) else 'runs'
    found = _compare_models(a, b) if all(are_models) else _compare_runs(a, b, watch)
    common, sentences, quantities = found
    return {'kind': kind, 'common': common, 'differences': sentences, 'quantities': quantities}


def _compare_runs(a: str, b: str, watch: Watch) -> tuple[int, list[str], dict[str, Any]]:
    first, second = open_dataset(a), open_dataset(b)
    times = [dataset.time.values.astype('int64') for dataset in (first, second)]
    common, in_a, in_b = np.intersect1d(*times, return_indices=True)
    if not len(common):
        raise RecordingError(f'{a} and {b} have no stamp in common, expected runs of one bag')
    attributes = ('robot', 'model_hash', 'bags', 'drops', 'complete')
    mine, other = (
        {name: run.attrs.get(name) for name in attributes} | run.attrs.get('settings', {})
        for run in (first, second)
    )
    sentences = [
        f'{name} is {value!s:.60} and {other.get(name)!s:.60}'
        for name, value in mine.items()
        if other.get(name) != value
    ]
    for path, samples in ((a, times[0]), (b, times[1])):
        if len(samples) > len(common):
            sentences.append(f'{len(samples) - len(common)} samples are in {path} only')
    quantities = {}
    for name in watch(RUN_VARIABLES, len(RUN_VARIABLES)):
        with undamaged(f'{a} or {b}'):
            x, y = first[name], second[name]
        if x.shape[1:] != y.shape[1:]:
            sentences.append(f'{name} has shapes {x.shape[1:]} and {y.shape[1:]}')
            continue
        steps = (slice(k, k + STRIDE) for k in range(0, len(common), STRIDE))
        pairs = ((_rows(a, x, in_a[step]), _rows(b, y, in_b[step])) for step in steps)
        quantities[name] = _apart(pairs)
    return len(common), sentences, quantities


def _rows(path: str, variable: Any, rows: IntArray) -> Array:
    with undamaged(path):
        return np.asarray(variable[rows].values)


def _apart(pairs: Iterable[tuple[Array, Array]]) -> dict[str, float]:
    """Return how far pairs of arrays are apart, NaN aside."""
    absolute, scale = 0.0, 0.0
    for x, y in pairs:
        both = np.isfinite(x) & np.isfinite(y)
        absolute = max(absolute, float(np.abs(x - y).max(where=both, initial=0.0)))
        scale = max(scale, float(np.abs(x).max(where=both, initial=0.0)))
    return {'absolute': absolute, 'relative': absolute / (scale or 1.0)}


def _compare_models(a: str, b: str) -> tuple[int, list[str], dict[str, Any]]:
    """Compare A, B and accelerations at random states, if both have the same joints."""
    first, second = TreeModel.from_file(a), TreeModel.from_file(b)
    is_alike = first.base == second.base and set(first.joint_names) == set(second.joint_names)
    # of a joint with several axes, each has a name
    joints = dict.fromkeys(
        name if name in first.body_of_joint else name.rpartition('/')[0]
        for name in first.joint_names
    )
    same = TreeModel.from_file(b, joints=list(joints)) if is_alike else None
    sentences, quantities = [], {}
    for name in ('name', 'base', 'total_mass', 'joint_names', 'body_names', 'hash'):
        mine, other = getattr(first, name), getattr(second, name)
        if isinstance(mine, tuple) and set(mine) != set(other):
            lost, new = [x for x in mine if x not in other], [x for x in other if x not in mine]
            sentences.append(f'{name}: {lost} only in {a}, {new} only in {b}')
        elif isinstance(mine, tuple) and mine != other:
            sentences.append(f'{name} are in another order')
        elif mine != other:
            sentences.append(f'{name} is {mine} and {other}')
    if same is not None:
        rng, neutral = np.random.default_rng(0), first.neutral_state()
        steps = rng.uniform(-1.0, 1.0, (STATES, 2 * first.m))
        states = np.array([neutral.retract(step).data for step in steps])
        tau = rng.uniform(-1.0, 1.0, (STATES, first.n))
        results = [Linearizer(model).batch(states, tau) for model in (first, same)]
        for name in ('A', 'B', 'nu_dot'):
            x, y = (getattr(result, name) for result in results)
            quantities[name] = _apart([(x, y)])
    return STATES if is_alike else 0, sentences, quantities
