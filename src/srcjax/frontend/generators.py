"""A loop over a generator: the generator's body, with the loop's body at each `yield`.

Before:                               After:

    def halves(z):                        def run(z):
        while z > 0.1:                        nonlocal v, total
            yield z                           while z > 0.1:
            z = z / 2                             v = z
                                                  total += v * v
    for v in halves(x):                           z = z / 2
        total += v * v
                                          run(x)

This is the order in which Python executes them, so that nothing runs too early, a loop
without end may be left by `break` (which is `return` in `run`), and arrays that are
changed between two items are seen as they are.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.lift import bound_here, free_names, own_nodes
from srcjax.frontend.lowering import LoweringBase
from srcjax.frontend.read import read_generator
from srcjax.frontend.unit import parameter_names

_YIELDS = (gast.Yield, gast.YieldFrom)
#: Copies of the loop's body that are not too many.
_MOST = 4


class Generators(LoweringBase):
    """Lowers loops over generator functions of the user."""

    #: The scope of which it is known what is defined in it, and that by name.
    looked_at: list[gast.stmt] | None = None
    defined: dict[str, list[gast.FunctionDef]]

    def generator_of(self, node: Any) -> gast.FunctionDef | None:
        """The definition of the generator function that is called, if it is one."""
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name):
            return None
        name = node.func.id
        found = self.definitions().get(name)
        if found is not None:
            local = len(found) == 1 and syntax.count_bindings(self.scope, name) == 0
            return found[0] if local and is_generator(found[0]) else None
        function = self.varying.value(node.func)
        if not isinstance(function, FunctionType):
            return None
        if not inspect.isgeneratorfunction(function):
            return None
        source = read_generator(function)
        outside = free_names(source.node)
        local_names = syntax.names_written(self.scope) | set(self.source.closure)
        arguments = source.node.args
        defaults = [*arguments.defaults, *arguments.kw_defaults]
        same_scope = source.globals is self.source.globals and not source.closure
        constant = all(d is None or isinstance(d, gast.Constant) for d in defaults)
        if not same_scope or not constant or outside & local_names:
            return None
        self.looked_up.add(name)
        return source.node

    def definitions(self) -> dict[str, list[gast.FunctionDef]]:
        """The functions that are defined in the scope, by name."""
        if self.looked_at is not self.scope:
            self.looked_at = self.scope
            self.defined = {}
            for node in own_nodes(self.scope):
                if isinstance(node, gast.FunctionDef):
                    self.defined.setdefault(node.name, []).append(node)
        return self.defined

    def over_generator(self, stmt: gast.For) -> bool:
        """Lower a loop over a generator; False if it is none."""
        definition = self.generator_of(stmt.iter)
        if definition is None:
            return False
        call: Any = syntax.clone(stmt.iter)
        definition = syntax.clone(definition)
        name = definition.name
        definition.body = loops_for_yield_from(definition.body, self.names)
        count = sum(isinstance(n, gast.Yield) for n in own_nodes(definition.body))
        sent = count != plain_yields(definition.body)
        if sent or count > _MOST or name in free_names(definition):
            return False
        run = self.new_temp(f"run_{name}")
        inside = [*stmt.body, stmt.target]
        self.rename_apart(definition, call, syntax.all_names(inside))
        body = _left_by_return(stmt.body)
        if any(isinstance(n, gast.Continue) for n in own_nodes(body)):
            return False
        definition.body = _with_body(definition.body, stmt.target, body)
        outer = syntax.names_written(inside) - set(parameter_names(definition.args))
        if outer:
            definition.body.insert(0, gast.Nonlocal(sorted(outer)))
        definition.body.append(gast.Return(gast.Constant(None, None)))
        definition.name, definition.decorator_list = run, []
        call.func = syntax.name(run)
        for made in (definition, gast.Expr(call)):
            for node in syntax.walk(made):
                if isinstance(node, gast.stmt) and not hasattr(node, "lineno"):
                    gast.copy_location(node, stmt)
            self.statement(made)
        return True

    def rename_apart(
        self, definition: gast.FunctionDef, call: gast.Call, taken: set[str]
    ) -> None:
        """The generator's own variables are others than those of the loop's body."""
        own = bound_here(definition)
        new = {n: self.names.fresh(n) for n in sorted(own & taken)}
        for name, fresh in new.items():
            if name in self.varying.names:
                self.varying.names.add(fresh)
        syntax.rename(definition.args, new)
        syntax.rename(definition.body, new)
        for keyword in call.keywords:
            keyword.arg = new.get(keyword.arg, keyword.arg)

    def listed_generator(self, node: gast.Call) -> gast.expr | None:
        """`list(gen(x))` where a generator is not looped over at once."""
        definition = self.generator_of(node)
        if definition is None:
            return None
        if not is_eager(definition):
            raise self.refuse(
                node,
                "a generator that works between its items is used by another function",
                "`list(...)` of it, or a `for` loop over it",
            )
        count = sum(isinstance(n, gast.Yield) for n in own_nodes(definition.body))
        if count != plain_yields(definition.body) or count > _MOST:
            raise self.refuse(
                node,
                "a generator that is sent values, or yields in many places, is used by "
                "another function",
                "a list that is built and returned",
            )
        item = syntax.name(self.names.fresh("item"), store=True)
        self.varying.names.add(item.id)
        over = gast.comprehension(item, node, [], 0)
        listed = gast.ListComp(syntax.name(item.id), [over])
        return self.atom(gast.copy_location(listed, node))


def is_generator(definition: Any) -> bool:
    """Whether the function itself yields."""
    body = definition.body
    nodes = own_nodes(body if isinstance(body, list) else [body])
    return any(isinstance(n, _YIELDS) for n in nodes)


def plain_yields(body: list[gast.stmt]) -> int:
    """How many `yield v` are statements: nothing is sent into the generator."""
    return sum(
        isinstance(n, gast.Expr) and isinstance(n.value, gast.Yield)
        for n in own_nodes(body)
    )


def is_eager(definition: gast.FunctionDef) -> bool:
    """Whether all items may be asked for at once: they end, and nothing changes."""
    for node in own_nodes(definition.body):
        if isinstance(node, (gast.While, gast.AugAssign, gast.YieldFrom)):
            return False
        if isinstance(node, (gast.Subscript, gast.Attribute)) and not isinstance(
            node.ctx, gast.Load
        ):
            return False
        if isinstance(node, gast.Expr) and isinstance(node.value, gast.Call):
            return False
        function = syntax.dotted(getattr(getattr(node, "iter", None), "func", None))
        if function not in (None, "range", "zip", "enumerate", "reversed"):
            return False
    return True


def loops_for_yield_from(
    stmts: list[gast.stmt], names: syntax.Names
) -> list[gast.stmt]:
    """`yield from xs` as `for x in xs: yield x`."""
    out: list[gast.stmt] = []
    for stmt in stmts:
        for block in syntax.inner_blocks(stmt):
            block[:] = loops_for_yield_from(block, names)
        if isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.YieldFrom):
            item = names.fresh("item")
            step = gast.Expr(gast.Yield(syntax.name(item)))
            target = syntax.name(item, store=True)
            loop = gast.For(target, stmt.value.value, [step], [], None)
            stmt = gast.copy_location(loop, stmt)
        out.append(stmt)
    return out


def _with_body(
    stmts: list[gast.stmt], target: gast.expr, body: list[gast.stmt]
) -> list[gast.stmt]:
    """The statements with the loop's body in place of each `yield`."""
    out: list[gast.stmt] = []
    for stmt in stmts:
        for block in syntax.inner_blocks(stmt):
            block[:] = _with_body(block, target, body)
        if isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Yield):
            value = stmt.value.value or gast.Constant(None, None)
            bind = gast.Assign([syntax.clone(target)], value, None)
            out += [gast.copy_location(bind, stmt), *syntax.clone(body)]
        else:
            out.append(stmt)
    return out


def _left_by_return(stmts: list[gast.stmt]) -> list[gast.stmt]:
    """The body of a loop with `return` for its own `break`."""
    out: list[gast.stmt] = []
    for stmt in stmts:
        if isinstance(stmt, gast.Break):
            left = gast.Return(gast.Constant(None, None))
            out.append(gast.copy_location(left, stmt))
            continue
        if not isinstance(stmt, (gast.For, gast.While)):
            stmt = syntax.clone(stmt)
            for block in syntax.inner_blocks(stmt):
                block[:] = _left_by_return(block)
        out.append(stmt)
    return out


__all__ = [
    "Generators",
    "is_eager",
    "is_generator",
    "loops_for_yield_from",
    "plain_yields",
]
