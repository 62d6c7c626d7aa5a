# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A cached kernel is used only as long as neither its module nor anything it imports changed."""

import ast
import gc
import importlib
import json
import os
import pkgutil
import platform
import subprocess
import sys
import types
from pathlib import Path
from typing import NamedTuple

import numba
import pytest

from geolin_estimation import kernels as of_estimation
from geolin_ros.kernels import _jit, engine

LAYER = Path(_jit.__file__).parent
LAYERS = LAYER, Path(of_estimation.__file__).parent
MODULES = [p for layer in LAYERS for p in sorted(layer.rglob('*.py')) if p.stem != '__init__']


def imported_by_syntax_tree(source: str) -> set[Path]:
    """Return the files of the kernel layer that ``source`` imports, as Python sees them."""
    files = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith('geolin_ros.ker'):
            for name in [node.module, *(f'{node.module}.{alias.name}' for alias in node.names)]:
                file = LAYER.joinpath(*name.split('.')[2:]).with_suffix('.py')
                files |= {file} if file.is_file() else set()
        elif isinstance(node, ast.ImportFrom):
            assert 'geolin_estimation' not in str(node.module), 'not seen by the fingerprint'
        elif isinstance(node, ast.Import):
            assert not any('geolin' in alias.name for alias in node.names), ast.unparse(node)
    return files


@pytest.mark.parametrize('file', MODULES, ids=lambda file: f'{file.parent.name}/{file.name}')
def test_fingerprint__sees_every_import(file: Path) -> None:
    source = file.read_text(encoding='utf-8')
    assert _jit._imported(source) == imported_by_syntax_tree(source)


def test_fingerprint__changes_with_a_helper_of_a_helper_and_with_numba(tmp_path, monkeypatch):
    """A copy of the layer: the outer module imports the middle one, which imports the inner."""
    monkeypatch.setattr(_jit, '_LAYER', tmp_path)

    def fingerprint(inner: str) -> str:
        (tmp_path / 'inner.py').write_text(inner)
        (tmp_path / 'middle.py').write_text('from geolin_ros.kernels.inner import a\n')
        (tmp_path / 'outer.py').write_text('from geolin_ros.kernels import (\n    middle,\n)\n')
        _jit._fingerprint.cache_clear()
        return _jit._fingerprint(tmp_path / 'outer.py')

    first = fingerprint('a = 1\n')
    assert first == fingerprint('a = 1\n')
    assert first != fingerprint('a = 2\n')
    with monkeypatch.context() as patch:
        patch.setattr(numba, '__version__', f'{numba.__version__}.1')
        assert first != fingerprint('a = 1\n')
    _jit._fingerprint.cache_clear()


LANES = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from geolin_ros.kernels import _jit, engine
import scaled
scaled.scaled = _jit.kernel(scaled.scaled)
x = np.arange(64.0)
scaled.scaled(x)
assert np.array_equal(x, 2.0 * np.arange(64.0))
(code,) = scaled.scaled.inspect_asm().values()  # empty if from the cache
print(json.dumps([sum(scaled.scaled.stats.cache_hits.values()), 'ymm' in code]))
"""


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='names two processors of x86-64')
def test_machine_code__is_of_the_processor_that_runs_it(tmp_path):
    """One cache folder for two processors, of which one has no vectors of four doubles."""
    folder = tmp_path / 'cache'
    (tmp_path / 'scaled.py').write_text(
        'def scaled(x):\n    for i in range(x.size):\n        x[i] *= 2.0\n'
    )

    def first_call_on(processor: str) -> list:
        """Return, of a new process, how often the cache served and whether it uses vectors."""
        environment = {
            **os.environ,
            'NUMBA_CACHE_DIR': str(folder),
            'NUMBA_CPU_NAME': processor,
            'NUMBA_CPU_FEATURES': '',
        }
        command = [sys.executable, '-c', LANES, str(tmp_path)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    older, newer = 'x86-64', 'x86-64-v3'
    assert [first_call_on(older), first_call_on(newer)] == [[0, False], [0, True]]
    assert first_call_on(older)[0] == 1


def test_damaged_file__is_compiled_anew_and_replaced(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(_jit, 'CACHE_FOLDER', tmp_path)
    source = tmp_path / 'doubled.py'
    source.write_text('def doubled(x):\n    return 2 * x\n')
    monkeypatch.setitem(sys.modules, 'doubled', types.ModuleType('doubled'))

    def from_cache() -> int:
        """Compile as a new process would; return how often the cache served."""
        gc.collect()  # what is left of an earlier compilation would serve, too
        names = {'__name__': 'doubled'}  # of builtins Numba would keep what others put there
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


def test_engine__calls_nothing_that_counts_references():
    """Cached code of such a function may ask for Numba's runtime, which an export has not."""
    for found in pkgutil.iter_modules(engine.__path__):
        module = importlib.import_module(f'{engine.__name__}.{found.name}')
        for name, value in vars(module).items():
            if options := getattr(value, 'targetoptions', None):
                assert options.get('_nrt') is False, f'{found.name}: {name}'


class _Pair(NamedTuple):
    first: float
    second: float


ANOTHER = """
import sys
from pathlib import Path
from geolin_ros.kernels import _jit
_jit.CACHE_FOLDER = Path(sys.argv[1])
sys.path.insert(0, sys.argv[2])
import total
total = _jit.kernel(total.total)
assert total((1.0, 2.0)) == 3.0
print(sum(total.stats.cache_hits.values()))
"""


def test_code_for_tuples_of_another_package__is_kept_from_programs_without_it(
    tmp_path, monkeypatch
) -> None:
    """Else a node could not read the index, and would end as it saves its own."""
    folder = tmp_path / 'cache'
    folder.mkdir()
    monkeypatch.setattr(_jit, 'CACHE_FOLDER', folder)
    source = tmp_path / 'total.py'
    source.write_text('def total(pair):\n    return pair[0] + pair[1]\n')
    names = {'__name__': 'total'}
    exec(compile(source.read_text(), str(source), 'exec'), names)
    total = _jit.kernel(names['total'])
    hits = []
    for _ in range(2):
        assert total(_Pair(1.0, 2.0)) == 3.0
        command = [sys.executable, '-c', ANOTHER, str(folder), str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        hits.append(int(done.stdout))
    assert hits == [0, 1]
