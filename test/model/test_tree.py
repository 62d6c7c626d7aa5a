# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From descriptions to trees: merging, roots, options of reading, and what is refused."""

import dataclasses
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.close import assert_close, blocks
from support.dense_reference import DenseReference
from support.finite_difference import linearization
from support.mujoco_oracle import MujocoOracle
from support.pinocchio_oracle import PinocchioOracle, physical_inertia, pin
from support.robots import example_robot, read_robot
from support.states import rotation_about
from support.trees import descriptions, physical_link, random_pose

from geolin_ros import Description, Joint, Linearizer, Link, TreeModel, mass_matrix, robots
from geolin_ros.cli import main
from geolin_ros.description import Limits, Mimic, apply_overlay, attach_payloads
from geolin_ros.errors import (
    ConfigurationError,
    ModelError,
    ModelWarning,
    NotFiniteError,
    ShapeError,
    SingularInertiaError,
    UnknownNameError,
)
from geolin_ros.kernels.engine.linearization import linearize
from geolin_ros.stream.parameters.file import checked, default_values
from geolin_ros.stream.parameters.model_reading import read_model


@pytest.fixture(scope='module')
def quadruped():
    return TreeModel.from_urdf(robots.path('quadruped'))


def described(links, joints, name='robot'):
    return Description(name, tuple(links), tuple(joints))


def links_of(rng, *names):
    return [physical_link(rng, name) for name in names]


def assert_moves_like(model, description, rng, tolerance=1e-10):
    """Compare accelerations with the dense dynamics of the unmerged links."""
    dense, lin = DenseReference(description, model), Linearizer(model)
    for _ in range(3):
        state, tau = model.random_state(rng), rng.normal(size=model.n)
        expected = dense.forward_dynamics(state, tau)
        assert_close(lin(state, tau).nu_dot, expected, tolerance)
        placed = dense.moving_links(state)
        for name, link in placed.items():
            frame = model.frame(name)
            carrier = placed[model.body_names[frame.body]].H
            assert_close(carrier @ frame.placement, link.H, 1e-12)


# ---- Fixed joints


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@given(
    description=descriptions(kinds=('revolute', 'prismatic', 'helical', 'fixed')),
    seed=st.integers(0, 2**32 - 1),
)
def test_merged_robot__moves_like_its_links(base, description, seed):
    model = TreeModel.from_description(description, base=base)
    moving = [joint for joint in description.joints if joint.kind != 'fixed']
    assert set(model.joint_names) == {joint.name for joint in moving}
    assert len(model.body_names) == len(moving) + 1
    assert set(model.link_names) == {link.name for link in description.links}
    assert_moves_like(model, description, np.random.default_rng(seed))


# ---- Roots


ROOTS = {
    'usual': (  # base_link without inertia, welded to the trunk
        [Link('base_link'), *links_of(np.random.default_rng(1), 'trunk', 'leg')],
        [
            Joint('weld', 'fixed', 'base_link', 'trunk', random_pose(np.random.default_rng(2))),
            Joint('hip', 'revolute', 'trunk', 'leg', random_pose(np.random.default_rng(3))),
        ],
        ('floating', 'fixed'),
    ),
    'with a joint': (
        [Link('dummy'), *links_of(np.random.default_rng(2), 'arm')],
        [Joint('turn', 'revolute', 'dummy', 'arm')],
        ('fixed',),
    ),
    'universal joint': (  # two axes with nothing between them
        [*links_of(np.random.default_rng(7), 'trunk', 'foot'), Link('cross')],
        [
            Joint('roll', 'revolute', 'trunk', 'cross', random_pose(np.random.default_rng(8))),
            Joint('pitch', 'revolute', 'cross', 'foot', axis=np.array([0.0, 1.0, 0.0])),
        ],
        ('floating', 'fixed'),
    ),
}


@pytest.mark.parametrize('what', ROOTS)
def test_massless_link__passes_its_frame_on(what):
    """Unless nothing behind it has inertia either: of a floating base, that is refused."""
    links, joints, bases = ROOTS[what]
    description = described(links, joints)
    for base in bases:
        model = TreeModel.from_description(description, base=base)
        assert model.base_link == links[0].name
        assert model.frame('trunk' if what == 'usual' else links[0].name).body == 0
        assert_moves_like(model, description, np.random.default_rng(1))
    if bases == ('fixed',):
        with pytest.raises(SingularInertiaError, match=r"base link 'dummy': .*base='fixed'"):
            TreeModel.from_description(description)


def test_floating_joint__below_a_massless_root_is_the_base_and_elsewhere_an_inner_one():
    rng = np.random.default_rng(4)
    links = links_of(rng, 'world', 'robot', 'other')
    free = Joint('free', 'floating', 'world', 'robot', random_pose(rng))
    second = Joint('second', 'floating', 'robot', 'other')
    beside = Joint('beside', 'revolute', 'world', 'other')
    massless = [Link('world'), *links[1:]]
    for some, joints, base, expected in (
        (massless, [free, second], 'floating', ('robot', 12, 7)),
        (links, [free, beside], 'floating', ('world', 13, 8)),
        (links[:2], [free], 'floating', ('world', 12, 7)),
        (links[:2], [free], 'fixed', ('world', 6, 7)),
    ):
        model = TreeModel.from_description(described(some, joints), base=base)
        assert (model.base_link, model.m, model.n_s) == expected
        assert ('world' in model.link_names) == (some is not massless)


# ---- Planar joints


@pytest.mark.shows('Bos 2022: Section 2.2')
@pytest.mark.parametrize('normal', [(0, 0, -3), (0, 1, 0), (1, -2, 0.5)])
def test_planar_joint__spans_the_plane_of_its_normal(normal):
    rng = np.random.default_rng(6)
    slide = Joint('slide', 'planar', 'a', 'b', random_pose(rng), axis=np.array(normal, float))
    model = TreeModel.from_description(described(links_of(rng, 'a', 'b'), [slide]))
    x, y, yaw = model.tree.subspace
    assert_close(yaw[3:], np.array(normal) / np.linalg.norm(normal), 1e-14)
    frame = np.column_stack((x[:3], y[:3], yaw[3:]))
    assert_close(frame.T @ frame, np.eye(3), 1e-13)
    assert np.linalg.det(frame) > 0.0
    assert not np.any((x[3:], y[3:]))


@pytest.mark.shows('Bos 2022: Section 2.2')
def test_planar_joint__equals_pinocchios():
    """Its rates in our x, y are R(yaw) times Pinocchio's, which turn with the body."""
    rng = np.random.default_rng(5)
    links = links_of(rng, 'trunk', 'sled')
    place = random_pose(rng)
    slide = Joint('slide', 'planar', 'trunk', 'sled', place, axis=np.array([0.0, 0.0, 2.0]))
    model = TreeModel.from_description(described(links, [slide]))
    assert model.joint_names == ('slide/x', 'slide/y', 'slide/yaw')
    theirs = pin.Model()
    theirs.gravity.linear = np.array(model.gravity)
    base = theirs.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), 'base')
    theirs.appendBodyToJoint(base, physical_inertia(links[0]), pin.SE3.Identity())
    sled = theirs.addJoint(base, pin.JointModelPlanar(), pin.SE3(place), 'slide')
    theirs.appendBodyToJoint(sled, physical_inertia(links[1]), pin.SE3.Identity())
    quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
    state, tau = model.random_state(rng), rng.normal(size=3)
    x, y, yaw = state.s
    R = rotation_about((0.0, 0.0, 1.0), yaw)[:2, :2]
    pose = pin.SE3ToXYZQUAT(pin.SE3(state.H[:3, :3], state.H[:3, 3]))
    q = np.concatenate((pose, [x, y, np.cos(yaw), np.sin(yaw)]))
    own = R.T @ state.r[:2]
    velocity = np.concatenate((state.v, own, state.r[2:]))
    effort = np.concatenate((np.zeros(6), R.T @ tau[:2], tau[2:]))
    found = pin.aba(theirs, theirs.createData(), q, velocity, effort)
    in_plane = R @ (found[6:8] + state.r[2] * quarter @ own)
    expected = np.concatenate((found[:6], in_plane, found[8:]))
    assert_close(Linearizer(model)(state, tau).nu_dot, expected, 1e-10)


# ---- Massless links

MASSLESS = [  # links with mass, joints; the wrist's finger and the ring weigh nothing
    ('wrist', ('trunk', 'arm'), ('trunk-arm', 'arm-wrist', 'wrist=finger')),
    ('ring', ('trunk', 'wheel'), ('trunk-ring', 'ring-wheel')),  # two joints along one axis
    ('bead', ('trunk',), ('trunk-bead',)),  # a point mass that turns about itself
]


@pytest.mark.parametrize(('link', 'solid', 'pairs'), MASSLESS)
def test_what_turns_without_inertia__is_refused_by_the_links_name(link, solid, pairs):
    links = {one.name: one for one in links_of(np.random.default_rng(8), *solid)}
    links['bead'] = Link.from_mass('bead', 1.0, np.zeros(3), np.zeros((3, 3)))
    joints = []
    for pair in pairs:
        parent, child = pair.replace('=', '-').split('-')
        joints.append(Joint(pair, 'fixed' if '=' in pair else 'revolute', parent, child))
    names = ['trunk', *(joint.child for joint in joints)]
    robot = described([links.get(name, Link(name)) for name in names], joints)
    with pytest.raises(SingularInertiaError, match=f'link {link!r}'):
        TreeModel.from_description(robot)


# ---- Refusals and warnings


AXIS = "joint 'knee': axis is"
NO_JOINT = [
    *(
        ({'axis': np.array([0.0, 1e-12, 0.0]), 'kind': kind, 'pitch': 0.1}, AXIS)
        for kind in ('revolute', 'prismatic', 'helical', 'planar', 'continuous')
    ),
    *(({'axis': axis}, AXIS) for axis in (np.full(3, np.nan), np.zeros(3), np.zeros(2))),
    ({'placement': 2.0 * np.eye(4)}, "joint 'knee': placement has last row"),
    *(({'placement': np.diag([1.0, 1.0, x, 1.0])}, 'no pose: det R') for x in (-1.0, 0.0)),
    ({'friction_speed': 0.0}, 'friction_speed is .*above 0'),
    ({'effort_scale': -1.0}, 'effort_scale is .*above 0'),
    ({'damping': np.nan}, 'damping is nan, expected a finite number'),
    *(({name: -1.0}, f'{name} is -1.0') for name in ('damping', 'friction', 'rotor_inertia')),
    ({'gear_ratio': 0.0}, 'gear_ratio is 0.0'),
    ({'limits': Limits(lower=np.nan)}, 'a limit is NaN'),
]


@pytest.mark.parametrize(('changes', 'words'), NO_JOINT)
def test_numbers_that_no_joint_has__are_refused_by_its_name(changes, words):
    links = links_of(np.random.default_rng(11), 'a', 'b')
    joint = dataclasses.replace(Joint('knee', 'revolute', 'a', 'b', friction=0.1), **changes)
    for options in ({}, {'locked_joints': {'knee': 0.1}}, {'coulomb_friction': True}):
        with pytest.raises(ModelError, match=words) as caught:
            TreeModel.from_description(described(links, [joint]), **options)
        assert "'knee'" in str(caught.value)


@pytest.mark.parametrize(
    ('inertia', 'words'),
    [
        (-np.eye(6), "link 'b': mass is -1.0 kg"),
        (np.eye(3), "link 'b': inertia has shape"),
        (np.full((6, 6), np.nan), "link 'b': inertia has shape"),
        (np.triu(np.ones((6, 6))), "link 'b': inertia is not symmetric"),
    ],
)
def test_inertia_that_no_body_has__is_refused_by_its_link(inertia, words):
    links = [*links_of(np.random.default_rng(11), 'a'), Link('b', inertia)]
    with pytest.raises(ModelError, match=words):
        TreeModel.from_description(described(links, [Joint('j', 'revolute', 'a', 'b')]))


@given(seed=st.integers(0, 2**32 - 1), length=st.floats(1e-6, 1e6))
def test_axis__of_any_length_is_the_same_axis(seed, length):
    rng = np.random.default_rng(seed)
    links, place, axis = links_of(rng, 'a', 'b'), random_pose(rng), rng.normal(size=3)
    models = [
        TreeModel.from_description(
            described(links, [Joint('j', 'helical', 'a', 'b', place, scale * axis, pitch=0.2)])
        )
        for scale in (1.0, length)
    ]
    assert_close(models[1].tree.subspace, models[0].tree.subspace, 1e-14)


def test_inertia_that_is_not_positive__warns_with_the_links_name():
    """Thin and point-like bodies are no reason for a warning."""
    rng = np.random.default_rng(12)
    crossed = 0.01 * np.array([[1, 2, 0], [2, 1, 0], [0, 0, 1]])
    rod, point = np.diag([0.1, 0.1, -1e-17]), np.zeros((3, 3))
    for rotational in (np.diag([0.1, 0.1, -0.01]), crossed, rod, point):
        link = Link.from_mass('odd', 1.0, np.array([0.0, 0.0, 0.3]), rotational)
        weld = Joint('weld', 'fixed', 'trunk', 'odd')
        robot = described([*links_of(rng, 'trunk'), link], [weld])
        if rotational is rod or rotational is point:
            assert TreeModel.from_description(robot).warnings == ()
            continue
        with pytest.warns(ModelWarning, match=r"link 'odd': has an inertia .*correct its <inert"):
            model = TreeModel.from_description(robot)
        assert any("link 'odd'" in sentence for sentence in model.warnings)
        assert "warning: description: link 'odd'" in model.summary()


def test_what_a_reader_took__is_among_the_warnings():
    with pytest.warns(ModelWarning, match='more than one <origin>'):
        model = TreeModel.from_urdf(Path(__file__).parents[1] / 'urdf' / 'two_origins.urdf')
    assert len(model.warnings) == 1
    assert "joint 'shoulder': more than one <origin>: the first is taken" in model.warnings[0]


def test_joints_that_are_no_tree__are_refused():
    links = links_of(np.random.default_rng(13), 'a', 'b', 'c')
    joints = [Joint(a + b, 'revolute', a, b) for a, b in ('ab', 'ac', 'cb')]
    for some, says in ((joints[:1], "'c'"), (joints, "'b'")):
        with pytest.raises(ModelError, match=says):
            TreeModel.from_description(described(links, some))


@pytest.mark.parametrize(
    ('gravity', 'error'), [((0.0, -9.81), ShapeError), ((0.0, np.nan, 0.0), NotFiniteError)]
)
def test_gravity__is_three_finite_numbers(quadruped, gravity, error):
    with pytest.raises(error, match='gravity'):
        quadruped.with_gravity(gravity)
    with pytest.raises(error, match='gravity'):
        TreeModel.from_urdf(robots.path('quadruped'), gravity=gravity)


# ---- What users read


def test_names__are_looked_up_with_suggestions(quadruped):
    model = quadruped
    assert model.joint_names[model.joint_index('RL_hip_joint')] == 'RL_hip_joint'
    assert model.frame('imu').body == 0
    with pytest.raises(UnknownNameError, match=r"joint 'RL_hip' .* did you mean 'RL_hip_joint'"):
        model.joint_index('RL_hip')
    with pytest.raises(UnknownNameError, match=r"link 'imux' .* did you mean 'imu'"):
        model.frame('imux')
    text = model.summary()
    for part in ("quadruped: floating base 'base', 12 joint", '15.000 kg', model.hash):
        assert part in text
    state = model.state([0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0], positions={'RL_calf_joint': -1.5})
    expected = model.neutral_state()
    expected.H[2, 3], expected.s[model.joint_index('RL_calf_joint')] = 0.4, -1.5
    np.testing.assert_array_equal(state.data, expected.data)
    with pytest.raises(UnknownNameError, match="joint 'RL_calf'"):
        model.state(positions={'RL_calf': 0.0})


def test_hash__changes_with_every_number_and_name(quadruped):
    path, names = robots.path('quadruped'), quadruped.joint_names
    others = [
        {'base': 'fixed'},
        {'gravity': (0.0, 0.0, -9.80)},
        {'joints': names[::-1]},
        {'actuated_joints': names[:-1]},
        {'locked_joints': {names[0]: 0.0}},
        {'locked_joints': {names[0]: 0.1}},
    ]
    hashes = {TreeModel.from_urdf(path, **options).hash for options in ({}, *others)}
    assert len(hashes) == 1 + len(others)
    assert quadruped.hash in hashes


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@given(seed=st.integers(0, 2**32 - 1))
def test_random_state__keeps_to_limits_and_turns_the_base(base, seed):
    rng = np.random.default_rng(seed)
    joints = [
        Joint('free', 'continuous', 'a', 'b'),
        Joint('tight', 'revolute', 'b', 'c', random_pose(rng), limits=Limits(0.2, 0.3, 1.0, 1.0)),
    ]
    robot = described(links_of(rng, 'a', 'b', 'c'), joints)
    state = TreeModel.from_description(robot, base=base).random_state(rng, speed=2.0)
    assert -np.pi <= state.s[0] <= np.pi
    assert 0.2 <= state.s[1] <= 0.3
    assert np.max(np.abs(state.r)) <= 2.0
    R = state.H[:3, :3]
    assert_close(R @ R.T, np.eye(3), 1e-14)
    assert np.linalg.det(R) > 0.0
    if base == 'fixed':
        assert np.array_equal(state.H, np.eye(4))
        assert not np.any(state.v)


def test_pickled_model__is_the_same_and_needs_no_other_kernels(quadruped):
    """A worker process of `geolin linearize` gets one; compiling takes it half a minute."""
    state, tau = quadruped.neutral_state(), np.ones(quadruped.n)
    expected = Linearizer(quadruped)(state, tau).copy()
    compiled = len(linearize.signatures)
    twin = pickle.loads(pickle.dumps(quadruped))
    assert twin.hash == quadruped.hash
    for model in (quadruped, twin):
        arrays = *model.tree, *vars(model.limits).values(), model.gravity
        assert not any(array.flags.writeable for array in arrays)
    assert Linearizer(twin)(state, tau).A.tobytes() == expected.A.tobytes()
    assert len(linearize.signatures) == compiled


# ---- Options of reading


TALOS = example_robot('talos_reduced')


@pytest.fixture(scope='module')
def talos():
    return read_robot(TALOS)


def with_mimics(description: Description, mimics: dict[str, Mimic]) -> Description:
    joints = tuple(
        dataclasses.replace(joint, mimic=mimics.get(joint.name, joint.mimic))
        for joint in description.joints
    )
    return dataclasses.replace(description, joints=joints)


CHAIN = {
    'arm_right_4_joint': Mimic('arm_left_4_joint', -1.0, 0.1),
    'leg_left_4_joint': Mimic('leg_right_4_joint', 0.7, 0.0),
    'leg_left_5_joint': Mimic('leg_left_4_joint', -0.5, 0.2),
}


def assert_rates_close(ours, theirs, model):
    """Compare the blocks of d nu_dot; those that are exactly zero in ours are noise in theirs."""
    m, scale = model.m, np.abs(theirs[model.m :]).max()
    for (name, block), (_, referee) in zip(
        blocks(ours[m:], model), blocks(theirs[m:], model), strict=True
    ):
        assert_close(block, referee, 1e-8, name, scale if not block.any() else None)


def assert_moves_as(model, oracle, seed=3):
    """Compare a linearization at a random state with Pinocchio's."""
    rng = np.random.default_rng(seed)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    A, B, nu_dot = oracle.linearization(state, tau)
    result = Linearizer(model)(state, tau)
    assert_close(result.nu_dot, nu_dot, 1e-10, 'nu_dot')
    assert_close(result.B, B, 1e-9, 'B')
    assert_rates_close(result.A, A, model)


# ---- Mimic and locked joints


def test_mimic_and_locked_joints__resolve_chains(talos):
    description = with_mimics(talos[0], CHAIN)
    rows = {row.name: row for row in TreeModel.from_description(description).dependent_joints}
    assert rows['leg_left_5_joint'].master == 'leg_right_4_joint'
    assert rows['leg_left_5_joint'].multiplier == pytest.approx(-0.35)
    assert rows['leg_left_5_joint'].offset == pytest.approx(0.2)
    locks = {'leg_right_4_joint': 1.0}
    held = dict(TreeModel.from_description(description, locked_joints=locks).locked_joints)
    assert held['leg_left_4_joint'] == pytest.approx(0.7)
    assert held['leg_left_5_joint'] == pytest.approx(-0.15)
    alone = TreeModel.from_description(description, locked_joints=locks, mimic='independent')
    assert dict(alone.locked_joints) == locks
    with pytest.raises(ModelError, match='lock only one'):
        TreeModel.from_description(description, locked_joints=locks | {'leg_left_4_joint': 0.0})


def test_mimic__of_nothing_is_an_error(talos):
    one, other = 'arm_left_1_joint', 'arm_left_2_joint'
    for mimics, says in (
        ({one: Mimic('nowhere')}, f"'{one}'.*'nowhere'"),
        ({one: Mimic(other), other: Mimic(one)}, 'follows it in turn'),
    ):
        with pytest.raises(ModelError, match=says):
            TreeModel.from_description(with_mimics(talos[0], mimics))


def test_locked_joints__equal_pinocchios_reduced_model(talos):
    held = {'arm_left_4_joint': -0.8, 'torso_1_joint': 0.3, 'head_2_joint': 0.2}
    model = TreeModel.from_description(talos[0], locked_joints=held)
    assert {row.name: row.position for row in model.locked_joints} == held
    assert 'arm_left_5_link' in model.frames
    whole = pin.buildModelFromUrdf(str(TALOS), pin.JointModelFreeFlyer())
    q = pin.neutral(whole)
    for name, position in held.items():
        q[whole.joints[whole.getJointId(name)].idx_q] = position
    reduced = pin.buildReducedModel(whole, [whole.getJointId(name) for name in held], q)
    assert_moves_as(model, PinocchioOracle(reduced, model))


def test_joints__choose_and_order_the_coordinates(talos):
    names = ['leg_left_3_joint', 'leg_left_1_joint', 'leg_left_2_joint']
    locks = {'leg_left_4_joint': 0.5}
    model = TreeModel.from_description(talos[0], joints=names, locked_joints=locks)
    assert model.joint_names == tuple(names)
    held = dict(model.locked_joints)
    assert held['leg_left_4_joint'] == 0.5
    lower = {j.name: j.limits.lower for j in talos[0].joints}['leg_right_4_joint']
    assert held['leg_right_4_joint'] == max(0.0, lower)


# ---- Overlays


def test_effort_limit__takes_the_place_of_the_descriptions(quadruped):
    asked = {'joints': {'*_calf_joint': {'effort_limit': 2.7}}}
    model = TreeModel.from_urdf(robots.path('quadruped'), overlay=asked)
    is_calf = np.array(['calf' in name for name in model.joint_names])
    expected = np.where(is_calf, 2.7, quadruped.limits.effort)
    np.testing.assert_array_equal(model.limits.effort, expected)
    np.testing.assert_array_equal(model.limits.upper, quadruped.limits.upper)


def test_rotor_inertia_and_damping__equal_mujoco():
    path = example_robot('solo12')
    overlay = {'joints': {'*': {'rotor_inertia': 1e-5, 'gear_ratio': 9.0, 'damping': 0.3}}}
    model = TreeModel.from_urdf(path, overlay=overlay)
    simulated = MujocoOracle(path, model)
    simulated.mujoco_model.dof_armature[6:] = 81e-5
    simulated.mujoco_model.dof_damping[6:] = 0.3
    rng = np.random.default_rng(6)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    expected = simulated.forward_dynamics(state, tau)
    assert_close(Linearizer(model)(state, tau).nu_dot, expected, 1e-9)


def test_friction_and_spring__equal_differences(talos):
    description, plain = talos
    overlay = {
        'joints': {
            '*': {'friction': 0.0},
            'leg_*': {'friction': 0.8, 'friction_speed': 0.4},
            'arm_left_?_joint': {'stiffness': 12.0, 'rest': 0.3},
        }
    }
    model = TreeModel.from_description(description, overlay=overlay, coulomb_friction=True)
    oracle = PinocchioOracle.read_urdf(TALOS, plain)
    legs = np.array([name.startswith('leg_') for name in model.joint_names])
    arms = np.array([name.startswith('arm_left') for name in model.joint_names])

    def forward_dynamics(state, tau):
        passive = np.where(legs, 0.8 * np.tanh(state.r / 0.4), 0.0)
        passive += np.where(arms, 12.0 * (state.s - 0.3), 0.0)
        return oracle.forward_dynamics(state, tau - passive)

    rng = np.random.default_rng(7)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    result = Linearizer(model)(state, tau)
    assert_close(result.nu_dot, forward_dynamics(state, tau), 1e-11, 'nu_dot')
    A, _ = linearization(forward_dynamics, model, state, tau)
    assert_rates_close(result.A, A, model)


@pytest.mark.shows('Bos 2022: Helical joints')
def test_helical_joint__of_an_overlay_is_pinocchios(talos):
    screws = {'leg_left_6_joint': 0.02, 'arm_right_4_joint': -0.1}
    overlay = {'joints': {name: {'kind': 'helical', 'pitch': h} for name, h in screws.items()}}
    model = TreeModel.from_description(talos[0], overlay=overlay)
    oracle = PinocchioOracle.from_description(apply_overlay(talos[0], overlay), model)
    kinds = {joint.shortname() for joint in oracle.pin_model.joints}
    assert any('Helical' in kind for kind in kinds)
    assert_moves_as(model, oracle)


def test_payload__adds_mass_and_moves_with_its_frame(talos):
    description, plain = talos
    load = {'frame': 'arm_left_7_link', 'mass': 3.0, 'com': [0.1, -0.2, 0.05]}
    load['inertia'] = [0.02, 0.03, 0.04, 0.001, -0.002, 0.003]
    model = TreeModel.from_description(attach_payloads(description, [load]))
    assert model.total_mass == pytest.approx(plain.total_mass + 3.0)
    oracle = PinocchioOracle.read_urdf(TALOS, model)
    frame = oracle.pin_model.frames[oracle.pin_model.getFrameId('arm_left_7_link')]
    ixx, iyy, izz, ixy, ixz, iyz = load['inertia']
    rotational = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    extra = frame.placement.act(pin.Inertia(3.0, np.array(load['com']), rotational))
    joint = frame.parentJoint
    oracle.pin_model.inertias[joint] = oracle.pin_model.inertias[joint] + extra
    oracle.data = oracle.pin_model.createData()
    assert_moves_as(model, oracle)


def of_joints(pattern, **values):
    return {'joints': {pattern: values}}


LEG = 'leg_left_6_joint'
NONSENSE = [
    ({'joint': {}}, UnknownNameError, "'joint'"),
    (of_joints('nothing_*', damping=1), UnknownNameError, 'nothing_*'),
    (of_joints('*', dampng=1), UnknownNameError, "'damping'"),
    (of_joints('*', damping='much'), ModelError, 'much'),
    (of_joints(LEG, damping=-1), ModelError, '0 or more'),
    (of_joints('*', damping=float('nan')), ModelError, 'finite'),
    (of_joints('*', effort_limit=0.0), ModelError, 'effort_limit is 0'),
    (of_joints(LEG, kind='helical'), ModelError, 'pitch None'),
    (of_joints(LEG, pitch=0.1), ModelError, 'kind None'),
    (of_joints(LEG, kind='helical', pitch=0), ModelError, 'pitch 0'),
    (of_joints(LEG, kind='screw', pitch=0.1), ModelError, "kind 'screw'"),
    (of_joints('*', kind='helical', pitch=0.1), ModelError, 'fixed, prismatic, revolute'),
    ({'payloads': [{'frame': 'nowhere', 'mass': 1}]}, UnknownNameError, 'nowhere'),
    ({'payloads': [{'frame': 'base_link'}]}, ModelError, 'mass'),
    ({'payloads': [{'frame': 'base_link', 'mass': -1}]}, ModelError, 'negative'),
    ({'payloads': {'frame': 'base_link'}}, ModelError, 'list'),
]


@pytest.mark.filterwarnings('ignore::geolin_ros.errors.ModelWarning')
@pytest.mark.parametrize(('overlay', 'error', 'fragment'), NONSENSE)
def test_overlay__says_what_is_wrong(talos, overlay, error, fragment):
    *joints, last = talos[0].joints
    slide = dataclasses.replace(last, kind='prismatic')
    description = dataclasses.replace(talos[0], joints=(*joints, slide))
    with pytest.raises(error, match=re.escape(fragment)) as caught:
        TreeModel.from_description(description, overlay=overlay)
    assert all(repr(pattern) in str(caught.value) for pattern in overlay.get('joints', ()))


def test_overlay__is_read_from_yaml(talos, tmp_path):
    path = tmp_path / 'overlay.yaml'
    path.write_text('joints:\n  "leg_*": {damping: 0.5}\n')
    model = TreeModel.from_description(talos[0], overlay=path)
    assert model.tree.damping[model.joint_index('leg_left_1_joint')] == 0.5
    path.write_text('joints: [')
    with pytest.raises(ModelError, match='YAML'):
        TreeModel.from_description(talos[0], overlay=path)


# ---- Options


@pytest.mark.parametrize(
    ('options', 'words'),
    [
        ({'base': 'Floating'}, r"base is 'Floating', expected .*'fixed'"),
        ({'mimic': 'Exact'}, r"mimic is 'Exact', .* 'exact'"),
    ],
)
def test_misspelled_options__are_refused_with_the_choices(options, words):
    """In Python, as a parameter, and on the command line."""
    path = robots.path('quadruped')
    ((name, value),) = options.items()
    with pytest.raises(ConfigurationError, match=words):
        TreeModel.from_urdf(path, **options)
    with pytest.raises(ConfigurationError, match=f'parameter {words}'):
        checked(name, value)
    with pytest.raises(SystemExit, match='2'):
        main(['info', str(path), f'--{name}={value}'])


@pytest.mark.parametrize(
    ('options', 'error', 'words'),
    [
        ({'base': ['fixed']}, ConfigurationError, r'base is .* expected one of'),
        ({'actuated_joints': ['FL_hip_joint'] * 2}, ConfigurationError, ".*'FL_hip_joint' twice"),
        ({'coulomb_friction': 'no'}, ConfigurationError, "coulomb_friction is 'no', expected"),
        ({'joints': 'FL_hip_joint'}, ConfigurationError, r".* write \['FL_hip_joint'\]"),
        ({'fixed_base': True}, TypeError, ".*no option 'fixed_base'; options are base, "),
        ({'actuated_joint': ()}, TypeError, ".*did you mean 'actuated_joints'"),
    ],
)
def test_options_of_another_type_or_name__are_refused(options, error, words):
    with pytest.raises(error, match=f'^{words}'):
        TreeModel.from_urdf(robots.path('quadruped'), **options)


def test_robot_under_the_link_world__has_a_fixed_base_in_python_and_node():
    path, heard = example_robot('ur5_robot'), []
    with pytest.warns(ModelWarning, match="'world': is the root: the base is taken as"):
        model = TreeModel.from_urdf(path)
    served = read_model(path.read_text(), default_values(), heard.append)
    assert (model.base, model.hash) == ('fixed', served.hash)
    assert [sentence for sentence in heard if "'world': is the root" in sentence]
    state = model.random_state(np.random.default_rng(3))
    expected = PinocchioOracle.read_urdf(path, model).mass_matrix(state)
    assert_close(mass_matrix(model, state), expected, 1e-12)
    assert TreeModel.from_urdf(path, base='floating').m == 6 + model.m
