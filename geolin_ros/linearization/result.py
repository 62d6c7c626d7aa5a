# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a linearization consists of."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from geolin_ros.errors import check_choice
from geolin_ros.linearization.about import About, Reference, frozen
from geolin_ros.linearization.contacts.constraints import Geometry
from geolin_ros.linearization.contacts.description import Closure, wrench_labels
from geolin_ros.linearization.contacts.redundancy import Redundancy
from geolin_ros.model.labels import Label, rate_label
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial.frames import Representation
from geolin_ros.typing import Array

if TYPE_CHECKING:  # imported when they are first used
    from geolin_ros.linearization.discretization import Discretization

ARRAYS = ('A', 'B', 'nu_dot', 'drift', 'wrenches', 'wrench_by_state', 'wrench_by_tau')


@dataclass(frozen=True, eq=False)
class Linearization:
    """zdot = A z + B dtau + drift about a state, z = [H; s; v; r] left-trivialized.

    A record that nobody changes: its arrays are read-only and stay as they are as long as anybody
    holds it, one of them or a view of one. `copy` makes arrays to write to.

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
    columns, inputs
        Names and units of the state entries and of the inputs.
    reference
        ``'moving'``: the error is taken to the motion through the state; ``'frozen'``: to the
        state itself, as a fixed point.
    contacts
        Those in force, in the order of their rows; A and B obey them.
    wrenches : (rows,)
        On the robot, 3 (point) or 6 (surface) entries a contact, in axes of and about the contact
        frame [N, N m]; no rows without contacts.
    wrench_by_state : (rows, 2 m)
        Their derivative by z.
    wrench_by_tau : (rows, n_u)
        Their derivative by the efforts of the actuated joints.
    about
        State, efforts and contacts, of which `geometry`, `rank` and `dropped` are functions.
    """

    A: Array
    B: Array
    nu_dot: Array
    drift: Array
    columns: tuple[Label, ...]
    inputs: tuple[Label, ...]
    wrenches: Array
    wrench_by_state: Array
    wrench_by_tau: Array
    about: About
    contacts: tuple[Closure, ...] = ()
    reference: Reference = 'moving'

    @property
    def rows(self) -> tuple[Label, ...]:
        """Names and units of the rates of the state entries."""
        return tuple(rate_label(label) for label in self.columns)

    @property
    def contact_rows(self) -> tuple[Label, ...]:
        """Name and unit of the force of each row."""
        return wrench_labels(self.contacts)

    @property
    def model(self) -> TreeModel:
        """The robot."""
        return self.about.workspace.model

    @property
    def state(self) -> State:
        """The state, a copy."""
        return self.about.state

    @property
    def geometry(self) -> Geometry:
        """J, d(J nu)/dz and M at the state."""
        return self.about.geometry

    @property
    def J(self) -> Array:
        """(rows, m) stacked contact Jacobian."""
        return self.geometry.J

    @property
    def rank(self) -> int:
        """Number of independent rows of J."""
        return self.about.rank

    @property
    def dropped(self) -> Redundancy:
        """How the rank was decided, which forces it leaves open, and what that means in words."""
        return self.about.redundancy

    def copy(self) -> Linearization:
        """Return a linearization with arrays to write to."""
        return dataclasses.replace(self, **{name: getattr(self, name).copy() for name in ARRAYS})

    def frozen(self) -> Linearization:
        """Return the same, the error taken to the state itself, as a fixed point.

        First order of zdot = J_r^-1(z) f(g exp z): of the blocks -(v x) of the base and of group
        joints half is left, and the drift is f = [v; r; nu_dot].
        """
        if self.reference == 'frozen':
            return self
        A, drift = read_only(frozen(self.A)), read_only(self.about.rate(self.nu_dot))
        return dataclasses.replace(self, A=A, drift=drift, reference='frozen')

    def in_representation(self, representation: Representation) -> Linearization:
        """Return the same with the base twist, and z' = T z, in another representation.

        ``nu_dot`` keeps the body twist. With Tdot along the motion

            A' = T A T^-1 + Tdot T^-1,   B' = T B,   drift' = T drift

        is that of the moving reference; of the frozen one, both A and A' hold (1/2)(v x) more in
        block (H, H). See `representation`; raises `ConfigurationError` if it is unknown.
        """
        from geolin_ros.linearization.representation import TwistChange, sensitivity

        state = self.state
        change = TwistChange(state, representation)
        if self.nu_dot.size == state.r.size:  # fixed base
            return self
        A = self.A.copy()
        half = -A[:6, :6] if self.reference == 'frozen' else np.zeros((6, 6))
        A[:6, :6] -= half
        A = change.on_columns(change.from_body(A))
        # Tdot T^-1 = [-Y Kdot, Ydot Y^-1] in the rows of v
        A[change.v, :6] -= change.Y @ sensitivity(self.nu_dot[:6], representation)
        A[change.v, change.v] += change.Y @ change.turning @ change.Y_inverse
        A[:6, :6] += half
        return dataclasses.replace(
            self,
            A=read_only(A),
            B=read_only(change.from_body(self.B)),
            drift=read_only(change.from_body(self.drift)),
            wrench_by_state=read_only(change.on_columns(self.wrench_by_state)),
        )

    def discretize(self, dt: float, *, method: Literal['euler', 'zoh'] = 'zoh') -> Discretization:
        """Return the step over ``dt`` of these A, B and drift, efforts constant.

        Other methods look at the robot elsewhere too, see `Linearizer.discretize`. Raises
        `ConfigurationError` if dt is not positive, or the method is none of the two.
        """
        from geolin_ros.linearization.discretization import Rate, discretize

        check_choice('method', method, ('euler', 'zoh'))
        rate = Rate(self.about.rate(self.nu_dot), self.A, self.B)
        return discretize(self.model, self.state, lambda _: rate, dt, method, self.reference)

    def to_control(self) -> Any:
        """Return A and B as a ``StateSpace`` of python-control, drift left out.

        Inputs and states have our names with ``_`` for dots; outputs are the states, then the
        contact forces. Raises `ConfigurationError` if python-control is not installed.
        """
        from geolin_ros.linearization.discretization import state_space

        forces = self.wrench_by_state, self.wrench_by_tau
        labels = self.columns, self.inputs, self.contact_rows
        return state_space((self.A, self.B), forces, labels, 0.0, self.model.name)


def read_only(array: Array) -> Array:
    """Return a view that cannot be written to."""
    view = array.view()
    view.setflags(write=False)
    return view
