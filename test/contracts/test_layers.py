# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The layers of the package, as pyproject.toml states them."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BESIDE = 'geolin_control', 'geolin_demos', 'geolin_estimation', 'geolin_tools', 'geolin_walking'
LINT = 'import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(sys.argv[1]))'


def lint_imports(folder: Path, config: str = 'pyproject.toml') -> subprocess.CompletedProcess[str]:
    paths = [str(folder / name) for name in ('', *BESIDE)]
    return subprocess.run(
        [sys.executable, '-c', LINT, config],
        cwd=folder,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )


def test_layers__are_kept() -> None:
    for config in ('pyproject.toml', *(f'{name}/.importlinter' for name in BESIDE)):
        done = lint_imports(ROOT, config)
        assert done.returncode == 0, done.stdout


PLANTED = [
    ('kernels', 'import geolin_ros.model', 'layers point downwards'),
    ('kernels', 'import scipy', 'kernels know only numpy and numba'),
    ('ros', 'from geolin_ros.kernels import se3', 'ROS adapters contain no math'),
    ('control', 'import geolin_demos.sim', 'the library knows nothing of its tools and demos'),
    ('cli', 'import geolin_tools.view', 'the library knows nothing of its tools and demos'),
    ('ros', 'import geolin_control', 'the library knows nothing of its tools and demos'),
    ('stream', 'import geolin_estimation', 'the library knows nothing of its tools and demos'),
    ('stream', 'import rclpy', 'only ROS adapters know ROS'),
    ('stream', 'import geolin_msgs.msg', 'only ROS adapters know ROS'),
]


def test_layers__notice_every_wrong_import(tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / 'geolin_ros', tmp_path / 'geolin_ros', ignore=shutil.ignore_patterns('__pycache__')
    )
    shutil.copy(ROOT / 'pyproject.toml', tmp_path)
    for k, (module, line, _) in enumerate(PLANTED):
        (tmp_path / 'geolin_ros' / module / f'planted_{k}.py').write_text(f'{line}\n')
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout
    said = ' '.join(done.stdout.split())
    for k, (module, line, broken) in enumerate(PLANTED):
        assert f'{broken} BROKEN' in said
        target = line.split()[1]
        target = target if target.startswith('geolin_ros.') else target.partition('.')[0]
        edge = rf'geolin_ros\.{module}\.planted_{k} -> {re.escape(target)}'
        assert re.search(edge, said), f'{edge} not in {said}'


LOADED = """
import sys
from pathlib import Path
{statement}
own = [module for name, module in sys.modules.items() if name.partition('.')[0] == 'geolin_ros']
files = {{module.__file__ for module in own if module.__file__}}
print(sum(len(Path(file).read_text(encoding='utf-8').splitlines()) for file in files))
"""


@pytest.mark.parametrize(
    ('statement', 'most'),
    [
        ('from geolin_ros import Linearizer', 12_600),
        pytest.param(
            'import geolin_ros.ros.linearizer',
            20_900,
            marks=pytest.mark.skipif(find_spec('rclpy') is None, reason='needs ROS 2'),
        ),
    ],
)
def test_import__loads_what_it_is_about_alone(
    statement: str, most: int, capsys: pytest.CaptureFixture[str]
) -> None:
    code = LOADED.format(statement=statement)
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with capsys.disabled():
        sys.stdout.write(f'\n{statement}: {int(done.stdout)} lines, at most {most}\n')
    assert 5000 < int(done.stdout) <= most


@pytest.mark.parametrize(
    ('packages', 'most'), [(['geolin_ros'], 36_000), (['geolin_ros', *BESIDE], 60_500)]
)
def test_packages__stay_small(
    packages: list[str], most: int, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [ROOT / name if name == 'geolin_ros' else ROOT / name / name for name in packages]
    files = [file for folder in folders for file in folder.rglob('*.py')]
    lines = sum(len(file.read_text(encoding='utf-8').splitlines()) for file in files)
    with capsys.disabled():
        sys.stdout.write(f'\n{", ".join(packages)}: {lines} lines, at most {most}\n')
    assert most - 3000 < lines <= most


def test_the_check__loads_no_kernel_but_the_layout_that_models_carry() -> None:
    """Through others too, which the contract about imports leaves out; see ``planted_errors``."""
    code = (
        'import sys, geolin_ros.verification.certificate\n'
        'print(*(n.split(".")[2] for n in sys.modules if n.startswith("geolin_ros.kernels.")))'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert set(done.stdout.split()) == {'_jit', 'packing', 'se3'}, done.stderr


def test_rooms__are_those_of_the_page_about_the_design() -> None:
    text = (ROOT / 'docs' / 'design.md').read_text(encoding='utf-8')
    package = ROOT / 'geolin_ros'
    rooms = {path.parent.name for path in package.glob('*/__init__.py')}
    rows = [line.split('|')[1] for line in text.splitlines() if line.startswith('| `')]
    listed = {name.strip(' `') for row in rows for name in row.split(',')}
    assert rooms == listed
    for path in re.findall(r'`([\w/]+\.py)`', text):
        assert (package / path).exists() or (ROOT / path).exists(), path
    loose = {path.stem for path in package.glob('*.py')} - {'__init__'}
    assert loose == set(re.findall(r'`(errors|typing|optional|processes|datasets|renamed)`', text))
