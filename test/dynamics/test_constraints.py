# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics under constraints against the dense KKT system, Pinocchio and MuJoCo."""

import dataclasses

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close
from support.dense_reference import DenseReference
from support.mujoco_oracle import mujoco
from support.pinocchio_oracle import PinocchioOracle, pin
from support.trees import random_model

from examples import closed_chains as chains
from geolin_ros import State, Wrench, urdf
from geolin_ros.dynamics.constraints import (
    Constraints,
    forward_dynamics,
    hybrid_dynamics,
    inverse_dynamics,
)
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import (
    ConfigurationError,
    InfeasibleError,
    InputError,
    NotFiniteError,
    ShapeError,
    UnsolvableError,
)

RANKS = {'planar five-bar': 3, 'spatial four-bar': 3, 'spatial five-bar': 3}


@dataclasses.dataclass
class Case:
    """A closed chain in motion with its dense matrices, written without recursion."""

    mechanism: object
    model: object
    state: State
    rows: Constraints
    M: np.ndarray
    h: np.ndarray
    tau: np.ndarray


@pytest.fixture(params=RANKS)
def case(request):
    mechanism, rng = chains.MECHANISMS[request.param], default_rng(5)
    model = chains.read(mechanism)
    state = chains.assemble(model, mechanism, rng)
    assert np.abs(chains.gap(model, mechanism, state)).max() < 1e-13, 'the loop is closed'
    dense = DenseReference(urdf.read(chains.urdf(mechanism)), model)
    a, b = (dense.moving_links(state)[end] for end in mechanism.ends)
    A, c = np.empty((6, model.n)), np.empty(6)
    R = a.H[:3, :3].T @ b.H[:3, :3]
    for half in (slice(0, 3), slice(3, 6)):  # in axes of a; w x (J nu) is the rate of the axes
        A[half] = a.J[half] - R @ b.J[half]
        rate = [at.bias[half] + np.cross(at.twist[3:], at.twist[half]) for at in (a, b)]
        c[half] = rate[0] - R @ rate[1]
    rows = chains.closure(model, mechanism, state)
    assert_close(rows.A, A[: len(rows.bias)], 1e-12, 'A')
    assert_close(rows.bias, c[: len(rows.bias)], 1e-12, 'c')
    tau = rng.normal(size=model.n)
    return Case(mechanism, model, state, rows, dense.mass_matrix(state), dense.bias(state), tau)


def kkt(M, h, rows, prescribed, nu_dot, tau):
    """Return nu_dot, tau, lambda of the dense system, least squares: lambda of least norm."""
    A, u, v = rows.A, np.flatnonzero(prescribed), np.flatnonzero(~prescribed)
    # unknowns nu_dot_v, lambda: M_vv nu_dot_v - A_v' lambda = ..., A_v nu_dot_v = ...
    K = np.block([[M[np.ix_(v, v)], -A[:, v].T], [A[:, v], np.zeros((len(A), len(A)))]])
    right = np.concatenate(
        (tau[v] - h[v] - M[np.ix_(v, u)] @ nu_dot[u], -rows.bias - A[:, u] @ nu_dot[u])
    )
    solution, *_ = np.linalg.lstsq(K, right, rcond=1e-11)
    assert np.abs(K @ solution - right).max() < 1e-9, 'the dense system has a solution'
    nu_dot, tau, lam = nu_dot.copy(), tau.copy(), solution[v.size :]
    nu_dot[v] = solution[: v.size]
    tau[u] = (M @ nu_dot + h - A.T @ lam)[u]
    return nu_dot, tau, lam


def pinocchio_forward_dynamics(case, tau):
    """Return nu_dot and how close it is: Pinocchio has to approach redundant rows by iteration."""
    built = pin.buildModelFromXML(chains.urdf(case.mechanism))
    oracle = PinocchioOracle(built, case.model)
    first, second = (built.frames[built.getFrameId(end)] for end in case.mechanism.ends)
    kind, settings, tolerance = {
        'point': (pin.ContactType.CONTACT_3D, pin.ProximalSettings(1e-15, 0.0, 1), 1e-9),
        'surface': (pin.ContactType.CONTACT_6D, pin.ProximalSettings(1e-13, 1e-6, 200), 1e-7),
    }[case.mechanism.kind]
    closure = pin.RigidConstraintModel(
        kind, built, first.parentJoint, first.placement,
        second.parentJoint, second.placement, pin.ReferenceFrame.LOCAL,
    )  # fmt: skip
    effort = np.zeros(built.nv)
    effort[oracle.order] = tau
    q, v = oracle.q(case.state), oracle.velocity(case.state)
    data, closures, closure_data = built.createData(), [closure], [closure.createData()]
    pin.initConstraintDynamics(built, data, closures, closure_data)
    nu_dot = pin.constraintDynamics(built, data, q, v, effort, closures, closure_data, settings)
    return nu_dot[oracle.order], tolerance


@pytest.mark.shows('Kim 2012: Eqs. (54)', 'Kim 2012: Eqs. (67)-(69)')
def test_forward_dynamics__equals_the_dense_system(case):
    found = forward_dynamics(case.model, case.state, case.tau, case.rows)
    nothing = np.zeros(case.model.n, dtype=bool)
    nu_dot, _, lam = kkt(case.M, case.h, case.rows, nothing, np.zeros(case.model.n), case.tau)
    assert_close(found.nu_dot, nu_dot, 1e-11, 'nu_dot')
    assert_close(found.multipliers, lam, 1e-10, 'lambda')
    assert found.rank == 3


@pytest.mark.shows(
    'Kim 2012: Eqs. (56)-(58)',
    'Kim 2012: Eqs. (59)-(64)',
    'Kim 2012: Eqs. (67)-(69)',
    'Kim 2012: Eqs. (70)-(80)',
)
@pytest.mark.parametrize('least', ['constraint force', 'torque'])
def test_inverse_and_hybrid_dynamics__move_pinocchio_as_asked(case, least):
    """Efforts of either kind, given to its forward dynamics, produce the acceleration."""
    n, at = case.model.n, (case.model, case.state)
    motion = forward_dynamics(*at, case.tau, case.rows)
    rows = dataclasses.replace(case.rows, least=least)
    efforts = inverse_dynamics(*at, motion.nu_dot, rows, np.arange(n) < n - 1)
    nu_dot, tolerance = pinocchio_forward_dynamics(case, efforts.tau)
    assert_close(nu_dot, motion.nu_dot, tolerance, 'inverse')
    nu_dot, tolerance = pinocchio_forward_dynamics(case, case.tau)
    assert_close(motion.nu_dot, nu_dot, tolerance, 'forward')
    mixed = hybrid_dynamics(*at, 2.0 * motion.nu_dot, case.tau, np.arange(n) < 1, rows)
    nu_dot, tolerance = pinocchio_forward_dynamics(case, mixed.tau)
    assert_close(nu_dot, mixed.nu_dot, tolerance, 'hybrid')
    assert nu_dot[0] == pytest.approx(2.0 * motion.nu_dot[0], rel=1e-6)


@pytest.mark.shows('Kim 2012: Eqs. (67)-(69)')
def test_forward_dynamics__equals_mujoco_at_rest(case):
    """At rest, as MuJoCo leaves c out. Its rows give way by R f: ours agree once they do too."""
    surface = case.mechanism.kind == 'surface'
    spec = mujoco.MjSpec.from_string(chains.urdf(case.mechanism))
    spec.compiler.fusestatic = spec.compiler.balanceinertia = False
    spec.option.gravity = case.model.gravity
    spec.option.tolerance, spec.option.iterations = 0.0, 1000
    equality = spec.add_equality()
    equality.objtype = mujoco.mjtObj.mjOBJ_BODY
    equality.name1, equality.name2 = case.mechanism.ends
    equality.type = mujoco.mjtEq.mjEQ_WELD if surface else mujoco.mjtEq.mjEQ_CONNECT
    equality.solimp[:] = [0.9999, 0.9999, 1e-3, 0.5, 2.0]
    theirs = spec.compile()
    theirs.eq_data[0] = 0.0  # the ends coincide
    if surface:
        theirs.eq_data[0, [6, 10]] = 1.0  # not turned; rows of rotation count as they are
    data = mujoco.MjData(theirs)
    order = [int(theirs.joint(name).dofadr[0]) for name in case.model.joint_names]
    data.qpos[order], data.qfrc_applied[order] = case.state.s, case.tau
    mujoco.mj_forward(theirs, data)
    rest = case.model.state(case.state.H, case.state.s, np.zeros(6), np.zeros(case.model.n))
    J = data.efc_J.reshape(-1, theirs.nv)[:, order]
    rows = chains.closure(case.model, case.mechanism, rest)
    at_end = Kinematics(case.model, rest).pose(case.mechanism.ends[0])[:3, :3]
    assert_close(J[:3], at_end @ rows.A[:3], 1e-12, 'rows')
    giving_way = Constraints(J, data.efc_R * data.efc_force)
    found = forward_dynamics(case.model, rest, case.tau, giving_way)
    assert_close(data.qacc[order], found.nu_dot, 1e-8, 'nu_dot')
    assert_close(data.qfrc_constraint[order], J.T @ found.multipliers, 1e-8, "A' lambda")
    rigid = forward_dynamics(case.model, rest, case.tau, rows)
    assert_close(data.qacc[order], rigid.nu_dot, 0.02, 'nu_dot, rigid')


@pytest.mark.shows('Kim 2012: Eqs. (56)-(58)', 'Kim 2012: Eqs. (59)-(64)')
@pytest.mark.parametrize('least', ['constraint force', 'torque'])
def test_inverse_dynamics__gives_back_the_motion_with_the_least(case, least):
    """Any set of actuated joints that can produce it; optimal by the dense KKT conditions."""
    n, A, at = case.model.n, case.rows.A, (case.model, case.state)
    motion = forward_dynamics(*at, case.tau, case.rows)
    required = case.M @ motion.nu_dot + case.h
    rows = dataclasses.replace(case.rows, least=least)
    able = 0
    for code in range(2**n):
        active = np.array([bool(code >> k & 1) for k in range(n)])
        if np.linalg.matrix_rank(A[:, ~active], tol=1e-8) < np.sum(~active):
            continue
        able += 1
        found = inverse_dynamics(*at, motion.nu_dot, rows, active, passive_tau=case.tau)
        assert_close(found.tau + A.T @ found.multipliers, required, 1e-11, 'equations of motion')
        assert np.array_equal(found.tau[~active], case.tau[~active])
        # minimize |lambda|^2 or |tau_a|^2 subject to A_p' lambda = required_p - tau_p
        A_a, A_p = A[:, active], A[:, ~active]
        k, p = A_p.shape
        H, g = (np.eye(k), np.zeros(k))
        if least == 'torque':
            H, g = A_a @ A_a.T, A_a @ required[active]
        K = np.block([[H, A_p], [A_p.T, np.zeros((p, p))]])
        best = np.linalg.lstsq(K, np.concatenate((g, (required - case.tau)[~active])), 1e-11)[0]
        cost = {'constraint force': found.multipliers, 'torque': found.tau[active]}[least]
        of_torque = required[active] - A_a.T @ best[:k]
        dense = {'constraint force': best[:k], 'torque': of_torque}[least]
        assert np.abs(cost - dense).max(initial=0.0) < 1e-10 * np.abs(required).max()
        free = np.linalg.matrix_rank(A, tol=1e-8) - p  # directions of lambda that tau_a takes
        assert (found.internal, found.rank) == (free, p)
    assert able > 2


@pytest.mark.shows('Kim 2012: Eqs. (65)')
def test_everything_actuated__is_equations_65_and_66(case):
    n, A, at = case.model.n, case.rows.A, (case.model, case.state)
    motion = forward_dynamics(*at, case.tau, case.rows)
    required = case.M @ motion.nu_dot + case.h
    rows = dataclasses.replace(case.rows, least='torque')
    found = inverse_dynamics(*at, motion.nu_dot, rows, np.ones(n))
    lam = np.linalg.pinv(A.T, rcond=1e-10) @ required
    assert_close(found.multipliers, lam, 1e-11, 'lambda (66)')
    assert_close(found.tau, required - A.T @ lam, 1e-11, 'tau (65)')


@pytest.mark.shows('Kim 2012: Eqs. (70)-(80)')
def test_hybrid_dynamics__equals_the_dense_system(case):
    """Every split that leaves a solution, rank of A_v below that of A included."""
    n, A, at = case.model.n, case.rows.A, (case.model, case.state)
    motion = forward_dynamics(*at, case.tau, case.rows)
    relieving = dataclasses.replace(case.rows, least='torque')
    solved = 0
    for code in range(2**n):
        prescribed = np.array([bool(code >> k & 1) for k in range(n)])
        found = hybrid_dynamics(*at, motion.nu_dot, case.tau, prescribed, case.rows)
        if np.linalg.matrix_rank(A[:, ~prescribed], tol=1e-8) == 0:
            continue
        solved += 1
        nu_dot, tau, lam = kkt(case.M, case.h, case.rows, prescribed, motion.nu_dot, case.tau)
        assert_close(found.nu_dot, nu_dot, 1e-10, 'nu_dot')
        assert_close(found.tau, tau, 1e-9, 'tau')
        assert_close(found.multipliers, lam, 1e-9, 'lambda')
        relieved = hybrid_dynamics(*at, motion.nu_dot, case.tau, prescribed, relieving)
        residual = case.M @ relieved.nu_dot + case.h - relieved.tau - A.T @ relieved.multipliers
        assert np.abs(residual).max() < 1e-9 * np.abs(case.M @ relieved.nu_dot).max()
        assert np.linalg.norm(relieved.tau) <= np.linalg.norm(found.tau) * (1.0 + 1e-12)
    assert solved >= 2**n - 2


@pytest.mark.shows('Kim 2012: - too few actuators')
def test_too_few_actuators__are_refused_or_drive_what_they_can():
    mechanism = chains.PLANAR_FIVE_BAR
    model, rng = chains.read(mechanism), default_rng(5)
    state = chains.assemble(model, mechanism, rng)
    rows = chains.closure(model, mechanism, state)
    motion = forward_dynamics(model, state, rng.normal(size=5), rows)
    one = np.arange(5) == 0
    with pytest.raises(UnsolvableError, match=r'(?s)at j_\w+.*3 constraints hold 4 passive'):
        inverse_dynamics(model, state, motion.nu_dot, rows, one)
    found = hybrid_dynamics(model, state, motion.nu_dot, np.zeros(5), one, rows)
    assert found.nu_dot[0] == motion.nu_dot[0]
    assert np.abs(found.nu_dot - motion.nu_dot).max() > 1.0
    again = inverse_dynamics(model, state, found.nu_dot, rows, one)
    assert_close(again.tau, found.tau, 1e-9, 'that motion has efforts of one joint')


@pytest.mark.shows('Kim 2012: - m > n_v')
def test_infeasible_prescription__names_the_rows():
    robots = [(one, chains.read(one)) for one in (chains.SPATIAL_FOUR_BAR, chains.PLANAR_FIVE_BAR)]
    states = [chains.assemble(model, one, default_rng(5)) for one, model in robots]
    spatial, planar = (
        (model, state, chains.closure(model, one, state))
        for (one, model), state in zip(robots, states, strict=True)
    )
    model, state, rows = spatial
    with pytest.raises(InfeasibleError, match=r'coupler_end=rocker_end'):
        inverse_dynamics(model, state, np.ones(4), rows, np.ones(4))
    with pytest.raises(InfeasibleError, match=r'rocker_end.fx by'):
        hybrid_dynamics(model, state, np.ones(4), np.zeros(4), [1, 1, 0, 0], rows)
    model, state, rows = planar
    leaving = dataclasses.replace(rows, bias=rows.bias + np.array([0, 1.0, 0, 0, 0, 0]))
    with pytest.raises(InfeasibleError, match=r'top_end=right_upper_end.fy by 1;'):
        forward_dynamics(model, state, np.zeros(5), leaving)


@pytest.mark.shows('Kim 2012: - m > n_v')
@pytest.mark.parametrize('base', ['free', 'prescribed'])
def test_floating_base__on_redundant_constraints_equals_the_dense_system(base):
    """A tree with wrenches; three rows repeat the others."""
    rng = default_rng(3)
    description, model = random_model(rng, 7, damping=0.3)
    state, m, n = model.random_state(rng), model.m, model.n
    wrench = Wrench('link2', rng.normal(size=3), rng.normal(size=3), 'world')
    rank = 9 if base == 'free' else 5
    mixing = np.vstack((np.eye(rank), rng.normal(size=(3, rank))))
    rows = Constraints(mixing @ rng.normal(size=(rank, m)), mixing @ rng.normal(size=rank))
    dense = DenseReference(description, model)
    nu_dot, tau = rng.normal(size=m), np.concatenate((np.zeros(6), rng.normal(size=n)))
    prescribed = np.concatenate((np.full(6, base == 'prescribed'), np.arange(n) < 2))
    M, h = dense.mass_matrix(state), dense.bias(state, [wrench])
    expected = kkt(M, h, rows, prescribed, nu_dot, tau)
    given = nu_dot if base == 'prescribed' else nu_dot[6:]
    found = hybrid_dynamics(model, state, given, tau[6:], prescribed[6:], rows, wrenches=[wrench])
    assert_close(found.nu_dot, expected[0], 1e-10, 'nu_dot')
    assert_close(found.tau, expected[1][m - found.tau.size :], 1e-10, 'tau')
    assert_close(found.multipliers, expected[2], 1e-10, 'lambda')
    assert found.rank == rank
    if base == 'prescribed':
        return  # joints alone have no efforts for that
    both = []
    for least in ('constraint force', 'torque'):
        asked = dataclasses.replace(rows, least=least)
        given = model, state, found.nu_dot, asked, np.ones(n)
        efforts = inverse_dynamics(*given, wrenches=[wrench])
        carried = np.concatenate((np.zeros(6), efforts.tau)) + rows.A.T @ efforts.multipliers
        needed = dense.inverse_dynamics(state, found.nu_dot, [wrench])
        assert_close(carried, needed, 1e-10, 'base')
        both.append((efforts.tau, efforts.multipliers))
    (by_force, lam), (by_torque, larger) = both
    assert np.linalg.norm(by_torque) < 0.99 * np.linalg.norm(by_force)
    assert np.linalg.norm(lam) < 0.99 * np.linalg.norm(larger)


def test_bad_arguments__are_named():
    model, rows = chains.read(chains.SPATIAL_FOUR_BAR), Constraints(np.eye(4)[:1], np.zeros(1))
    at, zeros = (model, model.neutral_state()), np.zeros(4)
    inverse, narrow = inverse_dynamics, Constraints(np.eye(3), np.zeros(3))
    active, bad = [1, 1, 1, 0], np.full(4, np.nan)
    for error, what, call in (
        (ShapeError, 'bias', lambda: Constraints(np.eye(4)[:1], np.zeros(2))),
        (NotFiniteError, 'row 0', lambda: Constraints(np.eye(4)[:1], [np.nan])),
        (ShapeError, '3 col', lambda: forward_dynamics(*at, zeros, narrow)),
        (ConfigurationError, 'power', lambda: dataclasses.replace(rows, least='power')),
        (InputError, 'actuated', lambda: inverse(*at, zeros, rows, [2, 0, 0, 0])),
        (ShapeError, 'actuated', lambda: inverse(*at, zeros, rows, [1, 0])),
        (NotFiniteError, 'passive', lambda: inverse(*at, zeros, rows, active, passive_tau=bad)),
    ):
        with pytest.raises(error, match=what):
            call()


def test_example__prints_rank_and_efforts_of_each_mechanism(capsys):
    chains.main()
    printed = capsys.readouterr().out
    for words in ('planar five-bar: 5 joints, 6 rows of rank 3', 'unique', 'free', 'too few for'):
        assert words in printed
