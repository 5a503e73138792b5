"""Which names may carry a derivative: a conservative look at the names alone.

What depends on no such name is left exactly as the user wrote it, whatever it is. The
answer may name too much (the interpreter of `analysis.infer` decides exactly, later),
never too little: the interpreter reports a name that was missed, and the function is
normalised again with it.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.arrays import inside
from srcjax.analysis.flow.looking import (
    SHAPE_ATTRIBUTES,
    SHAPE_BUILTINS,
    SHAPE_FUNCTIONS,
)
from srcjax.analysis.structural import is_structural
from srcjax.analysis.types import Varies, varies
from srcjax.frontend.collective_calls import uses_collectives
from srcjax.frontend.unit import acting, is_place, own_attribute
from srcjax.ops.record import ATTRIBUTES, METHODS, PROPERTIES, WRITTEN_OUT, lookup

#: Builtins whose result carries no derivative.
INERT_BUILTINS = frozenset(
    [
        "len",
        "range",
        "isinstance",
        "issubclass",
        "hasattr",
        "callable",
        "print",
        "repr",
        "str",
        "bool",
        "int",
        "id",
        "type",
        "hash",
        "any",
        "all",
        "ascii",
        "bin",
        "chr",
        "ord",
        "format",
        "input",
        "open",
        "hex",
        "oct",
        "dir",
    ]
)
#: What may call a function.
_ACTING = (gast.Call, gast.Attribute)


class Varying:
    """Answers whether expressions and statements touch the varying names."""

    def __init__(self, resolve: Callable[[str], Any], bound: set[str]) -> None:
        self.what = varies()
        #: Whether values of every kind vary, not only those with derivatives.
        self.all_kinds = self.what is not Varies.DERIVATIVES
        self.mapping = self.what is Varies.EXAMPLES
        #: Whether calls and arrays vary that have to do with no name of the function.
        self.run_time = self.what is Varies.RUN_TIME
        self.names: set[str] = set()
        #: Where expressions change what carries a derivative (`unit.acting`).
        self.places: set[str] = set()
        self._resolve = resolve
        self.bound = bound
        #: By what is called, as far as it was asked for: whether it is written out.
        self._written_out: dict[str, bool] = {}
        #: Expressions that were found to carry a derivative: they do so when more names
        #: do, and are asked about again with each expression that they are part of.
        self.carrying: syntax.ByNode[bool] = syntax.ByNode()

    def value(self, node: gast.expr) -> Any:
        """The live object that a dotted name stands for, None when not known."""
        chain = syntax.dotted(node)
        if chain is None:
            return None
        first, *rest = chain.split(".")
        if first in self.bound:
            return None
        try:
            value = self._resolve(first)
            for attribute in rest:
                value = getattr(value, attribute)
        except (KeyError, AttributeError):
            return None
        return inside(value)

    def is_builtin(self, node: gast.expr, *names: str) -> bool:
        """Whether the expression is one of Python's own functions of that name."""
        value = self.value(node)
        return any(value is getattr(builtins, n) for n in names if value is not None)

    def inert_result(self, node: gast.expr) -> bool:
        """Whether no derivative flows through the value, whatever it is made from."""
        if self.places and self.acts(node):
            return False
        if self.all_kinds:
            return self.known_before(node)
        if isinstance(node, (gast.Compare, gast.JoinedStr, gast.Constant)):
            return True
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            return True
        if isinstance(node, gast.Attribute):
            op = ATTRIBUTES.get(node.attr)
            own = own_attribute(node.attr) in self.names
            return op is not None and op.inert and not own
        if isinstance(node, gast.BoolOp):
            return all(map(self.inert_result, node.values))
        if isinstance(node, gast.Call):
            function = self.value(node.func)
            if function is not None:
                name = getattr(function, "__name__", "")
                if function in (sorted, max, min) and self.picks_numbers(node):
                    return True
                if function is getattr(builtins, name, None) and name in INERT_BUILTINS:
                    return True
                op = lookup(function)
                return op is not None and op.inert
            if isinstance(node.func, gast.Attribute):
                op = METHODS.get(node.func.attr)
                own = own_attribute(node.func.attr) in self.names
                return op is not None and op.inert and not own
        return False

    def acts(self, node: Any) -> bool:
        """Whether evaluating this changes what carries a derivative.

        `update(x) > 0.1` is a truth value, and is more than that.
        """
        return bool(self.places) and any(map(self.is_place, syntax.walk(node)))

    def is_place(self, node: Any) -> bool:
        """Whether it is itself the expression that does."""
        found = bool(self.places) and isinstance(node, _ACTING)
        return found and acting(node) in self.places

    def known_before(self, node: gast.expr) -> bool:
        """Whether the value is known before the function runs: a constant, a shape.

        It is one for all examples of a batch, whatever it is made from.
        """
        if isinstance(node, gast.Constant):
            return True
        if isinstance(node, gast.Attribute):
            if node.attr not in SHAPE_ATTRIBUTES:
                return False
            own = own_attribute(node.attr) in self.names
            return self.has_name_if_it_varies(node.value) and not own
        if isinstance(node, gast.Subscript):
            return self.known_before(node.value) and not isinstance(
                node.value, gast.Constant
            )
        if isinstance(node, gast.Call):
            looks = self.looks_at_shapes(self.value(node.func))
            # Else an argument gets a name first.
            return looks and all(map(self.has_name_if_it_varies, node.args))
        return False

    def has_name_if_it_varies(self, node: gast.expr) -> bool:
        """Whether what carries a derivative here is a name, as in `np.shape(x)`."""
        return isinstance(node, gast.Name) or not self.carries(node)

    def looks_at_shapes(self, function: Any) -> bool:
        """Whether types alone tell what the function gives."""
        if function is None:
            return False
        name = getattr(function, "__name__", "")
        if function is getattr(builtins, name, None):
            return name in SHAPE_BUILTINS
        op = lookup(function)
        return op is not None and op.name in SHAPE_FUNCTIONS

    def picks_numbers(self, node: gast.Call) -> bool:
        """`sorted(range(n), key=...)`: an order, whatever decides it."""
        return bool(node.args) and (
            isinstance(node.args[0], gast.Call)
            and self.is_builtin(node.args[0].func, "range")
        )

    def is_collective(self, node: Any) -> bool:
        """Whether the call is about all the examples of a batch, whatever it gets."""
        if not self.mapping or not isinstance(node, gast.Call):
            return False
        function = self.value(node.func)
        return function is not None and uses_collectives(function)

    def carries(self, node: Any) -> bool:
        """Whether a derivative may flow into the value of the expression."""
        if isinstance(node, list):
            return any(map(self.carries, node))
        if self.carrying.get(node):
            return True
        found = self.finds_carried(node)
        if found and isinstance(node, gast.expr):
            self.carrying[node] = True
        return found

    def finds_carried(self, node: Any) -> bool:
        """The same of what was not asked about before, or carries none so far."""
        if self.is_collective(node) or self.is_written_out(node):
            return True
        if isinstance(node, gast.Name):
            return node.id in self.names or self.is_array(node)
        if not isinstance(node, gast.AST):
            return False
        if isinstance(node, gast.expr) and self.inert_result(node):
            return any(
                self.carries(sub.value) or sub.target.id in self.names
                for sub in syntax.walk(node)
                if isinstance(sub, gast.NamedExpr)
            ) or self.asks_for_structure(node)
        if isinstance(node, gast.IfExp) and not self.all_kinds:
            acts = self.has_walrus(node.test) or self.acts(node.test)
            return acts or self.carries([node.body, node.orelse])
        if isinstance(node, gast.Subscript) and not self.all_kinds:
            return self.carries([node.value, node.slice])
        if isinstance(node, gast.Call) and (self.run_time or self.is_place(node)):
            return True
        return any(
            self.carries(value)
            for key, value in node.__dict__.items()
            if isinstance(value, (gast.AST, list)) and key != "ctx"
        )

    def asks_for_structure(self, node: gast.expr) -> bool:
        """Whether a call is in it that is written out: `tree.leaves(p)[0].shape`."""
        return any(
            isinstance(sub, gast.Call)
            and is_structural(self.value(sub.func))
            and self.carries([*sub.args, *(k.value for k in sub.keywords)])
            for sub in syntax.walk(node)
        )

    def is_array(self, node: gast.Name) -> bool:
        """Whether a name from around the function stands for what it computes with."""
        return self.run_time and isinstance(self.value(node), np.ndarray | np.generic)

    def is_written_out(self, node: Any) -> bool:
        """Whether it is `x.at`, which NumPy's arrays do not have, or a call like it."""
        if isinstance(node, gast.Attribute):
            return node.attr in PROPERTIES and self.value(node) is None
        chain = syntax.dotted(node.func) if isinstance(node, gast.Call) else None
        if chain is None:
            return False
        if chain not in self._written_out:
            self._written_out[chain] = id(self.value(node.func)) in WRITTEN_OUT
        return self._written_out[chain]

    def has_walrus(self, node: Any) -> bool:
        """Whether a varying name is bound inside the expression."""
        return any(
            isinstance(sub, gast.NamedExpr) and sub.target.id in self.names
            for sub in syntax.walk(node)
        )

    def touches(self, node: Any) -> bool:
        """Whether a varying name occurs anywhere inside the statement."""
        if isinstance(node, gast.expr) and not self.carries(node):
            return False
        if not self.names.isdisjoint(syntax.all_names(node)):
            return True
        if self.run_time:
            return any(isinstance(sub, gast.Call) for sub in syntax.walk(node))
        if any(map(self.is_written_out, syntax.walk(node))):
            return True
        return self.mapping and any(map(self.is_collective, syntax.walk(node)))


def find_varying(
    body: list[gast.stmt], start: Iterable[str], varying: Varying
) -> Varying:
    """Close the set of names under assignment, aliasing and mutation.

    `start` are the names known to carry a derivative: parameters, and names that the
    interpreter found later.
    """
    names = varying.names
    names.update(start)
    varying.carrying.clear()  # the statements may be others by now
    varying.places.update(filter(is_place, names))
    if varying.run_time:
        names.update(varying.bound)
    nodes = list(syntax.walk(body))
    size = -1
    while size != len(names):
        size = len(names)
        for node in nodes:
            for target, value in _flows(node):
                targets = set(_bases(target))
                if names.issuperset(targets) and not _may_alias(value):
                    continue
                if varying.carries(value):
                    names.update(targets)
                elif _may_alias(value) and not names.isdisjoint(targets):
                    names.update(_bases(value))
            if isinstance(node, gast.Call):
                _method_flow(node, varying)
            elif isinstance(node, gast.FunctionDef):
                free = syntax.all_names(node) - {a.id for a in _args(node)}
                if not names.isdisjoint(free):
                    names.add(node.name)
    return varying


def _args(node: gast.FunctionDef) -> list[gast.Name]:
    arguments = node.args
    extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.args, *arguments.posonlyargs, *arguments.kwonlyargs, *extra]


def _method_flow(node: gast.Call, varying: Varying) -> None:
    """`xs.append(x)`: a varying argument makes the object vary."""
    arguments = [*node.args, *(k.value for k in node.keywords)]
    if (
        isinstance(node.func, gast.Attribute)
        and varying.value(node.func) is None
        and varying.carries(arguments)
    ):
        varying.names.update(_bases(node.func.value))
    for keyword in node.keywords:
        if keyword.arg == "out" and varying.carries(arguments):
            varying.names.update(_bases(keyword.value))
    function = varying.value(node.func)
    if isinstance(function, np.ufunc) and varying.carries(arguments):
        varying.names.update(
            b for out in node.args[function.nin :] for b in _bases(out)
        )
    op = lookup(function)
    if op is not None and op.writes and node.args and varying.carries(arguments):
        varying.names.update(_bases(node.args[0]))


def _flows(node: gast.AST) -> list[tuple[Any, Any]]:
    """(target, value) for everything a node binds."""
    if isinstance(node, gast.Assign):
        return [(target, node.value) for target in node.targets]
    if isinstance(node, (gast.AugAssign, gast.NamedExpr)):
        return [(node.target, node.value)]
    if isinstance(node, gast.AnnAssign):
        return [(node.target, node.value)] if node.value is not None else []
    if isinstance(node, gast.For):
        return [(node.target, node.iter)]
    if isinstance(node, gast.comprehension):
        return [(node.target, node.iter)]
    if isinstance(node, gast.withitem) and node.optional_vars is not None:
        return [(node.optional_vars, node.context_expr)]
    if isinstance(node, gast.Match):
        bound = {
            n
            for sub in syntax.walk(node.cases)
            for n in (getattr(sub, "name", None), getattr(sub, "rest", None))
            if isinstance(n, str) and isinstance(sub, gast.pattern)
        }
        return [(syntax.name(n, store=True), node.subject) for n in sorted(bound)]
    return []


def _bases(target: Any) -> list[str]:
    """The names that are bound or written through by a target."""
    if isinstance(target, gast.Name):
        return [target.id]
    if isinstance(target, (gast.Tuple, gast.List)):
        return [base for element in target.elts for base in _bases(element)]
    if isinstance(target, (gast.Subscript, gast.Attribute, gast.Starred)):
        return _bases(target.value)
    if isinstance(target, gast.Call) and isinstance(target.func, gast.Attribute):
        return _bases(target.func.value)
    return []


def _may_alias(value: Any) -> bool:
    """Whether the value may share memory with a name in it."""
    return isinstance(
        value,
        (gast.Name, gast.Subscript, gast.Attribute, gast.Tuple, gast.List, gast.Call),
    )
