# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What was identified: as an overlay of the description, and how well A, B and poles are known."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geolin_ros.description import Description
from geolin_ros.description.overlay import apply_overlay
from geolin_ros.dynamics.functions import inverse_dynamics
from geolin_ros.dynamics.variation import inertia_of_parameters, parameters_of_inertias
from geolin_ros.linearization.contacts.constraints import constraints_of
from geolin_ros.linearization.contacts.description import Closure, Contact
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array
from geolin_tools.identification.identification import Identification
from geolin_tools.identification.parameters import (
    inertial_parameters_of,
    is_physical,
    of_mass,
    pseudo_inertia,
)

linalg = optional('scipy.linalg', extra='estimation')

KEYS = {'rotor': 'rotor_inertia', 'offset': 'effort_offset', 'scale': 'effort_scale'}
"""Of joints, where they are not the kinds."""


def overlay_of(
    found: Identification, description: Description, earlier: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the overlay, see `description.overlay`, whose reading gives the identified robot.

    Efforts tell of a body as a whole, which is a link with all that is fixed to it. The other
    links stay as described where what is left for the first is a body that can exist; else they
    become massless, and the first is all of it.

    The description is without overlay; ``earlier`` is the overlay with which the robot was read:
    what was not identified is as it says.
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


STEP = 1e-2  # of central differences, in standard deviations
APART = 2.0  # poles nearer to each other than so many standard deviations have none of first order
REPEATED = 1e-9  # poles nearer to each other than this part of the largest are one
_OF_TREE = ('armature', 'damping', 'friction', 'friction_speed', 'stiffness')


class Deviations(NamedTuple):
    """A, B and poles of an identified robot, each with its standard deviation."""

    A: Array
    """(2m, 2m)"""
    B: Array
    """(2m, n_u)"""
    A_deviation: Array
    B_deviation: Array
    poles: NDArray[np.complex128]
    """(2m,) Eigenvalues of A [1/s]."""
    poles_deviation: NDArray[np.complex128]
    """(2m,) Of their real parts, and of their imaginary parts as imaginary part; NaN where
    another pole is as near, or the same: they do not change in the first order."""


def deviations(
    found: Identification,
    state: State,
    tau: Array | None = None,
    contacts: Sequence[Contact | str] = (),
    *,
    covariance: Array | None = None,
) -> Deviations:
    """Return how well A and B about a state are known, in the first order.

    Of A and B by central differences along the axes of the numbers' covariance; of poles by their
    left and right eigenvectors [Golub 2013, section 7.2].

    Raises `ShapeError`, `NotFiniteError`, `UnknownNameError` as of `Linearizer`.

    Parameters
    ----------
    found
        What was identified.
    state
        About which A and B are.
    tau : (n,)
        Efforts that act [N m or N]; by default the least that, with the least forces of contacts,
        hold the robot at rest, whatever its masses are (on a floating base without contacts: its
        joints).
    contacts
        As of `Linearizer`.
    covariance : (p, p)
        Of the numbers; by default that after the identification. That of the prior is the
        identity.
    """

    def matrices(x: Array) -> tuple[Array, int]:
        model = _robot(found, x)
        linearizer = Linearizer(model, contacts)
        L = linearizer(state, _holding(model, state, linearizer.contacts) if tau is None else tau)
        return np.hstack((L.A, L.B)), len(L.A)

    x = found.fit.x
    sizes, axes = np.linalg.eigh(found.fit.covariance if covariance is None else covariance)
    steps = STEP * np.sqrt(np.maximum(sizes, 0.0)) * axes
    here, count = matrices(x)
    moved = [matrices(x + step)[0] - matrices(x - step)[0] for step in steps.T]
    slopes = np.array(moved) / (2.0 * STEP)
    A, B = np.split(here, [count], axis=1)
    of_A, of_B = np.split(np.linalg.norm(slopes, axis=0), [count], axis=1)
    poles, of_poles = _poles(A, slopes[:, :, :count])
    return Deviations(A, B, of_A, of_B, poles, of_poles)


def _holding(model: TreeModel, state: State, contacts: Sequence[Closure]) -> Array:
    """Return the efforts (n,) of least squares, with forces of contacts, that hold a robot."""
    own = np.eye(model.m)[model.m - model.n :]
    ways = np.vstack((own, constraints_of(model, state, contacts).A))
    bias = inverse_dynamics(model, state, np.zeros(model.m))
    return np.asarray(np.linalg.lstsq(ways.T, bias, rcond=None)[0][: model.n])


def _robot(found: Identification, x: Array) -> TreeModel:
    """Return the robot with numbers x."""
    model, parameters = found.model, found.parameters
    inertia, pi = model.tree.inertia.copy(), parameters.inertial(x)
    for i in parameters.bodies:
        inertia[i] = inertia_of_parameters(pi[i])
    fields = {name: getattr(model.tree, name).copy() for name in _OF_TREE}
    for (joint, kind), value in parameters.joint_values(x).items():
        name = 'armature' if kind == 'rotor' else kind
        if name in fields:
            fields[name][model.own_coordinate[joint]] = value
    return replace(model, tree=model.tree._replace(inertia=inertia, **fields))


def _poles(A: Array, slopes: Array) -> tuple[Any, Any]:
    """Return poles and their deviations by changes (p, 2m, 2m) of A, each of one deviation."""
    poles, left, right = linalg.eig(A, left=True, right=True)
    with np.errstate(divide='ignore', invalid='ignore'):
        moves = np.einsum('ij,kil,lj->kj', left.conj(), slopes, right)
        moves /= np.sum(left.conj() * right, axis=0)
    real, imaginary = np.linalg.norm(moves.real, axis=0), np.linalg.norm(moves.imag, axis=0)
    gaps = np.abs(poles[:, np.newaxis] - poles) + np.diag(np.full(len(A), np.inf))
    gap = gaps.min(axis=1)
    clear = APART * np.hypot(real, imaginary) < gap
    clear &= gap > REPEATED * np.abs(poles).max()
    return poles, np.where(clear, real + 1j * imaginary, complex(np.nan, np.nan))
