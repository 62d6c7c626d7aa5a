# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameter files: those of docs/integration.md with robots like theirs, and what is refused."""

import re
from pathlib import Path

import numpy as np
import pytest
from support.messages import SECOND, joint_state, odometry, random_quaternion, wrench_stamped
from support.robots import example_robot
from support.taking import take

from geolin_ros import Linearizer
from geolin_ros.errors import ConfigurationError, UnknownNameError
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.parameters.file import read_parameter_file
from geolin_ros.stream.parameters.linearizer import TABLE, stream_settings
from geolin_ros.stream.parameters.model_reading import read_model

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'docs' / 'integration.md').read_text()
T0 = 100 * SECOND


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
        ('/**: {ros__parameters: {max_scew: 1.0}}', "did you mean 'max_skew'"),
    ],
)
def test_unusable_file__is_explained(read, text, said):
    with pytest.raises(UnknownNameError if 'scew' in text else ConfigurationError, match=said):
        read(text)


def robot_of(name, robot, **changed):
    """Return model and settings of a parameter file of the page."""
    values = {parameter.name: parameter.default for parameter in TABLE}
    values |= read_parameter_file(ROOT / 'config' / f'{name}.yaml') | changed
    return read_model(example_robot(robot), values, lambda _: None), stream_settings(values)


@pytest.mark.parametrize(
    ('name', 'robot', 'locked'),
    [
        ('quadruped_like_go2', 'go2', 0),
        ('humanoid_like_g1', 'g1_29dof_with_hand_rev_1_0', 14),
        ('humanoid_like_icub', 'icub', 3),
    ],
)
def test_file__makes_the_robot_linearizable_by_what_it_publishes(name, robot, locked):
    model, settings = robot_of(name, robot)
    assert len(model.locked_joints) == locked
    stream, rng = LinearizationStream(model, settings), np.random.default_rng(0)
    child = settings.child_frame or settings.frame_prefix + model.base_link
    for stamp in (T0, T0 + 2_000_000):
        place, turn = rng.normal(size=3), random_quaternion(rng)
        take(stream, 'odom', odometry(stamp, place, turn, rng.normal(size=6), child))
    for topic in settings.wrench_topics:
        frame = topic.link if topic.kind == 'body' else 'odom'
        take(stream, topic.topic, wrench_stamped(T0, 50 * rng.normal(size=6), frame))
    names = list(model.joint_names)
    for half in (names[:9], names[9:]) if settings.joint_states_in_parts else (names,):
        numbers = rng.uniform(-0.5, 0.5, (3, len(half)))
        answer = take(stream, 'joint_states', joint_state(T0 + 1_000_000, half, *numbers))
    assert answer.A.shape == (2 * model.m, 2 * model.m)
    assert answer.B.shape == (2 * model.m, len(model.actuated_joints))
    assert np.isfinite(answer.A).all()
    assert np.abs(answer.B).max() > 0.0
    assert stream.counts.dropped == 0
    assert len(answer.point.external) == len(settings.wrench_topics)


def test_overlay_of_the_page__fits_the_quadruped(tmp_path):
    (overlay,) = re.findall(r'^```yaml\n(.*?)^```', PAGE, re.DOTALL | re.MULTILINE)
    file, go2 = tmp_path / 'overlay.yaml', ('quadruped_like_go2', 'go2')
    file.write_text(overlay)
    plain, model = robot_of(*go2)[0], robot_of(*go2, overlay_file=str(file))[0]
    assert model.hash != plain.hash
    assert model.tree.armature.max() == pytest.approx(1.1e-4 * 12.1**2)
    row, column = 24 + model.joint_index('FL_calf_joint'), model.joint_index('FL_calf_joint')
    light, heavy = (Linearizer(m)(m.neutral_state(), np.zeros(12)).B for m in (plain, model))
    assert abs(heavy[row, column]) < abs(light[row, column])
