# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Calls that a reader can take in: few arguments, the others in objects with names."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST, MORE_BY_NAME = 7, 2
"""Parameters, and how many more where others are by name alone."""


def decorators(function: ast.FunctionDef) -> list[str]:
    """Return the plain names of decorators."""
    return [name.id for name in function.decorator_list if isinstance(name, ast.Name)]


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Yield where each function of a file is, and how many parameters it has but for self.

    Kernels, which take flat arrays one by one, are left out.
    """
    tree = ast.parse(path.read_text())
    methods = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, ast.FunctionDef) and 'staticmethod' not in decorators(part)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and 'kernel' not in decorators(node):
            given = node.args
            positional = len(given.posonlyargs) + len(given.args)
            kind = given.vararg and given.vararg.annotation
            refused = kind is not None and ast.unparse(kind) == 'NoReturn'
            positional += (given.vararg is not None and not refused) + (given.kwarg is not None)
            count = max(positional, positional + len(given.kwonlyargs) - MORE_BY_NAME)
            where = f'{path.relative_to(ROOT)}:{node.lineno} {node.name}'
            yield where, count - (node in methods)


def test_functions__have_at_most_seven_parameters() -> None:
    files = [
        path
        for room in ('geolin_ros', 'geolin_demos', 'geolin_tools', 'tools')
        for path in (ROOT / room).rglob('*.py')
        if 'kernels' not in path.parts  # flat arrays
    ]
    found = dict(entry for path in files for entry in functions(path))
    assert len(found) > 1000
    assert [where for where, count in found.items() if count > MOST] == []
