# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains of a bank or a gait as a file: YAML or .npz; docs/lqr_node.md says what is in it."""

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import IO, Any

import numpy as np
import yaml

from geolin_control.gain_bank import GainBank, Route
from geolin_control.gait import GaitGains
from geolin_control.whole_file import whole_file
from geolin_ros.control.lqr import Gains
from geolin_ros.control.support import Support
from geolin_ros.description.safe_yaml import parse_yaml
from geolin_ros.errors import GeolinError, InputError
from geolin_ros.model.labels import input_labels, state_labels
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial.se3 import check_pose
from geolin_ros.typing import Array

FORMAT, VERSION, OF_GAIT = 'geolin_ros gain bank', 1, 2
MOST_BYTES = 1_000_000_000  # of a bank in YAML; the .npz of the same gains is smaller and faster
_YAML = ('.yaml', '.yml')
_MALFORMED = (
    *(ValueError, KeyError, TypeError, AttributeError, ArithmeticError, GeolinError),
    *(EOFError, OSError, MemoryError, RecursionError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)
"""What readers of YAML, JSON, NumPy and zip end in with bytes that no bank has."""


def save_bank(bank: GainBank | GaitGains, model: TreeModel, path: str | Path) -> None:
    """Write a bank, as YAML if the path ends in .yaml; `load_bank` returns the same numbers.

    A gait is written as routes too: one for each change of contacts, in the order of time. Raises
    `InputError` if the bank is for another model; `OSError` if the file cannot be written.
    """
    _check_hash(bank.model_hash, model, 'the bank')
    routes = _runs(bank.knots) if isinstance(bank, GaitGains) else list(bank.routes.values())
    header = {
        'format': FORMAT,
        'version': VERSION,
        'model_name': model.name,
        'model_hash': bank.model_hash,
        'columns': [label.name for label in state_labels(model)],
        'rows': [label.name for label in input_labels(model)],
        'routes': [_description(route) for route in routes],
    }
    if isinstance(bank, GaitGains):
        header['version'] = OF_GAIT
        header['gait'] = {'first': bank.first, 'displacement': bank.displacement.tolist()}
    names = _shapes(header)
    arrays = [{name: _ARRAYS[name](route) for name in names} for route in routes]
    with whole_file(path) as file:
        (_write_yaml if Path(path).suffix in _YAML else _write_npz)(file, header, arrays)


def load_bank(path: str | Path, model: TreeModel) -> GainBank | GaitGains:
    """Return the bank, or the gait, in a file of either kind.

    Raises `InputError` if the file is no gain bank, is of another version or model, or holds
    arrays of other shapes or numbers that are not finite; `OSError` if there is no such file.
    """
    content = Path(path).read_bytes()
    with _named(path):
        header, arrays = (_read_yaml if Path(path).suffix in _YAML else _read_npz)(content)
        version = OF_GAIT if 'gait' in header else VERSION
        if (header.get('format'), header.get('version')) != (FORMAT, version):
            raise ValueError(f'format {header.get("format")!r}, version {header.get("version")!r}')
        found = str(header['model_hash'])
    _check_hash(found, model, str(path))
    with _named(path):
        shapes = _shapes(header)
        routes = [
            _route(*parts, shapes, model) for parts in zip(header['routes'], arrays, strict=True)
        ]
        if 'gait' in header:
            return _gait(header['gait'], routes, model)
        return GainBank(model.hash, {frozenset(r.knots[0].contacts): r for r in routes})


@contextmanager
def _named(path: str | Path) -> Iterator[None]:
    """Raise `InputError` with the path for what is malformed."""
    try:
        yield
    except _MALFORMED as error:
        raise InputError(
            f'{path} is no gain bank of version {VERSION}: {error or type(error).__name__}; make '
            'one with save_bank'
        ) from error


def _write_yaml(file: IO[bytes], header: dict[str, Any], arrays: list[dict[str, Array]]) -> None:
    routes = [
        entry | {name: values.tolist() for name, values in stacks.items()}
        for entry, stacks in zip(header['routes'], arrays, strict=True)
    ]
    document = header | {'routes': routes}
    layout: dict[str, Any] = {'sort_keys': False, 'default_flow_style': None, 'width': 99}
    yaml.dump(document, file, _Dumper, encoding='utf-8', **layout)


def _read_yaml(content: bytes) -> tuple[dict[str, Any], list[dict[str, Array]]]:
    header = parse_yaml(content.decode('utf-8'), MOST_BYTES)
    routes = header.get('routes', ())
    return header, [
        {name: np.array(entry[name], dtype=np.float64) for name in _shapes(header)}
        for entry in routes
    ]


def _write_npz(file: IO[bytes], header: dict[str, Any], arrays: list[dict[str, Array]]) -> None:
    stacks: dict[str, Any] = {
        f'route{index}/{name}': values
        for index, named in enumerate(arrays)
        for name, values in named.items()
    }
    np.savez(file, header=np.array(json.dumps(header)), **stacks)


def _read_npz(content: bytes) -> tuple[dict[str, Any], list[dict[str, Array]]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > MOST_BYTES:
        raise ValueError(f'it unpacks to {size} bytes, expected at most {MOST_BYTES}')
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        header = json.loads(str(file['header']))
        return header, [
            {name: file[f'route{index}/{name}'] for name in _shapes(header)}
            for index in range(len(header.get('routes', ())))
        ]


class _Dumper(getattr(yaml, 'CSafeDumper', yaml.SafeDumper)):  # type: ignore[misc]
    """Puts each row of numbers on a line of its own."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _description(route: Route) -> dict[str, Any]:
    first = route.knots[0]
    supports = [
        {
            'frame': support.frame,
            'kind': support.kind,
            'points': np.asarray(support.points).tolist(),
        }
        for support in first.supports
    ]
    return {'supports': supports, 'dt': first.dt}


def _of_knots(part: Callable[[Gains], Any]) -> Callable[[Route], Array]:
    return lambda route: np.array([part(knot) for knot in route.knots])


_ARRAYS: dict[str, Callable[[Route], Array]] = {
    'H': _of_knots(lambda knot: knot.state.H),
    's': _of_knots(lambda knot: knot.state.s),
    'v': _of_knots(lambda knot: knot.state.v),
    'r': _of_knots(lambda knot: knot.state.r),
    'feedforward': _of_knots(lambda knot: knot.feedforward),
    'K': _of_knots(lambda knot: knot.K),
    'K_complement': _of_knots(lambda knot: knot.K_complement),
    'K_past': _of_knots(lambda knot: knot.K_past),
    'placement': _of_knots(lambda knot: [support.placement for support in knot.supports]),
    'margin': _of_knots(lambda knot: knot.margin),
    'error': lambda route: np.array(route.errors),
}

# Shape of each array of a route: k knots, f supports, n_s, u inputs, z entries of the state.
_SHAPES = {
    'H': 'k44',
    's': 'kq',
    'feedforward': 'ku',
    'K': 'kuz',
    'K_complement': 'kuz',
    'K_past': 'ku*',
    'placement': 'kf44',
    'margin': 'k',
    'error': '-',
}
_MOVING = {'v': 'k6', 'r': 'kn'}


def _shapes(header: dict[str, Any]) -> dict[str, str]:
    """Return the arrays of a file: what stands has no velocities."""
    return _SHAPES | _MOVING if 'gait' in header else _SHAPES


def _runs(knots: Sequence[Gains]) -> list[Route]:
    """Return knots in order, those on the same contacts together."""
    groups = (tuple(own) for _, own in groupby(knots, lambda knot: knot.contacts))
    return [Route(own, np.zeros(len(own) - 1)) for own in groups]


def _gait(about: dict[str, Any], routes: Sequence[Route], model: TreeModel) -> GaitGains:
    knots = tuple(knot for route in routes for knot in route.knots)
    first, displacement = int(about['first']), np.array(about['displacement'], dtype=np.float64)
    if not 0 <= first < len(knots):
        raise ValueError(f'the period begins at knot {first} of {len(knots)}')
    check_pose(displacement)
    return GaitGains(model.hash, knots, first, displacement)


def _route(
    entry: dict[str, Any], arrays: dict[str, Any], shapes: dict[str, str], model: TreeModel
) -> Route:
    sizes = {
        'k': len(arrays['H']),
        'f': len(entry['supports']),
        'q': model.n_s,
        'n': model.n,
        'u': len(model.actuated_joints),
        'z': 2 * model.m,
        '4': 4,
        '6': 6,
        '-': len(arrays['H']) - 1,
    }
    for name, shape in shapes.items():
        expected = tuple(sizes.get(letter, arrays[name].shape[-1]) for letter in shape)
        if arrays[name].shape != expected or not np.all(np.isfinite(arrays[name])):
            raise ValueError(f'{name} has shape {arrays[name].shape}, expected finite {expected}')
    still = np.zeros((sizes['k'], 6)), np.zeros((sizes['k'], model.n))
    v, r = arrays.get('v', still[0]), arrays.get('r', still[1])
    knots = []
    for k in range(sizes['k']):
        supports = tuple(
            Support(one['frame'], one['kind'], np.array(one['points']), arrays['placement'][k, i])
            for i, one in enumerate(entry['supports'])
        )
        knots.append(
            Gains(
                model.state(arrays['H'][k], arrays['s'][k], v[k], r[k]),
                arrays['feedforward'][k],
                arrays['K'][k],
                arrays['K_complement'][k],
                arrays['K_past'][k],
                supports,
                state_labels(model),
                input_labels(model),
                float(entry['dt']),
                float(arrays['margin'][k]),
                None,
            )
        )
    return Route(tuple(knots), arrays['error'])


def _check_hash(found: str, model: TreeModel, what: str) -> None:
    if found != model.hash:
        raise InputError(
            f'{what} is for model {found}, expected {model.hash} ({model.name!r}): the robot, its '
            'overlay or the order of its joints is another one; make the gains anew'
        )
