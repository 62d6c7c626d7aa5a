# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags into a dataset: one process reads, workers linearize and write.

The messages go through the stream of the node in their order, in one process; the operating
points that come out are cut into slices. Which worker takes a slice, when, and whether it was
killed before, does not show in the result: a slice is a chunk of each variable, and nobody else's.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
import zarr

from geolin_ros.errors import ConfigurationError, RecordingError
from geolin_ros.model.labels import input_labels, rate_label, row_labels, state_labels
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline import store
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
from geolin_ros.offline.workers import run
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import OperatingPoint, OperatingPoints
from geolin_ros.stream.warm_up import warm_up_commands, warm_up_contacts
from geolin_ros.typing import IntArray

FINGERPRINT = 'run'
SPECTRA = 1024
"""Spectra in a chunk."""
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

    Run again after it was broken off, it goes on where it was: slices that are finished are not
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
        Samples in a slice; chosen by default.
    workers, scheduler
        See `geolin_ros.offline.workers.run`.
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
        computed = sum(run(compute, dataset.slices(watch), workers, scheduler))
        dataset.finish()
    return dataset.result(computed)


def compute(
    dimension: str,
    path: str,
    begin: int,
    model: TreeModel,
    settings: StreamSettings,
    points: Points,
) -> int:
    """Compute and write the rows from ``begin`` on; return how many samples that are."""
    rows = FUNCTIONS[dimension](model, settings, points)
    store.write(path, rows, dimension, begin)
    return rows.sizes.get('time', 0)


class _Dataset:
    """One dataset from its first slice to the last."""

    def __init__(self, source: Source, path: str, sampling: Sampling, chunk: int | None) -> None:
        self._source, self._path = source, path
        self._model, self._settings = source.model, source.settings
        self._is_chosen = chooser(sampling.every, sampling.rate)
        self._has_spectrum = (
            chooser(rate=sampling.eig_rate) if sampling.eig_rate else lambda stamp: False
        )
        still = np.zeros(self._model.n)
        rest = OperatingPoint(0, 0, self._model.neutral_state(), still, still, (), ())
        points = tabulate(self._model, [(0, Neighbours(rest, rest, rest))])
        self._like = {
            name: f(self._model, self._settings, points) for name, f in FUNCTIONS.items()
        }
        length = chunk or store.chunk_length(self._like['time'].A.nbytes)
        self._lengths = {'time': length, 'spectrum': SPECTRA}
        recording = source.recording
        self._most = recording.counts[recording.topic('joint_states')]
        self._counts = dict.fromkeys(FUNCTIONS, 0)
        self._drops: Counter[str] = Counter()
        self._skipped = 0
        self._failure: RecordingError | None = None
        self._group = self._open(self._fingerprint(sampling))
        self._done = self._written(self._group)
        self.is_complete = bool(self._group.attrs['complete'])

    # ---- slices

    def slices(self, watch: Watch) -> Iterator[tuple[Any, ...]]:
        """Yield the work that is left, as it comes out of the bags."""
        slices: dict[str, list[tuple[int, Neighbours]]] = {name: [] for name in FUNCTIONS}
        for row in self._rows(watch):
            slices['time'].append(row)
            if self._has_spectrum(row[1].here.stamp):
                slices['spectrum'].append(row)
            for dimension, rows in slices.items():
                if len(rows) == self._lengths[dimension]:
                    yield from self._slice(dimension, rows)
        for dimension, rows in slices.items():
            yield from self._slice(dimension, rows)

    def _slice(
        self, dimension: str, rows: list[tuple[int, Neighbours]]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the work on a slice of rows unless it is written already; forget them."""
        begin, length = self._counts[dimension], self._lengths[dimension]
        if rows and self._done[dimension][begin // length] != len(rows):
            points = tabulate(self._model, rows)
            yield dimension, self._path, begin, self._model, self._settings, points
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
        if store.exists(self._path):
            group = store.open_group(self._path, 'r+')
            found = group.attrs.get(FINGERPRINT)
            is_begun = group.attrs.get('complete') or any(
                done.any() for done in self._written(group).values()
            )
            is_foreign = found is None and (group.attrs or any(group))
            if is_begun or is_foreign:
                if found != fingerprint:
                    raise RecordingError(
                        f'{self._path} holds '
                        f'{"the dataset of another run" if found else "something else"}, expected '
                        'nothing, or a run of the same bags, robot and options to go on with; '
                        'choose another path or remove it'
                    )
                return group
        names = _names(self._source).assign_attrs({FINGERPRINT: fingerprint})
        return store.create(self._path, names, self._like, self._lengths, self._most)

    def _written(self, group: zarr.Group) -> dict[str, IntArray]:
        """Return how many rows of each slice are there."""
        return {
            dimension: store.written(store.array(group, time)[:], self._lengths[dimension])
            for dimension, time in store.TIMES.items()
            if time in group
        }

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
        store.shorten(self._group, self._counts)
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


def _names(source: Source) -> xr.Dataset:
    """Return the names and units of all dimensions, and what is known of a run that begins."""
    model, settings, state = source.model, source.settings, state_labels(source.model)
    labels = {
        'row': row_labels(model, settings.form),
        'col': state,
        'input': input_labels(model),
        'acceleration': [rate_label(label) for label in state[len(state) // 2 :]],
    }
    names: dict[str, Sequence[str]] = {
        **{dimension: [label.name for label in of] for dimension, of in labels.items()},
        **{f'{dimension}_unit': [label.unit for label in of] for dimension, of in labels.items()},
        'joint': model.joint_names,
        'position': model.position_names,
        'twist': ('x', 'y', 'z', 'wx', 'wy', 'wz'),
        'contact': contact_names(model, settings),
    }
    attributes = {
        'complete': False,
        'format': store.FORMAT,
        'robot': model.name,
        'model_hash': model.hash,
        'base': model.base,
        'description': source.description,
        'parameters': dict(source.values),
        'settings': asdict(settings),
        'bags': [file.name for file in source.recording.paths],
    }
    return xr.Dataset(
        coords={
            name: (name.removesuffix('_unit'), np.array(of, dtype=object))
            for name, of in names.items()
            if len(of)
        },
        attrs=attributes,
    )
