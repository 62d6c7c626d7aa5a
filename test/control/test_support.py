# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from support.standing import standing_robot
from support.states import rotation_about

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.support import (
    Support,
    distance_inside,
    level,
    polygon_centre,
    support_polygon,
)
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, ShapeError, UnknownNameError


@pytest.mark.parametrize(
    ('text', 'kind', 'points', 'offset'),
    [
        ('FL_foot', 'point', 1, [0, 0, 0]),
        ('sole:0.2x0.1', 'surface', 4, [0, 0, 0]),
        ('ankle:0.2x.1@0.03,-0.01,-0.04', 'surface', 4, [0.03, -0.01, -0.04]),
        ('foot@0,0,-0.02', 'point', 1, [0, 0, -0.02]),
        ('foot:.02', 'point', 1, [0, 0, 0]),
    ],
)
def test_text__stands_for_a_support(text, kind, points, offset):
    support = Support.parse(text)
    assert (support.kind, len(support.points)) == (kind, points)
    assert support.rows == (3 if kind == 'point' else 6)
    np.testing.assert_array_equal(support.placement[:3, 3], offset)
    assert support.radius == (0.02 if text == 'foot:.02' else 0.0)
    if kind == 'surface':
        np.testing.assert_allclose(np.abs(support.points), [[0.1, 0.05, 0.0]] * 4)


@pytest.mark.parametrize('text', ['', 'foot:', 'foot:-0.2', 'foot:0.2x0', 'foot@1,2', 'foot:-1x2'])
def test_wrong_text__is_refused(text):
    with pytest.raises(ConfigurationError, match='support'):
        Support.parse(text)


def test_wrong_support__is_refused():
    with pytest.raises(ShapeError, match='points'):
        Support('foot', points=np.zeros(3))
    with pytest.raises(ShapeError, match='placement'):
        Support('foot', placement=np.eye(3))
    with pytest.raises(ConfigurationError, match="kind of support 'foot' is 'edge'"):
        Support('foot', 'edge')
    with pytest.raises(ConfigurationError, match='radius'):
        Support('foot', 'surface', radius=0.1)
    model, _ = standing_robot('quadruped')
    with pytest.raises(UnknownNameError, match='FL_foot'):
        Support('Fl_foot').at(model)


def test_polygon__of_random_points_holds_them_all():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 3))
    corners = support_polygon(points)
    assert all(distance_inside(corners, p) > -1e-8 for p in points[:, :2])
    assert distance_inside(corners, np.array([10.0, 0.0])) < -5.0


def test_polygon__centre_and_distance_of_a_triangle():
    corners = support_polygon(np.array([[0, 0, 1], [3, 0, 2], [0, 3, 0], [1, 1, 0]], dtype=float))
    assert len(corners) == 3
    np.testing.assert_allclose(polygon_centre(corners), [1.0, 1.0])
    assert distance_inside(corners, np.array([0.5, 1.0])) == pytest.approx(0.5)
    assert distance_inside(corners, np.array([3.0, 3.0])) == pytest.approx(-3.0 / np.sqrt(2.0))


@pytest.mark.parametrize('count', [1, 2, 3])
def test_polygon__of_a_line_has_no_inside(count):
    line = np.linspace([0.0, 0.0, 0.0], [count - 1.0, 0.0, 5.0], count)
    corners = support_polygon(line)
    assert len(corners) == min(count, 2)
    np.testing.assert_allclose(polygon_centre(corners), [0.5 * (count - 1), 0.0])
    assert distance_inside(corners, np.array([0.0, 0.2])) == pytest.approx(-0.2)


def test_level__keeps_heading_and_place():
    H = rotation_about([0, 0, 1], 0.7) @ rotation_about([0, 1, 0], 0.3)
    H[:3, 3] = 1.0, 2.0, 3.0
    upright = rotation_about([0, 0, 1], 0.7)
    upright[:3, 3] = H[:3, 3]
    np.testing.assert_allclose(level(H), upright, atol=1e-15)
    up = rotation_about([0, 1, 0], -0.5 * np.pi)
    np.testing.assert_allclose(level(up), np.eye(4), atol=1e-15)


def test_A_of_a_ball_at_rest__lacks_how_the_contact_moves_over_it_alone():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    supports = [Support(f'{leg}_foot', radius=0.02) for leg in ('FL', 'FR', 'RL', 'RR')]
    standing, tau = standing_posture(model, supports), np.linspace(-5.0, 5.0, model.n)

    def linearized(state):
        at = Kinematics(model, state)
        return Linearizer(model, [one.grounded(at).contact for one in supports])(state, tau)

    L, rolling = linearized(standing), np.empty((model.m, 2 * model.m))
    for k, z in enumerate(1e-6 * np.eye(2 * model.m)):
        ahead, behind = (linearized(standing.retract(sign * z)).nu_dot for sign in (1.0, -1.0))
        rolling[:, k] = (ahead - behind) / 2e-6
    missing = np.abs(rolling - L.A[model.m :]) / np.abs(rolling).max()
    assert missing[:, model.m :].max() < 1e-6
    assert 0.05 < missing[:, : model.m].max() < 0.2
