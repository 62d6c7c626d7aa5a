# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The referees agree with each other before they judge anything else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import finite_difference
from support.close import assert_blocks_close, assert_close, deviation
from support.dense_reference import DenseReference
from support.pinocchio_oracle import PinocchioOracle
from support.trees import TILTED_GRAVITY, descriptions, every_kind_description, random_model

from geolin_ros import TreeModel


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


def test_richardson__converges_with_order_six():
    errors = [
        abs(finite_difference.derivative(lambda t: np.exp(3.0 * t), h) - 3.0) for h in (0.4, 0.2)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(6.0, abs=0.1)


def test_assert_close__rejects_nan_and_a_wrong_shape():
    with pytest.raises(AssertionError, match='deviation inf'):
        assert_close([np.nan, 1.0], [np.nan, 1.0], 1e9)
    with pytest.raises(AssertionError, match='shape'):
        assert_close([1.0], [1.0, 1.0], 1e9)
    assert deviation([1e-30], [0.0]) == np.inf


def test_assert_blocks_close__sees_a_small_block_beside_a_large_one():
    _, model = random_model(np.random.default_rng(1), 3)
    A = np.ones((2 * model.m, 2 * model.m))
    A[:6, :6] = 1e-6
    wrong = A.copy()
    wrong[0, 0] = 1.1e-6
    with pytest.raises(AssertionError, match='block HH'):
        assert_blocks_close(wrong, A, model, 1e-3)
