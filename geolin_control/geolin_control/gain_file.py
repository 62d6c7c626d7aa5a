# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains of a bank or a gait as a file: YAML or .npz; docs/lqr_node.md says what is in it.

Those of a bank as a header of C, too, for controllers that read no files.
"""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from geolin_control.gain_bank import GainBank, GaitGains, Route
from geolin_control.whole_file import whole_file
from geolin_ros.control.lqr import Gains
from geolin_ros.control.support import Support
from geolin_ros.description.safe_yaml import parse_yaml
from geolin_ros.errors import ConfigurationError, InputError
from geolin_ros.model.labels import input_labels, state_labels
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial.se3 import check_pose
from geolin_ros.typing import Array

FORMAT, VERSION, OF_GAIT = 'geolin_ros gain bank', 1, 2
MOST_BYTES = 1_000_000_000  # of a bank in YAML; the .npz of the same gains is smaller and faster
_YAML = ('.yaml', '.yml')
# Shapes of arrays: k knots, f supports, q positions, u inputs, z entries of the state.
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
_MOVING = _SHAPES | {'v': 'k6', 'r': 'kn'}
_HEADER = """\
/* SPDX-FileCopyrightText: 2026 geolin_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Gains of {robot}, by geolin gain-bank; SI units.
 *
 * About posture p: u = tau[p] - K[p] z - K_past[p] du, with z ({states}) the displacement from
 * x[p], du the last {steps} inputs' deviations from tau[p], latest first. Postures of one route
 * have the same contacts; between two that follow each other x, tau and K may be interpolated.
 * Where the robot stood when the gains were made does not matter: of the base's pose in x,
 * height and tilt count. */
#ifndef {NAME}_H
#define {NAME}_H

#define {NAME}_MODEL_HASH "{hash}"
#define {NAME}_PERIOD {period!r} /* inputs are constant over it [s]; 0: continuous time */
enum {{
  {NAME}_X = {x}, {NAME}_STATES = {states}, {NAME}_INPUTS = {inputs}, {NAME}_PAST = {past},
  {NAME}_POSTURES = {postures}, {NAME}_ROUTES = {routes}
}};

/* Frames in contact, with + between them; postures first to first + count - 1. */
static const struct {{
  const char *contacts;
  int first, count;
}} {name}_routes[] = {{
{rows}
}};
/* [H | s | v | r], H by rows; K is K + K_complement. */
{arrays}
#endif
"""


def save_bank(bank: GainBank | GaitGains, model: TreeModel, path: str | Path) -> None:
    """Write a bank, as YAML if the path ends in .yaml; `load_bank` returns the same numbers.

    A gait is written as routes too: one for each change of contacts, in the order of time. If the
    path ends in .h, a bank is written as constants of C, named after its stem.

    Raises `InputError` if the bank is for another model; `ConfigurationError` if it is a gait for
    C, or the stem no identifier; `OSError` if the file cannot be written.
    """
    _check_hash(bank.model_hash, model, 'the bank')
    if Path(path).suffix == '.h':
        text = _header(bank, model, Path(path).stem)
        with whole_file(path) as file:
            file.write(text.encode())
        return
    header: dict[str, Any] = {
        'format': FORMAT,
        'version': VERSION,
        'model_name': model.name,
        'model_hash': bank.model_hash,
        'columns': [label.name for label in state_labels(model)],
        'rows': [label.name for label in input_labels(model)],
        'routes': [],
    }
    if isinstance(bank, GaitGains):
        header['version'] = OF_GAIT
        header['gait'] = {'first': bank.first, 'displacement': bank.displacement.tolist()}
        runs = [tuple(run) for _, run in groupby(bank.knots, attrgetter('contacts'))]
        routes = [Route(run, np.zeros(len(run) - 1)) for run in runs]
    else:
        routes = list(bank.routes.values())
    names = _MOVING if isinstance(bank, GaitGains) else _SHAPES
    is_yaml, stacks = Path(path).suffix in _YAML, dict[str, Any]()
    for k, route in enumerate(routes):
        supports = [
            {'frame': one.frame, 'kind': one.kind, 'points': np.asarray(one.points).tolist()}
            for one in route.knots[0].supports
        ]
        arrays = {name: _array(name, route) for name in names}
        written = {name: array.tolist() for name, array in arrays.items()} if is_yaml else {}
        stacks |= {f'route{k}/{name}': array for name, array in arrays.items()}
        header['routes'].append({'supports': supports, 'dt': route.knots[0].dt} | written)
    with whole_file(path) as file:
        if is_yaml:
            layout: dict[str, Any] = {'sort_keys': False, 'default_flow_style': None, 'width': 99}
            yaml.dump(header, file, _Dumper, encoding='utf-8', **layout)
        else:
            np.savez(file, header=np.array(json.dumps(header)), **stacks)


def load_bank(path: str | Path, model: TreeModel) -> GainBank | GaitGains:
    """Return the bank, or the gait, in a file of either kind.

    Raises `InputError` if the file is no gain bank, is of another version or model, or holds
    arrays of other shapes or numbers that are not finite; `OSError` if there is no such file.
    """
    content = Path(path).read_bytes()
    with _named(path):
        header, arrays = _read(content, Path(path).suffix in _YAML)
        version = OF_GAIT if 'gait' in header else VERSION
        if (header.get('format'), header.get('version')) != (FORMAT, version):
            raise ValueError(f'format {header.get("format")!r}, version {header.get("version")!r}')
        found = str(header['model_hash'])
    _check_hash(found, model, str(path))
    shapes = _MOVING if 'gait' in header else _SHAPES
    with _named(path):
        routes = []
        for k, entry in enumerate(header['routes']):
            named = {n: np.array(arrays[f'route{k}/{n}'], dtype=np.float64) for n in shapes}
            routes.append(_route(entry, named, shapes, model))
        if 'gait' not in header:
            return GainBank(model.hash, {frozenset(r.knots[0].contacts): r for r in routes})
        knots = tuple(knot for route in routes for knot in route.knots)
        first = int(header['gait']['first'])
        steps = sorted({knot.dt for knot in knots})
        if not (0 <= first < len(knots) and steps[0] > 0.0):
            raise ValueError(
                f'{len(knots)} knots are {steps} s apart and the period begins at knot {first}, '
                'expected more than 0 s, and one of the knots'
            )
        displacement = check_pose(np.array(header['gait']['displacement'], dtype=np.float64))
        return GaitGains(model.hash, knots, first, displacement)


@contextmanager
def _named(path: str | Path) -> Iterator[None]:
    """Raise `InputError` with the path for what is malformed."""
    try:
        yield
    except Exception as error:  # of YAML, JSON, NumPy or zip, with bytes that no bank has
        raise InputError(
            f'{path} is no gain bank of version {VERSION}: {error or type(error).__name__}; make '
            'one with save_bank'
        ) from error


def _read(content: bytes, is_yaml: bool) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Return the header, and the arrays by their names in an archive."""
    if is_yaml:
        header = parse_yaml(content.decode('utf-8'), MOST_BYTES)
        routes = enumerate(header['routes'])
        return header, {f'route{k}/{name}': entry[name] for k, entry in routes for name in entry}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > MOST_BYTES:
        raise ValueError(f'it unpacks to {size} bytes, expected at most {MOST_BYTES}')
    file = np.load(io.BytesIO(content), allow_pickle=False)
    return json.loads(str(file['header'])), file


class _Dumper(getattr(yaml, 'CSafeDumper', yaml.SafeDumper)):  # type: ignore[misc]
    """Puts each row of numbers on a line of its own."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _array(name: str, route: Route) -> Array:
    if name == 'error':
        return np.array(route.errors)
    if name == 'placement':
        return np.array([[one.placement for one in knot.supports] for knot in route.knots])
    part = attrgetter(f'state.{name}' if name in 'Hsvr' else name)
    return np.array([part(knot) for knot in route.knots])


def _route(
    entry: dict[str, Any], arrays: dict[str, Any], shapes: dict[str, str], model: TreeModel
) -> Route:
    k, supports = len(arrays['H']), entry['supports']
    sizes = {'k': k, '-': k - 1, 'f': len(supports), 'q': model.n_s, 'n': model.n, '4': 4, '6': 6}
    sizes |= {'u': len(model.actuated_joints), 'z': 2 * model.m}
    for name, shape in shapes.items():
        expected = tuple(sizes.get(letter, arrays[name].shape[-1]) for letter in shape)
        if arrays[name].shape != expected or not np.isfinite(arrays[name]).all():
            raise ValueError(f'{name} has shape {arrays[name].shape}, expected finite {expected}')
    dt, past = float(entry['dt']), arrays['K_past'].shape[-1]
    if not 0.0 <= dt < np.inf or past % max(sizes['u'], 1):
        raise ValueError(
            f'dt is {dt} s and K_past has {past} columns, expected a finite dt, not below 0, and '
            f'{sizes["u"]} columns a step'
        )
    still = {'v': np.zeros((k, 6)), 'r': np.zeros((k, model.n))}
    knots = []
    for at in range(k):
        knot = {name: values[at] for name, values in (still | arrays).items() if name != 'error'}
        feet = zip(supports, knot.pop('placement'), strict=True)
        knots.append(
            Gains(
                model.state(*(knot.pop(name) for name in 'Hsvr')),
                supports=tuple(Support(f['frame'], f['kind'], f['points'], H) for f, H in feet),
                dt=dt,
                closed_loop=float(knot.pop('margin')),
                solution=None,
                **knot,
            )
        )
    return Route(tuple(knots), arrays['error'])


def _check_hash(found: str, model: TreeModel, what: str) -> None:
    if found != model.hash:
        raise InputError(
            f'{what} is for model {found}, expected {model.hash} ({model.name!r}): the robot, its '
            'overlay or the order of its joints is another one; make the gains anew'
        )


def _header(bank: GainBank | GaitGains, model: TreeModel, name: str) -> str:
    """Return a bank as C, names beginning with ``name``."""
    is_name = re.fullmatch(r'[A-Za-z]\w*', name, re.ASCII)
    if isinstance(bank, GaitGains) or not (bank.routes and is_name):
        raise ConfigurationError(
            f'file is {name + ".h"!r} of a {type(bank).__name__}, expected a GainBank with '
            'routes, and a stem that names constants: a letter, then letters, digits and _'
        )
    rows: list[str] = []
    knots: list[Gains] = []
    for route in bank.routes.values():
        contacts = c_string('+'.join(route.knots[0].contacts))
        rows.append(f'  {{{contacts}, {len(knots)}, {len(route.knots)}}},')
        knots += route.knots
    steps, inputs = knots[0].K_past.shape[1], knots[0].feedforward.size
    arrays = {
        'x[][{NAME}_X]': [knot.state.data for knot in knots],
        'tau[][{NAME}_INPUTS]': [knot.feedforward for knot in knots],
        'K[][{NAME}_INPUTS][{NAME}_STATES]': [knot.K + knot.K_complement for knot in knots],
    }
    if steps:
        arrays['K_past[][{NAME}_INPUTS][{NAME}_PAST]'] = [knot.K_past for knot in knots]
    return _HEADER.format(
        name=name,
        NAME=name.upper(),
        robot=re.sub(r'[*\r\n]', '_', model.name),
        hash=bank.model_hash,
        period=float(knots[0].dt),
        x=knots[0].state.data.size,
        states=2 * model.m,
        inputs=inputs,
        steps=steps // max(inputs, 1),
        past=steps,
        postures=len(knots),
        routes=len(rows),
        rows='\n'.join(rows),
        arrays='\n'.join(
            f'static const double {name}_{what.format(NAME=name.upper())} = '
            f'{_nested(np.array(values))};'
            for what, values in arrays.items()
        ),
    )


def c_string(text: str) -> str:
    """Return a literal of C for a text in UTF-8, whatever its letters."""
    letters = (
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f'\\{byte:03o}'
        for byte in text.encode()
    )
    return f'"{"".join(letters)}"'


def _nested(values: Array) -> str:
    """Return an array as C reads it without rounding, a row a line."""
    if values.ndim > 1:
        return '{\n' + ',\n'.join(map(_nested, values)) + '}'
    return '{' + ', '.join(repr(float(value)) for value in values) + '}'
