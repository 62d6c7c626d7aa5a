#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint torques of a humanoid on two feet from what its soles measure [Nori, section VI].

Motion is known, the wrenches under both feet are not, apart from what sensors in the soles read:
three components each (load cells, Eq. (18)) or five (all but the couple about the normal,
Eq. (23)). The report says what each set determines; where (23) does, and where a prior has to
help, torques are estimated.
"""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from geolin_estimation.sparse import (
    ALL_BUT_YAW_MOMENT,
    LOAD_CELLS,
    BlockSystem,
    Estimator,
    Sensor,
    Variable,
    all_external_wrenches,
    base_sensors,
    external_wrench,
    inverse_dynamics,
    joint_acceleration,
    solvability,
)
from numpy.typing import NDArray

from geolin_ros import State, TreeModel, robots

Array = NDArray[np.float64]

SOLES = ('left_sole', 'right_sole')
YAW_MOMENT = (5,)
NOISE = (2.0, 2.0, 2.0, 0.1, 0.1)  # N, N m: of the five readings of a sole
ANKLES = ('left_ankle_roll', 'right_ankle_pitch')


def sole_sensors(
    model: TreeModel, components: Sequence[int], noise: Sequence[float] | None = None
) -> tuple[Sensor, ...]:
    """Return the sensors of Eqs. (18), (23): motion, free base, some components at each sole."""
    return (
        *all_external_wrenches(model, but=SOLES),
        *base_sensors(model, 'tau'),
        *base_sensors(model, 'qdd'),
        *(joint_acceleration(name) for name in model.joint_names),
        *(external_wrench(model, sole, components, noise) for sole in SOLES),
    )


def couple_priors(model: TreeModel, deviation: float) -> tuple[Sensor, ...]:
    """Return priors of the couple about the normal of each sole: read them as zero."""
    return tuple(
        dataclasses.replace(
            external_wrench(model, sole, YAW_MOMENT, deviation), name=f'prior[{sole}]'
        )
        for sole in SOLES
    )


def on_flat_floor(model: TreeModel) -> State:
    """Return a standing state with parallel soles, moving."""
    state = model.neutral_state()
    for side in ('left', 'right'):
        for joint, angle in (('hip_pitch', -0.3), ('knee', 0.6), ('ankle_pitch', -0.3)):
            state.s[model.joint_index(f'{side}_{joint}')] = angle
    rng = np.random.default_rng(1)
    state.r[:], state.v[:] = rng.normal(size=model.n), 0.1 * rng.normal(size=6)
    return state


def on_slopes(model: TreeModel) -> State:
    """Return the same state with each sole tilted another way."""
    state = on_flat_floor(model)
    for name in ANKLES:
        state.s[model.joint_index(name)] += 0.25
    return state


class Truth(NamedTuple):
    """A motion with wrenches at the soles that keeps the base free."""

    tau: Array
    nu_dot: Array
    fx: Array
    couples: Array
    """(2,) about the normals of the soles [N m]"""


def true_motion(model: TreeModel, state: State, couples: Sequence[float]) -> Truth:
    """Return inverse dynamics with the given couples and the other wrenches that balance."""
    rng = np.random.default_rng(2)
    nu_dot = rng.normal(size=model.m)
    solver = Estimator(model, inverse_dynamics(model))

    def solve(fx: Array) -> Array:
        readings = np.concatenate((fx.ravel(), nu_dot))
        return solver.estimate(state, readings).variables.tau

    nb = len(model.body_names)
    fx, wrench = np.zeros((nb, 6)), np.zeros((nb, 6))
    to_sole = {sole: external_wrench(model, sole).terms[0].matrix for sole in SOLES}
    bodies = {sole: model.frame(sole).body for sole in SOLES}
    for sole, couple in zip(SOLES, couples, strict=True):
        fx[bodies[sole]] = np.linalg.solve(to_sole[sole], [0.0, 0.0, 0.0, 0.0, 0.0, couple])
    missing = solve(fx)[:6]
    effect = []  # of the five other components at the soles on the base
    places = [(sole, e) for sole in SOLES for e in ALL_BUT_YAW_MOMENT]
    for sole, e in places:
        wrench[:] = 0.0
        wrench[bodies[sole]] = np.linalg.solve(to_sole[sole], np.eye(6)[e])
        effect.append(solve(wrench)[:6] - solve(np.zeros((nb, 6)))[:6])
    shares = np.linalg.lstsq(np.array(effect).T, -missing, rcond=None)[0]
    for (sole, e), share in zip(places, shares, strict=True):
        fx[bodies[sole]] += np.linalg.solve(to_sole[sole], share * np.eye(6)[e])
    return Truth(solve(fx), nu_dot, fx, np.array(couples))


def noiseless_readings(system: BlockSystem, state: State, truth: Truth) -> Array:
    """Return what the sensors of a system read of a motion; priors read zero."""
    d = np.zeros(system.size)
    variables = system.unpack(d)
    variables.fx[:], variables.tau[:], variables.nu_dot[:] = truth.fx, truth.tau, truth.nu_dot
    system.update(state, np.zeros(system.rows - system.equations))
    readings = system.readings(d)
    for sole in SOLES:
        if f'prior[{sole}]' in system.places:
            readings[system.places[f'prior[{sole}]']] = 0.0
    return readings


class Result(NamedTuple):
    """Estimated torques and couples, and how sure they are."""

    torque_error: float
    couples: Array
    couple_deviations: Array
    sum_deviation: float


def estimate(
    model: TreeModel, state: State, truth: Truth, prior_deviation: float | None = None
) -> Result:
    """Estimate from noiseless readings of (23), with a prior of the couples if one is given."""
    sensors = sole_sensors(model, ALL_BUT_YAW_MOMENT, NOISE)
    if prior_deviation is not None:
        sensors += couple_priors(model, prior_deviation)
    estimator = Estimator(model, sensors)
    found = estimator.estimate(state, noiseless_readings(estimator.system, state, truth))
    rows, bodies = [], [model.frame(sole).body for sole in SOLES]
    for sole in SOLES:
        rows.append(external_wrench(model, sole, YAW_MOMENT).terms[0].matrix[0])
    couples = np.array(
        [row @ found.variables.fx[body] for row, body in zip(rows, bodies, strict=True)]
    )
    both = np.zeros((2, 12))
    both[0, :6], both[1, 6:] = rows
    feet = [Variable('fx', model.body_names[body]) for body in bodies]
    covariance = both @ estimator.covariance(feet) @ both.T
    error = np.abs(found.variables.tau - truth.tau).max() / np.abs(truth.tau).max()
    return Result(
        float(error),
        couples,
        np.sqrt(np.diag(covariance)),
        float(np.sqrt(covariance.sum())),
    )


def main() -> None:
    """Print the reports and the estimates."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    model = TreeModel.from_urdf(robots.path('humanoid'))
    floor, slopes = on_flat_floor(model), on_slopes(model)
    for name, components in (('(18)', LOAD_CELLS), ('(23)', ALL_BUT_YAW_MOMENT)):
        for where, state in (('flat floor', floor), ('tilted soles', slopes)):
            report = solvability(BlockSystem(model, sole_sensors(model, components)), [state])
            answer = 'solvable' if report.solvable else f'not solvable: {report.undetermined}'
            print(f'{name}, {where}: {report.rows} rows, {report.unknowns} unknowns, {answer}')
    cases = (
        ('tilted soles, no prior', slopes, None),
        ('flat floor, prior 5 N m', floor, 5.0),
        ('flat floor, prior 50 N m', floor, 50.0),
    )
    for name, state, deviation in cases:
        result = estimate(model, state, true_motion(model, state, (2.0, 1.5)), deviation)
        print(
            f'{name}: torques within {result.torque_error:.1e}; couples {result.couples.round(3)} '
            f'(true 2 and 1.5) +- {result.couple_deviations.round(3)}, '
            f'their sum +- {result.sum_deviation:.3f} N m'
        )


if __name__ == '__main__':
    main()
