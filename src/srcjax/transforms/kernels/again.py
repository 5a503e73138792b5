"""The memory of an array that nobody reads any more, for the next of its size.

    dW2 = np.empty((n, m))
    for i in range(n):                      for i in range(n):
        for j in range(m):            ->        for j in range(m):
            dW2[i, j] = dW[i, j] + ...              dW[i, j] = dW[i, j] + ...

It is taken by sums that go on, where each element is computed of the one at its own
place, once, after which only the new array is read.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.kernels.buffers import sizes_made


def with_memory_again(kernel: gast.FunctionDef) -> None:
    """Have new arrays take the memory of old ones, in place."""
    bindings = syntax.binding_counts(kernel.body)
    total = mentions(kernel.body)

    def block(body: list[Any]) -> list[Any]:
        body = list(body)
        counts = [mentions([stmt]) for stmt in body]
        makers: list[tuple[int, str, list[str]]] = []
        at = 0
        while at < len(body):
            stmt = body[at]
            syntax.rewrite_blocks(stmt, lambda inner: block(inner))
            made = sizes_made(stmt)
            name = stmt.targets[0].id if made is not None else ""
            if made is None or bindings[name] != 1:
                at += 1
                continue
            old = taken(body, counts, makers, at, name)
            if old is None:
                makers.append((at, name, list(map(syntax.text, stmt.value.args))))
                at += 1
                continue
            names = {name: old}
            for k in range(at, len(body)):
                if counts[k].pop(name, 0):
                    syntax.rename([body[k]], names)
                    counts[k] = mentions([body[k]])
            for each in syntax.walk(kernel.decorator_list):
                if isinstance(each, gast.Constant) and each.value == name:
                    each.value = old
            del body[at], counts[at]
            total[old] = sum(c[old] for c in counts)
        return body

    def taken(
        body: list[Any],
        counts: list[Counter[str]],
        makers: list[tuple[int, str, list[str]]],
        at: int,
        name: str,
    ) -> str | None:
        """The array whose memory the one that a statement makes can have."""
        call = body[at].value
        if syntax.dotted(call.func) != "np.empty":
            return None
        if sum(c[name] for c in counts[at:]) != total[name]:
            return None  # it is read around the block, or before
        loop = next((k for k in range(at + 1, len(body)) if counts[k][name]), None)
        if loop is None or not isinstance(body[loop], gast.For):
            return None
        rank = len(sizes_made(body[at]) or ())
        asked = list(map(syntax.text, call.args))
        for first, old, alike in reversed(makers):
            if alike != asked or not counts[loop][old]:
                continue
            if sum(c[old] for c in counts[first : loop + 1]) != total[old]:
                continue
            if syntax.names_written(body[first:at]) & syntax.names_read(call.args):
                continue  # the same words are another size
            if not is_renewed(body[loop], old, name, rank):
                continue
            if all(is_looked_at(s, old, rank) for s in body[first + 1 : loop]):
                return old
        return None

    kernel.body = block(kernel.body)
    for each in kernel.decorator_list:
        if isinstance(each, gast.Call):
            found = {a.value: a for a in each.args}
            each.args = list(found.values())


def mentions(stmts: list[Any]) -> Counter[str]:
    """How often each name stands in statements, but where its size is asked for."""
    sizes = {
        id(n)
        for node in syntax.walk(stmts)
        if syntax.size_asked(node) is not None
        for n in syntax.walk(node)
    }
    return Counter(
        n.id
        for n in syntax.walk(stmts)
        if isinstance(n, gast.Name) and id(n) not in sizes
    )


def is_looked_at(stmt: Any, name: str, rank: int) -> bool:
    """Whether all that a statement does with an array is with its elements."""
    known = 0
    for node in syntax.walk(stmt):
        if isinstance(node, gast.Subscript) and syntax.is_name(node.value, name):
            items = items_of(node)
            views = (gast.Slice, gast.Constant)
            if len(items) != rank or any(
                isinstance(i, views) and type(getattr(i, "value", None)) is not int
                for i in items
            ):
                return False
            known += 1
        elif isinstance(node, gast.Call) and syntax.dotted(node.func) == "np.dot":
            for each in node.args:
                turned = isinstance(each, gast.Attribute) and each.attr == "T"
                known += syntax.is_name(each.value if turned else each, name)
    return known == mentions([stmt])[name]


def is_renewed(loop: gast.For, old: str, new: str, rank: int) -> bool:
    """Whether each element of the new array is computed once, of the old one's."""
    path: list[str] = []
    body: list[Any] = [loop]
    while True:
        using = [s for s in body if {old, new} & set(mentions([s]))]
        if len(using) != 1 or not isinstance(using[0], gast.For):
            break
        (inner,) = using
        if not isinstance(inner.target, gast.Name):
            return False
        if {old, new} & set(mentions([gast.Expr(inner.iter)])):
            return False
        path.append(inner.target.id)
        body = inner.body
    stored, sums = False, set()
    for stmt in body:
        found = mentions([stmt])
        if not found[old] and not found[new]:
            continue
        if not isinstance(stmt, gast.Assign) or (stored and found[old]):
            return False
        adds = getattr(stmt.value, "left", None)
        if isinstance(getattr(stmt.value, "op", None), gast.Add) and syntax.is_name(
            getattr(adds, "value", None), old
        ):
            sums.add(syntax.text(stmt.targets[0]))
        for node in syntax.walk(stmt):
            if not isinstance(node, gast.Subscript):
                continue
            base = getattr(node.value, "id", "")
            if base not in (old, new):
                continue
            items = [getattr(i, "id", "") for i in items_of(node)]
            if len(items) != rank or sorted(items) != sorted(path):
                return False
            if items != path or isinstance(node.ctx, gast.Store) and base == old:
                return False
            if isinstance(node.ctx, gast.Store):
                here = {syntax.text(node), syntax.text(stmt.value)}
                stored = bool(here & sums)
                if not stored:
                    return False
            found[base] -= 1
        if found[old] or found[new]:
            return False
    written = syntax.names_written(body)
    return stored and len(set(path)) == rank and not written & set(path)


def items_of(node: gast.Subscript) -> list[gast.expr]:
    """The index of each axis."""
    items = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    return list(items)
