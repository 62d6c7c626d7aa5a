# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of one state and of many: robots by Pinocchio, many by one, and what is refused.

`oracle/test_matrix.py` has those of any robot against dense dynamics.
"""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close
from support.passive_joints import passive_robot, with_passive_joints
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.trees import gimbal, random_model

import geolin_ros
from geolin_ros import (
    Dynamics,
    State,
    Wrench,
    bias_force,
    forward_dynamics,
    forward_dynamics_derivatives,
    hybrid_dynamics,
    inverse_dynamics,
    inverse_dynamics_derivatives,
    mass_matrix,
    mass_matrix_inverse,
)
from geolin_ros.dynamics.samples import robot_of
from geolin_ros.errors import (
    ConfigurationError,
    InputError,
    NotFiniteError,
    ShapeError,
    SingularInertiaError,
    UnknownNameError,
)
from geolin_ros.kernels.packing import layout


class Case:
    """A robot at two random motions, accelerations chosen apart from them."""

    def __init__(self, name, base):
        path, rng = example_robot(name), default_rng(31)
        self.model = model = read_robot(path, base=base)[1]
        self.oracle = PinocchioOracle.read_urdf(path, model)
        self.states = [model.random_state(rng, speed=2.0) for _ in range(2)]
        self.nu_dot, self.tau = rng.normal(size=(2, model.m)), rng.normal(size=(2, model.n))


@pytest.fixture(scope='module', params=[('talos_reduced', 'floating'), ('solo12', 'fixed')])
def case(request):
    return Case(*request.param)


@pytest.mark.shows('Kim 2012: Table 2', 'Kim 2012: Eq. (32)')
def test_inverse_dynamics_of_robots__are_pinocchios(case):
    model, oracle, nu_dot = case.model, case.oracle, case.nu_dot
    of_many = geolin_ros.inverse_dynamics(model, case.states, nu_dot)
    matrices = geolin_ros.mass_matrix(model, case.states)
    for k, state in enumerate(case.states):
        tau, M = oracle.inverse_dynamics(state, nu_dot[k]), oracle.mass_matrix(state)
        for found in (inverse_dynamics(model, state, nu_dot[k]), of_many[k]):
            assert_close(found, tau, 1e-12)
        for found in (mass_matrix(model, state), matrices[k]):
            assert_close(found, M, 1e-12)
        expected = oracle.inverse_dynamics(state, np.zeros(model.m))
        assert_close(bias_force(model, state), expected, 1e-12)


@pytest.mark.shows('Kim 2012: Table 3')
def test_forward_and_hybrid_dynamics_of_robots__are_pinocchios(case):
    model, oracle, tau = case.model, case.oracle, case.tau
    nu_dot = [oracle.forward_dynamics(*at) for at in zip(case.states, tau, strict=True)]
    of_many = geolin_ros.forward_dynamics(model, case.states, tau)
    inverses = geolin_ros.mass_matrix_inverse(model, case.states)
    joints, half = np.array(nu_dot)[:, model.m - model.n :], np.arange(model.n) % 2 == 0
    hybrid = geolin_ros.hybrid_dynamics(model, case.states, joints, tau, half)
    for k, state in enumerate(case.states):
        expected = oracle.inverse_mass_matrix(state)
        for found in (mass_matrix_inverse(model, state), inverses[k]):
            assert_close(found, expected, 1e-11)
        for found in (forward_dynamics(model, state, tau[k]), of_many[k]):
            assert_close(found, nu_dot[k], 1e-11)
        one = hybrid_dynamics(model, state, joints[k], tau[k], half)
        for found in (one, [part[k] for part in hybrid]):
            assert_close(found[0], nu_dot[k], 1e-11)
            assert_close(found[1], tau[k], 1e-11, scale=np.abs(bias_force(model, state)).max())


@pytest.mark.shows('Kim 2012: - all columns at once')
def test_derivatives_of_robots__are_pinocchios(case):
    model, states, m = case.model, case.states, case.model.m
    inverse = geolin_ros.inverse_dynamics_derivatives(model, states, case.nu_dot)
    forward = geolin_ros.forward_dynamics_derivatives(model, states, case.tau)
    for k, state in enumerate(states):
        expected = np.hstack(case.oracle.inverse_dynamics_derivatives(state, case.nu_dot[k]))
        one = inverse_dynamics_derivatives(model, state, case.nu_dot[k])
        for found in (one, [part[k] for part in inverse]):
            assert_close(np.hstack(found), expected, 1e-11)
        A, B, _ = case.oracle.linearization(state, case.tau[k])
        one = forward_dynamics_derivatives(model, state, case.tau[k])
        for found in (one, [part[k] for part in forward]):
            assert_close(np.hstack(found[:4]), A[m:], 1e-9)
            assert_close(found[4], B[m:], 1e-10)
        assert one.dnu_dot_dH.shape == (m, m - model.n)


# ---- Many states


def drawn(kind, base, count=10):
    """Return a robot, states, accelerations (count, m) and efforts (count, n)."""
    rng = default_rng(1)
    _, model = passive_robot(base, mimic=True)
    if kind == 'single axis':
        model = with_passive_joints(random_model(rng, 11, base=base)[1], rng)
    states = [model.random_state(rng) for _ in range(count)]
    nu_dot, tau = rng.normal(size=(count, model.m)), rng.normal(size=(count, model.n))
    wrenches = [
        Wrench(str(rng.choice(model.link_names)), rng.normal(size=3), rng.normal(size=3), kind)
        for kind in ('body', 'world', 'world_oriented')
    ]
    return model, states, nu_dot, tau, wrenches


def questions(model, nu_dot, tau, wrenches):
    """Yield name, what is given for each state, and other arguments, of all functions."""
    n, push = model.n, {'wrenches': wrenches}
    for name in ('mass_matrix', 'mass_matrix_inverse'):
        yield name, (), (), {}
    for end in ('', '_derivatives'):
        yield f'inverse_dynamics{end}', (nu_dot,), (), push
        yield f'forward_dynamics{end}', (tau,), (), push
    for prescribed in (np.zeros(n, bool), np.arange(n) % 3 == 0, np.ones(n, bool)):
        for size in {model.m, n}:  # with the base prescribed, and without
            yield 'hybrid_dynamics', (nu_dot[:, -size:], tau), (prescribed,), push


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('kind', ['single axis', 'general'])
def test_dynamics_of_many__equal_one_by_one(kind, base):
    """A whole block of lanes and a part of one; on one thread and on two; none and one alone."""
    model, states, *drawn_values = drawn(kind, base)
    for name, given, others, under in questions(model, *drawn_values):
        one = many = partial(getattr(geolin_ros, name), model, **under)
        found = [many(states, *given, *others, threads=threads) for threads in (1, 2)]
        for count in (0, 1):
            found.append(many(states[:count], *(a[:count] for a in given), *others))
        for k, state in enumerate(states):
            condition = np.linalg.cond(mass_matrix(model, state))
            limit = max(1e-12, 10.0 * np.finfo(float).eps * condition)
            expected = one(state, *(a[k] for a in given), *others)
            whole = isinstance(expected, tuple)
            for parts in found:
                pairs = zip(parts, expected, strict=True) if whole else [(parts, expected)]
                for ours, theirs in pairs:
                    assert ours.shape[1:] == theirs.shape
                    if k < len(ours):
                        assert_close(ours[k], theirs, limit, name)
        assert [len(part[0] if whole else part) for part in found] == [10, 10, 0, 1]


@pytest.mark.parametrize('kind', ['single axis', 'general'])
def test_dynamics__are_those_of_the_functions_and_results_stay(kind):
    model, states, (nu_dot, *_), (tau, *_), push = drawn(kind, 'floating', 2)
    own = Dynamics(model)
    calls = [(own.mass_matrix, mass_matrix, (), {})]
    for under in ({}, {'wrenches': push}):
        calls.append((own.inverse_dynamics, inverse_dynamics, (nu_dot,), under))
        calls.append((own.forward_dynamics, forward_dynamics, (tau,), under))
    for method, function, given, under in calls:
        first, second = (function(model, state, *given, **under) for state in states)
        assert not np.array_equal(first, second)
        for used_again in (method, partial(function, model)):
            used_again(states[0], *given, **under)[...] = np.nan
            assert np.array_equal(used_again(states[0], *given, **under), first)
        found = [method(state, *given, **under) for state in states]
        view = method(states[0], *given, **under)[:3]
        found.append(method(states[1], *given, **under))
        assert np.array_equal(found, [first, second, second])
        assert np.array_equal(view, first[:3])
    with pytest.raises(ShapeError):
        own.forward_dynamics(states[0], np.zeros(model.n + 1))


def test_threads__have_scratch_of_their_own():
    rng = default_rng(5)
    model = read_robot(example_robot('talos_reduced'))[1]
    points = [(model.random_state(rng), rng.normal(size=model.n)) for _ in range(8)]
    expected = [forward_dynamics(model, *point).tobytes() for point in points]

    def run(k):
        return all(
            forward_dynamics(model, *points[k]).tobytes() == expected[k] for _ in range(200)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(8)))


def test_robots__are_let_go_of():
    """What is prepared of each robot must not keep it: memory would grow with their number."""
    *robots, last = [random_model(default_rng(4), 3)[1] for _ in range(4)]
    gone = [weakref.ref(robot) for robot in robots]
    for robot in (*robots, last):  # the last one may be kept at hand
        mass_matrix(robot, robot.neutral_state())
        geolin_ros.mass_matrix(robot, [robot.neutral_state()])
    del robots, robot
    gc.collect()
    assert [robot() for robot in gone] == [None] * 3


def access_everything():
    """Run by `kernels/test_bounds.py` where every access is checked."""
    rng = default_rng(7)
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


# ---- Refusals

ARM, FLYER = (random_model(default_rng(8), 3, 'chain', base)[1] for base in ('fixed', 'floating'))
NONE, ONE = np.zeros(3, dtype=bool), np.arange(3) == 0
NAN = np.array([np.nan, 0.0, 0.0])
SHORT = State(np.eye(4), [0, 0], np.zeros(6), [0, 0])


def many(name):
    """Return a function of batches that is asked about nine states."""

    def function(model, state, *arguments, **options):
        nine = [np.broadcast_to(a, (9, len(a))) for a in arguments[:2]]
        return getattr(geolin_ros, name)(model, [state] * 9, *nine, *arguments[2:], **options)

    return function


PUSHED = partial(bias_force, wrenches=[Wrench('lnk1')])
WRONG = {
    'short acceleration': (inverse_dynamics, FLYER, [[0, 0, 0]], ShapeError, 'acceleration'),
    'acceleration that is a number': (inverse_dynamics, FLYER, [0.0], ShapeError, 'accel'),
    'short tau': (forward_dynamics, FLYER, [[0, 0]], ShapeError, 'tau'),
    'of no size': (hybrid_dynamics, FLYER, [[0] * 4, [0] * 3, NONE], ShapeError, 'acceleration'),
    'short prescribed': (hybrid_dynamics, FLYER, [NAN, NAN, NONE[:2]], ShapeError, 'prescribed'),
    'no truth': (hybrid_dynamics, FLYER, [NAN, NAN, [0.5, 0, 1]], InputError, 'prescribed'),
    'tau of the base': (hybrid_dynamics, FLYER, [[0] * 3, [0] * 9, NONE], ShapeError, 'tau'),
    'base of an arm': (hybrid_dynamics, ARM, [[0] * 9, [0] * 3, NONE], ShapeError, 'joints'),
    'unknown link': (PUSHED, FLYER, [], UnknownNameError, "'lnk1'"),
    'NaN': (inverse_dynamics, FLYER, [np.full(9, np.nan)], NotFiniteError, 'acceleration'),
    'infinite tau': (forward_dynamics, FLYER, [[0.0, np.inf, 0.0]], NotFiniteError, 'tau'),
    'prescribed NaN': (hybrid_dynamics, FLYER, [NAN, [0] * 3, ONE], NotFiniteError, 'prescribed'),
    'many of short acceleration': (
        *(many('inverse_dynamics'), FLYER, [np.zeros(4)], ShapeError),
        r'acceleration has shape \(9, 4\), expected \(9, 9\)',
    ),
    'many of an arm': (
        *(many('hybrid_dynamics'), ARM, [[0] * 9, [0] * 3, NONE], ShapeError),
        r'\(9, 9\), expected \(9, 3\)',
    ),
    'many NaN': (
        *(many('inverse_dynamics'), FLYER, [np.full(9, np.nan)], NotFiniteError),
        'sample 0: acceleration ',
    ),
}


@pytest.mark.parametrize(
    ('function', 'model', 'arguments', 'error', 'what'), WRONG.values(), ids=WRONG
)
def test_wrong_arguments__are_named(function, model, arguments, error, what):
    with pytest.raises(error, match=what):
        function(model, model.neutral_state(), *arguments)


def test_wrong_states_and_threads__are_refused():
    calls = {
        mass_matrix: ('s', []),
        mass_matrix_inverse: ('s', []),
        many('mass_matrix'): ('s', []),
        bias_force: ('Hsvr', []),
        forward_dynamics: ('Hsvr', [NONE]),
        inverse_dynamics: ('Hsvr', [np.zeros(9)]),
        many('forward_dynamics'): ('Hsvr', [NONE]),
    }
    for function, (parts, arguments) in calls.items():
        with pytest.raises(ShapeError):
            function(FLYER, SHORT, *arguments)
        for part in parts:
            for index in (0, 1, 2, 4, 5, 6, 8, 9, 10) if part == 'H' else range(3):
                state = FLYER.neutral_state()
                getattr(state, part).flat[index] = np.nan
                with pytest.raises(NotFiniteError, match=part):
                    function(FLYER, state, *arguments)
    with pytest.raises(ConfigurationError, match='threads is 0'):
        many('mass_matrix')(FLYER, FLYER.neutral_state(), threads=0)


def test_singular_posture__names_the_joint_and_leaves_what_is_prescribed():
    """Two axes that become parallel leave no inertia to one of them."""
    model = gimbal('floating', ['pan', 'tilt', 'roll'])
    state, zeros = model.neutral_state(), np.zeros(3)
    with pytest.raises(SingularInertiaError, match="'pan'"):
        forward_dynamics(model, state, zeros)
    nu_dot, tau = hybrid_dynamics(model, state, np.ones(3), zeros, [True, False, False])
    assert nu_dot[6] == 1.0
    needed = inverse_dynamics(model, state, nu_dot)
    assert_close(needed, np.concatenate((np.zeros(6), tau)), 1e-12, scale=30.0)
