# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot, its state and wrenches as complex numbers x + i h x', x' the derivative by a scalar.

[Kim 2012, Lemma 3, Corollary 1, Eqs. (81)-(89)].

What a kernel returns of them is f(x) + i h f'(x): exact to rounding, for h is tiny and nothing is
subtracted [Squire 1998].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import vector
from geolin_ros.dynamics.samples import Robot
from geolin_ros.errors import InputError, NotFiniteError, ShapeError, unknown_name
from geolin_ros.kernels.packing import layout
from geolin_ros.kernels.packing.types import SINGLE_AXIS, Tree
from geolin_ros.kernels.plain.regressor import PARAMETERS
from geolin_ros.model.numbering import moved_inertia
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import External, pack
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

STEP = 1e-60
# of a spatial inertia: m, m c, then Ixx, Ixy, Iyy, Ixz, Iyz, Izz
_PARAMETERS = ((0, 0), (5, 1), (3, 2), (4, 0), (3, 3), (3, 4), (4, 4), (3, 5), (4, 5), (5, 5))
_PASSIVE = ('armature', 'damping', 'friction', 'friction_speed', 'stiffness', 'rest')


@dataclass(frozen=True, kw_only=True)
class Variation:
    """Derivatives of the data of a problem by a scalar p; what is left out does not depend on p.

    [Kim 2012, Eq. (92)].

    Attributes
    ----------
    pose : (6,)
        Of the base: H exp(p z), a twist in base axes [m, rad].
    positions : (n,)
        Of the joints; of a spherical, planar or inner floating joint a displacement in the axes
        of the moved link, as in `State.retract`.
    twist : (6,)
        Of the base twist.
    rates : (n,)
        Of the joint rates.
    acceleration : (m,)
        Of the accelerations that are given: all in inverse dynamics, the prescribed ones in
        hybrid dynamics; others are not read.
    efforts : (n,)
        Of the joint efforts that are given; others are not read.
    wrenches : (number of wrenches, 6)
        Of [force; moment] of each external wrench, in the axes of its kind.
    inertias
        By link: of its spatial inertia about the link frame, in link axes (6, 6), or of its ten
        parameters (10,), see `inverse_dynamics_regressor`.
    placements
        By joint: of the pose of the joint frame, a twist in its own axes (6,) [m, rad]
        (kinematic calibration).
    subspaces
        By joint: of its unit twist [linear; angular] in the joint frame (6,). By the pitch of a
        helical joint (a; 0); by a turn w of an axis (pitch w x a; w x a). Not for spherical, se2
        and floating joints, which have no axes.
    passive
        By joint: by name, of ``armature`` (gear_ratio^2 rotor_inertia), ``damping``, ``friction``,
        ``friction_speed``, ``stiffness``, ``rest``, as of a `Joint`.
    gravity : (3,)
        In world axes.
    """

    pose: ArrayLike | None = None
    positions: ArrayLike | None = None
    twist: ArrayLike | None = None
    rates: ArrayLike | None = None
    acceleration: ArrayLike | None = None
    efforts: ArrayLike | None = None
    wrenches: ArrayLike | None = None
    inertias: Mapping[str, ArrayLike] = field(default_factory=dict)
    placements: Mapping[str, ArrayLike] = field(default_factory=dict)
    subspaces: Mapping[str, ArrayLike] = field(default_factory=dict)
    passive: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    gravity: ArrayLike | None = None


def vary(
    model: TreeModel, robot: Robot, data: Array, variation: Variation, wrenches: External
) -> tuple[Any, Any, Any]:
    """Return floats, wrenches and state of the tree as `Robot.varied` takes them."""
    sizes = {'pose': 6, 'positions': model.n, 'twist': 6, 'rates': model.n, 'gravity': 3}
    pose, positions, twist, rates, gravity = (
        change(model, variation, name, size) for name, size in sizes.items()
    )
    arrays: list[Any] = [a.astype(complex) if a.dtype == float else a for a in model.tree]
    tree = Tree(*arrays)
    _weigh(model, tree, variation.inertias)
    _stiffen(model, tree, variation.passive)
    for name, values in variation.placements.items():
        b, _ = _moved(model, name)
        z = vector(f'placement of joint {name!r}', values, 6, model.name)
        R = model.tree.rotation[b]
        tree.translation[b] += 1j * STEP * (R @ z[:3])
        tree.rotation[b] += 1j * STEP * (R @ se3.cross3(z[3:]))
    for name, values in variation.subspaces.items():
        _turn(model, tree, name, values)
    varied = layout.pack_numbers(tree, model.gravity + 1j * STEP * gravity)
    floats, turns, origins, groups = varied
    packed = robot.packed._replace(turns=turns, origins=origins)

    x, mimics = data.astype(complex), robot.packed.mimics
    H, v = x[:16].reshape(4, 4), 16 + model.n_s
    H[:3, 3] += 1j * STEP * (H[:3, :3] @ pose[:3])
    H[:3, :3] += 1j * STEP * (H[:3, :3] @ se3.cross3(pose[3:]))
    numbered = mimics.positions >= 0
    own = positions[mimics.masters[numbered]]
    x[16 + mimics.positions[numbered]] = x[16 + mimics.positions[numbered]] + 1j * STEP * own
    x[v:] += 1j * STEP * np.concatenate((twist, rates))
    x = robot.expanded(x[np.newaxis], groups)[0]
    for place, group in zip(x[len(x) - 12 * len(groups) :].reshape(-1, 4, 3), groups, strict=True):
        z = positions[group.coordinate : group.coordinate + len(group.subspace)]
        z = z @ group.subspace.real
        K = place[:3].T @ group.turn.T  # axes of the moved body
        place[:3] += 1j * STEP * (K @ se3.cross3(z[3:]) @ group.turn).T
        place[3] += 1j * STEP * (K @ z[:3])
    return floats, _load(model, packed, variation.wrenches, wrenches), x


def change(model: TreeModel, variation: Variation, name: str, size: int) -> Array:
    """Return a field of a variation, checked; zeros if it has none."""
    values = getattr(variation, name)
    if values is None:
        return np.zeros(size)
    found = vector(f'variation of {name}', values, size, model.name)
    if not np.isfinite(found).all():
        raise NotFiniteError(f'variation of {name} is {found.tolist()}, expected finite numbers')
    return found


def _weigh(model: TreeModel, tree: Any, by_link: Mapping[str, ArrayLike]) -> None:
    """Change inertias: spatial ones about the link frame, or ten parameters, by link."""
    for name, values in by_link.items():
        inertia = np.asarray(values, dtype=np.float64)
        if inertia.shape == (PARAMETERS,):
            inertia = inertia_of_parameters(inertia)
        if inertia.shape != (6, 6):
            raise ShapeError(
                f'inertia of link {name!r} has shape {inertia.shape}, expected (6, 6) or '
                f'({PARAMETERS},)'
            )
        frame = model.frame(name)
        moved, body = moved_inertia(inertia, frame.placement), tree.inertia[frame.body]
        if not layout.is_of_rigid_body(moved, has_mass=body[0, 0] != 0.0):
            raise InputError(
                f"inertia of body {model.body_names[frame.body]!r} changes as no rigid body's "
                'can, expected [[m 1, -h x], [h x, I]], with a mass where h changes'
            )
        body += 1j * STEP * moved


def _stiffen(model: TreeModel, tree: Any, by_joint: Mapping[str, Mapping[str, float]]) -> None:
    """Change armature, damping, friction and springs, by joint."""
    for joint, values in by_joint.items():
        for name, value in values.items():
            if name not in _PASSIVE:
                raise unknown_name('passive parameter', name, _PASSIVE, f'joint {joint!r}')
            _, rates = _moved(model, joint, name if name in ('stiffness', 'rest') else '')
            getattr(tree, name)[rates] += 1j * STEP * value


def _turn(model: TreeModel, tree: Any, joint: str, values: ArrayLike) -> None:
    """Change the unit twist (6,) of an axis."""
    _, rates = _moved(model, joint, 'subspace')
    S = model.tree.subspace[rates][0]
    dS = vector(f'subspace of joint {joint!r}', np.ravel(values), 6, model.name)
    across = np.abs(np.cross(S[:3], dS[3:])).max()
    if not S[3:].any() and across > 1e-12 * np.abs(dS[3:]).max():
        raise InputError(
            f'subspace of joint {joint!r} adds a turn across its direction, expected one about '
            'it: a prismatic joint turns by (w x a; 0)'
        )
    tree.subspace[rates] += 1j * STEP * dS


def _load(model: TreeModel, packed: Any, values: ArrayLike | None, wrenches: External) -> Array:
    """Return wrenches that change by [force; moment] (number of wrenches, 6), as of their kind."""
    rows = np.zeros((len(wrenches), 6)) if values is None else np.asarray(values, dtype=np.float64)
    if rows.shape != (len(wrenches), 6):
        raise ShapeError(
            f'variation of wrenches has shape {rows.shape}, expected ({len(wrenches)}, 6): '
            '[force; moment] of each wrench'
        )
    moved = [
        dataclasses.replace(wrench, force=row[:3], moment=row[3:])
        for wrench, row in zip(wrenches, rows, strict=True)
    ]
    given = pack(model, wrenches)
    given = given._replace(value=given.value + 1j * STEP * pack(model, moved).value)
    return layout.make_inputs(packed, given)[int(packed.ints[layout.NB]) - 1 :]


def _moved(model: TreeModel, joint: str, of_axes: str = '') -> tuple[int, slice]:
    """Return the body that a joint moves, and its rates.

    ``of_axes`` names what only joints with axes can have.
    """
    bodies, tree = model.body_of_joint, model.tree
    if joint not in bodies:
        raise unknown_name('joint', joint, bodies, f'robot {model.name!r}')
    b = bodies[joint]
    if of_axes and tree.kind[b] != SINGLE_AXIS:
        raise InputError(
            f'variation has the {of_axes} of joint {joint!r} of robot {model.name!r}, '
            'whose motions are all of a group, expected a joint with axes: it has no spring, '
            'and its frame is displaced by placements'
        )
    return b, slice(tree.v_start[b], tree.v_start[b] + tree.v_size[b])


def inertia_of_parameters(parameters: ArrayLike) -> Array:
    """Return the spatial inertia (6, 6) with ten given parameters.

    [Kim 2012, Eqs. (14)-(20), (22)].
    """
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = np.asarray(parameters, dtype=np.float64)
    h = se3.cross3((hx, hy, hz))
    rotational = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.block([[m * np.eye(3), -h], [h, rotational]])


def parameters_of_inertias(inertias: Array) -> Array:
    """Return the ten parameters (..., 10) of spatial inertias (..., 6, 6)."""
    rows, columns = zip(*_PARAMETERS, strict=True)
    return inertias[..., rows, columns]
