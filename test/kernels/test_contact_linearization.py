# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What engine and contacts keep exact where links differ by orders of magnitude; its memory."""

import dataclasses

import numpy as np
import pytest
from support.close import assert_close
from support.constrained_reference import TiedReference
from support.light_robots import mixed, standing
from support.robots import example_robot, read_robot

from geolin_ros import Contact, Linearizer, Loop, TreeModel
from geolin_ros.errors import NotFiniteError
from geolin_ros.kernels.engine.contact_linearization import linearize_in_contact

OFFSET = np.eye(4)
OFFSET[:3, 3] = 0.02, 0.01, -0.03


GO2 = {f'{leg}_foot': 'point' for leg in ('FL', 'FR', 'RL', 'RR')}


def test_repeated_calls__give_the_same_bytes_whatever_came_between():
    model, rng = read_robot(example_robot('go2'))[1], np.random.default_rng(0)
    linearizer = Linearizer(model, [Contact(foot, kd=3.0) for foot in GO2])
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    first = linearizer(state, tau).copy()
    linearizer(model.random_state(rng), tau)
    bad = state.copy()
    bad.r[2] = 1e200
    with pytest.raises(NotFiniteError, match='the accelerations'):
        linearizer(bad, tau)
    bad.s[:] = np.nan
    with pytest.raises(NotFiniteError):
        linearizer(bad, tau)
    again = linearizer(state, tau)
    for name in ('A', 'B', 'nu_dot', 'wrenches', 'wrench_by_state', 'wrench_by_tau'):
        assert getattr(first, name).tobytes() == getattr(again, name).tobytes(), name


def access_everything():
    """Run by `kernels/test_bounds.py` where every access is checked."""
    model = read_robot(example_robot('go2'))[1]
    state, tau = model.random_state(np.random.default_rng(0)), np.ones(model.n)
    for links in ({'base': 'surface', 'FL_foot': 'point'}, GO2):
        contacts = [Contact(link, kind, **PULLED) for link, kind in links.items()]
        linearizer = Linearizer(model, contacts)
        assert np.isfinite(linearizer(state, tau).wrench_by_state).all()
    engine = linearizer.workspace
    arrays = [*engine._robot(None), state.data, tau, engine.scratch, engine.spare.out]
    for short in (2, 3, 7):
        cut = [a[: a.size // 2] if k == short else a for k, a in enumerate(arrays)]
        with pytest.raises(IndexError):
            linearize_in_contact(*cut)


PULLED = {'kp': 30.0, 'kd': 9.0, 'reference': np.eye(4)}
HELD = {
    'a sole': (1, 1, [Contact('leg0_{last}', 'surface', kd=3.0)]),
    'a sole that is pulled': (1, 1, [Contact('leg0_{last}', 'surface', **PULLED)]),
    'a point': (1, 1, [Contact('leg0_{last}', placement=OFFSET)]),
    'a sole and a hand': (3, 1, [Contact('leg0_{last}', 'surface'), Contact('arm')]),
    'a loop of points': (2, 2, [Loop('leg0_{last}', 'leg1_{last}', 'point')]),
    'a loop of surfaces': (3, 2, [Loop('leg0_{last}', 'leg1_{last}', 'surface', kd=1.0)]),
    'a loop to a heavy link': (2, 1, [Loop('arm', 'leg0_{last}', 'point')]),
}
"""Least joints a leg, legs, contacts; the last link of a leg has its number filled in."""


def assert_exact(description, contacts, seed, what, size=1.0):
    """Compare with the reference; return whether the contacts are independent, as they must be."""
    model = TreeModel.from_description(description)
    rng = np.random.default_rng(seed)
    state, tau = model.random_state(rng), rng.normal(size=model.n) * model.total_mass
    reference = TiedReference(description, model, contacts)
    A, B, nu_dot, forces, by_state, rank, condition = reference.linearization(state, tau)
    if rank < sum(3 if c.kind == 'point' else 6 for c in contacts):
        return False
    L = Linearizer(model, contacts)(state, tau)
    assert L.rank == rank
    limit = max(1e-8, 10.0 * np.finfo(float).eps * condition)
    M = reference.oracle.mass_matrix(reference.full(state))
    least = 1.0 / np.linalg.norm(M, 2) / min(size, 1.0)  # where contacts lock what efforts move
    for name, found, expected in (
        *(('A', L.A, A), ('B', L.B, B), ('nu_dot', L.nu_dot, nu_dot)),
        *(('forces', L.wrenches, forces), ('their derivative', L.wrench_by_state, by_state)),
    ):
        scale = np.abs(expected).max() if name != 'B' else max(np.abs(B[model.m :]).max(), least)
        assert_close(found, expected, limit, f'{name} {what}', scale)
    J, gamma = reference.rows(reference.full(state))
    J, B = J @ reference.T, L.B[model.m :]
    largest, most = np.abs(J).max(), max(np.abs(B).max(), least)
    assert np.abs(J @ B).max() <= 1e-8 * largest * most, what
    whole = largest * np.abs(L.nu_dot).max() + np.abs(gamma).max()
    assert np.abs(J @ L.nu_dot + gamma).max() <= 1e-8 * whole, what
    return True


@pytest.mark.parametrize(
    ('held', 'joints'),
    [(h, j) for j in (1, 2, 3) for h, (least, *_) in HELD.items() if j >= least],
)
def test_light_links__are_as_exact_as_what_they_hold(held, joints):
    """The motions that contacts leave have the same inertia, whatever a foot weighs."""
    _, legs, patterns = HELD[held]
    fill = {'last': joints - 1}
    for mass in (1.0, 1e-3, 1e-5, 1e-9):
        contacts = []
        for pattern in patterns:
            names = ('frame',) if isinstance(pattern, Contact) else ('frame_a', 'frame_b')
            named = {name: getattr(pattern, name).format(**fill) for name in names}
            contacts.append(dataclasses.replace(pattern, **named))
        what = f'with links of {mass} kg'
        assert assert_exact(standing(mass, joints, legs), contacts, joints, what)


@pytest.mark.parametrize(
    ('scale', 'size'), [(1.0, 1.0), (1e-6, 1.0), (1e6, 1.0), (1.0, 0.1), (1.0, 10.0)]
)
def test_robots_of_light_and_heavy_links__are_as_exact(scale, size):
    """Ten of each size; some of these have contacts that depend on each other."""
    exact = 0
    for seed in range(10):
        description, contacts = mixed(np.random.default_rng(seed), scale, size)
        exact += assert_exact(description, contacts, seed, f'of robot {seed}', size)
    assert exact > 5
