# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of calls about a robot, checked, and the errors for what no call can answer."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.errors import (
    GeolinError,
    InputError,
    ModelError,
    NotFiniteError,
    ShapeError,
    SingularInertiaError,
)
from geolin_ros.kernels.packing.layout import Packed
from geolin_ros.kernels.status import NOT_A_STATE, NOT_FINITE, SINGULAR
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.typing import Array, BoolArray

P = ParamSpec('P')
T = TypeVar('T')
_ABSENT = object()


def about_state(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function of (model, state, ...) that refuses before all else what is no `State`."""
    return _checked(function, lambda state: True)


def about_states(function: Callable[P, T]) -> Callable[P, T]:
    """Return the same of a function that takes many states too: several, or rows of an array."""
    return _checked(function, lambda x: not isinstance(x, list | tuple) and np.ndim(x) != 2)


def _checked(function: Callable[P, T], is_one: Callable[[Any], bool]) -> Callable[P, T]:
    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        state = args[1] if len(args) > 1 else kwargs.get('state', _ABSENT)
        if not isinstance(state, State) and state is not _ABSENT and is_one(state):
            check_is_state(state)
        return function(*args, **kwargs)

    return checked


def check_is_state(state: object) -> None:
    """Raise `InputError` for positions q, and anything else that is no `State`."""
    if not isinstance(state, State):
        raise InputError(
            f'state is of type {type(state).__name__}, expected a State: model.state(...), or '
            'State.from_pinocchio(q, v) from positions and velocities'
        )


def packed_of(model: TreeModel) -> Packed:
    """Return a robot as kernels read it; `ModelError` if an inertia is not of a rigid body."""
    if model.packed is None:
        raise ModelError(
            f'robot {model.name!r} has a link whose inertia is not that of a rigid body, expected '
            'inertias [[m 1, -h x], [h x, I]] with a symmetric I: make them from mass, centre of '
            'mass and inertia'
        )
    return model.packed


def state_data(model: TreeModel, state: State) -> Array:
    """Return the numbers of a state of the robot; kernels find NaN among them."""
    check_is_state(state)
    if (state.s.size, state.r.size) != (model.n_s, model.n):
        raise wrong_state(model, state)
    if np.isfinite(state.H).all():
        se3.check_pose(state.H, f'H of robot {model.name!r}')
    check_base(model, state.v)
    return state.data


def wrong_state(model: TreeModel, state: State) -> ShapeError:
    """Return the error for a state of another size."""
    return ShapeError(
        f'state has {state.s.size} joint positions and {state.r.size} rates, expected '
        f'{model.n_s} and {model.n} for robot {model.name!r}'
    )


def check_base(model: TreeModel, twist: Array, name: str = 'state') -> None:
    """Raise `InputError` for the twist (6,) of a fixed base."""
    if model.base == 'fixed' and np.any(twist) and np.isfinite(twist).all():
        raise InputError(
            f'{name} has base twist {twist.tolist()}, expected zeros: the base of robot '
            f'{model.name!r} is fixed'
        )


def vector(name: str, values: ArrayLike, size: int, robot: str) -> Array:
    """Return ``values`` as an array, which must have one dimension and ``size`` entries."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (size,):
        raise ShapeError(f'{name} has shape {array.shape}, expected ({size},) for robot {robot!r}')
    return array


def truth(name: str, values: ArrayLike, model: TreeModel) -> BoolArray:
    """Return truth values (n,), one a joint coordinate."""
    mask = np.asarray(values)
    if mask.shape != (model.n,):
        raise ShapeError(
            f'{name} has shape {mask.shape}, expected ({model.n},), one entry a joint coordinate '
            f'of robot {model.name!r}'
        )
    if mask.dtype != np.bool_ and not np.all((mask == 0) | (mask == 1)):
        raise InputError(f'{name} is {mask.tolist()}, expected truth values')
    chosen: BoolArray = mask != 0
    return chosen


def failure(
    model: TreeModel, status: int, state: State, inputs: Mapping[str, Array]
) -> GeolinError:
    """Return the error for a status other than OK; a NaN among the inputs is its cause."""
    arrays = {'H': state.H, 's': state.s, 'v': state.v, 'r': state.r, **inputs}
    bad = [name for name, array in arrays.items() if not np.isfinite(array).all()]
    if bad or status == NOT_FINITE:
        return NotFiniteError(
            f'{" and ".join(bad) or "the accelerations"} of robot {model.name!r} '
            'hold NaN or inf, expected finite numbers'
        )
    if status == NOT_A_STATE:
        state_data(model, state)
    velocity = status - SINGULAR
    part = 'the base' if velocity < 6 else f'joint {model.joint_names[velocity - 6]!r}'
    return SingularInertiaError(
        f'robot {model.name!r}: singular mass matrix: {part} has no inertia to move at this '
        'state, expected some; check the masses behind it'
    )
