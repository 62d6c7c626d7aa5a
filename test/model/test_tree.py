# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From descriptions to trees: merging, roots, planar chains, and what is refused."""

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.close import assert_close
from support.dense_reference import DenseReference
from support.pinocchio_oracle import PinocchioOracle, physical_inertia, pin
from support.states import rotation_about
from support.trees import descriptions, physical_link, random_pose, tree_description

from geolin_ros import Description, Joint, Linearizer, Link, TreeModel, mass_matrix, robots
from geolin_ros.description import Limits
from geolin_ros.errors import (
    ModelError,
    ModelWarning,
    NotFiniteError,
    ShapeError,
    SingularInertiaError,
    UnknownNameError,
)
from geolin_ros.kernels.engine.linearization import linearize

KINDS = ('revolute', 'prismatic', 'helical', 'fixed')


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
        for name, link in dense.moving_links(state).items():
            body = model.frame(name).body
            carrier = dense.moving_links(state)[model.body_names[body]].H
            assert_close(carrier @ model.frame(name).placement, link.H, 1e-12)


# ---- Fixed joints


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@given(description=descriptions(kinds=KINDS), seed=st.integers(0, 2**32 - 1))
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


def test_floating_joint_below_world__makes_its_child_the_base():
    rng = np.random.default_rng(3)
    robot = tree_description(rng, (0, 1), ('revolute', 'prismatic'))
    root = Joint('free', 'floating', 'world', 'link0', random_pose(rng))
    wrapped = dataclasses.replace(
        robot, links=(Link('world'), *robot.links), joints=(root, *robot.joints)
    )
    model, plain = TreeModel.from_description(wrapped), TreeModel.from_description(robot)
    assert model.base_link == 'link0'
    assert model.joint_names == plain.joint_names
    assert 'world' not in model.link_names
    state, tau = plain.random_state(rng), rng.normal(size=2)
    assert_close(Linearizer(model)(state, tau).A, Linearizer(plain)(state, tau).A, 0.0)


def test_root_with_mass_above_a_floating_joint__is_the_base():
    text = """<robot name="two"><link name="ship"><inertial><mass value="2"/>
    <inertia ixx=".3" iyy=".2" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <link name="drone"><inertial><origin xyz=".1 .2 .3"/><mass value="4"/>
    <inertia ixx=".3" iyy=".4" izz=".5" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="free" type="floating"><parent link="ship"/><child link="drone"/>
    <origin xyz="1 0 .5" rpy=".1 .2 .3"/></joint></robot>"""
    model = TreeModel.from_urdf(text)
    assert (model.base_link, model.total_mass) == ('ship', 6.0)
    assert [w for w in model.warnings if "link 'ship': has mass 2 kg above floating" in w]
    theirs = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    assert pin.computeTotalMass(theirs) == 6.0
    state = model.random_state(np.random.default_rng(0))
    expected = PinocchioOracle(theirs, model).mass_matrix(state)
    assert_close(mass_matrix(model, state), expected, 1e-12)


def test_floating_joint__elsewhere_is_an_inner_one():
    rng = np.random.default_rng(4)
    links = links_of(rng, 'world', 'robot', 'other')
    free = Joint('free', 'floating', 'world', 'robot')
    second = Joint('second', 'floating', 'robot', 'other')
    beside = Joint('beside', 'revolute', 'world', 'other')
    above = TreeModel.from_description(described([Link('world'), *links[1:]], [free, second]))
    assert (above.base_link, above.n, above.n_s) == ('robot', 6, 7)
    below = TreeModel.from_description(described(links, [free, beside]))
    assert (below.base_link, below.n, below.n_s) == ('world', 7, 8)
    held = TreeModel.from_description(described(links[:2], [free]), base='fixed')
    assert (held.base_link, held.m, held.n_s) == ('world', 6, 7)


# ---- Planar joints


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
    for _ in range(5):
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


@pytest.mark.parametrize('normal', [(0, 0, 1), (0, 0, -3), (0, 1, 0), (1, 0, 0), (1, -2, 0.5)])
def test_planar_joint__spans_the_plane_of_its_normal(normal):
    rng = np.random.default_rng(6)
    slide = Joint('slide', 'planar', 'a', 'b', random_pose(rng), axis=np.array(normal, float))
    model = TreeModel.from_description(described(links_of(rng, 'a', 'b'), [slide]))
    x, y, yaw = model.tree.subspace
    assert_close(yaw[3:], np.array(normal) / np.linalg.norm(normal), 1e-14)
    frame = np.column_stack((x[:3], y[:3], yaw[3:]))
    assert_close(frame.T @ frame, np.eye(3), 1e-13)
    assert np.linalg.det(frame) > 0.0
    assert not np.any(x[3:])
    assert not np.any(y[3:])


# ---- Massless links

MASSLESS = {
    'wrist': (
        ('trunk', 'arm'),
        [
            Joint('shoulder', 'revolute', 'trunk', 'arm'),
            Joint('elbow', 'revolute', 'arm', 'wrist'),
            Joint('knuckle', 'fixed', 'wrist', 'finger'),
        ],
    ),
    'ring': (  # two joints along one axis with nothing between
        ('trunk', 'wheel'),
        [
            Joint('first', 'revolute', 'trunk', 'ring'),
            Joint('second', 'revolute', 'ring', 'wheel'),
        ],
    ),
    'bead': (('trunk',), [Joint('spin', 'revolute', 'trunk', 'bead')]),
}


@pytest.mark.parametrize('link', MASSLESS)
def test_what_turns_without_inertia__is_refused_by_the_links_name(link):
    solid, joints = MASSLESS[link]
    names = {'trunk', *(joint.child for joint in joints)} - {*solid, 'bead'}
    links = [*links_of(np.random.default_rng(8), *solid), *map(Link, sorted(names))]
    if link == 'bead':  # a point mass that turns about itself
        links.append(Link.from_mass('bead', 1.0, np.zeros(3), np.zeros((3, 3))))
    with pytest.raises(SingularInertiaError, match=f'link {link!r}'):
        TreeModel.from_description(described(links, joints))


# ---- Refusals and warnings


AXIS = "joint 'knee': axis is"
NO_JOINT = [
    *(
        ({'axis': np.array([0.0, 1e-12, 0.0]), 'kind': kind, 'pitch': 0.1}, AXIS)
        for kind in ('revolute', 'prismatic', 'helical', 'planar', 'continuous')
    ),
    *(({'axis': axis}, AXIS) for axis in (np.full(3, np.nan), np.zeros(3), np.zeros(2))),
    ({'placement': 2.0 * np.eye(4)}, "joint 'knee': placement has last row"),
    ({'placement': np.diag([2.0, 2.0, 2.0, 1.0])}, "joint 'knee': placement is no pose"),
    ({'placement': np.diag([1.0, 1.0, -1.0, 1.0])}, 'no pose: det R is -1'),
    ({'placement': np.diag([0.0, 0.0, 0.0, 1.0])}, 'no pose: det R is 0'),
    *(({'friction_speed': speed}, 'friction_speed is .*above 0') for speed in (0.0, -0.1)),
    ({'damping': np.nan}, 'damping is nan, expected a finite number'),
    ({'damping': -1.0}, 'damping is -1.0, expected a finite number, 0 or more'),
    ({'friction': -1.0}, 'friction is -1.0, expected a finite number, 0 or more'),
    ({'gear_ratio': 0.0}, 'gear_ratio is 0.0'),
    ({'rotor_inertia': -1e-3}, 'rotor_inertia is -0.001'),
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


@pytest.mark.parametrize(
    'rotational', [np.diag([0.1, 0.1, -0.01]), 0.01 * np.array([[1, 2, 0], [2, 1, 0], [0, 0, 1]])]
)
def test_inertia_that_is_not_positive__warns_with_the_links_name(rotational):
    rng = np.random.default_rng(12)
    links = [*links_of(rng, 'trunk'), Link.from_mass('odd', 1.0, np.zeros(3), rotational)]
    joints = [Joint('weld', 'fixed', 'trunk', 'odd')]
    with pytest.warns(ModelWarning, match=r"link 'odd': has an inertia .*correct its <inertial>"):
        model = TreeModel.from_description(described(links, joints))
    assert any("link 'odd'" in sentence for sentence in model.warnings)
    assert "warning: description: link 'odd'" in model.summary()


def test_thin_and_point_like_bodies__are_no_reason_for_a_warning():
    rng = np.random.default_rng(12)
    rod = np.diag([0.1, 0.1, -1e-17])
    links = [
        *links_of(rng, 'trunk'),
        Link.from_mass('rod', 1.0, np.array([0.0, 0.0, 0.3]), rod),
        Link.from_mass('bead', 1.0, np.array([0.1, 0.2, 0.3]), np.zeros((3, 3))),
    ]
    joints = [Joint('weld', 'fixed', 'trunk', 'rod'), Joint('hinge', 'revolute', 'trunk', 'bead')]
    assert TreeModel.from_description(described(links, joints)).warnings == ()


def test_what_a_reader_took__is_among_the_warnings():
    with pytest.warns(ModelWarning, match='more than one <origin>'):
        model = TreeModel.from_urdf(Path(__file__).parents[1] / 'urdf' / 'two_origins.urdf')
    assert len(model.warnings) == 1
    assert "joint 'shoulder': more than one <origin>: the first is taken" in model.warnings[0]


def test_joints_that_are_no_tree__are_refused():
    rng = np.random.default_rng(13)
    links = links_of(rng, 'a', 'b', 'c')
    loop = [Joint('ab', 'revolute', 'a', 'b'), Joint('ac', 'revolute', 'a', 'c')]
    with pytest.raises(ModelError, match="'c'"):
        TreeModel.from_description(described(links, loop[:1]))
    with pytest.raises(ModelError, match="'b'"):
        TreeModel.from_description(described(links, [*loop, Joint('cb', 'revolute', 'c', 'b')]))


@pytest.mark.parametrize(
    ('gravity', 'error'), [((0.0, -9.81), ShapeError), ((0.0, np.nan, 0.0), NotFiniteError)]
)
def test_gravity__is_three_finite_numbers(gravity, error):
    model = TreeModel.from_urdf(robots.path('quadruped'))
    with pytest.raises(error, match='gravity'):
        model.with_gravity(gravity)
    with pytest.raises(error, match='gravity'):
        TreeModel.from_urdf(robots.path('quadruped'), gravity=gravity)


# ---- What users read


def test_names__are_looked_up_with_suggestions():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    assert model.joint_names[model.joint_index('RL_hip_joint')] == 'RL_hip_joint'
    assert model.frame('imu').body == 0
    with pytest.raises(UnknownNameError, match=r"joint 'RL_hip' .* did you mean 'RL_hip_joint'"):
        model.joint_index('RL_hip')
    with pytest.raises(UnknownNameError, match=r"link 'imux' .* did you mean 'imu'"):
        model.frame('imux')
    text = model.summary()
    for part in ("quadruped: floating base 'base', 12 joint", '15.000 kg', model.hash):
        assert part in text


def test_hash__changes_with_every_number_and_name():
    path = robots.path('quadruped')
    model = TreeModel.from_urdf(path)
    names = model.joint_names
    others = [
        TreeModel.from_urdf(path, base='fixed'),
        TreeModel.from_urdf(path, gravity=(0.0, 0.0, -9.80)),
        TreeModel.from_urdf(path, joints=names[::-1]),
        TreeModel.from_urdf(path, actuated_joints=names[:-1]),
        TreeModel.from_urdf(path, locked_joints={names[0]: 0.0}),
        TreeModel.from_urdf(path, locked_joints={names[0]: 0.1}),
    ]
    hashes = {other.hash for other in (model, *others)}
    assert len(hashes) == 1 + len(others)
    assert TreeModel.from_urdf(path).hash == model.hash


def test_arrays__cannot_be_written():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    limits = (model.limits.lower, model.limits.upper, model.limits.velocity, model.limits.effort)
    for array in (*model.tree, model.gravity, *limits):
        assert not array.flags.writeable


@given(seed=st.integers(0, 2**32 - 1))
def test_random_state__keeps_to_limits_and_turns_the_base(seed):
    rng = np.random.default_rng(seed)
    links = links_of(rng, 'a', 'b', 'c')
    joints = [
        Joint('free', 'continuous', 'a', 'b'),
        Joint('tight', 'revolute', 'b', 'c', random_pose(rng), limits=Limits(0.2, 0.3, 1.0, 1.0)),
    ]
    for base in ('floating', 'fixed'):
        model = TreeModel.from_description(described(links, joints), base=base)
        state = model.random_state(rng, speed=2.0)
        assert -np.pi <= state.s[0] <= np.pi
        assert 0.2 <= state.s[1] <= 0.3
        assert np.max(np.abs(state.r)) <= 2.0
        R = state.H[:3, :3]
        assert_close(R @ R.T, np.eye(3), 1e-14)
        assert np.linalg.det(R) > 0.0
        if base == 'fixed':
            assert np.array_equal(state.H, np.eye(4))
            assert not np.any(state.v)


def test_pickled_model__is_the_same_and_needs_no_other_kernels():
    """A worker process of `geolin linearize` gets one; compiling takes it half a minute."""
    model = TreeModel.from_urdf(robots.path('quadruped'))
    state, tau = model.neutral_state(), np.ones(model.n)
    expected = Linearizer(model)(state, tau).copy()
    compiled = len(linearize.signatures)
    twin = pickle.loads(pickle.dumps(model))
    assert twin.hash == model.hash
    assert not any(array.flags.writeable for array in (*twin.tree, twin.gravity))
    assert Linearizer(twin)(state, tau).A.tobytes() == expected.A.tobytes()
    assert len(linearize.signatures) == compiled
