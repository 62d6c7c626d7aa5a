# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which robot balances, on which feet, and with which rotors."""

import argparse
import json
import warnings
from typing import Any

from geolin_demos.demo.__main__ import file_parameter
from geolin_demos.sim.simulator import Simulator
from geolin_demos.sim.world import OFF, ON, Floor, parse_feet, text_of
from geolin_ros.errors import ConfigurationError, ModelWarning
from geolin_ros.model.tree import STANDARD_GRAVITY, TreeModel
from geolin_ros.robots import locate

ARMATURE = 0.01
"""Of every joint, in the simulator and in all models [kg m^2]."""
BUNDLED = ('quadruped', 'humanoid')
FEET = {
    'quadruped': 'FL_foot,FR_foot,RL_foot,RR_foot',
    'humanoid': 'left_foot,right_foot',
    'go2': 'FL_foot,FR_foot,RL_foot,RR_foot',
    'g1_29dof_rev_1_0': 'left_ankle_roll_link,right_ankle_roll_link',
}
"""Of robots that are known by name."""
STILL = 0.01
"""How little feet that stand slip: the filter then learns the bias of the gyro [m/s/sqrt(Hz)]."""
DWELL = 0.2
"""How long feet that are known by efforts have to stand, or not, before that counts [s]."""
DESIGNS = 10.0
"""How many linearizations and gains a second there are [Hz]; feedback does not wait for them."""
MODULES = {'linearizer': 'geolin_ros.ros.linearizer', 'lqr_node': 'geolin_control.lqr_node'}
"""Of the nodes of `node_parameters`."""
INFEASIBLE = 'infeasible.json'
"""What the robot cannot do and why, by name, in the folder of outcomes."""


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what tells a robot, and what `cases_of` takes."""
    add = parser.add_argument
    add('--robot', help='URDF or MJCF path, quadruped or humanoid')
    add(
        '--feet',
        help='frame,frame,...: the shape of each is its collision shapes in the URDF, or given as '
        'frame:RADIUS for a ball or frame:LENGTHxWIDTH for a sole, at the frame or @x,y,z behind '
        'either, all in m',
    )
    add('--seed', type=int, default=0, help='of the order of the pushes (%(default)s)')
    add('--pushes', type=int, default=8, help='at most, in a case (%(default)s)')
    add('--cases', nargs='+', default=(), metavar='CASE', help='names of those to run (all)')
    add('--height', type=float, help='of the base [m] (one at which it can do all cases)')
    add('--noise', type=float, default=0.0, help='of sensed velocities [m/s]')
    add('--delay', type=int, default=0, help='of the sensors, in periods')
    add('--realtime', action='store_true', help='against the clock')
    add('--friction', type=float, default=Floor.friction, help='of the floor (%(default)s)')
    add('--effort-limit', type=float, help='of each motor [N m or N] (those of the URDF)')


def overlay(effort_limit: float | None = None, armature: float = ARMATURE) -> str:
    """Return the overlay file, YAML that is JSON, of every joint's motor."""
    motor = {'rotor_inertia': armature, 'gear_ratio': 1.0}
    if effort_limit is not None:
        motor['effort_limit'] = effort_limit
    return json.dumps({'joints': {'*': motor}})


def simulator_of(
    robot: str,
    feet: str | None = None,
    effort_limit: float | None = None,
    friction: float = Floor.friction,
) -> Simulator:
    """Return a simulated robot, by path or name, on the feet that are given or known of it.

    Raises `GeolinError` if robot or feet cannot be used; `OSError` if the file cannot be read.
    """
    path = locate(robot)
    feet = feet or FEET.get(path.stem)
    if feet is None:
        raise ConfigurationError(
            f'robot {robot!r} has no feet that are known, give --feet or FEET= frame,...'
        )
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)  # the nodes say the same
        motors = json.loads(overlay(effort_limit))
        model = TreeModel.from_file(path, overlay=motors, gravity=STANDARD_GRAVITY)
    return Simulator(path, model, parse_feet(feet), Floor(friction))


def node_parameters(
    simulator: Simulator, robot: str, realtime: bool = False, effort_limit: float | None = None
) -> dict[str, Any]:
    """Return the parameters of linearizer and LQR node, by program, for one robot.

    In lock step the LQR node has to wait for a simulator that waits for it.
    """
    shared = {'overlay': overlay(effort_limit), **file_parameter(locate(robot))}
    return {
        'linearizer': shared | {'max_rate': DESIGNS, 'contact_source': 'topic'},
        'lqr_node': {
            **shared,
            'supports': [text_of(support) for support in simulator.feet.values()],
            'publish_efforts': True,
            'design_rate': DESIGNS,
            **({} if realtime else {'input_timeout': 10.0, 'gains_timeout': 10.0}),
        },
    }


def standing_parameters(simulator: Simulator, robot: str) -> dict[str, Any]:
    """Return the content of a parameter file for bringup.launch.py: `node_parameters`, and more.

    The state estimator tells by joint efforts which feet stand; the others follow it.
    """
    values = node_parameters(simulator, robot)
    load = simulator.model.total_mass * STANDARD_GRAVITY[2] / -len(simulator.feet)
    values['lqr_node']['contact_dwell'] = DWELL
    values['state_estimator'] = {
        'overlay': overlay(),
        'contact_source': 'efforts',
        'contact_on_force': ON * load,
        'contact_off_force': OFF * load,
        'deviation.slip': STILL,
    }
    return {f'/**/{name}': {'ros__parameters': entries} for name, entries in values.items()}
