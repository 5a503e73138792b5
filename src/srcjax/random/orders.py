"""Draws of order: permutations and choices."""

from __future__ import annotations

import math
import operator

import numpy as np
from numpy.typing import ArrayLike

from srcjax.random.arguments import (
    Shape,
    as_keys,
    as_places,
    as_shape,
    real_dtype,
    size_of,
    value,
)
from srcjax.random.continuous import gumbel
from srcjax.random.keys import split
from srcjax.random.uniforms import bits, uniform
from srcjax.random.whole import largest, randint


def permutation(
    key: ArrayLike, x: ArrayLike, axis: int = 0, independent: bool = False
) -> np.ndarray:
    """The items of an array in a random order, each as likely as any other.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        x: an array; or a number n, which stands for the numbers below it, as int32.
        axis: the axis along which the items are put into another order.
        independent: whether each row is put into an order of its own.

    Returns:
        A new array of the shape and dtype of `x`, or of shape (n,); with a batch of
        keys, its axes come first.

    Raises:
        TypeError: `x` is a number that is not an integer.
    """
    keys = as_keys("permutation", key)
    items = np.asarray(x)
    if items.ndim == 0:
        if items.dtype.kind not in "iu":
            raise TypeError("permutation: x is an array with an axis, or an integer")
        return _order(keys, operator.index(x))  # type: ignore[arg-type]
    if not -items.ndim <= axis < items.ndim:
        raise ValueError(f"permutation: {items.shape} has no axis {axis}")
    axis %= items.ndim
    if not independent or items.ndim == 1:
        return _taken(items, _order(keys, items.shape[axis]), axis, keys.ndim - 1)
    found = np.broadcast_to(items, (*keys.shape[:-1], *items.shape)).copy()
    for subkey in _rounds(keys, items.size):
        numbers = bits(subkey, items.shape, np.uint32)
        order = np.argsort(numbers, axis=axis - items.ndim, kind="stable")
        found = np.take_along_axis(found, order, axis - items.ndim)
    return found


def _taken(items: np.ndarray, places: np.ndarray, axis: int, batch: int) -> np.ndarray:
    """The items at the places along the axis; the batch's axes of `places` go first."""
    found = np.take(items, places, axis)
    return np.moveaxis(found, range(axis, axis + batch), range(batch))


def _rounds(key: np.ndarray, size: int) -> list[np.ndarray]:
    """A key for each time that items are sorted by random numbers.

    Two items may have the same number, which leaves them as they were; so many times
    are enough to let no order stand out (as TensorFlow and JAX count them).
    """
    count = math.ceil(3 * math.log(max(1, size)) / math.log(2**32 - 1))
    subkeys = []
    for _ in range(count):
        pair = split(key)
        key = pair[..., 0, :]
        subkeys.append(pair[..., 1, :])
    return subkeys


def _order(key: np.ndarray, size: int) -> np.ndarray:
    """The numbers below `size` in a random order.

    Each is sorted by a random number together with its place, in one integer: faster
    than a stable sort that keeps track of places.
    """
    places = np.arange(size, dtype=np.uint64)
    order = np.broadcast_to(places, (*key.shape[:-1], size))
    for subkey in _rounds(key, size):
        pairs = bits(subkey, (size,), np.uint32).astype(np.uint64)
        pairs <<= np.uint64(32)
        pairs |= places
        pairs.sort(axis=-1)
        pairs &= np.uint64(0xFFFFFFFF)
        order = np.take_along_axis(order, pairs.view(np.int64), -1)
    return as_places(order)


def choice(
    key: ArrayLike,
    a: ArrayLike,
    shape: Shape = (),
    replace: bool = True,
    p: ArrayLike | None = None,
    axis: int = 0,
    mode: str | None = None,
) -> np.ndarray:
    """Items of an array, drawn by chance.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        a: an array; or a number n, which stands for the numbers below it, as int32.
        shape: the shape of the draw.
        replace: whether an item may be drawn more than once.
        p: the items' probabilities, 1-D, which add up to 1; None: all the same.
        axis: the axis along which the items are.
        mode: that of `gumbel`, for draws with `p` and without replacement.

    Returns:
        An array of the shape; of items with axes, `shape` takes the place of `axis`.
        With a batch of keys, its axes come first.

    Raises:
        ValueError: there are fewer items than are to be drawn, or `p` is not as long.
    """
    keys = as_keys("choice", key)
    sizes, items = as_shape("choice", shape), np.asarray(a)
    numbers = items.ndim == 0
    if not numbers and not -items.ndim <= axis < items.ndim:
        raise ValueError(f"choice: {items.shape} has no axis {axis}")
    axis = 0 if numbers else axis % items.ndim
    size = operator.index(a) if numbers else items.shape[axis]  # type: ignore[arg-type]
    count, batch = size_of(sizes), keys.shape[:-1]
    if count and size <= 0:
        raise ValueError("choice: there are no items to draw from")
    if not replace and count > size:
        raise ValueError(f"choice: {count} draws without replacement of {size} items")
    if count == 0:
        places = as_places(np.zeros((*batch, *sizes)))
    elif p is None:
        if replace:
            places = np.asarray(randint(keys, sizes, 0, size))
        else:
            places = _order(keys, size)[..., :count].reshape(*batch, *sizes)
    else:
        places = _by_chance(keys, np.asarray(p), size, sizes, replace, mode)
    found = places if numbers else _taken(items, places, axis, len(batch))
    return value(found)


def _by_chance(
    key: np.ndarray,
    p: np.ndarray,
    size: int,
    shape: tuple[int, ...],
    replace: bool,
    mode: str | None,
) -> np.ndarray:
    """Places of items by their probabilities."""
    if p.shape != (size,):
        raise ValueError(f"choice: p has shape {p.shape}, and there are {size} items")
    dtype = real_dtype(p)
    p = p.astype(dtype)
    if replace:
        sums = np.cumsum(p)
        reached = sums[-1] * (1 - uniform(key, shape, dtype))
        return as_places(np.searchsorted(sums, reached))
    with np.errstate(divide="ignore"):
        scores = gumbel(key, (size,), dtype, mode=mode) + np.log(p)
    return largest(scores, size_of(shape)).reshape(*key.shape[:-1], *shape)
