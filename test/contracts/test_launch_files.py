# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The bringup launch file by content; test/installation starts them all."""

import ast
import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from geolin_estimation.base_parameters import BASE_TABLE

pytest.importorskip('ament_index_python')

from geolin_control.parameters import LQR_TABLE

from geolin_ros.errors import ConfigurationError
from geolin_ros.ros.bringup import chain, check_package
from geolin_ros.stream.parameters.linearizer import TABLE

yaml = pytest.importorskip('yaml')

ROOT = Path(__file__).resolve().parents[2]
TREE = ast.parse((ROOT / 'launch' / 'bringup.launch.py').read_text())


def constant(name):
    (assigned,) = [
        node.value
        for node in TREE.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], 'id', None) == name
    ]
    return ast.literal_eval(assigned)


def test_nodes__take_the_topics_and_values_that_they_share():
    for topic, text in constant('TOPICS').items():
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


def test_node_of_a_package_that_is_missing__is_refused_with_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    with pytest.raises(ConfigurationError) as refused:
        check_package('state_estimator')
    for word in ('geolin_estimation', '"geolin_ros[estimation]"', 'state_estimator:=false'):
        assert word in str(refused.value)
