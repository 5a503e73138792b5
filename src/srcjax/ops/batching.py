"""Batch rules: an operation on one example, written for a batch of examples.

A mapped value carries the batch on its first axis: an example of shape `(3,)` is an
array of shape `(batch, 3)`, a number is `(batch,)`. A batch rule receives a
`MappedCall` and returns the expression on the batch, or None where it has none for
these arguments (the call then becomes a loop over the examples):

    @batch(np.linalg.inv)
    def _(call):
        return call.rebuild()           # works on stacks of matrices as it is

Most rules follow from the kind of an operation (`batch_kinds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.array_likes import nested
from srcjax.analysis.types import UNKNOWN, Array, List, Tuple, Type, is_active, shape_of
from srcjax.ops.known import MISSING, known_value
from srcjax.ops.record import Op

Rule = Callable[["MappedCall"], gast.expr | None]


class MappedCall:
    """A call of an operation with at least one mapped argument.

    `value` is the call as an expression whose names hold batches; `bound` gives the
    nodes of it by parameter name (a tuple of nodes for `*args`).
    """

    def __init__(
        self,
        op: Op,
        value: gast.expr,
        bound: dict[str, Any],
        type_of: Callable[[Any], Type],
        result: Type,
        size: gast.expr,
        displays: Mapping[str, gast.expr] | None = None,
        axis_name: str | None = None,
        changing: bool = False,
    ) -> None:
        self.op = op
        self.value = value
        self.bound = bound
        self.type_of = type_of
        #: The type of the result for one example.
        self.result = result
        #: An expression for the number of examples.
        self.size = size
        #: The lists and tuples behind names that stand for nothing else.
        self.displays = displays or {}
        #: The name of the batch axis, for collectives.
        self.axis_name = axis_name
        #: Whether the result or an operand is written in place: they must not share
        #: memory then.
        self.changing = changing

    # -- arguments --------------------------------------------------------------------

    def has(self, parameter: str) -> bool:
        """Whether the argument was given."""
        return parameter in self.bound

    def arg(self, parameter: str) -> gast.expr:
        """The argument as it is: a batch, if it is mapped."""
        found: gast.expr = syntax.clone(self.bound[parameter])
        return found

    def type(self, parameter: str) -> Type:
        """The type of the argument for one example."""
        node = self.bound.get(parameter)
        return UNKNOWN if node is None else self.type_of(node)

    def is_mapped(self, parameter: str) -> bool:
        """Whether the argument is different for each example."""
        node = self.bound.get(parameter)
        if isinstance(node, tuple):
            return any(is_active(self.type_of(n)) for n in node)
        return node is not None and is_active(self.type_of(node))

    def rank(self, parameter: str) -> int | None:
        """The number of axes of one example of the argument, None if not known."""
        shape = shape_of(array_type(self.type(parameter)))
        return None if shape is None else len(shape)

    @property
    def result_rank(self) -> int | None:
        """The number of axes of one example of the result, None if not known."""
        shape = shape_of(self.result)
        return None if shape is None else len(shape)

    def const(self, parameter: str, default: Any = None) -> Any:
        """The value of a constant argument; MISSING if it is not known."""
        if parameter not in self.bound:
            return default
        return self.const_of(self.bound[parameter])

    def const_of(self, node: Any) -> Any:
        """The value that a node is known to have; MISSING if it is not known."""
        found = known_value(self.type_of(node))
        return literal(node) if found is MISSING else found

    # -- expressions -------------------------------------------------------------------

    def lifted(self, parameter: str, rank: int) -> gast.expr | None:
        """The argument with its examples of that rank, by axes after the batch axis."""
        return lift(self.bound[parameter], self.type(parameter), rank)

    def rebuild(self, **changes: gast.expr) -> gast.expr:
        """The user's own call with some arguments changed or added as keywords."""
        nodes: dict[int, gast.expr] = {}
        added = {}
        for parameter, new in changes.items():
            if parameter in self.bound:
                nodes[id(self.bound[parameter])] = new
            else:
                added[parameter] = new
        assert nodes.keys() <= {id(node) for node in syntax.walk(self.value)}
        rebuilt = syntax.replaced(self.value, nodes)
        if added:
            assert isinstance(rebuilt, gast.Call)
            rebuilt.keywords += [gast.keyword(k, v) for k, v in added.items()]
        return rebuilt


def array_type(t: Type) -> Type:
    """The type of the array that nested lists make; of anything else its own."""
    if not isinstance(t, (List, Tuple)):
        return t
    dtype, shape = nested(t)
    return Array(is_active(t), dtype=dtype, shape=shape)


def literal(node: Any) -> Any:
    """The value of a literal, MISSING if it is none."""
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        inner = literal(node.operand)
        return MISSING if inner is MISSING else -inner
    if isinstance(node, (gast.Tuple, gast.List)):
        items = [literal(e) for e in node.elts]
        if any(item is MISSING for item in items):
            return MISSING
        return tuple(items) if isinstance(node, gast.Tuple) else items
    return MISSING


def lift(node: gast.expr, t: Type, rank: int) -> gast.expr | None:
    """A batch of examples of lower rank with axes of size 1 after the batch axis."""
    new: gast.expr = syntax.clone(node)
    if not is_active(t):
        return new
    shape = shape_of(t)
    if shape is None:
        return None
    missing = rank - len(shape)
    if missing <= 0:
        return new
    if not shape and missing == 1:
        return syntax.expression("x[:, None]", x=new)
    return syntax.expression(f"x[:, {', '.join(['None'] * missing)}]", x=new)


#: Builtins of numbers, and NumPy's functions of arrays.
BUILTINS = {
    "max": "np.maximum",
    "min": "np.minimum",
    "abs": "np.abs",
    "round": "np.round",
    "pow": "np.power",
}


def shifted(axis: Any, rank: int) -> Any:
    """An axis (or a tuple of them) of one example as an axis of the batch."""
    if isinstance(axis, tuple):
        return tuple(shifted(a, rank) for a in axis)
    return axis if axis < 0 else axis + 1


def all_axes(rank: int) -> Any:
    """All axes of an example, as an axis argument."""
    return 0 if rank == 1 else tuple(range(rank))


def within(axis: Any, rank: int) -> bool:
    """Whether an example of that rank has the axis, or each of several."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    return all(-rank <= a < rank for a in axes)


__all__ = [
    "array_type",
    "BUILTINS",
    "MappedCall",
    "all_axes",
    "lift",
    "literal",
    "shifted",
    "within",
]
