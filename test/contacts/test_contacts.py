# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Linearization with contacts and loops: robots by Pinocchio, dependent rows by the dense referee.

`oracle/test_matrix.py` has any robot that independent contacts hold.
"""

import dataclasses

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_blocks_close, assert_close
from support.constrained_reference import ConstrainedReference
from support.finite_difference import derivative, exp, retract
from support.general import Referee
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.trees import random_model

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.errors import (
    ConfigurationError,
    NotFiniteError,
    ShapeError,
    UnknownNameError,
    UnsolvableError,
)
from geolin_ros.linearization.contacts import Contact, Loop, anchored
from geolin_ros.linearization.contacts.constraints import Constraint, rows_at
from geolin_ros.linearization.linearizer import constrained_forward_dynamics
from geolin_ros.linearization.reduction import reduce

GAINS, DAMPED = {'kp': 50.0, 'kd': 14.0}, {'kd': 3.0}
GO2 = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]
LOOSE = exp(np.array([0.1, 0.2, 0.3, 1, 2, -0.5]))
CASES = {
    'go2 on four feet': ('go2', [Contact(foot, **GAINS) for foot in GO2]),
    'talos on a sole, holding on': (
        'talos_reduced',
        [
            Contact('leg_left_6_link', 'surface', **DAMPED),
            Contact('arm_right_7_link'),
            Contact('base_link', kp=30.0),
        ],
    ),
    'two hands and a sole': (
        'talos_reduced',
        [
            Contact('arm_right_7_link', 'surface'),
            Contact('left_sole_link', 'surface', **GAINS),
            Contact('arm_left_4_link', **DAMPED),
        ],
    ),
    'go2 in loops': (
        'go2',
        [
            Loop(GO2[0], GO2[1], 'point', **GAINS),
            Loop(GO2[2], GO2[3], 'surface', kp=9.0, kd=4.0, reference=LOOSE),
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


def test_discretize__is_the_derivative_of_the_constrained_flow():
    case = Case('go2 on four feet')
    linearizer = Linearizer(case.model, case.contacts)
    D = linearizer.discretize(case.state, case.tau, 0.002, method='rkmk4')

    def flow(state, tau):
        return case.reference.flow(state, tau, 0.002, 4)

    arrived, rng = flow(case.state, case.tau), default_rng(8)
    assert_close(D.next_state.data, arrived.data, 1e-7)
    z, du = rng.normal(size=2 * case.model.m), rng.normal(size=case.model.n)

    def moved(t):
        return arrived.difference(flow(retract(case.state, t * z), case.tau + t * du))

    assert_close(D.Phi @ z + D.Gamma @ du, derivative(moved, step=1e-3), 1e-5)


# ---- Rows that depend on each other


def sole_corners(link):
    """Return four points of one link, six independent rows of twelve."""
    return [
        Contact(link, placement=exp(np.array([x, y, -0.1, 0, 0, 0])))
        for x in (-0.1, 0.1)
        for y in (-0.05, 0.05)
    ]


REDUNDANT = {
    'corners of a sole': ('talos_reduced', sole_corners('leg_left_6_link'), 6),
    'a sole and two of its corners': (
        'talos_reduced',
        [Contact('leg_left_6_link', 'surface'), *sole_corners('leg_left_6_link')[:2]],
        6,
    ),
    'a loop through the ground': (
        'go2',
        [Contact('FL_foot'), Contact('FR_foot'), Loop('FL_foot', 'FR_foot', 'point')],
        6,
    ),
}


@pytest.mark.parametrize(('robot', 'contacts', 'rank'), REDUNDANT.values(), ids=REDUNDANT)
@pytest.mark.parametrize('length', [0.1, 1.0])
def test_rows_that_depend_on_each_other__equal_the_referee(robot, contacts, rank, length):
    """Forces of least norm, in which torques are divided by the length."""
    model = read_robot(example_robot(robot))[1]
    rng, m = default_rng(12), model.m
    linearizer = Linearizer(model, contacts, length=length)
    referee = Referee(model, contacts, length)
    for _ in range(2):  # at another state of the same rank, combinations are decided anew
        state, tau = model.random_state(rng), rng.normal(size=model.n)
        C, expected = linearizer(state, tau), referee(state, tau)
        assert C.rank == expected.rank == rank
        assert C.dropped.contradiction == pytest.approx(expected.contradiction, abs=1e-6)
        assert_close(C.dropped.smallest_kept, expected.smallest_kept, 1e-8)
        assert_blocks_close(C.A[:m], expected.A[:m], model, 0.0)
        for name in ('nu_dot', 'wrenches', 'wrench_by_tau', 'B'):
            scale = max(1.0, float(np.abs(expected.B).max())) if name == 'B' else None
            assert_close(getattr(C, name), getattr(expected, name), 2e-8, name, scale)
        for part in (np.s_[:, :m], np.s_[:, m:]):
            assert_close(C.A[m:][part], expected.A[m:][part], 2e-8, 'A')
            ours, theirs = C.wrench_by_state[part], expected.wrench_by_state[part]
            assert_close(ours, theirs, 2e-8, 'wrench_by_state')
        assert_close(linearizer.forward_dynamics(state, tau), expected.nu_dot, 1e-8)


# ---- Contacts that change


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
    assert none.wrench_by_state.shape == (0, 2 * case.model.m)
    linearizer.contacts = [Loop(GO2[0], GO2[1], 'point')]
    assert linearizer(case.state, case.tau).contact_rows[0].name == 'FL_foot=FR_foot.fx'


@pytest.mark.parametrize('before', [GO2, GO2[:3]], ids=['fewer rows', 'as many rows'])
def test_results__stay_those_of_their_contacts_when_contacts_change(before):
    model, rng = read_robot(example_robot('go2'))[1], default_rng(8)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    contacts = [Contact(foot) for foot in before]
    linearizer, expected = Linearizer(model, contacts), Referee(model, contacts)(state, tau)
    J, C = linearizer(state, tau).J, linearizer(state, tau)
    rows, twin = C.contact_rows, C.copy()
    linearizer.contacts = [Contact(foot) for foot in GO2]
    linearizer.activate(GO2[1:])
    linearizer.forward_dynamics(model.random_state(rng), tau)
    linearizer(model.random_state(rng), tau)
    state.s[:] += 0.2  # geometry is that of the call, whenever it is asked for
    for result in (C, twin):
        assert result.rank == expected.rank == 3 * len(before)
        assert result.contact_rows == result.dropped.rows == rows
        assert result.J.tobytes() == J.tobytes()
        assert result.dropped.smallest_kept == pytest.approx(expected.smallest_kept)
        assert_close(result.geometry.M, expected.M, 1e-12)
        for name in ('J', 'wrenches', 'wrench_by_state', 'A', 'B'):
            assert_close(getattr(result, name), getattr(expected, name), 1e-10, name)


def test_contacts__of_other_content_are_others_and_of_the_same_are_the_same():
    model = read_robot(example_robot('go2'))[1]
    rng = default_rng(7)
    state, tau, pose = model.random_state(rng), rng.normal(size=model.n), np.eye(4)
    linearizer = Linearizer(model, [Contact('FL_foot', placement=pose)])
    engine, A = linearizer.workspace, linearizer(state, tau).A
    linearizer.contacts = (Contact('FL_foot', placement=np.eye(4)),)
    assert linearizer.workspace is engine
    pose[2, 3] = 0.1  # of a contact that is in use
    linearizer.contacts = (Contact('FL_foot', placement=pose),)
    expected = Linearizer(model, [Contact('FL_foot', placement=pose)])(state, tau).A
    assert np.array_equal(linearizer(state, tau).A, expected)
    assert np.abs(expected - A).max() > 1e-3


@pytest.mark.parametrize('k', [0, 5, 6, 17])
def test_geometry__of_one_velocity_alone_is_that_of_a_robot_that_moves(k):
    model, nu = read_robot(example_robot('go2'))[1], np.eye(18)[k]
    contact = Contact('FL_foot', placement=exp(np.arange(6) / 9))
    rest = model.random_state(default_rng(6))
    state = model.state(rest.H, rest.s, nu[:6], nu[6:])
    found = Linearizer(model, [contact])(state, np.zeros(model.n)).geometry
    J, change, _ = rows_at(model, [Constraint(model, contact)], state)
    assert_close(found.J, J, 1e-12)
    assert_close(found.velocity_by_state, change, 1e-12)


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


SOLES = ('leg_left_6_link', 'leg_right_6_link')
SOLO = [f'{leg}_FOOT' for leg in ('FL', 'FR', 'HL', 'HR')]


def corners(link):
    """Return four points of a sole."""
    offsets = [(x, y, -0.1, 0.0, 0.0, 0.0) for x in (-0.1, 0.1) for y in (-0.06, 0.06)]
    return [Contact(link, placement=exp(np.array(offset))) for offset in offsets]


def on_manifold(model, contacts, state):
    """Return the state with the nearest velocity that the contacts admit."""
    J = Linearizer(model, contacts)(state, np.zeros(model.n)).J
    nu = np.concatenate((state.v, state.r))
    nu -= np.linalg.pinv(J, rcond=1e-9) @ (J @ nu)
    held = state.copy()
    held.v[:], held.r[:] = nu[:6], nu[6:]
    return held


class Talos:
    """Talos on eight corner points, and on two surfaces; in motion."""

    def __init__(self):
        path = example_robot('talos_reduced')
        _, self.model = read_robot(path)
        rng = default_rng(1)
        self.points = [point for sole in SOLES for point in corners(sole)]
        self.surfaces = [Contact(sole, 'surface') for sole in SOLES]
        self.state = on_manifold(self.model, self.surfaces, self.model.random_state(rng))
        self.tau = rng.normal(size=self.model.n)
        self.oracle = PinocchioOracle.read_urdf(path, self.model)


@pytest.fixture(scope='module')
def talos():
    return Talos()


def test_corner_points__move_as_two_surfaces_and_have_forces_of_least_norm(talos):
    model, m, tau = talos.model, talos.model.m, talos.tau
    reference = ConstrainedReference(talos.oracle, talos.points)
    C = Linearizer(model, talos.points)(talos.state, tau)
    nu_dot, lam = reference.forward_dynamics(talos.state, tau)
    assert_close(C.nu_dot, nu_dot, 1e-9)
    assert_close(C.wrenches, lam, 1e-9)
    report = C.dropped
    assert_close(report.dropped.T @ C.wrenches, np.zeros(12), 1e-9, scale=np.abs(lam).max())
    P = reduce(Linearizer(model, talos.surfaces)(talos.state, tau)).P
    assert P.shape == (2 * m, 2 * (m - 12))
    rng, R = default_rng(2), reduce(C)
    assert_close(np.linalg.norm(R.P.T @ P, 2), 1.0, 1e-12, 'same admissible directions')
    for y in rng.normal(size=(2, R.A.shape[0])):
        z = R.P @ y
        by_z = derivative(
            lambda t, z=z: np.concatenate(
                reference.forward_dynamics(talos.state.retract(t * z), tau)
            ),
            step=2e-3,
        )
        assert_close((C.A @ z)[m:], by_z[:m], 1e-7)
        assert_close(C.wrench_by_state @ z, by_z[m:], 1e-7)
    du = rng.normal(size=model.n)
    moved, changed = reference.forward_dynamics(talos.state, tau + du)
    assert_close(C.B[m:] @ du, moved - nu_dot, 1e-9)
    assert_close(C.wrench_by_tau @ du, changed - lam, 1e-9)
    assert (C.rank, report.rank, report.admissible) == (12, 12, m - 12)
    assert report.smallest_kept > 1e-5
    assert report.largest_dropped < 1e-14
    assert report.contradiction < 1e-9
    assert '12 of 24 rows are redundant' in report.warnings[0]
    assert len(report.redundant_rows) == 24
    assert Linearizer(model)(talos.state, tau).dropped.warnings == ()  # without contacts


def test_velocities_off_the_manifold__are_called_a_contradiction(talos):
    moving = talos.state.copy()
    moving.r[:] += 1.0
    report = Linearizer(talos.model, talos.points)(moving, talos.tau).dropped
    assert report.contradiction > 1e-3
    assert 'contradict each other' in report.warnings[-1]


def test_four_surfaces_on_a_quadruped__leave_no_motion_and_say_so():
    path = example_robot('solo12')
    _, model = read_robot(path)
    state, rng = model.random_state(default_rng(4), speed=0.0), default_rng(5)
    contacts, tau = [Contact(foot, 'surface') for foot in SOLO], rng.normal(size=model.n)
    C = Linearizer(model, contacts, length=1.0)(state, tau)
    assert (C.rank, C.dropped.admissible) == (18, 0)
    assert_close(C.nu_dot, np.zeros(model.m), 1e-9, scale=9.81)
    assert_close(C.A[model.m :], np.zeros((model.m, 2 * model.m)), 1e-9, scale=9.81)
    assert C.dropped.warnings[0].startswith('the contacts leave no admissible motion: their rank')
    assert 'rank 18 on 18 velocities, 0 admissible' in str(C.dropped)
    with pytest.raises(UnsolvableError, match='no admissible motion'):
        reduce(C)
    reference = ConstrainedReference(PinocchioOracle.read_urdf(path, model), contacts)
    for k in range(0, model.m, 3):  # at rest the contacts agree at every position
        z = np.eye(2 * model.m)[k]
        by_z = derivative(
            lambda t, z=z: reference.forward_dynamics(state.retract(t * z), tau)[1], step=2e-3
        )
        assert_close(
            C.wrench_by_state @ z, by_z, 1e-6, scale=np.abs(C.wrench_by_state[:, : model.m]).max()
        )


@pytest.mark.parametrize('seed', [3, 8, 27])
def test_points_on_the_axes_of_their_only_joints__cannot_move_and_bear_nothing(seed):
    rng = default_rng(seed)
    options = {'base': 'fixed', 'shape': 'star', 'kinds': ('revolute',)}
    _, model = random_model(rng, 6, **options)
    state, tau = model.random_state(rng), rng.normal(size=6)
    L = Linearizer(model, [Contact(name) for name in model.link_names[1:]])(state, tau)
    free = Linearizer(model)(state, tau)
    assert L.rank == 0
    for of_forces in (L.wrenches, L.wrench_by_state, L.wrench_by_tau):
        assert not of_forces.any()
    for found, expected in ((L.A, free.A), (L.B, free.B), (L.nu_dot, free.nu_dot)):
        np.testing.assert_array_equal(found, expected)


def test_stretched_leg__is_reported_and_never_smoothed(talos):
    """A sole and the hip above it held: the rank changes where the knee is straight."""
    model, found = talos.model, {}
    knee = model.joint_index('leg_left_4_joint')
    contacts = [Contact('leg_left_6_link', 'surface'), Contact('leg_left_3_link')]
    for bend in (1.0, 1e-3, 1e-5):
        state = model.neutral_state()
        state.s[knee] = bend
        found[bend] = Linearizer(model, contacts)(state, np.zeros(model.n))
    bent, nearly, straight = found.values()
    assert (bent.rank, nearly.rank, straight.rank) == (9, 9, 8)
    assert bent.dropped.warnings == ()
    assert nearly.dropped.smallest_kept < 1e-6
    assert 'rank 9 is unclear' in nearly.dropped.warnings[0]
    assert straight.dropped.largest_dropped < 1e-9
    assert '1 of 9 rows are redundant' in straight.dropped.warnings[0]
