# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains of linear-quadratic regulators, u = -K x, fast enough to be computed while a robot runs.

    discrete    P = A'PA - (A'PB + S) (R + B'PB)^-1 (B'PA + S') + Q,  K = (R + B'PB)^-1 (B'PA + S')
    continuous  0 = A'P + PA - (PB + S) R^-1 (B'P + S') + Q,          K = R^-1 (B'P + S')

The continuous equation, for analysis, is SciPy's. The discrete one is solved cold by a Cayley
transform [Chu 2005], the structure-preserving doubling algorithm [Chu 2004] and Newton steps;
warm, from the gain of a moment ago, by Newton's method alone [Hewer 1971], whose Stein equations
are solved by squaring [Smith 1968]. What is found is accepted by checks that do not trust how:

    E(K, P) = Q - SK - K'S' + K'RK + F'PF - P,  F = A - BK     is small beside P
    P > 0 and P - F'PF > 0                                     by Cholesky, or by eigenvalues

|E| / |P| does not tell what a gain is worth: 1e-7 was found with gains 1 % off. A warm solution
has to keep E below what a step costs, W = Q - SK - K'S' + K'RK. A gain is what to start from,
never P: with B R^-1 B' of order 1e7 a gain made of yesterday's P is wrong by as much as itself.
"""

import contextlib
import math
import threading
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.errors import ConfigurationError, NotFiniteError, NotStabilizableError, ShapeError
from geolin_ros.kernels.engine import stein
from geolin_ros.optional import optional
from geolin_ros.typing import Array

linalg = optional('scipy.linalg', extra='control')
lapack = optional('scipy.linalg.lapack', extra='control')

RESIDUAL = 1e-9
"""Largest |E| / |P| of a cold solution."""
WARM_CORRECTION = 0.01
"""Largest |dK| / |K| of the last warm step; what remains is 1 to 20 times its square."""
WARM_ERROR = 0.05
"""Largest bound of |dK| / |K| of a further step; it is at least 3 times that, as a rule 100."""
WARM_STEPS = 3
"""More steps than these cost more than to solve cold."""
MARGIN = 1e-7
"""Least decay of the closed loop: 1 - rho^2 per step, or beside its fastest pole."""
COLD_STEPS = 5
"""Newton steps that may follow the doubling; robots need one."""
_FASTEST_SHIFT = 0.47  # of |z - 1| / 2; 0.5 would be 3, a pole of many an example
_TINY = float(np.finfo(np.float64).tiny)
_ROUNDING = 1e-14
_SETTLED = 1e-6  # doubling is quadratic: what follows is of the order of 1e-12
_DOUBLINGS, _SQUARINGS = 40, 24
_memory = threading.local()
"""What Lyapunov equations are solved in, by size."""

Method = Literal['doubling', 'warm', 'scipy']


class RiccatiSolution(NamedTuple):
    """A stabilizing solution: gain K (m, n), u = -K x, cost x'Px of the future, F = A - BK.

    ``residual`` is |E(K, P)| / |P|, of the continuous equation in units of |F|; ``correction``
    |dK| / |K| of the last Newton step, NaN of SciPy.
    """

    K: Array
    P: Array
    F: Array
    residual: float
    correction: float
    method: Method


class _Problem(NamedTuple):
    """A, B and the cost x'Qx + 2 x'Su + u'Ru = x'Hx + |L'u + Zx|^2: R = LL', Z = L^-1 S'."""

    A: Array
    B: Array
    Q: Array
    R: Array
    S: Array
    L: Array
    Z: Array
    H: Array

    def gain(self, P: Array) -> Array:
        PB = P @ self.B
        return _solve_positive(self.R + self.B.T @ PB, (self.A.T @ PB + self.S).T)

    def close(self, K: Array) -> tuple[Array, Array]:
        """Return F = A - BK, and W of what x costs a step, or a second, x'Wx."""
        V = self.L.T @ K - self.Z
        return self.A - self.B @ K, self.H + V.T @ V

    def decays(self, F: Array, P: Array, decrease: Array) -> bool:
        """Return whether F is stable, by Lyapunov's proof or, where that fails, by eigenvalues.

        ``decrease`` is P - F'PF, what x'Px loses in a step.
        """
        if _is_positive(P) and _is_positive(decrease - MARGIN * P):
            return True
        return bool(np.max(np.abs(np.linalg.eigvals(F))) ** 2 < 1.0 - MARGIN)


class _RefusedError(Exception):
    """Why one way to a solution did not lead there."""


def solve_dare(
    A: ArrayLike,
    B: ArrayLike,
    Q: ArrayLike,
    R: ArrayLike,
    S: ArrayLike | None = None,
    K0: ArrayLike | None = None,
) -> RiccatiSolution:
    """Return the gain that minimizes the sum of x'Qx + 2 x'Su + u'Ru over x+ = Ax + Bu.

    Parameters
    ----------
    A, B : (n, n), (n, m)
    Q, R, S : (n, n), (m, m), (n, m)
        Cost of the state, of the input, positive definite, and of both at once; together positive
        semidefinite.
    K0 : (m, n), optional
        Gain of a nearby problem in the same coordinates, to start from; where it turns out not to
        be near the problem is solved cold. Leave it out when contacts have changed.

    Raises
    ------
    ShapeError, NotFiniteError
        If the matrices do not fit together, or hold NaN or inf.
    ConfigurationError
        If R is not positive definite, or the cost indefinite.
    NotStabilizableError
        If no stabilizing solution is found: some mode is neither stable nor reached by an input,
        or, on the border of stability, is not seen by the cost.

    References
    ----------
    [Chu 2004], algorithm SDA; [Hewer 1971]; [Smith 1968].
    """
    problem = _checked(A, B, Q, R, S)
    with np.errstate(all='ignore'):
        if K0 is not None:
            start = np.asarray(K0, dtype=np.float64)
            if start.shape != problem.S.T.shape:
                raise ShapeError(f'K0 has shape {start.shape}, expected {problem.S.T.shape}')
            with contextlib.suppress(_RefusedError, np.linalg.LinAlgError):
                return _warm(problem, start)
        try:
            return _cold(problem)
        except (_RefusedError, np.linalg.LinAlgError) as refusal:
            raise _without_solution(problem, refusal) from refusal


def solve_care(
    A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike, S: ArrayLike | None = None
) -> RiccatiSolution:
    """Return the gain that minimizes the integral of x'Qx + 2 x'Su + u'Ru over xdot = Ax + Bu.

    By SciPy, under the same checks; arguments and errors as for `solve_dare`.
    """
    problem = _checked(A, B, Q, R, S)
    scale = _size(problem.R)  # SciPy is not free of it
    cost = problem.Q / scale, problem.R / scale
    try:
        P = linalg.solve_continuous_are(problem.A, problem.B, *cost, s=problem.S / scale)
        P = _symmetric(scale * P)
        K = _solve_positive(problem.R, (P @ problem.B + problem.S).T)
        F, W = problem.close(K)
        half, poles = F.T @ P, np.linalg.eigvals(F)
        residual = _size(W + half + half.T) / max(float(np.linalg.norm(F, 1)) * _size(P), _TINY)
        if not residual <= RESIDUAL or np.max(poles.real) >= -MARGIN * np.max(np.abs(poles)):
            raise _RefusedError(f'residual {residual:.1e}, poles up to {np.max(poles.real):.1e}')
    except (_RefusedError, ValueError, np.linalg.LinAlgError) as refusal:
        raise _without_solution(problem, refusal) from refusal
    return RiccatiSolution(K, P, F, residual, np.nan, 'scipy')


def _without_solution(problem: _Problem, refusal: Exception) -> NotStabilizableError:
    return NotStabilizableError(
        f'the Riccati equation with {len(problem.A)} states has no stabilizing solution that '
        f'stands its checks ({refusal}); expected every mode that does not decay to be reached '
        'by an input and seen by the cost: a standing robot needs A and B of reduce(C)'
    )


def _warm(problem: _Problem, K: Array) -> RiccatiSolution:
    for _ in range(WARM_STEPS):
        P, K, correction = _newton_step(problem, K)
        if correction <= WARM_CORRECTION:
            with contextlib.suppress(_RefusedError):
                return _accepted(problem, P, K, correction, 'warm')
    raise _RefusedError(f'correction {correction:.1e} after {WARM_STEPS} steps')


def _cold(problem: _Problem) -> RiccatiSolution:
    Y = lapack.dtrtrs(problem.L, problem.B.T, lower=True)[0]
    P = _double(*_cayley(problem.A - Y.T @ problem.Z, Y.T @ Y, problem.H))
    K = problem.gain(P)
    for _ in range(COLD_STEPS):
        P, K, correction = _newton_step(problem, K, P)
        try:
            return _accepted(problem, P, K, correction, 'doubling')
        except _RefusedError as error:
            refusal = error
    raise refusal


def _accepted(
    problem: _Problem, P: Array, K: Array, correction: float, method: Method
) -> RiccatiSolution:
    F, cost = problem.close(K)
    decrease = P - F.T @ P @ F
    error = cost - decrease
    residual = _size(error) / max(_size(P), _TINY)
    if method == 'warm':
        allowed = _allowed(problem, cost, P, K, decrease)
        if not (_is_positive(allowed + error) and _is_positive(allowed - error)):
            raise _RefusedError(f'residual {residual:.1e} may be of a gain that is off')
    elif not residual <= RESIDUAL:
        raise _RefusedError(f'residual {residual:.1e} exceeds {RESIDUAL:g}')
    if not problem.decays(F, P, decrease):
        raise _RefusedError('the closed loop does not decay')
    return RiccatiSolution(K, P, F, residual, correction, method)


def _allowed(problem: _Problem, cost: Array, P: Array, K: Array, decrease: Array) -> Array:
    """Return the E up to which a further Newton step changes the gain by `WARM_ERROR` at most.

    Its change of P solves X = F'XF + E; with |E| < e W, W the cost of a step, |X| < e P, and

        dK = G X F,   G = (R + B'PB)^-1 B';   |dK|^2 <= e^2 tr(G P G') tr(F'PF)              (1)
    """
    left = float(np.trace(P)) - float(np.trace(decrease))
    G = _solve_positive(problem.R + problem.B.T @ P @ problem.B, problem.B.T)
    reach = math.sqrt(max(float(np.vdot(G @ P, G)) * left, 0.0))
    allowed: Array = (WARM_ERROR * _size(K) / max(reach, _TINY)) * cost
    allowed.ravel()[:: len(P) + 1] += _ROUNDING * _size(P)
    return allowed


def _newton_step(
    problem: _Problem, K: Array, P: Array | None = None
) -> tuple[Array, Array, float]:
    """Return the cost of the gain K, the gain for that cost, and how much that has changed.

    A symmetric P near the cost of K makes the step a refinement of it.
    """
    F, E = problem.close(K)
    if P is not None:
        E = _symmetric(E - (P - F.T @ P @ F))
    X = _stein(F, E)
    P = X if P is None else P + X
    new = problem.gain(P)
    return P, new, _size(new - K) / max(_size(new), _TINY)


def _stein(F: Array, E: Array) -> Array:
    """Return X = F'XF + E for a symmetric E."""
    k = len(F)
    of_size: dict[Any, Any] = vars(_memory)
    if k not in of_size:
        of_size[k] = stein.make_work(k)
    work, parts, numbers = of_size[k]
    parts[0], parts[1] = F, E
    if not stein.stein(work, numbers, _SETTLED, _SQUARINGS):
        del of_size[k]
        raise _RefusedError('the gain to improve does not stabilize')
    X: Array = parts[1].copy()
    return X


def _double(F: Array, G: Array, H: Array) -> Array:
    """Return the solution of P = F'P (1 + GP)^-1 F + H [Chu 2004]."""
    eye = np.eye(len(F))
    for _ in range(_DOUBLINGS):
        inverse = _inverse(eye + G @ H)
        V = inverse @ F
        D = F.T @ (H @ V)
        H = H + _symmetric(D)
        if _size(D) <= _SETTLED * _size(H):
            return H
        G = G + _symmetric(F @ (inverse @ G) @ F.T)
        F = F @ V
    raise _RefusedError(f'not settled after {_DOUBLINGS} steps')


def _cayley(F: Array, G: Array, H: Array) -> tuple[Array, Array, Array]:
    """Return F, G, H of the equation with the same P whose loop has poles mu near 0 [Chu 2005].

        mu = (b z - 1) / (z - b) = b + (b^2 - 1) / (z - b),   b = (1 + g) / (1 - g)

    For g, the geometric mean of |z - 1| / 2 as z is near 1, a determinant is enough: the poles of
    the loop and of its adjoint are the eigenvalues of the pencil [F 0; -H 1] - z [1 G; 0 F'].
    """
    eye = np.eye(len(F))
    pencil = np.block([[F - eye, -G], [-H, eye - F.T]])
    sign, log_determinant = np.linalg.slogdet(pencil)
    if sign == 0.0 or not np.isfinite(log_determinant):
        raise _RefusedError('a pole at 1')
    g = min(0.5 * float(np.exp(log_determinant / len(pencil))), _FASTEST_SHIFT)
    shift = (1.0 + g) / (1.0 - g)
    factor = shift**2 - 1.0
    E = F - shift * eye
    E_inverse = _inverse(E)
    HE = H @ E_inverse
    W_inverse = _inverse(E.T + HE @ G)
    return (
        shift * eye + factor * W_inverse.T,
        _symmetric(factor * (E_inverse @ G @ W_inverse)),
        _symmetric(factor * (W_inverse @ HE)),
    )


def _checked(
    A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike, S: ArrayLike | None
) -> _Problem:
    a, b, q, r = (np.asarray(X, dtype=np.float64) for X in (A, B, Q, R))
    if a.ndim != 2 or b.ndim != 2 or not (a.size and b.size):
        raise ShapeError(f'A and B have shapes {a.shape} and {b.shape}, expected two matrices')
    n, m = len(a), b.shape[1]
    s = np.zeros((n, m)) if S is None else np.asarray(S, dtype=np.float64)
    given = ('A', a, n, n), ('B', b, n, m), ('Q', q, n, n), ('R', r, m, m), ('S', s, n, m)
    for name, X, rows, columns in given:
        if X.shape != (rows, columns):
            raise ShapeError(f'{name} has shape {X.shape}, expected ({rows}, {columns})')
        if not math.isfinite(np.vdot(X, X)) and not np.isfinite(X).all():
            raise NotFiniteError(f'{name} holds NaN or inf, expected finite numbers')
    q, r = _symmetric(q), _symmetric(r)
    L, minor = lapack.dpotrf(r.T, lower=True)
    if minor:
        raise ConfigurationError(
            f'R has the eigenvalue {np.min(np.linalg.eigvalsh(r)):.3g}, expected positive ones; '
            'every input needs a cost'
        )
    Z = lapack.dtrtrs(L, s.T, lower=True)[0]
    H = q - Z.T @ Z
    slack = 1e-9 * max(_size(q), _TINY)
    raised = H.copy()
    raised.ravel()[:: n + 1] += slack
    if not _is_positive(raised):
        raise ConfigurationError(
            f"the cost [[Q, S], [S', R]] is indefinite: Q - S R^-1 S' has the eigenvalue "
            f'{np.min(np.linalg.eigvalsh(H)):.3g}, expected none below 0'
        )
    return _Problem(a, b, q, r, s, L, Z, H)


def _is_positive(matrix: Array) -> bool:
    return not lapack.dpotrf(matrix.T, lower=True, clean=False)[1]


def _inverse(matrix: Array) -> Array:
    factors, pivots, _ = lapack.dgetrf(matrix.T)
    inverse, zero_pivot = lapack.dgetri(factors, pivots)
    if zero_pivot:
        raise _RefusedError('a pole on the shift')
    return np.asarray(inverse.T)


def _solve_positive(matrix: Array, columns: Array) -> Array:
    _, X, minor = lapack.dposv(matrix.T, columns, lower=True)
    if minor:
        raise _RefusedError('what inputs cost in the end is indefinite')
    return np.asarray(X)


def _symmetric(matrix: Array) -> Array:
    half: Array = 0.5 * (matrix + matrix.T)
    return half


def _size(matrix: Array) -> float:
    entries = matrix.ravel(order='K')
    return math.sqrt(np.vdot(entries, entries))
