# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which docstrings cite equations and tables of a paper: [Bos 2022, Table 5, Eqs. (62), (68)]."""

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BESIDE = 'control', 'demos', 'estimation', 'tools', 'walking'
SOURCES = (
    ROOT / 'geolin_ros',
    *(ROOT / f'geolin_{name}/geolin_{name}' for name in BESIDE),
    ROOT / 'examples/geolin_papers',
)
NUMBER = r'\(?(?:\d+(?:\.\d+)*|[AB]\b)\)?'
REFERENCE = re.compile(
    r'\b((?i:eq|table|proposition|definition|property|problem|remark|lemma|section|appendix))'
    rf's?\.? ({NUMBER}(?:(?:, | and |-){NUMBER})*)'
)


def references(text: str) -> set[str]:
    """Return what a text refers to, each of a range.

    >>> sorted(references('Table 6, Eqs. (62), (68)-(70)'))
    ['eq 62', 'eq 68', 'eq 69', 'eq 70', 'table 6']
    """
    found = set()
    for kind, numbers in REFERENCE.findall(text):
        for part in re.split(r', | and ', numbers):
            first, *last = (end.strip('()') for end in part.split('-'))
            each = range(int(first), int(last[0]) + 1) if last else (first,)
            found |= {f'{kind.lower()} {number}' for number in each}
    return found


@functools.cache
def docstrings() -> dict[tuple[str, ...], str]:
    """Return the docstrings of all modules, classes and functions, by their names."""
    found = {}
    for root in SOURCES:
        for path in sorted(root.rglob('*.py')):
            parts = path.relative_to(root.parent).with_suffix('').parts
            name = parts[:-1] if parts[-1] == '__init__' else parts
            inside = [(name, ast.parse(path.read_text(encoding='utf-8')))]
            for owner, node in inside:
                found[owner] = ' '.join((ast.get_docstring(node) or '').split())
                inside += [
                    ((*owner, child.name), child)
                    for child in node.body
                    if isinstance(child, ast.ClassDef | ast.FunctionDef)
                ]
    return found


def citing(paper: str) -> dict[tuple[str, ...], set[str]]:
    """Return what of a paper each object cites, by its name."""
    found: dict[tuple[str, ...], set[str]] = {}
    for name, text in docstrings().items():
        cited = re.findall(rf'[\[;] ?{paper}, ([^\];]+)', text)
        if refers := set().union(*map(references, cited)):
            found[name] = refers
    return found


def computed_by(statement: str, cited: dict[tuple[str, ...], set[str]]) -> list[str]:
    """Return the names of what cites a statement, no module beside its parts."""
    refers = references(statement)
    names = [name for name, own in cited.items() if own & refers]
    modules = {name[:k] for name in names for k in range(1, len(name)) if name[k - 1].islower()}
    return ['.'.join(name) for name in names if name not in modules]
