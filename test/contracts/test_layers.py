# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The layers of the package, as pyproject.toml states them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT = 'import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())'


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, '-c', LINT],
        cwd=folder,
        env={**os.environ, 'PYTHONPATH': str(folder)},
        capture_output=True,
        text=True,
    )


def test_layers__are_kept() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ('module', 'line', 'broken'),
    [
        ('kernels', 'import geolin_ros.model', 'layers point downwards'),
        ('kernels', 'import scipy', 'kernels know only numpy and numba'),
        ('ros', 'from geolin_ros.kernels import se3', 'ROS adapters contain no math'),
        ('stream', 'import rclpy', 'only ROS adapters and the demo know ROS'),
        ('stream', 'import geolin_msgs.msg', 'only ROS adapters and the demo know ROS'),
    ],
)
def test_layers__notice_a_wrong_import(
    tmp_path: Path, module: str, line: str, broken: str
) -> None:
    shutil.copytree(
        ROOT / 'geolin_ros', tmp_path / 'geolin_ros', ignore=shutil.ignore_patterns('__pycache__')
    )
    shutil.copy(ROOT / 'pyproject.toml', tmp_path)
    (tmp_path / 'geolin_ros' / module / 'planted.py').write_text(f'{line}\n')
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout
    assert f'{broken} BROKEN' in ' '.join(done.stdout.split())
