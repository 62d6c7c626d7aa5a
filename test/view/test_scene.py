# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where trail, forces, cones, centre of mass and support polygon are drawn: Pinocchio says."""

import asyncio

import numpy as np
import pytest
from geolin_tools.view.page import Page
from geolin_tools.view.scene import ARROW, CONE, INSIDE, OUTSIDE
from geolin_tools.view.source import Standing
from scipy.spatial import ConvexHull
from support.pinocchio_oracle import PinocchioOracle, pin

from geolin_ros import TreeModel, robots
from geolin_ros.control.soles import read_feet

FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')
BALL = 0.02
"""Radius of a foot of the bundled quadruped [m]."""
STEPS = np.linspace(0.0, 0.6, 31)
"""How far the base has gone along its x axis [m]."""


@pytest.fixture
def page():
    path = robots.path('quadruped')
    model = TreeModel.from_urdf(path)
    supports = [foot.support for foot in read_feet(path, model, FEET)]
    found = Page(Standing(model, path, supports), port=0)
    yield found
    found.close()


def node(page, name):
    """Return what viser keeps of a node of the scene."""
    return page._server.scene._handle_from_node_name[name]


def told(page, state):
    """Return centre of mass (3,) and points of the feet on the ground (4, 3) by Pinocchio [m]."""
    model = page._source.model
    oracle = PinocchioOracle.read_urdf(robots.path('quadruped'), model)
    q, data = oracle.q(state), oracle.data
    pin.framesForwardKinematics(oracle.pin_model, data, q)
    feet = np.array(
        [data.oMf[oracle.pin_model.getFrameId(name)].translation.copy() for name in FEET]
    )
    return pin.centerOfMass(oracle.pin_model, data, q).copy(), feet - (0.0, 0.0, BALL)


def moved(instant, distance):
    """Return the instant with robot and forces somewhere else along the x axis of the world."""
    state, shift = instant.state.copy(), np.array([distance, 0.0, 0.0])
    state.H[:3, 3] += shift
    forces = tuple(one._replace(point=one.point + shift) for one in instant.forces)
    return instant._replace(state=state, forces=forces)


def close(actual, expected):
    """Compare places [m]; viser keeps single precision."""
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=1e-6)


def around(corners):
    """Return the corners (k, 2) of a convex polygon in the order of their angles."""
    x, y = (corners - corners.mean(axis=0)).T
    return corners[np.argsort(np.arctan2(y, x))]


def test_arrows__begin_at_the_feet_and_are_as_long_as_their_force(page):
    _, feet = told(page, page._instant.state)
    arrows = np.asarray(node(page, '/forces/arrows').points)
    close(arrows[:, 0], feet)
    along = arrows[:, 1] - arrows[:, 0]
    close(along.sum(axis=0), (0.0, 0.0, ARROW))
    pressed = [one.force / (page._source.model.total_mass * 9.81) for one in page._instant.forces]
    close(along, ARROW * np.array(pressed))


def test_cones__stand_on_the_feet_and_open_by_the_friction(page):
    _, feet = told(page, page._instant.state)
    for friction in (0.8, 0.3):
        page._friction.value = friction
        page.step()
        lines = np.asarray(node(page, '/forces/cones').points, dtype=float)
        for foot, cone in zip(feet, np.split(lines, len(feet)), strict=True):
            ring, sides = np.split(cone - foot, 2)
            close(sides[:, 0], np.zeros_like(sides[:, 0]))
            for rim in (sides[:, 1], ring.reshape(-1, 3)):
                close(rim[:, 2], np.full(len(rim), CONE))
                tangential = np.linalg.norm(rim[:, :2], axis=1)
                close(tangential, np.full(len(rim), friction * CONE))


def test_centre_of_mass__is_over_the_polygon_of_the_feet_or_red(page):
    instant = page._instant
    centre, feet = told(page, instant.state)
    close(node(page, '/mass/centre').position, centre)
    plumb = [centre, (*centre[:2], feet[:, 2].min())]
    close(np.asarray(node(page, '/mass/plumb').points)[0], plumb)
    corners = np.asarray(node(page, '/mass/polygon').points, dtype=float)[:, 0]
    hull = feet[ConvexHull(feet[:, :2]).vertices, :2]
    close(around(corners[:, :2]), around(hull))
    assert tuple(node(page, '/mass/centre').color) == INSIDE
    page._scene.show(instant._replace(supports=instant.supports[:3]))
    corners = np.asarray(node(page, '/mass/polygon').points, dtype=float)[:, 0]
    close(around(corners[:, :2]), around(feet[:3, :2]))
    page._scene.show(instant._replace(supports=instant.supports[:2]))
    assert tuple(node(page, '/mass/centre').color) == OUTSIDE, 'two points have no area'


def test_trail__goes_where_the_base_was(page):
    places = []
    for step in STEPS:
        instant = moved(page._instant, step)
        places.append(instant.state.H[:3, 3].copy())
        page._scene.show(instant)
    lines = np.asarray(node(page, '/trail').points)
    close(lines[:, 0], np.array(places[:-1]))
    close(lines[:, 1], np.array(places[1:]))


def test_run__draws_in_the_thread_that_sends(page, monkeypatch):
    """A frame from any other thread now and then fails in viser's queues, as a client waits."""
    loops = []
    monkeypatch.setattr(page, 'step', lambda: loops.append(asyncio.get_running_loop()))
    page.run(lambda: len(loops) == 3)
    assert set(loops) == {page._server.get_event_loop()}
