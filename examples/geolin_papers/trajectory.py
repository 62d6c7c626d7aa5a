# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How a whole motion answers to its initial state and to the efforts on the way.

Along a motion g_0, g_1, ... with the efforts tau_k constant from g_k to g_(k+1), the errors
z_k = log(g_k^-1 g'_k) of a neighbouring one obey z_(k+1) = Phi_k z_k + Gamma_k dtau_k, so that

    z_j = Phi(j, i) z_i + sum over i <= k < j of Phi(j, k + 1) Gamma_k dtau_k             (1)
    Phi(j, i) = Phi_(j-1) ... Phi_i

the state transition of zdot = A z + B w along the motion [Bos 2022, Eq. (11)].
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.errors import ConfigurationError, ShapeError
from geolin_ros.linearization.discretization import Method
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.state import State
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array


@dataclass(frozen=True, eq=False)
class Transition:
    """A motion of K steps and its sensitivity.

    Attributes
    ----------
    states
        The K + 1 states g_0 ... g_K.
    Phi : (K, 2 m, 2 m)
        Of each step; fixed base m = n, [s; r].
    Gamma : (K, 2 m, n_u)
        Of each step, by the efforts of the actuated joints.
    dt
        Time step [s].
    """

    states: tuple[State, ...]
    Phi: Array
    Gamma: Array
    dt: float

    def sensitivity(self, start: int = 0, end: int | None = None) -> tuple[Array, Array]:
        """Return how g_end answers to g_start and to each effort between, Eq. (1).

        Parameters
        ----------
        start, end
            Numbers of states, 0 ... K; the end is the last one by default.

        Returns
        -------
        (2 m, 2 m), (end - start, 2 m, n_u)
            Phi(end, start), and Phi(end, k + 1) Gamma_k for each k; their sum over k is the
            sensitivity to one change of effort, constant all the way.

        Raises
        ------
        ConfigurationError
            If start and end are not in order within 0 ... K.
        """
        last = len(self.Phi)
        end = last if end is None else end
        if not 0 <= start <= end <= last:
            raise ConfigurationError(
                f'start is {start} and end is {end}, expected 0 <= start <= end <= {last}'
            )
        Phi = np.eye(self.Phi.shape[1])
        Gamma = np.empty((end - start, *self.Gamma.shape[1:]))
        for k in range(end - 1, start - 1, -1):
            Gamma[k - start] = Phi @ self.Gamma[k]
            Phi = Phi @ self.Phi[k]
        return Phi, Gamma


def transition(
    linearizer: Linearizer,
    state: State,
    taus: ArrayLike,
    dt: float,
    method: Method = 'midpoint',
    wrenches: Sequence[Wrench] = (),
) -> Transition:
    """Move on from a state under a sequence of efforts, and linearize the motion.

    [Bos 2022, Eq. (11)].

    Parameters
    ----------
    linearizer
        Of the robot.
    state
        g_0.
    taus : (K, n)
        Joint efforts, each constant over one step [N m or N].
    dt
        Time step [s].
    method
        Of `Linearizer.discretize`. With ``'rkmk4'`` the sensitivities are the exact derivatives
        of the computed states, and those of the true motion to dt^4; with ``'midpoint'`` both
        agree to dt^2, with the others to dt.
    wrenches
        External wrenches on links, the same throughout.

    Raises
    ------
    ShapeError
        If taus has not one row of n efforts a step.
    ConfigurationError, InputError, NotFiniteError, SingularInertiaError
        As `Linearizer.discretize`.

    Examples
    --------
    >>> from geolin_ros import Linearizer, TreeModel, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> motion = transition(Linearizer(model), model.neutral_state(), np.zeros((5, model.n)), 0.01)
    >>> Phi, Gamma = motion.sensitivity()
    >>> Phi.shape, Gamma.shape
    ((36, 36), (5, 36, 12))
    """
    efforts = np.asarray(taus, dtype=np.float64)
    n = linearizer.model.n
    if efforts.ndim != 2 or efforts.shape[1] != n or not len(efforts):
        raise ShapeError(
            f'taus has shape {efforts.shape}, expected (K, {n}): a row for each of K >= 1 steps'
        )
    states, steps = [state.copy()], []
    for tau in efforts:
        steps.append(linearizer.discretize(states[-1], tau, dt, method=method, wrenches=wrenches))
        states.append(steps[-1].next_state)
    return Transition(
        tuple(states),
        np.array([step.Phi for step in steps]),
        np.array([step.Gamma for step in steps]),
        dt,
    )
