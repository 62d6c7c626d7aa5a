# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.stream.analysis import Analyst, Snapshot
from geolin_ros.stream.inputs.settings import StreamSettings

pin = pytest.importorskip('pinocchio')


def pinocchio_mass_matrix(state, base):
    model = pin.buildModelFromUrdf(
        str(robots.path('quadruped')), *([pin.JointModelFreeFlyer()] if base == 'floating' else [])
    )
    q = state.s
    if base == 'floating':
        q = np.concatenate((pin.SE3ToXYZQUAT(pin.SE3(state.H)), q))
    M = pin.crba(model, model.createData(), q)
    return np.triu(M) + np.triu(M, 1).T


@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_mass_matrix_condition__equals_pinocchios(base):
    model = TreeModel.from_urdf(robots.path('quadruped'), base=base)
    state = model.random_state(np.random.default_rng(0))
    A = Linearizer(model)(state, np.zeros(model.n)).A
    analysis = Analyst(model, StreamSettings()).analyse(Snapshot(5, A, state))
    expected = np.linalg.cond(pinocchio_mass_matrix(state, base))
    assert analysis.stamp == 5
    assert analysis.mass_matrix_condition == pytest.approx(expected, rel=1e-8)


def test_eigenvalues__are_those_of_a(quadruped):
    A = np.diag(np.linspace(-3.0, 2.0, 36))
    state = quadruped.neutral_state()
    continuous = Analyst(quadruped, StreamSettings()).analyse(Snapshot(0, A, state))
    assert continuous.largest_real_part == pytest.approx(2.0)
    assert continuous.spectral_radius == pytest.approx(3.0)
    discrete = Analyst(quadruped, StreamSettings(form='discrete')).analyse(Snapshot(0, A, state))
    assert np.isnan(discrete.largest_real_part)
    assert discrete.spectral_radius == pytest.approx(3.0)
