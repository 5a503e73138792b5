"""Indices that are objects: `x[q]` asks `q` of the user's for its number, once.

What is written of `x[q]` asks more often, for the place of the adjoint, say; so the
number gets a name: `index = operator.index(q)`. And a part of a list or tuple has its
bounds in the text, by which it is told from an item: `xs[where]` of a slice that was
given is `xs[start:stop:step]`.
"""

from __future__ import annotations

import contextlib
import operator
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.containers import bounds_of
from srcjax.analysis.foreign import own_method
from srcjax.analysis.types import Array, Const, List, Tuple
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
                told = self.given_part(stmt, node)
                if told is not None:
                    node.slice = self.bounds(stmt, node.slice, told, made)
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

    def given_part(self, stmt: gast.stmt, node: gast.Subscript) -> list[Any] | None:
        """What is told of the slice that chooses a part of a list or tuple, or None.

        None too of a part that is assigned by steps of which nothing is known: without
        any it may get another length (`cut_of`).
        """
        if not isinstance(self.atom_type(stmt, node.value), (List, Tuple)):
            return None
        index = self.atom_type(stmt, node.slice)
        if index is None and isinstance(node.slice, gast.Name):
            with contextlib.suppress(KeyError):  # from around the function
                index = Const(value=self.program.look(self.unit, node.slice.id))
        told = bounds_of(index)
        stored = isinstance(node.ctx, gast.Store)
        return None if told is None or stored and told[2] is ... else told

    def bounds(
        self, stmt: gast.stmt, given: gast.expr, told: list[Any], made: list[gast.stmt]
    ) -> gast.Slice:
        """The bounds of the slice, each by a name of its own; a step if it has one."""
        without = told[2] in (None, 1)
        names = []
        for bound in ("start", "stop", "step")[: 2 if without else 3]:
            name = self.fresh(bound, varying=False)
            value = gast.Attribute(syntax.clone(given), bound, syntax.LOAD)
            made.append(gast.copy_location(syntax.assign(name, value), stmt))
            names.append(syntax.name(name))
        return gast.Slice(*names, *[None] * without)

    def class_of_operand(self, stmt: gast.stmt, node: gast.expr) -> Any:
        """The class of an operand."""
        raise NotImplementedError


__all__ = ["IndexSettling"]
