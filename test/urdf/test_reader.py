# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""URDF text and files to a description; every malformed input is an error that says what to do."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from geolin_ros.description import Limits, Mimic
from geolin_ros.errors import UrdfError
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

    @pytest.mark.parametrize('version', ['1.0', '1.2', 'x'])
    def test_version_attribute__is_ignored(self, version):
        assert read(f'<robot name="r" version="{version}"><link name="a"/></robot>').name == 'r'

    def test_default_namespace__is_ignored(self):
        assert read('<robot name="r" xmlns="http://www.ros.org"><link name="a"/></robot>').links


class TestSources:
    def test_bytes_path_and_text__agree(self, tmp_path):
        file = tmp_path / 'arm.urdf'
        file.write_text(ARM, encoding='utf-8')
        from_text = read(ARM)
        for source in (ARM.encode(), file, str(file), '\ufeff \n' + ARM, b'\n ' + ARM.encode()):
            assert_same(read(source), from_text)
        assert read(file).source == str(file)

    @pytest.mark.parametrize('encoding', ['utf-8', 'utf-8-sig', 'utf-16', 'latin-1', 'cp1252'])
    def test_encodings__are_read_from_bytes(self, encoding):
        declared = 'utf-8' if encoding == 'utf-8-sig' else encoding
        data = ARM.replace('"utf-8"', f'"{declared}"').encode(encoding)
        assert read(data).links[3].name == 'wheel_é'

    def test_declared_encoding__does_not_matter_for_str(self):
        for declared in ('latin-1', 'utf-16', 'shift_jis', 'nonsense'):
            assert_same(read(ARM.replace('"utf-8"', f'"{declared}"')), read(ARM))


def assert_same(a, b):
    assert (a.name, len(a.links), len(a.joints)) == (b.name, len(b.links), len(b.joints))
    for x, y in zip(a.links, b.links, strict=True):
        assert x.name == y.name
        assert_allclose(x.inertia, y.inertia, rtol=1e-12, atol=1e-12)
    for x, y in zip(a.joints, b.joints, strict=True):
        for key in ('name', 'kind', 'parent', 'child', 'limits', 'mimic'):
            assert getattr(x, key) == getattr(y, key), (x.name, key)
        for key in ('damping', 'friction', 'gear_ratio'):
            assert getattr(x, key) == pytest.approx(getattr(y, key))
        assert_allclose(x.placement, y.placement, rtol=0, atol=1e-12)
        assert_allclose(x.axis, y.axis, rtol=0, atol=1e-12)


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

    def test_checks__survive_python_without_asserts(self):
        texts = [BROKEN[case][0] for case in ('unknown type', 'two numbers', 'two roots')]
        program = (
            'from geolin_ros.urdf import read\n'
            'from geolin_ros.errors import UrdfError\n'
            f'for text in {texts!r}:\n'
            '    try: read(text)\n'
            '    except UrdfError: print("refused")\n'
        )
        run = subprocess.run(
            [sys.executable, '-O', '-c', program],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
        )
        assert run.stdout.split() == ['refused'] * 3
