"""A tape of tuples in a generated function is read as one tape for each value.

Before:                          After:

    tape = []                        h_tape = []
                                     z_tape = []
    tape.append((h, z))              h_tape.append(h)
                                     z_tape.append(z)
    h, z = tape.pop()                h = h_tape.pop()
                                     z = z_tape.pop()

A backward sweep keeps tuples because they read well (`transforms.simplify.tapes`). The
next transform asks of each value whether it is kept, read, or differentiated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import gast

from srcjax import syntax
from srcjax.backends.marks import Joined


def emptied(stmt: Any) -> str:
    """`tape` of `tape = []`."""
    if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0]):
        return ""
    value = stmt.value
    made = isinstance(value, gast.List) and not value.elts and len(stmt.targets) == 1
    return stmt.targets[0].id if made else ""


def pushed(stmt: Any) -> str:
    """`tape` of `tape.append(value)`."""
    if not isinstance(stmt, gast.Expr):
        return ""
    return _called(stmt.value, "append", 1)


def taken(stmt: Any) -> str:
    """`tape` of `value = tape.pop()`."""
    if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0]):
        return ""
    return _called(stmt.value, "pop", 0) if len(stmt.targets) == 1 else ""


def taken_whole(stmt: Any) -> str:
    """The same, and `tape` of `h, z = tape.pop()`."""
    return taken(stmt) or _tuple_taken(stmt)


def popped(call: Any) -> str:
    """`tape` of `tape.pop()`."""
    return _called(call, "pop", 0)


def _called(call: Any, method: str, count: int) -> str:
    """The name whose method is called with so many arguments."""
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
        return ""
    if len(call.args) != count or call.keywords or call.func.attr != method:
        return ""
    owner = call.func.value
    return owner.id if isinstance(owner, gast.Name) else ""


def joined_tapes(node: gast.FunctionDef) -> Joined:
    """The tapes of tuples that a pass has made in a function."""
    found: Joined = {}
    for stmt in syntax.walk(node.body):
        parts = getattr(stmt, "joined", None)
        if parts is not None:
            found[pushed(stmt)] = tuple(parts)
    return found


def part_tapes(
    node: gast.FunctionDef, joined: Joined, names: syntax.Names
) -> dict[str, bool]:
    """Write the tapes apart, in place: the new ones, and whether these keep copies."""
    whole = {tape: parts for tape, parts in joined.items() if _is_whole(node, tape)}
    apart = {
        tape: [names.fresh(part.name) for part in parts]
        for tape, parts in whole.items()
    }
    if apart:
        node.body = _parted(node.body, apart)
    return {
        name: part.keeps
        for tape, parts in whole.items()
        for name, part in zip(apart[tape], parts, strict=True)
    }


def plain_tapes(node: gast.FunctionDef, made: Collection[str]) -> set[str]:
    """Those of the names `made` that one statement empties, one fills and one reads."""
    if not made:
        return set()
    uses = Counter(n.id for n in syntax.names_in(node) if n.id in made)
    kinds: Counter[str] = Counter()
    for stmt in syntax.all_statements(node.body):
        kinds.update({emptied(stmt), pushed(stmt), taken(stmt)})
    return {name for name, times in uses.items() if times == kinds[name] == 3}


def _is_whole(node: gast.FunctionDef, tape: str) -> bool:
    """Whether the tape is what the pass has made of it: three statements name it."""
    uses = [n for n in syntax.names_in(node) if n.id == tape]
    kinds = [
        (emptied(s), pushed(s), _tuple_taken(s)).count(tape)
        for s in syntax.all_statements(node.body)
    ]
    return len(uses) == sum(kinds) == 3


def _tuple_taken(stmt: Any) -> str:
    """`tape` of `h, z = tape.pop()`."""
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return ""
    target = stmt.targets[0]
    return _called(stmt.value, "pop", 0) if isinstance(target, gast.Tuple) else ""


def _parted(block: list[Any], apart: dict[str, list[str]]) -> list[Any]:
    out: list[Any] = []
    for stmt in block:
        syntax.rewrite_blocks(stmt, lambda inner: _parted(inner, apart))
        out += _as_parts(stmt, apart)
    return out


def _as_parts(stmt: Any, apart: dict[str, list[str]]) -> list[gast.stmt]:
    """A statement about a tape of tuples, for each of its parts."""
    new: list[Any]
    if tapes := apart.get(emptied(stmt)):
        new = [syntax.assign(tape, gast.List([], syntax.LOAD)) for tape in tapes]
    elif tapes := apart.get(pushed(stmt)):
        new = [
            gast.Expr(syntax.expression("t.append(v)", t=syntax.name(tape), v=value))
            for tape, value in zip(tapes, stmt.value.args[0].elts, strict=True)
        ]
    elif tapes := apart.get(_tuple_taken(stmt)):
        new = [
            syntax.assign(target, syntax.expression("t.pop()", t=syntax.name(tape)))
            for tape, target in zip(tapes, stmt.targets[0].elts, strict=True)
        ]
    else:
        return [stmt]
    for each in new:
        for sub in syntax.walk(each):
            if not hasattr(sub, "lineno"):
                gast.copy_location(sub, stmt)
    return new
