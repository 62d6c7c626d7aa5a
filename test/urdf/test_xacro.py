# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import sys

import pytest

from geolin_ros import TreeModel, robots, urdf
from geolin_ros.cli import main
from geolin_ros.errors import ConfigurationError, UrdfError
from geolin_ros.offline.source import with_files
from geolin_ros.stream.parameters.file import checked, default_values
from geolin_ros.stream.parameters.model_reading import from_text, read_model
from geolin_ros.urdf.reader import expand, xacro_arguments

pytest.importorskip('xacro')
XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
INERTIA = '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
LEG = f"""
<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="leg" params="side mass">
    <link name="${{side}}_leg"><inertial><mass value="${{mass / 2}}"/>{INERTIA}</inertial></link>
    <joint name="${{side}}_hip" type="revolute"><parent link="base"/><child link="${{side}}_leg"/>
      <axis xyz="0 1 0"/><limit effort="1" velocity="1" lower="-1" upper="1"/></joint>
  </xacro:macro>
</robot>
"""
ROBOT = f"""<?xml version="1.0"?>
<robot name="walker" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="3.0"/>
  <xacro:include filename="leg.xacro"/>
  <link name="base"><inertial><mass value="5"/>{INERTIA}</inertial></link>
  <xacro:leg side="left" mass="$(arg mass)"/>
  <xacro:leg side="right" mass="$(arg mass)"/>
</robot>
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / 'leg.xacro').write_text(LEG)
    path = tmp_path / 'walker.urdf.xacro'
    path.write_text(ROBOT)
    return path


def test_macros__are_expanded_with_the_arguments_of_the_file(file):
    with xacro_arguments({'mass': '8.0'}):
        heavy = expand(file)
    for given, mass in ((str(file), 3.0), (file, 3.0), (heavy, 8.0)):
        model = TreeModel.from_urdf(given)
        assert model.name == 'walker'
        assert set(model.joint_names) == {'left_hip', 'right_hip'}
        assert model.total_mass == pytest.approx(5.0 + mass)


@pytest.mark.parametrize('command', ['info', 'lint-urdf'])
def test_commands__take_arguments_of_the_file(command, file, capsys):
    file.write_text(ROBOT.replace('<xacro:arg name="mass" default="3.0"/>', ''))
    for arguments, status, says in (
        ([], 1, '--xacro-args NAME:=VALUE'),
        (['--xacro-args', 'mass:=8.0'], 0, '13.000 kg'),
        ([], 1, 'mass'),  # the arguments are of one command
    ):
        assert main([command, str(file), *arguments]) == status
        said = capsys.readouterr()
        assert says in said.out + said.err


@pytest.fixture
def chosen(tmp_path):
    """As of TALOS: arguments without defaults choose what is included, and what it holds."""
    robot = robots.path('quadruped').read_text().replace('<robot ', f'<robot {XACRO} ')
    (tmp_path / 'quadruped.xacro').write_text(robot)
    path = tmp_path / 'chosen.urdf.xacro'
    path.write_text(
        f'<robot name="chosen" {XACRO}>'
        '<xacro:include filename="$(arg legs).xacro"/>'
        '<xacro:if value="$(arg loaded)"><link name="load"><inertial>'
        f'<mass value="$(eval 2 * 0.5)"/>{INERTIA}</inertial></link><joint name="tie" '
        'type="fixed"><parent link="base"/><child link="load"/></joint></xacro:if></robot>'
    )
    return path


def test_nodes_and_recordings__take_arguments_of_the_file(chosen):
    path, plain = chosen, TreeModel.from_urdf(robots.path('quadruped')).total_mass
    values = default_values() | {'robot_description_file': str(path)}
    with pytest.raises(UrdfError, match=r'legs.* parameter xacro_args'):
        read_model(path, values, print)
    given = values | {'xacro_args': ['legs:=quadruped', 'loaded:=true']}
    model = read_model(path, given, print)
    assert model.total_mass == pytest.approx(plain + 1.0)
    recorded = with_files(given, print)
    assert (recorded['robot_description_file'], recorded['xacro_args']) == ('', [''])
    assert read_model(from_text(recorded['robot_description']), recorded, print).hash == model.hash
    with pytest.raises(ConfigurationError, match=r"'loaded=1' is not NAME:=VALUE"):
        checked('xacro_args', ['loaded=1'])


@pytest.mark.parametrize(
    ('spoil', 'says'),
    [
        (lambda text: text.replace('$(arg mass)', '${nothing}'), 'nothing'),
        (lambda text: text.replace('leg.xacro', 'no_leg.xacro'), 'no_leg.xacro'),
        (lambda text: text.replace('</robot>', ''), 'cannot be expanded by xacro'),
        (lambda text: text.replace('side="left"', 'side="right"'), 'right_leg'),
    ],
    ids=['expression', 'include', 'xml', 'robot'],
)
def test_file_that_cannot_be_used__is_named_with_the_reason(file, spoil, says, monkeypatch):
    file.write_text(spoil(ROBOT))
    with pytest.raises(UrdfError, match=says) as caught:
        urdf.read(file)
    assert str(file) in str(caught.value)
    with pytest.raises(UrdfError, match=r'nothing\.xacro: does not exist'):
        urdf.read(file.with_name('nothing.xacro'))
    monkeypatch.setitem(sys.modules, 'xacro', None)
    with pytest.raises(UrdfError, match=r'xacro is not installed; install it'):
        urdf.read(file)
