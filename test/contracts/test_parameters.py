# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameter table against everything that repeats it."""

from dataclasses import fields
from pathlib import Path

import pytest

from geolin_ros.cli.parameters import as_parameter_file
from geolin_ros.errors import ConfigurationError
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.parameters.linearizer import BY_NAME, MODEL_NAMES, TABLE, stream_settings
from geolin_ros.stream.parameters.table import check_all
from geolin_ros.stream.parameters.tables import ALL, table_of

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    'linearizer': 'linearizer.yaml',
    'lqr_node': 'lqr.yaml',
    'state_estimator': 'state_estimator.yaml',
    'torque_estimator': 'torque_estimator.yaml',
    'walking_node': 'walking.yaml',
}
DEFAULTS = {parameter.name: parameter.default for parameter in TABLE}


@pytest.mark.parametrize(('node', 'file'), FILES.items())
def test_parameter_file__is_the_table(node, file):
    text = (ROOT / 'config' / file).read_text()
    header, _, body = text.partition('/**:')
    assert all(line.startswith('#') for line in header.splitlines())
    expected = as_parameter_file(table_of(node))
    assert '/**:' + body == expected, f'make it anew with `geolin parameters {node}`'


@pytest.mark.parametrize(('node', 'file'), FILES.items())
def test_parameter_file__holds_every_default(node, file):
    yaml = pytest.importorskip('yaml')
    values = yaml.safe_load((ROOT / 'config' / file).read_text())
    defaults = {parameter.name: parameter.default for parameter in table_of(node)}
    assert values == {'/**': {'ros__parameters': defaults}}
    for name, value in values['/**']['ros__parameters'].items():
        assert type(value) is type(defaults[name])


def test_parameter_files__are_there_for_every_node():
    assert set(FILES) == set(ALL)


def test_pages__include_the_table_of_each_node():
    pages = '\n'.join(path.read_text() for path in (ROOT / 'docs').glob('*.md'))
    for node in ALL:
        assert pages.count(f'{{include}} api/parameters_{node}.inc') == 1, node


def test_files__are_named_at_the_start_alone():
    fixed = {row.name for node in ALL for row in table_of(node) if not row.live}
    named = {'robot_description_file', 'overlay_file', 'gain_bank', 'certificate.folder'}
    assert fixed == named | {'xacro_args', 'root', 'autostart', 'marker_rate'}


def test_names__are_unique():
    assert len(BY_NAME) == len(TABLE)
    assert set(MODEL_NAMES) <= set(BY_NAME)


EVERY = [parameter for node in ALL for parameter in table_of(node)]


@pytest.mark.parametrize('parameter', EVERY, ids=lambda parameter: parameter.name)
def test_parameter__is_described_and_allows_its_default(parameter):
    parameter.check(parameter.default)
    assert parameter.text.endswith('.')
    is_number = type(parameter.default) in (int, float)
    assert (parameter.bounds is not None) == is_number
    if parameter.choices:
        assert parameter.default == parameter.choices[0]


def test_defaults__are_those_of_the_stream():
    assert stream_settings(DEFAULTS) == StreamSettings()


def test_stream__has_a_parameter_for_every_setting():
    for field in fields(StreamSettings):
        grouped = {f'odometry.{field.name}', field.name.replace('_', '.', 1)}
        assert field.name in BY_NAME or grouped & set(BY_NAME)


@pytest.mark.parametrize(
    ('name', 'value', 'says'),
    [
        ('form', 'steps', "form is 'steps', expected one of 'continuous', 'discrete'"),
        ('dt', 2.0, 'dt is 2.0, expected 1e-06 to 1 s'),
        ('dt', float('nan'), 'dt is nan, expected'),
        ('gravity', [0.0], 'gravity has 1 numbers, expected 3'),
        ('gravity', [0.0, 0.0, float('inf')], 'gravity is .*inf.*, expected finite numbers'),
    ],
)
def test_value_that_is_not_allowed__is_refused(name, value, says):
    with pytest.raises(ConfigurationError, match=says):
        check_all({'not of the table': 1, name: value}, BY_NAME)
