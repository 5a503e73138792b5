"""Collectives: operations over all the examples, or devices, of a named axis.

    def normalised(x):
        return x - pmean(x, "batch")

    vmap(normalised, axis_name="batch")         # x - np.mean(x, axis=0)
    pmap(normalised, axis_name="batch")         # x - pmean(x, "batch"), on each device

For `vmap` what they give is the same for all examples (but for `axis_index` and what
passes values on), so it is computed once. For `pmap` they are calls in which the
devices meet (`srcjax.parallel`). Names and meanings are those of JAX. Adjoints: the
transpose of a sum over the examples is a sum over the examples, whose adjoints it adds
up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
from srcjax.ops.infer_rules import FALSE
from srcjax.ops.known import known
from srcjax.ops.record import adjoint, inert, operation, tangent
from srcjax.parallel.combining import axis_here, combined

# ruff: noqa: F821
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules

AxisName = str | tuple[str, ...]
FIRST = Const(value=0)


def psum(x: Any, axis_name: AxisName) -> Any:
    """The sum over the examples of the named axis.

    Args:
        x: a number, an array, or a container of them. What is the same for all examples
            counts once for each: `psum(1, "i")` is the number of examples.
        axis_name: the name given to `vmap` or `pmap`, or a tuple of names.

    Returns:
        A value of the shape of `x`, the same for all examples.

    Raises:
        ArgumentError: outside of a `vmap` or `pmap` with that name.
        DeviceError: another device of a `pmap` failed, ended, or is in another
            collective.
    """
    return combined("psum", x, axis_name)


def pmean(x: Any, axis_name: AxisName) -> Any:
    """The mean over the examples of the named axis (see `psum`)."""
    return combined("pmean", x, axis_name)


def pmax(x: Any, axis_name: AxisName) -> Any:
    """The maximum over the examples of the named axis (see `psum`).

    Examples that share the maximum share its adjoint evenly.
    """
    return combined("pmax", x, axis_name)


def pmin(x: Any, axis_name: AxisName) -> Any:
    """The minimum over the examples of the named axis (see `psum`)."""
    return combined("pmin", x, axis_name)


def all_gather(
    x: Any, axis_name: AxisName, *, axis: int = 0, tiled: bool = False
) -> Any:
    """The values of all examples, as one array with a new axis at `axis`.

    With `tiled` they are joined along the axis that is there. The result is the same
    for all examples. Of several names the last one's examples stand side by side.
    Raises as `psum` does.
    """
    return combined("all_gather", x, axis_name, axis=axis, tiled=tiled)


def psum_scatter(
    x: Any, axis_name: AxisName, *, scatter_dimension: int = 0, tiled: bool = False
) -> Any:
    """The example's own part of `psum(x)` along an axis: the transpose of `all_gather`.

    The axis has an item for each example; with `tiled` it is cut into equal parts.
    Raises as `psum` does, and ArgumentError for an axis of another size.
    """
    return combined(
        "psum_scatter",
        x,
        axis_name,
        scatter_dimension=scatter_dimension,
        tiled=tiled,
    )


def ppermute(x: Any, axis_name: str, perm: Sequence[tuple[int, int]]) -> Any:
    """The value of another example: each pair of `perm` is (source, target).

    An example that is no target gets zeros.

    Args:
        x: a number, an array, or a container of them.
        axis_name: one name given to `vmap` or `pmap`.
        perm: pairs of the numbers of examples, each one at most once on each side.

    Raises:
        ArgumentError, DeviceError: as `psum` does, and for other pairs.
    """
    return combined(
        "ppermute", x, axis_name, perm=tuple((int(a), int(b)) for a, b in perm)
    )


def pshuffle(x: Any, axis_name: str, perm: Sequence[int]) -> Any:
    """The value of another example: example `k` gets that of `perm[k]`."""
    return ppermute(x, axis_name, [(source, k) for k, source in enumerate(perm)])


def all_to_all(
    x: Any,
    axis_name: str,
    split_axis: int,
    concat_axis: int,
    *,
    tiled: bool = False,
) -> Any:
    """Each example gives a part to each: what it gets stands along another axis.

    `split_axis` of `x` has an item for each example, and goes; the items that an
    example gets are a new axis at `concat_axis`. With `tiled` it is cut into equal
    parts, which are joined along `concat_axis`.

    Args:
        x: an array, or a container of arrays.
        axis_name: one name given to `vmap` or `pmap`.

    Raises:
        ArgumentError, DeviceError: as `psum_scatter` does.
    """
    return combined(
        "all_to_all",
        x,
        axis_name,
        split_axis=split_axis,
        concat_axis=concat_axis,
        tiled=tiled,
    )


def axis_index(axis_name: AxisName) -> Any:
    """The number of the example along the named axis, from 0.

    Of several names the last one counts fastest.
    """
    return axis_here("axis_index", axis_name).index


def axis_size(axis_name: AxisName) -> int:
    """The number of examples along the named axis: `psum(1, axis_name)`."""
    return axis_here("axis_size", axis_name).size


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


def infer_same(x: Type, axis_name: Type, perm: Type) -> Type:
    """What passes from one example to another is of one type."""
    if parts(x):
        return map_parts(x, lambda part: infer_same(part, axis_name, perm))
    return _like(x, dtype_of(x))


def infer_exchanged(
    x: Type, axis_name: Type, split_axis: Type, concat_axis: Type, tiled: Type = FALSE
) -> Type:
    if parts(x):
        more = (axis_name, split_axis, concat_axis, tiled)
        return map_parts(x, lambda part: infer_exchanged(part, *more))
    shape, split, concat = shape_of(x), known(split_axis), known(concat_axis)
    if not shape or known(tiled) not in (True, False):
        return UNKNOWN
    if not isinstance(split, int) or not isinstance(concat, int):
        return UNKNOWN
    sizes = list(shape)
    if known(tiled):
        if split % len(shape) != concat % len(shape):
            sizes[split] = sizes[concat] = None
    else:
        del sizes[split]
        sizes.insert(concat % len(shape), size_of_axis(axis_name))
    return Array(dtype=dtype_of(x), shape=tuple(sizes))


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
operation(
    ppermute, name="srcjax.ppermute", infer=infer_same, linear="x", collective=True
)
operation(
    all_to_all,
    name="srcjax.all_to_all",
    infer=infer_exchanged,
    linear="x",
    collective=True,
)
inert(
    axis_size,
    name="srcjax.axis_size",
    signature="axis_name",
    infer=lambda axis_name: Scalar(dtype=np.dtype(int)),
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


@adjoint(ppermute)
def _(y, x, axis_name, perm):
    d[x] = ppermute(d[y], axis_name, [(target, source) for source, target in perm])


@adjoint(all_to_all)
def _(y, x, axis_name, split_axis, concat_axis, tiled=False):
    d[x] = all_to_all(d[y], axis_name, concat_axis, split_axis, tiled=tiled)


__all__ = [
    "all_gather",
    "all_to_all",
    "axis_index",
    "axis_size",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "psum",
    "psum_scatter",
]
