"""Through which names statements change things, and what they only look at."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.looking import SHAPE_ATTRIBUTES
from srcjax.analysis.program import Facts
from srcjax.analysis.types import UNKNOWN, all_buffers, site_of
from srcjax.frontend.unit import Unit
from srcjax.transforms.call_effects import called

#: Calls that look at the shape of an argument, not at what it holds.
_SHAPE_ONLY = {"np.zeros_like", "np.full_like", "np.shape", "len", "np.ones_like"}


def written_name(stmt: Any) -> str:
    """The name through which a statement writes in place."""
    target: Any = getattr(stmt, "target", None)
    if isinstance(stmt, gast.Assign):
        target = stmt.targets[0]
        if isinstance(target, (gast.Name, gast.Tuple)):
            target = None
    if isinstance(stmt, gast.Delete):
        target = stmt.targets[0]
    if target is None:
        call = getattr(stmt, "value", None)
        if isinstance(call, gast.Call):
            if isinstance(call.func, gast.Attribute) and call.func.attr == "at":
                target = call.args[0]
            else:
                target = getattr(call.func, "value", None)
    return syntax.root_of(target)


def changed_container(stmt: Any) -> set[str]:
    """The container that the statement puts something into."""
    target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
    if isinstance(target, (gast.Subscript, gast.Attribute)):
        root = syntax.root_of(target)
        return {root} if root else set()
    call = getattr(stmt, "value", None)
    if (
        isinstance(call, gast.Call)
        and isinstance(call.func, gast.Attribute)
        and call.func.attr in ("append", "extend", "insert", "setdefault", "update")
    ):
        base = call.func.value
        return {base.id} if isinstance(base, gast.Name) else set()
    return set()


def shape_only_names(code: Any) -> dict[str, int]:
    """How often each name is read for its shape alone."""
    counts: dict[str, int] = {}
    for node in syntax.walk(code):
        inner = None
        if isinstance(node, gast.Call) and called(node) in _SHAPE_ONLY:
            inner = node.args[0] if node.args else None
        elif isinstance(node, gast.Attribute) and node.attr in SHAPE_ATTRIBUTES:
            inner = node.value
        if isinstance(inner, gast.Name):
            counts[inner.id] = counts.get(inner.id, 0) + 1
    return counts


def is_range(value: Any) -> bool:
    return isinstance(value, gast.Call) and called(value) == "range"


def backward_range(value: Any) -> gast.expr | None:
    """`range(...)` of `reversed(range(...))`."""
    if called(value) != "reversed" or not value.args:
        return None
    inner: gast.expr = value.args[0]
    return inner if is_range(inner) else None


def range_of(value: Any) -> gast.expr | None:
    """`range(...)`, as it stands or in `reversed`."""
    return value if is_range(value) else backward_range(value)


def direction(over: Any) -> tuple[int, int | None]:
    """The sign of the steps of a range (0: not known), and its least item, if known.

    Those of `reversed(range(...))` are the other way round.
    """
    inner = range_of(over)
    arguments = [whole_number(a) for a in getattr(inner, "args", ())]
    if any(isinstance(a, gast.Starred) for a in getattr(inner, "args", ())):
        return 0, None
    sign = 1 if inner is over else -1
    if len(arguments) == 1:
        return sign, 0
    step = arguments[2] if len(arguments) == 3 else 1
    if len(arguments) < 2 or not step:
        return 0, None
    if step > 0:
        return sign, arguments[0]
    return -sign, None if arguments[1] is None else arguments[1] + 1


def whole_number(node: Any) -> int | None:
    """The value of an integer literal."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        inner = whole_number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, gast.Constant) and type(node.value) is int:
        return node.value
    return None


def is_handed_over(unit: Unit, stmt: Any) -> bool:
    """Whether `name = temporary` is all that becomes of the temporary.

    It is made above in the same block, and not read again: no second name is left, and
    the adjoint passes from one to the other.
    """
    value = getattr(stmt, "value", None)
    if not isinstance(value, gast.Name) or value.id not in unit.temps:
        return False
    total = syntax.count_bindings(unit.node, value.id)
    for block in syntax.blocks(unit.node.body):
        at = next((k for k, s in enumerate(block) if s is stmt), None)
        if at is None:
            continue
        if any(_keeps(s, value.id) for s in syntax.walk(block[:at])):
            return False
        made = sum(syntax.count_bindings(s, value.id) for s in block[:at])
        here = sum(syntax.count_reads(s, value.id) for s in block[: at + 1])
        return made == total and here == syntax.count_reads(unit.node, value.id)
    return False


def hands_over_new(unit: Unit, facts: Facts, stmt: Any) -> bool:
    """Whether the temporary that is handed over is always something new.

    A view is seen through other names too, whatever becomes of the temporary.
    """
    if not is_handed_over(unit, stmt):
        return False
    made = [s for s in syntax.walk(unit.node.body) if binds_alone(s, {stmt.value.id})]
    bound = syntax.count_bindings(unit.node, stmt.value.id)
    return len(made) == bound and all(makes_anew(facts, s) for s in made)


def binds_alone(stmt: Any, names: Container[str]) -> bool:
    """Whether the statement is `name = ...` of one of the names."""
    target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
    return isinstance(target, gast.Name) and target.id in names


def makes_anew(facts: Facts, stmt: gast.Assign) -> bool:
    """Whether all memory that `name = ...` binds is made by the statement itself."""
    name = stmt.targets[0].id
    here = {id(n) for n in syntax.walk(stmt)}
    return all(
        site_of(b) in here
        for v in facts.of(stmt)
        for b in all_buffers(v.after.get(name, UNKNOWN))
    )


def _keeps(node: Any, name: str) -> bool:
    """Whether an assignment makes another name, or a part, of the same object."""
    if not isinstance(node, gast.Assign):
        return False
    held = node.value
    parts = held.elts if isinstance(held, (gast.Tuple, gast.List)) else [held]
    return any(syntax.is_name(part, name) for part in parts)


def traded_items(node: Any) -> set[int]:
    """The statements that put items back in `xs[i], xs[j] = xs[j], xs[i]`.

        first = xs[j]
        second = xs[i]
        xs[i] = first
        xs[j] = second

    The items trade places: none of them is in the container twice that was not before.
    """
    counts = syntax.use_counts(node.body)
    found: set[int] = set()
    for block in syntax.blocks(node.body):
        for four in zip(block, block[1:], block[2:], block[3:], strict=False):
            if _trade(four, counts):
                found |= {id(four[2]), id(four[3])}
    return found


def _trade(four: tuple, counts: Any) -> bool:
    """Whether two items are taken, and put where the other one was."""
    if not all(isinstance(s, gast.Assign) and len(s.targets) == 1 for s in four):
        return False
    taken = {s.targets[0].id: s.value for s in four[:2] if syntax.is_name(s.targets[0])}
    put = {s.value.id: s.targets[0] for s in four[2:] if syntax.is_name(s.value)}
    if len(taken) != 2 or taken.keys() != put.keys():
        return False
    places = [*taken.values(), *put.values()]
    if not all(isinstance(p, gast.Subscript) for p in places):
        return False
    if any(counts[n] != 1 or n in syntax.names_read(places) for n in taken):
        return False  # something else has the item too
    (a, b), (c, d) = taken.values(), (put[n] for n in taken)
    same = syntax.equal(syntax.as_load(c), b) and syntax.equal(syntax.as_load(d), a)
    return same and all(isinstance(p.value, gast.Name) for p in places)
