# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What robots that nobody tuned for can be asked to do."""

import warnings

import numpy as np
import pytest
from support.robots import example_robot

pytest.importorskip('mujoco')

from geolin_demos.balance.cases import cases_of, introduce
from geolin_demos.balance.robots import simulator_of

from geolin_ros.errors import UnknownNameError


def robot(name, feet):
    path = str(example_robot(name))
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return simulator_of(path, feet)


def test_height__is_the_one_asked_for_or_one_at_which_all_is_feasible(capsys):
    simulator = robot('talos_reduced', 'left_sole_link,right_sole_link')
    usual = cases_of(simulator)
    assert [case.name for case in usual.feasible] == ['2 soles', '1 sole', 'squat 0.35 Hz']
    low = cases_of(simulator, height=0.9)
    assert low.feasible[0].motion.knots[0].state.H[2, 3] == pytest.approx(0.9, abs=0.011)
    squat = cases_of(simulator, ['squat 0.35 Hz'], 0.62)
    assert squat.feasible == []
    introduce(simulator, squat)
    assert 'INFEASIBLE  squat 0.35 Hz: ' in capsys.readouterr().out
    with pytest.raises(UnknownNameError, match=r"did you mean 'squat 0\.35 Hz'"):
        cases_of(simulator, ['squat'])


def test_floor__is_as_slippery_as_asked_for():
    assert simulator_of('quadruped', friction=0.3).mujoco_model.geom_friction[:, 0].max() == 0.3


def test_postures__stay_within_limits():
    simulator = robot('hyq_no_sensors', 'lf_foot,rf_foot,lh_foot,rh_foot')
    limits = simulator.model.limits
    found = cases_of(simulator, height=0.7)
    for case in found.feasible:
        for knot in case.motion.knots:
            assert np.all(knot.state.s >= limits.lower - 1e-9)
            assert np.all(knot.state.s <= limits.upper + 1e-9)
