# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import re
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from support.messages import (
    contact_state,
    empty_contact_state,
    linearized_dynamics,
    pose,
    random_quaternion,
    robot_state,
    twist,
    vector,
)

from geolin_ros import Linearizer, State, TreeModel, Wrench, robots
from geolin_ros.linearization.along import ARRAYS
from geolin_ros.linearization.contacts import Contact, anchored
from geolin_ros.spatial.se3 import rotation_from_quaternion
from geolin_ros.stream import requests
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.outputs.reading import read_contact_dynamics, read_linearization
from geolin_ros.stream.requests import RequestAnswerer, read_trajectory, write_request

NAMES = list(TreeModel.from_urdf(robots.path('quadruped')).joint_names)


def make_request(model, **changes):
    request = SimpleNamespace(
        joint_names=[],
        state=robot_state(model.n),
        joint_efforts=np.zeros(0),
        external_wrenches=[],
        contacts=[],
        override_gravity=False,
        gravity=vector((0, 0, 0)),
        reference=0,
        form=0,
        method=0,
        representation=0,
        dt=0.0,
    )
    vars(request).update(changes)
    return request


def random_request(model, seed=0, **changes):
    """Return a request, and the state and efforts that it is about."""
    rng = np.random.default_rng(seed)
    place, turn, v = rng.normal(size=3), random_quaternion(rng), rng.normal(size=6)
    if model.base == 'fixed':
        place, turn, v = np.zeros(3), np.array((0.0, 0.0, 0.0, 1.0)), np.zeros(6)
    s, r, tau = rng.uniform(-1.0, 1.0, (3, model.n))
    state = SimpleNamespace(
        base_pose=pose(place, turn), base_twist=twist(v), joint_positions=s, joint_rates=r
    )
    H = np.eye(4)
    H[:3, :3], H[:3, 3] = rotation_from_quaternion(turn), place
    request = make_request(model, state=state, joint_efforts=tau, **changes)
    return request, State(H, s, v, r), tau


def ask(model, request, settings=None):
    answerer = RequestAnswerer(
        model, settings or StreamSettings(), linearized_dynamics, empty_contact_state
    )
    response = SimpleNamespace(success=None, message='', linearization=None)
    return answerer.answer(request, response, 12, 'map')


def assert_equal(response, expected):
    assert response.success, response.message
    received = read_linearization(response.linearization)
    np.testing.assert_array_equal(received.A, expected.A)
    np.testing.assert_array_equal(received.B, expected.B)
    np.testing.assert_array_equal(received.nu_dot, expected.nu_dot)
    np.testing.assert_array_equal(received.drift, expected.drift)


@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_answer__is_what_the_library_says(base):
    model = TreeModel.from_urdf(robots.path('quadruped'), base=base)
    request, state, tau = random_request(model)
    response = ask(model, request)
    expected = Linearizer(model)(state, tau).copy()
    assert_equal(response, expected)
    message = response.linearization
    assert message.header.stamp.nanosec == 12
    assert message.header.frame_id == 'map'
    assert message.effort_source == 5
    assert message.odometry_stamp.sec == message.odometry_stamp.nanosec == 0
    assert message.compute_time > 0.0
    order = np.random.default_rng(1).permutation(12)  # joints may come in any
    request.joint_names, request.joint_efforts = [NAMES[i] for i in order], tau[order]
    request.state.joint_positions, request.state.joint_rates = state.s[order], state.r[order]
    response = ask(model, request)
    assert_equal(response, expected)
    assert list(response.linearization.joint_names) == NAMES
    request.joint_efforts = []
    assert_equal(ask(model, request), Linearizer(model)(state, np.zeros(12)))


def test_form_and_the_like__replace_those_of_the_node(quadruped):
    request, state, tau = random_request(quadruped, form=2, method=3, reference=2, dt=0.01)
    settings = StreamSettings(method='euler', representation='mixed')
    response = ask(quadruped, request, settings)
    step = Linearizer(quadruped).discretize(state, tau, 0.01, method='zoh', reference='frozen')
    step = step.in_representation('mixed')
    received = read_linearization(response.linearization)
    np.testing.assert_array_equal(received.A, step.Phi)
    np.testing.assert_array_equal(received.drift, step.defect)
    assert (received.form, received.method, received.dt) == ('discrete', 'zoh', 0.01)
    assert (received.reference, received.representation) == ('frozen', 'mixed')


def test_gravity__is_overridden_where_asked(quadruped):
    request, state, tau = random_request(
        quadruped, override_gravity=True, gravity=vector((0, 0, -1.62))
    )
    moon = quadruped.with_gravity((0, 0, -1.62))
    response = ask(quadruped, request)
    assert_equal(response, Linearizer(moon)(state, tau))
    assert response.linearization.model_hash == moon.hash != quadruped.hash


def external_wrench(kind, link='FL_foot'):
    wrench = SimpleNamespace(force=vector((1, -2, 30)), torque=vector((0.3, 0.2, -0.1)))
    return SimpleNamespace(link=link, kind=kind, wrench=wrench, point=vector((0.01, 0.02, 0.03)))


@pytest.mark.parametrize(('code', 'kind'), [(1, 'body'), (2, 'world'), (3, 'world_oriented')])
def test_external_wrenches__count_by_their_kind(quadruped, code, kind):
    request, state, tau = random_request(quadruped, external_wrenches=[external_wrench(code)])
    wrench = Wrench('FL_foot', (1, -2, 30), (0.3, 0.2, -0.1), kind, (0.01, 0.02, 0.03))
    response = ask(quadruped, request)
    assert_equal(response, Linearizer(quadruped)(state, tau, wrenches=[wrench]))
    assert response.linearization.external_wrenches == request.external_wrenches


def test_contacts_of_a_request__hold_the_robot(quadruped):
    stiff = contact_state('FL_foot', kp=40.0, kd=12.0)
    request, state, tau = random_request(
        quadruped,
        contacts=[stiff, contact_state('FR_foot', 2), contact_state('base', active=False)],
    )
    response = ask(quadruped, request)
    (held,) = anchored(quadruped, state, [Contact('FL_foot', 'point', kp=40.0, kd=12.0)])
    expected = Linearizer(quadruped, [held, Contact('FR_foot', 'surface')])(state, tau)
    assert_equal(response, expected)
    contacts = read_contact_dynamics(response.linearization.contact_dynamics)
    assert (contacts.source, contacts.active) == ('given', ('FL_foot', 'FR_foot'))
    np.testing.assert_array_equal(contacts.wrenches, expected.wrenches)


def state_with(**changes):
    """Return a state of zeros with other parts."""
    state = robot_state(12)
    vars(state).update(changes)
    return {'state': state}


SIZE = 4
REFUSED = [
    (state_with(joint_positions=np.zeros(3)), '3 entries in state.joint_positions, expected 12'),
    (state_with(base_pose=pose(np.zeros(3), np.zeros(4))), 'orientation of length 0, expected 1'),
    (state_with(joint_rates=np.full(12, np.nan)), r'r\[0\] is nan'),
    ({'joint_efforts': np.zeros(13)}, '13 entries in joint_efforts, expected 12'),
    ({'joint_efforts': np.full(12, np.nan)}, 'tau of .*NaN or inf'),
    ({'joint_names': ['FL_hip', *NAMES[1:]]}, "'FL_hip' .*did you mean 'FL_hip_joint'"),
    ({'joint_names': [NAMES[1], *NAMES[1:]]}, '12 joints, expected each of the 12 once'),
    ({'joint_names': NAMES[1:]}, '11 joints, expected each of the 12 once'),
    ({'form': 7}, r'form = 7, expected one of \[1, 2\]'),
    ({'form': 2, 'dt': -0.1}, 'dt is -0.1, expected a positive'),
    ({'override_gravity': True, 'gravity': vector((0, 0, np.nan))}, 'gravity.* is nan'),
    ({'external_wrenches': [external_wrench(1, 'FL_feet')]}, "did you mean .*'FL_foot'"),
    ({'external_wrenches': [external_wrench(0)]}, r'kind = 0, expected one of \[1, 2, 3\]'),
    ({'contacts': [contact_state('FL_foot', 3)]}, 'kind = 3, expected one of'),
    # refused before any is looked at
    (
        {'external_wrenches': [None] * (SIZE + 1)},
        'has 5 wrenches and contacts, expected at most 4',
    ),
    ({'contacts': [None] * (SIZE + 1)}, 'has 5 wrenches and contacts, expected at most 4'),
    ({'joint_names': [None] * 100_000}, '100000 joints, expected each of the 12 once'),
    ({'joint_efforts': [None] * 100_000}, '100000 entries in joint_efforts, expected 12'),
]


@pytest.mark.parametrize(('changes', 'says'), REFUSED)
def test_bad_request__is_answered_with_what_is_wrong(quadruped, changes, says):
    response = ask(
        quadruped, make_request(quadruped, **changes), StreamSettings(service_size=SIZE)
    )
    assert response.success is False
    assert response.linearization is None
    assert re.search(says, response.message), response.message


def test_twist_of_a_fixed_base__is_refused():
    model = TreeModel.from_urdf(robots.path('quadruped'), base='fixed')
    request, _, _ = random_request(model)
    request.state.base_twist = twist((0, 0, 1, 0, 0, 0))
    response = ask(model, request)
    assert not response.success
    assert 'expected zeros: the base of robot' in response.message


@pytest.mark.parametrize(
    ('settings', 'takes', 'most', 'says'),
    [
        ({'service_rate': 3, 'service_budget': 1.0}, 0.002, 3, 'more than 3 within a second'),
        ({'service_budget': 0.02}, 0.006, 4, 'at most 0.02 s; .* service.budget'),
    ],
)
def test_requests__are_bounded_in_number_and_in_the_time_they_take(
    quadruped, monkeypatch, settings, takes, most, says
):
    """Of each second; by a clock that is read twice while a request is answered."""
    clock = count(0.0, takes / 2)
    monkeypatch.setattr(requests, 'time', SimpleNamespace(perf_counter=lambda: next(clock)))
    answerer = RequestAnswerer(
        quadruped, StreamSettings(**settings), linearized_dynamics, empty_contact_state
    )
    request, _, _ = random_request(quadruped)

    def answer():
        response = SimpleNamespace(success=None, message='', linearization=None)
        return answerer.answer(request, response, 12, 'map')

    assert all(answer().success for _ in range(most))
    refused = answer()
    assert not refused.success
    assert re.search(says, refused.message)
    clock = count(next(clock) + 1.0, takes / 2)
    assert answer().success


def test_trajectory__is_that_of_the_library_bit_for_bit(quadruped):
    service = pytest.importorskip('geolin_msgs.srv').LinearizeAlong
    contacts, rng = [Contact('FL_foot'), Contact('RR_foot', 'surface')], np.random.default_rng(8)
    states = np.stack([quadruped.random_state(rng).data for _ in range(4)])
    efforts, times = rng.normal(size=(3, quadruped.n)), np.array((0.0, 0.01, 0.03, 0.04))
    in_force = [('FL_foot',), ('FL_foot', 'RR_foot'), ()]
    make_contact = pytest.importorskip('geolin_msgs.msg').ContactState
    settings = StreamSettings(service_budget=1.0)
    answerer = RequestAnswerer(quadruped, settings, linearized_dynamics)
    for N in (2, 3, 1):
        request, part = service.Request(), slice(N + 1)
        nodes = states[part], efforts[:N], times[part]
        write_request(request, make_contact, quadruped, contacts, (*nodes, in_force[:N]))
        response = answerer.answer_along(request, service.Response())
        found = read_trajectory(response.trajectory, contacts, in_force[:N])
        expected = Linearizer(quadruped, contacts).along(*nodes, contacts=in_force[:N])
        assert (found.in_force, found.first) == (expected.in_force, expected.first)
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    for change, words in (
        ({'model_hash': 'another'}, 'request is about model another, expected'),
        ({'in_force': [True]}, '1 entries in in_force, expected at most 1000 and 1 x 2'),
        ({'times': [0.0]}, r'times have shape \(1,\)'),
    ):
        request = service.Request()
        write_request(request, make_contact, quadruped, contacts, (*nodes, in_force[:N]))
        for name, value in change.items():
            setattr(request, name, value)
        assert re.search(words, answerer.answer_along(request, service.Response()).message)
