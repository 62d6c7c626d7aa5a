# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Linearization with independent contacts and loops, by Pinocchio's derivatives and its flow."""

import dataclasses

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close
from support.constrained_reference import ConstrainedReference
from support.finite_difference import (
    derivative,
    exp,
    retract,
)
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.errors import (
    ConfigurationError,
    NotFiniteError,
    ShapeError,
    UnknownNameError,
)
from geolin_ros.linearization.constrained_dynamics import constrained_forward_dynamics
from geolin_ros.linearization.contacts import Contact, Loop, anchored

GAINS, DAMPED = {'kp': 50.0, 'kd': 14.0}, {'kd': 3.0}
GO2 = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]
SOLE = Contact('left_sole_link', 'surface', **GAINS)
CASES = {
    'go2 on four feet': ('go2', [Contact(foot, **GAINS) for foot in GO2]),
    'g1 on its soles': (
        'g1_29dof_rev_1_0',
        [Contact(f'{side}_ankle_roll_link', 'surface', **DAMPED) for side in ('left', 'right')],
    ),
    'talos_full on a sole': ('talos_full_v2', [Contact('left_sole_link', 'surface')]),
    'talos on a sole, holding on': (
        'talos_reduced',
        [
            Contact('leg_left_6_link', 'surface', **DAMPED),
            Contact('arm_right_7_link'),
            Contact('base_link', kp=30.0),
        ],
    ),
    'talos at its base and a leg': (
        'talos_reduced',
        [Contact('base_link', 'surface'), Contact('leg_left_6_link', **GAINS)],
    ),
    'point beside a surface on one branch': (
        'talos_reduced',
        [Contact('arm_left_7_link', 'surface', **GAINS), Contact('torso_2_link', **DAMPED)],
    ),
    'two hands and a sole': (
        'talos_reduced',
        [Contact('arm_right_7_link', 'surface'), SOLE, Contact('arm_left_4_link', **DAMPED)],
    ),
    'one point': ('talos_reduced', [Contact('leg_right_3_link', **DAMPED)]),
    'go2 in loops': (
        'go2',
        [
            Loop(GO2[0], GO2[1], 'point', **GAINS),
            Loop(
                *(GO2[2], GO2[3], 'surface'),
                kp=9.0,
                kd=4.0,
                reference=exp(np.array([0.1, 0.2, 0.3, 1, 2, -0.5])),
            ),
            Contact('base', 'point', **GAINS),
        ],
    ),
}


class Case:
    """A robot, what holds it at frames anywhere on links, and a motion; references are off."""

    def __init__(self, name):
        rng = default_rng(3)
        robot, contacts = CASES[name]
        path = example_robot(robot)
        _, self.model = read_robot(path)
        self.state = self.model.random_state(rng)
        self.tau = rng.normal(size=self.model.n)
        moved = self.state.retract(0.05 * rng.normal(size=2 * self.model.m))
        placed = [
            contact
            if isinstance(contact, Loop)
            else dataclasses.replace(contact, placement=exp(0.3 * rng.normal(size=6)))
            for contact in contacts
        ]
        self.contacts = [
            contact if isinstance(contact, Loop) else off
            for contact, off in zip(placed, anchored(self.model, moved, placed), strict=True)
        ]
        oracle = PinocchioOracle.read_urdf(path, self.model)
        self.reference = ConstrainedReference(oracle, self.contacts)


@pytest.mark.parametrize('name', CASES)
def test_derivatives__are_those_of_pinocchio(name):
    case = Case(name)
    m = case.model.m
    C = Linearizer(case.model, case.contacts)(case.state, case.tau)
    expected = case.reference.derivatives(case.state, case.tau)
    assert_close(C.nu_dot, expected.nu_dot, 1e-10, 'nu_dot')
    assert_close(C.wrenches, expected.lam, 1e-10, 'wrenches')
    assert_close(C.B[m:], expected.nu_dot_by_tau, 1e-10, 'B')
    for columns in (np.s_[:, :m], np.s_[:, m:]):
        assert_close(C.A[m:][columns], expected.nu_dot_by_state[columns], 1e-10, 'A')
        ours, theirs = C.wrench_by_state[columns], expected.lam_by_state[columns]
        assert_close(ours, theirs, 1e-10, 'wrenches by state')
    assert_close(C.wrench_by_tau, expected.lam_by_tau, 1e-10, 'by tau')
    free = Linearizer(case.model)(case.state, case.tau)
    np.testing.assert_array_equal(C.A[:m], free.A[:m])  # kinematic rows
    assert np.all(C.B[:m] == 0.0)
    assert C.rank == C.wrenches.size == len(C.contact_rows)


def test_forward_dynamics__is_that_of_the_linearization_and_of_dense_dynamics():
    case = Case('talos on a sole, holding on')
    nu_dot, lam = constrained_forward_dynamics(case.model, case.state, case.tau, case.contacts)
    expected = case.reference.forward_dynamics(case.state, case.tau)
    assert_close(nu_dot, expected[0], 1e-9)
    assert_close(lam, expected[1], 1e-9)
    linearizer = Linearizer(case.model, case.contacts)
    assert_close(linearizer.forward_dynamics(case.state, case.tau), nu_dot, 1e-12)


def test_contacts__switch_at_run_time():
    case = Case('go2 on four feet')
    linearizer = Linearizer(case.model, case.contacts)
    linearizer.activate(GO2[1:])
    three = linearizer(case.state, case.tau).copy()
    again = Linearizer(case.model, case.contacts[1:])(case.state, case.tau)
    np.testing.assert_array_equal(three.A, again.A)
    np.testing.assert_array_equal(three.wrench_by_state, again.wrench_by_state)
    assert [contact.frame for contact in three.contacts] == GO2[1:]
    assert len(linearizer.contacts) == 4
    linearizer.activate([])
    none = linearizer(case.state, case.tau)
    free = Linearizer(case.model)(case.state, case.tau)
    assert_close(none.A, free.A, 1e-11)
    assert_close(none.B, free.B, 1e-11)
    assert none.wrenches.size == 0
    assert none.wrench_by_state.shape == (0, 2 * case.model.m)
    linearizer.contacts = [Loop(GO2[0], GO2[1], 'point')]
    assert linearizer(case.state, case.tau).contact_rows[0].name == 'FL_foot=FR_foot.fx'


def test_discretize__is_the_derivative_of_the_constrained_flow():
    case = Case('go2 on four feet')
    linearizer = Linearizer(case.model, case.contacts)
    D = linearizer.discretize(case.state, case.tau, 0.002, method='rkmk4')

    def flow(state, tau):
        return case.reference.flow(state, tau, 0.002, 4)

    arrived = flow(case.state, case.tau)
    assert_close(D.next_state.data, arrived.data, 1e-7)
    rng = default_rng(8)
    for _ in range(3):
        z, du = rng.normal(size=2 * case.model.m), rng.normal(size=case.model.n)
        expected = derivative(
            lambda t, z=z, du=du: arrived.difference(
                flow(retract(case.state, t * z), case.tau + t * du)
            ),
            step=1e-3,
        )
        assert_close(D.Phi @ z + D.Gamma @ du, expected, 1e-5)


UNUSABLE = {
    'unknown frame': ([Contact('FL_fot')], UnknownNameError, 'FL_foot'),
    'unknown end of a loop': ([Loop('FL_foot', 'FR_fot')], UnknownNameError, 'FR_foot'),
    'unknown kind': ([Contact('FL_foot', 'line')], ConfigurationError, 'line'),
    'negative gain': ([Contact('FL_foot', kd=-1.0)], ConfigurationError, 'kd -1'),
    'pulled nowhere': ([Contact('FL_foot', kp=1.0)], ConfigurationError, 'anchored'),
    'small reference': ([Contact('FL_foot', reference=np.eye(3))], ShapeError, 'reference'),
    'NaN': ([Contact('FL_foot', placement=np.full((4, 4), np.nan))], NotFiniteError, 'FL_foot'),
}


@pytest.mark.parametrize(('contacts', 'error', 'what'), UNUSABLE.values(), ids=UNUSABLE)
def test_unusable_contacts__are_named(contacts, error, what):
    with pytest.raises(error, match=what):
        Linearizer(TreeModel.from_urdf(robots.path('quadruped')), contacts)


def test_wrong_arguments_in_contact__are_named():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    for length in (0.0, np.inf, np.nan):
        with pytest.raises(ConfigurationError, match='length'):
            Linearizer(model, length=length)
    linearizer = Linearizer(model, [Contact('FL_foot')])
    with pytest.raises(UnknownNameError, match='FR_foot'):
        linearizer.activate(['FR_foot'])
    for tau, error in ((np.zeros(3), ShapeError), (np.full(12, np.nan), NotFiniteError)):
        with pytest.raises(error, match='tau'):
            linearizer(model.neutral_state(), tau)
