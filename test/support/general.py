# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The linearization of any robot under any contacts by complex steps, as referee of the engine.

    M nu_dot + h = [0; tau] + J' lam,   J nu_dot + gamma = 0,   Lam = J M^-1 J'            (1)
    lam = -Lam^+ (J M^-1 ([0; tau] - h) + gamma)                                           (2)

With D and dc the derivatives of both residuals of (1), nu_dot and lam held, N a basis of null(J')
and J w = lam:

    dlam = -Lam^+ (dc - J M^-1 D) + N N' d(J w),   dnu_dot = M^-1 (-D + J' dlam)           (3)

Residuals are those of `geolin_ros.verification`, which knows nothing of the engine's algorithms.
"""

import numpy as np

from geolin_ros.verification.accelerations import PrescribedAccelerations
from geolin_ros.verification.bodies import Bodies
from geolin_ros.verification.certificate import Directional, Form
from geolin_ros.verification.group import IMAGINARY, STEP


class Dense:
    """What a `Linearizer` finds, of its names; rows of torques are weighed by the length."""

    def __init__(self, model, state, tau, wrenches=(), contacts=(), length=0.1):
        bodies, m, tau = Bodies(model), model.m, np.asarray(tau, dtype=float)
        at, k, inputs = bodies.point(state), 2 * model.m, np.arange(model.n)[model.actuated]
        free = PrescribedAccelerations(bodies, (), wrenches)
        both = np.eye(k + inputs.size)
        kinematics = Directional(Form(), free, state, tau)(*np.split(both, [k]))[:m]

        efforts = np.zeros((len(both), model.n))
        efforts[:, inputs] = both[:, k:]
        moved, about = bodies.retract(at, IMAGINARY * both[:, :k]), at.G[0, 0, :3, 3]
        acting = PrescribedAccelerations(bodies, contacts, wrenches)
        (M, J), frames = acting.matrices(at), bodies.motion(moved, about)
        held = [contact for contact in contacts if contact.active]
        W, size = [np.zeros(0)], sum(6 if c.kind == 'surface' else 3 for c in held)
        T = np.zeros((len(both), size, size), complex)  # to axes of contacts, from those there
        for contact, closure in zip(acting._contacts, held, strict=True):
            first = sum(map(len, W))
            rows = slice(first, first + (6 if closure.kind == 'surface' else 3))
            W.append(np.repeat((1.0, length), 3)[: rows.stop - first])
            T[:, rows, rows] = np.eye(rows.stop - first)
            if closure.kind == 'point':
                H = contact.ends(frames, 0.0 * frames.V, about)[0].H
                T[:, rows, rows] = np.swapaxes(H[:, :3, :3], 1, 2)
        W, turn, T = np.concatenate(W), T.imag / STEP, T[0].real
        self.M, self.J = M, T @ J
        Jw = W[:, np.newaxis] * self.J
        response = np.linalg.solve(M, Jw.T)
        w, U = np.linalg.eigh(Jw @ response)
        kept = w > 1e-9 * np.max(w, initial=0.0)
        inverse, N = U[:, kept] / w[kept] @ U[:, kept].T, U[:, ~kept]
        self.rank, self.smallest_kept = int(kept.sum()), w[kept][0] / w[-1] if w.size else 0.0

        def change(nu_dot, lam):
            """Return the derivatives of both residuals of (1), rows in axes of the contacts."""
            x = np.concatenate((nu_dot, T.T @ lam))
            r = acting._residual(moved, tau + IMAGINARY * efforts, x).T
            D = r[:m].imag / STEP - J.T @ np.einsum('kij,i->jk', turn, lam)
            return D, T @ r[m:].imag / STEP + np.einsum('kij,j->ik', turn, r[m:, 0].real)

        self.change = change
        bias = acting._residual(at, tau[np.newaxis], np.zeros(m + size))[0]
        self.bias, self.gamma = bias[:m], T @ bias[m:]
        by_efforts, none = -np.linalg.solve(M, self.bias), np.zeros(size)
        asked = Jw @ by_efforts + W * self.gamma
        self.contradiction = np.linalg.norm(N.T @ asked) / max(np.linalg.norm(asked), 1e-300)
        lam = -inverse @ asked
        self.nu_dot, self.wrenches = by_efforts + response @ lam, W * lam
        D, dc = change(self.nu_dot, self.wrenches)
        dlam = -inverse @ (W[:, np.newaxis] * dc - response.T @ D)
        if N.size:
            w = response @ inverse @ lam
            turned = change(w, none)[1] - change(0.0 * w, none)[1]
            dlam += N @ (N.T @ (W[:, np.newaxis] * turned))
        by_z = np.vstack((kinematics, np.linalg.solve(M, -D) + response @ dlam))
        self.A, self.B = by_z[:, :k], by_z[:, k:]
        dlam = W[:, np.newaxis] * dlam
        self.wrench_by_state, self.wrench_by_tau = dlam[:, :k], dlam[:, k:]


class Reduced:
    """The same for contacts that are independent, along a basis N of the motions they leave.

        N' (M nu_dot + h - S tau) = 0,     J nu_dot + gamma = 0

    and so for derivatives. The ``condition`` is that of N' M N, which light bodies do not make
    worse, locked motions counting by how heavy they are; or, squared, that of J.
    """

    def __init__(self, model, state, tau, contacts=()):
        found, m = Dense(model, state, tau, contacts=contacts), model.m
        self.M, self.J, self.gamma = M, J, gamma = found.M, found.J, found.gamma
        _, sizes, directions = np.linalg.svd(J)
        self.rank = rank = int(np.sum(sizes > 1e-9 * np.max(sizes, initial=0.0)))
        N, J_inverse = directions[rank:].T, np.linalg.pinv(J, rcond=1e-9)
        inner = N.T @ M @ N

        def solve(force, c):
            asked = -J_inverse @ c
            return asked + N @ np.linalg.solve(inner, N.T @ (force - M @ asked))

        self.nu_dot = solve(-found.bias, gamma)
        self.wrenches = J_inverse.T @ (M @ self.nu_dot + found.bias)
        D, dc = found.change(self.nu_dot, self.wrenches)
        by_z = solve(-D, dc)
        self.A, self.B = found.A.copy(), found.B.copy()
        self.A[m:], self.B[m:] = by_z[:, : 2 * m], by_z[:, 2 * m :]
        self.wrench_by_state = (J_inverse.T @ (M @ by_z + D))[:, : 2 * m]
        self.condition = np.linalg.norm(M, 2) / np.linalg.eigvalsh(inner)[0] if inner.size else 1.0
        if rank:
            self.condition = max(self.condition, (sizes[0] / sizes[rank - 1]) ** 2)


class Referee:
    """Called as a `Linearizer`; contacts are those of the beginning."""

    def __init__(self, model, contacts=(), length=0.1):
        self.model, self.contacts, self.length = model, tuple(contacts), length

    def __call__(self, state, tau):
        return Dense(self.model, state, tau, contacts=self.contacts, length=self.length)


def linearization(model, state, tau, wrenches=()):
    """Return A, B and nu_dot with the rows, columns and inputs of the model."""
    found = Dense(model, state, tau, wrenches)
    return found.A, found.B, found.nu_dot


def mass_matrix(model, state):
    """Return M (m, m)."""
    bodies = Bodies(model)
    return PrescribedAccelerations(bodies, ()).matrices(bodies.point(state))[0]
