"""Adjoints of containers, and of what is written in places."""

from __future__ import annotations

import copy
from collections import deque
from functools import partial
from types import FunctionType, MethodType, ModuleType

import numpy as np
from numpy.lib.array_utils import byte_bounds

from srcjax.runtime.basics import is_record, of_class, zeros_like


def add(a, b):
    """The sum of two adjoints of one value: numbers, arrays or containers of them.

    A key that the adjoint of a dict does not have stands for zero, as the number 0.0
    does that was found in its place.
    """
    nothing = isinstance(a, float) and a == 0.0
    if a is None or nothing and (isinstance(b, (dict, list, tuple)) or is_record(b)):
        return b
    if b is None:
        return a
    if isinstance(a, dict):
        return of_class(a, {key: add(a.get(key), b.get(key)) for key in {**a, **b}})
    if isinstance(a, (list, tuple)):
        items = [add(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
    if is_record(a):
        total = copy.copy(a)
        if total is a:
            raise TypeError(f"{a!r} cannot be added to: a copy of it is itself")
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
    elif not hasattr(d, "__setitem__"):  # of a number: `x[..., None]`
        whole = np.array(d, np.result_type(d, part))
        np.add.at(whole, index, part)
        return whole[()]
    else:
        real = np.iscomplexobj(part) and not np.iscomplexobj(d)
        np.add.at(d, index, np.real(part) if real else part)
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
    """The adjoint of `np.array(values)` as lists and tuples where `values` has them."""
    if isinstance(values, (list, tuple)):
        parts = [unarray(d[k], value) for k, value in enumerate(values)]
        return tuple(parts) if type(values) is tuple else parts
    real = np.iscomplexobj(d) and not np.iscomplexobj(values)
    return np.real(d) if real else d


def last_written(d, index):
    """The adjoint of `v` in `x[index] = v`: of repeated indices the last one counts."""
    taken = d[index]
    number = np.arange(taken.size).reshape(taken.shape)
    writer = np.full(d.shape, -1)
    writer[index] = number
    return np.where(writer[index] == number, taken, 0)


def contents(value):
    """What the arrays and containers in a value hold now, for `restore_contents`."""
    found: list[tuple] = []
    seen, todo = set(), [value]
    while todo:
        part = todo.pop()
        if id(part) in seen or isinstance(part, (type, ModuleType)):
            continue
        seen.add(id(part))
        if isinstance(part, np.ndarray):
            if part.flags.writeable:
                found.append((part, part.copy()))
        elif isinstance(part, (list, deque, dict, set)):
            found.append((part, part.copy()))
        elif isinstance(part, partial):
            todo += [part.func, part.args, part.keywords]
        elif isinstance(part, MethodType):
            todo.append(part.__self__)
        elif isinstance(part, FunctionType):
            todo += [cell.cell_contents for cell in part.__closure__ or ()]
        elif isinstance(getattr(part, "__dict__", None), dict):
            todo.append(part.__dict__)
        if isinstance(part, dict):
            todo.extend(part.values())
        elif isinstance(part, (list, deque, tuple)):
            todo.extend(part)
    return found


def restore_contents(found):
    """Undo what was done since to what `contents` looked at."""
    for part, held in found:
        if isinstance(part, np.ndarray):
            part[...] = held
            continue
        part.clear()
        if isinstance(part, (list, deque)):
            part.extend(held)
        else:
            part.update(held)


def copied_together(value):
    """A deep copy in which arrays that share memory share memory again.

    What a forward sweep saved may hold an array and views of it: the backward sweep
    puts contents back into the array and reads them through the views.
    """
    arrays = []
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, np.ndarray) and part.dtype != object:
            arrays.append(part)
        elif isinstance(part, (list, tuple)):
            todo.extend(part)
        elif isinstance(part, dict):
            todo.extend(part.values())
    new: dict[int, np.ndarray] = {}
    memo: dict = {}
    for part, root in zip(arrays, _roots(arrays), strict=True):
        if id(root) not in new:
            new[id(root)] = root.copy(order="K")
        memo[id(part)] = same_view(part, root, new[id(root)])
    return copy.deepcopy(value, memo)


def _roots(arrays):
    """The array that has the memory, for each.

    What `np.nditer` hands out has the iterator for a base, so it is told by where its
    memory lies.
    """
    found = []
    for root in arrays:
        while isinstance(root.base, np.ndarray):
            root = root.base
        found.append(root)
    known = {id(root): root for root in found if root.size}
    if all(root.base is None for root in known.values()):
        return found
    bounds = {key: byte_bounds(root) for key, root in known.items()}
    largest = sorted(known, key=lambda key: bounds[key][0] - bounds[key][1])

    owners = {}
    for key, root in known.items():
        low, high = bounds[key]
        around = [k for k in largest if bounds[k][0] <= low and high <= bounds[k][1]]
        owners[key] = root if root.base is None else known[around[0]]
    return [owners.get(id(root), root) for root in found]


def same_view(part, root, new):
    """The view of `new`, a copy of `root`, that `part` is of `root`."""
    if part is root:
        return new
    if new.strides != root.strides:  # a root that had gaps: nothing else is its view
        return part.copy()
    start = part.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    raw = new.ravel(order="K").view(np.uint8)
    return np.ndarray(part.shape, part.dtype, raw, start, part.strides)
