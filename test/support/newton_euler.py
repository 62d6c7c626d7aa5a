# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Accelerations, wrenches and efforts of every body by Pinocchio, in the numbers of our bodies."""

from typing import NamedTuple

import numpy as np
from geolin_estimation.sparse import DynamicVariables, sensors

from support.pinocchio_oracle import PinocchioOracle, pin


class Motion(NamedTuple):
    """A state with consistent dynamic variables; ``theirs`` are Pinocchio's."""

    state: object
    theirs: DynamicVariables

    def readings(self, prescribed):
        """Return wrenches, and the accelerations of what is ``prescribed`` (m,), else forces."""
        joints = np.where(prescribed, self.theirs.nu_dot, self.theirs.tau)
        return np.concatenate((self.theirs.fx.ravel(), joints))


def random_motion(oracle: PinocchioOracle, rng, state=None):
    """Return Pinocchio's RNEA at random accelerations and external wrenches on every body.

    Its ``data.f`` and ``data.a_gf`` are f and a; what they lack is the fixed base.
    """
    model = oracle.model
    state = state or model.random_state(rng)
    nb, joint_of = len(model.body_names), [0] * len(model.body_names)
    joint_of[0] = 1 if model.base == 'floating' else 0
    for body in range(1, nb):
        name = model.joint_names[model.tree.v_start[body]]
        joint_of[body] = oracle.pin_model.getJointId(name)
    fx = rng.normal(size=(nb, 6))
    external = [pin.Force.Zero() for _ in range(oracle.pin_model.njoints)]
    for body, joint in enumerate(joint_of):
        external[joint] = pin.Force(fx[body, :3], fx[body, 3:])
    nu_dot = rng.normal(size=model.m)
    tau = pin.rnea(
        oracle.pin_model, oracle.data, oracle.q(state), oracle.velocity(state),
        oracle._to_pinocchio(nu_dot), external,
    )  # fmt: skip
    tau = tau[oracle.order] + oracle.damping * oracle.nu(state)
    a = np.array([oracle.data.a_gf[joint].vector for joint in joint_of])
    f = np.array([oracle.data.f[joint].vector for joint in joint_of])
    return Motion(state, DynamicVariables(a, f, fx, tau, nu_dot))


def moving_bodies(model):
    """Return the bodies that Pinocchio reports on: all but a fixed base."""
    return slice(0 if model.base == 'floating' else 1, None)


def classical_sets(model, rng):
    """Yield name, sensors and what is prescribed for inverse, forward, hybrid dynamics."""
    names = list(model.joint_names)
    some = [str(name) for name in rng.choice(names, len(names) // 2 + 1, replace=False)]
    yield 'inverse', sensors.inverse_dynamics(model), True
    yield 'forward', sensors.forward_dynamics(model), False
    for base in ('tau', 'qdd'):
        prescribed = np.full(model.m, base == 'qdd')
        prescribed[-model.n :] = np.isin(names, some)
        yield f'hybrid, base {base}', sensors.hybrid_dynamics(model, some, base), prescribed
