# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Shapes of links against Pinocchio, which reads meshes by assimp."""

import warnings

import numpy as np
import pytest
from support.robots import FOLDER, example_robot

from geolin_ros.description.shapes import find_mesh
from geolin_ros.errors import UrdfError
from geolin_ros.urdf.shapes import read_shapes

ONE = '<robot name="r"><link name="foot"><collision>{}</collision></link></robot>'


@pytest.mark.parametrize(
    ('robot', 'link'),
    [
        ('icub', 'l_foot'),  # COLLADA, turned
        ('go2', 'FL_foot'),  # STL and COLLADA
        ('alexander_v1.lowerBodyOnly', 'LEFT_FOOT'),  # Wavefront, visual alone
    ],
)
def test_meshes__are_where_pinocchio_has_them(robot, link):
    pin = pytest.importorskip('pinocchio')
    path = example_robot(robot)
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    here = data.oMf[model.getFrameId(link)]
    compared = 0
    for is_collision, kind in ((True, 'COLLISION'), (False, 'VISUAL')):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # of Pinocchio about its arguments
            theirs = pin.buildGeomFromUrdf(
                model, str(path), getattr(pin.GeometryType, kind), [str(FOLDER.parent.parent)]
            )
        at = pin.GeometryData(theirs)
        pin.updateGeometryPlacements(model, data, theirs, at)
        meshes = [
            here.inverse().act(at.oMg[k]).act(point)
            for k, one in enumerate(theirs.geometryObjects)
            if model.frames[one.parentFrame].name == link
            for point in one.geometry.vertices()
        ]
        ours = [shape for shape in read_shapes(path)[link] if shape.is_collision == is_collision]
        if not meshes:
            assert not ours
            continue
        points = np.concatenate([shape.outline(path)[0] for shape in ours])
        for bound in (np.min, np.max):
            expected = bound(np.array(meshes), axis=0)
            np.testing.assert_allclose(bound(points, axis=0), expected, atol=1e-6)
        compared += 1
    assert compared


@pytest.mark.parametrize(
    ('geometry', 'low', 'high', 'radius'),
    [
        ('<box size="0.2 0.1 0.04"/>', (-0.1, -0.05, -0.02), (0.1, 0.05, 0.02), 0.0),
        ('<sphere radius="0.03"/>', (0, 0, 0), (0, 0, 0), 0.03),
        ('<cylinder radius="0.1" length="0.6"/>', (-0.1, -0.1, -0.3), (0.1, 0.1, 0.3), 0.0),
        ('<capsule radius="0.1" length="0.6"/>', (0, 0, -0.3), (0, 0, 0.3), 0.1),
    ],
)
def test_primitives__have_their_size_and_place(geometry, low, high, radius):
    origin = '<origin xyz="1 2 3" rpy="0 0 3.141592653589793"/>'
    text = ONE.format(f'{origin}<geometry>{geometry}</geometry>')
    (shape,) = read_shapes(text)['foot']
    points, found = shape.outline()
    assert found == radius
    np.testing.assert_allclose(points.min(axis=0), np.add(low, (1, 2, 3)), atol=1e-12)
    np.testing.assert_allclose(points.max(axis=0), np.add(high, (1, 2, 3)), atol=1e-12)


@pytest.mark.parametrize(
    ('text', 'says'),
    [
        *(
            (ONE.format(f'<geometry>{geometry}</geometry>'), "link 'foot', .*(size|radius)")
            for geometry in ('<box size="1 2"/>', '<sphere/>', '<cylinder radius="a" length="1"/>')
        ),
        ('<robot>', 'URDF text'),
        ('<!DOCTYPE robot [<!ENTITY a "b">]>' + ONE.format(''), 'URDF text'),
        ('<a>' * 200 + '</a>' * 200, 'deeper than 100'),
    ],
)
def test_text_that_cannot_be_read__is_refused(text, says):
    with pytest.raises(UrdfError, match=says):
        read_shapes(text)


def test_mesh__is_found_by_its_package_or_beside_the_robot(tmp_path, monkeypatch):
    assert read_shapes(ONE.replace('collision', 'drake:shape').format('')) == {'foot': []}
    text = ONE.format('<geometry><mesh filename="package://mine/meshes/foot.stl"/></geometry>')
    (shape,) = read_shapes(text)['foot']
    with pytest.raises(UrdfError, match=r'package://mine/meshes/foot.stl.* is not found'):
        shape.outline(tmp_path / 'robot.urdf')
    file = tmp_path / 'share/mine/meshes/foot.stl'
    file.parent.mkdir(parents=True)
    file.write_text('no mesh')
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    assert find_mesh(shape.file) == file
    with pytest.raises(UrdfError, match=r'foot.stl is not read|foot.stl is empty'):
        shape.outline()
    beside = tmp_path / 'foot.stl'
    beside.write_text('')
    assert find_mesh('foot.stl', tmp_path / 'robot.urdf') == beside
