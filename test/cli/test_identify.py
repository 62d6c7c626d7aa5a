# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin identify`` on bags of an arm."""

import numpy as np
import pytest

from geolin_ros import TreeModel, inverse_dynamics, mass_matrix
from geolin_ros.cli import main

pytest.importorskip('rosbags')
pytest.importorskip('scipy')

from geolin_ros.offline.bag_writer import BagWriter
from geolin_ros.offline.message_types import known_types

ARM = """<robot name="arm"><link name="base"/>
  <link name="lower"><inertial><origin xyz="0 0 0.2"/><mass value="{mass}"/>
    <inertia ixx="0.03" iyy="0.03" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="lower"/>
    <axis xyz="0 1 0"/></joint></robot>"""
JOINT_STATE = 'sensor_msgs/msg/JointState'


def write(path, names=('shoulder',), amplitude=1.0):
    """Write joint states of an arm with 3 kg, with noise on its efforts."""
    types, rng = known_types().types, np.random.default_rng(1)
    truth = TreeModel.from_urdf(ARM.format(mass=3.0), base='fixed')
    with BagWriter(path, 'sqlite3') as bag:
        bag.add_topic('/joint_states', JOINT_STATE)
        for k in range(800):
            t = 0.01 * k
            s, r = amplitude * np.sin(4.0 * t), amplitude * 4.0 * np.cos(4.0 * t)
            state = truth.state(np.eye(4), [s], np.zeros(6), [r])
            tau = inverse_dynamics(truth, state, [-16.0 * s])[0] + 0.05 * rng.normal()
            stamp = types['builtin_interfaces/msg/Time'](k // 100, k % 100 * 10_000_000)
            message = types[JOINT_STATE](
                types['std_msgs/msg/Header'](stamp, ''),
                list(names),
                *(np.array([value]) for value in (s, r, tau)),
            )
            bag.write('/joint_states', k * 10_000_000, message)
    return str(path)


ARM_OF_MUJOCO = """<mujoco model="arm"><worldbody><body name="lower">
  <joint name="shoulder" axis="0 1 0"/>
  <inertial pos="0 0 0.2" mass="2" diaginertia="0.03 0.03 0.004"/></body></worldbody></mujoco>"""


@pytest.fixture
def mjcf(tmp_path):
    pytest.importorskip('mujoco')
    path = tmp_path / 'arm.xml'
    path.write_text(ARM_OF_MUJOCO)
    return str(path)


@pytest.fixture
def urdf(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM.format(mass=2.0))
    return str(path)


@pytest.mark.parametrize('kind', ['urdf', 'mjcf'])
def test_identify__writes_an_overlay_that_a_model_reads(kind, tmp_path, request, capsys):
    urdf = request.getfixturevalue(kind)
    output = tmp_path / 'overlay.yaml'
    bag = write(tmp_path / 'bag')
    assert main(['identify', bag, '--urdf', urdf, '-o', str(output), '--quiet']) == 0
    assert 'quantities moved' in capsys.readouterr().out
    model = TreeModel.from_file(urdf, base='fixed', overlay=output)
    moment = model.tree.inertia[1, 5, 1]  # m c_x
    assert abs(model.tree.inertia[1, 4, 0] - 0.6) < 0.02, 'm c_z of 3 kg at 0.2 m'
    assert abs(moment) < 0.02


@pytest.mark.parametrize(
    ('change', 'says'),
    [({'names': ('knee',)}, "no joint 'shoulder'"), ({'amplitude': 0.0}, 'no joint moves')],
)
def test_identify__writes_nothing_from_bad_recordings(tmp_path, urdf, capsys, change, says):
    output = tmp_path / 'overlay.yaml'
    bag = write(tmp_path / 'bag', **change)
    assert main(['identify', bag, '--urdf', urdf, '-o', str(output), '--quiet']) == 1
    assert says in capsys.readouterr().err
    assert not output.exists()


COMMENTED = ARM.format(mass=2.0).replace(
    '<inertial>',
    """<!-- of steel --><visual><geometry><mesh filename="package://arm/lower.dae"/>
    </geometry></visual><inertial>""",
)


def test_identify__writes_a_urdf_that_is_the_robot_of_the_overlay(tmp_path, capsys):
    urdf, output, written = (tmp_path / name for name in ('arm.urdf', 'overlay.yaml', 'new.urdf'))
    urdf.write_text(COMMENTED)
    arguments = [write(tmp_path / 'bag'), '--urdf', str(urdf), '-o', str(output), '--quiet']
    assert main(['identify', *arguments, '--urdf-out', str(written)]) == 0
    assert str(written) in capsys.readouterr().out
    text = written.read_text()
    assert '<!-- of steel -->' in text
    assert 'package://arm/lower.dae' in text
    options = {'base': 'fixed', 'coulomb_friction': True}
    truth = TreeModel.from_file(urdf, overlay=output, **options)
    alone = TreeModel.from_file(written, **options)
    both = TreeModel.from_file(written, overlay=output, **options)
    state = truth.state(np.eye(4), [0.3], np.zeros(6), [0.5])
    M, rotors = mass_matrix(truth, state), np.diag(truth.tree.armature)
    assert np.allclose(mass_matrix(both, state), M, rtol=0.0, atol=1e-9)
    assert np.allclose(mass_matrix(alone, state), M - rotors, rtol=0.0, atol=1e-9)
    for name in ('damping', 'friction'):
        assert np.array_equal(getattr(alone.tree, name), getattr(truth.tree, name))


def test_identify__writes_no_urdf_of_an_mjcf_file(mjcf, tmp_path, capsys):
    arguments = [write(tmp_path / 'bag'), '--urdf', mjcf, '-o', str(tmp_path / 'overlay.yaml')]
    assert main(['identify', *arguments, '--quiet', '--urdf-out', str(tmp_path / 'new')]) == 1
    assert 'the robot is of an MJCF file' in capsys.readouterr().err
    assert not (tmp_path / 'overlay.yaml').exists()
