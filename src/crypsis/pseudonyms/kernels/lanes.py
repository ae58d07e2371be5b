"""Short vectors of doubles for Numba: several sums side by side in the registers of the processor.

A loop over sixteen places of an array is often left scalar by the optimizer: it is unrolled first,
or the arrays might overlap. A kernel that says what it means gets vector instructions always:

    value = load(sums, at) + splat(delta)

`load` and `store` move LANES doubles starting at index `at` of a contiguous array of float64 (the
caller keeps within bounds), `splat` repeats one number, and `+`, `-`, `*` and `abs` work lane by
lane.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import types
from numba.core.cgutils import get_or_insert_function, ir  # what Numba itself builds with
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

LANE_BITS = 4
LANES = 1 << LANE_BITS
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


class _Lanes(types.Type):
    """The Numba type of LANES doubles."""

    def __init__(self) -> None:
        super().__init__(name=f"Lanes{LANES}")


_lanes = _Lanes()


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _VECTOR.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def load(typingctx: Any, array: Any, at: Any) -> Any:
    """The lanes that start at index `at`."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(context, builder, signature.args[0], *args), align=8)

    return _lanes(array, types.intp), code


@intrinsic  # type: ignore[untyped-decorator]
def store(typingctx: Any, array: Any, at: Any, lanes: Any) -> Any:
    """Write the lanes from index `at` on."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], pointer, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, _lanes), code


@intrinsic  # type: ignore[untyped-decorator]
def splat(typingctx: Any, number: Any) -> Any:
    """One number in every lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        single = builder.insert_element(
            ir.Constant(_VECTOR, ir.Undefined), args[0], ir.Constant(ir.IntType(32), 0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(single, ir.Constant(_VECTOR, ir.Undefined), zeros)

    return _lanes(types.float64), code


@intrinsic  # type: ignore[untyped-decorator]
def fused(typingctx: Any, left: Any, right: Any, addend: Any) -> Any:
    """Left * right + addend in one instruction, rounded once."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        name = f"llvm.fma.v{LANES}f64"
        return builder.call(get_or_insert_function(builder.module, kind, name), args)

    return _lanes(_lanes, _lanes, _lanes), code


def _register(operation: Any, instruction: str) -> None:
    @type_callable(operation)  # type: ignore[untyped-decorator]
    def typed(context: Any) -> Any:
        def typer(left: Any, right: Any) -> Any:
            return _lanes if left == right == _lanes else None

        return typer

    @lower_builtin(operation, _Lanes, _Lanes)  # type: ignore[untyped-decorator]
    def lowered(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # "contract" lets a product and a sum become one fused instruction, rounding once.
        return getattr(builder, instruction)(*args, flags=("contract",))


for _operation, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _register(_operation, _instruction)


@type_callable(abs)  # type: ignore[untyped-decorator]
def _type_abs(context: Any) -> Any:
    def typer(lanes: Any) -> Any:
        return _lanes if lanes == _lanes else None

    return typer


@lower_builtin(abs, _Lanes)  # type: ignore[untyped-decorator]
def _lower_abs(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    bits = ir.VectorType(ir.IntType(64), LANES)
    without_sign = ir.Constant(bits, [(1 << 63) - 1] * LANES)
    return builder.bitcast(builder.and_(builder.bitcast(args[0], bits), without_sign), _VECTOR)
