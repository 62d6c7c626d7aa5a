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
from collections.abc import Iterator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, ConcreteTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast, models, register_model

from geolin_ros.kernels._jit import lean_kernel
from geolin_ros.kernels.packing.layout import LANES
from geolin_ros.kernels.simd.vector import (
    Vector,
    address,
    is_flat,
    kernel_function,
    shuffled,
    splat,
    store8,
    store_lanes,
    vector8,
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


lower_builtin(operator.getitem, Lanes, types.int64)(_get)
lower_builtin(operator.setitem, Lanes, types.int64, Vector)(_set)
lower_cast(_FLOAT, Vector)(
    lambda context, builder, source, target, value: splat(builder, value, target.lanes)
)

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


def _eight(builder: Any, first: Any, step: Any, last: Any) -> Iterator[Any]:
    """Yield first + k step of each lane k; those beyond ``last`` repeat it."""
    for k in map(first.type, range(LANES)):
        until = builder.select(builder.icmp_signed('<', k, last), k, last)
        yield builder.add(first, builder.mul(until, step))


@kernel_function
def _gathered(typingctx: Any, rows: Any, k: Any, stride: Any, last: Any) -> Any:
    """Return the entries at k, k + stride, ..., one a lane."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        flat = context.make_array(sig.args[0])(context, builder, args[0])
        vector = ir.Constant(context.get_value_type(vector8), ir.Undefined)
        for lane, place in enumerate(_eight(builder, *args[1:])):
            entry = address(context, builder, flat.data, flat.nitems, place, 1)
            vector = builder.insert_element(vector, builder.load(entry), ir.IntType(32)(lane))
        return vector

    return vector8(rows, types.int64, types.int64, types.int64), generate


@kernel_function
def _turned(typingctx: Any, source: Any, row: Any, columns: Any, e: Any, last: Any) -> Any:
    """Return source[row + columns[e + k]], k = 0 .. 7, as eight vectors, one a sample."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        listed, v = context.make_array(sig.args[2])(context, builder, args[2]), []
        for place in _eight(builder, args[3], args[3].type(1), args[4]):
            entry = address(context, builder, listed.data, listed.nitems, place, 1)
            at = builder.add(args[1], builder.load(entry))
            v.append(builder.load(_pointer(context, builder, args[0], at), align=8))
        for step in (1, 2, 4):  # exchange blocks of this size across the diagonal
            low = [k if not k & step else LANES + k - step for k in range(LANES)]
            high = [k + step if not k & step else LANES + k for k in range(LANES)]
            for k in (k for k in range(LANES) if not k & step):
                pair = v[k], v[k + step]
                v[k], v[k + step] = shuffled(builder, *pair, low), shuffled(builder, *pair, high)
        return context.make_tuple(builder, sig.return_type, v)

    eight, int64 = types.UniTuple(vector8, LANES), types.int64
    return eight(source, int64, columns, int64, int64), generate


@lean_kernel
def load_samples(rows, k, stride, last, out):
    """out[e] = entry e of the rows at k, k + stride, ...; lanes beyond ``last`` repeat it."""
    for e in range(stride):
        out[e] = _gathered(rows, k + e, stride, last)


@lean_kernel
def store_samples(source, row, columns, count, out, k, stride, last):
    """Write source[row + columns[e]], e < count, to the rows at k, k + stride, ...

    Lanes beyond ``last`` hold its sample again and go where it goes.
    """
    for e in range(0, count, LANES):
        end = min(LANES, count - e) - 1
        v = _turned(source, row, columns, e, end)
        for lane in range(LANES):
            to = k + e + min(lane, last) * stride
            if end == LANES - 1:
                store8(out, to, v[lane])
            else:
                store_lanes(out, to, (2 << end) - 1, v[lane])
