"""Which names in a piece of code are global, by Python's own rules of scope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax

# name, attributes read from it, names bound around it -> what stands there instead,
# and how many of the attributes that covers
Resolve = Callable[[str, tuple[str, ...], frozenset[str]], tuple[gast.expr, int]]

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)


def parameters(args: gast.arguments) -> list[gast.Name]:
    """The parameters of a function, as nodes."""
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return found + [a for a in (args.vararg, args.kwarg) if a is not None]


def bound_names(body: Any) -> set[str]:
    """Names that a scope's own statements bind; nested scopes only bind their name."""
    found: set[str] = set()
    declared: set[str] = set()
    todo: list[tuple[Any, bool]] = [(body, False)]
    while todo:
        node, inside = todo.pop()  # inside: a comprehension, which binds its targets
        if isinstance(node, list):
            todo += [(item, inside) for item in node]
            continue
        if not isinstance(node, gast.AST):
            continue
        if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            found.add(node.name)
            todo += [(d, inside) for d in node.decorator_list]
            continue
        if isinstance(node, gast.Lambda):
            continue
        if isinstance(node, gast.Name) and isinstance(node.ctx, (gast.Store, gast.Del)):
            if not inside:
                found.add(node.id)
        elif isinstance(node, gast.alias):
            found.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, (gast.Global, gast.Nonlocal)):
            declared.update(node.names)
        elif isinstance(node, (gast.MatchAs, gast.MatchStar)) and node.name:
            found.add(node.name)
        elif isinstance(node, gast.MatchMapping) and node.rest:
            found.add(node.rest)
        elif isinstance(node, gast.NamedExpr):
            found.add(node.target.id)  # binds in the function, not the comprehension
        inside = inside or isinstance(node, syntax.COMPREHENSIONS)
        todo += [(child, inside) for child in gast.iter_child_nodes(node)]
    return found - declared


class GlobalNames:
    """Rewrites each use of a global name in a tree, in place.

    **Arguments**

    - `resolve`: says what to write for a name and the attributes read from it.
    - `on_write`: called with a global name that the code assigns to.
    """

    def __init__(self, resolve: Resolve, on_write: Callable[[str], None]) -> None:
        self.resolve = resolve
        self.on_write = on_write

    def visit(self, node: Any, bound: frozenset[str], class_bound: Any = ()) -> Any:
        """The rewritten node; `bound` are the names of the functions around it."""
        if isinstance(node, list):
            return [self.visit(item, bound, class_bound) for item in node]
        if not isinstance(node, gast.AST):
            return node
        if isinstance(node, _FUNCTIONS):
            return self._function(node, bound, class_bound)
        if isinstance(node, syntax.COMPREHENSIONS):
            return self._comprehension(node, bound, class_bound)
        if isinstance(node, gast.ClassDef):
            return self._class(node, bound, class_bound)
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            for name in node.names:
                if name not in bound:
                    self.on_write(name)
            return node
        if isinstance(node, (gast.Name, gast.Attribute)):
            found = self._chain(node, bound, class_bound)
            if found is not None:
                return found
        for key, value in list(node.__dict__.items()):
            if isinstance(value, (gast.AST, list)):
                setattr(node, key, self.visit(value, bound, class_bound))
        return node

    def _chain(self, node: Any, bound: frozenset[str], class_bound: Any) -> Any:
        """`np.linalg.norm`, if its first name is global; else None."""
        attributes: list[str] = []
        base = node
        while isinstance(base, gast.Attribute):
            attributes.insert(0, base.attr)
            base = base.value
        if not isinstance(base, gast.Name) or not isinstance(base.ctx, gast.Load):
            return None
        if base.id in bound or base.id in class_bound:
            return None
        found, used = self.resolve(base.id, tuple(attributes), bound)
        for attribute in attributes[used:]:
            found = gast.Attribute(found, attribute, syntax.LOAD)
        if isinstance(node, gast.Attribute) and isinstance(found, gast.Attribute):
            found.ctx = node.ctx
        return found

    def _function(self, node: Any, bound: frozenset[str], class_bound: Any) -> Any:
        args = node.args
        args.defaults = self.visit(args.defaults, bound, class_bound)
        args.kw_defaults = self.visit(args.kw_defaults, bound, class_bound)
        own = {p.id for p in parameters(args)}
        if isinstance(node, gast.Lambda):
            node.body = self.visit(node.body, bound | own | bound_names(node.body))
            return node
        node.decorator_list = self.visit(node.decorator_list, bound, class_bound)
        # Types of values are not needed to run, and may name what is not exported.
        node.returns = None
        for parameter in parameters(args):
            parameter.annotation = None
        inner = (bound | own | bound_names(node.body)) - _declared_global(node.body)
        node.body = self.visit(plain_statements(node.body), inner)
        return node

    def _comprehension(self, node: Any, bound: frozenset[str], class_bound: Any) -> Any:
        first = node.generators[0]
        first.iter = self.visit(first.iter, bound, class_bound)
        inner = bound | {
            n.id
            for generator in node.generators
            for n in syntax.walk(generator.target)
            if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
        }
        for i, generator in enumerate(node.generators):
            generator.target = self.visit(generator.target, inner)
            generator.ifs = self.visit(generator.ifs, inner)
            if i:
                generator.iter = self.visit(generator.iter, inner)
        for key in ("elt", "key", "value"):
            if hasattr(node, key):
                setattr(node, key, self.visit(getattr(node, key), inner))
        return node

    def _class(self, node: Any, bound: frozenset[str], class_bound: Any) -> Any:
        for key in ("decorator_list", "bases", "keywords"):
            setattr(node, key, self.visit(getattr(node, key), bound, class_bound))
        # Methods do not see the names of the class body.
        node.body = self.visit(node.body, bound, bound_names(node.body))
        return node


def _declared_global(body: list[gast.stmt]) -> set[str]:
    """Names that `global` statements of a function itself declare."""
    found: set[str] = set()
    todo: list[Any] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, gast.Global):
            found.update(node.names)
        if isinstance(node, gast.AST) and not isinstance(
            node, (*_FUNCTIONS, gast.ClassDef)
        ):
            todo += gast.iter_child_nodes(node)
    return found


def plain_statements(body: Any) -> Any:
    """The statements without annotations of variables."""
    found: list[Any] = []
    for node in body:
        if isinstance(node, gast.AnnAssign):
            if node.value is None:
                continue
            node = gast.Assign([node.target], node.value, None)
        else:
            syntax.rewrite_blocks(node, plain_statements)
        found.append(node)
    return found or [gast.Pass()]
