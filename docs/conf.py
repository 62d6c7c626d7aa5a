# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site, built by `make docs` and found by rosdoc2."""

import importlib.metadata
import json
import os
import re
import sys
from pathlib import Path

import yaml
from sphinx.application import Sphinx
from sphinx.directives.code import CodeBlock

import geolin_ros
from geolin_ros.cli.parameters import as_markdown
from geolin_ros.stream.parameters.file import ALL, table_of

sys.path.insert(0, str(Path(__file__).parent))
from citations import citing, computed_by

project = 'geolin_ros'
author = 'geolin_ros contributors'
copyright = '2026 geolin_ros contributors'
release = version = importlib.metadata.version(project)

extensions = [
    'myst_parser',
    'sphinx.ext.autodoc',
    'sphinx.ext.autosummary',
    'sphinx.ext.napoleon',
    'sphinx.ext.viewcode',
    'sphinxcontrib.mermaid',
]
exclude_patterns = ['_templates']
templates_path = ['_templates']
html_theme = 'furo'
html_title = f'geolin_ros {release}'

myst_fence_as_directive = ['mermaid']
myst_heading_anchors = 4
myst_enable_extensions = ['colon_fence']

default_role = 'py:obj'
autodoc_default_options = {'members': True, 'show-inheritance': True}
autodoc_member_order = 'bysource'
autodoc_typehints = 'signature'
autosummary_ignore_module_all = False
napoleon_use_ivar = True
# A name in backticks may be that of several things.
suppress_warnings = ['ref.python', 'ref.obj']

LINK = re.compile(r'\[([^\]]+)\]\(((?:\.\./)+[^)#]+)(?:#[^)]*)?\)')
SECTION = re.compile(r'^\s*-{3,}\s*$')
PLAIN = re.compile(r'(``.*?``|`.*?`)')


def as_restructured_text(
    app: Sphinx, what: str, name: str, source: object, options: object, lines: list[str]
) -> None:
    """Make plain docstrings reStructuredText: formulas are literal, |, * and _ mean themselves.

    A paragraph that is indented after a blank line is a formula.
    """
    made: list[str] = []
    is_formula, margin = False, 0
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if line.strip():
            if is_formula:
                is_formula = indent > margin
            elif made and not made[-1].strip() and indent > margin and _text_before(made):
                made += [' ' * margin + '::', '']
                is_formula = True
            if not is_formula:
                margin = indent
        made.append(line if is_formula or line.lstrip().startswith('>>>') else _escaped(line))
    lines[:] = made


def _text_before(made: list[str]) -> bool:
    """Whether there is a paragraph that a formula could follow, not the rule of a section."""
    before = [line for line in made if line.strip()]
    return bool(before) and not SECTION.match(before[-1])


def _escaped(line: str) -> str:
    if SECTION.match(line):
        return line
    parts = PLAIN.split(line)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r'([|*])|(?<=\w)(_)(?!\w)', r'\\\1\2', parts[k])
    return ''.join(parts)


def name_files_outside(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace links to files of the repository that are no pages by their names."""
    here = (Path(app.srcdir) / page).parent

    def named(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(here / link[2]))
        if target.is_relative_to(app.srcdir):
            return link[0]
        path = target.relative_to(Path(app.srcdir).parent)
        return f'`{path}`' if link[1].endswith(str(path)) else f'{link[1]} (`{path}`)'

    source[0] = LINK.sub(named, source[0])


def write_names(folder: Path) -> None:
    """Write the list of the names of `geolin_ros` itself, each with its page."""
    lines = [
        f'- :py:obj:`{name} <{value.__module__}.{name}>`, of :py:obj:`{value.__module__}`\n'
        for name, value in ((name, getattr(geolin_ros, name)) for name in geolin_ros.__all__)
    ]
    write(folder / 'names.inc', ''.join(lines))


def write_parameters(folder: Path) -> None:
    """Write the parameters of each node; those of the linearizer once."""
    common = table_of(ALL[0])
    for node in ALL:
        rows = table_of(node)
        own = [row for row in rows if node == ALL[0] or row not in common]
        write(folder / f'parameters_{node}.inc', as_markdown(own))


def write_papers(folder: Path) -> None:
    """Write the tables of each paper: its rows and errata, and what tests found."""
    docs = folder.parent
    found = json.loads((docs / 'papers.json').read_text())
    for paper, parts in yaml.safe_load((docs / 'papers.yaml').read_text()).items():
        cited = citing(paper)
        lines = ['| statement | here | limit | found | tests |', '|---|---|---|---|---|']
        for title, where in parts['rows'].items():
            tests, limit, worst = found[paper][title]
            shown = ', '.join(f'`{test}`' for test in tests)
            here = where or ', '.join(f'`{name}`' for name in computed_by(title, cited))
            lines.append(f'| {title} | {here} | {limit} | {worst} | {shown} |')
        lines += ['', f'Tests ran: {found["of"].lower()}', '', '### Errata', '']
        lines += [
            '| | where | printed | correct | | off by, at least |',
            '|---|---|---|---|---|---|',
        ]
        for key, cells in parts['errata'].items():
            lines.append(f'| {key} | {" | ".join(cells)} | {found[paper][key][2]} |')
        name = paper.lower().replace(' ', '_')
        write(folder / f'{name}.inc', '\n'.join((*lines, '')))


def write(file: Path, text: str) -> None:
    """Write a file that has changed; else all is built again."""
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


def write_tables(app: Sphinx) -> None:
    """Write what pages include."""
    folder = Path(app.srcdir) / 'api'
    folder.mkdir(exist_ok=True)
    write_names(folder)
    write_parameters(folder)
    write_papers(folder)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add what the pages need beside the extensions; pages are read and written in parallel."""
    app.connect('builder-inited', write_tables, priority=1)
    app.connect('source-read', name_files_outside)
    app.connect('autodoc-process-docstring', as_restructured_text, priority=100)
    app.add_directive('code-cell', CodeBlock)  # notebooks in MyST: shown here, run by the tests
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
