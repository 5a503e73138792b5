"""Count the trips that are completed, where the one that breaks off changes nothing.

Before:                              After:

    trips = 0                            trips = 0
    condition_tape = []
    while True:                          while True:
        trips += 1
        condition = x < 1                    if x < 1:
        if condition:                            break
            condition_tape.append(condition)
            break
        x = x / 2                            x = x / 2
        condition_tape.append(condition)     trips += 1
    for _ in range(trips):               for _ in range(trips):
        condition = condition_tape.pop()
        if not condition:
            dx = dx / 2                      dx = dx / 2
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.joined_tapes import emptied, pushed, taken
from srcjax.transforms.simplify.trips import counts, mentions


def drop_broken_trips(node: gast.FunctionDef, made: Callable[[str], bool]) -> None:
    """Let the loops of the function leave out trips that break off, in place.

    `made` tells the names that srcjax made.
    """
    for block in list(syntax.blocks(node.body)):
        for at in range(len(block) - 1, 0, -1):
            if isinstance(block[at], gast.For):
                _drop(node, block, block[at], made)


def _drop(
    node: gast.FunctionDef,
    block: list[Any],
    loop: gast.For,
    made: Callable[[str], bool],
) -> None:
    """The trip in which the tape says that the loop was left, if that is nothing."""
    body = [s for s in loop.body if not syntax.is_comment(s)]
    if len(body) != 2 or not isinstance(body[1], gast.If) or body[1].orelse:
        return
    pop, branch = body
    tape, test = taken(pop), branch.test
    if not tape or not isinstance(test, gast.UnaryOp):
        return
    told = pop.targets[0].id
    if not isinstance(test.op, gast.Not) or not syntax.is_name(test.operand, told):
        return
    if syntax.count_reads(loop, told) != 1:
        return
    counters = [n.id for n in syntax.walk(loop.iter) if isinstance(n, gast.Name)]
    for source in block:
        for counter in counters:
            if _complete(node, source, tape, counter):
                loop.body = branch.body
                block[:] = [s for s in block if emptied(s) != tape]
                _ask_at_once(node, source.body, made)
                return


def _complete(node: gast.FunctionDef, source: Any, tape: str, counter: str) -> bool:
    """Let the loop count where it has not broken off, and keep nothing on the tape."""
    if not isinstance(source, (gast.For, gast.While)):
        return False
    body = source.body
    counted = [k for k, s in enumerate(body) if counts(s, counter)]
    leaves = [k for k, s in enumerate(body) if _pushes_and_breaks(s, tape)]
    pushes = [k for k, s in enumerate(body) if pushed(s) == tape]
    if not (len(counted) == len(leaves) == len(pushes) == 1):
        return False
    (count,), (leave,), (push,) = counted, leaves, pushes
    if not count < leave < push or mentions(node, tape) != 4:
        return False
    if mentions(node, counter) != mentions(body[count], counter) + 2:
        return False
    jumps = (gast.Break, gast.Continue)
    between = [*body[count:leave], *body[leave + 1 : push]]
    if any(isinstance(s, jumps) for s in syntax.all_statements(between)):
        return False
    branch, test = body[leave], body[push].value.args[0]
    if not syntax.is_name(branch.test) or not syntax.equal(branch.test, test):
        return False
    branch.body = [s for s in branch.body if pushed(s) != tape]
    body[push] = body[count]
    del body[count]
    return True


def _pushes_and_breaks(stmt: Any, tape: str) -> bool:
    """`if c: tape.append(c); break`, where flags may be set too."""
    if not isinstance(stmt, gast.If) or stmt.orelse:
        return False
    *done, last = stmt.body
    pushes = [s for s in done if pushed(s) == tape]
    flags = [s for s in done if isinstance(s, gast.Assign)]
    return (
        isinstance(last, gast.Break)
        and len(pushes) == 1
        and len(pushes) + len(flags) == len(done)
        and all(isinstance(s.value, gast.Constant) for s in flags)
    )


def _ask_at_once(
    node: gast.FunctionDef, body: list[Any], made: Callable[[str], bool]
) -> None:
    """`c = x < 1; if c: break` is `if x < 1: break`, where nothing else reads `c`."""
    for before, branch in pairwise(body):
        if not isinstance(branch, gast.If) or not isinstance(branch.test, gast.Name):
            continue
        name = branch.test.id
        bound = isinstance(before, gast.Assign) and len(before.targets) == 1
        if (
            bound
            and syntax.is_name(before.targets[0], name)
            and syntax.count_reads(node, name) == 1
            and made(name)
        ):
            branch.test = before.value
            body[:] = [s for s in body if s is not before]
            return


__all__ = ["drop_broken_trips"]
