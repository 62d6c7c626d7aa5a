# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""launch/linearization.launch.py: by content always, for real where launch_ros is installed."""

import ast
import importlib.util
import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / 'launch' / 'linearization.launch.py'
TREE = ast.parse(FILE.read_text())


def calls(name):
    return [
        node
        for node in ast.walk(TREE)
        if isinstance(node, ast.Call) and getattr(node.func, 'id', None) == name
    ]


def keywords(call):
    return {keyword.arg: keyword.value for keyword in call.keywords}


def topics():
    (assigned,) = [
        node.value
        for node in TREE.body
        if isinstance(node, ast.Assign) and node.targets[0].id == 'TOPICS'
    ]
    return ast.literal_eval(assigned)


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
    (node,) = calls('Node')
    options = keywords(node)
    assert options['package'].value == 'geolin_ros'
    scripts = {script.name for script in entry_points(group='console_scripts')}
    assert options['executable'].value in scripts


def test_topics__are_those_that_the_node_hears():
    code = ''.join(file.read_text() for file in (ROOT / 'geolin_ros' / 'ros').glob('*.py'))
    for topic, text in topics().items():
        assert f"'{topic}'" in code
        assert re.match(r'\w+_msgs/\w+ ', text)


def test_parameter_file__is_installed():
    assert "'config', 'linearizer.yaml'" in FILE.read_text()
    assert (ROOT / 'config' / 'linearizer.yaml').exists()
    setup = (ROOT / 'setup.py').read_text()
    assert "glob('config/*.yaml')" in setup
    assert "glob('launch/*.launch.py')" in setup


def description():
    spec = importlib.util.spec_from_file_location('linearization_launch', FILE)
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
