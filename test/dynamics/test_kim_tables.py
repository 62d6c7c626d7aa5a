# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of [Kim 2012] beside the engine, and what is misprinted in them."""

import copy
import inspect
import sys

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close, assert_wrong
from support.dense_reference import DenseReference
from support.finite_difference import derivative, exp, hat
from support.kim_tables import SWAP, KimProblem
from support.trees import TILTED_GRAVITY, every_kind_description, steps

from geolin_papers import kim_2012
from geolin_papers.kim_2012.lie_group import Ad, ad
from geolin_ros import (
    TreeModel,
    Variation,
    Wrench,
    forward_dynamics,
    forward_dynamics_variation,
    hybrid_dynamics,
    hybrid_dynamics_variation,
    inverse_dynamics,
    inverse_dynamics_variation,
    mass_matrix,
)
from geolin_ros.dynamics.variation import inertia_of_parameters


class Motion:
    """A branched robot with a joint of each kind; p moves all that the tables are given."""

    def __init__(self, base='floating', seed=41):
        rng = default_rng(seed)
        description = every_kind_description(rng)
        model = TreeModel.from_description(description, base=base, gravity=TILTED_GRAVITY)
        self.model, self.reference = model, DenseReference(description, model)
        self.state = model.random_state(rng, speed=2.0)
        self.nu_dot, self.tau = rng.normal(size=model.m), rng.normal(size=model.n)
        links = model.link_names[1:]
        self.wrenches = [Wrench(name, rng.normal(size=3), rng.normal(size=3)) for name in links]
        parameters = rng.normal(size=(2, 36))[:, :10]
        self.variation = Variation(
            pose=rng.normal(size=6) * (base == 'floating'),
            positions=rng.normal(size=model.n),
            twist=rng.normal(size=6) * (base == 'floating'),
            rates=rng.normal(size=model.n),
            acceleration=rng.normal(size=model.m),
            efforts=rng.normal(size=model.n),
            wrenches=rng.normal(size=(len(links), 6)),
            inertias={
                links[i]: inertia_of_parameters(p) for i, p in zip((1, 4), parameters, strict=True)
            },
            placements={steps(joint)[0]: rng.normal(size=6) for joint in description.joints},
            gravity=rng.normal(size=3),
        )
        # whole joints are prescribed; which is drawn
        drawn = {joint.name: rng.random() < 0.5 for joint in description.joints}
        self._prescribe(np.array([drawn[name.split('/')[0]] for name in model.joint_names]))

    def _prescribe(self, prescribed):
        self.prescribed = prescribed
        self.free = np.concatenate((np.full(self.model.m - self.model.n, True), ~prescribed))

    def with_prescribed(self, which):
        """Return the same motion with none, some or all joints prescribed."""
        other = copy.copy(self)
        if which != 'some':
            other._prescribe(np.full(self.model.n, which == 'all'))
        return other

    def problem(self, variation=None):
        tau = np.concatenate((np.zeros(self.model.m - self.model.n), self.tau))
        problem = KimProblem(self.reference, self.state, self.nu_dot, tau, self.wrenches)
        if variation is not None:
            problem.vary(variation, self.wrenches)
        return problem


@pytest.fixture(scope='module', params=['floating', 'fixed'])
def motion(request):
    return Motion(request.param)


def run(table, problem, derivative_table=None):
    """Run a table, and one that differentiates it."""
    table(problem.bodies)
    if derivative_table is not None:
        derivative_table(problem.bodies)
    return problem


@pytest.mark.shows('Kim 2012: Table 2', 'Kim 2012: Table 5')
def test_inverse_dynamics_and_its_variation__equal_tables_2_and_5(motion):
    problem = motion.problem(motion.variation)
    run(kim_2012.inverse_dynamics, problem, kim_2012.inverse_dynamics_derivative)
    at, wrenches = (motion.model, motion.state, motion.nu_dot), motion.wrenches
    assert_close(inverse_dynamics(*at, wrenches=wrenches), problem.collect('tau'), 1e-12)
    dtau = inverse_dynamics_variation(*at, motion.variation, wrenches=wrenches)
    assert_close(dtau, problem.collect('dtau'), 1e-12)


@pytest.mark.shows('Kim 2012: Table 3', 'Kim 2012: Table 6')
def test_forward_dynamics_and_its_variation__equal_tables_3_and_6(motion):
    problem = motion.problem(motion.variation)
    run(kim_2012.forward_dynamics, problem, kim_2012.forward_dynamics_derivative)
    at, wrenches = (motion.model, motion.state, motion.tau), motion.wrenches
    assert_close(forward_dynamics(*at, wrenches=wrenches), problem.collect('q_ddot'), 1e-11)
    dnu_dot = forward_dynamics_variation(*at, motion.variation, wrenches=wrenches)
    assert_close(dnu_dot, problem.collect('dq_ddot'), 1e-11)


def d_hybrid(motion, variation):
    joints = motion.nu_dot[-motion.model.n :]
    at = motion.model, motion.state, joints, motion.tau, motion.prescribed
    return hybrid_dynamics_variation(*at, variation, wrenches=motion.wrenches)


@pytest.mark.shows(
    'Kim 2012: Table 1',
    'Kim 2012: Eqs. (33)',
    'Kim 2012: Table 4',
    'Kim 2012: Table 7',
    'Kim 2012: - q_v = q',
    'Kim 2012: - q_u = q',
)
@pytest.mark.parametrize('which', ['none', 'some', 'all'])
def test_hybrid_dynamics_and_its_variation__equal_tables_4_and_7(motion, which):
    """And dense blocks; nothing is asked of what is not prescribed."""
    motion = motion.with_prescribed(which)
    model, n = motion.model, motion.model.n
    problem = motion.problem(motion.variation)
    problem.prescribe(motion.free)
    run(kim_2012.hybrid_dynamics, problem, kim_2012.hybrid_dynamics_derivative)
    given = np.where(motion.prescribed, motion.nu_dot[-n:], np.nan)
    efforts = np.where(motion.prescribed, np.nan, motion.tau)
    at = model, motion.state, given, efforts, motion.prescribed
    nu_dot, tau = hybrid_dynamics(*at, wrenches=motion.wrenches)
    assert_close(nu_dot, problem.collect('q_ddot'), 1e-12)
    assert_close(tau, problem.collect('tau')[-n:], 1e-12)
    free = motion.nu_dot, motion.tau, motion.free, motion.wrenches
    dense = np.split(motion.reference.hybrid(motion.state, *free), 2)
    assert_close(nu_dot, dense[0], 1e-12)
    assert_close(tau, dense[1][-n:], 1e-12)
    dnu_dot, dtau = d_hybrid(motion, motion.variation)
    assert_close(dnu_dot, problem.collect('dq_ddot'), 1e-12)
    assert_close(dtau, problem.collect('dtau')[-n:], 1e-12)


# what the paper prints


@pytest.fixture(scope='module')
def flight():
    return Motion(seed=43)


def as_printed(table, corrected, printed):
    """Return ``table`` with one piece of its source replaced by what the paper prints."""
    source = inspect.getsource(table)
    assert source.count(corrected) == 1, f'{table.__name__} has not exactly one {corrected!r}'
    namespace = {'Ad': Ad, 'inverse': np.linalg.inv, **vars(sys.modules[table.__module__])}
    exec(source.replace(corrected, printed), namespace)
    return namespace[table.__name__]


ACCELERATION = 'b.V_dot = b.X @ p.V_dot', 'b.V_dot = Ad(b.T) @ p.V_dot'
INERTIA = 'k.X.T @ k.Pi @ k.X', 'inverse(k.X) @ k.Pi @ k.X'
BIAS = 'k.X.T @ k.beta', 'inverse(k.X) @ k.beta'
WRONG = {
    'K2 Table 3 line 10': (kim_2012.forward_dynamics, *ACCELERATION, 0.59),
    'K3 Table 3 line 4': (kim_2012.forward_dynamics, *INERTIA, 0.364),
    'K3 Table 3 line 5': (kim_2012.forward_dynamics, *BIAS, 0.439),
    'K3 Table 4 line 4': (kim_2012.hybrid_dynamics, *INERTIA, 0.364),
    'K3 Table 4 line 5': (kim_2012.hybrid_dynamics, *BIAS, 0.439),
}


@pytest.mark.shows
@pytest.mark.parametrize('erratum', WRONG)
def test_printed_statement__gives_a_wrong_result(flight, erratum):
    table, corrected, printed, figure = WRONG[erratum]
    right = run(table, flight.problem()).collect('q_ddot')
    wrong = run(as_printed(table, corrected, printed), flight.problem()).collect('q_ddot')
    assert_wrong(wrong, right, figure)


@pytest.mark.shows('Kim 2012: K2')
def test_table_6__with_ad_of_t__gives_a_wrong_result(flight):
    """K2 in the derivative: the first term of dVdot."""
    right_table = kim_2012.forward_dynamics_derivative
    source = inspect.getsource(right_table)
    _, last = source.split('b.dV_dot = (')  # the term stands in line 9 as well
    printed = as_printed(right_table, last, last.replace('b.X @ p.dV_dot', 'Ad(b.T) @ p.dV_dot'))
    right, wrong = (
        run(kim_2012.forward_dynamics, flight.problem(flight.variation), table).collect('dq_ddot')
        for table in (right_table, printed)
    )
    assert_wrong(wrong, right, 0.0564)


@pytest.mark.shows('Kim 2012: Lemma 3', 'Kim 2012: K1')
def test_equation_88__holds_for_the_inverse_only():
    """K1: printed d Ad*_T = -Ad*_T ad*_dh; that is the derivative of Ad*_(T^-1)."""
    rng = default_rng(1)
    T, h = exp(rng.normal(size=6)), rng.normal(size=6)

    def moved(p):
        return T @ exp(p * SWAP @ h)

    by_inverse = derivative(lambda p: Ad(np.linalg.inv(moved(p))).T)
    by_itself = derivative(lambda p: Ad(moved(p)).T)
    assert_close(-Ad(np.linalg.inv(T)).T @ ad(h).T, by_inverse, 1e-10)
    assert_close(ad(h).T @ Ad(T).T, by_itself, 1e-10)
    assert_wrong(-Ad(T).T @ ad(h).T, by_itself, 1.88)


@pytest.mark.shows('Kim 2012: K4')
def test_equations_70_to_77__need_the_lower_left_block(flight):
    """K4: (72)-(77) with M_vu solve (70), (71); with M_uv, as printed, they do not."""
    half, rows = flight.model.m // 2, 3
    M = mass_matrix(flight.model, flight.state)[: 2 * half, : 2 * half]
    rng = default_rng(6)
    A, A_dot_q_dot = rng.normal(size=(rows, 2 * half)), rng.normal(size=rows)
    b, tau_v, qdd_u = rng.normal(size=2 * half), *rng.normal(size=(2, half))
    u, v = slice(0, half), slice(half, 2 * half)
    # unknowns of (70), (71): qdd_v, tau_u, lambda
    K = np.zeros((2 * half + rows, 2 * half + rows))
    K[: 2 * half, :half], K[: 2 * half, 2 * half :] = M[:, v], -A.T
    K[:half, half : 2 * half], K[2 * half :, :half] = -np.eye(half), A[:, v]
    known = np.concatenate((np.zeros(half), tau_v)) - b - M[:, u] @ qdd_u
    right = np.linalg.solve(K, np.concatenate((known, -A[:, u] @ qdd_u - A_dot_q_dot)))

    def solved(M_vu):
        """Return qdd_v and lambda."""
        qdd_rv = np.linalg.solve(M[v, v], tau_v - b[v] - M_vu @ qdd_u)  # (77)
        response = np.linalg.solve(M[v, v], A[:, v].T)
        gap = A @ np.concatenate((qdd_u, qdd_rv)) + A_dot_q_dot
        multipliers = -np.linalg.solve(A[:, v] @ response, gap)  # (74)-(76)
        return np.concatenate((qdd_rv + response @ multipliers, multipliers))  # (72)

    right = np.concatenate((right[:half], right[2 * half :]))
    assert_close(solved(M[v, u]), right, 1e-10)
    assert_wrong(solved(M[u, v]), right, 0.697)


@pytest.mark.shows('Kim 2012: K5')
def test_symbol_list__derivative_of_the_inverse_is_no_twist():
    """K5: T^-1 dT^-1/dq has a rotational block that is not skew; T^-1 dT/dq is the twist."""
    rng = default_rng(2)
    xi, q = rng.normal(size=6), 0.7
    T_inverse = exp(-xi * q)
    printed = T_inverse @ derivative(lambda p: exp(-xi * (q + p)))
    assert_wrong(printed[:3, :3], -printed[:3, :3].T, 2.0)
    meant = T_inverse @ derivative(lambda p: exp(xi * (q + p)))
    assert_close(meant, hat(xi), 1e-10)


@pytest.mark.shows('Kim 2012: K6')
def test_footnote_6__gravity_acts_upwards_on_the_ground(flight):
    """K6: V_dot_0 = (0, -g) with the acceleration g of free fall."""
    right = run(kim_2012.inverse_dynamics, flight.problem()).collect('tau')
    problem = flight.problem()
    problem.bodies[0].V_dot = -problem.bodies[0].V_dot
    wrong = run(kim_2012.inverse_dynamics, problem).collect('tau')
    assert_wrong(wrong, right, 2.49)


@pytest.mark.shows('Kim 2012: Corollary 2', 'Kim 2012: K8')
def test_corollary_2__needs_the_chain_rule(flight):
    """K8: dh = S dq/dp for any p; Corollary 2 has only p = q_i^k, and zero for any other p."""
    tables = kim_2012.inverse_dynamics, kim_2012.inverse_dynamics_derivative
    problem = flight.problem(flight.variation)
    right = run(tables[0], problem, tables[1]).collect('dtau')
    for body in problem.bodies:
        body.dh = np.zeros(6)
    tables[1](problem.bodies)
    assert_wrong(problem.collect('dtau'), right, 1.14)


@pytest.mark.shows('Kim 2012: K9')
def test_footnote_7__full_rank_of_a_is_not_enough():
    """K9: A of full rank whose passive columns are singular has no lambda for (57)."""
    A = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    passive = A[:, [0, 2]]
    assert np.linalg.matrix_rank(A) == 2
    assert np.linalg.matrix_rank(passive) == 1
    residual = np.array([1.0, 0.0])
    best = np.linalg.lstsq(passive.T, residual, rcond=None)[0]
    assert np.linalg.norm(passive.T @ best - residual) > 0.5
