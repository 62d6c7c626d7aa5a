# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From zdot = A z + B du to z+ = Phi z + Gamma du + defect over a time step, efforts constant.

Along a trajectory of the model Phi is the derivative of its flow on the group, left-trivialized at
both ends: Phidot = A(t) Phi with the A of the moving reference [Bos 2022, Proposition 1]. Steps on
the group are Runge and Kutta's in the Lie algebra [Munthe-Kaas 1999]. Errors of one step off
equilibrium, for the moving reference:

    method     Phi, Gamma   next state   evaluations
    euler      dt^2         dt^2         1 linearization
    zoh        dt^2         dt^3         1 linearization; Phi, Gamma exact at equilibria
    midpoint   dt^3         dt^3         1 forward dynamics, 1 linearization
    rkmk4      dt^5         dt^5         4 linearizations; exact derivative of its own step
"""

from __future__ import annotations

import dataclasses
import importlib
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from geolin_ros.dynamics.kinematics import check_state
from geolin_ros.errors import ConfigurationError, NotFiniteError, check_choice
from geolin_ros.kernels.engine import exponential
from geolin_ros.linearization.about import Reference
from geolin_ros.linearization.representation import TwistChange
from geolin_ros.model.labels import Label, input_labels, state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.renamed import with_old_names
from geolin_ros.spatial import se3
from geolin_ros.spatial.frames import MovingFrame, Representation, expression_frame, twist
from geolin_ros.typing import Array, IntArray

Method = Literal['midpoint', 'euler', 'zoh', 'rkmk4']


@with_old_names
@dataclass(frozen=True, eq=False)
class Discretization:
    """z(t + dt) = Phi z(t) + Gamma du + defect with z = [H; s; v; r] = log(g_ref^-1 g).

    At t the reference is the state itself. At t + dt it is the next state (``'moving'``), or still
    the state (``'frozen'``), or the one given as ``next_reference``.

    Attributes
    ----------
    Phi : (2 m, 2 m)
        Derivative by the state; fixed base m = n, [s; r].
    Gamma : (2 m, n_u)
        Derivative by the efforts of the actuated joints, constant over the step.
    next_state
        Prediction ``dt`` after the state.
    defect : (2 m,)
        d = log(g_ref+^-1 g_next), the prediction as seen from the reference at t + dt: zero for
        ``'moving'``, the drift for ``'frozen'``. Phi and Gamma belong to the chart about g_ref+.
    nu_dot : (m,)
        Forward dynamics at the state, as in `Linearization`.
    dt
        Time step [s].
    method, reference
        As asked for.
    model, state
        The robot, and where the step begins.
    """

    model: TreeModel
    state: State
    Phi: Array
    Gamma: Array
    next_state: State
    defect: Array
    nu_dot: Array
    dt: float
    method: Method
    reference: Reference

    @property
    def columns(self) -> tuple[Label, ...]:
        """Names and units of the entries of z: columns and rows of Phi."""
        return state_labels(self.model)

    @property
    def inputs(self) -> tuple[Label, ...]:
        """Names and units of the entries of du: columns of Gamma."""
        return input_labels(self.model)

    def in_representation(self, representation: Representation) -> Discretization:
        """Return the same with the base twist in another representation.

        ``nu_dot`` and ``next_state`` keep the body twist. With T+ at the next state, from and to
        charts about the reference, Phi' = T+ Phi T^-1, Gamma' = T+ Gamma, and defect' is the
        defect of the new numbers. See `representation`; raises `ConfigurationError` if it is
        unknown.
        """
        before = TwistChange(self.state, representation)
        if self.nu_dot.size == self.state.r.size:  # fixed base
            return self
        after = TwistChange(self.next_state, representation)
        reference = self.next_state.retract(-self.defect)
        # z_H is a displacement of the reference: J_r(d) makes it one of the next state
        after.K = after.K @ se3.right_jacobian(self.defect[:6])
        defect = self.defect.copy()
        B = MovingFrame(reference.H, reference.v)
        there = twist(B, expression_frame(B, representation))
        defect[after.v] = after.Y @ self.next_state.v - there
        return dataclasses.replace(
            self,
            Phi=before.on_columns(after.from_body(self.Phi)),
            Gamma=after.from_body(self.Gamma),
            defect=defect,
        )

    def to_control(self) -> Any:
        """Return Phi and Gamma as `Linearization.to_control`, defect left out."""
        labels, none = (self.columns, self.inputs, ()), (self.Phi[:0], self.Gamma[:0])
        return state_space((self.Phi, self.Gamma), none, labels, self.dt, self.model.name)


class Rate(NamedTuple):
    """f = g^-1 gdot = [v; r; nu_dot] (2 m,) at a state, and A, B."""

    f: Array
    A: Array
    B: Array


RateAt = Callable[[State], Rate]


class Group(NamedTuple):
    """Rows of z that do not commute: the base, a spherical, planar or inner floating joint."""

    rows: slice
    axes: IntArray
    """Which entries of a twist they are; the others are zero and stay it."""

    def of(self, matrix: Callable[[Array], Array], z: Array) -> Array:
        """Return a 6x6 matrix of the group at its part of z, without the rows of other axes."""
        twist = np.zeros(6)
        twist[self.axes] = z[self.rows]
        return matrix(twist)[np.ix_(self.axes, self.axes)]


def groups_of(model: TreeModel) -> list[Group]:
    """Return the groups among [H; s], of a fixed base [s]."""
    first = model.m - model.n
    base = [Group(slice(0, 6), np.arange(6))] if first else []
    return base + [
        Group(slice(first + joint.rates.start, first + joint.rates.stop), joint.axes)
        for joint in model.positions.groups
    ]


class Step(NamedTuple):
    """A step g+ = g exp(theta): z+ = Phi z + Gamma du for perturbations of g and of g+."""

    theta: Array
    Phi: Array
    Gamma: Array


def discretize(
    model: TreeModel,
    state: State,
    rate_at: RateAt,
    dt: float,
    method: Method,
    reference: Reference,
    next_reference: State | None = None,
) -> Discretization:
    """Do what `Linearizer.discretize` says, of a robot that moves so at a state.

    ``rate_at`` gives A of the moving reference; for ``euler`` and ``zoh`` of ``reference``.
    """
    check_step(dt)
    check_choice('method', method, get_args(Method))
    check_choice('reference', reference, get_args(Reference))
    if reference == 'frozen' and next_reference is not None:
        raise ConfigurationError(
            "next_reference is given with reference 'frozen', which stays at the state; expected "
            "None, or reference 'moving'"
        )
    if next_reference is not None:
        check_state(model, next_reference)
    groups = groups_of(model)
    with np.errstate(over='ignore', invalid='ignore'):
        if method == 'midpoint':
            f = rate_at(state).f
            step = step_midpoint(state, f, rate_at, dt)
        elif method == 'rkmk4':
            f, step = step_rkmk4(state, rate_at, dt, groups)
        else:
            rate = rate_at(state)
            f, step = rate.f, (step_euler if method == 'euler' else step_zoh)(rate, dt)
    if not all(np.isfinite(array).all() for array in step):
        raise NotFiniteError(
            f'a step of {dt:g} s by {method!r} overflows for robot {model.name!r}, expected '
            'finite numbers; take a shorter step'
        )
    next_state, defect = state.retract(step.theta), np.zeros(2 * model.m)
    if reference == 'frozen':
        defect = step.theta
    elif next_reference is not None:
        z, n = next_reference.difference(next_state), model.n
        defect = z if model.base == 'floating' else np.concatenate((z[6 : 6 + n], z[12 + n :]))
    if next_reference is not None or (
        reference == 'frozen' and method in ('midpoint', 'rkmk4')
    ):  # log(g_ref+^-1 g+) moves by J_r^-1(d)
        for group in groups:
            J, rows = group.of(se3.right_jacobian_inverse, defect), group.rows
            step.Phi[rows], step.Gamma[rows] = J @ step.Phi[rows], J @ step.Gamma[rows]
    return Discretization(
        *(model, state.copy(), step.Phi, step.Gamma, next_state, defect, f[model.m :]),
        *(dt, method, reference),
    )


def step_euler(rate: Rate, dt: float) -> Step:
    """Return theta = dt f, Phi = 1 + dt A, Gamma = dt B."""
    return Step(dt * rate.f, np.eye(rate.f.size) + dt * rate.A, dt * rate.B)


def step_zoh(rate: Rate, dt: float) -> Step:
    """Return exp(dt [[A, B, f], [0, 0, 0]]) = [[Phi, Gamma, theta], [0, 1]].

    For theta the reference does not matter: A differs by (1/2) ad_f, and ad_f f = 0.
    """
    k = rate.f.size
    E = integrals(dt, rate.A, rate.B, rate.f[:, np.newaxis])
    return Step(E[:, -1].copy(), E[:, :k].copy(), E[:, k:-1].copy())


def step_midpoint(state: State, f: Array, rate_at: RateAt, dt: float) -> Step:
    """Return the midpoint step; Phi and Gamma by Taylor's series to dt^2 at the midpoint.

    g_m = g exp((dt/2) f),  theta = dt f_m,
    Phi = 1 + dt A_m + (dt^2/2) A_m A_m,  Gamma = dt B_m + (dt^2/2) A_m B_m
    """
    middle = rate_at(state.retract(0.5 * dt * f))
    half = 0.5 * dt * middle.A
    Phi = 2.0 * (half @ half + half)
    Phi[np.diag_indices_from(Phi)] += 1.0
    return Step(dt * middle.f, Phi, dt * (middle.B + half @ middle.B))


def step_rkmk4(
    state: State, rate_at: RateAt, dt: float, groups: Sequence[Group]
) -> tuple[Array, Step]:
    """Return f at the state, and the four-stage Runge-Kutta-Munthe-Kaas step with its derivative.

    Stages c = 0, 1/2, 1/2, 1 with theta_i = c_i dt k_(i-1), x_i = f(g exp theta_i):

        k_i = x_i + [theta_i, x_i] / 2 + [theta_i, [theta_i, x_i]] / 12                (1)
        theta = (dt/6) (k_1 + 2 k_2 + 2 k_3 + k_4)                                     (2)

    The stage is perturbed by w_i = Ad_exp(-theta_i) z + J_r(theta_i) dtheta_i, so that with
    Df = A + blkdiag(v x, 0), and the like for each group joint,

        dk_i = (1 + ad_theta/2 + ad_theta^2/12) (Df w_i + B du)
               - (ad_x/2 + (ad_[theta,x] + ad_theta ad_x)/12) dtheta_i                 (3)
        z+   = Ad_exp(-theta) z + J_r(theta) dtheta                                    (4)
    """
    first = rate_at(state)
    size = first.f.size
    k, dk = first.f, np.hstack((first.A, first.B))  # columns [z | du]; w_1 = z
    for group in groups:
        dk[group.rows, group.rows] += group.of(se3.cross, k)
    total, dtotal = k / 6.0, dk / 6.0
    for node, weight in ((0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0)):
        theta, dtheta = node * dt * k, node * dt * dk
        x = rate_at(state.retract(theta))
        w = _perturbation_after(theta, dtheta, groups)
        k, dk = x.f, x.A @ w
        dk[:, size:] += x.B
        for group in groups:
            rows = group.rows
            ad, ad_x = group.of(se3.cross, theta), group.of(se3.cross, x.f)
            bracket = ad @ x.f[rows]
            ad_bracket = ad @ ad_x - ad_x @ ad
            k[rows] += 0.5 * bracket + ad @ bracket / 12.0
            dk[rows] += ad_x @ w[rows]
            dk[rows] += (0.5 * ad + ad @ ad / 12.0) @ dk[rows]
            dk[rows] -= (0.5 * ad_x + (ad_bracket + ad @ ad_x) / 12.0) @ dtheta[rows]
        total, dtotal = total + weight * k, dtotal + weight * dk
    theta = dt * total
    after = _perturbation_after(theta, dt * dtotal, groups)
    return first.f, Step(theta, after[:, :size].copy(), after[:, size:].copy())


def _perturbation_after(theta: Array, dtheta: Array, groups: Sequence[Group]) -> Array:
    """Return Ad_exp(-theta) [1, 0] + J_r(theta) dtheta; both are 1 on rows that commute."""
    w = dtheta.copy()
    for group in groups:
        w[group.rows] = group.of(se3.right_jacobian, theta) @ dtheta[group.rows]
    w[np.diag_indices(theta.size)] += 1.0
    for group in groups:
        turned = group.of(se3.adjoint_of_exp, -theta)
        w[group.rows, group.rows] += turned - np.eye(group.axes.size)
    return w


def check_step(dt: float) -> None:
    """Raise ConfigurationError unless dt is a positive number."""
    if not (isinstance(dt, (int, float, np.number)) and 0.0 < dt < math.inf):
        raise ConfigurationError(f'dt is {dt!r}, expected a positive number of seconds')


def zero_order_hold(A: Array, B: Array, dt: float) -> tuple[Array, Array]:
    """Return exp(dt A) (k, k) and the integral of exp(t A) B over 0 <= t <= dt (k, n)."""
    E, k = integrals(dt, A, B), A.shape[0]
    return E[:, :k].copy(), E[:, k:].copy()


class _Memory(threading.local):
    """What exponentials are computed in, by size: fresh pages cost more than a small one."""

    def __init__(self) -> None:
        self.of_size: dict[tuple[int, int], tuple[Array, IntArray, Array]] = {}


_memory = _Memory()


def integrals(dt: float, A: Array, *columns: Array) -> Array:
    """Return [exp(dt A) | integrals for the columns], a view that the next call overwrites.

    See `geolin_ros.kernels.engine.exponential`.
    """
    k, n = A.shape[0], sum(part.shape[1] for part in columns)
    if (k, n) not in _memory.of_size:
        work, lists = exponential.make_work(k, n)
        _memory.of_size[k, n] = work, lists, exponential.parts_of(work, k)
    work, lists, parts = _memory.of_size[k, n]
    at = 0
    for part in (A, *columns):
        exponential.fill(work, k, at, part, float(dt))
        at += part.shape[1]
    found: int = exponential.exponential(work, lists, k, n)
    return parts[found, :k, : k + n]


def state_space(
    matrices: tuple[Array, Array],
    forces: tuple[Array, Array],
    labels: tuple[Sequence[Label], Sequence[Label], Sequence[Label]],
    dt: float,
    name: str,
) -> Any:
    """Return a ``control.StateSpace`` whose outputs are its states, and forces.

    Of A and B, derivatives of the forces by state and efforts, labels of states, inputs and
    forces, and a time step [s], 0 of a continuous system.
    """
    try:
        control = importlib.import_module('control')
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f'module {error.name} is not installed, expected python-control: pip install control'
        ) from None
    A, B = matrices
    C, D = (np.vstack(pair) for pair in ((np.eye(len(A)), forces[0]), (0.0 * B, forces[1])))
    # dots are not allowed in names
    states, inputs, others = ([each.name.replace('.', '_') for each in part] for part in labels)
    named = {'states': states, 'inputs': inputs, 'outputs': states + others}
    return control.StateSpace(A, B, C, D, dt, name=name.replace('.', '_'), **named)
