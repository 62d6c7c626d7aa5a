# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin gain-bank``: gains of a standing robot beforehand, over heights, in a file."""

import argparse
from pathlib import Path

from geolin_control.cli._stance import add_contacts_argument, add_positions_argument, read_supports
from geolin_control.gain_bank import TOLERANCE, build, squat
from geolin_control.gain_file import save_bank
from geolin_ros.cli._options import add_robot_arguments, read_model
from geolin_ros.control.lqr import PERIOD, Tuning
from geolin_ros.control.posture import standing_posture
from geolin_ros.errors import counted
from geolin_ros.robots import locate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add_robot_arguments(parser)
    what = 'file to write: .yaml or .npz for nodes, .h for a C header'
    add('file', type=Path, metavar='FILE', help=what)
    about = 'repeat it for each set of contacts'
    add_contacts_argument(parser, about, action='append', required=True)
    heights = 'heights of the base above the feet [m] (default: one, knees slightly bent)'
    add('--heights', nargs=2, type=float, metavar=('TOP', 'BOTTOM'), help=heights)
    joints = 'desired joint positions [rad or m] (default: zero)'
    add_positions_argument(parser, '--posture', joints)
    error = 'largest relative error of an interpolated gain (default: %(default)s)'
    add('--tolerance', type=float, default=TOLERANCE, help=error)
    period = 'sample time: inputs are constant over it [s] (default: %(default)s)'
    add('--period', type=float, default=PERIOD, help=period)
    delay = 'periods from measurement to effort (default: 0)'
    add('--delay', type=int, default=0, help=delay)


def run(options: argparse.Namespace) -> int:
    """Design the gains, save them, and print a line a set of contacts."""
    urdf = locate(options.urdf)
    model = read_model(urdf, options)
    routes = []
    for texts in options.contacts:
        supports = read_supports(urdf, model, texts)
        top = None if options.heights is None else options.heights[0]
        state = standing_posture(model, supports, joints=dict(options.posture), height=top)
        heights = options.heights or [float(state.H[2, 3])]
        routes.append(squat(model, supports, heights, state))
    tuning = Tuning(dt=options.period, delay=options.delay)
    bank = build(model, routes, tuning, tolerance=options.tolerance)
    save_bank(bank, model, options.file)
    for frames, route in bank.routes.items():
        error = max(route.errors, default=0.0)
        knots, pole = counted(len(route.knots), 'posture'), max(k.margin for k in route.knots)
        print(
            f'{"+".join(sorted(frames))}: {knots}, gains between them within '
            f'{100.0 * error:.2g} %, largest pole {pole:.4f}'
        )
    print(f'{options.file}: {options.file.stat().st_size / 1024:.0f} KiB, model {model.hash}')
    return 0
