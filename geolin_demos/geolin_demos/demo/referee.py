# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A, B and accelerations by code that shares nothing with the kernels."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from geolin_ros.errors import ModelError, ModelWarning
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.stream.outputs.reading import ReceivedLinearization
from geolin_ros.typing import Array
from geolin_ros.verification.accelerations import PrescribedAccelerations
from geolin_ros.verification.bodies import Bodies
from geolin_ros.verification.directional import Directional, Form

Linearize = Callable[[State, Array], tuple[Array, Array, Array]]
"""A (2 m, 2 m), B (2 m, n) and nu_dot (m,) about a state and efforts (n,)."""


@dataclass(frozen=True)
class Referee:
    """A linearization of a model, and what it is called."""

    name: str
    model: TreeModel
    linearize: Linearize


def make_referee(description: str | Path, received: ReceivedLinearization) -> Referee:
    """Return who judges the linearizations of a URDF text, or an MJCF file.

    Of a text Pinocchio, where that is installed and reads the robot as we do, else derivatives of
    Newton and Euler's equations by complex steps. Raises `ModelError` if they are of another
    robot, or the description cannot be used.
    """
    read = TreeModel.from_mjcf if isinstance(description, Path) else TreeModel.from_urdf
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)  # the node says the same
        model = read(
            description,
            base='floating' if len(received.nu_dot) > len(received.tau) else 'fixed',
            gravity=received.gravity.tolist(),
        )
    if model.joint_names != received.joint_names:
        raise ModelError(
            f'linearizations are of joints {list(received.joint_names)}, expected those of robot '
            f'{model.name!r}, {list(model.joint_names)}; another robot publishes on this '
            'ROS_DOMAIN_ID, choose one of your own'
        )
    theirs = None if isinstance(description, Path) else pinocchio(description, model)
    return theirs or Referee('Newton and Euler by complex steps', model, complex_steps(model))


def complex_steps(model: TreeModel) -> Linearize:
    """Return the linearization of `geolin_ros.verification`, along unit vectors."""
    acting, m = PrescribedAccelerations(Bodies(model), ()), model.m
    directions = np.eye(2 * m + len(model.actuated))

    def linearize(state: State, tau: Array) -> tuple[Array, Array, Array]:
        products = Directional(Form(), acting, state, tau)
        A_B = products(directions[: 2 * m], directions[2 * m :])
        return A_B[:, : 2 * m], A_B[:, 2 * m :], products.f[m:]

    return linearize


def pinocchio(text: str, model: TreeModel) -> Referee | None:
    """Return Pinocchio's derivatives of its articulated-body algorithm, in our order.

    Its free flyer has pose, displacement and body twist as ours. A continuous joint is stored as
    (cos, sin), and damping does not enter its dynamics: it is added here, as an effort. None if it
    is not installed, refuses the text, or has other joints.
    """
    m, k = model.m, model.m - model.n
    try:
        import pinocchio as pin

        theirs = pin.buildModelFromXML(text, *([pin.JointModelFreeFlyer()] if k else []))
    except (ImportError, ValueError):  # it is stricter about some files
        return None
    if sorted(theirs.names[1 + bool(k) :]) != sorted(model.joint_names) or theirs.nv != m:
        return None
    theirs.gravity.linear = np.array(model.gravity)
    data = theirs.createData()
    joints = [theirs.joints[theirs.getJointId(name)] for name in model.joint_names]
    order = np.array([*range(k), *(joint.idx_v for joint in joints)])
    damping, both = np.array(theirs.damping)[order], np.ix_(order, order)

    def linearize(state: State, tau: Array) -> tuple[Array, Array, Array]:
        q, own = pin.neutral(theirs), np.concatenate((state.v[:k], state.r))
        if k:
            q[:7] = pin.SE3ToXYZQUAT(pin.SE3(state.H[:3, :3], state.H[:3, 3]))
        for s, joint in zip(state.s, joints, strict=True):
            turning = joint.nq == 2
            q[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(s), np.sin(s)) if turning else s
        nu, effort = np.empty(m), np.empty(m)
        nu[order], effort[order] = own, np.append(np.zeros(k), tau) - damping * own
        by_q, by_nu, M_inverse = pin.computeABADerivatives(theirs, data, q, nu, effort)
        M_inverse = (np.triu(M_inverse) + np.triu(M_inverse, 1).T)[both]
        A, B = np.zeros((2 * m, 2 * m)), np.zeros((2 * m, model.n))
        A[:m, m:] = np.eye(m)
        if k:
            A[:6, :6] = -se3.cross(state.v)
        A[m:, :m], A[m:, m:] = by_q[both], by_nu[both] - M_inverse * damping
        B[m:] = M_inverse[:, k:]
        return A, B, np.array(data.ddq)[order]

    return Referee(f'Pinocchio {pin.__version__}', model, linearize)
