# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""linearization and replay launch files: by content always, for real where launch_ros is."""

import ast
import importlib.util
import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

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
        if isinstance(node, ast.Assign) and node.targets[0].id == name
    ]
    return ast.literal_eval(assigned)


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
    assert declared == {'robot_description_file', 'parameters', 'namespace', 'name', 'topic'}
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
        assert re.match(r'\w+_msgs/\w+ ', text)


def test_parameter_file__is_installed():
    assert "'config', 'linearizer.yaml'" in FILE.read_text()
    assert (ROOT / 'config' / 'linearizer.yaml').exists()
    setup = (ROOT / 'setup.py').read_text()
    assert "glob('config/*.yaml')" in setup
    assert "glob('launch/*.launch.py')" in setup


class TestReplay:
    TREE = ast.parse(REPLAY.read_text())

    def test_arguments__are_described(self):
        declared = {call.args[0].value: call for call in calls('DeclareLaunchArgument', self.TREE)}
        assert set(declared) == {'bag', 'output', 'rate'}
        assert all('description' in keywords(call) for call in declared.values())
        assert 'default_value' not in keywords(declared['bag'])

    def test_bag__is_played_with_its_clock_into_the_node_that_follows_it(self):
        player, recorder = calls('ExecuteProcess', self.TREE)
        played = texts(player)
        assert {'ros2', 'bag', 'play', '--clock', '--rate'} <= set(played)
        (simulated,) = calls('SetParameter', self.TREE)
        assert [argument.value for argument in simulated.args] == ['use_sim_time', True]
        assert 'linearization.launch.py' in texts(self.TREE)
        (started,) = calls('OnStateTransition', self.TREE)
        assert keywords(started)['goal_state'].value == 'active'
        assert keywords(started)['entities'].elts[0].id == 'player'
        assert {'--use-sim-time', '--output', '--topics'} <= set(texts(recorder))

    def test_outputs__are_those_that_the_node_has(self):
        node = ast.parse((ROOT / 'geolin_ros' / 'ros' / 'linearization_node.py').read_text())
        named = {text for text in texts(node) if re.fullmatch(r'~/\w+', text)}
        published = named - {'~/linearize'}
        assert {f'~/{output}' for output in constant('OUTPUTS', self.TREE)} == published

    def test_end_of_the_bag__is_the_end(self):
        (ended,) = calls('OnProcessExit', self.TREE)
        assert keywords(ended)['target_action'].id == 'player'
        assert 'Shutdown' in ast.dump(keywords(ended)['on_exit'])

    def test_launch__can_be_loaded(self):
        pytest.importorskip('launch_ros')
        assert len(description(REPLAY).entities) == 8


def description(file=FILE):
    spec = importlib.util.spec_from_file_location('loaded_launch', file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.generate_launch_description()


def test_launch__starts_the_node():
    pytest.importorskip('launch_ros')
    from launch.actions import EmitEvent, RegisterEventHandler, SetLaunchConfiguration
    from launch.event_handlers import OnProcessExit, OnProcessIO
    from launch.events import Shutdown

    from geolin_ros import robots
    from launch import LaunchDescription, LaunchService

    printed, statuses = [], []

    def on_output(event):
        printed.append(event.text.decode())
        if 'serve quadruped' in ''.join(printed):
            return EmitEvent(event=Shutdown())
        return None

    service = LaunchService()
    file = str(robots.path('quadruped'))
    service.include_launch_description(
        LaunchDescription(
            [
                SetLaunchConfiguration('robot_description_file', file),
                SetLaunchConfiguration('namespace', 'robot1'),
                RegisterEventHandler(OnProcessIO(on_stdout=on_output, on_stderr=on_output)),
                RegisterEventHandler(
                    OnProcessExit(on_exit=lambda event, _: statuses.append(event.returncode))
                ),
                *description().entities,
            ]
        )
    )
    assert service.run() == 0, ''.join(printed)
    assert statuses == [0]
    assert '[robot1.linearization_node]: serve quadruped' in ''.join(printed)
