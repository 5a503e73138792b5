"""A loop over a tape of a generated function is read as one that takes values off it.

Before:                          After:

    x_tape = []                      x_tape = []
                                     trips = 0
    while x > 1:                     while x > 1:
                                         trips += 1
        x_tape.append(x)                 x_tape.append(x)
        x = np.sqrt(x)                   x = np.sqrt(x)
    for x in reversed(x_tape):       for _ in range(trips):
                                         x = x_tape.pop()
        dx = 0.5 * dx / np.sqrt(x)       dx = 0.5 * dx / np.sqrt(x)

A backward sweep goes over the tape because it reads well (`transforms.simplify.walks`).
Where the loop that fills the tape goes to the end of a range, or of a list that was
made before, the other goes over the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.joined_tapes import emptied, pushed


def walked(stmt: Any) -> str:
    """`tape` of `for value in reversed(tape):`."""
    if not isinstance(stmt, gast.For) or stmt.orelse:
        return ""
    over = stmt.iter
    if not isinstance(over, gast.Call) or not syntax.is_name(over.func, "reversed"):
        return ""
    alone = len(over.args) == 1 and isinstance(over.args[0], gast.Name)
    return over.args[0].id if alone else ""


def filling(block: list[Any], walk: int, tape: str) -> tuple[int, int, int] | None:
    """Where a tape that a loop of the block walks is made, filled, and by which push.

    The push is a statement of its loop, in each trip; None where that is not so.
    """
    init = fill = push = -1
    for at in range(walk - 1, -1, -1):
        stmt = block[at]
        if emptied(stmt) == tape:
            init = at
            break
        if fill < 0 and isinstance(stmt, (gast.For, gast.While)):
            found = [k for k, s in enumerate(stmt.body) if pushed(s) == tape]
            if found:
                fill, push = at, found[0]
    return (init, fill, push) if init >= 0 and fill >= 0 else None


def with_pops(
    node: gast.FunctionDef, made: Container[str], names: syntax.Names
) -> set[str]:
    """Write the loops over tapes apart, in place; the tapes."""
    done: set[str] = set()
    uses = Counter(n.id for n in syntax.names_in(node))
    for block in list(syntax.blocks(node.body)):
        at = 0
        while at < len(block):
            tape = walked(block[at])
            if tape in made and tape not in done and uses[tape] == 3:
                found = filling(block, at, tape)
                if found is not None:
                    at += _with_pop(block, at, tape, found, names)
                    done.add(tape)
            at += 1
    return done


def _with_pop(
    block: list[Any],
    at: int,
    tape: str,
    found: tuple[int, int, int],
    names: syntax.Names,
) -> int:
    """Write one loop apart; how many statements came before it."""
    init, fill, push = found
    loop, source = block[at], block[fill]
    value = syntax.expression("t.pop()", t=syntax.name(tape))
    taken = gast.Assign([loop.target], value, None)
    _place(taken, loop)
    loop.body.insert(0, taken)
    loop.target = gast.copy_location(syntax.name(names.fresh("_"), store=True), loop)
    if goes_over_again(source, block):
        loop.iter = syntax.clone(source.iter)
        return 0
    trips = names.fresh("trips")
    start = syntax.assign(trips, syntax.const(0))
    count = gast.AugAssign(syntax.name(trips, store=True), gast.Add(), syntax.const(1))
    _place(start, block[init])
    _place(count, source)
    source.body.insert(push, count)
    block.insert(init + 1, start)
    loop.iter = syntax.call("range", syntax.name(trips))
    _place(loop.iter, loop)
    return 1


def goes_over_again(loop: gast.For | gast.While, block: list[Any]) -> bool:
    """Whether a loop goes to the end over what another one may go over as well.

    It does over a range, and a list that its block makes. What else has a name may be
    an iterator, which is used up.
    """
    if not isinstance(loop, gast.For) or leaves_early(loop):
        return False
    over = loop.iter
    if isinstance(over, gast.Call):
        return syntax.is_name(over.func, "range")
    return any(syntax.is_name(over, name) for name in map(_listed, block) if name)


def _listed(stmt: Any) -> str:
    """`items` of `items = list(xs)` and `items = [f, g]`."""
    value = getattr(stmt, "value", None)
    if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0]):
        return ""
    called = isinstance(value, gast.Call) and syntax.is_name(value.func, "list")
    made = called or isinstance(value, (gast.List, gast.Tuple))
    return stmt.targets[0].id if made else ""


def leaves_early(loop: gast.For) -> bool:
    """Whether a trip may end the loop."""
    return any(isinstance(s, gast.Break) for s in syntax.all_statements(loop.body))


def _place(new: Any, old: Any) -> None:
    for sub in syntax.walk(new):
        if not hasattr(sub, "lineno"):
            gast.copy_location(sub, old)


__all__ = ["filling", "leaves_early", "walked", "with_pops"]
