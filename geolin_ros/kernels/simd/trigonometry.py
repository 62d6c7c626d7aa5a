# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Cosine and sine of eight angles at once, to less than one unit in the last place.

An angle is k pi / 2 + r, |r| <= pi / 4, with pi / 2 in three parts [Cody 1980]: k times each of
the first two is exact below `LARGEST`, so hi + lo = r to twice the precision. Of the power series
in r the first term left out is below 2^-60. Each lane is on its own: what it returns does not
depend on the others. Larger angles go through the library, one by one.
"""

import math
from fractions import Fraction

from numba.extending import overload

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.simd.lanes import nearest, not_positive
from geolin_ros.kernels.simd.vector import select, vector8

LARGEST = 1e5

_HALF_PI = Fraction('1.57079632679489661923132169163975144209858469968755')
_FIRST = Fraction(int(_HALF_PI * 2**32), 2**32)
_SECOND = Fraction(int((_HALF_PI - _FIRST) * 2**66), 2**66)
_THIRD = float(_HALF_PI - _FIRST - _SECOND)
_PARTS = (float(_FIRST), float(_SECOND), _THIRD)
_SIN = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(9))
_COS = tuple((-1.0) ** k / math.factorial(2 * k) for k in range(10))


def cos_sin(angle):
    """Return cosine and sine of an angle, or of a vector of angles."""
    return math.cos(angle), math.sin(angle)


@overload(cos_sin)
def _for_kernels(angle):
    return (lambda angle: cos_sin_of_eight(angle)) if angle is vector8 else cos_sin


@lean_kernel
def cos_sin_of_eight(angle):
    """Return cosine and sine of a vector of angles."""
    k = nearest(angle * (2.0 / math.pi))
    start = angle - k * _PARTS[0]
    hi = start - k * _PARTS[1]
    lo = (start - hi) - k * _PARTS[1] - k * _PARTS[2]
    z = hi * hi
    half = 0.5 * z
    near_one = 1.0 - half
    s = hi + (hi * z * series(z, _SIN) + lo * near_one)
    c = near_one + (((1.0 - near_one) - half) + (z * z * series(z, _COS[1:]) - hi * lo))
    quarter = k - 4.0 * nearest(0.25 * k - 0.375)  # 0, 1, 2, 3
    up_to_0, up_to_1 = not_positive(quarter - 0.5), not_positive(quarter - 1.5)
    up_to_2 = not_positive(quarter - 2.5)
    odd = up_to_0 ^ up_to_1 ^ up_to_2 ^ 255
    cos, sin = select(odd, s, c), select(odd, c, s)
    cos, sin = select(up_to_0 ^ up_to_2, -cos, cos), select(up_to_1, sin, -sin)
    large = not_positive(LARGEST - angle) | not_positive(LARGEST + angle)
    if large != 0:
        cos = select(large, math.cos(angle), cos)
        sin = select(large, math.sin(angle), sin)
    return cos, sin


@lean_kernel
def series(z, c):
    """Return c_1 + c_2 z + ... of eight coefficients."""
    y = z * z
    low = (c[1] + c[2] * z) + (c[3] + c[4] * z) * y
    return low + ((c[5] + c[6] * z) + (c[7] + c[8] * z) * y) * (y * y)
