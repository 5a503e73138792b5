"""A function inside that remembers its values, with the dict in which it does.

Before:                               After:

    @functools.cache                      price_memo = {}
    def price(i, j):                      def price(i, j):
        if i == n:                            if (i, j) in price_memo:
            return payoff(j)                      return price_memo[i, j]
        return p * price(i + 1, j)            if i == n:
                                                  price_memo[i, j] = payoff(j)
                                                  return price_memo[i, j]
                                              price_memo[i, j] = p * price(i + 1, j)
                                              return price_memo[i, j]

The recursion that it saves is not made again, in the derivative either.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import leaves
from srcjax.frontend.lift import bound_here, free_names, own_nodes
from srcjax.frontend.read import FunctionSource

_REMEMBERING = (functools.cache, functools.lru_cache)


def with_memos(source: FunctionSource) -> FunctionSource:
    """The source with a dict for each function inside that calls itself by `cache`."""
    found = [n for n in own_nodes(source.node.body) if _remembers(n, source)]
    if not found:
        return source
    names = syntax.Names(syntax.all_names(source.node) | set(source.closure))
    node = syntax.clone(source.node)
    for block in syntax.blocks(node.body):
        for stmt in list(block):
            if _remembers(stmt, source):
                memo = names.fresh(f"{stmt.name}_memo")
                start = syntax.assign(memo, gast.Dict([], []))
                block.insert(block.index(stmt), gast.copy_location(start, stmt))
                _remember(stmt, memo, names)
    return replace(source, node=node)


def _remembers(node: Any, source: FunctionSource) -> bool:
    """Whether it is a function that calls itself, and remembers what it gave."""
    if not isinstance(node, gast.FunctionDef) or len(node.decorator_list) != 1:
        return False
    decorator = node.decorator_list[0]
    if isinstance(decorator, gast.Call):
        decorator = decorator.func
    if node.args.vararg or node.args.kwarg or node.name not in free_names(node):
        return False
    if not any(_value(source, decorator) is each for each in _REMEMBERING):
        return False
    return not any(  # `price.cache_clear()`
        isinstance(n, gast.Attribute) and syntax.is_name(n.value, node.name)
        for n in syntax.walk(source.node)
    )


def _value(source: FunctionSource, expr: Any) -> Any:
    """What a dotted name of things from around is; None where that is not known."""
    root, *rest = (syntax.dotted(expr) or "").split(".")
    if root in bound_here(source.node) and root not in source.imported:
        return None
    try:
        found = source.resolve(root)
    except KeyError:
        return None
    for part in rest:
        found = getattr(found, part, None)
    return found


def _remember(function: gast.FunctionDef, memo: str, names: syntax.Names) -> None:
    """Let the function look into the dict first, and put what it gives into it."""
    arguments = function.args
    given = [a.id for a in (*arguments.posonlyargs, *arguments.args)]
    given += [a.id for a in arguments.kwonlyargs]
    key: gast.expr = gast.Tuple([syntax.name(n) for n in given], syntax.LOAD)
    if len(given) == 1:
        key = syntax.name(given[0])
    head: list[gast.stmt] = []
    if syntax.names_written(function.body) & set(given):  # another key at the end
        held = names.fresh("key")
        head.append(syntax.assign(held, key))
        key = syntax.name(held)
    if not leaves(function.body):
        function.body.append(gast.Return(gast.Constant(None, None)))
    item = gast.Subscript(syntax.name(memo), key, syntax.LOAD)
    known = gast.Compare(syntax.clone(key), [gast.In()], [syntax.name(memo)])
    head.append(gast.If(known, [gast.Return(syntax.clone(item))], []))
    for block in syntax.blocks(function.body):
        for stmt in list(block):
            if isinstance(stmt, gast.Return):
                value = stmt.value or gast.Constant(None, None)
                put = syntax.assign(syntax.as_store(item), value)
                block.insert(block.index(stmt), gast.copy_location(put, stmt))
                stmt.value = syntax.clone(item)
    for made in head:
        for part in syntax.walk(made):
            gast.copy_location(part, function)
    function.body[:0] = head
    function.decorator_list = []


__all__ = ["with_memos"]
