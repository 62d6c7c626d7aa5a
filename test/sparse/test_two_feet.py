# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Section VI of [Nori]: what sensors in two soles determine, and what they do not."""

import numpy as np
import pytest
from geolin_estimation.sparse import ALL_BUT_YAW_MOMENT, LOAD_CELLS, BlockSystem, solvability
from support.close import assert_close, assert_wrong
from support.trees import random_pose

from examples import two_feet as example
from geolin_ros import TreeModel, robots


@pytest.fixture(scope='module')
def model():
    return TreeModel.from_urdf(robots.path('humanoid'))


def unmeasured(H, components, order=(0, 1, 2, 3, 4, 5)):
    """Return W = [H, X* H], the matrix that Eq. (22) turns on: unmeasured wrenches at two feet."""
    R, o = H[:3, :3], H[:3, 3]
    cross = np.cross(np.eye(3), o).T
    to_first = np.block([[R, np.zeros((3, 3))], [cross @ R, R]])
    rows = [order[e] for e in range(6) if e not in components]
    H_unmeasured = np.eye(6)[:, rows]
    return np.hstack((H_unmeasured, to_first @ H_unmeasured))


def rank(W):
    sigma = np.linalg.svd(W, compute_uv=False)
    return int(np.sum(sigma > 1e-10 * sigma[0]))


def parallel_pose(rng):
    yaw = rng.uniform(-3.0, 3.0)
    H = np.eye(4)
    H[:2, :2] = [[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]
    H[:3, 3] = rng.uniform(-0.5, 0.5, 3)
    return H


@pytest.mark.shows('Nori: Eqs. (17)-(22)', 'Nori: N4')
def test_three_components__are_singular_for_every_pose(model):
    rng = np.random.default_rng(1)
    assert {rank(unmeasured(random_pose(rng), LOAD_CELLS)) for _ in range(2000)} == {5}
    system = BlockSystem(model, example.sole_sensors(model, LOAD_CELLS))
    assert system.rows == system.size
    states = [model.random_state(rng) for _ in range(4)]
    report = solvability(system, [*states, example.on_slopes(model)])
    assert report.structural_rank == report.unknowns
    assert set(report.ranks) == {report.unknowns - 1}
    assert not report.solvable
    assert any(name.startswith('tau[left_') for name in report.undetermined)


@pytest.mark.shows('Nori: Eq. (23)', 'Nori: N5')
def test_five_components__are_singular_for_parallel_soles_only(model):
    rng = np.random.default_rng(2)
    assert {rank(unmeasured(random_pose(rng), ALL_BUT_YAW_MOMENT)) for _ in range(500)} == {2}
    assert {rank(unmeasured(parallel_pose(rng), ALL_BUT_YAW_MOMENT)) for _ in range(500)} == {1}
    system = BlockSystem(model, example.sole_sensors(model, ALL_BUT_YAW_MOMENT))
    assert system.rows == system.size + 4
    parallel = solvability(system, [example.on_flat_floor(model)])
    assert parallel.ranks == (parallel.unknowns - 1,)
    assert {'fx[left_foot].rz', 'fx[right_foot].rz'} <= set(parallel.undetermined)
    generic = solvability(system, [example.on_slopes(model), model.random_state(rng)])
    assert generic.solvable


@pytest.mark.shows('Nori: N3')
def test_selection_of_23__in_the_order_of_section_2__measures_something_else():
    # erratum N3: as [moment; force] the sixth component is the normal force, not the couple
    rng = np.random.default_rng(3)
    moment_first = (3, 4, 5, 0, 1, 2)
    for _ in range(20):
        H = parallel_pose(rng)
        assert rank(unmeasured(H, ALL_BUT_YAW_MOMENT, moment_first)) == 2
        assert rank(unmeasured(H, ALL_BUT_YAW_MOMENT)) == 1


@pytest.mark.shows('Nori: Property 3', 'Nori: N6')
def test_property_3__factorization_has_the_position_in_its_lower_block():
    # erratum N6
    rng = np.random.default_rng(4)
    H_f, H_m, p = rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)
    cross = np.cross(np.eye(3), p).T
    W = np.block([[H_f, H_f], [H_m, cross @ H_f + H_m]])
    shear = np.block([[np.eye(3), np.eye(3)], [np.zeros((3, 3)), np.eye(3)]])
    corrected = np.block([[H_f, np.zeros((3, 3))], [H_m, cross @ H_f]]) @ shear
    printed = np.block([[H_f, H_f], [H_m, cross @ H_f + H_m]]) @ shear
    assert_close(corrected, W, 1e-13)
    assert_wrong(printed, W, 0.74)


@pytest.mark.shows('Nori: Eq. (23)')
def test_torques__of_tilted_soles__are_found_without_a_prior(model):
    state = example.on_slopes(model)
    result = example.estimate(model, state, example.true_motion(model, state, (2.0, 1.5)))
    assert_close(result.torque_error, 0.0, 1e-11, scale=1.0)
    assert_close(result.couples, [2.0, 1.5], 1e-9, scale=1.0)


@pytest.mark.parametrize('deviation', [5.0, 50.0])
def test_prior__of_parallel_soles__splits_the_couple_and_says_so(model, deviation):
    state = example.on_flat_floor(model)
    truth = example.true_motion(model, state, (2.0, 1.5))
    result = example.estimate(model, state, truth, deviation)
    # the readings know the sum, the prior halves it: its deviation over sqrt 2 is what remains
    assert result.couples == pytest.approx([1.75, 1.75], abs=0.01)
    assert result.couple_deviations == pytest.approx(deviation / np.sqrt(2.0), rel=0.01)
    assert result.sum_deviation < 0.5


def test_example__prints_what_is_determined(capsys, monkeypatch):
    monkeypatch.setattr('sys.argv', ['two_feet.py'])
    example.main()
    printed = capsys.readouterr().out
    assert printed.count('not solvable') == 3
    assert 'tilted soles, no prior' in printed
