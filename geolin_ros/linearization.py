# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B of a robot about a state: what everything else of the package calls."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.discretization import Discretization, Method, discretize
from geolin_ros.dynamics import failure, wrong_state
from geolin_ros.errors import ConfigurationError, ShapeError
from geolin_ros.kernels import (
    forward_dynamics,
    general_linearization,
    records,
)
from geolin_ros.kernels.linearization import linearize
from geolin_ros.kernels.selection import select
from geolin_ros.kernels.status import OK
from geolin_ros.kernels.types import Workspace, make_workspace
from geolin_ros.labels import Label, input_labels, rate_label, state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array, IntArray
from geolin_ros.wrenches import Wrench, pack

Reference = Literal['moving', 'frozen']

NO_MEMORY_OF_FLOATS = (TypeError, ValueError, NotImplementedError, BufferError)
"""What a memoryview says to it."""


class Linearization:
    """zdot = A z + B dtau + drift about a state, z = [H; s; v; r] left-trivialized.

    Attributes
    ----------
    A : (2 m, 2 m)
        m = 6 + n with rows and columns [H; s; v; r]; fixed base m = n, [s; r]
        [Bos 2022, Proposition 1].
    B : (2 m, n_u)
        Columns are the efforts of the model's actuated joints, all n by default.
    nu_dot : (m,)
        Forward dynamics: base twist rate in base axes [m/s^2, rad/s^2], joint accelerations.
    drift : (2 m,)
        Zero for the moving reference, [v; r; nu_dot] for the frozen one.
    reference
        ``'moving'``: the error is taken to the motion through the state; ``'frozen'``: to the
        state itself, held still.
    columns, inputs
        Names and units of the state entries and of the inputs.
    """

    __slots__ = ('A', 'B', 'columns', 'drift', 'inputs', 'nu_dot', 'reference')

    def __init__(
        self,
        A: Array,
        B: Array,
        nu_dot: Array,
        drift: Array,
        columns: tuple[Label, ...],
        inputs: tuple[Label, ...],
        reference: Reference = 'moving',
    ) -> None:
        self.A, self.B, self.nu_dot, self.drift = A, B, nu_dot, drift
        self.columns, self.inputs = columns, inputs
        self.reference = reference

    @property
    def rows(self) -> tuple[Label, ...]:
        """Names and units of the rates of the state entries."""
        return tuple(rate_label(label) for label in self.columns)

    def copy(self) -> 'Linearization':
        """Return a linearization with arrays of its own."""
        return Linearization(
            self.A.copy(),
            self.B.copy(),
            self.nu_dot.copy(),
            self.drift.copy(),
            self.columns,
            self.inputs,
            self.reference,
        )


class Linearizer:
    """Linearizes one robot, again and again, in a workspace of its own (one per thread).

    Parameters
    ----------
    model
        The robot.

    Examples
    --------
    >>> from geolin_ros import Linearizer, TreeModel, robots
    >>> model = TreeModel.from_urdf(robots.path('quadruped'))
    >>> lin = Linearizer(model)
    >>> L = lin(model.neutral_state(), np.zeros(model.n))
    >>> L.A.shape, L.B.shape
    ((36, 36), (36, 12))
    """

    def __init__(self, model: TreeModel) -> None:
        self.model = model
        n, m = model.n, model.m
        self._n, self._size = n, 22 + model.n_q + n
        self._no_wrenches = pack(model, ())
        self._packed = model.packed
        self._tau = np.zeros(n)
        if self._packed is not None:
            self._kernel = self._make_kernel(self._packed)
            self._fast_workspace = records.make_workspace(self._packed)
            self._tau = self._inputs = records.make_inputs(self._packed, self._no_wrenches)
        self._tau_memory = memoryview(self._tau)  # type: ignore[arg-type]
        self._full, self._full_A, self._full_B, self._full_nu_dot = self._make_output()
        self._kept = self._selection()
        self._A, self._B, self._nu_dot = self._full_A, self._full_B, self._full_nu_dot
        if self._kept is not None:
            self._A, self._B = np.zeros((2 * m, 2 * m)), np.zeros((2 * m, self._kept[1].size))
            self._nu_dot = np.zeros(m)
        self._no_drift, self._drift = np.zeros(2 * m), np.zeros(2 * m)
        self.result = Linearization(
            read_only(self._A),
            read_only(self._B),
            read_only(self._nu_dot),
            read_only(self._no_drift),
            state_labels(model),
            input_labels(model),
        )
        self._drift_views = (read_only(self._no_drift), read_only(self._drift))

    @property
    def algorithm(self) -> Literal['fast', 'general']:
        """Which kernel serves the model.

        ``'fast'``: single-axis joints between rigid bodies, cost grows with the entries of A.
        ``'general'``: everything else, a dense factorization.
        """
        return 'general' if self._packed is None else 'fast'

    @cached_property
    def _workspace(self) -> Workspace:
        return make_workspace(self.model.tree)

    @cached_property
    def _spare(self) -> tuple[Array, Array, Array, Array]:
        """Output of the fast kernel that leaves the last result alone."""
        return self._make_output()

    def _make_kernel(self, packed: records.Packed) -> Callable[[Array, Array, Array, Array], int]:
        """Return the fast kernel for this robot: (x, inputs, workspace, out) -> status."""
        return partial(linearize, packed.ints, packed.floats)

    def _make_output(self) -> tuple[Array, Array, Array, Array]:
        """Return memory for its results, and A, B and nu_dot in it."""
        return records.make_output(self.model.n)

    def __call__(
        self,
        state: State,
        tau: ArrayLike,
        reference: Reference = 'moving',
        wrenches: Sequence[Wrench] = (),
    ) -> Linearization:
        """Linearize about a state.

        Parameters
        ----------
        state
            Where; its sizes must be the model's.
        tau : (n,)
            Joint efforts [N m or N].
        reference
            See `Linearization`.
        wrenches
            External wrenches on links.

        Returns
        -------
        Linearization
            Its arrays are read-only views of the workspace, valid until the next call.

        Raises
        ------
        ShapeError
            If the state or tau has not the model's size.
        NotFiniteError
            If an input holds NaN or inf.
        SingularInertiaError
            If a joint moves no inertia at this state.
        """
        x = state.data
        if len(x) != self._size:
            raise wrong_state(self.model, state)
        try:
            self._tau_memory[:] = tau  # type: ignore[assignment]
        except NO_MEMORY_OF_FLOATS:  # or of another size
            self._take(tau)
        if self._packed is None:
            status = self._run_general(state, wrenches)
        else:
            inputs = self._inputs if not wrenches else self._inputs_with(self._packed, wrenches)
            status = self._kernel(x, inputs, self._fast_workspace, self._full)
        if status != OK:
            raise failure(self.model, status, state, {'tau': self._tau})
        if self._kept is not None:
            select(
                *self._kept,
                self._full_A,
                self._full_B,
                self._full_nu_dot,
                self._A,
                self._B,
                self._nu_dot,
            )
        result = self.result
        if reference != 'moving' or result.reference != 'moving':
            self._refer_to(reference, state)
        return result

    def forward_dynamics(
        self, state: State, tau: ArrayLike, wrenches: Sequence[Wrench] = ()
    ) -> Array:
        """Return nu_dot (m,) alone: base twist rate in base axes, joint accelerations.

        Same arguments and errors as a linearization; the array is the caller's.
        """
        if len(state.data) != self._size:
            raise wrong_state(self.model, state)
        self._take(tau)
        if self._packed is None:
            nu_dot = np.empty(6 + self.model.n)
            status = forward_dynamics.forward_dynamics(
                self.model.tree,
                self._workspace,
                state.data,
                self._tau,
                self.model.gravity,
                pack(self.model, wrenches) if wrenches else self._no_wrenches,
                nu_dot,
            )
            rows: slice | IntArray = slice(6 + self.model.n - self.model.m, None)
        else:  # the whole linearization costs less than a dense factorization
            full, _, _, nu_dot = self._spare
            inputs = self._inputs if not wrenches else self._inputs_with(self._packed, wrenches)
            status = self._kernel(state.data, inputs, self._fast_workspace, full)
            rows = slice(None)
            if self._kept is not None:
                rows = self._kept[0][self.model.m :] - nu_dot.size
        if status != OK:
            raise failure(self.model, status, state, {'tau': self._tau})
        return nu_dot[rows].copy()

    def discretize(
        self,
        state: State,
        tau: ArrayLike,
        dt: float,
        method: Method = 'midpoint',
        reference: Reference = 'moving',
        wrenches: Sequence[Wrench] = (),
        next_reference: State | None = None,
    ) -> Discretization:
        """Step over ``dt`` with the efforts held, and linearize the step.

        Parameters
        ----------
        state, tau, wrenches
            As for a linearization.
        dt
            Time step [s].
        method
            ``'midpoint'``: local error dt^3 for one linearization; ``'euler'``, ``'zoh'``: dt^2;
            ``'rkmk4'``: dt^5, the exact derivative of its own step. See `discretization`.
        reference
            ``'moving'``: the error is taken to the motion through the state. ``'frozen'``: to the
            state itself, held still; the drift is the defect, and Phi and Gamma have a local
            error of dt^2 with ``'euler'`` and ``'zoh'``, which discretize A, B and drift.
        next_reference
            Where a reference that does not follow the model is after ``dt`` (``'moving'`` only);
            the defect is then log(next_reference^-1 next_state).

        Returns
        -------
        Discretization
            Its arrays are the caller's.

        Raises
        ------
        ConfigurationError
            If dt is not positive, or method or reference is none of the above.
        InputError
            If the base is fixed and the state gives it a twist.
        ShapeError, NotFiniteError, SingularInertiaError
            As for a linearization; NotFiniteError also if the step overflows.
        """
        return discretize(self, state, tau, dt, method, reference, wrenches, next_reference)

    def _run_general(self, state: State, wrenches: Sequence[Wrench]) -> int:
        status: int = general_linearization.linearize(
            self.model.tree,
            self._workspace,
            state.data,
            self._tau,
            self.model.gravity,
            pack(self.model, wrenches) if wrenches else self._no_wrenches,
            self._full_A,
            self._full_B,
            self._full_nu_dot,
        )
        return status

    def _inputs_with(self, packed: records.Packed, wrenches: Sequence[Wrench]) -> Array:
        inputs = records.make_inputs(packed, pack(self.model, wrenches))
        inputs[: self.model.n] = self._tau
        return inputs

    def _selection(self) -> tuple[IntArray, IntArray] | None:
        """Return the kernel's rows and inputs in the model's order, or None if that is theirs."""
        n = self.model.n
        joints = np.arange(n)
        if self._packed is not None:
            joints[self.model.tree.v_start[1:]] = np.arange(n)
        inputs = joints[[self.model.joint_index(name) for name in self.model.actuated_joints]]
        if self.model.base == 'fixed':
            return np.concatenate((6 + joints, 12 + n + joints)), inputs
        if np.array_equal(joints, np.arange(n)) and np.array_equal(inputs, joints):
            return None
        base = np.arange(6)
        return np.concatenate((base, 6 + joints, 6 + n + base, 12 + n + joints)), inputs

    def _refer_to(self, reference: Reference, state: State) -> None:
        """Say what the error of the result is taken to, and make it so."""
        check_reference(reference)
        self.result.reference = reference
        self.result.drift = self._drift_views[reference == 'frozen']
        if reference == 'frozen':
            self._freeze(state)

    def _freeze(self, state: State) -> None:
        """Halve -(v x) and fill the drift: the error to a reference that stands still.

        First order of zdot = J_r^-1(z) f(g exp z): block (H, H) is -(1/2)(v x), drift f; the same
        for the blocks of group joints, which only the general algorithm has.
        """
        n, m = self.model.n, self.model.m
        kinematic = m if self._packed is None else m - n
        self._A[:kinematic, :kinematic] *= 0.5
        if self.model.base == 'floating':
            self._drift[:6] = state.v
        self._drift[m - n : m] = state.r
        self._drift[m:] = self._nu_dot

    def _take(self, tau: ArrayLike) -> None:
        """Keep efforts of any kind."""
        values = np.asarray(tau, dtype=np.float64)
        if values.shape != (self._n,):
            raise ShapeError(f'tau has shape {values.shape}, expected ({self._n},), one a joint')
        self._tau[...] = values


def check_reference(reference: str) -> None:
    """Raise ConfigurationError where it is none of `Reference`."""
    if reference not in ('moving', 'frozen'):
        raise ConfigurationError(f"reference is {reference!r}, expected 'moving' or 'frozen'")


def read_only(array: Array) -> Array:
    """Return a view that cannot be written to."""
    view = array.view()
    view.setflags(write=False)
    return view
