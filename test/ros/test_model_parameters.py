# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the node's parameters make of a description: joints, locks, inputs, overlay, payload."""

import numpy as np
import pytest

from geolin_ros import robots
from geolin_ros.errors import ConfigurationError, GeolinError
from geolin_ros.stream.parameters.linearizer import TABLE, model_options

pytest.importorskip('rclpy')
pipeline = pytest.importorskip('geolin_ros.ros.pipeline')
model_reading = pytest.importorskip('geolin_ros.stream.parameters.model_reading')


def values(**changed):
    return {parameter.name: parameter.default for parameter in TABLE} | changed


def read(**changed):
    said = []
    path = robots.path('humanoid')
    model = model_reading.read_model(path, values(**changed), said.append)
    assert said == []
    return model


def test_joints__are_chosen_locked_and_driven():
    whole = read()
    names = [name for name in whole.joint_names if 'left' in name]
    model = read(
        joints=names, locked_joints=[f'{whole.joint_names[-1]}=0.1'], actuated_joints=names[:2]
    )
    assert list(model.joint_names) == names
    assert dict(model.locked_joints)[whole.joint_names[-1]] == 0.1
    assert list(model.actuated_joints) == names[:2]
    message = pipeline.make_message(model)
    assert len(message.locked_joints) == whole.n - model.n


def test_overlay_and_payload__change_the_model(tmp_path):
    overlay = tmp_path / 'overlay.yaml'
    overlay.write_text(
        'joints:\n  "*": {rotor_inertia: 1.0e-4, gear_ratio: 10.0, friction: 0.5}\n'
    )
    whole = read()
    model = read(
        **{
            'overlay_file': str(overlay),
            'coulomb_friction': True,
            'payload.frame': 'torso' if 'torso' in whole.frames else whole.base_link,
            'payload.mass': 2.5,
            'payload.com': [0.0, 0.1, 0.2],
        }
    )
    np.testing.assert_allclose(model.tree.armature, 0.01)
    np.testing.assert_array_equal(model.tree.friction, 0.5)
    assert model.total_mass == pytest.approx(whole.total_mass + 2.5)
    assert model.hash != whole.hash


def test_overlay__may_be_a_text():
    text = '{joints: {"*": {rotor_inertia: 1.0e-4, gear_ratio: 10.0}}}'
    np.testing.assert_allclose(read(overlay=text).tree.armature, 0.01)


@pytest.mark.parametrize(
    ('changed', 'fragment'),
    [
        ({'overlay': 'joints: ['}, 'parameter overlay: cannot be read as YAML'),
        ({'overlay': '{rotors: {}}'}, "'rotors'"),
        ({'overlay': '{joints: {}}', 'overlay_file': 'x'}, 'are both given'),
        ({'locked_joints': ['waist']}, "'waist', expected name=position"),
        ({'locked_joints': ['nothing=1.0']}, "'nothing'"),
        ({'joints': ['nothing']}, "'nothing'"),
        ({'actuated_joints': ['nothing']}, "'nothing'"),
        ({'overlay_file': '/no/such/file.yaml'}, '/no/such/file.yaml'),
        ({'payload.frame': 'nothing', 'payload.mass': 1.0}, "'nothing'"),
    ],
)
def test_wrong_names__are_named(changed, fragment):
    with pytest.raises(GeolinError) as caught:
        read(**changed)
    assert fragment in str(caught.value)


def test_locked_joints__need_a_number():
    with pytest.raises(ConfigurationError, match='name=position'):
        model_options(values(locked_joints=['a=b']))
