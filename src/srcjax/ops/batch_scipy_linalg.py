"""Batch rules of scipy.linalg.

Functions that work on stacks only from some version on are written with the function
of `np.linalg` of the same value, where there is one.
"""

from __future__ import annotations

import gast
import scipy.linalg

from srcjax import syntax
from srcjax.analysis.types import Type, is_active, shape_of
from srcjax.ops.batch_kinds import batch
from srcjax.ops.batch_linalg import solution
from srcjax.ops.batch_operands import as_it_is, display, has_ints, only
from srcjax.ops.batching import MappedCall
from srcjax.ops.known import MISSING

#: Up to this size solving a batch of triangular systems as general ones is faster
#: than a loop over calls that know the triangle (measured: 0.7 against 1.4 ms for 100
#: of size 32, 4.6 against 2.9 ms of size 50).
SMALL = 32

batch(scipy.linalg.expm, scipy.linalg.lu)(as_it_is("a"))


@batch(scipy.linalg.inv, scipy.linalg.det)
def _(call: MappedCall) -> gast.expr | None:
    name = call.op.functions[0].__name__
    if not only(call, "a") or call.const("assume_a", None) is not None:
        return None
    return syntax.expression(f"np.linalg.{name}(a)", a=call.arg("a"))


@batch(scipy.linalg.cholesky)
def _(call: MappedCall) -> gast.expr | None:
    return factor(call)


def factor(call: MappedCall) -> gast.expr | None:
    """The Cholesky factor, the upper one unless `lower`."""
    lower = call.const("lower", False)
    if lower is MISSING or not only(call, "a"):
        return None
    text = "np.linalg.cholesky(a)" if lower else "np.linalg.cholesky(a, upper=True)"
    return syntax.expression(text, a=call.arg("a"))


@batch(scipy.linalg.cho_factor)
def _(call: MappedCall) -> gast.expr | None:
    made, lower = factor(call), call.const("lower", False)
    if made is None:
        return None
    left = "np.triu(a, 1)" if lower else "np.tril(a, -1)"  # as it was in `a`
    text = f"(c + {left}, np.full(n, {bool(lower)}))"
    return syntax.expression(text, c=made, a=call.arg("a"), n=call.size)


@batch(scipy.linalg.eigh)
def _(call: MappedCall) -> gast.expr | None:
    """Eigenvalues only: the signs of eigenvectors are not those of NumPy's."""
    lower = call.const("lower", True)
    plain = {"a", "lower", "eigvals_only", "check_finite"}
    plain |= {"overwrite_a", "overwrite_b"}
    if lower is MISSING or not only(call, "a") or not set(call.bound) <= plain:
        return None
    if call.const("eigvals_only", False) is not True:
        return None
    text = "np.linalg.eigvalsh(a)" if lower else "np.linalg.eigvalsh(a, 'U')"
    return syntax.expression(text, a=call.arg("a"))


@batch(scipy.linalg.solve)
def _(call: MappedCall) -> gast.expr | None:
    general = call.const("assume_a", None) in (None, "gen", "general")
    turned = call.const("transposed", False)
    if not general or turned is not False:
        return None
    return solution(call)


@batch(scipy.linalg.solve_triangular)
def _(call: MappedCall) -> gast.expr | None:
    """Of many small matrices by `np.linalg.solve`, of large ones one by one."""
    shape, lower = shape_of(call.type("a")), call.const("lower", False)
    if not call.is_mapped("a"):
        return right_sides(call, "a")
    if not shape or not isinstance(shape[-1], int) or shape[-1] > SMALL:
        return None
    trans, unit = call.const("trans", 0), call.const("unit_diagonal", False)
    plain = trans in (0, 1, "N", "T") and unit is False and lower in (True, False)
    if len(shape) != 2 or not plain:
        return None
    half = syntax.call("np.tril" if lower else "np.triu", call.arg("a"))
    if trans in (1, "T"):
        half = syntax.expression("a.swapaxes(1, 2)", a=half)
    return solution(call, half)


@batch(scipy.linalg.cho_solve, lists=("c_and_lower",))
def _(call: MappedCall) -> gast.expr | None:
    """By two triangular systems, where the factor differs between examples."""
    if not call.is_mapped("c_and_lower"):
        return right_sides(call, "c_and_lower")
    node, t = call.bound["c_and_lower"], call.type("c_and_lower")
    found, columns = display(call, node, t), shape_of(call.type("b"))
    if found is None or len(found) != 2 or columns is None:
        return None
    (c, factor_type), (lower, lower_type) = found
    if len(shape_of(factor_type) or ()) != 2 or not 0 < len(columns) < 3:
        return None
    half = lower_half(call, c, factor_type, lower, lower_type)
    b = call.arg("b")
    if len(columns) == 1:
        text = "b[:, :, None]" if call.is_mapped("b") else "b[:, None]"
        b = syntax.expression(text, b=b)
    text = "np.linalg.solve(l.swapaxes(1, 2), np.linalg.solve(l, b))"
    x = half and syntax.expression(text, l=half, b=b)
    if x is None or len(columns) == 2:
        return x
    return syntax.expression("x[:, :, 0]", x=x)


def lower_half(
    call: MappedCall, c: gast.expr, t: Type, lower: gast.expr, lower_type: Type
) -> gast.expr | None:
    """The lower factors; what `cho_factor` left in the other half is no part."""
    known = call.const_of(lower)
    if not is_active(t):
        return None
    if known is MISSING or is_active(lower_type):
        if not is_active(lower_type):
            return None
        text = "np.where(f[:, None, None], np.tril(c), np.triu(c).swapaxes(1, 2))"
        return syntax.expression(text, f=lower, c=c)
    text = "np.tril(c)" if known else "np.triu(c).swapaxes(1, 2)"
    return syntax.expression(text, c=c)


def right_sides(call: MappedCall, matrix: str) -> gast.expr | None:
    """Vectors on the right of one matrix, as the columns of a matrix."""
    shape = shape_of(call.type("b"))
    if call.is_mapped(matrix) or not only(call, "b") or shape is None:
        return None
    if len(shape) == 1:
        columns = syntax.expression("b.T", b=call.arg("b"))
        return syntax.expression("y.T", y=call.rebuild(b=columns))
    if len(shape) != 2 or not has_ints(shape):
        return None
    n, k = shape
    text = f"b.swapaxes(0, 1).reshape({n}, {k} * size)"
    columns = syntax.expression(text, b=call.arg("b"), size=call.size)
    text = f"y.reshape({n}, size, {k}).swapaxes(0, 1)"
    return syntax.expression(text, y=call.rebuild(b=columns), size=call.size)
