# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a worker does: linearize a unit of samples, or find eigenvalues of some, and write."""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from geolin_ros.dynamics import batch
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline import store
from geolin_ros.offline.layout import Layout
from geolin_ros.offline.points import PointBatches, contact_names
from geolin_ros.offline.sampling import Samples
from geolin_ros.offline.store import Column
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.typing import Array, IntArray

STRIDE = 256
"""Samples linearized at a time: their A fit into a cache."""
SPECTRA = 256
"""Spectra in a chunk."""
_kept = threading.local()


@dataclass(frozen=True)
class Job:
    """All that a worker has to know, whichever unit it gets."""

    path: str
    model: TreeModel
    settings: StreamSettings
    layout: Layout
    chunk: int

    @property
    def columns(self) -> dict[str, Column]:
        """Arrays with a row for each sample."""
        model, layout = self.model, self.layout
        n_q, n, m = model.n_q, model.n, model.m
        time = {'units': 'nanoseconds since 1970-01-01', 'calendar': 'proleptic_gregorian'}
        mine = {
            'time': Column('int64', (), (), time, 0),
            'odometry_time': Column('int64', (), (), time, 0),
            'H': Column('float64', ('pose_row', 'pose_col'), (4, 4), {'units': '1, m'}),
            's': Column('float64', ('position',), (n_q,), {}),
            'v': Column('float64', ('twist',), (6,), {}),
            'r': Column('float64', ('joint',), (n,), {}),
            'tau': Column('float64', ('joint',), (n,), {}),
            'nu_dot': Column('float64', ('acceleration',), (m,), {}),
            'residual': Column('float64', ('acceleration',), (m,), {}),
            'valid': Column('bool', (), (), {}, False),
        }
        names = contact_names(model, self.settings)
        if names:
            shape = ('contact',), (len(names),)
            mine['contact_active'] = Column('bool', *shape, {}, False)
            mine['contact_load'] = Column('float64', *shape, {'units': 'N'})
        for name, entries in layout._asdict().items():
            size = entries.varying.size
            if size:
                mine[varying(name)] = Column('float64', (f'{name}_entry',), (size,), {})
        return mine

    @property
    def spectrum_columns(self) -> dict[str, Column]:
        """Arrays with a row for each spectrum."""
        modes = 2 * self.model.m
        units = {'units': '1' if self.settings.form == 'discrete' else '1/s'}
        return {
            'spectrum_row': Column('int64', (), (), {'units': 'sample of time'}, 0),
            'eigenvalues_real': Column('float64', ('mode',), (modes,), units),
            'eigenvalues_imag': Column('float64', ('mode',), (modes,), units),
            'mass_matrix_condition': Column('float64', (), (), {'units': '1'}),
        }


def varying(name: str) -> str:
    """Return the name of the array with the varying entries of a matrix."""
    return f'{name}_varying'


def row_bytes(layout: Layout) -> int:
    """Return the size of a row of the largest array."""
    return max(8, *(8 * entries.varying.size for entries in layout))


def linearize_unit(job: Job, unit: int, samples: Samples) -> int:
    """Linearize and write one unit; return how many samples it has."""
    linearize = _prepared(job)
    packed: dict[str, list[Array]] = {name: [] for name in job.layout._fields}
    nu_dots, loads = [], []
    for begin in range(0, samples.size, STRIDE):
        found = linearize(samples.points.part(slice(begin, begin + STRIDE)))
        for name, entries in job.layout._asdict().items():
            packed[name].append(entries.pack(getattr(found, name), name))
        nu_dots.append(found.nu_dot.copy())
        loads.append(found.loads.copy())
    nu_dot = np.concatenate(nu_dots)
    states, n, n_q = samples.points.states, job.model.n, job.model.n_q
    values = {
        'time': samples.stamp,
        'odometry_time': samples.odometry_stamp,
        'H': states[:, :16].reshape(-1, 4, 4),
        's': states[:, 16 : 16 + n_q],
        'v': states[:, 16 + n_q : 22 + n_q],
        'r': states[:, 22 + n_q :],
        'tau': samples.tau,
        'nu_dot': nu_dot,
        'residual': samples.measured - nu_dot,
        'valid': ~np.isnan(nu_dot[:, 0]),
    }
    assert states.shape[1] == 22 + n_q + n
    names = contact_names(job.model, job.settings)
    if names:
        values['contact_load'] = np.concatenate(loads)
        active = [{c.name for c in contacts if c.active} for contacts in samples.points.contacts]
        values['contact_active'] = np.array([[name in one for name in names] for one in active])
    for name, parts in packed.items():
        if parts[0].shape[1]:
            values[varying(name)] = np.concatenate(parts)
    _write(job, 'time', job.chunk, unit, values)
    return samples.size


def spectrum_unit(job: Job, unit: int, rows: IntArray, samples: Samples) -> int:
    """Find and write eigenvalues and conditioning at some samples; return 0."""
    linearize = _prepared(job)
    found = linearize(samples.points)
    eigenvalues = np.full((samples.size, 2 * job.model.m), np.nan, dtype=np.complex128)
    good = ~np.isnan(found.nu_dot[:, 0])
    if good.any():
        eigenvalues[good] = _sorted(np.linalg.eigvals(found.A[good]))
    values = {
        'spectrum_row': rows,
        'eigenvalues_real': eigenvalues.real,
        'eigenvalues_imag': eigenvalues.imag,
        'mass_matrix_condition': np.linalg.cond(
            batch.mass_matrix(job.model, samples.points.states)
        ),
    }
    _write(job, 'spectrum', SPECTRA, unit, values)
    return 0


def _prepared(job: Job) -> PointBatches:
    """Return the linearizer of a job; each thread of a worker keeps the last one."""
    key = job.model.hash, job.model.actuated_joints, repr(job.settings)
    if getattr(_kept, 'key', None) != key:
        _kept.key, _kept.linearizer = key, PointBatches(job.model, job.settings, STRIDE)
    found: PointBatches = _kept.linearizer
    return found


def _sorted(eigenvalues: Any) -> Any:
    """Return eigenvalues (T, k) by falling real part, pairs together."""
    order = np.lexsort((-eigenvalues.imag, -eigenvalues.real), axis=-1)
    return np.take_along_axis(eigenvalues, order, axis=-1)


def _write(
    job: Job, dimension: str, chunk: int, unit: int, values: dict[str, Array | IntArray]
) -> None:
    group = store.open_group(job.path, 'r+')
    with store.reached(job.path):
        store.write_rows(group, chunk, unit, values)
        store.Progress(group, dimension).mark(unit, len(next(iter(values.values()))))
