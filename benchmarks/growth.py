# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How A and B grow with the number of joints: chains, and bases with legs of three joints.

Between neighbouring sizes the exponent of time over joints, ours and Pinocchio's. A has 4 n^2
entries: no exponent below 2 lasts. A cliff would be an exponent far above its neighbours.
"""

from functools import partial

import numpy as np
import pinocchio as pin

from benchmarks.measure import interleaved_medians
from benchmarks.report import Row
from benchmarks.single_state import PEER
from geolin_ros import Description, Joint, Linearizer, Link, TreeModel

SIZES = (5, 10, 20, 35, 50, 75, 100, 150, 200)
LEG = 3
CLIFF = 3.0  # exponent


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


def times(shape: str, joints: int) -> tuple[float, float]:
    """Return seconds of ours and of Pinocchio, after comparing the accelerations."""
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
    # The fastest block: long calls would else measure what else runs on the machine. Of many
    # calls: at 200 joints the peer leaves nothing of ours in the caches.
    found = interleaved_medians({'ours': ours, 'peer': peer}, 40, 4e-3, min)
    return found['ours'], found['peer']


def measure() -> list[Row]:
    """Print time, ratio and exponents."""
    rows: list[Row] = []
    for shape in ('chain', 'legs'):
        print(f'{shape:6} joints   ours us  exponent      pin us  exponent   ratio')
        last: tuple[int, float, float] | None = None
        for joints in SIZES:
            ours, peer = times(shape, joints)
            exponents = [float('nan')] * 2
            if last is not None:
                step = np.log(joints / last[0])
                exponents = [
                    float(np.log(ours / last[1]) / step),
                    float(np.log(peer / last[2]) / step),
                ]
            cliff = '  CLIFF' if exponents[0] > CLIFF else ''
            print(
                f'{"":6} {joints:6} {1e6 * ours:9.1f} {exponents[0]:9.2f} {1e6 * peer:11.1f} '
                f'{exponents[1]:9.2f} {ours / peer:7.3f}{cliff}',
                flush=True,
            )
            last = joints, ours, peer
            case = f'{shape} of {joints} joints'
            rows.append(
                Row(
                    f'A and B, {shape} of {SIZES[0]} to {SIZES[-1]} joints',
                    case,
                    1e6 * ours,
                    PEER,
                    1e6 * peer,
                )
            )
    return rows


if __name__ == '__main__':
    measure()
