# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of [Kim 2012] in plain NumPy beside the package, and what is misprinted in them."""

import dataclasses
import inspect

import numpy as np
import pytest
from numpy.random import default_rng
from support import kim_tables
from support.close import assert_close, deviation
from support.finite_difference import derivative, exp, hat
from support.kim_tables import Ad, KimProblem, ad, table_2, table_4, table_5, table_7
from support.several_axes import SeveralAxesReference
from support.trees import TILTED_GRAVITY, every_kind_description

from geolin_ros import (
    TreeModel,
    Variation,
    Wrench,
    d_forward_dynamics,
    d_hybrid_dynamics,
    d_inverse_dynamics,
    forward_dynamics,
    hybrid_dynamics,
    inverse_dynamics,
    mass_matrix,
)


class Motion:
    """A branched robot with a joint of each kind; p moves all that the tables are given."""

    def __init__(self, base='floating', seed=41):
        rng = default_rng(seed)
        description = every_kind_description(rng)
        model = TreeModel.from_description(description, base=base, gravity=TILTED_GRAVITY)
        self.model, self.reference = model, SeveralAxesReference(description, model)
        self.state = model.random_state(rng, speed=2.0)
        self.nu_dot, self.tau = rng.normal(size=model.m), rng.normal(size=model.n)
        links = model.body_names[1:]
        self.wrenches = [Wrench(name, rng.normal(size=3), rng.normal(size=3)) for name in links]
        symmetric = rng.normal(size=(2, 6, 6))
        symmetric = symmetric + symmetric.transpose(0, 2, 1)
        self.variation = Variation(
            pose=rng.normal(size=6) * (base == 'floating'),
            positions=rng.normal(size=model.n),
            twist=rng.normal(size=6) * (base == 'floating'),
            rates=rng.normal(size=model.n),
            acceleration=rng.normal(size=model.m),
            efforts=rng.normal(size=model.n),
            wrenches=rng.normal(size=(len(links), 6)),
            inertias={links[1]: symmetric[0], links[4]: symmetric[1]},
            placements={joint.name: rng.normal(size=6) for joint in description.joints},
            gravity=rng.normal(size=3),
        )
        # whole joints are prescribed; which is drawn
        self.joints = [joint.name for joint in description.joints]
        drawn = dict(zip(self.joints, rng.random(len(self.joints)) < 0.5, strict=True))
        self.prescribed = np.array([drawn[name.split('/')[0]] for name in model.joint_names])
        self.free = np.concatenate((np.full(model.m - model.n, True), ~self.prescribed))
        self.given = Variation(
            **{**vars(self.variation), 'acceleration': self.variation.acceleration * ~self.free}
        )

    def problem(self, variation=None):
        tau = np.concatenate((np.zeros(self.model.m - self.model.n), self.tau))
        problem = KimProblem(self.reference, self.state, self.nu_dot, tau, self.wrenches)
        if variation is not None:
            problem.vary(variation, self.wrenches)
        return problem


@pytest.fixture(scope='module', params=['floating', 'fixed'])
def motion(request):
    return Motion(request.param)


def run(table, problem, variation_table=None):
    """Run a table, and one that differentiates it."""
    table(problem.bodies, problem.V_dot_0)
    if variation_table is not None:
        variation_table(problem.bodies, problem.dV_dot_0)
    return problem


def test_inverse_dynamics__equals_table_2(motion):
    expected = run(table_2, motion.problem()).collect('tau')
    tau = inverse_dynamics(motion.model, motion.state, motion.nu_dot, motion.wrenches)
    assert_close(tau, expected, 1e-12)


def test_forward_dynamics__equals_table_3(motion):
    expected = run(table_4, motion.problem()).collect('q_ddot')
    nu_dot = forward_dynamics(motion.model, motion.state, motion.tau, motion.wrenches)
    assert_close(nu_dot, expected, 1e-11)


def test_hybrid_dynamics__equals_table_4(motion):
    problem = motion.problem()
    problem.prescribe(motion.free)
    run(table_4, problem)
    model = motion.model
    joint_acceleration = motion.nu_dot[model.m - model.n :]
    nu_dot, tau = hybrid_dynamics(
        model,
        motion.state,
        joint_acceleration,
        motion.tau,
        motion.prescribed,
        wrenches=motion.wrenches,
    )
    assert_close(nu_dot, problem.collect('q_ddot'), 1e-11)
    assert_close(tau, problem.collect('tau')[model.m - model.n :], 1e-11)


def test_d_inverse_dynamics__equals_table_5(motion):
    problem = run(table_2, motion.problem(motion.variation), table_5)
    dtau = d_inverse_dynamics(
        motion.model, motion.state, motion.nu_dot, motion.variation, motion.wrenches
    )
    assert_close(dtau, problem.collect('dtau'), 1e-12)


def test_d_forward_dynamics__equals_table_6(motion):
    problem = run(table_4, motion.problem(motion.variation), table_7)
    dnu_dot = d_forward_dynamics(
        motion.model, motion.state, motion.tau, motion.variation, motion.wrenches
    )
    assert_close(dnu_dot, problem.collect('dq_ddot'), 1e-10)


def d_hybrid(motion, variation):
    model = motion.model
    return d_hybrid_dynamics(
        model,
        motion.state,
        motion.nu_dot[model.m - model.n :],
        motion.tau,
        motion.prescribed,
        variation,
        wrenches=motion.wrenches,
    )


def test_d_hybrid_dynamics__equals_table_7(motion):
    problem = motion.problem(motion.variation)
    problem.prescribe(motion.free)
    run(table_4, problem, table_7)
    dnu_dot, dtau = d_hybrid(motion, motion.variation)
    assert_close(dnu_dot, problem.collect('dq_ddot'), 1e-10)
    assert_close(dtau, problem.collect('dtau')[motion.model.m - motion.model.n :], 1e-10)


# what the paper prints


@pytest.fixture(scope='module')
def flight():
    return Motion(seed=43)


def as_printed(table, corrected, printed):
    """Return ``table`` with one piece of its source replaced by what the paper prints."""
    source = inspect.getsource(table)
    assert source.count(corrected) == 1, f'{table.__name__} has not exactly one {corrected!r}'
    namespace = dict(vars(kim_tables))
    exec(source.replace(corrected, printed), namespace)
    return namespace[table.__name__]


WRONG = {
    'K2 Table 3': (table_4, 'b.V_dot = X @ V_dot_p', 'b.V_dot = Ad(b.T) @ V_dot_p', 'q_ddot'),
    'K3 Tables 3 and 4, inertia': (table_4, 'X.T @ k.Pi @ X', 'inverse(X) @ k.Pi @ X', 'q_ddot'),
    'K3 Tables 3 and 4, bias': (table_4, 'X.T @ k.beta', 'inverse(X) @ k.beta', 'q_ddot'),
}


@pytest.mark.parametrize('erratum', WRONG)
def test_printed_statement__gives_a_wrong_result(flight, erratum):
    table, corrected, printed, result = WRONG[erratum]
    right = run(table, flight.problem()).collect(result)
    wrong = run(as_printed(table, corrected, printed), flight.problem()).collect(result)
    assert deviation(wrong, right) > 0.1


def test_table_6__with_ad_of_t__gives_a_wrong_result(flight):
    """K2 in the derivative: the first term of dVdot."""
    printed = as_printed(
        table_7, 'b.dV_dot = carried +', 'b.dV_dot = carried + (Ad(b.T) - X) @ dV_dot_p +'
    )
    right = run(table_4, flight.problem(flight.variation), table_7).collect('dq_ddot')
    wrong = run(table_4, flight.problem(flight.variation), printed).collect('dq_ddot')
    assert deviation(wrong, right) > 0.01


def test_equation_88__holds_for_the_inverse_only():
    """K1: printed d Ad*_T = -Ad*_T ad*_dh; that is the derivative of Ad*_(T^-1)."""
    rng = default_rng(1)
    T, h = exp(rng.normal(size=6)), rng.normal(size=6)

    def moved(p):
        return T @ exp(p * kim_tables.SWAP @ h)

    by_inverse = derivative(lambda p: Ad(np.linalg.inv(moved(p))).T)
    by_itself = derivative(lambda p: Ad(moved(p)).T)
    assert_close(-Ad(np.linalg.inv(T)).T @ ad(h).T, by_inverse, 1e-10)
    assert_close(ad(h).T @ Ad(T).T, by_itself, 1e-10)
    assert deviation(-Ad(T).T @ ad(h).T, by_itself) > 0.1


def test_equation_34__needs_the_lower_left_block(flight):
    """K4: M_uv in place of M_vu does not even have its shape, or couples other coordinates."""
    n_half = flight.model.m // 2
    M = mass_matrix(flight.model, flight.state)[: 2 * n_half, : 2 * n_half]
    u, v = slice(0, n_half), slice(n_half, 2 * n_half)
    qdd_u = flight.nu_dot[u]
    right = np.linalg.solve(M[v, v], -M[v, u] @ qdd_u)
    assert deviation(np.linalg.solve(M[v, v], -M[u, v] @ qdd_u), right) > 0.1


def test_symbol_list__derivative_of_the_inverse_is_no_twist():
    """K5: T^-1 dT^-1/dq has a rotational block that is not skew; T^-1 dT/dq is the twist."""
    rng = default_rng(2)
    xi, q = rng.normal(size=6), 0.7
    T_inverse = exp(-xi * q)
    printed = T_inverse @ derivative(lambda p: exp(-xi * (q + p)))
    assert deviation(printed[:3, :3], -printed[:3, :3].T) > 0.1
    meant = T_inverse @ derivative(lambda p: exp(xi * (q + p)))
    assert_close(meant, hat(xi), 1e-10)


def test_footnote_6__gravity_acts_upwards_on_the_ground(flight):
    """K6: V_dot_0 = (0, -g) with the acceleration g of free fall."""
    right = run(table_2, flight.problem()).collect('tau')
    problem = flight.problem()
    problem.V_dot_0 = -problem.V_dot_0
    problem.bodies[0].V_dot_0 = problem.V_dot_0
    wrong = run(table_2, problem).collect('tau')
    assert deviation(wrong, right) > 0.1


def test_section_42__the_prescribed_accelerations_are_given(flight):
    """K7: printed given for Table 7 are derivatives of q_ddot_v; those of q_ddot_u count."""
    swapped = Variation(
        **{**vars(flight.variation), 'acceleration': flight.variation.acceleration * flight.free}
    )
    without = Variation(**{**vars(flight.variation), 'acceleration': None})
    right = d_hybrid(flight, flight.variation)[0]
    assert np.array_equal(d_hybrid(flight, swapped)[0], d_hybrid(flight, without)[0])
    assert deviation(d_hybrid(flight, swapped)[0], right) > 0.01


def test_section_42__table_6_needs_the_motion_of_the_state(flight):
    """K7: given for Table 6 is printed dtau/dp alone."""
    alone = Variation(efforts=flight.variation.efforts)
    arguments = (flight.model, flight.state, flight.tau)
    wrong = d_forward_dynamics(*arguments, alone, flight.wrenches)
    right = d_forward_dynamics(*arguments, flight.variation, flight.wrenches)
    assert deviation(wrong, right) > 0.1


def test_corollary_2__needs_the_chain_rule(flight):
    """K8: dh = S dq/dp for any p; Corollary 2 has only p = q_i^k, and zero for any other p."""
    right = run(table_2, flight.problem(flight.variation), table_5).collect('dtau')
    problem = flight.problem(flight.variation)
    for body in problem.bodies:
        body.dh = np.zeros(6)
    assert deviation(run(table_2, problem, table_5).collect('dtau'), right) > 0.1


def test_footnote_7__full_rank_of_a_is_not_enough():
    """K9: A of full rank whose passive columns are singular has no lambda for (57)."""
    A = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    passive = A[:, [0, 2]]
    assert np.linalg.matrix_rank(A) == 2
    assert np.linalg.matrix_rank(passive) == 1
    residual = np.array([1.0, 0.0])
    best = np.linalg.lstsq(passive.T, residual, rcond=None)[0]
    assert np.linalg.norm(passive.T @ best - residual) > 0.5


def test_section_32__a_response_a_constraint_is_enough(flight):
    """K11: the (m + 1)-th call of the reduced algorithm repeats a sum of the first m."""
    model = flight.model.with_gravity((0.0, 0.0, 0.0))
    state = model.state(flight.state.H, flight.state.s, np.zeros(6), np.zeros(model.n))
    rng = default_rng(5)
    A, lam = rng.normal(size=(3, model.n)), rng.normal(size=3)
    columns = np.array([forward_dynamics(model, state, row) for row in A]).T
    assert_close(columns @ lam, forward_dynamics(model, state, A.T @ lam), 1e-11)


def test_equation_92__lacks_gravity_and_placement(flight):
    """K13: both move the result; a wrench fixed in the world moves with q as well."""
    arguments = (flight.model, flight.state, flight.nu_dot)
    for lacking in ('gravity', 'placements'):
        alone = Variation(**{lacking: getattr(flight.variation, lacking)})
        assert np.abs(d_inverse_dynamics(*arguments, alone)).max() > 0.1
    by_q = Variation(positions=flight.variation.positions)
    world = [dataclasses.replace(wrench, kind='world') for wrench in flight.wrenches]
    without = d_inverse_dynamics(*arguments, by_q)
    held = d_inverse_dynamics(*arguments, by_q, flight.wrenches)  # in the body: tau moves, F not
    assert deviation(held, without) > 0.01
    assert deviation(d_inverse_dynamics(*arguments, by_q, world), held) > 0.01
