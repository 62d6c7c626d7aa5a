# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from support.states import rotation_about

from geolin_ros.control.support import (
    Support,
    distance_inside,
    level,
    polygon_centre,
    support_polygon,
)
from geolin_ros.errors import ConfigurationError, ShapeError


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


@pytest.mark.parametrize(
    ('options', 'error', 'said'),
    [
        ({'points': np.zeros(3)}, ShapeError, 'points'),
        ({'placement': np.eye(3)}, ShapeError, 'placement'),
        ({'kind': 'edge'}, ConfigurationError, "kind of support 'foot' is 'edge'"),
        ({'kind': 'surface', 'radius': 0.1}, ConfigurationError, 'radius'),
    ],
)
def test_wrong_support__is_refused(options, error, said):
    with pytest.raises(error, match=said):
        Support('foot', **options)


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
