# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots that stand, and what on: two of the example-robot-data wheel and the bundled ones."""

import warnings
from functools import cache

from geolin_ros import TreeModel, robots
from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.support import Support
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ModelWarning
from support.robots import example_robot

SUPPORTS = {
    'go2': ('FL_foot:0.022', 'FR_foot:0.022', 'RL_foot:0.022', 'RR_foot:0.022'),
    'g1_29dof_rev_1_0': (
        'left_ankle_roll_link:0.17x0.05@0.035,0,-0.035',
        'right_ankle_roll_link:0.17x0.05@0.035,0,-0.035',
    ),
    'quadruped': ('FL_foot:0.02', 'FR_foot:0.02', 'RL_foot:0.02', 'RR_foot:0.02'),
    'humanoid': ('left_sole:0.18x0.08', 'right_sole:0.18x0.08'),
}
ARMATURE = 0.01


def urdf_of(name):
    """Return the path of a robot that stands; skip the test where it is not installed."""
    return robots.path(name) if name in robots.ROBOTS else example_robot(name)


@cache
def standing_robot(name, armature=ARMATURE):
    """Return model and supports of a robot, with rotors of ``armature`` kg m^2 on its joints."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        overlay = {'joints': {'*': {'rotor_inertia': armature, 'gear_ratio': 1.0}}}
        model = TreeModel.from_urdf(urdf_of(name), overlay=overlay)
    return model, tuple(Support.parse(text) for text in SUPPORTS[name])


@cache
def _stance(name, feet, armature):
    model, supports = standing_robot(name, armature)
    state = standing_posture(model, supports)
    if feet is None:
        return model, supports, state
    at = Kinematics(model, state)
    lifted = {s.frame: at.pose(s.frame)[:3, 3] + [0.0, 0.0, 0.05] for s in supports[feet:]}
    state = standing_posture(model, supports[:feet], start=state, feet=lifted)
    return model, supports[:feet], state


def stance(name, feet=None, armature=ARMATURE):
    """Return model, supports and posture, on the first ``feet`` with the others 5 cm up."""
    model, supports, state = _stance(name, feet, armature)
    return model, supports, state.copy()


@cache
def held(name, feet=None, armature=ARMATURE):
    """Return model and equilibrium of a stance."""
    model, supports, state = _stance(name, feet, armature)
    return model, equilibrium(model, state.copy(), supports)


@cache
def simulator_of(name):
    """Return the robot as MuJoCo has it, on feet that are its collision shapes."""
    from geolin_demos.balance.robots import FEET
    from geolin_demos.sim.simulator import Simulator

    return Simulator(urdf_of(name), standing_robot(name)[0], FEET[name].split(','))
