"""What `jax.numpy` has beyond NumPy: arguments that NumPy's functions do not take.

Without these arguments the calls are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from srcjax.frontend.numpy_names import LEAST, PLAIN
from srcjax.ops.record import written_out

_F = TypeVar("_F", bound=Callable[..., Any])


def beyond(function: Callable, least: int = 0) -> Callable[[_F], _F]:
    """Say that calls without the keywords of the decorated function are NumPy's.

    `least`: how many arguments they have to have.
    """

    def mark(own: _F) -> _F:
        setattr(own, PLAIN, function)
        setattr(own, LEAST, least)
        return own

    return mark


@beyond(np.sort)
@written_out
def sort(
    a: Any, axis: int | None = -1, *, stable: bool = True, descending: bool = False
) -> Any:
    """`np.sort(a, axis)`, from the greatest on if `descending`.

    Args:
        stable: accepted; of equal items it makes no difference.
    """
    if descending:
        last = 0 if axis is None else axis
        return np.flip(np.sort(a, axis), last)
    return np.sort(a, axis)


@written_out
def argsort(
    a: Any, axis: int | None = -1, *, stable: bool = True, descending: bool = False
) -> Any:
    """Where the items of `sort` come from; of equal ones the first comes first."""
    if descending:
        last = 0 if axis is None else axis
        length = np.size(a) if axis is None else np.shape(a)[axis]
        found = np.argsort(np.flip(a, axis), axis, kind="stable")
        return length - 1 - np.flip(found, last)
    return np.argsort(a, axis, kind="stable")


@beyond(np.where)
@written_out
def where(
    condition: Any,
    x: Any = None,
    y: Any = None,
    /,
    *,
    size: Any = None,
    fill_value: Any = None,
) -> Any:
    """`np.where(condition, x, y)`; of a condition alone, `nonzero`."""
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    return np.where(condition, x, y)


@beyond(np.nonzero)
@written_out
def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple:
    """The places of what is not zero, as `np.nonzero` gives them.

    Args:
        a: an array.
        size: how many places are given: the first ones, or more than there are.
        fill_value: what stands for places that are not there: 0, unless it is said; a
            tuple has one for each axis.
    """
    found = np.nonzero(a)
    if size is None:
        return found
    fill = 0 if fill_value is None else fill_value
    fills = fill if isinstance(fill, tuple) else (fill,) * len(found)
    return tuple([padded(p, size, f) for p, f in zip(found, fills, strict=True)])


@beyond(np.flatnonzero)
@written_out
def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """`nonzero` of the items in a row."""
    return nonzero(np.ravel(a), size=size, fill_value=fill_value)[0]


@beyond(np.argwhere)
@written_out
def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """`nonzero`, with a row for each place."""
    return np.stack(nonzero(a, size=size, fill_value=fill_value), axis=-1)


@beyond(np.unique)
@written_out
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,  # noqa: A002
) -> Any:
    """`np.unique`, of a number of items that is given.

    Args:
        size: how many items are given: the first ones, or more than there are.
        fill_value: what stands for items that are not there: the least one, unless it
            is said. Their index is that of the first item, and they count 0.
        sorted: accepted; items are sorted.
    """
    given = return_index, return_inverse, return_counts
    if size is None:
        return np.unique(ar, *given, axis, equal_nan=equal_nan)  # type: ignore[call-overload]
    places = 0 if axis is None else axis
    items, index, inverse, counts = np.unique(
        ar, True, True, True, axis, equal_nan=equal_nan
    )
    items = np.moveaxis(items, places, 0)
    first = items[0] if fill_value is None else fill_value
    items = np.moveaxis(padded(items, size, first), 0, places)
    index = padded(index, size, index[0])
    counts = padded(counts, size, 0)
    more = [x for x, w in zip((index, inverse, counts), given, strict=True) if w]
    return (items, *more) if more else items


@beyond(np.bincount)
@written_out
def bincount(
    x: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None
) -> Any:
    """`np.bincount`, of a number of counts that is given.

    Args:
        length: how many counts are given: those of the numbers below it.
    """
    if length is None:
        return np.bincount(x, weights, minlength)
    return np.bincount(x, weights, length)[:length]


@beyond(np.repeat)
@written_out
def repeat(
    a: Any,
    repeats: Any,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
) -> Any:
    """`np.repeat`, of a length that is given.

    Args:
        total_repeat_length: how many items are given: the first ones, or the last one
            again where there are fewer.
    """
    items = np.repeat(a, repeats, axis)
    if total_repeat_length is None:
        return items
    places = 0 if axis is None else axis
    last = np.shape(items)[places] - 1
    return np.take(items, np.minimum(np.arange(total_repeat_length), last), places)


@beyond(np.take)
@written_out
def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: Any = None,
    mode: str | None = None,
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Any:
    """`np.take`, which raises for an index out of bounds.

    Args:
        mode: "fill" gives `fill_value` (NaN without it) for an index out of bounds.
        unique_indices: accepted, and of no effect.
        indices_are_sorted: accepted, and of no effect.
    """
    if mode == "fill":
        length = np.size(a) if axis is None else np.shape(a)[axis]
        places = np.asarray(indices)
        found = np.take(a, np.clip(places, -length, length - 1), axis)
        inside = (places >= -length) & (places < length)
        fill = np.nan if fill_value is None else fill_value
        if axis is None:
            return np.where(inside, found, fill)
        after = [1] * (np.ndim(a) - 1 - axis % np.ndim(a))
        return np.where(np.reshape(inside, (*np.shape(inside), *after)), found, fill)
    how: Any = "raise" if mode is None else mode
    return np.take(a, indices, axis, out, how)


@beyond(np.searchsorted)
@written_out
def searchsorted(
    a: Any, v: Any, side: Any = "left", sorter: Any = None, *, method: str = "scan"
) -> Any:
    """`np.searchsorted`; `method` is accepted, and of no effect."""
    return np.searchsorted(a, v, side, sorter)


@beyond(np.digitize)
@written_out
def digitize(x: Any, bins: Any, right: bool = False, *, method: Any = None) -> Any:
    """`np.digitize`; `method` is accepted, and of no effect."""
    return np.digitize(x, bins, right)


@beyond(np.dot)
@written_out
def dot(
    a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """`np.dot`; `precision` is accepted, and of no effect.

    Args:
        preferred_element_type: the dtype of the result.
    """
    return of_dtype(np.dot(a, b), preferred_element_type)


@beyond(np.matmul)
@written_out
def matmul(
    a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """`np.matmul`, with the arguments of `dot`."""
    return of_dtype(np.matmul(a, b), preferred_element_type)


@beyond(np.clip, least=3)
@written_out
def clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
) -> Any:
    """`np.clip`, which takes one bound alone, too: `clip(x, 0.0)`."""
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    if out is not None:
        return np.clip(a, low, high, out)
    return np.clip(a, low, high)


@beyond(np.vdot)
@written_out
def vdot(
    a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """`np.vdot`, with the arguments of `dot`."""
    return of_dtype(np.vdot(a, b), preferred_element_type)


@beyond(np.inner)
@written_out
def inner(
    a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """`np.inner`, with the arguments of `dot`."""
    return of_dtype(np.inner(a, b), preferred_element_type)


@beyond(np.convolve)
@written_out
def convolve(
    a: Any,
    v: Any,
    mode: Any = "full",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`np.convolve`, with the arguments of `dot`."""
    return of_dtype(np.convolve(a, v, mode), preferred_element_type)


@beyond(np.correlate)
@written_out
def correlate(
    a: Any,
    v: Any,
    mode: Any = "valid",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`np.correlate`, with the arguments of `dot`."""
    return of_dtype(np.correlate(a, v, mode), preferred_element_type)


@beyond(np.tensordot)
@written_out
def tensordot(
    a: Any,
    b: Any,
    axes: Any = 2,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`np.tensordot`, with the arguments of `dot`."""
    return of_dtype(np.tensordot(a, b, axes), preferred_element_type)


@beyond(np.einsum)
@written_out
def einsum(
    subscripts: str,
    *operands: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    **options: Any,
) -> Any:
    """`np.einsum`, with the arguments of `dot`."""
    product = np.einsum(subscripts, *operands, **options)
    return of_dtype(product, preferred_element_type)


def of_dtype(x: Any, dtype: Any) -> Any:
    """The array in a dtype, unless that is None."""
    return x if dtype is None else x.astype(dtype)


@written_out
def fill_diagonal(
    a: Any, val: Any, wrap: bool = False, *, inplace: bool = False
) -> Any:
    """A copy of the array with `val` on its diagonal; with `inplace` the array itself.

    JAX has `inplace=True` as the default and refuses it; here nothing is changed unless
    it is asked for.
    """
    result = a if inplace else np.array(a)
    np.fill_diagonal(result, val, wrap)
    return result


@written_out
def put(a: Any, ind: Any, v: Any, mode: Any = None, *, inplace: bool = False) -> Any:
    """A copy of the array with items set at places in a row (`np.put`)."""
    result = a if inplace else np.array(a)
    np.put(result, ind, v, mode="clip" if mode is None else mode)
    return result


def padded(items: Any, size: int, fill: Any) -> Any:
    """The first items, and `fill` where there are fewer."""
    missing = max(size - len(items), 0)
    rest = np.broadcast_to(np.asarray(fill, items.dtype), (missing, *items.shape[1:]))
    return np.concatenate([items[:size], rest])


__all__ = [
    "argsort",
    "argwhere",
    "bincount",
    "clip",
    "convolve",
    "correlate",
    "digitize",
    "dot",
    "einsum",
    "fill_diagonal",
    "flatnonzero",
    "inner",
    "matmul",
    "nonzero",
    "put",
    "repeat",
    "searchsorted",
    "sort",
    "take",
    "tensordot",
    "unique",
    "vdot",
    "where",
]
