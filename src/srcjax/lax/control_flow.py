"""Branches and loops that are given as functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcjax import tree
from srcjax.api.batch import vmap
from srcjax.lax.trees import joined, length_of, stacked


def cond(
    pred: Any, true_fun: Any, false_fun: Any, *operands: Any, operand: Any = ...
) -> Any:
    """`true_fun(*operands)` if `pred` is true, else `false_fun(*operands)`.

    One of them runs. In a batch of which only some examples take a branch, as many
    examples as do. A single operand may be given by name, and each branch its own:
    `cond(pred, x, true_fun, y, false_fun)`.
    """
    if operand is not ...:
        return true_fun(operand) if pred else false_fun(operand)
    if not callable(true_fun):
        return false_fun(true_fun) if pred else operands[1](operands[0])
    if pred:
        return true_fun(*operands)
    return false_fun(*operands)


def switch(
    index: Any, branches: Sequence[Callable], *operands: Any, operand: Any = ...
) -> Any:
    """`branches[index](*operands)`; an index out of bounds means the nearest branch."""
    if operand is not ...:
        operands = (operand,)
    result, last = None, len(branches) - 1
    for place, branch in enumerate(branches):
        if place == last or index <= place:
            result = branch(*operands)
            break
    return result


switch.__srcjax_switch__ = True  # type: ignore[attr-defined]


def fori_loop(
    lower: int, upper: int, body_fun: Callable, init_val: Any, *, unroll: Any = None
) -> Any:
    """`for i in range(lower, upper): val = body_fun(i, val)`, from `init_val` on.

    Args:
        lower: the first number.
        upper: the one behind the last.
        body_fun: what a trip does.
        init_val: what it begins with.
        unroll: accepted, and of no effect.
    """
    val = init_val
    for i in range(lower, upper):
        val = body_fun(i, val)
    return val


def while_loop(cond_fun: Callable, body_fun: Callable, init_val: Any) -> Any:
    """`while cond_fun(val): val = body_fun(val)`, from `init_val` on.

    It has a gradient, which JAX's has not.
    """
    val = init_val
    while cond_fun(val):
        val = body_fun(val)
    return val


def scan(
    f: Callable,
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: Any = 1,
) -> tuple[Any, Any]:
    """A loop with a state that gives something in each step.

    `carry, y = f(carry, x)` for each `x` along the first axis of `xs` (from the end, if
    `reverse`), from `init` on.

    Args:
        xs: an array, or a tuple, list or dict of arrays that are equally long; None
            where `f` needs nothing but the carry.
        length: the number of steps; it may be left out where `xs` tells.
        unroll: accepted, and of no effect.

    Returns:
        The last carry, and the `y` of all steps: stacked along a new first axis, each
        part of a tuple, list or dict by itself; None if they are None.

    Raises:
        ValueError: `length` is not that of `xs`.
        TypeError: `xs` is no array, nor a tuple, list or dict of some.
        UnboundLocalError: there is no step, and so no `y`.
    """
    if xs is None and length is None:
        raise ValueError("scan without `xs` needs a `length`")
    if not isinstance(xs, (np.ndarray, tuple, list, dict, type(None))):
        raise TypeError(f"scan goes along arrays, not along a {type(xs).__name__}")
    carry = init
    ys = []
    if isinstance(xs, np.ndarray):
        if length is not None and len(xs) != length:
            raise ValueError(f"scan of {length} steps along {len(xs)} items")
        for x in xs[::-1] if reverse else xs:
            carry, y = f(carry, x)
            ys.append(y)
    else:
        along = tree.map(lambda array: array, xs)  # each has a name
        count: Any = length
        if xs is not None:
            leaves = tree.leaves(along)
            lengths = [len(leaf) for leaf in leaves]
            count = lengths[0] if length is None else length
            if set(lengths) - {count}:
                raise ValueError(f"scan of {count} steps along lengths {lengths}")
        for i in range(count - 1, -1, -1) if reverse else range(count):
            carry, y = f(carry, tree.map(lambda x: x[i], along))  # noqa: B023
            ys.append(y)
    if isinstance(y, (tuple, list, dict, type(None))):
        whole = stacked(ys, y)
    else:
        whole = np.stack(ys)
    if reverse:
        whole = tree.map(lambda x: x[::-1], whole)
    return carry, whole


def map(f: Callable, xs: Any, *, batch_size: int | None = None) -> Any:  # noqa: A001
    """`f(x)` for each `x` along the first axis of `xs`, in their order, stacked.

    Args:
        f: a function of one item.
        xs: an array, or a tuple, list or dict of arrays that are equally long.
        batch_size: how many items `vmap(f)` is called for at a time; without it `f` is
            called for each. What is left over is a smaller batch.
    """
    if batch_size is None:
        return scan(lambda _, x: (None, f(x)), None, xs)[1]
    of_batch = vmap(f)
    ys = []
    for first in range(0, length_of(xs), batch_size):
        part = tree.map(lambda x: x[first : first + batch_size], xs)  # noqa: B023
        ys.append(of_batch(part))
    return joined(ys, ys[0])


def associative_scan(
    fn: Callable, elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """All sums from the left, where `fn` is the addition.

    Item `i` is that of `fn` of the items up to `i`. `fn` takes two arrays of items, or
    two tuples, lists or dicts of such arrays, and gives one; it has to be associative:
    in log2(n) rounds items that are 1, 2, 4, ... apart are put together (Hillis and
    Steele, 1986).

    Args:
        elems: an array, or a tuple, list or dict of arrays that are equally long.
        reverse: from the end, where `fn` gets the later items first.
        axis: along which axis of each array.
    """
    items = elems
    if axis != 0:
        items = tree.map(lambda x: np.moveaxis(x, axis, 0), items)
    count = len(tree.leaves(items)[0])
    items = tree.map(lambda x: x[::-1], items) if reverse else items
    apart = 1
    while apart < count:
        left = tree.map(lambda x: x[:-apart], items)  # noqa: B023
        right = tree.map(lambda x: x[apart:], items)  # noqa: B023
        items = tree.map(
            lambda x, sums: np.concatenate([x[:apart], sums]),  # noqa: B023
            items,
            fn(left, right),
        )
        apart *= 2
    items = tree.map(lambda x: x[::-1], items) if reverse else items
    return tree.map(lambda x: np.moveaxis(x, 0, axis), items) if axis != 0 else items
