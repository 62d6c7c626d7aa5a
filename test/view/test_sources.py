# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a page is told: bodies, forces, postures, samples of a bag; without a browser."""

from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from geolin_demos.demo.__main__ import published
from geolin_tools.modes import displaced
from geolin_tools.view.page import Page
from geolin_tools.view.scene import drawn
from geolin_tools.view.source import Bag, Standing
from scipy.spatial.transform import Rotation
from support.close import assert_close
from support.standing import urdf_of

from geolin_ros import Linearizer, TreeModel, mass_matrix, robots
from geolin_ros.control.soles import read_feet
from geolin_ros.control.stabilizability import analyze_modes
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError
from geolin_ros.offline.source import open_source

FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')
BAGS = Path(__file__).resolve().parents[1] / 'bags'
BARE = """
<robot name="bare">
  <link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
    iyz="0"/></inertial>{shapes}</link>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.3 -0.4 0"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
    iyz="0"/></inertial></link>
</robot>
"""
MISSING = """<visual><geometry><mesh filename="nowhere.stl"/></geometry></visual>
<collision><geometry><box size="0.2 0.4 0.6"/></geometry></collision>"""


@pytest.fixture(scope='module')
def standing():
    path = robots.path('quadruped')
    model = TreeModel.from_urdf(path)
    supports = [foot.support for foot in read_feet(path, model, FEET)]
    return Standing(model, path, supports)


def test_bodies__are_the_meshes_of_the_description():
    path = urdf_of('go2')
    model = TreeModel.from_urdf(path)
    figure = drawn(model, path)
    assert figure.notes == ()
    base = [solid for solid in figure.solids if solid.body == 0]
    assert sum(len(solid.mesh.vertices) for solid in base) > 1000, 'a mesh'
    size = np.ptp(np.concatenate([solid.mesh.vertices for solid in base]), axis=0)
    assert np.all((size > 0.05) & (size < 1.0)), 'in metres'
    assert {solid.body for solid in figure.solids} == set(range(len(model.body_names)))


def test_mesh_that_is_not_found__leaves_the_collision_shapes_and_is_said():
    text = BARE.format(shapes=MISSING)
    figure = drawn(TreeModel.from_urdf(text), text)
    (note,) = figure.notes
    assert "'a'" in note
    assert 'nowhere.stl' in note
    (box,) = [solid for solid in figure.solids if solid.link == 'a']
    assert_close(np.ptp(box.mesh.vertices, axis=0), (0.2, 0.4, 0.6), 1e-12)


def test_links_without_shapes__are_capsules_from_joint_to_joint():
    text = BARE.format(shapes='')
    figure = drawn(TreeModel.from_urdf(text), text)
    (capsule,) = [solid for solid in figure.solids if solid.link == 'a']
    along = capsule.mesh.vertices @ (0.6, -0.8, 0.0)
    radius = 0.08 * 0.5
    assert_close((along.min(), along.max()), (-radius, 0.5 + radius), 1e-6)
    off = np.linalg.norm(capsule.mesh.vertices - np.outer(along, (0.6, -0.8, 0.0)), axis=1)
    assert off.max() == pytest.approx(radius, rel=1e-6)
    assert any(solid.link == 'b' for solid in figure.solids)


STRANGER = """
<mujoco><compiler meshdir="assets"/><asset><mesh name="wedge" file="wedge.obj" scale="2 -1 .5"/>
 <mesh name="own" vertex="0 0 0 .1 0 0 0 .2 0 0 0 .3"/></asset>
<worldbody><geom type="plane" size="1 1 1"/><body name="thigh" pos="0 0 1"><freejoint/>
 <geom type="capsule" fromto="0 0 0 .02 -.01 -.3" size=".03"/>
 <geom type="sphere" size=".01" contype="0" conaffinity="0" pos="0 .1 0"/>
 <geom type="mesh" mesh="wedge" pos=".1 .2 .3" euler="10 20 30" contype="0" conaffinity="0"/>
 <body name="shank" pos="0 0 -.3"><joint axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.25" size=".02"/><geom type="ellipsoid"
   size=".03 .02 .05" pos="0 .1 0" euler="40 0 0"/><geom type="mesh" mesh="own"/>
  <geom type="cylinder" fromto="0 0 0 .1 0 0" size=".02"/><geom type="box" size=".1 .2 .3"/>
</body></body></worldbody></mujoco>"""
WEDGE = """
v 0 0 0
v .3 0 0
v 0 .2 0
v .1 .1 .4
f 1 3 2
f 1 2 4
f 2 3 4
f 3 1 4
"""


@pytest.fixture
def path(tmp_path):
    """Where the robot is, with its mesh beside it."""
    (tmp_path / 'assets').mkdir()
    (tmp_path / 'assets' / 'wedge.obj').write_text(WEDGE)
    file = tmp_path / 'stranger.xml'
    file.write_text(STRANGER)
    return file


@pytest.mark.parametrize('link', ['thigh', 'shank'])
def test_links_of_mjcf__are_drawn_where_mujoco_has_their_geoms(link, path):
    mujoco = pytest.importorskip('mujoco')
    figure = drawn(TreeModel.from_file(path), path)
    assert figure.notes == ()
    found = [solid.mesh.vertices for solid in figure.solids if solid.link == link]
    m = mujoco.MjModel.from_xml_path(str(path))
    body = m.body(link).id
    geoms = [g for g in range(m.ngeom) if m.geom_bodyid[g] == body]
    if link == 'thigh':  # what is seen hides what collides
        geoms = [g for g in geoms if not m.geom_contype[g]]
    assert len(found) == len(geoms)
    for vertices, g in zip(found, geoms, strict=True):
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, m.geom_quat[g])
        own = (vertices - m.geom_pos[g]) @ R.reshape(3, 3)  # in the axes of the geom
        centre, half = m.geom_aabb[g, :3], m.geom_aabb[g, 3:]
        assert_close(own.min(axis=0), centre - half, 2e-2 * half.max())
        assert_close(own.max(axis=0), centre + half, 2e-2 * half.max())


def test_description_of_an_mjcf_robot__is_a_urdf_of_the_same_bodies_and_shapes(path):
    """What the simulator publishes, so that a page of a running node finds its robot."""
    pytest.importorskip('mujoco')
    text = published(path)
    mjcf, urdf = TreeModel.from_file(path), TreeModel.from_urdf(text)
    assert urdf.joint_names == mjcf.joint_names
    state = mjcf.random_state(np.random.default_rng(3))
    assert_close(mass_matrix(urdf, state), mass_matrix(mjcf, state), 1e-9)
    assert_close(Kinematics(urdf, state).H, Kinematics(mjcf, state).H, 1e-12)
    ours, theirs = (
        np.concatenate([one.mesh.vertices for one in drawn(*of).solids if one.link == 'thigh'])
        for of in ((urdf, text), (mjcf, path))
    )
    assert_close(ours.min(axis=0), theirs.min(axis=0), 1e-6)
    assert_close(ours.max(axis=0), theirs.max(axis=0), 1e-6)


def test_mode__moves_the_robot_along_its_eigenvector(standing):
    model, instant = standing.model, standing.about(standing._start)
    report = analyze_modes(model, instant.state, instant.supports)
    mode = report.modes[0]
    L = Linearizer(model, [one.grounded(Kinematics(model, instant.state)).contact
                           for one in instant.supports])  # fmt: skip
    tau = standing._efforts(instant.state, instant.supports)[0]
    A = L(instant.state, tau).A
    for one in report.modes:
        size = np.linalg.norm(one.shape)
        assert np.linalg.norm(A @ one.shape - one.eigenvalue * one.shape) < 1e-4 * size * (
            1.0 + abs(one.eigenvalue)
        ), one.words
    moved = instant.state.difference(displaced(model, instant.state, mode.shape, 0.1, 0.0))
    assert np.abs(moved).max() == pytest.approx(0.1, rel=1e-9)
    position = mode.shape[: model.m] / mode.shape[np.argmax(np.abs(mode.shape[: model.m]))]
    assert_close(moved[: model.m], 0.1 * position.real, 1e-9)


def test_base_in_the_air__goes_where_its_sliders_are():
    model = TreeModel.from_urdf(BARE.format(shapes=''))
    source = Standing(model, BARE.format(shapes=''), joints={'j': 0.25})
    page = Page(source, port=0)
    try:
        for slider, value in zip(source._sliders, (0.2, 0.1, -0.3, 0.7, -0.5), strict=True):
            slider.value = value
        state = source.newest().state
    finally:
        page.close()
    expected = np.eye(4)
    expected[:3, :3] = Rotation.from_euler('ZYX', (0.7, -0.3, 0.1)).as_matrix()
    expected[2, 3] = 0.2
    assert_close(state.H, expected, 1e-12)
    assert state.s[0] == -0.5


def test_slider_of_a_bag__shows_the_sample_of_its_time():
    with open_source([BAGS / 'demo']) as source:
        bag = Bag(source)
    page = Page(bag, port=0)
    try:
        for time in (0.0, 0.4 * bag.duration, bag.duration):
            bag._slider.value = time
            page.step()
            shown = page._instant
            assert 0.0 <= time - shown.time < 0.02
            expected = Linearizer(bag.model)(shown.state, bag._points[bag._shown].efforts)
            np.testing.assert_array_equal(shown.A, expected.A)
            np.testing.assert_array_equal(shown.B, expected.B)
        assert bag.health().dropped == sum(bag._drops.values())
        bag._slider.value, bag._play.value = 0.0, True
        page.step()
        page.step()
        assert bag._slider.value > 0.0
    finally:
        page.close()


def test_page__listens_on_this_machine_alone_and_refuses_a_port_that_is_taken(standing):
    page = Page(standing, port=0)
    try:
        assert page.url.startswith('http://127.0.0.1:')
        with urlopen(page.url) as answer:
            assert answer.status == 200
        port = int(page.url.rpartition(':')[2])
        with pytest.raises(ConfigurationError, match=f'port {port} of 127.0.0.1 is taken'):
            Page(standing, port=port)
    finally:
        page.close()
