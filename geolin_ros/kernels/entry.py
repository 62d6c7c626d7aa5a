# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The machine code of kernels, for those who call it in every cycle."""

from collections.abc import Callable
from typing import Any, cast

import numba


def machine_code(kernel: Any, arguments: tuple[Any, ...]) -> Callable[..., int]:
    """Return the machine code of a kernel for arguments of these types.

    Called itself, a kernel would look at the types first, for up to 0.4 us. Numba takes a lock to
    compile, and to answer whether something is compiled: one that has run before is found without,
    so that nobody waits for what another thread compiles.
    """
    types = tuple(map(numba.typeof, arguments))
    known = kernel.overloads.get(types)
    code = kernel.compile(types) if known is None else known.entry_point
    return cast(Callable[..., int], code)
