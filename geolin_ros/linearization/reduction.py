# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The motions that contacts admit, as a linear system of their own.

On the contact manifold J nu = 0, so that displacements z = [z_q; z_v] from one of its states obey

    E z = 0,   E = [[J, 0], [d(J nu)/dz]],   z = P y,   P'P = 1,   range(P) = null(E)         (1)

in SI units. At rest P = blkdiag(N, N) with N'N = 1, range(N) = null(J). Feedback that leaves out
what the contacts forbid projects along the mass matrix, not orthogonally:

    y = L z,   L = (P' Mb P)^-1 P' Mb,   Mb = blkdiag(M, M)                                   (2)
    at rest  L = blkdiag(W, W),   W = (N'MN)^-1 N'M                                           (3)

so that L P = 1 and contact forces have no share in W's momentum. Along a motion P turns; in the
gauge P' Pdot = 0, which polar factors of projected bases follow, ydot = A_r y + B_r du with

    A_r = P' A P,   B_r = P' B                                                                (4)

Another basis Q = P T gives T^-1 A_r T and the same gain K_r L in full coordinates.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.errors import ConfigurationError, UnsolvableError
from geolin_ros.linearization.discretization import check_step, zero_order_hold
from geolin_ros.linearization.result import Linearization
from geolin_ros.typing import Array

TURNED_TOO_FAR = 1e-3  # smallest singular value of a projected basis that still can be followed


class Bases(NamedTuple):
    """Orthonormal bases of what contacts admit."""

    N: Array
    """(m, k / 2) of velocities."""
    P: Array
    """(2 m, k) of displacements."""
    at_rest: bool
    """Whether P = blkdiag(N, N)."""


@dataclass(frozen=True, eq=False)
class ReducedLinearization:
    """ydot = A y + B du for the displacements z = P y that the contacts admit.

    Attributes
    ----------
    A : (k, k)
        k = 2 (m - rank). Its eigenvalues mean something at equilibria; elsewhere they depend on
        how P turns.
    B : (k, n_u)
    P : (2 m, k)
        Orthonormal basis of the admissible displacements; at rest blkdiag(N, N).
    N : (m, k / 2)
        Orthonormal basis of the admissible velocities, J N = 0.
    W : (k / 2, m)
        The projection on them along M, Eq. (3).
    M : (m, m)
        Mass matrix.
    L : (k, 2 m)
        Projection of displacements along M, Eq. (2), L P = 1.
    wrench_by_state : (rows, k)
        Derivative of the contact forces by y.
    wrench_by_tau : (rows, n_u)
        By the efforts of the actuated joints.
    full
        The linearization this was made of.
    """

    A: Array
    B: Array
    P: Array
    N: Array
    W: Array
    M: Array
    L: Array
    wrench_by_state: Array
    wrench_by_tau: Array
    full: Linearization

    def full_gain(self, K: ArrayLike) -> Array:
        """Return K L (inputs, 2 m), which acts on z as K (inputs, k) does on y."""
        return np.asarray(K, dtype=np.float64) @ self.L

    def discretize(self, dt: float) -> tuple[Array, Array]:
        """Return Phi (k, k) and Gamma (k, n_u) of y(t + dt) for constant efforts, A and B.

        Exact at equilibria; along a motion reduce a step of the robot: P_end' Phi P_start,
        P_end' Gamma. Raises `ConfigurationError` if dt is not positive.
        """
        check_step(dt)
        return zero_order_hold(self.A, self.B, dt)


def reduce(
    C: Linearization, *, previous: ReducedLinearization | None = None
) -> ReducedLinearization:
    """Return the linear system of what the contacts admit.

    Parameters
    ----------
    C
        Of the moving reference, at a state that satisfies its contacts.
    previous
        Of a state shortly before, whose bases are carried on so that they are continuous along a
        motion. Bases start afresh where the contacts changed.

    Raises `UnsolvableError` if the contacts leave no admissible motion, `ConfigurationError` if
    the reference of C is frozen while the state moves.
    """
    M = C.geometry.M
    m = M.shape[0]
    if C.reference == 'frozen' and C.drift[:m].any():
        raise ConfigurationError(
            "the reference is 'frozen' while the state moves, expected 'moving': displacements "
            'from a state that is left behind do not stay admissible'
        )
    bases = None
    if previous is not None:
        at_rest = np.array_equal(previous.P, _at_rest(previous.N))
        bases = Bases(previous.N, previous.P, at_rest)
    N, P, at_rest = admissible_bases(C, bases)
    if not N.size:
        raise UnsolvableError(C.dropped.warnings[0])
    NM, k = N.T @ M, N.shape[1]
    W = np.asarray(np.linalg.solve(NM @ N, NM))
    if at_rest and not C.A[:m, :m].any():  # zeros that a discrete form skips
        A, B, L = np.zeros((2 * k, 2 * k)), np.zeros((2 * k, C.B.shape[1])), np.zeros_like(P.T)
        A.ravel()[k : 2 * k * k : 2 * k + 1] = 1.0
        A[k:], B[k:] = N.T @ _on_halves(C.A[m:], N), N.T @ C.B[m:]
        L[:k, :m] = L[k:, m:] = W
        wrench_by_state = _on_halves(C.wrench_by_state, N)
    else:
        A, B, Mb_P = P.T @ C.A @ P, P.T @ C.B, np.vstack((M @ P[:m], M @ P[m:]))
        L = np.asarray(np.linalg.solve(P.T @ Mb_P, Mb_P.T))
        wrench_by_state = C.wrench_by_state @ P
    by_tau = C.wrench_by_tau.copy()
    return ReducedLinearization(A, B, P, N, W, M, L, wrench_by_state, by_tau, C)


def admissible_bases(C: Linearization, previous: Bases | None = None) -> Bases:
    """Return what `reduce` reduces to; with no admissible motion they have no columns."""
    J, velocity_by_state, M = C.geometry
    m, rank = M.shape[0], C.rank
    by_position = velocity_by_state[:, :m]
    if rank < len(J):  # independent combinations of the rows
        kept = np.linalg.qr(C.dropped.dropped, mode='complete')[0][:, len(J) - rank :].T
        J, by_position = kept @ J, kept @ by_position
    Q, R = np.linalg.qr(J.T, mode='complete')
    N = Q[:, rank:]
    if previous is not None:
        N = _carried(N, previous.N)
    P, k = _at_rest(N), N.shape[1]
    if not by_position.any() and (previous is None or previous.at_rest):
        return Bases(N, P, True)
    P[m:, :k] = -Q[:, :rank] @ np.linalg.solve(R[:rank].T, by_position @ N)
    return Bases(N, nearest_basis(P, _at_rest(N) if previous is None else previous.P), False)


def _at_rest(N: Array) -> Array:
    """Return blkdiag(N, N)."""
    m, k = N.shape
    P = np.zeros((2 * m, 2 * k))
    P[:m, :k] = P[m:, k:] = N
    return P


def _on_halves(X: Array, N: Array) -> Array:
    """Return X blkdiag(N, N)."""
    return np.asarray((X.reshape(-1, len(N)) @ N).reshape(len(X), 2 * N.shape[1]))


def nearest_basis(columns: Array, previous: Array) -> Array:
    """Return an orthonormal basis of the range of columns, if it can be, near ``previous``."""
    return _carried(np.linalg.qr(columns)[0], previous)


def _carried(basis: Array, previous: Array) -> Array:
    """Return the orthonormal basis of range(basis) nearest to ``previous``, or ``basis``.

    The polar factor of the projection; ``basis`` where no nearest one exists.
    """
    if previous.shape != basis.shape or not basis.size:
        return basis
    U, sizes, Vh = np.linalg.svd(basis.T @ previous)
    return basis @ (U @ Vh) if sizes[-1] > TURNED_TOO_FAR else basis
