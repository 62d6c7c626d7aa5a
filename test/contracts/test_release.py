# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is released: the same bytes each time, complete without the repository."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytest.importorskip('build')


@pytest.fixture(scope='module')
def releases(tmp_path_factory):
    """A build of the commit; and of the library alone, seconds and umasks apart."""
    if not (ROOT / '.git').exists():
        pytest.skip('releases are built from a git checkout')
    folders = []
    for umask, packages in (('022', 'dist.PACKAGES'), ('077', '(".",)')):
        folder = tmp_path_factory.mktemp('dist')
        code = f'from tools import dist; dist.PACKAGES = {packages}; dist.main()'
        command = f"umask {umask}; exec {sys.executable} -c '{code}' {folder}"
        subprocess.run(['sh', '-c', command], check=True, capture_output=True, cwd=ROOT)
        folders.append(folder)
    return folders


def test_release__is_the_same_bytes_again(releases):
    first, second = ({f.name: f.read_bytes() for f in folder.iterdir()} for folder in releases)
    packages = [
        *('geolin_control', 'geolin_demos', 'geolin_estimation'),
        *('geolin_ros', 'geolin_tools', 'geolin_walking'),
    ]
    kinds = [(name.partition('-')[0], Path(name).suffix) for name in sorted(first)]
    assert kinds == [(package, suffix) for package in packages for suffix in ('.whl', '.gz')]
    assert second == {name: first[name] for name in first if name.startswith('geolin_ros')}


def test_wheel__holds_the_library_alone(releases):
    (file,) = releases[0].glob('geolin_ros*.whl')
    with zipfile.ZipFile(file) as wheel:
        names = wheel.namelist()
        (metadata,) = (name for name in names if name.endswith('.dist-info/METADATA'))
        text = wheel.read(metadata).decode()
    tops = {re.sub(r'-[\d.]+\d', '', name.partition('/')[0]) for name in names}
    assert tops == {'geolin_ros', 'geolin_ros.data', 'geolin_ros.dist-info'}
    rooms = {name.split('/')[1] for name in names if name.startswith('geolin_ros/')}
    assert rooms - {path.name for path in (ROOT / 'geolin_ros').iterdir()} == set()
    needs = re.findall(r'^Requires-Dist: ([\w-]+)[^;\n]*$', text, re.MULTILINE)
    assert sorted(needs) == ['numba', 'numpy', 'pyyaml']


@pytest.mark.parametrize('suffix', ['.whl', '.tar.gz'])
def test_release__runs_without_the_repository(releases, suffix, tmp_path):
    (file,) = releases[0].glob(f'geolin_ros*{suffix}')
    pip = [sys.executable, '-m', 'pip', 'install', '--quiet', '--no-deps', '--no-build-isolation']
    subprocess.run([*pip, '--target', str(tmp_path / 'site'), str(file)], check=True)
    code = (
        'import geolin_ros; from geolin_ros import TreeModel, robots;'
        'print(geolin_ros.__file__); print(TreeModel.from_urdf(robots.path("humanoid")).n)'
    )
    environment = os.environ | {'PYTHONPATH': str(tmp_path / 'site')}
    ran = subprocess.check_output(
        [sys.executable, '-c', code], text=True, cwd=tmp_path, env=environment
    )
    where, joints = ran.split()
    assert Path(where).is_relative_to(tmp_path)
    assert int(joints) > 20
    share = tmp_path / 'site' / 'share' / 'geolin_ros'
    launch = [f'launch/{name}.launch.py' for name in ('bringup', 'linearization', 'replay')]
    for name in ('config/linearizer.yaml', 'package.xml', *launch):
        assert (share / name).exists(), name
    assert len([*share.glob('launch/*.py')]) == len(launch)
