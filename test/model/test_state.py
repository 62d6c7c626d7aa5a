# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
import copy
import inspect
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import finite_difference
from support.close import assert_close
from support.states import rotation_about

import geolin_ros
from geolin_ros import Linearizer, State, TreeModel, robots
from geolin_ros.dynamics import constraints, functions, momentum
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import InputError, NotFiniteError, ShapeError

N = 4
OF_A_STATE = {
    value: f'{module.__name__}.{value.__name__}'
    for module in (geolin_ros, functions, constraints, momentum)
    for value in (getattr(module, name) for name in dir(module) if not name.startswith('_'))
    if inspect.isfunction(value)
    and list(inspect.signature(value).parameters)[:2] == ['model', 'state']
    and value.__name__ != 'one'
}


def random_state(rng):
    """Return a state of a robot with N joints."""
    H = rotation_about(rng.normal(size=3), rng.uniform(0.0, np.pi))
    H[:3, 3] = rng.uniform(-1.0, 1.0, 3)
    return State(H, rng.normal(size=N), rng.normal(size=6), rng.normal(size=N))


def test_state__parts_are_views_of_one_array_of_its_own():
    H, s = np.eye(4), np.zeros(N)
    state = State(H, s, np.zeros(6), np.zeros(N))
    H[0, 3], s[0] = 9.0, 9.0
    assert state.H[0, 3] == state.s[0] == 0.0
    state.H[0, 3], state.s[1], state.v[2], state.r[3] = 1.5, 2.5, 3.5, 4.5
    assert state.data.shape == (22 + 2 * N,)
    assert list(state.data[[3, 17, 22, 29]]) == [1.5, 2.5, 3.5, 4.5]
    state.copy().s[0] += 1.0
    assert state.s[0] == 0.0


@pytest.mark.parametrize(
    'through',
    [lambda x: x, copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), State.copy],
    ids=['itself', 'copy', 'deepcopy', 'pickle', 'State.copy'],
)
def test_state__assigned_parts_are_written_into_its_data(through):
    model = TreeModel.from_urdf(robots.path('quadruped'))
    there = model.random_state(np.random.default_rng(0))
    state = through(model.neutral_state())
    state.H, state.s, state.v, state.r = there.H, there.s, there.v, there.r
    np.testing.assert_array_equal(state.data, there.data)
    state.s += 0.25
    state.r[:] = 0.5
    there.data[16:28], there.data[34:] = there.s + 0.25, 0.5
    np.testing.assert_array_equal(state.data, there.data)
    lin, tau = Linearizer(model), np.zeros(model.n)
    nu_dot = lin(state, tau).nu_dot.copy()
    np.testing.assert_array_equal(nu_dot, lin(there, tau).nu_dot)
    state.data = model.neutral_state().data
    assert not state.s.any()


WRONG = [
    ('s', np.zeros(3), ShapeError, r's has shape \(3,\), expected \(2,\)'),
    ('s', [np.nan, 0.0], NotFiniteError, r's\[0\] is nan'),
    ('H', np.zeros(16), ShapeError, r'H has shape \(16,\), expected \(4, 4\)'),
    ('H', np.ones((4, 4)), ShapeError, 'last row'),
    ('v', np.zeros(5), ShapeError, 'v has shape'),
    ('v', [0, 0, 0, np.inf, 0, 0], NotFiniteError, r'v\[3\] is inf'),
    ('r', 0.0, ShapeError, 'r has shape'),
    ('r', np.zeros((2, 1)), ShapeError, 'r has shape'),
]


@pytest.mark.parametrize(('part', 'value', 'error', 'words'), WRONG)
def test_state__a_wrong_part_is_not_taken(part, value, error, words):
    parts = {'H': np.eye(4), 's': [0.1, 0.2], 'v': np.zeros(6), 'r': [0.3, 0.4]}
    state = State(**parts)
    before = state.data.copy()
    with pytest.raises(error, match=words):
        setattr(state, part, value)
    np.testing.assert_array_equal(state.data, before)
    if part != 's' or error is NotFiniteError:  # s says how many joints there are
        with pytest.raises(error, match=words.partition(',')[0]):
            State(**parts | {part: value})
    with pytest.raises(AttributeError):
        state.q = np.zeros(2)


@pytest.mark.shows('Bos 2022: Eqs. (14)-(17)')
@given(
    seed=st.integers(0, 2**32 - 1),
    angle=st.sampled_from([0.0, 1e-12, 1e-6, 1.0, 3.0, np.pi - 1e-6, np.pi - 1e-12]),
)
def test_difference__returns_what_retract_took(seed, angle):
    rng = np.random.default_rng(seed)
    state, z = random_state(rng), rng.uniform(-1.0, 1.0, 12 + 2 * N)
    z[3:6] *= angle / np.linalg.norm(z[3:6])
    reached = state.retract(z)
    assert_close(state.difference(reached), z, 1e-12, scale=1.0)
    assert_close(state.retract(state.difference(reached)).data, reached.data, 1e-13)


@pytest.mark.shows('Bos 2022: Eqs. (14)-(17)')
def test_retract__is_the_group_product_with_exp():
    """Of a fixed base, it takes the entries of the joints alone."""
    rng = np.random.default_rng(1)
    state, z = random_state(rng), rng.normal(size=12 + 2 * N)
    before = state.data.copy()
    expected = finite_difference.retract(state, z)
    assert_close(state.retract(z).data, expected.data, 1e-14)
    held = state.retract(z[: 2 * N])
    assert np.array_equal(held.H, state.H)
    assert np.array_equal(held.v, state.v)
    assert np.array_equal(held.s, state.s + z[:N])
    assert np.array_equal(held.r, state.r + z[N : 2 * N])
    assert np.array_equal(state.data, before), 'the state itself does not move'


@pytest.mark.shows('Bos 2022: Eqs. (14)-(17)')
def test_retract_and_difference__agree_with_pinocchio():
    pin = pytest.importorskip('pinocchio')
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), 'base')

    def q(state):
        return pin.SE3ToXYZQUAT(pin.SE3(state.H[:3, :3], state.H[:3, 3]))

    rng = np.random.default_rng(3)
    for _ in range(20):
        state, other = random_state(rng), random_state(rng)
        z = state.difference(other)
        assert_close(z[:6], pin.difference(model, q(state), q(other)), 1e-10)
        moved = pin.integrate(model, q(state), z[:6])
        assert_close(pin.XYZQUATToSE3(moved).homogeneous, state.retract(z).H, 1e-13)


def test_steps_and_states_of_another_robot__are_refused():
    state = random_state(np.random.default_rng(0))
    with pytest.raises(ShapeError, match=r'z has 5 entries, expected 20, .*or 8'):
        state.retract(np.zeros(5))
    with pytest.raises(NotFiniteError, match=r'z\[2\] is nan'):
        state.retract([0.0, 0.0, np.nan] + [0.0] * 17)
    with pytest.raises(ShapeError, match='2 joint positions'):
        state.difference(State(np.eye(4), np.zeros(2), np.zeros(6), np.zeros(2)))


def test_state_of_pinocchio__has_its_numbers():
    pin, rng = pytest.importorskip('pinocchio'), np.random.default_rng(3)
    q = np.concatenate((pin.SE3ToXYZQUAT(pin.SE3.Random()), rng.normal(size=N)))
    v = rng.normal(size=6 + N)
    state = State.from_pinocchio(q, v)
    assert_close(state.H, pin.XYZQUATToSE3(q[:7]).homogeneous, 1e-14)
    np.testing.assert_array_equal(state.s, q[7:])
    np.testing.assert_array_equal(np.concatenate((state.v, state.r)), v)
    np.testing.assert_array_equal(State(q[:7], state.s, state.v, state.r).data, state.data)
    back_q, back_v = state.to_pinocchio()
    back_q[3:7] *= np.sign(back_q[6] * q[6])
    np.testing.assert_allclose(back_q, q, atol=1e-14)
    np.testing.assert_array_equal(back_v, v)
    fixed = State.from_pinocchio(q[7:], v[6:])
    assert np.array_equal(fixed.to_pinocchio(base='fixed'), (q[7:], v[6:]))
    assert np.array_equal(fixed.s, q[7:])
    with pytest.raises(ShapeError, match='q has 11 and v 4 entries'):
        State.from_pinocchio(q, v[6:])


@pytest.mark.parametrize('call', OF_A_STATE, ids=OF_A_STATE.get)
def test_positions_instead_of_a_state__are_answered_with_a_sentence(call):
    """Whatever stands where wrenches, contacts or nothing more is expected."""
    model = TreeModel.from_urdf(robots.path('quadruped'))
    q, v = np.append(np.eye(7)[6], np.zeros(12)), np.zeros(18)
    given = [q, v, np.zeros(12)], [q, v], [q]
    needed = {'contacts': []} if call is geolin_ros.constraints_of else {}
    for others in given[1:2] if needed else given:
        with pytest.raises(InputError, match=r'ndarray, expected a State: .*from_pinocchio'):
            call(model, *others)
    with pytest.raises(InputError, match='ndarray, expected a State'):
        call(model, state=q, **needed)
    with pytest.raises(InputError, match='expected a State'):
        Kinematics(model, q)
