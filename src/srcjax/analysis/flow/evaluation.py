"""In which order Python evaluates what stands in a statement.

y = f(a) + b * c        a, f(a), b, c, b * c, the sum; then y
y[i] += g(x)            y, i, y[i], x, g(x)
a and f(x)              a; what comes after that may not be evaluated at all
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from srcjax import syntax


def evaluated(node: Any) -> Iterator[Any]:
    """Expressions in the order of evaluation, operands before what is made of them.

    None stands for parts that may be evaluated never, later or more than once.
    """
    if isinstance(node, list):
        for each in node:
            yield from evaluated(each)
        return
    parts, more = _parts(node)
    for part in parts:
        if part is not None:
            yield from evaluated(part)
    if more:
        yield None
    yield node


def _parts(node: Any) -> tuple[list[Any], bool]:
    """What is evaluated for a node in any case, in order; whether there is more."""
    if isinstance(node, gast.Assign):
        return [node.value, *node.targets], False
    if isinstance(node, gast.AnnAssign):
        return [node.value, node.target], False
    if isinstance(node, gast.BoolOp):
        return node.values[:1], True
    if isinstance(node, gast.IfExp):
        return [node.test], True
    if isinstance(node, gast.Compare):
        return [node.left, node.comparators[0]], len(node.comparators) > 1
    if isinstance(node, gast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return [part for pair in pairs for part in pair], False
    if isinstance(node, gast.Assert):
        return [node.test], node.msg is not None
    if isinstance(node, syntax.COMPREHENSIONS):
        return [node.generators[0].iter], True
    if isinstance(node, (gast.Lambda, gast.FunctionDef)):
        return [], True
    return list(gast.iter_child_nodes(node)), False
