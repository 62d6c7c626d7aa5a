# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The public names: each from its home, loaded when asked for; old ones work for one version."""

import contextlib
import importlib
import inspect
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import geolin_ros
from geolin_ros import Contact, TreeModel, robots
from geolin_ros.renamed import MOVED, OLD_NODE, RENAMED
from geolin_ros.stream.parameters.file import read_parameter_file

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize('name', geolin_ros.__all__)
def test_public_name__comes_from_its_home_with_a_short_signature(name):
    value = getattr(geolin_ros, name)
    assert value.__name__ == name
    assert geolin_ros._HOMES[name] in (value.__module__, value.__module__.rpartition('.')[0])
    assert name in dir(geolin_ros)
    methods = vars(value).values() if inspect.isclass(value) else ()
    for function in (value, *filter(inspect.isfunction, methods)):
        with contextlib.suppress(ValueError):
            assert 'numpy._typing' not in str(inspect.signature(function)), function


DATA = {'H', 's', 'v', 'r', 'supports'}
"""What has a default but is no option: parts of a state, and on what a robot stands."""


@pytest.mark.parametrize('name', geolin_ros.__all__)
def test_options__go_by_name(name):
    value = getattr(geolin_ros, name)
    public = [] if inspect.isfunction(value) else [key for key in vars(value) if key[0] != '_']
    found = (value, value.__call__, *(getattr(value, key) for key in public))
    for function in (each for each in found if inspect.isfunction(each) or inspect.ismethod(each)):
        data = DATA | ({'base'} if name == 'Kinematics' else set())  # velocity('mixed')
        for given in inspect.signature(function).parameters.values():
            has_default = given.default is not given.empty and given.name not in data
            assert given.kind is given.KEYWORD_ONLY or not has_default, (function, given)


def test_names__are_those_of_the_homes_and_no_others():
    assert sorted(geolin_ros._HOMES) == sorted(geolin_ros.__all__)
    with pytest.raises(AttributeError, match='nothing'):
        _ = geolin_ros.nothing
    assert str(inspect.signature(TreeModel)) == '(**fields)'
    with pytest.raises(TypeError, match='mass'):
        TreeModel(mass=1.0)


@pytest.mark.parametrize(
    ('code', 'printed'),
    [
        ('import geolin_ros; print({"numpy", "numba"} & {*sys.modules})', 'set()'),
        (
            'import geolin_ros; print("geolin_ros.control" in sys.modules, '
            'geolin_ros.robots.path("quadruped").stem, geolin_ros.control.lqr.design.__name__)',
            'False quadruped design',
        ),
        (
            'import os; os.environ.pop("OPENBLAS_NUM_THREADS", None); import geolin_ros.ros; '
            'print("numpy" in sys.modules, os.environ["OPENBLAS_NUM_THREADS"])',
            'False 1',
        ),
    ],
)
def test_import__loads_what_is_asked_for_alone(code, printed):
    if 'geolin_ros.ros' in code:
        pytest.importorskip('geolin_msgs.msg')
    done = subprocess.check_output([sys.executable, '-c', f'import sys; {code}'], text=True)
    assert done.strip() == printed


# ---- old names


@contextlib.contextmanager
def warned(old, new, file=__file__):
    """Expect a warning, and whoever uses the old name blamed."""
    with pytest.warns(DeprecationWarning, match=f'{re.escape(old)} is now {new}') as caught:
        yield
    assert {warning.filename for warning in caught} == {file}


IN_FRONT = [name for name in RENAMED if re.match(r'geolin_ros\.([A-Z]|\w+$)', name)]
FRAMES = {'Contact': ('foot',), 'Loop': ('foot', 'hand')}


@pytest.mark.parametrize('old', IN_FRONT)
def test_old_name__is_the_new_one(old):
    _, name, *field = old.split('.')
    new = RENAMED[old]
    if not field:
        with warned(old, new):
            assert getattr(geolin_ros, name) is getattr(geolin_ros, new)
        assert name not in dir(geolin_ros)
        return
    if not new.isidentifier():
        with pytest.raises(AttributeError, match=re.escape(f'{old} is gone, expected {new}')):
            getattr(object.__new__(getattr(geolin_ros, name)), *field)
        return
    if name == 'TreeModel':
        of = TreeModel.from_urdf(robots.path('quadruped'))
    else:
        with warned(f'{name}({field[0]}=)', f'{new}='):
            of = getattr(geolin_ros, name)(*FRAMES[name], **{field[0]: 7.0})
        assert getattr(of, new) == 7.0
    with warned(old, new):
        assert getattr(of, field[0]) == getattr(of, new)


def test_arguments_that_are_alike__have_names():
    with warned('kp of Contact by position', 'kp='):
        assert vars(Contact('foot', 'point', 3.0)) == vars(Contact('foot', kp=3.0))
    reference = inspect.signature(Contact).parameters['reference']
    assert reference.kind is reference.KEYWORD_ONLY


@pytest.mark.filterwarnings('ignore:geolin_ros')  # of its module, too
@pytest.mark.parametrize('old', [name for name in RENAMED if name not in IN_FRONT])
def test_old_name_of_a_module__is_elsewhere_or_says_what_does_it(old):
    if '.ros.' in old:
        pytest.importorskip('rclpy')
    home, _, name = old.rpartition('.')
    new, found = RENAMED[old], {}
    there, _, own = new.rpartition('.')
    said = re.escape(f'{old} is gone, expected {new}')
    with pytest.raises(ImportError, match=said) if '(' in new else warned(old, new, '<string>'):
        exec(f'from {home} import {name} as found', found)
    assert '(' in new or found['found'] is getattr(importlib.import_module(there or home), own)


@pytest.mark.filterwarnings('ignore:geolin_ros')  # of its package, too
@pytest.mark.parametrize('old', [*MOVED, 'geolin_ros.view.page'])
def test_old_name_of_a_module__is_the_new_one(old, monkeypatch):
    if '.ros.' in old:
        pytest.importorskip('rclpy')
    importlib.import_module(old.rpartition('.')[0])
    sys.modules.pop(old, None)
    new = MOVED.get(old, 'geolin_tools.view.page')
    if '/' in new or '(' in new:
        said = f'now {new} of the repository, not' if '/' in new else f'gone, expected {new}'
        for find in (importlib.import_module, runpy.run_module):
            with pytest.raises(ImportError, match=re.escape(f'{old} is {said}')):
                find(old)
        assert '(' in new or (ROOT / new).exists()
        return
    with warned(old, f'{new};', '<string>'):
        exec(f'__import__({old!r})')  # cli.import is no name
    assert sys.modules[old] is importlib.import_module(new)
    assert sys.modules.pop(old).__name__ == new
    if (package := new.partition('.')[0]) != 'geolin_ros':
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ModuleNotFoundError, match=f'{old} is .* {package}, .*: pip install "'):
            importlib.import_module(old)


def test_old_name_of_a_module__is_run_as_a_program():
    pytest.importorskip('rclpy')
    old = 'geolin_ros.ros.linearization_node'
    done = subprocess.run(
        [sys.executable, '-W', 'always', '-m', old, '--help'], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('usage: linearizer [')
    assert f'{old} is now {MOVED[old]};' in done.stderr


@pytest.mark.filterwarnings('ignore:geolin_ros')  # of its package, too
def test_old_names_in_modules_that_have_moved__are_the_new_ones():
    vars(geolin_ros.control).pop('regulator', None)
    with warned('geolin_ros.control.regulator', 'geolin_control.regulator;'):
        assert geolin_ros.control.regulator is sys.modules['geolin_control.regulator']
    with warned('geolin_ros.export.folder', 'geolin_tools.export.sources;', '<string>'):
        exec('import geolin_ros.export as new; vars(new).pop("folder", None)')
        exec('from geolin_ros.export import folder')


@pytest.mark.parametrize('named', [None, '__node:=linearizer', '__node:=mine'])
def test_node__keeps_its_old_name_with_a_parameter_file_of_that(named, tmp_path, capsys):
    rclpy = pytest.importorskip('rclpy')
    from geolin_ros.ros.running import with_old_name

    file = tmp_path / 'old.yaml'
    file.write_text(f'{OLD_NODE}:\n  ros__parameters:\n    max_skew: 0.5\n')
    with pytest.warns(DeprecationWarning, match=f'section {OLD_NODE} of .* is now linearizer'):
        assert read_parameter_file(file) == {'max_skew': 0.5}
    given = ['linearizer', '--ros-args', *(('-r', named) if named else ())]
    assert with_old_name(given, 'linearizer') == given
    given += ['--params-file', str(file), '-p', 'joints:=[a]']
    context = rclpy.Context()
    rclpy.init(args=with_old_name(given, 'linearizer'), context=context)
    node = rclpy.create_node(
        'linearizer', context=context, automatically_declare_parameters_from_overrides=True
    )
    is_old = named != '__node:=mine'
    assert node.get_name() == (OLD_NODE if is_old else 'mine')
    assert node.has_parameter('max_skew') == is_old
    assert ('the node keeps this name' in capsys.readouterr().err) == is_old
    assert node.has_parameter('joints')
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_change_log__has_the_table():
    rows = re.findall(r'^  \* ``(.*)``: ``(.*)``$', (ROOT / 'CHANGELOG.rst').read_text(), re.M)
    assert sorted(rows) == sorted((RENAMED | MOVED).items())
