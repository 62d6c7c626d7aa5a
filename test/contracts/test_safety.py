# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""No byte from outside becomes code: by the syntax trees of all that is installed."""

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = tuple(
    ROOT / folder
    for folder in (
        'geolin_ros',
        'geolin_tools/geolin_tools',
        'geolin_demos/geolin_demos',
        'geolin_walking/geolin_walking',
    )
)
MODULES = {'pickle', 'cPickle', 'dill', 'cloudpickle', 'joblib', 'marshal', 'shelve', 'code'}
MODULES |= {'urllib', 'http', 'requests', 'socket', 'ftplib', 'telnetlib', 'xmlrpc'}
CALLS = {'eval', 'exec', 'compile', '__import__', 'system', 'popen', 'import_module'}
XML = {'urdf/safe_xml.py', 'urdf/shapes.py', 'urdf/writer.py'}
PROCESSES = {'demo/processes.py'}


IMPORTERS = {
    '__init__.py',
    'cli/__init__.py',
    'control/__init__.py',
    'linearization/state_space.py',  # python-control
    'optional.py',
    'renamed.py',
    'ros/bag_replay.py',  # the message packages that a bag names, as the recorder
    'ros/programs.py',
    'ros/recorder.py',  # the message packages that topics of the graph name, as ROS's own tools do
}
"""What imports modules by name: of this package, of its extras, of message packages."""


@functools.cache
def trees():
    """Return (file, syntax tree) of all."""
    return [
        (str(file.relative_to(package)), ast.parse(file.read_text(encoding='utf-8')))
        for package in PACKAGES
        for file in sorted(package.rglob('*.py'))
    ]


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)


def calls(tree):
    """Yield (name, keywords, whether of an object) of each call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            keywords = {word.arg: word.value for word in node.keywords}
            if isinstance(node.func, ast.Name):
                yield node.func.id, keywords, None
            elif isinstance(node.func, ast.Attribute):
                owner = node.func.value
                yield node.func.attr, keywords, getattr(owner, 'id', '?')


def test_package__imports_nothing_that_runs_or_fetches_what_it_reads():
    used = {
        (file, name)
        for file, tree in trees()
        for name in imported(tree)
        if name.split('.')[0] in MODULES
    }
    assert used == set()


def test_package__evaluates_no_text():
    used = {
        (file, name)
        for file, tree in trees()
        for name, _, owner in calls(tree)
        if name in CALLS and owner in (None, 'os', 'builtins', 'importlib')
    }
    assert {file for file, _ in used} == IMPORTERS, used
    assert {name for _, name in used} <= {'import_module'}, used


def test_processes__are_started_where_it_is_known_and_never_by_a_shell():
    starters = {file for file, tree in trees() if 'subprocess' in set(imported(tree))}
    assert starters == PROCESSES
    for _, tree in trees():
        assert all('shell' not in keywords for _, keywords, _ in calls(tree))


def test_arrays__are_loaded_without_objects():
    loads = [
        (file, keywords.get('allow_pickle'))
        for file, tree in trees()
        for name, keywords, owner in calls(tree)
        if name == 'load' and owner == 'np'
    ]
    assert loads
    for file, allowed in loads:
        assert isinstance(allowed, ast.Constant), file
        assert allowed.value is False, file


def test_yaml__is_read_by_safe_loaders():
    users = {file for file, tree in trees() if 'yaml' in set(imported(tree))}
    assert users == {
        'description/safe_yaml.py',
        'control/gain_file.py',
        'cli/identify.py',
        'reports/inspection.py',
    }
    attributes = {
        node.attr
        for file, tree in trees()
        for node in ast.walk(tree)
        if file in users and isinstance(node, ast.Attribute) and ast.unparse(node.value) == 'yaml'
    }
    assert 'SafeLoader' in attributes
    assert not {
        name for name in attributes if name.startswith(('Unsafe', 'Full', 'unsafe', 'full'))
    }
    assert not attributes & {'Loader', 'CLoader', 'CUnsafeLoader', 'CFullLoader', 'load_all'}


def test_xml__is_seen_by_the_package_of_urdf_alone():
    users = {
        file for file, tree in trees() if any(name.startswith('xml.') for name in imported(tree))
    }
    assert users == XML
