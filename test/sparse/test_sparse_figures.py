# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Operation counts, and the two figures of [Nori] that are made of them."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from geolin_estimation.sparse import forward_dynamics
from scipy import sparse
from support.close import assert_close

from examples import sparse_figures as example
from geolin_papers.nori_2017.factorization import FixedLU, Order, PatternedSystem
from geolin_papers.nori_2017.minimum_fill import SAFE, sampled_entries
from geolin_papers.nori_2017.orders import count_operations

SIZES = (2, 3, 5, 8, 12, 15)
FOUND = json.loads(Path(__file__).with_name('orders.json').read_text())


def operations(curves):
    return {name: np.array([cost.operations for cost in costs]) for name, costs in curves.items()}


@pytest.fixture(scope='module')
def forward():
    return operations(example.figure_1(SIZES))


@pytest.fixture(scope='module')
def load_cells():
    return operations(example.figure_2(SIZES[2:]))


def count(matrix):
    row, column = matrix.nonzero()
    system = SimpleNamespace(
        row=row, column=column, values=matrix[row, column], is_constant=np.ones(row.size, bool)
    )
    natural = np.arange(len(matrix))
    return count_operations(system, Order(natural, natural)).total


def test_count__of_known_matrices__is_the_textbook_number():
    for size in (1, 3, 8):
        matrix = np.random.default_rng(1).uniform(2.0, 3.0, (size, size))
        assert count(matrix) == (4 * size**3 - 3 * size**2 - size) // 6 + 2 * size**2 - size
    # row k: -d_k + 2 d_(k-1) = -b: a product and a sum each, no division; none with one
    assert count(-np.eye(5) + 2.0 * np.eye(5, k=-1)) == 8
    assert count(-np.eye(5) + np.eye(5, k=-1)) == 4
    assert count(3.0 * np.eye(5)) == 5
    left, right = (sparse.csr_matrix(M) for M in ([[1.0, 2.0], [0, 3.0]], [[4.0, 0], [5.0, -1.0]]))
    product, operations = example.product(left, right)
    assert np.array_equal(product.toarray(), [[14.0, -2.0], [15.0, -3.0]])
    assert operations == 2 + 1  # 2 * 5 and 3 * 5, one sum


@pytest.mark.shows('Nori: Figures 1 and 2', 'Nori: N9')
def test_figure_1__little_fill_beats_the_articulated_body_algorithm_up_to_twelve_links(forward):
    # erratum N9: with axes at right angles, where most entries of ^iX_p are zero
    sizes, theirs = np.array(SIZES), forward['articulated-body algorithm']
    ours = forward['LU, little fill, right angles']
    assert np.all(ours[sizes <= 12] < 0.97 * theirs[sizes <= 12])
    assert np.all(ours < 1.2 * theirs)
    assert np.all(forward['LU, little fill, any placement'] < 2.1 * theirs)
    # counted by an independent program, with the least row times column: no more than that
    others = {2: 178, 3: 340, 5: 899, 8: 2432, 12: 4558, 15: 6036}
    for size, number in others.items():
        assert ours[sizes == size][0] < 1.08 * number, size


@pytest.mark.shows('Nori: Figures 1 and 2', 'Nori: Problem 2', 'Nori: N9')
@pytest.mark.parametrize('found', FOUND, ids=lambda f: f'{f["links"]} links, {f["kind"]}')
def test_order_found_by_search__beats_the_articulated_body_algorithm(found):
    """Those of `tools/orders.py`: counted anew, pivots safe, and solving at aligned states."""
    rng, model = np.random.default_rng(0), example.chain(found['links'], found['kind'])
    system = PatternedSystem(model, forward_dynamics(model))
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


@pytest.mark.shows('Nori: Figures 1 and 2')
def test_figure_2__permuting_gains_a_factor_of_two(load_cells):
    sizes = np.array(SIZES[2:])
    for kind in example.CHAINS:
        unpermuted = load_cells[f'LU, unpermuted, {kind}']
        gain = unpermuted / load_cells[f'LU, little fill, {kind}']
        assert np.all(gain > 2.0), gain
        by_colamd = unpermuted / load_cells[f'LU, COLAMD, {kind}']
        assert np.all(by_colamd > 1.0), by_colamd
        slopes = load_cells[f'LU, little fill, {kind}'] / sizes
        assert slopes.max() < 2.5 * slopes.min()  # linear in the number of links
