# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Each line of [Bos 2022] that docs/algorithms.md corrects is wrong as printed.

A test puts the printed line back into the source of the table's function and runs that.
"""

import inspect
import sys

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close, assert_wrong, deviation
from support.dense_reference import DenseReference, adjoint
from support.finite_difference import ad, cross, derivative_by_vector, exp
from support.trees import breadth_first, random_model, renumber_bodies

from geolin_papers import bos_2022
from geolin_ros import State


class Motion:
    """A random branched tree at a random motion with arbitrary accelerations."""

    def __init__(self):
        rng = default_rng(17)
        description, model = random_model(rng, 9)
        self.dense = DenseReference(description, model)
        self.tree = renumber_bodies(model.tree, breadth_first(model.tree))
        self.gravity = model.gravity
        self.state, self.nu_dot = model.random_state(rng, speed=2.0), rng.normal(size=model.m)
        self.eid = self.inverse_dynamics(bos_2022.extended_inverse_dynamics)

    def inverse_dynamics(self, table, r_dot=None):
        at, nu_dot = self.state, self.nu_dot
        r_dot = nu_dot[6:] if r_dot is None else r_dot
        return table(self.tree, at.H, at.s, at.v, at.r, r_dot, self.gravity, nu_dot[:6])

    def run(self, table):
        """Return the result of a function of `papers.bos_2022`, as one array."""
        if table.__name__ == 'extended_inverse_dynamics':
            return self.inverse_dynamics(table).tau_bar
        if table.__name__ == 'inverse_mass_matrix':
            return table(self.tree, self.state.s)
        return table(self.tree, self.eid)


@pytest.fixture(scope='module')
def motion():
    return Motion()


def as_printed(table, corrected, printed):
    """Return ``table`` with one piece of its source replaced by what the paper prints."""
    source = inspect.getsource(table)
    assert source.count(corrected) == 1, f'{table.__name__} has not exactly one {corrected!r}'
    namespace = dict(vars(sys.modules[table.__module__]))
    exec(source.replace(corrected, printed), namespace)
    return namespace[table.__name__]


WRONG = {
    'B1 held twist': (
        bos_2022.derivative_by_pose,
        'dv[0] = np.zeros((6, 6))',
        'dv[0] = cross_twist(eid.v[0])',  # equals (67), see below
        0.47,
    ),
    'B2 Table 5 line 12': (
        bos_2022.derivative_by_pose,
        'db_c[p] = db_c[p] + X[i].T @ db_c[i]',
        'db_c[p] = db_c[i] + X[i].T @ db_c[i]',
        1.086,
    ),
    'B3 Table 6 line 18': (
        bos_2022.derivative_by_positions,
        'X[i].T @ eid.M_c[i] @ dX[i]',
        'X[i].T @ eid.M_c[i] @ dX[i].T',
        0.397,
    ),
    'B7 Table 9 line 11': (
        bos_2022.inverse_mass_matrix,
        'X[i].T @ (F[i][:, supported] + np.outer(U[i], Minv[row, supported]))',
        'X[i].T @ F[i][:, supported] + np.outer(U[i], Minv[row, supported])',
        0.247,
    ),
    'B9 Table 9 line 4': (
        bos_2022.inverse_mass_matrix,
        'M_A[0] = tree.inertia[0]',
        'pass',
        0.0172,
    ),
    'B9 Table 9 line 26': (
        bos_2022.inverse_mass_matrix,
        'Minv[6:, :6] = Minv[:6, 6:].T',
        'pass',
        0.0937,
    ),
    'B11 Table 4 output': (
        bos_2022.extended_inverse_dynamics,
        'np.concatenate((tau_b, tau))',
        'np.concatenate((tau, tau_b))',
        1.466,
    ),
    'B11 Table 5 output': (
        bos_2022.derivative_by_pose,
        'np.vstack((dtau_b, dtau))',
        'np.vstack((dtau, dtau_b))',
        1.011,
    ),
    'B29 Table 4 line 15': (
        bos_2022.extended_inverse_dynamics,
        'X_joint @ to_joint_frame(tree, i)',
        'X_joint @ np.eye(6)',
        0.826,
    ),
    'B12 gravity': (
        bos_2022.extended_inverse_dynamics,
        'np.concatenate((-gravity, np.zeros(3)))',
        'np.concatenate((gravity, np.zeros(3)))',
        2.78,
    ),
}

NOT_EXECUTABLE = {
    'B5 Table 6 line 47': (
        bos_2022.derivative_by_positions,
        'dF * eid.r_dot[k]',
        'dF @ eid.r_dot',
    ),
    'B8 Table 9 line 18': (
        bos_2022.inverse_mass_matrix,
        'np.outer(Gamma[i], Minv[row, row:]) + X[i] @ P[p][:, row:]',
        'np.outer(Gamma[i], Minv[row, row:]) + X[i] @ P[p][i : i + 6 :]',
    ),
}


@pytest.mark.shows
@pytest.mark.parametrize('erratum', WRONG)
def test_printed_line__gives_a_wrong_result(motion, erratum):
    table, corrected, printed, figure = WRONG[erratum]
    assert_wrong(motion.run(as_printed(table, corrected, printed)), motion.run(table), figure)


@pytest.mark.shows
@pytest.mark.parametrize('erratum', NOT_EXECUTABLE)
def test_printed_line__cannot_be_executed(motion, erratum):
    table, corrected, printed = NOT_EXECUTABLE[erratum]
    with pytest.raises(ValueError, match=r'broadcast|matmul'):
        motion.run(as_printed(table, corrected, printed))


@pytest.mark.shows('Bos 2022: Proposition 4, Eqs. (67)', 'Bos 2022: B1')
def test_equation_67__is_the_derivative_with_the_inertial_twist_held(motion):
    """B1: (67)-(80) are right for what they say, but Tables 6-8 and (42) hold the body twist."""
    H, v = motion.state.H, motion.state.v
    R, o, A_v = H[:3, :3], H[:3, 3], adjoint(H) @ v
    printed = np.zeros((6, 6))
    printed[:3, :3] = printed[3:, 3:] = R.T @ cross(A_v[3:]) @ R
    printed[:3, 3:] = R.T @ cross(A_v[:3] - np.cross(o, A_v[3:])) @ R
    assert_close(printed, ad(v), 1e-13)
    turned = np.concatenate((R.T @ (A_v[:3] - np.cross(o, A_v[3:])), R.T @ A_v[3:]))
    assert_close(adjoint(np.linalg.inv(H)) @ A_v, turned, 1e-13)  # (69)-(72)

    def body_twist(z):
        return adjoint(np.linalg.inv(H @ exp(z))) @ A_v

    assert_close(printed, derivative_by_vector(body_twist, np.zeros(6)), 1e-12)

    def inverse_dynamics(z):
        at = State(H @ exp(z), motion.state.s, body_twist(z), motion.state.r)
        return motion.dense.inverse_dynamics(at, motion.nu_dot)

    inertial_held = derivative_by_vector(inverse_dynamics, np.zeros(6))
    D1 = bos_2022.derivative_by_pose(motion.tree, motion.eid)
    D3 = bos_2022.derivative_by_twist(motion.tree, motion.eid)
    assert_close(D1 + D3 @ ad(v), inertial_held, 1e-9)
    assert_close(motion.run(as_printed(*WRONG['B1 held twist'][:3])), inertial_held, 1e-9)
    assert_wrong(D1, inertial_held, 0.834)


@pytest.mark.shows('Bos 2022: B28')
def test_input_of_proposition_1__is_the_variation_of_the_efforts(motion):
    """B28: printed w = tau; at z = 0 the motions part by B times what the efforts differ by."""
    at, rng = motion.state, default_rng(3)
    tau, change = rng.normal(size=(2, at.r.size))
    _, B, _ = bos_2022.linearization(motion.tree, at.H, at.s, at.v, at.r, tau, motion.gravity)
    parted = motion.dense.forward_dynamics(at, tau + change) - motion.dense.forward_dynamics(
        at, tau
    )
    m = parted.size
    assert_close(B[m:] @ change, parted, 1e-10)
    assert_wrong(B[m:] @ (tau + change), parted, 1.85)


@pytest.mark.shows('Bos 2022: Eq. (61)', 'Bos 2022: B13')
def test_relative_acceleration__has_one_more_term_than_equation_61(motion):
    """B13: a_r = ^i a_{0,i} + ^i v_{A,0} x ^i v_{0,i} + ^i a_grav."""
    at, tree, eid = motion.state, motion.tree, motion.eid
    held = State(at.H, at.s, np.zeros(6), at.r)  # the base held still: motion relative to frame 0
    alone = bos_2022.extended_inverse_dynamics(
        tree, held.H, held.s, held.v, held.r, motion.nu_dot[6:], np.zeros(3), np.zeros(6)
    )
    omitted = []
    for i in range(1, tree.parent.size):
        i_X_0, j = np.eye(6), i
        while j > 0:
            i_X_0, j = i_X_0 @ eid.X[j], tree.parent[j]
        printed = alone.a_r[i] + i_X_0 @ eid.a_r[0]
        middle = ad(i_X_0 @ at.v) @ alone.v[i]
        assert_close(printed + middle, eid.a_r[i], 1e-12)
        omitted.append(deviation(printed, eid.a_r[i]))
    assert max(omitted) > 0.1


@pytest.mark.shows('Bos 2022: B16', 'Bos 2022: B26')
def test_velocity_product_quantities__contain_gravity(motion):
    """B16, B26: a_vp and b_vp depend on gravity, not on the accelerations."""
    upright, tilted = motion.eid, Motion()
    tilted.gravity = 2.0 * tilted.gravity
    heavier = tilted.inverse_dynamics(bos_2022.extended_inverse_dynamics)
    assert_wrong(heavier.a_vp, upright.a_vp, 0.92)
    others = motion.inverse_dynamics(
        bos_2022.extended_inverse_dynamics, r_dot=motion.nu_dot[6:] + 1.0
    )
    assert np.array_equal(others.b_vp, upright.b_vp)
    assert_wrong(others.b_c, upright.b_c, 0.525)


@pytest.mark.shows('Bos 2022: B25')
def test_base_wrench__needs_no_unit_acceleration_wrenches(motion):
    """B25: lines 7, 11, 18, 22, 27, 32-38 of Table 4 and 35-47 of Table 6 are redundant."""
    eid, tree = motion.eid, motion.tree
    assert_close(eid.tau_bar[:6], eid.M_c[0] @ eid.a[0] + eid.b_c[0], 1e-13)
    shorter = as_printed(
        bos_2022.derivative_by_positions, 'dM_a0 + dFr_dot + db_vp[0]', 'dM_a0 + db_c[0]'
    )
    D2 = bos_2022.derivative_by_positions(tree, eid)
    assert_close(shorter(tree, eid), D2, 1e-13)


@pytest.mark.shows('Bos 2022: Proposition 4, Eq. (68)')
def test_equation_68__is_the_cross_product_of_gravity(motion):
    R, gravity = motion.state.H[:3, :3], motion.gravity
    printed = np.zeros((6, 6))
    printed[:3, 3:] = R.T @ cross(-gravity) @ R
    assert_close(printed, ad(motion.eid.a_r[0]), 1e-13)
