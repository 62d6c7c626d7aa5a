# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Contacts by parameter, topic or forces; answers that obey them, and messages about them."""

import numpy as np
import pytest
from support.close import assert_close
from support.messages import (
    SECOND,
    contact_state,
    empty_contact_state,
    joint_state,
    linearization_summary,
    linearized_dynamics,
    odometry,
    wrench_stamped,
)
from support.messages import contact_states as states
from support.pinocchio_oracle import PinocchioOracle
from support.taking import Source, take

from geolin_ros import TreeModel, Wrench, robots
from geolin_ros.control.support import Support
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, UnknownNameError
from geolin_ros.linearization.contacts import Contact, Loop
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.reduction import reduce
from geolin_ros.linearization.representation import TwistChange
from geolin_ros.offline.bags import CONTACT, empty_message
from geolin_ros.spatial import se3
from geolin_ros.stream.contacts import (
    ContactInput,
    ContactSettings,
    FootForce,
    read_contact,
    write_contact,
)
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import LinearizationStream, OperatingPoint, forces_for
from geolin_ros.stream.outputs.markers import contact_forces, external_forces
from geolin_ros.stream.outputs.messages import LinearizationWriter, SummaryWriter
from geolin_ros.stream.outputs.reading import read_contact_dynamics
from geolin_ros.stream.topic_stream import Counts

T0, MS = 50 * SECOND, 1_000_000
FEET = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]
HELD = ContactSettings(contacts=tuple(Contact(foot) for foot in FEET))
POSE = np.array([[0.0, -1, 0, 0.1], [1, 0, 0, -0.2], [0, 0, 1, 0.3], [0, 0, 0, 1]])
PLACED = (0.1, -0.2, 0.3), (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))
GAINS = {'kp': 50.0, 'kd': 14.0}


def feed(stream, stamp):
    """Return the answer at a random state, always the same."""
    return Source(stream.model).feed(stream, stamp)


def active(contacts):
    return [contact.name for contact in contacts if contact.active]


# ---- Which contacts hold


def by_forces(model, *feet):
    return ContactInput(
        model,
        ContactSettings(
            'forces',
            tuple(Contact(foot) for foot in feet),
            tuple(FootForce(f'/force/{foot}', foot) for foot in feet),
            on_force=20.0,
            off_force=10.0,
        ),
    )


def feel(contacts, foot, stamp, size):
    """Let a foot feel a force of a size [N]."""
    force = 0.0, -0.6 * size, 0.8 * size, 0.0, 0.0, 0.0
    contacts.take_force(f'/force/{foot}', wrench_stamped(stamp, force))


def test_forces__switch_contacts_with_hysteresis(quadruped):
    state, (left, right, *_) = quadruped.neutral_state(), FEET
    contacts = by_forces(quadruped, left, right)
    feel(contacts, right, T0, 0.0)
    found = []
    for step, size in enumerate((0.0, 15.0, 20.0, 15.0, 10.0, 9.0, 15.0, 30.0)):
        feel(contacts, left, T0 + step * MS, size)
        found.append(active(contacts.at(T0 + step * MS, state)) == [left])
    assert found == [False, False, True, True, True, False, False, True]
    feel(contacts, left, T0 + 8 * MS, 15.0)
    feel(contacts, right, T0 + 9 * MS, 1000.0)
    assert active(contacts.at(T0 + 9 * MS, state)) == [left, right]
    later = by_forces(quadruped, left)  # goes on with what is above off_force alone
    later.resume(contacts)
    feel(later, left, T0 + 9 * MS, 15.0)
    assert active(later.at(T0 + 9 * MS, state)) == [left]


def test_contact_states__hold_until_the_next_ones(quadruped):
    stream = LinearizationStream(quadruped, StreamSettings(contacts=ContactSettings('topic')))
    surface, loop = contact_state('FL_foot', 2), contact_state('FL_foot', 2, partner='base')
    one, two = contact_state('FL_foot'), contact_state('RR_foot')
    off = contact_state('RL_foot', active=False)
    for k, (told, names, size) in enumerate(
        (
            ((surface, off), ['FL_foot'], 6),
            (None, ['FL_foot'], 6),
            ((one, two), ['FL_foot', 'RR_foot'], 6),
            ((one,), ['FL_foot'], 3),
            ((one,), ['FL_foot'], 3),
            ((loop,), ['FL_foot=base'], 6),
            ((), [], 0),
        )
    ):
        if told is not None:
            take(stream, 'contact_states', states(T0 + k * MS, *told))
        answer = feed(stream, T0 + k * MS)
        assert active(answer.contacts.contacts) == names
        assert answer.contacts.wrenches.size == size
        assert answer.contacts.source == 'topic'


def test_contact__is_held_where_it_is_placed(quadruped):
    contacts = ContactInput(quadruped, ContactSettings('topic'))
    told = contact_state('FL_foot', placement=PLACED), contact_state('RL_foot')
    nowhere = contact_state('RR_foot', placement=((0, 0, 0), (0, 0, 0, 0)))
    contacts.take_states(states(T0, *told, nowhere))
    moved, plain, unplaced = contacts.at(T0, quadruped.neutral_state())
    assert_close(np.asarray(moved.placement), POSE, 1e-15)
    assert_close(np.asarray(plain.placement), np.eye(4), 0.0)
    assert unplaced.placement is None


def test_stiff_contacts__are_anchored_where_they_become_active(quadruped):
    rng = np.random.default_rng(3)
    first, second, third = (quadruped.random_state(rng) for _ in range(3))
    contacts, stiff = ContactInput(quadruped, ContactSettings('topic')), {'kp': 50.0}
    given = contact_state('FL_foot', place=(1, 2, 3), turn=(0, 0, 0, 1), **stiff)
    holds, off = (contact_state('FL_foot', active=x, **stiff) for x in (True, False))
    k = 0
    for told, state, anchor in (
        (holds, first, first),
        (None, second, first),
        (off, second, None),
        (holds, third, third),
        ('forget', None, None),
        (holds, first, first),
        (given, second, (1.0, 2.0, 3.0)),
    ):
        k += 1
        if told == 'forget':
            contacts.forget()
            continue
        if told is not None:
            contacts.take_states(states(T0 + k * MS, told))
        found = contacts.at(T0 + k * MS, state)[0].reference
        if anchor is None:
            assert found is None
        elif isinstance(anchor, tuple):
            assert tuple(found[:3, 3]) == anchor
        else:
            assert_close(np.asarray(found), Kinematics(quadruped, anchor).pose('FL_foot'), 1e-12)


@pytest.mark.parametrize(
    'contact',
    [
        Contact('FL_foot'),
        Contact('RR_foot', 'surface', **GAINS, reference=POSE, placement=POSE),
        Support.sole('FL_foot', 0.1, 0.05, offset=(0.02, 0.0, -0.01)).contact,
        Loop('FL_foot', 'FR_foot', 'point', **GAINS, reference=POSE, active=False),
    ],
    ids=['plain', 'held', 'sole', 'loop'],
)
def test_contact__survives_its_message(quadruped, contact):
    message = empty_message(CONTACT)
    write_contact(message, contact, quadruped)
    assert_same(read_contact(quadruped, message), contact)


def assert_same(found, contact):
    assert type(found) is type(contact)
    for name, value in vars(contact).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(getattr(found, name), value, atol=1e-15)
        else:
            assert getattr(found, name) == value, name


# ---- Answers that obey them


@pytest.mark.parametrize('representation', ['body', 'mixed'])
def test_answer__obeys_the_contacts(quadruped, representation):
    settings = StreamSettings(
        contacts=ContactSettings(contacts=HELD.contacts, admissible_basis=True),
        representation=representation,
    )
    stream = LinearizationStream(quadruped, settings)
    answer = feed(stream, T0)
    C = Linearizer(quadruped, HELD.contacts)(answer.point.state, answer.point.tau)
    shown = C.in_representation(representation) if representation != 'body' else C
    np.testing.assert_array_equal(answer.A, shown.A)
    np.testing.assert_array_equal(answer.nu_dot, C.nu_dot)
    contacts = answer.contacts
    assert contacts.source == 'parameter'
    assert contacts.redundancy.rank == 12
    summary = SummaryWriter(linearization_summary(), quadruped).write(answer, Counts(), 0.0)
    assert (summary.active_contacts, summary.contact_rank) == (4, 12)
    np.testing.assert_array_equal(contacts.wrenches, C.wrenches)
    np.testing.assert_array_equal(contacts.wrench_by_tau, C.wrench_by_tau)
    P, by_state = reduce(C).P, C.wrench_by_state
    if representation != 'body':
        change = TwistChange(answer.point.state, representation)
        P, by_state = change.from_body(P), change.on_columns(by_state)
    np.testing.assert_array_equal(contacts.wrench_by_state, by_state)
    first = contacts.basis.copy()
    assert_close(first.T @ first, np.eye(12), 1e-12)
    assert_close(first @ (first.T @ P), P, 1e-11)  # the same motions
    assert_close(feed(stream, T0 + MS).contacts.basis, first, 1e-12)


@pytest.mark.parametrize('method', ['midpoint', 'zoh'])
def test_discrete_answer__is_the_step_of_the_held_robot(quadruped, method):
    settings = StreamSettings(contacts=HELD, form='discrete', method=method, dt=0.003)
    answer = feed(LinearizationStream(quadruped, settings), T0)
    linearizer = Linearizer(quadruped, HELD.contacts)
    step = linearizer.discretize(answer.point.state, answer.point.tau, 0.003, method=method)
    np.testing.assert_array_equal(answer.A, step.Phi)
    np.testing.assert_array_equal(answer.B, step.Gamma)
    np.testing.assert_array_equal(answer.next_state.data, step.next_state.data)
    C = linearizer(answer.point.state, answer.point.tau)
    np.testing.assert_array_equal(answer.contacts.wrench_by_state, C.wrench_by_state)


def test_loops_of_the_robot__are_in_force_beside_contacts():
    model = TreeModel.from_urdf(robots.path('quadruped'), loops=['FL_foot=FR_foot point 9 6'])
    (loop,) = model.loops
    for held in ((), HELD.contacts[2:]):
        settings = StreamSettings(contacts=ContactSettings(contacts=held))
        answer = feed(LinearizationStream(model, settings), T0)
        expected = Linearizer(TreeModel.from_urdf(robots.path('quadruped')), [*held, loop])
        L = expected(answer.point.state, answer.point.tau)
        np.testing.assert_array_equal(answer.A, L.A)
        np.testing.assert_array_equal(answer.contacts.wrenches, L.wrenches)
        assert [c.name for c in answer.contacts.contacts] == [c.name for c in (*held, loop)]
    for changes in ({'nu_dot': 'zero'}, {'torque_source': 'inverse_dynamics'}):
        with pytest.raises(ConfigurationError, match=f'{next(iter(changes))} is .* with loops'):
            LinearizationStream(model, StreamSettings(**changes))


@pytest.mark.parametrize(
    ('contacts', 'rank', 'finding'),
    [
        ([Contact('FL_foot')] * 2, 3, '3 of 6 rows are redundant'),
        ([Contact(foot, 'surface') for foot in FEET], 18, 'no admissible motion'),
    ],
)
def test_contacts_that_hold_too_much__are_a_finding(quadruped, contacts, rank, finding):
    held = ContactSettings(contacts=tuple(contacts), admissible_basis=True)
    answer = feed(LinearizationStream(quadruped, StreamSettings(contacts=held)), T0)
    assert answer.contacts.redundancy.rank == rank
    assert answer.contacts.basis.shape == (36, 2 * (18 - rank))
    assert any(finding in sentence for sentence in answer.point.findings)


def test_contact_that_the_robot_has_not__is_named(quadruped):
    held = ContactSettings(contacts=(Contact('FL_fot'),))
    with pytest.raises(UnknownNameError, match='FL_foot'):
        LinearizationStream(quadruped, StreamSettings(contacts=held))


def ros_messages():
    messages = pytest.importorskip('geolin_msgs.msg')
    return messages.LinearizedDynamics(), messages.ContactState


@pytest.mark.parametrize(
    'make', [lambda: (linearized_dynamics(), empty_contact_state), ros_messages]
)
def test_message__says_which_contacts_were_assumed(quadruped, make):
    message, make_contact = make()
    settings = StreamSettings(contacts=ContactSettings('topic', admissible_basis=True))
    stream = LinearizationStream(quadruped, settings)
    writer = LinearizationWriter(message, quadruped, settings, make_contact=make_contact)
    stiff = contact_state('FL_foot', kp=30.0, kd=10.0)
    off = contact_state('RL_foot', 2, active=False, placement=PLACED)
    loop = contact_state('FL_foot', 2, partner='FR_foot', turn=(0, 0, 0, 1), place=(0, 1, 0))
    for k, (told, active, links) in enumerate(
        (
            ((stiff, off), ('FL_foot',), [('FL_calf', ''), ('RL_calf', '')]),
            ((loop,), ('FL_foot=FR_foot',), [('FL_calf', 'FR_calf')]),
        )
    ):
        take(stream, 'contact_states', states(T0 + k * MS, *told))
        answer = feed(stream, T0 + k * MS)
        writer.write(answer)
        written = message.contact_dynamics.contacts
        for one, contact in zip(written, answer.contacts.contacts, strict=True):
            assert_same(read_contact(quadruped, one), contact)
        assert [(one.link, getattr(one, 'partner_link', '')) for one in written] == links
        force = [getattr(written[0].wrench.force, x) for x in 'xyz']
        assert force == answer.contacts.wrenches[:3].tolist()
        received = read_contact_dynamics(message.contact_dynamics)
        assert (received.source, received.active) == ('topic', active)
        assert received.rank == answer.contacts.redundancy.rank
        for name in ('wrench_by_state', 'wrench_by_tau', 'basis'):
            expected = getattr(answer.contacts, name)
            np.testing.assert_array_equal(getattr(received, name), expected)
    assert (written[0].kind, written[0].active, written[0].reference.position.y) == (2, True, 1.0)


@pytest.mark.parametrize('asked', [{'nu_dot': 'measured'}, {'torque_source': 'inverse_dynamics'}])
def test_efforts_and_ground_forces__are_those_that_accelerations_need(quadruped, asked):
    """At rest, on four feet: what holds the robot is its weight, and no effort is measured."""
    settings = StreamSettings(contacts=HELD, **{'torque_source': 'zero', **asked})
    stream = LinearizationStream(quadruped, settings)
    stream.on_drop = lambda drop: None  # the first has no accelerations yet
    s = np.tile([0.0, 0.8, -1.6], 4)
    for stamp in range(T0, T0 + 3 * MS, MS):
        take(stream, 'odom', odometry(stamp, np.zeros(3), (0.0, 0.0, 0.0, 1.0), np.zeros(6)))
        state = joint_state(stamp, quadruped.joint_names, s, np.zeros(12), ())
        answer = take(stream, 'joint_states', state)
    assert stream.counts.answered == 2 + (stream.settings.nu_dot == 'predicted')
    assert np.abs(answer.nu_dot).max() < 1e-9
    assert np.abs(answer.point.base_wrench).max() < 1e-9
    J = Linearizer(quadruped, HELD.contacts)(answer.point.state, answer.point.efforts).J
    carried = (J[:, :6].T @ answer.contact_wrenches)[:3]  # in axes of the base, which is level
    assert_close(carried, [0.0, 0.0, 9.81 * quadruped.total_mass], 1e-3)


def test_forces_where_they_act__are_what_accelerates_the_robot(quadruped):
    """By Pinocchio; a contact is let go, and a loop listed among them pulls at both its ends."""
    oracle = PinocchioOracle.read_urdf(robots.path('quadruped'), quadruped)
    rng, loop = np.random.default_rng(5), Loop('FR_foot', 'RR_calf')
    state, tau = quadruped.random_state(rng), rng.normal(size=quadruped.n)
    at, f = Kinematics(quadruped, state), rng.normal(size=(3, 3))
    arm = at.pose('RL_hip')[:3, 3]
    wrenches = [
        Wrench('FL_hip', f[0], kind='body'),
        Wrench('FR_calf', f[1], kind='world_oriented', point=(0.1, 0.2, 0.3)),
        Wrench('RL_hip', f[2], np.cross(arm, f[2]), kind='world'),
    ]
    sole = Contact('RL_calf', placement=se3.exp(rng.normal(size=6)))
    lin = Linearizer(quadruped, [Contact('FL_foot'), Contact('RR_foot'), loop, sole])
    lin.activate(['FL_foot', loop.name, 'RL_calf'])
    L = lin(state, tau, wrenches=wrenches)
    forces = [*contact_forces(at, lin.contacts, L.wrenches), *external_forces(at, wrenches)]
    assert [one.is_contact for one in forces] == [True, True, False, False, False]
    moments = [np.cross(one.point - state.H[:3, 3], one.force) for one in forces]
    parts = np.stack((np.sum([one.force for one in forces], axis=0), np.sum(moments, axis=0)))
    expected = oracle.inverse_dynamics(state, L.nu_dot)[:6]
    assert_close((parts @ state.H[:3, :3]).ravel(), expected, 1e-9)


def test_forces_for__give_back_an_acceleration_that_contacts_allow(quadruped):
    """On two point feet, which cannot turn the base about their line: a wrench is left over."""
    rng = np.random.default_rng(3)
    linearizer = Linearizer(quadruped, HELD.contacts[:2])
    state, tau = quadruped.random_state(rng, speed=1.0), rng.normal(size=12)
    L = linearizer(state, tau)
    nu_dot, J = L.nu_dot.copy(), L.J.copy()
    tau, base = forces_for(quadruped, state, nu_dot, (), J)
    assert np.abs(J[:, :6] @ base).max() < 1e-9, 'the feet carry all that they can'
    wrenches = [Wrench(quadruped.base_link, base[:3], base[3:])]
    assert_close(linearizer(state, tau, wrenches=wrenches).nu_dot, nu_dot, 1e-9)


def test_operating_points__know_their_contacts(quadruped):
    points = LinearizationStream(quadruped, StreamSettings(contacts=HELD))
    free = LinearizationStream(quadruped, StreamSettings())
    points.answer_at = free.answer_at = OperatingPoint.copy
    before = feed(points, T0).contacts
    assert [contact.frame for contact in before] == [*FEET]
    assert feed(points, T0 + 10**6).contacts is before
    assert feed(free, T0).contacts == ()
