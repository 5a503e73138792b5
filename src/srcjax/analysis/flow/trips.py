"""Which trip of a loop the function is from that is called.

    for k in range(3):
        def power(z, k=k):              three functions by one definition
            return z**k

        powers.append(power)

Where a call of a function is written out, its defaults and what it takes from around
are read by name, which is right for the function that was made last alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import is_compound

_LOOPS = (gast.For, gast.While)


def stands_in_a_loop(body: list[Any], definition: Any) -> bool:
    """Whether a definition in the body is reached more than once, in a loop."""
    return any(
        any(node is definition for node in syntax.walk(loop.body))
        for loop in syntax.walk(body)
        if isinstance(loop, _LOOPS)
    )


def is_of_this_trip(
    body: list[Any],
    stmt: Any,
    function: Any,
    definition: Any,
    transforms: Callable[[gast.Call], bool] | None = None,
) -> bool:
    """Whether an expression is the function of this trip when the statement is reached.

    It is if what has bound it stands before the statement, and so on, up to where the
    function is defined, or to the function's own name, behind the loop: that is the one
    of its last trip. `transforms` tells of a call whether it makes another function of
    its first argument, as `grad(power)` does.
    """
    found, node = stmt, function
    own = getattr(definition, "name", None)
    taken: list[Any] = []  # what is taken out of a display, from the last on
    while node is not None and node is not definition:
        if isinstance(node, gast.Name):
            if node.id == own and not _made_between(body, found, stmt, definition):
                return True
            found = _binding(body, found, node.id)
            if found is definition:
                return True
            node = found.value if isinstance(found, gast.Assign) else None
        elif isinstance(node, gast.Subscript):
            taken.append(node.slice)
            node = node.value
        elif isinstance(node, gast.Call) and transforms is not None and not taken:
            node = node.args[0] if node.args and transforms(node) else None
        else:
            node = _item_of(node, taken)
            taken = []
    return node is definition


def _made_between(body: list[Any], first: Any, last: Any, definition: Any) -> bool:
    """Whether a loop between two statements makes the function anew."""
    order = {id(s): k for k, s in enumerate(syntax.all_statements(body))}
    if id(first) not in order or id(last) not in order:
        return True
    return any(
        order[id(first)] < order[id(loop)] < order[id(last)]
        for loop in syntax.all_statements(body)
        if isinstance(loop, _LOOPS) and _is_inside(loop.body, definition)
    )


def _item_of(display: gast.expr, taken: list[gast.expr]) -> gast.expr | None:
    """What whole numbers take out of a display, one after the other."""
    found: Any = display
    for index in reversed(taken):
        items = getattr(found, "elts", None)
        if items is None:
            return None
        place = index.value if isinstance(index, gast.Constant) else None
        if not isinstance(place, int) or place >= len(items):
            return None
        found = items[place]
    return found if taken else None


def _binding(block: list[Any], stmt: Any, name: str) -> Any:
    """What has bound a name when a statement is reached, if it is one statement."""
    for at, here in enumerate(block):
        inner = here is stmt or any(node is stmt for node in syntax.walk(here))
        if not inner:
            continue
        if here is not stmt:
            blocks = [b for b in syntax.inner_blocks(here) if _is_inside(b, stmt)]
            found = _binding(blocks[0], stmt, name) if blocks else None
            looped = isinstance(here, _LOOPS)
            if found is not None or looped and name in syntax.names_written(here):
                return found
        for before in reversed(block[:at]):
            if name in syntax.names_written(before):
                defined = isinstance(before, gast.FunctionDef)
                return before if defined or not is_compound(before) else None
    return None


def _is_inside(block: list[Any], stmt: Any) -> bool:
    return any(node is stmt for node in syntax.walk(block))


__all__ = ["is_of_this_trip", "stands_in_a_loop"]
