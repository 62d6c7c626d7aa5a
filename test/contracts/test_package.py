# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What package.xml, setup.py and the code say of each other."""

import ast
import re
import subprocess
import sys
from importlib.metadata import entry_points, requires, version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Where the name to install is not the name to import.
PIP_NAME = {'yaml': 'pyyaml'}
# Looked for at run time, and done without where absent; or an extra, not in ROS's own index.
OPTIONAL = {'mujoco', 'pinocchio'}
# The extra `offline`; nothing else may import them but `urdf`, which looks for xacro.
OF_OFFLINE = {'dask', 'distributed', 'fsspec', 'rosbags', 'tqdm', 'xacro', 'xarray', 'zarr'}
# Comes with Numba, in the one version that Numba wants.
OF_NUMBA = {'llvmlite'}


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
    packages = ['geolin_control', 'geolin_demos', 'geolin_estimation', 'geolin_msgs']
    packages += ['geolin_ros', 'geolin_tools', 'geolin_walking']
    assert (done.stdout.split(), done.stderr) == (packages, '')


def manifest(folder: Path):
    package = pytest.importorskip('catkin_pkg.package')
    warnings: list[str] = []
    parsed = package.parse_package(str(folder), warnings=warnings)
    parsed.validate(warnings=warnings)
    assert warnings == []
    return parsed


def imported(*patterns: str) -> set[str]:
    """Return the packages outside the standard library that files of the product import."""
    names: set[str] = set()
    for file in {file for pattern in patterns for file in ROOT.glob(pattern)}:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition('.')[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or '').partition('.')[0])
    return names - set(sys.stdlib_module_names) - OPTIONAL - OF_NUMBA


def test_versions__agree() -> None:
    stated = {
        manifest(ROOT).version,
        manifest(ROOT / 'geolin_msgs').version,
        manifest(ROOT / 'geolin_control').version,
        manifest(ROOT / 'geolin_demos').version,
        manifest(ROOT / 'geolin_estimation').version,
        manifest(ROOT / 'geolin_tools').version,
        manifest(ROOT / 'geolin_walking').version,
        version('geolin_tools'),
        version('geolin_ros'),
    }
    assert len(stated) == 1
    assert f'Forthcoming ({stated.pop()})' in (ROOT / 'CHANGELOG.rst').read_text()


@pytest.mark.parametrize(
    ('package', 'folder'),
    [
        ('geolin_ros', ROOT),
        ('geolin_control', ROOT / 'geolin_control'),
        ('geolin_estimation', ROOT / 'geolin_estimation'),
        ('geolin_tools', ROOT / 'geolin_tools'),
        ('geolin_demos', ROOT / 'geolin_demos'),
    ],
)
def test_imports__are_declared(package: str, folder: Path) -> None:
    in_manifest = {dependency.name for dependency in manifest(folder).exec_depends}
    product = [
        line for line in requires('geolin_ros') if not re.search(r'"(test|dev|docs)"', line)
    ]
    with_pip = {re.split(r'[^\w-]', line)[0] for line in product}
    names = (
        {
            name
            for pattern in (f'{package}/**/*.py', 'launch/*.py')
            for name in imported(f'{folder.relative_to(ROOT)}/{pattern}')
        }
        - OF_OFFLINE
        - {package}
    )
    assert {'numpy', 'geolin_msgs'} <= names
    for name in names:
        pip_name = PIP_NAME.get(name, name)
        assert {pip_name, f'python3-{name}'} & in_manifest, f'package.xml lacks {name}'
        if f'python3-{name}' in in_manifest or name in PIP_NAME:
            assert pip_name in with_pip, f'setup.py lacks {pip_name}'


def test_imports_of_the_offline_part__are_in_its_extra() -> None:
    lines = [line for line in requires('geolin_ros') if 'extra == "offline"' in line]
    in_extra = {re.split(r'[^\w-]', line)[0] for line in lines}
    assert in_extra - {'h5py'} == OF_OFFLINE  # geolin_tools imports that
    others = [file for file in ROOT.glob('geolin_ros/*') if file.name not in ('offline', 'cli')]
    elsewhere = imported(*(f'geolin_ros/{file.name}/**/*.py' for file in others if file.is_dir()))
    assert elsewhere & OF_OFFLINE == {'xacro'}
    assert imported('geolin_ros/offline/*.py') & OF_OFFLINE


def test_requirements__are_pinned() -> None:
    pinned = {
        re.sub(r'[-_.]+', '-', line.partition('==')[0].lower())
        for line in (ROOT / 'requirements' / 'constraints.txt').read_text().splitlines()
    }
    wanted = [
        line
        for file in ('build.txt', 'checks.txt', 'ros-kilted.txt')
        for line in (ROOT / 'requirements' / file).read_text().splitlines()
        if not line.startswith('#')
    ]
    needed = [line for line in requires('geolin_ros') if not line.startswith('geolin_')]
    for requirement in [*wanted, *needed]:
        name = re.sub(r'[-_.]+', '-', re.split(r'[^\w.-]', requirement)[0].lower())
        assert name in pinned, f'requirements/constraints.txt lacks {name}; run tools/lock.py'


@pytest.mark.parametrize('name', ['geolin', 'linearizer'])
def test_console_scripts__point_at_functions(name: str) -> None:
    (script,) = [s for s in entry_points(group='console_scripts') if s.name == name]
    assert callable(script.load())


def test_python__finds_its_libraries_whatever_it_inherits() -> None:
    pytest.importorskip('rclpy')
    use = (
        'from rclpy.serialization import serialize_message; from geolin_msgs.msg import Matrix;'
        'print(len(serialize_message(Matrix())))'
    )
    for inherited in ({}, {'_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1'}):
        done = subprocess.run(
            [sys.executable, '-c', use], env=inherited, capture_output=True, text=True
        )
        assert done.stdout.strip().isdigit(), done.stderr


def test_what_is_never_required__is_what_a_test_asks_for() -> None:
    words = next(
        ast.literal_eval(node.value)
        for node in ast.parse((ROOT / 'test' / 'conftest.py').read_text()).body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], 'id', '') == 'NEVER_REQUIRED'
    )
    files = [file.read_text() for file in (ROOT / 'test').rglob('test_*.py')]
    asked = {name for text in files for name in re.findall(r"importorskip\('(\w+)", text)}
    assert all(word in asked or any(f'{word} are not' in text for text in files) for word in words)
