# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The comparison of [Bos 2022, Table 1]: its charts are right, and what it finds holds."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from support.close import assert_blocks_close, assert_close, deviation
from support.finite_difference import derivative, derivative_by_vector
from support.pinocchio_oracle import PinocchioOracle

from geolin_ros import robots

ROOT = Path(__file__).parents[2]
DEGREES = np.array([0.0, 40.0, 85.0, 90.0, 130.0, 180.0, 220.0, 270.0, 310.0])


@pytest.fixture(scope='module')
def example():
    spec = importlib.util.spec_from_file_location(
        'compare_representations', ROOT / 'examples' / 'compare_representations.py'
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope='module')
def somersault(example):
    return example.Somersault()


@pytest.fixture(scope='module')
def oracle(somersault):
    return PinocchioOracle.read_urdf(robots.path('quadruped'), somersault.model)


@pytest.fixture(scope='module')
def approaches(example, somersault):
    return dict(
        zip(
            ('euler', 'quaternion', 'differences', 'ours'),
            example.compare(somersault, DEGREES),
            strict=True,
        )
    )


def test_referee__is_pinocchio_as_the_other_tests_use_it(somersault, oracle):
    state = somersault.state(130.0)
    A, _, _ = oracle.linearization(state, somersault.tau)
    ours = somersault.referee.linearize(state, somersault.tau)
    assert_blocks_close(ours, A, somersault.model, 1e-13)


@pytest.mark.parametrize('kind', ['EulerAngles', 'Quaternion'])
@pytest.mark.parametrize('degrees', [40.0, 130.0, 180.0])
class TestChart:
    """Coordinates against differences of their own vector field, by Pinocchio's dynamics."""

    def test_coordinates__are_those_of_the_state(self, example, somersault, kind, degrees):
        coordinates, state = getattr(example, kind)(), somersault.state(degrees)
        again = coordinates.state(coordinates.coordinates(state))
        assert_close(again.data, state.data, 1e-13)

    def test_linearization__is_the_derivative_of_the_field(
        self, example, somersault, oracle, kind, degrees
    ):
        coordinates, state = getattr(example, kind)(), somersault.state(degrees)
        tau, m = somersault.tau, somersault.model.m

        def field(x):
            """Return xdot: the rate of the coordinates along the motion through their state."""
            at = coordinates.state(x)
            rate = np.concatenate((at.v, at.r, oracle.forward_dynamics(at, tau)))
            here = coordinates.coordinates(at)

            def along(t):
                return coordinates.difference(here, coordinates.coordinates(at.retract(t * rate)))

            found = derivative(along, 1e-2)
            if kind == 'Quaternion':  # linear in q: its length and sign ride along
                found[3:7] *= np.linalg.norm(x[3:7]) * np.sign(x[3:7] @ here[3:7])
            return found

        chart = coordinates.chart(state, oracle.forward_dynamics(state, tau))
        A, _, _ = oracle.linearization(state, tau)
        x = coordinates.coordinates(state)
        expected = derivative_by_vector(field, x, 1e-2)
        assert_close(chart.linearization(A), expected, 1e-7)
        assert_close(chart.back(chart.linearization(A)), A, 1e-11)
        assert_close(chart.T @ chart.L, np.eye(2 * m), 1e-12)
        assert_close(chart.T @ chart.N, np.zeros((2 * m, chart.N.shape[1])), 1e-15, scale=1.0)


@pytest.mark.shows('Bos 2022: Table 1')
def test_this_package__is_exact_at_every_attitude(approaches):
    ours = approaches['ours']
    assert_close(ours.error, np.zeros(DEGREES.size), 1e-12, scale=1.0)
    assert ours.largest.max() < 1.01 * ours.largest.min()
    assert ours.prediction.max() < 0.03
    assert ours.exact
    assert ours.singularity_free
    assert ours.states == 36


@pytest.mark.shows('Bos 2022: Table 1')
def test_euler_angles__are_exact_but_singular(approaches):
    """Exact where they are defined; at 90 and 270 degrees nothing is left, near them little."""
    euler = approaches['euler']
    singular, near = np.isin(DEGREES, (90.0, 270.0)), DEGREES == 85.0
    regular = ~singular & ~near
    assert_close(euler.error[regular], np.zeros(regular.sum()), 1e-11, scale=1.0)
    assert euler.error[singular].min() > 1.0
    assert euler.largest[singular].min() > 1e10
    assert euler.largest[near].item() > 10.0 * approaches['ours'].largest.max()
    assert euler.prediction[near].item() > 10.0 * approaches['ours'].prediction.max()
    assert euler.exact
    assert not euler.singularity_free


@pytest.mark.shows('Bos 2022: Table 1')
def test_quaternion__is_exact_with_one_state_too_many(approaches):
    quaternion, ours = approaches['quaternion'], approaches['ours']
    assert_close(quaternion.error, np.zeros(DEGREES.size), 1e-12, scale=1.0)
    assert quaternion.singularity_free
    assert quaternion.states == ours.states + 1
    assert deviation(quaternion.prediction, ours.prediction) < 0.1


@pytest.mark.shows('Bos 2022: Table 1')
def test_finite_differences__keep_half_the_digits(approaches):
    differences = approaches['differences']
    assert 1e-8 < differences.error.min() < differences.error.max() < 1e-5
    assert differences.singularity_free
    assert not differences.exact


def test_prediction__misses_by_the_second_order_alone(example, somersault, approaches):
    """Half the disturbance, half the relative error: the linear part is right."""
    smaller = example.Somersault()
    smaller.disturbance = 0.5 * somersault.disturbance
    (*_, ours) = example.compare(smaller, DEGREES)
    ratio = approaches['ours'].prediction / ours.prediction
    assert_close(ratio, np.full(ratio.size, 2.0), 0.05)


def test_example__writes_the_picture_and_the_table(example, tmp_path, capsys):
    example.main(['--step', '45', '--output', str(tmp_path / 'found.png')])
    assert (tmp_path / 'found.png').read_bytes().startswith(b'\x89PNG')
    written = (tmp_path / 'found.md').read_text()
    assert written in capsys.readouterr().out
    assert answers(written) == answers((ROOT / 'docs' / 'algorithms.md').read_text())


def answers(text):
    """Return name, four answers and number of states of every row of the table."""
    names = ('Euler angles, exact', 'Quaternion with', 'Finite differences on', 'geolin_ros')
    rows = [line.split(' | ')[:6] for line in text.splitlines() if line.startswith('| ')]
    found = [row for row in rows if len(row) == 6 and row[0][2:].startswith(names)]
    assert len(found) == 4
    return found


def test_example__refuses_a_step_of_nothing(example, capsys):
    with pytest.raises(SystemExit):
        example.main(['--step', '0'])
    assert '--step is 0.0, expected more than 0' in capsys.readouterr().err
