# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""URDF text, files and objects to a description; what is malformed is refused by its name."""

import logging
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.robots import example_robot
from urdf_parser_py.urdf import URDF

from geolin_ros.description import Limits, Mimic
from geolin_ros.errors import ModelWarning, UrdfError
from geolin_ros.urdf import read

ARM = (Path(__file__).parent / 'arm.urdf').read_text(encoding='utf-8')


def wrap(body, name='r'):
    return f'<robot name="{name}">{body}</robot>'


def joint(inner='', kind='revolute', tail=''):
    return wrap(
        '<link name="a"/><link name="b"/>'
        f'<joint name="j1" type="{kind}"><parent link="a"/><child link="b"/>{inner}</joint>{tail}'
    )


def link(inner):
    return wrap(f'<link name="a"><inertial>{inner}</inertial></link>')


INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'


class TestContent:
    def test_arm__has_the_values_of_the_text(self):
        arm = read(ARM)
        assert (arm.name, arm.source) == ('arm', 'URDF text')
        assert [x.name for x in arm.links] == ['base', 'upper', 'slide', 'wheel_é', 'tool']
        shoulder, lift, roll, mount = arm.joints
        assert (shoulder.name, shoulder.kind) == ('shoulder', 'revolute')
        assert (shoulder.parent, shoulder.child) == ('base', 'upper')
        assert shoulder.axis.tolist() == [0, 0, 2]
        assert shoulder.limits == Limits(-1, 2, 4, 30)
        assert (shoulder.damping, shoulder.friction, shoulder.gear_ratio) == (0.7, 0.1, 50)
        assert lift.axis.tolist() == [1, 0, 0]
        assert lift.limits == Limits(0, 0, np.inf, np.inf)  # left out: 0; 1e16 and inf: none
        assert lift.mimic == Mimic('shoulder', -0.5, 0.1)
        assert roll.limits == Limits(velocity=4, effort=3)
        assert roll.mimic == Mimic('shoulder', 1.0, 0.0)
        assert (lift.gear_ratio, roll.gear_ratio) == (1, 1)  # a differential has no single ratio
        assert (mount.kind, mount.mimic, mount.limits) == ('fixed', None, Limits())

    def test_joint_origin__is_yaw_after_pitch_after_roll(self):
        def turn(i, j, angle):
            R = np.eye(3)
            R[i, i] = R[j, j] = np.cos(angle)
            R[i, j], R[j, i] = -np.sin(angle), np.sin(angle)
            return R

        placement = read(ARM).joints[0].placement
        expected = turn(0, 1, 0.5) @ turn(2, 0, -0.2) @ turn(1, 2, 0.3)
        assert_allclose(placement[:3, :3], expected, rtol=0, atol=1e-15)
        assert placement[:, 3].tolist() == [1, 2, 3, 1]

    def test_inertia__is_about_the_link_frame_in_link_axes(self):
        inertia = read(ARM).links[1].inertia
        c = np.array([0.1, 0.2, 0.3])
        # Turned by 90 degrees about z: ixx and iyy change places.
        rotational = np.diag([0.2, 0.1, 0.25]) + 2.0 * (c @ c * np.eye(3) - np.outer(c, c))
        assert_allclose(inertia[3:, 3:], rotational, rtol=0, atol=1e-14)
        assert_allclose(inertia[:3, :3], 2.0 * np.eye(3))
        # Momentum of a spin about z: m omega x c.
        spin = inertia @ np.array([0, 0, 0, 0, 0, 1.0])
        assert_allclose(spin[:3], [-2.0 * 0.2, 2.0 * 0.1, 0], atol=1e-15)
        assert_allclose(inertia, inertia.T)
        assert not read(ARM).links[0].inertia.any()


class TestSources:
    def test_bytes_path_and_text__agree(self, tmp_path):
        file = tmp_path / 'arm.urdf'
        file.write_text(ARM, encoding='utf-8')
        from_text = read(ARM)
        for source in (ARM.encode(), file, str(file), '\ufeff \n' + ARM, b'\n ' + ARM.encode()):
            assert_equal(read(source), from_text)
        assert read(file).source == str(file)

    @pytest.mark.parametrize('encoding', ['utf-8', 'utf-8-sig', 'utf-16', 'latin-1', 'cp1252'])
    def test_encoding__is_that_of_bytes_and_does_not_matter_for_str(self, encoding):
        declared = ARM.replace('"utf-8"', f'"{encoding.removesuffix("-sig")}"')
        assert read(declared.encode(encoding)).links[3].name == 'wheel_é'
        assert_equal(read(declared), read(ARM))


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


LIMIT = '<limit lower="0" upper="1" effort="1" velocity="1"/>'

A, B = '<link name="a"/>', '<link name="b"/>'


def fixed(parent='a', child='b', name='j1'):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="fixed">{ends}</joint>'


NEW = 'name="r" version="1.1"'
# What is wrong: text, and what the message must name.
BROKEN = [
    ('<', ['not well-formed', 'xmllint']),
    ('<sdf/>', ['<sdf>', 'expected <robot>']),
    (f'<robot>{A}</robot>', ['<robot>', 'name is missing']),
    (wrap(''), ['no links']),
    (wrap('<xacro:include filename="x"/>'), ['xacro:include']),
    (wrap('<link/>'), ['link', 'name is missing']),
    (wrap(A + '<joint type="fixed"/>'), ['joint', 'name']),
    (wrap('<link name=""/>'), ["name=''"]),
    (wrap('<link name="a&#10;b"/>'), [r"'a\nb'"]),
    (wrap('<link name="a&#x9b;b"/>'), [r"'a\x9bb'"]),
    (wrap(f'<link name="{"n" * 2000}"/>'), ['2000 characters', 'at most 1000']),
    (wrap(A + A), ["'a'", 'unique']),
    (wrap(A + B + '<link name="c"/>' + fixed() + fixed(child='c')), ["'j1'", 'unique']),
    (wrap(A + fixed().replace('<parent link="a"/>', '')), ['j1', 'parent']),
    (wrap(A + fixed().replace('<child link="b"/>', '')), ['j1', 'child']),
    (wrap(A + fixed().replace(' link="a"', '')), ["joint 'j1'", '<parent>', 'link is missing']),
    (wrap(A + fixed('x', 'a')), ["'j1'", "'x'", 'does not exist']),
    (wrap(A + fixed('a', 'x')), ["'j1'", "'x'", 'does not exist']),
    (wrap(A + B + fixed() + fixed(name='j2')), ["'b'", "'j1'", "'j2'", 'one parent']),
    (wrap(A + B + fixed() + fixed('b', 'a', 'j2')), ["'a', 'b'", 'loop']),
    (wrap('<link name="r"/>' + A + B + fixed() + fixed('b', 'a', 'j2')), ["'a', 'b'", 'loop']),
    (wrap(A + fixed('a', 'a')), ["'a'", 'loop']),
    (wrap(A + B), ["'a', 'b'", 'root']),
    (wrap(A + B + fixed().replace(' type="fixed"', '')), ['j1', 'type']),
    (joint(kind='ball'), ["'j1'", "'ball'"]),
    (joint('<axis xyz="0 0 1e-10"/>' + LIMIT), ["'j1'", '1e-10', '<axis']),
    (joint('<axis xyz="0 0 0"/>', 'planar'), ["'j1'", "'0 0 0'", 'norm']),
    (joint('<axis/>'), ["'j1'", '<axis>', 'xyz is missing']),
    (joint('<origin rpy="0 0 1" quat_xyzw="0 0 0 1"/>').replace('name="r"', NEW), ['both rpy']),
    (
        joint('<origin quat_xyzw="0 0 0 0"/>').replace('name="r"', NEW),
        ["'j1'", 'expected a rotation'],
    ),
    (joint('<origin xyz="0 0"/>'), ["'j1'", '<origin>', "'0 0'"]),
    (joint('<axis xyz="0 0 1 0"/>'), ["'j1'", '<axis>', "'0 0 1 0'", '3 finite']),
    (joint('<origin rpy=""/>'), ["'j1'", "rpy=''", '3 finite']),
    *((joint(f'<origin xyz="{x} 0 0"/>'), [f"'{x} 0 0'"]) for x in ('0,', '${x}', '1_0')),
    (joint('<origin xyz="\u0661 0 0"/>'), ["'j1'", 'decimal numbers']),
    (joint('<origin xyz="nan 0 0"/>'), ["'j1'", 'origin', 'nan']),
    (joint('<origin xyz="0 1e999 0"/>'), ["'j1'", 'origin', '1e999']),
    (joint('<origin xyz="0 0 -2e9"/>'), ["'j1'", 'origin', '-2e9', 'at most 1e+09']),
    (joint(LIMIT.replace('"0"', '"nan"')), ["'j1'", "lower='nan'"]),
    (joint('<mimic multiplier="2"/>'), ['j1', 'mimic', 'joint']),
    (link('<mass value="-1"/>' + INERTIA), ["'a'", '-1.0 kg']),
    (link('<mass value="inf"/>' + INERTIA), ["'a'", 'mass', 'inf']),
]


@pytest.mark.parametrize(('text', 'expected'), BROKEN)
def test_broken_text__names_source_and_fix(text, expected, capfd):
    with pytest.raises(UrdfError) as caught:
        read(text)
    message = str(caught.value)
    assert message.startswith('URDF text: ')
    assert ';' in message  # the fix
    assert '\n' not in message
    for part in expected:
        assert part in message
    assert capfd.readouterr() == ('', '')


def test_line_and_number_of_errors__are_named():
    joint = '<joint name="j" type="fixed"><origin xyz="1 2"/></joint>'
    with pytest.raises(UrdfError, match=r"line 2, joint 'j', <origin>: xyz='1 2', .*\(2 more: "):
        read(wrap('<link name="a"/>\n' + joint))


@pytest.mark.parametrize('path', ['nowhere.urdf', '', 'a\0b', '.', 'x' * 5000])
def test_unreadable_path__is_named(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UrdfError, match=r'cannot be read .*check the path'):
        read(path)


@pytest.mark.parametrize(
    ('source', 'says'),
    [
        *((source, 'shape of urdfpy') for source in (None, 7, [], {})),
        *((data, 'not well-formed') for data in (b'', b'\x00', b'\xff\xfe', b'nonsense')),
        ('<robot name="\ud800"/>', 'not well-formed'),
    ],
)
def test_what_is_no_text__is_refused(source, says):
    with pytest.raises(UrdfError, match=says):
        read(source)


# ---- Objects of urdfpy's shape


def with_prefixes(text):
    """Declare what lxml wants declared and URDF files leave out."""
    return text.replace('<robot ', '<robot xmlns:drake="http://drake.mit.edu" ')


def urdfpy_joint(name, kind, parent, child, **given):
    """Return the attributes of urdfpy.Joint, with the names and defaults of urdfpy 0.0.22."""
    absent = dict.fromkeys(('limit', 'dynamics', 'safety_controller', 'calibration', 'mimic'))
    defaults = absent | {'axis': np.array([1.0, 0.0, 0.0]), 'origin': np.eye(4)}
    ends = {'joint_type': kind, 'parent': parent, 'child': child}
    return SimpleNamespace(name=name, **ends, **defaults | given)


def urdfpy_arm():
    """Return what urdfpy.URDF.load gives for arm.urdf, attribute by attribute."""
    new, joint = SimpleNamespace, urdfpy_joint
    quarter = np.array([[0, -1, 0, 0.1], [1, 0, 0, 0.2], [0, 0, 1, 0.3], [0, 0, 0, 1.0]])
    inertials = {
        'base': None,
        'upper': new(mass=2.0, inertia=np.diag([0.1, 0.2, 0.25]), origin=quarter),
        'slide': new(mass=1.0, inertia=1e-2 * np.eye(3), origin=np.eye(4)),
        'wheel_é': None,
        'tool': None,
    }
    links = [new(name=k, inertial=x, visuals=[], collisions=[]) for k, x in inertials.items()]
    joints = [
        joint(
            *('shoulder', 'revolute', 'base', 'upper'),
            axis=np.array([0.0, 0.0, 1.0]),  # urdfpy normalises
            origin=read(ARM).joints[0].placement.copy(),
            limit=new(effort=30.0, velocity=4.0, lower=-1.0, upper=2.0),
            dynamics=new(damping=0.7, friction=0.1),
        ),
        joint(
            *('lift', 'prismatic', 'upper', 'slide'),
            limit=new(effort=1e16, velocity=np.inf, lower=None, upper=None),
            mimic=new(joint='shoulder', multiplier=-0.5, offset=0.1),
        ),
        joint(
            *('roll', 'continuous', 'slide', 'wheel_é'),
            axis=np.array([0.0, 1.0, 0.0]),
            limit=new(effort=3.0, velocity=4.0, lower=-1.0, upper=1.0),
            mimic=new(joint='shoulder', multiplier=1.0, offset=0.0),
        ),
        joint('mount', 'fixed', 'upper', 'tool'),
    ]
    driven = [new(name='shoulder', hardwareInterfaces=[])]
    motors = [new(name='m', mechanicalReduction=50.0, hardwareInterfaces=[])]
    transmissions = [new(name='t', joints=driven, actuators=motors)]
    return new(name='arm', links=links, joints=joints, transmissions=transmissions, materials=[])


def as_text():
    """Return the arm of the text, with a normalised axis."""
    expected = read(ARM)
    expected.joints[0].axis[:] = [0, 0, 1]
    return expected


class TestShapes:
    def test_urdfpy_shape__equals_text(self):
        found = read(urdfpy_arm())
        assert_equal(found, as_text())
        assert found.source == 'types.SimpleNamespace object'

    def test_urdf_parser_py__equals_text(self):
        # The library wants a hardware interface in every transmission.
        text = ARM[: ARM.index('  <transmission name="d')] + '</robot>'
        text = text.replace(
            '<joint name="shoulder"/>',
            '<joint name="shoulder"><hardwareInterface>EffortJoint</hardwareInterface></joint>',
        )
        parsed = URDF.from_xml_string(with_prefixes(text).encode())
        assert_equal(read(parsed), read(ARM))

    @pytest.mark.parametrize('library', ['urdfpy', 'urchin', 'another'])
    def test_made_up_inertia__is_undone(self, library):
        class Link(SimpleNamespace):
            __module__ = f'{library}.urdf'

        robot = urdfpy_arm()
        made_up = SimpleNamespace(mass=1.0, inertia=np.eye(3), origin=np.eye(4))
        robot.links = [Link(name=x.name, inertial=x.inertial or made_up) for x in robot.links]
        if library == 'another':
            assert_allclose(read(robot).links[0].inertia, np.eye(6))
            return
        with pytest.warns(ModelWarning, match='links base, wheel_é, tool .*read as massless'):
            assert_equal(read(robot), as_text())


@pytest.mark.parametrize('name', ['arm', 'talos_reduced', 'go2'])
def test_yourdfpy__equals_text(name, tmp_path, caplog):
    """An independent reading; yourdfpy keeps no transmissions."""
    yourdfpy = pytest.importorskip('yourdfpy')
    caplog.set_level(logging.CRITICAL)
    file = tmp_path / 'arm.urdf' if name == 'arm' else example_robot(name)
    if name == 'arm':
        file.write_text(with_prefixes(ARM), encoding='utf-8')
    parsed = yourdfpy.URDF.load(str(file), build_scene_graph=False, load_meshes=False)
    for given in (parsed, parsed.robot):
        assert_equal(read(given), read(file), except_for='gear_ratio')


GONE = 'links', 'parent'
FIRST, BODY = 'joints.0', 'links.1.inertial'
BAD = [
    ('links', None, 'shape of urdfpy'),
    (f'{FIRST}.parent', None, 'shape of urdfpy'),
    ('name', None, '<robot>: attribute name is missing'),
    (f'{FIRST}.name', 3, 'joint.*name=3, expected'),
    (f'{FIRST}.axis', [1, 0], r'<axis>: xyz=\[1, 0\], expected 3'),
    (f'{FIRST}.axis', 'x', "xyz='x', expected 3"),
    (f'{FIRST}.origin', np.eye(3), r'<origin>: 4x4=.* expected a pose'),
    (f'{FIRST}.origin', np.diag([-1.0, 1, 1, 1]), r'<origin>: 4x4=.* expected a pose'),
    (f'{FIRST}.limit.effort', 'big', "effort='big'"),
    ('joints.1.mimic.offset', 10**400, 'offset=1000'),
    (f'{BODY}.inertia', np.arange(9.0).reshape(3, 3), 'is not symmetric'),
]


@pytest.mark.parametrize(('path', 'value', 'message'), BAD)
def test_bad_value_of_an_object__is_named(path, value, message):
    robot = urdfpy_arm()
    *way, name = path.split('.')
    holder = robot
    for key in way:
        holder = holder[int(key)] if key.isdigit() else getattr(holder, key)
    delattr(holder, name) if value is None and name in GONE else setattr(holder, name, value)
    with pytest.raises(UrdfError, match=message):
        read(robot)
