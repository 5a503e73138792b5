"""Loops over items instead of indices, where the index serves nothing else.

Before:                                 After:

    for i in range(len(params)):            for W, b in params:
        W, b = params[i]                        x = np.tanh(x @ W + b)
        x = np.tanh(x @ W + b)

    for i in range(len(xs)):                for i, x in enumerate(xs):
        x = xs[i]                               dxs[i] += 2 * x
        dxs[i] += 2 * x

    while True:                             while r > 1:
        if r > 1:                               r = r / 2
            r = r / 2
        else:
            break

    for _ in reversed(range(n)[:trips]):    for _ in range(trips):
        dx = dx / 2                             dx = dx / 2

    items = list(zip(xs, ys))               for x, y in zip(xs, ys):
    for x, y in items:                          dx += y * x
        dx += y * x
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.joined_tapes import taken
from srcjax.transforms.call_effects import called, is_pure, written_bases
from srcjax.transforms.simplify.kin import may_be_one_of


def sugar(
    node: gast.FunctionDef,
    temps: set[str],
    as_long: Callable[[str, str], bool] = lambda a, b: False,
    shares: Callable[[str], set[str]] = lambda name: set(),
) -> None:
    """Rewrite the loops of the function, in place.

    `as_long` tells whether two sequences certainly have as many items, `shares` the
    names that may share memory with a name.
    """
    for sub in syntax.walk(node):
        if isinstance(sub, gast.For):
            _rewrite(sub, temps, node, as_long, shares)
            _in_any_order(sub, node)
        elif isinstance(sub, gast.While):
            _test_in_front(sub)
    node.body = flat(node.body)


def flat(block: list[gast.stmt]) -> list[gast.stmt]:
    """Branches without an `else` after a `break`, or what both sides begin with.

    Before:                             After:

        if not lanes.size:                  x_tape.append(x)
            x_tape.append(x)                if not lanes.size:
            break                               break
        else:                               x = 2 * x
            x_tape.append(x)
            x = 2 * x
    """
    out: list[gast.stmt] = []
    for stmt in block:
        syntax.rewrite_blocks(stmt, flat)
        if not isinstance(stmt, gast.If):
            out.append(stmt)
            continue
        stmt.test = _once_negated(stmt.test)
        while _begin_alike(stmt):
            out.append(stmt.body.pop(0))
            stmt.orelse.pop(0)
        rest: list[gast.stmt] = []
        if stmt.body and isinstance(stmt.body[-1], (gast.Break, gast.Raise)):
            rest, stmt.orelse = stmt.orelse, []
        out += [stmt, *rest]
    return out


def _once_negated(test: gast.expr) -> gast.expr:
    """`not not c`, as a condition, is `c`."""
    while (
        isinstance(test, gast.UnaryOp)
        and isinstance(test.op, gast.Not)
        and isinstance(test.operand, gast.UnaryOp)
        and isinstance(test.operand.op, gast.Not)
    ):
        test = test.operand.operand
    return test


def _begin_alike(branch: gast.If) -> bool:
    """Whether both sides first do the same, and then more.

    They put it on a list, take it off, or give a name another name.
    """
    if len(branch.body) < 2 or len(branch.orelse) < 1:
        return False
    first, other = branch.body[0], branch.orelse[0]
    if taken(first) or _names_again(first):
        bound = syntax.names_written(first) & syntax.names_read(branch.test)
        return not bound and is_pure(branch.test) and syntax.equal(first, other)
    call = first.value if isinstance(first, gast.Expr) else None
    return (
        isinstance(call, gast.Call)
        and isinstance(call.func, gast.Attribute)
        and call.func.attr == "append"
        and isinstance(call.func.value, gast.Name)
        and all(isinstance(a, gast.Name) for a in call.args)
        and call.func.value.id not in syntax.names_read(branch.test)
        and syntax.equal(first, other)
    )


def _names_again(stmt: gast.stmt) -> bool:
    """`a = b`"""
    named = isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name)
    return named and isinstance(stmt.value, gast.Name)


def _test_in_front(loop: gast.While) -> None:
    endless = isinstance(loop.test, gast.Constant) and loop.test.value is True
    if not endless or len(loop.body) != 1 or not isinstance(loop.body[0], gast.If):
        return
    branch = loop.body[0]
    if len(branch.orelse) == 1 and isinstance(branch.orelse[0], gast.Break):
        loop.test, loop.body = branch.test, branch.body


def _rewrite(
    loop: gast.For,
    temps: set[str],
    function: gast.FunctionDef,
    as_long: Callable[[str, str], bool],
    shares: Callable[[str], set[str]],
) -> None:
    if not isinstance(loop.target, gast.Name) or loop.target.id not in temps:
        return
    backwards = False
    over: Any = loop.iter
    if isinstance(over, gast.Call) and called(over) == "reversed":
        backwards, over = True, over.args[0]
    if not (
        isinstance(over, gast.Call) and called(over) == "range" and len(over.args) == 1
    ):
        return
    counted = _counted(over.args[0])
    if counted is None or (backwards and len(counted) != 1):
        return
    index = loop.target.id
    binds: list[gast.Assign] = []
    sequences: list[str] = []
    number: gast.Assign | None = None
    rest: list[Any] = []
    for stmt in loop.body:
        value = stmt.value if isinstance(stmt, gast.Assign) else None
        single = value is not None and len(stmt.targets) == 1
        if rest and syntax.names_written(stmt) & syntax.all_names(rest):
            rest.append(stmt)  # what it binds is something else before it
        elif (
            not rest
            and single
            and syntax.is_name(value, index)
            and isinstance(stmt.targets[0], gast.Name)
        ):
            number = stmt
        elif (
            single
            and isinstance(value, gast.Subscript)
            and isinstance(value.value, gast.Name)
            and value.value.id not in sequences
            and syntax.is_name(value.slice, index)
            and _binds_names(stmt.targets[0])
        ):
            binds.append(stmt)
            sequences.append(value.value.id)
        else:
            rest.append(stmt)
    if not binds or not set(counted) <= set(sequences):
        return
    more = set(sequences) - set(counted)
    if more and (backwards or not all(as_long(s, counted[0]) for s in more)):
        return
    read = index in syntax.names_read(rest)
    if (read and number is not None) or (backwards and (read or number is not None)):
        return
    if read_elsewhere(function.body, loop, {index}):
        return
    changed: set[str] = set()
    for stmt in rest:
        changed |= written_bases(stmt) | syntax.names_written(stmt)
    if changed & set(sequences):
        return
    at_first = all(a is b for a, b in zip(loop.body, binds, strict=False))
    if (read or not at_first) and may_be_one_of(shares, set(sequences), changed):
        return
    targets = [b.targets[0] for b in binds]
    target: Any = targets[0]
    iterable: gast.expr = syntax.name(sequences[0])
    if len(binds) > 1:
        target = gast.Tuple(targets, syntax.STORE)
        iterable = syntax.call("zip", *(syntax.name(s) for s in sequences))
    if read or number is not None:
        counter = loop.target if number is None else number.targets[0]
        target = gast.Tuple([counter, target], syntax.STORE)
        iterable = syntax.call("enumerate", iterable)
    if backwards:
        iterable = syntax.call("reversed", iterable)
    loop.target, loop.iter = target, iterable
    loop.body = rest or [gast.Pass()]


def _binds_names(target: gast.expr) -> bool:
    """Whether a target is a name, or several: nothing else is written to."""
    kinds = (gast.Name, gast.Tuple, gast.List, gast.expr_context)
    return all(isinstance(n, kinds) for n in gast.walk(target))


def _in_any_order(loop: gast.For, function: gast.FunctionDef) -> None:
    """A backward loop that does not read its index, or item, need not go backwards."""
    over: Any = loop.iter
    if not isinstance(over, gast.Call) or called(over) != "reversed":
        return
    indices = syntax.names_written(loop.target)
    later = runs_after(function, loop)
    if indices & syntax.names_read(loop.body) or read_elsewhere(later, loop, indices):
        return
    numbers = over.args[0]
    trips = getattr(numbers, "trips", None)
    if trips is not None:
        numbers = numbers.value
    named = isinstance(numbers, gast.Name)
    if not named and (not isinstance(numbers, gast.Call) or called(numbers) != "range"):
        return
    if "_" not in syntax.names_read(function):
        if named or trips is not None:
            loop.target = syntax.name("_", store=True)
    elif named:
        return
    loop.iter = numbers if trips is None else syntax.call("range", syntax.name(trips))


def _counted(node: Any) -> list[str] | None:
    """The sequences whose lengths bound the range: `len(a)` or `min(len(a), ...)`."""
    if isinstance(node, gast.Call) and called(node) == "len":
        inner = node.args[0]
        return [inner.id] if isinstance(inner, gast.Name) else None
    if isinstance(node, gast.Call) and called(node) == "min":
        parts = [_counted(a) for a in node.args]
        if all(p is not None and len(p) == 1 for p in parts):
            return [p[0] for p in parts if p]
    return None


def runs_after(function: gast.FunctionDef, loop: gast.For) -> list[Any]:
    """The statements that run when the loop is over; all of them, if unclear."""
    scopes = (gast.FunctionDef, gast.Lambda)
    if any(isinstance(n, scopes) for n in syntax.walk(function.body)):
        return function.body
    at = next((k for k, s in enumerate(function.body) if s is loop), -1)
    return function.body[at + 1 :]


def read_elsewhere(stmts: list[Any], loop: gast.For, names: set[str]) -> bool:
    """Whether one of them is read there, outside of loops that bind it themselves."""
    inside = {id(n) for n in syntax.walk(loop)}
    reads = {
        id(n)
        for n in syntax.walk(stmts)
        if isinstance(n, gast.Name)
        and n.id in names
        and isinstance(n.ctx, gast.Load)
        and id(n) not in inside
    }
    if not reads:
        return False
    for owner in syntax.walk(stmts):
        bound = isinstance(owner, gast.For) and syntax.names_written(owner.target)
        if bound and bound & names:
            reads -= {id(n) for n in syntax.names_in(owner.body) if n.id in bound}
    return bool(reads)


def go_through_once(
    node: gast.FunctionDef,
    own: Callable[[str], bool],
    kept: Callable[[str], bool],
    shares: Callable[[str], set[str]],
) -> None:
    """Go through what one loop alone goes through without a list of it, in place.

    `own` tells the names that srcjax made, `kept` those of containers: what is no
    container may be gone through by what stands in between, or be used up. A part of
    one that nothing changes is taken again: `reversed(xs[1:])`.
    """
    _take_parts_again(node, own, kept, shares)
    for block in list(syntax.blocks(node.body)):
        for start, made in enumerate(block):
            name = _listed(made)
            if not name or not own(name) or _mentions(node, name) != 2:
                continue
            at = next((k for k, s in enumerate(block) if _goes_over(s, name)), None)
            if at is None or at < start:
                continue
            over = made.value.args[0]
            reads = syntax.names_read(over) - {"zip", "enumerate"}
            others = [*block[start + 1 : at], *block[at].body]
            if not is_pure(over) or not all(map(kept, reads)):
                continue
            if reads & syntax.names_written([block[at].target, *others]):
                continue
            if may_be_one_of(shares, reads, written_bases(others)):
                continue
            block[at].iter = over
            block.pop(start)
            break


def _take_parts_again(
    node: gast.FunctionDef,
    own: Callable[[str], bool],
    kept: Callable[[str], bool],
    shares: Callable[[str], set[str]],
) -> None:
    """`xs[1:]` for `items` of `items = list(xs[1:])`, which loops alone go over."""
    bound = syntax.binding_counts(node.body)
    for block in list(syntax.blocks(node.body)):
        for made in list(block):
            name = _listed(made)
            part: Any = made.value.args[0] if name else None
            if not (name and own(name) and bound[name] == 1 and _is_part(part)):
                continue
            base = part.value.id
            loops = [s for s in syntax.walk(node.body) if isinstance(s, gast.For)]
            over = [s for s in loops if _goes_over(_forwards(s), name)]
            if len(over) + 1 != _mentions(node, name) or not kept(base) or bound[base]:
                continue
            if may_be_one_of(shares, {base}, written_bases(node.body)):
                continue
            for loop in over:
                again = syntax.clone(part)
                if syntax.is_name(loop.iter):
                    loop.iter = again
                else:
                    loop.iter.args = [again]
            block.remove(made)


def _is_part(value: Any) -> bool:
    """`xs[1:]`, with bounds that are literals."""
    if not isinstance(value, gast.Subscript) or not syntax.is_name(value.value):
        return False
    literal = (gast.Constant, gast.UnaryOp, gast.USub)
    bounds = [n for n in syntax.walk(value.slice) if not isinstance(n, gast.Slice)]
    return isinstance(value.slice, gast.Slice) and all(
        isinstance(n, literal) for n in bounds
    )


def _forwards(loop: gast.For) -> gast.For:
    """The loop, or one over what it goes through from the end."""
    if called(loop.iter) == "reversed" and len(loop.iter.args) == 1:
        return gast.For(loop.target, loop.iter.args[0], [], [], None)
    return loop


def _listed(stmt: Any) -> str:
    """`items` of `items = list(zip(xs, ys))`."""
    plain = isinstance(stmt, gast.Assign) and syntax.is_name(stmt.targets[0])
    if not plain or called(stmt.value) != "list" or len(stmt.value.args) != 1:
        return ""
    name: str = stmt.targets[0].id
    return name


def _goes_over(stmt: Any, name: str) -> bool:
    return isinstance(stmt, gast.For) and syntax.is_name(stmt.iter, name)


def _mentions(node: gast.FunctionDef, name: str) -> int:
    return sum(n.id == name for n in syntax.names_in(node))
