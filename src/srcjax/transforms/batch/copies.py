"""Numbers read from a batch that is written to: no copy where they are used at once.

A number of each example is a view in the batch, so what reads it makes a copy: a
later write must not change it. The copy goes where nothing is written before its last
use.

Before:                                     After:

    v_part = v[:, i - 1].copy()                 v_part = v[:, i - 1]
    y = v_part * np.sin(v_part)                 y = v_part * np.sin(v_part)
    v[:, i] = np.sin(v[:, k].copy()) * y        v[:, i] = np.sin(v[:, k]) * y
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.transforms.call_effects import called, is_pure


def read_at_once(function: gast.FunctionDef) -> None:
    """Drop the copies (marked `of_numbers`) that nothing needs, in place."""
    for node in syntax.walk(function):
        if isinstance(node, (gast.Assign, gast.AugAssign, gast.Return)):
            _nested(node)
    for block in syntax.blocks(function.body):
        for k, stmt in enumerate(block):
            if _is_named_copy(stmt) and _is_short_lived(
                function, stmt.targets[0].id, block[k + 1 :]
            ):
                stmt.value = _bare(stmt.value)


def _is_copy(node: Any) -> bool:
    return isinstance(node, gast.Call) and getattr(node, "of_numbers", False)


def _is_named_copy(stmt: Any) -> bool:
    named = isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name)
    return named and _is_copy(stmt.value)


def _nested(stmt: Any) -> None:
    """Drop the copies inside an expression that makes something new of them."""
    if not is_pure(stmt.value):
        return

    def used(node: gast.expr) -> gast.expr:
        if _makes_new(node):
            for key, value in list(vars(node).items()):
                if isinstance(value, list):
                    setattr(node, key, [_bare(v) for v in value])
                elif key != "func":
                    setattr(node, key, _bare(value))
        return node

    stmt.value = syntax.map_expressions(stmt.value, used)
    if _stores_in_array(stmt):
        stmt.value = _bare(stmt.value)


def _stores_in_array(stmt: Any) -> bool:
    """Whether it is `v[:, i] = ...`: NumPy copies, and looks for overlap.

    A list would keep the view, but it takes no such index.
    """
    target = getattr(stmt, "target", None) or getattr(stmt, "targets", [None])[0]
    index = target.slice if isinstance(target, gast.Subscript) else None
    return isinstance(index, gast.Tuple) and any(
        isinstance(entry, gast.Slice) for entry in index.elts
    )


def _bare(node: Any) -> Any:
    return node.func.value if _is_copy(node) else node


def _makes_new(node: Any) -> bool:
    """Whether the value of an expression is a new array, whatever its operands are."""
    if isinstance(node, (gast.BinOp, gast.UnaryOp, gast.Compare)):
        return True
    chain = called(node) if isinstance(node, gast.Call) else None
    head, _, name = (chain or "").partition(".")
    if head != "np" or any(k.arg == "out" for k in node.keywords):
        return False
    return name == "where" or isinstance(getattr(np, name, None), np.ufunc)


def _is_short_lived(function: gast.FunctionDef, name: str, later: list[Any]) -> bool:
    """Whether each read of the name comes before anything that may be written."""
    names = [n for n in syntax.walk(function) if syntax.is_name(n, name)]
    if sum(not isinstance(n.ctx, gast.Load) for n in names) != 1:
        return False
    left = syntax.count_reads(function, name)
    for stmt in later:
        if not isinstance(stmt, (gast.Assign, gast.AugAssign, gast.Return)):
            return False
        alone = _stores_in_array(stmt) and syntax.is_name(stmt.value, name)
        if not (alone or _taken(stmt.value, name)) or not is_pure(stmt.value):
            return False
        left -= syntax.count_reads(stmt.value, name)
        if left == 0:
            return True
        if not (
            isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name)
        ):
            return False
    return False


def _taken(value: Any, name: str) -> bool:
    """Whether something new is made of the name wherever an expression reads it."""
    if isinstance(value, (gast.Tuple, gast.List)):
        return all(_taken(item, name) for item in value.elts)
    if not _makes_new(value):
        return not syntax.count_reads(value, name)
    return all(
        syntax.is_name(operand, name) or _taken(operand, name)
        for operand in _operands(value)
    )


def _operands(value: Any) -> list[gast.expr]:
    """The operands of an expression that makes something new."""
    if isinstance(value, gast.BinOp):
        return [value.left, value.right]
    if isinstance(value, gast.UnaryOp):
        return [value.operand]
    if isinstance(value, gast.Compare):
        return [value.left, *value.comparators]
    return [*value.args, *(k.value for k in value.keywords)]
