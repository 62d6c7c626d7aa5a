# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of [Kim 2012] beside the engine, and what is misprinted in them."""

import copy
import dataclasses
import inspect
import sys

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close, assert_wrong
from support.dense_reference import DenseReference
from support.finite_difference import cross, derivative, exp, hat
from support.kim_tables import SWAP, KimProblem
from support.trees import TILTED_GRAVITY, every_kind_description

from geolin_papers import kim_2012
from geolin_papers.kim_2012.lie_group import Ad, ad, inverse
from geolin_ros import (
    Description,
    Link,
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
from geolin_ros.model.numbering import moved_inertia


class Motion:
    """A branched robot with a joint of each kind; p moves all that the tables are given."""

    def __init__(self, base='floating', seed=41):
        rng = default_rng(seed)
        description = every_kind_description(rng)
        model = TreeModel.from_description(description, base=base, gravity=TILTED_GRAVITY)
        self.model, self.reference = model, DenseReference(description, model)
        self.state = model.random_state(rng, speed=2.0)
        self.nu_dot, self.tau = rng.normal(size=model.m), rng.normal(size=model.n)
        links = model.body_names[1:]
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
            placements={joint.name: rng.normal(size=6) for joint in description.joints},
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
    assert_close(inverse_dynamics(*at, wrenches), problem.collect('tau'), 1e-12)
    dtau = inverse_dynamics_variation(*at, motion.variation, wrenches)
    assert_close(dtau, problem.collect('dtau'), 1e-12)


@pytest.mark.shows('Kim 2012: Table 3', 'Kim 2012: Table 6')
def test_forward_dynamics_and_its_variation__equal_tables_3_and_6(motion):
    problem = motion.problem(motion.variation)
    run(kim_2012.forward_dynamics, problem, kim_2012.forward_dynamics_derivative)
    at, wrenches = (motion.model, motion.state, motion.tau), motion.wrenches
    assert_close(forward_dynamics(*at, wrenches), problem.collect('q_ddot'), 1e-11)
    dnu_dot = forward_dynamics_variation(*at, motion.variation, wrenches)
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


@pytest.mark.shows('Kim 2012: Lemma 3')
def test_lemma_3_and_corollary_1__are_the_derivatives_of_the_adjoint():
    """Eqs. (81)-(87), (89), of a pose that p moves and a twist that it moves as well."""
    rng = default_rng(3)
    T, h, xi, dxi = exp(rng.normal(size=6)), *rng.normal(size=(3, 6))

    def moved(p):
        return T @ exp(p * SWAP @ h)

    dT = derivative(moved)
    dh = inverse(T) @ dT  # (89), an element of se(3)
    assert_close(dh, hat(SWAP @ h), 1e-10)
    right = dT @ inverse(T)
    spatial = np.array(
        [right[2, 1], right[0, 2], right[1, 0], right[0, 3], right[1, 3], right[2, 3]]
    )
    assert_close(derivative(lambda p: Ad(moved(p))), ad(spatial) @ Ad(T), 1e-10)  # (81)
    carried = derivative(lambda p: Ad(moved(p)) @ (xi + p * dxi))
    assert_close(carried, ad(spatial) @ Ad(T) @ xi + Ad(T) @ dxi, 1e-10)  # (82)-(86)
    by_inverse = derivative(lambda p: Ad(inverse(moved(p))))
    assert_close(by_inverse, -ad(h) @ Ad(inverse(T)), 1e-10)  # (87)


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
def test_equation_34__needs_the_lower_left_block(flight):
    """K4: M_uv in place of M_vu does not even have its shape, or couples other coordinates."""
    n_half = flight.model.m // 2
    M = mass_matrix(flight.model, flight.state)[: 2 * n_half, : 2 * n_half]
    u, v = slice(0, n_half), slice(n_half, 2 * n_half)
    qdd_u = flight.nu_dot[u]
    right = np.linalg.solve(M[v, v], -M[v, u] @ qdd_u)
    assert_wrong(np.linalg.solve(M[v, v], -M[u, v] @ qdd_u), right, 3.96)


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


@pytest.mark.shows('Kim 2012: K7')
def test_section_42__the_prescribed_accelerations_are_given(flight):
    """K7: printed given for Table 7 are derivatives of q_ddot_v; those of q_ddot_u count."""
    swapped = Variation(
        **{**vars(flight.variation), 'acceleration': flight.variation.acceleration * flight.free}
    )
    without = Variation(**{**vars(flight.variation), 'acceleration': None})
    right = d_hybrid(flight, flight.variation)[0]
    assert np.array_equal(d_hybrid(flight, swapped)[0], d_hybrid(flight, without)[0])
    assert_wrong(d_hybrid(flight, swapped)[0], right, 0.104)


@pytest.mark.shows('Kim 2012: K7')
def test_section_42__table_6_needs_the_motion_of_the_state(flight):
    """K7: given for Table 6 is printed dtau/dp alone."""
    alone = Variation(efforts=flight.variation.efforts)
    arguments = (flight.model, flight.state, flight.tau)
    wrong = forward_dynamics_variation(*arguments, alone, flight.wrenches)
    right = forward_dynamics_variation(*arguments, flight.variation, flight.wrenches)
    assert_wrong(wrong, right, 0.75)


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


@pytest.mark.shows('Kim 2012: K11')
def test_section_32__a_response_a_constraint_is_enough(flight):
    """K11: the (m + 1)-th call of the reduced algorithm repeats a sum of the first m."""
    model = flight.model.with_gravity((0.0, 0.0, 0.0))
    state = model.state(flight.state.H, flight.state.s, np.zeros(6), np.zeros(model.n))
    rng = default_rng(5)
    A, lam = rng.normal(size=(3, model.n)), rng.normal(size=3)
    columns = np.array([forward_dynamics(model, state, row) for row in A]).T
    assert_close(columns @ lam, forward_dynamics(model, state, A.T @ lam), 1e-11)


@pytest.mark.shows('Kim 2012: K13')
def test_equation_92__lacks_gravity_and_placement(flight):
    """K13: both move the result; a wrench fixed in the world moves with q as well."""
    arguments = (flight.model, flight.state, flight.nu_dot)
    for lacking in ('gravity', 'placements'):
        alone = Variation(**{lacking: getattr(flight.variation, lacking)})
        assert np.abs(inverse_dynamics_variation(*arguments, alone)).max() > 0.1
    by_q = Variation(positions=flight.variation.positions)
    world = [dataclasses.replace(wrench, kind='world') for wrench in flight.wrenches]
    without = inverse_dynamics_variation(*arguments, by_q)
    held = inverse_dynamics_variation(
        *arguments, by_q, flight.wrenches
    )  # in the body: tau moves, F not
    assert_wrong(held, without, 0.054)
    assert_wrong(inverse_dynamics_variation(*arguments, by_q, world), held, 0.057)


# one rigid body, whose frame {B} is moved to {A}


class RigidBody:
    """Particles that move together; everything of sections 1.3 to 1.5 from these alone."""

    def __init__(self, rng):
        self.masses, self.places = rng.uniform(0.1, 1.0, 40), rng.normal(size=(40, 3))
        self.pose, self.moved = exp(rng.normal(size=6)), exp(rng.normal(size=6))
        self.twist, self.rate = rng.normal(size=(2, 6))  # [linear; angular], of {B} in {B}
        self.velocity, self.acceleration = SWAP @ self.twist, SWAP @ self.rate

    def at(self, t):
        """Return the pose of {B} at time t: its twist starts as it is and changes at its rate."""
        # T' = T xi, xi(t) = twist + t rate: Magnus series, exact to fourth order in t
        mean = t * self.twist + 0.5 * t**2 * self.rate
        turned = np.block([[cross(self.twist[3:]), cross(self.twist[:3])],
                           [np.zeros((3, 3)), cross(self.twist[3:])]])  # fmt: skip
        return self.pose @ exp(mean + t**3 / 12.0 * turned @ self.rate)

    def momentum_in_world(self, t):
        """Return [moment about the world's origin; force] of all m dr/dt."""

        def places(time):
            T = self.at(time)
            return self.places @ T[:3, :3].T + T[:3, 3]

        r, v = places(t), derivative(lambda dt: places(t + dt), step=1e-2)
        linear = self.masses[:, np.newaxis] * v
        return np.concatenate((np.cross(r, linear).sum(axis=0), linear.sum(axis=0)))

    def inertia(self, places):
        """Return Eq. (20) by its integrals."""
        parts = [
            m * np.block([[cross(r).T @ cross(r), cross(r)], [cross(r).T, np.eye(3)]])
            for m, r in zip(self.masses, places, strict=True)
        ]
        return sum(parts)

    def seen_from_a(self):
        """Return the places of the particles in {A}, whose pose in {B} is ``moved``."""
        return (self.places - self.moved[:3, 3]) @ self.moved[:3, :3]


@pytest.fixture(scope='module')
def rigid():
    return RigidBody(default_rng(61))


@pytest.mark.shows('Kim 2012: Eqs. (14)-(20)')
def test_kinetic_energy__of_all_particles_is_equations_14_to_20(rigid):
    w, v = rigid.velocity[:3], rigid.velocity[3:]
    speeds = v + np.cross(w, rigid.places)
    energy = 0.5 * (rigid.masses * (speeds**2).sum(axis=1)).sum()
    inertia = rigid.inertia(rigid.places)
    assert_close(energy, 0.5 * rigid.velocity @ inertia @ rigid.velocity, 1e-13)
    link = link_of(rigid)
    assert_close(SWAP @ link.inertia @ SWAP, inertia, 1e-14)


def link_of(rigid):
    """Return the package's link of the same mass, centre and inertia about it: Eq. (22)."""
    mass = rigid.masses.sum()
    centre = rigid.masses @ rigid.places / mass
    about = [cross(r - centre).T @ cross(r - centre) for r in rigid.places]
    return Link.from_mass('b', mass, centre, np.tensordot(rigid.masses, about, axes=1))


@pytest.mark.shows('Kim 2012: Eqs. (21)')
def test_inertia_and_momentum__of_a_moved_frame_are_equations_21_to_24(rigid):
    T_ba = rigid.moved  # pose of {A} in {B}
    I_b, I_a = rigid.inertia(rigid.places), rigid.inertia(rigid.seen_from_a())
    assert_close(Ad(T_ba).T @ I_b @ Ad(T_ba), I_a, 1e-13)  # (21), a and b exchanged
    assert_close(SWAP @ moved_inertia(SWAP @ I_a @ SWAP, T_ba) @ SWAP, I_b, 1e-13)
    V_a = Ad(inverse(T_ba)) @ rigid.velocity  # (11)
    L_b = I_b @ rigid.velocity  # (23)
    assert_close(Ad(T_ba).T @ L_b, I_a @ V_a, 1e-13)  # (24)
    world = Ad(inverse(rigid.pose)).T @ L_b
    assert_close(world, rigid.momentum_in_world(0.0), 1e-10)


@pytest.mark.shows('Kim 2012: Lemmas 1 and 2')
def test_rates__of_twists_and_wrenches_in_a_moving_frame_are_equations_25_to_29(rigid):
    rng = default_rng(62)
    X, X_dot, Y, Y_dot = rng.normal(size=(4, 6))
    ad_V = ad(rigid.velocity)
    T = rigid.pose
    vector = derivative(lambda t: rigid.at(t)[:3, :3] @ (X[:3] + t * X_dot[:3]))
    expected = T[:3, :3] @ (X_dot[:3] + np.cross(rigid.velocity[:3], X[:3]))
    assert_close(vector, expected, 1e-9)  # (25)
    twist = derivative(lambda t: Ad(rigid.at(t)) @ (X + t * X_dot))
    assert_close(Ad(inverse(T)) @ twist, X_dot + ad_V @ X, 1e-9)  # (26)
    wrench = derivative(lambda t: Ad(inverse(rigid.at(t))).T @ (Y + t * Y_dot))
    assert_close(Ad(T).T @ wrench, Y_dot - ad_V.T @ Y, 1e-9)  # (28)


@pytest.mark.shows('Kim 2012: Eqs. (30)')
def test_equations_30_and_31__hold_in_every_frame_of_the_body(rigid):
    """Section 1.5: F is the rate of momentum in the world, and keeps its form in {A}."""
    I_b, V_b = rigid.inertia(rigid.places), rigid.velocity
    F_b = I_b @ rigid.acceleration - ad(V_b).T @ I_b @ V_b  # (31)
    by_particles = derivative(rigid.momentum_in_world, step=1e-2)
    assert_close(Ad(rigid.pose).T @ by_particles, F_b, 1e-7)  # (30)
    X = Ad(inverse(rigid.moved))
    I_a, V_a, V_dot_a = rigid.inertia(rigid.seen_from_a()), X @ V_b, X @ rigid.acceleration
    F_a = I_a @ V_dot_a - ad(V_a).T @ I_a @ V_a
    assert_close(F_a, Ad(rigid.moved).T @ F_b, 1e-12)  # (13)
    # the engine's single body, with its frame in {B} and with it in {A}
    for V, V_dot, T, F, place in (
        (V_b, rigid.acceleration, rigid.pose, F_b, np.eye(4)),
        (V_a, V_dot_a, rigid.pose @ rigid.moved, F_a, rigid.moved),
    ):
        link = link_of(rigid)
        inertia = moved_inertia(link.inertia, np.linalg.inv(place))
        alone = Description('body', (dataclasses.replace(link, inertia=inertia),), ())
        model = TreeModel.from_description(alone, gravity=(0.0, 0.0, 0.0))
        state = model.state(T, np.zeros(0), SWAP @ V, np.zeros(0))
        assert_close(SWAP @ inverse_dynamics(model, state, SWAP @ V_dot), F, 1e-12)
