# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The engine with contacts, loops and dependent rows of both, against the dense referee."""

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_blocks_close, assert_close
from support.finite_difference import exp
from support.general import Referee
from support.robots import example_robot, read_robot

from geolin_ros import TreeModel
from geolin_ros.kernels.packing import contact_layout
from geolin_ros.linearization.contacts import Contact, Loop
from geolin_ros.linearization.contacts.constraints import Constraint
from geolin_ros.linearization.contacts.geometry import rows_at
from geolin_ros.linearization.linearizer import Linearizer


def both(model, contacts):
    """Return the linearizer, and the dense referee."""
    return Linearizer(model, contacts), Referee(model, contacts)


def assert_same(fast, general, state, tau, tolerance):
    C, expected, model = fast(state, tau), general(state, tau), fast.model
    assert_close(C.nu_dot, expected.nu_dot, tolerance, 'nu_dot')
    assert_close(C.wrenches, expected.wrenches, tolerance, 'wrenches')
    assert_blocks_close(C.A[: model.m], expected.A[: model.m], model, 0.0)
    columns = np.s_[: model.m], np.s_[model.m :]
    for part in columns:
        assert_close(C.A[model.m :, part], expected.A[model.m :, part], tolerance, 'A')
        ours, theirs = C.wrench_by_state[:, part], expected.wrench_by_state[:, part]
        assert_close(ours, theirs, tolerance, 'wrench_by_state')
    scale = max(1.0, float(np.abs(expected.B).max()))  # zero where nothing can move
    assert_close(C.B, expected.B, tolerance, 'B', scale)
    assert_close(C.wrench_by_tau, expected.wrench_by_tau, tolerance, 'wrench_by_tau')
    assert C.rank == expected.rank
    assert_close(C.dropped.smallest_kept, expected.smallest_kept, 1e-8)
    return C, expected


def test_results__know_their_geometry_wherever_the_engine_is():
    model = read_robot(example_robot('go2'))[1]
    rng = default_rng(5)
    fast, general = both(model, [Contact(f'{leg}_foot') for leg in ('FL', 'FR', 'RL', 'RR')])
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    C, expected, at = fast(state, tau), general(state, tau), state.copy()
    state.s[:] += 0.2  # geometry is that of the call, whenever it is asked for
    assert_close(C.J, expected.J, 1e-12)
    assert_close(C.geometry.M, expected.M, 1e-12)
    assert C.rank == expected.rank == 12
    assert not any(array.flags.writeable for array in (C.A, C.wrenches, C.wrench_by_tau))
    twin = C.copy()
    assert np.abs(fast(state, 2.0 * tau).J - expected.J).max() > 1e-3
    for found in (C, twin):
        for name in ('A', 'B', 'nu_dot', 'wrenches', 'wrench_by_state', 'J'):
            assert_close(getattr(found, name), getattr(expected, name), 1e-11, name)
    assert np.array_equal(fast(at, tau).A, twin.A)


@pytest.mark.parametrize('after', [slice(3), slice(1, 4)], ids=['fewer rows', 'as many rows'])
@pytest.mark.parametrize('again', [False, True], ids=['switched', 'called again'])
def test_results__stay_those_of_their_contacts_when_contacts_change(after, again):
    model = read_robot(example_robot('go2'))[1]
    feet = [Contact(f'{leg}_foot') for leg in ('FL', 'FR', 'RL', 'RR')]
    before = feet if after == slice(3) else feet[:3]
    rng = default_rng(8)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    linearizer, expected = both(model, before)
    C, expected = linearizer(state, tau), expected(state, tau)
    rows = C.contact_rows
    linearizer.contacts = feet
    linearizer.activate([foot.frame for foot in feet[after]])
    if again:
        linearizer(model.random_state(rng), tau)
    for result in (C, C.copy()):
        assert result.rank == expected.rank == 3 * len(before)
        assert result.contact_rows == result.dropped.rows == rows
        assert result.dropped.smallest_kept == pytest.approx(expected.smallest_kept)
        for name in ('J', 'wrenches', 'wrench_by_state', 'A', 'B'):
            assert_close(getattr(result, name), getattr(expected, name), 1e-10, name)


def test_rank__is_that_of_the_result_after_accelerations_elsewhere():
    model = read_robot(example_robot('go2'))[1]
    rng = default_rng(9)
    linearizer, general = both(model, [Contact('FL_foot'), Contact('FR_foot', 'surface')])
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    C = linearizer(state, tau)
    expected = general(state, tau).smallest_kept
    assert C.dropped.smallest_kept == pytest.approx(expected)
    linearizer.forward_dynamics(model.random_state(rng), tau)
    assert C.dropped.smallest_kept == pytest.approx(expected)


def sole_corners(link):
    """Return four points of one link, six independent rows of twelve."""
    return [
        Contact(link, placement=exp(np.array([x, y, -0.1, 0, 0, 0])))
        for x in (-0.1, 0.1)
        for y in (-0.05, 0.05)
    ]


REDUNDANT = {
    'corners of a sole': ('talos_reduced', sole_corners('leg_left_6_link'), 6),
    'four soles of a quadruped': (
        'go2',
        [Contact(f'{leg}_foot', 'surface', kd=3.0) for leg in ('FL', 'FR', 'RL', 'RR')],
        18,
    ),
    'a loop closed twice': ('go2', 2 * [Loop('FL_foot', 'RR_calf', 'point')], 3),
    'a loop through the ground': (
        'go2',
        [Contact('FL_foot'), Contact('FR_foot'), Loop('FL_foot', 'FR_foot', 'point')],
        6,
    ),
}


@pytest.mark.parametrize(('robot', 'contacts', 'rank'), REDUNDANT.values(), ids=REDUNDANT)
def test_rows_that_depend_on_each_other__equal_the_referee(robot, contacts, rank):
    model = read_robot(example_robot(robot))[1]
    rng = default_rng(12)
    ours, referee = both(model, contacts)
    for _ in range(2):  # at another state of the same rank, combinations are decided anew
        state, tau = model.random_state(rng), rng.normal(size=model.n)
        C, expected = assert_same(ours, referee, state, tau, 2e-8)
        assert C.rank == expected.rank == rank
        assert C.dropped.contradiction == pytest.approx(expected.contradiction, abs=1e-6)
        assert_close(ours.forward_dynamics(state, tau), expected.nu_dot, 1e-8)


@pytest.mark.parametrize(
    ('name', 'feet'),
    [
        ('go2', ('FL_calf', 'RR_foot')),
        ('talos_full_v2', ('leg_left_6_link', 'gripper_left_fingertip_1_link')),
    ],
)
def test_bound_of_the_condition__is_above_it_and_spares_eigenvalues(name, feet, monkeypatch):
    model = TreeModel.from_urdf(example_robot(name))  # mimic joints exact
    rng, contacts = default_rng(8), [Contact(feet[0], 'surface'), Contact(feet[1])]
    linearizer = Linearizer(model, contacts, length=0.3)
    C, engine = linearizer(model.random_state(rng), rng.normal(size=model.n)), linearizer.workspace
    mobilities, _ = contact_layout.mobilities_of(engine._contacts)
    bound = contact_layout.condition_of(engine._contacts, engine._scales)
    condition = np.linalg.cond(mobilities * engine._scales)
    assert condition <= bound <= 1e3 * condition
    again = linearizer(C.state, C.about.tau)
    with monkeypatch.context() as patch:
        patch.setattr(engine, 'judge', None)
        assert again.rank == 9
    assert C.rank == C.dropped.rank == 9


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
    J, change = rows_at(model, [Constraint(model, contact)], state)
    assert_close(found.J, J, 1e-12)
    assert_close(found.velocity_by_state, change, 1e-12)
