# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The layers of the packages, as their configuration states them, and how much an import loads."""

import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BESIDE = 'geolin_control', 'geolin_demos', 'geolin_estimation', 'geolin_tools', 'geolin_walking'
LOADED = """
import sys
{statement}
own = [name for name in sys.modules if name.partition('.')[0] == 'geolin_ros']
print(*(name for name in own if sys.modules[name].__file__))
"""


def loaded(statement: str) -> dict[str, int]:
    """Return the lines of all modules of the library that a statement loads."""
    code = LOADED.format(statement=statement)
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = {}
    for name in done.stdout.split():
        path = ROOT.joinpath(*name.split('.'))
        file = path / '__init__.py' if path.is_dir() else path.with_suffix('.py')
        found[name] = len(file.read_text(encoding='utf-8').splitlines())
    return found


@pytest.mark.parametrize('config', ['pyproject.toml', *(f'{x}/.importlinter' for x in BESIDE)])
def test_layers__are_kept(config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    importlinter = pytest.importorskip('importlinter.cli')
    monkeypatch.chdir(ROOT)
    for name in ('', *BESIDE):
        monkeypatch.syspath_prepend(str(ROOT / name))
    assert importlinter.lint_imports(config) == 0


def test_no_modules__import_each_other() -> None:
    """In circles of any length, parents and what is in them too, which the contracts leave out."""
    graph = pytest.importorskip('grimp').build_graph('geolin_ros', *BESIDE, cache_dir=None)
    imported = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert {'geolin_ros', *BESIDE} <= imported.keys()
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        pytest.fail(' -> '.join(error.args[1][::-1]))


NODE = 'import geolin_ros.ros.linearizer as node'
ROS = pytest.mark.skipif(find_spec('rclpy') is None, reason='needs ROS 2')


@pytest.mark.parametrize(
    ('statement', 'most'),
    [
        ('from geolin_ros import Linearizer', 11_500),
        pytest.param(NODE, 18_200, marks=ROS),
        pytest.param(f'{NODE}; node.warm_up()', 20_100, marks=ROS),
    ],
)
def test_import__loads_what_it_is_about_alone(
    statement: str, most: int, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = sum(loaded(statement).values())
    with capsys.disabled():
        sys.stdout.write(f'\n{statement}: {lines} lines, at most {most}\n')
    assert 5000 < lines <= most


@pytest.mark.parametrize(
    ('packages', 'most'), [(['geolin_ros'], 30_000), (['geolin_ros', *BESIDE], 48_000)]
)
def test_packages__stay_small(packages: list[str], most: int) -> None:
    folders = [ROOT / name if name == 'geolin_ros' else ROOT / name / name for name in packages]
    files = [file for folder in folders for file in folder.rglob('*.py')]
    assert sum(len(file.read_text(encoding='utf-8').splitlines()) for file in files) <= most


def test_the_check__loads_no_kernel_but_the_layout_that_models_carry() -> None:
    """Through others too, which the contract about imports leaves out; see ``planted_errors``."""
    kernels = [name.split('.')[2:] for name in loaded('import geolin_ros.verification.certificate')
               if name.startswith('geolin_ros.kernels.')]  # fmt: skip
    assert {name for name, *_ in kernels} == {'_jit', 'packing', 'se3'}
