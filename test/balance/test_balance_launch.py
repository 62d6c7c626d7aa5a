# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""geolin_demos/launch/standing.launch.py by content; test/installation starts it."""

import argparse
import ast
import importlib.util
import json
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest.importorskip('mujoco')

from geolin_control.parameters import LQR_TABLE, supports_of
from geolin_demos.balance.robot import parse
from geolin_demos.balance.robots import FEET, node_parameters, overlay, simulator_of

from geolin_ros.ros.bringup import NODES
from geolin_ros.stream.parameters.linearizer import TABLE

FILE = Path(__file__).parents[2] / 'geolin_demos' / 'launch' / 'standing.launch.py'
TREE = ast.parse(FILE.read_text())


def test_launch_file__starts_console_scripts_and_a_module_that_exists():
    scripts = {script.name: script.value for script in entry_points(group='console_scripts')}
    for script, package in NODES.items():
        assert scripts[script].partition('.')[0] == package
    assert importlib.util.find_spec('geolin_demos.balance.robot')
    assert 'geolin_demos.balance.robot' in FILE.read_text()


def test_simulator_of_the_launch_file__is_given_options_that_it_has():
    (words,) = (
        keyword.value.elts
        for node in ast.walk(TREE)
        if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'ExecuteProcess'
        for keyword in node.keywords
        if keyword.arg == 'cmd'
    )
    options = [
        node.value
        for word in words
        for node in ast.walk(word)
        if isinstance(node, ast.Constant) and str(node.value).startswith('--')
    ]
    assert options == ['--robot', '--feet', '--estimated', '--output']
    options.remove('--estimated')
    found = parse([word for option in options for word in (option, 'x')])
    assert (found.robot, found.feet, found.output) == ('x', 'x', Path('x'))


@pytest.mark.parametrize('robot', ['quadruped', 'humanoid'])
def test_node_parameters__are_in_the_tables_and_mean_the_feet(robot, tmp_path):
    options = argparse.Namespace(robot=robot, feet=FEET[robot], effort_limit=None, friction=0.8)
    simulator, _ = simulator_of(options)
    (tmp_path / 'overlay.json').write_text(overlay())
    values = node_parameters(simulator, robot, tmp_path / 'overlay.json', realtime=False)
    for program, table in (('linearizer', TABLE), ('lqr_node', LQR_TABLE)):
        rows = {row.name: row for row in table}
        for name, value in values[program].items():
            rows[name].check(value)
    found = {support.frame: support.kind for support in supports_of(values['lqr_node'])}
    assert found == {frame: support.kind for frame, support in simulator.feet.items()}
    assert json.loads(overlay())['joints']['*']['rotor_inertia'] == 0.01
