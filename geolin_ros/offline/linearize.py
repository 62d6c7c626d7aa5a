# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags into a dataset: one process reads, workers linearize and write.

The messages go through the stream of the node in their order, in one process; what comes out, a
row of numbers a sample, is cut into units. Which worker takes a unit, when, and whether it was
killed before, does not show in the result: a unit is a chunk of each array, and nobody else's.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import zarr

from geolin_ros.errors import ConfigurationError, RecordingError
from geolin_ros.model.labels import input_labels, row_labels, state_labels
from geolin_ros.offline import store
from geolin_ros.offline.feed import feed
from geolin_ros.offline.job import SPECTRA, Job, linearize_unit, row_bytes, spectrum_unit
from geolin_ros.offline.layout import find_layout
from geolin_ros.offline.points import contact_names
from geolin_ros.offline.sampling import Samples, join, tabulate
from geolin_ros.offline.source import Source
from geolin_ros.offline.thinning import Sampling, Thinning
from geolin_ros.offline.workers import open_workers, run
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.linearization_stream import Answer
from geolin_ros.stream.operating_points import OperatingPoints
from geolin_ros.stream.warm_up import warm_up_contacts
from geolin_ros.stream.warm_up_commands import warm_up_commands
from geolin_ros.typing import IntArray

Watch = Callable[[Iterable[Any], int], Iterable[Any]]
FINGERPRINT = 'run'
PAYING = 5e7
"""Numbers of A and B, some 4 s of work, from which processes pay for the 2 s of their start."""
DIMENSIONS = 'time', 'spectrum'
README = (
    'A of sample k, without geolin_ros.open_dataset: A = A_constant.copy(); '
    'A.flat[A_entries] = A_varying[k]; B alike. columns, rows and inputs name the '
    'entries: [name, unit]. A sample with valid[k] false has none.'
)


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
        Wraps the messages, of which there are ``total``.

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
    run_ = _Run(source, path, sampling, chunk)
    if run_.is_complete:
        return run_.result(0)
    warm_up_commands()  # here, where it is announced: workers find it in the cache
    if source.settings.contacts.are_expected or source.model.loops:
        warm_up_contacts()
    computed = 0
    if workers is None and run_.numbers / sampling.every < PAYING:
        workers = 1
    with open_workers(workers, scheduler) as found:
        for rows in run(found, _work, run_.units(watch)):
            computed += rows
    run_.finish()
    return run_.result(computed)


def _work(dimension: str, *arguments: Any) -> int:
    return (linearize_unit if dimension == 'time' else spectrum_unit)(*arguments)


class _Run:
    """One dataset from its first unit to the last.

    Attributes
    ----------
    numbers
        How many entries of A and B it writes at most.
    """

    def __init__(self, source: Source, path: str, sampling: Sampling, chunk: int | None) -> None:
        self._source, self._thinning = source, Thinning(sampling.every, sampling.rate)
        self._spectra = Thinning(rate=sampling.eig_rate) if sampling.eig_rate > 0.0 else None
        layout = find_layout(source.model, source.settings)
        self._job = Job(
            path,
            source.model,
            source.settings,
            layout,
            chunk or store.chunk_length(row_bytes(layout)),
        )
        self.numbers = self._most * row_bytes(layout) / 8
        self.drops: Counter[str] = Counter()
        self._skipped = 0
        self._samples, self._spectrum_samples = 0, 0
        self._failure: RecordingError | None = None
        self._stamp = _fingerprint(source, self._job, sampling)
        self._group = self._open()
        self.is_complete = bool(self._group.attrs['complete'])
        if self.is_complete:
            self._forget_marks()  # of a run that was killed while it did so
        self._done = self._finished(self._group)

    @property
    def _most(self) -> int:
        """How many samples there can be."""
        recording = self._source.recording
        return recording.counts[recording.topic('joint_states')]

    # ---- units

    def units(self, watch: Watch) -> Iterator[tuple[Any, ...]]:
        """Yield the work that is left, as it comes out of the bags."""
        samples = _Units('time', self._job.chunk)
        spectra = _Units('spectrum', SPECTRA)
        for table, rows in self._tables(watch):
            yield from self._left(samples.add(table, rows))
            if self._spectra is not None and table.size:
                chosen = self._spectra.choose(table.stamp)
                yield from self._left(spectra.add(table.part(chosen), rows[chosen]))
        yield from self._left(samples.rest())
        yield from self._left(spectra.rest())
        self._samples, self._spectrum_samples = samples.count, spectra.count

    def _left(self, units: Iterable['_Unit']) -> Iterator[tuple[Any, ...]]:
        for unit in units:
            done = self._done[unit.dimension]
            if unit.number >= len(done):
                raise RecordingError(
                    f'{self._source.recording.name} holds more messages than its index says; '
                    'reindex it first'
                )
            if done[unit.number] == unit.samples.size:
                continue
            if unit.dimension == 'time':
                yield 'time', self._job, unit.number, unit.samples
            else:
                yield 'spectrum', self._job, unit.number, unit.rows, unit.samples

    def _tables(self, watch: Watch) -> Iterator[tuple[Samples, Any]]:
        """Yield thinned tables with their row numbers in the dataset."""
        stream = OperatingPoints(self._source.model, self._source.settings)
        begin = 0
        for table in tabulate(stream, self._answers(stream, watch)):
            thinned = table.part(self._thinning.choose(table.stamp))
            yield thinned, np.arange(begin, begin + thinned.size)
            begin += thinned.size
        self._skipped = stream.counts.skipped

    def _answers(self, stream: OperatingPoints, watch: Watch) -> Iterator[Answer]:
        stream.on_drop = self._count
        messages = self._source.recording.messages(self._source.inputs)
        try:
            for _, answer in feed(stream, watch(messages, self._source.message_count)):
                yield answer
        except RecordingError as error:  # finish with what was read
            self._failure = error

    def _count(self, drop: DroppedInput) -> None:
        self.drops[drop.cause.value] += 1

    # ---- the group

    def _open(self) -> zarr.Group:
        path = self._job.path
        if not store.exists(path):
            return self._create()
        group = store.open_group(path, 'r+')
        found = group.attrs.get(FINGERPRINT)
        is_begun = group.attrs.get('complete') or any(
            done.any() for done in self._finished(group).values()
        )
        is_ours = found is not None or not (group.attrs or any(group))
        if is_ours and not is_begun:
            return self._create()  # what another run left, perhaps with other options, is nothing
        if found != self._stamp:
            raise RecordingError(
                f'{path} holds {"the dataset of another run" if found else "something else"}, '
                'expected nothing, or a run of the same bags, robot and options to go on with; '
                'choose another path or remove it'
            )
        return group

    @staticmethod
    def _finished(group: zarr.Group) -> dict[str, IntArray]:
        return {name: store.Progress(group, name).read() for name in DIMENSIONS}

    def _forget_marks(self) -> None:
        for name in DIMENSIONS:
            store.Progress(self._group, name).remove()

    def _create(self) -> zarr.Group:
        job, source = self._job, self._source
        group = store.open_group(job.path, 'w')
        group.attrs.update({FINGERPRINT: self._stamp, 'complete': False})
        model = job.model
        most = self._most
        for dimension, columns, chunk in (
            ('time', job.columns, job.chunk),
            ('spectrum', job.spectrum_columns, SPECTRA),
        ):
            store.create_columns(group, columns, dimension, most, chunk)
            store.Progress(group, dimension).create(math.ceil(most / chunk))
        for name, entries in job.layout._asdict().items():
            shape = ('row', {'A': 'col', 'B': 'input'}.get(name, ''))[: entries.constant.ndim]
            store.write_table(group, f'{name}_constant', entries.constant, *shape)
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
                'settings': asdict(job.settings),
                'bags': [file.name for file in source.recording.paths],
                'joints': list(model.joint_names),
                'positions': list(model.position_names),
                'contacts': list(contact_names(model, job.settings)),
                'columns': [list(label) for label in state_labels(model)],
                'rows': [list(label) for label in row_labels(model, job.settings.form)],
                'inputs': [list(label) for label in input_labels(model)],
            }
        )
        return group

    def finish(self) -> None:
        """Cut the arrays to what there is, say that it is all, and raise what went wrong."""
        if self._failure is not None:
            raise self._failure
        if self._samples == 0:
            causes = ', '.join(f'{count} x {cause}' for cause, count in self.drops.items())
            raise RecordingError(
                f'no joint state of {self._source.recording.name} can be linearized'
                f'{f": {causes}" if causes else ""}; see `geolin inspect`'
            )
        valid = np.asarray(store.array(self._group, 'valid')[: self._samples])
        self.drops[Cause.SINGULAR.value] += int((~valid).sum())
        store.shorten(self._group, self._job.columns, self._samples)
        store.shorten(self._group, self._job.spectrum_columns, self._spectrum_samples)
        self._group.attrs.update(
            {
                'complete': True,
                'drops': {cause: n for cause, n in sorted(self.drops.items()) if n},
                'left_out_by_max_rate': self._skipped,
            }
        )
        self._forget_marks()

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


class _Unit(NamedTuple):
    dimension: str
    number: int
    rows: Any
    samples: Samples


class _Units:
    """Cuts tables into units of equal length."""

    def __init__(self, dimension: str, length: int) -> None:
        self._dimension, self._length = dimension, length
        self._tables: list[Samples] = []
        self._rows: list[Any] = []
        self._held = 0
        self._number = 0
        self.count = 0

    def add(self, table: Samples, rows: Any) -> Iterator[_Unit]:
        self._tables.append(table)
        self._rows.append(rows)
        self._held += table.size
        self.count += table.size
        while self._held >= self._length:
            yield self._cut(self._length)

    def rest(self) -> Iterator[_Unit]:
        if self._held:
            yield self._cut(self._held)

    def _cut(self, length: int) -> _Unit:
        table, rows = join(self._tables), np.concatenate(self._rows)
        unit = _Unit(self._dimension, self._number, rows[:length], table.part(slice(0, length)))
        self._tables, self._rows = [table.part(slice(length, None))], [rows[length:]]
        self._held -= length
        self._number += 1
        return unit


def _fingerprint(source: Source, job: Job, sampling: Sampling) -> str:
    """Return a hash over all that decides the numbers and how they are stored."""
    recording = source.recording
    content = {
        'format': store.FORMAT,
        'bags': [file.name for file in recording.paths],
        'counts': recording.counts,
        'span': recording.span,
        'topics': recording.topics,
        'model': job.model.hash,
        'inputs': job.model.actuated_joints,
        'settings': asdict(job.settings),
        'chunk': job.chunk,
        'sampling': sampling,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
