# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""nu_dot against a second independent referee, which reads the URDF by itself."""

import numpy as np
import pytest
from support.close import assert_close
from support.mujoco_oracle import MujocoOracle
from support.robots import example_robot, read_robot
from support.states import edge_states

from geolin_ros import Linearizer, robots

PATHS = {
    'quadruped': lambda: robots.path('quadruped'),
    'humanoid': lambda: robots.path('humanoid'),
    'solo12': lambda: example_robot('solo12'),
    'g1': lambda: example_robot('g1_29dof_rev_1_0'),
    'talos_reduced': lambda: example_robot('talos_reduced'),
}


@pytest.fixture(params=sorted(PATHS))
def case(request):
    path = PATHS[request.param]()
    _, model = read_robot(path, gravity=(0.5, -1.0, -9.81))
    return model, MujocoOracle(path, model)


def test_nu_dot__equals_mujocos(case):
    model, oracle = case
    lin, rng = Linearizer(model), np.random.default_rng(31)
    assert_close(oracle.mass(), model.total_mass, 1e-12)
    for _, state in edge_states(model, rng):
        M = np.linalg.inv(lin(state, np.zeros(model.n)).B[model.m + 6 :])
        tau = 20.0 * np.diag(M) * rng.uniform(-1.0, 1.0, model.n)
        theirs = oracle.forward_dynamics(state, tau)
        assert_close(lin(state, tau).nu_dot, theirs, 1e-9)
        assert_close(lin.forward_dynamics(state, tau), theirs, 1e-9)


def test_damping__is_mujocos(case):
    """The robots of the catalogue without damping are moved with it absent on both sides."""
    model, oracle = case
    theirs = np.array(oracle.mujoco_model.dof_damping)[oracle.v]
    assert_close(model.tree.damping, theirs, 1e-15)
