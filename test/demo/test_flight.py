# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo's robot moves as physics says, within its limits."""

import dataclasses

import numpy as np
import pytest
from geolin_demos.demo.flight import Flight
from support.dense_reference import DenseReference

from geolin_ros import TreeModel, robots, urdf


@pytest.fixture
def model():
    return TreeModel.from_urdf(robots.path('humanoid'))


def test_flight__passes_through_upside_down_and_stays_within_joint_limits(model):
    flight = Flight(model)
    s, upward = [], []
    for _ in range(600):
        flight.advance(0.01)
        s.append(flight.state.s.copy())
        upward.append(flight.state.H[2, 2])
    assert np.min(upward) < -0.7
    assert np.max(upward) > 0.7
    assert np.all(np.min(s, axis=0) > model.limits.lower)
    assert np.all(np.max(s, axis=0) < model.limits.upper)
    assert np.all(np.ptp(s, axis=0) > 0.1)


def test_step__conserves_energy_and_obeys_gravity_without_servo_and_damping():
    description = urdf.read(robots.path('humanoid'))
    joints = tuple(dataclasses.replace(joint, damping=0.0) for joint in description.joints)
    description = dataclasses.replace(description, joints=joints)
    model = TreeModel.from_description(description)
    flight, dense = Flight(model), DenseReference(description, model)
    flight._stiffness[:] = flight._damping[:] = 0.0

    def energy():
        return dense.kinetic_energy(flight.state) + dense.potential_energy(flight.state)

    def momentum():
        state = flight.state
        nu = np.concatenate((state.v, state.r))
        return state.H[:3, :3] @ (dense.mass_matrix(state) @ nu)[:3]

    E, p = energy(), momentum()
    flight.advance(0.3)
    assert energy() == pytest.approx(E, rel=1e-8)
    assert momentum() == pytest.approx(
        p + 0.3 * model.total_mass * model.gravity, rel=1e-8, abs=1e-8
    )
