# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Maximum a posteriori estimates against elimination and dense weighted least squares."""

import dataclasses

import numpy as np
import pytest
from geolin_estimation.sparse import (
    BlockSystem,
    Estimator,
    Sensor,
    Variable,
    exact_rows,
    sensors,
)
from support.close import assert_close
from support.newton_euler import random_motion
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot

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
    for sensor in system.sensors:
        if sensor.covariance is not None:
            rows = system.sensor_rows[sensor.name]
            Sigma[rows, rows] = sensor.covariance
    return Sigma


def eliminate_and_weigh(system):
    """Return d and Cov(d): exact rows leave a null space Z, noisy ones are weighed on it."""
    D, b, exact = system.matrix().toarray(), system.b, exact_rows(system)
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
    exact = exact_rows(system)
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
        if kind == 'tau':
            assert_close(found.variables.tau, motion.theirs.tau, 1e-9)
        else:
            assert_close(getattr(found.variables, kind), getattr(motion.theirs, kind), 1e-9, kind)
    assert found.chi_squared < 1e-12


def test_covariance__is_that_of_many_estimates(oracle, motion):
    rng = np.random.default_rng(3)
    estimator = Estimator(oracle.model, instruments(oracle.model))
    system = estimator.system
    draws, chi = [], []
    for _ in range(400):
        found = estimator.estimate(motion.state, noisy_readings(system, motion, rng))
        draws.append(found.variables.tau[6:].copy())
        chi.append(found.chi_squared)
    torques = [Variable('tau', name) for name in oracle.model.joint_names]
    predicted = np.sqrt(np.diag(estimator.covariance(torques)))
    assert np.std(draws, axis=0) == pytest.approx(predicted, rel=0.15)
    assert np.mean(draws, axis=0) == pytest.approx(
        motion.theirs.tau[6:], abs=0.25 * max(predicted)
    )
    # the mean of 400 chi-squared numbers of f degrees of freedom has deviation sqrt(2 f / 400)
    freedom = found.degrees_of_freedom
    assert np.mean(chi) == pytest.approx(freedom, abs=4.0 * np.sqrt(2.0 * freedom / 400.0))


def test_prior__is_a_sensor_that_reads_its_mean(oracle, motion):
    rng = np.random.default_rng(4)
    model = oracle.model
    without_feet = [
        sensor for sensor in instruments(model) if not sensor.name.startswith('external_wrench')
    ]
    correlated = np.array([[4.0, 1.9], [1.9, 1.0]])
    prior = Sensor(
        'prior of two torques',
        (
            sensors.Term(Variable('tau', model.joint_names[0]), np.array([[1.0], [0.0]])),
            sensors.Term(Variable('tau', model.joint_names[1]), np.array([[0.0], [1.0]])),
        ),
        correlated,
    )
    wide = [
        dataclasses.replace(sensors.external_wrench(model, foot, deviation=50.0)) for foot in FEET
    ]
    estimator = Estimator(model, [*without_feet, prior, *wide])
    system = estimator.system
    found = estimator.estimate(motion.state, noisy_readings(system, motion, rng))
    d, covariance, _ = eliminate_and_weigh(system)
    assert_close(flat(found.variables), d, 1e-9)
    assert_close(estimator.covariance(everything(system)), covariance, 1e-8)


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


def test_small_covariances__are_no_reason_to_refuse(oracle, motion):
    rng = np.random.default_rng(6)
    model = oracle.model
    precise = [
        dataclasses.replace(s, covariance=1e-12 * s.covariance) if s.covariance is not None else s
        for s in instruments(model)
    ]
    estimator = Estimator(model, precise)
    readings = noisy_readings(estimator.system, motion, rng)
    found = estimator.estimate(motion.state, readings)
    d, _, _ = eliminate_and_weigh(system_at(model, precise, motion.state, readings))
    assert_close(flat(found.variables), d, 1e-8)


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
