# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Operation counts, and the two figures of [Nori] that are made of them."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from geolin_ros.sparse import DynamicsSolver
from geolin_ros.sparse.factorization import count_operations
from geolin_ros.sparse.ordering import Order

EXAMPLE = Path(__file__).parents[2] / 'examples' / 'sparse_figures.py'


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
def test_count__of_a_full_matrix__is_the_textbook_number(example, size):
    matrix = np.random.default_rng(1).uniform(2.0, 3.0, (size, size))
    assert count(matrix) == example.dense(size)


def test_count__leaves_out_products_with_one():
    # row k: -d_k + 2 d_(k-1) = -b: a product and a sum each, no division
    bidiagonal = -np.eye(5) + 2.0 * np.eye(5, k=-1)
    assert count(bidiagonal) == 8
    assert count(-np.eye(5) + np.eye(5, k=-1)) == 4
    assert count(3.0 * np.eye(5)) == 5


def test_figure_1__articulated_body_algorithm_is_cheaper_from_ten_links_on(example, forward):
    # erratum N9
    theirs = forward['articulated-body algorithm']
    sizes = np.array(example.SIZES)
    for name in (name for name in forward if name.startswith('LU')):
        counts = forward[name]
        assert np.all(counts[sizes >= 10] > 1.2 * theirs[sizes >= 10]), name
        assert np.all(counts < 6.0 * theirs), name


@pytest.mark.parametrize('kind', ['right angles', 'any placement'])
def test_figure_1__matrix_form_with_its_factors_given__costs_less_than_an_lu(
    example, forward, kind
):
    sizes = np.array(example.SIZES)
    matrix = forward[f'matrix form of Property 2, {kind}']
    assert np.all(matrix < 0.65 * forward[f'LU, articulated-body order, {kind}'])
    slopes = np.diff(matrix) / np.diff(sizes)
    assert np.ptp(slopes[1:]) < 0.1 * slopes.mean()  # linear in the number of links


def test_product__is_counted_by_its_terms(example):
    A = sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]])
    B = sparse.csr_matrix([[4.0, 0.0], [5.0, -1.0]])
    product, count = example.product(A, B)
    assert np.array_equal(product.toarray(), [[14.0, -2.0], [15.0, -3.0]])
    assert count == 2 + 1  # 2 * 5 and 3 * 5, one sum


def test_figure_1__our_order_costs_the_same_for_every_further_link(forward):
    steps = {'right angles': 590, 'any placement': 1024}
    for kind, per_link in steps.items():
        counts = forward[f'LU, articulated-body order, {kind}']
        assert np.all(np.diff(counts)[1:] == 5 * per_link)


def test_figure_2__sparse_factorization_beats_the_dense_one_by_orders_of_magnitude(load_cells):
    dense = load_cells.pop('dense LU')
    for counts in load_cells.values():
        assert np.all(dense > 200.0 * counts)
        assert counts[-1] < 2.5 * 30 / 10 * counts[1]  # linear in the number of links


def test_load_cells_at_both_ends__are_solved_as_dense(example):
    rng = np.random.default_rng(2)
    for kind in example.CHAINS:
        model = example.chain(8, kind)
        solver = DynamicsSolver(model, example.load_cells_at_both_ends(model))
        assert solver.method == 'LU with threshold pivoting'
        state = model.random_state(rng)
        readings = rng.normal(size=solver.system.rows - solver.system.equations)
        found = np.concatenate([part.ravel() for part in solver.solve(state, readings)])
        D, b = solver.system.matrix().toarray(), solver.system.b
        expected = np.linalg.solve(D, -b)
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


def test_figures__are_drawn(example, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(example, 'SIZES', (2, 5, 6))
    one, two = ([example.Cost(k, fill) for k in (1, 2, 3)] for fill in (None, 7))
    curves = {'articulated-body algorithm': one, 'LU, COLAMD, right angles': two}
    monkeypatch.setattr(example, 'figure_1', lambda: curves)
    monkeypatch.setattr(example, 'figure_2', lambda: {'dense LU': one[1:]})
    example.draw(tmp_path / 'figures.png')
    assert (tmp_path / 'figures.png').stat().st_size > 10_000
    printed = capsys.readouterr().out
    assert 'articulated-body algorithm: 1, 2, 3' in printed
    assert 'right angles: 7, 7, 7' in printed
    assert 'dense LU: 2, 3' in printed
