# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motions for what a recording did not determine, tracked by MuJoCo's arm."""

import numpy as np
import pytest
import yaml
from geolin_tools.identification import Signals, check, examine, identify, propose

from geolin_ros import TreeModel
from geolin_ros.errors import UnsolvableError

mujoco = pytest.importorskip('mujoco')
pytest.importorskip('scipy')

pytestmark = pytest.mark.long
LINK = """<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>
  <inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="0 0 {z}"/><axis xyz="{axis}"/>
  <limit lower="-{most}" upper="{most}" effort="{effort}" velocity="3"/></joint>"""
NAMES = ('turn', 'shoulder', 'elbow', 'wrist')


def text(mass=1.0, effort=1.0):
    """Return the URDF of an arm; of the truth masses are others."""
    links = [('base', '0 0 0', 1.0, 0.1), ('column', '0 0 .1', 4.0 * mass, 0.05)]
    links += [('upper', '.02 0 .2', 3.0 * mass, 0.06), ('lower', '0 .02 .15', 2.0 * mass, 0.03)]
    links += [('hand', '.03 0 .1', 1.0 * mass, 0.01)]
    joints = [('0 0 1', 0.0, 2.5, 40), ('0 1 0', 0.3, 1.6, 90), ('0 1 0', 0.4, 2.0, 50)]
    joints += [('1 0 0', 0.3, 2.0, 20)]
    parts = [LINK.format(name=n, com=c, mass=m, i=i) for n, c, m, i in links]
    parts += [
        JOINT.format(
            name=name, parent=one[0], child=two[0], axis=a, z=z, most=q, effort=effort * tau
        )
        for name, one, two, (a, z, q, tau) in zip(NAMES, links, links[1:], joints, strict=False)
    ]
    return f'<robot name="arm">{"".join(parts)}</robot>'


def read(**options):
    return TreeModel.from_urdf(text(**options), base='fixed', coulomb_friction=True)


def played(time, position, rate, rng):
    """Return what is measured of MuJoCo's arm that PD control moves along rows over time."""
    spec = mujoco.MjSpec.from_string(text(mass=1.2))
    spec.compiler.fusestatic = False
    spec.option.timestep, spec.option.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_RK4
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    robot = spec.compile()
    data, rows = mujoco.MjData(robot), []
    data.qpos[:] = position[0]
    stiff, damp = np.array([2000.0, 4000.0, 1000.0, 200.0]), np.array([40.0, 80.0, 15.0, 2.0])
    for k in range(int(time[-1] * 1000)):
        aim, speed = (
            np.array([np.interp(1e-3 * k, time, x) for x in rows_of.T])
            for rows_of in (position, rate)
        )
        tau = stiff * (aim - data.qpos) + damp * (speed - data.qvel)
        rows.append((1e-3 * k, data.qpos.copy(), data.qvel.copy(), tau))
        data.qfrc_applied[:] = tau
        mujoco.mj_step(robot, data)
    t, s, r, tau = (np.array(part) for part in zip(*rows, strict=True))
    tau[1:] = 0.5 * (tau[1:] + tau[:-1])
    kept = slice(200, None, 4)
    noise = (1e-5, 1e-3, 0.02)
    s, r, tau = (
        x[kept] + size * rng.normal(size=x[kept].shape)
        for x, size in zip((s, r, tau), noise, strict=True)
    )
    return Signals('arm', t[kept], s, r, tau)


@pytest.fixture(scope='module')
def two_joints():
    """Return a recording in which shoulder and elbow move, a little."""
    time = np.arange(0.0, 10.0, 0.01)
    waves, sizes = 2 * np.pi * np.array([0.5, 0.4, 0.6, 0.5]), np.array([0.0, 0.3, 0.4, 0.0])
    angle = np.outer(time, waves)
    return played(
        time, sizes * np.sin(angle), sizes * waves * np.cos(angle), np.random.default_rng(1)
    )


def test_propose__determines_what_two_joints_did_not_within_all_limits(two_joints):
    pin = pytest.importorskip('pinocchio')
    model = read()
    before = examine(model, two_joints)
    assert before.determined < 0.8 * before.possible
    found = propose(model, two_joints)
    message = yaml.safe_load(yaml.safe_dump(found.message(model.joint_names)))
    points = message['points']
    assert message['joint_names'] == list(NAMES)
    s, r, a = (
        np.array([p[k] for p in points]) for k in ('positions', 'velocities', 'accelerations')
    )
    time = np.array([p['time_from_start'] for p in points])
    time = np.array([t['sec'] + 1e-9 * t['nanosec'] for t in time])
    assert np.allclose((r[0], r[-1], a[0], a[-1]), 0.0, atol=1e-5)
    robot = pin.buildModelFromXML(text())
    data, limits = robot.createData(), model.limits
    efforts = [pin.rnea(robot, data, *row) for row in zip(s, r, a, strict=True)]
    assert (np.abs(efforts) <= limits.effort).all()
    assert (np.abs(r) <= limits.velocity).all()
    assert ((s >= limits.lower) & (s <= limits.upper)).all()
    motion = played(time - time[0], s, r, np.random.default_rng(2))
    check(motion, model)
    after = examine(model, motion)
    assert after.determined - before.determined >= 0.9 * (before.possible - before.determined)
    identified = identify(model, [motion])
    assert (identified.after < 0.15 * identified.before).all()


def test_propose__needs_an_arm_that_its_efforts_hold(two_joints):
    with pytest.raises(UnsolvableError, match=r'takes .* of its effort limit to hold the arm'):
        propose(read(effort=0.001), two_joints)
