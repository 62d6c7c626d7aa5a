# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which kernels a robot's library is made of."""

from numba import types

from geolin_ros.errors import ConfigurationError, did_you_mean
from geolin_ros.kernels import se3
from geolin_ros.kernels.engine import fast_dynamics
from geolin_ros.kernels.engine.contact_linearization import linearize_in_contact
from geolin_ros.kernels.engine.exponential import exponential
from geolin_ros.kernels.engine.linearization import linearize
from geolin_ros.kernels.engine.own_results import linearize_own
from geolin_tools.export.machine_code import Kernel
from geolin_tools.export.robot import Robot

FUNCTIONS = ('forward_dynamics', 'inverse_dynamics', 'mass_matrix', 'discretize')
"""What may be left out; A, B and nu_dot are always there."""


def _flat(kind: types.Type, constant: bool) -> types.Array:
    return types.Array(kind, 1, 'C', readonly=constant)


# As the Python side calls them: what it has compiled already is found in the cache.
_INTS, _FLOATS = _flat(types.int64, True), _flat(types.float64, True)
_POSE, _SQUARE = (types.Array(types.float64, 2, 'C', readonly=fixed) for fixed in (True, False))
_LISTS, _MEMORY = _flat(types.int64, False), _flat(types.float64, False)
_ROBOT, _CONTACTS, _OWN = (_INTS, _FLOATS), (_INTS, _MEMORY), (_INTS, _FLOATS)


def kernels_of(
    robot: Robot, functions: tuple[str, ...] = FUNCTIONS, casadi: bool = False
) -> dict[str, Kernel]:
    """Return the kernels that linearize a robot, do what ``functions`` names, and serve CasADi.

    Raises
    ------
    ConfigurationError
        If a function is unknown.
    """
    for name in functions:
        if name not in FUNCTIONS:
            raise ConfigurationError(
                f'function is {name!r}, {did_you_mean(name, FUNCTIONS)}expected some of '
                f'{", ".join(FUNCTIONS)}'
            )
    found = {}
    if robot.is_plain:
        found['linearize'] = Kernel(linearize, (*_ROBOT, *(_MEMORY,) * 4))
        if robot.contacts:
            found['linearize_in_contact'] = Kernel(
                linearize_in_contact, (*_ROBOT, *_CONTACTS, *(_MEMORY,) * 4)
            )
    else:
        found['linearize_own'] = Kernel(
            linearize_own, (*_ROBOT, *_CONTACTS, *_OWN, *(_MEMORY,) * 5)
        )
    if 'forward_dynamics' in functions and not (robot.is_tied or robot.wrenches):
        found['forward_dynamics'] = Kernel(
            fast_dynamics.forward_dynamics, (*_ROBOT, *(_MEMORY,) * 4)
        )
    if 'inverse_dynamics' in functions:
        found['inverse_dynamics'] = Kernel(
            fast_dynamics.inverse_dynamics, (*_ROBOT, *(_MEMORY,) * 4)
        )
    if 'mass_matrix' in functions:
        found['mass_matrix'] = Kernel(fast_dynamics.mass_matrix, (*_ROBOT, *(_MEMORY,) * 3))
    if 'discretize' in functions:
        found['exponential'] = Kernel(exponential, (_MEMORY, _LISTS, types.int64, types.int64))
    if robot.model.base == 'floating':
        if 'discretize' in functions:
            found['retract'] = Kernel(se3.retract, (_POSE, _MEMORY, _SQUARE))
        if casadi:
            found['difference'] = Kernel(se3.difference, (_POSE, _POSE, _SQUARE, _MEMORY))
            for slope in (se3.adjoint_of_exp, se3.left_jacobian, se3.left_jacobian_inverse):
                found[slope.__name__] = Kernel(slope, (_MEMORY, types.float64, _SQUARE))
    return found
