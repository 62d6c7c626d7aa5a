# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What users of `Linearizer` may rely on: ownership, labels, errors."""

import copy
import dataclasses
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from support.close import assert_close
from support.trees import random_model

from geolin_ros import (
    Contact,
    Dynamics,
    Linearization,
    Linearizer,
    State,
    TreeModel,
    Wrench,
    robots,
)
from geolin_ros.control.support import Support
from geolin_ros.dynamics.functions import forward_dynamics, inverse_dynamics
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import (
    centroidal,
    equations_of_motion,
    kinetic_energy,
    potential_energy,
)
from geolin_ros.errors import (
    ConfigurationError,
    InputError,
    NotFiniteError,
    ShapeError,
    SingularInertiaError,
    UnknownNameError,
)
from geolin_ros.spatial import se3

QUADRUPED = TreeModel.from_urdf(robots.path('quadruped'))
BASES = ('floating', 'fixed')
KINDS = ('body', 'world', 'world_oriented')


def moderate_efforts(model, rng):
    """Return efforts of a newton metre or so per joint."""
    return rng.uniform(-1.0, 1.0, model.n)


def assert_same(actual, expected, tolerance=1e-11):
    """Compare two linearizations."""
    for name in ('A', 'B', 'nu_dot', 'drift'):
        ours, theirs = getattr(actual, name), getattr(expected, name)
        assert_close(ours, theirs, tolerance, name, scale=max(1.0, np.max(np.abs(theirs))))


# ---- Ownership


HOLDERS = {
    'result': lambda L: L,
    'copy with arrays of its own': lambda L: L.copy(),
    'frozen': lambda L: L.frozen(),
    'in mixed': lambda L: L.in_representation('mixed'),
    'A': lambda L: L.A,
    'B': lambda L: L.B,
    'nu_dot': lambda L: L.nu_dot,
    'wrenches': lambda L: L.wrenches,
    'wrench_by_state': lambda L: L.wrench_by_state,
    'wrench_by_tau': lambda L: L.wrench_by_tau,
    'view': lambda L: L.A[6:, ::2].T,
    'view of no Python object of ours': lambda L: np.frombuffer(memoryview(L.A).cast('B')),
    'about': lambda L: L.about,
}


def numbers_of(held):
    if isinstance(held, np.ndarray):
        return [held.copy()]
    if isinstance(held, Linearization):
        arrays = [getattr(held, name).copy() for name in ('A', 'B', 'nu_dot', 'drift')]
        arrays += [held.wrenches.copy(), held.wrench_by_state.copy(), held.wrench_by_tau.copy()]
        return [*arrays, *numbers_of(held.about)]
    return [held.state.data, held.tau, held.geometry.J, np.array([held.redundancy.smallest_kept])]


@pytest.mark.parametrize('feet', [(), ('FL_foot', 'RR_foot')], ids=['in the air', 'on two feet'])
@pytest.mark.parametrize('what', HOLDERS)
def test_results__stay_as_long_as_they_or_a_part_of_them_are_held(what, feet):
    rng = np.random.default_rng(48)
    lin = Linearizer(QUADRUPED, feet)
    states = [QUADRUPED.random_state(rng) for _ in range(6)]
    taus = rng.normal(size=(6, QUADRUPED.n))
    held = [HOLDERS[what](lin(x, tau)) for x, tau in zip(states, taus, strict=True)]
    kept = [numbers_of(one) for one in held]
    lin.state.data[:], lin.tau[:] = states[3].data, taus[1]
    for x in states:
        lin(x, taus[0])
        lin(x, taus[0], wrenches=[Wrench('base', (1.0, 2.0, 3.0))])
        lin(x, taus[0], contacts=['FL_foot'])
        lin.forward_dynamics(x, taus[0])
        lin.run()
    for k, (one, expected) in enumerate(zip(held, kept, strict=True)):
        alone = numbers_of(HOLDERS[what](Linearizer(QUADRUPED, feet)(states[k], taus[k])))
        for found, before, own in zip(numbers_of(one), expected, alone, strict=True):
            assert np.array_equal(found, before)
            assert_close(found, own, 1e-12, scale=max(1.0, np.abs(own).max(initial=0.0)))


@pytest.mark.parametrize('feet', [(), ('FL_foot', 'RR_foot')], ids=['in the air', 'on two feet'])
def test_results__stay_however_often_they_are_held(feet):
    lin, tau = Linearizer(QUADRUPED, feet), np.zeros(QUADRUPED.n)
    for again in (lin.run, lambda: lin(QUADRUPED.neutral_state(), tau)):
        for count in range(1, 60):
            held = [again()] * count
            again()
            L = again()
            assert L is not held[0]
            del L, held


@pytest.mark.parametrize('feet', [(), ('FL_foot', 'RR_foot')], ids=['in the air', 'on two feet'])
def test_memory__is_used_again_when_nobody_holds_it(feet):
    rng = np.random.default_rng(49)
    lin, tau = Linearizer(QUADRUPED, feet), np.zeros(QUADRUPED.n)
    states = [QUADRUPED.random_state(rng) for _ in range(20)]
    places = {lin(x, tau).A.ctypes.data for x in states}
    assert len(places) == 1
    for x in states:  # a loop holds the last result while the next one is made
        L = lin(x, tau)
        places.add(L.A.ctypes.data)
    assert len(places) == 2
    nominal = lin(states[0], tau)  # held for good beside those of a loop
    places = []
    for x in states:
        L = lin(x, tau)
        places.append(L.A.ctypes.data)
    assert nominal.A.ctypes.data not in places
    assert len(set(places[2:])) == 2
    assert len({id(L.A) for L in [lin(x, tau) for x in states]}) == len(states)


def test_memory_used_again__knows_nothing_of_its_last_result():
    rng = np.random.default_rng(53)
    lin, tau = Linearizer(QUADRUPED, ['FL_foot', 'RR_foot']), np.zeros(12)
    first, *others = (QUADRUPED.random_state(rng) for _ in range(4))
    L, held = lin(first, tau), lin(others[0], tau)
    place = L.A.ctypes.data
    assert L.rank == 6  # found anew: the engine has been elsewhere
    assert L.J.shape == (6, 18)
    del L
    fresh = Linearizer(QUADRUPED, ['FL_foot', 'RR_foot'])
    for k, x in enumerate(others):
        L = lin(x, tau)
        assert k > 0 or L.A.ctypes.data == place != held.A.ctypes.data
        assert_close(L.J, fresh(x, tau).J, 1e-12)


def test_calls__leave_alone_what_they_are_given_and_what_run_is_about():
    rng = np.random.default_rng(50)
    lin, x, tau = Linearizer(QUADRUPED), QUADRUPED.random_state(rng), rng.normal(size=12)
    lin.state.data[:], lin.tau[:] = x.data, tau
    expected, other, efforts = lin.run().copy(), QUADRUPED.random_state(rng), np.ones(12)
    before = other.data.copy()
    lin(other, efforts, wrenches=[Wrench('base', (1.0, 2.0, 3.0))]).frozen()
    lin.forward_dynamics(other, efforts)
    lin.discretize(other, efforts, 0.01)
    for found, given in ((lin.state, x), (other, before)):
        assert np.array_equal(found.data, getattr(given, 'data', given))
    assert np.array_equal(lin.tau, tau)
    assert np.array_equal(efforts, np.ones(12))
    assert_same(lin.run(), expected, 0.0)


def test_contacts_of_a_call__are_of_that_call_alone():
    rng = np.random.default_rng(51)
    x, tau = QUADRUPED.random_state(rng), rng.normal(size=12)
    stiff = Contact('FL_foot', kd=7.0)
    lin = Linearizer(QUADRUPED, [stiff, 'RR_foot'])
    both, free = lin(x, tau), lin(x, tau, contacts=())
    assert_same(free, Linearizer(QUADRUPED)(x, tau), 0.0)
    one = lin(x, tau, contacts=['FL_foot'])  # by its name, with its own gains
    assert_same(one, Linearizer(QUADRUPED, [stiff])(x, tau), 0.0)
    assert one.contacts[0] is stiff
    assert_same(lin(x, tau), both, 0.0)
    nu_dot = lin.forward_dynamics(x, tau, contacts=['FL_foot'])
    assert np.array_equal(nu_dot, one.nu_dot)
    step = lin.discretize(x, tau, 0.01, contacts=['FL_foot'])
    alone = Linearizer(QUADRUPED, [stiff]).discretize(x, tau, 0.01)
    assert np.array_equal(step.Phi, alone.Phi)
    assert [contact.name for contact in lin.contacts] == ['FL_foot', 'RR_foot']
    with pytest.raises(UnknownNameError, match='FL_food'):
        lin(x, tau, contacts=['FL_food'])


def _linearized(task):
    lin, row = task
    state = lin.model.neutral_state()
    state.data[:] = row
    return lin(state, np.ones(lin.model.n))


@pytest.mark.parametrize('feet', [(), ('FL_foot', 'RR_foot')], ids=['in the air', 'on two feet'])
def test_everything__goes_to_other_processes_and_back(feet):
    rng = np.random.default_rng(52)
    lin = Linearizer(QUADRUPED, feet)
    rows = [QUADRUPED.random_state(rng).data for _ in range(4)]
    with ProcessPoolExecutor(1, get_context('fork')) as pool:
        found = list(pool.map(_linearized, [(lin, row) for row in rows]))
    batch = lin.batch(np.array(rows), np.ones((4, 12)))
    for k, (L, row) in enumerate(zip(found, rows, strict=True)):
        here = _linearized((lin, row))
        for twin in (L, copy.deepcopy(here), pickle.loads(pickle.dumps(here))):
            assert_same(twin, here, 0.0)
            assert np.array_equal(twin.state.data, row)
            assert twin.rank == here.rank
            assert_close(twin.J, here.J, 1e-12)
            assert twin.model.hash == QUADRUPED.hash
        for twin in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
            assert np.array_equal(twin[k].A, batch[k].A)
            assert twin[k].rank == batch[k].rank
    twin = copy.deepcopy(lin)
    assert_same(_linearized((twin, rows[0])), _linearized((lin, rows[0])), 0.0)
    twin.contacts = ()
    assert [contact.name for contact in lin.contacts] == list(feet)


def test_arrays__are_read_only():
    rng = np.random.default_rng(48)
    lin, state = Linearizer(QUADRUPED), QUADRUPED.random_state(rng)
    tau = moderate_efforts(QUADRUPED, rng)
    L = lin(state, tau)
    kept = L.copy()
    for name in ('A', 'B', 'nu_dot', 'drift'):
        with pytest.raises(ValueError, match='read-only'):
            getattr(L, name)[...] = 0.0
        getattr(kept, name)[...] += 0.0  # a copy is the caller's
        assert not np.shares_memory(getattr(kept, name), getattr(L, name))
    frozen = lin(state, tau).frozen()
    assert not np.shares_memory(frozen.A, L.A)
    assert (frozen.reference, L.reference) == ('frozen', 'moving')
    with pytest.raises(dataclasses.FrozenInstanceError):
        L.reference = 'frozen'


@pytest.mark.parametrize('base', BASES)
def test_labels__name_every_row_and_column(base):
    model = TreeModel.from_urdf(
        robots.path('quadruped'), base=base, actuated_joints=QUADRUPED.joint_names[3:5]
    )
    L = Linearizer(model)(model.neutral_state(), np.zeros(model.n))
    assert L.A.shape == (len(L.rows), len(L.columns)) == (2 * model.m, 2 * model.m)
    assert L.B.shape == (len(L.rows), len(L.inputs)) == (2 * model.m, 2)
    assert len({label.name for label in (*L.columns, *L.rows, *L.inputs)}) == 4 * model.m + 2
    assert str(L.inputs[0]) == f'tau.{QUADRUPED.joint_names[3]} [N m]'
    names = [label.name for label in L.columns]
    joint = model.joint_names[0]
    if base == 'floating':
        assert names[:7] == ['H.x', 'H.y', 'H.z', 'H.rx', 'H.ry', 'H.rz', f's.{joint}']
        assert str(L.rows[model.m]) == 'dv.x/dt [m/s^2]'
        assert str(L.rows[3]) == 'dH.rx/dt [rad/s]'
    assert str(L.rows[2 * model.m - model.n]) == f'dr.{joint}/dt [rad/s^2]'
    assert str(L.columns[model.m - model.n]) == f's.{joint} [rad]'


def test_control__has_the_systems_by_name():
    control = pytest.importorskip('control')
    feet = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]
    model = TreeModel.from_urdf(robots.path('quadruped'))
    L = Linearizer(model, [Contact(foot) for foot in feet])(model.neutral_state(), np.ones(12))
    system, step = L.to_control(), L.discretize(0.01).to_control()
    assert (system.name, system.dt, step.dt) == ('quadruped', 0, 0.01)
    assert system.input_labels[3] == step.input_labels[3] == 'tau_FR_hip_joint'
    assert system.state_labels[6:8] == ['s_FL_hip_joint', 's_FL_thigh_joint']
    assert system.output_labels[: system.nstates] == system.state_labels
    one = system['r_FR_hip_joint', 'tau_FR_hip_joint']
    rate = L.columns.index(('r.FR_hip_joint', 'rad/s'))
    assert one.B[rate, 0] == L.B[rate, 3]
    sampled = control.sample_system(system, 0.01, method='zoh')
    np.testing.assert_allclose(sampled.A, step.A, atol=1e-10)
    np.testing.assert_allclose(sampled.B, step.B, atol=1e-10)
    assert len(set(system.output_labels)) == system.noutputs == 36 + 12
    np.testing.assert_array_equal(system.C[36:], L.wrench_by_state)
    np.testing.assert_array_equal(system.D[36:], L.wrench_by_tau)


# ---- Errors


def refused_state(n_s, n):
    return {'state': State(np.eye(4), np.zeros(n_s), np.zeros(6), np.zeros(n))}


def refused_wrench(*arguments, **named):
    return {'wrenches': [Wrench(*arguments, **named)]}


REFUSED = {
    'efforts of another size': ({'tau': np.zeros(11)}, ShapeError, 'tau'),
    'state of another size': (refused_state(3, 3), ShapeError, '3 joint positions and 3 rates'),
    'state whose sizes add up': (refused_state(13, 11), ShapeError, '13 joint pos.* 11 rates'),
    'unknown link': (refused_wrench('FL_foo'), UnknownNameError, "'FL_foot'"),
    'unknown kind': (refused_wrench('base', kind='wrold'), ConfigurationError, "'world'"),
    'force of two numbers': (refused_wrench('base', (1.0, 2.0)), ShapeError, 'force on link'),
    'moment of nine': (refused_wrench('base', moment=np.eye(3)), ShapeError, 'moment on link'),
    'point of one': (
        *(refused_wrench('base', point=4.0, kind='world_oriented'), ShapeError),
        'point on link',
    ),
    **{
        f'{kind} force of {value}': (
            *(refused_wrench('base', (0.0, value, 0.0), kind=kind), NotFiniteError),
            "force on link 'base'",
        )
        for kind in KINDS
        for value in (np.nan, np.inf)
    },
}


@pytest.mark.parametrize(('given', 'error', 'words'), REFUSED.values(), ids=REFUSED)
def test_wrong_arguments__are_named(given, error, words):
    lin = Linearizer(QUADRUPED)
    given = {'state': QUADRUPED.neutral_state(), 'tau': np.zeros(12), **given}
    wrenches = given.get('wrenches', ())
    for call in (
        lambda: lin(**given),
        lambda: lin.forward_dynamics(**given),
        lambda: lin.batch([given['state']], [given['tau']], wrenches=wrenches),
        lambda: forward_dynamics(QUADRUPED, given['state'], given['tau'], wrenches=wrenches),
    ):
        with pytest.raises(error, match=words):
            call()


def test_contacts_that_are_no_list__are_refused():
    lin, at = Linearizer(QUADRUPED), (QUADRUPED.neutral_state(), np.zeros(12))
    for foot in ('FL_foot', Contact('FL_foot')):
        for call in (
            lambda foot=foot: Linearizer(QUADRUPED, foot),
            lambda foot=foot: lin(*at, contacts=foot),
            lambda foot=foot: lin.activate(foot),
        ):
            with pytest.raises(InputError, match=r"'FL_foot' alone, .*\['FL_foot'\]"):
                call()
    with pytest.raises(InputError, match='float'):
        Linearizer(QUADRUPED, [0.5])


def test_efforts__are_numbers_of_any_kind():
    lin, state = Linearizer(QUADRUPED), QUADRUPED.random_state(np.random.default_rng(1))
    tau = np.arange(12.0)
    expected = lin(state, tau).nu_dot.copy()
    strided, swapped = np.repeat(tau, 2)[::2], tau.astype('>f8')
    for kind in (tau.tolist(), range(12), tau.astype(np.float32), strided, swapped):
        assert np.array_equal(lin(state, kind).nu_dot, expected)
        assert np.array_equal(lin.forward_dynamics(state, kind), expected)
    for wrong in (tau.reshape(12, 1), [tau], 3.0):
        with pytest.raises(ShapeError, match='tau has shape'):
            lin(state, wrong)


@pytest.mark.parametrize('part', ['H', 's', 'v', 'r', 'tau'])
def test_numbers_that_are_none__are_named(part):
    """Written into the state after it was made: the constructor already refuses them."""
    lin, tau = Linearizer(QUADRUPED), np.zeros(12)
    state = QUADRUPED.random_state(np.random.default_rng(53))
    array = tau if part == 'tau' else getattr(state, part)
    for index in range(12 if part == 'H' else array.size):
        for value in (np.nan, np.inf, -np.inf):
            good, array.flat[index] = array.flat[index], value
            for call in (lin, lin.forward_dynamics):
                with pytest.raises(NotFiniteError, match=f"^{part} of robot 'quadruped' hold NaN"):
                    call(state, tau)
            array.flat[index] = good


@pytest.mark.parametrize(
    'R',
    [-np.eye(3), np.zeros((3, 3)), np.diag([2.0, 0.5, 1.0])],
    ids=['mirror', 'zero', 'sheared'],
)
def test_H_that_is_no_pose__is_refused_at_each_door(R):
    lin, dynamics, tau = Linearizer(QUADRUPED), Dynamics(QUADRUPED), np.zeros(12)
    nu_dot = np.zeros(QUADRUPED.m)
    in_contact = Linearizer(QUADRUPED, [Contact('FL_foot')])
    state = QUADRUPED.neutral_state()
    good = state.copy()
    state.H[:3, :3] = R
    lin(good, tau)
    lin.state.H[:3, :3] = R
    for call in (
        lin.run,
        lambda: lin(state, tau),
        lambda: lin(state, tau, wrenches=[Wrench('base')]),
        lambda: in_contact(state, tau),
        lambda: lin.forward_dynamics(state, tau),
        lambda: lin.discretize(state, tau, 1e-3),
        lambda: lin.batch([good, state], [tau, tau]),
        lambda: dynamics.inverse_dynamics(state, nu_dot),
        lambda: dynamics.forward_dynamics(state, tau),
        lambda: dynamics.mass_matrix(state),
        lambda: inverse_dynamics(QUADRUPED, state, nu_dot, wrenches=[Wrench('base')]),
        lambda: Kinematics(QUADRUPED, state),
        lambda: centroidal(QUADRUPED, state),
        lambda: kinetic_energy(QUADRUPED, state),
        lambda: potential_energy(QUADRUPED, state),
        lambda: equations_of_motion(QUADRUPED, state),
        lambda: se3.log(state.H),
        lambda: State(state.H, state.s, state.v, state.r),
        lambda: setattr(good, 'H', state.H),
        lambda: Linearizer(QUADRUPED, [Contact('FL_foot', placement=state.H)]),
        lambda: Support('FL_foot', placement=state.H),
    ):
        with pytest.raises(InputError, match='is no pose: det R is'):
            call()
    assert np.isfinite(lin(good, tau).A).all()


def test_joint_without_inertia__is_named_in_any_order():
    rng = np.random.default_rng(55)
    for _ in range(5):
        _, model = random_model(rng, 6)
        leaf = max(set(range(1, 7)) - set(model.tree.parent.tolist()))
        inertia = model.tree.inertia.copy()
        inertia[leaf] = 0.0
        inertia.setflags(write=False)
        massless = dataclasses.replace(model, tree=model.tree._replace(inertia=inertia))
        name = model.joint_names[model.tree.v_start[leaf]]
        lin = Linearizer(massless)
        for call in (lin, lin.forward_dynamics):
            with pytest.raises(
                SingularInertiaError, match=f'joint {name!r} has no inertia to move'
            ):
                call(model.random_state(rng), np.zeros(6))


# ---- Pure functions of a linearization

FEET = [Contact(f'{leg}_foot', kd=2.0) for leg in ('FL', 'FR', 'RL', 'RR')]


@pytest.mark.parametrize('contacts', [(), FEET], ids=['free', 'standing'])
@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_pure_functions__are_what_the_linearizer_is_asked_for(base, contacts):
    model = TreeModel.from_urdf(robots.path('quadruped'), base=base)
    rng = np.random.default_rng(60)
    state, tau = model.random_state(rng), moderate_efforts(model, rng)
    lin = Linearizer(model, contacts[:2])
    L = lin(state, tau).copy()
    assert_same(L.frozen(), lin(state, tau).frozen(), 0.0)
    assert L.frozen().frozen().reference == 'frozen'
    assert np.array_equal(L.state.data, state.data)
    for method in ('euler', 'zoh'):
        for reference in ('moving', 'frozen'):
            expected = lin.discretize(state, tau, 1e-3, method=method, reference=reference)
            one = L if reference == 'moving' else L.frozen()
            found = one.discretize(1e-3, method=method)
            for name in ('Phi', 'Gamma', 'defect', 'nu_dot'):
                assert_close(getattr(found, name), getattr(expected, name), 1e-14, name)
            assert np.array_equal(found.next_state.data, expected.next_state.data)
    mixed = L.in_representation('mixed')
    assert_same(mixed, L.in_representation('mixed'), 0.0)
    assert mixed.wrenches.shape == L.wrenches.shape
    with pytest.raises(ConfigurationError, match='midpoint'):
        L.discretize(1e-3, method='midpoint')


SOLES = [Contact(f'{leg}_foot', 'surface') for leg in ('FL', 'FR', 'RL', 'RR')]


@pytest.mark.parametrize('contacts', [(), FEET, SOLES], ids=['free', 'standing', 'redundant'])
def test_run__linearizes_about_what_was_written_in_place(contacts):
    lin, rng = Linearizer(QUADRUPED, contacts), np.random.default_rng(63)
    for push in ((), [Wrench('FL_foot', rng.normal(size=3))]):
        state, tau = QUADRUPED.random_state(rng), moderate_efforts(QUADRUPED, rng)
        lin(QUADRUPED.random_state(rng), 2.0 * tau, wrenches=push)
        lin.state.data[:], lin.tau[:] = state.data, tau
        found = lin.run()
        expected = Linearizer(QUADRUPED, contacts)(state, tau)
        assert_same(found, expected, 0.0)
        assert found.rank == expected.rank
        assert np.array_equal(found.geometry.J, expected.geometry.J)
    lin.contacts = FEET[:2]
    assert_same(lin.run(), Linearizer(QUADRUPED, FEET[:2])(state, tau), 0.0)
