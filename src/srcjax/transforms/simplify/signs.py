"""Let a derivative stand for that of a product without its minus.

Before:                                  After:

    r = 1 / (1 + np.exp(-W @ x))             r = 1 / (1 + np.exp(-W @ x))
    dneg_Wx = -dr * r * (1 - r)              dWx = dr * r * (1 - r)
    dx = -(W.T @ dneg_Wx)                    dx = W.T @ dWx
    dW = -np.outer(dneg_Wx, x)               dW = np.outer(dWx, x)

A sign is exact. The name is changed where the negated value has no name itself, and
where no statement gets a minus that had none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import called

#: Functions whose results change their sign with those of each of their arguments.
_LINEAR = ("np.outer", "np.sum", "np.dot")


def signs_in_names(
    node: gast.FunctionDef, may_flip: Callable[[str], bool]
) -> list[str]:
    """Change the signs of such derivatives in place, and give their names.

    `may_flip` tells which names stand for derivatives of negated values.
    """
    found = []
    statements = list(syntax.all_statements(node.body))
    for stmt in statements:
        if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0]):
            continue
        name = stmt.targets[0].id
        value = _without_minus(stmt.value)
        if value is None or not may_flip(name) or name in syntax.names_read(value):
            continue
        if sum(name in syntax.names_written(syntax.head(s)) for s in statements) != 1:
            continue
        uses = [s for s in statements if syntax.count_reads(syntax.head(s), name)]
        changes = [_flipped(s, name) for s in uses]
        if uses and None not in changes:
            stmt.value = value
            for use, change in zip(uses, changes, strict=True):
                use.op, use.value = change  # type: ignore[misc]
                if isinstance(use, gast.Assign):
                    del use.op
            found.append(name)
    return found


def _flipped(stmt: Any, name: str) -> tuple[Any, gast.expr] | None:
    """The operator and the value of a statement that reads the name with a minus.

    None, where it would need a minus in front, or is no sum of products.
    """
    if isinstance(stmt, gast.AugAssign):
        if not isinstance(stmt.op, (gast.Add, gast.Sub)) or not _is_linear(
            stmt.value, name
        ):
            return None
        added = isinstance(stmt.op, gast.Add)
        return (gast.Sub() if added else gast.Add()), stmt.value
    if not isinstance(stmt, gast.Assign):
        return None
    value = _negated(stmt.value, name)
    return None if value is None else (None, value)


def _negated(value: Any, name: str) -> gast.expr | None:
    """The value where the name is what was its negative."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Add, gast.Sub)):
        left, right = (syntax.count_reads(v, name) for v in (value.left, value.right))
        if left and right:
            return None
        if left:
            first = _negated(value.left, name)
            return first and gast.BinOp(first, value.op, value.right)
        if not _is_linear(value.right, name):
            return None
        added = isinstance(value.op, gast.Add)
        return gast.BinOp(value.left, gast.Sub() if added else gast.Add(), value.right)
    plain = _without_minus(value)
    return plain if plain is not None and _is_linear(plain, name) else None


def _without_minus(value: Any) -> gast.expr | None:
    """`a * b` of `-a * b` and of `-(a * b)`; None if there is no minus in front."""
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        return None if isinstance(value.operand, gast.Constant) else value.operand
    product = (gast.Mult, gast.Div, gast.MatMult)
    if isinstance(value, gast.BinOp) and isinstance(value.op, product):
        left = _without_minus(value.left)
        return left and gast.BinOp(left, value.op, value.right)
    return None


def _is_linear(value: Any, name: str) -> bool:
    """Whether the value changes its sign with the name, and has it once."""
    if syntax.count_reads(value, name) != 1:
        return False
    while not syntax.is_name(value, name):
        if isinstance(value, gast.BinOp):
            left = bool(syntax.count_reads(value.left, name))
            products = (gast.Mult, gast.MatMult, gast.Div)[: 3 if left else 2]
            if not isinstance(value.op, products):
                return False
            value = value.left if left else value.right
        elif (
            isinstance(value, gast.Attribute)
            and value.attr == "T"
            or isinstance(value, gast.Subscript)
        ):
            value = value.value
        elif called(value) in _LINEAR and not value.keywords:
            (value,) = [a for a in value.args if syntax.count_reads(a, name)] or [None]
        else:
            return False
    return True
