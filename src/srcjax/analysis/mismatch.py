"""Operands whose shapes do not fit: an error before code is written.

The derivative may not need the value (`d sum(x @ y)` does not), and would give numbers
where the function itself raises.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax.analysis.program import Facts
from srcjax.analysis.sizes import known_size
from srcjax.analysis.types import Type, shape_of, type_of
from srcjax.errors import ArgumentError, error_at
from srcjax.frontend.unit import Unit


def check_shapes(unit: Unit, facts: Facts) -> None:
    """Raise ArgumentError for an operation that certainly runs and certainly fails."""
    for stmt in unit.node.body:
        value = getattr(stmt, "value", None)
        if not isinstance(stmt, gast.Assign) or not isinstance(value, gast.BinOp):
            continue
        pairs = [
            (operand_shape(value.left, v.before), operand_shape(value.right, v.before))
            for v in facts.of(stmt)
        ]
        if not pairs or not all(clash(value.op, a, b) for a, b in pairs):
            continue
        a, b = pairs[0]
        raise error_at(
            ArgumentError,
            unit.source,
            stmt,
            f"the shapes {a} and {b} do not fit together here",
            "operands of fitting shapes: the function itself fails as well",
            getattr(stmt, "user_line", None),
        )


def operand_shape(node: Any, env: dict[str, Type]) -> tuple[int, ...] | None:
    """The shape of an operand, None where a part of it is not known."""
    t = env.get(node.id) if isinstance(node, gast.Name) else None
    if isinstance(node, gast.Constant):
        t = type_of(node.value)
    shape = None if t is None else shape_of(t)
    found = [known_size(n) for n in shape or ()]
    return None if shape is None or None in found else tuple(found)  # type: ignore[arg-type]


def clash(op: Any, a: tuple[int, ...] | None, b: tuple[int, ...] | None) -> bool:
    """Whether NumPy certainly refuses arrays of these shapes."""
    if a is None or b is None:
        return False
    if isinstance(op, gast.MatMult):
        if not a or not b:
            return True
        return a[-1] != (b[-2] if len(b) > 1 else b[0])
    pairs = zip(reversed(a), reversed(b), strict=False)
    return any(m != n and 1 not in (m, n) for m, n in pairs)


__all__ = ["check_shapes"]
