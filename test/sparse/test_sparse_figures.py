# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Operation counts, and the two figures of [Nori] that are made of them."""

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from geolin_estimation.sparse import BlockSystem, DynamicsSolver, forward_dynamics
from geolin_estimation.sparse.elimination import Order
from scipy import sparse
from support.close import assert_close

from geolin_papers.nori_2017.factorization import FixedLU
from geolin_papers.nori_2017.minimum_fill import SAFE, sampled_entries
from geolin_papers.nori_2017.orders import count_operations

EXAMPLE = Path(__file__).parents[2] / 'examples' / 'sparse_figures.py'
FOUND = json.loads(Path(__file__).with_name('orders.json').read_text())


@pytest.fixture(scope='module')
def example():
    spec = importlib.util.spec_from_file_location('sparse_figures', EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def operations(curves):
    return {name: np.array([cost.operations for cost in costs]) for name, costs in curves.items()}


@pytest.fixture(scope='module')
def forward(example):
    return operations(example.figure_1())


@pytest.fixture(scope='module')
def load_cells(example):
    return operations(example.figure_2())


def count(matrix):
    row, column = matrix.nonzero()
    system = SimpleNamespace(
        row=row, column=column, values=matrix[row, column], source=np.full(row.size, -1)
    )
    natural = np.arange(len(matrix))
    return count_operations(system, Order(natural, natural)).total


@pytest.mark.parametrize('size', [1, 3, 8])
def test_count__of_a_full_matrix__is_the_textbook_number(size):
    matrix = np.random.default_rng(1).uniform(2.0, 3.0, (size, size))
    factorization = (4 * size**3 - 3 * size**2 - size) // 6
    assert count(matrix) == factorization + 2 * size**2 - size


def test_count__leaves_out_products_with_one():
    # row k: -d_k + 2 d_(k-1) = -b: a product and a sum each, no division
    bidiagonal = -np.eye(5) + 2.0 * np.eye(5, k=-1)
    assert count(bidiagonal) == 8
    assert count(-np.eye(5) + np.eye(5, k=-1)) == 4
    assert count(3.0 * np.eye(5)) == 5


@pytest.mark.shows('Nori: Figures 1 and 2', 'Nori: N9')
def test_figure_1__little_fill_beats_the_articulated_body_algorithm_up_to_twelve_links(
    example, forward
):
    # erratum N9: with axes at right angles, where most entries of ^iX_p are zero
    sizes, theirs = np.array(example.SIZES), forward['articulated-body algorithm']
    ours = forward['LU, little fill, right angles']
    assert np.all(ours[sizes <= 12] < 0.97 * theirs[sizes <= 12])
    assert np.all(ours < 1.2 * theirs)
    assert np.all(forward['LU, little fill, any placement'] < 2.1 * theirs)
    # counted by an independent program, with the least row times column: no more than that
    others = {2: 178, 3: 340, 5: 899, 8: 2432, 10: 3479, 12: 4558, 15: 6036}
    for size, number in others.items():
        assert ours[sizes == size][0] < 1.08 * number, size


@pytest.mark.shows('Nori: Figures 1 and 2', 'Nori: Problem 2', 'Nori: N9')
@pytest.mark.parametrize('found', FOUND, ids=lambda f: f'{f["links"]} links, {f["kind"]}')
def test_order_found_by_search__beats_the_articulated_body_algorithm(example, found):
    """Those of `tools/orders.py`: counted anew, pivots safe, and solving at aligned states."""
    rng, model = np.random.default_rng(0), example.chain(found['links'], found['kind'])
    system = BlockSystem(model, forward_dynamics(model))
    order = Order(np.array(found['rows']), np.array(found['columns']))
    cost = example.cost(system, order)
    assert cost == (found['operations'], found['fill'])
    assert cost.operations < example.articulated_body_algorithm(found['links']).operations
    assert least_share(system, order) > SAFE
    lu = FixedLU(system, order)
    for scale in (1.0, 1e-4, 1e-8, 0.0):
        state = model.random_state(rng)
        state.s[:] *= scale
        system.update(state, rng.normal(size=system.rows - system.equations))
        assert_close(lu.solve(), np.linalg.solve(system.matrix().toarray(), -system.b), 1e-10)


def least_share(system, order):
    """Return the least pivot over the largest entry of its row, at all sampled states, densely."""
    least = np.inf
    for values in sampled_entries(system).T:
        D = np.zeros((system.size, system.size))
        D[system.row, system.column] = values
        D = D[np.ix_(order.rows, order.columns)]
        for k in range(system.size):
            row = D[k, k:]
            least = min(least, abs(row[0]) / np.abs(row).max())
            D[k + 1 :, k:] -= np.outer(D[k + 1 :, k] / row[0], row)
    return least


@pytest.mark.shows('Nori: Problem 2')
@pytest.mark.parametrize('kind', ['right angles', 'any placement'])
def test_figure_1__little_fill_costs_less_than_every_other_order(forward, kind):
    ours = forward[f'LU, little fill, {kind}']
    for name in ('unpermuted', 'articulated-body order', 'COLAMD'):
        assert np.all(ours < forward[f'LU, {name}, {kind}']), name


@pytest.mark.parametrize('kind', ['right angles', 'any placement'])
def test_figure_1__matrix_form_with_its_factors_given__costs_less_than_an_lu(
    example, forward, kind
):
    sizes = np.array(example.SIZES)
    matrix = forward[f'matrix form of Property 2, {kind}']
    assert np.all(matrix < 0.65 * forward[f'LU, articulated-body order, {kind}'])
    slopes = np.diff(matrix) / np.diff(sizes)
    assert np.ptp(slopes[1:]) < 0.2 * slopes.mean()  # linear in the number of links


def test_product__is_counted_by_its_terms(example):
    A = sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]])
    B = sparse.csr_matrix([[4.0, 0.0], [5.0, -1.0]])
    product, count = example.product(A, B)
    assert np.array_equal(product.toarray(), [[14.0, -2.0], [15.0, -3.0]])
    assert count == 2 + 1  # 2 * 5 and 3 * 5, one sum


def test_figure_1__articulated_body_order_costs_the_same_for_every_further_link(example, forward):
    steps = {'right angles': 590, 'any placement': 1024}
    for kind, per_link in steps.items():
        counts = forward[f'LU, articulated-body order, {kind}']
        assert np.all(np.diff(counts)[1:] == per_link * np.diff(example.SIZES)[1:])


@pytest.mark.shows('Nori: Figures 1 and 2')
def test_figure_2__permuting_gains_a_factor_of_two(example, load_cells):
    sizes = np.array(example.LOAD_CELL_SIZES)
    for kind in example.CHAINS:
        unpermuted = load_cells[f'LU, unpermuted, {kind}']
        gain = unpermuted / load_cells[f'LU, little fill, {kind}']
        assert np.all(gain > 2.0), gain
        by_colamd = unpermuted / load_cells[f'LU, COLAMD, {kind}']
        assert np.all(by_colamd > 1.0), by_colamd
        slopes = load_cells[f'LU, little fill, {kind}'] / sizes
        assert slopes.max() < 2.5 * slopes.min()  # linear in the number of links


def test_load_cells_at_both_ends__are_solved_as_dense(example):
    rng = np.random.default_rng(2)
    for kind in example.CHAINS:
        model = example.chain(8, kind)
        solver = DynamicsSolver(model, example.load_cells_at_both_ends(model))
        state = model.random_state(rng)
        readings = rng.normal(size=solver.system.rows - solver.system.equations)
        found = np.concatenate([part.ravel() for part in solver.solve(state, readings)])
        D, b = solver.system.matrix().toarray(), solver.system.b
        expected = np.linalg.solve(D, -b)
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.shows('Nori: Figures 1 and 2')
def test_figures__are_drawn(example, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(example, 'SIZES', (2, 5, 6))
    monkeypatch.setattr(example, 'LOAD_CELL_SIZES', (5, 6))
    one, two = ([example.Cost(k, fill) for k in (1, 2, 3)] for fill in (None, 7))
    curves = {'articulated-body algorithm': one, 'LU, COLAMD, right angles': two}
    monkeypatch.setattr(example, 'figure_1', lambda: curves)
    monkeypatch.setattr(example, 'figure_2', lambda: {'LU, unpermuted, right angles': one[1:]})
    example.draw(tmp_path / 'figures.png')
    assert (tmp_path / 'figures.png').stat().st_size > 10_000
    printed = capsys.readouterr().out
    assert 'articulated-body algorithm: 1, 2, 3' in printed
    assert 'right angles: 7, 7, 7' in printed
    assert 'LU, unpermuted, right angles: 2, 3' in printed
