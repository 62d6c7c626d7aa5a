# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots with links much lighter than what holds them: drives of grippers, feet on the ground."""

import numpy as np

from geolin_ros import Description, Joint, Link
from geolin_ros.description import Mimic
from support.finite_difference import exp

AXES = np.eye(3)[[1, 0, 2]]


def compact(name, mass, size):
    """Return a link of a size [m] whose centre is beside its origin."""
    if mass == 0.0:
        return Link(name)
    spread = mass * size**2 * np.diag([1.0, 1.2, 0.8])
    return Link.from_mass(name, mass, np.array([0.3, 0.0, 0.6]) * size, spread)


def tilted(place, amount):
    """Return a pose at a place, turned a little."""
    H = exp(np.array([0.0, 0.0, 0.0, 3.0, 2.0, 1.0]) * amount)
    H[:3, 3] = place
    return H


def gripper(mass, kind='prismatic', chain=False, wrist=None):
    """Return a base, perhaps a wrist, a drive of a mass, and two fingers of 0.1 kg that mimic it.

    With ``chain`` one finger follows the other.
    """
    links, joints, palm = [compact('base', 5.0, 0.2)], [], 'base'
    if wrist is not None:
        links.append(compact('wrist', wrist, 0.05))
        joints.append(Joint('wrist', kind, 'base', 'wrist', tilted((0.1, 0.0, 0.1), 0.0), AXES[0]))
        palm = 'wrist'
    links += [compact('drive', mass, 0.05), *(compact(f, 0.1, 0.05) for f in ('left', 'right'))]
    rules = Mimic('drive', 1.0, 0.1), Mimic(*(('left', -0.7) if chain else ('drive', 1.0)), 0.0)
    joints += [
        Joint('drive', kind, palm, 'drive', tilted((0.2, 0.0, 0.0), 0.0), AXES[0]),
        Joint('left', kind, palm, 'left', tilted((0.2, 0.1, 0.0), 0.1), AXES[0], mimic=rules[0]),
        Joint('right', kind, palm, 'right', tilted((0.2, -0.1, 0), 0), -AXES[0], mimic=rules[1]),
    ]
    return Description('gripper', tuple(links), tuple(joints))


def standing(mass, joints, legs=1):
    """Return 20 kg on legs of so many links of a mass, ``leg0_0`` ..., and an arm of 2 kg."""
    links, found = [compact('base', 20.0, 0.2), compact('arm', 2.0, 0.1)], []
    found.append(Joint('arm', 'revolute', 'base', 'arm', tilted((0.0, 0.2, 0.1), 0.0), AXES[0]))
    for leg in range(legs):
        last, place = 'base', np.array([0.1 - 0.2 * leg, 0.05 * leg, -0.5])
        for k in range(joints):
            name = f'leg{leg}_{k}'
            links.append(compact(name, mass, 0.03))
            axis = AXES[(k + leg) % 3]
            found.append(Joint(name, 'revolute', last, name, tilted(place, 0.05 + 0.1 * k), axis))
            last, place = name, np.array([0.0, 0.01, -0.03])
    return Description('standing', tuple(links), tuple(found))
