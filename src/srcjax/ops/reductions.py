"""Reductions and scans: sum, mean, prod, max, var, norm, cumsum ...

Conventions: elements that share a maximum or minimum share its adjoint evenly, as in
JAX; the derivative of a norm of zeros is 0 (JAX gives NaN there); `std` of equal
values has no derivative and gives NaN, as in JAX; `prod` and `cumprod` are right with
zeros among the factors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Dim,
    Scalar,
    Type,
    dtype_of,
    is_number,
    shape_of,
)
from srcjax.ops.infer_rules import (
    FALSE,
    NONE,
    dims_product,
    float_dtype,
    reduced_shape,
    result_dtype,
    value_of_shape,
)
from srcjax.ops.known import MISSING, known
from srcjax.ops.record import Fold, adjoint, inert, operation, surely, tangent
from srcjax.runtime import summed

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules

INTP = np.dtype(np.intp)
_function: Any

# -- types -----------------------------------------------------------------------------


def named_dtype(dtype: Type) -> np.dtype | None:
    """The dtype that an argument such as `np.float32` or `"f4"` names."""
    value = known(dtype)
    if value is MISSING or value is None:
        return None
    try:
        return np.dtype(value)  # type: ignore[call-overload]
    except TypeError:
        return None


def result_of(dtype: np.dtype | None, a: Type, axis: Type, keepdims: Type) -> Type:
    """A reduction's type: with `keepdims` an array also where all sizes are 1."""
    shape = reduced_shape(a, axis, keepdims)
    if shape is None:  # perhaps a scalar, perhaps an array
        return UNKNOWN
    if shape_of(a) is None and shape == () and known(keepdims, False) is not False:
        return UNKNOWN
    return value_of_shape(dtype, shape)


def infer_sum(
    a: Type, axis: Type = NONE, dtype: Type = NONE, keepdims: Type = FALSE
) -> Type:
    """Small integers and booleans are added up as the platform's int."""
    found = dtype_of(a)
    if dtype != NONE:
        found = named_dtype(dtype)
    elif found is not None and found.kind in "biu":
        found = np.add.reduce(np.zeros(1, found)).dtype
    return result_of(found, a, axis, keepdims)


def infer_mean(
    a: Type, axis: Type = NONE, dtype: Type = NONE, keepdims: Type = FALSE, **_: Type
) -> Type:
    found = float_dtype(a) if dtype == NONE else named_dtype(dtype)
    return result_of(found, a, axis, keepdims)


def infer_var(
    a: Type, axis: Type = NONE, dtype: Type = NONE, keepdims: Type = FALSE, **_: Type
) -> Type:
    """A real number, of complex ones too."""
    return result_of(real_part_dtype(float_dtype(a)), a, axis, keepdims)


def real_part_dtype(dtype: np.dtype | None) -> np.dtype | None:
    """The dtype of the parts of complex numbers; others stay."""
    is_complex = dtype is not None and dtype.kind == "c"
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype and is_complex else dtype


def infer_extreme(a: Type, axis: Type = NONE, keepdims: Type = FALSE) -> Type:
    return result_of(dtype_of(a), a, axis, keepdims)


def infer_norm(
    x: Type, ord: Type = NONE, axis: Type = NONE, keepdims: Type = FALSE
) -> Type:
    return result_of(real_part_dtype(float_dtype(x)), x, axis, keepdims)


def infer_index(a: Type, axis: Type = NONE, keepdims: Type = FALSE, **_: Type) -> Type:
    return result_of(INTP, a, axis, keepdims)


def infer_count(a: Type, axis: Type = NONE, keepdims: Type = FALSE) -> Type:
    if known(axis, None) is None:  # an int or a NumPy scalar, by version
        return UNKNOWN if known(keepdims, False) is not False else Scalar(dtype=INTP)
    return result_of(INTP, a, axis, keepdims)


def infer_truth(a: Type, axis: Type = NONE, keepdims: Type = FALSE, **_: Type) -> Type:
    return result_of(np.dtype(bool), a, axis, keepdims)


def infer_scan(a: Type, axis: Type = NONE, dtype: Type = NONE) -> Type:
    """The shape of `a`, or flat without an axis."""
    summed = infer_sum(a, NONE, dtype)
    shape = shape_of(a)
    along = known(axis, None)
    if along is None or is_number(a):
        size: Dim = None if shape is None else dims_product(shape)
        return Array(dtype=dtype_of(summed), shape=(size,))
    return Array(dtype=dtype_of(summed), shape=None if along is MISSING else shape)


def infer_average(
    a: Type, axis: Type = NONE, weights: Type = NONE, *, keepdims: Type = FALSE
) -> Type:
    dtype = float_dtype(a)
    if weights != NONE:
        dtype = result_dtype(np.multiply, a, weights)
        dtype = None if dtype is None else np.result_type(dtype, np.float16)
        if dtype is not None and dtype_of(a).kind in "biu":  # type: ignore[union-attr]
            dtype = np.result_type(dtype, np.float64)
    return result_of(dtype, a, axis, keepdims)


# -- sums ----------------------------------------------------------------------------


@adjoint(np.sum, methods=["sum"], infer=infer_sum, spreads=True, linear="a")
def _(y, a, axis=None, dtype=None, *, keepdims=False):
    """The sum spreads its adjoint over all that it added."""
    d[a] = undo_dtype(unreduce(d[y], axis, keepdims, a), dtype, a)


@adjoint(np.mean, methods=["mean"], infer=infer_mean, spreads=True, linear="a")
def _(y, a, axis=None, dtype=None, *, keepdims=False):
    """The mean spreads its adjoint evenly: each of n elements gets 1/n of it."""
    d[a] = undo_dtype(unreduce(d[y], axis, keepdims, a) / size_along(a, axis), dtype, a)


@adjoint(np.average, infer=infer_average, linear="a")
def _(y, a, axis=None, weights=None, *, keepdims=False):
    """A weighted mean spreads its adjoint by the weights."""
    d[a] = average_adjoint(unreduce(d[y], axis, keepdims, a), weights, axis, a)
    d[weights] = average_weights_adjoint(
        unreduce(d[y], axis, keepdims, a),
        unreduce(y, axis, keepdims, a),
        weights,
        axis,
        a,
    )


@tangent(np.average)
def _(y, a, axis=None, weights=None, *, keepdims=False):
    d[y] = average_weights_tangent(d[weights], y, weights, axis, keepdims, a)


@adjoint(
    np.var,
    methods=["var"],
    infer=infer_var,
    spreads=True,
    says="variance: `d(var(u)) = 2 * mean((u - mean(u)) * d(u))`",
)
def _(y, a, axis=None, *, ddof=0, keepdims=False):
    d[a] = centred_slope(2 * unreduce(d[y], axis, keepdims, a), a, axis) / (
        size_along(a, axis) - ddof
    )
    d[ddof] = unbroadcast(d[y] * y / (size_along(a, axis) - ddof), ddof)


@tangent(np.var)
def _(y, a, axis=None, *, ddof=0, keepdims=False):
    d[y] = 2 * mean_with_centred(d[a], axis, ddof, keepdims, a)
    d[y] = d[ddof] * y / (size_along(a, axis) - ddof)


@adjoint(
    np.std,
    methods=["std"],
    infer=infer_var,
    spreads=True,
    says="standard deviation: `d(std(u)) = mean((u - mean(u)) * d(u)) / std(u)`",
)
def _(y, a, axis=None, *, ddof=0, keepdims=False):
    d[a] = centred_slope(unreduce(d[y] / y, axis, keepdims, a), a, axis) / (
        size_along(a, axis) - ddof
    )
    d[ddof] = unbroadcast(d[y] * y / (2 * (size_along(a, axis) - ddof)), ddof)


@tangent(np.std)
def _(y, a, axis=None, *, ddof=0, keepdims=False):
    d[y] = mean_with_centred(d[a], axis, ddof, keepdims, a) / y
    d[y] = d[ddof] * y / (2 * (size_along(a, axis) - ddof))


@adjoint(np.nansum, infer=infer_sum, spreads=True)
def _(y, a, axis=None, *, keepdims=False):
    """The sum spreads its adjoint over all that it added, not over NaN."""
    d[a] = np.where(np.isnan(a), 0, unreduce(d[y], axis, keepdims, a))


@tangent(np.nansum)
def _(y, a, axis=None, *, keepdims=False):
    d[y] = summed(np.where(np.isnan(a), 0, d[a]), axis, keepdims)


@adjoint(np.nanmean, infer=infer_mean, spreads=True)
def _(y, a, axis=None, *, keepdims=False):
    """The mean spreads its adjoint evenly over all that is not NaN."""
    d[a] = np.where(np.isnan(a), 0, unreduce(d[y], axis, keepdims, a)) / count_numbers(
        a, axis
    )


@tangent(np.nanmean)
def _(y, a, axis=None, *, keepdims=False):
    d[y] = summed(
        np.where(np.isnan(a), 0, d[a]) / count_numbers(a, axis), axis, keepdims
    )


# -- products and scans --------------------------------------------------------------


@adjoint(
    np.prod,
    methods=["prod"],
    infer=infer_sum,
    spreads=True,
    says="product rule: each factor gets the product of all others",
)
def _(y, a, axis=None, *, keepdims=False):
    d[a] = unreduce(d[y], axis, keepdims, a) * prod_of_others(a, axis)


@tangent(np.prod)
def _(y, a, axis=None, *, keepdims=False):
    d[y] = summed(d[a] * prod_of_others(a, axis), axis, keepdims)


@adjoint(np.cumsum, methods=["cumsum"], infer=infer_scan, linear="a")
def _(y, a, axis=None):
    """Each element is in all later sums: adjoints are summed from the end."""
    d[a] = cumsum_adjoint(d[y], axis, a)


@adjoint(
    np.cumprod,
    methods=["cumprod"],
    infer=infer_scan,
    says="product rule, for each of the products",
)
def _(y, a, axis=None):
    d[a] = cumprod_adjoint(d[y], axis, a)


@tangent(np.cumprod)
def _(y, a, axis=None):
    d[y] = cumprod_tangent(d[a], axis, a)


# -- extremes ------------------------------------------------------------------------


for _function in (np.max, np.min, np.nanmax, np.nanmin):

    @adjoint(
        _function,
        infer=infer_extreme,
        spreads=True,
        says="the adjoint goes to where the extreme is; equal ones share it",
    )
    def _(y, a, axis=None, *, keepdims=False):
        if surely(axis is not None and np.ndim(a) > 1):
            chosen = a == unreduce(y, axis, keepdims, a)
            d[a] = share_of_ties(d[y], chosen, axis, keepdims, a)
        else:
            d[a] = unreduce_extreme(d[y], y, axis, keepdims, a)


for _function in (np.max, np.min):

    @tangent(_function)
    def _(y, a, axis=None, *, keepdims=False):
        if surely(axis is not None and np.ndim(a) > 1):
            chosen = a == unreduce(y, axis, keepdims, a)
            d[y] = mean_of_ties(d[a], chosen, axis, keepdims, a)
        else:
            d[y] = reduce_extreme(d[a], y, axis, keepdims, a)


for _function in (np.nanmax, np.nanmin):

    @tangent(_function)
    def _(y, a, axis=None, *, keepdims=False):
        d[y] = reduce_extreme(np.where(np.isnan(a), 0, d[a]), y, axis, keepdims, a)


operation(np.max, np.amax, methods=["max"])
operation(np.min, np.amin, methods=["min"])


@adjoint(np.ptp, infer=infer_extreme)
def _(y, a, axis=None, *, keepdims=False):
    """The adjoint goes to the largest element, and with a minus to the smallest."""
    d[a] = unreduce_extreme(
        d[y], np.max(a, axis=axis, keepdims=keepdims), axis, keepdims, a
    )
    d[a] = unreduce_extreme(
        -d[y], np.min(a, axis=axis, keepdims=keepdims), axis, keepdims, a
    )


@tangent(np.ptp)
def _(y, a, axis=None, *, keepdims=False):
    d[y] = ptp_tangent(d[a], axis, keepdims, a)


# -- norms ---------------------------------------------------------------------------


@adjoint(
    np.linalg.norm, infer=infer_norm, says="norm: `d(norm(u)) = u @ d(u) / norm(u)`"
)
def _(y, x, ord=None, axis=None, keepdims=False):
    d[x] = norm_adjoint(d[y], y, ord, axis, keepdims, x)
    d[ord] = no_derivative(d[y])


@tangent(np.linalg.norm)
def _(y, x, ord=None, axis=None, keepdims=False):
    d[y] = norm_tangent(d[x], y, ord, axis, keepdims, x)
    d[y] = no_derivative(d[ord])


# -- no derivative -------------------------------------------------------------------
for _function in (np.argmax, np.argmin, np.nanargmax, np.nanargmin):
    inert(_function, signature="a, axis=None, *, keepdims=False", infer=infer_index)
operation(np.argmax, methods=["argmax"])
operation(np.argmin, methods=["argmin"])
inert(np.count_nonzero, signature="a, axis=None, *, keepdims=False", infer=infer_count)
for _function in (np.all, np.any):
    inert(_function, signature="a, axis=None, *, keepdims=False", infer=infer_truth)
for _function in (np.logical_and.reduce, np.logical_or.reduce):
    inert(
        _function, signature="array, axis=0, *, keepdims=False",
        infer=lambda array, axis, keepdims: infer_truth(array, axis, keepdims),
    )  # fmt: skip
inert(np.bitwise_and.reduce, np.bitwise_or.reduce, np.bitwise_xor.reduce)
operation(np.all, methods=["all"])
operation(np.any, methods=["any"])

# -- one element after the other, for kernels ----------------------------------------
_LARGER = "x if x > y or x != x else y"
_SMALLER = "x if x < y or x != x else y"
operation(np.sum, fold=Fold(0.0, "added(y, x)", kinds="fi"))
operation(np.mean, fold=Fold(0.0, "added(y, x)", finish="y / n"))
operation(np.prod, fold=Fold(1.0, "y * x", kinds="fi"))
operation(np.max, fold=Fold(-math.inf, _LARGER, of_some=True))
operation(np.min, fold=Fold(math.inf, _SMALLER, of_some=True))
operation(np.any, fold=Fold(False, "y or x", kinds="b"))
operation(np.all, fold=Fold(True, "y and x", kinds="b"))
