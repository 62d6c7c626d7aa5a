# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compile, or load from the cache, what linearizing takes."""

from typing import get_args

import numpy as np

from geolin_ros.description import Description, Joint, Link
from geolin_ros.kernels.se3 import CHILD_TWIST, place_base, quaternion, retract
from geolin_ros.linearization.contacts import Contact
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.tree import Base, TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.spatial.se3 import exp, left_jacobian_inverse, log


def warm_up() -> None:
    """Run each kernel of a robot in the air once; they are the same for every such robot.

    Takes a few seconds on a new machine and a fraction of one afterwards, see the cache folder
    `geolin_ros.kernels._jit.CACHE_FOLDER`.
    """
    from geolin_ros.dynamics.functions import conditioning, inverse_dynamics
    from geolin_ros.dynamics.kinematics import Kinematics

    model = small_model()
    linearizer, state, tau = Linearizer(model), model.neutral_state(), np.zeros(model.n)
    linearizer(state, tau)
    linearizer.forward_dynamics(state, tau)
    inverse_dynamics(model, state, np.zeros(model.m))
    Kinematics(model, state).jacobian('link9')
    sample, H, v = np.zeros(13), np.eye(4), np.zeros(6)
    sample[6] = 1.0
    place_base(sample, CHILD_TWIST, model.frames['link0'].placement, H, v)
    retract(H, v, state.H)
    quaternion(H)
    left_jacobian_inverse(log(exp(v)))
    conditioning(model, state)  # last: kernels of it may be compiled elsewhere meanwhile


def warm_up_discretization() -> None:
    """Run what steps over a period take."""
    from geolin_ros.linearization.discretization import Method

    model = small_model()
    for method in get_args(Method):
        Linearizer(model).discretize(model.neutral_state(), np.zeros(model.n), 1e-3, method=method)


def warm_up_fixed_base() -> None:
    """Run what selects rows and columns: a fixed base, mimic joints, joints with several axes."""
    model = small_model('fixed')
    Linearizer(model)(model.neutral_state(), np.zeros(model.n))


def warm_up_contacts() -> None:
    """Run the kernels of contacts, independent and redundant, and of external wrenches as well."""
    from geolin_ros.linearization.contacts.constraints import rows_at
    from geolin_ros.linearization.reduction import admissible_bases

    model = small_model()
    state, tau, point = model.neutral_state(), np.zeros(model.n), Contact('link9')
    wrenches = [Wrench('link9', np.ones(3))]
    for contacts in ([point], [point, Contact('link9', 'surface')]):
        C = Linearizer(model, contacts)(state, tau, wrenches=wrenches)
    admissible_bases(C)
    rows_at(model, C.about.workspace.constraints, state)  # where the engine leaves none


def warm_up_commands() -> None:
    """Run what commands take beside: many samples at once, bases in a posture, differences."""
    from geolin_ros.dynamics.functions import mass_matrix
    from geolin_ros.kernels.engine import stein
    from geolin_ros.spatial.se3 import rotation_from_quaternion

    model = small_model()
    state = model.neutral_state()
    Linearizer(model).batch([state], np.zeros((1, model.n)))
    mass_matrix(model, [state])
    work, _, numbers = stein.make_work(model.m)
    stein.stein(work, numbers, 1e-9, 1)
    state.difference(state)
    rotation_from_quaternion([0.0, 0.0, 0.0, 1.0])


def small_model(base: Base = 'floating') -> TreeModel:
    """Return a chain of ten links."""
    links = [Link.from_mass(f'link{i}', 1.0, np.zeros(3), np.eye(3)) for i in range(10)]
    joints = [
        Joint(f'joint{i}', 'revolute', f'link{i - 1}', f'link{i}', axis=np.array([0.0, 1.0, 0.0]))
        for i in range(1, 10)
    ]
    description = Description('warm_up', tuple(links), tuple(joints))
    return TreeModel.from_description(description, base=base)
