# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics about many states in one call, by Pinocchio, dense dynamics and one by one."""

import gc
import weakref

import numpy as np
import pytest
from support.close import assert_close
from support.passive_joints import passive_model, with_passive_joints
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.trees import random_model

import geolin_ros
from geolin_ros import Wrench
from geolin_ros.dynamics import batch
from geolin_ros.errors import (
    ConfigurationError,
    NotFiniteError,
    ShapeError,
)

NAMES = (
    'inverse_dynamics',
    'forward_dynamics',
    'mass_matrix',
    'mass_matrix_inverse',
    'inverse_dynamics_derivatives',
    'forward_dynamics_derivatives',
)


def drawn(model, count, rng):
    """Return states, accelerations (count, m) and efforts (count, n)."""
    states = [model.random_state(rng) for _ in range(count)]
    return states, rng.normal(size=(count, model.m)), rng.normal(size=(count, model.n))


def given_to(name, accelerations, tau):
    if 'mass' in name:
        return ()
    return (accelerations if 'inverse' in name else tau,)


def tolerance(model, state):
    condition = np.linalg.cond(geolin_ros.mass_matrix(model, state))
    return max(1e-12, 10.0 * np.finfo(float).eps * condition)


def assert_same(found, expected, limit, what):
    if isinstance(expected, tuple):
        for part, ours, theirs in zip(expected._fields, found, expected, strict=True):
            assert_close(ours, theirs, limit, f'{what} {part}')
    else:
        assert_close(found, expected, limit, what)


def sample(found, k):
    return tuple(part[k] for part in found) if isinstance(found, tuple) else found[k]


def wrenches_on(model, rng):
    return [
        Wrench(str(rng.choice(model.link_names)), rng.normal(size=3), rng.normal(size=3), kind)
        for kind in ('body', 'world', 'world_oriented')
    ]


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('kind', ['single axis', 'general'])
def test_dynamics__equal_one_by_one(kind, base, name):
    rng = np.random.default_rng(1)
    model = passive_model(base, mimic=True)
    if kind == 'single axis':
        model = with_passive_joints(random_model(rng, 11, base=base)[1], rng)
    states, accelerations, tau = drawn(model, 10, rng)
    options = {} if 'mass' in name else {'wrenches': wrenches_on(model, rng)}
    given = given_to(name, accelerations, tau)
    found = getattr(batch, name)(model, states, *given, **options)
    shared = getattr(batch, name)(model, states, *given, threads=2, **options)
    for k, state in enumerate(states):
        one = getattr(geolin_ros, name)(model, state, *(a[k] for a in given), **options)
        assert_same(sample(found, k), one, tolerance(model, state), name)
        assert_same(sample(shared, k), one, tolerance(model, state), name)


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('held', ['nothing', 'some', 'all'])
@pytest.mark.parametrize('kind', ['single axis', 'general'])
def test_hybrid_dynamics__equals_one_by_one(kind, held, base):
    rng = np.random.default_rng(2)
    model = passive_model(base, mimic=True)
    if kind == 'single axis':
        model = with_passive_joints(random_model(rng, 9, base=base)[1], rng)
    states, accelerations, tau = drawn(model, 9, rng)
    prescribed = {'nothing': 0.0, 'some': 0.5, 'all': 1.0}[held] > rng.uniform(size=model.n)
    wrenches = wrenches_on(model, rng)
    for size in {model.m, model.n}:  # with the base prescribed, and without
        given = accelerations[:, -size:]
        found = batch.hybrid_dynamics(model, states, given, tau, prescribed, wrenches)
        for k, state in enumerate(states):
            one = geolin_ros.hybrid_dynamics(model, state, given[k], tau[k], prescribed, wrenches)
            for ours, theirs in zip(found, one, strict=True):
                assert_close(ours[k], theirs, tolerance(model, state))


@pytest.mark.parametrize('name', ['go2', 'talos_reduced', 'panda'])
def test_dynamics_of_a_robot__equal_pinocchio(name):
    rng = np.random.default_rng(3)
    path = example_robot(name)
    model = read_robot(path, base='fixed' if name == 'panda' else 'floating')[1]
    oracle = PinocchioOracle.read_urdf(path, model)
    states, accelerations, tau = drawn(model, 3, rng)
    for k, state in enumerate(states):
        limit = 10.0 * tolerance(model, state)
        found = batch.inverse_dynamics(model, states, accelerations)[k]
        assert_close(found, oracle.inverse_dynamics(state, accelerations[k]), limit)
        found = batch.forward_dynamics(model, states, tau)[k]
        nu_dot = oracle.forward_dynamics(state, tau[k])
        assert_close(found, nu_dot, limit)
        given = accelerations[:, -model.n :].copy()
        given[k] = nu_dot[-model.n :]
        half = np.arange(model.n) % 2 == 0
        found = batch.hybrid_dynamics(model, states, given, tau, half)[0][k]
        assert_close(found, nu_dot, 10.0 * limit)
        assert_close(batch.mass_matrix(model, states)[k], oracle.mass_matrix(state), limit)
        found = batch.mass_matrix_inverse(model, states)[k]
        assert_close(found, oracle.inverse_mass_matrix(state), limit)
        D = batch.inverse_dynamics_derivatives(model, states, accelerations)
        by_state = np.hstack(oracle.inverse_dynamics_derivatives(state, accelerations[k]))
        assert_close(np.hstack(sample(D, k)), by_state, limit)
        D = batch.forward_dynamics_derivatives(model, states, tau)
        A, B, _ = oracle.linearization(state, tau[k])
        assert_close(np.hstack(sample(D, k)[:4]), A[model.m :], limit)
        assert_close(D.dnu_dot_dtau[k], B[model.m :], limit)


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('count', [0, 1])
def test_batch_of_few__has_the_same_shapes(count, name):
    rng = np.random.default_rng(4)
    for model in (random_model(rng, 3)[1], passive_model('floating', mimic=True)):
        states, accelerations, tau = drawn(model, count, rng)
        found = getattr(batch, name)(model, states, *given_to(name, accelerations, tau))
        one = getattr(geolin_ros, name)(
            model, model.neutral_state(), *given_to(name, np.zeros(model.m), np.zeros(model.n))
        )
        for ours, theirs in (
            zip(found, one, strict=False) if isinstance(one, tuple) else [(found, one)]
        ):
            assert ours.shape == (count, *theirs.shape)


def test_wrong_arguments__are_refused():
    rng = np.random.default_rng(5)
    model = random_model(rng, 4)[1]
    states, accelerations, tau = drawn(model, 9, rng)
    with pytest.raises(ShapeError, match=r'acceleration has shape \(9, 4\), expected \(9, 10\)'):
        batch.inverse_dynamics(model, states, tau)
    with pytest.raises(ConfigurationError, match='threads is 0'):
        batch.mass_matrix(model, states, threads=0)
    with pytest.raises(ShapeError, match='prescribed'):
        batch.hybrid_dynamics(model, states, tau, tau, [True])
    fixed = random_model(rng, 4, base='fixed')[1]
    with pytest.raises(ShapeError, match=r'\(9, 10\), expected \(9, 4\)'):
        batch.hybrid_dynamics(fixed, states, accelerations, tau, [True] * 4)
    accelerations[8, 7] = np.nan
    with pytest.raises(NotFiniteError, match=r'sample 8: acceleration '):
        batch.inverse_dynamics(model, states, accelerations)
    states[4].s[1] = np.inf
    with pytest.raises(NotFiniteError, match=r'sample 4: s '):
        batch.mass_matrix(model, states)


@pytest.mark.parametrize(
    'function',
    [lambda model, state: batch.mass_matrix(model, [state]), geolin_ros.mass_matrix],
    ids=['batch', 'one'],
)
def test_robots__are_let_go_of(function):
    """What is prepared of each robot must not keep it: memory would grow with their number."""
    *robots, last = [read_robot(example_robot('solo12'))[1] for _ in range(4)]
    gone = [weakref.ref(robot) for robot in robots]
    for robot in (*robots, last):  # the last one may be kept at hand
        function(robot, robot.neutral_state())
    del robots, robot
    gc.collect()
    assert [robot() for robot in gone] == [None] * 3
