# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of earlier versions work for one version, with a warning that says the new one."""

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import geolin_ros
from geolin_ros import Contact, Loop, TreeModel, robots
from geolin_ros.renamed import MOVED, OLD_NODE, RENAMED
from geolin_ros.stream.parameters.file import read_parameter_file

ROOT = Path(__file__).parents[2]
OF_CLASSES = [name for name in RENAMED if name.count('.') == 2]


@pytest.mark.parametrize('old', [name for name in RENAMED if name.count('.') == 1])
def test_old_name_of_the_package__is_the_new_one(old):
    name, new = old.removeprefix('geolin_ros.'), RENAMED[old]
    with pytest.warns(DeprecationWarning, match=f'{old} is now {new}') as caught:
        assert getattr(geolin_ros, name) is getattr(geolin_ros, new)
    assert caught[0].filename == __file__
    assert name not in dir(geolin_ros)


@pytest.mark.parametrize('old', OF_CLASSES)
def test_old_name_of_an_attribute__is_the_new_one(old):
    _, name, field = old.split('.')
    of = {
        'Contact': lambda: Contact('foot', kp=3.0, kd=2.0),
        'Loop': lambda: Loop('foot', 'hand', kp=3.0, kd=2.0),
        'TreeModel': lambda: TreeModel.from_urdf(robots.path('quadruped')),
    }[name]()
    with pytest.warns(DeprecationWarning, match=f'{old} is now {RENAMED[old]}') as caught:
        assert getattr(of, field) == getattr(of, RENAMED[old])
    assert caught[0].filename == __file__


@pytest.mark.parametrize('old', [name for name in OF_CLASSES if 'TreeModel' not in name])
def test_old_name_of_an_argument__is_the_new_one(old):
    _, name, field = old.split('.')
    frames = {'Contact': ('foot',), 'Loop': ('foot', 'hand')}[name]
    with pytest.warns(DeprecationWarning, match=f'{field}=. is now {RENAMED[old]}=') as caught:
        made = getattr(geolin_ros, name)(*frames, **{field: 7.0})
    assert caught[0].filename == __file__
    assert getattr(made, RENAMED[old]) == 7.0


def test_old_name_of_the_node_class__is_the_new_one():
    pytest.importorskip('rclpy')
    from geolin_ros.ros.linearizer import LinearizerNode

    sys.modules.pop('geolin_ros.ros.linearization_node', None)
    found = {}
    with pytest.warns(DeprecationWarning, match='is now') as caught:
        exec('from geolin_ros.ros.linearization_node import LinearizationNode as Old', found)
    assert found['Old'] is LinearizerNode
    assert 'LinearizationNode is now LinearizerNode' in str(caught[-1].message)
    assert {warning.filename for warning in caught} == {'<string>'}


def test_arguments_that_are_alike__have_names():
    with pytest.warns(DeprecationWarning, match='of Contact by position is now') as caught:
        assert vars(Contact('foot', 'point', 3.0, 2.0)) == vars(Contact('foot', kp=3.0, kd=2.0))
    assert len(caught) == 2
    kinds = inspect.signature(Contact).parameters
    assert [name for name in kinds if kinds[name].kind is inspect.Parameter.KEYWORD_ONLY] == [
        *('kp', 'kd', 'reference', 'placement', 'active')
    ]


@pytest.mark.parametrize('old', [*MOVED, 'geolin_ros.view.modes'])
def test_old_name_of_a_module__is_the_new_one(old):
    if '.ros.' in old:
        pytest.importorskip('rclpy')
    sys.modules.pop(old, None)
    new = MOVED.get(old, 'geolin_tools.view.modes')
    with pytest.warns(DeprecationWarning, match=f'{old} is now {new};') as caught:
        exec(f'import {old}')
    assert {warning.filename for warning in caught} == {'<string>'}
    assert sys.modules[old] is importlib.import_module(new)
    assert sys.modules[old].__name__ == new


def test_old_name_of_a_module__is_run_as_a_program():
    pytest.importorskip('rclpy')
    done = subprocess.run(
        [sys.executable, '-W', 'always', '-m', 'geolin_ros.ros.lqr_node', '--help'],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout.partition(' [')[0]) == (0, 'usage: lqr_node'), done.stderr
    assert 'geolin_ros.ros.lqr_node is now geolin_control.lqr_node;' in done.stderr


def test_old_name_of_a_module_as_an_attribute__is_the_new_one():
    new = importlib.import_module('geolin_control.regulator')
    vars(geolin_ros.control).pop('regulator', None)
    warned = 'geolin_ros.control.regulator is now geolin_control.regulator;'
    with pytest.warns(DeprecationWarning, match=warned) as caught:
        assert geolin_ros.control.regulator is new
    assert [warning.filename for warning in caught] == [__file__]


def test_old_name_of_the_node__is_read_from_a_parameter_file(tmp_path):
    file = tmp_path / 'old.yaml'
    file.write_text(f'/robot/{OLD_NODE}: {{ros__parameters: {{max_skew: 0.5}}}}')
    with pytest.warns(DeprecationWarning, match=f'section {OLD_NODE} of .* is now linearizer'):
        assert read_parameter_file(file) == {'max_skew': 0.5}


@pytest.mark.parametrize('named', [None, '__node:=linearizer', '__node:=mine'])
def test_node__keeps_its_old_name_with_a_parameter_file_of_that(named, tmp_path, capsys):
    rclpy = pytest.importorskip('rclpy')
    from geolin_ros.ros.command_line import with_old_name

    file = tmp_path / 'old.yaml'
    file.write_text(f'{OLD_NODE}:\n  ros__parameters:\n    max_skew: 0.5\n')
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
    warned = 'the node keeps this name: lqr_node and walking_node, which expect linearizer/...'
    assert (warned in capsys.readouterr().err) == is_old
    assert node.has_parameter('joints')
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_change_log__has_the_table():
    rows = re.findall(r'^  \* ``(.*)``: ``(.*)``$', (ROOT / 'CHANGELOG.rst').read_text(), re.M)
    assert dict(rows) == RENAMED | MOVED
    assert len(rows) == len(RENAMED | MOVED)
