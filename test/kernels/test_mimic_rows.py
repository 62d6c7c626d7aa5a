# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Mimic joints, fixed bases and robots without joints in the engine, against the dense referee."""

import dataclasses

import numpy as np
import pytest
from support import general
from support.close import assert_close
from support.constrained_reference import TiedReference
from support.light_robots import gripper
from support.robots import example_robot
from support.trees import random_description

from geolin_ros import Contact, Linearizer, TreeModel, Wrench
from geolin_ros.description import Mimic
from geolin_ros.errors import SingularInertiaError

WRENCHES = (
    Wrench('link0', (1.0, 2.0, -3.0), (0.2, 0.1, 0.3), 'world'),
    Wrench('link3', (0.4, -2.0, 1.0), (0.5, 0.1, -0.3), 'world_oriented'),
    Wrench('link4', (0.4, 1.0, 1.0), (-0.5, 0.1, -0.3), 'body'),
)


def mimicking(rng, count, followers, **options):
    """Return a random robot of ``count`` joints; ``followers`` maps a joint to its master."""
    description = random_description(rng, count)
    joints = [
        dataclasses.replace(
            joint,
            damping=rng.uniform(0.0, 1.0),
            stiffness=rng.uniform(0.0, 3.0),
            rotor_inertia=rng.uniform(0.0, 0.1),
        )
        for joint in description.joints
    ]
    for follower, master in followers.items():
        rule = Mimic(f'joint{master}', rng.uniform(-2.0, 2.0), rng.uniform(-1.0, 1.0))
        joints[follower - 1] = dataclasses.replace(joints[follower - 1], mimic=rule)
    description = dataclasses.replace(description, joints=tuple(joints))
    return TreeModel.from_description(description, **options)


def assert_as_referee(model, state, tau, wrenches=(), tolerance=1e-11):
    linearizer = Linearizer(model)
    A, B, nu_dot = general.linearization(model, state, tau, wrenches)
    for _ in range(2):  # the second call finds what the first one left
        L = linearizer(state, tau, wrenches=wrenches)
        assert_close(L.nu_dot, nu_dot, tolerance, 'nu_dot')
        assert_close(L.A, A, tolerance, 'A')
        assert_close(L.B, B, tolerance, 'B')


FOLLOWERS = {
    'one': (6, {3: 1}),
    'a chain of them': (6, {4: 3, 3: 2, 6: 2}),
    'two masters': (9, {2: 1, 3: 1, 7: 6, 9: 6}),
    'more than a block': (20, dict.fromkeys(range(3, 17), 2)),
    'all follow the last': (5, {1: 5, 2: 5, 3: 5, 4: 5}),
}


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize(('count', 'followers'), FOLLOWERS.values(), ids=FOLLOWERS)
def test_mimic_joints__equal_the_referee(count, followers, base):
    rng = np.random.default_rng(count)
    model = mimicking(rng, count, followers, base=base)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    assert_as_referee(model, state, tau)
    assert_as_referee(model, state, tau, WRENCHES)


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('name', ['talos_full_v2', 'tiago_pro', 'pr2', 'baxter', 'panda'])
def test_robot_with_mimic_joints__equals_the_referee(name, base):
    rng = np.random.default_rng(3)
    model = TreeModel.from_urdf(example_robot(name), base=base)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    assert_as_referee(model, state, tau)


MASSES = (1.0, 1e-6, 1e-11, 0.0)


@pytest.mark.parametrize('wrist', [None, 0.3, 1e-7])
@pytest.mark.parametrize('chain', [False, True], ids=['both follow the drive', 'one the other'])
@pytest.mark.parametrize('kind', ['prismatic', 'revolute'])
def test_light_drive_of_a_gripper__has_the_inertia_of_its_fingers(kind, chain, wrist):
    """Pinocchio's M of all joints, tied: its condition does not depend on the drive."""
    for mass in MASSES:
        description = gripper(mass, kind, chain, wrist)
        model = TreeModel.from_description(description)
        rng = np.random.default_rng(9)
        state, tau = model.random_state(rng), rng.normal(size=model.n)
        A, B, nu_dot, *_, condition = TiedReference(description, model).linearization(state, tau)
        assert condition < 2e4
        linearizer = Linearizer(model)
        L, batch = linearizer(state, tau), linearizer.batch([state] * 2, [tau] * 2)
        for found in (L.A, batch.A[1]):
            assert_close(found, A, 1e-11, f'A with a drive of {mass} kg')
        for found in (L.B, batch.B[1]):
            assert_close(found, B, 1e-11, f'B with a drive of {mass} kg')
        assert_close(L.nu_dot, nu_dot, 1e-11, f'nu_dot with a drive of {mass} kg')
        assert_close(linearizer.forward_dynamics(state, tau), nu_dot, 1e-11, 'forward dynamics')


@pytest.mark.parametrize('mass', MASSES)
def test_light_drive_of_a_gripper_in_contact__has_the_inertia_of_its_fingers(mass):
    description = gripper(mass, 'revolute', chain=True, wrist=0.3)
    model, contacts = TreeModel.from_description(description), [Contact('left', kd=2.0)]
    rng = np.random.default_rng(10)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    reference = TiedReference(description, model, contacts)
    A, B, nu_dot, forces, by_state, rank, condition = reference.linearization(state, tau)
    assert condition < 2e4
    L = Linearizer(model, contacts)(state, tau)
    for name, found, expected in (
        *(('A', L.A, A), ('B', L.B, B), ('nu_dot', L.nu_dot, nu_dot)),
        *(('forces', L.wrenches, forces), ('their derivative', L.wrench_by_state, by_state)),
    ):
        assert_close(found, expected, 1e-8, name)
    assert L.rank == rank == 3


@pytest.mark.parametrize('seed', [4, 8, 21, 63])
def test_mimics_between_links_of_any_mass__are_as_exact_as_what_they_tie(seed):
    """Bases of grams that hold tied links of tons: a joint may be light on either side."""
    rng = np.random.default_rng(seed)
    free = random_description(rng, 7, 'chain')
    links = [
        dataclasses.replace(k, inertia=k.inertia * 1e1 ** rng.uniform(-4, 4)) for k in free.links
    ]
    joints = list(free.joints)
    for follower, master in {2: 1, 4: 2, 7: 5}.items():
        rule = Mimic(f'joint{master}', rng.choice((-1.0, 1.0)) * rng.uniform(0.3, 2.0), 0.1)
        joints[follower - 1] = dataclasses.replace(joints[follower - 1], mimic=rule)
    description = dataclasses.replace(free, links=tuple(links), joints=tuple(joints))
    model = TreeModel.from_description(description)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    A, B, nu_dot, *_, condition = TiedReference(description, model).linearization(state, tau)
    L, limit = Linearizer(model)(state, tau), max(1e-8, 10.0 * np.finfo(float).eps * condition)
    for name, found, expected in (('A', L.A, A), ('B', L.B, B), ('nu_dot', L.nu_dot, nu_dot)):
        assert_close(found, expected, limit, name)


@pytest.mark.parametrize('name', ['quadrotor_base', 'iris_simple'])
def test_robot_without_joints__equals_the_referee(name):
    rng = np.random.default_rng(7)
    model = TreeModel.from_urdf(example_robot(name))
    assert model.n == 0
    state = model.random_state(rng)
    wrenches = [Wrench(model.base_link, (1.0, 2.0, 3.0), (0.1, 0.2, 0.3), 'world')]
    assert_as_referee(model, state, np.zeros(0))
    assert_as_referee(model, state, np.zeros(0), wrenches)
    assert Linearizer(TreeModel.from_urdf(example_robot(name), base='fixed'))(
        state, np.zeros(0)
    ).A.shape == (0, 0)


def test_gimbal_lock_behind_a_mimic_joint__names_the_joint_it_follows():
    rng = np.random.default_rng(8)
    model = mimicking(rng, 4, {3: 1})
    state = model.random_state(rng)
    tree = model.tree._replace(
        inertia=np.zeros_like(model.tree.inertia), armature=np.zeros(4), damping=np.zeros(4)
    )
    empty = dataclasses.replace(model, tree=tree)
    with pytest.raises(SingularInertiaError, match='has no inertia to move'):
        Linearizer(empty)(state, np.zeros(model.n))
