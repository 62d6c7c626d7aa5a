# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameter files, launch files, layouts and policies against the tables and messages they name.

`test/installation` starts the launch files; that the policies' names are those of the nodes is
test/ros/test_security.py.
"""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import fields
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

from geolin_ros.cli.parameters import as_parameter_file
from geolin_ros.errors import ConfigurationError
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.parameters.file import ALL, table_of
from geolin_ros.stream.parameters.linearizer import BY_NAME, MODEL_NAMES, TABLE, stream_settings
from geolin_ros.stream.parameters.table import check_all

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / 'config'
FILES = {name: f'{name}.yaml' for name in ALL}
FILES |= {'lqr_node': 'lqr.yaml', 'walking_node': 'walking.yaml'}

# ---- parameters


@pytest.mark.parametrize('node', ALL)
def test_parameter_file__is_the_table_and_holds_every_default(node):
    text = (CONFIG / FILES[node]).read_text()
    assert text.endswith(as_parameter_file(table_of(node))), f'`geolin parameters {node}` makes it'
    values = yaml.safe_load(text)['/**']['ros__parameters']
    defaults = {row.name: row.default for row in table_of(node)}
    assert values == defaults
    assert [type(values[name]) for name in defaults] == [*map(type, defaults.values())]
    pages = '\n'.join(path.read_text() for path in (ROOT / 'docs').glob('*.md'))
    assert pages.count(f'{{include}} api/parameters_{node}.inc') == 1


@pytest.mark.parametrize('node', ALL)
def test_parameters__are_described_and_allow_their_defaults(node):
    for row in table_of(node):
        row.check(row.default)
        assert row.text.endswith('.')
        assert (row.bounds is not None) == (type(row.default) in (int, float)), row.name
        assert not row.choices or row.default == row.choices[0]


def test_parameters_of_the_linearizer__are_the_settings_of_the_stream():
    assert len(BY_NAME) == len(TABLE)
    assert set(MODEL_NAMES) <= set(BY_NAME)
    assert stream_settings({row.name: row.default for row in TABLE}) == StreamSettings()
    for field in fields(StreamSettings):
        grouped = {f'odometry.{field.name}', field.name.replace('_', '.', 1)}
        assert field.name in BY_NAME or grouped & set(BY_NAME)


def test_files_and_few_others__are_named_at_the_start_alone():
    fixed = {row.name for node in ALL for row in table_of(node) if not row.live}
    named = {'robot_description_file', 'overlay_file', 'gain_bank', 'certificate.folder'}
    assert fixed == named | {'xacro_args', 'root', 'autostart', 'marker_rate'}


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('form', 'steps'),
        ('dt', 2.0),
        ('dt', float('nan')),
        ('gravity', [0.0]),
        ('gravity', [0.0, 0.0, float('inf')]),
    ],
)
def test_value_that_is_not_allowed__is_refused(name, value):
    with pytest.raises(ConfigurationError, match=f'{name} .*expected'):
        check_all({'not of the table': 1, name: value}, BY_NAME)


# ---- launch files


def test_nodes_of_bringup__take_the_topics_and_values_that_they_share():
    pytest.importorskip('ament_index_python')
    from geolin_ros.ros.bringup import chain

    nodes = chain('FL_foot:0.02', {'odom': 'given', 'imu': 'imu/data'}, {'use_sim_time': True})
    scripts = {script.name for script in entry_points(group='console_scripts')}
    assert {node.name for node in nodes} <= scripts
    file = yaml.safe_load((CONFIG / 'bringup.yaml').read_text())
    for node in nodes:
        own = file[f'/**/{node.name}']['ros__parameters']
        values = node.parameters | own
        assert values.pop('use_sim_time') is True
        rows = {row.name: row for row in table_of(node.name)}
        for name, value in values.items():
            rows[name].check(value)
        assert node.remappings['imu'] == 'imu/data'
        assert node.remappings['odom'] == 'state_estimator/odometry'
    (alone,) = chain('FL_foot', {'odom': 'given'}, {}, nodes=['linearizer'])
    assert alone.remappings == {'odom': 'given'}


def test_node_of_a_package_that_is_missing__is_refused_with_what_to_install(tmp_path, monkeypatch):
    pytest.importorskip('ament_index_python')
    from geolin_ros.ros.bringup import check_package

    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    with pytest.raises(ConfigurationError, match=r'"geolin_ros\[estimation\]"'):
        check_package('state_estimator')


# ---- layouts of PlotJuggler and Foxglove


def test_curves__are_fields_of_the_summary_and_numbers_of_the_diagnostics():
    """PlotJuggler names a number /diagnostics/HARDWARE_ID/NAME/KEY."""
    pytest.importorskip('rclpy')
    from rclpy.time import Time

    from geolin_ros.ros.diagnostics import Diagnostics
    from geolin_ros.stream.topic_stream import Counts

    summary = (ROOT / 'geolin_msgs' / 'msg' / 'LinearizationSummary.msg').read_text()
    known = {
        f'/linearizer/summary/{field}'
        for field in re.findall(r'^(?:float64|uint\d+) (\w+)', summary, re.MULTILINE)
    }
    diagnostics = Diagnostics('/linearizer', 'linearizer', 'linearizations', 'odometry')
    diagnostics.latencies.append(1e-4)
    diagnostics.ages.append(1e-3)
    (status,) = diagnostics.report(Time(), None, Counts(), None).status
    for one in status.values:
        float(one.value)
        known.add(f'/diagnostics/{status.hardware_id}/{status.name}/{one.key}')
    root = ET.parse(CONFIG / 'layouts' / 'plotjuggler.xml').getroot()
    drawn = {curve.attrib['name'] for curve in root.iter('curve')}
    assert len([name for name in drawn if name.startswith('/diagnostics')]) == 8
    panels = json.loads((CONFIG / 'layouts' / 'foxglove.json').read_text())['configById']
    paths = [path['value'] for panel in panels.values() for path in panel.get('paths', [])]
    drawn |= {'/'.join(path.rsplit('.', 1)) for path in paths}
    assert drawn - known == set()


# ---- policies of SROS 2

FORM = {
    'policy': ({'enclaves'}, {'version'}),
    'enclaves': ({'enclave'}, set()),
    'enclave': ({'profiles'}, {'path'}),
    'profiles': ({'profile'}, set()),
    'profile': ({'topics', 'services'}, {'ns', 'node'}),
    'topics': ({'topic'}, {'publish', 'subscribe'}),
    'services': ({'service'}, {'reply', 'request'}),
    'topic': (set(), set()),
    'service': (set(), set()),
}
"""Of each element of policy.xsd 0.2.0 of the sros2 package: what it holds, and its attributes."""


@pytest.mark.parametrize('node', ALL)
def test_policy__has_the_published_form_and_denies_all_else(node):
    policy = ET.fromstring((CONFIG / 'security' / f'{node}.policy.xml').read_text())
    assert policy.attrib == {'version': '0.2.0'}
    assert policy.find('.//enclave').attrib == {'path': f'/geolin/{node}'}
    assert policy.find('.//profile').attrib == {'ns': '/', 'node': node}
    for element in policy.iter():
        children, attributes = FORM[element.tag]
        assert {child.tag for child in element} <= children
        assert set(element.attrib) <= attributes
        assert len(element) > 0 or not children  # no list may be empty
        if element.tag in ('topics', 'services'):
            assert list(element.attrib.values()) == ['ALLOW']
        if not children:
            assert re.fullmatch(r'(~/|/)?\w+(/\w+)*', element.text), 'no patterns'
