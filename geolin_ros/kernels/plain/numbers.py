# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What numbers, complex numbers and vectors of eight lanes do not have in common.

A complex number x + i h x', h tiny, carries the derivative x' through a text that is analytic:
questions about size and sign are about its real part.
"""

import cmath
import math
from typing import Any

from numba import types
from numba.extending import overload

from geolin_ros.kernels.simd import lanes, trigonometry


def _choice(real: Any, complex_: Any) -> Any:
    """Return a function for kernels: ``complex_`` of complex numbers, else ``real``."""

    def chosen(z):
        return real(z)

    def choose(z):
        return complex_ if isinstance(z, types.Complex) else real

    overload(chosen)(choose)
    return chosen


sqrt = _choice(lambda z: math.sqrt(z), lambda z: cmath.sqrt(z))
tanh = _choice(lambda z: math.tanh(z), lambda z: cmath.tanh(z))
whole = _choice(lambda z: int(z), lambda z: int(z.real))
cos_sin = _choice(lambda z: trigonometry.cos_sin(z), lambda z: (cmath.cos(z), cmath.sin(z)))
not_positive = _choice(lambda z: lanes.not_positive(z), lambda z: lanes.not_positive(z.real))
not_finite = _choice(lambda z: lanes.not_finite(z), lambda z: lanes.not_finite(z.real))
