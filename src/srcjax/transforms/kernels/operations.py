"""The operation behind an expression in core form, and its operands."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from srcjax.analysis.types import Const, List, Type
from srcjax.ops.known import MISSING, known
from srcjax.ops.record import Op, lookup
from srcjax.transforms.kernels.accepted import is_kernel_number, is_pythons, kind

_BINARY = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
}
_UNARY = {gast.USub: operator.neg, gast.UAdd: operator.pos}
_COMPARE = {
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
}


@dataclass
class Operation:
    """A record with the expressions that it is applied to, by parameter."""

    op: Op
    operands: dict[str, gast.expr]
    #: The function that is called; None for an operator or method.
    function: Any = None

    @property
    def takes_any_number(self) -> bool:
        """Whether some parameter holds several expressions: `*args` does."""
        return not all(isinstance(v, gast.expr) for v in self.operands.values())


class Operations:
    """Finds the operation of an expression, by what inference resolved."""

    def __init__(self, callees: dict[int, list[Any]], type_of: Any) -> None:
        self.callees = callees
        self.type_of = type_of

    def of(self, node: Any) -> Operation | None:
        """The operation of an expression; None if it is not known to be one."""
        if isinstance(node, gast.BinOp):
            return _applied(_BINARY.get(type(node.op)), node.left, node.right)
        if isinstance(node, gast.UnaryOp):
            function: Any = _UNARY.get(type(node.op))
            # `~` of numbers is that of their bits, of Python's `True` too: -2.
            t = self.type_of(node.operand)
            if isinstance(node.op, gast.Not) and is_kernel_number(t):
                function = np.logical_not
            if isinstance(node.op, gast.Invert) and kind(t) == "b":
                function = None if is_pythons(t) else np.logical_not
            return _applied(function, node.operand)
        if isinstance(node, gast.Compare) and len(node.ops) == 1:
            function = _COMPARE.get(type(node.ops[0]))
            return _applied(function, node.left, node.comparators[0])
        if isinstance(node, gast.Call):
            return self.of_call(node)
        return None

    def of_call(self, node: gast.Call) -> Operation | None:
        """The operation that a call is: of a function, or a method of an array."""
        if any(isinstance(a, gast.Starred) for a in node.args):
            return None
        if any(k.arg is None for k in node.keywords):
            return None
        found = self.callees.get(id(node))
        if found is None:  # a call that a kernel is spelled with
            found = [getattr(self.type_of(node.func), "value", None)]
        if len(found) != 1 or found[0] is None:
            return None
        callee = found[0]
        args, function = list(node.args), None
        if isinstance(node.func, gast.Attribute):
            holder = self.type_of(node.func.value)
            if not isinstance(holder, (Const, List)):
                args = [node.func.value, *args]
        owner = self.type_of(node.func)
        if isinstance(owner, Const):
            function = owner.value
        op = callee if isinstance(callee, Op) else lookup(callee)
        if op is None:
            return None
        try:
            bound = op.bind(args, {k.arg: k.value for k in node.keywords})
        except TypeError:
            return None
        known = set(op.signature.parameters)
        if any(k.arg not in known for k in node.keywords):
            return None
        return Operation(op, bound, function)


def _applied(function: Any, *operands: gast.expr) -> Operation | None:
    op = lookup(function) if function is not None else None
    if op is None:
        return None
    names = list(op.signature.parameters)
    if len(names) < len(operands):
        return None
    return Operation(op, dict(zip(names, operands, strict=False)))


def constant(t: Type) -> Any:
    """The value of an argument that is known; ... if it is not."""
    found = known(t)
    return ... if found is MISSING else found
