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

NAMES = ('humanoid', 'quadruped')
JOINTS = {'quadruped': 12, 'humanoid': 28}
MASS = {'quadruped': 15.0, 'humanoid': 42.2}
FEET = {
    'quadruped': ['FL_foot', 'FR_foot', 'RL_foot', 'RR_foot'],
    'humanoid': ['left_sole', 'right_sole'],
}


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


class TestFiles:
    def test_path__knows_the_two_robots(self):
        assert sorted(robots.ROBOTS) == list(NAMES)
        with pytest.raises(UnknownNameError, match="did you mean 'quadruped'"):
            robots.path('quadrupde')

    def test_files__are_what_the_tool_writes(self, name):
        tool = Path(__file__).parents[2] / 'tools' / 'make_robots.py'
        spec = importlib.util.spec_from_file_location('make_robots', tool)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert robots.path(name).read_text(encoding='utf-8') == str(getattr(module, name)())


class TestBodies:
    def test_counts_and_names__are_as_documented(self, name):
        robot = read(robots.path(name))
        moving = [joint for joint in robot.joints if joint.kind != 'fixed']
        assert len(moving) == JOINTS[name]
        assert {joint.kind for joint in moving} == {'revolute'}
        links = [link.name for link in robot.links]
        assert links[0] == {'quadruped': 'base', 'humanoid': 'pelvis'}[name]
        assert {'imu', *FEET[name]} < set(links)
        assert sum(link.inertia[0, 0] for link in robot.links) == pytest.approx(MASS[name])
        for joint in moving:
            limits = joint.limits
            assert joint.damping > 0.0
            assert np.isfinite([limits.lower, limits.upper]).all()
            assert limits.lower < limits.upper
            assert 0.0 < limits.effort <= 150.0
            assert 0.0 < limits.velocity <= 30.0

    def test_inertias__are_those_of_the_primitives(self, name):
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
            assert_allclose(
                link.inertia[3:, 3:], expected, rtol=0, atol=1e-3 * np.abs(expected).max()
            )
            compared += 1
        assert compared == {'quadruped': 17, 'humanoid': 29}[name]
