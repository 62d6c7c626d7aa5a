# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Digits kept by uncommon robots and states, by Pinocchio and a referee of 80 bits.

What may be lost is what the posture costs, 1 / share of `conditioning`, and what the inputs do.
"""

import numpy as np
import pytest
from support import extended_reference
from support.close import assert_close, deviation
from support.pinocchio_oracle import PinocchioOracle
from support.trees import TILTED_GRAVITY, gimbal, random_parents

from geolin_ros import (
    Description,
    Joint,
    Linearizer,
    Link,
    TreeModel,
    forward_dynamics,
    inverse_dynamics,
    mass_matrix,
)
from geolin_ros.dynamics.functions import SMALL_SHARE, conditioning
from geolin_ros.errors import SingularInertiaError

EPS = np.finfo(np.float64).eps
LOST = 1e3
"""Times eps and the loss by the posture: largest deviation."""
NAMES = ('light behind heavy', 'heavy behind light', 'alternating', 'tiny', 'far away')


def uncommon(name, rng, count=8):
    """Return a branched robot whose masses, or sizes, are 1e6 apart, or tiny."""
    masses, size = np.ones(count + 1), 0.1
    if name in ('light behind heavy', 'heavy behind light'):
        masses = np.geomspace(1e3, 1e-3, count + 1)[:: 1 if name.startswith('light') else -1]
    elif name == 'alternating':
        masses = np.where(np.arange(count + 1) % 2, 1e-3, 1e3)
    elif name == 'tiny':
        masses, size = 1e-6 * masses, 1e-3
    return tree(random_parents(rng, count), masses, size, rng)


def tree(parents, masses, size, rng):
    """Return description and model; joint k has link k + 1 behind it."""
    links, joints = [], []
    for i, mass in enumerate(masses):
        inertia = mass * size**2 * np.diag(rng.uniform(0.3, 0.4, 3))
        links.append(Link.from_mass(f'l{i}', mass, size * rng.uniform(-1, 1, 3), inertia))
    for i, parent in enumerate(parents, start=1):
        placement, axis = np.eye(4), rng.normal(size=3)
        placement[:3, 3] = size * rng.uniform(-2.0, 2.0, 3)
        axis /= np.linalg.norm(axis)
        joints.append(Joint(f'j{i}', 'revolute', f'l{parent}', f'l{i}', placement, axis))
    description = Description('uncommon', tuple(links), tuple(joints))
    return description, TreeModel.from_description(description, gravity=TILTED_GRAVITY)


def motion(model, rng, speed):
    """Return a state, and efforts of the size of those that gravity asks for."""
    state = model.random_state(rng, speed=speed)
    holding = inverse_dynamics(model, state, np.zeros(model.m))[6:]
    return state, holding * rng.uniform(-1.0, 1.0, model.n)


def assert_within(found, expected, limit, what):
    for name, ours, theirs in zip(('A', 'B', 'nu_dot'), found, expected, strict=True):
        assert_close(ours, theirs, limit, f'{what}: {name}')


extended = pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason='no extended precision')


@extended
@pytest.mark.parametrize('speed', [1.0, 1e3])
@pytest.mark.parametrize('name', NAMES)
def test_linearization__keeps_the_digits_that_the_posture_leaves(name, speed):
    rng = np.random.default_rng(1)
    description, model = uncommon(name, rng)
    oracle = PinocchioOracle.from_description(description, model)
    state, tau = motion(model, rng, speed)
    if name == 'far away':
        state.H[:3, 3] = 1e6
    exact = extended_reference.linearization(model, state, tau)
    L, m = Linearizer(model)(state, tau), model.m
    limit = LOST * EPS / conditioning(model, state).share
    assert limit < 1e-6
    assert_within((L.A[m:], L.B[m:], L.nu_dot), exact, limit, name)
    state.H[:3, 3] = 0.0  # A and B do not depend on it, but Pinocchio's digits do
    A, B, nu_dot = oracle.linearization(state, tau)
    assert_within((L.A[m:], L.B[m:], L.nu_dot), (A[m:], B[m:], nu_dot), limit, name)


@pytest.mark.parametrize('speed', [1.0, 1e3])
def test_chain_of_200__equals_pinocchio(speed):
    rng = np.random.default_rng(2)
    description, model = tree(range(200), np.ones(201), 0.1, rng)
    oracle = PinocchioOracle.from_description(description, model)
    state, tau = motion(model, rng, speed)
    L = Linearizer(model)(state, tau)
    A, B, nu_dot = oracle.linearization(state, tau)
    limit = LOST * EPS / conditioning(model, state).share
    assert limit < 1e-6
    m = model.m
    assert_within((L.A[m:], L.B[m:], L.nu_dot), (A[m:], B[m:], nu_dot), limit, 'chain')
    assert_close(forward_dynamics(model, state, tau), nu_dot, limit, 'forward dynamics')
    assert_close(mass_matrix(model, state), oracle.mass_matrix(state), 1e-12, 'mass matrix')
    found = inverse_dynamics(model, state, nu_dot)
    assert_close(found, oracle.inverse_dynamics(state, nu_dot), 1e-10, 'inverse dynamics')


def test_share__bounds_the_condition_number_of_the_scaled_mass_matrix():
    rng = np.random.default_rng(3)
    for name in NAMES:
        _, model = uncommon(name, rng)
        state = model.random_state(rng)
        M, share = mass_matrix(model, state), conditioning(model, state).share
        d = 1.0 / np.sqrt(M.diagonal())
        condition = np.linalg.cond(d[:, np.newaxis] * M * d)
        assert 1.0 / share <= condition * (1.0 + 1e-9)
        assert condition <= model.m**2 / share


@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_posture_near_a_singular_one__is_warned_about_before_it_is_refused(base):
    """Pan and roll of a gimbal in line, nothing between them: what is found keeps its promise."""
    model = gimbal(base, ['pan', 'tilt', 'roll'])
    linearizer, state = Linearizer(model), model.neutral_state()
    state.s[:] = 0.3
    warned, tau = [], np.array([0.1, -0.2, 0.3])
    for tilt in np.geomspace(0.3, 1e-9, 18):
        state.s[1] = tilt
        try:
            found = conditioning(model, state)
            nu_dot = linearizer(state, tau).nu_dot.copy()
        except SingularInertiaError:
            warned.append('refused')
            continue
        warned.append(found.warning)
        assert bool(found.warning) == (found.share < SMALL_SHARE)
        # the accelerations that these efforts need are the efforts
        needed = inverse_dynamics(model, state, nu_dot)[-3:]
        loss = LOST * EPS / found.share
        assert deviation(needed, tau, scale=1.0) < loss
    order = [0 if warning == '' else 2 if warning == 'refused' else 1 for warning in warned]
    assert order == sorted(order)
    assert set(order) == {0, 1, 2}
    assert any('r.pan' in warning or 'r.roll' in warning for warning in warned)
