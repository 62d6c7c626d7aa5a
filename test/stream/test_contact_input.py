# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which contacts hold: configured, from a topic, or by forces with hysteresis."""

import numpy as np
import pytest
from support.close import assert_close
from support.messages import SECOND, contact_state, wrench_stamped
from support.messages import contact_states as states
from support.taking import dropped

from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, UnknownNameError
from geolin_ros.linearization.contacts import Contact, Loop
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.contact_input import ContactInput, ContactSettings, FootForce
from geolin_ros.stream.inputs.settings import StreamSettings

T0, MS = 50 * SECOND, 1_000_000
FEET = ('FL_foot', 'FR_foot')


def force(stamp, values):
    return wrench_stamped(stamp, (*values, 0.0, 0.0, 0.0))


def active(contacts):
    return [contact.name for contact in contacts if contact.active]


@pytest.fixture
def state(quadruped):
    return quadruped.random_state(np.random.default_rng(1))


@pytest.fixture
def by_forces(quadruped):
    return ContactInput(
        quadruped,
        ContactSettings(
            'forces',
            tuple(Contact(foot) for foot in FEET),
            tuple(FootForce(f'/force/{foot}', foot) for foot in FEET),
            on_force=20.0,
            off_force=10.0,
            timeout=0.05,
        ),
    )


def test_configured_contacts__hold_always(quadruped, state):
    contacts = (Contact('FL_foot'), Contact('FR_foot', 'surface'))
    heard = ContactInput(quadruped, ContactSettings(contacts=contacts))
    assert heard.at(T0, state) == contacts
    assert heard.at(T0 + SECOND, state) is heard.at(T0 + 2 * SECOND, state)
    with pytest.raises(UnknownNameError, match='FL_foot'):
        ContactInput(quadruped, ContactSettings(contacts=(Contact('FL_fot'),)))


def test_contact_states__hold_until_the_next_ones(quadruped, state):
    heard = ContactInput(quadruped, ContactSettings('topic'))
    with dropped(Cause.NO_CONTACTS, 'contact_states'):
        heard.at(T0, state)
    heard.take_states(
        states(T0, contact_state('FL_foot'), contact_state('FR_foot', 2, active=False))
    )
    first = heard.at(T0, state)
    assert active(first) == ['FL_foot']
    assert first[1].kind == 'surface'
    assert heard.at(T0 + SECOND, state) is first
    heard.take_states(states(T0 + SECOND, contact_state('FL_foot', 2, partner='base')))
    (loop,) = heard.at(T0 + SECOND, state)
    assert isinstance(loop, Loop)
    assert (loop.frame_a, loop.frame_b) == ('FL_foot', 'base')
    heard.take_states(states(T0 + 2 * SECOND))
    assert heard.at(T0 + 2 * SECOND, state) == ()


@pytest.mark.parametrize(
    ('message', 'cause', 'words'),
    [
        (states(T0 - MS), Cause.BACKWARDS, 'expected a later stamp'),
        (states(T0 + MS, contact_state('FL_fot')), Cause.CONTACT, "did you mean 'FL_foot'"),
        (states(T0 + MS, contact_state('FL_foot', 3)), Cause.CONTACT, 'kind 3, expected one of'),
        (
            states(T0 + MS, contact_state('FL_foot', damping=-1.0)),
            Cause.CONTACT,
            'kd -1.0, expected a number from 0 on',
        ),
    ],
)
def test_contact_states_that_cannot_be_used__leave_those_before(
    quadruped, state, message, cause, words
):
    heard = ContactInput(quadruped, ContactSettings('topic'))
    heard.take_states(states(T0, contact_state('RL_foot')))
    with dropped(cause, words):
        heard.take_states(message)
    assert active(heard.at(T0, state)) == ['RL_foot']


def test_contact_states_that_say_the_same__change_nothing(quadruped, state):
    heard = ContactInput(quadruped, ContactSettings('topic'))
    heard.take_states(states(T0, contact_state('FL_foot'), contact_state('FR_foot')))
    first = heard.at(T0, state)
    heard.take_states(states(T0 + MS, contact_state('FL_foot'), contact_state('FR_foot')))
    assert heard.at(T0 + MS, state) is first
    heard.take_states(states(T0 + 2 * MS, contact_state('FL_foot')))
    assert active(heard.at(T0 + 2 * MS, state)) == ['FL_foot']


def test_contact_off_its_frame__is_held_where_it_is_placed(quadruped, state):
    off = (0.01, -0.02, 0.03), (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))
    heard = ContactInput(quadruped, ContactSettings('topic'))
    heard.take_states(
        states(T0, contact_state('FL_foot', 2, placement=off), contact_state('RL_foot'))
    )
    moved, plain = heard.at(T0, state)
    expected = [[0, -1, 0, 0.01], [1, 0, 0, -0.02], [0, 0, 1, 0.03], [0, 0, 0, 1]]
    assert_close(np.asarray(moved.placement), np.array(expected, dtype=float), 1e-15)
    assert_close(np.asarray(plain.placement), np.eye(4), 0.0)
    unplaced = contact_state('RL_foot', placement=((0, 0, 0), (0, 0, 0, 0)))
    heard.take_states(states(T0 + MS, unplaced))
    assert heard.at(T0 + MS, state)[0].placement is None
    loop = contact_state('FL_foot', 2, partner='FR_foot', placement=off)
    with pytest.raises(DroppedInput, match='expected none between two frames'):
        heard.take_states(states(T0 + 2 * MS, loop))


def test_forces__switch_contacts_with_hysteresis(by_forces, state):
    left, right = (f'/force/{foot}' for foot in FEET)
    by_forces.take_force(right, force(T0, (0.0, 0.0, 0.0)))
    found = []
    for step, size in enumerate((0.0, 15.0, 20.0, 15.0, 10.0, 9.0, 15.0, 30.0)):
        by_forces.take_force(left, force(T0 + step * MS, (0.0, -0.6 * size, 0.8 * size)))
        found.append(active(by_forces.at(T0 + step * MS, state)) == ['FL_foot'])
    assert found == [False, False, True, True, True, False, False, True]
    before = by_forces.at(T0 + 8 * MS, state)
    by_forces.take_force(right, force(T0 + 9 * MS, (1000.0, 0.0, 0.0)))
    assert active(by_forces.at(T0 + 9 * MS, state)) == list(FEET)
    assert active(before) == ['FL_foot']


def test_forces_that_are_missing_or_old__drop_the_joint_state(by_forces, state):
    by_forces.take_force('/force/FL_foot', force(T0, (0.0, 0.0, 50.0)))
    with dropped(Cause.NO_CONTACTS, 'no force on /force/FR_foot yet'):
        by_forces.at(T0, state)
    by_forces.take_force('/force/FR_foot', force(T0 + 60 * MS, (0.0, 0.0, 50.0)))
    with pytest.raises(DroppedInput, match=r'/force/FL_foot is \+0\.0600 s away'):
        by_forces.at(T0 + 60 * MS, state)
    with pytest.raises(DroppedInput, match='expected finite numbers'):
        by_forces.take_force('/force/FL_foot', force(T0 + 61 * MS, (np.nan, 0.0, 0.0)))
    with pytest.raises(DroppedInput, match='expected a later stamp'):
        by_forces.take_force('/force/FR_foot', force(T0 + 60 * MS, (0.0, 0.0, 50.0)))
    by_forces.take_force('/force/other', force(T0 + 70 * MS, (0.0, 0.0, 50.0)))


def test_stiff_contacts__are_anchored_where_they_become_active(quadruped):
    rng = np.random.default_rng(3)
    first, second, third = (quadruped.random_state(rng) for _ in range(3))
    heard = ContactInput(quadruped, ContactSettings('topic'))
    stiff = {'stiffness': 50.0, 'damping': 14.0}

    def reference(contacts):
        return np.asarray(contacts[0].reference)

    heard.take_states(states(T0, contact_state('FL_foot', **stiff)))
    held = heard.at(T0, first)
    assert_close(reference(held), Kinematics(quadruped, first).pose('FL_foot'), 1e-12)
    assert heard.at(T0 + MS, second) is held
    heard.take_states(states(T0 + MS, contact_state('FL_foot', active=False, **stiff)))
    assert heard.at(T0 + MS, second)[0].reference is None
    heard.take_states(states(T0 + 2 * MS, contact_state('FL_foot', **stiff)))
    again = heard.at(T0 + 2 * MS, third)
    assert_close(reference(again), Kinematics(quadruped, third).pose('FL_foot'), 1e-12)
    heard.forget()
    heard.take_states(states(T0 - SECOND, contact_state('FL_foot', **stiff)))
    anew = heard.at(T0 + 3 * MS, first)
    assert_close(reference(anew), Kinematics(quadruped, first).pose('FL_foot'), 1e-12)
    given = contact_state('FL_foot', place=(1, 2, 3), turn=(0, 0, 0, 1), **stiff)
    heard.take_states(states(T0 + 4 * MS, given))
    assert reference(heard.at(T0 + 4 * MS, second))[:3, 3].tolist() == [1.0, 2.0, 3.0]


def test_resume__goes_on_with_what_was_heard(quadruped, by_forces, state):
    for foot in FEET:
        by_forces.take_force(f'/force/{foot}', force(T0, (0.0, 0.0, 15.0)))
    by_forces.take_force('/force/FR_foot', force(T0 + MS, (0.0, 0.0, 25.0)))
    later = ContactInput(
        quadruped,
        ContactSettings(
            'forces', (Contact('FR_foot'),), (FootForce('/force/FR_foot', 'FR_foot'),)
        ),
    )
    later.resume(by_forces)
    assert active(later.at(T0 + MS, state)) == ['FR_foot']


def test_contacts_by_efforts__are_of_the_state_estimator_alone():
    with pytest.raises(ConfigurationError, match='only the state estimator knows'):
        StreamSettings(contacts=ContactSettings('efforts', (Contact('FL_foot'),)))


@pytest.mark.parametrize(
    ('settings', 'words'),
    [
        ({'on_force': 5.0}, 'contact_off_force is 10 N, expected at most contact_on_force, 5 N'),
        ({'source': 'forces', 'contacts': (Contact('FL_foot'),)}, 'expected the same frames'),
    ],
)
def test_settings_that_contradict_each_other__are_refused(settings, words):
    with pytest.raises(ConfigurationError, match=words):
        ContactSettings(**settings)
