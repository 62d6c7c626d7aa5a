# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which robot balances, on which feet, and with which rotors."""

import argparse
import json
import warnings
from pathlib import Path

from geolin_ros.demo.locate import locate
from geolin_ros.errors import ModelWarning
from geolin_ros.model.tree import TreeModel
from geolin_ros.sim.feet import parse_feet
from geolin_ros.sim.simulator import Simulator
from geolin_ros.sim.world import Floor

ARMATURE = 0.01
"""Of every joint, in the simulator and in all models [kg m^2]."""
FEET = {
    'quadruped': 'FL_foot,FR_foot,RL_foot,RR_foot',
    'humanoid': 'left_foot,right_foot',
    'go2': 'FL_foot,FR_foot,RL_foot,RR_foot',
    'g1_29dof_rev_1_0': 'left_ankle_roll_link,right_ankle_roll_link',
}
"""Of robots that are known by name."""


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `simulator_of` reads."""
    parser.add_argument('--robot', required=True, help='URDF path, quadruped or humanoid')
    parser.add_argument('--feet', required=True, help='frame,frame,...; see sim.feet.parse_feet')
    parser.add_argument('--armature', type=float, default=ARMATURE, help='of joints [kg m^2]')
    parser.add_argument('--friction', type=float, default=0.8, help='of the floor')


def overlay(armature: float) -> str:
    """Return the overlay file, YAML that is JSON, that gives every joint a rotor."""
    return json.dumps({'joints': {'*': {'rotor_inertia': armature, 'gear_ratio': 1.0}}})


def simulator_of(options: argparse.Namespace) -> tuple[Simulator, str]:
    """Return a simulated robot and the text of its URDF.

    Raises
    ------
    GeolinError
        If robot or feet cannot be used.
    OSError
        If the file cannot be read.
    """
    path: Path = locate(options.robot)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)  # the nodes say the same
        model = TreeModel.from_urdf(path, overlay=json.loads(overlay(options.armature)))
    floor = Floor(options.friction)
    return Simulator(path, model, parse_feet(options.feet), floor), path.read_text()
