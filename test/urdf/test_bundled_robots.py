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
        """Sampled: a link's mass is spread evenly over what one sees."""
        rng = np.random.default_rng(0)
        described = {link.name: link for link in read(robots.path(name)).links}
        for link in ElementTree.parse(robots.path(name)).getroot().iter('link'):
            if link.find('inertial') is None:
                continue
            inertia = described[link.get('name')].inertia
            points, volumes = zip(*(_samples(v, rng) for v in link.iter('visual')), strict=True)
            weights = np.concatenate(
                [np.full(len(p), v / len(p)) for p, v in zip(points, volumes, strict=True)]
            )
            weights *= inertia[0, 0] / weights.sum()
            p = np.concatenate(points)
            com = weights @ p / inertia[0, 0]
            second = (p * weights[:, None]).T @ p
            expected = np.trace(second) * np.eye(3) - second
            assert_allclose(inertia[[5, 3, 4], [1, 2, 0]] / inertia[0, 0], com, rtol=0, atol=2e-3)
            size = np.abs(expected).max()
            assert_allclose(inertia[3:, 3:], expected, rtol=0, atol=0.03 * size)


def _samples(visual, rng, count=40_000):
    """Return points spread evenly over a primitive, in the link frame, and its volume."""
    shape = visual.find('geometry')[0]
    at, rpy = (
        np.array([float(value) for value in visual.find('origin').get(key).split()])
        for key in ('xyz', 'rpy')
    )
    if shape.tag == 'box':
        half = np.array([float(value) for value in shape.get('size').split()]) / 2
        points, volume = rng.uniform(-half, half, (count, 3)), 8 * np.prod(half)
    else:
        r = float(shape.get('radius'))
        half = r if shape.tag == 'sphere' else float(shape.get('length')) / 2
        points = rng.uniform([-r, -r, -half], [r, r, half], (count, 3))
        if shape.tag == 'sphere':
            points, volume = points[np.linalg.norm(points, axis=1) <= r], 4 / 3 * np.pi * r**3
        else:
            inside = np.linalg.norm(points[:, :2], axis=1) <= r
            points, volume = points[inside], 2 * np.pi * r**2 * half
    if rpy[0]:  # z to -y
        points = points[:, [0, 2, 1]] * [1, -1, 1]
    elif rpy[1]:  # z to x
        points = points[:, [2, 1, 0]] * [1, 1, -1]
    return points + at, volume
