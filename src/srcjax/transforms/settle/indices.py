"""Indices that are objects of the user's: `x[q]` asks `q` for its number, once.

What is written of `x[q]` asks more often, for the place of the adjoint, say; so the
number gets a name: `index = operator.index(q)`.
"""

from __future__ import annotations

import operator
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.foreign import own_method
from srcjax.analysis.types import Array, List, Tuple
from srcjax.errors import UnsupportedError, error_at
from srcjax.transforms.settle.base import SettlingBase

_PLACES = {"list.pop": 1, "list.insert": 1}


class IndexSettling(SettlingBase):
    """Gives names to the numbers of index objects."""

    def numbered(self, stmt: gast.stmt) -> list[gast.stmt]:
        """What asks the objects; the statement has the names of the numbers."""
        made: list[gast.stmt] = []

        def number(node: Any) -> Any:
            cls = self.class_of_operand(stmt, node)
            if not isinstance(node, gast.Name) or own_method(cls, "__index__") is None:
                return node
            if isinstance(stmt, gast.AugAssign):  # Python asks it twice
                raise error_at(
                    UnsupportedError,
                    self.unit.source,
                    stmt,
                    f"`{node.id}` is a {cls.__name__}, whose `__index__` is called for "
                    "the old value and for the new one",
                    f"`operator.index({node.id})`, held in a variable",
                )
            index = self.fresh("index", varying=False)
            asked = self.inliner.constant(operator.index, "index_of")
            value = gast.Call(syntax.name(asked), [node], [])
            made.append(gast.copy_location(syntax.assign(index, value), stmt))
            return syntax.name(index)

        def entry(node: Any) -> Any:
            if isinstance(node, gast.Slice):
                bounds = (node.lower, node.upper, node.step)
                return gast.Slice(*[b and number(b) for b in bounds])
            if isinstance(node, gast.Tuple):
                return gast.Tuple([entry(e) for e in node.elts], node.ctx)
            return number(node)

        for node in syntax.walk(stmt):
            if isinstance(node, gast.Subscript) and self.takes_numbers(stmt, node):
                node.slice = entry(node.slice)
            elif isinstance(node, gast.Call):
                callees = self.facts.callees.get(id(node), [])
                names = [c for c in callees if isinstance(c, str)]
                for name in names:
                    count = _PLACES.get(name, 0)
                    node.args[:count] = map(number, node.args[:count])
        return made

    def takes_numbers(self, stmt: gast.stmt, node: gast.Subscript) -> bool:
        """Whether what is indexed asks the index for its number."""
        t = self.atom_type(stmt, node.value)
        return isinstance(t, (Array, List, Tuple))

    def class_of_operand(self, stmt: gast.stmt, node: gast.expr) -> Any:
        """The class of an operand."""
        raise NotImplementedError


__all__ = ["IndexSettling"]
