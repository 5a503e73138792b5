"""Arrays that are gone with the call have memory of the call, where they are small.

    y = np.empty(len(x))              y = of_call(len(x), np.float64)
    z = np.dot(a, b)            ->    z = filled(a, b, of_call(shape_of(a, b), a.dtype))

To get memory and to give it back takes longer than to fill a small array. What is
returned, or may be a part of it, has memory of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.backends.kernel_calls import is_one_size

#: So many bytes an array may have, and so many arrays there may be.
SMALL, MOST_SMALL = 2048, 32
_MAKERS = ("np.empty", "np.zeros")
_NUMBERS = ("len", "float", "int", "bool", "abs", "min", "max", "added", "beside")
_COMPUTED = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Constant)


def with_memory_of_calls(node: gast.FunctionDef) -> set[str]:
    """Write arrays, and products of matrices, in such words, in place; which they are.

    A statement that runs again has the same memory again: in loops only arrays are made
    so that have no other names, and of which nothing is left when the next one is made.
    """
    leaving = names_leaving(node)
    alone = names_alone(node)
    words: set[str] = set()
    count = 0

    def block(stmts: list[Any], is_once: bool) -> list[Any]:
        nonlocal count
        out: list[Any] = []
        for stmt in stmts:
            syntax.rewrite_blocks(stmt, lambda inner: block(inner, False))
            out.append(stmt)
            name = name_bound(stmt)
            call = stmt.value if name and isinstance(stmt.value, gast.Call) else None
            may = name not in leaving if is_once else name in alone - leaving
            if call is None or not may or count >= MOST_SMALL or call.keywords:
                continue
            path = syntax.dotted(call.func)
            if path in _MAKERS and len(call.args) < 3:
                stmt.value = made(call, words)
                if path == "np.zeros":
                    out += syntax.statements(f"{name}.fill(0)")
            elif path == "np.dot" and is_of_others(call, name):
                a, b = call.args
                text = "filled(a, b, of_call(shape_of(a, b), a.dtype))"
                stmt.value = syntax.expression(text, a=a, b=b)
                words.update(("filled", "of_call", "shape_of"))
            else:
                continue
            count += 1
        return out

    body = block(node.body, True)
    node.body = [syntax.map_expressions(s, visit) for s in body]
    used = syntax.names_read(node.body) & {"product", "filled"}
    return words | used


def is_of_others(call: gast.Call, name: str) -> bool:
    """Whether a product is of two arrays, neither of which its result was before."""
    inside = list(syntax.walk(call.args))
    own = any(syntax.is_name(n, name) or isinstance(n, gast.Call) for n in inside)
    return len(call.args) == 2 and not own


def names_alone(node: gast.FunctionDef) -> set[str]:
    """Names of arrays, bound once, of which nothing is a part of something else."""
    bindings = syntax.binding_counts(node.body)
    ranks: dict[str, int | None] = {}
    for stmt in syntax.all_statements(node.body):
        name = name_bound(stmt)
        call: Any = getattr(stmt, "value", None)
        path = syntax.dotted(getattr(call, "func", None)) if name else None
        if path in _MAKERS and bindings[name] == 1:
            shape = call.args[0]
            dims = shape.elts if isinstance(shape, gast.Tuple) else [shape]
            spelled = isinstance(shape, gast.Tuple) or is_one_size(shape)
            if spelled and not any(isinstance(d, gast.Starred) for d in dims):
                ranks[name] = len(dims)  # and not `x.shape`
        elif path == "np.dot" and bindings[name] == 1:
            ranks[name] = None
    seen: Counter[str] = Counter()
    for part in syntax.walk(node.body):
        if isinstance(part, gast.Call) and syntax.dotted(part.func) == "np.dot":
            seen.update(n.id for n in part.args if isinstance(n, gast.Name))
        name, rank = place_of(part)
        if name in ranks and rank in (ranks[name] or 2, 0):  # a product has two at most
            seen[name] += 1
    uses = syntax.use_counts(node.body)
    return {name for name in ranks if seen[name] == uses[name]}


def place_of(node: Any) -> tuple[str, int]:
    """The array of which an expression is an element, or a size, with the indices.

    0 of them where it is a size.
    """
    if isinstance(node, gast.Attribute) and node.attr == "shape":
        return getattr(node.value, "id", ""), 0
    if isinstance(node, gast.Call) and syntax.is_name(node.func, "len"):
        return getattr(node.args[0], "id", ""), 0
    if not isinstance(node, gast.Subscript):
        return "", -1
    items = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    plain = (gast.Name, gast.BinOp, gast.UnaryOp, gast.Subscript, gast.Constant)
    if not all(isinstance(i, plain) or is_counted_up(i) for i in items):
        return "", -1
    if any(getattr(i, "value", 0) in (None, ...) for i in items if is_constant(i)):
        return "", -1
    return getattr(node.value, "id", ""), len(items)


def is_counted_up(node: Any) -> bool:
    """Whether it is `np.uintp(i)`: a number, not counted from the end."""
    return isinstance(node, gast.Call) and syntax.dotted(node.func) == "np.uintp"


def is_constant(node: Any) -> bool:
    return isinstance(node, gast.Constant)


def made(call: gast.Call, words: set[str]) -> gast.expr:
    """A new array in such words."""
    shape = call.args[0]
    dtype = call.args[1] if len(call.args) > 1 else syntax.expression("np.float64")
    words.add("of_call")
    found = syntax.call("of_call", shape, dtype)
    dims = shape.elts if isinstance(shape, gast.Tuple) else [shape]
    sizes = [d.value for d in dims if isinstance(d, gast.Constant)]
    if len(sizes) == len(dims) and 8 * math.prod(sizes) <= SMALL:
        return found
    words.add("on_large_pages")
    return syntax.call("on_large_pages", found)


def visit(expr: Any) -> Any:
    """All other products of matrices as a word that knows small ones."""
    is_product = isinstance(expr, gast.Call) and syntax.dotted(expr.func) == "np.dot"
    if is_product and len(expr.args) == 2 and not expr.keywords:
        return syntax.call("product", *expr.args)
    return expr


def name_bound(stmt: Any) -> str:
    """The name that a statement binds, if it is that alone."""
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return ""
    return getattr(stmt.targets[0], "id", "")


def names_leaving(node: gast.FunctionDef) -> set[str]:
    """Names of what is returned, or kept in a container, or may be a part of it."""
    held: dict[str, set[str]] = {}
    found: set[str] = set()
    for stmt in syntax.walk(node.body):
        if isinstance(stmt, gast.Return):
            found |= held_by(stmt.value)
        elif isinstance(stmt, gast.Call) and isinstance(stmt.func, gast.Attribute):
            path = syntax.dotted(stmt.func) or ""
            if path.partition(".")[0] not in ("np", "math"):
                found |= syntax.names_read([*stmt.args, *stmt.keywords])
        elif isinstance(stmt, (gast.Assign, gast.AnnAssign, gast.For)):
            value = stmt.iter if isinstance(stmt, gast.For) else stmt.value
            targets = stmt.targets if isinstance(stmt, gast.Assign) else [stmt.target]
            for name in {n.id for t in targets for n in names_in(t)}:
                held.setdefault(name, set()).update(held_by(value))
    waiting = list(found)
    while waiting:
        more = held.get(waiting.pop(), set()) - found
        found |= more
        waiting += more
    return found


def names_in(target: Any) -> list[Any]:
    """The names that a target binds; none where it is an element."""
    if isinstance(target, (gast.Tuple, gast.List, gast.Starred)):
        parts = getattr(target, "elts", None) or [target.value]
        return [n for part in parts for n in names_in(part)]
    return [target] if isinstance(target, gast.Name) else []


def held_by(value: Any) -> set[str]:
    """The names of what a value may be a part of."""
    if value is None or isinstance(value, _COMPUTED):
        return set()
    if isinstance(value, gast.Call):
        path = syntax.dotted(value.func) or ""
        own = getattr(np, path.removeprefix("np."), None)
        made_new = path in (*_MAKERS, "np.dot", *_NUMBERS)
        if made_new or path.startswith(("np.linalg.", "math.")):
            return set()
        if path.startswith("np.") and isinstance(own, np.ufunc):
            return set()
    if isinstance(value, (gast.Subscript, gast.Attribute)):
        return held_by(value.value)
    if isinstance(value, gast.Name):
        return {value.id}
    return syntax.names_read(value)
