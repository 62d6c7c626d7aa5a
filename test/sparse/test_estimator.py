# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Maximum a posteriori estimates against dense weighted least squares; which sensors suffice."""

import dataclasses

import numpy as np
import pytest
from geolin_estimation.sparse import (
    BlockSystem,
    Estimator,
    Sensor,
    Term,
    Variable,
    sensors,
    solvability,
)
from support.close import assert_close
from support.newton_euler import random_motion
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot

from geolin_ros import Description, Joint, Link, TreeModel, robots
from geolin_ros.errors import ConfigurationError, UnknownNameError, UnsolvableError

FEET = ('FL_FOOT', 'HR_FOOT')


@pytest.fixture(scope='module')
def oracle():
    path = example_robot('solo12')
    return PinocchioOracle.read_urdf(path, read_robot(path)[1])


@pytest.fixture(scope='module')
def motion(oracle):
    return random_motion(oracle, np.random.default_rng(1))


def instruments(model):
    """Return sensors of a walking robot, redundant and noisy; the base is known to be free."""
    feet = [
        sensors.external_wrench(model, foot, deviation=[2.0, 2.0, 2.0, 0.1, 0.1, 0.1])
        for foot in FEET
    ]
    return (
        *sensors.base_sensors(model, 'tau'),
        *sensors.all_external_wrenches(model, but=FEET),
        *(sensors.joint_torque(name, 0.05) for name in model.joint_names),
        *(sensors.joint_acceleration(name, 0.5) for name in model.joint_names),
        *(sensors.accelerometer(model, link, 0.02) for link in ('base_link', *FEET)),
        *(sensors.angular_acceleration(model, link, 0.1) for link in ('base_link', *FEET)),
        *feet,
    )


def covariance_of(system):
    Sigma = np.zeros((system.rows, system.rows))
    of_readings = Sigma[system.equations :, system.equations :]
    for sensor in system.sensors:
        if sensor.covariance is not None:
            place = system.places[sensor.name]
            of_readings[place, place] = sensor.covariance
    return Sigma


def eliminate_and_weigh(system):
    """Return d and Cov(d): exact rows leave a null space Z, noisy ones are weighed on it."""
    D, b, exact = system.matrix().toarray(), system.b, system.exact
    particular = np.linalg.lstsq(D[exact], -b[exact], rcond=None)[0]
    _, sigma, V = np.linalg.svd(D[exact])
    Z = V[int(np.sum(sigma > 1e-10 * sigma[0])) :].T
    L = np.linalg.cholesky(covariance_of(system)[np.ix_(~exact, ~exact)])
    weighed = np.linalg.solve(L, D[~exact] @ Z)
    rest = np.linalg.solve(L, -b[~exact] - D[~exact] @ particular)
    on_Z = np.linalg.lstsq(weighed, rest, rcond=None)[0]
    chi_squared = float(np.sum((rest - weighed @ on_Z) ** 2))
    return particular + Z @ on_Z, Z @ np.linalg.inv(weighed.T @ weighed) @ Z.T, chi_squared


def flat(variables):
    return np.concatenate([part.ravel() for part in variables])


def noisy_readings(system, motion, rng):
    system.update(motion.state, np.zeros(system.rows - system.equations))
    exact = system.readings(flat(motion.theirs))
    noise = rng.multivariate_normal(np.zeros(system.rows), covariance_of(system), method='eigh')
    return exact + noise[system.equations :]


def everything(system):
    return list(system._columns)


def test_estimate__equals_elimination_and_weighted_least_squares(oracle, motion):
    rng = np.random.default_rng(2)
    estimator = Estimator(oracle.model, instruments(oracle.model))
    system = estimator.system
    found = estimator.estimate(motion.state, noisy_readings(system, motion, rng))
    d, covariance, chi_squared = eliminate_and_weigh(system)
    assert_close(flat(found.variables), d, 1e-10, 'estimate')
    assert_close(estimator.covariance(everything(system)), covariance, 1e-9, 'covariance')
    assert found.chi_squared == pytest.approx(chi_squared, rel=1e-8)
    exact = system.exact
    residual = (system.matrix() @ flat(found.variables) + system.b)[exact]
    assert np.abs(residual).max() < 1e-10


def test_covariance__may_change_between_estimates(oracle, motion):
    """As that of a message does; correlated and diagonal ones in turn."""
    model, rng = oracle.model, np.random.default_rng(9)
    estimator = Estimator(model, instruments(model))
    readings = noisy_readings(estimator.system, motion, rng)
    name = f'external_wrench[{FEET[0]}]'
    root = rng.normal(size=(6, 6))
    for covariance in (root @ root.T, np.diag([1.0, 4.0, 9.0, 1.0, 2.0, 3.0])):
        estimator.set_covariance(name, covariance)
        found = estimator.estimate(motion.state, readings)
        others = [
            dataclasses.replace(s, covariance=covariance) if s.name == name else s
            for s in instruments(model)
        ]
        d, expected, _ = eliminate_and_weigh(system_at(model, others, motion.state, readings))
        assert_close(flat(found.variables), d, 1e-9)
        assert_close(estimator.covariance(everything(estimator.system)), expected, 1e-8)
    with pytest.raises(UnknownNameError, match=r'accelerometer.nose'):
        estimator.set_covariance('accelerometer[nose]', np.eye(3))
    with pytest.raises(ConfigurationError, match='symmetric and positive definite'):
        estimator.set_covariance(name, -np.eye(6))


def test_estimate__of_noiseless_readings__is_what_pinocchio_computes(oracle, motion):
    estimator = Estimator(oracle.model, instruments(oracle.model))
    system = estimator.system
    system.update(motion.state, np.zeros(system.rows - system.equations))
    # bodies without a foot carry random wrenches: these are read as well
    found = estimator.estimate(motion.state, system.readings(flat(motion.theirs)))
    for kind in ('a', 'f', 'fx', 'tau', 'nu_dot'):
        assert_close(getattr(found.variables, kind), getattr(motion.theirs, kind), 1e-9, kind)
    assert found.chi_squared < 1e-12


def test_missing_and_repeated_sensors__are_named(oracle):
    model = oracle.model
    torques = [
        s for s in sensors.forward_dynamics(model) if s.name != f'tau[{model.joint_names[3]}]'
    ]
    with pytest.raises(UnsolvableError, match=rf'do not determine tau.{model.joint_names[3]}'):
        Estimator(model, torques)
    again = dataclasses.replace(sensors.joint_torque(model.joint_names[0]), name='again')
    with pytest.raises(UnsolvableError, match='repeat one another'):
        Estimator(model, [*sensors.forward_dynamics(model), again])


@pytest.mark.parametrize('order', [1, -1], ids=['good ones first', 'good ones last'])
def test_deviations_over_eight_decades__cost_no_digits(oracle, motion, order):
    model, rng = oracle.model, np.random.default_rng(7)
    noisy = [sensor for sensor in instruments(model) if sensor.covariance is not None]
    factors = np.geomspace(1e-4, 1e4, len(noisy))[::order]
    scaled = {
        sensor.name: dataclasses.replace(sensor, covariance=factor**2 * sensor.covariance)
        for sensor, factor in zip(noisy, factors, strict=True)
    }
    some = [scaled.get(sensor.name, sensor) for sensor in instruments(model)]
    estimator = Estimator(model, some)
    readings = noisy_readings(estimator.system, motion, rng)
    found = estimator.estimate(motion.state, readings)
    d, _, _ = eliminate_and_weigh(system_at(model, some, motion.state, readings))
    assert_close(flat(found.variables), d, 1e-10)


def test_covariances_too_far_apart__are_refused(oracle):
    model = oracle.model
    some = [
        dataclasses.replace(s, covariance=1e-26 * s.covariance)
        if s.name.startswith('tau[') and s.covariance is not None
        else s
        for s in instruments(model)
    ]
    with pytest.raises(ConfigurationError, match='too far apart for double precision'):
        Estimator(model, some)


def system_at(model, sensor_set, state, readings):
    system = BlockSystem(model, sensor_set)
    system.update(state, readings)
    return system


@pytest.fixture(scope='module')
def model():
    return TreeModel.from_urdf(robots.path('quadruped'))


def test_forward_dynamics__is_solvable(model):
    report = solvability(BlockSystem(model, sensors.forward_dynamics(model)))
    assert report.solvable
    assert report.ranks == (report.unknowns,) * 3
    assert report.undetermined == ()


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


@pytest.mark.shows('Nori: Well-posedness of (16)')
def test_unsolvable_set__is_refused_by_name(model):
    # one torque twice, another one never: square, and singular whatever the numbers
    first, second = model.joint_names[:2]
    chosen = [s for s in sensors.forward_dynamics(model) if s.name != f'tau[{second}]']
    chosen.append(dataclasses.replace(sensors.joint_torque(first), name='once more'))
    with pytest.raises(UnsolvableError, match=rf'do not determine .*{second}'):
        Estimator(model, chosen)


def test_readings_in_other_units__change_pivots_but_no_results(model):
    # a wrench component that reads in 1e-13 N m makes a tiny pivot, and no deficient rank
    first, second = model.joint_names[:2]
    chosen = [s for s in sensors.forward_dynamics(model) if s.name != f'tau[{second}]']
    plain = sensors.joint_acceleration(first)
    (term,) = plain.terms
    tiny = dataclasses.replace(plain, terms=(term._replace(matrix=1e-13 * term.matrix),))
    rng = np.random.default_rng(2)
    state, readings = model.random_state(rng), rng.normal(size=6 * 13 + 18)
    expected = Estimator(model, [*chosen, plain]).estimate(state, readings).variables
    solver = Estimator(model, [*chosen, tiny])
    for _ in range(2):
        solver.estimate(model.random_state(rng), readings)
    readings[-1] *= 1e-13
    found = solver.estimate(state, readings).variables
    assert_close(found.nu_dot, expected.nu_dot, 1e-9)


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
    solver = Estimator(planar, chosen)
    state, readings = planar.neutral_state(), np.zeros(20)
    readings[18] = 1.0
    state.s[1] = 0.3
    found = solver.estimate(state, readings).variables
    assert found.nu_dot[0] == pytest.approx(1.0 / np.sin(0.3), rel=1e-9)
    state.s[1] = 0.0
    with pytest.raises(UnsolvableError, match=r'do not determine tau.one., qdd.one.'):
        solver.estimate(state, readings)
