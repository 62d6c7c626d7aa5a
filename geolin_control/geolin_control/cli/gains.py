# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin gains``: a gain bank for what a robot stood on, and how, in a bag."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from geolin_control.gain_bank import build
from geolin_control.gain_file import save_bank
from geolin_ros.cli._options import (
    Progress,
    add_bag_arguments,
    add_output_arguments,
    open_bags,
    show,
)
from geolin_ros.control.equilibrium import Equilibrium, equilibrium
from geolin_ros.control.support import Support, support_texts
from geolin_ros.description import Loop
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, InfeasibleError, RecordingError, counted
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel

if TYPE_CHECKING:
    from geolin_ros.offline.source import Source

RATE = 50.0
"""Samples are looked at this often [Hz]."""
STILL, LEVEL = 0.1, 0.03
"""A foot that stands is slower [m/s], and not higher than the lowest one by more [m]."""
SHARE = 0.05
"""Sets of contacts that the robot had for less of the time are passed over."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add_bag_arguments(parser)
    output = 'gain file of lqr_node, .yaml or .npz (default: %(default)s)'
    add('-o', '--output', type=Path, default=Path('gains.yaml'), help=output)
    feet = (
        'feet: frame, frame:RADIUS, or frame:LENGTHxWIDTH for a sole; they stand where they are '
        'still and low, unless parameters name contacts'
    )
    add('--feet', default='', metavar='FRAME,...', help=feet)
    add('--postures', type=int, default=3, metavar='N', help='postures for each contact set (3)')
    error = 'largest relative error of an interpolated gain (0.05)'
    add('--tolerance', type=float, default=0.05, help=error)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Design the gains and write them; 1 if no visited posture has an equilibrium."""
    if options.postures < 1:
        raise ConfigurationError(f'--postures is {options.postures}, expected 1 or more')
    feet = [Support.parse(text) for text in support_texts(options.feet)]
    with open_bags(options) as source:
        model = source.model
        visits = _visited(source, feet, Progress(options))
    total = sum(map(len, visits.values()))
    routes, report = [], []
    for supports, states in sorted(visits.items(), key=lambda visit: -len(visit[1])):
        frames, share = [support.frame for support in supports], len(states) / total
        if not supports or share < SHARE:
            continue
        points, refused = _equilibria(model, supports, states, options.postures)
        routes += [points] if points else []
        report.append(
            {'contacts': frames, 'share': share, 'postures': len(points), 'refused': refused}
        )
        if not options.json:
            about = f'{counted(len(points), "posture")} in equilibrium, {len(refused)} not'
            print(f'{"+".join(frames)}: {share:.0%} of the time, {about}')
            for sentence in refused:
                print(f'! {sentence}', file=sys.stderr)
    if not report:
        raise RecordingError(
            f'robot {model.name!r} stands on nothing in {source.recording.name}, expected active '
            'contacts, or feet that are still and low; name others, or see geolin inspect'
        )
    if routes:
        save_bank(build(model, routes, tolerance=options.tolerance), model, options.output)
    output = str(options.output) if routes else None
    show(options, {'output': output, 'contact_sets': report}, f'gains: {output or "none"}')
    return int(not routes)


def _visited(
    source: 'Source', feet: Sequence[Support], watch: Progress
) -> dict[tuple[Support, ...], list[State]]:
    """Return the postures on each set of contacts.

    These are the active ones of those that parameters name, points unless a foot of the same
    frame says more, or else the feet that are still and about as low as the lowest one.
    """
    from geolin_ros.offline.points import chooser, point_stream, recorded_points

    source.require_inputs()
    model, shapes = source.model, {foot.frame: foot for foot in feet}
    are_given = source.settings.contacts.are_expected
    if not (are_given or feet):
        raise ConfigurationError(
            f'nothing says what robot {model.name!r} may stand on: add --feet FRAME,..., the '
            'candidates are in geolin info, or -p contact_source:=topic'
        )
    is_chosen, states = chooser(rate=RATE), dict[tuple[Support, ...], list[State]]()
    for point in recorded_points(point_stream(source, lambda drop: None), source, watch):
        if is_chosen(point.stamp):
            if are_given:
                standing = _given(model, point.contacts, shapes)
            else:
                standing = _still(model, point.state, feet)
            states.setdefault(standing, []).append(point.state)
    return states


def _given(
    model: TreeModel, contacts: Sequence[Closure], shapes: dict[str, Support]
) -> tuple[Support, ...]:
    """Return the supports that active contacts are, by name; known shapes are kept."""
    own = {loop.name for loop in model.loops}
    active = {one.name: one for one in contacts if one.active and one.name not in own}
    for name, contact in active.items():
        if name in shapes:
            continue
        if isinstance(contact, Loop) or contact.kind == 'surface':
            raise ConfigurationError(
                f'contact {name!r} is a {type(contact).__name__.lower()} of kind {contact.kind}, '
                f'expected points, or the size of a sole from --feet {name}:LENGTHxWIDTH'
            )
        placement = np.eye(4) if contact.placement is None else contact.placement
        shapes[name] = Support(contact.frame, placement=placement)
    return tuple(shapes[name] for name in sorted(active))


def _still(model: TreeModel, state: State, feet: Sequence[Support]) -> tuple[Support, ...]:
    """Return the feet that are still and low."""
    at = Kinematics(model, state)
    moving = [at.frame(foot.at(model)) for foot in feet]
    lowest = min((float(foot.H[2, 3]) for foot in moving), default=0.0)
    return tuple(
        foot
        for foot, own in zip(feet, moving, strict=True)
        if own.H[2, 3] - lowest <= LEVEL and np.linalg.norm(own.v[:3]) < STILL
    )


def _equilibria(
    model: TreeModel, supports: Sequence[Support], states: Sequence[State], count: int
) -> tuple[list[Equilibrium], list[str]]:
    """Return equilibria at some of the postures, by height of the base, and those without one."""
    frames, heights = [model.frame(support.frame) for support in supports], []
    for state in states:
        at = Kinematics(model, state)
        heights.append(state.H[2, 3] - np.mean([at.pose(frame)[2, 3] for frame in frames]))
    order = np.argsort(heights)
    chosen = np.unique(np.linspace(0, len(order) - 1, min(count, len(order))).round().astype(int))
    points, refused = [], []
    for k in order[chosen]:
        try:
            points.append(equilibrium(model, states[k], supports))
        except InfeasibleError as error:
            refused.append(f'{heights[k]:.3f} m above the feet: {error}')
    return points, refused
