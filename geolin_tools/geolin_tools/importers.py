# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Logs of other kinds into bags, by a mapping that says which column is what: docs/offline.md."""

from collections.abc import Mapping, Sequence
from functools import cache, reduce
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.description.safe_yaml import read_yaml
from geolin_ros.errors import InputError, RecordingError, unknown_name
from geolin_ros.offline import bags
from geolin_ros.offline.bags import BagWriter, Storage
from geolin_ros.offline.points import Watch
from geolin_ros.optional import optional
from geolin_ros.spatial import se3
from geolin_ros.stream.message_fields import write_stamp
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


class Quantity(NamedTuple):
    """Units of a field, where messages have it, and its numbers; None: one for each name."""

    units: Mapping[str, float]
    place: str
    width: int | None = 3
    is_needed: bool = True


TYPES = {
    'joint_states': bags.JOINT_STATE,
    'imu': bags.IMU,
    'odometry': bags.ODOMETRY,
    'wrench': bags.WRENCH,
}
"""Message of each type of topic."""
FIELDS = {
    'joint_states': {
        'position': Quantity(PLACES, 'position', None),
        'velocity': Quantity(SPEEDS, 'velocity', None, is_needed=False),
        'effort': Quantity(FORCES, 'effort', None, is_needed=False),
    },
    'imu': {
        'angular_velocity': Quantity(SPEEDS, 'angular_velocity'),
        'linear_acceleration': Quantity(ACCELERATIONS, 'linear_acceleration'),
    },
    'odometry': {
        'position': Quantity(PLACES, 'pose.pose.position'),
        'orientation': Quantity(TURNS, 'pose.pose.orientation', 4),
        'linear_velocity': Quantity(SPEEDS, 'twist.twist.linear', is_needed=False),
        'angular_velocity': Quantity(SPEEDS, 'twist.twist.angular', is_needed=False),
    },
    'wrench': {
        'force': Quantity(FORCES, 'wrench.force'),
        'moment': Quantity(FORCES, 'wrench.torque', is_needed=False),
    },
}
ABOUT = ('type', 'names', 'frame', 'child_frame')
COLUMNS = ('from', 'file', 'unit', 'scale', 'width')
KEYS = ('robot_description', 'file', 'time', 'topics')
LAST = 2.0**31  # time that a stamp of a message can have [s]
MISSING = 3.0  # times that are made even have no step of more periods


class Topic(NamedTuple):
    """What one topic of a log holds."""

    kind: str
    """A key of `TYPES`."""
    message: Any
    """With names of joints and frames."""
    fields: dict[str, Array]
    """(N, k) by field, in SI units; orientations are quaternions (x, y, z, w)."""


class Log(NamedTuple):
    """Times (N,) [s], topics by name, and the text of the description, empty without one."""

    time: Array
    topics: Mapping[str, Topic]
    description: str


def write_log(
    log: Log,
    path: str | Path,
    storage: Storage = 'mcap',
    watch: Watch = lambda items, total: items,
) -> None:
    """Write the messages of a log into a new bag, stamped and recorded at its times.

    Raises `RecordingError` if the bag exists or cannot be written.
    """
    stamps = np.round(log.time * 1e9).astype(np.int64).tolist()
    with BagWriter(path, storage) as bag:
        if log.description:
            described = bags.empty_message(bags.STRING)
            described.data = log.description
            bag.add_topic('/robot_description', bags.STRING)
            bag.write('/robot_description', min(stamps), described)
        for name, topic in log.topics.items():
            bag.add_topic(name, TYPES[topic.kind])
        for k, stamp in watch(enumerate(stamps), len(stamps)):
            for name, topic in log.topics.items():
                write_stamp(topic.message.header.stamp, stamp)
                for field, values in topic.fields.items():
                    place = FIELDS[topic.kind][field].place
                    if topic.kind == 'joint_states':
                        setattr(topic.message, place, values[k])
                        continue
                    for axis, value in zip('xyzw', values[k].tolist(), strict=False):
                        setattr(attrgetter(place)(topic.message), axis, value)
                bag.write(name, stamp, topic.message)


def read_log(mapping: str | Path, data: str | Path) -> Log:
    """Return what a log holds.

    The mapping is the YAML file that says which column is what, ``data`` the folder of the files
    that it names, or the one file it is about. Raises `RecordingError` if a file cannot be read,
    columns are not as many as expected, or the mapping is wrong; `UnknownNameError` if a key,
    unit, array or column is unknown.
    """
    where = str(mapping)
    try:
        given = _mapping(where, read_yaml(mapping), KEYS)
    except InputError as error:
        raise RecordingError(f'{where}: {error}') from error
    time = _mapping(f'{where}: time', given.get('time'), (*COLUMNS, 'rate', 'common', 'even'))
    files = _Files(where, Path(data), given.get('file'))
    described = _mapping(where, given.get('topics'))
    if not described:
        raise RecordingError(f'{where} has no topics, expected some')
    if time.get('common'):
        parts = [_mapping(f'{where}: topic {name}', topic) for name, topic in described.items()]
        columns = [column for part in parts for column in part.values()]
        files.keep_common(time, [time, *(c for c in columns if isinstance(c, Mapping))])
    topics: dict[str, Topic] = {}
    stamps = np.zeros(0)
    for name, values in described.items():
        at = f'{where}: topic {name}'
        topics[name] = topic = _topic(at, files, _mapping(at, values))
        for field, rows in topic.fields.items():
            if not stamps.size:
                stamps = _stamps(f'{where}: time', files, time, len(rows))
            if len(rows) != stamps.size:
                raise RecordingError(
                    f'{at}: {field} has {len(rows)} rows, expected {stamps.size}, one for each '
                    'time; cut the files, or say common: true with the time if all have it'
                )
        if topic.kind == 'odometry':
            _add_twist(at, topic.fields, stamps)
        elif topic.kind == 'joint_states':
            _add_rates(at, topic, stamps)
    return Log(stamps, topics, files.text(given.get('robot_description')))


def _stamps(where: str, files: '_Files', time: Mapping[str, Any], count: int) -> Array:
    """Return the times [s]; ``even`` ones are as close to those of arrival as can be."""
    if 'rate' in time:
        times = np.arange(count) / _number(f'{where}: rate', time['rate'], least=0.0)
    else:
        times = _in_si(where, files.columns(where, time), time, TIMES, 1)[:, 0]
    if not times.size or not ((times >= 0.0) & (times < LAST)).all():  # NaN is not
        raise RecordingError(
            f'{where} holds {times} [s], expected times from 0 to {LAST:g}; correct the unit'
        )
    if 'rate' in time or not time.get('even'):
        return times
    steps, index = np.diff(times), np.arange(times.size)
    longest, period = steps.max(initial=0.0), float(np.median(steps)) if steps.size else 0.0
    if not 0.0 < longest <= MISSING * period:
        raise RecordingError(
            f'{where} is to be even, but has a step of {longest:.4g} s, expected at most '
            f'{MISSING:g} medians of {period:.4g} s: samples are missing there; leave even out, '
            'or cut the file'
        )
    return np.asarray(np.polyval(np.polyfit(index, times, 1), index))


def _add_twist(where: str, fields: dict[str, Array], times: Array) -> None:
    """Add the twist, where it lacks, in axes of the child: central differences on SE(3)."""
    names = ('linear_velocity', 'angular_velocity')
    missing = ' and '.join(name for name in names if name not in fields)
    if not missing:
        return
    _require_rising(f'{where} has no {missing}', times)
    for name in ('position', 'orientation'):
        for k in np.flatnonzero(~np.isfinite(fields[name]).all(axis=1))[:1]:
            raise RecordingError(
                f'{where} has no {missing}, and {name} of row {k} is {fields[name][k]}, expected '
                'finite numbers to differentiate; give the twist, or leave these rows out'
            )
    H = np.tile(np.eye(4), (times.size, 1, 1))
    H[:, :3, :3] = [se3.rotation_from_quaternion(q) for q in fields['orientation']]
    H[:, :3, 3] = fields['position']
    index = np.arange(times.size)
    before, after = np.maximum(index - 1, 0), np.minimum(index + 1, times.size - 1)
    steps = np.array([se3.log(step) for step in np.linalg.solve(H[before], H[after])])
    twists = steps / (times[after] - times[before])[:, np.newaxis]
    for name, part in zip(names, np.hsplit(twists, 2), strict=True):
        fields.setdefault(name, part)


def _add_rates(where: str, topic: Topic, times: Array) -> None:
    """Make rates of joints whose column holds no number the derivatives of their positions."""
    lacking = np.isnan(topic.fields.get('velocity', np.zeros((1, 0)))).all(axis=0)
    if lacking.any():
        names = ', '.join(np.array(topic.message.name)[lacking])
        _require_rising(f'{where} has no velocity of {names}', times)
        rates = np.gradient(topic.fields['position'], times, axis=0)
        topic.fields['velocity'] = np.where(lacking, rates, topic.fields['velocity'])


def _require_rising(lacks: str, times: Array) -> None:
    if times.size < 2 or np.diff(times).min() <= 0.0:
        raise RecordingError(
            f'{lacks}, and times that do not rise cannot give the derivative; give it, or sort '
            'the rows'
        )


def _topic(where: str, files: '_Files', values: Mapping[str, Any]) -> Topic:
    kind = str(values.get('type'))
    if kind not in TYPES:
        raise unknown_name('type', kind, TYPES, where)
    known = FIELDS[kind]
    _mapping(where, values, (*ABOUT, *known))
    names = values.get('names') or []
    is_list = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not is_list or bool(names) != (kind == 'joint_states'):
        raise RecordingError(
            f'{where}: names are {names}, expected a list of those of joint_states alone'
        )
    fields = {}
    for field, quantity in known.items():
        at = f'{where}: {field}'
        if field in values:
            column = _mapping(at, values[field], COLUMNS)
            width = len(names) if quantity.width is None else quantity.width
            fields[field] = _in_si(at, files.columns(at, column), column, quantity.units, width)
        elif quantity.is_needed:
            raise RecordingError(f'{where} has no {field}, expected it; say where it is from')
    message = bags.empty_message(TYPES[kind])
    message.header.frame_id = str(values.get('frame', ''))
    if kind == 'joint_states':
        message.name = names
    elif kind == 'imu':
        message.orientation_covariance[0] = -1.0  # sensor_msgs/Imu: there is none
    elif kind == 'odometry':
        message.child_frame_id = str(values.get('child_frame', ''))
    return Topic(kind, message, fields)


def _in_si(
    where: str, values: Array, column: Mapping[str, Any], units: Mapping[str, float], width: int
) -> Array:
    unit, scale, count = str(column.get('unit')), column.get('scale', 1.0), values.shape[1]
    if unit not in units:
        advice = '; for amperes give the unit after scale, as N m, and scale: N m per ampere'
        raise RecordingError(
            f'{where} has unit {unit!r}, expected one of {", ".join(units)}'
            f'{advice if units is FORCES else ""}'
        )
    scales = scale if isinstance(scale, list) else [scale] * count
    if len(scales) != count:
        raise RecordingError(f'{where}: scale has {len(scales)} numbers, expected 1 or {count}')
    factors = np.array([_number(f'{where}: scale', one) for one in scales])
    values = np.ascontiguousarray(values * (units[unit] * factors))
    if units is FORCES and width == 3 and count == 1:
        return np.hstack((np.zeros((len(values), 2)), values))  # sensors of the normal force
    width = 3 if unit == 'rpy' else width
    if count != width:
        raise RecordingError(
            f'{where} has {count} columns, expected {width}; correct from, or names'
        )
    if unit == 'rpy':
        rotations = map(se3.rotation_from_rpy, values)
        return np.array([se3.quaternion_from_rotation(R) for R in rotations]).reshape(-1, 4)
    return values[:, [1, 2, 3, 0]] if unit == 'wxyz' else values


class _Files:
    """The files of a log, each read once."""

    def __init__(self, where: str, data: Path, default: Any) -> None:
        if not data.exists():
            raise RecordingError(f'{data} does not exist, expected the data that {where} is about')
        self._where, self._folder = where, data if data.is_dir() else data.parent
        self._default = default if data.is_dir() else data.name
        self._read = cache(lambda name: read_table(self._folder / name))
        self._rows: dict[str, IntArray] = {}

    def text(self, name: Any) -> str:
        """Return the text of a file, empty without one."""
        try:
            return (self._folder / str(name)).read_text(encoding='utf-8') if name else ''
        except (OSError, ValueError) as error:
            raise RecordingError(f'{self._where}: {error}, expected a URDF') from error

    def keep_common(self, time: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]) -> None:
        """Keep the rows whose times are in all files: in ``time`` is where each has them."""
        names = {self._name(self._where, column) for column in columns}
        times = {name: self.columns(self._where, {**time, 'file': name})[:, 0] for name in names}
        common = reduce(np.intersect1d, times.values())
        if not common.size:
            raise RecordingError(
                f'{self._where}: files {", ".join(sorted(names))} have no time in common'
            )
        for name, values in times.items():
            order = np.argsort(values, kind='stable')
            self._rows[name] = order[np.searchsorted(values[order], common)]

    def columns(self, where: str, column: Mapping[str, Any]) -> Array:
        """Return columns (N, k) as they are in the file."""
        name = self._name(where, column)
        table = self._read(name)
        wanted = column.get('from')
        wanted = list(table) if wanted in (None, []) else wanted
        keys = [str(key) for key in (wanted if isinstance(wanted, list) else [wanted])]
        for key in keys:
            if key not in table:
                raise unknown_name('array or column', key, table, f'{name}, {where}')
        values = np.hstack([table[key] for key in keys])
        if 'width' in column:
            width = _number(f'{where}: width', column['width'], least=0.0)
            if width % 1.0 or values.size % width:
                raise RecordingError(f'{where}: {values.size} numbers are not rows of {width:g}')
            values = values.reshape(-1, int(width))
        return values[self._rows[name]] if name in self._rows else values

    def _name(self, where: str, column: Mapping[str, Any]) -> str:
        name = column.get('file', self._default)
        if not name:
            raise RecordingError(f'{where} names no file, expected file: NAME, here or for all')
        return str(name)


def read_table(path: Path) -> Mapping[str, Array]:
    """Return the arrays or columns (N, k) of a file by name; `RecordingError` if it cannot be."""
    read = {'.npz': _npz, '.h5': _hdf5, '.hdf5': _hdf5, '.mat': _hdf5}.get(path.suffix, _text)
    try:
        found = read(path)
        if not found:
            raise ValueError('no numbers in it')
        return found
    except Exception as error:  # of NumPy, zip or HDF5, with bytes that no such file has
        raise RecordingError(
            f'{path} cannot be read: {error}, expected npz or HDF5 (MATLAB: save with -v7.3) with '
            'numbers, or text with columns of numbers, below a line of names or none'
        ) from error


def _npz(path: Path) -> dict[str, Array]:
    with path.open('rb') as raw, np.load(raw) as file:
        return {name: _rows(values) for name, values in file.items() if _is_table(values)}


def _hdf5(path: Path) -> dict[str, Array]:
    found: dict[str, Array] = {}

    def keep(name: str, item: Any) -> None:
        if _is_table(item):
            values = _rows(item)
            found[name] = values.T if 'MATLAB_class' in item.attrs else values  # by columns

    with h5py.File(path, 'r') as file:
        file.visititems(keep)
    return found


def _is_table(item: Any) -> bool:
    return getattr(item, 'ndim', 0) in (1, 2) and item.size > 0 and item.dtype.kind in 'fiu'


def _rows(item: Any) -> Array:
    return np.asarray(item[()], dtype=np.float64).reshape(len(item), -1)


def _text(path: Path) -> dict[str, Array]:
    """Return the columns (N, 1) of a text by name if its first line has them, else by number.

    Empty cells are NaN.
    """
    with path.open(encoding='utf-8-sig') as file:
        first = file.readline().strip()
    comma = next((mark for mark in ',;' if mark in first), None)
    names = [name.strip() for name in first.split(comma)]
    has_names = False
    try:
        list(map(float, filter(None, names)))
    except ValueError:
        has_names = True
    options: dict[str, Any] = {'delimiter': comma, 'skiprows': int(has_names), 'ndmin': 2}
    options['encoding'] = 'utf-8-sig'
    try:
        table = np.loadtxt(path, **options)
    except ValueError:  # three times slower: some cells may be empty
        table = np.loadtxt(path, **options, converters=lambda cell: float(cell.strip() or 'nan'))
    count = table.shape[1]
    names = names[:count]
    if not has_names or len(set(names)) != count:
        names = [str(k) for k in range(count)]
    return {name: table[:, [k]] for k, name in enumerate(names) if table.size}


def _number(where: str, value: Any, least: float = -np.inf) -> float:
    """Return a number that is finite, not zero, and above ``least``."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not np.isfinite(value) or value == 0 or value <= least:
        above = '' if least < 0.0 else ' above 0'
        raise RecordingError(f'{where} is {value!r}, expected a number{above}')
    return float(value)


def _mapping(where: str, values: Any, known: Sequence[str] | None = None) -> Mapping[str, Any]:
    """Return a mapping whose keys are known; any if None."""
    if not isinstance(values, Mapping):
        expected = 'names and values' if known is None else f'a mapping with {", ".join(known)}'
        raise RecordingError(f'{where} is {values!r}, expected {expected}')
    for key in values:
        if known is not None and key not in known:
            raise unknown_name('key', str(key), known, where)
    return values
