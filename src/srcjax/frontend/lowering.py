"""What all of lowering stands on: emitting statements and naming what they bind."""

from __future__ import annotations

import functools
from collections import ChainMap
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.bindings import named_inside
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.helper_names import HELPERS
from srcjax.frontend.spoken import describe, without_minus
from srcjax.frontend.varying import Varying


class LoweringBase:
    """Collects the statements that replace the one at hand."""

    def __init__(self, source: Any, names: syntax.Names, varying: Varying) -> None:
        self.source = source
        self.names = names
        self.varying = varying
        self.temps: set[str] = set()
        #: The words that names of temporaries are made of, by the temporaries in them.
        self.words: dict[str, str] = {}
        #: Free names whose values were looked into: the text holds while they stay.
        self.looked_up: set[str] = set()
        #: The targets of comprehensions, by the names of their own that they get.
        self.own_targets: dict[str, str] = {}
        #: Names after `out=` that are no None in the branch at hand.
        self.there: set[str] = set()
        self.out: list[gast.stmt] = []
        self.at: gast.AST = source.node
        #: The user's statement that is being lowered.
        self.whole: gast.AST = source.node
        #: The body of the function, before it was lowered.
        self.scope: list[gast.stmt] = source.node.body

    # -- writing ----------------------------------------------------------------------

    def refuse(self, node: gast.AST, reason: str, instead: str) -> Exception:
        """An error about the user's source at the node."""
        where = node if hasattr(node, "lineno") else self.at
        return error_at(UnsupportedError, self.source, where, reason, instead)

    def emit(self, stmt: gast.stmt) -> None:
        """Append a statement, at the user's line."""
        if getattr(stmt, "lineno", None) is None:
            gast.copy_location(stmt, self.at)
        for node in syntax.walk(stmt):
            if isinstance(node, gast.stmt) and not hasattr(node, "user_line"):
                self.quote(node)
        if not self.varying.names.isdisjoint(named_inside(stmt)):
            raise self.refuse(
                stmt, "`:=` binds a differentiated value here", "an assignment before"
            )
        self.out.append(stmt)

    def quote(self, stmt: gast.stmt) -> None:
        """Remember the user's line: (file, line number, text)."""
        line = getattr(self.whole, "lineno", None) or getattr(stmt, "lineno", 0)
        stmt.user_line = (self.source.filename, line, self.source.line(line))

    def temp(self, value: gast.expr, base: str | None = None) -> gast.Name:
        """Hold a value in a new temporary."""
        shown = syntax.rename(syntax.clone(value), self.own_targets)
        name, word = describe(shown, ChainMap(self.words, self.names.numbered))
        id = self.names.fresh(apart(base or name))
        self.temps.add(id)
        self.words[id] = base or word
        plain = without_minus(name)
        if plain is not None and base is None:
            self.names.negated[id] = plain
        if self.varying.carries(value):
            self.varying.names.add(id)
        stmt = syntax.assign(id, value)
        if hasattr(value, "lineno"):
            gast.copy_location(stmt, value)
        self.emit(stmt)
        return syntax.name(id)

    def atom(self, node: Any) -> gast.expr:
        """A name or literal that holds the value."""
        if syntax.is_atom(node):
            return node
        value = self.operation(node)
        return value if syntax.is_atom(value) else self.temp(value)

    def function_atom(self, node: Any) -> gast.expr:
        """What can be called: a function's own name, dotted or not, stays."""
        named = isinstance(node, (gast.Name, gast.Attribute))
        return node if named and self.varying.value(node) else self.atom(node)

    def atoms(self, nodes: list, later: list | None = None) -> list:
        """Atoms for arguments, evaluated in order and before `later`; stars stay."""
        found: list[gast.expr] = []
        nodes = [*nodes, *(later or ())]
        for place, n in enumerate(nodes[: len(nodes) - len(later or ())]):
            rest = nodes[place + 1 :]
            if isinstance(n, gast.Starred):
                held = self.held(self.atom(n.value), rest)
                items = gast.List([gast.Starred(held, syntax.LOAD)], syntax.LOAD)
                held = self.unchanged(held, items, rest)
                found.append(gast.Starred(held, syntax.LOAD))
            else:
                found.append(self.held(self.argument(n), rest))
        return found

    def acts(self, node: Any) -> bool:
        """Whether an expression has to be taken apart though it carries nothing.

        It binds a name, or changes what carries a derivative.
        """
        return binds(node) or self.varying.acts(node)

    def in_order(self, nodes: list) -> list:
        """Atoms for operands that are evaluated one after the other."""
        return [
            self.held(self.atom(node), nodes[place + 1 :])
            for place, node in enumerate(nodes)
        ]

    def held(self, atom: gast.expr, later: list) -> gast.expr:
        """What a name holds now, if what is evaluated later binds it again."""
        if not isinstance(atom, gast.Name):
            return atom
        for node in syntax.walk(later):
            if isinstance(node, gast.NamedExpr) and node.target.id == atom.id:
                return self.temp(atom)
            if isinstance(node, gast.Call) and atom.id in self.bound_from_inside:
                return self.temp(atom)
        return atom

    def unchanged(self, atom: gast.expr, items: gast.expr, later: list) -> gast.expr:
        """What `*xs` or `**d` gives now, if a call that comes later may change it."""
        if not isinstance(atom, gast.Name):
            return atom
        for node in syntax.walk(later):
            if not isinstance(node, gast.Call):
                continue
            known = self.varying.value(node.func)
            plain = isinstance(known, (type, np.ufunc, BuiltinFunctionType))
            library = plain or home_of(known) == "numpy"
            local = known is None and isinstance(node.func, gast.Name)
            named = syntax.count_reads(node, atom.id) and not library
            if local or named or self.acts(node):
                return self.temp(items)
        return atom

    @functools.cached_property
    def bound_from_inside(self) -> set[str]:
        """Names that functions defined in this one bind."""
        return {
            name
            for node in syntax.walk(self.source.node)
            if isinstance(node, gast.Nonlocal)
            for name in node.names
        }

    def argument(self, node: gast.expr) -> gast.expr:
        """An argument: a short constant expression such as `(2, 3)` may stay."""
        if _is_literal(node):
            return node
        return self.atom(node)

    def new_temp(self, base: str) -> str:
        """A varying temporary that several branches assign."""
        id = self.names.fresh(apart(base))
        self.temps.add(id)
        self.varying.names.add(id)
        return id

    # What the classes below add, and the ones between call.

    def block(self, stmts: list[gast.stmt]) -> list[gast.stmt]:
        raise NotImplementedError

    def statement(self, stmt: gast.stmt) -> None:
        raise NotImplementedError

    def bind(self, target: gast.expr, value: gast.expr) -> None:
        raise NotImplementedError

    def operation(self, node: gast.expr) -> gast.expr:
        raise NotImplementedError

    def test(self, node: gast.expr) -> gast.expr:
        raise NotImplementedError

    def choose(self, node: gast.IfExp, take: Callable[[gast.expr], None]) -> None:
        """A branch, both sides of which take the part that they evaluate."""
        test = self.test(node.test)
        branches = []
        for part in (node.body, node.orelse):
            outer, self.out = self.out, []
            take(part)
            branches.append(self.out)
            self.out = outer
        self.emit(gast.If(test, *branches))

    def index(self, node: gast.expr) -> gast.expr:
        raise NotImplementedError

    def missing_out(self, call: gast.expr) -> str:
        raise NotImplementedError

    def bind_out(self, target: gast.Name, call: Any, out: str) -> None:
        raise NotImplementedError


def home_of(value: Any) -> str:
    """The package that something is defined in, as it says itself."""
    return str(getattr(value, "__module__", "") or "").partition(".")[0]


def binds(node: Any) -> bool:
    """Whether a walrus binds a name inside."""
    return any(isinstance(sub, gast.NamedExpr) for sub in syntax.walk(node))


def apart(base: str) -> str:
    """The name, if it is not that of a helper that generated code may call."""
    return f"{base}_value" if base in HELPERS else base


def _is_literal(node: gast.expr) -> bool:
    """Numbers, strings, None and tuples of them."""
    if isinstance(node, (gast.Tuple, gast.List)):
        return bool(node.elts) and all(map(_is_literal, node.elts))
    return isinstance(node, gast.Constant) or (
        isinstance(node, gast.UnaryOp) and isinstance(node.operand, gast.Constant)
    )
