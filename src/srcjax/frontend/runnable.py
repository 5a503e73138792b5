"""Functions as they are, which run on NumPy's arrays though they say `x.at[i].set(v)`.

Where a transform leaves a function alone, it calls the function itself; one that asks
arrays for what NumPy's do not have has to be asked for it in another way.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import types
from typing import Any

import numpy as np

from srcjax.analysis.standard import nested
from srcjax.backends.marks import NAMES_MADE
from srcjax.ops.record import PROPERTIES
from srcjax.process import tree_of


def property_of(x: Any, name: str) -> Any:
    """`x.name`, also of NumPy's arrays."""
    if isinstance(x, (np.ndarray, np.generic)):
        return PROPERTIES[name](x)
    return getattr(x, name)


def _attributes(code: types.CodeType) -> set[str]:
    """The names of attributes (and of globals) in a function and those inside it."""
    return {name for each in nested(code) for name in each.co_names}


def _by_position(partial: functools.partial) -> Any:
    """The function, which takes by position what a partial lets pass by name alone."""
    inside = partial.func
    while isinstance(inside, functools.partial):
        inside = inside.func
    by_name = inspect.Parameter.KEYWORD_ONLY
    own = inspect.signature(inside).parameters
    parameters = inspect.signature(partial).parameters.values()
    left = [p for p in parameters if p.name not in partial.keywords]
    first = sum(p.kind is not by_name for p in left)
    after = [
        p.name
        for p in left
        if p.kind is by_name and p.name in own and own[p.name].kind is not by_name
    ]
    if not after:
        return partial

    def called(*args: Any, **kwargs: Any) -> Any:
        named = dict(zip(after, args[first:], strict=True))
        return partial(*args[:first], **named, **kwargs)

    return called


def runnable(function: Any) -> Any:
    """The function, or one that does the same and runs on NumPy's arrays.

    What a partial gives by name is no parameter any more, and those behind it are
    passed by position all the same.
    """
    if isinstance(function, functools.partial) and function.keywords:
        inside = runnable(function.func)
        bound = functools.partial(inside, *function.args, **function.keywords)
        return _by_position(bound)
    if not isinstance(function, types.FunctionType) or function in NAMES_MADE:
        return function  # what was written says `np.add.at` alone
    if not _attributes(function.__code__) & PROPERTIES.keys():
        return function
    try:
        tree = tree_of(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return function
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef) or node.name != function.__name__:
        return function
    node.decorator_list = []
    asking = _Asking(function.__globals__)
    node = asking.visit(node)
    if not asking.changed:
        return function
    cells = (*function.__code__.co_freevars, _WORD)
    # Within a function that binds its free names it has the same ones.
    around = ast.parse("def around():\n    pass").body[0]
    assert isinstance(around, ast.FunctionDef)
    around.body = [*ast.parse("\n".join(f"{c} = None" for c in cells)).body, node]
    around.body.append(ast.Return(ast.Name(node.name, ast.Load())))
    module = ast.fix_missing_locations(ast.Module([around], []))
    ast.increment_lineno(module, function.__code__.co_firstlineno - 1)
    scope: dict[str, Any] = {}
    exec(compile(module, function.__code__.co_filename, "exec"), scope)
    code = next(
        c
        for c in scope["around"].__code__.co_consts
        if isinstance(c, types.CodeType) and c.co_name == function.__name__
    )
    cell = types.CellType(property_of)
    held = dict(zip(cells, (*(function.__closure__ or ()), cell), strict=True))
    closure = tuple(held[name] for name in code.co_freevars)
    made = types.FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        closure,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__module__ = function.__module__
    return made


#: What no program calls anything.
_WORD = "__srcjax_property_of__"


class _Asking(ast.NodeTransformer):
    """Asks for `x.at` in another way; `np.add.at` stays."""

    def __init__(self, around: dict[str, Any]) -> None:
        self.around = around
        self.changed = False

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr not in PROPERTIES or not isinstance(node.ctx, ast.Load):
            return node
        owner: Any = node.value
        names = ast.unparse(owner).split(".")
        value = self.around.get(names[0])
        for name in names[1:]:
            value = getattr(value, name, None)
        if isinstance(value, np.ufunc):
            return node
        self.changed = True
        arguments: list[ast.expr] = [node.value, ast.Constant(node.attr)]
        return ast.Call(ast.Name(_WORD, ast.Load()), arguments, [])
