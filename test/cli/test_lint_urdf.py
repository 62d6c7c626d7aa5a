# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every finding of the linter, on descriptions that have just that fault, and on real robots."""

import pytest
from geolin_tools.cli.lint_urdf import lint

from geolin_ros import robots

INERTIAL = (
    '<inertial><origin xyz="{com}"/><mass value="{mass}"/>'
    '<inertia ixx="{i[0]}" iyy="{i[1]}" izz="{i[2]}" ixy="0" ixz="0" iyz="0"/></inertial>'
)
LIMIT = '<limit lower="-1" upper="1" velocity="10" effort="20"/>'


def arm(
    inertia=(0.01, 0.01, 0.01),
    mass=1.0,
    com='0 0 0.1',
    axis='0 0 1',
    limit=LIMIT,
    more='',
    tip=True,
):
    own = INERTIAL.format(i=(0.1, 0.1, 0.1), mass=5.0, com='0 0 0')
    moved = INERTIAL.format(i=inertia, mass=mass, com=com) if tip else ''
    return (
        f'<robot name="arm"><link name="base">{own}</link><link name="tip">{moved}</link>'
        '<joint name="elbow" type="revolute"><parent link="base"/><child link="tip"/>'
        f'<origin xyz="0 0 0.5"/><axis xyz="{axis}"/>{limit}</joint>{more}</robot>'
    )


def limits(**changed):
    values = {'lower': -1, 'upper': 1, 'velocity': 10, 'effort': 20} | changed
    return f'<limit {" ".join(f"{key}={str(value)!r}" for key, value in values.items())}/>'


@pytest.mark.parametrize(
    ('text', 'severity', 'element', 'fragment'),
    [
        (arm(inertia=(-0.01, 0.01, 0.01)), 'error', "link 'tip'", 'negative principal moment'),
        (arm(inertia=(0.01, 0.01, 0.05)), 'warning', "link 'tip'", 'triangle'),
        (arm(inertia=(90.0, 90.0, 90.0)), 'warning', "link 'tip'", 'radius of gyration'),
        (arm(com='0 0 100'), 'warning', "link 'tip'", 'centre of mass'),
        (arm(tip=False), 'error', "link 'tip'", 'no inertia for the joint'),
        (arm(axis='0 0 2'), 'note', "joint 'elbow'", 'length 2'),
        (arm(limit=limits(effort=0)), 'warning', "joint 'elbow'", 'effort limit is 0'),
        (arm(limit=limits(effort=1e5)), 'warning', "joint 'elbow'", 'cannot be real'),
        (arm(limit=limits(velocity=1000)), 'warning', "joint 'elbow'", 'velocity limit'),
        (arm(limit=limits(lower=1)), 'warning', "joint 'elbow'", 'both 1'),
        (arm(mass=1e6), 'warning', 'the robot', 'total mass'),
        ('<robot', 'error', 'the file', ''),
        (arm(limit=LIMIT + '<mimic joint="nowhere"/>'), 'error', '', "'nowhere'"),
    ],
)
def test_fault__is_found_with_a_fix(text, severity, element, fragment):
    found = [f for f in lint(text).findings if f.severity == severity and element in f.element]
    assert any(fragment in finding.problem for finding in found), lint(text).findings
    assert all(finding.fix for finding in found)


BOX = '<collision><geometry><box size="0.2 0.1 0.4"/></geometry></collision>'
GROUND = {
    'degrees in rpy': (
        arm().replace('xyz="0 0 0.5"', 'xyz="0 0 0.5" rpy="0 90 0"'),
        "joint 'elbow', <origin>", 'rpy="0 90 0" is more than a turn', 'degrees',
    ),
    'degrees in limits': (
        arm(limit=limits(lower=-120, upper=90)), "joint 'elbow'", '19.1 turns', 'degrees',
    ),
    'a robot in millimetres': (
        arm(inertia=(1e4, 1e4, 1e4)).replace('0 0 0.5', '0 0 500'),
        'the robot', 'is 500 m long', 'mm',
    ),
    'a mass in grams': (
        arm(mass=3000, inertia=(0.04, 0.05, 0.02)), "link 'tip'", '3000 kg with these moments',
        'units',
    ),
    'a mass in grams, by its shape': (
        arm(mass=3000, com='0 0 0', inertia=(40, 60, 10)).replace(
            '<link name="tip">', '<link name="tip">' + BOX), "link 'tip'",
        '3000 kg in shapes of 0.2 x 0.1 x 0.4 m is denser', 'kg, not g',
    ),
    'an inertia too large for its shape': (
        arm(com='0 0 0', inertia=(0.2, 0.2, 0.2)).replace(
            '<link name="tip">', '<link name="tip">' + BOX), "link 'tip'",
        'izz is 0.2 kg m^2; 1 kg in its shapes, 0.2 x 0.1 x 0.4 m, has at most 0.0125', 'units',
    ),
    'a centre of mass out of its shape': (
        arm(com='0 0 1').replace('<link name="tip">', '<link name="tip">' + BOX), "link 'tip'",
        'lies outside of its shapes', 'mm',
    ),
    'all six entries': (
        arm().replace('izz="0.01" ixy="0" ixz="0" iyz="0"',
                      'izz="0.01" ixy="0.01" ixz="0.01" iyz="0.01"'),
        "link 'tip'", '0.01 in all six entries is a placeholder', 'CAD',
    ),
    'one diagonal of many links': (
        arm(inertia=(0.1, 0.1, 0.1), mass=5.0, more=(
            f'<link name="cap">{INERTIAL.format(i=(0.1, 0.1, 0.1), mass=5.0, com="0 0 0")}</link>'
            '<joint name="j" type="fixed"><parent link="tip"/><child link="cap"/></joint>')),
        "link 'base', link 'tip', link 'cap'", 'diagonal inertia 0.1 is a placeholder', 'CAD',
    ),
    'an element': (
        arm(limit=LIMIT + '<orgin xyz="0 0 1"/>'), "joint 'elbow'", '<orgin> is not read',
        'did you mean origin?',
    ),
    'an attribute': (
        arm(limit=limits(effrt=3).replace("effort='20'", '')), "joint 'elbow', <limit>",
        'attribute effrt is not read', 'did you mean effort?',
    ),
    'a link': (
        arm(more='<Link name="x"/>'), "robot 'arm'", '<Link> is not read', 'did you mean link?',
    ),
    'two origins': (
        arm(limit=LIMIT + '<origin/>'), "joint 'elbow'", 'more than one <origin>', 'remove',
    ),
}  # fmt: skip


@pytest.mark.parametrize('case', GROUND)
def test_mistake_in_units_or_words__is_a_warning_that_says_which(case):
    text, element, problem, fix = GROUND[case]
    found = [
        f
        for f in lint(text).findings
        if f.severity == 'warning' and f.element.endswith(element) and problem in f.problem
    ]
    assert len(found) == 1, lint(text).findings
    assert fix in found[0].fix


def chain(inertial, count=4):
    """Return base and links l0, l1, ... with the same inertial, one behind the other."""
    own = INERTIAL.format(i=(0.1, 0.12, 0.15), mass=5.0, com='0 0 0')
    text = f'<link name="base">{own}</link>'
    for k in range(count):
        text += (
            f'<link name="l{k}">{inertial}</link><joint name="j{k}" type="revolute">'
            f'<parent link="{f"l{k - 1}" if k else "base"}"/><child link="l{k}"/>'
            f'<origin xyz="0.1 0 0.2"/><axis xyz="0 {k % 2} {1 - k % 2}"/>{LIMIT}</joint>'
        )
    return f'<robot name="chain">{text}</robot>'


def test_all_errors__are_found_at_once():
    text = chain(INERTIAL.format(i=(0.01, 0.02, 0.015), mass=1, com='0 0 0.1'), 6)
    for right, wrong in (
        ('mass value="1"', 'mass value="-1"'),
        ('mass value="1"', 'mass value="1kg"'),
        ('name="j5" type="revolute"', 'name="j5" type="revolut"'),
        ('axis xyz="0 0 1"', 'axis xyz="0 0 0"'),
        ('axis xyz="0 1 0"', 'axis xyz="0 1"'),
        ('xyz="0.1 0 0.2"', 'xyz="nan 0 0"'),
        ('ixx="0.01"', 'ixx="a"'),
    ):
        assert right in text
        text = text.replace(right, wrong, 1)
    problems = [f.problem for f in lint(text).findings if f.severity == 'error']
    for fragment in ('-1.0 kg', "'1kg'", "'revolut'", '0 0 0', "'0 1'", 'nan', "'a'"):
        assert sum(fragment in problem for problem in problems) == 1, (fragment, problems)
    assert len(problems) == 7


@pytest.mark.parametrize('moments', [(0.0, 0.01, 0.01), (-2e-22, 0.01, 0.01), (0.0, 0.0, 0.0)])
def test_thin_body__is_no_mistake(moments):
    assert lint(arm(inertia=moments, com='0.1 0 0.1')).findings == ()


def test_meshes__are_looked_for_beside_the_file_and_in_packages(tmp_path, monkeypatch):
    mesh = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
    names = ['a.stl', 'b.stl', 'package://my_arm/c.stl', 'package://other/d.stl']
    names += [f'package://none/{k}.stl' for k in range(9)] + ['https://example.org/x.stl']
    shapes = ''.join(mesh.format(name) for name in names)
    path = tmp_path / 'my_arm' / 'urdf' / 'arm.urdf'
    (tmp_path / 'prefix' / 'share' / 'other').mkdir(parents=True)
    path.parent.mkdir(parents=True)
    for file in (path.parent / 'a.stl', path.parents[1] / 'c.stl'):
        file.touch()
    (tmp_path / 'prefix' / 'share' / 'other' / 'd.stl').touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'prefix'))
    path.write_text(arm().replace('<link name="tip">', '<link name="tip">' + shapes))
    found = {f.element: f.problem for f in lint(path).findings}
    names = ', '.join(f'mesh package://none/{k}.stl' for k in range(9))
    ((where, problem),) = found.items()
    assert f'mesh b.stl, {names}'.startswith(where.partition(' and ')[0])
    assert problem == 'not found'


def test_sound_descriptions__have_no_findings():
    assert lint(arm()).findings == ()
    for name in ('quadruped', 'humanoid'):
        assert lint(robots.path(name)).findings == ()
