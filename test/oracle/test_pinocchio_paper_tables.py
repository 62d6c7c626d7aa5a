# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of [Bos 2022] against Pinocchio, on robots and on random trees."""

import dataclasses

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close, blocks, deviation
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.trees import breadth_first, random_model, renumber_bodies

from geolin_papers import bos_2022
from geolin_ros import State
from geolin_ros.kernels.packing.types import Tree

ROBOTS = ('solo12', 'talos_reduced')
SHAPES = ('chain', 'star', 'branched')


@dataclasses.dataclass
class Case:
    """A robot at a random motion, accelerations chosen apart from it; bodies not depth-first."""

    oracle: PinocchioOracle
    tree: Tree
    state: State
    nu_dot: np.ndarray
    tau: np.ndarray

    def eid(self, gravity=None):
        at, nu_dot = self.state, self.nu_dot
        gravity = self.oracle.model.gravity if gravity is None else gravity
        return bos_2022.extended_inverse_dynamics(
            self.tree, at.H, at.s, at.v, at.r, nu_dot[6:], gravity, nu_dot[:6]
        )


@pytest.fixture(scope='module', params=(*ROBOTS, *SHAPES))
def case(request):
    rng = default_rng(11)
    if request.param in ROBOTS:
        path = example_robot(request.param)
        _, model = read_robot(path)
        oracle = PinocchioOracle.read_urdf(path, model)
    else:
        description, model = random_model(rng, 9, request.param)
        oracle = PinocchioOracle.from_description(description, model)
    oracle.damping[:] = 0.0  # no part of the paper
    tree = renumber_bodies(model.tree, breadth_first(model.tree))
    state = model.random_state(rng, speed=2.0)
    return Case(oracle, tree, state, rng.normal(size=model.m), rng.normal(size=model.n))


@pytest.mark.shows('Bos 2022: Table 4')
def test_extended_inverse_dynamics__equals_rnea(case):
    expected = case.oracle.inverse_dynamics(case.state, case.nu_dot)
    assert_close(case.eid().tau_bar, expected, 1e-12)


@pytest.mark.shows('Bos 2022: B12')
def test_extended_inverse_dynamics__with_gravity_upwards__differs_from_rnea(case):
    """Errata B12: the sign of a_grav is no matter of taste."""
    expected = case.oracle.inverse_dynamics(case.state, case.nu_dot)
    assert deviation(case.eid(gravity=-case.oracle.model.gravity).tau_bar, expected) > 0.1


@pytest.mark.shows('Bos 2022: Eqs. (54)')
def test_extended_inverse_dynamics__gives_the_base_rows_of_crba(case):
    eid, M = case.eid(), case.oracle.mass_matrix(case.state)
    assert_close(np.hstack((eid.M_c[0], eid.F[0])), M[:6], 1e-12)


@pytest.mark.shows(
    'Bos 2022: Table 5',
    'Bos 2022: Table 6',
    'Bos 2022: Table 7',
    'Bos 2022: Table 8',
    'Bos 2022: B6',
    'Bos 2022: B15',
)
def test_derivatives__equal_compute_rnea_derivatives(case):
    n = case.state.s.size
    by_q, by_v = case.oracle.inverse_dynamics_derivatives(case.state, case.nu_dot)
    expected = (by_q[:, :6], by_q[:, 6:], by_v[:, :6], by_v[:, 6:])
    tables = (
        bos_2022.derivative_by_pose,
        bos_2022.derivative_by_positions,
        bos_2022.derivative_by_twist,
        bos_2022.derivative_by_rates,
    )
    for table, theirs in zip(tables, expected, strict=True):
        ours = table(case.tree, case.eid())
        assert ours.shape in ((6 + n, 6), (6 + n, n))
        assert_close(ours, theirs, 1e-11, table.__name__)


@pytest.mark.shows('Bos 2022: Table 9', 'Bos 2022: B10', 'Bos 2022: B21')
def test_inverse_mass_matrix__equals_compute_minverse(case):
    Minv = bos_2022.inverse_mass_matrix(case.tree, case.state.s)
    assert_close(Minv, case.oracle.inverse_mass_matrix(case.state), 1e-10)
    assert_close(Minv @ case.oracle.mass_matrix(case.state), np.eye(len(Minv)), 1e-10)


@pytest.mark.shows(
    'Bos 2022: Eqs. (11), (12), (22)',
    'Bos 2022: Proposition 2',
    'Bos 2022: Proposition 3',
    'Bos 2022: Eqs. (19)-(21)',
)
def test_linearization__equals_compute_aba_derivatives(case):
    at, model = case.state, case.oracle.model
    A, B, nu_dot = bos_2022.linearization(
        case.tree, at.H, at.s, at.v, at.r, case.tau, model.gravity
    )
    A_theirs, B_theirs, nu_dot_theirs = case.oracle.linearization(at, case.tau)
    assert_close(nu_dot, nu_dot_theirs, 1e-9)
    # gravity turns no joint: what both have in block rH is rounding, measured by vH
    vH = np.abs(dict(blocks(A_theirs, model))['vH']).max()
    for ours, theirs in ((A, A_theirs), (B, B_theirs)):
        for (name, block), (_, other) in zip(
            blocks(ours, model), blocks(theirs, model), strict=True
        ):
            assert_close(block, other, 1e-9, name, scale=vH if name == 'rH' else None)
