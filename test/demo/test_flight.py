# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo's robot moves as physics says, within its limits."""

import dataclasses

import numpy as np
import pytest
from geolin_demos.demo import flight as flights
from geolin_demos.demo.flight import Flight
from support.dense_reference import DenseReference

from geolin_ros import Linearizer, TreeModel, robots, urdf

BUNDLED = sorted(robots.ROBOTS)


def bundled(name):
    return TreeModel.from_urdf(robots.path(name))


@pytest.fixture(params=BUNDLED)
def model(request):
    return bundled(request.param)


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


def test_flight__throws_from_the_same_place_with_another_spin(model):
    flight = Flight(model)
    place, spin = flight.state.H.copy(), flight.state.v[3:].copy()
    s = flight.state.s.copy()
    for _ in range(750):
        flight.advance(0.002)
    assert np.array_equal(flight.state.H, place)
    assert np.linalg.norm(flight.state.v[3:] - spin) > 1.0
    assert np.any(flight.state.s != s)


def test_flight__rises_and_falls_by_gravity(model):
    flight = Flight(model)
    rise = 0.5 * 9.81 * (0.5 * flights.THROW_PERIOD) ** 2
    flight.advance(0.5 * flights.THROW_PERIOD)
    assert flight.state.H[2, 3] - flights.HEIGHT == pytest.approx(rise, abs=0.3)


@pytest.mark.parametrize('name', BUNDLED)
def test_step__conserves_energy_and_obeys_gravity_without_servo_and_damping(name):
    description = urdf.read(robots.path(name))
    joints = tuple(dataclasses.replace(joint, damping=0.0) for joint in description.joints)
    description = dataclasses.replace(description, joints=joints)
    model = TreeModel.from_description(description)
    flight, dense = Flight(model), DenseReference(description, model)
    flight._servo.stiffness[:] = flight._servo.damping[:] = 0.0

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


def test_step__is_of_fourth_order(monkeypatch):
    model = bundled('quadruped')

    def fly(step):
        monkeypatch.setattr(flights, 'LONGEST_STEP', step)
        flight = Flight(model)
        flight.advance(0.32)
        return flight.state

    exact = fly(0.5e-3)
    coarse, fine = (np.abs(exact.difference(fly(step))).max() for step in (16e-3, 8e-3))
    assert np.log2(coarse / fine) == pytest.approx(4.0, abs=0.4)


def test_servo__gives_every_mode_the_same_natural_frequency(model):
    linearizer = Linearizer(model)
    servo = flights.make_servo(linearizer)
    state = model.neutral_state()
    state.s[:] = servo.middle
    M = flights.free_flight_inertia(linearizer, state)
    squares = np.linalg.eigvals(np.linalg.solve(M, servo.stiffness))
    assert np.sqrt(squares.real) == pytest.approx(flights.NATURAL_FREQUENCY, rel=1e-6)
    assert np.linalg.eigvalsh(M).min() > 0.0
