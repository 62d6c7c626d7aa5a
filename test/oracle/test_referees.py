# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The referees agree with each other, and accelerations with those of MuJoCo."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import finite_difference
from support.close import assert_close
from support.dense_reference import DenseReference
from support.mujoco_oracle import MujocoOracle
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.states import edge_states
from support.trees import TILTED_GRAVITY, descriptions, every_kind_description

from geolin_ros import Linearizer, TreeModel, robots


@pytest.mark.parametrize('name', ['quadruped', 'talos_reduced'])
def test_nu_dot__equals_mujocos(name):
    """Which reads the URDF by itself."""
    path = robots.path(name) if name == 'quadruped' else example_robot(name)
    _, model = read_robot(path, gravity=(0.5, -1.0, -9.81))
    oracle = MujocoOracle(path, model)
    lin, rng = Linearizer(model), np.random.default_rng(31)
    assert_close(oracle.mass(), model.total_mass, 1e-12)
    damping = np.array(oracle.mujoco_model.dof_damping)[oracle.v]
    assert_close(model.tree.damping, damping, 1e-15)
    for _, state in edge_states(model, rng):
        M = np.linalg.inv(lin(state, np.zeros(model.n)).B[model.m + 6 :])
        tau = 20.0 * np.diag(M) * rng.uniform(-1.0, 1.0, model.n)
        theirs = oracle.forward_dynamics(state, tau)
        assert_close(lin(state, tau).nu_dot, theirs, 1e-9)
        assert_close(lin.forward_dynamics(state, tau), theirs, 1e-9)


def drawn(rng, model):
    return model.random_state(rng, speed=2.0), rng.normal(size=model.n), rng.normal(size=model.m)


@pytest.fixture(params=['floating', 'fixed'])
def base(request):
    return request.param


@pytest.mark.parametrize('shape', ['chain', 'star', 'branched'])
def test_dense_reference__equals_pinocchio_with_joints_of_all_kinds(shape, base):
    rng = np.random.default_rng(7)
    description = every_kind_description(rng, shape, damping=0.3)
    model = TreeModel.from_description(description, base=base, gravity=TILTED_GRAVITY)
    dense = DenseReference(description, model)
    pinocchio = PinocchioOracle.from_description(description, model)
    state, tau, nu_dot = drawn(rng, model)
    assert_close(dense.mass_matrix(state), pinocchio.mass_matrix(state), 1e-12)
    found, expected = (of.inverse_dynamics(state, nu_dot) for of in (dense, pinocchio))
    assert_close(found, expected, 1e-12)
    assert_close(dense.forward_dynamics(state, tau), pinocchio.forward_dynamics(state, tau), 1e-9)


@given(descriptions(max_joints=6, damping=0.3), st.integers(0, 2**32 - 1))
def test_dense_reference__balances_power(description, seed):
    model = TreeModel.from_description(description, gravity=TILTED_GRAVITY)
    dense = DenseReference(description, model)
    state, tau, _ = drawn(np.random.default_rng(seed), model)
    velocity = np.concatenate((state.v, state.r, dense.forward_dynamics(state, tau)))

    def energy(t):
        at = finite_difference.retract(state, t * velocity)
        return dense.kinetic_energy(at) + dense.potential_energy(at)

    scale = np.abs(velocity).max()  # accelerations of small links are large
    power = tau @ state.r - dense.damping @ state.r**2
    change = finite_difference.derivative(energy, step=1e-2 / scale)
    assert_close(change, power, 1e-10, scale=scale * max(1.0, dense.kinetic_energy(state)))
