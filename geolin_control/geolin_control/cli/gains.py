# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin gains``: a gain bank for what a robot stood on, and how, in a bag."""

import argparse
import sys
from pathlib import Path

from geolin_ros.cli._options import (
    Progress,
    add_bag_arguments,
    add_output_arguments,
    open_bags,
    print_json,
)
from geolin_ros.errors import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add_bag_arguments(parser)
    output = 'gain file of lqr_node, .yaml or .npz (default: %(default)s)'
    add('-o', '--output', type=Path, default=Path('gains.yaml'), help=output)
    feet = (
        'feet: frame, frame:RADIUS, or frame:LENGTHxWIDTH for a sole (default: from the '
        'parameter contacts, the topic contact_states, or force topics that are named like links)'
    )
    add('--feet', default='', metavar='FRAME,...', help=feet)
    add('--postures', type=int, default=3, metavar='N', help='postures for each contact set (3)')
    error = 'largest relative error of an interpolated gain (0.05)'
    add('--tolerance', type=float, default=0.05, help=error)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Design the gains and write them; 1 if no visited posture has an equilibrium."""
    from geolin_control.gain_bank import build
    from geolin_control.gain_file import save_bank
    from geolin_control.visited import route, visited
    from geolin_ros.control.support import Support

    feet = [Support.parse(text) for text in options.feet.split(',') if text]
    with open_bags(options) as source:
        model = source.model
        visits = visited(source, feet, Progress(options))
    routes, report = [], []
    for visit in visits:
        points, refused = route(model, visit, options.postures)
        routes += [points] if points else []
        frames = [support.frame for support in visit.supports]
        report.append(
            {'contacts': frames, 'share': visit.share, 'postures': len(points), 'refused': refused}
        )
        if not options.json:
            about = f'{counted(len(points), "posture")} in equilibrium, {len(refused)} not'
            print(f'{"+".join(frames)}: {visit.share:.0%} of the time, {about}')
            for sentence in refused:
                print(f'! {sentence}', file=sys.stderr)
    if routes:
        save_bank(build(model, routes, tolerance=options.tolerance), model, options.output)
    if options.json:
        print_json({'output': str(options.output) if routes else None, 'contact_sets': report})
    return int(not routes)
