"""Runs of steps whose derivative is shorter, and safer, as that of one function.

    e = np.exp(z)         e = np.exp(z)
    t = 1 + e             t = np.sum(e, axis=1, keepdims=True)
    s = 1 / t             s = e / t

    ds/dz = -s * (1 - s)  dz = s * (ds - np.sum(ds * s, axis=1, keepdims=True))

Step by step the derivative is `e / t**2`, and so on: it needs two values more, which a
loop would have to save, and is `inf / inf` where the exponential overflows. The steps
stay as they are; only the derivative of the last one is passed on to `z` at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.program import Facts
from srcjax.analysis.types import Const, Type, rank_of
from srcjax.ops.record import Op, lookup
from srcjax.ops.written_out import FALLING, RISING, SOFTMAX

#: A run of statements in which all steps stand is no longer than this.
_NEAR = 8


@dataclass(frozen=True)
class Steps:
    """What the last step's value is: the function that the steps are, of what."""

    op: Op
    args: tuple[gast.expr, ...]


def written_out(
    facts: Facts, body: list[gast.stmt], types: dict[str, Type]
) -> dict[int, Steps]:
    """The functions written out in steps, by the identity of the last statement."""
    found: dict[int, Steps] = {}
    for block in syntax.blocks(body):
        for position, stmt in enumerate(block):
            if _is_division(stmt):
                before = block[max(0, position - _NEAR) : position]
                steps = _Search(facts, before, types).of(stmt)
                if steps is not None:
                    found[id(stmt)] = steps
    return found


class _Search:
    """Looks at the statements before a division, the nearest last."""

    def __init__(
        self, facts: Facts, before: list[gast.stmt], types: dict[str, Type]
    ) -> None:
        self.facts = facts
        self.before = before
        self.types = types

    def of(self, stmt: Any) -> Steps | None:
        above, below = stmt.value.left, stmt.value.right
        total = self.definition(below)
        exponential = self.one_plus(total)
        axis: Any = None
        if exponential is None:
            exponential, axis = self.sum_of(total)
        call: Any = self.definition(exponential)
        if not self.calls(call, np.exp) or len(call.args) != 1 or call.keywords:
            return None
        operand = call.args[0]
        if not isinstance(operand, gast.Name) or operand.id == stmt.targets[0].id:
            return None
        if not self.stand(call, [exponential.id, below.id], operand.id):
            return None
        if axis is not None:
            share = syntax.is_name(above, exponential.id)
            return Steps(SOFTMAX, (operand, axis)) if share else None
        if _is_one(above):
            return Steps(FALLING, (operand,))
        if syntax.is_name(above, exponential.id):
            return Steps(RISING, (operand,))
        return None

    def definition(self, node: Any) -> gast.expr | None:
        """What was last assigned to the name here."""
        if isinstance(node, gast.Name):
            for stmt in reversed(self.before):
                if node.id in syntax.names_written(stmt):
                    return getattr(stmt, "value", None)
        return None

    def calls(self, node: Any, function: Any) -> bool:
        """Whether the node is a call of the function."""
        if not isinstance(node, gast.Call):
            return False
        callees = self.facts.callees.get(id(node), [])
        return len(callees) == 1 and callees[0] is lookup(function)

    def one_plus(self, node: Any) -> Any:
        """The name that 1 is added to."""
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if _is_one(one) and isinstance(other, gast.Name):
                    return other
        return None

    def sum_of(self, call: Any) -> tuple[Any, Any]:
        """The name that is summed, and along which axis, which the sum keeps."""
        if not self.calls(call, np.sum):
            return None, None
        args = list(call.args)
        func = call.func
        if isinstance(func, gast.Attribute) and syntax.dotted(func.value) in self.types:
            args = [func.value, *args]
        keywords = {k.arg: k.value for k in call.keywords}
        if not args or not isinstance(args[0], gast.Name) or len(args) > 2:
            return None, None
        if set(keywords) - {"axis", "keepdims"}:
            return None, None
        axis: Any = args[1] if len(args) == 2 else keywords.get("axis")
        kept = keywords.get("keepdims")
        if axis is None:
            axis = syntax.const(None)
        place, keeps = self.value(axis), False if kept is None else self.value(kept)
        if place is _UNKNOWN or keeps not in (True, False):
            return None, None
        rank = rank_of(self.types[args[0].id]) if args[0].id in self.types else None
        spread = keeps or place in (None, 0) or (place == -1 and rank == 1)
        return (args[0], axis) if spread else (None, None)

    def value(self, node: Any) -> Any:
        """The number, bool or None that the node stands for."""
        t = self.types.get(node.id) if isinstance(node, gast.Name) else None
        if isinstance(t, Const):
            return t.value
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            inner = self.value(node.operand)
            return -inner if isinstance(inner, int) else _UNKNOWN
        return node.value if isinstance(node, gast.Constant) else _UNKNOWN

    def stand(self, call: gast.Call, made: list[str], operand: str) -> bool:
        """Whether the names keep their values from the exponential on."""
        values = [getattr(s, "value", None) for s in self.before]
        start = next(i for i, v in enumerate(values) if v is call)
        between = self.before[start:]
        if self.facts.written_by(syntax.walk(between)):
            return False
        bound: list[str] = []
        for stmt in between:
            if not isinstance(stmt, gast.Assign):
                return False
            if not isinstance(stmt.targets[0], gast.Name):
                return False
            bound.append(stmt.targets[0].id)
        return operand not in bound and all(bound.count(name) == 1 for name in made)


_UNKNOWN = object()


def _is_division(stmt: Any) -> bool:
    return (
        isinstance(stmt, gast.Assign)
        and isinstance(stmt.targets[0], gast.Name)
        and isinstance(stmt.value, gast.BinOp)
        and isinstance(stmt.value.op, gast.Div)
    )


def _is_one(node: Any) -> bool:
    return (
        isinstance(node, gast.Constant)
        and type(node.value) in (int, float)
        and node.value == 1
    )


__all__ = ["Steps", "written_out"]
