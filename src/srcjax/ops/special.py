"""Functions of scipy.special and the special functions of math, where SciPy is there.

The order of Bessel functions and of `polygamma`, and all but the last argument of the
incomplete gamma and beta functions, have no known derivative: asking for it raises.
"""

from __future__ import annotations

import math
from typing import Any

import gast
import numpy as np

try:
    import scipy.special
except ImportError:  # then only math's own functions are there to be differentiated
    scipy = None

from srcjax.analysis.types import Array, Type, broadcast_shapes, shape_of
from srcjax.ops.batch_kinds import batch
from srcjax.ops.batch_operands import axis_of, expr
from srcjax.ops.batching import MappedCall, all_axes, shifted, within
from srcjax.ops.infer_rules import FALSE, NONE, infer_elementwise, result_dtype
from srcjax.ops.known import MISSING
from srcjax.ops.record import adjoint, elementwise, operation, tangent
from srcjax.ops.reductions import infer_norm
from srcjax.runtime import normal_hazard

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules


def special(names: str, *partials: str | None, also: Any = (), **options: Any) -> None:
    """The row of the functions of scipy.special by name, and of those in `also`."""
    functions = () if scipy is None else names.split()
    found = [getattr(scipy.special, n) for n in functions if hasattr(scipy.special, n)]
    if found:
        elementwise((*found, *also), *partials, **options)


#: The partial where none is known: an error, should a derivative be asked for.
_NONE = "no_derivative(d)"


def infer_polygamma(a: Type, b: Type) -> Type:
    """No ufunc: always a float64 array."""
    shape = broadcast_shapes(shape_of(a), shape_of(b))
    return Array(dtype=np.dtype(float), shape=shape)


# -- the error function and the normal distribution ---------------------------------
_ERF = "d * 2 / math.sqrt(math.pi) * np.exp(-(x**2))"
elementwise(math.erf, _ERF, kernel="math.erf(x)")
elementwise(math.erfc, "-" + _ERF, kernel="math.erfc(x)")
special("erf", _ERF, kernel="math.erf(x)", also=(math.erf,), real_only=False)
special("erfc", "-" + _ERF, kernel="math.erfc(x)", also=(math.erfc,), real_only=False)
special("erfcx", "d * (2 * x * y - 2 / math.sqrt(math.pi))")
special("erfi", "d * 2 / math.sqrt(math.pi) * np.exp(x**2)", real_only=False)
special("erfinv", "d * math.sqrt(math.pi) / 2 * np.exp(y**2)")
special("erfcinv", "-d * math.sqrt(math.pi) / 2 * np.exp(y**2)")
special("dawsn", "d * (1 - 2 * x * y)", real_only=False)
special("ndtr", "d * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)")
special("ndtri", "d * np.exp(y**2 / 2) * math.sqrt(2 * math.pi)")
special("log_ndtr", "d * normal_hazard(x)")
elementwise(normal_hazard, "-d * y * (x + y)")

# -- logistic and entropies ---------------------------------------------------------
special("expit", "d * y * (1 - y)", kernel="1 / (1 + np.exp(-x))")
special("log_expit", "d * scipy.special.expit(-x)")
special(
    "logit",
    "d / (x * (1 - x))",
    kernel="np.log(x / (1 - x)) if x < 0.3 or x > 0.65 "
    "else np.log1p(2 * x - 1) - np.log1p(1 - 2 * x)",
)
special(
    "xlogy",
    "d * np.log(np.where(b > 0, b, 1))",
    "d * a / np.where(a == 0, 1, b)",
    kernel="0.0 if a == 0 and b == b else a * np.log(b)",
)
special(
    "xlog1py",
    "d * np.log1p(np.where(b > -1, b, 0))",
    "d * a / np.where(a == 0, 1, 1 + b)",
    kernel="0.0 if a == 0 and b == b else a * np.log1p(b)",
)
special("entr", "d * (-1 - np.log(x))")
special("rel_entr", "d * (1 + np.log(a / b))", "-d * a / b")
special("kl_div", "d * np.log(a / b)", "d * (1 - a / b)")
special("exp2", "d * y * math.log(2)", kernel="np.exp2(x)")
special("exp10", "d * y * math.log(10)")
special("expm1", "d * (y + 1)", kernel="np.expm1(x)")
special("log1p", "d / (1 + x)", kernel="np.log1p(x)")
special("cosm1", "-d * np.sin(x)", kernel="0.0 - 2 * np.sin(x / 2) * np.sin(x / 2)")
special("cbrt", "d / (3 * y**2)", kernel="np.cbrt(x)")
special(
    "huber",
    "d * np.clip(abs(b) - a, 0, None)",
    "d * np.clip(b, -a, a)",
)
special(
    "pseudo_huber",
    "d * (2 * y / a - b**2 / (a * np.sqrt(1 + (b / a) ** 2)))",
    "d * b / np.sqrt(1 + (b / a) ** 2)",
)

# -- gamma and beta -----------------------------------------------------------------
special(
    "gammaln loggamma",
    "d * scipy.special.digamma(x)",
    also=(math.lgamma,),
    real_only=False,
)
special(
    "gamma",
    "d * y * scipy.special.digamma(x)",
    also=(math.gamma,),
    real_only=False,
)
special("rgamma", "-d * y * scipy.special.digamma(x)", real_only=False)
special("digamma psi", "d * scipy.special.polygamma(1, x)")
special(
    "polygamma",
    _NONE,
    "d * scipy.special.polygamma(a + 1, b)",
    infer=infer_polygamma,
)
special("zetac", _NONE)
special(
    "beta",
    "d * y * (scipy.special.digamma(a) - scipy.special.digamma(a + b))",
    "d * y * (scipy.special.digamma(b) - scipy.special.digamma(a + b))",
)
special(
    "betaln",
    "d * (scipy.special.digamma(a) - scipy.special.digamma(a + b))",
    "d * (scipy.special.digamma(b) - scipy.special.digamma(a + b))",
)
special(
    "binom",
    "d * y * (scipy.special.digamma(a + 1) - scipy.special.digamma(a - b + 1))",
    "d * y * (scipy.special.digamma(a - b + 1) - scipy.special.digamma(b + 1))",
)
special(
    "poch",
    "d * y * (scipy.special.digamma(a + b) - scipy.special.digamma(a))",
    "d * y * scipy.special.digamma(a + b)",
)
_GAMMAINC = "d * np.exp(scipy.special.xlogy(a - 1, b) - b - scipy.special.gammaln(a))"
special("gammainc", _NONE, _GAMMAINC)
special("gammaincc", _NONE, "-" + _GAMMAINC)
special(
    "betainc",
    _NONE,
    _NONE,
    "d * c ** (a - 1) * (1 - c) ** (b - 1) / scipy.special.beta(a, b)",
)

# -- Bessel functions and integrals -------------------------------------------------
special("j0", "-d * scipy.special.j1(x)")
special("j1", "d * (scipy.special.j0(x) - scipy.special.jv(2, x)) / 2")
special("y0", "-d * scipy.special.y1(x)")
special("y1", "d * (scipy.special.y0(x) - scipy.special.yv(2, x)) / 2")
special("i0", "d * scipy.special.i1(x)")
elementwise(  # of a number, NumPy's own gives an array without axes
    np.i0,
    "d * scipy.special.i1(x)",
    infer=lambda x: Array(dtype=result_dtype(np.i0, x), shape=shape_of(x)),
)
special(
    "i1", "d * (scipy.special.i0(x) + scipy.special.iv(2, x)) / 2"
)  # fmt: skip
special("i0e", "d * (scipy.special.i1e(x) - np.sign(x) * y)")
special(
    "i1e",
    "d * ((scipy.special.i0e(x) + scipy.special.ive(2, x)) / 2 - np.sign(x) * y)",
)
special("k0", "-d * scipy.special.k1(x)")
special("k1", "-d * (scipy.special.k0(x) + scipy.special.kv(2, x)) / 2")
for _name, _first, _sign in (
    ("jv", "", "-"), ("yv", "", "-"), ("yn", "", "-"), ("jn", "", "-"),
    ("iv", "", "+"), ("kv", "-", "+"), ("kn", "-", "+"),
):  # fmt: skip
    _below, _above = (f"scipy.special.{_name}(a {s} 1, b)" for s in "-+")
    special(_name, _NONE, f"{_first}d * ({_below} {_sign} {_above}) / 2")
special("exp1", "-d * np.exp(-x) / x", real_only=False)
special("expi", "d * np.exp(x) / x", real_only=False)
special("spence", "d * spence_slope(x)")
# Not by the elliptic integrals: they leave 0 / 0 at zero.
special(
    "ellipk",
    "d * math.pi / 8 * in_dtype_of(scipy.special.hyp2f1(1.5, 1.5, 2, x), x)",
)
special(
    "ellipe",
    "-d * math.pi / 8 * in_dtype_of(scipy.special.hyp2f1(0.5, 1.5, 2, x), x)",
)
special("wrightomega", "d * y / (1 + y)")
special("gammasgn", None)

# -- sums of exponentials -----------------------------------------------------------


def infer_logsumexp(
    a: Type, axis: Type = NONE, b: Type = NONE, keepdims: Type = FALSE
) -> Type:
    if b != NONE:
        a = infer_elementwise(np.multiply, a, b)
    return infer_norm(a, NONE, axis, keepdims)


def infer_softmax(x: Type, axis: Type = NONE) -> Type:
    return infer_elementwise(np.exp, x)


if scipy is not None:

    @adjoint(
        scipy.special.logsumexp,
        infer=infer_logsumexp,
        says="`d(logsumexp(u)) = sum(softmax(u) * d(u))`",
    )
    def _(y, a, axis=None, b=None, keepdims=False):
        d[a] = logsumexp_adjoint(d[y], y, a, axis, b, keepdims)
        d[b] = unbroadcast(
            unreduce(d[y], axis, keepdims, a * b)
            * np.exp(a - unreduce(y, axis, keepdims, a * b)),
            b,
        )

    @tangent(scipy.special.logsumexp)
    def _(y, a, axis=None, b=None, keepdims=False):
        d[y] = logsumexp_tangent(d[a], y, a, axis, b, keepdims)
        d[y] = summed(
            d[b] * np.exp(a - unreduce(y, axis, keepdims, a * b)), axis, keepdims
        )

    @batch(scipy.special.logsumexp)
    def _(call: MappedCall) -> gast.expr | None:
        given = ["a"] if call.const("b", None) is None else ["a", "b"]
        ranks, axis = [call.rank(p) for p in given], axis_of(call)
        if None in ranks or axis is MISSING or call.is_mapped("keepdims"):
            return None
        highest = max(rank for rank in ranks if rank is not None)
        axis = all_axes(highest) if axis is None else axis
        if highest == 0 or not within(axis, highest):
            return None
        changes = {p: call.lifted(p, highest) for p in given}
        return call.rebuild(**changes, axis=expr(shifted(axis, highest)))

    @adjoint(
        scipy.special.softmax,
        infer=infer_softmax,
        says="softmax: `d(s) = s * (d(u) - sum(s * d(u)))`",
    )
    def _(y, x, axis=None):
        d[x] = y * (d[y] - sum_keeping(d[y] * y, axis))

    @tangent(scipy.special.softmax)
    def _(y, x, axis=None):
        d[y] = y * (d[x] - sum_keeping(d[x] * y, axis))

    @adjoint(
        scipy.special.log_softmax,
        infer=infer_softmax,
        says="`d(log_softmax(u)) = d(u) - sum(softmax(u) * d(u))`",
    )
    def _(y, x, axis=None):
        d[x] = d[y] - np.exp(y) * sum_keeping(d[y], axis)

    @tangent(scipy.special.log_softmax)
    def _(y, x, axis=None):
        d[y] = d[x] - sum_keeping(np.exp(y) * d[x], axis)

    for holomorphic in (
        scipy.special.logsumexp,
        scipy.special.softmax,
        scipy.special.log_softmax,
    ):
        operation(holomorphic, real_only=False)
