"""Long loops go through two halves at once: one waits while the other computes.

    for i in range(n):                half = n // 2
        a = exp_(x[i])                for i in range(half):
        y[i] = tanh_(exp_(a))             i2 = np.uintp(i + half)
                                 ->       a = exp_(x[i])
                                          a2 = exp_(x[i2])
                                          y[i] = tanh_(exp_(a))
                                          y[i2] = tanh_(exp_(a2))
                                      if n % 2: ...

Each step of a chain of elementary functions waits for the one before, and the next
iteration is too far away for a processor to begin with it. `np.uintp` says that an
index is not counted from the end.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax

#: So many elementary functions in an iteration are more than a processor looks ahead.
LONG = 3


def interleaved(node: gast.FunctionDef, words: set[str], folds: Any) -> None:
    """Interleave the long loops of a function, in place.

    Args:
        words: the names of elementary functions.
        folds: gives the names that a loop's statements fold into.
    """
    made = {
        s.targets[0].id
        for s in syntax.walk(node.body)
        if isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, gast.Call)
        and (syntax.dotted(s.value.func) or "").startswith("np.empty")
    }
    used = syntax.use_counts(node)
    names = syntax.Names(syntax.all_names(node))

    def block(body: list[Any]) -> list[Any]:
        out: list[Any] = []
        for stmt in body:
            syntax.rewrite_blocks(stmt, block)
            if is_long(stmt, words) and is_apart(stmt, made, used, folds(stmt.body)):
                out += in_halves(stmt, folds(stmt.body), names)
            else:
                out.append(stmt)
        return out

    node.body = block(node.body)


def is_long(stmt: Any, words: set[str]) -> bool:
    """Whether it is a loop over all of an axis that calls many elementary functions."""
    if not isinstance(stmt, gast.For) or len(getattr(stmt.iter, "args", ())) != 1:
        return False
    if not all(isinstance(s, gast.Assign) for s in stmt.body):
        return False
    calls = [n.func for n in syntax.walk(stmt.body) if isinstance(n, gast.Call)]
    return sum(getattr(f, "id", "") in words for f in calls) >= LONG


def is_apart(loop: gast.For, made: set[str], used: Any, folds: set[str]) -> bool:
    """Whether iterations may change places, and nobody asks for the last one."""
    index = loop.target.id
    inside = syntax.use_counts(loop.body)
    bound = syntax.names_written(loop.body)
    if any(used[n] != inside[n] for n in bound - folds) or used[index] != inside[index]:
        return False
    places = [n for n in syntax.walk(loop.body) if isinstance(n, gast.Subscript)]
    at_index = 0
    for place in places:
        items = (
            place.slice.elts if isinstance(place.slice, gast.Tuple) else [place.slice]
        )
        here = [syntax.is_name(item, index) for item in items]
        at_index += sum(here)
        if isinstance(place.ctx, gast.Store):
            fixed = syntax.names_read(items) & bound
            if sum(here) != 1 or fixed or getattr(place.value, "id", "") not in made:
                return False
    return at_index == inside[index]


def in_halves(loop: gast.For, folds: set[str], names: syntax.Names) -> list[Any]:
    """The loop over the first half, with the second half beside it."""
    index, half = loop.target.id, names.fresh("half")
    own = sorted(syntax.names_written(loop.body) - folds)
    other = {n: names.fresh(n) for n in [index, *own]}
    (size,) = loop.iter.args
    body = syntax.statements(f"{other[index]} = np.uintp({index} + {half})")
    for stmt in loop.body:
        body += [stmt, syntax.rename(syntax.clone(stmt), other)]
    last = syntax.assign(index, syntax.expression("n - 1", n=syntax.clone(size)))
    return [
        syntax.assign(half, syntax.expression("n // 2", n=syntax.clone(size))),
        gast.For(loop.target, syntax.expression(f"range({half})"), body, [], None),
        gast.If(
            syntax.expression("n % 2 == 1", n=syntax.clone(size)),
            [last, *syntax.clone(loop.body)],
            [],
        ),
    ]
