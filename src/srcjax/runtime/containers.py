"""Adjoints of containers, and of what is written in places."""

from __future__ import annotations

import copy

import numpy as np

from srcjax.runtime.basics import is_record, zeros_like


def add(a, b):
    """The sum of two adjoints of one value: numbers, arrays or containers of them.

    A key that the adjoint of a dict does not have stands for zero.
    """
    if a is None:
        return b
    if b is None:
        return a
    if isinstance(a, dict):
        return {key: add(a.get(key), b.get(key)) for key in {**a, **b}}
    if isinstance(a, (list, tuple)):
        items = [add(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
    if is_record(a):
        total = copy.copy(a)
        for key, value in vars(a).items():
            object.__setattr__(total, key, add(value, getattr(b, key)))
        return total
    return a + b


def add_at(d, index, part):
    """`d` with `d[index] += part`: a container or array; repeated indices all count."""
    if isinstance(d, tuple):
        items = list(d)
        items[index] = add(items[index], part)
        if hasattr(d, "_fields"):
            return type(d)._make(items)  # type: ignore[attr-defined]
        return tuple(items)
    if isinstance(d, (list, dict)):
        d[index] = add(d[index], part)
    else:
        np.add.at(d, index, part)
    return d


def packed(like, parts):
    """The adjoint of `a, b = like` from the adjoints of its parts (None for zero)."""
    parts = [
        zeros_like(x) if d is None else d for x, d in zip(like, parts, strict=True)
    ]
    if isinstance(like, (list, tuple)):
        return type(like)(*parts) if hasattr(like, "_fields") else type(like)(parts)
    return np.array(parts)


def unarray(d, values):
    """The adjoint of `np.array(values)` as lists where `values` has lists."""
    if isinstance(values, (list, tuple)):
        return [unarray(part, value) for part, value in zip(d, values, strict=True)]
    return d


def last_written(d, index):
    """The adjoint of `v` in `x[index] = v`: of repeated indices the last one counts."""
    taken = d[index]
    number = np.arange(taken.size).reshape(taken.shape)
    writer = np.full(d.shape, -1)
    writer[index] = number
    return np.where(writer[index] == number, taken, 0)
