# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Linearizations of many states in one call, against one by one and against Pinocchio."""

import numpy as np
import pytest
from support.close import assert_blocks_close, assert_close
from support.passive_joints import with_passive_joints
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot
from support.states import seen_from
from support.trees import gimbal, random_model

import geolin_ros
from geolin_ros import Linearizer, Wrench, mass_matrix
from geolin_ros.dynamics.samples import robot_of
from geolin_ros.errors import (
    ConfigurationError,
    NotFiniteError,
    ShapeError,
    SingularInertiaError,
    UnknownNameError,
)

NAMES = ('A', 'B', 'nu_dot', 'drift')


def operating_points(model, count, rng):
    """Return ``count`` states as rows, and as many efforts."""
    states = np.array([model.random_state(rng).data for _ in range(count)])
    return states.reshape(count, 22 + model.n_s + model.n), rng.normal(size=(count, model.n))


def state_of(model, row):
    return model.neutral_state().over(row.copy())


def assert_as_one_by_one(model, states, tau, found, reference='moving', wrenches=()):
    linearizer, first = Linearizer(model), 6 if model.base == 'fixed' else 0
    assert len(found) == len(states)
    for k, row in enumerate(states):
        state = state_of(model, row)
        expected = seen_from(linearizer(state, tau[k], wrenches=wrenches), reference)
        condition = np.linalg.cond(mass_matrix(model, state))
        tolerance = max(1e-12, 10.0 * np.finfo(float).eps * condition)
        assert_blocks_close(found[k].A, expected.A, model, tolerance)
        assert_blocks_close(found[k].B, expected.B, model, tolerance)
        assert_close(found[k].nu_dot, expected.nu_dot, tolerance)
        assert_close(found[k].drift, expected.drift, tolerance)
        assert first + found.nu_dot.shape[1] == 6 + model.n


@pytest.mark.parametrize('count', [0, 1, 7, 8, 19])
def test_batch__equals_one_by_one(count):
    rng = np.random.default_rng(count)
    model = read_robot(example_robot('go2'))[1]
    states, tau = operating_points(model, count, rng)
    assert_as_one_by_one(model, states, tau, Linearizer(model).batch(states, tau))


@pytest.mark.parametrize('name', ['solo12', 'g1_29dof_rev_1_0', 'talos_full_v2', 'panda'])
def test_robot__equals_pinocchio(name):
    rng = np.random.default_rng(3)
    path, base = example_robot(name), 'fixed' if name == 'panda' else 'floating'
    model = read_robot(path, base=base)[1]
    oracle = PinocchioOracle.read_urdf(path, model)
    states, tau = operating_points(model, 9, rng)
    found = Linearizer(model).batch(states, tau)
    for k in (0, 7, 8):
        state = state_of(model, states[k])
        A, B, nu_dot = oracle.linearization(state, tau[k])
        tolerance = max(1e-11, 1e-14 * np.linalg.cond(mass_matrix(model, state)))
        assert_close(found.nu_dot[k], nu_dot, tolerance)
        assert_close(found.A[k], A, tolerance)
        assert_close(found.B[k], B, tolerance)


def test_bytes__depend_on_neither_neighbours_nor_chunks_nor_threads():
    rng = np.random.default_rng(6)
    model = with_passive_joints(random_model(rng, 13)[1], rng)
    states, tau = operating_points(model, 45, rng)
    together = Linearizer(model).batch(states, tau)
    threads = Linearizer(model).batch(states, tau, threads=3)
    alone = Linearizer(model).batch
    chunks = np.s_[:13], np.s_[13:26], np.s_[26:39], np.s_[39:]
    parts = [alone(states[chunk], tau[chunk]) for chunk in chunks]
    for name in NAMES:
        bytes_together = getattr(together, name).tobytes()
        assert getattr(threads, name).tobytes() == bytes_together
        assert np.concatenate([getattr(part, name) for part in parts]).tobytes() == bytes_together
        single = getattr(alone(states[29:30], tau[29:30]), name)
        assert single.tobytes() == getattr(together, name)[29].tobytes()


def test_room__is_used_again_and_longer_than_needed():
    rng = np.random.default_rng(7)
    model = random_model(rng, 9)[1]
    linearizer = Linearizer(model).batch
    states, tau = operating_points(model, 10, rng)
    room = linearizer.room(20)
    room.B[:, model.m :], room.A[:, model.m :], room.nu_dot[:] = np.nan, np.nan, np.nan
    linearizer(states[5:], tau[5:], out=room)
    found = linearizer(states, tau, out=room)
    assert np.shares_memory(found.A, room.A)
    assert not found[0].A.flags.writeable
    assert len(found) == 10
    assert_as_one_by_one(model, states, tau, found)
    assert np.isnan(room.nu_dot[10:]).all()


def test_states__are_rows_or_states():
    rng = np.random.default_rng(8)
    model = random_model(rng, 4)[1]
    rows, tau = operating_points(model, 3, rng)
    linearizer = Linearizer(model).batch
    by_rows = linearizer(rows, tau)
    by_states = linearizer([state_of(model, row) for row in rows], tau)
    assert by_rows.A.tobytes() == by_states.A.tobytes()
    assert by_rows.columns == Linearizer(model)(state_of(model, rows[0]), tau[0]).columns


def test_first_bad_sample__is_named_and_the_others_are_filled():
    rng = np.random.default_rng(9)
    model = random_model(rng, 6)[1]
    linearizer = Linearizer(model).batch
    states, tau = operating_points(model, 20, rng)
    good = linearizer(states, tau)
    states[11, 2], tau[17, 1] = np.nan, np.inf
    out = linearizer.room(20)
    with pytest.raises(NotFiniteError, match=r'sample 11: H '):
        linearizer(states, tau, out=out)
    kept = np.delete(np.arange(20), (11, 17))
    assert out.A[kept].tobytes() == good.A[kept].tobytes()
    with pytest.raises(NotFiniteError, match=r'sample 5: tau '):
        linearizer(states[12:], tau[12:])


def test_singular_sample__names_the_joint():
    model = gimbal('floating', ('pan', 'tilt', 'roll'))
    rng = np.random.default_rng(10)
    states, tau = operating_points(model, 12, rng)
    states[9, 16 + model.joint_index('tilt')] = 0.0
    with pytest.raises(SingularInertiaError, match=r"sample 9: .*'pan'"):
        Linearizer(model).batch(states, tau)


def test_wrong_arguments__are_refused():
    rng = np.random.default_rng(11)
    model = random_model(rng, 4)[1]
    linearizer = Linearizer(model).batch
    states, tau = operating_points(model, 3, rng)
    with pytest.raises(ShapeError, match=r'states has shape \(3, 29\), expected \(N, 30\)'):
        linearizer(states[:, 1:], tau)
    with pytest.raises(ShapeError, match=r'tau has shape \(2, 4\), expected \(3, 4\)'):
        linearizer(states, tau[1:])
    with pytest.raises(ShapeError, match='room for 2 samples, expected at least 3'):
        linearizer(states, tau, out=linearizer.room(2))
    with pytest.raises(ShapeError, match='of another robot'):
        linearizer(states, tau, out=Linearizer(random_model(rng, 5)[1]).batch.room(3))
    with pytest.raises(UnknownNameError):
        linearizer(states, tau, wrenches=[Wrench('nowhere')])
    with pytest.raises(geolin_ros.errors.InputError, match="is 'base', expected a sequence of Wr"):
        linearizer(states, tau, wrenches='base')
    assert linearizer(states, tau, wrenches=None).external == ()
    with pytest.raises(ConfigurationError, match='threads is 0'):
        linearizer(states, tau, threads=0)


def access_everything():
    """Of lanes; run by `kernels/test_bounds.py` where every access is checked."""
    rng = np.random.default_rng(13)
    model = random_model(rng, 11)[1]
    states, tau = operating_points(model, 13, rng)
    wrenches = [Wrench(model.base_link, kind=kind) for kind in ('body', 'world', 'world_oriented')]
    geolin_ros.forward_dynamics(model, states, tau, wrenches=wrenches)
    samples = robot_of(model)
    whole = samples._buffers(1)[0]
    for cut in range(4):
        scratch = [a[: a.size // 2] if k == cut else a for k, a in enumerate(whole)]
        samples._scratch[0] = tuple(scratch)
        with pytest.raises(IndexError):
            geolin_ros.forward_dynamics(model, states, tau)
