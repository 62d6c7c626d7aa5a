# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The Newton-Euler equations of a tree and its sensors as one sparse system D d + b = 0.

Unknowns d = [a | f | fx | tau | qdd]; with p the parent of i, j its children:

    a_i:    -a_i + ^iX_p a_p + S_i qdd_i + v_i x S_i r_i = 0                       [Nori, (3a)]
    f_i:    M_i a_i - f_i - fx_i + sum_j (^jX_i)' f_j + v_i xb* M_i v_i = 0        [Nori, (3f)]
    tau_i:  S_i' f_i - tau_i + rotor_i qdd_i + passive_i = 0                       [Nori, (3tau)]
    y:      C d + c - y = 0                                                        [Nori, (16)]

D depends on the joint positions alone. A floating base is a joint of six rates with S = 1; a fixed
base has none, its f is the reaction of the ground. Differs from the paper: rotor inertia and
passive torques are part of tau, so that tau is what the drives give.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from geolin_estimation.kernels.block_system import assemble, substitute
from geolin_estimation.sparse.sensors import FLOATING_BASE, Kind, Sensor, Variable
from geolin_ros.dynamics.arguments import wrong_state
from geolin_ros.errors import ConfigurationError, unknown_name
from geolin_ros.kernels.packing.types import make_workspace
from geolin_ros.model.state import State, finite_array
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array

if TYPE_CHECKING:
    from scipy import sparse
else:
    sparse = optional('scipy.sparse', extra='estimation')

SIX = np.eye(6)
_AXES = ('x', 'y', 'z', 'rx', 'ry', 'rz')


class DynamicVariables(NamedTuple):
    """The solution d, by kind; see `Variable` for units and frames."""

    a: Array
    """(nb, 6)"""
    f: Array
    """(nb, 6)"""
    fx: Array
    """(nb, 6)"""
    tau: Array
    """(m,) [base wrench; joint efforts], fixed base (n,)"""
    nu_dot: Array
    """(m,) [base twist rate; joint accelerations], fixed base (n,). In free fall (R' g; 0; 0),
    while every ``a``, from which gravity is taken, is 0."""


class BlockSystem:
    """D and b of a robot with sensors [Nori, Eqs. (2)-(5), Remark 1].

    Raises `UnknownNameError` or `ConfigurationError` if a sensor measures what the model does not
    have, or has a wrong shape or covariance.

    Joints are of any kind; those that mimic others have no qdd and tau of their own. Readings
    follow one another in the order of the sensors.

    Attributes
    ----------
    size
        Number of unknowns, 18 nb + 2 m.
    equations, rows
        Number of rows of the model, 12 nb + m, and with those of the sensors, which follow.
    exact : (rows,)
        Which rows have no noise: the model's and those of exact sensors.
    C : (rows - equations, size)
        Rows of the sensors, which no state changes.
    X, S : (nb, 6, 6), (nb, 6, m)
        ^iX_p and what joints add to the twists of their bodies, at the last state.
    rotors : (m,)
        Rotor inertias, of joints that follow others included.
    b : (rows,)
        At the last state and readings.
    places
        Of sensors among the readings, by name.
    """

    def __init__(self, model: TreeModel, sensors: Sequence[Sensor] = ()) -> None:
        self.model, self.sensors, tree = model, tuple(sensors), model.tree
        self.nb, self.m = len(model.body_names), model.m
        nb, m, base = self.nb, self.m, self.m - model.n
        self.size = 18 * nb + 2 * m
        self.equations = 12 * nb + m
        self.rows = self.equations + sum(sensor.size for sensor in self.sensors)
        self._columns = self._name_columns()
        self._workspace = make_workspace(tree)
        self.X, self.S, self.b = np.zeros((nb, 6, 6)), np.zeros((nb, 6, m)), np.zeros(self.rows)
        self.S[0, :base, :base] = np.eye(base)
        self._rates = base + tree.master
        self._friction_speed = np.where(tree.friction > 0.0, tree.friction_speed, 1.0)
        self._bodies, self._positions = np.zeros((2, len(tree.master)), dtype=np.int64)
        self._first, self._last = np.zeros((2, nb), dtype=np.int64)
        self._last[0] = base
        for i in 1 + np.flatnonzero(tree.v_size[1:]):
            own = slice(tree.v_start[i], tree.v_start[i] + tree.v_size[i])
            self._bodies[own] = i
            self._positions[own] = 16 + tree.q_start[i] + np.arange(tree.v_size[i])
            self._first[i], self._last[i] = self._rates[own].min(), self._rates[own].max() + 1
        self._follow = np.zeros((m, len(tree.master)))  # coordinates of the tree by its rates
        self._follow[self._rates, np.arange(len(tree.master))] = tree.multiplier
        self.rotors = self._follow @ (tree.multiplier * tree.armature)
        self._place_sensors()

    def columns(self, variable: Variable) -> range:
        """Return the unknowns of a variable.

        Raises `UnknownNameError` if the model has no such body or joint.
        """
        try:
            return self._columns[variable]
        except KeyError:
            names = [name for kind, name in self._columns if kind == variable.kind]
            raise unknown_name(
                f'{variable.kind} of', variable.name, names, f'robot {self.model.name!r}'
            ) from None

    @property
    def labels(self) -> tuple[str, ...]:
        """Name of every unknown: kind, body or joint, axis."""
        return tuple(
            f'{variable.kind}[{variable.name}]' + (f'.{_AXES[e]}' if len(columns) > 1 else '')
            for variable, columns in self._columns.items()
            for e in range(len(columns))
        )

    def update(self, state: State, readings: Array) -> None:
        """Fill X, S and b for a state and the readings of all sensors.

        Raises `ShapeError` if the state or the readings have not the size that the system has;
        `NotFiniteError` if one of them holds NaN or inf.
        """
        if (state.s.size, state.r.size) != (self.model.n_s, self.model.n):
            raise wrong_state(self.model, state)
        finite_array('state', state.data, state.data.shape)
        finite_array('readings', readings, (self.rows - self.equations,))
        model, ws, tree, six = self.model, self._workspace, self.model.tree, 6 * self.nb
        b_a, b_f = self.b[:six].reshape(-1, 6), self.b[six : 2 * six].reshape(-1, 6)
        places = self._bodies, self._rates
        assemble(tree, ws, state.data, model.gravity, SIX, *places, self.X, self.S, b_a, b_f)
        rates, positions = ws.x[-len(self._rates) :], ws.x[self._positions]
        passive = tree.damping * rates + tree.stiffness * (positions - tree.rest)
        passive += tree.friction * np.tanh(rates / self._friction_speed)
        self.b[2 * six : self.equations] = self._follow @ passive
        np.negative(readings, out=self.b[self.equations :])
        for place, offset in self._offsets:
            self.b[self.equations :][place] += offset(ws.v)

    def readings(self, d: Array) -> Array:
        """Return what noiseless sensors read at unknowns ``d`` (size,) in the last state."""
        read: Array = self.C @ d
        for place, offset in self._offsets:
            read[place] += offset(self._workspace.v)
        return read

    def matrix(self) -> 'sparse.csr_matrix':
        """Return D (rows, size) at the last state."""
        tree, nb, m = self.model.tree, self.nb, self.m
        D = np.zeros((self.equations, self.size))
        D[:, : 12 * nb] = -np.eye(self.equations, 12 * nb)
        D[6 * nb : 12 * nb, 12 * nb : 18 * nb] = -np.eye(6 * nb)
        D[12 * nb :, 18 * nb : 18 * nb + m] = -np.eye(m)
        D[: 6 * nb, 18 * nb + m :] = self.S.reshape(6 * nb, m)
        D[12 * nb :, 6 * nb : 12 * nb] = self.S.reshape(6 * nb, m).T
        D[12 * nb :, 18 * nb + m :] = np.diag(self.rotors)
        for i in range(nb):
            a, f = slice(6 * i, 6 * i + 6), slice(6 * (nb + i), 6 * (nb + i) + 6)
            D[f, a] = tree.inertia[i]
            if i > 0:
                p = 6 * tree.parent[i]
                D[a, p : p + 6] = self.X[i]
                D[6 * nb + p : 6 * nb + p + 6, f] = self.X[i].T
        return sparse.vstack((sparse.csr_matrix(D), self.C), format='csr')

    def expand(self, T: Array) -> None:
        """Fill a, f and tau in columns (size, k) of unknowns by their fx and qdd.

        The first column is of constants: b is added there.
        """
        nb, equations = self.nb, self.equations
        a, f, fx = T[: 18 * nb].reshape(3, nb, 6, -1)
        tau, qdd = T[18 * nb : 18 * nb + self.m], T[18 * nb + self.m :]
        np.multiply(self.rotors[:, np.newaxis], qdd, out=tau)
        T[: 12 * nb] = 0.0
        T[: 12 * nb, 0] = self.b[: 12 * nb]
        tau[:, 0] += self.b[12 * nb : equations]
        tree = self.model.tree
        columns = self._first, self._last
        substitute(tree.parent, *columns, tree.inertia, self.X, self.S, a, f, fx, tau, qdd)

    def unpack(self, d: Array) -> DynamicVariables:
        """Return views of unknowns ``d`` (size,) by kind."""
        nb, m = self.nb, self.m
        a, f, fx = d[: 18 * nb].reshape(3, nb, 6)
        return DynamicVariables(a, f, fx, d[18 * nb : 18 * nb + m], d[18 * nb + m :])

    def _name_columns(self) -> dict[Variable, range]:
        model = self.model
        of_bodies: tuple[Kind, ...] = ('a', 'f', 'fx')
        of_joints: tuple[Kind, ...] = ('tau', 'qdd')
        if FLOATING_BASE in model.joint_names:
            raise ConfigurationError(
                f'robot {model.name!r} has a joint {FLOATING_BASE!r}, a name that stands for the '
                'base; rename the joint'
            )
        sizes = [(kind, name, 6) for kind in of_bodies for name in model.body_names]
        for kind in of_joints:
            sizes += [(kind, FLOATING_BASE, 6)] if model.base == 'floating' else []
            sizes += [(kind, name, 1) for name in model.joint_names]
        ends = accumulate(size for _, _, size in sizes)
        return {
            Variable(kind, name): range(end - size, end)
            for (kind, name, size), end in zip(sizes, ends, strict=True)
        }

    def _place_sensors(self) -> None:
        """Check the sensors and place their rows."""
        self.places: dict[str, slice] = {}
        self._offsets: list[tuple[slice, Callable[[Array], Array]]] = []
        self.exact = np.ones(self.rows, dtype=bool)
        C, start = np.zeros((self.rows - self.equations, self.size)), 0
        for sensor in self.sensors:
            if sensor.name in self.places:
                raise ConfigurationError(
                    f'two sensors are called {sensor.name!r}, expected different names'
                )
            end = start + sensor.size
            for term in sensor.terms:
                columns = self.columns(term.variable)
                shape = (sensor.size, len(columns))
                if np.shape(term.matrix) != shape or not np.isfinite(term.matrix).all():
                    raise ConfigurationError(
                        f'sensor {sensor.name!r} has a matrix of shape {np.shape(term.matrix)} '
                        f'for {term.variable.kind}[{term.variable.name}], expected {shape}, finite'
                    )
                C[start:end, columns] += term.matrix
            check_covariance(sensor)
            self.places[sensor.name] = place = slice(start, end)
            self.exact[self.equations :][place] = sensor.covariance is None
            if sensor.offset is not None:
                self._offsets.append((place, sensor.offset))
            start = end
        self.C = sparse.csr_matrix(C)

    def generic_state(self, seed: int = 0) -> State:
        """Return a state without special positions, whatever the joint limits, at rest."""
        z, n = np.zeros(2 * self.m), self.model.n
        z[self.m - n : self.m] = np.random.default_rng(seed).uniform(-3.0, 3.0, n)
        return self.model.neutral_state().retract(z)


def check_covariance(sensor: Sensor) -> None:
    """Refuse a covariance that is not symmetric and positive definite."""
    if sensor.covariance is None:
        return
    covariance, k = np.asarray(sensor.covariance), sensor.size
    if (
        covariance.shape != (k, k)
        or not np.isfinite(covariance).all()
        or not np.allclose(covariance, covariance.T, rtol=1e-12, atol=0.0)
        or not np.linalg.eigvalsh(covariance)[0] > 0.0
    ):
        raise ConfigurationError(
            f'sensor {sensor.name!r} has covariance {covariance.tolist()}, expected ({k}, {k}), '
            'symmetric and positive definite; leave it out for an exact reading'
        )
