"""Iterators that a variable holds, as lists that are used up.

    it = iter(xs)                   it = list(xs)
    total = next(it)                total = it.pop(0)
    for x in it:                    for x in it:
        total *= x                      total *= x

A loop that is not the last use of the iterator becomes `while it: x = it.pop(0)`, so
that what it leaves, or takes inside, is what the iterator would give. One that has
nothing left raises IndexError where Python raises StopIteration.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import Way, control, leaves
from srcjax.frontend.lift import read_names
from srcjax.frontend.varying import Varying

#: What gives its items once.
LAZY = ("zip", "enumerate", "map", "filter", "reversed", "iter")
#: Those that look at nothing but what they are given.
_PLAIN = ("zip", "enumerate", "reversed", "iter")
#: What takes all that an iterator gives.
_TAKES_ALL = ("list", "tuple", "sum", "max", "min", "sorted", "dict", *_PLAIN)
_NESTED = (gast.FunctionDef, gast.Lambda)


def lower_iterators(body: list[gast.stmt], varying: Varying) -> list[gast.stmt]:
    """The body with iterators that `next` is asked of as lists, where they vary."""
    for stmt in syntax.all_statements(body):
        name = _held(stmt, body, varying)
        if name is not None and _is_used_up_in_sight(name, stmt, body, varying):
            call: Any = stmt.value
            if varying.is_builtin(call.func, "iter"):
                call = call.args[0]
            if not isinstance(call, gast.List):
                call = gast.copy_location(syntax.call("list", call), stmt.value)
            stmt.value = call
            work = _UsedUp(name, body, varying)
            body = [work.statement(s) for s in body]
    return body


def changed_meanwhile(
    value: gast.expr,
    body: list[gast.stmt],
    varying: Varying,
    given: Collection[str] = (),
    inside: Collection[str] = (),
) -> set[str]:
    """What an iterator reads that the statements may change before it gives it.

    The `given` names have values before the statements; those `inside` are read by the
    generator function that is called.
    """
    changed = _changed_in_place(body)
    if _is_plain(value, varying):  # it has what the names stood for when it was made
        return changed & _iterated(value)
    return {
        n
        for n in {*read_names([value]), *inside}
        if n in changed or syntax.count_bindings(body, n) + (n in given) > 1
    }


def acted_on_between(name: str, value: gast.expr, body: list[gast.stmt]) -> set[str]:
    """What an iterator may change for each item, and is read before it is used.

    `it = (log.append(v) or v for v in xs)` has changed nothing when `len(log)` is asked
    for, though its items are put in a list at once.
    """
    inner = {s.name: s for s in syntax.walk(body) if isinstance(s, gast.FunctionDef)}
    ran: list[Any] = [value]
    for node in ran:
        called = {n for n in syntax.names_read(node) if n in inner}
        ran += [inner[n] for n in sorted(called) if inner[n] not in ran]
    acted: set[str] = set()
    for node in syntax.walk(ran):
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
            acted.add(syntax.root_of(node.func))
        elif isinstance(node, (gast.Subscript, gast.Attribute)):
            acted.add("" if isinstance(node.ctx, gast.Load) else syntax.root_of(node))
        elif isinstance(node, gast.Nonlocal):
            acted.update(node.names)
    return acted & _read_between(name, body)


def _read_between(name: str, body: list[gast.stmt]) -> set[str]:
    """What is read behind the statement that makes the iterator, before its use."""
    inner = (b for s in syntax.walk(body) for b in syntax.inner_blocks(s))
    for block in [body, *inner]:
        made = [
            k
            for k, s in enumerate(block)
            if isinstance(s, gast.Assign) and syntax.is_name(s.targets[0], name)
        ]
        if not made:
            continue
        found: set[str] = set()
        for stmt in block[made[0] + 1 :]:
            if name in syntax.names_read(stmt):
                break
            found |= syntax.names_read(stmt)
        return found
    return set()


def _iterated(value: Any) -> set[str]:
    """What a plain iterator goes through: not the items of a display."""
    if isinstance(value, (gast.List, gast.Tuple)):
        return set()
    if isinstance(value, gast.Call):
        return {n for a in value.args for n in _iterated(a)}
    return set(read_names([value]))


def most_reads(block: list[Any], name: str) -> int:
    """How often the name is read at most on a path through the statements."""
    most = 0
    for stmt in reversed(block):
        run = control(stmt)
        if run is None or run.way is not Way.CHOICE:
            most += syntax.count_reads([stmt], name)
            continue
        ways = [
            most_reads(side, name) + (0 if leaves(side) else most)
            for side in run.blocks
        ]
        most = syntax.count_reads(run.head, name) + max(ways)
    return most


def _changed_in_place(body: Any) -> set[str]:
    """Names through which something is written in place."""
    found: set[str] = set()
    for node in syntax.walk(body):
        base: Any = None
        if isinstance(node, gast.AugAssign):
            base = node.target
        elif isinstance(node, (gast.Subscript, gast.Attribute)):
            base = node if not isinstance(node.ctx, gast.Load) else None
        elif isinstance(node, gast.Expr) and isinstance(node.value, gast.Call):
            base = node.value.func
        found.add(syntax.root_of(base))
    return found - {""}


def _held(stmt: gast.stmt, body: list[gast.stmt], varying: Varying) -> str | None:
    """The name of a variable that the statement makes an iterator, once for all."""
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return None
    target, value = stmt.targets[0], stmt.value
    if not isinstance(target, gast.Name) or not _is_plain(value, varying):
        return None
    once = syntax.count_bindings(body, target.id) == 1
    return target.id if once and varying.carries(value) else None


def _is_plain(value: Any, varying: Varying) -> bool:
    """Whether it is an iterator over what stands there, which acts on nothing."""
    if not isinstance(value, gast.Call):
        return False
    if not all(isinstance(k.value, gast.Constant) for k in value.keywords):
        return False
    if not varying.is_builtin(value.func, *_PLAIN) or not value.args:
        return False
    if len(value.args) > 1 and varying.is_builtin(value.func, "iter"):
        return False
    lazy = (gast.GeneratorExp, gast.Starred, gast.Yield, gast.NamedExpr, *_NESTED)
    return not any(
        isinstance(n, lazy)
        or (
            isinstance(n, gast.Call)
            and not varying.is_builtin(n.func, *_PLAIN, "list", "tuple", "range")
        )
        for n in syntax.walk(value)
    )


def _is_used_up_in_sight(
    name: str, made: Any, body: list[gast.stmt], varying: Varying
) -> bool:
    """Whether `next`, loops and one last look at all of it are what reads the name."""
    value = made.value
    if name in syntax.names_read(value) or changed_meanwhile(value, body, varying):
        return False
    if any(isinstance(s, gast.Try) for s in syntax.all_statements(body)):
        return False  # the end of the iterator may be what is caught
    nested = [n for n in syntax.walk(body) if isinstance(n, _NESTED)]
    if name in syntax.names_read(nested):
        return False
    asked, known = 0, 0
    for node in syntax.walk(body):
        if _is_next(node, name, varying):
            asked, known = asked + 1, known + 1
        elif isinstance(node, gast.For) and syntax.is_name(node.iter, name):
            known += 1
    reads = syntax.count_reads(body, name)
    if reads == known:
        return asked > 0 or most_reads(body, name) > 1
    return reads == known + 1 > 1 and _ends(name, body, varying)


def asked_for_next(body: list[gast.stmt], name: str, varying: Varying) -> bool:
    """Whether `next` is called with the variable."""
    return any(
        isinstance(n, gast.Call)
        and varying.is_builtin(n.func, "next")
        and bool(n.args)
        and syntax.is_name(n.args[0], name)
        for n in syntax.walk(body)
    )


def _ends(name: str, body: list[gast.stmt], varying: Varying) -> bool:
    """Whether the last statement that reads the name takes all that is left."""
    last = [s for s in body if name in syntax.names_read(s)][-1]
    if control(last) is not None or syntax.count_reads([last], name) != 1:
        return False
    return any(
        syntax.is_name(getattr(n, "iter", None), name)
        or (
            isinstance(n, gast.Call)
            and varying.is_builtin(n.func, *_TAKES_ALL)
            and any(syntax.is_name(a, name) for a in n.args)
        )
        for n in syntax.walk(last)
    )


def _is_next(node: Any, name: str, varying: Varying) -> bool:
    """Whether it is `next(name)`, or `next(name, default)` whose default is at hand."""
    return (
        isinstance(node, gast.Call)
        and not node.keywords
        and varying.is_builtin(node.func, "next")
        and 1 <= len(node.args) <= 2
        and syntax.is_name(node.args[0], name)
        and all(map(syntax.is_atom, node.args))
    )


class _UsedUp(gast.NodeTransformer):
    """Takes items out of the list where the iterator was asked for them."""

    def __init__(self, name: str, body: list[gast.stmt], varying: Varying) -> None:
        self.name = name
        self.body = body
        self.varying = varying
        loops = [n for n in syntax.walk(body) if isinstance(n, gast.For)]
        over = [n for n in loops if syntax.is_name(n.iter, name)]
        #: The loop that uses up what is left, if one does.
        self.last = over[0] if over == [self.last_in(body)] else None

    def last_in(self, body: list[gast.stmt]) -> Any:
        """The last statement that reads the name, if that is all it does with it."""
        reading = [s for s in body if self.name in syntax.names_read(s)]
        alone = bool(reading) and syntax.count_reads([reading[-1]], self.name) == 1
        return reading[-1] if alone else None

    def statement(self, stmt: gast.stmt) -> gast.stmt:
        """The statement with lists in place of the iterator."""
        new: gast.stmt = self.visit(stmt)
        return new

    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        if not _is_next(node, self.name, self.varying):
            return node
        items = syntax.name(self.name)
        new = syntax.expression("v.pop(0)", v=items)
        if len(node.args) == 2:
            new = gast.IfExp(syntax.clone(items), new, node.args[1])
        return _placed(new, node)

    def visit_For(self, node: Any) -> Any:
        self.generic_visit(node)
        if not syntax.is_name(node.iter, self.name) or node is self.last:
            return node
        taken = syntax.expression("v.pop(0)", v=syntax.name(self.name))
        bind = _placed(gast.Assign([node.target], taken, None), node)
        new = gast.While(syntax.name(self.name), [bind, *node.body], node.orelse)
        return _placed(new, node)


def _placed(new: Any, old: Any) -> Any:
    """The new node and what has no place in it, where the old one stood."""
    for node in syntax.walk(new):
        if isinstance(node, (gast.stmt, gast.expr)) and not hasattr(node, "lineno"):
            gast.copy_location(node, old)
    return new
