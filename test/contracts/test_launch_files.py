# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""linearization, bringup and replay launch files by content; test/installation starts them."""

import ast
import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from geolin_ros.ros.bringup import chain
from geolin_ros.stream.parameters.base_state import BASE_TABLE
from geolin_ros.stream.parameters.linearizer import TABLE
from geolin_ros.stream.parameters.lqr import LQR_TABLE

yaml = pytest.importorskip('yaml')

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / 'launch' / 'linearization.launch.py'
REPLAY = ROOT / 'launch' / 'replay.launch.py'
TREE = ast.parse(FILE.read_text())


def calls(name, tree=TREE):
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, 'id', None) == name
    ]


def keywords(call):
    return {keyword.arg: keyword.value for keyword in call.keywords}


def constant(name, tree=TREE):
    (assigned,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], 'id', None) == name
    ]
    return ast.literal_eval(assigned)


def literal(name, tree):
    """Return the entries of a dictionary that are written out."""
    (assigned,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], 'id', None) == name
    ]
    pairs = zip(assigned.keys, assigned.values, strict=True)
    return {key.value: ast.literal_eval(value) for key, value in pairs if key is not None}


def texts(tree):
    """Return the texts of a tree in order."""
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_arguments__are_described_and_used():
    declared = {
        call.args[0].value if isinstance(call.args[0], ast.Constant) else 'topic'
        for call in calls('DeclareLaunchArgument')
    }
    assert declared == {
        'robot_description_file',
        'parameters',
        'namespace',
        'name',
        'use_sim_time',
        'max_wait',
        'end_with_parent',
        'topic',
    }
    for call in calls('DeclareLaunchArgument'):
        assert {'default_value', 'description'} <= set(keywords(call))
    used = {
        call.args[0].value if isinstance(call.args[0], ast.Constant) else 'topic'
        for call in calls('LaunchConfiguration')
    }
    assert used == declared


def test_node__is_the_console_script_of_the_package():
    (node,) = calls('LifecycleNode')
    options = keywords(node)
    assert options['package'].value == 'geolin_ros'
    scripts = {script.name for script in entry_points(group='console_scripts')}
    assert options['executable'].value in scripts


def test_topics__are_those_that_the_node_hears():
    code = ''.join(file.read_text() for file in (ROOT / 'geolin_ros' / 'ros').glob('*.py'))
    for topic, text in constant('TOPICS').items():
        assert f"'{topic}'" in code
        assert re.match(r'\w+_msgs/\w+[ ;]', text)


def test_parameter_file__is_installed():
    assert "'config', 'linearizer.yaml'" in FILE.read_text()
    assert (ROOT / 'config' / 'linearizer.yaml').exists()
    setup = (ROOT / 'setup.py').read_text()
    assert "glob('config/*.yaml')" in setup
    assert "glob('launch/*.launch.py')" in setup


class TestBringup:
    TREE = ast.parse((ROOT / 'launch' / 'bringup.launch.py').read_text())

    def test_arguments__are_described_and_used(self):
        code = ast.unparse(self.TREE)
        for name, (_, text) in literal('ARGUMENTS', self.TREE).items():
            assert text.endswith(('.', '...')), name
            assert f"given['{name}']" in code or f"('robot_description_file', '{name}')" in code
        assert "'config', 'bringup.yaml'" in code
        assert "('parameters', *ARGUMENTS, *TOPICS)" in code

    def test_nodes__take_the_topics_and_values_that_they_share(self):
        for topic, text in constant('TOPICS', self.TREE).items():
            assert re.match(r'\w+_msgs/\w+[ ,;]', text), topic
        nodes = chain('FL_foot:0.02', {'odom': 'given', 'imu': 'imu/data'}, {'use_sim_time': True})
        scripts = {script.name for script in entry_points(group='console_scripts')}
        assert {node.name for node in nodes} <= scripts
        tables = {
            'state_estimator': BASE_TABLE,
            'linearizer': TABLE,
            'lqr_node': LQR_TABLE,
        }
        file = yaml.safe_load((ROOT / 'config' / 'bringup.yaml').read_text())
        for node in nodes:
            rows = {row.name: row for row in tables[node.name]}
            own = file[f'/**/{node.name}']['ros__parameters']
            for name, value in (node.parameters | own).items():
                if name != 'use_sim_time':
                    rows[name].check(value)
            assert node.parameters['use_sim_time'] is True
            assert node.remappings['imu'] == 'imu/data'
            assert node.remappings['odom'] == 'state_estimator/odometry'
        alone = chain('FL_foot', {'odom': 'given'}, {}, nodes=['linearizer'])
        assert alone[0].remappings == {'odom': 'given'}


class TestReplay:
    TREE = ast.parse(REPLAY.read_text())

    def test_arguments__are_described(self):
        declared = {
            getattr(call.args[0], 'value', 'name'): call
            for call in calls('DeclareLaunchArgument', self.TREE)
        }
        assert set(declared) == {'bag', 'name'}  # others are those of ARGUMENTS
        assert all('description' in keywords(call) for call in declared.values())
        assert 'default_value' not in keywords(declared['bag'])
        assert {'output', 'rate', 'joint_states'} <= set(constant('ARGUMENTS', self.TREE))

    def test_bag__is_played_into_the_node(self):
        (replay,) = calls('ExecuteProcess', self.TREE)
        assert 'geolin_ros.ros.bag_replay' in texts(replay)
        assert 'linearization.launch.py' in texts(self.TREE)

    def test_outputs__are_those_that_the_node_has(self):
        node = ast.parse((ROOT / 'geolin_ros' / 'ros' / 'linearizer.py').read_text())
        named = {text for text in texts(node) if re.fullmatch(r'~/\w+', text)}
        published = named - {
            '~/linearize',
            '~/linearize_along',
            '~/markers',
        }  # services, and for RViz
        replay = ast.parse((ROOT / 'geolin_ros' / 'ros' / 'bag_replay.py').read_text())
        assert {f'~/{output}' for output in constant('OUTPUTS', replay)} == published
