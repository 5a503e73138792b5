"""Comments that quote the user's lines.

Before:                          After:

    dx = dy * np.cos(x)              # y = np.sin(x)
                                     dx = dy * np.cos(x)
"""

from __future__ import annotations

from functools import partial
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import is_compound


def add_comments(node: gast.FunctionDef) -> None:
    """Quote the user's line above each group of backward statements."""
    node.body = _commented(node.body)


def _one_line(stmt: Any) -> Any:
    """The line that a branch differentiates: `y = a if c else b` is one of two."""
    if not isinstance(stmt, gast.If) or not stmt.orelse:
        return None
    inside = [s for s in syntax.all_statements([stmt]) if not isinstance(s, gast.Pass)]
    lines = {getattr(s, "user_line", None) for s in inside}
    line = lines.pop() if len(lines) == 1 else None
    backward = all(getattr(s, "backward", False) for s in inside if s is not stmt)
    return line if line is not None and line[2] and backward else None


def _is_pop(stmt: Any) -> bool:
    """`x = x_tape.pop()`"""
    function = getattr(getattr(stmt, "value", None), "func", None)
    return isinstance(function, gast.Attribute) and function.attr == "pop"


def _commented(body: list[gast.stmt], current: Any = None) -> list[gast.stmt]:
    """The statements with comments; `current` is the line quoted last."""
    out: list[gast.stmt] = []
    quoted: set[Any] = {current}
    for stmt, following in zip(body, [*body[1:], None], strict=True):
        if is_compound(stmt):
            before = current if getattr(stmt, "last_iteration", False) else None
            line = _one_line(stmt)
            if line is not None:
                if line != current:
                    out.append(syntax.comment(line[2]))
                before = line
            syntax.rewrite_blocks(stmt, partial(_commented, current=before))
            current = before
        elif getattr(stmt, "backward", False) and (
            not isinstance(stmt, gast.Return) or getattr(stmt, "quotes", False)
        ):
            where = getattr(stmt, "user_line", None)
            if _is_pop(stmt) and getattr(following, "user_line", None) != where:
                where = current  # nothing of that line follows but the old value
            earlier = getattr(stmt, "earlier_line", None)  # of a term that it took in
            if earlier and earlier not in (*quoted, where) and earlier[2]:
                out.append(syntax.comment(earlier[2]))
            if where is not None and where != current and where[2]:
                out.append(syntax.comment(where[2]))
            quoted |= {earlier, where}
            current = where
        out.append(stmt)
    return out
