# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin gait-gains``: gains of a robot that walks, along its gait, in a file for lqr_node.

A controller without a plan plays them by the time alone. A robot of the model walks on its own
plans until they repeat; each cycle gives a knot: state, efforts, feet that stand, A and B to the
next knot, and what deviations cost there.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from geolin_control.cli._stance import CONTACTS_HELP, read_supports
from geolin_control.gain_bank import GaitGains, Step, gains_along
from geolin_control.gain_file import save_bank

from geolin_ros.cli._options import add_robot_arguments, read_model
from geolin_ros.control.lqr import Gains
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.support import Support, level
from geolin_ros.errors import InfeasibleError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.robots import locate
from geolin_ros.spatial import se3
from geolin_walking.gait import Phase
from geolin_walking.reference import Command
from geolin_walking.walker import Plan, walker_for

LONGEST = 20.0
"""Within which the plans have to repeat [s]."""
SAME = 0.01
"""Largest difference of joints and velocities that repeat [rad, m, and per s]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_robot_arguments(parser)
    add = parser.add_argument
    add('file', type=Path, metavar='FILE', help='file to write: .npz or .yaml')
    about = f'feet, four points that trot or two soles that step; {CONTACTS_HELP}'
    add('--contacts', nargs='+', required=True, metavar='FRAME', help=about)
    about = 'to walk at, in the heading [m/s, m/s, rad/s] (default: 0.3 0 0)'
    form = ('VX', 'VY', 'YAW_RATE')
    add('--velocity', nargs=3, type=float, default=(0.3, 0.0, 0.0), metavar=form, help=about)


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


def gait_gains(
    model: TreeModel, supports: Sequence[Support], command: Command, posture: State | None = None
) -> GaitGains:
    """Return the gains of walking as commanded, from a posture on, by default `standing_posture`.

    Raises `ConfigurationError` if there is no gait for such feet: four points, or two soles;
    `InfeasibleError` if the robot of the model falls, or stands still, or its plans do not repeat;
    `NotStabilizableError` if no gains hold it.
    """
    posture = standing_posture(model, supports) if posture is None else posture
    plans, steps, first = _walked(model, supports, command, posture)
    K, left = gains_along(steps, first)
    margin = left ** (1.0 / (len(plans) - first))
    feet = {support.frame: support for support in supports}
    knots = list[Gains]()
    for plan, gain in zip(plans, K, strict=True):
        complement = plan.complement.copy()
        complement[:, : model.m] = 0.0
        knots.append(
            Gains(
                posture.over(plan.states[0]),
                plan.efforts[0][model.actuated],
                gain,
                complement,
                K_past=np.zeros((len(gain), 0)),
                supports=tuple(feet[frame] for frame in plan.in_force[0]),
                dt=float(plan.times[1] - plan.times[0]),
                closed_loop=margin,
                solution=None,
            )
        )
    ends = plans[first].states[0], plans[-1].states[1]
    begin, end = (level(posture.over(row).H) for row in ends)
    displacement = end @ se3.inverse(begin)
    displacement[2, 3] = 0.0
    return GaitGains(model.hash, tuple(knots), first, displacement)


def _walked(
    model: TreeModel, supports: Sequence[Support], command: Command, posture: State
) -> tuple[list[Plan], list[Step], int]:
    """Return plans and steps from standing on, and from which of them on they repeat."""
    walker = walker_for(model, supports, posture)
    walker.planner.below = 0.0  # the model has no ground that ends a swing
    gait, problem = walker.planner.gait, walker.problem
    period = gait.half * len(gait.groups)
    state, touching = posture, [True] * len(supports)
    plans, steps = list[Plan](), list[Step]()
    for k in range(round(LONGEST / gait.dt)):
        plan = walker.plan(k * gait.dt, state, touching, command)
        if plan.phase is not Phase.WALK:
            what = 'falls' if plan.phase is Phase.DAMPING else 'stands still'
            raise InfeasibleError(
                f'robot {model.name!r} {what} at {k * gait.dt:.2f} s when it is to walk at '
                f'{tuple(command)} [m/s, m/s, rad/s], expected a velocity of at least 0.02 that '
                'it can walk at'
            )
        if k > 2 * period:
            change = plan.states[0, 16:] - plans[-period].states[0, 16:]
            if np.abs(change).max() < SAME:
                return plans, steps, k - period
        arrays = (problem.A, problem.B, problem.Q, problem.R, problem.S)
        plans.append(plan)
        steps.append(Step(*(array[0].copy() for array in arrays)))
        state = posture.over(plan.states[1])
        touching = [support.frame in plan.in_force[1] for support in supports]
    raise InfeasibleError(
        f'plans of robot {model.name!r} do not repeat within {LONGEST:g} s, expected the same '
        f'every {period * gait.dt:g} s within {SAME:g}; walk slower'
    )
