# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of inverse, forward and hybrid dynamics [Kim 2012, section 4].

By one scalar p that may move everything at once (`Variation`), in O(n); by the whole state and
the inputs; and by the inertial parameters of every body.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.dynamics.arguments import failure, state_data, vector, with_base
from geolin_ros.dynamics.functions import HybridProblem, placed
from geolin_ros.errors import InputError, ShapeError, unknown_name
from geolin_ros.kernels.packing.types import PRODUCT, SINGLE_AXIS, Direction
from geolin_ros.kernels.recursions import mimic
from geolin_ros.kernels.recursions.hybrid_dynamics import inverse_dynamics_at
from geolin_ros.kernels.recursions.hybrid_dynamics_derivatives import (
    differentiate_hybrid_dynamics,
    differentiate_inverse_dynamics,
)
from geolin_ros.kernels.recursions.parameter_derivatives import (
    vary_hybrid_dynamics,
    vary_inverse_dynamics,
)
from geolin_ros.kernels.recursions.regressor import PARAMETERS, regressor
from geolin_ros.kernels.status import NOT_FINITE, OK
from geolin_ros.model.numbering import moved_inertia
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench, pack
from geolin_ros.spatial import se3
from geolin_ros.typing import Array


@dataclass(frozen=True)
class Variation:
    """Derivatives of the data of a problem by a scalar p; what is left out does not depend on p.

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
        By joint: of its unit twist [linear; angular] in the joint frame (6,), for several axes
        those of its factors (rates, 6); the rate dS/dt follows. By the pitch of a helical joint
        (a; 0); by a turn w of an axis (pitch w x a; w x a). Not for spherical, se2 and floating
        joints, which have no axes.
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


def d_inverse_dynamics(
    model: TreeModel,
    state: State,
    acceleration: ArrayLike,
    variation: Variation,
    wrenches: Sequence[Wrench] | None = None,
) -> Array:
    """Return the derivative (m,) of `inverse_dynamics` by the scalar of a variation.

    Bodies that it does not move cost nothing but the look at them.

    Raises
    ------
    ShapeError, NotFiniteError
        As `inverse_dynamics`; ShapeError also for an array of the variation.
    UnknownNameError
        If the variation names a joint or link that the robot does not have.

    References
    ----------
    [Kim 2012], Table 5.
    """
    tree, ws, data, gravity, packed = placed(model, state, wrenches)
    nu_dot = with_base(model, vector('acceleration', acceleration, model.m, model.name))
    given = _accelerations(model, variation)
    by = _direction(model, state, variation, given, tuple(wrenches or ()))
    unused, dtau = np.empty_like(nu_dot), np.zeros_like(nu_dot)
    inverse_dynamics_at(tree, ws, data, gravity, packed, nu_dot, unused)
    vary_inverse_dynamics(tree, ws, ws.nu_dot, packed, by, ws.tau)
    mimic.reduce_force(tree, ws.tau, dtau)
    if not np.all(np.isfinite(dtau)):
        raise failure(model, NOT_FINITE, state, {'acceleration': nu_dot, 'variation': dtau})
    return dtau[6 + model.n - model.m :]


def d_forward_dynamics(
    model: TreeModel,
    state: State,
    tau: ArrayLike,
    variation: Variation,
    wrenches: Sequence[Wrench] | None = None,
) -> Array:
    """Return the derivative (m,) of `forward_dynamics` by the scalar of a variation.

    Raises
    ------
    ShapeError, NotFiniteError, UnknownNameError, SingularInertiaError
        As `forward_dynamics` and `d_inverse_dynamics`.

    References
    ----------
    [Kim 2012], Table 6.
    """
    nothing, zeros = np.zeros(model.n, dtype=np.bool_), np.zeros(model.n)
    return d_hybrid_dynamics(model, state, zeros, tau, nothing, variation, wrenches=wrenches)[0]


def d_hybrid_dynamics(
    model: TreeModel,
    state: State,
    acceleration: ArrayLike,
    tau: ArrayLike,
    prescribed: ArrayLike,
    variation: Variation,
    wrenches: Sequence[Wrench] | None = None,
) -> tuple[Array, Array]:
    """Return the derivatives of both results of `hybrid_dynamics` by the scalar of a variation.

    Raises
    ------
    ShapeError, NotFiniteError, InputError, UnknownNameError, SingularInertiaError
        As `hybrid_dynamics` and `d_inverse_dynamics`.

    References
    ----------
    [Kim 2012], Table 7.
    """
    problem = HybridProblem(model, acceleration, tau, prescribed)
    given = np.where(problem.free, 0.0, _accelerations(model, variation))
    by = _direction(model, state, variation, given, tuple(wrenches or ()))
    efforts = np.zeros(6 + model.n)
    efforts[6:] = _field(model, variation, 'efforts', model.n)
    dnu_dot, dtau = np.empty(6 + model.n), np.empty(6 + model.n)
    status = vary_hybrid_dynamics(
        *placed(model, state, wrenches),
        *problem.arrays,
        by,
        np.where(problem.free, efforts, 0.0),
        dnu_dot,
        dtau,
    )
    if status != OK or not (np.all(np.isfinite(dnu_dot)) and np.all(np.isfinite(dtau))):
        raise failure(model, status or NOT_FINITE, state, {**problem.inputs, 'variation': dnu_dot})
    return problem.own(dnu_dot + given, dtau)


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of the forces at constant acceleration; with a fixed base by s and r only."""

    dtau_dH: Array
    """(m, 6) by the base pose, H exp(z); fixed base: (m, 0)."""
    dtau_ds: Array
    """(m, n)"""
    dtau_dv: Array
    """(m, 6) by the base twist; fixed base: (m, 0)."""
    dtau_dr: Array
    """(m, n)"""


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of the accelerations; with a fixed base by s, r and tau only."""

    dnu_dot_dH: Array
    """(m, 6) by the base pose, H exp(z); fixed base: (m, 0)."""
    dnu_dot_ds: Array
    """(m, n)"""
    dnu_dot_dv: Array
    """(m, 6) by the base twist; fixed base: (m, 0)."""
    dnu_dot_dr: Array
    """(m, n)"""
    dnu_dot_dtau: Array
    """(m, n)"""


class HybridDynamicsDerivatives(NamedTuple):
    """Derivatives of both results by [H; s; v; r; given]; with a fixed base [s; r; given].

    ``given`` (m,): accelerations of the velocities that are prescribed, forces on the others.
    """

    dnu_dot: Array
    """(m, 3 m)"""
    dtau: Array
    """(n, 3 m), with the base prescribed (6 + n, 3 m)."""


def inverse_dynamics_derivatives(
    model: TreeModel,
    state: State,
    acceleration: ArrayLike,
    wrenches: Sequence[Wrench] | None = None,
) -> InverseDynamicsDerivatives:
    """Return all derivatives of `inverse_dynamics` by the state; that by nu_dot is M.

    Arguments and errors as there.
    """
    tree, ws, data, gravity, packed = placed(model, state, wrenches)
    m = 6 + model.n
    nu_dot = with_base(model, vector('acceleration', acceleration, model.m, model.name))
    dtau = np.empty((m, 2 * m))
    inverse_dynamics_at(tree, ws, data, gravity, packed, nu_dot, np.empty(m))
    differentiate_inverse_dynamics(tree, ws, packed, dtau)
    if not np.all(np.isfinite(dtau)):
        raise failure(model, NOT_FINITE, state, {'acceleration': nu_dot})
    first = m - model.m
    return InverseDynamicsDerivatives(*_by_state(model, dtau[first:]))


def forward_dynamics_derivatives(
    model: TreeModel, state: State, tau: ArrayLike, wrenches: Sequence[Wrench] | None = None
) -> ForwardDynamicsDerivatives:
    """Return all derivatives of `forward_dynamics` by the state and the efforts.

    Arguments and errors as there.
    """
    nothing, zeros = np.zeros(model.n, dtype=np.bool_), np.zeros(model.n)
    problem = HybridProblem(model, zeros, tau, nothing)
    dnu_dot, _ = _differentiate(model, state, problem, wrenches)
    first, m = 6 + model.n - model.m, 6 + model.n
    blocks = _by_state(model, dnu_dot[first:, : 2 * m])
    return ForwardDynamicsDerivatives(*blocks, dnu_dot[first:, 2 * m + 6 :])


def hybrid_dynamics_derivatives(
    model: TreeModel,
    state: State,
    acceleration: ArrayLike,
    tau: ArrayLike,
    prescribed: ArrayLike,
    wrenches: Sequence[Wrench] | None = None,
) -> HybridDynamicsDerivatives:
    """Return all derivatives of `hybrid_dynamics` by the state and what is given.

    Arguments and errors as there.
    """
    problem = HybridProblem(model, acceleration, tau, prescribed)
    both = problem.own(*_differentiate(model, state, problem, wrenches))
    kept = np.ones(3 * (6 + model.n), dtype=np.bool_)
    if model.base == 'fixed':
        kept.reshape(3, -1)[:, :6] = False
    return HybridDynamicsDerivatives(both[0][:, kept], both[1][:, kept])


def inverse_dynamics_regressor(model: TreeModel, state: State, acceleration: ArrayLike) -> Array:
    """Return Y (m, 10 nb): inverse dynamics = Y @ inertial_parameters(model) + passive torques.

    The Jacobian to the ten parameters of every body, bodies in the order of ``model.body_names``:
    mass m [kg], first moment m c [kg m], and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin of the
    body frame [kg m^2]. Passive torques are those of rotors, damping, friction and springs.

    Arguments and errors as in `inverse_dynamics`.

    References
    ----------
    [Atkeson 1986].
    """
    start, m = placed(model, state), 6 + model.n
    tree, ws, *_ = start
    nu_dot = with_base(model, vector('acceleration', acceleration, model.m, model.name))
    inverse_dynamics_at(*start, nu_dot, np.empty(m))
    Y = np.empty((6 + tree.armature.size, PARAMETERS * tree.parent.size))
    regressor(tree, ws, Y)
    if not np.all(np.isfinite(Y)):
        raise failure(model, NOT_FINITE, state, {'acceleration': nu_dot})
    reduced = np.zeros((m, Y.shape[1]))
    reduced[:6] = Y[:6]
    np.add.at(reduced, 6 + tree.master, tree.multiplier[:, np.newaxis] * Y[6:])
    return reduced[m - model.m :]


def inertial_parameters(model: TreeModel) -> Array:
    """Return the ten parameters of every body (10 nb,), see `inverse_dynamics_regressor`."""
    M = model.tree.inertia
    rows = (
        M[:, 0, 0],  # m
        *(M[:, 5, 1], M[:, 3, 2], M[:, 4, 0]),  # m c
        *(M[:, 3, 3], M[:, 3, 4], M[:, 4, 4], M[:, 3, 5], M[:, 4, 5], M[:, 5, 5]),
    )
    return np.array(rows).T.ravel()


def inertia_of_parameters(parameters: ArrayLike) -> Array:
    """Return the spatial inertia (6, 6) with ten given parameters."""
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = np.asarray(parameters, dtype=np.float64)
    h = se3.cross3((hx, hy, hz))
    rotational = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.block([[m * np.eye(3), -h], [h, rotational]])


def _differentiate(
    model: TreeModel,
    state: State,
    problem: HybridProblem,
    wrenches: Sequence[Wrench] | None,
) -> tuple[Array, Array]:
    m = 6 + model.n
    dnu_dot, dtau = np.empty((m, 3 * m)), np.empty((m, 3 * m))
    status = differentiate_hybrid_dynamics(
        *placed(model, state, wrenches), *problem.arrays, dnu_dot, dtau
    )
    if status != OK:
        raise failure(model, status, state, problem.inputs)
    return dnu_dot, dtau


def _by_state(model: TreeModel, by_all: Array) -> tuple[Array, Array, Array, Array]:
    """Return the blocks of columns H, s, v, r; of a fixed base those of H and v are empty."""
    m, six = 6 + model.n, 6 if model.base == 'floating' else 0
    return by_all[:, :six], by_all[:, 6:m], by_all[:, m : m + six], by_all[:, m + 6 :]


def _accelerations(model: TreeModel, variation: Variation) -> Array:
    return with_base(model, _field(model, variation, 'acceleration', model.m))


def _field(model: TreeModel, variation: Variation, name: str, size: int) -> Array:
    values = getattr(variation, name)
    if values is None:
        return np.zeros(size)
    return vector(f'variation of {name}', values, size, model.name)


def _direction(
    model: TreeModel,
    state: State,
    variation: Variation,
    acceleration: Array,
    wrenches: Sequence[Wrench],
) -> Direction:
    """Return a variation in the coordinates of the tree."""
    tree, n = model.tree, model.n

    def expanded(base: Array, joints: Array) -> Array:
        out = np.empty(6 + tree.armature.size)
        mimic.expand_velocity(tree, np.concatenate((base, joints)), out)
        return out

    x = np.empty(22 + tree.offset.size + tree.armature.size)
    mimic.expand_state(tree, state_data(model, state), x)
    joint, subspace = _subspaces(model, x, variation.subspaces)
    armature, passive = _passive(model, x, variation.passive)
    return Direction(
        displacement=expanded(
            _field(model, variation, 'pose', 6), _field(model, variation, 'positions', n)
        ),
        velocity=expanded(
            _field(model, variation, 'twist', 6), _field(model, variation, 'rates', n)
        ),
        acceleration=expanded(acceleration[:6], acceleration[6:]),
        gravity=_field(model, variation, 'gravity', 3),
        placement=_placements(model, variation.placements),
        joint=joint,
        subspace=subspace,
        armature=armature,
        passive=passive,
        inertia=_inertias(model, variation.inertias),
        wrench=_wrench_values(model, variation.wrenches, wrenches),
    )


def _placements(model: TreeModel, by_joint: Mapping[str, ArrayLike]) -> Array:
    """Return displacements of joint frames in the axes of their parents (nb, 6)."""
    tree, found = model.tree, np.zeros((model.tree.parent.size, 6))
    for name, values in by_joint.items():
        i, pose = _moved_body(model, name), np.eye(4)
        pose[:3, :3], pose[:3, 3] = tree.rotation[i], tree.translation[i]
        twist = vector(f'placement of joint {name!r}', values, 6, model.name)
        found[i] = se3.adjoint(pose) @ twist
    return found


def _subspaces(
    model: TreeModel, x: Array, by_joint: Mapping[str, ArrayLike]
) -> tuple[Array, Array]:
    """Return displacements of joints (nb, 6) and derivatives of S (n, 6) by changing axes.

    Of E = e_1 e_2 ..., e_k = exp(xi_k s_k), one factor after another:

        u_k = e_k^-1 de_k = s_k J_r(xi_k s_k) dxi_k                                       (1)
        dh = X_k dh + u_k;   dS_b = X_k dS_b + S_b x u_k, b < k;   X_k = Ad(e_k^-1)        (2)
    """
    tree = model.tree
    found, dS = np.zeros((tree.parent.size, 6)), np.zeros_like(tree.subspace)
    for name, values in by_joint.items():
        i = _moved_body(model, name)
        first, count = int(tree.v_start[i]), int(tree.v_size[i])
        if tree.kind[i] not in (SINGLE_AXIS, PRODUCT):
            raise InputError(
                f'variation has a subspace of joint {name!r} of robot {model.name!r}, whose '
                'twists are all of its group and cannot change, expected a joint with axes; '
                'displace its frame by placements'
            )
        dxi = vector(f'subspace of joint {name!r}', np.ravel(values), 6 * count, model.name)
        own = slice(first, first + count)
        S, by_p = tree.subspace[own].copy(), dxi.reshape(count, 6).copy()
        for k in range(count):
            xi, s = tree.subspace[first + k], x[16 + tree.q_start[i] + k]
            X = se3.adjoint_of_exp(-s * xi)
            u = s * se3.right_jacobian(s * xi) @ by_p[k]
            found[i] = X @ found[i] + u
            for b in range(k):
                S[b] = X @ S[b]
                by_p[b] = X @ by_p[b] + se3.cross(S[b]) @ u
        dS[own] = by_p
    return found, dS


def _passive(
    model: TreeModel, x: Array, by_joint: Mapping[str, Mapping[str, float]]
) -> tuple[Array, Array]:
    """Return the derivatives of armature (n,) and of passive torques (n,) at constant motion."""
    tree = model.tree
    armature, passive = np.zeros(tree.armature.size), np.zeros(tree.armature.size)
    names = ('armature', 'damping', 'friction', 'friction_speed', 'stiffness', 'rest')
    for joint, values in by_joint.items():
        i = _moved_body(model, joint)
        for name in values:
            if name not in names:
                raise unknown_name('passive parameter', name, names, f'joint {joint!r}')
            if name in ('stiffness', 'rest') and tree.kind[i] not in (SINGLE_AXIS, PRODUCT):
                raise InputError(
                    f'variation has the {name} of joint {joint!r} of robot {model.name!r}, which '
                    'can have no spring, expected a joint with axes; leave it out'
                )
        change = dict.fromkeys(names, 0.0) | dict(values)
        for e in range(int(tree.v_size[i])):
            c, s = int(tree.v_start[i]) + e, x[16 + tree.q_start[i] + e]
            r, speed = x[x.size - armature.size + c], tree.friction_speed[c]
            smooth = np.tanh(r / speed)
            by_speed = -tree.friction[c] * (1.0 - smooth**2) * r / speed**2
            armature[c] = change['armature']
            passive[c] = (
                change['damping'] * r
                + change['friction'] * smooth
                + change['friction_speed'] * by_speed
                + change['stiffness'] * (s - tree.rest[c])
                - change['rest'] * tree.stiffness[c]
            )
    return armature, passive


def _moved_body(model: TreeModel, joint: str) -> int:
    if joint not in model.body_of_joint:
        raise unknown_name('joint', joint, model.body_of_joint, f'robot {model.name!r}')
    return model.body_of_joint[joint]


def _inertias(model: TreeModel, by_link: Mapping[str, ArrayLike]) -> Array:
    """Return derivatives of the bodies' inertias (nb, 6, 6)."""
    found = np.zeros_like(model.tree.inertia)
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
        found[frame.body] += moved_inertia(inertia, frame.placement)
    return found


def _wrench_values(
    model: TreeModel, values: ArrayLike | None, wrenches: Sequence[Wrench]
) -> Array:
    """Return derivatives of the values of wrenches as packed for kernels."""
    if values is None:
        return np.zeros((len(wrenches), 6))
    rows = np.asarray(values, dtype=np.float64)
    if rows.shape != (len(wrenches), 6):
        raise ShapeError(
            f'variation of wrenches has shape {rows.shape}, expected ({len(wrenches)}, 6): '
            '[force; moment] of each wrench'
        )
    moved = [
        dataclasses.replace(wrench, force=row[:3], moment=row[3:])
        for wrench, row in zip(wrenches, rows, strict=True)
    ]
    return pack(model, moved).value
