# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""geolin_demos/launch/demo.launch.py by content; test/installation starts it."""

import ast
import importlib.util
from pathlib import Path

from geolin_demos.demo import __main__ as demo

ROOT = Path(__file__).parents[2]
FILE = ROOT / 'geolin_demos' / 'launch' / 'demo.launch.py'
TREE = ast.parse(FILE.read_text())


def strings():
    return {node.value for node in ast.walk(TREE) if isinstance(node, ast.Constant)}


def declared():
    """Return name and default of each launch argument."""
    found = {}
    for node in ast.walk(TREE):
        if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'DeclareLaunchArgument':
            options = {keyword.arg: keyword.value.value for keyword in node.keywords}
            assert options['description']
            found[node.args[0].value] = options['default_value']
    return found


def test_launch_file__has_the_arguments_and_defaults_of_the_demo():
    defaults = {name: str(value) for name, value in vars(demo.parse([])).items()}
    del defaults['base']  # launched, it is that of the file
    assert declared() == defaults


def test_launch_file__runs_what_exists():
    modules = [text for text in strings() if str(text).startswith('geolin_demos.')]
    assert sorted(modules) == ['geolin_demos.demo.consumer', 'geolin_demos.demo.robot']
    assert all(importlib.util.find_spec(module) for module in modules)
    assert 'linearizer' in strings()
    assert 'linearizer = ' in (ROOT / 'setup.py').read_text()
