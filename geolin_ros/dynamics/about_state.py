# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What functions of a robot and its state have in common."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from geolin_ros.dynamics.arguments import check_is_state

P = ParamSpec('P')
T = TypeVar('T')


def about_state(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function of (model, state, ...) that refuses before all else what is no `State`."""

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        if len(args) > 1:
            check_is_state(args[1])
        return function(*args, **kwargs)

    return checked
