"""Adjoints that surely have the shape of their values are not summed to it.

Before:                                            After:

    dv = unbroadcast(last_written(dx, i), v)           dv = last_written(dx, i)

The transform writes the sum where it does not know the shape of an adjoint; inference
does, where it goes through what was written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import Array, Scalar, Type, same_shape, shape_of
from srcjax.transforms.call_effects import called


def drop_sums(
    body: list[gast.stmt], type_at: Callable[[gast.stmt, gast.expr], Type]
) -> None:
    """Leave out `unbroadcast(d, x)` where `type_at(stmt, d)` has the shape of `x`."""
    for stmt in syntax.all_statements(body):

        def fitted(node: Any, stmt: gast.stmt = stmt) -> gast.expr:
            if called(node) != "unbroadcast":
                return node
            d, x = node.args
            return d if _same(type_at(stmt, d), type_at(stmt, x)) else node

        value = getattr(stmt, "value", None)
        if value is not None and not syntax.has_blocks(stmt):
            stmt.value = syntax.rewritten(value, fitted)


def _same(d: Type, x: Type) -> bool:
    known = all(isinstance(t, (Array, Scalar)) for t in (d, x))
    return known and same_shape(shape_of(d), shape_of(x))


__all__ = ["drop_sums"]
