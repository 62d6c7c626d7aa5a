# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a set of sensors determines, before anything is solved."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from geolin_estimation.sparse.system import BlockSystem
from geolin_ros.model.state import State
from geolin_ros.optional import optional
from geolin_ros.typing import Array

sparse = optional('scipy.sparse', extra='estimation')
csgraph = optional('scipy.sparse.csgraph', extra='estimation')

RANK_TOLERANCE = 1e-10
"""Singular values below this part of the largest one count as zero."""
_KINDS = ('tau', 'qdd', 'fx', 'f', 'a')
_ROUNDING = 1e-14
_SHARE = 1e-6  # of a unit vector of the null space, to be named


class Solvability(NamedTuple):
    """What D (rows, unknowns) determines."""

    rows: int
    unknowns: int
    structural_rank: int
    """The highest rank that the pattern allows."""
    ranks: tuple[int, ...]
    """Numerical rank at each of the states."""
    smallest: tuple[float, ...]
    """The smallest of as many singular values as there are unknowns, relative to the largest one,
    at each of the states; zero if there are fewer rows."""
    undetermined: tuple[str, ...]
    """Unknowns that the readings leave open at some of the states."""
    exact_rows: int
    exact_rank: int
    """Rows without noise, and their lowest numerical rank; below: some of the readings that count
    as exact repeat or contradict others."""

    @property
    def solvable(self) -> bool:
        """Whether every unknown is determined at every one of the states."""
        return min(self.ranks) == self.unknowns

    def __str__(self) -> str:
        """Return the report as text."""
        lines = [
            f'{self.rows} rows, {self.unknowns} unknowns, structural rank {self.structural_rank}',
            f'numerical rank {", ".join(map(str, self.ranks))}; smallest singular value '
            f'{", ".join(f"{value:.1e}" for value in self.smallest)} of the largest',
        ]
        if self.exact_rank < self.exact_rows:
            lines.append(f'{self.exact_rows} exact rows of rank {self.exact_rank}: redundant')
        if self.undetermined:
            lines.append(f'not determined: {shortened(self.undetermined)}')
        return '\n'.join([*lines, 'solvable' if self.solvable else 'not solvable'])


def shortened(names: Sequence[str], most: int = 12) -> str:
    """Return names of unknowns as text, at most a dozen: joints and external wrenches first."""
    names = sorted(names, key=lambda name: _KINDS.index(name.partition('[')[0]))
    rest = f' and {len(names) - most} more' if len(names) > most else ''
    return ', '.join(names[:most]) + rest


def solvability(
    system: BlockSystem, states: Sequence[State] = (), tolerance: float = RANK_TOLERANCE
) -> Solvability:
    """Report what the sensors of a system determine; three generic states by default.

    Ranks are by singular values of D with its rows scaled to a largest entry of one: some
    seconds with a thousand unknowns.
    """
    ranks, smallest, exact_ranks = [], [], []
    open_unknowns = np.zeros(system.size, dtype=bool)
    for state in states or [system.generic_state(seed) for seed in range(3)]:
        D = _scaled_matrix(system, state)
        _, sigma, V = np.linalg.svd(D)
        ranks.append(_rank(sigma, tolerance))
        open_unknowns |= np.any(np.abs(V[ranks[-1] :]) > _SHARE, axis=0)
        smallest.append(float(sigma[-1] / sigma[0]) if D.shape[0] >= D.shape[1] else 0.0)
        if not system.exact.all():
            sigma = np.linalg.svd(D[system.exact], compute_uv=False)
        exact_ranks.append(_rank(sigma, tolerance))
    pattern = np.abs(_scaled_matrix(system, system.generic_state())) > _ROUNDING
    return Solvability(
        rows=system.rows,
        unknowns=system.size,
        structural_rank=int(csgraph.structural_rank(sparse.csr_matrix(pattern))),
        ranks=tuple(ranks),
        smallest=tuple(smallest),
        undetermined=tuple(np.array(system.labels)[open_unknowns].tolist()),
        exact_rows=int(system.exact.sum()),
        exact_rank=min(exact_ranks),
    )


def _scaled_matrix(system: BlockSystem, state: State) -> Array:
    system.update(state, np.zeros(system.rows - system.equations))
    D = system.matrix().toarray()
    scaled: Array = D / np.abs(D).max(axis=1, keepdims=True)
    return scaled


def _rank(sigma: Array, tolerance: float) -> int:
    return int(np.sum(sigma > tolerance * sigma.max(initial=0.0)))
