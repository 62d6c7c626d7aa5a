# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a linearization consists of."""

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.contacts.description import SIZES, Closure
from geolin_ros.linearization.contacts.redundancy import Redundancy
from geolin_ros.model.labels import Label, rate_label
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial.frames import Representation
from geolin_ros.typing import Array

if TYPE_CHECKING:  # imported when they are first used
    from geolin_ros.linearization.discretization import Discretization

Reference = Literal['moving', 'frozen']


class Geometry(NamedTuple):
    """What the contacts admit at a state."""

    J: Array
    """(rows, m) stacked contact Jacobian, in axes of the contact frames."""
    velocity_by_state: Array
    """(rows, 2 m) derivative of J nu by z."""
    M: Array
    """(m, m) mass matrix."""


@dataclass(frozen=True, eq=False)
class About:
    """What a linearization is about, and where to ask for what is seldom wanted."""

    model: TreeModel
    x: Array
    """(22 + n_q + n,) `State.data`."""
    dropped: Callable[[], Redundancy]
    geometry: Callable[[], Geometry]
    rank: Callable[[], int] | None = None
    """The quick way to it, if there is one."""


@dataclass(frozen=True, eq=False)
class Linearization:
    """zdot = A z + B dtau + drift about a state, z = [H; s; v; r] left-trivialized.

    A record that nobody changes; its arrays may be views of a workspace, valid until the next call
    of the linearizer, which `copy` keeps.

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
        The state, and who knows `geometry` and `dropped`.
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
    def state(self) -> State:
        """The state, a copy."""
        state = self.about.model.neutral_state()
        state.data[:] = self.about.x
        return state

    @property
    def geometry(self) -> Geometry:
        """J, d(J nu)/dz and M at the state."""
        return self.about.geometry()

    @property
    def J(self) -> Array:
        """(rows, m) stacked contact Jacobian."""
        return self.geometry.J

    @property
    def rank(self) -> int:
        """Number of independent rows of J."""
        return self.dropped.rank if self.about.rank is None else self.about.rank()

    @property
    def dropped(self) -> Redundancy:
        """How the rank was decided, which forces it leaves open, and what that means in words."""
        return self.about.dropped()

    def copy(self) -> 'Linearization':
        """Return a linearization with arrays of its own."""
        about = dataclasses.replace(self.about, x=self.about.x.copy())
        if self.contacts:  # known now, wherever contacts and robot are later
            dropped, geometry = self.dropped, self.geometry
            about = About(about.model, about.x, lambda: dropped, lambda: geometry)
        arrays = ('A', 'B', 'nu_dot', 'drift', 'wrenches', 'wrench_by_state', 'wrench_by_tau')
        own = {name: getattr(self, name).copy() for name in arrays}
        return dataclasses.replace(self, about=about, **own)

    def frozen(self) -> 'Linearization':
        """Return the same, the error taken to the state itself, as a fixed point.

        First order of zdot = J_r^-1(z) f(g exp z): of the blocks -(v x) of the base and of group
        joints half is left, and the drift is f = [v; r; nu_dot].
        """
        if self.reference == 'frozen':
            return self
        A, m = self.A.copy(), self.nu_dot.size
        A[:m, :m] *= 0.5
        drift = np.concatenate((self._velocity(), self.nu_dot))
        return dataclasses.replace(
            self, A=read_only(A), drift=read_only(drift), reference='frozen'
        )

    def in_representation(self, representation: Representation) -> 'Linearization':
        """Return the same with the base twist in another representation, see `convert`."""
        from geolin_ros.linearization.representation import convert

        return convert(self, self.state, representation)

    def discretize(self, dt: float, method: Literal['euler', 'zoh'] = 'zoh') -> 'Discretization':
        """Return the step over ``dt`` of these A, B and drift, efforts constant.

        Other methods look at the robot elsewhere too, see `Linearizer.discretize`.

        Raises
        ------
        ConfigurationError
            If dt is not positive, or the method is none of the two.
        """
        from geolin_ros.linearization import discretization as steps

        if method not in ('euler', 'zoh'):
            raise ConfigurationError(f"method is {method!r}, expected 'euler' or 'zoh'")
        steps.check_step(dt)
        f = np.concatenate((self._velocity(), self.nu_dot))
        rate = steps.Rate(f, self.A, self.B)
        step = (steps.step_euler if method == 'euler' else steps.step_zoh)(rate, dt)
        options = steps.Options(dt, method, self.reference)
        return steps.discretized(self.about.model, self.state, step, f, options)

    def _velocity(self) -> Array:
        """Return [v; r] (m,), of a fixed base [r]."""
        return self.about.x[self.about.x.size - self.nu_dot.size :]


def wrench_labels(contacts: Iterable[Closure]) -> tuple[Label, ...]:
    """Return name and unit of each entry of the contact forces."""
    entries = [('fx', 'N'), ('fy', 'N'), ('fz', 'N'), ('tx', 'N m'), ('ty', 'N m'), ('tz', 'N m')]
    return tuple(
        Label(f'{contact.name}.{entry}', unit)
        for contact in contacts
        for entry, unit in entries[: SIZES[contact.kind]]
    )


def check_reference(reference: str) -> None:
    """Raise ConfigurationError where it is none of `Reference`."""
    if reference not in ('moving', 'frozen'):
        raise ConfigurationError(f"reference is {reference!r}, expected 'moving' or 'frozen'")


def read_only(array: Array) -> Array:
    """Return a view that cannot be written to."""
    view = array.view()
    view.setflags(write=False)
    return view
