# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The engine's dynamics against those in plain loops, which take over with wrenches."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.passive_joints import passive_model
from support.robots import example_robot, read_robot
from support.trees import random_model

from geolin_ros import (
    Dynamics,
    Wrench,
    forward_dynamics,
    inverse_dynamics,
    mass_matrix,
)
from geolin_ros.dynamics.samples import robot_of
from geolin_ros.errors import NotFiniteError, ShapeError
from geolin_ros.kernels.packing import layout


def fast(model):
    return robot_of(model).engine


def test_public_functions__take_it_and_leave_their_results_alone():
    rng = np.random.default_rng(2)
    model = random_model(rng, 7)[1]
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    acceleration = rng.normal(size=model.m)
    first = [
        inverse_dynamics(model, state, acceleration),
        forward_dynamics(model, state, tau),
        mass_matrix(model, state),
    ]
    kept = [array.copy() for array in first]
    other = model.random_state(rng)
    again = [
        inverse_dynamics(model, other, list(acceleration)),
        forward_dynamics(model, other, list(tau)),
        mass_matrix(model, other),
    ]
    own = fast(model).inverse_dynamics(model, state, acceleration)
    assert own.tobytes() == first[0].tobytes()
    for array, copy, new in zip(first, kept, again, strict=True):
        assert array.tobytes() == copy.tobytes()
        assert not np.array_equal(array, new)


@pytest.mark.parametrize('kind', ['single axis', 'general'])
def test_dynamics__are_those_of_the_functions(kind):
    rng = np.random.default_rng(8)
    model = random_model(rng, 6)[1] if kind == 'single axis' else passive_model('fixed', True)
    own, nothing = Dynamics(model), [Wrench(model.base_link, force=(1.0, 2.0, 3.0))]
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    acceleration = rng.normal(size=model.m)
    for wrenches in ((), nothing):
        expected = inverse_dynamics(model, state, acceleration, wrenches)
        assert np.array_equal(own.inverse_dynamics(state, acceleration, wrenches), expected)
        expected = forward_dynamics(model, state, tau, wrenches)
        assert np.array_equal(own.forward_dynamics(state, tau, wrenches), expected)
    assert np.array_equal(own.mass_matrix(state), mass_matrix(model, state))
    with pytest.raises(ShapeError):
        own.forward_dynamics(state, np.zeros(model.n + 1))


def test_wrong_sizes__are_refused():
    rng = np.random.default_rng(3)
    model, larger = random_model(rng, 4)[1], random_model(rng, 5)[1]
    state = model.neutral_state()
    for wrong in (np.zeros(3), 0.0, np.zeros((4, 4)), np.zeros((10, 10))):
        with pytest.raises(ShapeError):
            forward_dynamics(model, state, wrong)
        with pytest.raises(ShapeError):
            inverse_dynamics(model, state, wrong)
    for function, size in ((forward_dynamics, 4), (inverse_dynamics, 10)):
        with pytest.raises(ShapeError):
            function(model, larger.neutral_state(), np.zeros(size))
    with pytest.raises(ShapeError):
        mass_matrix(model, larger.neutral_state())


@pytest.mark.parametrize('part', ['H', 's', 'v', 'r'])
def test_nan__is_refused(part):
    rng = np.random.default_rng(4)
    model = random_model(rng, 4)[1]
    for index in (0, 1, 2, 4, 5, 6, 8, 9, 10) if part == 'H' else range(4):
        state = model.random_state(rng)
        getattr(state, part).reshape(-1)[index] = np.nan
        with pytest.raises(NotFiniteError, match=part):
            forward_dynamics(model, state, np.zeros(4))
        with pytest.raises(NotFiniteError, match=part):
            inverse_dynamics(model, state, np.zeros(10))
        if part == 's':
            with pytest.raises(NotFiniteError, match=part):
                mass_matrix(model, state)


def test_threads__have_scratch_of_their_own():
    rng = np.random.default_rng(5)
    model = read_robot(example_robot('talos_reduced'))[1]
    points = [(model.random_state(rng), rng.normal(size=model.n)) for _ in range(8)]
    expected = [forward_dynamics(model, *point) for point in points]

    def run(k):
        for _ in range(200):
            found = forward_dynamics(model, *points[k])
            if found.tobytes() != expected[k].tobytes():
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(8)))


def access_everything():
    """Run by `kernels/test_bounds.py` where every access is checked."""
    rng = np.random.default_rng(7)
    model = random_model(rng, 11)[1]
    state = model.random_state(rng)
    found = robot_of(model).engine
    for _ in range(2):
        assert found.inverse_dynamics(model, state, np.zeros(model.m)) is not None
        assert found.mass_matrix(model, state) is not None
    found._workspace = found._workspace[: layout.WORK_HEADER + 3 * layout.WORK_RECORD]
    with pytest.raises(IndexError):
        found.inverse_dynamics(model, state, np.zeros(model.m))
    with pytest.raises(IndexError):
        found.mass_matrix(model, state)
