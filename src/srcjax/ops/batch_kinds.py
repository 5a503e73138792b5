"""Kinds of batch rules, from which most operations have theirs.

- `batch(...)` makes a function the batch rule of operations;
- `elementwise`: operands of lower rank get axes after the batch axis;
- `along_axis("a")`: the axis argument counts from behind the batch axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import (
    Const,
    Scalar,
    Type,
    dtype_of,
    is_active,
    parts,
    shape_of,
)
from srcjax.ops.batch_operands import axis_of, expr, flat, with_arrays
from srcjax.ops.batching import MappedCall, Rule, all_axes, array_type, shifted, within
from srcjax.ops.known import MISSING
from srcjax.ops.record import Op, lookup


def batch(*functions: Any, lists: tuple[str, ...] = ()) -> Callable[[Rule], Rule]:
    """Decorator: the function is the batch rule of the operations.

    A list of mapped values in the place of an array comes as one array, but for the
    parameters `lists`, which are lists by themselves.
    """

    def decorate(rule: Rule) -> Rule:
        def on_arrays(call: MappedCall) -> gast.expr | None:
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
    call = with_arrays(call)
    operands = [p for p in call.bound if call.const(p, MISSING) is not None]
    ranks = [call.rank(p) for p in operands]
    if any(r is None for r in ranks):
        aligned = align([(call.bound[p], call.type(p)) for p in operands])
        if aligned is None:
            return None
        changes = dict(zip(operands, aligned, strict=True))
    else:
        highest = max((r for r in ranks if r is not None), default=0)
        lifted = {p: call.lifted(p, highest) for p in operands}
        changes = {p: new for p, new in lifted.items() if new is not None}
        assert len(changes) == len(operands)
    types = [call.type(p) for p in operands]
    if any(map(takes_ints_beside_reals, call.op.functions)):
        return call.rebuild(**changes)
    for parameter, value in changes.items():
        changes[parameter] = beside_arrays(
            value, call.type(parameter), types, dtype_of(call.result)
        )
    return call.rebuild(**changes)


def takes_ints_beside_reals(function: Any) -> bool:
    """Whether an operand stays a whole number beside a real one, as in `np.ldexp`."""
    if not isinstance(function, np.ufunc):
        return False
    kinds = [{np.dtype(c).kind for c in t[: function.nin]} for t in function.types]
    return {"f", "i"} in kinds


def beside_arrays(
    value: gast.expr, t: Type, types: list[Type], result: np.dtype | None
) -> gast.expr:
    """An operand that is one of Python's numbers, in the dtype of arrays beside it.

    Those of all examples are an array, which would make single precision double.

    Args:
        t: the type of the operand.
        types: those of all operands.
        result: the dtype of what is computed.
    """
    own = dtype_of(t)
    strong = [dtype_of(each) for each in types if not is_weak(each)]
    known = [d for d in strong if d is not None]
    if not (is_weak(t) and is_active(t)) or own is None or not known:
        return value
    dtype = np.result_type(*known)
    wanted = np.result_type(dtype, own.type(0).item())
    if len(known) < len(strong) or dtype.kind not in "fc":
        return value
    if wanted == np.result_type(dtype, own) or result not in (wanted, np.dtype(bool)):
        return value
    return syntax.expression(f"x.astype(np.{wanted.name})", x=value)


def is_weak(t: Type) -> bool:
    """Whether a value is one of Python's numbers, which have no say beside arrays."""
    return (
        isinstance(t, Const)
        and type(t.value) in (bool, int, float, complex)
        or (isinstance(t, Scalar) and t.python is True)
    )


def along_axis(
    parameter: str, axis: str = "axis", default: Any = None, whole: bool = True
) -> Rule:
    """The rule of an operation along an axis of one mapped argument.

    An axis that is not given is `default`; None stands for all axes (`whole`), or for
    the flattened array. NumPy takes a number for an array of one axis or of none: that
    of a `whole` operation has no axis, any other is an axis of size 1.
    """

    def rule(call: MappedCall) -> gast.expr | None:
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


def align(operands: list[tuple[gast.expr, Type]]) -> list[gast.expr] | None:
    """Operands that broadcast example by example, of ranks that only the run tells.

    A mapped one gets as many axes after the batch axis as another one has more:
    `expand_examples(x, np.ndim(c))`. None where an operand of unknown rank has no name,
    or is a container.
    """
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


__all__ = ["align", "along_axis", "batch", "beside_arrays", "elementwise"]
