# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""MJCF files where URDF files are taken: commands, recordings, nodes."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.robots import mjcf_of
from support.strangers import BIPED, deviation

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.cli import main
from geolin_ros.description import Joint, Link, Mimic, stored
from geolin_ros.description.elements import Description
from geolin_ros.errors import ConfigurationError, ModelError, UnknownNameError
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.parameters.model_reading import from_text, read_model, to_text

pytest.importorskip('mujoco')

BAG = Path(__file__).parents[1] / 'bags' / 'demo'
LOOP = """<mujoco model="shut"><worldbody><body name="a"><joint name="j"/><geom size="0.1"/></body>
<body name="cube"><freejoint/><geom size="0.1"/></body>
</worldbody><equality><connect body1="a" anchor="1 0 0" name="ring"/></equality></mujoco>"""
ARM = """<mujoco model="arm"><option gravity="0 0 -1.6"/><worldbody><body name="a">
<joint name="j"/><geom size="0.1"/></body></worldbody></mujoco>"""


@pytest.fixture(scope='module')
def quadruped(tmp_path_factory):
    """The bundled quadruped, whose recording is part of the tests, as an MJCF file."""
    path = tmp_path_factory.mktemp('mjcf') / 'quadruped.xml'
    path.write_text(mjcf_of(robots.path('quadruped')))
    return path


@pytest.fixture
def biped(tmp_path):
    path = tmp_path / 'biped.xml'
    path.write_text(BIPED)
    return path


def heard(*said):
    raise AssertionError(said)


def test_node__reads_a_file_as_the_library_does_but_none_from_the_network(quadruped):
    model = read_model(quadruped, default_values(), heard)
    assert model.hash == TreeModel.from_file(quadruped).hash
    again = read_model(from_text(to_text(quadruped)), default_values(), heard)
    assert again.hash == model.hash
    for sent in (quadruped.read_text(), to_text(quadruped)):
        with pytest.raises(ModelError):
            read_model(sent, default_values(), heard)


def test_base_and_gravity_of_the_node__count(tmp_path):
    path, said = tmp_path / 'arm.mjcf', []
    path.write_text(ARM)
    with pytest.raises(ConfigurationError, match='no free joint; set base: fixed'):
        read_model(path, default_values() | {'base': 'floating'}, heard)
    model = read_model(path, default_values(), said.append)
    assert (model.base, model.gravity.tolist()) == ('fixed', [0.0, 0.0, -9.81])
    assert [line for line in said if 'has gravity [0.0, 0.0, -1.6]' in line]


def test_stored_description__keeps_every_bit():
    rng = np.random.default_rng(5)
    joint = Joint(
        'j', 'universal', 'a', 'b', rng.normal(size=(4, 4)), mimic=Mimic('k', 0.1, 1.0 / 3.0)
    )
    links = (Link('a', rng.normal(size=(6, 6))), Link('b'))
    before = Description('r', links, (joint,), 'here')
    after = stored.load(stored.dump(before))
    assert stored.dump(after) == stored.dump(before)
    assert after.joints[0].placement.tobytes() == joint.placement.tobytes()
    assert after.joints[0].limits == joint.limits
    for text in ('{', '{}', '[]', stored.dump(before).replace('"kind"', '"kin"')):
        with pytest.raises(ModelError):
            stored.load(text)


def test_recording__gives_the_same_by_urdf_and_mjcf(quadruped, tmp_path, capsys):
    pytest.importorskip('xarray')
    runs = [str(tmp_path / f'{name}.zarr') for name in 'ab']
    for run, urdf in zip(runs, ('quadruped', quadruped), strict=True):
        arguments = 'linearize', BAG, '-o', run, '--urdf', urdf, '--every', 100, '--workers', 1
        assert main([str(word) for word in arguments]) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert main(['compare', *runs, '--json']) in (0, 1)
    found = json.loads(capsys.readouterr().out)['quantities']
    assert found['A']['relative'] < 1e-4  # MuJoCo writes few digits
    assert main(['report', runs[1], '-o', str(tmp_path / 'page.html')]) == 0
    assert (tmp_path / 'page.html').stat().st_size > 10_000


@pytest.mark.parametrize('command', ['lint-urdf', 'info'])
def test_commands__take_mjcf_and_the_root_of_several_trees(command, quadruped, tmp_path, capsys):
    assert main([command, str(quadruped)]) == 0
    assert '12 joint coordinates' in capsys.readouterr().out
    (tmp_path / 'loop.xml').write_text(LOOP)
    assert main([command, str(tmp_path / 'loop.xml')]) == 1
    said = capsys.readouterr()
    assert "root='cube'" in said.out + said.err
    assert main([command, str(tmp_path / 'loop.xml'), '--root', 'a']) == 0
    said = capsys.readouterr().out
    assert "fixed base 'world', 1 joint" in said
    assert command != 'info' or 'loop a@ring=world@ring point' in said
    assert main([command, str(robots.path('quadruped')), '--root', 'a']) == 1


def test_loops_and_root__are_parameters(tmp_path):
    path, values = tmp_path / 'loop.xml', default_values() | {'root': 'a'}
    path.write_text(LOOP)
    model = read_model(path, values, heard)
    assert [loop.name for loop in model.loops] == ['a@ring=world@ring']
    assert model.hash == TreeModel.from_file(path, root='a').hash
    urdf = robots.path('quadruped')
    with pytest.raises(ConfigurationError, match=f"root is 'a', but {urdf} is no MJCF"):
        read_model(urdf, values, heard)
    again = read_model(from_text(to_text(path, values)), default_values(), lambda said: None)
    assert [loop.name for loop in again.loops] == ['a@ring=world@ring']
    assert read_model(path, values | {'loops': ['none']}, heard).loops == ()
    given = read_model(path, values | {'loops': ['a=world point 9 6']}, heard).loops
    assert [(loop.name, loop.kp, loop.kd) for loop in given] == [('a=world', 9.0, 6.0)]
    with pytest.raises(ConfigurationError, match=r'a:world.* not understood, expected frame_a='):
        read_model(path, values | {'loops': ['a:world point']}, heard)
    with pytest.raises(UnknownNameError, match=r"'wrld' .* did you mean .*'world'"):
        read_model(path, values | {'loops': ['a=wrld point']}, heard)


def test_limits_of_motors__are_those_of_efforts(biped):
    model = TreeModel.from_file(biped)
    np.testing.assert_array_equal(model.limits.effort, np.full(12, 120.0))
    text = BIPED.replace('<motor joint="l_knee"', '<motor forcerange="-9 9" joint="l_knee"')
    biped.write_text(text.replace('<motor joint="r_knee"', '<position joint="r_knee"'))
    efforts = dict(zip(model.joint_names, TreeModel.from_file(biped).limits.effort, strict=True))
    assert (efforts['l_knee'], efforts['r_knee'], efforts['l_hip_yaw']) == (36.0, np.inf, 120.0)


def test_accelerations__are_those_of_mujoco(biped):
    follow = '<equality><joint joint1="l_hip_yaw" joint2="r_hip_yaw" polycoef="0.1 -1 0 0 0"/>'
    for text in (BIPED, BIPED.replace('<actuator>', f'{follow}</equality><actuator>')):
        biped.write_text(text)
        model, rng = TreeModel.from_file(biped), np.random.default_rng(4)
        for _ in range(5):
            state, tau = model.random_state(rng), rng.normal(size=model.n)
            nu_dot = Linearizer(model)(state, tau).nu_dot
            assert deviation(biped, model, state, tau, nu_dot) < 1e-9


def test_gain_bank__is_designed(biped, tmp_path, capsys):
    arguments = ['gain-bank', str(biped), str(tmp_path / 'bank.yaml'), '--contacts']
    assert main([*arguments, 'l_foot', 'r_foot']) == 0, capsys.readouterr().err
    said = capsys.readouterr()
    assert float(said.out.partition('largest pole ')[2].split()[0]) < 1.0
    assert 'l_foot: a sole of 0.22 x 0.1 m at 0.02,0,-0.06' in said.err
    biped.write_text(BIPED.replace(' ctrlrange="-30 30"', ''))
    assert main([*arguments, 'l_foot', 'r_foot']) == 1
    assert 'in MJCF as actuatorfrcrange' in capsys.readouterr().err
