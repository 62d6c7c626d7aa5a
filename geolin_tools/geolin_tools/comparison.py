# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How far two runs, or two models, are apart."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from geolin_ros.datasets import open_dataset
from geolin_ros.errors import ModelWarning, RecordingError
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.mjcf import is_mjcf
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline.points import Watch
from geolin_ros.typing import Array, IntArray

STRIDE = 512
STATES = 20
RUN_VARIABLES = ('H', 's', 'v', 'r', 'tau', 'nu_dot', 'A', 'B', 'drift')
Difference = dict[str, Any]


def compare(a: str, b: str, watch: Watch = lambda items, total: items) -> Difference:
    """Compare two datasets, or two descriptions (URDF, xacro).

    Raises `RecordingError` if they are of different kinds, or have nothing in common.

    Parameters
    ----------
    watch
        Wraps the quantities of datasets as they are read, of which there are ``total``.

    Returns
    -------
    dict
        Ready for JSON: ``kind``, ``differences``, sentences about what cannot be compared by
        numbers, and ``quantities``: largest ``absolute`` difference, and ``relative`` to the
        largest entry in ``a``, of each.
    """
    are_models = [Path(path).suffix in ('.urdf', '.xacro') or is_mjcf(path) for path in (a, b)]
    if all(are_models):
        return _compare_models(a, b)
    if any(are_models):
        raise RecordingError(f'{a} and {b} are a model and a run, expected two of one kind')
    return _compare_runs(a, b, watch)


def largest_relative(result: Difference) -> float:
    """Return the largest relative difference of all quantities."""
    return max((found['relative'] for found in result['quantities'].values()), default=0.0)


def _compare_runs(a: str, b: str, watch: Watch) -> Difference:
    first, second = open_dataset(a), open_dataset(b)
    times = [dataset.time.values.astype('int64') for dataset in (first, second)]
    common, in_a, in_b = np.intersect1d(*times, return_indices=True)
    sentences = [
        f'{name} is {_short(first.attrs.get(name))} and {_short(second.attrs.get(name))}'
        for name in ('robot', 'model_hash', 'bags', 'drops', 'complete')
        if first.attrs.get(name) != second.attrs.get(name)
    ]
    sentences += [
        f'{name} is {value} and {second.attrs["settings"].get(name)}'
        for name, value in first.attrs['settings'].items()
        if second.attrs['settings'].get(name) != value
    ]
    for path, samples in ((a, times[0]), (b, times[1])):
        if len(samples) > len(common):
            sentences.append(f'{len(samples) - len(common)} samples are in {path} only')
    if not len(common):
        raise RecordingError(f'{a} and {b} have no stamp in common, expected runs of one bag')
    return {
        'kind': 'runs',
        'common': len(common),
        'differences': sentences,
        'quantities': {
            name: found
            for name in watch(RUN_VARIABLES, len(RUN_VARIABLES))
            if (found := _apart(first, second, name, in_a, in_b, sentences)) is not None
        },
    }


def _apart(
    first: xr.Dataset,
    second: xr.Dataset,
    name: str,
    in_a: IntArray,
    in_b: IntArray,
    sentences: list[str],
) -> dict[str, float] | None:
    """Return how far a variable is apart at common stamps, a few samples at a time."""
    if first[name].shape[1:] != second[name].shape[1:]:
        sentences.append(f'{name} has shapes {first[name].shape[1:]} and {second[name].shape[1:]}')
        return None
    absolute, scale = 0.0, 0.0
    for begin in range(0, len(in_a), STRIDE):
        x = first[name].isel(time=in_a[begin : begin + STRIDE]).values
        y = second[name].isel(time=in_b[begin : begin + STRIDE]).values
        absolute, scale = _larger(absolute, scale, x, y)
    return {'absolute': absolute, 'relative': absolute / scale if scale else absolute}


def _larger(absolute: float, scale: float, x: Array, y: Array) -> tuple[float, float]:
    both = np.isfinite(x) & np.isfinite(y)
    if not both.any():
        return absolute, scale
    return (
        max(absolute, float(np.abs(x - y)[both].max())),
        max(scale, float(np.abs(x[both]).max())),
    )


def _compare_models(a: str, b: str) -> Difference:
    first, second = _read(a), _read(b)
    sentences = []
    for name in ('name', 'total_mass', 'joint_names', 'body_names', 'hash'):
        mine, other = getattr(first, name), getattr(second, name)
        if isinstance(mine, tuple):
            lost, new = [x for x in mine if x not in other], [x for x in other if x not in mine]
            if lost or new:
                sentences.append(f'{name}: {lost} only in {a}, {new} only in {b}')
            elif mine != other:
                sentences.append(f'{name} are in another order')
        elif mine != other:
            sentences.append(f'{name} is {mine} and {other}')
    quantities: Mapping[str, Any] = {}
    if sorted(first.joint_names) == sorted(second.joint_names):
        quantities = _dynamics_apart(first, second)
    return {
        'kind': 'models',
        'common': STATES if quantities else 0,
        'differences': sentences,
        'quantities': quantities,
    }


def _dynamics_apart(first: TreeModel, second: TreeModel) -> dict[str, dict[str, float]]:
    """Compare A, B and accelerations at random states, joints brought into one order."""
    rng = np.random.default_rng(0)
    n, neutral = first.n, first.neutral_state()
    states = np.array(
        [neutral.retract(rng.uniform(-1.0, 1.0, 12 + 2 * n)).data for _ in range(STATES)]
    )
    tau = rng.uniform(-1.0, 1.0, (STATES, n))
    order = np.array([first.joint_names.index(name) for name in second.joint_names])
    rows = np.concatenate((np.arange(6), 6 + order))
    both = np.concatenate((rows, 6 + n + rows))
    columns = np.concatenate((np.arange(16), 16 + order, 16 + n + np.arange(6), 22 + n + order))
    mine = Linearizer(first).batch(states, tau)
    other = Linearizer(second).batch(states[:, columns], tau[:, order])
    found = {}
    for name, x, y in (
        ('A', mine.A[:, both][:, :, both], other.A),
        ('B', mine.B[:, both][:, :, order], other.B),
        ('nu_dot', mine.nu_dot[:, rows], other.nu_dot),
    ):
        absolute, scale = _larger(0.0, 0.0, x, y)
        found[name] = {'absolute': absolute, 'relative': absolute / scale}
    return found


def _read(path: str) -> TreeModel:
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        return TreeModel.from_file(path)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) < 60 else f'{text[:57]}...'
