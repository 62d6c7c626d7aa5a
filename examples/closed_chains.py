#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Closed chains as trees with a cut joint: planar five-bar, spatial four- and five-bar [Kim 2012].

Prints, at an assembled state in motion, what each set of actuated joints makes of the same
acceleration: least constraint forces, least torques, or too few of them.
"""

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geolin_ros import Kinematics, State, TreeModel, constraints_of
from geolin_ros.dynamics import constraints
from geolin_ros.dynamics.constraints import Constraints
from geolin_ros.errors import UnsolvableError
from geolin_ros.linearization.contacts import Loop
from geolin_ros.spatial import se3

Array = NDArray[np.float64]

Y, Z = '0 1 0', '0 0 1'


class Bar(NamedTuple):
    """A link and the joint that moves it: its end is the frame ``<name>_end``."""

    name: str
    parent: str
    xyz: str
    axis: str
    end: tuple[float, float, float]


class Mechanism(NamedTuple):
    """Bars from a ground and what closes them: the ends coincide, as points or as frames."""

    bars: tuple[Bar, ...]
    ends: tuple[str, str]
    kind: Literal['point', 'surface']
    guess: tuple[float, ...]


# Cut in the middle of the bar that j3 and j4 share: 6 rows, 3 of them within the plane.
PLANAR_FIVE_BAR = Mechanism(
    bars=(
        Bar('left', 'ground', '0 0 0', Y, (0.0, 0.0, 0.3)),
        Bar('left_upper', 'left', '0 0 0.3', Y, (0.25, 0.0, 0.3)),
        Bar('top', 'left_upper', '0.25 0 0.3', Y, (0.1, 0.0, 0.0)),
        Bar('right', 'ground', '0.6 0 0', Y, (0.0, 0.0, 0.35)),
        Bar('right_upper', 'right', '0 0 0.35', Y, (-0.15, 0.0, 0.2)),
    ),
    ends=('top_end', 'right_upper_end'),
    kind='surface',
    guess=(0.2, 0.1, -0.2, -0.3, 0.2),
)
# Crank, coupler on a universal joint, ball joint (cut: 3 rows), rocker about a skew axis.
SPATIAL_FOUR_BAR = Mechanism(
    bars=(
        Bar('crank', 'ground', '0 0 0', Z, (0.2, 0.0, 0.0)),
        Bar('cross', 'crank', '0.2 0 0', Z, (0.0, 0.0, 0.0)),
        Bar('coupler', 'cross', '0 0 0', Y, (0.7, 0.1, 0.0)),
        Bar('rocker', 'ground', '0.7 0.2 -0.1', '0.9 0.2 0.1', (0.0, 0.3, 0.3)),
    ),
    ends=('coupler_end', 'rocker_end'),
    kind='point',
    guess=(0.4, 0.2, -0.3, 0.1),
)
# The same with the rocker on a slewing base.
SPATIAL_FIVE_BAR = Mechanism(
    bars=(
        *SPATIAL_FOUR_BAR.bars[:3],
        Bar('slew', 'ground', '0.7 0.2 -0.1', Z, (0.0, 0.0, 0.1)),
        Bar('rocker', 'slew', '0 0 0.05', '0.9 0.2 0.1', (0.0, 0.3, 0.3)),
    ),
    ends=('coupler_end', 'rocker_end'),
    kind='point',
    guess=(0.4, 0.2, -0.3, 0.2, 0.1),
)
MECHANISMS = {
    'planar five-bar': PLANAR_FIVE_BAR,
    'spatial four-bar': SPATIAL_FOUR_BAR,
    'spatial five-bar': SPATIAL_FIVE_BAR,
}


def urdf(mechanism: Mechanism) -> str:
    """Return the open tree: every bar a rod of 1 kg a metre and a ball at its joint."""
    parts = ['<robot name="closed_chain"><link name="ground"/>']
    for bar in mechanism.bars:
        end = ' '.join(map(str, bar.end))
        middle = ' '.join(str(0.5 * e) for e in bar.end)
        length = float(np.linalg.norm(bar.end))
        mass, turning = 0.1 + length, 1e-3 + length**3 / 12.0
        parts.append(
            f'<link name="{bar.name}"><inertial><origin xyz="{middle}"/><mass value="{mass}"/>'
            f'<inertia ixx="{turning}" iyy="{turning}" izz="{1.2 * turning}" ixy="0" ixz="0" '
            f'iyz="0"/></inertial></link><link name="{bar.name}_end"/>'
            f'<joint name="j_{bar.name}" type="continuous"><parent link="{bar.parent}"/>'
            f'<child link="{bar.name}"/><origin xyz="{bar.xyz}"/><axis xyz="{bar.axis}"/></joint>'
            f'<joint name="{bar.name}_tip" type="fixed"><parent link="{bar.name}"/>'
            f'<child link="{bar.name}_end"/><origin xyz="{end}"/></joint>'
        )
    return ''.join([*parts, '</robot>'])


def read(mechanism: Mechanism) -> TreeModel:
    """Return the open tree on a fixed ground."""
    return TreeModel.from_urdf(urdf(mechanism), base='fixed')


def loop(mechanism: Mechanism) -> Loop:
    """Return what closes a mechanism."""
    return Loop(*mechanism.ends, kind=mechanism.kind)


def closure(model: TreeModel, mechanism: Mechanism, state: State) -> Constraints:
    """Return the rows of the loop, in axes of its first end."""
    return constraints_of(model, state, [loop(mechanism)])


def gap(model: TreeModel, mechanism: Mechanism, state: State) -> Array:
    """Return how far the ends are apart, in axes of the first: of the rows of `closure`."""
    at, (a, b) = Kinematics(model, state), mechanism.ends
    A, B = at.pose(a), at.pose(b)
    if mechanism.kind == 'point':
        return A[:3, :3].T @ (A[:3, 3] - B[:3, 3])
    return se3.log(se3.relative(B, A))


def assemble(model: TreeModel, mechanism: Mechanism, rng: np.random.Generator) -> State:
    """Return a closed state near the guess, moving at random within the constraints."""
    state = model.neutral_state()
    state.s[:] = np.array(mechanism.guess) + 0.1 * rng.normal(size=model.n)
    for _ in range(30):
        A = closure(model, mechanism, state).A
        state.s[:] -= np.linalg.lstsq(A, gap(model, mechanism, state), rcond=1e-10)[0]
    _, sigma, Vt = np.linalg.svd(closure(model, mechanism, state).A)
    free = Vt[int(np.sum(sigma > 1e-10 * sigma[0])) :]
    state.r[:] = free.T @ rng.uniform(0.5, 1.5, len(free))
    return state


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(5)
    for name, mechanism in MECHANISMS.items():
        model = read(mechanism)
        state = assemble(model, mechanism, rng)
        rows = closure(model, mechanism, state)
        motion = constraints.forward_dynamics(model, state, rng.normal(size=model.n), rows)
        print(
            f'{name}: {model.n} joints, {len(rows.bias)} rows of rank {motion.rank}, '
            f'ends {np.abs(gap(model, mechanism, state)).max():.0e} m apart'
        )
        for count in range(1, model.n + 1):
            actuated = np.arange(model.n) < count
            line = f'  {count} actuated: '
            try:
                for least in ('constraint force', 'torque'):
                    found = constraints.inverse_dynamics(
                        model, state, motion.nu_dot, replace(rows, least=least), actuated
                    )
                    force = np.linalg.norm(found.multipliers)
                    line += f'least {least}: |lambda| {force:.3f}, '
                    line += f'|tau| {np.linalg.norm(found.tau):.3f}; '
                line += f'{found.internal} free' if found.internal else 'unique'
            except UnsolvableError:
                line += 'too few for this acceleration'
            print(line)


if __name__ == '__main__':
    main()
