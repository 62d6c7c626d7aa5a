# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Logs of other kinds than bags, by a mapping that says which column is what: docs/offline.md."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from geolin_ros.description.safe_yaml import read_yaml
from geolin_ros.errors import InputError, RecordingError, unknown_name
from geolin_ros.optional import optional
from geolin_ros.spatial import se3
from geolin_ros.typing import Array, IntArray

h5py = optional('h5py', extra='offline')

DEGREE = np.pi / 180.0
TIMES = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}
PLACES = {'rad': 1.0, 'deg': DEGREE, 'm': 1.0, 'mm': 1e-3}
SPEEDS = {'rad/s': 1.0, 'deg/s': DEGREE, 'rpm': np.pi / 30.0, 'm/s': 1.0, 'mm/s': 1e-3}
FORCES = {'N m': 1.0, 'mN m': 1e-3, 'N mm': 1e-3, 'N': 1.0, 'kN': 1e3}
ACCELERATIONS = {'m/s^2': 1.0, 'g': 9.80665, 'mg': 9.80665e-3}
TURNS = {'xyzw': 1.0, 'wxyz': 1.0, 'rpy': 1.0}
"""Orientations: order of a quaternion, or roll, pitch, yaw [rad], R = Rz Ry Rx."""


@dataclass(frozen=True)
class Quantity:
    """What a field of a topic is: its units, and how many numbers, None: one for each name."""

    units: Mapping[str, float]
    width: int | None
    is_needed: bool = False


FIELDS: dict[str, dict[str, Quantity]] = {
    'joint_states': {
        'position': Quantity(PLACES, None, is_needed=True),
        'velocity': Quantity(SPEEDS, None),
        'effort': Quantity(FORCES, None),
    },
    'imu': {
        'angular_velocity': Quantity(SPEEDS, 3, is_needed=True),
        'linear_acceleration': Quantity(ACCELERATIONS, 3, is_needed=True),
    },
    'odometry': {
        'position': Quantity(PLACES, 3, is_needed=True),
        'orientation': Quantity(TURNS, 4, is_needed=True),
        'linear_velocity': Quantity(SPEEDS, 3),
        'angular_velocity': Quantity(SPEEDS, 3),
    },
    'wrench': {
        'force': Quantity(FORCES, 3, is_needed=True),
        'moment': Quantity(FORCES, 3),
    },
}
"""Fields of each type of topic."""
ABOUT = ('type', 'names', 'frame', 'child_frame')
COLUMNS = ('from', 'file', 'unit', 'scale', 'width')
KEYS = ('robot_description', 'file', 'time', 'topics')
HDF5 = ('.h5', '.hdf5', '.mat')
MISSING = 3.0
"""Times that are made even have no step of more periods."""


@dataclass(frozen=True)
class Topic:
    """What one topic of a log holds.

    Attributes
    ----------
    kind
        A key of `FIELDS`.
    names
        Of joints.
    frame, child_frame
        As in the messages.
    fields
        (N, k) by field, in SI units; orientations are quaternions (x, y, z, w).
    """

    kind: str
    names: tuple[str, ...]
    frame: str
    child_frame: str
    fields: Mapping[str, Array]


@dataclass(frozen=True)
class Log:
    """Times (N,) [s], topics by name, and the text of the description, empty without one."""

    time: Array
    topics: Mapping[str, Topic]
    description: str


def read_log(mapping: str | Path, data: str | Path) -> Log:
    """Return what a log holds.

    Parameters
    ----------
    mapping
        YAML file that says which column is what.
    data
        Folder of the files that the mapping names, or the one file it is about.

    Raises
    ------
    RecordingError
        If a file cannot be read, columns are not as many as expected, or the mapping is wrong.
    UnknownNameError
        If a key, unit, array or column is unknown.
    """
    where = str(mapping)
    try:
        given = _mapping(where, read_yaml(mapping), KEYS)
    except InputError as error:
        raise RecordingError(f'{where}: {error}') from error
    time = _mapping(f'{where}: time', given.get('time'), (*COLUMNS, 'rate', 'common', 'even'))
    files = _Files(where, Path(data), given.get('file'))
    described = _mapping(where, given.get('topics'), None)
    if time.get('common'):
        of_topics = [_mapping(f'{where}: topic {k}', v, None) for k, v in described.items()]
        columns = [column for topic in of_topics for column in topic.values()]
        files.keep_common(time, [time, *(c for c in columns if isinstance(c, Mapping))])
    topics = {
        name: _topic(f'{where}: topic {name}', files, _mapping(where, values, None))
        for name, values in described.items()
    }
    if not topics:
        raise RecordingError(f'{where} has no topics, expected some')
    counts = {name: len(next(iter(topic.fields.values()))) for name, topic in topics.items()}
    stamps = _stamps(f'{where}: time', files, time, next(iter(counts.values())))
    for name, count in counts.items():
        if count != stamps.size:
            raise RecordingError(
                f'{where}: topic {name} has {count} rows, expected {stamps.size}, one for each '
                'time; cut the files, or say common: true with the time if all have it'
            )
    if time.get('even'):
        stamps = _even(f'{where}: time', stamps)
    for name, topic in topics.items():
        if topic.kind in _COMPLETED:
            topics[name] = _COMPLETED[topic.kind](f'{where}: topic {name}', topic, stamps)
    return Log(stamps, topics, files.text(given.get('robot_description')))


def _stamps(where: str, files: '_Files', time: Mapping[str, Any], count: int) -> Array:
    """Return the times [s]."""
    if 'rate' in time:
        return np.arange(count) / _number(f'{where}: rate', time['rate'], least=0.0)
    values = _in_si(where, files.columns(where, time), time, Quantity(TIMES, 1), 1)[:, 0]
    if not values.size:
        raise RecordingError(f'{where} has no rows, expected some')
    if not np.isfinite(values).all() or values.min(initial=0.0) < 0.0:
        raise RecordingError(f'{where} holds {values.min()}, expected finite numbers from 0 on')
    return np.asarray(values)


def _even(where: str, times: Array) -> Array:
    """Return times (N,) an even period apart, as close to those of arrival as can be."""
    steps, index = np.diff(times), np.arange(times.size)
    period = float(np.median(steps)) if steps.size else 0.0
    if not steps.size or period <= 0.0 or steps.max() > MISSING * period:
        longest = float(steps.max()) if steps.size else 0.0
        raise RecordingError(
            f'{where} is to be even, but a step of {longest:.4g} s stands beside a median of '
            f'{period:.4g} s, expected none above {MISSING:g} times that: samples are missing '
            'there; leave even out, or cut the file'
        )
    return np.asarray(np.polyval(np.polyfit(index, times, 1), index))


def _with_twist(where: str, topic: Topic, times: Array) -> Topic:
    """Return odometry whose twist, where it has none, is the derivative of its pose.

    Central differences on SE(3), in axes of the child frame.
    """
    fields = dict(topic.fields)
    names = ('linear_velocity', 'angular_velocity')
    if all(name in fields for name in names):
        return topic
    missing = ' and '.join(n for n in names if n not in fields)
    _require_rising(f'{where} has no {missing}', times)
    for name in ('position', 'orientation'):
        unknown = np.flatnonzero(~np.isfinite(fields[name]).all(axis=1))
        if unknown.size:
            raise RecordingError(
                f'{where} has no {missing}, and {name} of row {unknown[0]} is '
                f'{fields[name][unknown[0]]}, expected finite numbers to differentiate; give the '
                'twist, or leave these rows out'
            )
    H = np.tile(np.eye(4), (times.size, 1, 1))
    H[:, :3, :3] = [se3.rotation_from_quaternion(q) for q in fields['orientation']]
    H[:, :3, 3] = fields['position']
    before, after = (np.arange(times.size) + k for k in (-1, 1))
    before[0], after[-1] = 0, times.size - 1
    steps = np.array([se3.log(step) for step in np.linalg.solve(H[before], H[after])])
    twists = steps / (times[after] - times[before])[:, np.newaxis]
    parts = dict(zip(names, np.hsplit(twists, 2), strict=True))
    return replace(topic, fields=parts | fields)


def _with_rates(where: str, topic: Topic, times: Array) -> Topic:
    """Return joint states whose rates are derivatives where their column holds no number."""
    fields = dict(topic.fields)
    nowhere = np.isnan(fields['position']).all(axis=0)
    if nowhere.any():
        name = topic.names[int(nowhere.argmax())]
        raise RecordingError(
            f'{where}: joint {name!r} has no position in any row, expected numbers; leave it out '
            'of names and columns, and lock it with parameter locked_joints'
        )
    if 'velocity' in fields:
        unknown = np.isnan(fields['velocity']).all(axis=0)
        if unknown.any():
            names = ', '.join(np.array(topic.names)[unknown])
            _require_rising(f'{where} has no velocity of {names} in any row', times)
            rates = np.gradient(fields['position'], times, axis=0)
            fields['velocity'] = np.where(unknown, rates, fields['velocity'])
    return replace(topic, fields=fields)


_COMPLETED = {'odometry': _with_twist, 'joint_states': _with_rates}


def _require_rising(lacks: str, times: Array) -> None:
    if times.size < 2 or np.diff(times).min() <= 0.0:
        raise RecordingError(
            f'{lacks}, and times that do not rise cannot give the derivative; give it, or sort '
            'the rows'
        )


def _topic(where: str, files: '_Files', values: Mapping[str, Any]) -> Topic:
    kind = values.get('type')
    if kind not in FIELDS:
        raise unknown_name('type', str(kind), FIELDS, where)
    known = FIELDS[kind]
    _mapping(where, values, (*ABOUT, *known))
    names = tuple(values.get('names', ()))
    if bool(names) != (kind == 'joint_states') or not all(isinstance(n, str) for n in names):
        raise RecordingError(f'{where}: names are {names}, expected those of joint_states alone')
    fields = {}
    for field, quantity in known.items():
        if field not in values:
            if quantity.is_needed:
                raise RecordingError(f'{where} has no {field}, expected it; say where it is from')
            continue
        at = f'{where}: {field}'
        column = _mapping(at, values[field], COLUMNS)
        width = len(names) if quantity.width is None else quantity.width
        fields[field] = _in_si(at, files.columns(at, column), column, quantity, width)
    frame, child = (str(values.get(key, '')) for key in ('frame', 'child_frame'))
    return Topic(kind, names, frame, child, fields)


def _in_si(
    where: str, values: Array, column: Mapping[str, Any], quantity: Quantity, width: int
) -> Array:
    unit = str(column.get('unit'))
    if unit not in quantity.units:
        advice = '; for amperes give the unit after scale, as N m, and scale: N m per ampere'
        raise RecordingError(
            f'{where} has unit {unit!r}, expected one of {", ".join(quantity.units)}'
            f'{advice if quantity.units is FORCES else ""}'
        )
    values = np.ascontiguousarray(values * (quantity.units[unit] * _scale(where, column, values)))
    if quantity.units is FORCES and width == 3 and values.shape[1] == 1:
        values = np.hstack((np.zeros((len(values), 2)), values))  # sensors of the normal force
    if unit == 'rpy':
        width = 3
    if values.shape[1] != width:
        raise RecordingError(
            f'{where} has {values.shape[1]} columns, expected {width}; correct from, or names'
        )
    if unit == 'wxyz':
        return values[:, [1, 2, 3, 0]]
    return _quaternions(values) if unit == 'rpy' else values


def _scale(where: str, column: Mapping[str, Any], values: Array) -> Array:
    """Return the factor (k,) of each column."""
    scale = column.get('scale', 1.0)
    scale = scale if isinstance(scale, list) else [scale] * values.shape[1]
    if len(scale) != values.shape[1]:
        raise RecordingError(
            f'{where}: scale has {len(scale)} numbers, expected one, or {values.shape[1]}: one '
            'for each column'
        )
    return np.array([_number(f'{where}: scale', one) for one in scale])


def _quaternions(angles: Array) -> Array:
    """Return quaternions (N, 4) of roll, pitch, yaw."""
    rotations = map(se3.rotation_from_rpy, angles)
    return np.array([se3.quaternion_from_rotation(R) for R in rotations]).reshape(-1, 4)


class _Files:
    """The files of a log, each read once."""

    def __init__(self, where: str, data: Path, default: Any) -> None:
        if not data.exists():
            raise RecordingError(f'{data} does not exist, expected the data that {where} is about')
        self._where, self._folder = where, data if data.is_dir() else data.parent
        self._default = default if data.is_dir() else data.name
        self._tables: dict[str, Mapping[str, Array]] = {}
        self._rows: dict[str, IntArray] = {}

    def text(self, name: Any) -> str:
        """Return the text of a file, empty without one."""
        if not name:
            return ''
        try:
            return (self._folder / str(name)).read_text(encoding='utf-8')
        except (OSError, ValueError) as error:
            raise RecordingError(f'{self._where}: {error}, expected a URDF') from error

    def keep_common(self, time: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]) -> None:
        """Keep the rows whose times are in all files: in ``time`` is where each has them."""
        names = {self._name(self._where, column) for column in columns}
        times = {name: self.columns(self._where, {**time, 'file': name})[:, 0] for name in names}
        common = sorted(set.intersection(*(set(values.tolist()) for values in times.values())))
        if not common:
            raise RecordingError(
                f'{self._where}: files {", ".join(sorted(names))} have no time in common'
            )
        for name, values in times.items():
            order = np.argsort(values, kind='stable')
            self._rows[name] = order[np.searchsorted(values[order], common)]

    def columns(self, where: str, column: Mapping[str, Any]) -> Array:
        """Return columns (N, k) as they are in the file."""
        name = self._name(where, column)
        table, wanted = self._table(name), column.get('from')
        if wanted is None and len(table) > 1:
            wanted = list(table)
        wanted = next(iter(table)) if wanted is None else wanted
        parts = []
        for one in wanted if isinstance(wanted, list) else [wanted]:
            key = str(one)
            if key not in table:
                raise unknown_name('array or column', key, table, f'{name}, {where}')
            parts.append(table[key])
        values = np.hstack(parts)
        if 'width' in column:
            width = int(_number(f'{where}: width', column['width'], least=0.0))
            if values.size % width:
                raise RecordingError(f'{where}: {values.size} numbers are not rows of {width}')
            values = values.reshape(-1, width)
        return np.asarray(values[self._rows[name]] if name in self._rows else values)

    def _name(self, where: str, column: Mapping[str, Any]) -> str:
        name = column.get('file', self._default)
        if not name:
            raise RecordingError(f'{where} names no file, expected file: NAME, here or for all')
        return str(name)

    def _table(self, name: str) -> Mapping[str, Array]:
        if name not in self._tables:
            self._tables[name] = read_table(self._folder / name)
        return self._tables[name]


def read_table(path: Path) -> Mapping[str, Array]:
    """Return the arrays or columns (N, k) of a file by name.

    Raises
    ------
    RecordingError
        If it cannot be read.
    """
    try:
        if path.suffix == '.npz':
            return _arrays(path)
        return _datasets(path) if path.suffix in HDF5 else _text(path)
    except (OSError, ValueError, KeyError) as error:
        raise RecordingError(
            f'{path} cannot be read: {error}, expected npz or HDF5 (MATLAB: save with -v7.3) with '
            'numbers, or text with columns of numbers, below a line of names or none'
        ) from error


def _datasets(path: Path) -> Mapping[str, Array]:
    """Return the data sets (N, k) of an HDF5 file by path; MATLAB writes them transposed."""
    found: dict[str, Array] = {}

    def keep(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.ndim in (1, 2) and item.dtype.kind in 'fiu':
            values = np.asarray(item[()], dtype=np.float64).reshape(item.shape[0], -1)
            found[name] = values.T if 'MATLAB_class' in item.attrs else values

    with h5py.File(path, 'r') as file:
        file.visititems(keep)
    return found


def _arrays(path: Path) -> Mapping[str, Array]:
    """Return the arrays (N, k) of numbers of an npz file."""
    with np.load(path, allow_pickle=False) as file:
        found = {name: file[name] for name in file.files}
    return {
        name: np.asarray(values, dtype=np.float64).reshape(len(values), -1)
        for name, values in found.items()
        if values.ndim in (1, 2) and values.dtype.kind in 'fiu'
    }


def _text(path: Path) -> Mapping[str, Array]:
    """Return the columns (N, 1) of a text by number and, if its first line has them, by name.

    Empty cells are NaN.
    """
    with path.open(encoding='utf-8') as file:
        first = file.readline().strip()
    comma = next((mark for mark in ',;' if mark in first), None)
    names = [name.strip() for name in first.split(comma)]
    has_names = False
    try:
        list(map(float, filter(None, names)))
    except ValueError:
        has_names = True
    options: dict[str, Any] = {'delimiter': comma, 'skiprows': int(has_names), 'ndmin': 2}
    try:
        table = np.loadtxt(path, **options)
    except ValueError:  # three times slower: some cells may be empty
        table = np.loadtxt(path, **options, converters=_cell, encoding='utf-8')
    found = {str(k): table[:, k : k + 1] for k in range(table.shape[1])}
    if has_names:
        named = dict(zip(names, found.values(), strict=False))
        return named if len(named) == len(found) else found
    return found


def _cell(text: str) -> float:
    return float(text) if text.strip() else np.nan


def _number(where: str, value: Any, least: float = -np.inf) -> float:
    """Return a number that is finite, not zero, and above ``least``."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not np.isfinite(value) or value == 0 or value <= least:
        above = '' if least < 0.0 else ' above 0'
        raise RecordingError(f'{where} is {value!r}, expected a number{above}')
    return float(value)


def _mapping(where: str, values: Any, known: Sequence[str] | None) -> Mapping[str, Any]:
    """Return a mapping whose keys are known."""
    if not isinstance(values, Mapping):
        expected = 'names and values' if known is None else f'a mapping with {", ".join(known)}'
        raise RecordingError(f'{where} is {values!r}, expected {expected}')
    for key in values:
        if known is not None and key not in known:
            raise unknown_name('key', str(key), known, where)
    return values
