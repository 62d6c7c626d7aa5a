# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags into a dataset: one process reads, workers linearize and write.

The messages go through the stream of the node in their order, in one process; the operating
points that come out are cut into units. Which worker takes a unit, when, and whether it was
killed before, does not show in the result: a unit is a chunk of each variable, and nobody else's.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import zarr

from geolin_ros.errors import ConfigurationError, RecordingError
from geolin_ros.model.labels import input_labels, row_labels, state_labels
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.offline import store
from geolin_ros.offline.entries import MATRICES, Layout, find_layout, packed
from geolin_ros.offline.linearized import contact_names, linearized, spectra
from geolin_ros.offline.points import (
    Neighbours,
    Points,
    Watch,
    chooser,
    neighbours,
    recorded_points,
    tabulate,
)
from geolin_ros.offline.source import Source
from geolin_ros.offline.workers import open_workers, run
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import OperatingPoint
from geolin_ros.stream.operating_points import OperatingPoints
from geolin_ros.stream.warm_up import warm_up_contacts
from geolin_ros.stream.warm_up_commands import warm_up_commands
from geolin_ros.typing import IntArray

FINGERPRINT = 'run'
PROBES = 4
SPECTRA = 256
"""Spectra in a chunk."""
PAYING = 5e7
"""Varying numbers of A, some 4 s of work, from which processes pay for the 2 s of their start."""
README = (
    'A of sample k, without geolin_ros.open_dataset: A = A_constant.copy(); '
    'A.flat[A_entries] = A_varying[k]; B alike. columns, rows and inputs name the '
    'entries: [name, unit]. A sample with valid[k] false has none.'
)
FUNCTIONS = {'time': linearized, 'spectrum': spectra}
"""From points to variables, by the dimension that these have."""


class Sampling(NamedTuple):
    """Which samples of a recording go into a dataset."""

    every: int = 1
    """Every N-th."""
    rate: float | None = None
    """So many a second [Hz]; None: all."""
    eig_rate: float = 50.0
    """Eigenvalues and conditioning so often [Hz]; 0: never."""


class Result(NamedTuple):
    """What became of a run."""

    samples: int
    spectra: int
    computed: int
    """Samples linearized now, not by an earlier run that was broken off."""
    drops: dict[str, int]
    skipped: int
    """Left out by max_rate."""


def linearize(
    source: Source,
    path: str,
    sampling: Sampling | None = None,
    *,
    chunk: int | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    watch: Watch = lambda items, total: items,
) -> Result:
    """Write the linearizations about the samples of a source into a zarr group.

    Run again after it was broken off, it goes on where it was: units that are finished are not
    computed again.

    Parameters
    ----------
    source
        Bags and robot.
    path
        Folder, or a store that fsspec knows.
    sampling
        Which samples; by default all, see `Sampling`.
    chunk
        Samples in a unit; chosen by default.
    workers, scheduler
        See `open_workers`. Without either, what is not worth other processes is done here.
    watch
        See `Watch`.

    Raises
    ------
    RecordingError
        If an input is missing, a bag is damaged, or ``path`` holds something else. What was
        written before stays and can be opened.
    ConfigurationError
        If a number is out of its range, or workers cannot be had.
    OSError
        If the disk is full, or the store fails.
    """
    sampling = sampling or Sampling()
    if sampling.eig_rate < 0.0:
        raise ConfigurationError(f'eig_rate is {sampling.eig_rate} Hz, expected at least 0: never')
    if chunk is not None and chunk < 1:
        raise ConfigurationError(f'chunk is {chunk} samples, expected at least 1')
    source.require_inputs()
    dataset = _Dataset(source, path, sampling, chunk)
    computed = 0
    if not dataset.is_complete:
        warm_up_commands()  # here, where it is announced: workers find it in the cache
        if source.settings.contacts.are_expected or source.model.loops:
            warm_up_contacts()
        if workers is None and dataset.numbers / sampling.every < PAYING:
            workers = 1
        with open_workers(workers, scheduler) as found:
            computed = sum(run(found, compute, dataset.units(watch)))
        dataset.finish()
    return dataset.result(computed)


def compute(
    dimension: str,
    path: str,
    begin: int,
    model: TreeModel,
    settings: StreamSettings,
    layout: Layout,
    points: Points,
) -> int:
    """Compute and write the rows from ``begin`` on; return how many samples that are."""
    computed = FUNCTIONS[dimension](model, settings, points)
    rows = store.write(path, packed(computed, layout), begin)
    return rows if dimension == 'time' else 0


class _Dataset:
    """One dataset from its first unit to the last.

    Attributes
    ----------
    numbers
        How many numbers of A there are at most that vary.
    """

    def __init__(self, source: Source, path: str, sampling: Sampling, chunk: int | None) -> None:
        self._source, self._path = source, path
        self._model, self._settings = source.model, source.settings
        self._is_chosen = chooser(sampling.every, sampling.rate)
        self._has_spectrum = (
            chooser(rate=sampling.eig_rate) if sampling.eig_rate else lambda stamp: False
        )
        probes = tabulate(self._model, list(enumerate(_probes(self._model, self._settings))))
        found = {name: f(self._model, self._settings, probes) for name, f in FUNCTIONS.items()}
        self._layout = find_layout(self._model, self._settings, found['time'])
        self._like = {name: packed(data, self._layout) for name, data in found.items()}
        row = max(entries.varying.size for entries in self._layout.values())
        self._lengths = {'time': chunk or store.chunk_length(8 * row), 'spectrum': SPECTRA}
        recording = source.recording
        self._most = recording.counts[recording.topic('joint_states')]
        self.numbers = self._most * row
        self._counts = dict.fromkeys(FUNCTIONS, 0)
        self._drops: Counter[str] = Counter()
        self._skipped = 0
        self._failure: RecordingError | None = None
        self._group = self._open(self._fingerprint(sampling))
        self.is_complete = bool(self._group.attrs['complete'])

    # ---- units

    def units(self, watch: Watch) -> Iterator[tuple[Any, ...]]:
        """Yield the work that is left, as it comes out of the bags."""
        units: dict[str, list[tuple[int, Neighbours]]] = {name: [] for name in FUNCTIONS}
        for row in self._rows(watch):
            units['time'].append(row)
            if self._has_spectrum(row[1].here.stamp):
                units['spectrum'].append(row)
            for dimension, rows in units.items():
                if len(rows) == self._lengths[dimension]:
                    yield from self._unit(dimension, rows)
        for dimension, rows in units.items():
            yield from self._unit(dimension, rows)

    def _unit(
        self, dimension: str, rows: list[tuple[int, Neighbours]]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield a unit of rows unless it is written already; forget them."""
        begin, length = self._counts[dimension], self._lengths[dimension]
        if rows and self._done[dimension][begin // length] != len(rows):
            points = tabulate(self._model, rows)
            yield dimension, self._path, begin, self._model, self._settings, self._layout, points
        self._counts[dimension] += len(rows)
        rows.clear()

    def _rows(self, watch: Watch) -> Iterator[tuple[int, Neighbours]]:
        """Yield the samples that are taken, with their numbers in the dataset."""
        stream = OperatingPoints(self._model, self._settings)
        stream.on_drop = self._count
        points = neighbours(recorded_points(stream, self._source, watch))
        try:
            chosen = (point for point in points if self._is_chosen(point.here.stamp))
            for number, point in enumerate(chosen):
                if number >= self._most:
                    raise RecordingError(
                        f'{self._source.recording.name} holds more messages than its index says; '
                        'reindex it first'
                    )
                yield number, point
        except RecordingError as error:  # finish with what was read
            self._failure = error
        self._skipped = stream.counts.skipped

    def _count(self, drop: DroppedInput) -> None:
        self._drops[drop.cause.value] += 1

    # ---- the group

    def _open(self, fingerprint: str) -> zarr.Group:
        path = self._path
        if not store.exists(path):
            return self._create(fingerprint)
        group = store.open_group(path, 'r+')
        found = group.attrs.get(FINGERPRINT)
        self._done = self._written(group)
        is_begun = group.attrs.get('complete') or any(done.any() for done in self._done.values())
        is_ours = found is not None or not (group.attrs or any(group))
        if is_ours and not is_begun:
            return self._create(fingerprint)  # what another run left is nothing, whatever it was
        if found != fingerprint:
            raise RecordingError(
                f'{path} holds {"the dataset of another run" if found else "something else"}, '
                'expected nothing, or a run of the same bags, robot and options to go on with; '
                'choose another path or remove it'
            )
        return group

    def _written(self, group: zarr.Group) -> dict[str, IntArray]:
        """Return how many rows of each unit are there."""
        return {
            name: store.written(store.array(group, store.TIMES[name])[:], self._lengths[name])
            for name in FUNCTIONS
            if store.TIMES[name] in group
        }

    def _create(self, fingerprint: str) -> zarr.Group:
        source, model, settings = self._source, self._model, self._settings
        group = store.open_group(self._path, 'w')
        group.attrs.update({FINGERPRINT: fingerprint, 'complete': False})
        for name, like in self._like.items():
            store.create(group, like, name, self._most, self._lengths[name])
        for name, entries in self._layout.items():
            dimensions = MATRICES[name]
            store.write_table(group, f'{name}_constant', entries.constant, *dimensions)
            store.write_table(group, f'{name}_entries', entries.varying, f'{name}_entry')
        group.attrs.update(
            {
                'README': README,
                'format': store.FORMAT,
                'robot': model.name,
                'model_hash': model.hash,
                'base': model.base,
                'description': source.description,
                'parameters': dict(source.values),
                'settings': asdict(settings),
                'bags': [file.name for file in source.recording.paths],
                'joints': list(model.joint_names),
                'positions': list(model.position_names),
                'contacts': list(contact_names(model, settings)),
                'columns': [list(label) for label in state_labels(model)],
                'rows': [list(label) for label in row_labels(model, settings.form)],
                'inputs': [list(label) for label in input_labels(model)],
            }
        )
        self._done = self._written(group)
        return group

    def finish(self) -> None:
        """Cut the arrays to what there is, say that it is all, and raise what went wrong."""
        if self._failure is not None:
            raise self._failure
        if not self._counts['time']:
            causes = ', '.join(f'{count} x {cause}' for cause, count in self._drops.items())
            raise RecordingError(
                f'no joint state of {self._source.recording.name} can be linearized'
                f'{f": {causes}" if causes else ""}; see `geolin inspect`'
            )
        valid = np.asarray(store.array(self._group, 'valid')[: self._counts['time']])
        self._drops[Cause.SINGULAR.value] += int((~valid).sum())
        for name, like in self._like.items():
            store.shorten(self._group, like, self._counts[name])
        self._group.attrs.update(
            {
                'complete': True,
                'drops': {cause: n for cause, n in sorted(self._drops.items()) if n},
                'left_out_by_max_rate': self._skipped,
            }
        )

    def result(self, computed: int) -> Result:
        """Return numbers about a complete dataset."""
        attributes: Any = self._group.attrs
        return Result(
            samples=store.array(self._group, 'time').shape[0],
            spectra=store.array(self._group, 'spectrum_row').shape[0],
            computed=computed,
            drops=dict(attributes['drops']),
            skipped=int(attributes['left_out_by_max_rate']),
        )

    def _fingerprint(self, sampling: Sampling) -> str:
        """Return a hash over all that decides the numbers and how they are stored."""
        recording = self._source.recording
        content = {
            'format': store.FORMAT,
            'bags': [file.name for file in recording.paths],
            'counts': recording.counts,
            'span': recording.span,
            'topics': recording.topics,
            'model': self._model.hash,
            'inputs': self._model.actuated_joints,
            'settings': asdict(self._settings),
            'chunk': self._lengths['time'],
            'sampling': sampling,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _probes(model: TreeModel, settings: StreamSettings) -> Iterator[Neighbours]:
    """Yield random operating points, always the same ones, without contacts."""
    rng = np.random.default_rng(0)
    links = [(topic.link, topic.kind) for topic in settings.wrench_topics]
    if settings.nu_dot != 'predicted' and model.base == 'floating':
        links.append((model.base_link, 'body'))
    for _ in range(PROBES):
        z = rng.uniform(-0.7, 0.7, 12 + 2 * model.n)
        if model.base == 'fixed':
            z[:6] = z[6 + model.n : 12 + model.n] = 0.0
        tau = rng.uniform(-1.0, 1.0, model.n)
        loads = rng.uniform(-1.0, 1.0, (len(links), 6))
        wrenches = tuple(
            Wrench(link, load[:3], load[3:], kind)
            for (link, kind), load in zip(links, loads, strict=True)
        )
        state = model.neutral_state().retract(z)
        point = OperatingPoint(0, 0, state, tau, tau, wrenches, ())
        yield Neighbours(point, point, point)
