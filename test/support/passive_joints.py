# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot whose joints do more than turn."""

import dataclasses

import numpy as np

from geolin_ros import TreeModel
from geolin_ros.description import Mimic
from support.trees import random_description


def passive_robot(base, mimic):
    """Return a robot with springs, dampers, rotors and friction, two joints coupled or none."""
    rng = np.random.default_rng(23)
    description = random_description(rng, 6)
    joints = [
        dataclasses.replace(
            joint,
            damping=rng.uniform(0.1, 1.0),
            friction=rng.uniform(0.1, 1.0),
            friction_speed=0.5,
            rotor_inertia=rng.uniform(0.1, 1.0),
            stiffness=rng.uniform(1.0, 5.0),
            rest=rng.uniform(-1.0, 1.0),
        )
        for joint in description.joints
    ]
    if mimic:
        joints[2] = dataclasses.replace(joints[2], mimic=Mimic('joint1', -0.7, 0.2))
        joints[4] = dataclasses.replace(joints[4], mimic=Mimic('joint2', 1.4, 0.1))
    description = dataclasses.replace(description, joints=tuple(joints))
    model = TreeModel.from_description(description, base=base, coulomb_friction=True)
    return description, model


def with_passive_joints(model, rng):
    """Give every joint a rotor, damping, smoothed friction and a spring."""
    n = model.n
    tree = model.tree._replace(
        armature=rng.uniform(0.0, 0.2, n),
        damping=rng.uniform(0.0, 1.0, n),
        friction=rng.uniform(0.0, 1.0, n),
        friction_speed=rng.uniform(0.2, 1.0, n),
        stiffness=rng.uniform(0.0, 3.0, n),
        rest=rng.uniform(-1.0, 1.0, n),
    )
    for array in tree:
        array.setflags(write=False)
    return dataclasses.replace(model, tree=tree)
