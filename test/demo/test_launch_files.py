# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""geolin_demos/launch by content; test/installation starts its files."""

import ast
import importlib.util
import json
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from geolin_ros.ros.bringup import NODES
from geolin_ros.stream.parameters.linearizer import TABLE

ROOT = Path(__file__).parents[2]
TREE = ast.parse((ROOT / 'geolin_demos' / 'launch' / 'standing.launch.py').read_text())


def calls(function):
    """Yield the calls of a function in the launch file."""
    for node in ast.walk(TREE):
        if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == function:
            yield node


def strings(tree):
    """Return the texts below a node, in order."""
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [text for text in constants if isinstance(text, str)]


def test_launch_files__start_what_exists():
    modules = [text for text in strings(TREE) if text.startswith('geolin_demos.')]
    assert modules == ['geolin_demos.balance.robot']
    assert importlib.util.find_spec(modules[0])
    scripts = {script.name: script.value for script in entry_points(group='console_scripts')}
    for script, package in NODES.items():
        assert scripts[script].partition('.')[0] == package


def test_simulator_of_the_launch_file__is_given_options_that_it_has():
    pytest.importorskip('mujoco')
    from geolin_demos.balance.robot import parse

    (call,) = calls('ExecuteProcess')
    options = [text for text in strings(call) if text.startswith('--')]
    assert sorted(options) == ['--estimated', '--feet', '--output', '--robot']
    options.remove('--estimated')
    found = parse([word for option in options for word in (option, 'x')])
    assert (found.robot, found.feet, found.output) == ('x', 'x', Path('x'))


@pytest.mark.parametrize('robot', ['quadruped', 'humanoid'])
def test_node_parameters__are_in_the_tables_and_mean_the_feet(robot):
    pytest.importorskip('mujoco')
    from geolin_control.feedback_stream import LQR_TABLE, supports_of
    from geolin_demos.balance.robots import node_parameters, overlay, simulator_of

    simulator = simulator_of(robot)
    values = node_parameters(simulator, robot)
    for program, table in (('linearizer', TABLE), ('lqr_node', LQR_TABLE)):
        rows = {row.name: row for row in table}
        for name, value in values[program].items():
            rows[name].check(value)
    found = {support.frame: support.kind for support in supports_of(values['lqr_node'])}
    assert found == {frame: support.kind for frame, support in simulator.feet.items()}
    assert json.loads(overlay())['joints']['*']['rotor_inertia'] == 0.01
