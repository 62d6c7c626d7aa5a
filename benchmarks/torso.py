# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of a torso on a spherical joint with four chains of five revolute joints.

Against Pinocchio's computeABADerivatives of the same model, built joint by joint.
"""

from functools import partial

import numpy as np
import pinocchio as pin

from benchmarks.report import Row, compare
from geolin_ros import Description, Joint, Linearizer, Link, TreeModel
from geolin_ros.typing import Array

CHAINS, LENGTH = 4, 5
LIMIT = 0.5
WHAT, PEER = 'A and B, a spherical joint', 'pin.computeABADerivatives'


def robot() -> tuple[Description, list[tuple[int, Array, Array]]]:
    """Return the robot, and [body before, axis, place] of each single joint after the torso."""
    rng = np.random.default_rng(0)
    links, joints, table = [Link('stand'), _link('torso', 8.0)], [], []
    joints.append(Joint('waist', 'spherical', 'stand', 'torso'))
    for chain in range(CHAINS):
        before = 1
        for k in range(LENGTH):
            axis = rng.normal(size=3)
            axis /= np.linalg.norm(axis)
            at = rng.uniform(-0.2, 0.2, size=3)
            name, child = f'joint{chain}{k}', f'link{chain}{k}'
            links.append(_link(child, 1.0))
            origin = np.eye(4)
            origin[:3, 3] = at
            parent = links[before].name
            joints.append(Joint(name, 'revolute', parent, child, origin, axis=tuple(axis)))
            table.append((before, axis, at))
            before = len(links) - 1
    return Description('torso', tuple(links), tuple(joints)), table


def _link(name: str, mass: float) -> Link:
    return Link.from_mass(name, mass, np.array([0.05, 0.02, 0.1]), 0.02 * mass * np.eye(3))


def peer(table: list[tuple[int, Array, Array]]) -> pin.Model:
    """Return the same for Pinocchio."""
    model = pin.Model()
    com, inertia = np.array([0.05, 0.02, 0.1]), 0.02 * np.eye(3)
    before = {1: model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), 'waist')}
    model.appendBodyToJoint(before[1], pin.Inertia(8.0, com, 8.0 * inertia), pin.SE3.Identity())
    for k, (parent, axis, at) in enumerate(table):
        revolute = pin.JointModelRevoluteUnaligned(axis)
        joint = model.addJoint(before[parent], revolute, pin.SE3(np.eye(3), at), f'joint{k}')
        model.appendBodyToJoint(joint, pin.Inertia(1.0, com, inertia), pin.SE3.Identity())
        before[2 + k] = joint
    return model


def measure(rounds: int) -> list[Row]:
    """Compare about one state, A and nu_dot checked."""
    description, table = robot()
    model = TreeModel.from_description(description, base='fixed')
    theirs = peer(table)
    data, rng = theirs.createData(), np.random.default_rng(1)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    linearizer = Linearizer(model)
    q, v, efforts = _in_order_of(model, state.s, state.r, tau)
    pin.computeABADerivatives(theirs, data, q, v, efforts)
    found = linearizer(state, tau)
    order = [_first(model, name) for name in _names()]
    rates = np.concatenate([np.arange(k, k + size) for k, size in order])
    assert np.allclose(found.A[model.m :][np.ix_(rates, rates)], data.ddq_dq, rtol=1e-8)
    ours = partial(linearizer, state, tau)
    other = partial(pin.computeABADerivatives, theirs, data, q, v, efforts)
    return [compare(WHAT, f'{model.n} rates', ours, PEER, other, rounds, LIMIT)]


def _names() -> list[str]:
    return ['waist', *(f'joint{c}{k}' for c in range(CHAINS) for k in range(LENGTH))]


def _first(model: TreeModel, name: str) -> tuple[int, int]:
    """Return the first rate of a joint and their number."""
    own = [k for k, rate in enumerate(model.joint_names) if rate.split('/')[0] == name]
    return own[0], len(own)


def _in_order_of(model: TreeModel, s: Array, r: Array, tau: Array) -> tuple[Array, Array, Array]:
    """Return q, v and efforts in Pinocchio's order."""
    positions = [name.split('/')[0] for name in model.position_names]
    rates = [name.split('/')[0] for name in model.joint_names]
    q = [s[k] for name in _names() for k, own in enumerate(positions) if own == name]
    order = [k for name in _names() for k, own in enumerate(rates) if own == name]
    return np.array(q), r[order], tau[order]


if __name__ == '__main__':
    measure(200)
