# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Overlays written into URDFs."""

import warnings

import numpy as np
import pytest
from geolin_tools.urdf_writer import write
from support.close import assert_close
from support.pinocchio_oracle import PinocchioOracle, pin
from support.robots import example_robot

from geolin_ros import TreeModel, mass_matrix, urdf
from geolin_ros.errors import ModelWarning, UnknownNameError, UrdfError

TEXT = """<robot name="two">
  <link name="base"/>
  <link name="arm">
    <inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/></joint>
</robot>"""
MASS = {'mass': 2.0, 'com': [0.1, 0.0, 0.2], 'inertia': [0.1, 0.2, 0.25, 0.01, 0.0, 0.02]}


def links(text):
    return {link.name: link.inertia for link in urdf.read_text(text).links}


def test_write__gives_masses_and_friction_to_elements_that_had_none_or_takes_them():
    overlay = {'links': {'base': MASS}, 'joints': {'hinge': {'damping': 0.3, 'friction': 0.1}}}
    text = write(TEXT, overlay)
    (joint,) = urdf.read_text(text).joints
    assert (joint.damping, joint.friction) == (0.3, 0.1)
    assert links(text)['base'][0, 0] == 2.0
    assert np.array_equal(links(text)['arm'], links(TEXT)['arm'])
    assert write(text, overlay) == text
    assert '<inertial>' not in write(TEXT, {'links': {'arm': {'mass': 0.0}}})


@pytest.mark.parametrize(
    ('text', 'overlay', 'error'),
    [
        (TEXT, {'links': {'leg': MASS}}, UnknownNameError),
        (TEXT, {'joints': {'knee': {'damping': 1.0}}}, UnknownNameError),
        (TEXT.replace('</robot>', ''), {}, UrdfError),
        ('<!DOCTYPE robot>' + TEXT, {}, UrdfError),
    ],
)
def test_write__refuses_what_it_cannot_write(text, overlay, error):
    with pytest.raises(error):
        write(text, overlay)


def test_write__gives_pinocchio_the_same_mass_matrix():
    path = example_robot('go2')
    overlay = {
        'links': {'base': MASS, 'FL_thigh': MASS | {'mass': 1.3}},
        'joints': {'FL_hip_joint': {'damping': 0.4, 'rotor_inertia': 0.01}},
    }
    text = write(path.read_text(), overlay)
    assert text.count('<visual') == path.read_text().count('<visual')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        model = TreeModel.from_urdf(path, overlay={'links': overlay['links']})
    referee = PinocchioOracle(pin.buildModelFromXML(text, pin.JointModelFreeFlyer()), model)
    state = model.random_state(np.random.default_rng(0))
    assert_close(mass_matrix(model, state), referee.mass_matrix(state), 1e-9)
