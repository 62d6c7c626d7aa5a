# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensors: what is measured of the dynamic variables, and how well [Nori, Eqs. (7), (14), (16)].

A sensor reads y = C d + c(v) + noise. All variables of a body are in its own frame, so that C of
anything mounted on a link is constant. A known quantity is a sensor without noise, a prior one
whose reading is the prior mean.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.errors import ConfigurationError
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial.se3 import adjoint, inverse
from geolin_ros.typing import Array

Kind = Literal['a', 'f', 'fx', 'tau', 'qdd']
Deviation = ArrayLike | None
"""Standard deviation of independent noise, a number or (readings,); None: readings are exact."""
FLOATING_BASE = 'floating base'
ALL_SIX = (0, 1, 2, 3, 4, 5)
LOAD_CELLS = (2, 3, 4)
"""Force along the normal and moments about the two axes of a sole [Nori, Eq. (18)]."""
ALL_BUT_YAW_MOMENT = (0, 1, 2, 3, 4)
"""[Nori, Eq. (23)]"""


class Variable(NamedTuple):
    """A block of unknowns: ``a``, ``f``, ``fx`` of a body, ``tau``, ``qdd`` of a joint.

    a: rate of the twist less gravity [m/s^2, rad/s^2]; f: wrench across the joint of the body,
    on the body [N, N m]; fx: external wrench; each (6,) [linear; angular] in the body's frame.
    tau: effort; qdd: acceleration; of a joint (1,), of `FLOATING_BASE` (6,).
    """

    kind: Kind
    name: str


class Term(NamedTuple):
    """C of one variable: ``matrix`` (k, size of the variable)."""

    variable: Variable
    matrix: Array


@dataclass(frozen=True, eq=False)
class Sensor:
    """A measurement y (k,) = sum over ``terms`` + offset + noise [Nori, Eq. (16)]."""

    name: str
    """What its reading is called."""
    terms: tuple[Term, ...]
    covariance: Array | None = None
    """(k, k) of the noise; None: the reading is exact."""
    offset: Callable[[Array], Array] | None = None
    """Function of the body twists (nb, 6) that gives the part (k,) of the reading that motion
    causes; None: zero."""

    @property
    def size(self) -> int:
        """Number of readings."""
        return len(self.terms[0].matrix)


def _noise(deviation: Deviation, size: int, name: str) -> Array | None:
    """Return the covariance of the noise of ``size`` readings."""
    if deviation is None:
        return None
    values = np.asarray(deviation, dtype=np.float64)
    if values.shape not in ((), (size,)) or not np.all((values > 0.0) & np.isfinite(values)):
        raise ConfigurationError(
            f'sensor {name!r} has standard deviation {values.tolist()}, expected a positive '
            f'number or {size} of them; leave it out for an exact reading'
        )
    return np.diag(np.broadcast_to(values, (size,)) ** 2)


def known(variable: Variable, size: int = 1, deviation: Deviation = None) -> Sensor:
    """Return a sensor of all ``size`` components of a variable, in its own frame."""
    name = f'{variable.kind}[{variable.name}]'
    return Sensor(name, (Term(variable, np.eye(size)),), _noise(deviation, size, name))


def joint_torque(joint: str, deviation: Deviation = None) -> Sensor:
    """Return a sensor of the effort of a joint [N m or N]."""
    return known(Variable('tau', joint), 1, deviation)


def joint_acceleration(joint: str, deviation: Deviation = None) -> Sensor:
    """Return a sensor of the acceleration of a joint [rad/s^2 or m/s^2]."""
    return known(Variable('qdd', joint), 1, deviation)


def accelerometer(model: TreeModel, link: str, deviation: Deviation = None) -> Sensor:
    """Return an accelerometer (3,) at the origin and in the axes of a link [m/s^2].

    It reads the proper acceleration: of the point, less gravity. With the twist (u; w) and its
    rate less gravity (a; alpha) at the link this is a + w x u.
    """
    body, X = _in_link(model, link)
    name = f'accelerometer[{link}]'

    def centripetal(twists: Array) -> Array:
        u0, u1, u2, w0, w1, w2 = (X @ twists[body]).tolist()
        return np.array([w1 * u2 - w2 * u1, w2 * u0 - w0 * u2, w0 * u1 - w1 * u0])

    term = Term(Variable('a', model.body_names[body]), X[:3])
    return Sensor(name, (term,), _noise(deviation, 3, name), centripetal)


def angular_acceleration(model: TreeModel, link: str, deviation: Deviation = None) -> Sensor:
    """Return a sensor of the angular acceleration (3,) of a link in its axes [rad/s^2]."""
    body, X = _in_link(model, link)
    name = f'angular_acceleration[{link}]'
    term = Term(Variable('a', model.body_names[body]), X[3:])
    return Sensor(name, (term,), _noise(deviation, 3, name))


def force_torque(
    model: TreeModel, link: str, components: Sequence[int] = ALL_SIX, deviation: Deviation = None
) -> Sensor:
    """Return a sensor of the wrench across the joint that moves a link, on the link.

    In the axes and about the origin of the link, ``components`` of [force; moment] [N, N m].
    """
    return _wrench_sensor(model, 'f', 'force_torque', link, components, deviation)


def external_wrench(
    model: TreeModel, link: str, components: Sequence[int] = ALL_SIX, deviation: Deviation = None
) -> Sensor:
    """Return a sensor of the external wrench on the body of a link.

    In the axes and about the origin of the link, ``components`` of [force; moment] [N, N m]:
    `LOAD_CELLS` are the three that load cells below a sole give.
    """
    return _wrench_sensor(model, 'fx', 'external_wrench', link, components, deviation)


def _wrench_sensor(
    model: TreeModel,
    kind: Kind,
    what: str,
    link: str,
    components: Sequence[int],
    deviation: Deviation,
) -> Sensor:
    name, rows = f'{what}[{link}]', list(components)
    if not rows or len(set(rows)) != len(rows) or not set(rows) <= set(ALL_SIX):
        raise ConfigurationError(
            f'sensor {name!r} has components {rows}, expected some of 0..5, each once'
        )
    body, X = _in_link(model, link)
    term = Term(Variable(kind, model.body_names[body]), np.array(np.linalg.inv(X).T[rows]))
    return Sensor(name, (term,), _noise(deviation, len(rows), name))


def _in_link(model: TreeModel, link: str) -> tuple[int, Array]:
    """Return the body of a link and ^link X_body."""
    frame = model.frame(link)
    return frame.body, adjoint(inverse(frame.placement))


def base_sensors(model: TreeModel, kind: Literal['tau', 'qdd']) -> tuple[Sensor, ...]:
    """Return the sensor of the base: wrench (zero in flight) or acceleration; none if fixed."""
    if model.base == 'fixed':
        return ()
    return (known(Variable(kind, FLOATING_BASE), 6),)


def all_external_wrenches(model: TreeModel, but: Sequence[str] = ()) -> tuple[Sensor, ...]:
    """Return exact sensors of the external wrench on every body but those of the links ``but``."""
    unknown = {model.frame(link).body for link in but}
    return tuple(
        known(Variable('fx', name), 6)
        for body, name in enumerate(model.body_names)
        if body not in unknown
    )


def inverse_dynamics(model: TreeModel) -> tuple[Sensor, ...]:
    """Return the sensors of inverse dynamics: every fx and qdd [Nori, Eq. (7)].

    Readings: [fx of each body (6 nb); nu_dot (m)].
    """
    return hybrid_dynamics(model, model.joint_names, 'qdd')


def forward_dynamics(model: TreeModel) -> tuple[Sensor, ...]:
    """Return the sensors of forward dynamics: every fx and tau [Nori, Eq. (14)].

    Readings: [fx of each body (6 nb); base wrench (6, floating base only); tau (n)].
    """
    return hybrid_dynamics(model, ())


def hybrid_dynamics(
    model: TreeModel, prescribed: Sequence[str], base: Literal['tau', 'qdd'] = 'tau'
) -> tuple[Sensor, ...]:
    """Return the sensors of hybrid dynamics: qdd of the joints ``prescribed``, tau of the others.

    Readings: [fx of each body; wrench or acceleration of the base; one for each joint]. Raises
    `UnknownNameError` if a prescribed joint is not part of the model.
    """
    for name in prescribed:
        model.joint_index(name)
    joints = tuple(
        joint_acceleration(name) if name in prescribed else joint_torque(name)
        for name in model.joint_names
    )
    return all_external_wrenches(model) + base_sensors(model, base) + joints
