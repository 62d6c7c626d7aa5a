# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What package.xml, setup.py, requirements and the code say of each other."""

import ast
import re
import subprocess
import sys
from importlib.metadata import requires, version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {'geolin_ros': ROOT} | {
    path.parent.name: path.parent for path in ROOT.glob('geolin_*/package.xml')
}
PIP_NAME = {'yaml': 'pyyaml'}
# Looked for at run time, and done without where absent; extras, not in ROS's own index; or of the
# one version of another package that wants it.
OPTIONAL = {'argcomplete', 'mujoco', 'pinocchio', 'llvmlite'}
OF_OFFLINE = {'dask', 'distributed', 'fsspec', 'rosbags', 'tqdm', 'xacro', 'xarray', 'zarr'}


def test_colcon__finds_every_package_from_the_root_of_a_workspace(tmp_path):
    (tmp_path / 'src').mkdir()
    (tmp_path / 'src' / 'repository').symlink_to(ROOT)
    colcon = Path(sys.executable).with_name('colcon')
    done = subprocess.run(
        [colcon, '--log-base', '/dev/null', 'list', '--names-only'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(FOLDERS) == 7
    assert (done.stdout.split(), done.stderr) == (sorted(FOLDERS), '')


def manifest(name):
    package = pytest.importorskip('catkin_pkg.package')
    warnings: list[str] = []
    parsed = package.parse_package(str(FOLDERS[name]), warnings=warnings)
    parsed.validate(warnings=warnings)
    assert warnings == []
    return parsed


def test_versions__agree():
    stated = {manifest(name).version for name in FOLDERS}
    (stated,) = stated | {version('geolin_tools'), version('geolin_ros')}
    assert f'Forthcoming ({stated})' in (ROOT / 'CHANGELOG.rst').read_text()


def name_of(requirement):
    return re.sub(r'[-_.]+', '-', re.split(r'[^\w.-]', requirement)[0].lower())


def imported(files):
    """Return the packages outside the standard library that files import."""
    names = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition('.')[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or '').partition('.')[0])
    return names - set(sys.stdlib_module_names) - OPTIONAL


@pytest.mark.parametrize('package', sorted({*FOLDERS} - {'geolin_msgs'}))
def test_imports__are_declared(package):
    folder = FOLDERS[package]
    in_manifest = {dependency.name for dependency in manifest(package).exec_depends}
    with_pip = {
        name_of(line)
        for line in requires('geolin_ros')
        if not re.search(r'"(test|dev|docs)"', line)
    }
    files = [*(folder / package).rglob('*.py'), *folder.glob('launch/*.py')]
    names = imported(files) - OF_OFFLINE - {package}
    assert {'numpy', 'geolin_msgs'} <= names
    for name in names:
        pip_name = PIP_NAME.get(name, name)
        assert {pip_name, f'python3-{name}'} & in_manifest, f'package.xml lacks {name}'
        if f'python3-{name}' in in_manifest or name in PIP_NAME:
            assert pip_name in with_pip, f'setup.py lacks {pip_name}'


def test_requirements__are_pinned():
    def named(file):
        lines = (ROOT / 'requirements' / f'{file}.txt').read_text().splitlines()
        return {name_of(line) for line in lines if line and not line.startswith('#')}

    needed = {name_of(line) for line in requires('geolin_ros') if not line.startswith('geolin_')}
    needed |= named('build') | named('checks') | named('ros-kilted')
    assert needed - named('constraints') == set(), 'run tools/lock.py'


def test_python__finds_its_libraries_whatever_it_inherits():
    pytest.importorskip('rclpy')
    use = (
        'from rclpy.serialization import serialize_message; from geolin_msgs.msg import Matrix;'
        'serialize_message(Matrix())'
    )
    for inherited in ({}, {'_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1'}):
        subprocess.run([sys.executable, '-c', use], env=inherited, check=True)
