# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A gain bank as a header of C, for controllers that read no files."""

import re
from pathlib import Path

import numpy as np

from geolin_control.gain_bank import GainBank
from geolin_control.whole_file import whole_file
from geolin_ros.control.lqr import Gains
from geolin_ros.errors import ConfigurationError
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array

_TEXT = """\
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


def save_header(bank: GainBank, model: TreeModel, path: str | Path) -> None:
    """Write a bank as constants of C; names begin with the stem of the file.

    Raises `ConfigurationError` if that is no identifier; `OSError` if it cannot be written.
    """
    name = Path(path).stem
    if not re.fullmatch(r'[A-Za-z]\w*', name, re.ASCII):
        raise ConfigurationError(
            f'file is {str(path)!r}, whose stem names the constants: expected a letter, then '
            'letters, digits and _, for example gains.h'
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
    text = _TEXT.format(
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
    with whole_file(path) as file:
        file.write(text.encode())


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
