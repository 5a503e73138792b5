"""Sums, extremes and products along axes, and of all that came before."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcjax import tree


def reduce_sum(operand: Any, axes: Sequence[int]) -> Any:
    """The sum along axes, in the dtype of the array."""
    return np.sum(operand, axis=tuple(axes), dtype=operand.dtype)


def reduce_prod(operand: Any, axes: Sequence[int]) -> Any:
    """The product along axes, in the dtype of the array."""
    return np.prod(operand, axis=tuple(axes), dtype=operand.dtype)


def reduce_max(operand: Any, axes: Sequence[int]) -> Any:
    """The largest along axes."""
    return np.max(operand, axis=tuple(axes))


def reduce_min(operand: Any, axes: Sequence[int]) -> Any:
    """The smallest along axes."""
    return np.min(operand, axis=tuple(axes))


def reduce_and(operand: Any, axes: Sequence[int]) -> Any:
    """Whether all are true; of whole numbers, their bits."""
    return np.bitwise_and.reduce(operand, axis=tuple(axes))


def reduce_or(operand: Any, axes: Sequence[int]) -> Any:
    """Whether one is true; of whole numbers, their bits."""
    return np.bitwise_or.reduce(operand, axis=tuple(axes))


def reduce_xor(operand: Any, axes: Sequence[int]) -> Any:
    """Whether an odd number of them is true; of whole numbers, their bits."""
    return np.bitwise_xor.reduce(operand, axis=tuple(axes))


def reduce(  # noqa: A001
    operands: Any, init_values: Any, computation: Callable, dimensions: Sequence[int]
) -> Any:
    """All entries along axes, from `init_values` on, two by two.

    Args:
        operands: an array, or a tuple, list or dict of arrays of one shape, which are
            gone along together.
        init_values: a number for each of them, in such a container.
        computation: takes two arrays, or two such containers, and gives one; it has to
            be associative.
        dimensions: the axes.
    """
    axes, front = tuple(dimensions), tuple(range(len(dimensions)))
    if isinstance(operands, (tuple, list, dict)):
        leaves = tree.leaves(operands)
        shape = np.shape(leaves[0])
        rest = tuple(n for k, n in enumerate(shape) if k not in axes)
        total = tree.map(
            lambda x, start: np.full(rest, start, x.dtype), operands, init_values
        )
        sizes = [shape[k] for k in axes]
        for k in range(math.prod(sizes)):
            place = np.unravel_index(k, sizes)
            here = tree.map(
                lambda x: np.moveaxis(x, axes, front)[place],  # noqa: B023
                operands,
            )
            total = computation(total, here)
        return total
    first = np.moveaxis(operands, axes, front)
    rows = np.reshape(first, (-1, *np.shape(first)[len(dimensions) :]))
    total = np.full(np.shape(rows)[1:], init_values, operands.dtype)
    for row in rows:
        total = computation(total, row)
    return total


def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
    """The place of the largest along an axis, the first of several."""
    return np.argmax(operand, axis=axis).astype(index_dtype)


def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
    """The place of the smallest along an axis, the first of several."""
    return np.argmin(operand, axis=axis).astype(index_dtype)


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The sums of what came before, in the dtype of the array."""
    if reverse:
        flipped = np.flip(operand, axis)
        return np.flip(np.cumsum(flipped, axis=axis, dtype=operand.dtype), axis)
    return np.cumsum(operand, axis=axis, dtype=operand.dtype)


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The products of what came before, in the dtype of the array."""
    if reverse:
        flipped = np.flip(operand, axis)
        return np.flip(np.cumprod(flipped, axis=axis, dtype=operand.dtype), axis)
    return np.cumprod(operand, axis=axis, dtype=operand.dtype)


def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The largest so far."""
    if reverse:
        return np.flip(np.maximum.accumulate(np.flip(operand, axis), axis), axis)
    return np.maximum.accumulate(operand, axis)


def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The smallest so far."""
    if reverse:
        return np.flip(np.minimum.accumulate(np.flip(operand, axis), axis), axis)
    return np.minimum.accumulate(operand, axis)


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The logarithms of the sums of exponentials of what came before."""
    if reverse:
        return np.flip(np.logaddexp.accumulate(np.flip(operand, axis), axis), axis)
    return np.logaddexp.accumulate(operand, axis)
