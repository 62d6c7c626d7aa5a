# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What was identified as an overlay of the description."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from geolin_ros.description import Description
from geolin_ros.description.overlay import apply_overlay
from geolin_ros.dynamics.variation import parameters_of_inertias
from geolin_ros.typing import Array
from geolin_tools.identification.bodies import (
    inertial_parameters_of,
    is_physical,
    of_mass,
    pseudo_inertia,
)
from geolin_tools.identification.identification import Identification

KEYS = {'rotor': 'rotor_inertia', 'offset': 'effort_offset', 'scale': 'effort_scale'}
"""Of joints, where they are not the kinds."""


def overlay_of(
    found: Identification, description: Description, earlier: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the overlay, see `description.overlay`, whose reading gives the identified robot.

    Efforts tell of a body as a whole, which is a link with all that is fixed to it. The other
    links stay as described where what is left for the first is a body that can exist; else they
    become massless, and the first is all of it.

    Parameters
    ----------
    found
        What was identified.
    description
        Without overlay.
    earlier
        The overlay with which the robot was read: what was not identified is as it says.
    """
    model, parameters = found.model, found.parameters
    given = earlier or {}
    links, joints = (dict(given.get(key) or {}) for key in ('links', 'joints'))
    payloads = list(given.get('payloads') or ())
    if parameters.payload:
        frame = model.frame(parameters.payload)
        (load,) = parameters.own(found.fit.x).values()
        T = np.linalg.inv(frame.placement)
        load = inertial_parameters_of(T @ pseudo_inertia(load) @ T.T)
        payloads = [*payloads, {'frame': parameters.payload, **_entry(load)}]
        return {'links': links, 'joints': joints, 'payloads': payloads}
    description = apply_overlay(description, {'links': links, 'joints': joints})
    described = {link.name: parameters_of_inertias(link.inertia) for link in description.links}
    bodies = {name: frame.body for name, frame in model.frames.items()}
    payloads = [row for row in payloads if bodies[row['frame']] not in parameters.bodies]
    for i in parameters.bodies:
        root = model.body_names[i]
        fixed = [name for name, body in bodies.items() if body == i and name != root]
        others = [name for name in fixed if described[name][0] > 0.0]
        whole = pseudo_inertia(found.inertial[i])
        left = whole.copy()
        for name in others:
            T = model.frames[name].placement
            left -= T @ pseudo_inertia(described[name]) @ T.T
        kept = is_physical(inertial_parameters_of(left))
        links[root] = _entry(inertial_parameters_of(left if kept else whole))
        if not kept:
            links |= {name: {'mass': 0.0} for name in others}
    gears = {joint.name: joint.gear_ratio for joint in description.joints}
    rows: dict[str, dict[str, float]] = {}
    for (name, kind), value in found.joint_values().items():
        gear = gears.get(name, 1.0) if kind == 'rotor' else 1.0
        rows.setdefault(name, {})[KEYS.get(kind, kind)] = _short(value / gear**2)
    for name, row in rows.items():  # after patterns that match it, which count less
        joints[name] = joints.pop(name, {}) | row
    overlay: dict[str, Any] = {'links': links, 'joints': joints}
    return overlay | ({'payloads': payloads} if payloads else {})


def _entry(parameters: Array) -> dict[str, Any]:
    mass, com, tensor = of_mass(parameters)
    inertia = tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return {'mass': _short(mass), 'com': [*map(_short, com)], 'inertia': [*map(_short, inertia)]}


def _short(value: float) -> float:
    """Return a number with nine significant digits: a body stays one that can exist."""
    return float(f'{value:.9g}')
