# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Efforts by inverse dynamics, and linearizations about accelerations that are given.

[Bos 2022] evaluates the derivatives of the inverse dynamics at nu_dot. Where nu_dot is not what
the efforts produce, a wrench on the base and efforts are missing: those that the inverse dynamics
at nu_dot asks for. With them in force, constant in the axes of the base and of the joints, the
forward dynamics returns nu_dot, and its linearization is the one about nu_dot. In contact the
forces of the ground, as small as can be, take of the wrench on the base what they can; nu_dot is
returned as far as the contacts allow it.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.typing import Array

NuDotSource = Literal['predicted', 'measured', 'zero']


class Forces(NamedTuple):
    """What holds an acceleration: efforts (n,) and [force; moment] on the base (6,).

    The latter is in base axes about the base origin; None if the base is fixed.
    """

    tau: Array
    base: Array | None


def forces_for(
    model: TreeModel,
    state: State,
    nu_dot: Array,
    wrenches: Sequence[Wrench] = (),
    J: Array | None = None,
) -> Forces:
    """Return what ``nu_dot`` (m,) needs besides the wrenches and contacts J (k, m) [N, N m]."""
    from geolin_ros.dynamics.functions import inverse_dynamics  # few robots send accelerations

    forces = inverse_dynamics(model, state, nu_dot, wrenches)
    if model.base == 'fixed':
        return Forces(forces, None)
    if J is not None:
        forces = forces - J.T @ np.linalg.lstsq(J[:, :6].T, forces[:6], rcond=None)[0]
    return Forces(forces[6:], forces[:6])


def with_base_wrench(
    model: TreeModel, wrenches: Sequence[Wrench], base: Array | None
) -> Sequence[Wrench]:
    """Return the wrenches and that on the base, constant in base axes."""
    if base is None:
        return wrenches
    return [*wrenches, Wrench(model.base_link, base[:3], base[3:])]
