# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin gain-bank``: gains of a standing robot beforehand, over heights, in a file."""

import argparse
from pathlib import Path

from geolin_control.cli._stance import add_contacts_argument, add_positions_argument, read_supports
from geolin_control.gain_bank import TOLERANCE, build, squat
from geolin_control.gain_file import save_bank
from geolin_control.gain_header import save_header
from geolin_ros.cli._robots import add_robot_arguments, read_model
from geolin_ros.control.lqr import PERIOD, Tuning
from geolin_ros.control.posture import standing_posture
from geolin_ros.errors import counted
from geolin_ros.robots import locate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_robot_arguments(parser)
    parser.add_argument(
        'file',
        type=Path,
        metavar='FILE',
        help='file to write: .yaml or .npz for nodes, .h for a C header',
    )
    add_contacts_argument(
        parser, 'repeat it for each set of contacts', action='append', required=True
    )
    parser.add_argument(
        '--heights',
        nargs=2,
        type=float,
        metavar=('TOP', 'BOTTOM'),
        help='heights of the base above the feet [m] (default: one, knees slightly bent)',
    )
    add_positions_argument(
        parser, '--posture', 'desired joint positions [rad or m] (default: zero)'
    )
    parser.add_argument(
        '--tolerance',
        type=float,
        default=TOLERANCE,
        help='largest relative error of an interpolated gain (default: %(default)s)',
    )
    parser.add_argument(
        '--period',
        type=float,
        default=PERIOD,
        help='sample time: inputs are constant over it [s] (default: %(default)s)',
    )
    parser.add_argument(
        '--delay', type=int, default=0, help='periods from measurement to effort (default: 0)'
    )


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
    save = save_header if options.file.suffix == '.h' else save_bank
    save(bank, model, options.file)
    for frames, route in bank.routes.items():
        error = max(route.errors, default=0.0)
        knots, pole = counted(len(route.knots), 'posture'), max(k.margin for k in route.knots)
        print(
            f'{"+".join(sorted(frames))}: {knots}, gains between them within '
            f'{100.0 * error:.2g} %, largest pole {pole:.4f}'
        )
    print(f'{options.file}: {options.file.stat().st_size / 1024:.0f} KiB, model {model.hash}')
    return 0
