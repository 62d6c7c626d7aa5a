# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""MJCF files where URDF files are taken: commands, recordings, nodes."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.robots import mjcf_of

from geolin_ros import TreeModel, robots
from geolin_ros.cli import main
from geolin_ros.description import Joint, Link, Mimic, stored
from geolin_ros.description.elements import Description
from geolin_ros.errors import ConfigurationError, ModelError
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.parameters.model_reading import from_text, read_model, to_text

pytest.importorskip('mujoco')

BAG = Path(__file__).parents[1] / 'bags' / 'demo'
LOOP = """<mujoco model="shut"><worldbody><body name="a"><joint name="j"/><geom size="0.1"/></body>
</worldbody><equality><connect body1="a" anchor="1 0 0" name="ring"/></equality></mujoco>"""
ARM = """<mujoco model="arm"><option gravity="0 0 -1.6"/><worldbody><body name="a">
<joint name="j"/><geom size="0.1"/></body></worldbody></mujoco>"""


@pytest.fixture(scope='module')
def quadruped(tmp_path_factory):
    """The bundled quadruped, whose recording is part of the tests, as an MJCF file."""
    path = tmp_path_factory.mktemp('mjcf') / 'quadruped.xml'
    path.write_text(mjcf_of(robots.path('quadruped')))
    return path


def heard(*said):
    raise AssertionError(said)


def test_node__reads_a_file_as_the_library_does(quadruped):
    model = read_model(quadruped, default_values(), heard)
    assert model.hash == TreeModel.from_file(quadruped).hash
    again = read_model(from_text(to_text(quadruped)), default_values(), heard)
    assert again.hash == model.hash


def test_node__takes_no_mjcf_from_the_network(quadruped):
    with pytest.raises(ModelError, match='mujoco'):
        read_model(quadruped.read_text(), default_values(), heard)
    with pytest.raises(ModelError):
        read_model(to_text(quadruped), default_values(), heard)


def test_base_and_gravity_of_the_node__count(tmp_path):
    path, said = tmp_path / 'arm.mjcf', []
    path.write_text(ARM)
    with pytest.raises(ConfigurationError, match='no free joint; set base: fixed'):
        read_model(path, default_values(), heard)
    model = read_model(path, default_values() | {'base': 'fixed'}, said.append)
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
    runs = {}
    for name, urdf in (('urdf', 'quadruped'), ('mjcf', quadruped)):
        runs[name] = tmp_path / f'{name}.zarr'
        arguments = [
            'linearize',
            BAG,
            '-o',
            runs[name],
            '--urdf',
            urdf,
            '--every',
            20,
            '--workers',
            1,
        ]
        assert main([str(word) for word in arguments]) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert main(['compare', str(runs['urdf']), str(runs['mjcf']), '--json']) in (0, 1)
    found = json.loads(capsys.readouterr().out)['quantities']
    assert found['A']['relative'] < 1e-4  # MuJoCo writes few digits
    assert main(['report', str(runs['mjcf']), '-o', str(tmp_path / 'page.html')]) == 0
    assert (tmp_path / 'page.html').stat().st_size > 10_000


@pytest.mark.parametrize('command', ['lint-urdf', 'info'])
def test_commands__take_mjcf_and_refuse_loops_by_name(command, quadruped, tmp_path, capsys):
    assert main([command, str(quadruped)]) == 0
    assert '12 joint coordinates' in capsys.readouterr().out
    (tmp_path / 'loop.xml').write_text(LOOP)
    assert main([command, str(tmp_path / 'loop.xml')]) == 1
    said = capsys.readouterr()
    assert "'ring'" in said.out + said.err
