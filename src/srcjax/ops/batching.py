"""Batch rules: an operation on one example, written for a batch of examples.

A mapped value carries the batch on its first axis: an example of shape `(3,)` is an
array of shape `(batch, 3)`, a number is `(batch,)`. A batch rule receives a
`MappedCall` and returns the expression on the batch, or None where it has none for
these arguments (the call then becomes a loop over the examples):

    @batch(np.linalg.inv)
    def _(call):
        return call.rebuild()           # works on stacks of matrices as it is

Most rules follow from the kind of an operation:

- `elementwise`: operands of lower rank get axes after the batch axis;
- `along_axis("a")`: the axis argument counts from behind the batch axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import UNKNOWN, Type, is_active, parts, shape_of
from srcjax.ops.expand import MISSING, known_value
from srcjax.ops.record import Op, lookup

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
        from srcjax.ops.batch_operands import array_type

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


def align(operands: list[tuple[gast.expr, Type]]) -> list[gast.expr] | None:
    """Operands that broadcast example by example, of ranks that only the run tells.

    A mapped one gets as many axes after the batch axis as another one has more:
    `expand_examples(x, np.ndim(c))`. None where an operand of unknown rank has no name,
    or is a container.
    """
    from srcjax.ops.batch_operands import array_type

    shapes = [shape_of(array_type(t)) for _, t in operands]
    ranks = [None if s is None else len(s) for s in shapes]
    for (node, t), rank in zip(operands, ranks, strict=True):
        if rank is None and (parts(t) or not isinstance(node, gast.Name)):
            return None
    new: list[gast.expr] = []
    for k, (node, t) in enumerate(operands):
        own = ranks[k] or 0
        others = zip(operands, ranks, strict=True)
        wanted = [
            _rank_of(other, other_type, rank)
            for j, ((other, other_type), rank) in enumerate(others)
            if j != k and (rank is None or rank > own)
        ]
        value: gast.expr = syntax.clone(node)
        if is_active(t) and wanted:
            rank = wanted[0] if len(wanted) == 1 else syntax.call("max", *wanted)
            value = syntax.call("expand_examples", value, rank)
        new.append(value)
    return new


def _rank_of(node: gast.expr, t: Type, rank: int | None) -> gast.expr:
    """The rank of an example, as an expression."""
    if rank is not None:
        return syntax.const(rank)
    return syntax.expression("x.ndim - 1" if is_active(t) else "np.ndim(x)", x=node)


# -- kinds of rules --------------------------------------------------------------------


def batch(*functions: Any, lists: tuple[str, ...] = ()) -> Callable[[Rule], Rule]:
    """Decorator: the function is the batch rule of the operations.

    A list of mapped values in the place of an array comes as one array, but for the
    parameters `lists`, which are lists by themselves.
    """

    def decorate(rule: Rule) -> Rule:
        def on_arrays(call: MappedCall) -> gast.expr | None:
            from srcjax.ops.batch_operands import with_arrays

            return rule(with_arrays(call, lists))

        for function in functions:
            op = function if isinstance(function, Op) else lookup(function)
            if op is None:
                raise TypeError(f"{function!r} is no operation")
            op.batch = on_arrays
        return rule

    return decorate


def elementwise(call: MappedCall) -> gast.expr | None:
    """Operands broadcast against each other example by example."""
    from srcjax.ops.batch_operands import with_arrays

    call = with_arrays(call)
    operands = [p for p in call.bound if call.const(p, MISSING) is not None]
    ranks = [call.rank(p) for p in operands]
    if any(r is None for r in ranks):
        aligned = align([(call.bound[p], call.type(p)) for p in operands])
        if aligned is None:
            return None
        return call.rebuild(**dict(zip(operands, aligned, strict=True)))
    highest = max((r for r in ranks if r is not None), default=0)
    changes = {}
    for parameter in operands:
        new = call.lifted(parameter, highest)
        assert new is not None
        changes[parameter] = new
    return call.rebuild(**changes)


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


def along_axis(
    parameter: str, axis: str = "axis", default: Any = None, whole: bool = True
) -> Rule:
    """The rule of an operation along an axis of one mapped argument.

    An axis that is not given is `default`; None stands for all axes (`whole`), or for
    the flattened array. NumPy takes a number for an array of one axis or of none: that
    of a `whole` operation has no axis, any other is an axis of size 1.
    """

    def rule(call: MappedCall) -> gast.expr | None:
        from srcjax.ops.batch_operands import axis_of, expr, flat

        rank = call.rank(parameter)
        given = axis_of(call, axis, default)
        mapped = [p for p in call.bound if call.is_mapped(p)]
        if given is MISSING or mapped != [parameter]:
            return None
        if rank is None:
            node = call.bound[parameter]
            if not whole or given is not None or not isinstance(node, gast.Name):
                return None
            axes = syntax.expression("tuple(range(1, x.ndim))", x=node)
            return None if parts(call.type(parameter)) else call.rebuild(**{axis: axes})
        if given is not None and not within(given, max(rank, 1)):
            return None  # an axis that examples do not have must not be the batch's
        node = call.bound[parameter]
        if whole and rank == 0:
            return call.rebuild(**{axis: expr(())})
        if whole or (given is not None and rank > 0):
            given = given if given is not None else all_axes(rank)
            if given == default and shifted(given, rank) == default:
                return call.rebuild()
            return call.rebuild(**{axis: expr(shifted(given, rank))})
        if rank != 1 and call.const("keepdims", False) is not False:
            return None
        if rank == 0 and given is not None and default is not None:
            return None
        one = flat(call, node, call.type(parameter))
        return one and call.rebuild(**{parameter: one, axis: expr(1)})

    return rule


def all_axes(rank: int) -> Any:
    """All axes of an example, as an axis argument."""
    return 0 if rank == 1 else tuple(range(rank))


def within(axis: Any, rank: int) -> bool:
    """Whether an example of that rank has the axis, or each of several."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    return all(-rank <= a < rank for a in axes)


__all__ = [
    "BUILTINS",
    "MISSING",
    "MappedCall",
    "align",
    "all_axes",
    "along_axis",
    "batch",
    "elementwise",
    "lift",
    "literal",
    "shifted",
    "within",
]
