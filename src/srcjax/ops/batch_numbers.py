"""Batch rules of functions of numbers that are not plain elementwise functions.

Functions of `math` and builtins take one number at a time; on a batch they are NumPy's
function of the same value, with the dtype that the results of the examples have.
"""

from __future__ import annotations

import math
import operator

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.stopped import stop_gradient
from srcjax.analysis.types import shape_of
from srcjax.ops import arithmetic, complex_parts, inert  # noqa: F401  (the records)
from srcjax.ops.batch_kinds import batch, elementwise
from srcjax.ops.batch_operands import as_it_is, expr, only, spread
from srcjax.ops.batch_products import is_real
from srcjax.ops.batching import MappedCall, Rule, all_axes, shifted

# -- like elementwise functions ------------------------------------------------------

batch(np.divmod, np.isclose, np.spacing)(elementwise)
batch(np.round, np.around)(as_it_is("a"))
batch(np.real, np.imag)(as_it_is("val"))
batch(np.angle)(as_it_is("z"))
batch(stop_gradient)(as_it_is("x"))

# -- functions of one number ---------------------------------------------------------


def of_number(text: str) -> Rule:
    """The rule of a function of one number `x`, which for a batch of them is `text`."""

    def rule(call: MappedCall) -> gast.expr | None:
        parameter = next(iter(call.bound))
        if list(call.bound) != [parameter] or call.rank(parameter) != 0:
            return None
        return syntax.expression(text, x=call.arg(parameter))

    return rule


batch(math.floor)(of_number("np.floor(x).astype(int)"))
batch(math.ceil)(of_number("np.ceil(x).astype(int)"))
batch(math.trunc)(of_number("np.trunc(x).astype(int)"))
batch(math.ulp)(of_number("np.spacing(np.abs(x))"))
batch(int)(of_number("x.astype(int)"))
batch(bool, operator.truth)(of_number("x.astype(bool)"))
batch(operator.index)(of_number("x.copy()"))
batch(operator.not_)(of_number("np.logical_not(x)"))


@batch(np.modf)
def _(call: MappedCall) -> gast.expr | None:
    x = call.arg("x")
    return syntax.expression("np.modf(x)", x=x) if only(call, "x") else None


@batch(np.frexp)
def _(call: MappedCall) -> gast.expr | None:
    x = call.arg("x")
    return syntax.expression("np.frexp(x)", x=x) if only(call, "x") else None


batch(float)(of_number("x.astype(float)"))


@batch(np.ndarray.item)
def _(call: MappedCall) -> gast.expr | None:
    """Of a number, or of an array of one element."""
    x, shape = call.arg("x"), shape_of(call.type("x"))
    if shape is None or any(n != 1 for n in shape):
        return None
    if not shape:
        return syntax.expression("x.copy()", x=x)
    return syntax.call(gast.Attribute(x, "reshape", syntax.LOAD), call.size)


@batch(complex)
def _(call: MappedCall) -> gast.expr | None:
    """Side by side in memory, so that infinite parts stay as they are."""
    if any(call.rank(p) != 0 for p in call.bound):
        return None
    if not call.has("imag"):
        return syntax.expression("x.astype(complex)", x=call.arg("real"))
    sides = [
        spread(call, call.arg(p), call.type(p), 0) if call.has(p) else None
        for p in ("real", "imag")
    ]
    if None in sides or not all(is_real(call.type(p)) for p in call.bound):
        return None
    return syntax.call("complex_of", *sides)


batch(runtime.complex_of)(elementwise)


@batch(round)
def _(call: MappedCall) -> gast.expr | None:
    x = call.arg("number")
    if call.rank("number") != 0 or call.is_mapped("ndigits"):
        return None
    if call.const("ndigits", None) is None:
        return syntax.expression("np.rint(x).astype(int)", x=x)
    return syntax.call("np.round", x, call.arg("ndigits"))


@batch(math.remainder)
def _(call: MappedCall) -> gast.expr | None:
    """As exact as for numbers: `np.fmod` is, and what is left is a small multiple."""
    a, b = (call.arg(p) for p in call.bound)
    part = syntax.expression("np.fmod(a, 2 * b)", a=a, b=b)
    text = "part - b * np.rint(part / b)"
    return syntax.expression(text, part=part, b=syntax.clone(b))


@batch(math.gcd, math.lcm)
def _(call: MappedCall) -> gast.expr | None:
    args = call.bound["args"]
    if len(args) != 2:
        return None
    name = call.op.functions[0].__name__
    return syntax.call(f"np.{name}", *map(syntax.clone, args))


# -- one truth for each example ------------------------------------------------------


def all_true(value: gast.expr, rank: int) -> gast.expr:
    """Whether all of an example is true."""
    if rank == 0:
        return value
    return syntax.call("np.all", value, axis=expr(shifted(all_axes(rank), rank)))


@batch(np.array_equal, np.array_equiv)
def _(call: MappedCall) -> gast.expr | None:
    a, b = shape_of(call.type("a1")), shape_of(call.type("a2"))
    nan = call.const("equal_nan", False)
    if a is None or a != b or None in a or nan is not False:
        return None
    same = syntax.expression("a == b", a=call.arg("a1"), b=call.arg("a2"))
    return all_true(same, len(a))


@batch(np.allclose)
def _(call: MappedCall) -> gast.expr | None:
    ranks = [call.rank(p) for p in call.bound]
    if any(rank is None for rank in ranks):
        return None
    highest = max(rank for rank in ranks if rank is not None)
    lifted = {p: call.lifted(p, highest) for p in call.bound}
    close = syntax.call("np.isclose", lifted.pop("a"), lifted.pop("b"), **lifted)
    return all_true(close, highest)


@batch(np.isrealobj, np.iscomplexobj)
def _(call: MappedCall) -> gast.expr | None:
    return (
        syntax.call("np.full", call.size, call.rebuild()) if only(call, "x") else None
    )
