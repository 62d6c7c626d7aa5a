# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import pytest

from geolin_ros.errors import ConfigurationError, UnknownNameError
from geolin_ros.stream.parameters.file import read_parameter_file


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        (tmp_path / 'parameters.yaml').write_text(text)
        return read_parameter_file(tmp_path / 'parameters.yaml')

    return read_text


def test_sections__of_any_node_and_of_this_one_count_later_ones_first(read):
    values = read("""
        /**: {ros__parameters: {max_skew: 1, odometry: {twist_frame: world}, use_sim_time: true}}
        /dog/linearizer: {ros__parameters: {max_skew: 0.5}}
        dog: {linearizer: {ros__parameters: {base: fixed}}}
        other_node: {ros__parameters: {anything: 1}}
    """)
    assert values == {'max_skew': 0.5, 'odometry.twist_frame': 'world', 'base': 'fixed'}
    assert isinstance(values['max_skew'], float)


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('a: [', 'no YAML'),
        ('max_skew: 1', 'expected NODE: ros__parameters'),
        ('/**: {ros__parameters: {max_skew: soon}}', "max_skew is 'soon', expected float"),
        ('/**: {ros__parameters: {max_skew: true}}', 'max_skew is True'),
        ('/**: {ros__parameters: {max_skew: 11.0}}', 'expected 0 to 10 s'),
        ('/**: {ros__parameters: {joints: [1]}}', r'joints is \[1\]'),
        ('/**: {ros__parameters: {base: flying}}', "expected one of 'auto', 'floating', 'fixed'"),
    ],
)
def test_unusable_file__is_explained(read, text, said):
    with pytest.raises(ConfigurationError, match=said):
        read(text)


def test_unknown_parameter__is_named_with_what_is_like_it(read):
    with pytest.raises(UnknownNameError, match="did you mean 'max_skew'"):
        read('/**: {ros__parameters: {max_scew: 1.0}}')
