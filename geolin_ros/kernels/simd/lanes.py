# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Eight samples side by side: arrays whose entries are vectors, one sample a lane.

`lanes` lets a kernel read a flat float64 array as an array of vectors. A kernel that only indexes,
adds, subtracts, multiplies, divides and takes the functions below is then the same text for one
sample (flat arrays, numbers) and for eight at a time.

A comparison has one outcome a sample: `not_positive` and `not_finite` return one bit a lane.
"""

import math
import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import (
    AbstractTemplate,
    ConcreteTemplate,
    infer_global,
    signature,
)
from numba.extending import lower_builtin, lower_cast, models, register_model

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.packing.layout import LANES
from geolin_ros.kernels.simd.vector import (
    Vector,
    address,
    even_pairs,
    get,
    high_pairs,
    is_flat,
    kernel_function,
    low_pairs,
    odd_pairs,
    permutation,
    splat,
    splat8,
    store8,
    store_lanes,
    vector8,
    with_lane,
)

_FLOAT = types.float64
_POINTER = types.CPointer(_FLOAT)


class Lanes(types.Type):
    """A flat array of vectors of eight doubles, one sample a lane."""

    def __init__(self) -> None:
        super().__init__(name='lanes')


_lanes = Lanes()


@register_model(Lanes)
class _LanesModel(models.StructModel):
    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, [('data', _POINTER), ('nitems', types.int64)])


@kernel_function
def lanes(typingctx: Any, array: Any) -> Any:
    """Return the array of vectors in the memory of a flat float64 array."""
    if not is_flat(array, _FLOAT, True):
        return None

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        flat = context.make_array(sig.args[0])(context, builder, args[0])
        view = context.make_helper(builder, _lanes)
        view.data, view.nitems = flat.data, flat.nitems
        return view._getvalue()

    return _lanes(array), generate


@infer_global(operator.getitem)
class _Get(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if args[0] is _lanes and isinstance(args[1], types.Integer):
            return signature(vector8, _lanes, types.int64)
        return None


@infer_global(operator.setitem)
class _Set(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if args[0] is _lanes and isinstance(args[1], types.Integer):
            return signature(types.none, _lanes, types.int64, vector8)
        return None


def _pointer(context: Any, builder: Any, view: Any, index: Any) -> Any:
    array = context.make_helper(builder, _lanes, view)
    first = builder.mul(index, index.type(LANES))
    entry = address(context, builder, array.data, array.nitems, first, LANES)
    return builder.bitcast(entry, context.get_value_type(vector8).as_pointer())


def _get(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.load(_pointer(context, builder, *args), align=8)


def _set(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    builder.store(args[2], _pointer(context, builder, *args[:2]), align=8)
    return context.get_dummy_value()


def _from_number(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    return splat(builder, value, target.lanes)


lower_builtin(operator.getitem, Lanes, types.int64)(_get)
lower_builtin(operator.setitem, Lanes, types.int64, Vector)(_set)
lower_cast(_FLOAT, Vector)(_from_number)

# --- functions of a number, in each lane -------------------------------------------------------


def _register_function(function: Any) -> None:
    """Let ``function`` of math take a vector: the scalar one, lane by lane."""
    template = (ConcreteTemplate,)
    infer_global(function)(
        type(f'Lanes_{function.__name__}', template, {'cases': [signature(vector8, vector8)]})
    )

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        known = context.typing_context.resolve_function_type(
            context.typing_context.resolve_value_type(function), (_FLOAT,), {}
        )
        scalar = context.get_function(function, known)
        result = args[0]
        for k in range(LANES):
            place = ir.IntType(32)(k)
            value = scalar(builder, (builder.extract_element(args[0], place),))
            result = builder.insert_element(result, value, place)
        return result

    lower_builtin(function, vector8)(lower)


for _function in (math.cos, math.sin, math.tanh, math.sqrt):
    _register_function(_function)


def _bits(test: Any) -> Any:
    """Return an intrinsic: the lanes where ``test`` holds as the bits of an integer."""

    def bits(typingctx: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            zero = context.cast(builder, ir.DoubleType()(0.0), _FLOAT, sig.args[0])
            found = test(builder, args[0], zero)
            if sig.args[0] is vector8:
                found = builder.bitcast(found, ir.IntType(LANES))
            return builder.zext(found, ir.IntType(64))

        return types.int64(value), generate

    return kernel_function(bits)


@kernel_function
def nearest(typingctx: Any, vector: Any) -> Any:
    """Return the nearest integer of each lane, halves to even."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = ir.FunctionType(args[0].type, (args[0].type,))
        rint = cgutils.get_or_insert_function(builder.module, function, 'llvm.rint.v8f64')
        return builder.call(rint, args)

    return vector8(vector8), generate


# NaN is neither positive nor finite.
not_positive = _bits(lambda builder, v, zero: builder.fcmp_unordered('<=', v, zero))
not_finite = _bits(lambda builder, v, zero: builder.fcmp_unordered('!=', builder.fsub(v, v), zero))


# --- samples in rows, to and from lanes --------------------------------------------------------

_LOW_HALVES = permutation((0, 1, 2, 3, 8, 9, 10, 11), 2, vector8)
_HIGH_HALVES = permutation((4, 5, 6, 7, 12, 13, 14, 15), 2, vector8)


@lean_kernel
def load_samples(rows, k, stride, last, out):
    """out[e] = entry e of the rows at k, k + stride, ...; lanes beyond ``last`` repeat it."""
    k1, k2, k3 = k + min(1, last) * stride, k + min(2, last) * stride, k + min(3, last) * stride
    k4, k5, k6 = k + min(4, last) * stride, k + min(5, last) * stride, k + min(6, last) * stride
    k7 = k + min(7, last) * stride
    for e in range(stride):
        v = with_lane(splat8(get(rows, k + e)), 1, get(rows, k1 + e))
        v = with_lane(with_lane(v, 2, get(rows, k2 + e)), 3, get(rows, k3 + e))
        v = with_lane(with_lane(v, 4, get(rows, k4 + e)), 5, get(rows, k5 + e))
        out[e] = with_lane(with_lane(v, 6, get(rows, k6 + e)), 7, get(rows, k7 + e))


@lean_kernel
def transposed(v):
    """Return eight vectors, lane b of the e-th one in lane e of the b-th."""
    a0, a1, a2, a3 = (
        even_pairs(v[0], v[1]),
        odd_pairs(v[0], v[1]),
        even_pairs(v[2], v[3]),
        odd_pairs(v[2], v[3]),
    )
    a4, a5, a6, a7 = (
        even_pairs(v[4], v[5]),
        odd_pairs(v[4], v[5]),
        even_pairs(v[6], v[7]),
        odd_pairs(v[6], v[7]),
    )
    b0, b1, b2, b3 = (
        low_pairs(a0, a2),
        low_pairs(a1, a3),
        high_pairs(a0, a2),
        high_pairs(a1, a3),
    )
    b4, b5, b6, b7 = (
        low_pairs(a4, a6),
        low_pairs(a5, a7),
        high_pairs(a4, a6),
        high_pairs(a5, a7),
    )
    return (
        _LOW_HALVES(b0, b4),
        _LOW_HALVES(b1, b5),
        _LOW_HALVES(b2, b6),
        _LOW_HALVES(b3, b7),
        _HIGH_HALVES(b0, b4),
        _HIGH_HALVES(b1, b5),
        _HIGH_HALVES(b2, b6),
        _HIGH_HALVES(b3, b7),
    )


@lean_kernel
def store_samples(source, row, columns, count, out, k, stride, last):
    """Write source[row + columns[e]], e < count, to the rows at k, k + stride, ...

    Lanes beyond ``last`` hold its sample again and go where it goes.
    """
    k1, k2, k3 = k + min(1, last) * stride, k + min(2, last) * stride, k + min(3, last) * stride
    k4, k5, k6 = k + min(4, last) * stride, k + min(5, last) * stride, k + min(6, last) * stride
    k7 = k + min(7, last) * stride
    for e in range(0, count, LANES):
        end = count - 1
        v = transposed(
            (
                source[row + columns[e]],
                source[row + columns[min(e + 1, end)]],
                source[row + columns[min(e + 2, end)]],
                source[row + columns[min(e + 3, end)]],
                source[row + columns[min(e + 4, end)]],
                source[row + columns[min(e + 5, end)]],
                source[row + columns[min(e + 6, end)]],
                source[row + columns[min(e + 7, end)]],
            )
        )
        if e + LANES <= count:
            store8(out, k + e, v[0])
            store8(out, k1 + e, v[1])
            store8(out, k2 + e, v[2])
            store8(out, k3 + e, v[3])
            store8(out, k4 + e, v[4])
            store8(out, k5 + e, v[5])
            store8(out, k6 + e, v[6])
            store8(out, k7 + e, v[7])
        else:
            bits = (1 << (count - e)) - 1
            store_lanes(out, k + e, bits, v[0])
            store_lanes(out, k1 + e, bits, v[1])
            store_lanes(out, k2 + e, bits, v[2])
            store_lanes(out, k3 + e, bits, v[3])
            store_lanes(out, k4 + e, bits, v[4])
            store_lanes(out, k5 + e, bits, v[5])
            store_lanes(out, k6 + e, bits, v[6])
            store_lanes(out, k7 + e, bits, v[7])
