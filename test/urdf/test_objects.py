# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Objects of urdfpy's shape give the same description as their text."""

import logging
from dataclasses import dataclass, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.robots import example_robot
from urdf_parser_py.urdf import URDF

from geolin_ros.errors import ModelWarning, UrdfError
from geolin_ros.urdf import read

ARM = (Path(__file__).parent / 'arm.urdf').read_text(encoding='utf-8')


def assert_equal(a, b, except_for=''):
    assert a.name == b.name
    for x, y in zip(a.links, b.links, strict=True):
        assert x.name == y.name
        assert_allclose(x.inertia, y.inertia, rtol=1e-12, atol=1e-12)
    for x, y in zip(a.joints, b.joints, strict=True):
        for field in fields(x):
            if field.name == except_for:
                continue
            ours, theirs = getattr(x, field.name), getattr(y, field.name)
            if isinstance(ours, np.ndarray):
                assert_allclose(ours, theirs, rtol=0, atol=1e-12, err_msg=f'{x.name} {field.name}')
            else:
                assert ours == theirs, (x.name, field.name)


def with_prefixes(text):
    """Declare what lxml wants declared and URDF files leave out."""
    return text.replace('<robot ', '<robot xmlns:drake="http://drake.mit.edu" ')


@dataclass
class UrdfpyJoint:
    """The attributes of urdfpy.Joint, with the names and defaults of urdfpy 0.0.22."""

    name: str
    joint_type: str
    parent: str
    child: str
    axis: Any = None
    origin: Any = None
    limit: Any = None
    dynamics: Any = None
    safety_controller: Any = None
    calibration: Any = None
    mimic: Any = None

    def __post_init__(self):  # as the setters of urdfpy do
        self.axis = np.array([1.0, 0.0, 0.0] if self.axis is None else self.axis)
        self.axis = self.axis / np.linalg.norm(self.axis)
        self.origin = np.eye(4) if self.origin is None else self.origin


def urdfpy_arm():
    """Return what urdfpy.URDF.load gives for arm.urdf, attribute by attribute."""
    new = SimpleNamespace
    quarter = np.array([[0, -1, 0, 0.1], [1, 0, 0, 0.2], [0, 0, 1, 0.3], [0, 0, 0, 1.0]])
    upper = new(mass=2.0, inertia=np.diag([0.1, 0.2, 0.25]), origin=quarter)
    slide = new(mass=1.0, inertia=1e-2 * np.eye(3), origin=np.eye(4))
    links = [
        new(name=name, inertial=inertial, visuals=[], collisions=[])
        for name, inertial in (
            ('base', None), ('upper', upper), ('slide', slide), ('wheel_é', None), ('tool', None),
        )
    ]  # fmt: skip
    origin = read(ARM).joints[0].placement.copy()
    joints = [
        UrdfpyJoint(
            'shoulder', 'revolute', 'base', 'upper', axis=[0.0, 0.0, 2.0], origin=origin,
            limit=new(effort=30.0, velocity=4.0, lower=-1.0, upper=2.0),
            dynamics=new(damping=0.7, friction=0.1),
        ),
        UrdfpyJoint(
            'lift', 'prismatic', 'upper', 'slide',
            limit=new(effort=1e16, velocity=np.inf, lower=None, upper=None),
            mimic=new(joint='shoulder', multiplier=-0.5, offset=0.1),
        ),
        UrdfpyJoint(
            'roll', 'continuous', 'slide', 'wheel_é', axis=[0.0, 1.0, 0.0],
            limit=new(effort=3.0, velocity=4.0, lower=-1.0, upper=1.0),
            mimic=new(joint='shoulder', multiplier=1.0, offset=0.0),
        ),
        UrdfpyJoint('mount', 'fixed', 'upper', 'tool'),
    ]  # fmt: skip
    transmissions = [
        new(
            name='t',
            joints=[new(name='shoulder', hardwareInterfaces=[])],
            actuators=[new(name='m', mechanicalReduction=50.0, hardwareInterfaces=[])],
        )
    ]
    return new(name='arm', links=links, joints=joints, transmissions=transmissions, materials=[])


class TestShapes:
    def test_urdfpy_shape__equals_text(self):
        expected = read(ARM)
        expected.joints[0].axis[:] = [0, 0, 1]  # urdfpy normalises
        assert_equal(read(urdfpy_arm()), expected)

    def test_urdf_parser_py__equals_text(self):
        # The library wants a hardware interface in every transmission.
        text = ARM[: ARM.index('  <transmission name="d')] + '</robot>'
        text = text.replace(
            '<joint name="shoulder"/>',
            '<joint name="shoulder"><hardwareInterface>EffortJoint</hardwareInterface></joint>',
        )
        parsed = URDF.from_xml_string(with_prefixes(text).encode())
        assert_equal(read(parsed), read(ARM))

    def test_source__names_the_class(self):
        assert read(urdfpy_arm()).source == 'types.SimpleNamespace object'

    @pytest.mark.parametrize('library', ['urdfpy', 'urchin'])
    def test_made_up_inertia__is_undone(self, library):
        class Link(SimpleNamespace):
            __module__ = f'{library}.urdf'

        robot = urdfpy_arm()
        made_up = SimpleNamespace(mass=1.0, inertia=np.eye(3), origin=np.eye(4))
        robot.links = [
            Link(name=link.name, inertial=link.inertial or made_up) for link in robot.links
        ]
        expected = read(ARM)
        expected.joints[0].axis[:] = [0, 0, 1]
        with pytest.warns(ModelWarning, match='links base, wheel_é, tool .*read as massless'):
            assert_equal(read(robot), expected)

    def test_unit_inertia_elsewhere__is_kept(self):
        robot = urdfpy_arm()
        robot.links[0].inertial = SimpleNamespace(mass=1.0, inertia=np.eye(3), origin=np.eye(4))
        assert_allclose(read(robot).links[0].inertia, np.eye(6))


class TestYourdfpy:
    """An independent reading of every example; yourdfpy keeps no transmissions."""

    def test_arm__equals_text(self, tmp_path):
        yourdfpy = pytest.importorskip('yourdfpy')
        file = tmp_path / 'arm.urdf'
        file.write_text(with_prefixes(ARM), encoding='utf-8')
        parsed = yourdfpy.URDF.load(
            str(file), build_scene_graph=False, load_meshes=False, mesh_dir=''
        )
        expected = read(ARM)
        assert_equal(read(parsed), expected, except_for='gear_ratio')
        assert_equal(read(parsed.robot), expected, except_for='gear_ratio')

    @pytest.mark.parametrize('name', ['talos_reduced', 'panda', 'go2', 'icub'])
    def test_example_robots__equal_their_text(self, name, caplog):
        yourdfpy = pytest.importorskip('yourdfpy')
        caplog.set_level(logging.CRITICAL)
        file = example_robot(name)
        parsed = yourdfpy.URDF.load(str(file), build_scene_graph=False, load_meshes=False)
        assert_equal(read(parsed), read(file), except_for='gear_ratio')


GONE = 'links', 'parent'
FIRST, BODY = 'joints.0', 'links.1.inertial'
BAD = [
    ('links', None, 'shape of urdfpy'),
    (f'{FIRST}.parent', None, 'shape of urdfpy'),
    ('name', None, 'robot: name is None'),
    (f'{FIRST}.name', 3, 'joint: name is 3'),
    (f'{FIRST}.joint_type', 'ball', "'shoulder': type is 'ball'"),
    (f'{FIRST}.axis', [0, 0, 0], "'shoulder': axis has norm 0.0"),
    (f'{FIRST}.axis', [1, 0], r'axis has shape \(2,\)'),
    (f'{FIRST}.axis', 'x', "axis is 'x', expected numbers"),
    (f'{FIRST}.origin', np.eye(3), r'origin has shape \(3, 3\)'),
    (f'{FIRST}.origin', 2 * np.eye(4), 'origin has last row'),
    (f'{FIRST}.origin', np.diag([-1.0, 1, 1, 1]), 'origin is no pose'),
    (f'{FIRST}.limit.effort', 'big', "effort limit is 'big'"),
    ('joints.1.mimic.offset', 10**400, 'mimic offset is 1000'),
    (f'{BODY}.mass', None, "'upper': <inertial> has no"),
    (f'{BODY}.mass', -1, 'mass is -1.0 kg'),
    (f'{BODY}.inertia', np.arange(9.0).reshape(3, 3), 'is not symmetric'),
    (f'{BODY}.inertia', None, 'has no <inertia>'),
    ('joints', urdfpy_arm().joints[:-1], 'root links'),
]


class TestErrors:
    @pytest.mark.parametrize(('path', 'value', 'message'), BAD)
    def test_bad_value__is_named(self, path, value, message):
        robot = urdfpy_arm()
        *way, name = path.split('.')
        holder = robot
        for key in way:
            holder = holder[int(key)] if key.isdigit() else getattr(holder, key)
        delattr(holder, name) if value is None and name in GONE else setattr(holder, name, value)
        with pytest.raises(UrdfError, match=message):
            read(robot)
