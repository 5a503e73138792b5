"""Sizes that the types do not know, and that are equal all the same.

    lanes = lanes[mask]         # k
    x_lanes = x[lanes]          # k
    y_lanes = 2 * x_lanes       # k

Where a name gets an array of unknown size, the size is called after that place (a
`Count`), and is compared by it. When the place is executed again, as in a loop, what
was made before loses it: whatever has a `Count` at one time has the same size.

    for k in range(1, n):
        y[:k] += a * x[:k]      # [:k] of n

A slice is called after its bounds, where each of them is a number that one place gives
to a name, and after the axis: it is executed again where one of them is.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import Array, Count, Sym, Type, map_parts, replace
from srcjax.frontend.unit import parameter_names

#: Functions that read a mask and give none of its memory away.
_READERS = frozenset(
    f"np.{name}"
    for name in (
        *("where", "count_nonzero", "sum", "any", "all", "mean", "flatnonzero"),
        *("logical_and", "logical_or", "logical_not", "logical_xor"),
    )
)
#: The axis of a `Count` that is how many entries a mask has.
_SELECTED = -1
#: The axis of a `Count` that is how many places a slice takes.
_CUT = -2


def counted(t: Type, place: Any, name: str) -> Type:
    """The type of an array that `name` gets at `place`: unknown sizes are called so."""
    if not isinstance(t, Array) or t.shape is None or None not in t.shape:
        return t
    shape = tuple(
        Count(frozenset([id(place)]), name, axis) if n is None else n
        for axis, n in enumerate(t.shape)
    )
    return replace(t, shape=shape)


def uncounted(t: Type, places: set[int] | None = None, but: str | None = None) -> Type:
    """The type without its counts: those of the places, or all, but those of a name."""
    if isinstance(t, Array):
        shape = t.shape
        if shape is None or not any(isinstance(n, Count) for n in shape):
            return t
        kept = tuple(None if _is_of(n, places, but) else n for n in shape)
        return t if kept == shape else replace(t, shape=kept)
    return map_parts(t, lambda part: uncounted(part, places, but))


def _is_of(n: Any, places: set[int] | None, but: str | None) -> bool:
    if not isinstance(n, Count) or (n.name == but and n.offset == 0):
        return False
    return places is None or not places.isdisjoint(n.places)


def forget(env: dict[str, Type], places: set[int], but_own: bool = False) -> None:
    """The places are executed: what they made before is of another size, in place.

    With `but_own` a name keeps the size that is called after itself.
    """
    for name, t in env.items():
        new = uncounted(t, places, name if but_own else None)
        if new is not t:
            env[name] = new


def selected(place: int, name: str) -> Count:
    """How many entries the mask has that a place gave to the name."""
    return Count(frozenset([place]), name, _SELECTED)


def fixed_numbers(node: gast.FunctionDef) -> dict[str, Any]:
    """Names that one statement gives a value, or the caller, with that statement.

    What is given by the caller has the function for it. A value may still be changed in
    place: numbers are not.
    """
    bound: dict[str, int] = {}
    for n in syntax.walk(node.body):
        if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load):
            bound[n.id] = bound.get(n.id, 0) + 1
        elif isinstance(n, (gast.Global, gast.Nonlocal)):
            bound |= dict.fromkeys(n.names, 2)
    found: dict[str, Any] = {
        name: node for name in parameter_names(node.args) if name not in bound
    }
    given = set(parameter_names(node.args))
    for stmt in syntax.walk(node.body):
        if isinstance(stmt, (gast.Assign, gast.For)):
            targets = stmt.targets if isinstance(stmt, gast.Assign) else [stmt.target]
            for n in syntax.walk(targets):
                stored = isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
                if stored and bound[n.id] == 1 and n.id not in given:
                    found[n.id] = stmt
    return found


def cut(dim: Any, bounds: gast.Slice, places: set[int]) -> Count:
    """How many places a slice takes of an axis, called after its bounds.

    Args:
        places: those that give the names in the bounds what they are.
    """
    if isinstance(dim, Sym) and dim.sizes is not None:
        dim = dim.sizes.resolved(dim)
    of = repr(dim)
    if isinstance(dim, Count):
        places = places | dim.places
        of = f"{sorted(dim.places)} {dim.name} {dim.axis} {dim.offset}"
    return Count(frozenset(places), f"[{syntax.text(bounds)}] of {of}", _CUT)


def is_plain_bound(node: gast.expr | None) -> bool:
    """Whether a bound of a slice is computed of numbers that have names."""
    if isinstance(node, gast.BinOp):
        plain = (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv)
        both = is_plain_bound(node.left) and is_plain_bound(node.right)
        return isinstance(node.op, plain) and both
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.op, gast.USub) and is_plain_bound(node.operand)
    return node is None or isinstance(node, (gast.Name, gast.Constant))


def fixed_masks(node: gast.FunctionDef) -> dict[str, int]:
    """Names that one statement gives a new array of truth values, which stays as it is.

    Returns the place by name.
    """
    places: dict[str, int] = {}
    for stmt in syntax.all_statements(node.body):
        for name in _bound(stmt):
            again = name in places or not _makes_mask(stmt, name)
            places[name] = 0 if again else id(stmt)
    kept = _only_read(node) - set(parameter_names(node.args))
    return {n: place for n, place in places.items() if place and n in kept}


def _bound(stmt: gast.stmt) -> set[str]:
    """The names that the statement itself binds."""
    return syntax.names_written(syntax.head(stmt))


def _makes_mask(stmt: gast.stmt, name: str) -> bool:
    if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0], name):
        return False
    value = stmt.value
    if isinstance(value, gast.Call):
        called = syntax.dotted(value.func) or ""
        return called.startswith(("np.logical_", "np.is")) and not value.keywords
    if isinstance(value, gast.BinOp):
        return isinstance(value.op, (gast.BitAnd, gast.BitOr, gast.BitXor))
    return isinstance(value, (gast.Compare, gast.UnaryOp))


def _only_read(node: gast.FunctionDef) -> set[str]:
    """Names that are never written through, nor given to code that may do so."""
    reads: dict[str, int] = {}
    harmless: dict[str, int] = {}

    def count(table: dict[str, int], expr: Any) -> None:
        if isinstance(expr, gast.Name):
            table[expr.id] = table.get(expr.id, 0) + 1

    for name in syntax.names_in(node.body):
        if isinstance(name.ctx, gast.Load):
            count(reads, name)
    for n in syntax.walk(node.body):
        other = n.targets[0] if isinstance(n, gast.Assign) else None
        if isinstance(other, gast.Name) and other.id not in reads:
            count(harmless, n.value)  # `w = mask`, and nothing reads `w`
        if isinstance(n, gast.Subscript):
            entries = n.slice.elts if isinstance(n.slice, gast.Tuple) else [n.slice]
            for entry in entries:
                count(harmless, entry)
        elif isinstance(n, gast.Compare):
            for operand in [n.left, *n.comparators]:
                count(harmless, operand)
        elif isinstance(n, gast.BinOp):
            count(harmless, n.left)
            count(harmless, n.right)
        elif isinstance(n, gast.UnaryOp):
            count(harmless, n.operand)
        elif isinstance(n, gast.Call):
            if syntax.dotted(n.func) in _READERS and not n.keywords:
                for a in n.args:
                    count(harmless, a)
            elif isinstance(n.func, gast.Attribute) and n.func.attr in (
                "any",
                "all",
                "sum",
            ):
                count(harmless, n.func.value)
    return {n for n, times in reads.items() if times == harmless.get(n)}


__all__ = [
    "counted",
    "cut",
    "fixed_masks",
    "fixed_numbers",
    "forget",
    "is_plain_bound",
    "selected",
    "uncounted",
]
