# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin analyze-modes``: what joint efforts can do with a robot that stands, or flies."""

import argparse
from pathlib import Path

from geolin_control.cli._stance import add_contacts_argument, add_positions_argument, read_supports

from geolin_ros.cli._options import add_robot_arguments, read_model, show
from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.posture import standing_posture, state_with
from geolin_ros.control.stabilizability import analyze_modes
from geolin_ros.robots import locate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add, about = parser.add_argument, 'desired joint positions [rad or m]; in flight exactly these'
    add_robot_arguments(parser)
    add_contacts_argument(parser, 'without it the robot is in flight', default=[])
    add_positions_argument(parser, '--posture', f'{about} (default: zero)')
    height = 'height of the base above the feet [m] (default: knees slightly bent)'
    add('--height', type=float, help=height)
    horizon = 'in flight: time for which controllability under gravity is computed'
    add('--horizon', type=float, metavar='SECONDS', help=horizon)
    add('--json', action='store_true', help='print the report as JSON')
    add('--picture', type=Path, metavar='FILE', help='draw the poles')


def run(options: argparse.Namespace) -> int:
    """Print the report; return 1 for a robot on contacts that no feedback can keep there."""
    urdf = locate(options.urdf)
    model = read_model(urdf, options)
    supports = read_supports(urdf, model, options.contacts)
    joints = dict(options.posture)
    if supports:
        state = standing_posture(model, supports, joints=joints, height=options.height)
        point = equilibrium(model, state, supports)
        report = analyze_modes(model, state, supports, tau=point.tau)
        text, balance = f'{point.text()}\n{report.text()}', point.as_dict()
    else:
        report = analyze_modes(model, state_with(model, joints), horizon=options.horizon)
        text, balance = report.text(), None
    show(options, {'equilibrium': balance, 'modes': report.as_dict()}, text)
    if options.picture:
        from geolin_tools.modes import save_picture

        save_picture(report, options.picture)
    return int(bool(supports) and not report.stabilizable)
