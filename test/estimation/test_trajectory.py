# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motions for what a recording did not determine, of an arm by Pinocchio."""

import numpy as np
import pytest
import yaml
from geolin_tools.identification import Signals, check, examine, identify, propose

from geolin_ros import TreeModel
from geolin_ros.errors import UnsolvableError

pin = pytest.importorskip('pinocchio')
interpolate = pytest.importorskip('scipy.interpolate')

pytestmark = pytest.mark.long
LINK = """<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>
  <inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="0 0 {z}"/><axis xyz="{axis}"/>
  <limit lower="-{most}" upper="{most}" effort="{effort}" velocity="3"/></joint>"""
NAMES = ('turn', 'shoulder', 'elbow', 'wrist')
LINKS = [
    ('base', '0 0 0', 1.0, 0.1),
    ('column', '0 0 .1', 4.0, 0.05),
    ('upper', '.02 0 .2', 3, 0.06),
]
LINKS += [('lower', '0 .02 .15', 2.0, 0.03), ('hand', '.03 0 .1', 1.0, 0.01)]
JOINTS = [('0 0 1', 0.0, 2.5, 40), ('0 1 0', 0.3, 1.6, 90), ('0 1 0', 0.4, 2.0, 50)]
JOINTS += [('1 0 0', 0.3, 2.0, 20)]


def text(mass=1.0, effort=1.0):
    """Return the URDF of an arm; of the truth masses are others."""
    parts = [LINK.format(name=n, com=c, mass=m * mass, i=i) for n, c, m, i in LINKS]
    for name, one, two, (axis, z, most, tau) in zip(NAMES, LINKS, LINKS[1:], JOINTS, strict=False):
        of = {'name': name, 'parent': one[0], 'child': two[0], 'axis': axis}
        parts.append(JOINT.format(**of, z=z, most=most, effort=effort * tau))
    return f'<robot name="arm">{"".join(parts)}</robot>'


def read(**options):
    return TreeModel.from_urdf(text(**options), base='fixed', coulomb_friction=True)


def efforts(s, r, a, **options):
    """Return what moves the arm, by Pinocchio."""
    robot = pin.buildModelFromXML(text(**options))
    data = robot.createData()
    return np.array([pin.rnea(robot, data, *row) for row in zip(s, r, a, strict=True)])


def measured(time, s, r, a):
    """Return what is measured of an arm that is heavier than its description."""
    rng, rows = np.random.default_rng(1), (s, r, efforts(s, r, a, mass=1.2))
    noisy = [
        x + size * rng.normal(size=x.shape)
        for x, size in zip(rows, (1e-5, 1e-3, 0.02), strict=True)
    ]
    return Signals('arm', time, *noisy)


@pytest.fixture(scope='module')
def two_joints():
    """Return a recording in which shoulder and elbow move, a little."""
    time = np.arange(0.0, 10.0, 0.01)
    waves, sizes = 2 * np.pi * np.array([0.5, 0.4, 0.6, 0.5]), np.array([0.0, 0.3, 0.4, 0.0])
    s, r = sizes * np.sin(np.outer(time, waves)), sizes * waves * np.cos(np.outer(time, waves))
    return measured(time, s, r, -(waves**2) * s)


def test_propose__determines_what_two_joints_did_not_within_all_limits(two_joints):
    model = read()
    before = examine(model, two_joints)
    assert before.determined < 0.8 * before.possible
    found = propose(model, two_joints)
    message = yaml.safe_load(yaml.safe_dump(found.message))
    points = message['points']
    assert message['joint_names'] == list(NAMES)
    s, r, a = (
        np.array([p[k] for p in points]) for k in ('positions', 'velocities', 'accelerations')
    )
    time = np.array([p['time_from_start'] for p in points])
    time = np.array([t['sec'] + 1e-9 * t['nanosec'] for t in time])
    assert np.allclose((r[0], r[-1], a[0], a[-1]), 0.0, atol=1e-5)
    limits = model.limits
    assert (np.abs(efforts(s, r, a)) <= limits.effort).all()
    assert (np.abs(r) <= limits.velocity).all()
    assert ((s >= limits.lower) & (s <= limits.upper)).all()
    between = interpolate.BPoly.from_derivatives(time - time[0], np.stack((s, r, a), axis=1))
    fine = np.arange(0.0, time[-1] - time[0], 0.01)
    motion = measured(fine, *(between(fine, k) for k in range(3)))
    check(motion, model)
    after = examine(model, motion)
    assert after.determined - before.determined >= 0.9 * (before.possible - before.determined)
    identified = identify(model, [motion])
    assert (identified.after < 0.15 * identified.before).all()


@pytest.mark.parametrize('effort', [0.001, 0.0])
def test_propose__needs_an_arm_that_its_efforts_hold(two_joints, effort):
    with pytest.raises(UnsolvableError, match=r'takes .* to hold the arm in the middle'):
        propose(read(effort=effort), two_joints)
