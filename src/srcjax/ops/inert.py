"""Functions whose results carry no derivative: counts, windows, indices."""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np

from srcjax.analysis.stopped import stop_gradient
from srcjax.analysis.types import (
    BOOL,
    INT,
    UNKNOWN,
    Array,
    Const,
    Tuple,
    Type,
    shape_of,
    with_active,
)
from srcjax.ops.infer_rules import FALSE, NONE
from srcjax.ops.known import MISSING, known
from srcjax.ops.record import inert

INTEGER = Const(value=int)
TWO = Const(value=2)


inert(
    stop_gradient,
    name="srcjax.stop_gradient",
    signature="x",
    infer=lambda x: with_active(x, False),
    alias="same",
)


def infer_window(M: Type) -> Type:
    size = known(M)
    return Array(
        dtype=np.dtype(float), shape=(size if isinstance(size, int) else None,)
    )


def infer_isin(element: Type, test_elements: Type, **_: Type) -> Type:
    shape = shape_of(element)
    return BOOL if shape == () else Array(dtype=np.dtype(bool), shape=shape)


def infer_triangle(n: Type, k: Type = NONE, m: Type = NONE) -> Type:
    index = Array(dtype=np.dtype(np.intp), shape=(None,))
    return Tuple(items=(index, index))


def infer_triangle_of(arr: Type, k: Type = NONE) -> Type:
    return infer_triangle(arr, k)


def infer_diagonal(n: Type, ndim: Type = TWO) -> Type:
    size, count = known(n), known(ndim)
    index = Array(
        dtype=np.dtype(np.intp), shape=(size if isinstance(size, int) else None,)
    )
    return Tuple(items=(index,) * count) if isinstance(count, int) else Array()


def infer_indices(
    dimensions: Type, dtype: Type = INTEGER, sparse: Type = FALSE
) -> Type:
    sizes, kind, thin = known(dimensions), known(dtype), known(sparse)
    if not isinstance(sizes, tuple) or thin is not False:
        return UNKNOWN
    found = None if kind is MISSING else np.dtype(kind)  # type: ignore[call-overload]
    return Array(dtype=found, shape=(len(sizes), *sizes))


_window: Any
_triangle: Any
for _window in (np.bartlett, np.blackman, np.hamming, np.hanning):
    inert(_window, signature="M", infer=infer_window)
inert(
    np.isin,
    signature="element, test_elements, assume_unique=False, invert=False, *, kind=None",
    infer=infer_isin,
)
for _triangle in (np.tril_indices, np.triu_indices):
    inert(_triangle, signature="n, k=0, m=None", infer=infer_triangle)
for _triangle in (np.tril_indices_from, np.triu_indices_from):
    inert(_triangle, signature="arr, k=0", infer=infer_triangle_of)
inert(np.diag_indices, signature="n, ndim=2", infer=infer_diagonal)
inert(np.diag_indices_from, signature="arr")
inert(np.mask_indices, signature="n, mask_func, k=0")
inert(np.indices, signature="dimensions, dtype=int, sparse=False", infer=infer_indices)
for _place in (bisect.bisect, bisect.bisect_left, bisect.bisect_right):
    inert(_place, signature="a, x, lo=0, hi=None, *, key=None", infer=lambda **_: INT)
inert(np.bitwise_count, elementwise=True, signature="x")
