#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Repeat the numerical validation of [Bos 2022, section 5] and draw its figure 5.

A tree with nine joints (revolute, prismatic and helical, about x, y and z) is drawn at random
100 times: placements, inertias, state and efforts. The derivatives of its forward dynamics are
compared with forward differences on the manifold, Eqs. (82)-(87), for perturbations from 0.1 to
1e-12. Derivatives and forward dynamics are those of the `Linearizer`, or with ``--tables`` those
of Tables 4 to 9, which takes minutes.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geolin_papers.bos_2022 import (
    extended_inverse_dynamics,
    inverse_mass_matrix,
    linearization,
)
from geolin_ros import Description, Joint, Linearizer, Link, State, TreeModel
from geolin_ros.spatial import se3

Array = NDArray[np.float64]

# Figure 4 shows a branch at the base and branches further out; joint i moves link i.
PARENTS = (0, 1, 2, 0, 2, 4, 0, 7, 7)
KINDS = {'R': 'revolute', 'P': 'prismatic', 'H': 'helical'}
JOINTS = ('Rx', 'Py', 'Hz', 'Px', 'Ry', 'Hx', 'Hy', 'Rz', 'Pz')
PITCH = 0.3  # m/rad; the paper gives none
N = len(JOINTS)
M = 6 + N
VARIABLES = ('H', 's', 'v', 'r')
PERTURBATIONS = tuple(10.0**-k for k in range(1, 13))
PAPER = {  # Eqs. (88)-(91), at 1e-6
    'H': (4.1023e-5, 2.3560e-6),
    's': (4.6853e-3, 1.3604e-4),
    'v': (1.8230e-5, 1.3021e-6),
    'r': (1.5693e-4, 1.3766e-6),
}


class Draw(NamedTuple):
    """One random robot at one random motion."""

    model: TreeModel
    state: State
    tau: Array


class Error(NamedTuple):
    """Eqs. (86) and (87), taken entry by entry of D_idx FD."""

    max: float
    avg: float


def draw_robot(rng: np.random.Generator) -> TreeModel:
    """Return the tree of figure 4 with random placements and inertias.

    The paper draws positive definite matrices, which no rigid body need have; these links are
    bodies: R R' of a random R is their matrix of mass and moments of first and second order.
    """
    placements = [se3.exp(rng.uniform(size=6)) for _ in PARENTS]
    links = tuple(draw_link(rng, f'link{i}') for i in range(N + 1))
    joints = tuple(
        Joint(
            name=f'{i}_{joint}',
            kind=KINDS[joint[0]],
            parent=f'link{parent}',
            child=f'link{i}',
            placement=placement,
            axis=np.eye(3)['xyz'.index(joint[1])],
            pitch=PITCH if joint[0] == 'H' else 0.0,
        )
        for i, (joint, parent, placement) in enumerate(
            zip(JOINTS, PARENTS, placements, strict=True), start=1
        )
    )
    description = Description('tree of figure 4', links, joints)
    return TreeModel.from_description(description, joints=[joint.name for joint in joints])


def draw_link(rng: np.random.Generator, name: str) -> Link:
    """Return a body with random mass, centre of mass and moments."""
    root = rng.uniform(size=(4, 4))
    moments = root @ root.T
    mass = moments[3, 3]
    com = moments[:3, 3] / mass
    about_com = moments[:3, :3] - mass * np.outer(com, com)
    return Link.from_mass(name, mass, com, np.trace(about_com) * np.eye(3) - about_com)


def draw_motion(rng: np.random.Generator, model: TreeModel) -> Draw:
    """Return a random motion, uniform over [0, 1), and the efforts that are consistent with it."""
    H = se3.exp(np.concatenate((np.zeros(3), rng.uniform(size=3))))
    H[:3, 3] = rng.uniform(size=3)
    s, inertial_twist, r, r_dot = (rng.uniform(size=k) for k in (N, 6, N, N))
    v = se3.adjoint(se3.inverse(H)) @ inertial_twist
    motion = extended_inverse_dynamics(model.tree, H, s, v, r, r_dot, model.gravity)
    return Draw(model, State(H, s, v, r), motion.tau_bar[6:])


def draws(count: int, seed: int) -> Iterator[Draw]:
    """Yield random robots at random motions."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        model = draw_robot(rng)
        yield draw_motion(rng, model)


def differences(forward_dynamics: Callable[[State], Array], state: State, delta: float) -> Array:
    """Return D FD (M, 2 M) by forward differences to g exp(delta e_k), Eqs. (82)-(85)."""
    start = forward_dynamics(state)
    columns = [
        (forward_dynamics(state.retract(delta * direction)) - start) / delta
        for direction in np.eye(2 * M)
    ]
    return np.array(columns).T


def errors(exact: Array, approximate: Array) -> dict[str, Error]:
    """Return Eqs. (86) and (87) for each variable from two arrays (draws, M, 2 M).

    Entries that are zero by structure, up to rounding, have no relative error and are left out:
    gravity accelerates all bodies alike, so that H moves six entries only.
    """
    found = {}
    edges = (0, 6, M, M + 6, 2 * M)
    for k, name in enumerate(VARIABLES):
        columns = slice(edges[k], edges[k + 1])
        size = np.mean(np.abs(exact[:, :, columns]), axis=0)
        nonzero = size > 1e-9 * size.max()
        apart = np.abs(exact[:, :, columns] - approximate[:, :, columns])
        relative = apart[:, nonzero] / size[nonzero]
        found[name] = Error(float(relative.max()), float(relative.mean()))
    return found


Dynamics = Callable[[State], Array]


def by_linearizer(draw: Draw) -> tuple[Array, Dynamics]:
    """Return D FD (M, 2 M) of a draw and its forward dynamics, by the engine."""
    lin = Linearizer(draw.model)

    def forward_dynamics(state: State) -> Array:
        return lin(state, draw.tau).nu_dot.copy()

    return lin(draw.state, draw.tau).A[M:].copy(), forward_dynamics


def by_tables(draw: Draw) -> tuple[Array, Dynamics]:
    """Return the same by Tables 4 to 9: Eqs. (42) and (19)."""
    tree, gravity, at = draw.model.tree, draw.model.gravity, draw.state
    A, _, _ = linearization(tree, at.H, at.s, at.v, at.r, draw.tau, gravity)
    applied = np.concatenate((np.zeros(6), draw.tau))

    def forward_dynamics(state: State) -> Array:
        bias = extended_inverse_dynamics(
            tree, state.H, state.s, state.v, state.r, np.zeros(N), gravity, np.zeros(6)
        )
        nu_dot: Array = inverse_mass_matrix(tree, state.s) @ (applied - bias.tau_bar)
        return nu_dot

    return A[M:], forward_dynamics


def sweep(
    count: int = 100,
    seed: int = 2024,
    perturbations: Sequence[float] = PERTURBATIONS,
    by: Callable[[Draw], tuple[Array, Dynamics]] = by_linearizer,
) -> list[dict[str, Error]]:
    """Return the errors of every perturbation."""
    exact, approximate = [], [[] for _ in perturbations]
    for draw in draws(count, seed):
        derivative, forward_dynamics = by(draw)
        exact.append(derivative)
        for found, delta in zip(approximate, perturbations, strict=True):
            found.append(differences(forward_dynamics, draw.state, delta))
    return [errors(np.array(exact), np.array(found)) for found in approximate]


def mean(found: dict[str, Error]) -> Error:
    """Return what figure 5 draws: the mean over the four variables."""
    return Error(*np.mean(list(found.values()), axis=0))


def draw_figure(perturbations: Sequence[float], found: list[dict[str, Error]], path: Path) -> None:
    """Draw the errors over the perturbation, as figure 5."""
    import matplotlib

    matplotlib.use('Agg')
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.0, 4.0), layout='constrained')
    means = [mean(of_one) for of_one in found]
    axes.loglog(perturbations, [error.max for error in means], 'o-', label='mean of $e^{max}$')
    axes.loglog(perturbations, [error.avg for error in means], 's-', label='mean of $e^{avg}$')
    axes.set_xlabel('perturbation')
    axes.set_ylabel('relative error of forward differences')
    axes.grid(visible=True, which='major', alpha=0.4)
    axes.legend()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def report(perturbations: Sequence[float], found: list[dict[str, Error]]) -> str:
    """Return the errors beside those of the paper, as text."""
    lines = ['perturbation   mean e_max   mean e_avg']
    for delta, of_one in zip(perturbations, found, strict=True):
        lines.append(f'{delta:12.0e}   {mean(of_one).max:10.2e}   {mean(of_one).avg:10.2e}')
    if 1e-6 in perturbations:
        at = found[list(perturbations).index(1e-6)]
        lines += ['', 'at 1e-6        e_max        e_avg   paper e_max  paper e_avg']
        for name, error in at.items():
            theirs = PAPER[name]
            lines.append(
                f'  by {name}   {error.max:12.2e} {error.avg:12.2e} '
                f'{theirs[0]:13.2e} {theirs[1]:12.2e}'
            )
    return '\n'.join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment, print its errors, save the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--draws', type=int, default=100, help='random robots (default 100)')
    parser.add_argument('--seed', type=int, default=2024, help='of the draws (default 2024)')
    parser.add_argument(
        '--output',
        type=Path,
        default=Path('paper_experiment.png'),
        help='where the figure goes (default paper_experiment.png)',
    )
    parser.add_argument('--tables', action='store_true', help='by the tables, not the engine')
    options = parser.parse_args(arguments)
    if options.draws < 1:
        parser.error(f'--draws is {options.draws}, expected at least 1')
    by = by_tables if options.tables else by_linearizer
    found = sweep(options.draws, options.seed, by=by)
    print(report(PERTURBATIONS, found))
    draw_figure(PERTURBATIONS, found, options.output)
    print(f'\nfigure saved as {options.output}')


if __name__ == '__main__':
    main()
