# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of [Bos 2022] against Pinocchio, dense dynamics and differences.

Each line that docs/algorithms.md corrects is wrong as printed: a test puts the printed line back
into the source of the table's function and runs that.
"""

import inspect
import sys
from functools import cached_property

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close, assert_wrong, blocks, deviation
from support.dense_reference import DenseReference, adjoint
from support.finite_difference import ad, cross, derivative, derivative_by_vector, exp
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.trees import breadth_first, gram_link, random_model, renumber_bodies

from geolin_papers import bos_2022
from geolin_papers.bos_2022.joints import jcalc, jcalcderv
from geolin_ros import State

# positive definite matrices that no body has
pytestmark = pytest.mark.filterwarnings('ignore::geolin_ros.errors.ModelWarning')


class Case:
    """A robot or tree at a random motion, accelerations apart; bodies not depth-first."""

    def __init__(self, name):
        rng = default_rng(3)
        if name in ROBOTS:
            self.description, self.model = read_robot(example_robot(name))
        else:
            count, shape, options = TREES[name]
            self.description, self.model = random_model(rng, count, shape, **options)
        model = self.model
        self.tree = renumber_bodies(model.tree, breadth_first(model.tree))
        if name in ('branched', *ROBOTS):
            assert np.any(self.tree.parent != model.tree.parent), 'numbered depth-first'
        self.state = model.random_state(rng, speed=2.0)
        self.nu_dot, self.tau = rng.normal(size=model.m), rng.normal(size=model.n)
        self.dense = DenseReference(self.description, model)

    @cached_property
    def oracle(self):
        oracle = PinocchioOracle.from_description(self.description, self.model)
        oracle.damping[:] = 0.0  # no part of the paper
        return oracle

    def eid(self, state=None, nu_dot=None):
        at = self.state if state is None else state
        nu_dot = self.nu_dot if nu_dot is None else nu_dot
        return bos_2022.extended_inverse_dynamics(
            self.tree, at.H, at.s, at.v, at.r, nu_dot[6:], self.model.gravity, nu_dot[:6]
        )


ROBOTS = ('solo12', 'talos_reduced')
TREES = {
    'chain': (7, 'chain', {}),
    'star': (5, 'star', {}),
    'branched': (9, 'branched', {}),
    'any inertias': (8, 'branched', {'make_link': gram_link}),
    'one joint': (1, 'chain', {}),
}


@pytest.fixture(scope='module', params=TREES)
def case(request):
    return Case(request.param)


@pytest.fixture(scope='module', params=(*ROBOTS, 'chain', 'star', 'branched'))
def physical(request):
    return Case(request.param)


@pytest.mark.shows('Bos 2022: Table 4')
def test_extended_inverse_dynamics__equals_rnea(physical):
    expected = physical.oracle.inverse_dynamics(physical.state, physical.nu_dot)
    assert_close(physical.eid().tau_bar, expected, 1e-12)


@pytest.mark.shows('Bos 2022: Eqs. (54)')
def test_extended_inverse_dynamics__gives_the_base_rows_of_crba(physical):
    eid, M = physical.eid(), physical.oracle.mass_matrix(physical.state)
    assert_close(np.hstack((eid.M_c[0], eid.F[0])), M[:6], 1e-12)


@pytest.mark.shows(
    'Bos 2022: Table 5',
    'Bos 2022: Table 6',
    'Bos 2022: Table 7',
    'Bos 2022: Table 8',
    'Bos 2022: B6',
    'Bos 2022: B15',
)
def test_derivatives__equal_compute_rnea_derivatives(physical):
    by_q, by_v = physical.oracle.inverse_dynamics_derivatives(physical.state, physical.nu_dot)
    expected = (by_q[:, :6], by_q[:, 6:], by_v[:, :6], by_v[:, 6:])
    tables = (
        bos_2022.derivative_by_pose,
        bos_2022.derivative_by_positions,
        bos_2022.derivative_by_twist,
        bos_2022.derivative_by_rates,
    )
    for table, theirs in zip(tables, expected, strict=True):
        ours = table(physical.tree, physical.eid())
        assert_close(ours, theirs, 1e-11, table.__name__)


@pytest.mark.shows('Bos 2022: Table 9', 'Bos 2022: B10', 'Bos 2022: B21')
def test_inverse_mass_matrix__equals_compute_minverse(physical):
    Minv = bos_2022.inverse_mass_matrix(physical.tree, physical.state.s)
    assert_close(Minv, physical.oracle.inverse_mass_matrix(physical.state), 1e-10)
    assert_close(Minv @ physical.oracle.mass_matrix(physical.state), np.eye(len(Minv)), 1e-10)


@pytest.mark.shows(
    'Bos 2022: Eqs. (11), (12), (22)',
    'Bos 2022: Proposition 2',
    'Bos 2022: Proposition 3',
    'Bos 2022: Eqs. (19)-(21)',
)
def test_linearization__equals_compute_aba_derivatives(physical):
    at, model = physical.state, physical.oracle.model
    A, B, nu_dot = bos_2022.linearization(
        physical.tree, at.H, at.s, at.v, at.r, physical.tau, model.gravity
    )
    A_theirs, B_theirs, nu_dot_theirs = physical.oracle.linearization(at, physical.tau)
    assert_close(nu_dot, nu_dot_theirs, 1e-9)
    # gravity turns no joint: what both have in block rH is rounding, measured by vH
    vH = np.abs(dict(blocks(A_theirs, model))['vH']).max()
    for ours, theirs in ((A, A_theirs), (B, B_theirs)):
        for (name, block), (_, other) in zip(
            blocks(ours, model), blocks(theirs, model), strict=True
        ):
            assert_close(block, other, 1e-9, name, scale=vH if name == 'rH' else None)


@pytest.mark.shows('Bos 2022: Definition 3.1, third remark of Table 4')
def test_extended_inverse_dynamics__without_a_base_acceleration__leaves_no_base_wrench(case):
    at, nu_dot = case.state, case.nu_dot
    eid = bos_2022.extended_inverse_dynamics(
        case.tree, at.H, at.s, at.v, at.r, nu_dot[6:], case.model.gravity
    )
    assert np.abs(eid.tau_bar[:6]).max() <= 1e-12 * np.abs(eid.b_c[0]).max()
    consistent = np.concatenate((eid.a[0], nu_dot[6:]))
    assert_close(case.eid(nu_dot=consistent).tau_bar[6:], eid.tau_bar[6:], 1e-12)


@pytest.mark.shows('Bos 2022: - closed form D_1 = M[:, :6] (a_r,0 x)')
def test_derivative_by_pose__is_the_mass_matrix_times_gravity_cross(case):
    eid = case.eid()
    D1 = bos_2022.derivative_by_pose(case.tree, eid)
    Minv = bos_2022.inverse_mass_matrix(case.tree, case.state.s)
    M = case.dense.mass_matrix(case.state)
    assert_close(D1, M[:, :6] @ ad(eid.a_r[0]), 1e-12)
    assert_close((Minv @ D1)[:6], ad(eid.a_r[0]), 1e-10)
    assert np.abs((Minv @ D1)[6:]).max() <= 1e-10 * np.abs(D1).max()


@pytest.mark.shows('Bos 2022: jcalc')
def test_jcalc__and_its_derivative_equal_the_exponential(case):
    tree, rng = case.tree, default_rng(2)
    for i in range(1, tree.parent.size):
        s = rng.uniform(-3.0, 3.0)
        X, Gamma = jcalc(tree, i, s)
        assert_close(X, adjoint(exp(-Gamma * s)), 1e-13)
        expected = derivative(lambda t, i=i, s=s: jcalc(tree, i, s + t)[0])
        assert_close(jcalcderv(tree, i, s), expected, 1e-11)


@pytest.mark.shows('Bos 2022: Eqs. (57)-(60)')
def test_unit_acceleration_wrenches__are_equations_57_to_60(case):
    """h_1, M_12 and the base wrench of dense dynamics, from M_c, F and b_vp."""
    eid, tree, dense, state = case.eid(), case.tree, case.dense, case.state
    M = dense.mass_matrix(state)
    assert_close(eid.b_vp[0], dense.bias(state)[:6], 1e-12)  # (57)
    for i in range(1, tree.parent.size):
        c = tree.v_start[i]
        assert_close(eid.F[i][:, c], eid.M_c[i] @ eid.Gamma[i], 1e-14)  # (59)
        i_X_0, j = np.eye(6), i
        while j > 0:
            i_X_0, j = i_X_0 @ eid.X[j], tree.parent[j]
        assert_close(eid.F[0][:, c], i_X_0.T @ eid.F[i][:, c], 1e-13)  # (60)
        assert_close(eid.F[0][:, c], M[:6, 6 + c], 1e-12)
    base = eid.M_c[0] @ eid.a[0] + eid.F[0] @ eid.r_dot + eid.b_vp[0]  # (58)
    assert_close(base, dense.inverse_dynamics(state, case.nu_dot)[:6], 1e-12)


@pytest.mark.shows('Bos 2022: Eqs. (62)-(66)')
@pytest.mark.parametrize('variable', 'Hsvr')
def test_base_wrench__varies_as_equations_62_to_66(case, variable):
    """Of H, v, r with b_vp as with b_c; of s with M_c, F and b_vp."""
    n, k = case.state.r.size, 'Hsvr'.index(variable)
    edges = (0, 6, 6 + n, 12 + n, 12 + 2 * n)
    here, z = case.eid(), np.zeros(12 + 2 * n)
    z[edges[k] : edges[k + 1]] = default_rng(31).normal(size=edges[k + 1] - edges[k])

    def along(part):
        return derivative(lambda p: part(case.eid(case.state.retract(p * z))))

    D = (
        bos_2022.derivative_by_pose,
        bos_2022.derivative_by_positions,
        bos_2022.derivative_by_twist,
        bos_2022.derivative_by_rates,
    )[k](case.tree, here)
    exact = (D @ z[edges[k] : edges[k + 1]])[:6]
    by_b_vp, by_b_c = along(lambda eid: eid.b_vp[0]), along(lambda eid: eid.b_c[0])
    if variable == 's':  # (63)
        by_b_vp += along(lambda eid: eid.M_c[0]) @ here.a[0]
        by_b_vp += along(lambda eid: eid.F[0]) @ here.r_dot
    else:  # (62), (64), (65)
        assert_close(by_b_c, exact, 1e-9)
        by_a_r, by_a_vp = along(lambda eid: eid.a_r), along(lambda eid: eid.a_vp)
        assert_close(by_a_vp, by_a_r, 1e-9, scale=max(1.0, np.abs(by_a_r).max()))  # (66)
    assert_close(by_b_vp, exact, 1e-9)


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


INVERSE_DYNAMICS, POSE = bos_2022.extended_inverse_dynamics, bos_2022.derivative_by_pose
POSITIONS, INVERSE = bos_2022.derivative_by_positions, bos_2022.inverse_mass_matrix
# B1 equals (67), see below
WRONG = {
    'B1 held twist': (POSE, 'dv[0] = np.zeros((6, 6))', 'dv[0] = cross_twist(eid.v[0])', 0.47),
    'B2 Table 5 line 12': (POSE, '= db_c[p] + X[i].T', '= db_c[i] + X[i].T', 1.086),
    'B3 Table 6 line 18': (POSITIONS, 'M_c[i] @ dX[i]', 'M_c[i] @ dX[i].T', 0.397),
    'B7 Table 9 line 11': (
        *(INVERSE, 'X[i].T @ (F[i][:, supported] + np.outer(U[i], Minv[row, supported]))'),
        *('X[i].T @ F[i][:, supported] + np.outer(U[i], Minv[row, supported])', 0.247),
    ),
    'B9 Table 9 line 4': (INVERSE, 'M_A[0] = tree.inertia[0]', 'pass', 0.0172),
    'B9 Table 9 line 26': (INVERSE, 'Minv[6:, :6] = Minv[:6, 6:].T', 'pass', 0.0937),
    'B11 Table 4 output': (INVERSE_DYNAMICS, '((tau_b, tau))', '((tau, tau_b))', 1.466),
    'B11 Table 5 output': (POSE, '((dtau_b, dtau))', '((dtau, dtau_b))', 1.011),
    'B29 Table 4 line 15': (INVERSE_DYNAMICS, 'to_joint_frame(tree, i)', 'np.eye(6)', 0.826),
    'B12 gravity': (INVERSE_DYNAMICS, '(-gravity, np.zeros(3))', '(gravity, np.zeros(3))', 2.78),
}
NOT_EXECUTABLE = {
    'B5 Table 6 line 47': (POSITIONS, 'dF * eid.r_dot[k]', 'dF @ eid.r_dot'),
    'B8 Table 9 line 18': (
        INVERSE,
        ', row:]) + X[i] @ P[p][:, row:]',
        ', row:]) + X[i] @ P[p][i:]',
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


@pytest.mark.shows('Bos 2022: Proposition 4, Eq. (68)')
def test_equation_68__is_the_cross_product_of_gravity(motion):
    R, gravity = motion.state.H[:3, :3], motion.gravity
    printed = np.zeros((6, 6))
    printed[:3, 3:] = R.T @ cross(-gravity) @ R
    assert_close(printed, ad(motion.eid.a_r[0]), 1e-13)
