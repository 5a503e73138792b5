"""Keys: where random numbers start from.

    key = random.key(0)
    key, subkey = random.split(key)
    x = random.normal(subkey, (3,))

A key is an array of two uint32 numbers, a batch of keys one of shape (..., 2), so that
keys are indexed, iterated, stacked and mapped as any array. `key` and `PRNGKey` give
the same: in JAX's words, a raw key. Each draw takes a key of its own; to draw twice
with one key is to draw the same numbers twice. Draws with a batch of keys are those of
each of them, with the axes of the batch first.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from srcjax.random import widths
from srcjax.random.arguments import as_keys, as_shape, size_of
from srcjax.random.threefry import fill, hashed

#: The only kind of keys.
IMPL = "threefry2x32"


def key(seed: Any, *, impl: str | None = None) -> np.ndarray:
    """The key of a seed.

    Args:
        seed: an integer, of which the lowest 32 bits count, or 64 with `enable_x64`;
            or an array of seeds, of which each gives a key.
        impl: the generator: None or "threefry2x32", the only one.

    Returns:
        uint32, shape (2,); of an array of seeds (*seeds.shape, 2).

    Raises:
        TypeError: the seed is no integer.
        ValueError: another generator is asked for.
    """
    _check_impl("key", impl)
    if np.ndim(seed) == 0:
        high = operator.index(seed) >> 32 if _counts_high(seed) else 0
        low = operator.index(seed) & 0xFFFFFFFF
        return np.array([high & 0xFFFFFFFF, low], np.uint32)
    seeds = np.asarray(seed)
    if seeds.dtype.kind not in "iu":
        raise TypeError(f"key: a seed is an integer, not {seeds.dtype}")
    keys = np.zeros((*seeds.shape, 2), np.uint32)
    if _counts_high(seeds):
        keys[..., 0] = seeds.astype(np.int64) >> 32 & 0xFFFFFFFF
    keys[..., 1] = seeds.astype(np.int64) & 0xFFFFFFFF
    return keys


def _counts_high(seed: Any) -> bool:
    """Whether the high bits of a seed count: it has them, and draws are wide."""
    return widths.WIDE and getattr(seed, "dtype", np.dtype(int)).itemsize == 8


def PRNGKey(seed: Any, *, impl: str | None = None) -> np.ndarray:
    """The key of a seed: the same as `key`, JAX's older name."""
    return key(seed, impl=impl)


def split(key: ArrayLike, num: int | Sequence[int] = 2) -> np.ndarray:
    """New keys made from one, which is not to be used again.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        num: how many, or a shape.

    Returns:
        uint32, shape (num, 2) or (*num, 2); with a batch of keys, its axes come first.
    """
    keys = as_keys("split", key)
    sizes = as_shape("split", num if hasattr(num, "__iter__") else (num,))
    batch = keys.shape[:-1]
    words = np.empty((size_of(batch), size_of(sizes)), np.uint64)
    fill(words, keys.reshape(-1, 2), _side_by_side)
    return words.view(np.uint32).reshape(*batch, *sizes, 2)


def _side_by_side(out: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
    """The two words of each hash as two items of memory."""
    pairs = out.view(np.uint32).reshape(*out.shape, 2)
    pairs[..., 0] = first
    pairs[..., 1] = second


def fold_in(key: ArrayLike, data: Any) -> np.ndarray:
    """A new key made from one and a number, such as that of a step or a worker.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        data: an integer, of which the lowest 32 bits count; with a batch of keys, an
            array of integers too, which broadcasts with the batch.

    Returns:
        uint32, of the key's shape.

    Raises:
        TypeError: `data` is no integer, or an array where there is one key.
    """
    keys = as_keys("fold_in", key)
    numbers = np.asarray(data)
    if numbers.dtype.kind not in "iub":
        raise TypeError(f"fold_in: data must be an integer, not {numbers.dtype}")
    if numbers.ndim > keys.ndim - 1:
        raise TypeError(
            f"fold_in: data is one integer, not an array of shape {numbers.shape}; "
            "`srcjax.vmap` makes a key for each"
        )
    low = (numbers.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)
    return np.stack(hashed(keys, np.zeros((), np.uint32), low), axis=-1)


def key_data(keys: ArrayLike) -> np.ndarray:
    """The numbers of a key or of keys: a copy of the array that they are."""
    return as_keys("key_data", keys).copy()


def wrap_key_data(key_bits_array: ArrayLike, *, impl: str | None = None) -> np.ndarray:
    """The key or keys of these numbers: uint32, shape (..., 2), copied."""
    _check_impl("wrap_key_data", impl)
    return as_keys("wrap_key_data", key_bits_array).copy()


def key_impl(keys: ArrayLike) -> str:
    """The name of the keys' generator, "threefry2x32"."""
    as_keys("key_impl", keys)
    return IMPL


def clone(key: ArrayLike) -> np.ndarray:
    """The same key again, for draws that are meant to be the same."""
    return as_keys("clone", key).copy()


def _check_impl(name: str, impl: str | None) -> None:
    if impl not in (None, IMPL):
        raise ValueError(f"{name}: the only generator is {IMPL!r}, not {impl!r}")
