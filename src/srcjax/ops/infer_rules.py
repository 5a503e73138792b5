"""Shape and dtype rules shared by families of operations.

An infer rule receives the types of the arguments by parameter name (absent arguments
are left to the rule's own defaults) and returns the type of the result. It says
nothing of activity or buffers: the interpreter adds those. It returns `UNKNOWN` (or a
type with unknown parts) where the arguments' types do not tell, and never raises for
a program that would run.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dim,
    List,
    NumberOrArray,
    Scalar,
    Shape,
    Tuple,
    Type,
    as_dim,
    broadcast_shapes,
    combined_dims,
    dtype_of,
    is_number,
    rank_of,
    same_shape,
    shape_of,
)
from srcjax.ops.known import MISSING, known

NONE = Const(value=None)
FALSE = Const(value=False)


def value_of_shape(dtype: Any, shape: Shape | None) -> Type:
    """What NumPy returns for a result of that shape: an array, or a scalar for `()`."""
    dtype = None if dtype is None else np.dtype(dtype)
    if shape == ():
        return Scalar(dtype=dtype)
    return Array(dtype=dtype, shape=shape)


def sample(t: Type) -> Any:
    """A tiny value of the same dtype: what dtype rules are asked of NumPy with."""
    kind = _kind_of(t)
    return None if kind is None else _sample(*kind)


def _kind_of(t: Type) -> tuple[str, str] | None:
    """The dtype, and whether it is a Python number, NumPy scalar or array."""
    dtype = dtype_of(t)
    if dtype is None:
        return None
    if isinstance(t, Scalar) and t.python or isinstance(t, Const):
        return dtype.str, "python"
    return dtype.str, "scalar" if is_number(t) else "array"


def _sample(spelled: str, kind: str) -> Any:
    dtype = np.dtype(spelled)
    if kind == "python":
        return {"b": True, "i": 1, "f": 1.0, "c": 1j}.get(dtype.kind, 1.0)
    return dtype.type(1) if kind == "scalar" else np.ones((1,), dtype)


def result_dtype(function: Callable, *types: Type) -> np.dtype | None:
    """The dtype that the elementwise function gives, asked of NumPy itself."""
    return _asked(function, *map(_kind_of, types))[0]


@lru_cache(maxsize=4096)
def _asked(
    function: Callable, *kinds: tuple[str, str] | None
) -> tuple[np.dtype | None, bool]:
    """The dtype of the result, and whether it is a Python number."""
    if any(kind is None for kind in kinds):
        return None, False
    samples = [_sample(*kind) for kind in kinds if kind is not None]
    try:
        with np.errstate(all="ignore"):
            result = function(*samples)
            return np.asarray(result).dtype, type(result) in _PYTHON_NUMBERS
    except (TypeError, ValueError, ZeroDivisionError):
        return None, False


_PYTHON_NUMBERS = (bool, int, float, complex)


def _gives_python(function: Callable, types: tuple[Type, ...]) -> bool | None:
    """Whether a function of numbers gives a Python number; None where it may."""
    either = [isinstance(t, Scalar) and t.python is None for t in types]
    found = set()
    for way in (False, True) if any(either) else (False,):
        given = [
            replace(t, python=way) if asked else t  # type: ignore[call-arg]
            for t, asked in zip(types, either, strict=True)
        ]
        found.add(_asked(function, *map(_kind_of, given))[1])
    return found.pop() if len(found) == 1 else None


def infer_elementwise(function: Callable, *types: Type) -> Type:
    """Broadcast shape and NumPy's own dtype; Python numbers stay Python numbers."""
    shapes = [shape_of(t) for t in types]
    dtype = result_dtype(function, *types)
    if all(is_number(t) for t in types):
        return Scalar(dtype=dtype, python=_gives_python(function, types))
    if any(shape is None for shape in shapes):
        spread = _infer_spread(function, types)
        if spread is not None:
            return spread
        return (
            Array(dtype=dtype) if any(isinstance(t, Array) for t in types) else UNKNOWN
        )
    return value_of_shape(dtype, broadcast_shapes(*shapes))


#: The dtypes that NumPy makes of Python's numbers.
_PYTHON_DTYPES = frozenset([np.dtype(int), np.dtype(float), np.dtype(complex)])


def _infer_spread(function: Callable, types: tuple[Type, ...]) -> Type | None:
    """The result for operands of which some are numbers or arrays.

    It is an array where another operand is as large; None where nothing is known.
    """
    spread = [t for t in types if isinstance(t, NumberOrArray)]
    others = [t for t in types if not isinstance(t, NumberOrArray)]
    if not spread or any(shape_of(t) is None for t in others):
        return None
    plain = all(t.dtype in _PYTHON_DTYPES for t in spread)
    if not plain and getattr(function, "__module__", "") != operator.add.__module__:
        return None  # of a Python number, a function of NumPy gives one in float64
    arrays = [t.array() if isinstance(t, NumberOrArray) else t for t in types]
    dtype = result_dtype(function, *arrays)
    whole = broadcast_shapes(*map(shape_of, arrays))
    if dtype is None or not whole or None in whole:
        return None
    if same_shape(broadcast_shapes(*map(shape_of, others)), whole):
        return Array(dtype=dtype, shape=whole)
    if any(isinstance(t, Array) for t in others):
        return None
    return NumberOrArray(dtype=dtype, shape=whole)


def float_dtype(t: Type) -> np.dtype | None:
    """The dtype of means and the like: floats stay, integers become float64."""
    dtype = dtype_of(t)
    if dtype is None or dtype.kind in "fc":
        return dtype
    return np.dtype(float)


def normal_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """`axis` (int, tuple, None for all) as sorted non-negative axes."""
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(int(a) % rank for a in axes)) if rank else ()


def reduced_shape(x: Type, axis: Type | None, keepdims: Type | None) -> Shape | None:
    """The shape of a reduction of `x`; None when not known."""
    shape, along = shape_of(x), known(axis, None)
    keep = known(keepdims, False)
    if along is None and keep is False:
        return ()
    if shape is None or keep is MISSING:
        return None
    if along is MISSING:  # one unknown axis goes, which one is not known
        one = axis is not None and dtype_of(axis) is not None
        return (None,) * (len(shape) - (0 if keep else 1)) if one else None
    axes = normal_axes(along, len(shape))
    if keep:
        return tuple(1 if i in axes else dim for i, dim in enumerate(shape))
    return tuple(dim for i, dim in enumerate(shape) if i not in axes)


def dims_of(shape: Type) -> Shape | None:
    """The shape that an argument such as `n` or `(m, n)` stands for."""
    if isinstance(shape, (Tuple, List)):
        return None if shape.items is None else tuple(map(as_dim, shape.items))
    return (as_dim(shape),) if is_number(shape) else None


def dims_product(dims: Shape) -> Dim:
    """The number of elements, None when not known."""
    total: Dim = 1
    for dim in dims:
        total = combined_dims("mul", total, dim)
    return total


__all__ = [
    "FALSE",
    "NONE",
    "dims_of",
    "dims_product",
    "float_dtype",
    "infer_elementwise",
    "normal_axes",
    "rank_of",
    "reduced_shape",
    "result_dtype",
    "sample",
    "value_of_shape",
]
