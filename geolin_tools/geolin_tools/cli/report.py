# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin report``: pages about a dataset, and about what was identified of a robot."""

from __future__ import annotations

import argparse
import html
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from geolin_control.whole_file import whole_file

from geolin_ros.cli._options import Progress, add_output_arguments, show
from geolin_ros.datasets import open_dataset
from geolin_ros.errors import ConfigurationError, RecordingError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline.points import Watch
from geolin_ros.offline.store import undamaged
from geolin_ros.spatial import se3
from geolin_ros.stream.analysis import STILL, continuous_rates
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.parameters.model_reading import from_text, read_model
from geolin_ros.typing import Array, IntArray
from geolin_tools.identification import Identification
from geolin_tools.modes import joined_links, origins, slow_or_unstable

if TYPE_CHECKING:
    from xarray import Dataset

PAGE = Path(__file__).parents[1] / 'page'
CURVE = 1500  # most points of a curve of efforts
POINTS = 400  # of eigenvalues
TRACES = 300  # most points of a curve of joints, base or contacts
SLOW = 0.1
"""A robot whose rates and accelerations [SI units] are less than this in the median is at rest:
only there do eigenvalues say whether it stays where it is."""
LABELS = {'columns': 'col', 'rows': 'row', 'inputs': 'input'}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('dataset', metavar='OUT.zarr', help='dataset of geolin linearize')
    page, about = Path('report.html'), '(default: %(default)s)'
    parser.add_argument('-o', '--output', type=Path, default=page, help=about)
    add = parser.add_mutually_exclusive_group().add_argument
    add('--instants', type=int, default=6, metavar='N', help='matrices to show (%(default)s)')
    about = 'times after the start at which to show matrices'
    add('--at', type=float, nargs='+', default=[], metavar='SECONDS', help=about)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Write the page: nothing if there is no dataset, or nothing in it."""
    output, instants = options.output, options.instants
    if instants < 1:
        raise ConfigurationError(f'instants is {instants}, expected at least 1')
    dataset = open_dataset(options.dataset)
    if not dataset.sizes['time']:
        raise RecordingError(
            f'{options.dataset} has no finished samples, expected some; run linearize again'
        )
    chosen = _chosen(dataset, instants, options.at)
    with undamaged(options.dataset):
        content = _content(dataset, chosen, Progress(options, ' parts'))
    title = f'{content["robot"]}: {", ".join(content["bags"])}'
    write_page(output, 'report', title, content)
    size = output.stat().st_size
    result = {'output': str(output), 'bytes': size}
    show(options, result, f'{output}: {size / 1e6:.1f} MB, opens in any browser')
    return 0


def write_page(output: str | Path, kind: str, title: str, content: Any) -> None:
    """Write a page of a kind, which has an html file of its sections and a script.

    Raises `OSError` if it cannot be written; one that was there before stays.
    """
    text = json.dumps(_rounded(content), separators=(',', ':'), allow_nan=False)
    files = {file.name: file.read_text() for file in PAGE.iterdir()}
    page = files['page.html']
    for mark, inside in (
        ('{main}', files[f'{kind}.html']),
        ('/* style */', files['uPlot.min.css'] + files['report.css']),
        ('/* charts */', f'/* {files["uPlot.LICENSE"]} */' + files['uPlot.iife.min.js']),
        ('/* script */', files['charts.js'] + files[f'{kind}.js']),
        ('{title}', html.escape(title)),
        ('"content"', text.replace('<', '\\u003c')),  # a name may look like a tag
    ):
        page = page.replace(mark, inside)
    with whole_file(output) as file:
        file.write(page.encode())


def _rounded(values: Any) -> Any:
    """Return content with six significant digits a number, for JSON: None where not finite."""
    if isinstance(values, dict):
        return {name: _rounded(value) for name, value in values.items()}
    if isinstance(values, list | tuple | np.ndarray):
        return [_rounded(value) for value in values]
    if isinstance(values, float | np.floating):
        return float(f'{values:.6g}') if np.isfinite(values) else None
    return values


def _chosen(dataset: Dataset, instants: int, at: Sequence[float]) -> IntArray:
    """Return the samples whose matrices are shown."""
    seconds = (dataset.time - dataset.time[0]).values.astype('int64') * 1e-9
    if not at:
        return _evenly(len(seconds), instants)
    outside = [time for time in at if not 0.0 <= time <= seconds[-1]]
    if outside:
        raise ConfigurationError(
            f'instant {outside[0]} s is outside of the run, expected 0 to {seconds[-1]:g} s'
        )
    return np.unique([np.abs(seconds - time).argmin() for time in at])


def _evenly(total: int, most: int) -> IntArray:
    """Return the numbers of at most so many samples."""
    return np.unique(np.linspace(0, total - 1, min(total, most)).round().astype(np.int64))


def _content(dataset: Dataset, chosen: IntArray, watch: Watch) -> dict[str, Any]:
    attributes, settings = dataset.attrs, dataset.attrs['settings']
    parts = from_text(attributes['description'])
    model = read_model(parts, attributes['parameters'], lambda sentence: None)
    time = dataset.time.values.astype('int64')
    start = int(time[0])
    total = len(time)
    names = ['H', 's', 'v', 'r', 'tau', 'nu_dot', 'contact_active', 'contact_load']
    traced = dataset[[name for name in names if name in dataset]]
    traced = traced.isel(time=_evenly(total, TRACES))
    return {
        'robot': attributes['robot'],
        'bags': attributes['bags'],
        'samples': total,
        'duration': (time[-1] - start) * 1e-9,
        'complete': attributes['complete'],
        'hash': attributes['model_hash'],
        'joints': dataset.sizes['joint'],
        'mass': model.total_mass,
        **{name: settings[name] for name in ('form', 'reference', 'representation')},
        'drops': attributes.get('drops', {}),
        'skipped': attributes.get('left_out_by_max_rate', 0),
        **{name: _labels(dataset, of) for name, of in LABELS.items()},
        'spectrum': _spectrum(dataset, start),
        'still': _is_still(traced),
        'course': _course(dataset, traced, model, start),
        'parameters': _parameters(attributes['parameters']),
        'residuals': _residuals(dataset, watch),
        'edges': joined_links(model, parts),
        'instants': [_instant(dataset, model, int(k), start) for k in chosen],
    }


def _labels(dataset: Dataset, of: str) -> list[list[str]]:
    """Return name and unit of each row, column, input or acceleration."""
    names, units = dataset[of].values, dataset[f'{of}_unit'].values
    return [[str(name), str(unit)] for name, unit in zip(names, units, strict=True)]


def _is_still(traced: Dataset) -> bool:
    """Whether the robot is at rest, most of the time."""
    values = np.concatenate([traced[name].values for name in ('v', 'r', 'nu_dot')], axis=1)
    known = np.abs(values[np.isfinite(values).all(axis=1)]).max(axis=1, initial=0.0)
    return bool(known.size and np.median(known) < SLOW)


def _course(dataset: Dataset, traced: Dataset, model: TreeModel, start: int) -> dict[str, Any]:
    """Return the course of joints, base and contacts: groups of curves, each with names."""
    joints = dataset.joint.values.tolist()

    def curves(unit: str, names: Sequence[str], values: Array) -> dict[str, Any]:
        return {'unit': unit, 'names': list(names), 'values': values.T}

    groups: dict[str, dict[str, Any]] = {
        'joints': {
            'position': curves('rad or m', dataset.position.values.tolist(), traced.s.values),
            'rate': curves('rad/s or m/s', joints, traced.r.values),
            'effort': curves('N m or N', joints, traced.tau.values),
        }
    }
    if model.base == 'floating':
        H, v = traced.H.values, traced.v.values
        angles = np.unwrap(se3.rpy_from_rotation(H[:, :3, :3]), axis=0)
        groups['base'] = {
            'position': curves('m', 'xyz', H[:, :3, 3]),
            'orientation': curves('rad', ('roll', 'pitch', 'yaw'), angles),
            'velocity in base axes': curves('m/s', 'xyz', v[:, :3]),
            'angular velocity in base axes': curves('rad/s', 'xyz', v[:, 3:]),
        }
    contacts: list[dict[str, Any]] = []
    if 'contact_active' in traced:
        active = traced.contact_active.values
        used = active.any(axis=0)
        names = traced.contact.values[used].tolist()
        contacts = [
            {'name': name, 'active': column.tolist()}
            for name, column in zip(names, active.T[used], strict=True)
        ]
        loads = traced.contact_load.values[:, used]
        if np.isfinite(loads).any():
            groups['forces'] = {'force': curves('N', names, loads)}
    seconds = (traced.time.values.astype('int64') - start) * 1e-9
    return {'time': seconds, 'groups': groups, 'contacts': contacts}


def _parameters(values: dict[str, Any]) -> list[list[Any]]:
    """Return name, value and whether it is the default, the changed ones first."""
    known = default_values()
    shown = {name: value for name, value in values.items() if name != 'robot_description'}
    rows = [[name, json.dumps(value), value == known.get(name)] for name, value in shown.items()]
    return sorted(rows, key=lambda row: row[2])


def _spectrum(dataset: Dataset, start: int) -> dict[str, Any]:
    """Return the worst of all eigenvalues in each bin of the run, and of the whole run.

    The eigenvalues that are shown of a bin are those with the fastest growth.
    """
    if not dataset.sizes['spectrum']:
        return {'time': []}
    rates = continuous_rates(dataset.eigenvalues.values, _step(dataset))
    swinging = np.where(np.abs(rates.imag) > STILL, rates, np.nan)
    with np.errstate(invalid='ignore'):
        damping = np.fmin.reduce(-swinging.real / np.abs(swinging), axis=1)
    growth = np.fmax.reduce(rates.real, axis=1)
    condition = dataset.mass_matrix_condition.values
    edges = _edges(len(growth), POINTS)
    known = np.nan_to_num(growth, nan=-np.inf)
    worst = [b + int(known[b:e].argmax()) for b, e in itertools.pairwise(edges)]
    return {
        'time': (dataset.spectrum_time.values[worst].astype('int64') - start) * 1e-9,
        'real': rates[worst].real,
        'imag': rates[worst].imag,
        'largest': growth[worst],
        'damping': np.fmin.reduceat(damping, edges[:-1]),
        'condition': np.fmax.reduceat(condition, edges[:-1]),
        'fastest': known.max(),
        'median_damping': _median(damping),
        'median_condition': _median(condition),
    }


def _step(dataset: Dataset) -> float:
    """Return the step of a discrete run [s], else 0."""
    settings = dataset.attrs['settings']
    return 0.0 if settings['form'] == 'continuous' else float(settings['dt'])


def _edges(total: int, most: int) -> IntArray:
    """Return the edges of at most so many bins, about equal."""
    return np.linspace(0, total, min(total, most) + 1).round().astype(np.int64)


def _median(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else np.nan


def _residuals(dataset: Dataset, watch: Watch) -> list[dict[str, Any]]:
    """Return, for each acceleration, RMS of residual and prediction, and the course in bins."""
    total = dataset.sizes['time']
    edges = _edges(total, POINTS // 4)
    bins = []
    for begin, end in watch(itertools.pairwise(edges), len(edges) - 1):
        residual, predicted = (dataset[name][begin:end].values for name in ('residual', 'nu_dot'))
        known = (~np.isnan(residual)).sum(axis=0)
        bins.append((np.nansum(residual**2, axis=0), known, np.nansum(predicted**2, axis=0)))
    squares, counts, predicted = np.array(bins).swapaxes(0, 1)
    rms = np.sqrt(squares.sum(axis=0) / np.maximum(counts.sum(axis=0), 1))
    scale = np.sqrt(predicted.sum(axis=0) / total)
    course = np.sqrt(squares / np.maximum(counts, 1))
    columns = {'rms': rms, 'predicted': scale, 'course': course.T}
    return [
        {'name': name, 'unit': unit} | {key: values[k] for key, values in columns.items()}
        for k, (name, unit) in enumerate(_labels(dataset, 'acceleration'))
    ]


def _instant(dataset: Dataset, model: TreeModel, k: int, start: int) -> dict[str, Any]:
    at = dataset.isel(time=k)
    state = State(at.H.values, at.s.values, at.v.values, at.r.values, model.positions)
    A = at.A.values
    modes = slow_or_unstable(model, state, A, _step(dataset)) if np.isfinite(A).all() else []
    return {
        'time': (int(at.time.values.astype('int64')) - start) * 1e-9,
        'A': A,
        'B': at.B.values,
        'pose': origins(model, state) - state.H[:3, 3],
        'modes': modes,
    }


def write_identification(
    found: Identification, recordings: Sequence[str], output: str | Path
) -> None:
    """Write the page about what recordings, by their names, determined; see `write_page`."""
    aside, every = found.aside, max(1, len(found.aside.measured) // CURVE)
    curves = np.stack((aside.measured, aside.described, found.predicted))
    rows = zip(found.rows, found.effort, found.before, found.after, curves.T, strict=True)
    content = {
        'robot': found.model.name,
        'recordings': list(recordings),
        'samples': len(found.trained.measured),
        'cutoff': found.cutoff,
        'delay': found.delay,
        'rank': found.rank,
        'time': _parted(_time(found), found, every),
        'rows': [
            {'name': name, 'effort': effort, 'before': before, 'after': after}
            | {'values': None if np.isnan(after) else _parted(own, found, every).T}
            for name, effort, before, after, own in rows
        ],
        'changes': [one._asdict() | {'moved': one.moved} for one in found.changes()],
        'left': found.left(),
    }
    title = f'{found.model.name}: identified from {", ".join(recordings)}'
    write_page(output, 'identify', title, content)


def _time(found: Identification) -> Array:
    """Return the times of the data kept aside [s], of one recording after the other."""
    parts, end = [], 0.0
    for motion in found.aside.motions:
        parts.append(motion.time - motion.time[0] + end)
        end = float(parts[-1][-1])
    return np.concatenate(parts)


def _parted(values: Array, found: Identification, every: int) -> Array:
    """Return some of the values (N, ...), with NaN between recordings."""
    gap = np.full_like(values[:1], np.nan)
    parts = [part for own in found.aside.parts for part in (values[own][::every], gap)]
    return np.concatenate(parts)
