# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A cached kernel is used only as long as neither its module nor anything it imports changed."""

import ast
from pathlib import Path

import pytest

from geolin_ros.kernels import _jit

LAYER = Path(_jit.__file__).parent
MODULES = sorted(file for file in LAYER.glob('*.py') if file.stem != '__init__')


def imported_by_syntax_tree(source: str) -> set[str]:
    """Return the modules of the kernel layer that ``source`` imports, as Python sees them."""
    modules = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == 'geolin_ros.kernels':
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith('geolin_ros.ker'):
            modules.add(str(node.module).split('.')[2])
        elif isinstance(node, ast.Import):
            assert not any('geolin_ros' in alias.name for alias in node.names), ast.unparse(node)
    return modules


@pytest.mark.parametrize('file', MODULES, ids=lambda file: file.stem)
def test_fingerprint__sees_every_import(file: Path) -> None:
    source = file.read_text(encoding='utf-8')
    assert _jit._imported(source) == imported_by_syntax_tree(source)


def test_fingerprint__changes_with_a_helper_of_a_helper(tmp_path: Path) -> None:
    """A copy of the layer: the outer module imports the middle one, which imports the inner."""

    def fingerprint(inner: str) -> str:
        (tmp_path / 'inner.py').write_text(inner)
        (tmp_path / 'middle.py').write_text('from geolin_ros.kernels.inner import a\n')
        (tmp_path / 'outer.py').write_text('from geolin_ros.kernels import (\n    middle,\n)\n')
        _jit._fingerprint.cache_clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_jit, '_LAYER', tmp_path)
            return _jit._fingerprint(tmp_path / 'outer.py')

    first = fingerprint('a = 1\n')
    assert first == fingerprint('a = 1\n')
    assert first != fingerprint('a = 2\n')
    _jit._fingerprint.cache_clear()


def test_damaged_file__is_compiled_anew_and_replaced(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(_jit, 'CACHE_FOLDER', tmp_path)
    source = tmp_path / 'doubled.py'
    source.write_text('def doubled(x):\n    return 2 * x\n')

    def from_cache() -> int:
        """Compile as a new process would; return how often the cache served."""
        names: dict = {}
        exec(compile(source.read_text(), str(source), 'exec'), names)
        doubled = _jit.kernel(names['doubled'])
        assert doubled(21) == 42
        return sum(doubled.stats.cache_hits.values())

    assert [from_cache(), from_cache()] == [0, 1]
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    files = [path for path in folder.rglob('*') if path.is_file()]
    assert {file.suffix for file in files} == {'.nbi', '.nbc'}
    for damaged in files:
        for content in (b'', b'nonsense', damaged.read_bytes()[:-20]):
            damaged.write_bytes(content)
            assert [from_cache(), from_cache()] == [0, 1]
