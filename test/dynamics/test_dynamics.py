# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse and forward dynamics of robots against Pinocchio, and what is refused.

`oracle/test_matrix.py` has those of any robot, hybrid ones among them, against dense dynamics.
"""

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.trees import gimbal, random_description

from geolin_ros import (
    State,
    TreeModel,
    Wrench,
    bias_force,
    forward_dynamics,
    hybrid_dynamics,
    inverse_dynamics,
    mass_matrix,
    mass_matrix_inverse,
)
from geolin_ros.errors import (
    InputError,
    NotFiniteError,
    ShapeError,
    SingularInertiaError,
    UnknownNameError,
)


class Case:
    """A robot at a random motion, accelerations chosen apart from it."""

    def __init__(self, name, base):
        path, rng = example_robot(name), default_rng(31)
        _, self.model = read_robot(path, base=base)
        self.oracle = PinocchioOracle.read_urdf(path, self.model)
        self.state = self.model.random_state(rng, speed=2.0)
        self.nu_dot, self.tau = rng.normal(size=self.model.m), rng.normal(size=self.model.n)


@pytest.fixture(
    scope='module',
    params=[(k, b) for k in ('solo12', 'talos_reduced') for b in ('floating', 'fixed')],
)
def case(request):
    return Case(*request.param)


@pytest.mark.shows('Kim 2012: Table 2', 'Kim 2012: Eq. (32)')
def test_inverse_dynamics_of_robots__are_pinocchios(case):
    model, state = case.model, case.state
    expected = case.oracle.inverse_dynamics(state, case.nu_dot)
    assert_close(inverse_dynamics(model, state, case.nu_dot), expected, 1e-12)
    expected = case.oracle.inverse_dynamics(state, np.zeros(model.m))
    assert_close(bias_force(model, state), expected, 1e-12)
    assert_close(mass_matrix(model, state), case.oracle.mass_matrix(state), 1e-12)


@pytest.mark.shows('Kim 2012: Table 3')
def test_forward_and_hybrid_dynamics_of_robots__are_pinocchios(case):
    model, state, tau = case.model, case.state, case.tau
    expected = case.oracle.inverse_mass_matrix(state)
    assert_close(mass_matrix_inverse(model, state), expected, 1e-11)
    nu_dot = case.oracle.forward_dynamics(state, tau)
    assert_close(forward_dynamics(model, state, tau), nu_dot, 1e-11)
    prescribed = np.arange(model.n) % 2 == 0
    found = hybrid_dynamics(model, state, nu_dot[model.m - model.n :], tau, prescribed)
    assert_close(found[0], nu_dot, 1e-11)
    assert_close(found[1], tau, 1e-11, scale=np.abs(bias_force(model, state)).max())


@pytest.fixture(scope='module')
def arm():
    description = random_description(default_rng(8), 3, 'chain')
    return TreeModel.from_description(description, base='fixed')


@pytest.fixture(scope='module')
def flyer():
    return TreeModel.from_description(random_description(default_rng(8), 3, 'chain'))


NONE = np.zeros(3, dtype=bool)
WRONG = {
    'short acceleration': (inverse_dynamics, ([0, 0, 0],), ShapeError, 'acceleration'),
    'short tau': (forward_dynamics, ([0, 0],), ShapeError, 'tau'),
    'acceleration of no size': (hybrid_dynamics, ([0] * 4, [0] * 3, NONE), ShapeError, 'accel'),
    'short prescribed': (hybrid_dynamics, ([0] * 3, [0] * 3, NONE[:2]), ShapeError, 'prescribed'),
    'no truth': (hybrid_dynamics, ([0] * 3, [0] * 3, [0.5, 0.0, 1.0]), InputError, 'prescribed'),
    'tau of the base': (hybrid_dynamics, ([0] * 3, [0] * 9, NONE), ShapeError, 'tau'),
    'unknown link': (bias_force, ([Wrench('lnk1', [1.0, 0, 0])],), UnknownNameError, "'lnk1'"),
    'NaN': (inverse_dynamics, (np.full(9, np.nan),), NotFiniteError, 'acceleration'),
    'infinite tau': (forward_dynamics, ([0.0, np.inf, 0.0],), NotFiniteError, 'tau'),
    'NaN that is prescribed': (
        *(hybrid_dynamics, ([np.nan, 0.0, 0.0], [0] * 3, [True, False, False])),
        *(NotFiniteError, 'prescribed accelerations'),
    ),
}


@pytest.mark.parametrize(('function', 'arguments', 'error', 'what'), WRONG.values(), ids=WRONG)
def test_wrong_arguments__are_named(flyer, function, arguments, error, what):
    with pytest.raises(error, match=what):
        function(flyer, flyer.neutral_state(), *arguments)


def test_wrong_states__are_refused(flyer, arm):
    with pytest.raises(ShapeError, match='joints'):
        hybrid_dynamics(arm, arm.neutral_state(), np.zeros(9), np.zeros(3), NONE)
    with pytest.raises(ShapeError, match='2 joint positions'):
        mass_matrix(flyer, State(np.eye(4), [0, 0], np.zeros(6), [0, 0]))
    state = flyer.neutral_state()
    state.r[1] = np.nan
    for call in (
        lambda: bias_force(flyer, state),
        lambda: forward_dynamics(flyer, state, [0] * 3),
    ):
        with pytest.raises(NotFiniteError, match='r of robot'):
            call()
    state.s[0] = np.nan
    for function in (mass_matrix, mass_matrix_inverse):
        with pytest.raises(NotFiniteError, match='s and r of robot'):
            function(flyer, state)


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
