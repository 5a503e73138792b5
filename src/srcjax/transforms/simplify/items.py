"""Write the items of an adjoint that starts as zeros without adding to the zeros.

Before:                              After:

    dx = np.zeros_like(x)                dx = np.array([da, 2 * db])
    dx[0] = da
    dx[1] += 2 * db

    dy = np.zeros_like(y)                dy = np.zeros_like(y)
    dy[0] += da                          dy[0] = da
    dy[3] -= db                          dy[3] = -db

    dz = np.zeros_like(z)                dz = np.zeros_like(z)
    dz[n:] = do                          dz[n:] = do
    dz[:n] += di                         dz[:n] = di

The first form is for all items of an array of numbers whose size is known, the last for
parts that have no place in common. What is put into an array needs no copy:
`dx[:-1] = x[1:].copy()` is `dx[:-1] = x[1:]`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.sizes import Sym
from srcjax.analysis.types import (
    Array,
    Const,
    Dim,
    Type,
    as_dim,
    dtype_of,
    is_number,
    known_order,
)
from srcjax.transforms.call_effects import called, copied, is_pure, written_bases

#: The longest display, in characters.
_WIDTH = 240


def set_items(
    stmts: list[gast.stmt],
    type_of: Callable[[gast.expr], Type],
    shares: Callable[[str], set[str]],
) -> list[gast.stmt]:
    """The statements of a block (and of those inside), with items set at once."""
    out = list(stmts)
    for stmt in stmts:
        syntax.rewrite_blocks(stmt, lambda block: set_items(block, type_of, shares))
        _store_itself(stmt, type_of, shares)
        if getattr(stmt, "backward", False) and _zeros(stmt) is not None:
            out = _set(out, stmt, type_of, shares)
    return out


def _store_itself(
    stmt: Any,
    type_of: Callable[[gast.expr], Type],
    shares: Callable[[str], set[str]],
) -> None:
    """Put a value into an array, not a copy of it, in place."""
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return
    target, whole = stmt.targets[0], copied(stmt.value)
    if whole is None or not isinstance(target, gast.Subscript):
        return
    into, value = type_of(target.value), type_of(whole)
    name = getattr(target.value, "id", "")
    apart = bool(name) and not shares(name) & syntax.names_read(whole)
    if isinstance(into, Array) and isinstance(value, Array) and apart:
        numbers = dtype_of(into) is not None and dtype_of(into) != np.dtype(object)
        stmt.value = whole if numbers else stmt.value


def _zeros(stmt: Any) -> gast.expr | None:
    """`x` of `dx = np.zeros_like(x)`."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.targets[0], gast.Name):
        return None
    call: Any = stmt.value
    if called(call) != "np.zeros_like":
        return None
    return call.args[0] if len(call.args) == 1 and not call.keywords else None


def _set(
    stmts: list[gast.stmt],
    zeros: Any,
    type_of: Callable[[gast.expr], Type],
    shares: Callable[[str], set[str]],
) -> list[gast.stmt]:
    name = zeros.targets[0].id
    t = type_of(zeros.value.args[0])
    if not isinstance(t, Array) or not t.shape:
        return stmts
    size = t.shape[0]
    start = next(i for i, s in enumerate(stmts) if s is zeros) + 1
    parts: list[tuple[_Part, Any]] = []
    bound: set[str] = set()
    for stmt in stmts[start:]:
        bound |= syntax.names_written(stmt)
        if name not in syntax.all_names(stmt):
            continue
        part = _part(stmt, name, t, type_of)
        if part is None or not all(part.is_apart(other) for other, _ in parts):
            break
        if bound & syntax.names_read([n for n in part.shown if n is not None]):
            break  # perhaps another place each time
        parts.append((part, stmt))
    for _, stmt in parts:
        _store(stmt)
    stores: dict[int, Any] = {
        part.lower: stmt
        for part, stmt in parts
        if part.is_item and not part.axis and isinstance(part.lower, int)
    }
    whole = len(t.shape) == 1 and size == len(stores) == len(parts) and size
    if not whole or t.dtype != np.dtype(float):
        return stmts
    in_order = [stores[k] for k in sorted(stores)]
    values = [store.value for store in in_order]
    moved = in_order != sorted(in_order, key=lambda s: _index(stmts, s))
    if moved and not all(map(is_pure, values)):
        return stmts  # `[dq.pop(), dq.pop()]`: each item has its own place
    types = list(map(type_of, values))
    if not all(map(is_number, types)) or not _are_floats(types):
        return stmts
    display = gast.List(values, syntax.LOAD)
    if len(syntax.text(display)) > _WIDTH or not _may_wait(stmts, stores, shares):
        return stmts
    last: Any = max(stores.values(), key=lambda s: _index(stmts, s))
    last.targets = [syntax.name(name, store=True)]
    last.value = syntax.call("np.array", display)
    gone = [zeros, *(s for s in stores.values() if s is not last)]
    return [s for s in stmts if not any(s is g for g in gone)]


def _index(stmts: list[gast.stmt], stmt: gast.stmt) -> int:
    return next(i for i, s in enumerate(stmts) if s is stmt)


@dataclass(frozen=True)
class _Part:
    """The part of an array that a statement stores to: `d[3]`, `d[:, n:]`."""

    #: The axis; all of those before it are stored to.
    axis: int
    #: From where and up to where, as numbers of places and as they are written.
    lower: Dim
    upper: Dim
    shown: tuple[gast.expr | None, gast.expr | None]
    is_item: bool = False

    def is_apart(self, other: _Part) -> bool:
        """Whether the two have no place in common."""
        return self.axis == other.axis and (
            self.ends_before(other) or other.ends_before(self)
        )

    def ends_before(self, other: _Part) -> bool:
        end, start = self.shown[1], other.shown[0]
        if end is not None and start is not None and syntax.equal(end, start):
            return True
        upper, lower = self.upper, other.lower
        if isinstance(upper, int) and isinstance(lower, int):
            return (upper < 0) == (lower < 0) and upper <= lower
        return known_order(lower, upper) is True


def _part(
    stmt: Any, name: str, whole: Array, type_of: Callable[[gast.expr], Type]
) -> _Part | None:
    """The part of `name[3] = e` and `name[:n] += e`, where `e` does not read it."""
    index = _index_of_store(stmt, name)
    entries = list(index.elts) if isinstance(index, gast.Tuple) else [index]
    axis, shape = len(entries) - 1, whole.shape or ()
    if index is None or axis not in range(len(shape)):
        return None
    if not all(map(syntax.is_full_slice, entries[:-1])):
        return None
    last, size = entries[-1], shape[axis]
    if isinstance(last, gast.Slice):
        if last.step is not None:
            return None
        start = _place(last.lower, type_of, size) if last.lower else 0
        end = _place(last.upper, type_of, size) if last.upper else size
        return _Part(axis, start, end, (last.lower, last.upper))
    at = _place(last, type_of, size)
    if not isinstance(at, int) or (isinstance(size, int) and at not in range(size)):
        return None
    after = at + 1 if at != -1 else None
    return _Part(axis, at, after, (None, None), is_item=True)


def _index_of_store(stmt: Any, name: str) -> gast.expr | None:
    """The index of a store that does not read the array otherwise."""
    if isinstance(stmt, gast.Assign):
        target = stmt.targets[0]
    elif isinstance(stmt, gast.AugAssign) and isinstance(stmt.op, (gast.Add, gast.Sub)):
        target = stmt.target
    else:
        return None
    if not isinstance(target, gast.Subscript) or not syntax.is_name(target.value, name):
        return None
    reads = name in syntax.all_names([stmt.value, target.slice])
    return None if reads else target.slice


def _place(node: gast.expr, type_of: Callable[[gast.expr], Type], size: Dim) -> Dim:
    """The place that an index or bound is: from the start, if the size is known."""
    t = type_of(node)
    if isinstance(t, Const) and type(t.value) is bool:
        return None  # `d[True]` is all of it
    found = as_dim(t)
    if isinstance(found, Sym):
        return found if found.offset >= 0 else None
    if isinstance(found, int) and isinstance(size, int):
        return found + size if found < 0 else found
    return found


def _store(stmt: Any) -> None:
    """`d[1] += e` of zeros is `d[1] = e`, in place."""
    if not isinstance(stmt, gast.AugAssign):
        return
    value = stmt.value
    if isinstance(stmt.op, gast.Sub):
        value = _negative(value)
    stmt.__class__ = gast.Assign
    stmt.targets, stmt.value, stmt.type_comment = [stmt.target], value, None
    del stmt.target, stmt.op


def _negative(value: gast.expr) -> gast.expr:
    """`-value`, with the sign at the first factor."""
    if isinstance(value, gast.BinOp) and isinstance(
        value.op, (gast.Mult, gast.Div, gast.MatMult)
    ):
        return gast.BinOp(_negative(value.left), value.op, value.right)
    return gast.UnaryOp(gast.USub(), value)


def _are_floats(types: list[Type]) -> bool:
    """Whether an array of these numbers is one of float64."""
    kinds = [dtype_of(t) for t in types]
    if any(k is None or k.kind not in "bif" for k in kinds):
        return False
    return any(k == np.dtype(float) for k in kinds)


def _may_wait(
    stmts: list[gast.stmt], stores: dict[int, Any], shares: Callable[[str], set[str]]
) -> bool:
    """Whether all values are the same where the last one is stored."""
    ordered = sorted(stores.values(), key=lambda s: _index(stmts, s))
    end = _index(stmts, ordered[-1])
    for store in ordered[:-1]:
        reads = syntax.names_read(store.value)
        reads = reads.union(*map(shares, reads))
        pops = any(isinstance(n, gast.Call) for n in syntax.walk(store.value))
        for stmt in stmts[_index(stmts, store) + 1 : end]:
            if any(stmt is s for s in ordered):
                continue
            if (syntax.names_written(stmt) | written_bases(stmt)) & reads or pops:
                return False
    return True


__all__ = ["set_items"]
