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

    @pytest.mark.parametrize('kind', ['planar', 'floating'])
    def test_joint_kind__is_kept(self, kind):
        assert read(joint(kind=kind)).joints[0].kind == kind

    @pytest.mark.parametrize(
        'head', ['version="1.2"', 'version="x"', 'xmlns="http://www.ros.org"']
    )
    def test_version_and_namespace__are_ignored(self, head):
        assert read(f'<robot name="r" {head}><link name="a"/></robot>').links


class TestSources:
    def test_bytes_path_and_text__agree(self, tmp_path):
        file = tmp_path / 'arm.urdf'
        file.write_text(ARM, encoding='utf-8')
        from_text = read(ARM)
        for source in (ARM.encode(), file, str(file), '\ufeff \n' + ARM, b'\n ' + ARM.encode()):
            assert_equal(read(source), from_text)
        assert read(file).source == str(file)

    @pytest.mark.parametrize('encoding', ['utf-8', 'utf-8-sig', 'utf-16', 'latin-1', 'cp1252'])
    def test_encodings__are_read_from_bytes(self, encoding):
        declared = 'utf-8' if encoding == 'utf-8-sig' else encoding
        data = ARM.replace('"utf-8"', f'"{declared}"').encode(encoding)
        assert read(data).links[3].name == 'wheel_é'

    def test_declared_encoding__does_not_matter_for_str(self):
        for declared in ('latin-1', 'utf-16', 'shift_jis', 'nonsense'):
            assert_equal(read(ARM.replace('"utf-8"', f'"{declared}"')), read(ARM))


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

# What is wrong: text, and what the message must name.
BROKEN = {
    'empty': ('<', ['not well-formed', 'xmllint']),
    'unclosed': ('<robot name="r">', ['not well-formed']),
    'other root': ('<sdf/>', ['<sdf>', 'expected <robot>']),
    'no name': ('<robot><link name="a"/></robot>', ['<robot>', 'name is missing']),
    'no links': (wrap(''), ['no links', 'add <link']),
    'xacro': (wrap('<xacro:include filename="x"/>'), ['xacro:include', 'expand']),
    'unnamed link': (wrap('<link/>'), ['link', 'name is missing']),
    'unnamed joint': (wrap('<link name="a"/><joint type="fixed"/>'), ['joint', 'name']),
    'empty name': (wrap('<link name=""/>'), ["name=''", 'printable']),
    'control character': (wrap('<link name="a&#10;b"/>'), [r"'a\nb'", 'printable']),
    'escape sequence': (wrap('<link name="a&#x9b;b"/>'), [r"'a\x9bb'", 'printable']),
    'long name': (wrap(f'<link name="{"n" * 2000}"/>'), ['2000 characters', 'at most 1000']),
    'two links': (wrap('<link name="a"/><link name="a"/>'), ["'a'", 'unique']),
    'two joints': (joint(LIMIT, tail='<link name="c"/><joint name="j1" type="fixed">'
                   '<parent link="a"/><child link="c"/></joint>'), ["'j1'", 'unique']),
    'no parent': (wrap('<link name="a"/><joint name="j1" type="fixed"><child link="a"/></joint>'),
                  ['j1', 'parent', 'add']),
    'no child': (wrap('<link name="a"/><joint name="j1" type="fixed"><parent link="a"/></joint>'),
                 ['j1', 'child', 'add']),
    'bare parent': (wrap('<link name="a"/><joint name="j1" type="fixed"><parent/></joint>'),
                    ["joint 'j1'", '<parent>', 'link is missing']),
    'unknown parent': (wrap('<link name="a"/><joint name="j1" type="fixed"><parent link="x"/>'
                            '<child link="a"/></joint>'), ["'j1'", "'x'", 'does not exist']),
    'unknown child': (wrap('<link name="a"/><joint name="j1" type="fixed"><parent link="a"/>'
                           '<child link="x"/></joint>'), ["'j1'", "'x'", 'does not exist']),
    'two parents': (joint(LIMIT, tail='<joint name="j2" type="fixed"><parent link="a"/>'
                          '<child link="b"/></joint>'), ["'b'", "'j1'", "'j2'", 'one parent']),
    'loop': (joint(LIMIT, tail='<joint name="j2" type="fixed"><parent link="b"/>'
                   '<child link="a"/></joint>'), ["'a', 'b'", 'loop']),
    'loop aside': (wrap('<link name="r"/><link name="a"/><link name="b"/>'
                        '<joint name="j1" type="fixed"><parent link="a"/><child link="b"/></joint>'
                        '<joint name="j2" type="fixed"><parent link="b"/><child link="a"/></joint>'
                        ), ["'a', 'b'", 'loop']),
    'self loop': (wrap('<link name="a"/><joint name="j1" type="fixed"><parent link="a"/>'
                       '<child link="a"/></joint>'), ["'a'", 'loop']),
    'two roots': (wrap('<link name="a"/><link name="b"/>'), ["'a', 'b'", 'root', 'expected one']),
    'no type': (wrap('<link name="a"/><joint name="j1"><parent link="a"/><child link="a"/>'
                     '</joint>'), ['j1', 'type']),
    'unknown type': (joint(kind='ball'), ["'j1'", "'ball'", 'prismatic']),
    'zero axis': (joint('<axis xyz="0 0 1e-10"/>' + LIMIT), ["'j1'", '1e-10', '1e-09', '<axis']),
    'zero planar axis': (joint('<axis xyz="0 0 0"/>', 'planar'), ["'j1'", 'norm 0.0']),
    'bare axis': (joint('<axis/>'), ["'j1'", '<axis>', 'xyz is missing']),
    'two orientations': (joint('<origin rpy="0 0 1" quat_xyzw="0 0 0 1"/>').replace(
        'name="r"', 'name="r" version="1.1"'), ["'j1'", 'both rpy and quat_xyzw']),
    'no orientation': (joint('<origin quat_xyzw="0 0 0 0"/>').replace(
        'name="r"', 'name="r" version="1.1"'), ["'j1'", 'is no rotation']),
    'two numbers': (joint('<origin xyz="0 0"/>'), ["'j1'", '<origin>', "'0 0'", 'expected 3']),
    'four numbers': (joint('<axis xyz="0 0 1 0"/>'), ["'j1'", '<axis>', '4 numbers']),
    'empty rpy': (joint('<origin rpy=""/>'), ["'j1'", 'rpy', '0 numbers']),
    'commas': (joint('<origin xyz="0, 0, 0"/>'), ["'j1'", "'0,'", 'not a number']),
    'unexpanded': (joint('<origin xyz="${x} 0 0"/>'), ["'j1'", "'${x}'", 'not a number']),
    'underscore': (joint('<origin xyz="1_0 0 0"/>'), ["'j1'", "'1_0'", 'not a number']),
    'digits': (joint('<origin xyz="\u0661 0 0"/>'), ["'j1'", 'not a number']),
    'nan': (joint('<origin xyz="nan 0 0"/>'), ["'j1'", 'origin', 'nan', 'finite']),
    'overflow': (joint('<origin xyz="0 1e999 0"/>'), ["'j1'", 'origin', 'inf', 'finite']),
    'absurd': (joint('<origin xyz="0 0 -2e9"/>'), ["'j1'", 'origin', '-2000000000.0', '1e+09']),
    'nan limit': (joint('<limit lower="nan" upper="1" effort="1" velocity="1"/>'),
                  ["'j1'", 'lower limit', 'nan']),
    'bare mimic': (joint('<mimic multiplier="2"/>'), ['j1', 'mimic', 'joint']),
    'negative mass': (link('<mass value="-1"/>' + INERTIA), ["'a'", '-1.0 kg', '>= 0']),
    'infinite mass': (link('<mass value="inf"/>' + INERTIA), ["'a'", 'mass', 'inf']),
}  # fmt: skip


class TestErrors:
    @pytest.mark.parametrize('case', BROKEN)
    def test_broken_text__names_source_and_fix(self, case, capfd):
        text, expected = BROKEN[case]
        with pytest.raises(UrdfError) as caught:
            read(text)
        message = str(caught.value)
        assert message.startswith('URDF text: ')
        assert ';' in message  # the fix
        assert '\n' not in message
        for part in expected:
            assert part in message
        assert capfd.readouterr() == ('', '')

    def test_line__is_named(self):
        with pytest.raises(UrdfError, match=r"line 2, joint 'j', <origin>: xyz='1 2' holds 2 num"):
            read(
                wrap('<link name="a"/>\n<joint name="j" type="fixed"><origin xyz="1 2"/></joint>')
            )

    def test_several_errors__are_counted(self):
        text = wrap('<link name="a"/><joint/><joint name="j" type="ball"/>')
        with pytest.raises(UrdfError, match=r'<joint>: attribute name .*\(3 more: geolin lint'):
            read(text)

    @pytest.mark.parametrize('path', ['nowhere.urdf', '', 'a\0b', '.', 'x' * 5000])
    def test_unreadable_path__is_named(self, path, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(UrdfError, match=r'cannot be read .*check the path'):
            read(path)
        if path != 'a\0b':
            with pytest.raises(UrdfError):
                read(Path(path))

    @pytest.mark.parametrize(
        ('source', 'says'),
        [
            *((source, 'shape of urdfpy') for source in (None, 7, object(), [], {})),
            *((data, 'not well-formed') for data in (b'', b'\x00', b'\xff\xfe', b'nonsense')),
            ('<robot name="\ud800"/>', 'surrogates'),
        ],
    )
    def test_what_is_no_text__is_refused(self, source, says):
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

    @pytest.mark.parametrize('library', ['urdfpy', 'urchin'])
    def test_made_up_inertia__is_undone(self, library):
        class Link(SimpleNamespace):
            __module__ = f'{library}.urdf'

        robot = urdfpy_arm()
        made_up = SimpleNamespace(mass=1.0, inertia=np.eye(3), origin=np.eye(4))
        robot.links = [
            Link(name=link.name, inertial=link.inertial or made_up) for link in robot.links
        ]
        with pytest.warns(ModelWarning, match='links base, wheel_é, tool .*read as massless'):
            assert_equal(read(robot), as_text())

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


class TestBadObjects:
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
