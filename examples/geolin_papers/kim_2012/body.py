# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The variables of a body in Tables 2 to 7 of [Kim 2012], by their names there."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from geolin_papers.kim_2012.lie_group import Ad, inverse
from geolin_ros.typing import Array


@dataclass
class Body:
    """Body i and the joint of n_i coordinates between it and its parent; [angular; linear].

    Those without a default are given; of ``q_ddot`` and ``tau`` one is, the other found. Names
    that begin with d are derivatives by p: those of Eq. (92) given, the others found.
    """

    parent: int
    """lambda(i), less than i; the ground is 0."""
    T: Array
    """(4, 4) T_(lambda(i),i): the pose of {i} in its parent's frame."""
    S: Array
    """(6, n_i) T^-1 dT/dq (the list of symbols has T^-1 dT^-1/dq: errata K5)."""
    S_dot: Array
    """(6, n_i)"""
    inertia: Array
    """(6, 6) about the origin of {i}."""
    q_dot: Array
    """(n_i,)"""
    F_ext: Array
    """(6,) acting on body i, viewed in {i}."""
    q_ddot: Array
    """(n_i,)"""
    tau: Array
    """(n_i,)"""
    in_u: bool = False
    """Whether its acceleration is prescribed, Tables 4 and 7."""

    V: Array = field(init=False)
    V_dot: Array = field(init=False)
    F: Array = field(init=False)
    eta: Array = field(init=False)
    I_hat: Array = field(init=False)
    B_hat: Array = field(init=False)
    Psi: Array = field(init=False)
    Pi: Array = field(init=False)
    beta: Array = field(init=False)

    dh: Array = field(init=False)
    """(6,) T^-1 dT/dp = S dq/dp + Ad_(E^-1) (T_0^-1 dT_0/dp), T = T_0 E(q): for any p, where
    Corollary 2 has S^k for p = q^k and zero otherwise (errata K8)."""
    dS: Array = field(init=False)
    dS_dot: Array = field(init=False)
    dinertia: Array = field(init=False)
    dF_ext: Array = field(init=False)
    dq_dot: Array = field(init=False)
    dq_ddot: Array = field(init=False)
    dtau: Array = field(init=False)
    dV: Array = field(init=False)
    dV_dot: Array = field(init=False)
    dF: Array = field(init=False)
    deta: Array = field(init=False)
    dI_hat: Array = field(init=False)
    dB_hat: Array = field(init=False)
    dPsi: Array = field(init=False)
    dPi: Array = field(init=False)
    dbeta: Array = field(init=False)

    def __post_init__(self) -> None:
        """Let nothing that is given depend on p."""
        self.dh = np.zeros(6)
        for name in ('S', 'S_dot', 'inertia', 'F_ext', 'q_dot', 'q_ddot', 'tau'):
            setattr(self, f'd{name}', np.zeros_like(getattr(self, name)))

    @property
    def X(self) -> Array:
        """Ad_(T^-1) (6, 6), from the parent's frame to {i}; its transpose is Ad*_(T^-1)."""
        return Ad(inverse(self.T))


def ground(gravity: Array, dgravity: Array | None = None) -> Body:
    """Return {0} at rest, V_dot_0 = (0, -g), g the acceleration of free fall (3,) [m/s^2].

    Footnote 6 has (0, g) (errata K6). The derivative of V_dot_0 is one of the quantities that
    Eq. (92) leaves out (errata K13).
    """
    none, rest = np.zeros(0), np.zeros(6)
    S = np.zeros((6, 0))
    body = Body(-1, np.eye(4), S, S, np.zeros((6, 6)), none, rest, none, none)
    body.V, body.dV = rest, rest
    body.V_dot = np.concatenate((np.zeros(3), -gravity))
    body.dV_dot = np.zeros(6) if dgravity is None else np.concatenate((np.zeros(3), -dgravity))
    return body


def inv(M: Array) -> Array:
    """Return M^-1."""
    return np.asarray(np.linalg.inv(M), dtype=np.float64)


def mu(bodies: Sequence[Body], i: int) -> list[Body]:
    """Return the children of body i."""
    return [body for body in bodies if body.parent == i]
