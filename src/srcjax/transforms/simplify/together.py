"""Bind names together, and values to one name, as a person does.

Before:                              After:

    n = len(x)                           n, m = len(x), len(y)
    m = len(y)

    t = u - h * v                        tape.append(v)
    u = v                                u, v = v, u - h * v
    tape.append(v)
    v = t

    t = du                               dk -= dv * h
    du = dv                              du, dv = dv, du - h * dv
    dk -= dv * h
    dv = t - h * dv

    t = np.linalg.solve(A.T, d)          d = np.linalg.solve(A.T, d)
    d = t                                dA -= np.outer(d, u)
    dA -= np.outer(t, u)

    t = np.linalg.qr(A)                  Q, R = np.linalg.qr(A)
    Q, R = t                             dA = Q @ dR
    dA = t[0] @ dR

    t = (x_dot * y, np.exp(y))           b_dot = np.exp(y)
    a_dot, b_dot = t

The first one is where the user wrote it so; the others are for names that srcjax made.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import is_pure
from srcjax.transforms.reasons import take_over
from srcjax.transforms.simplify.delay import commute

Shares = Callable[[str], set[str]]
#: The longest line, in characters.
_WIDTH = 76
#: Within how many statements names are exchanged.
_NEAR = 12


def bind_together(
    node: gast.FunctionDef,
    own: Callable[[str], bool],
    shares: Shares,
    is_helper: Callable[[str], bool] = lambda name: False,
) -> None:
    """Do so in the function, in place.

    `own` tells the names that srcjax made, `is_helper` those of its functions, which
    look at the parts of a tuple alone.
    """
    stores = Counter(
        n.id for n in syntax.names_in(node) if not isinstance(n.ctx, gast.Load)
    )

    def single(name: str) -> bool:
        """Whether the name is srcjax's, and one statement binds it."""
        return own(name) and stores[name] == 1

    for block in list(syntax.blocks(node.body)):
        parted = {s.value.id for s in block if _unpacks(s)}
        at = 0
        while at < len(block):
            if not (
                (
                    _target(block[at]) in parted
                    and _unpacked(node, block, at, single, is_helper)
                )
                or _under_one_name(node, block, at, single)
                or _exchanged(node, block, at, single, shares)
                or _as_written(block, at)
            ):
                at += 1


def _target(stmt: Any) -> str:
    """`x` of `x = ...`."""
    plain = isinstance(stmt, gast.Assign) and len(stmt.targets) == 1
    return getattr(stmt.targets[0], "id", "") if plain else ""


def _copied_name(stmt: Any) -> str:
    """`y` of `x = y`."""
    return getattr(stmt.value, "id", "") if _target(stmt) else ""


def _unpacked(
    node: Any,
    block: list[Any],
    at: int,
    single: Callable[[str], bool],
    is_helper: Callable[[str], bool],
) -> bool:
    """`t = e; a, b = t` as `a, b = e`, and reads of `t[0]` as reads of `a`."""
    first = block[at]
    name = _target(first)
    if not name or not single(name):
        return False
    end = next(
        (
            k
            for k in range(at + 1, len(block))
            if _unpacks(block[k]) and block[k].value.id == name
        ),
        0,
    )
    if not end:
        return False
    last = block[end]
    targets = [e.id for e in last.targets[0].elts]
    stores = [
        n.id for n in syntax.names_in(node.body) if not isinstance(n.ctx, gast.Load)
    ]
    given = {n.id for n in syntax.names_in(node.args)}
    if any(stores.count(t) != 1 or t in given for t in targets):
        return False
    if any(syntax.all_names(s) & set(targets) for s in block[at + 1 : end]):
        return False
    value = first.value
    display = isinstance(value, gast.Tuple)
    if display and (len(value.elts) != len(targets) or not is_pure(value)):
        return False
    if display and any(isinstance(e, gast.Starred) for e in value.elts):
        return False
    if display and not syntax.names_read(value).isdisjoint(targets):
        return False
    if not (display or isinstance(value, gast.Call)):
        return False
    found = _parts(node.body, name, last, targets, is_helper)
    if found is None:
        return False
    for stmt in syntax.all_statements(node.body):
        for key, part in list(stmt.__dict__.items()):
            if (
                isinstance(part, gast.expr)
                and stmt is not last
                and any(id(n) in found for n in syntax.walk(part))
            ):
                stmt.__dict__[key] = syntax.replaced(part, found)
    if not display:
        first.targets = last.targets
        take_over(first, last)
        del block[end]
        return True
    read = syntax.read_counts(node.body)
    new: list[Any] = []
    for target, element in zip(targets, value.elts, strict=True):
        if read[target]:
            each = syntax.assign(target, element)
            gast.copy_location(each, last)
            for mark in ("user_line", "earlier_line", "backward"):
                if hasattr(last, mark):
                    setattr(each, mark, getattr(last, mark))
            take_over(each, first)
            take_over(each, last)
            new.append(each)
    del block[end]
    block[at : at + 1] = new
    return True


def _unpacks(stmt: Any) -> bool:
    """`a, b = t`"""
    if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.value):
        return False
    target = stmt.targets[0]
    several = isinstance(target, gast.Tuple) and len(stmt.targets) == 1
    return several and all(map(syntax.is_name, target.elts))


def _parts(
    body: list[Any],
    name: str,
    last: Any,
    targets: list[str],
    is_helper: Callable[[str], bool],
) -> dict[int, gast.expr] | None:
    """What stands in place of each read of the name but the last; None: none may."""
    found: dict[int, gast.expr] = {}
    told = {id(last.value)}
    for node in syntax.walk(body):
        if isinstance(node, gast.Subscript) and syntax.is_name(node.value, name):
            index = getattr(node.slice, "value", None)
            if type(index) is not int or not 0 <= index < len(targets):
                return None
            if not isinstance(node.ctx, gast.Load):
                return None
            found[id(node)] = syntax.name(targets[index])
            told.add(id(node.value))
        elif isinstance(node, gast.Call) and is_helper(getattr(node.func, "id", "")):
            for given in node.args:
                if syntax.is_name(given, name):
                    parts = [syntax.name(t) for t in targets]
                    found[id(given)] = gast.Tuple(parts, syntax.LOAD)
                    told.add(id(given))
    reads = [n for n in syntax.names_in(body) if n.id == name]
    loads = [n for n in reads if isinstance(n.ctx, gast.Load)]
    return found if all(id(n) in told for n in loads) else None


def _under_one_name(
    node: Any, block: list[Any], at: int, single: Callable[[str], bool]
) -> bool:
    """`t = e; d = t`, and reads of `t`, as `d = e`, and reads of `d`."""
    if at + 1 >= len(block):
        return False
    first, copy = block[at], block[at + 1]
    name, new = _target(first), _target(copy)
    if not name or _copied_name(copy) != name or name == new or not single(name):
        return False
    total, count = syntax.count_reads(node, name), 1
    uses = []
    for stmt in block[at + 2 :]:
        if count == total:
            break
        reads = syntax.count_reads(stmt, name)
        scopes = any(
            isinstance(n, (gast.Lambda, gast.FunctionDef)) for n in syntax.walk(stmt)
        )
        if reads and scopes:
            return False
        if reads:
            uses.append(stmt)
            count += reads
        if new in syntax.names_written(stmt) and not (
            count == total and not syntax.has_blocks(stmt) and _target(stmt) == new
        ):
            return False
    if count != total:
        return False
    first.targets = copy.targets
    syntax.rename(uses, {name: new})
    take_over(first, copy)
    del block[at + 1]
    return True


def _exchanged(
    node: Any,
    block: list[Any],
    at: int,
    single: Callable[[str], bool],
    shares: Shares,
) -> bool:
    """`t = e; u = v; v = t`, or `t = u; u = v; v = e(t)`, as `u, v = v, e`."""
    first = block[at]
    name = _target(first)
    near = range(at + 1, min(len(block), at + _NEAR))
    if not name or not any(_copied_name(block[k]) for k in near):
        return False
    if not single(name) or not is_pure(first.value):
        return False
    end = next((k for k in near if name in syntax.names_read(block[k])), 0)
    if not end or not _target(block[end]) or not is_pure(block[end].value):
        return False
    last = block[end]
    if syntax.count_reads(node, name) != syntax.count_reads(last, name):
        return False
    v = _target(last)
    middle = next((k for k in range(at + 1, end) if _copied_name(block[k]) == v), 0)
    u = _target(block[middle]) if middle else ""
    if not u or u == v or name in (u, v):
        return False
    if _copied_name(last) == name:  # the value was computed first
        value = first.value
    elif _copied_name(first) == u and u not in syntax.names_read(last.value):
        reads = {
            id(n): syntax.name(u) for n in syntax.names_in(last.value) if n.id == name
        }
        value = syntax.replaced(last.value, reads)
    else:
        return False
    others = [block[k] for k in range(at + 1, end) if k != middle]
    behind = [block[k] for k in range(middle + 1, end)]
    if any(syntax.has_blocks(s) or not commute(s, first, shares) for s in others):
        return False
    if any(not commute(s, block[middle], shares) for s in behind):
        return False
    if any(v in syntax.names_written(s) for s in others):
        return False
    lines = {getattr(s, "user_line", None) for s in (block[middle], last)}
    if len(lines) > 1 or not _fits([u, v], [syntax.name(v), value]):
        return False
    new = _tuple([u, v], [syntax.name(v), value], last)
    take_over(new, first)
    take_over(new, block[middle])
    take_over(new, last)
    block[at : end + 1] = [*others, new]
    return True


def _fits(names: list[str], values: list[gast.expr]) -> bool:
    text = f"{', '.join(names)} = {', '.join(map(syntax.text, values))}"
    return len(text) <= _WIDTH


def _tuple(names: list[str], values: list[gast.expr], like: Any) -> gast.Assign:
    """`a, b = c, d`, with the marks of another statement."""
    targets = gast.Tuple([syntax.name(n, store=True) for n in names], syntax.STORE)
    new = gast.Assign([targets], gast.Tuple(values, syntax.LOAD), None)
    gast.copy_location(new, like)
    for mark in ("user_line", "earlier_line", "backward"):
        if hasattr(like, mark):
            setattr(new, mark, getattr(like, mark))
    return new


def _as_written(block: list[Any], at: int) -> bool:
    """Assignments that the user wrote as one, `a, b = c, d`, as that one."""
    stmt = block[at]
    line = getattr(stmt, "user_line", None)
    if not _target(stmt) or not line or getattr(stmt, "backward", False):
        return False
    names = _targets_of(line[2] or "")
    group = block[at : at + len(names)]
    if len(names) < 2 or [_target(s) for s in group] != names:
        return False
    bound: set[str] = set()
    for each in group:
        if getattr(each, "user_line", None) != line or not is_pure(each.value):
            return False
        if getattr(each, "backward", False) or syntax.names_read(each.value) & bound:
            return False
        bound.add(_target(each))
    values = [s.value for s in group]
    if len(bound) < len(names) or not _fits(names, values):
        return False
    new = _tuple(names, values, stmt)
    for each in group:
        take_over(new, each)
    block[at : at + len(names)] = [new]
    return True


@functools.lru_cache(maxsize=1024)
def _parsed_targets(text: str) -> tuple[str, ...]:
    try:
        (stmt,) = syntax.gast_of(text.strip()).body
    except (SyntaxError, ValueError):
        return ()
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return ()
    target, value = stmt.targets[0], stmt.value
    if not isinstance(target, gast.Tuple) or not isinstance(value, gast.Tuple):
        return ()
    if not all(map(syntax.is_name, target.elts)):
        return ()
    return tuple(e.id for e in target.elts)


def _targets_of(text: str) -> list[str]:
    """`["a", "b"]` of `a, b = c, d`; nothing of any other line."""
    return list(_parsed_targets(text)) if "=" in text and "," in text else []
