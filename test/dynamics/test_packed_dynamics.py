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


@pytest.mark.parametrize('kind', ['single axis', 'general'])
def test_dynamics__are_those_of_the_functions_which_leave_their_results_alone(kind):
    rng = np.random.default_rng(8)
    model = random_model(rng, 6)[1] if kind == 'single axis' else passive_model('fixed', True)
    own, push = Dynamics(model), [Wrench(model.base_link, force=(1.0, 2.0, 3.0))]
    states = [model.random_state(rng) for _ in range(2)]
    tau, nu_dot = rng.normal(size=model.n), rng.normal(size=model.m)
    calls = [
        (own.mass_matrix, mass_matrix, ()),
        *((own.inverse_dynamics, inverse_dynamics, (nu_dot, wrenches)) for wrenches in ((), push)),
        *((own.forward_dynamics, forward_dynamics, (tau, wrenches)) for wrenches in ((), push)),
    ]
    for method, function, arguments in calls:
        first, second = (function(model, state, *arguments) for state in states)
        assert not np.array_equal(first, second)
        assert np.array_equal(method(states[0], *arguments), first)
        assert np.array_equal(method(states[1], *arguments), second)
    if kind == 'single axis':
        found = fast(model).inverse_dynamics(model, states[0], nu_dot)
        assert np.array_equal(found, inverse_dynamics(model, states[0], nu_dot))
    with pytest.raises(ShapeError):
        own.forward_dynamics(states[0], np.zeros(model.n + 1))


def test_wrong_sizes__are_refused():
    rng = np.random.default_rng(3)
    model, larger = random_model(rng, 4)[1], random_model(rng, 5)[1]
    for function, size in ((forward_dynamics, 4), (inverse_dynamics, 10)):
        for wrong in (np.zeros(3), 0.0, np.zeros((4, 4)), np.zeros((10, 10))):
            with pytest.raises(ShapeError):
                function(model, model.neutral_state(), wrong)
        with pytest.raises(ShapeError):
            function(model, larger.neutral_state(), np.zeros(size))
    with pytest.raises(ShapeError):
        mass_matrix(model, larger.neutral_state())


@pytest.mark.parametrize('part', ['H', 's', 'v', 'r'])
def test_nan__is_refused(part):
    model = random_model(np.random.default_rng(4), 4)[1]
    for index in (0, 1, 2, 4, 5, 6, 8, 9, 10) if part == 'H' else range(4):
        state = model.neutral_state()
        getattr(state, part).reshape(-1)[index] = np.nan
        for function, given in ((forward_dynamics, 4), (inverse_dynamics, 10), (mass_matrix, 0)):
            if given or part == 's':
                with pytest.raises(NotFiniteError, match=part):
                    function(model, state, *([np.zeros(given)] if given else []))


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
