# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Short vectors of doubles for kernels: four or eight lanes, one machine instruction each.

A Numba type whose machine representation is an LLVM vector. LLVM splits eight lanes into whatever
the processor has, so the result is correct on every one. Sums of products contract to fused
multiply-adds; nothing else is reordered.

Loads and stores name the offset of the first lane in a contiguous float64 array, whatever its
shape. They are not checked,
unless ``NUMBA_BOUNDSCHECK=1`` is set: callers vouch for the sizes.
"""

import operator
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv.castgraph import Conversion
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model
from numba.np.arrayobj import populate_array

_config: Any = numba.config
_DOUBLE = ir.DoubleType()
_INT32 = ir.IntType(32)
_FUSED = ('contract',)


class Vector(types.Type):
    """A vector of ``lanes`` doubles."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        super().__init__(name=f'vector{lanes}')

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Take a float where a vector is expected: the same number in every lane."""
        return Conversion.safe if other is _FLOAT else None


_FLOAT = types.float64
vector4, vector8 = Vector(4), Vector(8)


def _llvm(lanes: int) -> ir.Type:
    return ir.VectorType(_DOUBLE, lanes)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, vector: Vector) -> None:
        super().__init__(manager, vector, _llvm(vector.lanes))


kernel_function: Callable[[Callable[..., Any]], Any] = intrinsic
"""Returns a function for kernels; the first parameter of what it decorates is Numba's."""


# --- arithmetic -------------------------------------------------------------------------------


def _register_operator(symbol: Callable[..., Any], instruction: str, operands: int) -> None:
    """Lower ``symbol`` on vectors, and on a float and a vector, to one instruction."""
    cases = []
    for vector in (vector4, vector8):
        for kinds in product((vector, _FLOAT), repeat=operands):
            if vector in kinds:
                cases.append(signature(vector, *kinds))
                lower_builtin(symbol, *kinds)(_lowering(instruction))
    infer_global(symbol)(type(f'Vector_{instruction}', (ConcreteTemplate,), {'cases': cases}))


def _lowering(instruction: str) -> Callable[..., Any]:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        lanes = sig.return_type.lanes
        operands = [
            splat(builder, value, lanes) if kind is _FLOAT else value
            for kind, value in zip(sig.args, args, strict=True)
        ]
        return getattr(builder, instruction)(*operands, flags=_FUSED)

    return lower


for _symbol, _instruction in (
    (operator.add, 'fadd'),
    (operator.sub, 'fsub'),
    (operator.mul, 'fmul'),
    (operator.truediv, 'fdiv'),
    (operator.iadd, 'fadd'),
    (operator.isub, 'fsub'),
):
    _register_operator(_symbol, _instruction, 2)
_register_operator(operator.neg, 'fneg', 1)


def splat(builder: Any, value: Any, lanes: int) -> Any:
    """Return a vector with ``value`` in every lane."""
    single = builder.insert_element(ir.Constant(_llvm(lanes), ir.Undefined), value, _INT32(0))
    return shuffled(builder, single, single, (0,) * lanes)


def shuffled(builder: Any, first: Any, second: Any, lanes: Sequence[int]) -> Any:
    """Return the chosen ones of the lanes of two vectors laid end to end."""
    mask = ir.Constant(ir.VectorType(_INT32, len(lanes)), [_INT32(k) for k in lanes])
    return builder.shuffle_vector(first, second, mask)


# --- memory -----------------------------------------------------------------------------------


def is_flat(array: Any, dtype: Any, written: bool = False) -> bool:
    """Whether a Numba type is a contiguous array, and may be written if that is asked."""
    return (
        isinstance(array, types.Array)
        and array.layout == 'C'
        and array.dtype == dtype
        and (array.mutable or not written)
    )


def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any, count: int) -> Any:
    flat = context.make_array(kind)(context, builder, array)
    return address(context, builder, flat.data, flat.nitems, index, count)


def address(context: Any, builder: Any, data: Any, size: Any, index: Any, count: int) -> Any:
    """Return the address of entry ``index`` of ``data``, after a check where checks are on."""
    if _config.BOUNDSCHECK:
        first = builder.icmp_signed('<', index, index.type(0))
        end = builder.add(index, index.type(count))
        last = builder.icmp_signed('>', end, size)
        with builder.if_then(builder.or_(first, last), likely=False):
            message = f'{count} entries lie outside of a flat array'
            context.call_conv.return_user_exc(builder, IndexError, (message,))
    return builder.gep(data, [index])


def _loader(result: Any, dtype: Any = _FLOAT) -> Any:
    count = getattr(result, 'lanes', 1)

    def load(typingctx: Any, array: Any, index: Any) -> Any:
        if not is_flat(array, dtype):
            return None

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            place = _address(context, builder, array, args[0], args[1], count)
            pointer = context.get_value_type(result).as_pointer()
            return builder.load(builder.bitcast(place, pointer), align=8)

        return result(array, types.int64), generate

    return kernel_function(load)


def _storer(stored: Any) -> Any:
    count = getattr(stored, 'lanes', 1)

    def store(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
        if not is_flat(array, _FLOAT, True):
            return None

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            place = _address(context, builder, array, args[0], args[1], count)
            builder.store(args[2], builder.bitcast(place, args[2].type.as_pointer()), align=8)
            return context.get_dummy_value()

        return types.void(array, types.int64, stored), generate

    return kernel_function(store)


get = _loader(_FLOAT)  # get(array, i): one double
get_int = _loader(types.int64, types.int64)  # get_int(array, i): one integer
load4 = _loader(vector4)
load8 = _loader(vector8)
put = _storer(_FLOAT)  # put(array, i, value)
store4 = _storer(vector4)
store8 = _storer(vector8)


@kernel_function
def square(typingctx: Any, array: Any, index: Any, size: Any) -> Any:
    """Return a view (size, size) of the entries from ``index`` on, rows one after another."""
    if not is_flat(array, _FLOAT, True):
        return None
    result = types.Array(_FLOAT, 2, 'C')

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        _, at, count = args
        bytes_of_one = at.type(8)
        view = context.make_array(result)(context, builder)
        populate_array(
            view,
            data=_address(context, builder, sig.args[0], args[0], at, 1),
            shape=(count, count),
            strides=(builder.mul(count, bytes_of_one), bytes_of_one),
            itemsize=bytes_of_one,
            meminfo=None,
        )
        return view._getvalue()

    return result(array, types.int64, types.int64), generate


def _bits(builder: Any, integer: Any) -> Any:
    """Return the low eight bits of an integer as one truth value a lane."""
    byte = builder.trunc(integer, ir.IntType(8))
    return builder.bitcast(byte, ir.VectorType(ir.IntType(1), 8))


@kernel_function
def store_lanes(typingctx: Any, array: Any, index: Any, bits: Any, value: Any) -> Any:
    """Store the lanes of a vector whose bit is set; the memory of the others is not touched."""
    if not is_flat(array, _FLOAT, True):
        return None

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = _address(context, builder, array, args[0], args[1], 0)
        mask = _bits(builder, args[2])
        pointer = _llvm(8).as_pointer()
        masked = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), (_llvm(8), pointer, _INT32, mask.type)),
            'llvm.masked.store.v8f64.p0',
        )
        builder.call(masked, (args[3], builder.bitcast(place, pointer), _INT32(8), mask))
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, vector8), generate


# --- lanes ------------------------------------------------------------------------------------


@kernel_function
def select(typingctx: Any, bits: Any, chosen: Any, other: Any) -> Any:
    """Return the lanes of ``chosen`` whose bit is set, and those of ``other``."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(_bits(builder, args[0]), args[1], args[2])

    return vector8(types.int64, vector8, vector8), generate


def _splatter(result: Any) -> Any:
    def to_all(typingctx: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return splat(builder, args[0], result.lanes)

        return result(_FLOAT), generate

    return kernel_function(to_all)


splat4 = _splatter(vector4)
splat8 = _splatter(vector8)


@kernel_function
def lane(typingctx: Any, vector: Any, k: Any) -> Any:
    """Return lane ``k``, a constant."""
    if not (isinstance(vector, Vector) and isinstance(k, types.IntegerLiteral)):
        return None

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(args[0], _INT32(sig.args[1].literal_value))

    return _FLOAT(vector, k), generate


@kernel_function
def with_lane(typingctx: Any, vector: Any, k: Any, value: Any) -> Any:
    """Return the vector with lane ``k``, a constant, replaced."""
    if not (isinstance(vector, Vector) and isinstance(k, types.IntegerLiteral)):
        return None

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.insert_element(args[0], args[2], _INT32(sig.args[1].literal_value))

    return vector(vector, k, _FLOAT), generate


def permutation(lanes: tuple[int, ...], sources: int, kind: Vector) -> Any:
    """Return an intrinsic that picks ``lanes`` out of one or two vectors laid end to end."""
    result = {4: vector4, 8: vector8}[len(lanes)]

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return shuffled(builder, args[0], args[-1], lanes)

    if sources == 1:

        def permute(typingctx: Any, first: Any) -> Any:
            return result(kind), generate

    else:

        def permute(typingctx: Any, first: Any, second: Any) -> Any:  # type: ignore[misc]
            return result(kind, kind), generate

    return kernel_function(permute)


rotate_up = permutation((1, 2, 0, 3), 1, vector4)  # (y, z, x, -)
low_half = permutation((0, 1, 2, 3), 1, vector8)
high_half = permutation((4, 5, 6, 7), 1, vector8)
join = permutation((0, 1, 2, 3, 4, 5, 6, 7), 2, vector4)
# Rows of h^ from (h, 0) and (-h, 0).
skew_row_0 = permutation((3, 6, 1, 3), 2, vector4)
skew_row_1 = permutation((2, 3, 4, 3), 2, vector4)
skew_row_2 = permutation((5, 0, 3, 3), 2, vector4)
# Steps of a transposition of 4 x 4 blocks, in each half.
even_pairs = permutation((0, 8, 2, 10, 4, 12, 6, 14), 2, vector8)
odd_pairs = permutation((1, 9, 3, 11, 5, 13, 7, 15), 2, vector8)
low_pairs = permutation((0, 1, 8, 9, 4, 5, 12, 13), 2, vector8)
high_pairs = permutation((2, 3, 10, 11, 6, 7, 14, 15), 2, vector8)


@kernel_function
def lane_sum(typingctx: Any, vector: Any) -> Any:
    """Return the sum of eight lanes, halves first."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        total = args[0]
        for half in (4, 2, 1):
            width = 2 * half
            low = shuffled(builder, total, total, tuple(range(half)))
            high = shuffled(builder, total, total, tuple(range(half, width)))
            total = builder.fadd(low, high)
        return builder.extract_element(total, _INT32(0))

    return _FLOAT(vector8), generate
