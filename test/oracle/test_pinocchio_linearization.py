# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A, B and nu_dot against Pinocchio: a catalogue of real robots, and random trees."""

import numpy as np
import pytest
from support.close import assert_close, blocks
from support.finite_difference import ad
from support.pinocchio_oracle import PinocchioOracle, pin
from support.robots import FOLDER, example_robot, example_robots, read_robot
from support.states import edge_states
from support.trees import SHAPES, random_model

from geolin_ros import Linearizer
from geolin_ros.errors import SingularInertiaError

EPS = np.finfo(float).eps
NAMELESS = {'ur3'}  # <robot> without a name: Pinocchio's parser refuses it
MASSLESS = {'romeo': 'RThumb3Link', 'romeo_laas_small': 'r_gripper'}  # M is singular
LOADED = [path for path in example_robots() if path.stem not in NAMELESS]
COMPARED = [path for path in LOADED if path.stem not in MASSLESS]


def moderate_efforts(rng, oracle, state):
    """Return efforts that accelerate single joints by up to 20 rad/s^2 or m/s^2."""
    base = oracle.model.m - oracle.model.n
    own_inertia = np.diag(oracle.mass_matrix(state))[base:]
    return own_inertia * rng.uniform(-20.0, 20.0, oracle.model.n)


def kinematic_rows(model, state):
    """Return [-(v x), 0, 1, 0] and [0, 0, 0, 1]."""
    rows = np.zeros((model.m, 2 * model.m))
    rows[:, model.m :] = np.eye(model.m)
    if model.base == 'floating':
        rows[:6, :6] = -ad(state.v)
    return rows


def assert_structural_zeros(A, model):
    """What a uniform gravity field and a uniform velocity cannot do is 0, not almost 0.

    No displacement of the base accelerates a joint or turns the base; the linear part of its
    displacement accelerates nothing, that of its twist changes nothing but v x itself.
    """
    if model.base == 'fixed':
        return
    m = model.m
    for rows, columns in (
        (np.s_[m + 3 :], np.s_[:6]),  # joints and rotation by H
        (np.s_[m:], np.s_[:3]),  # everything by the position
        (np.s_[m + 3 :], np.s_[m : m + 3]),  # joints and rotation by the linear velocity
    ):
        assert not np.any(A[rows, columns])


def assert_agrees(oracle, L, state, tau):
    """Compare blocks apart, each relative to its own largest entry.

    A block that vanishes by a symmetry of the robot holds rounding only, on both sides: 100 eps
    of the largest entry of its rows of [A, nu_dot] are always allowed. A block that is zero in
    ours must be negligible in its rows.
    """
    model = oracle.model
    A, B, nu_dot = oracle.linearization(state, tau)
    tolerance = max(1e-9, 10.0 * EPS * np.linalg.cond(oracle.mass_matrix(state)))
    expected_rows = kinematic_rows(model, state)
    assert np.array_equal(L.A[: model.m], expected_rows), 'kinematic rows are exact'
    assert not np.any(L.B[: model.m])
    assert_structural_zeros(L.A, model)
    rates = np.abs(np.column_stack((A[model.m :], nu_dot)))
    v, r = rates[: model.m - model.n], rates[model.m - model.n :]
    largest_in = {'v': np.max(v, initial=0.0), 'r': np.max(r, initial=0.0)}
    for ours, theirs in ((L.A, A), (L.B, B)):
        pairs = zip(blocks(ours, model), blocks(theirs, model), strict=True)
        for (name, own), (_, other) in pairs:
            if name[0] in 'Hs':
                continue
            scale = np.max(np.abs(other)) + 100.0 * EPS / tolerance * largest_in[name[0]]
            if not np.any(own):  # theirs is rounding, then
                scale = largest_in[name[0]]
            assert_close(own, other, tolerance, f'block {name}', scale)
    assert_close(L.nu_dot, nu_dot, tolerance, 'nu_dot')


def test_catalogue__is_complete():
    found = example_robots()
    assert len(found) == 69
    assert len(LOADED) == 68
    assert len(COMPARED) == 66


@pytest.mark.parametrize(('name', 'link'), sorted(MASSLESS.items()))
def test_catalogue__a_robot_with_massless_ends_is_refused_by_the_links_name(name, link):
    path = example_robot(name)
    with pytest.raises(SingularInertiaError, match=link):
        read_robot(path)
    pin_model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    M = pin.crba(pin_model, pin_model.createData(), pin.neutral(pin_model))
    assert np.min(np.diag(M)) == 0.0, 'Pinocchio loads it and finds a joint without inertia'


@pytest.mark.parametrize(
    'path', COMPARED, ids=[str(path.relative_to(FOLDER).with_suffix('')) for path in COMPARED]
)
def test_linearization__equals_pinocchios(path):
    _, model = read_robot(path)
    oracle = PinocchioOracle.read_urdf(path, model)
    lin, rng = Linearizer(model), np.random.default_rng(2024)
    for _, state in edge_states(model, rng):
        tau = moderate_efforts(rng, oracle, state)
        assert_agrees(oracle, lin(state, tau), state, tau)


@pytest.mark.shows('Bos 2022: Eqs. (1)')
@pytest.mark.parametrize('name', ['panda', 'talos_reduced', 'go2'])
def test_linearization_with_fixed_base__equals_pinocchios(name):
    path = example_robot(name)
    _, model = read_robot(path, base='fixed', gravity=(1.0, -2.0, -9.0))
    oracle = PinocchioOracle.read_urdf(path, model)
    lin, rng = Linearizer(model), np.random.default_rng(2024)
    for _, state in edge_states(model, rng):
        tau = moderate_efforts(rng, oracle, state)
        assert_agrees(oracle, lin(state, tau), state, tau)


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('shape', SHAPES)
def test_linearization_of_random_trees__equals_pinocchios(shape, base):
    """All single-axis kinds, damping, tilted gravity; coordinates in random order."""
    rng = np.random.default_rng(7)
    for count in (1, 2, 5, 9, 14):
        for _ in range(4):
            description, model = random_model(rng, count, shape, base=base, damping=0.5)
            model = model.with_gravity(rng.uniform(-10.0, 10.0, 3))
            oracle = PinocchioOracle.from_description(description, model)
            for _, state in edge_states(model, rng):
                tau = moderate_efforts(rng, oracle, state)
                assert_agrees(oracle, Linearizer(model)(state, tau), state, tau)
