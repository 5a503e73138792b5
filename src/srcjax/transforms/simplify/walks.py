"""Go over a tape instead of counting the trips that filled it.

Before:                          After:

    trips = 0
    x_tape = []                      x_tape = []
    while x > 1:                     while x > 1:
        trips += 1
        x_tape.append(x)                 x_tape.append(x)
        x = np.sqrt(x)                   x = np.sqrt(x)
    for _ in range(trips):           for x in reversed(x_tape):
        x = x_tape.pop()                 dx = 0.5 * dx / np.sqrt(x)
        dx = 0.5 * dx / np.sqrt(x)

So it is where each trip puts one value on the tape, and each of the other loop takes
one. A transform of the text reads it as it was (`frontend.walked_tapes`).

What a loop visits, where it may be gone through once only, goes on the tape as well:

    items = []
    a_tape = []                      tape = []
    for x in xs:                     for x in xs:
        items.append(x)
        a_tape.append(a)                 tape.append((x, a))
        a = a * x                        a = a * x
    for x in reversed(items):        for x, a in reversed(tape):
        a = a_tape.pop()                 da = da * x
        da = da * x
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.mentions import has_jump
from srcjax.backends.marks import Part
from srcjax.frontend.joined_tapes import popped, pushed, taken_whole
from srcjax.frontend.walked_tapes import filling, leaves_early
from srcjax.transforms.call_effects import called
from srcjax.transforms.simplify.trips import counts, mentions, starts

#: What evaluates a part of itself not at all, or more than once.
_AT_TIMES = (gast.Lambda, gast.comprehension, gast.IfExp, gast.BoolOp)


def walk_tapes(node: gast.FunctionDef, own: set[str], names: syntax.Names) -> None:
    """Let loops of the function go over their tapes, in place.

    `own` are the lists that are tapes.
    """
    for block in list(syntax.blocks(node.body)):
        at = 0
        while at < len(block):
            at -= _visit_on_tape(node, block, at, own, names)
            at += 1 - _walk(node, block, at, own, names)


def _walk(
    node: gast.FunctionDef,
    block: list[Any],
    at: int,
    own: set[str],
    names: syntax.Names,
) -> int:
    """Let the loop at that place go over its tape; how many statements have gone."""
    loop = block[at]
    if not isinstance(loop, gast.For) or not isinstance(loop.target, gast.Name):
        return 0
    later = [loop.body, block[at + 1 :]] if block is node.body else [node.body]
    if loop.target.id in syntax.names_read(later):
        return 0
    pop = _pop_of(loop, own)
    if pop is None or mentions(node, pop.func.value.id) != 3:
        return 0
    tape = pop.func.value.id
    found = filling(block, at, tape)
    if found is None:
        return 0
    _, fill, push = found
    source = block[fill]
    counter = _counter(node, loop, block[:fill], source)
    if counter:
        if not _counted_with(source.body, push, counter):
            return 0
    elif not _as_many(loop, source):
        return 0
    _take(loop, pop, syntax.all_names(later), names)
    loop.iter = syntax.call("reversed", syntax.name(tape))
    if not counter:
        return 0
    before = len(block)
    block[:] = [s for s in block if not starts(s, counter)]
    source.body = [s for s in source.body if not counts(s, counter)]
    return before - len(block)


def _visit_on_tape(
    node: gast.FunctionDef,
    block: list[Any],
    at: int,
    own: set[str],
    names: syntax.Names,
) -> int:
    """Let the loop at that place go over a tape that has what it visits as well.

    It goes over a list of what another loop visits. How many statements have gone.
    """
    loop = block[at]
    items = _gone_over(loop)
    found = filling(block, at, items) if items else None
    pop = next((s for s in loop.body if taken_whole(s) in own), None) if found else None
    if found is None or pop is None or has_jump(loop.body) or len(loop.body) < 2:
        return 0
    init, fill, visit = found
    source, tape = block[fill], taken_whole(pop)
    pushes = filling(block, at, tape)
    if pushes is None or pushes[1] != fill or not _may_come_first(pop, loop.body):
        return 0
    if mentions(node, items) != 3 or mentions(node, tape) != 3:
        return 0
    push, between = source.body[pushes[2]], source.body[visit : pushes[2]]
    kept = source.body[visit]
    if visit > pushes[2] or not getattr(kept, "visits", False) or _jumps(between):
        return 0
    read = syntax.names_written(loop.target) & syntax.all_names(
        [*loop.body, *block[at + 1 :]] if block is node.body else node
    )
    if read & (syntax.names_written(pop) | syntax.names_written(between)):
        return 0
    if read and not _put_beside(node, (kept, push, pop), read, names):
        return 0
    loop.target = pop.targets[0]
    loop.iter = syntax.call("reversed", pop.value.func.value)
    loop.body = [s for s in loop.body if s is not pop]
    source.body = [s for s in source.body if s is not kept]
    block.pop(init)
    return 1


def _gone_over(loop: Any) -> str:
    """`items` of `for x in reversed(items):` and `for _ in items:`."""
    if not isinstance(loop, gast.For) or loop.orelse:
        return ""
    over = loop.iter
    if called(over) == "reversed" and len(over.args) == 1:
        over = over.args[0]
    return getattr(over, "id", "")


def _jumps(stmts: list[Any]) -> bool:
    jumps = (gast.Break, gast.Continue, gast.Return, gast.Raise, gast.Try)
    return any(isinstance(s, jumps) for s in syntax.all_statements(stmts))


def _put_beside(
    node: gast.FunctionDef,
    stmts: tuple[Any, Any, Any],
    read: set[str],
    names: syntax.Names,
) -> bool:
    """Put what is kept beside what is pushed, where it is popped from, in place.

    Of the names that are visited, those that are read.
    """
    kept, push, pop = stmts
    item, value = kept.value.args[0], push.value.args[0]
    target = pop.targets[0]
    items = item.elts if isinstance(item, gast.Tuple) else [item]
    if not all(map(syntax.is_name, items)) or getattr(push, "keeps", None) == "saved":
        return False
    visited = [n.id for n in items if n.id in read]
    parts = getattr(push, "joined", None)
    values, targets = [value], [target]
    if parts is not None:
        values, targets = value.elts, target.elts
    else:
        parts = [Part(pushed(push), bool(getattr(push, "keeps", None)))]
        taken = syntax.all_names(node) | names.reserved | {node.name}
        whole = syntax.Names(taken).fresh("tape")
        syntax.rename(node.body, {pushed(push): whole})
    push.value.args = [gast.Tuple([*map(syntax.name, visited), *values], syntax.LOAD)]
    push.joined = [*(Part(f"{name}_tape", False) for name in visited), *parts]
    push.keeps = None
    stored = [syntax.name(name, store=True) for name in visited]
    pop.targets = [gast.Tuple([*stored, *targets], syntax.STORE)]
    return True


def _pop_of(loop: gast.For, own: set[str]) -> Any:
    """The call by which each trip takes a value off a tape, before all that binds it.

    It may stand inside of an expression; None if there is none.
    """
    if has_jump(loop.body) or (len(loop.body) < 2 and taken_whole(loop.body[0])):
        return None
    for stmt in loop.body:
        if taken_whole(stmt) in own:
            return stmt.value if _may_come_first(stmt, loop.body) else None
    for stmt in loop.body:
        if isinstance(stmt, (gast.Assign, gast.AugAssign)):
            for sub in syntax.walk(stmt.value):
                if isinstance(sub, _AT_TIMES):
                    return None
                if isinstance(sub, gast.Call) and popped(sub) in own:
                    return sub
    return None


def _take(loop: gast.For, pop: Any, used: set[str], names: syntax.Names) -> None:
    """Let the target of the loop be what the pop gives; `used` names have a meaning."""
    for stmt in loop.body:
        if taken_whole(stmt) and stmt.value is pop:
            loop.target = stmt.targets[0]
            loop.body = [s for s in loop.body if s is not stmt]
            return
    name = pop.func.value.id.removesuffix("_tape")
    if name in used | names.reserved:
        name = names.fresh(name)
    value = {id(pop): syntax.name(name)}
    loop.body = [syntax.replaced(stmt, value) for stmt in loop.body]
    loop.target = syntax.name(name, store=True)


def _may_come_first(pop: Any, body: list[Any]) -> bool:
    """Whether nothing before the pop has to do with what it binds."""
    bound = syntax.names_written(pop)
    for stmt in body:
        if stmt is pop:
            return True
        if bound & syntax.all_names(stmt) or syntax.has_blocks(stmt):
            return False
    return False


def _counter(
    node: gast.FunctionDef, loop: gast.For, before: list[Any], source: Any
) -> str:
    """`trips` of `for _ in range(trips)`, if it is only made, counted and read here."""
    over = loop.iter
    if (
        not isinstance(over, gast.Call)
        or called(over) != "range"
        or len(over.args) != 1
    ):
        return ""
    counter = over.args[0]
    if not isinstance(counter, gast.Name):
        return ""
    name = counter.id
    made = [s for s in before if starts(s, name)]
    counted = [s for s in source.body if counts(s, name)]
    if len(made) != 1 or len(counted) != 1:
        return ""
    return name if mentions(node, name) == mentions(counted, name) + 2 else ""


def _counted_with(body: list[Any], push: int, counter: str) -> bool:
    """Whether a trip that is counted comes to the push as well, and the other way."""
    count = next(k for k, s in enumerate(body) if counts(s, counter))
    between = body[min(count, push) : max(count, push)]
    jumps = (gast.Break, gast.Continue, gast.Return)
    return not any(isinstance(s, jumps) for s in syntax.all_statements(between))


def _as_many(loop: gast.For, source: Any) -> bool:
    """Whether both loops go over the same, to the end."""
    if not isinstance(source, gast.For) or leaves_early(source):
        return False
    if any(isinstance(s, gast.Continue) for s in syntax.all_statements(source.body)):
        return False
    plain = isinstance(loop.iter, gast.Name) or called(loop.iter) == "range"
    return plain and syntax.equal(loop.iter, source.iter)


__all__ = ["walk_tapes"]
