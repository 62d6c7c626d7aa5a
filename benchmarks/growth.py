# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How A and B grow with the number of joints: chains, and bases with legs of three joints.

Exponents of time over joints, ours and Pinocchio's: fitted to all sizes, and the largest between
neighbouring ones. A has 4 n^2 entries: no exponent below 2 lasts, and none above 2 is needed. An
exponent far above that between neighbours is a cliff.
"""

import argparse
import sys
from functools import partial

import numpy as np
import pinocchio as pin

from benchmarks.report import Figure, Row, compare, line
from benchmarks.single_state import PEER
from geolin_ros import Description, Joint, Linearizer, Link, TreeModel

SHAPES = 'chain', 'legs'
SIZES = (5, 10, 20, 35, 50, 75, 100, 150, 200)
LEG = 3
FITTED, CLIFF = 2.0, 3.0  # largest exponents: fitted, between neighbours


def parents_of(shape: str, joints: int) -> list[int]:
    """Return the parent of each of the bodies 1 .. joints."""
    if shape == 'chain':
        return list(range(joints))
    return [0 if i % LEG == 0 else i for i in range(joints)]


def robots(shape: str, joints: int) -> tuple[TreeModel, pin.Model]:
    """Return the same robot for both, revolute joints about drawn axes."""
    rng = np.random.default_rng(joints)
    links = [Link.from_mass('l0', 5.0, np.zeros(3), 0.1 * np.eye(3))]
    hinges = []
    theirs = pin.Model()
    moving = [theirs.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), 'root')]
    theirs.appendBodyToJoint(
        moving[0], pin.Inertia(5.0, np.zeros(3), 0.1 * np.eye(3)), pin.SE3.Identity()
    )
    for i, parent in enumerate(parents_of(shape, joints), start=1):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        step = np.eye(4)
        step[:3, 3] = rng.uniform(-0.2, 0.2, 3)
        com, inertia = rng.uniform(-0.05, 0.05, 3), 0.01 * np.eye(3)
        links.append(Link.from_mass(f'l{i}', 1.0, com, inertia))
        hinges.append(Joint(f'j{i}', 'revolute', f'l{parent}', f'l{i}', placement=step, axis=axis))
        joint = pin.JointModelRevoluteUnaligned(axis)
        moving.append(theirs.addJoint(moving[parent], joint, pin.SE3(step), f'j{i}'))
        theirs.appendBodyToJoint(moving[i], pin.Inertia(1.0, com, inertia), pin.SE3.Identity())
    description = Description(shape, tuple(links), tuple(hinges))
    return TreeModel.from_description(description), theirs


def compared(shape: str, joints: int, rounds: int) -> Row:
    """Time both, after comparing the accelerations."""
    model, theirs = robots(shape, joints)
    rng = np.random.default_rng(1)
    state = model.random_state(rng)
    state.H[:] = np.eye(4)
    tau = rng.normal(size=joints)
    data = theirs.createData()
    q = np.concatenate((pin.neutral(theirs)[:7], state.s))
    v, effort = np.concatenate((state.v, state.r)), np.concatenate((np.zeros(6), tau))
    linearizer = Linearizer(model)
    ours, peer = (
        partial(linearizer, state, tau),
        partial(pin.computeABADerivatives, theirs, data, q, v, effort),
    )
    peer()
    nu_dot = linearizer(state, tau).nu_dot
    assert np.abs(nu_dot - data.ddq).max() < 1e-6 * np.abs(nu_dot).max(), 'the robots are the same'
    # Many calls a block: at 200 joints the peer leaves nothing of ours in the caches.
    return compare(shape, f'{joints} joints', ours, PEER, peer, rounds, block_seconds=4e-3)


def measure(rounds: int) -> list[Row]:
    """Compare every size."""
    return [compared(shape, joints, rounds) for shape in SHAPES for joints in SIZES]


def exponents(rows: list[Row]) -> list[Figure]:
    """Return the exponents of each shape, fitted and the largest between neighbours."""
    figures = []
    for shape in SHAPES:
        own = [row for row in rows if row.what == shape]
        times = np.log([(row.ours_us, row.peer_us) for row in own])
        joints = np.log(SIZES)
        steps = np.diff(times, axis=0) / np.diff(joints)[:, None]
        case = f'{shape} of {SIZES[0]} to {SIZES[-1]} joints'
        for what, (ours, theirs), limit in (
            ('exponent of A and B over joints', np.polyfit(joints, times, 1)[0], FITTED),
            ('largest exponent between sizes', steps.max(axis=0), CLIFF),
        ):
            figures.append(Figure(what, case, float(ours), '', limit, False, PEER, float(theirs)))
            print(line(figures[-1]), flush=True)
    return figures


def main() -> int:
    """Measure and print; return 1 at a cliff."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--rounds', type=int, default=40, help='blocks in turns')
    figures = exponents(measure(parser.parse_args().rounds))
    return int(not all(figure.passes for figure in figures))


if __name__ == '__main__':
    sys.exit(main())
