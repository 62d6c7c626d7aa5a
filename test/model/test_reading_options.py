# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Mimic and locked joints, inputs, rotors, friction, springs and payloads of a description."""

import dataclasses
import re

import numpy as np
import pytest
from support.close import assert_close, blocks
from support.finite_difference import linearization
from support.mujoco_oracle import MujocoOracle
from support.pinocchio_oracle import PinocchioOracle, pin
from support.robots import example_robot, read_robot

from geolin_ros import Linearizer, TreeModel, mass_matrix, robots
from geolin_ros.cli import main
from geolin_ros.description import Description, Mimic, apply_overlay, attach_payloads
from geolin_ros.errors import ConfigurationError, ModelError, ModelWarning, UnknownNameError
from geolin_ros.stream.parameters.file import checked, default_values
from geolin_ros.stream.parameters.model_reading import read_model

pytestmark = pytest.mark.filterwarnings('ignore::geolin_ros.errors.ModelWarning')


def talos_path():
    return example_robot('talos_reduced')


@pytest.fixture(scope='module')
def talos():
    return read_robot(talos_path())


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


def test_mimic__resolves_chains(talos):
    model = TreeModel.from_description(with_mimics(talos[0], CHAIN))
    rows = {row.name: row for row in model.dependent_joints}
    assert rows['leg_left_5_joint'].master == 'leg_right_4_joint'
    assert rows['leg_left_5_joint'].multiplier == pytest.approx(-0.35)
    assert rows['leg_left_5_joint'].offset == pytest.approx(0.2)


ONE, OTHER = 'arm_left_1_joint', 'arm_left_2_joint'


@pytest.mark.parametrize(
    ('mimic', 'says'),
    [
        ({ONE: Mimic('nowhere')}, "'arm_left_1_joint'.*'nowhere'.*independent"),
        ({ONE: Mimic(OTHER), OTHER: Mimic(ONE)}, 'follows it in turn'),
    ],
)
def test_mimic__of_nothing_is_an_error(talos, mimic, says):
    with pytest.raises(ModelError, match=says):
        TreeModel.from_description(with_mimics(talos[0], mimic))


def test_locked_joints__equal_pinocchios_reduced_model(talos):
    held = {'arm_left_4_joint': -0.8, 'torso_1_joint': 0.3, 'head_2_joint': 0.2}
    model = TreeModel.from_description(talos[0], locked_joints=held)
    assert {row.name: row.position for row in model.locked_joints} == held
    assert 'arm_left_5_link' in model.frames
    whole = pin.buildModelFromUrdf(str(talos_path()), pin.JointModelFreeFlyer())
    q = pin.neutral(whole)
    for name, position in held.items():
        q[whole.joints[whole.getJointId(name)].idx_q] = position
    reduced = pin.buildReducedModel(whole, [whole.getJointId(name) for name in held], q)
    assert_moves_as(model, PinocchioOracle(reduced, model))


def test_locked_joints__take_their_followers_along(talos):
    description = with_mimics(talos[0], CHAIN)
    model = TreeModel.from_description(description, locked_joints={'leg_right_4_joint': 1.0})
    positions = dict(model.locked_joints)
    assert positions['leg_left_4_joint'] == pytest.approx(0.7)
    assert positions['leg_left_5_joint'] == pytest.approx(-0.15)
    with pytest.raises(ModelError, match='lock only one'):
        TreeModel.from_description(
            description, locked_joints={'leg_right_4_joint': 1.0, 'leg_left_4_joint': 0.0}
        )


def test_joints__choose_and_order_the_coordinates(talos):
    names = ['leg_left_3_joint', 'leg_left_1_joint', 'leg_left_2_joint']
    model = TreeModel.from_description(
        talos[0], joints=names, locked_joints={'leg_left_4_joint': 0.5}
    )
    assert model.joint_names == tuple(names)
    held = dict(model.locked_joints)
    assert held['leg_left_4_joint'] == 0.5
    lower = {j.name: j.limits.lower for j in talos[0].joints}['leg_right_4_joint']
    assert held['leg_right_4_joint'] == max(0.0, lower)


# ---- Overlays


def test_effort_limit__takes_the_place_of_the_descriptions():
    path = robots.path('quadruped')
    given, asked = TreeModel.from_urdf(path), {'joints': {'*_calf_joint': {'effort_limit': 2.7}}}
    model = TreeModel.from_urdf(path, overlay=asked)
    expected = given.limits.effort.copy()
    expected[['calf' in name for name in model.joint_names]] = 2.7
    np.testing.assert_array_equal(model.limits.effort, expected)
    np.testing.assert_array_equal(model.limits.upper, given.limits.upper)


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
    oracle = PinocchioOracle.read_urdf(talos_path(), plain)
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
    oracle = PinocchioOracle.read_urdf(talos_path(), model)
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


def of_payload(**values):
    return {'payloads': [values]}


LEG = 'leg_left_6_joint'
NONSENSE = [
    ({'joint': {}}, UnknownNameError, "'joint'"),
    (of_joints('nothing_*', damping=1), UnknownNameError, 'nothing_*'),
    (of_joints('*', dampng=1), UnknownNameError, "'damping'"),
    (of_joints('*', damping='much'), ModelError, 'much'),
    (of_joints('*', damping=-1), ModelError, '0 or more'),
    (of_joints('*', damping=float('nan')), ModelError, 'finite'),
    (of_joints('*', gear_ratio=0), ModelError, 'more than 0'),
    (of_joints('*', effort_limit=0.0), ModelError, 'effort_limit is 0, expected more than 0'),
    (of_joints(LEG, kind='helical'), ModelError, 'pitch is missing'),
    (of_joints(LEG, pitch=0.1), ModelError, 'add kind: helical'),
    (of_joints(LEG, kind='helical', pitch=0), ModelError, 'pitch is 0'),
    (of_joints(LEG, kind='helical', pitch='steep'), ModelError, "'steep'"),
    (of_joints(LEG, kind='helical', pitch=float('inf')), ModelError, 'finite'),
    (of_joints(LEG, kind='screw', pitch=0.1), ModelError, "kind is 'screw'"),
    (of_joints('*', kind='helical', pitch=0.1), ModelError, 'has no pitch'),
    (of_payload(frame='nowhere', mass=1), UnknownNameError, 'nowhere'),
    (of_payload(frame='base_link'), ModelError, 'mass'),
    (of_payload(frame='base_link', mass=-1), ModelError, 'negative'),
    ({'payloads': {'frame': 'base_link'}}, ModelError, 'list'),
]


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
        ({'base': 'Floating'}, r"base is 'Floating', expected .*'fixed'; did you mean 'floating'"),
        ({'base': 'free'}, r"base is 'free', expected one of ('auto', )?'floating', 'fixed'$"),
        ({'mimic': 'Exact'}, r"mimic is 'Exact', .* did you mean 'exact'"),
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
    ('options', 'words'),
    [
        ({'base': ['fixed']}, r'base is .* expected one of'),
        ({'actuated_joints': ['FL_hip_joint'] * 2}, ".*'FL_hip_joint' twice, expected each once"),
        ({'coulomb_friction': 'no'}, "coulomb_friction is 'no', expected True or False"),
        ({'joints': 'FL_hip_joint'}, r"joints is 'FL_hip_joint', .* write \['FL_hip_joint'\]"),
        ({'actuated_joints': 'FL_hip_joint'}, 'actuated_joints is .* expected a list of names'),
    ],
)
def test_options_of_another_type__are_refused(options, words):
    with pytest.raises(ConfigurationError, match=f'^{words}'):
        TreeModel.from_urdf(robots.path('quadruped'), **options)


def test_robot_under_the_link_world__has_a_fixed_base_in_python_and_node():
    path, heard = example_robot('ur5_robot'), []
    with pytest.warns(ModelWarning, match="'world': is the root: the base is taken as"):
        model = TreeModel.from_urdf(path)
    served = read_model(path.read_text(), default_values(), heard.append)
    assert model.base == served.base == 'fixed'
    assert model.hash == served.hash
    assert [sentence for sentence in heard if "'world': is the root" in sentence]
    pinocchio = PinocchioOracle.read_urdf(path, model)
    state = model.random_state(np.random.default_rng(3))
    assert_close(mass_matrix(model, state), pinocchio.mass_matrix(state), 1e-12)
    floating = {'base': 'floating'}
    assert TreeModel.from_urdf(path, **floating).m == 6 + model.m
    assert read_model(path.read_text(), default_values() | floating, heard.append).m == 6 + model.m


def test_option_of_another_library__is_answered_with_ours():
    path = robots.path('quadruped')
    with pytest.raises(TypeError, match="no option 'fixed_base'; did you mean base='fixed'"):
        TreeModel.from_urdf(path, fixed_base=True)
    with pytest.raises(TypeError, match="did you mean 'actuated_joints'"):
        TreeModel.from_urdf(path, actuated_joint=())


def test_state__takes_joints_by_name():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    state = model.state([0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0], positions={'RL_calf_joint': -1.5})
    expected = model.neutral_state()
    expected.H[2, 3], expected.s[model.joint_index('RL_calf_joint')] = 0.4, -1.5
    np.testing.assert_array_equal(state.data, expected.data)
    with pytest.raises(UnknownNameError, match="joint 'RL_calf'"):
        model.state(positions={'RL_calf': 0.0})
