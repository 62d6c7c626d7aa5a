# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags into a dataset: one process reads, workers linearize and write.

The messages go through the stream of the node in their order, in one process; the operating
points that come out are cut into slices. Which worker takes a slice, when, and whether it was
killed before, does not show in the result: a slice is a chunk of each variable, and nobody else's.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from geolin_ros.dynamics.functions import mass_matrix
from geolin_ros.errors import (
    ConfigurationError,
    NotFiniteError,
    RecordingError,
    SingularInertiaError,
)
from geolin_ros.linearization.contacts.description import SIZES, Closure
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.labels import input_labels, rate_label, row_labels, state_labels
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline import store
from geolin_ros.offline.points import (
    FASTEST,
    Neighbours,
    Points,
    Watch,
    chooser,
    neighbours,
    point_stream,
    recorded_points,
    tabulate,
)
from geolin_ros.offline.source import Source
from geolin_ros.offline.workers import run
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import OperatingPoint
from geolin_ros.stream.linearization_stream import linearize as linearize_point
from geolin_ros.stream.topic_stream import Cause
from geolin_ros.stream.warm_up import warm_up_commands, warm_up_contacts

FINGERPRINT = 'run'
STAMP = 'datetime64[ns]'
SPECTRA = 1024
"""Spectra in a chunk."""


class Result(NamedTuple):
    """What became of a run; an earlier one may have ``computed`` the other samples."""

    samples: int
    spectra: int
    computed: int
    drops: dict[str, int]
    skipped: int
    """Left out by max_rate."""


def linearize(
    source: Source,
    path: str,
    *,
    every: int = 1,
    rate: float | None = None,
    eig_rate: float = 50.0,
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
    path
        Folder, or a store that fsspec knows.
    every, rate
        Every N-th sample, or so many a second [Hz].
    eig_rate
        Eigenvalues and conditioning so often [Hz]; 0: never.
    chunk
        Samples in a slice; chosen by default.
    workers, scheduler, watch
        See `geolin_ros.offline.workers.run` and `Watch`.

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
    if not 0.0 <= eig_rate <= FASTEST:
        raise ConfigurationError(f'eig_rate is {eig_rate} Hz, expected 0, never, to {FASTEST:g}')
    source.require_inputs()
    path = path.removeprefix('file://')
    model, settings = source.model, source.settings
    still = np.zeros(model.n)
    rest = OperatingPoint(0, 0, model.neutral_state(), still, still, (), ())
    points = tabulate(model, [(0, (rest, rest, rest))])
    like = {name: f(model, settings, points) for name, f in FUNCTIONS.items()}
    size = like['time'].A.nbytes
    length, most = store.chunk_length(size) if chunk is None else chunk, store.MOST_BYTES // size
    if not 1 <= length <= most:
        raise ConfigurationError(f'chunk is {chunk} samples, expected 1 to {most}')
    lengths = {'time': length, 'spectrum': SPECTRA}
    reading = _Reading(source, chooser(every, rate), eig_rate, lengths)
    group = _open(source, path, (every, rate, eig_rate), like, lengths)
    computed = 0
    if not group.attrs['complete']:
        warm_up_commands()  # here, where it is announced: workers find it in the cache
        if settings.contacts.are_expected or model.loops:
            warm_up_contacts()
        written = store.written(group, lengths)
        jobs = (
            (dimension, path, begin, model, settings, tabulate(model, rows))
            for dimension, begin, rows in reading.slices(watch)
            if written[dimension][begin // lengths[dimension]] != len(rows)
        )
        computed = sum(run(compute, jobs, workers, scheduler))
        reading.finish(group)
    return Result(
        samples=group['time'].shape[0],
        spectra=group['spectrum_row'].shape[0],
        computed=computed,
        drops=dict(group.attrs['drops']),
        skipped=int(group.attrs['left_out_by_max_rate']),
    )


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


class _Reading:
    """Cuts the samples of a source that are taken into slices, and counts."""

    def __init__(
        self,
        source: Source,
        is_chosen: Callable[[int], bool],
        eig_rate: float,
        lengths: Mapping[str, int],
    ) -> None:
        self._source, self._lengths, self._is_chosen = source, lengths, is_chosen
        self._has_spectrum = chooser(rate=eig_rate) if eig_rate else lambda stamp: False
        self._stream = point_stream(source, lambda drop: None)  # it is counted
        self._rows = dict.fromkeys(lengths, 0)
        self._failure: RecordingError | None = None

    def slices(self, watch: Watch) -> Iterator[tuple[str, int, list[tuple[int, Neighbours]]]]:
        """Yield dimension, first row and rows, samples by their numbers, as bags tell of them."""
        waiting: dict[str, list[tuple[int, Neighbours]]] = {name: [] for name in self._lengths}
        for row in chain(self._samples(watch), (None,)):
            if row is not None:
                waiting['time'].append(row)
                if self._has_spectrum(row[1][1].stamp):
                    waiting['spectrum'].append(row)
            for dimension, rows in waiting.items():
                if rows and (row is None or len(rows) == self._lengths[dimension]):
                    waiting[dimension] = []
                    yield dimension, self._rows[dimension], rows
                    self._rows[dimension] += len(rows)

    def _samples(self, watch: Watch) -> Iterator[tuple[int, Neighbours]]:
        recording = self._source.recording
        points = neighbours(recorded_points(self._stream, self._source, watch))
        try:
            chosen = (point for point in points if self._is_chosen(point[1].stamp))
            for number, point in enumerate(chosen):
                if number == recording.counts[recording.topic('joint_states')]:
                    raise RecordingError(
                        f'{recording.name} holds more messages than its index says; reindex it'
                    )
                yield number, point
        except RecordingError as error:  # finish with what was read
            self._failure = error

    def finish(self, group: Any) -> None:
        """Cut the arrays to what there is, say that it is all, and raise what went wrong."""
        if self._failure is not None:
            raise self._failure
        samples, counts = self._rows['time'], self._stream.counts
        if not samples:
            causes = [f'{count} x {cause.value}' for cause, count in counts.drops.items()]
            raise RecordingError(
                f'no joint state of {self._source.recording.name} can be linearized '
                f'({", ".join(causes) or "none came"}); see `geolin inspect`'
            )
        counts.drops[Cause.SINGULAR] += int((~group['valid'][:samples]).sum())
        drops = {cause.value: count for cause, count in counts.drops.items() if count}
        store.shorten(group, self._rows)
        end = {'complete': True, 'drops': dict(sorted(drops.items()))}
        group.attrs.update(end | {'left_out_by_max_rate': counts.skipped})


def _open(
    source: Source,
    path: str,
    sampling: tuple[int, float | None, float],
    like: Mapping[str, xr.Dataset],
    lengths: Mapping[str, int],
) -> Any:
    """Return the group of a run that goes on, or a new one with room for all joint states."""
    recording, names = source.recording, _names(source)
    content = {
        **{name: names.attrs[name] for name in ('format', 'bags', 'settings')},
        'counts': recording.counts,
        'span': recording.span,
        'topics': recording.topics,
        'model': source.model.hash,
        'inputs': source.model.actuated_joints,
        'chunk': lengths['time'],
        'sampling': sampling,
    }
    text = json.dumps(content, sort_keys=True)
    names.attrs[FINGERPRINT] = hashlib.sha256(text.encode()).hexdigest()[:16]
    if store.exists(path):
        group = store.open_group(path, 'r+')
        found = group.attrs.get(FINGERPRINT)
        with store.undamaged(path):
            rows = store.written(group, lengths).values()
        is_begun = group.attrs.get('complete') or any(done.any() for done in rows)
        if is_begun and found == names.attrs[FINGERPRINT]:
            return group
        if is_begun or (found is None and (group.attrs or any(group))):
            raise RecordingError(
                f'{path} holds {"the dataset of another run" if found else "something else"}, '
                'expected nothing, or a run of the same bags, robot and options to go on with; '
                'choose another path or remove it'
            )
    joint_states = recording.counts[recording.topic('joint_states')]
    return store.create(path, names, like, lengths, joint_states)


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
    return xr.Dataset(
        coords={
            name: (name.removesuffix('_unit'), np.array(of, dtype=object))
            for name, of in names.items()
            if len(of)
        },
        attrs={
            'complete': False,
            'format': store.FORMAT,
            'robot': model.name,
            'model_hash': model.hash,
            'base': model.base,
            'description': source.description,
            'parameters': dict(source.values),
            'settings': asdict(settings),
            'bags': [file.name for file in source.recording.paths],
        },
    )


def contact_names(model: TreeModel, settings: StreamSettings) -> tuple[str, ...]:
    """Return the contacts that a run may know; those of a topic may be any link."""
    if settings.contacts.source == 'topic':
        return model.link_names
    return tuple(contact.name for contact in settings.contacts.contacts)


def linearized(model: TreeModel, settings: StreamSettings, points: Points) -> xr.Dataset:
    """Return the linearizations about points, bytes as those of the node, with what was measured.

    They are variables of `geolin_ros.open_dataset`, without names. NaN, and not ``valid``, where
    the robot has no linearization; ``contact_load`` is the size of the force of each contact [N],
    NaN where it is not in force, or in discrete form.
    """
    count, k, n_s, n = len(points.stamp), 2 * model.m, model.n_s, model.n
    names = {name: c for c, name in enumerate(contact_names(model, settings))}
    A, B = np.full((count, k, k), np.nan), np.full((count, k, len(model.actuated)), np.nan)
    nu_dot, drift = np.full((count, model.m), np.nan), np.full((count, k), np.nan)
    loads, active = np.full((count, len(names)), np.nan), np.zeros((count, len(names)), bool)
    linearizer, state = Linearizer(model), model.neutral_state()
    in_force: tuple[Closure, ...] = ()
    states = points.state
    rows = zip(points.contacts, points.wrenches, points.efforts, strict=True)
    for t, (contacts, wrenches, efforts) in enumerate(rows):
        state.data[:] = states[t]
        point = OperatingPoint(0, 0, state, efforts, efforts, wrenches, contacts)
        if contacts is not in_force:
            linearizer.contacts = in_force = contacts
        active[t, [names[c.name] for c in contacts if c.active and c.name in names]] = True
        try:
            answer = linearize_point(point, linearizer, settings)
        except (SingularInertiaError, NotFiniteError):
            continue
        A[t], B[t], nu_dot[t], drift[t] = answer.A, answer.B, answer.nu_dot, answer.drift
        if answer.contact_wrenches is not None:
            in_order = [contact for contact in contacts if contact.active]
            begins = accumulate((SIZES[contact.kind] for contact in in_order), initial=0)
            for contact, row in zip(in_order, begins, strict=False):
                if contact.name in names:
                    force = answer.contact_wrenches[row : row + 3]
                    loads[t, names[contact.name]] = np.linalg.norm(force)
    H = states[:, :16].reshape(-1, 4, 4)
    variables: dict[str, tuple[Any, ...]] = {
        'time': ('time', points.stamp.view(STAMP)),
        'odometry_time': ('time', points.odometry_stamp.view(STAMP)),
        'H': (('time', 'pose_row', 'pose_col'), H, {'units': '1, m'}),
        's': (('time', 'position'), states[:, 16 : 16 + n_s]),
        'v': (('time', 'twist'), states[:, 16 + n_s : 22 + n_s]),
        'r': (('time', 'joint'), states[:, 22 + n_s : 22 + n_s + n]),
        'tau': (('time', 'joint'), points.tau),
        'A': (('time', 'row', 'col'), A),
        'B': (('time', 'row', 'input'), B),
        'drift': (('time', 'row'), drift),
        'nu_dot': (('time', 'acceleration'), nu_dot),
        'residual': (('time', 'acceleration'), points.measured - nu_dot),
        'valid': ('time', ~np.isnan(nu_dot[:, 0])),
    }
    if names:
        variables['contact_active'] = (('time', 'contact'), active)
        variables['contact_load'] = (('time', 'contact'), loads, {'units': 'N'})
    return xr.Dataset(variables)


def spectra(model: TreeModel, settings: StreamSettings, points: Points) -> xr.Dataset:
    """Return eigenvalues of A, by falling real part, and conditioning of M about points.

    Arguments as of `linearized`.
    """
    A = linearized(model, settings, points).A.values
    eigenvalues = np.full(A.shape[:2], np.nan, dtype=np.complex128)
    good = ~np.isnan(A).any(axis=(1, 2))
    if good.any():
        found = np.linalg.eigvals(A[good])
        order = np.lexsort((-found.imag, -found.real), axis=-1)
        eigenvalues[good] = np.take_along_axis(found, order, axis=-1)
    condition = np.linalg.cond(mass_matrix(model, points.state))
    units = {'units': '1' if settings.form == 'discrete' else '1/s'}
    return xr.Dataset(
        {
            'spectrum_time': ('spectrum', points.stamp.view(STAMP)),
            'spectrum_row': ('spectrum', points.row, {'units': 'sample of time'}),
            'eigenvalues': (('spectrum', 'mode'), eigenvalues, units),
            'mass_matrix_condition': ('spectrum', condition, {'units': '1'}),
        }
    )


FUNCTIONS = {'time': linearized, 'spectrum': spectra}
"""From points to variables, by the dimension that these have."""
