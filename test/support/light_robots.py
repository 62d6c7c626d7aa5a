# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots with links much lighter than what holds them: drives of grippers, feet on the ground."""

import numpy as np

from geolin_ros import Contact, Description, Joint, Link, Loop
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


def mixed(rng, scale=1.0, size=1.0):
    """Return a robot whose links differ by up to ten orders of magnitude, and its contacts.

    A base of 0.1 to 1000 kg, one to three legs of one to six joints about any axes, links of 1e-9
    to 10 kg at random or light and heavy ones by turns; soles, points, or a loop of two feet.
    Masses are times ``scale``, lengths times ``size``.
    """
    legs, joints = (int(rng.integers(1, most)) for most in (4, 7))
    light, heavy = 10.0 ** rng.uniform(-9.0, -2.0), 10.0 ** rng.uniform(-1.0, 1.0)
    by_turns = rng.uniform() < 0.5
    links = [compact('base', scale * 10.0 ** rng.uniform(-1.0, 3.0), 0.2 * size)]
    found, contacts = [], []
    for leg in range(legs):
        last, place = 'base', size * np.array([0.1 - 0.2 * leg, 0.05 * leg, -0.5])
        for k in range(joints):
            name = f'leg{leg}_{k}'
            mass = (light, heavy)[(k + leg) % 2] if by_turns else 10.0 ** rng.uniform(-9.0, 1.0)
            links.append(compact(name, scale * mass, 0.03 * size))
            axis, pose = rng.normal(size=3), tilted(place, rng.uniform(0.0, 0.5))
            found.append(Joint(name, 'revolute', last, name, pose, axis / np.linalg.norm(axis)))
            last = name
            place = size * (rng.uniform(-0.05, 0.05, 3) - np.array([0.0, 0.0, 0.05]))
        contacts.append(Contact(last, str(rng.choice(['point', 'surface']))))
    if legs > 1 and rng.uniform() < 0.25:
        contacts = [Loop(contacts[0].frame, contacts[1].frame, contacts[0].kind)]
    return Description('mixed', tuple(links), tuple(found)), contacts
