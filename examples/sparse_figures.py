#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Redraw figures 1 and 2 of [Nori]: operations of sparse LU factorizations on serial chains.

Figure 1: forward dynamics, beside the articulated-body algorithm. Figure 2: torques of a chain
with load cells at both ends; the recursive Newton-Euler algorithm, which needs all accelerations,
shows the scale. Counted are additions and multiplications of factorization and substitutions;
products with 1 or -1 are free, and so is what all need beforehand: transforms, twists and right
sides. Unpermuted: columns link by link, rows by partial pivoting, as in the published code of the
paper. Permuted: the order of the articulated-body algorithm, the one that COLAMD with threshold
pivoting finds for this chain, and one of little fill.
Of the matrix form of Property 2 the products of W_L and D and the forward substitution are
counted, as in the published code of the paper; its factors are taken as given.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from geolin_estimation.sparse import (
    ALL_BUT_YAW_MOMENT,
    Sensor,
    all_external_wrenches,
    external_wrench,
    force_torque,
    forward_dynamics,
    joint_acceleration,
)
from scipy import sparse
from scipy.sparse import linalg

from geolin_papers.nori_2017.articulated import factors
from geolin_papers.nori_2017.factorization import Order, PatternedSystem, fill_in, ordered_rows
from geolin_papers.nori_2017.minimum_fill import minimum_fill_order
from geolin_papers.nori_2017.orders import articulated_body_order, count_operations
from geolin_ros import Description, Joint, Link, TreeModel
from geolin_ros.typing import IntArray

SIZES = (2, 3, 5, 8, 10, 12, 15, 20, 25, 30)
LOAD_CELL_SIZES = SIZES[2:]
CHAINS = ('right angles', 'any placement')
COLOURS = {
    'articulated-body algorithm': 'black',
    'LU, unpermuted': 'tab:red',
    'LU, articulated-body order': 'tab:blue',
    'LU, COLAMD': 'tab:orange',
    'LU, little fill': 'tab:purple',
    'matrix form of Property 2': 'tab:green',
    'recursive Newton-Euler algorithm': 'black',
}
ROUNDING = 1e-12  # of the largest entry: what counts as a zero that cancels


class Cost(NamedTuple):
    """What a solution takes."""

    operations: int
    fill: int | None = None
    """Nonzeros of L and U beyond those of D."""


def chain(count: int, kind: str) -> TreeModel:
    """Return a fixed-base chain of revolute joints, one of `CHAINS`."""
    rng = np.random.default_rng(count)
    links, joints = [Link('link0')], []
    for i in range(1, count + 1):
        H = np.array([[1.0, 0, 0, 0.3], [0, 0, -1.0, 0], [0, 1.0, 0, 0], [0, 0, 0, 1.0]])
        com, rotational = np.array([0.1, 0.0, 0.0]), np.diag([0.02, 0.03, 0.04])
        if kind == 'any placement':
            Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
            Q = Q * np.sign(np.diag(R))
            H[:3, :3] = Q * np.sign(np.linalg.det(Q))
            H[:3, 3], com = rng.uniform(-0.3, 0.3, (2, 3))
            rotational = H[:3, :3] @ rotational @ H[:3, :3].T
        links.append(Link.from_mass(f'link{i}', 1.0, com, rotational))
        joints.append(
            Joint(
                f'joint{i}', 'revolute', f'link{i - 1}', f'link{i}',
                placement=H, axis=np.array([0.0, 0.0, 1.0]),
            )
        )  # fmt: skip
    return TreeModel.from_description(
        Description(f'chain of {count}', tuple(links), tuple(joints)), base='fixed'
    )


def load_cells_at_both_ends(model: TreeModel) -> tuple[Sensor, ...]:
    """Return a square set with five components measured at each end.

    The paper's own system has four rows too many and is square here as in its published code: the
    first link stands for one foot, and the accelerations of the two joints at each end are left
    unmeasured.
    """
    tip = model.body_names[-1]
    return (
        *all_external_wrenches(model, but=(tip,)),
        force_torque(model, model.body_names[1], ALL_BUT_YAW_MOMENT),
        external_wrench(model, tip, ALL_BUT_YAW_MOMENT),
        *(joint_acceleration(name) for name in model.joint_names[2:-2]),
    )


def colamd_order(system: PatternedSystem) -> Order:
    """Return the order that SuperLU finds at a generic state."""
    return order_by_superlu(system, np.arange(system.size), 'COLAMD', 0.1)


def unpermuted_order(system: PatternedSystem) -> Order:
    """Return columns link by link, a, f, tau, fx, qdd, and rows by partial pivoting."""
    nb, m, columns = system.nb, system.m, []
    for i in range(nb):
        rates, six = np.array(system.joint_columns(i), np.int64), 6 * i + np.arange(6)
        columns += [six, 6 * nb + six, 18 * nb + rates, 12 * nb + six, 18 * nb + m + rates]
    return order_by_superlu(system, np.concatenate(columns), 'NATURAL', 1.0)


def order_by_superlu(
    system: PatternedSystem, columns: IntArray, permutation: str, threshold: float
) -> Order:
    """Return the order in which SuperLU eliminates at a generic state, columns as given."""
    system.update(system.generic_state(), np.zeros(system.rows - system.equations))
    D = system.matrix().tocsc()[:, columns]
    options = {'Equil': False, 'SymmetricMode': False}
    lu = linalg.splu(D, permutation, diag_pivot_thresh=threshold, options=options)
    return Order(np.argsort(lu.perm_r).astype(np.int64), columns[np.argsort(lu.perm_c)])


def cost(system: PatternedSystem, order: Order | None) -> Cost:
    """Count a solution in a fixed order."""
    assert order is not None, 'the articulated-body order serves forward dynamics'
    fill = fill_in(ordered_rows(system, order)).nonzeros - system.row.size
    return Cost(count_operations(system, order).total, fill)


def articulated_body_algorithm(count: int) -> Cost:
    """Return the operations of the articulated-body algorithm on a serial chain.

    Transforms and twists included: the count that the published code of [Nori] takes from
    [Featherstone 2008, page 202].
    """
    multiplications, additions = 224 * count - 259, 205 * count - 248
    return Cost(multiplications + additions)


def product(A: sparse.csr_matrix, B: sparse.csr_matrix) -> tuple[sparse.csr_matrix, int]:
    """Return A B and the operations that it takes."""
    terms = (A != 0.0).astype(np.int64) @ (B != 0.0).astype(np.int64)
    multiplications = needs_product(A).astype(np.int64) @ needs_product(B).astype(np.int64)
    return (A @ B).tocsr(), int(multiplications.sum() + terms.sum()) - terms.nnz


def needs_product(A: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return which entries are not 0, 1 or -1."""
    needed = (A.data != 0.0) & (abs(A.data) != 1.0)
    return sparse.csr_matrix((needed, A.indices, A.indptr), A.shape)


def matrix_form(system: PatternedSystem) -> Cost:
    """Return the operations of Property 2: of W_L D, factor by factor, and of a substitution."""
    system.update(system.generic_state(), np.zeros(system.rows - system.equations))
    (W, *others), right = factors(system)
    total = 0
    for factor in others:
        W, operations = product(factor, W)
        total += operations
    W, operations = product(W, system.matrix())
    triangle = (W @ right).tocsr()
    triangle.data[abs(triangle.data) < ROUNDING * abs(triangle.data).max()] = 0.0
    triangle.eliminate_zeros()
    multiplications = needs_product(triangle).sum()
    return Cost(int(total + operations + multiplications) + triangle.nnz - system.size)


def recursive_newton_euler(count: int) -> Cost:
    """Return the operations of inverse dynamics on a serial chain, transforms included.

    [Featherstone 2008, page 202], as in the published code of [Nori].
    """
    multiplications, additions = 93 * count - 108, 81 * count - 100
    return Cost(multiplications + additions)


ORDERS = {
    'LU, unpermuted': unpermuted_order,
    'LU, articulated-body order': articulated_body_order,
    'LU, COLAMD': colamd_order,
    'LU, little fill': minimum_fill_order,
}


def figure_1(sizes: Sequence[int] = SIZES) -> dict[str, list[Cost]]:
    """Return the cost of forward dynamics by method, one for each size."""
    curves = {'articulated-body algorithm': [articulated_body_algorithm(n) for n in sizes]}
    for kind in CHAINS:
        models = [chain(n, kind) for n in sizes]
        systems = [PatternedSystem(model, forward_dynamics(model)) for model in models]
        for name, order_of in ORDERS.items():
            curves[f'{name}, {kind}'] = [cost(system, order_of(system)) for system in systems]
        curves[f'matrix form of Property 2, {kind}'] = [matrix_form(system) for system in systems]
    return curves


def figure_2(sizes: Sequence[int] = LOAD_CELL_SIZES) -> dict[str, list[Cost]]:
    """Return the cost of torques with load cells at both ends; from five links on."""
    curves = {'recursive Newton-Euler algorithm': [recursive_newton_euler(n) for n in sizes]}
    for kind in CHAINS:
        models = [chain(n, kind) for n in sizes]
        systems = [PatternedSystem(model, load_cells_at_both_ends(model)) for model in models]
        for name in ('LU, unpermuted', 'LU, COLAMD', 'LU, little fill'):
            counts = [cost(system, ORDERS[name](system)) for system in systems]
            curves[f'{name}, {kind}'] = counts
    return curves


def draw(path: Path) -> None:
    """Draw both figures and the fill-in, and print their numbers."""
    import matplotlib

    matplotlib.use('Agg')
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.2), layout='constrained')
    forward, load_cells = figure_1(), figure_2()
    fills = {name: costs for name, costs in forward.items() if costs[0].fill is not None}
    operations, fill = (lambda cost: cost.operations), (lambda cost: cost.fill)
    for axis, sizes, curves, number, title in (
        (axes[0], SIZES, forward, operations, 'Figure 1: operations of forward dynamics'),
        (axes[1], SIZES, fills, fill, 'Fill-in of its factors'),
        (axes[2], LOAD_CELL_SIZES, load_cells, operations, 'Figure 2: operations with load cells'),
    ):
        print(f'{title}, {", ".join(map(str, sizes))} links')
        for name, costs in curves.items():
            numbers = [number(cost) for cost in costs]
            print(f'  {name}: {", ".join(map(str, numbers))}')
            method = name.removesuffix(f', {CHAINS[0]}').removesuffix(f', {CHAINS[1]}')
            style = '--' if name.endswith(CHAINS[1]) else '-'
            label = '_' if style == '--' else method
            axis.plot(sizes, numbers, style, marker='.', color=COLOURS[method], label=label)
        axis.set(title=title, xlabel='links', ylim=(0.0, None))
        axis.grid(alpha=0.3)
        axis.legend(fontsize=9, loc='upper left', frameon=False)
    axes[0].set_ylabel('additions and multiplications')
    axes[1].set_ylabel('entries that D does not have')
    axes[2].set_ylabel('additions and multiplications')
    figure.supxlabel(f'full: axes at {CHAINS[0]}; dashed: {CHAINS[1]}', fontsize=9)
    figure.savefig(path)
    pyplot.close(figure)
    print(f'drawn to {path}')


def main() -> None:
    """Parse the arguments and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--output', type=Path, default=Path('sparse_figures.png'))
    draw(parser.parse_args().output)


if __name__ == '__main__':
    main()
