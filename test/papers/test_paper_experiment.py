# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The numerical validation of [Bos 2022, section 5] with limits, and the example that draws it.

The paper publishes neither seed nor placements, pitch or units of the inertias, so that its
numbers (88)-(91) are upper bounds; our own are asserted too.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from support.close import assert_close
from support.trees import renumber_bodies

from geolin_papers import bos_2022
from geolin_ros import Linearizer, State
from geolin_ros.spatial import se3

EXAMPLE = Path(__file__).parents[2] / 'examples' / 'paper_experiment.py'


@pytest.fixture(scope='module')
def experiment():
    spec = importlib.util.spec_from_file_location('paper_experiment', EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope='module')
def found(experiment):
    return experiment.sweep()


@pytest.fixture(scope='module')
def curves(experiment, found):
    return np.log10(np.array([experiment.mean(one) for one in found]))


# (e_max, e_avg) of seed 2024
MEASURED = {
    'H': (1.54e-6, 5.83e-7),
    's': (1.13e-5, 6.64e-7),
    'v': (3.31e-6, 4.53e-7),
    'r': (2.40e-6, 2.39e-7),
}


@pytest.mark.shows('Bos 2022: Section 5', 'Bos 2022: B23')
@pytest.mark.parametrize('variable', 'Hsvr')
def test_experiment__stays_below_the_limits_and_the_paper(experiment, found, variable):
    error = found[experiment.PERTURBATIONS.index(1e-6)][variable]
    assert error.max <= min(5e-5, experiment.PAPER[variable][0])
    assert error.avg <= min(2e-6, experiment.PAPER[variable][1])
    assert error == pytest.approx(MEASURED[variable], rel=0.05)


@pytest.mark.shows('Bos 2022: Section 5')
@pytest.mark.parametrize('delta', [1e-3, 1e-6])
def test_experiment__by_the_tables_themselves__finds_the_same(experiment, delta):
    """Section 5 on Tables 4 to 9, not on the engine: the errors are those of the differences."""
    (tables,), (engine,) = (
        experiment.sweep(10, 2024, (delta,), by)
        for by in (experiment.by_tables, experiment.by_linearizer)
    )
    for variable, error in engine.items():
        assert tables[variable].max == pytest.approx(error.max, rel=0.02), variable
        assert tables[variable].avg == pytest.approx(error.avg, rel=0.02), variable


@pytest.mark.shows('Bos 2022: Section 5')
def test_sweep__falls_with_the_first_order_of_forward_differences(experiment, curves):
    exponents = np.log10(experiment.PERTURBATIONS)
    first_order = (exponents > -6.5) & (exponents < -1.5)
    for error in curves.T:
        slopes = np.diff(error[first_order]) / np.diff(exponents[first_order])
        assert slopes == pytest.approx(1.0, abs=0.05)


@pytest.mark.shows('Bos 2022: Section 5')
def test_sweep__rises_again_where_rounding_takes_over(experiment, curves):
    exponents = np.log10(experiment.PERTURBATIONS)
    rounding = exponents < -8.5
    for error in curves.T:
        assert -8.5 < exponents[np.argmin(error)] < -6.5
        slope = np.polyfit(exponents[rounding], error[rounding], 1)[0]
        assert slope == pytest.approx(-1.0, abs=0.15)
    sixth = experiment.PERTURBATIONS.index(1e-6)
    slopes = (curves[sixth + 1] - curves[sixth]) / np.diff(exponents)[sixth]
    assert slopes == pytest.approx([0.55, 0.73], rel=0.1), 'maximum, mean: rounding sets in'


@pytest.mark.shows('Bos 2022: B23')
def test_derivative_by_pose__is_zero_by_structure_in_84_of_90_entries(experiment):
    exact = [experiment.by_linearizer(draw)[0][:, :6] for draw in experiment.draws(10, 2024)]
    size = np.mean(np.abs(exact), axis=0)
    assert size.size == 90
    assert np.count_nonzero(size <= 1e-9 * size.max()) == 84


def test_experiment__with_the_inertial_twist_held__stays_below_the_limits(experiment):
    """The reading under which e_1 of the paper divides nothing by zero (errata B1, B23)."""
    exact, approximate, delta = [], [], 1e-6
    m = experiment.M
    for draw in experiment.draws(100, 2024):
        lin, state = Linearizer(draw.model), draw.state
        point = lin(state, draw.tau).copy()
        D = point.A[m:].copy()
        D[:, :6] += D[:, m : m + 6] @ se3.cross(state.v)
        differences = D.copy()
        for k, step in enumerate(delta * np.eye(6)):
            body_twist = se3.adjoint(se3.exp(-step)) @ state.v
            moved = State(state.H @ se3.exp(step), state.s, body_twist, state.r)
            differences[:, k] = (lin(moved, draw.tau).nu_dot - point.nu_dot) / delta
        exact.append(D)
        approximate.append(differences)
    error = experiment.errors(np.array(exact), np.array(approximate))['H']
    assert error == pytest.approx((1.14e-5, 5.98e-7), rel=0.05)
    assert error.max <= experiment.PAPER['H'][0]
    assert error.avg <= experiment.PAPER['H'][1]


def test_tables__on_the_paper_tree_in_its_own_numbering__equal_the_linearizer(experiment):
    draw = next(experiment.draws(1, 7))
    model, at = draw.model, draw.state
    body_of_joint = np.argsort(model.tree.v_start[1:]) + 1
    tree = renumber_bodies(model.tree, np.array([0, *body_of_joint]))
    assert tuple(tree.parent[1:]) == experiment.PARENTS
    assert tuple(model.tree.parent[1:]) != experiment.PARENTS, 'the paper is not depth-first'
    A, B, nu_dot = bos_2022.linearization(tree, at.H, at.s, at.v, at.r, draw.tau, model.gravity)
    ours = Linearizer(model)(at, draw.tau)
    assert_close(nu_dot, ours.nu_dot, 1e-9)
    assert_close(A, ours.A, 1e-9)
    assert_close(B, ours.B, 1e-9)


def test_example__draws_the_figure(experiment, tmp_path, capsys):
    pytest.importorskip('matplotlib')
    picture = tmp_path / 'figure.png'
    experiment.main(['--draws', '2', '--output', str(picture)])
    assert picture.read_bytes().startswith(b'\x89PNG')
    assert picture.stat().st_size > 10_000
    assert 'paper e_max' in capsys.readouterr().out


@pytest.mark.parametrize(
    ('arguments', 'status', 'said'),
    [(['--help'], 0, '--draws'), (['--draws', '0'], 2, 'expected at least 1')],
)
def test_example__explains_its_options(experiment, capsys, arguments, status, said):
    with pytest.raises(SystemExit) as stopped:
        experiment.main(arguments)
    assert stopped.value.code == status
    assert said in ''.join(capsys.readouterr())
