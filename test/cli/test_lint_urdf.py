# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every finding of the linter, on descriptions that have just that fault, and on real robots."""

import json

import pytest
from support.robots import example_robot

from geolin_ros import robots
from geolin_ros.cli import main
from geolin_ros.lint import lint

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
        (arm(inertia=(0.0, 0.01, 0.01)), 'warning', "link 'tip'", 'principal moment'),
        (arm(inertia=(90.0, 90.0, 90.0)), 'warning', "link 'tip'", 'radius of gyration'),
        (arm(com='0 0 100'), 'warning', "link 'tip'", 'centre of mass'),
        (arm(tip=False), 'error', 'the model', 'no inertia'),
        (arm(tip=False), 'note', "link 'tip'", 'no inertia of its own'),
        (arm(axis='0 0 2'), 'note', "joint 'elbow'", 'length 2'),
        (arm(limit=limits(effort=0)), 'warning', "joint 'elbow'", 'effort limit is 0'),
        (arm(limit=limits(effort=1e5)), 'warning', "joint 'elbow'", 'cannot be real'),
        (arm(limit=limits(velocity=1000)), 'warning', "joint 'elbow'", 'velocity limit'),
        (arm(limit=limits(lower=1)), 'warning', "joint 'elbow'", 'both 1'),
        (arm(mass=1e6), 'warning', 'the robot', 'total mass'),
        ('<robot', 'error', 'the file', ''),
    ],
)
def test_fault__is_found_with_a_fix(text, severity, element, fragment):
    found = [f for f in lint(text).findings if f.severity == severity and f.element == element]
    assert any(fragment in finding.problem for finding in found), lint(text).findings
    assert all(finding.fix for finding in found)


def test_mimic_of_nothing__is_an_error():
    more = '<mimic joint="nowhere"/>'
    text = arm().replace(LIMIT, LIMIT + more)
    problems = [f.problem for f in lint(text).findings if f.severity == 'error']
    assert len(problems) == 1
    assert "'elbow'" in problems[0]
    assert "'nowhere'" in problems[0]


def test_sound_descriptions__have_no_findings():
    assert lint(arm()).findings == ()
    for name in ('quadruped', 'humanoid'):
        assert lint(robots.path(name)).findings == ()


def test_solo__has_made_up_limits(capsys):
    path = example_robot('bolt')
    assert main(['lint-urdf', str(path)]) == 0
    assert 'effort limit 1000 on a robot of 1.25 kg' in capsys.readouterr().out
    assert main(['lint-urdf', '--strict', str(path)]) == 1


def test_json__is_for_machines(capsys, tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(arm(inertia=(-0.01, 0.01, 0.01)))
    assert main(['lint-urdf', '--json', str(path)]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report['totals']['total_mass_kg'] == 6.0
    assert report['findings'][0]['severity'] == 'error'


def test_missing_file__is_said(capsys):
    assert main(['lint-urdf', '/no/such.urdf']) == 1
    assert '/no/such.urdf' in capsys.readouterr().out
