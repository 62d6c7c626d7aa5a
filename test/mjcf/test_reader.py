# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""MJCF files, against MuJoCo's own mass matrix, forces and accelerations."""

from pathlib import Path

import numpy as np
import pytest
from support.close import assert_close, deviation
from support.constrained_reference import ConstrainedReference
from support.pinocchio_oracle import PinocchioOracle
from support.robots import mjcf_of
from support.strangers import BIPED

from geolin_ros import Linearizer, TreeModel, bias_force, forward_dynamics, mass_matrix, robots
from geolin_ros.cli import main
from geolin_ros.control.soles import read_feet
from geolin_ros.description import Joint, Link, Mimic
from geolin_ros.description.elements import Description
from geolin_ros.errors import ConfigurationError, ModelError, UnknownNameError
from geolin_ros.mjcf import is_mjcf, read
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.parameters.model_reading import dump, from_text, read_model, to_text

mujoco = pytest.importorskip('mujoco')

CREATURE = """
<mujoco model="creature">
  <option gravity="0.4 -0.2 -9.7"/>
  <default><geom density="700"/><joint damping="0.3" armature="0.01"/>
    <default class="knee"><joint axis="0 1 0.2" ref="20" springref="35" stiffness="12"
      range="-100 80"/></default></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="trunk" pos="0 0 1" euler="10 20 30">
      <freejoint name="root"/>
      <geom type="box" size=".2 .1 .07"/>
      <body name="shoulder" pos=".2 .1 0" euler="30 0 0">
        <joint name="ball" type="ball" pos=".01 .02 -.03"/>
        <geom type="capsule" size=".03" fromto="0 0 0 .05 0 -.2"/>
        <body name="forearm" pos=".05 0 -.2" quat=".8 .1 .2 .3">
          <joint name="elbow" class="knee" pos="-.01 0 .02"/>
          <inertial pos=".01 .02 -.1" mass="0.7" fullinertia=".01 .012 .004 .001 -.0005 .0008"/>
        </body>
      </body>
      <body name="leg" pos="-.2 -.1 0">
        <joint name="hip_x" axis="1 0 0" frictionloss="0.2"/>
        <joint name="hip_y" axis="0 1 0" pos="0 0 .05" ref="-15"/>
        <joint name="extend" type="slide" axis=".1 0 -1" ref="0.05" springref=".02" stiffness="90"
          range="-.1 .2"/>
        <geom type="ellipsoid" size=".03 .04 .15" pos="0 0 -.15"/>
        <body pos="0 0 -.3"><geom size=".03"/></body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="elbow" gear="7" armature="0.002" damping="0.01" forcerange="-3 3"/>
    <motor joint="hip_x" gear="-4" forcerange="-5 2"/>
    <position joint="extend" kp="100" forcerange="-50 50"/>
    <motor joint="hip_y"/>
  </actuator>
</mujoco>
"""
HOPPER = """
<mujoco model="hopper">
  <compiler angle="radian"/>
  <worldbody><body name="torso" pos="0 0 1.25">
    <joint name="rootx" type="slide" axis="1 0 0"/>
    <joint name="rootz" type="slide" axis="0 0 1" ref="1.25"/>
    <joint name="rooty" type="hinge" axis="0 1 0"/>
    <geom type="capsule" size=".05" fromto="0 0 .2 0 0 -.2"/>
    <body name="thigh" pos="0 0 -.2">
      <joint name="thigh_joint" axis="0 -1 0" armature="1" damping="1" range="-2.6 0"/>
      <geom type="capsule" size=".05" fromto="0 0 0 0 0 -.45"/>
    </body></body></worldbody>
</mujoco>
"""
ARM = '<mujoco><worldbody>{}<body name="a">{}<geom size="0.1"/></body></worldbody>{}</mujoco>'
HINGE = '<joint name="j"/>'
TWO = f'{HINGE}<body name="b"><joint name="k"/><geom size=".1"/></body>'
CHAIN = """<mujoco><worldbody><body name="base" pos="0 0 1"><freejoint name="root"/>
 <geom type="box" size=".2 .1 .05"/><site name="s" pos=".2 .1 0" euler="10 20 30"/>
 <body name="a" pos=".1 0 0"><joint name="ja" axis="0 1 0"/><geom pos="0 0 -.15" size=".1"/>
  <body name="b" pos="0 0 -.3"><joint name="jb" axis="0 1 .1"/><geom pos=".1 0 0" size=".1"/>
 </body></body>
 <body name="c" pos=".4 0 0"><joint name="jc" axis="0 1 0"/>
  <joint name="jx" axis="1 0 0" pos="0 0 .1"/><geom pos="0 0 -.15" size=".1"/>
  <body name="d" pos="0 0 -.3" euler="0 20 10"><joint name="jd" type="ball"/><geom size=".1"/>
   <body name="e" pos="0 .2 0"><joint name="je" axis="1 0 0"/>
    <joint name="js" type="slide" axis="0 1 0"/><joint name="jl" axis="0 .6 .8"/>
    <geom type="box" size=".1 .05 .02" pos="0 .1 0"/><site name="t" euler="0 0 40"/>
 </body></body></body>
</body></worldbody><equality>{}</equality></mujoco>"""
CLOSED = {
    'connect': '<connect name="shut" body1="b" body2="c" anchor=".3 0 0"/>',
    'weld, inactive connect': '<weld name="shut" body1="b" body2="e" anchor=".1 .2 .3"/>'
    '<connect body1="a" anchor="1 0 0" active="false"/>',
    'weld at given pose': '<weld name="shut" body1="e" body2="base"/>',
    'two': '<connect body1="b" body2="c" anchor=".3 0 0"/>'
    '<connect body1="a" body2="e" anchor="0 0 0"/>',
    'connected sites': '<connect site1="s" site2="t"/>',
    'welded sites': '<weld site1="s" site2="t"/>',
}


TEXTS = {'creature': CREATURE, 'hopper': HOPPER}


class Referee:
    """MuJoCo in the coordinates of a model; contacts, limits, dry friction, actuators off."""

    def __init__(self, text, model):
        self.model, self.m = model, mujoco.MjModel.from_xml_string(text)
        self.m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
        self.data = mujoco.MjData(self.m)
        assert self.m.nv == model.m

    def at(self, state, tau):
        """Return mass matrix, bias force less passive ones, and acceleration, ours in order."""
        m, data, model = self.m, self.data, self.model
        change = np.zeros((m.nv, m.nv))  # of our velocities into MuJoCo's
        shift = np.zeros(m.nv)  # of its acceleration against the rate of ours
        first = model.m - model.n
        for j in range(m.njnt):
            name, q, v = m.joint(j).name, m.jnt_qposadr[j], m.jnt_dofadr[j]
            if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE:
                R, u, w = state.H[:3, :3], state.v[:3], state.v[3:]
                data.qpos[q : q + 3] = state.H[:3, 3]
                mujoco.mju_mat2Quat(data.qpos[q + 3 : q + 7], np.ascontiguousarray(R).ravel())
                change[v : v + 3, :3], change[v + 3 : v + 6, 3:6] = R, np.eye(3)
                shift[v : v + 3] = R @ np.cross(w, u)
            elif m.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
                at = model.position_names.index(f'{name}/qx')
                data.qpos[q : q + 4] = np.roll(state.s[at : at + 4], 1)
                at = first + model.joint_index(f'{name}/rx')
                change[v : v + 3, at : at + 3] = np.eye(3)
            else:
                data.qpos[q] = state.s[model.position_names.index(name)]
                change[v, first + model.joint_index(name)] = 1.0
        self._change = change
        ours = np.concatenate((state.v, state.r)) if first else state.r
        data.qvel[:] = change @ ours
        data.qfrc_applied[:] = np.linalg.inv(change).T @ np.concatenate((np.zeros(first), tau))
        mujoco.mj_forward(m, data)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, data, M)
        bias = data.qfrc_bias - data.qfrc_passive + M @ shift
        qacc = np.linalg.solve(change, data.qacc - shift)
        return change.T @ M @ change, change.T @ bias, qacc

    def closed(self, state, tau):
        """Return the acceleration at rest under equalities that are rigid."""
        own = self.m.opt.disableflags
        self.m.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self.m.opt.jacobian = int(mujoco.mjtJacobian.mjJAC_DENSE)
        self.at(state, tau)
        self.m.opt.disableflags = own
        data, nv = self.data, self.m.nv
        M, J = np.zeros((nv, nv)), data.efc_J.reshape(-1, nv)[: data.nefc]
        mujoco.mj_fullM(self.m, data, M)
        saddle = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
        free = np.concatenate((data.qfrc_smooth, np.zeros(len(J))))
        qacc = np.linalg.lstsq(saddle, free, rcond=None)[0][:nv]
        return np.linalg.solve(self._change, qacc)


@pytest.mark.parametrize('name', [*TEXTS, 'humanoid'])
def test_dynamics__are_mujocos(name):
    text = TEXTS.get(name) or mjcf_of(robots.path(name))
    model = TreeModel.from_mjcf(text)
    referee, rng = Referee(text, model), np.random.default_rng(5)
    linearizer = Linearizer(model)
    for _ in range(5):
        state, tau = model.random_state(rng), rng.normal(size=model.n)
        M, bias, nu_dot = referee.at(state, tau)
        assert_close(mass_matrix(model, state), M, 1e-9, 'mass matrix')
        assert_close(bias_force(model, state), bias, 1e-9, 'bias')
        assert_close(forward_dynamics(model, state, tau), nu_dot, 1e-9, 'ABA')
        assert_close(linearizer(state, tau).nu_dot, nu_dot, 1e-9, 'nu_dot of A and B')


def test_limits_friction_gravity_and_base__are_the_files():
    model = TreeModel.from_mjcf(CREATURE)
    assert (model.name, model.base, model.base_link) == ('creature', 'floating', 'trunk')
    assert model.gravity.tolist() == [0.4, -0.2, -9.7]
    rows = np.stack((model.limits.lower, model.limits.upper, model.limits.effort), axis=1)
    limits = dict(zip(model.joint_names, rows.tolist(), strict=True))
    assert limits['elbow'] == pytest.approx([np.radians(-100.0), np.radians(80.0), 21.0])
    assert limits['extend'] == pytest.approx([-0.1, 0.2, 50.0])
    assert limits['hip_x'] == [-np.inf, np.inf, 20.0]
    assert limits['hip_y'][2] == np.inf
    assert {'trunk', 'shoulder', 'forearm', 'leg'} <= set(model.link_names)
    assert TreeModel.from_mjcf(HOPPER).base == 'fixed'
    assert TreeModel.from_mjcf(CREATURE, base='fixed', gravity=(0, 0, -1)).m == model.n


def test_equality_of_joints__is_a_mimic_or_a_fixed_joint():
    text = ARM.format(
        '',
        f'{HINGE}<body name="b" pos="1 0 0"><joint name="k" ref="10"/><geom size=".1"/></body>',
        '<equality><joint joint1="k" joint2="j" polycoef="0.3 -2 0 0 0"/></equality>',
    )
    model = TreeModel.from_mjcf(text)
    (follower,) = model.dependent_joints
    assert model.joint_names == ('j',)
    assert (follower.name, follower.master, follower.multiplier) == ('k', 'j', -2.0)
    assert follower.offset == pytest.approx(np.radians(10.0) + 0.3)
    model = TreeModel.from_mjcf(CHAIN.format('<joint joint1="js" polycoef=".1 0 0 0 0"/>'))
    assert 'js' not in model.joint_names
    free = TreeModel.from_mjcf(CHAIN.format(''), locked_joints={'js': 0.1})
    assert_close(model.tree.translation, free.tree.translation, 1e-15)


@pytest.mark.parametrize('closed', CLOSED)
def test_loops__are_those_of_mujoco_and_pinocchio(closed):
    """At rest with MuJoCo's M and rows, which it makes soft; in motion by Pinocchio."""
    pytest.importorskip('pinocchio')
    text = CHAIN.format(CLOSED[closed])
    model, rng = TreeModel.from_mjcf(text), np.random.default_rng(7)
    linearizer, tau = Linearizer(model), rng.normal(size=model.n)
    state = model.neutral_state()
    state.H[:] = model.random_state(rng).H
    if 'sites' in closed:  # these coincide nowhere near
        assert model.loops[0].name == 'base@equality0=e@equality0'
    else:
        referee = Referee(text, model)
        expected = referee.closed(state, tau)
        assert_close(linearizer(state, tau).nu_dot, expected, 1e-9)
        assert deviation(referee.at(state, tau)[2], expected) > 1e-3
    oracle = PinocchioOracle.from_description(read(text).description, model)
    state = model.random_state(rng)
    expected = ConstrainedReference(oracle, model.loops).derivatives(state, tau)
    L = linearizer(state, tau)
    assert_close(L.nu_dot, expected.nu_dot, 1e-9)
    assert_close(L.wrenches, expected.lam, 1e-9)
    assert_close(L.A[model.m :, : model.m], expected.nu_dot_by_state[:, : model.m], 1e-9)


FLAGS = """<mujoco><option {option}><flag {flags}/></option><worldbody>
<body name="a" gravcomp="{gravcomp}"><joint name="j" axis="0 1 0" stiffness="7" springref="30"
  damping="0.7" limited="true" range="-40 50" frictionloss="0.3"/><geom size=".1" pos=".3 0 0"/>
  <body name="b" pos=".3 0 0"><joint name="k" type="slide" damping="0.4"/><geom size=".07"/></body>
</body></worldbody>
<tendon><fixed name="t" stiffness="{spring}" damping="{damper}" springlength="0.3">
  <joint joint="j" coef="1"/></fixed></tendon>
<actuator><motor joint="j" armature="0.5" damping=".3" ctrllimited="true" ctrlrange="-2 2"/>
</actuator>
<equality><joint joint1="k" joint2="j" polycoef="0 .2 0 0 0" active="{tied}"/></equality>
</mujoco>"""
PLAIN = {'option': '', 'flags': '', 'gravcomp': 0, 'spring': 0, 'damper': 0, 'tied': 'false'}


def flagged(**changes):
    return FLAGS.format(**PLAIN | changes)


@pytest.mark.parametrize(
    'changes',
    [
        {'flags': 'gravity="disable"', 'gravcomp': 1},
        {'flags': 'spring="disable"', 'spring': 3},
        {'flags': 'damper="disable"', 'damper': 3},
        {'flags': 'spring="disable" damper="disable"', 'gravcomp': 1, 'option': 'density="900"'},
        {'flags': 'equality="disable"', 'tied': 'true'},
        {'flags': 'constraint="disable"', 'tied': 'true'},
        {'flags': 'actuation="disable"'},
        {'flags': 'eulerdamp="disable" island="disable"', 'option': 'timestep="0.1"'},
        {'option': 'gravity="1 2 -3" integrator="implicitfast" actuatorgroupdisable="0"'},
    ],
    ids=str,
)
def test_flags_and_options__are_obeyed_as_mujoco_does(changes):
    text = flagged(**changes)
    model = TreeModel.from_mjcf(text)
    referee, rng = Referee(text, model), np.random.default_rng(6)
    for _ in range(3):
        state, tau = model.random_state(rng), rng.normal(size=2)
        _, _, qacc = referee.at(state, tau)
        assert_close(forward_dynamics(model, state, tau), qacc, 1e-11)


@pytest.mark.parametrize(
    ('flags', 'expected'),
    [
        ('', (np.radians(50.0), 2.0, 0.3)),
        ('limit="disable" frictionloss="disable" clampctrl="disable"', (np.inf, np.inf, 0.0)),
    ],
)
def test_flags_of_limits_and_friction__are_obeyed(flags, expected):
    model = TreeModel.from_mjcf(flagged(flags=flags), coulomb_friction=True)
    found = model.limits.upper[0], model.limits.effort[0], model.tree.friction[0]
    assert found == expected


SPRING = '<fixed name="t" stiffness="2"><joint joint="j" coef="1"/></fixed>'
ANOTHER = '<body name="o"><freejoint/><geom size="1"/></body>'
CURVE = '<joint joint1="j" joint2="k" polycoef="0 1 1 0 0"/>'
REFUSED = [
    (flagged(flags='damper="disable"', spring=3), "spring of tendon 't'"),
    (flagged(flags='spring="disable"', damper=3), "damping of tendon 't'"),
    (flagged(flags='spring="disable"', gravcomp=1), "gravity compensation of body 'a'"),
    (flagged(flags='damper="disable"', option='viscosity="1"'), 'fluid'),
    (ARM.format('', '<freejoint/>', '<equality><weld body1="a" name="h"/></equality>'), "'h'"),
    (ARM.format('', TWO, f'<equality>{CURVE}</equality>'), '0'),
    (ARM.format('', '<joint name="j" type="ball" stiffness="3"/>', ''), "axes of joint 'j'"),
    (ARM.format('', '', ''), 'no joint'),
    (ARM.format(ANOTHER, HINGE, ''), "'o', 'a'"),
    (ARM.format('', HINGE, '<option density="1.2"/>'), 'fluid'),
    (ARM.format('', HINGE, f'<tendon>{SPRING}</tendon>'), "spring of tendon 't'"),
    ('nowhere.xml', r'nowhere\.xml: does not exist'),
    ('<robot name="r"/>', 'from_urdf'),
    ('<mujoco><worldbody><bodi/></worldbody></mujoco>', 'cannot read it'),
]


@pytest.mark.parametrize(('source', 'says'), REFUSED)
def test_what_cannot_be_meant__is_refused_by_name(source, says):
    with pytest.raises(ModelError, match=says):
        TreeModel.from_mjcf(source)


def test_what_a_default_gives_a_free_base__is_a_warning():
    given = 'armature', 'damping', 'frictionloss'
    values = ' '.join(f'{what}="3"' for what in given)
    model = TreeModel.from_mjcf(ARM.format('', f'<joint name="j" type="free" {values}/>', ''))
    assert model.base == 'floating'
    for what in given:
        assert [w for w in model.warnings if f"joint 'j': has {what} 3, left out" in w]


SCENE = """<mujoco><worldbody>
<body name="arm"><joint name="lift" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/>
  <body name="hand" pos=".3 0 0"><joint name="turn"/><geom size=".07" pos=".1 0 0"/></body></body>
<body name="table"><geom type="box" size="1 1 .1" pos="0 0 -1"/></body>
<body name="cube" pos="1 0 0"><freejoint/><geom type="box" size=".1 .2 .3"/></body>
<body name="dog" pos="0 2 0"><freejoint/><geom type="box" size=".3 .2 .1"/>
  <body name="leg"><joint name="knee" axis="0 1 0"/><geom size=".1" pos="0 0 -.3"/></body></body>
</worldbody></mujoco>"""


def test_root__chooses_one_of_several_trees():
    with pytest.raises(ModelError, match=r"'arm', 'cube', 'dog'.* choose one by root='cube'"):
        TreeModel.from_mjcf(SCENE)
    with pytest.raises(UnknownNameError, match=r"root 'god' .* did you mean .*'dog'"):
        TreeModel.from_mjcf(SCENE, root='god')
    m = mujoco.MjModel.from_xml_string(SCENE)
    data, whole = mujoco.MjData(m), np.zeros((m.nv, m.nv))
    data.qpos[m.jnt_qposadr[[m.joint(name).id for name in ('lift', 'turn', 'knee')]]] = 0.3
    mujoco.mj_forward(m, data)
    mujoco.mj_fullM(m, data, whole)
    for root, base, joints in (
        ('arm', 'fixed', ('lift', 'turn')),
        ('cube', 'floating', ()),
        ('dog', 'floating', ('knee',)),
    ):
        model = TreeModel.from_mjcf(SCENE, root=root)
        assert (model.base, model.joint_names) == (base, joints)
        state = model.neutral_state()
        state.s[:] = 0.3
        tree = [d for d in range(m.nv) if m.body(m.body_rootid[m.dof_bodyid[d]]).name == root]
        assert_close(mass_matrix(model, state), whole[np.ix_(tree, tree)], 1e-12)


def test_feet__are_balls_and_soles_of_geoms(tmp_path):
    shank = (
        '<body name="shank" pos="0 0 -.45"><joint axis="0 -1 0" name="k"/>'
        '<geom type="sphere" size=".04" pos="0 0 -.4"/>'
        '<geom type="box" size=".2 .2 .2" contype="0" conaffinity="0"/></body>'
    )
    path = tmp_path / 'hopper.xml'
    path.write_text(HOPPER.replace('</body></body>', f'{shank}</body></body>'))
    (foot,) = read_feet(path, TreeModel.from_file(path), ['shank'])
    assert (foot.support.kind, foot.support.radius) == ('point', 0.04)
    assert foot.support.placement[:3, 3].tolist() == [0.0, 0.0, -0.4]


def test_file__is_read_by_its_content(tmp_path):
    licence = f'<?xml version="1.0"?>\n<!-- {"<robot> " * 1000} -->\n<!DOCTYPE mujoco>\n<!-- -->'
    for before in ('', licence):
        (tmp_path / 'hopper.xml').write_text(before + HOPPER)
        assert TreeModel.from_file(tmp_path / 'hopper.xml').name == 'hopper'
        assert is_mjcf(before + HOPPER)
    for text in ('', '<!-- <mujoco>', '<robot/><mujoco/>', '<!--' * 10_000, '<mujocos/>'):
        assert not is_mjcf(f'<!-- <mujoco/> -->{text}')
    assert TreeModel.from_file(robots.path('quadruped')).n == 12


# ---- Where URDF files are taken: commands, recordings, nodes

BAG = Path(__file__).parents[1] / 'bags' / 'demo'
LOOP = """<mujoco model="shut"><worldbody><body name="a"><joint name="j"/><geom size="0.1"/></body>
<body name="cube"><freejoint/><geom size="0.1"/></body>
</worldbody><equality><connect body1="a" anchor="1 0 0" name="ring"/></equality></mujoco>"""
LUNAR = """<mujoco model="arm"><option gravity="0 0 -1.6"/><worldbody><body name="a">
<joint name="j"/><geom size="0.1"/></body></worldbody></mujoco>"""


@pytest.fixture(scope='module')
def quadruped(tmp_path_factory):
    """The bundled quadruped, whose recording is part of the tests, as an MJCF file."""
    path = tmp_path_factory.mktemp('mjcf') / 'quadruped.xml'
    path.write_text(mjcf_of(robots.path('quadruped')))
    return path


@pytest.fixture
def biped(tmp_path):
    path = tmp_path / 'biped.xml'
    path.write_text(BIPED)
    return path


def heard(*said):
    raise AssertionError(said)


def test_node__reads_a_file_as_the_library_does_but_none_from_the_network(quadruped, tmp_path):
    model = read_model(quadruped, default_values(), heard)
    assert model.hash == TreeModel.from_file(quadruped).hash
    again = read_model(from_text(to_text(quadruped)), default_values(), heard)
    link = model.base_link
    loaded = {'overlay': f'links: {{{link}: {{mass: 5}}}}', 'payload.frame': link}
    loaded = read_model(quadruped, default_values() | loaded | {'payload.mass': 2.0}, heard)
    assert loaded.tree.inertia[0, 0, 0] == 7.0
    assert again.hash == model.hash
    for sent in (quadruped.read_text(), to_text(quadruped)):
        with pytest.raises(ModelError):
            read_model(sent, default_values(), heard)
    path, said = tmp_path / 'arm.mjcf', []
    path.write_text(LUNAR)
    with pytest.raises(ConfigurationError, match='no free joint; set base: fixed'):
        read_model(path, default_values() | {'base': 'floating'}, heard)
    model = read_model(path, default_values(), said.append)
    assert (model.base, model.gravity.tolist()) == ('fixed', [0.0, 0.0, -9.81])
    assert [line for line in said if 'has gravity [0.0, 0.0, -1.6]' in line]


def test_stored_description__keeps_every_bit():
    rng = np.random.default_rng(5)
    joint = Joint(
        'j', 'universal', 'a', 'b', rng.normal(size=(4, 4)), mimic=Mimic('k', 0.1, 1.0 / 3.0)
    )
    links = (Link('a', rng.normal(size=(6, 6))), Link('b'))
    before = Description('r', links, (joint,), 'here')
    after = from_text(dump(before))
    assert dump(after) == dump(before)
    assert after.joints[0].placement.tobytes() == joint.placement.tobytes()
    assert after.joints[0].limits == joint.limits
    for text in ('{', '{}', '[]', dump(before).replace('"kind"', '"kin"')):
        with pytest.raises(ModelError):
            from_text(text)


def test_recording__is_linearized_and_reported_by_mjcf(quadruped, tmp_path, capsys):
    pytest.importorskip('xarray')
    run, page = tmp_path / 'run.zarr', tmp_path / 'page.html'
    arguments = 'linearize', BAG, '-o', run, '--urdf', quadruped, '--every', 100, '--workers', 1
    assert main([str(word) for word in arguments]) == 0, capsys.readouterr().err
    assert main(['report', str(run), '-o', str(page)]) == 0
    assert page.stat().st_size > 10_000


@pytest.mark.parametrize('command', ['lint-urdf', 'info'])
def test_commands__take_mjcf_and_the_root_of_several_trees(command, quadruped, tmp_path, capsys):
    loop = tmp_path / 'loop.xml'
    loop.write_text(LOOP)
    for arguments, status, says in (
        ([quadruped], 0, '12 joint coordinates'),
        ([loop], 1, "root='cube'"),
        ([loop, '--root', 'a'], 0, "fixed base 'world', 1 joint"),
        ([robots.path('quadruped'), '--root', 'a'], 1, 'root'),
    ):
        assert main([command, *map(str, arguments)]) == status
        said = capsys.readouterr()
        assert says in said.out + said.err
        assert command != 'info' or says[0] != 'f' or 'loop a@ring=world@ring point' in said.out


def test_loops_and_root__are_parameters(tmp_path):
    path, values = tmp_path / 'loop.xml', default_values() | {'root': 'a'}
    path.write_text(LOOP)
    model = read_model(path, values, heard)
    assert [loop.name for loop in model.loops] == ['a@ring=world@ring']
    assert model.hash == TreeModel.from_file(path, root='a').hash
    with pytest.raises(ConfigurationError, match=r"root is 'a', but .* is no MJCF"):
        read_model(robots.path('quadruped'), values, heard)
    again = read_model(from_text(to_text(path, values)), default_values(), lambda said: None)
    assert [loop.name for loop in again.loops] == ['a@ring=world@ring']
    assert read_model(path, values | {'loops': ['none']}, heard).loops == ()
    given = read_model(path, values | {'loops': ['a=world point 9 6']}, heard).loops
    assert [(loop.name, loop.kp, loop.kd) for loop in given] == [('a=world', 9.0, 6.0)]
    for loop, error in (('a:world', ConfigurationError), ('a=wrld', UnknownNameError)):
        with pytest.raises(error, match=loop[2:]):
            read_model(path, values | {'loops': [f'{loop} point']}, heard)


def test_limits_of_motors__are_those_of_efforts(biped):
    text = BIPED.replace('<motor joint="l_knee"', '<motor forcerange="-9 9" joint="l_knee"')
    biped.write_text(text.replace('<motor joint="r_knee"', '<position joint="r_knee"'))
    model = TreeModel.from_file(biped)
    efforts = dict(zip(model.joint_names, model.limits.effort, strict=True))
    assert (efforts['l_knee'], efforts['r_knee'], efforts['l_hip_yaw']) == (36.0, np.inf, 120.0)


def test_gain_bank__is_designed(biped, tmp_path, capsys):
    words = [
        'gain-bank',
        str(biped),
        str(tmp_path / 'bank.yaml'),
        '--contacts',
        'l_foot',
        'r_foot',
    ]
    assert main(words) == 0, capsys.readouterr().err
    said = capsys.readouterr()
    assert float(said.out.partition('largest pole ')[2].split()[0]) < 1.0
    assert 'l_foot: a sole of 0.22 x 0.1 m at 0.02,0,-0.06' in said.err
    biped.write_text(BIPED.replace(' ctrlrange="-30 30"', ''))
    assert main(words) == 1
    assert 'in MJCF as actuatorfrcrange' in capsys.readouterr().err
