"""A function that hands itself a table which it makes at first, with the table around.

Before:                               After:

    def ways(n, x, memo=None):            def ways(n, x, memo=None):
        if memo is None:                      if memo is None:
            memo = {}                             memo = {}
        if n not in memo:                     def ways(n, x):
            a = ways(n - 1, x, memo)              if n not in memo:
            memo[n] = a * x + 1                       a = ways(n - 1, x)
        return memo[n]                                memo[n] = a * x + 1
                                                  return memo[n]
                                              return ways(n, x)

There is one table from then on, of one type, and the test is made once. A table that is
the default of a function inside is a variable around it: all calls share it.

    def price(x):                         def price(x):
        def ways(n, memo={}):                 memo = {}
            ...                               def ways(n):
                                                  ...
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.lift import own_nodes
from srcjax.frontend.read import FunctionSource

_DISPLAYS = (gast.Dict, gast.List, gast.Set)


def with_own_tables(source: FunctionSource) -> FunctionSource:
    """The source with tables that recursions hand on as variables around them."""
    own = _calls_itself(source) and _made_first(source.node)
    inner = [n for n in own_nodes(source.node.body) if isinstance(n, gast.FunctionDef)]
    if not own and not any(_made_first(n) or _tables_by_default(n) for n in inner):
        return source
    node = syntax.clone(source.node)
    names = syntax.Names(syntax.all_names(node) | set(source.closure))
    if own:
        _put_around(node, *(_made_first(node) or own))
    for block in syntax.blocks(node.body):
        for stmt in list(block):
            if isinstance(stmt, gast.FunctionDef):
                found = _made_first(stmt)
                if found:
                    block.insert(block.index(stmt), _apart(stmt, *found, names))
                _share_defaults(stmt, block, node)
    return replace(source, node=node)


def _calls_itself(source: FunctionSource) -> bool:
    """Whether the name of a function is its own, where it is defined."""
    try:
        return source.resolve(source.node.name) is source.func
    except KeyError:
        return False


# -- `memo=None` -----------------------------------------------------------------------


def _made_first(function: gast.FunctionDef) -> tuple[str, list[Any]] | None:
    """A parameter that the function makes a table of, and hands on as it is.

    With the calls of itself in it.
    """
    arguments = function.args
    if function.decorator_list or arguments.vararg or arguments.kwarg:
        return None
    first = function.body[0]
    name = _asked_for_none(first)
    if name not in _names_of(arguments) or len(function.body) < 2:
        return None
    rest = function.body[1:]
    if name in syntax.names_written(rest) or function.name in syntax.names_written(
        rest
    ):
        return None
    calls = _calls_of(function.name, rest)
    if not calls or any(isinstance(n, _GENERATING) for n in own_nodes(rest)):
        return None
    given = [_argument(call, name, arguments) for call in calls]
    if not all(syntax.is_name(value, name) for value in given):
        return None
    return name, calls


_GENERATING = (gast.Yield, gast.YieldFrom, gast.Global, gast.Nonlocal)


def _asked_for_none(stmt: Any) -> str:
    """`memo` of `if memo is None: memo = {}`, or the same in one expression."""
    value = stmt.value if isinstance(stmt, gast.Assign) else None
    if isinstance(value, gast.IfExp):
        made = gast.Assign(stmt.targets, value.body, None)
        named = isinstance(value.test, gast.Compare) and value.test.left
        if isinstance(named, gast.Name) and syntax.is_name(value.orelse, named.id):
            stmt = gast.If(value.test, [made], [])
    if not isinstance(stmt, gast.If) or stmt.orelse or len(stmt.body) != 1:
        return ""
    test, (made,) = stmt.test, stmt.body
    asks = isinstance(test, gast.Compare) and isinstance(test.ops[0], gast.Is)
    if not asks or not isinstance(made, gast.Assign) or len(test.ops) > 1:
        return ""
    none = getattr(test.comparators[0], "value", ...) is None
    if not none or len(made.targets) != 1 or not isinstance(test.left, gast.Name):
        return ""
    same = syntax.is_name(made.targets[0], test.left.id)
    return test.left.id if same and isinstance(made.value, _DISPLAYS) else ""


def _put_around(function: gast.FunctionDef, name: str, calls: list[Any]) -> None:
    """Let the rest of the function be one inside, which has the table from around."""
    given = function.args
    for call in calls:
        _leave_out(call, name, given)
    arguments = syntax.clone(given)
    _without(arguments, name)
    inner = _rest_of(function, function.name, arguments)
    function.body.insert(1, inner)


def _apart(
    function: gast.FunctionDef, name: str, calls: list[Any], names: syntax.Names
) -> gast.FunctionDef:
    """The rest of a function inside as one beside it, which is handed the table."""
    other = names.fresh(f"{function.name}_with_{name}")
    for call in calls:
        call.func.id = other
    return _rest_of(function, other, syntax.clone(function.args))


def _rest_of(
    function: gast.FunctionDef, name: str, arguments: gast.arguments
) -> gast.FunctionDef:
    """What comes behind the test as a function, which is called in its place."""
    rest = gast.FunctionDef(name, arguments, function.body[1:], [], None, None, [])
    passed = [syntax.name(a.id) for a in (*arguments.posonlyargs, *arguments.args)]
    by_name = [gast.keyword(a.id, syntax.name(a.id)) for a in arguments.kwonlyargs]
    last = gast.Return(gast.Call(syntax.name(name), passed, by_name))
    for part in [rest, *syntax.walk(arguments), *syntax.walk(last)]:
        gast.copy_location(part, function.body[1])
    function.body[1:] = [last]
    return rest


# -- `memo={}` -------------------------------------------------------------------------


def _tables_by_default(function: gast.FunctionDef) -> list[str]:
    """Parameters of which the default is a table."""
    return [
        name
        for name, default in _defaults(function.args).items()
        if isinstance(default, _DISPLAYS) and not list(syntax.names_in(default))
    ]


def _share_defaults(function: gast.FunctionDef, block: list, around: Any) -> None:
    """Let tables that no call from outside gives be variables around the function."""
    for name in _tables_by_default(function):
        everywhere = syntax.all_names(around.args) | syntax.all_names(
            [s for s in around.body if s is not function]
        )
        inside = _calls_of(function.name, function.body)
        outside = _calls_of(function.name, around.body)
        if function.decorator_list or name in everywhere or not inside:
            continue
        if outside is None or name in syntax.names_written(function.body):
            continue
        given = [_argument(c, name, function.args) for c in outside]
        if not all(v is None or syntax.is_name(v, name) for v in given):
            continue
        default = _defaults(function.args)[name]
        for call in outside:
            _leave_out(call, name, function.args)
        _without(function.args, name)
        made = gast.copy_location(syntax.assign(name, default), function)
        for part in syntax.walk(made):
            gast.copy_location(part, function)
        block.insert(block.index(function), made)


# -- calls and parameters --------------------------------------------------------------


def _calls_of(name: str, body: list[Any]) -> list[Any] | None:
    """The calls of a function; None if it is used in another way, or by `*args`."""
    calls = [
        n
        for n in syntax.walk(body)
        if isinstance(n, gast.Call) and syntax.is_name(n.func, name)
    ]
    if syntax.count_reads(body, name) != len(calls):
        return None
    spread = any(isinstance(a, gast.Starred) for c in calls for a in c.args)
    return (
        None
        if spread or any(k.arg is None for c in calls for k in c.keywords)
        else calls
    )


def _names_of(arguments: gast.arguments) -> list[str]:
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return [a.id for a in every]


def _argument(call: gast.Call, name: str, arguments: gast.arguments) -> Any:
    """What a call gives for the parameter; None if it gives nothing."""
    by_place = [a.id for a in (*arguments.posonlyargs, *arguments.args)]
    if name in by_place and by_place.index(name) < len(call.args):
        return call.args[by_place.index(name)]
    return next((k.value for k in call.keywords if k.arg == name), None)


def _leave_out(call: gast.Call, name: str, arguments: gast.arguments) -> None:
    """The call without what it gives for the parameter."""
    by_place = [a.id for a in (*arguments.posonlyargs, *arguments.args)]
    if name in by_place and by_place.index(name) < len(call.args):
        del call.args[by_place.index(name)]
    call.keywords = [k for k in call.keywords if k.arg != name]


def _defaults(arguments: gast.arguments) -> dict[str, Any]:
    """The defaults by parameter."""
    by_place = [a.id for a in (*arguments.posonlyargs, *arguments.args)]
    found = dict(zip(by_place[::-1], arguments.defaults[::-1], strict=False))
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return found | {a.id: d for a, d in named if d is not None}


def _without(arguments: gast.arguments, name: str) -> None:
    """Take a parameter away, with its default."""
    defaults = _defaults(arguments)
    for held in (arguments.posonlyargs, arguments.args):
        held[:] = [a for a in held if a.id != name]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    kept = [(a, d) for a, d in named if a.id != name]
    arguments.kwonlyargs = [a for a, _ in kept]
    arguments.kw_defaults = [d for _, d in kept]
    by_place = [a.id for a in (*arguments.posonlyargs, *arguments.args)]
    arguments.defaults = [defaults[n] for n in by_place if n in defaults]


__all__ = ["with_own_tables"]
