"""What one example does that the others feel: it takes from what is one for all.

    if s > 0:
        y = next(it)      the examples that go another way find that item gone

So do a generator of random numbers, a file and a clock: what is done to them for some
examples cannot be done for all at once.
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Callable, Iterable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    Array,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    Unknown,
)
from srcjax.ops.record import Op
from srcjax.transforms.call_effects import effect_of, written_operands


def felt_by_all(
    values: Iterable[Any], type_of: Callable[[Any], Type], followed: Callable
) -> Any:
    """The first part of the values that may do more than to write to arrays; or None.

    `followed` gives the functions, and records of operations, that a call may be of.
    """

    def is_felt(node: Any) -> bool:
        if isinstance(node, gast.Compare):
            containers = zip(node.ops, node.comparators, strict=True)
            return any(
                isinstance(op, (gast.In, gast.NotIn)) and may_run_out(type_of(c))
                for op, c in containers
            )
        if not isinstance(node, gast.Call):
            return False
        callees = followed(node)
        if not (effect_of(node).contained or callees):
            return True
        if not all(is_of_each(type_of(v)) for v in written_operands(node)):
            return True
        given = [*node.args, *(k.value for k in node.keywords)]
        return not all(map(takes_arrays, callees or [None])) and any(
            may_run_out(type_of(v)) for v in given
        )

    nodes = (node for value in values for node in syntax.walk(value))
    return next(filter(is_felt, nodes), None)


def takes_arrays(callee: Any) -> bool:
    """Whether it is known and takes nothing out of an iterator, as `sum` does."""
    if not isinstance(callee, Op):
        return False
    return not any(isinstance(f, pytypes.BuiltinFunctionType) for f in callee.functions)


def may_run_out(t: Type) -> bool:
    """Whether it may be an iterator, which whoever reads it takes something from."""
    return type(t) is Unknown and not t.active


def is_of_each(t: Type) -> bool:
    """Whether what is written to is an array or a container, of which each has its own.

    What is written to and has the type of a tuple is an iterator.
    """
    if isinstance(t, List):
        return t.cls is not tuple
    return isinstance(t, (Array, Dict, Object, Tuple))
