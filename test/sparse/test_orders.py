# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Triangles, pivots and patterns: found once for a robot, good at all states."""

import numpy as np
import pytest
from geolin_estimation.sparse import Estimator, sensors
from scipy import sparse
from scipy.sparse import linalg
from support.close import assert_close, assert_wrong, deviation
from support.trees import random_model

from geolin_papers.nori_2017.articulated import articulated_inertias, property_two
from geolin_papers.nori_2017.factorization import FixedLU, PatternedSystem
from geolin_papers.nori_2017.minimum_fill import minimum_fill_order
from geolin_papers.nori_2017.orders import articulated_body_order, peel, recursive_order
from geolin_ros import Description, Joint, Link, TreeModel


def updated(model, sensor_set, rng, state=None):
    system = PatternedSystem(model, sensor_set)
    readings = rng.normal(size=system.rows - system.equations)
    system.update(state or model.random_state(rng), readings)
    return system


def aligned_chain(count):
    """Return a chain whose axes turn by right angles, all offsets along axes: many zeros."""
    turn = np.array([[1.0, 0, 0, 0], [0, 0, -1.0, 0], [0, 1.0, 0, 0], [0, 0, 0, 1.0]])
    turn[:3, 3] = (0.3, 0.0, 0.0)
    links = tuple(
        Link.from_mass(f'link{i}', 1.0 + 0.1 * i, np.array([0.1, 0.0, 0.0]), 0.02 * np.eye(3))
        for i in range(count + 1)
    )
    joints = tuple(
        Joint(
            f'joint{i}', 'revolute', f'link{i - 1}', f'link{i}',
            placement=turn, axis=np.array([0.0, 0.0, 1.0]),
        )
        for i in range(1, count + 1)
    )  # fmt: skip
    return TreeModel.from_description(Description('aligned chain', links, joints), base='fixed')


def ordered(matrix, order):
    return matrix.toarray()[np.ix_(order.rows, order.columns)]


@pytest.mark.shows('Nori: Eqs. (10)', 'Nori: N16')
@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_property_1__inverse_dynamics_is_lower_triangular_with_a_unit_diagonal(base):
    rng = np.random.default_rng(1)
    _, model = random_model(rng, 9, base=base)
    system = updated(model, sensors.inverse_dynamics(model), rng)
    D = ordered(system.matrix(), recursive_order(system))
    assert np.all(np.triu(D, 1) == 0.0)
    assert np.all(np.abs(np.diag(D)) == 1.0)
    forward = updated(model, sensors.forward_dynamics(model), rng)
    assert np.any(np.triu(ordered(forward.matrix(), recursive_order(system)), 1) != 0.0)


@pytest.mark.shows('Nori: Definition 1', 'Nori: N8')
@pytest.mark.parametrize(('count', 'shape'), [(1, 'chain'), (20, 'branched'), (100, 'chain')])
def test_peeling__recovers_the_triangle_of_permuted_inverse_dynamics(count, shape):
    rng = np.random.default_rng(2)
    _, model = random_model(rng, count, shape)
    system = updated(model, sensors.inverse_dynamics(model), rng)
    rows, columns = rng.permutation(system.rows), rng.permutation(system.size)
    mixed_row, mixed_column = rows[system.row], columns[system.column]
    order = peel(mixed_row, mixed_column, system.rows, system.size)
    assert np.array_equal(np.sort(order.rows), np.arange(system.rows))
    assert np.array_equal(np.sort(order.columns), np.arange(system.size))
    mixed = sparse.csr_matrix(
        (system.values, (mixed_row, mixed_column)), shape=(system.rows, system.size)
    )
    lower = mixed[order.rows][:, order.columns]
    assert sparse.triu(lower, 1).nnz == 0
    assert np.all(lower.diagonal() != 0.0)
    # zero fill-in: L and U of a triangle are the triangle [Nori, Remark 2]
    lu = linalg.splu(lower.tocsc(), permc_spec='NATURAL', diag_pivot_thresh=0.0)
    lower.eliminate_zeros()
    assert lu.L.nnz + lu.U.nnz - system.size == lower.nnz


@pytest.mark.shows('Nori: Property 2', 'Nori: N1')
@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_property_2__corrected__is_lower_triangular_and_solves(base):
    rng = np.random.default_rng(4)
    _, model = random_model(rng, 9, base=base)
    system = updated(model, sensors.forward_dynamics(model), rng)
    left, right, order = property_two(system)
    product = left @ system.matrix() @ right
    triangle = ordered(product, order)
    upper = np.triu(triangle, 1)
    assert_close(upper, np.zeros_like(upper), 1e-12, scale=np.abs(triangle).max())
    b = (left @ system.b)[order.rows]
    unknowns = np.zeros(system.size)
    unknowns[order.columns] = np.linalg.solve(np.tril(triangle), -b)
    d = right @ unknowns
    expected = np.linalg.solve(system.matrix().toarray(), -system.b)
    assert_close(d, expected, 1e-11)
    # erratum N1: as printed, with d and b themselves
    printed = np.zeros(system.size)
    printed[order.columns] = np.linalg.solve(triangle, -system.b[order.rows])
    assert_wrong(printed, expected, {'floating': 2.52, 'fixed': 0.98}[base])


def tau_rows(system):
    """Return the rows of the sensors of joint torques: behind those of the external wrenches."""
    return system.equations + 6 * system.nb + np.arange(system.m)


@pytest.mark.shows('Nori: N2')
def test_equation_34__as_printed__is_not_triangular():
    # erratum N2: (34) exchanges the rows 3tau and those of the measured tau, and reverses them
    rng = np.random.default_rng(5)
    _, model = random_model(rng, 9, base='fixed')
    system = updated(model, sensors.forward_dynamics(model), rng)
    left, right, order = property_two(system)
    # the rows whose variable is tau: among those of fx, which they interleave with
    is_measured = np.isin(order.rows, tau_rows(system))
    of_tau, equations = np.flatnonzero(is_measured), np.arange(-system.m, 0) + order.rows.size
    rows = order.rows.copy()
    rows[of_tau], rows[equations] = order.rows[equations][::-1], order.rows[of_tau]
    product = (left @ system.matrix() @ right).toarray()
    zero = np.zeros_like(product)
    assert_wrong(np.triu(product[np.ix_(rows, order.columns)], 1), zero, 11.3, scale=1.0)
    upper = np.triu(product[np.ix_(order.rows, order.columns)], 1)
    assert_close(upper, zero, 1e-12, scale=np.abs(product).max())


def articulated(model):
    """Return forward dynamics in the order of the articulated-body algorithm."""
    system = PatternedSystem(model, sensors.forward_dynamics(model))
    return system, FixedLU(system, articulated_body_order(system))


@pytest.mark.shows('Nori: Eqs. (12 I^a)', 'Nori: N11')
def test_articulated_body_order__has_the_pivots_of_the_algorithm():
    rng = np.random.default_rng(6)
    _, model = random_model(rng, 9)
    system, lu = articulated(model)
    system.update(model.random_state(rng), np.zeros(system.rows - system.equations))
    lu.solve()
    M_A = articulated_inertias(system)
    pivots = dict(zip(lu.order.columns.tolist(), lu.upper.diagonal(), strict=True))
    for i in range(1, system.nb):
        for column in (
            *range(6 * i, 6 * i + 6),
            *range(6 * (system.nb + i), 6 * (system.nb + i) + 6),
        ):
            assert_close(pivots[column], -1.0, 1e-12)
        for c in system.joint_columns(i):
            S, rotor = system.S[i, :, c], system.rotors[c]
            pivot = pivots[18 * system.nb + system.m + c]
            assert_close(pivot, S @ M_A[i] @ S + rotor, 1e-12)
    base = [pivots[18 * system.nb + system.m + c] for c in range(6)]
    assert_close(np.prod(base), np.linalg.det(M_A[0]), 1e-10)


@pytest.mark.shows('Nori: - its symbolic phase')
@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_factors__rebuild_the_matrix_with_the_predicted_fill(base):
    rng = np.random.default_rng(7)
    _, model = random_model(rng, 9, base=base)
    system, lu = articulated(model)
    system.update(model.random_state(rng), np.zeros(system.rows - system.equations))
    lu.solve()
    L, U = lu.lower.toarray(), lu.upper.toarray()
    assert_close(L @ U, ordered(system.matrix(), lu.order), 1e-13)
    predicted = np.zeros((2, system.size, system.size), bool)
    for places, part in zip(predicted, (lu.pattern.lower, lu.pattern.upper), strict=True):
        for i, columns in enumerate(part):
            places[i, [i, *columns]] = True
    assert not np.any((L != 0.0) & ~predicted[0])
    assert not np.any((U != 0.0) & ~predicted[1])


@pytest.mark.shows('Nori: N7')
def test_frozen_order__of_a_fill_reducing_factorization__loses_all_digits():
    # erratum N7: rows chosen at one state are kept, as section V-D of the paper proposes
    rng = np.random.default_rng(8)
    model = aligned_chain(10)
    system = updated(model, sensors.forward_dynamics(model), rng, model.random_state(rng))
    lu = linalg.splu(system.matrix().tocsc(), permc_spec='COLAMD', diag_pivot_thresh=0.1)
    rows, columns = np.argsort(lu.perm_r), np.argsort(lu.perm_c)
    state = model.random_state(rng)
    state.s[:] *= 1e-8
    system.update(state, rng.normal(size=system.rows - system.equations))
    kept = system.matrix()[rows][:, columns].tocsc()
    frozen = linalg.splu(
        kept, permc_spec='NATURAL', diag_pivot_thresh=0.0, options={'Equil': False}
    )
    expected = np.linalg.solve(system.matrix().toarray(), -system.b)
    found = np.empty(system.size)
    found[columns] = frozen.solve(-system.b[rows])
    assert deviation(found, expected) > 1e-3  # rounding alone: no figure
    pivoting = linalg.splu(
        kept, permc_spec='NATURAL', diag_pivot_thresh=0.1, options={'Equil': False}
    )
    found[columns] = pivoting.solve(-system.b[rows])
    assert_close(found, expected, 1e-11)


@pytest.mark.shows('Nori: - found once', 'Nori: Section V-D', 'Nori: Problem 2')
@pytest.mark.parametrize('find', [minimum_fill_order, articulated_body_order])
def test_order_found_once__serves_every_state_near_aligned_positions_too(find):
    rng = np.random.default_rng(12)
    models = [aligned_chain(10)]
    models += [random_model(rng, 9, base=base)[1] for base in ('floating', 'fixed')]
    for model in models:
        system = PatternedSystem(model, sensors.forward_dynamics(model))
        solver = Estimator(model, sensors.forward_dynamics(model))
        lu = FixedLU(system, find(system))
        for scale in (1.0, 1e-4, 1e-8, 1e-12, 0.0):
            state = model.random_state(rng)
            state.s[:] *= scale
            readings = rng.normal(size=system.rows - system.equations)
            by_solver = np.concatenate(
                [part.ravel() for part in solver.estimate(state, readings).variables]
            )
            system.update(state, readings)
            expected = np.linalg.solve(system.matrix().toarray(), -system.b)
            assert_close(lu.solve(), expected, 1e-11)
            assert_close(by_solver, expected, 1e-11)


@pytest.mark.shows('Nori: Eq. (1)', 'Nori: Eqs. (10)', 'Nori: Property 2')
def test_orders__are_the_sequences_that_the_paper_prints():
    """[Nori, Eqs. (10), (11), (33)], literally; body 0 is the paper's link 1."""
    rng = np.random.default_rng(15)
    _, model = random_model(rng, 5)
    nb = model.tree.parent.size
    up, down = range(nb), range(nb - 1, -1, -1)
    system = PatternedSystem(model, sensors.inverse_dynamics(model))
    printed = [f'{kind}_{i}' for i in up for kind in ('fx', 'qdd')]
    printed += [f'a_{i}' for i in up]
    printed += [f'{kind}_{i}' for i in down for kind in ('f', 'tau')]
    order = recursive_order(system)
    assert blocks(system, order.columns) == printed  # (10)
    assert blocks(system, variables_of(system, order.rows)) == printed  # (11)
    forward = updated(model, sensors.forward_dynamics(model), rng)
    *_, order = property_two(forward)
    printed = [f'{kind}_{i}' for i in up for kind in ('fx', 'tau')]
    printed += [f'f_{i}' for i in down] + [f'a_{i}' for i in up] + [f'qdd_{i}' for i in up]
    assert blocks(forward, order.columns) == printed  # (33)


def blocks(system, columns):
    """Return kind and body of consecutive unknowns, each block once and whole."""
    nb, m = system.nb, system.m
    body_of_rate = {c: i for i in range(nb) for c in system.joint_columns(i)}
    named = []
    for j in columns.tolist():
        if j < 18 * nb:
            named.append(f'{("a", "f", "fx")[j // (6 * nb)]}_{j % (6 * nb) // 6}')
        else:
            kind, rate = divmod(j - 18 * nb, m)
            named.append(f'{("tau", "qdd")[kind]}_{body_of_rate[rate]}')
    once = list(dict.fromkeys(named))
    assert [name for k, name in enumerate(named) if k == 0 or named[k - 1] != name] == once
    return once


def variables_of(system, rows):
    """Return the unknown that each equation of inverse dynamics gives: a, f, tau, fx, qdd."""
    nb, m = system.nb, system.m
    of_row = np.concatenate(
        (np.arange(12 * nb), 18 * nb + np.arange(m), 12 * nb + np.arange(6 * nb),
         18 * nb + m + np.arange(m))
    )  # fmt: skip
    return of_row[rows]


@pytest.mark.shows('Nori: Remark 4')
def test_worst_case_pattern__covers_every_state_and_no_more():
    rng = np.random.default_rng(9)
    model = aligned_chain(6)
    system = PatternedSystem(model, sensors.forward_dynamics(model))
    allowed = set(zip(system.row.tolist(), system.column.tolist(), strict=True))
    seen = set()
    for scale in (1.0, 1.0, 1.0, 0.0):
        state = model.random_state(rng)
        state.s[:] *= scale
        system.update(state, np.zeros(system.rows - system.equations))
        i, j = system.matrix().toarray().nonzero()
        now = set(zip(i.tolist(), j.tolist(), strict=True))
        seen |= now
        if scale == 0.0:
            assert len(now) < len(allowed)
    assert seen == allowed
