# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The bundled robots are plausible machines; that they stand is in test/control."""

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose

from geolin_ros import robots
from geolin_ros.errors import UnknownNameError
from geolin_ros.urdf import read

ROBOTS = {  # joints, mass [kg], links with inertia, some link names
    'humanoid': (28, 42.2, 29, ['pelvis', 'imu', 'left_sole', 'right_sole']),
    'quadruped': (12, 15.0, 17, ['base', 'imu', 'FL_foot', 'FR_foot', 'RL_foot', 'RR_foot']),
}
of_robots = pytest.mark.parametrize('name', ROBOTS)


def test_path__knows_the_two_robots():
    assert sorted(robots.ROBOTS) == list(ROBOTS)
    with pytest.raises(UnknownNameError, match="did you mean 'quadruped'"):
        robots.path('quadrupde')


@of_robots
def test_files__are_what_the_tool_writes(name):
    tool = Path(__file__).parents[2] / 'tools' / 'make_robots.py'
    spec = importlib.util.spec_from_file_location('make_robots', tool)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert robots.path(name).read_text(encoding='utf-8') == str(getattr(module, name)())


@of_robots
def test_counts_and_names__are_as_documented(name):
    robot = read(robots.path(name))
    joints, mass, _, names = ROBOTS[name]
    moving = [joint for joint in robot.joints if joint.kind != 'fixed']
    assert len(moving) == joints
    assert {joint.kind for joint in moving} == {'revolute'}
    links = [link.name for link in robot.links]
    assert links[0] == names[0]
    assert set(names) < set(links)
    assert sum(link.inertia[0, 0] for link in robot.links) == pytest.approx(mass)
    for joint in moving:
        limits = joint.limits
        assert joint.damping > 0.0
        assert -np.inf < limits.lower < limits.upper < np.inf
        assert 0.0 < limits.effort <= 150.0
        assert 0.0 < limits.velocity <= 30.0


@of_robots
def test_inertias__are_those_of_the_primitives(name):
    """By MuJoCo: a link's mass is spread evenly over what one sees."""
    mujoco = pytest.importorskip('mujoco')
    root = ElementTree.parse(robots.path(name)).getroot()
    for link in root.iter('link'):
        for shape in link.findall('collision'):
            link.remove(shape)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding='unicode'))
    spec.compiler.discardvisual = spec.compiler.fusestatic = False
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    theirs, compared = spec.compile(), 0
    for link in read(robots.path(name)).links:
        if not link.inertia.any():
            continue
        body = theirs.body(link.name)
        mass, c = link.inertia[0, 0], link.inertia[[5, 3, 4], [1, 2, 0]] / link.inertia[0, 0]
        R = np.empty(9)
        mujoco.mju_quat2Mat(R, body.iquat)
        R = R.reshape(3, 3)
        about_com = R @ np.diag(body.inertia) @ R.T * mass / body.mass
        expected = about_com + mass * (c @ c * np.eye(3) - np.outer(c, c))
        assert_allclose(c, body.ipos, rtol=0, atol=1e-4)
        assert_allclose(link.inertia[3:, 3:], expected, rtol=0, atol=1e-3 * np.abs(expected).max())
        compared += 1
    assert compared == ROBOTS[name][2]
