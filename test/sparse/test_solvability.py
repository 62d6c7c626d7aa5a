# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the report says of sets that determine everything, and of sets that do not."""

import dataclasses

import numpy as np
import pytest
from geolin_estimation.sparse import (
    BlockSystem,
    DynamicsSolver,
    Sensor,
    Term,
    Variable,
    sensors,
    solvability,
)
from support.close import assert_close

from geolin_ros import Description, Joint, Link, TreeModel, robots
from geolin_ros.errors import UnsolvableError


@pytest.fixture(scope='module')
def model():
    return TreeModel.from_urdf(robots.path('quadruped'))


def test_forward_dynamics__is_solvable(model):
    report = solvability(BlockSystem(model, sensors.forward_dynamics(model)))
    assert report.solvable
    assert report.square
    assert report.ranks == (report.unknowns,) * 3
    assert report.undetermined == report.structurally_undetermined == ()
    assert str(report).endswith('\nsolvable')


@pytest.mark.shows('Nori: Well-posedness of (16)')
def test_missing_torque__leaves_its_joint_open(model):
    # with the base wrench known as well, qdd of the joint and the wrenches it changes stay open
    missing = model.joint_names[4]
    chosen = [s for s in sensors.forward_dynamics(model) if s.name != f'tau[{missing}]']
    report = solvability(BlockSystem(model, chosen))
    assert not report.solvable
    assert report.structural_rank == report.unknowns - 1
    assert set(report.ranks) == {report.unknowns - 1}
    assert {f'tau[{missing}]', f'qdd[{missing}]'} <= set(report.undetermined)
    assert set(report.undetermined) <= set(report.structurally_undetermined)


def test_missing_external_wrench__is_the_only_open_one_if_no_wrench_is_asked(model):
    without_base = sensors.inverse_dynamics(model)[1:]  # the first sensor is fx of the base
    report = solvability(BlockSystem(model, without_base))
    base = model.body_names[0]
    open_names = {label.split('.')[0] for label in report.undetermined}
    assert open_names == {f'fx[{base}]', f'f[{base}]', 'tau[floating base]'}
    assert set(report.structurally_undetermined) == set(report.undetermined)


def test_repeated_exact_readings__are_reported(model):
    twice = (
        *sensors.inverse_dynamics(model),
        sensors.angular_acceleration(model, model.base_link),
    )
    report = solvability(BlockSystem(model, twice))
    assert report.solvable
    assert report.exact_rows == report.exact_rank + 3
    assert 'redundant' in str(report)


@pytest.mark.shows('Nori: Well-posedness of (16)')
def test_unsolvable_set__is_refused_by_name(model):
    # one torque twice, another one never: square, and singular whatever the numbers
    first, second = model.joint_names[:2]
    chosen = [s for s in sensors.forward_dynamics(model) if s.name != f'tau[{second}]']
    chosen.append(dataclasses.replace(sensors.joint_torque(first), name='once more'))
    with pytest.raises(UnsolvableError, match=rf'do not determine .*{second}'):
        DynamicsSolver(model, chosen)


def test_readings_in_other_units__change_pivots_but_no_results(model):
    # a wrench component that reads in 1e-13 N m makes a tiny pivot, and no deficient rank
    first, second = model.joint_names[:2]
    chosen = [s for s in sensors.forward_dynamics(model) if s.name != f'tau[{second}]']
    plain = sensors.joint_acceleration(first)
    (term,) = plain.terms
    tiny = dataclasses.replace(plain, terms=(term._replace(matrix=1e-13 * term.matrix),))
    rng = np.random.default_rng(2)
    state, readings = model.random_state(rng), rng.normal(size=6 * 13 + 18)
    expected = DynamicsSolver(model, [*chosen, plain]).solve(state, readings)
    solver = DynamicsSolver(model, [*chosen, tiny])
    for _ in range(2):
        solver.solve(model.random_state(rng), readings)
    readings[-1] *= 1e-13
    assert_close(solver.solve(state, readings).nu_dot, expected.nu_dot, 1e-9)


def test_singular_state_of_a_regular_set__is_an_error():
    # the tip's force across the first joint says nothing where its arm vanishes
    turn = np.eye(4)
    turn[0, 3] = 1.0
    links = tuple(Link.from_mass(f'link{i}', 1.0, np.zeros(3), np.eye(3)) for i in range(3))
    joints = (
        Joint('one', 'revolute', 'link0', 'link1', axis=np.array([0.0, 0.0, 1.0])),
        Joint('two', 'revolute', 'link1', 'link2', placement=turn, axis=np.array([1.0, 0.0, 0.0])),
    )
    planar = TreeModel.from_description(Description('arm', links, joints), base='fixed')
    # angular acceleration of the last link about its own y axis: qdd_1 sin(s_2)
    spin = Sensor('spin', (Term(Variable('a', 'link2'), np.eye(6)[4:5]),))
    chosen = [*sensors.all_external_wrenches(planar), spin, sensors.joint_torque('two')]
    solver = DynamicsSolver(planar, chosen)
    state, readings = planar.neutral_state(), np.zeros(20)
    readings[18] = 1.0
    state.s[1] = 0.3
    assert solver.solve(state, readings).nu_dot[0] == pytest.approx(1.0 / np.sin(0.3), rel=1e-9)
    state.s[1] = 0.0
    with pytest.raises(UnsolvableError, match=r'do not determine tau.one., qdd.one.'):
        solver.solve(state, readings)


def test_acceleration_and_torque_of_one_joint__stand_in_for_those_of_another(model):
    # a prescribed motion of one joint by way of the torque of another: regular, no tree order
    first, second = model.joint_names[:2]
    chosen = [s for s in sensors.forward_dynamics(model) if s.name != f'tau[{second}]']
    solver = DynamicsSolver(model, [*chosen, sensors.joint_acceleration(first)])
    rng = np.random.default_rng(1)
    state, readings = model.random_state(rng), rng.normal(size=6 * 13 + 18)
    found = solver.solve(state, readings)
    forward = DynamicsSolver(model, sensors.forward_dynamics(model))
    given = np.concatenate((found.fx.ravel(), found.tau))
    assert_close(forward.solve(state, given).nu_dot, found.nu_dot, 1e-9)
    assert found.nu_dot[6] == pytest.approx(readings[-1], rel=1e-9)
