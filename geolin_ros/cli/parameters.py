# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin parameters``: the parameter tables of the nodes."""

import argparse
import json
import textwrap
from collections.abc import Sequence

from geolin_ros.stream.parameters.file import ALL, table_of
from geolin_ros.stream.parameters.table import Parameter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    about = 'the node (default: %(default)s)'
    parser.add_argument('node', nargs='?', choices=ALL, default='linearizer', help=about)
    about = 'a ROS parameter file, or a table (default: %(default)s)'
    parser.add_argument('--format', choices=('yaml', 'markdown'), default='yaml', help=about)


def run(options: argparse.Namespace) -> int:
    """Print the table."""
    write = as_parameter_file if options.format == 'yaml' else as_markdown
    print(write(table_of(options.node)), end='')
    return 0


def as_markdown(table: Sequence[Parameter]) -> str:
    """Return the table of the documentation."""
    rows = ['| parameter | default | allowed | meaning |', '|---|---|---|---|']
    for parameter in table:
        default = f'`{_default_text(parameter)}` {parameter.unit}'.rstrip()
        text = parameter.text if parameter.live else f'{parameter.text} Read at start only.'
        rows.append(f'| `{parameter.name}` | {default} | {_allowed(parameter)} | {text} |')
    return '\n'.join(rows) + '\n'


def as_parameter_file(table: Sequence[Parameter]) -> str:
    """Return a ROS parameter file with every default, for a node of any name and namespace."""
    lines = ['/**:', '  ros__parameters:']
    for parameter in table:
        unit = f'[{parameter.unit}]' if parameter.unit else ''
        values = f'{_allowed(parameter)} {unit}'.replace('`', '').strip()
        comment = textwrap.wrap(parameter.text, 92) + ([values] if values else [])
        lines += [f'    # {line}' for line in comment]
        lines.append(f'    {parameter.name}: {_default_text(parameter)}')
    return '\n'.join(lines) + '\n'


def _default_text(parameter: Parameter) -> str:
    """Return the default as YAML, which is JSON but for the quotes of words."""
    if isinstance(parameter.default, str):
        return parameter.default or "''"
    return json.dumps(parameter.default)


def _allowed(parameter: Parameter) -> str:
    """Return the allowed values, for people."""
    if parameter.choices:
        return ', '.join(f'`{choice}`' for choice in parameter.choices)
    if parameter.bounds is not None:
        return f'{parameter.bounds[0]:g} ... {parameter.bounds[1]:g}'
    return ''
