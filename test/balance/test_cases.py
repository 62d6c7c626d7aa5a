# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What robots that nobody tuned for can be asked to do."""

import argparse
import warnings

import numpy as np
import pytest
from support.robots import example_robot

pytest.importorskip('mujoco')

from geolin_demos.balance.cases import Plan, at_limits, cases_of, introduce
from geolin_demos.balance.robots import simulator_of

from geolin_ros.cli import main
from geolin_ros.errors import UnknownNameError

SOLO = 'FL_FOOT,FR_FOOT,HL_FOOT,HR_FOOT'


def robot(name, feet):
    path = str(example_robot(name))
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        given = argparse.Namespace(robot=path, feet=feet, effort_limit=None, friction=0.8)
        return simulator_of(given)[0]


@pytest.mark.parametrize(
    ('name', 'feet'), [('solo12', SOLO), ('anymal', 'LF_FOOT,RF_FOOT,LH_FOOT,RH_FOOT')]
)
def test_quadrupeds__can_lift_a_foot_at_the_height_they_stand_at(name, feet):
    found = cases_of(robot(name, feet), Plan())
    assert [case.name for case in found.feasible] == ['4 feet', '4 - 3 - 4 feet']
    assert (found.infeasible, found.height) == ({}, None)


def test_height__is_that_of_the_plan_or_one_at_which_all_is_feasible(capsys):
    simulator = robot('talos_reduced', 'left_sole_link,right_sole_link')
    usual = cases_of(simulator, Plan())
    assert [case.name for case in usual.feasible] == ['2 soles', '1 sole', 'squat 0.35 Hz']
    low = cases_of(simulator, Plan(height=0.9))
    assert low.feasible[0].motion.knots[0].state.H[2, 3] == pytest.approx(0.9, abs=0.011)
    squat = cases_of(simulator, Plan(height=0.62, cases=('squat 0.35 Hz',)))
    assert squat.feasible == []
    assert 'it can with its base' in squat.infeasible['squat 0.35 Hz']
    introduce(simulator, squat)
    assert 'INFEASIBLE  squat 0.35 Hz: ' in capsys.readouterr().out
    with pytest.raises(UnknownNameError, match=r"did you mean 'squat 0\.35 Hz'"):
        cases_of(simulator, Plan(cases=('squat',)))


def test_cases_on_two_balls__are_refused_by_what_efforts_reach():
    for name, feet in (
        ('bolt', 'FL_FOOT,FR_FOOT'),
        ('talos_reduced', 'left_sole_link:0.02,right_sole_link:0.02'),
    ):
        found = cases_of(robot(name, feet), Plan())
        assert found.feasible == []
        (reason,) = found.infeasible.values()
        assert 'points on a line, and no force of the ground catches a fall about it' in reason
        assert 'takes three points, or soles' in reason


def test_postures__stay_within_limits_and_say_who_is_at_one():
    for name, feet, height, joint in (
        ('hyq_no_sensors', 'lf_foot,rf_foot,lh_foot,rh_foot', 0.7, 'rf_kfe_joint'),
        ('romeo_small', 'l_sole,r_sole', None, 'LElbowYaw'),
    ):
        simulator = robot(name, feet)
        limits = simulator.model.limits
        found = cases_of(simulator, Plan(height=height))
        for case in found.feasible:
            for knot in case.motion.knots:
                assert np.all(knot.state.s >= limits.lower - 1e-9)
                assert np.all(knot.state.s <= limits.upper + 1e-9)
        assert joint in {stuck for case in found.feasible for stuck in at_limits(simulator, case)}


def test_analysis_of_two_balls__says_that_they_have_no_area(capsys):
    bolt = str(example_robot('bolt'))
    assert main(['analyze-modes', bolt, '--contacts', 'FL_FOOT', 'FR_FOOT']) == 0
    said = capsys.readouterr().out
    assert '0.0 mm off the line between its supports, which have no area' in said
    assert 'steps 5+5+1+1' in said
