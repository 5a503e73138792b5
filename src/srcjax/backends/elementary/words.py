"""Words that kernels are written in: one instruction of LLVM each, which vectorises.

Numba has no way to read a float as an integer, turns what is done to small integers
into 64 bits, and makes a branch of `a if c else b`. These words keep the type of their
first argument. `multiply_add` may or may not round between its two steps, as the
machine likes; nothing may depend on it. `product_error` is exact on every machine.

Imports Numba: to be imported when something is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

INTEGER: dict[Any, Any] = {types.float64: types.int64, types.float32: types.int32}
FLOAT: dict[Any, Any] = {types.int64: types.float64, types.int32: types.float32}


def word(typed: Any) -> Any:
    """What Numba's kernels may call, from a function that types it and writes it."""
    return intrinsic(typed)


def llvm_call(builder: Any, name: str, *arguments: Any) -> Any:
    """A call of one of LLVM's functions of floats."""
    kind = arguments[0].type
    signature = ir.FunctionType(kind, [kind] * len(arguments))
    function = builder.module.declare_intrinsic(name, [kind], signature)
    return builder.call(function, arguments)


def constant(kind: Any, value: float) -> Any:
    return ir.Constant(kind, float(value))


def as_wide_as(builder: Any, value: Any, kind: Any) -> Any:
    """An integer in another number of bits."""
    if value.type == kind:
        return value
    if value.type.width > kind.width:
        return builder.trunc(value, kind)
    return builder.sext(value, kind)


@word
def bits(typing: Any, x: Any) -> Any:
    """The bits of a float, as an integer of the same width."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(signature.return_type))

    return INTEGER[x](x), generate


@word
def floating(typing: Any, i: Any) -> Any:
    """The float that has these bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(signature.return_type))

    return FLOAT[i](i), generate


def integer_word(name: str, method: str) -> Any:
    """A word of two integers that gives one as wide as the first."""

    def typed(typing: Any, i: Any, j: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            other = as_wide_as(builder, args[1], args[0].type)
            return getattr(builder, method)(args[0], other)

        return i(i, j), generate

    typed.__name__ = name
    return word(typed)


plus = integer_word("plus", "add")
minus = integer_word("minus", "sub")
masked = integer_word("masked", "and_")
shifted_left = integer_word("shifted_left", "shl")
#: The sign moves in.
shifted_right = integer_word("shifted_right", "ashr")
#: Zeros move in.
filled_right = integer_word("filled_right", "lshr")


def float_word(name: str, function: str) -> Any:
    """A word of one float for one of LLVM's functions."""

    def typed(typing: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return llvm_call(builder, function, args[0])

        return x(x), generate

    typed.__name__ = name
    return word(typed)


absolute = float_word("absolute", "llvm.fabs")
root = float_word("root", "llvm.sqrt")


@word
def with_sign_of(typing: Any, x: Any, y: Any) -> Any:
    """`x` with the sign of `y`, that of zeros and NaN too."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return llvm_call(builder, "llvm.copysign", *args)

    return (x(x, y), generate) if x == y else None


@word
def multiply_add(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once or twice."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return llvm_call(builder, "llvm.fmuladd", *args)

    return (a(a, b, c), generate) if a == b == c else None


@word
def pick(typing: Any, condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, else `b`; both are computed."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(*args)

    return (a(condition, a, b), generate) if a == b else None


def has_fused_product(context: Any) -> bool:
    """Whether the machine that is compiled for rounds a * b + c once in hardware."""
    features = getattr(context.codegen(), "_tm_features", "")
    return "+fma" in features.split(",")


def half_of_digits(builder: Any, value: Any) -> Any:
    """The leading half of the digits of a float (Veltkamp's splitting)."""
    factor = 2.0**27 + 1 if isinstance(value.type, ir.DoubleType) else 2.0**12 + 1
    large = builder.fmul(value, constant(value.type, factor))
    return builder.fsub(large, builder.fsub(large, value))


@word
def product_error(typing: Any, a: Any, b: Any, product: Any) -> Any:
    """a * b - product, exactly, where `product` is a * b rounded.

    With a fused product it is one instruction; without, Dekker's (1971), which is
    exact for factors below 2**996 (2**115 in float32).
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, b, product = args
        if has_fused_product(context):
            return llvm_call(builder, "llvm.fma", a, b, builder.fneg(product))
        mul, add, sub = builder.fmul, builder.fadd, builder.fsub
        a1, b1 = half_of_digits(builder, a), half_of_digits(builder, b)
        a2, b2 = sub(a, a1), sub(b, b1)
        rest = sub(mul(a1, b1), product)
        return add(add(add(rest, mul(a1, b2)), mul(a2, b1)), mul(a2, b2))

    return (a(a, b, product), generate) if a == b == product else None


@word
def double(typing: Any, x: Any) -> Any:
    """A float32 as float64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fpext(args[0], ir.DoubleType())

    return types.float64(x), generate


@word
def single(typing: Any, x: Any) -> Any:
    """A float64 rounded to float32."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fptrunc(args[0], ir.FloatType())

    return types.float32(x), generate


def polynomial(kind: Any, coefficients: Sequence[float]) -> Callable[..., Any]:
    """c[0] + c[1] * z + c[2] * z**2 ..., by Horner's rule, of a float of that kind."""

    def typed(typing: Any, z: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            values = [constant(args[0].type, c) for c in coefficients]
            result = values.pop()
            while values:
                result = llvm_call(
                    builder, "llvm.fmuladd", result, args[0], values.pop()
                )
            return result

        return (z(z), generate) if z == kind else None

    typed.__name__ = "polynomial"
    return word(typed)


def table(values: Sequence[float]) -> Callable[..., Any]:
    """A word that looks up a float64 by an index that is within the table."""

    def typed(typing: Any, i: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.ArrayType(ir.DoubleType(), len(values))
            module = builder.module
            name = module.get_unique_name("elementary.table")
            data = ir.GlobalVariable(module, kind, name)
            data.global_constant = True
            data.linkage = "internal"
            data.initializer = ir.Constant(
                kind, [constant(ir.DoubleType(), v) for v in values]
            )
            zero = ir.Constant(args[0].type, 0)
            return builder.load(builder.gep(data, [zero, args[0]], inbounds=True))

        return types.float64(i), generate

    typed.__name__ = "table"
    return word(typed)
