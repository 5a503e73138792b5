"""What the functions of this package are given: keys, shapes, dtypes.

The default dtypes are JAX's: float32, int32 and uint32, whatever the arguments are.
Those of 64 bits are other numbers, and are drawn where `dtype=` asks for them, or
where they are the default (`widths`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from srcjax.random import widths

FLOAT = np.dtype(np.float32)
INT = np.dtype(np.int32)
UINT = np.dtype(np.uint32)

#: The shape of a draw.
Shape = Sequence[int]


def as_keys(name: str, key: ArrayLike) -> np.ndarray:
    """The key, or batch of keys, as the array of shape (..., 2) that it is."""
    keys = np.asarray(key)
    if keys.dtype != np.uint32 or keys.ndim == 0 or keys.shape[-1] != 2:
        raise TypeError(
            f"{name}: a key is an array of two uint32 numbers, as `random.key(0)` "
            f"gives, and a batch of keys one of shape (..., 2); this is "
            f"{keys.dtype} of shape {keys.shape}"
        )
    return keys


def as_shape(name: str, shape: Any) -> tuple[int, ...]:
    """The shape as a tuple of ints."""
    if isinstance(shape, (str, bytes)) or not hasattr(shape, "__iter__"):
        raise TypeError(f"{name}: shape is a tuple of ints such as (3,), not {shape!r}")
    sizes = tuple(operator.index(size) for size in shape)
    if any(size < 0 for size in sizes):
        raise ValueError(f"{name}: sizes are not negative, shape={sizes}")
    return sizes


def as_dtype(
    name: str, dtype: DTypeLike | None, default: np.dtype, kinds: str
) -> np.dtype:
    """The dtype of a draw: of one of the kinds of `np.dtype.kind`."""
    found = widths.default(default) if dtype is None else np.dtype(dtype)
    if found.kind not in kinds:
        words = {"f": "float", "i": "int", "u": "unsigned int", "c": "complex"}
        wanted = " or ".join(words[kind] for kind in kinds)
        raise ValueError(f"{name}: dtype must be a {wanted} dtype, not {found}")
    return found


def float_dtype(name: str, dtype: DTypeLike | None) -> np.dtype:
    """The dtype of a draw of real numbers: float16, float32 (default) or float64."""
    found = as_dtype(name, dtype, FLOAT, "f")
    if found.itemsize > 8:
        raise ValueError(f"{name}: there are no draws of {found}")
    return found


def full_shape(
    name: str, keys: np.ndarray, shape: Any, *parameters: tuple[int, ...]
) -> tuple[int, ...]:
    """The shape of the result: (*batch of keys, *shape of one draw).

    `parameters` are the shapes of the distribution's parameters, which broadcast to the
    result. Without `shape` it is theirs: where they are arrays and there is a batch of
    keys, they have its axes too, as the first ones.
    """
    batch = keys.shape[:-1]
    if shape is None:
        found = np.broadcast_shapes(*parameters)
        if not found:
            return batch
        if found[: len(batch)] != batch:
            raise ValueError(
                f"{name}: with keys of shape {keys.shape}, parameters of shape {found} "
                f"need `shape=`, the shape of the draw of one key"
            )
        return found
    found = (*batch, *as_shape(name, shape))
    for parameter in parameters:
        if (
            len(parameter) > len(found)
            or np.broadcast_shapes(parameter, found) != found
        ):
            raise ValueError(
                f"{name}: a parameter of shape {parameter} does not broadcast to "
                f"the shape of the result, {found}"
            )
    return found


def prepared(
    name: str, key: ArrayLike, shape: Any, dtype: Any, *parameters: ArrayLike
) -> tuple[Any, ...]:
    """The keys, the shape of the draw of one, the dtype, and parameters of it."""
    keys = as_keys(name, key)
    real = float_dtype(name, dtype)
    given = [np.asarray(p).astype(real) for p in parameters]
    full = full_shape(name, keys, shape, *(p.shape for p in given))
    return keys, full[keys.ndim - 1 :], real, *given


def size_of(shape: tuple[int, ...]) -> int:
    """How many items an array of this shape has."""
    return math.prod(shape)


def real_dtype(value: Any) -> np.dtype:
    """The dtype that JAX computes with for an argument: float64 numbers are float32.

    Unless draws are wide.
    """
    dtype = np.asarray(value).dtype
    narrow = dtype in (np.dtype(np.float16), FLOAT)
    return dtype if narrow else widths.default(FLOAT)


def as_places(found: Any) -> Any:
    """Whole numbers that count places, in the dtype that JAX has for them."""
    return np.asarray(found).astype(widths.default(INT))


def value(x: np.ndarray) -> np.ndarray:
    """What a function returns: a NumPy number where the shape is ()."""
    return x[()]
