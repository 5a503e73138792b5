"""Collectives: operations over all the examples of a named batch axis.

    def normalised(x):
        return x - pmean(x, "batch")

    vmap(normalised, axis_name="batch")         # x - np.mean(x, axis=0)

What they give is the same for all examples (but for `axis_index` and `psum_scatter`),
so it is computed once. Names and meanings are those of JAX. Adjoints: the transpose of
a sum over the examples is a sum over the examples, whose adjoints it adds up.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from srcjax.analysis.axes import size_of_axis
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Scalar,
    Type,
    dtype_of,
    is_number,
    map_parts,
    parts,
    shape_of,
)
from srcjax.errors import ArgumentError
from srcjax.ops.infer_rules import FALSE
from srcjax.ops.known import known
from srcjax.ops.record import adjoint, inert, operation, tangent

# ruff: noqa: F821
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules

AxisName = str | tuple[str, ...]
FIRST = Const(value=0)


def _outside(name: str, axis_name: AxisName) -> NoReturn:
    raise ArgumentError(
        f"{name}: there is no axis of the name {axis_name!r} here; names in scope: "
        "none",
        instead=f"a call by way of `srcjax.vmap(f, axis_name={axis_name!r})`",
    )


def psum(x: Any, axis_name: AxisName) -> Any:
    """The sum over the examples of the named axis.

    Args:
        x: a number, an array, or a container of them. What is the same for all examples
            counts once for each: `psum(1, "i")` is the number of examples.
        axis_name: the name given to `vmap`, or a tuple of names.

    Returns:
        A value of the shape of `x`, the same for all examples.

    Raises:
        ArgumentError: outside of a `vmap` with that name.
    """
    _outside("psum", axis_name)


def pmean(x: Any, axis_name: AxisName) -> Any:
    """The mean over the examples of the named axis (see `psum`)."""
    _outside("pmean", axis_name)


def pmax(x: Any, axis_name: AxisName) -> Any:
    """The maximum over the examples of the named axis (see `psum`).

    Examples that share the maximum share its adjoint evenly.
    """
    _outside("pmax", axis_name)


def pmin(x: Any, axis_name: AxisName) -> Any:
    """The minimum over the examples of the named axis (see `psum`)."""
    _outside("pmin", axis_name)


def all_gather(
    x: Any, axis_name: AxisName, *, axis: int = 0, tiled: bool = False
) -> Any:
    """The values of all examples, as one array with a new axis at `axis`.

    With `tiled` they are joined along the axis that is there. The result is the same
    for all examples. Of several names the last one's examples stand side by side.
    Raises ArgumentError outside of a `vmap` with that name.
    """
    _outside("all_gather", axis_name)


def psum_scatter(
    x: Any, axis_name: AxisName, *, scatter_dimension: int = 0, tiled: bool = False
) -> Any:
    """The example's own part of `psum(x)` along an axis: the transpose of `all_gather`.

    The axis has an item for each example; with `tiled` it is cut into equal parts.
    """
    _outside("psum_scatter", axis_name)


def axis_index(axis_name: AxisName) -> Any:
    """The number of the example along the named axis, from 0.

    Of several names the last one counts fastest.
    """
    _outside("axis_index", axis_name)


# -- types -----------------------------------------------------------------------------


def infer_sum_of_all(x: Type, axis_name: Type) -> Type:
    """The type of `x`; truth values are counted."""
    if parts(x):
        return map_parts(x, lambda part: infer_sum_of_all(part, axis_name))
    dtype = dtype_of(x)
    if dtype is not None and dtype.kind == "b":
        dtype = np.dtype(int)
    return _like(x, dtype)


def infer_mean_of_all(x: Type, axis_name: Type) -> Type:
    """Whole numbers have a floating mean."""
    if parts(x):
        return map_parts(x, lambda part: infer_mean_of_all(part, axis_name))
    dtype = dtype_of(x)
    if dtype is not None and dtype.kind in "biu":
        dtype = np.dtype(float)
    return _like(x, dtype)


def infer_extreme_of_all(x: Type, axis_name: Type) -> Type:
    if parts(x):
        return map_parts(x, lambda part: infer_extreme_of_all(part, axis_name))
    return _like(x, dtype_of(x))


def _like(x: Type, dtype: np.dtype | None) -> Type:
    if isinstance(x, Const) or is_number(x):
        return Scalar(dtype=dtype)
    return Array(dtype=dtype, shape=shape_of(x)) if isinstance(x, Array) else UNKNOWN


def infer_gathered(
    x: Type, axis_name: Type, axis: Type = FIRST, tiled: Type = FALSE
) -> Type:
    if parts(x):
        return map_parts(x, lambda part: infer_gathered(part, axis_name, axis, tiled))
    shape, place = shape_of(x), known(axis)
    if shape is None or not isinstance(place, int) or known(tiled) not in (True, False):
        return UNKNOWN
    if known(tiled):
        place = place % max(len(shape), 1)
        sizes = (*shape[:place], None, *shape[place + 1 :])
    else:
        place = place % (len(shape) + 1)
        sizes = (*shape[:place], size_of_axis(axis_name), *shape[place:])
    return Array(dtype=dtype_of(x), shape=sizes)


def infer_scattered(
    x: Type,
    axis_name: Type,
    scatter_dimension: Type = FIRST,
    tiled: Type = FALSE,
) -> Type:
    if parts(x):
        more = (axis_name, scatter_dimension, tiled)
        return map_parts(x, lambda part: infer_scattered(part, *more))
    shape, place = shape_of(x), known(scatter_dimension)
    if not shape or not isinstance(place, int) or known(tiled) not in (True, False):
        return UNKNOWN
    place = place % len(shape)
    own: tuple = (None,) if known(tiled) else ()
    sizes = (*shape[:place], *own, *shape[place + 1 :])
    dtype = dtype_of(x)
    if sizes == ():
        return Scalar(dtype=dtype)
    return Array(dtype=dtype, shape=sizes)


# -- records ---------------------------------------------------------------------------

operation(psum, name="srcjax.psum", infer=infer_sum_of_all, linear="x", collective=True)
operation(
    pmean, name="srcjax.pmean", infer=infer_mean_of_all, linear="x", collective=True
)
operation(pmax, name="srcjax.pmax", infer=infer_extreme_of_all, collective=True)
operation(pmin, name="srcjax.pmin", infer=infer_extreme_of_all, collective=True)
operation(
    all_gather,
    name="srcjax.all_gather",
    infer=infer_gathered,
    linear="x",
    collective=True,
)
operation(
    psum_scatter,
    name="srcjax.psum_scatter",
    infer=infer_scattered,
    linear="x",
    collective=True,
)
inert(
    axis_index,
    name="srcjax.axis_index",
    signature="axis_name",
    infer=lambda axis_name: Scalar(dtype=np.dtype(int)),
    collective=True,
)


@adjoint(psum)
def _(y, x, axis_name):
    d[x] = psum(d[y], axis_name)


@adjoint(pmean)
def _(y, x, axis_name):
    d[x] = pmean(d[y], axis_name)


for _extreme in (pmax, pmin):

    @adjoint(_extreme)
    def _(y, x, axis_name):
        d[x] = psum(d[y], axis_name) * (x == y) / psum(x == y, axis_name)

    @tangent(_extreme)
    def _(y, x, axis_name):
        d[y] = psum(d[x] * (x == y), axis_name) / psum(x == y, axis_name)


@adjoint(all_gather)
def _(y, x, axis_name, axis=0, tiled=False):
    d[x] = psum_scatter(d[y], axis_name, scatter_dimension=axis, tiled=tiled)


@adjoint(psum_scatter)
def _(y, x, axis_name, scatter_dimension=0, tiled=False):
    d[x] = all_gather(d[y], axis_name, axis=scatter_dimension, tiled=tiled)


__all__ = [
    "all_gather",
    "axis_index",
    "pmax",
    "pmean",
    "pmin",
    "psum",
    "psum_scatter",
]
