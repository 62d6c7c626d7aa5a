# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin gait-gains``: gains of a robot that walks, along its gait, in a file for lqr_node."""

import argparse
from pathlib import Path

from geolin_control.cli._stance import CONTACTS_HELP, read_supports
from geolin_control.gain_file import save_bank

from geolin_ros.cli._options import add_robot_arguments, read_model
from geolin_ros.robots import locate
from geolin_walking.gait_gains import gait_gains
from geolin_walking.reference import Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_robot_arguments(parser)
    parser.add_argument('file', type=Path, metavar='FILE', help='file to write: .npz or .yaml')
    parser.add_argument(
        '--contacts',
        nargs='+',
        required=True,
        metavar='FRAME',
        help=f'feet, four points that trot or two soles that step; {CONTACTS_HELP}',
    )
    parser.add_argument(
        '--velocity',
        nargs=3,
        type=float,
        default=(0.3, 0.0, 0.0),
        metavar=('VX', 'VY', 'YAW_RATE'),
        help='to walk at, in the heading [m/s, m/s, rad/s] (default: 0.3 0 0)',
    )


def run(options: argparse.Namespace) -> int:
    """Let the model walk until its plans repeat, save the gains, and print what they are."""
    urdf = locate(options.urdf)
    model = read_model(urdf, options)
    supports = read_supports(urdf, model, options.contacts)
    gait = gait_gains(model, supports, Command(*options.velocity))
    save_bank(gait, model, options.file)
    period = len(gait.knots) - gait.first
    begins, way = gait.first * gait.knots[0].dt, gait.displacement[:2, 3]
    left = gait.knots[0].margin ** period
    print(
        f'after {begins:.2f} s a gait of {gait.period:.2f} s, each {way[0]:.3f} m ahead and '
        f'{way[1]:.3f} m to the left; of a deviation at most {left:.2f} is left a period later'
    )
    print(f'{options.file}: {options.file.stat().st_size / 1024:.0f} KiB, model {model.hash}')
    return 0
