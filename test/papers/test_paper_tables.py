# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of [Bos 2022] against Pinocchio, dense dynamics and differences."""

from functools import cached_property

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.integrate import solve_ivp
from scipy.linalg import polar
from support.close import assert_close, blocks
from support.dense_reference import DenseReference, adjoint
from support.finite_difference import (
    ad,
    derivative,
    difference,
    exp,
    hat,
    retract,
)
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.trees import breadth_first, gram_link, random_model, renumber_bodies

from geolin_papers import bos_2022
from geolin_papers.bos_2022.joints import jcalc, jcalcderv
from geolin_papers.bos_2022.spatial import (
    columns_cross_twist,
    columns_cross_wrench,
    cross_wrench,
)
from geolin_ros import Linearizer, State

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


@pytest.mark.shows('Bos 2022: Eq. (11) as a statement on flows')
def test_linearization__carries_the_error_between_two_flows():
    """z(t) = log(g^-1 g_eps) / eps of two nonlinear flows solves zdot = A z [Eq. (11)]."""
    rng = default_rng(5)
    _, model = random_model(rng, 5)
    start, tau = model.random_state(rng), rng.normal(size=model.n)
    z0 = rng.normal(size=2 * model.m)
    lin, n = Linearizer(model), model.n

    def unpack(x):
        H = np.vstack((x[:12].reshape(3, 4), [0.0, 0.0, 0.0, 1.0]))
        H[:3, :3] = polar(H[:3, :3])[0]  # stages of the integrator are no rotations
        return State(H, *np.split(x[12:], [n, n + 6]))

    def pack(state):
        return np.concatenate((state.H[:3].ravel(), state.s, state.v, state.r))

    def rate(x):
        at = unpack(x)
        return np.concatenate(((at.H @ hat(at.v))[:3].ravel(), at.r, lin(at, tau).nu_dot))

    def rate_with_z(_, x):
        at, z = unpack(x[: -2 * model.m]), x[-2 * model.m :]
        A = bos_2022.linearization(model.tree, at.H, at.s, at.v, at.r, tau, model.gravity)[0]
        return np.concatenate((rate(x[: -2 * model.m]), A @ z))

    def flow(function, x):
        return solve_ivp(function, (0.0, 0.1), x, method='DOP853', rtol=1e-12, atol=1e-12).y[:, -1]

    carried = flow(rate_with_z, np.concatenate((pack(start), z0)))
    end = unpack(carried[: -2 * model.m])
    observed = derivative(
        lambda t: difference(end, unpack(flow(lambda _, x: rate(x), pack(retract(start, t * z0)))))
    )
    assert_close(carried[-2 * model.m :], observed, 1e-7)


@pytest.mark.shows('Bos 2022: jcalc')
def test_jcalc__and_its_derivative_equal_the_exponential(case):
    tree, rng = case.tree, default_rng(2)
    for i in range(1, tree.parent.size):
        s = rng.uniform(-3.0, 3.0)
        X, Gamma = jcalc(tree, i, s)
        assert_close(X, adjoint(exp(-Gamma * s)), 1e-13)
        expected = derivative(lambda t, i=i, s=s: jcalc(tree, i, s + t)[0])
        assert_close(jcalcderv(tree, i, s), expected, 1e-11)


@pytest.mark.shows('Bos 2022: B14')
def test_columns_cross__is_the_cross_product_of_each_column():
    rng = default_rng(4)
    V, y = rng.normal(size=(6, 4)), rng.normal(size=6)
    twists = np.array([ad(v) @ y for v in V.T]).T
    wrenches = np.array([cross_wrench(v) @ y for v in V.T]).T
    assert_close(columns_cross_twist(V, y), twists, 1e-14)
    assert_close(columns_cross_wrench(V, y), wrenches, 1e-14)
    assert_close(cross_wrench(y), -ad(y).T, 1e-15)


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
