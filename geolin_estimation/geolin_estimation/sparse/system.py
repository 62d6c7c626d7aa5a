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

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_estimation.kernels.block_system import assemble
from geolin_estimation.sparse.sensors import FLOATING_BASE, Kind, Sensor, Variable
from geolin_ros.errors import ConfigurationError, NotFiniteError, ShapeError, unknown_name
from geolin_ros.kernels.packing.types import PRODUCT, make_workspace
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array, IntArray

if TYPE_CHECKING:
    from scipy import sparse
else:
    sparse = optional('scipy.sparse', extra='estimation')

# The entries of ^iX_p are combinations of 1, sin s, cos s, s, s sin s and s cos s: one that
# vanishes at seven random positions vanishes at all.
_DRAWS = 7
_ROUNDING = 1e-14
_CONSTANT = -1
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
    """D and b of a robot with sensors, on the pattern that holds at every state.

    [Nori, Eqs. (2)-(5), Remarks 1 and 4].

    Raises `UnknownNameError` or `ConfigurationError` if a sensor measures what the model does not
    have, or has a wrong shape or covariance.

    Parameters
    ----------
    model
        The robot; joints of any kind. Those that mimic others have no qdd and tau of their own.
    sensors
        What is measured; their readings follow one another in this order.

    Attributes
    ----------
    size
        Number of unknowns, 18 nb + 2 m.
    equations, rows
        Number of rows of the model, 12 nb + m, and with those of the sensors, which follow.
    row, column : (nnz,)
        Where the entries stand.
    values : (nnz,)
        What they are at the last state.
    source : (nnz,)
        Entry of ^iX_p (nb, 6, 6), and behind those of S (n, 6), that an entry changes with; -1:
        it is constant.
    b : (rows,)
        At the last state and readings.
    """

    def __init__(self, model: TreeModel, sensors: Sequence[Sensor] = ()) -> None:
        self.model, self.sensors = model, tuple(sensors)
        self.nb, self.m = len(model.body_names), model.m
        self.size = 18 * self.nb + 2 * self.m
        self.equations = 12 * self.nb + self.m
        self.rows = self.equations + sum(sensor.size for sensor in self.sensors)
        self._columns = self._name_columns()
        self._workspace = make_workspace(model.tree)
        self._rates, self._first_body = self._place_rates()
        self._X = np.zeros((self.nb, 6, 6))
        self.sensor_rows = self._place_sensors()
        self._place_entries()

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

    def joint_columns(self, body: int) -> list[int]:
        """Return which of the m rates move a body and none before it: none for a fixed base."""
        return np.flatnonzero(self._first_body == body).tolist()

    def update(self, state: State, readings: Array) -> None:
        """Fill ``values`` and ``b`` for a state and the readings of all sensors.

        Raises `ShapeError` if the state or the readings have not the size that the system has;
        `NotFiniteError` if one of them holds NaN or inf.
        """
        model = self.model
        if (state.s.size, state.r.size) != (model.n_s, model.n):
            raise ShapeError(
                f'state has {state.s.size} joint positions and {state.r.size} rates, expected '
                f'{model.n_s} and {model.n} for robot {model.name!r}'
            )
        if np.shape(readings) != (self.rows - self.equations,):
            raise ShapeError(
                f'readings have shape {np.shape(readings)}, expected '
                f'({self.rows - self.equations},), those of '
                f'{", ".join(sensor.name for sensor in self.sensors[:8])} ...'
            )
        for name, array in (('state', state.data), ('readings', readings)):
            if not np.isfinite(array).all():
                at = int(np.argmin(np.isfinite(array)))
                raise NotFiniteError(
                    f'{name} of robot {model.name!r} hold {array[at]} at index {at}, expected '
                    'finite numbers'
                )
        self._assemble(state.data)
        np.negative(readings, out=self.b[self.equations :])
        for rows, offset in self._offsets:
            self.b[rows] += offset(self._workspace.v)

    def stack(self, readings: Mapping[str, ArrayLike]) -> Array:
        """Return readings given by sensor name as one array, in the sensors' order.

        Raises `UnknownNameError` or `ShapeError` if a sensor has no reading, a reading no sensor,
        or a wrong number of values.
        """
        names = [sensor.name for sensor in self.sensors]
        for name in readings:
            if name not in names:
                raise unknown_name('sensor', name, names, f'the system of {self.model.name!r}')
        stacked = [np.zeros(0)]
        for sensor in self.sensors:
            if sensor.name not in readings:
                raise unknown_name('reading', sensor.name, readings, 'the readings given')
            stacked.append(np.atleast_1d(np.asarray(readings[sensor.name], dtype=np.float64)))
            if stacked[-1].shape != (sensor.size,):
                raise ShapeError(
                    f'reading of {sensor.name!r} has shape {stacked[-1].shape}, expected '
                    f'({sensor.size},)'
                )
        return np.concatenate(stacked)

    def readings(self, d: Array) -> Array:
        """Return what noiseless sensors read at unknowns ``d`` (size,) in the last state."""
        read: Array = self.matrix()[self.equations :] @ d
        for rows, offset in self._offsets:
            read[rows.start - self.equations : rows.stop - self.equations] += offset(
                self._workspace.v
            )
        return read

    def matrix(self) -> 'sparse.csr_matrix':
        """Return a copy of D (rows, size) at the last state; entries may be zero."""
        return sparse.csr_matrix(
            (self.values.copy(), (self.row, self.column)), shape=(self.rows, self.size)
        )

    def pose_matrices(self) -> Array:
        """Return a copy of ^iX_p (nb, 6, 6) of every body at the last state."""
        return self._X.copy()

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

    def _place_sensors(self) -> dict[str, slice]:
        """Check the sensors and return the rows of each."""
        places: dict[str, slice] = {}
        start = self.equations
        for sensor in self.sensors:
            if sensor.name in places:
                raise ConfigurationError(
                    f'two sensors are called {sensor.name!r}, expected different names'
                )
            for term in sensor.terms:
                shape = (sensor.size, len(self.columns(term.variable)))
                if np.shape(term.matrix) != shape or not np.isfinite(term.matrix).all():
                    raise ConfigurationError(
                        f'sensor {sensor.name!r} has a matrix of shape {np.shape(term.matrix)} '
                        f'for {term.variable.kind}[{term.variable.name}], expected {shape}, finite'
                    )
            check_covariance(sensor)
            places[sensor.name] = slice(start, start + sensor.size)
            start += sensor.size
        self._offsets = [(places[s.name], s.offset) for s in self.sensors if s.offset is not None]
        return places

    def _place_entries(self) -> None:
        """Find the pattern: constant entries once, the changing ones at random positions."""
        tree, nb, m = self.model.tree, self.nb, self.m
        blocks: list[tuple[IntArray, IntArray, Array, IntArray]] = []
        moving, moving_axes = self._moving_entries()
        of_poses = np.arange(36 * nb).reshape(nb, 6, 6)
        of_axes = 36 * nb + np.arange(6 * len(moving_axes)).reshape(-1, 6)

        def put(row: int, column: int, block: Array, source: IntArray | None = None) -> None:
            """Place the entries of a block that are not zero; they change with their source."""
            i, j = np.nonzero(block)
            if source is None:
                values, sources = block[i, j], np.full(i.size, _CONSTANT)
            else:
                values, sources = np.zeros(i.size), source[i, j]
            blocks.append((row + i, column + j, values, sources))

        A, F, FX, TAU, QDD = 0, 6 * nb, 12 * nb, 18 * nb, 18 * nb + m
        for i in range(nb):
            row_a, row_f = 6 * i, 6 * (nb + i)
            put(row_a, A + 6 * i, -np.eye(6))
            put(row_f, A + 6 * i, tree.inertia[i])
            put(row_f, F + 6 * i, -np.eye(6))
            put(row_f, FX + 6 * i, -np.eye(6))
            if i > 0:
                p = int(tree.parent[i])
                put(row_a, A + 6 * p, moving[i], of_poses[i])
                put(6 * (nb + p), F + 6 * i, moving[i].T, of_poses[i].T)
            for y in range(tree.v_start[i], tree.v_start[i] + tree.v_size[i]) if i else ():
                c, S, source = int(self._rates[y]), moving_axes[y], of_axes[y]
                if tree.kind[i] == PRODUCT:
                    put(row_a, QDD + c, S[:, None], source[:, None])
                    put(12 * nb + c, F + 6 * i, S[None, :], source[None, :])
                else:
                    S = float(tree.multiplier[y]) * self._workspace.S[y]
                    put(row_a, QDD + c, S[:, None])
                    put(12 * nb + c, F + 6 * i, S[None, :])
            for c in self.joint_columns(i):
                if i == 0:
                    put(row_a, QDD + c, np.eye(6)[:, [c]])
                    put(12 * nb + c, F, np.eye(6)[[c]])
                put(12 * nb + c, TAU + c, -np.eye(1))
                put(12 * nb + c, QDD + c, np.array([[self.rotor(c)]]))
        for sensor in self.sensors:
            for term in sensor.terms:
                row = self.sensor_rows[sensor.name].start
                put(row, self.columns(term.variable).start, np.asarray(term.matrix, np.float64))
        row, column, value, source = (np.concatenate(part) for part in zip(*blocks, strict=True))
        order = np.lexsort((column, row))
        self.row, self.column = row[order].astype(np.int64), column[order].astype(np.int64)
        self.values, self.source = value[order], source[order].astype(np.int64)
        self._slot = np.flatnonzero(self.source != _CONSTANT)
        self._slot_source = self.source[self._slot]
        self.b = np.zeros(self.rows)

    def rotor(self, rate: int) -> float:
        """Return the rotor inertia of a rate, of joints that follow it included."""
        tree, own = self.model.tree, self._rates == rate
        return float(np.sum(tree.armature[own] * tree.multiplier[own] ** 2))

    def subspace(self, rate: int) -> Array:
        """Return the motion subspace (6,) at the last state of a rate that moves one body."""
        S: Array = np.eye(6)[rate % 6]
        if rate >= self.m - self.model.n:
            S = self._workspace.S[int(np.flatnonzero(self._rates == rate)[0])].copy()
        return S

    def _place_rates(self) -> tuple[IntArray, IntArray]:
        """Return the rate of each coordinate of the tree, and the first body that each moves."""
        tree, base = self.model.tree, self.m - self.model.n
        rates = base + tree.master.astype(np.int64)
        first = np.full(self.m, -1)
        first[:base] = 0
        for i in range(self.nb - 1, 0, -1):
            first[rates[tree.v_start[i] : tree.v_start[i] + tree.v_size[i]]] = i
        return rates, first

    def _moving_entries(self) -> tuple[Array, Array]:
        """Return which entries of ^iX_p (nb, 6, 6) and of S (n, 6) are not zero everywhere."""
        rng = np.random.default_rng(0)
        self._slot = self._slot_source = np.zeros(0, np.int64)
        self.values, self.b = np.zeros(0), np.zeros(self.rows)
        found = np.zeros((self.nb, 6, 6), dtype=bool)
        axes = np.zeros(self._workspace.S.shape, dtype=bool)
        for _ in range(_DRAWS):
            self._assemble(self._random_positions(rng).data)
            lengths = np.maximum(1.0, np.abs(self._X).max(axis=(1, 2), keepdims=True))
            found |= np.abs(self._X) > _ROUNDING * lengths
            axes |= np.abs(self._workspace.S) > _ROUNDING
        return found, axes

    def _random_positions(self, rng: np.random.Generator) -> State:
        model = self.model
        z = np.zeros(2 * model.m)
        z[model.m - model.n : model.m] = rng.uniform(-3.0, 3.0, model.n)
        return model.neutral_state().retract(z)

    def generic_state(self, seed: int = 0) -> State:
        """Return a state without special positions, whatever the joint limits, at rest."""
        return self._random_positions(np.random.default_rng(seed))

    def _assemble(self, x: Array) -> None:
        model, ws = self.model, self._workspace
        changing = self._X, self._slot, self._slot_source, self.values
        assemble(model.tree, ws, x, model.gravity, *changing, self.b)


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
