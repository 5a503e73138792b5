"""The check that nothing differentiated is hidden inside of an operand.

Core form is one operation a statement: what an operation's rule does not name is a name
of its own. Where a value slipped through as an expression, the rule would lose it.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.looking import SHAPE_CALLS
from srcjax.analysis.types import Object, Tuple
from srcjax.ops.record import ATTRIBUTES, Op
from srcjax.transforms.call_effects import called
from srcjax.transforms.writer import DerivativeWriter

#: Calls whose result depends on the structure of an argument only.
_LOOKING = SHAPE_CALLS | {"range", "np.result_type"}


class OneStep(DerivativeWriter):
    """Refuses what is more than one operation on names."""

    def check_core(self, value: gast.expr) -> None:
        """One operation on atoms: nothing active is hidden deeper (core form)."""
        operands: list[Any] = []
        if isinstance(value, gast.BinOp):
            operands = [value.left, value.right]
        elif isinstance(value, (gast.UnaryOp, gast.Starred)):
            operands = [getattr(value, "operand", None) or value.value]
        elif isinstance(value, (gast.Subscript, gast.Attribute)):
            operands = [value.value]
        elif isinstance(value, (gast.Tuple, gast.List)):
            operands = list(value.elts)
        elif isinstance(value, gast.Dict):
            operands = list(value.values)
        elif isinstance(value, gast.Call):
            operands = [*value.args, *(k.value for k in value.keywords)]
        operands = [e.value if isinstance(e, gast.Starred) else e for e in operands]
        for operand in operands:
            if isinstance(operand, (gast.Tuple, gast.List)):
                self.check_core(operand)
            elif not isinstance(operand, gast.Name) and self.hides_active(operand):
                raise self.too_much(value)

    def check_stored(self, value: gast.expr) -> None:
        """What is put into an item, or added to one, is a name or carries nothing."""
        if isinstance(value, (gast.Tuple, gast.List, gast.Dict)):
            self.check_core(value)
        elif not isinstance(value, gast.Name) and self.hides_active(value):
            raise self.too_much(value)

    def too_much(self, value: gast.expr) -> Exception:
        """The error that something differentiated is hidden inside of the value."""
        return self.refuse(
            f"`{syntax.text(value)}` is too much for one step",
            "two statements, with a name for the part inside",
        )

    def hides_active(self, node: Any) -> bool:
        """Whether the value of an operand depends on an active name inside it."""
        if isinstance(node, (gast.Compare, gast.JoinedStr)):
            return False
        if isinstance(node, gast.Call):
            function = called(node)
            if function in _LOOKING:
                return False
            callees = self.facts.callees.get(id(node), ())
            if callees and all(isinstance(c, Op) and c.inert for c in callees):
                return False
        if (
            isinstance(node, gast.Attribute)
            and ATTRIBUTES.get(node.attr) is not None
            and ATTRIBUTES[node.attr].inert
            and not self.is_object(node.value)
        ):
            return False
        if isinstance(node, gast.Subscript):
            return self.hides_active(node.value)
        if isinstance(node, gast.IfExp):  # the test chooses only
            return self.hides_active(node.body) or self.hides_active(node.orelse)
        if isinstance(node, gast.Name):
            return self.active(node)
        children: list[Any] = []
        for child in node.__dict__.values():
            children += child if isinstance(child, list) else [child]
        return any(self.hides_active(c) for c in children if isinstance(c, gast.AST))

    def is_object(self, node: Any) -> bool:
        """Whether attributes of the value are the user's own, whatever their names."""
        t = self.types.get(node.id) if isinstance(node, gast.Name) else None
        return isinstance(t, (Object, Tuple)) and t.cls is not None
