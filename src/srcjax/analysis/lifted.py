"""Functions with all that they need as parameters (lambda lifting).

    def f(x):                             def h(y, x):
        def h(y):                             return x * y
            return x * y

A transform of a function needs its source and its parameters by position. A function
that is defined inside another gets the variables that it takes from around as its last
parameters; one with `*args`, keyword-only parameters or bound arguments is called from
a function with plain parameters.
"""

from __future__ import annotations
import __future__

import builtins
import inspect
import types as pytypes
from dataclasses import dataclass, replace
from types import CellType
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.binding import Env, signature_inside
from srcjax.analysis.flow.trips import is_of_this_trip, stands_in_a_loop
from srcjax.analysis.kept import Kept
from srcjax.analysis.types import Closure, Const, Transformed, Type
from srcjax.frontend.lift import free_names
from srcjax.frontend.read import LIFTED, FunctionSource
from srcjax.frontend.unit import Unit, parameter_names
from srcjax.ops.record import lookup

#: What a parameter gets: ("arg", position), ("keyword", name), ("value", default),
#: ("expression", default of an inner function) or ("name", variable from around).
Given = tuple[str, Any]
_PLAIN = inspect.Parameter.POSITIONAL_OR_KEYWORD
_STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass
class Lifted:
    """A function whose parameters are all given by position."""

    function: Any
    given: list[Given]
    #: How many of the parameters are the user's own.
    own: int


@dataclass
class _Parameter:
    """A parameter of the function with plain parameters, and how it is passed on."""

    name: str
    given: Given
    keyword: str | None = None


def wrapped(
    interpreter: Any,
    value: Any,
    count: int,
    keywords: list[str],
    node: Any,
    mapped: bool = False,
) -> Lifted:
    """A live function as one that is called by position.

    With `mapped` the function is one of its own for each way to give its arguments.
    """
    python = isinstance(value, pytypes.FunctionType) or lookup(value) is None
    try:
        # Of the function itself, which is what is read, not of what it wraps.
        followed = not isinstance(value, pytypes.FunctionType)
        signature = (
            inspect.signature(value, follow_wrapped=followed) if python else None
        )
    except (TypeError, ValueError):
        signature = None
    if signature is None:
        if keywords:
            raise _misfit(interpreter, node, "keywords for a built-in")
        names = [*"xyzuvw", *(f"x{i}" for i in range(count))][:count]
        signature = inspect.Signature([inspect.Parameter(n, _PLAIN) for n in names])
    parameters = _plan(interpreter, signature, count, keywords, node)
    given = [p.given for p in parameters]
    plain = all(
        p.kind in (_PLAIN, p.POSITIONAL_ONLY) for p in signature.parameters.values()
    )
    alike = not mapped or all(kind == "arg" for kind, _ in given)
    if isinstance(value, pytypes.FunctionType) and plain and alike:
        return Lifted(value, given, len(given))
    name = getattr(value, "__name__", type(value).__name__)
    if not name.isidentifier():
        name = "function"
    call = _passing_on(f"{name}_", parameters)
    node = _definition(name, [p.name for p in parameters], [gast.Return(call)])
    source = interpreter.unit.source
    gast.copy_location(node, source.node)
    return Lifted(_function(node, source, {f"{name}_": value}), given, len(given))


def lift(
    interpreter: Any,
    closure: Closure,
    count: int,
    keywords: list[str],
    node: Any,
    env: Env,
) -> Lifted:
    """A function defined in the unit at hand, with its variables from around."""
    unit: Unit = interpreter.unit
    definition = closure.definition
    _check_trip(interpreter, definition, [node.func, *node.args[:1]], node)
    arguments = definition.args
    name = getattr(definition, "name", "function")
    signature = signature_inside(arguments)
    parameters = _plan(interpreter, signature, count, keywords, node)
    around = _Around(interpreter, unit, env, node)
    around.take(free_names(definition) - {name}, definition)
    recursive = name in free_names(definition)
    taken = set(around.variables)
    simple = all(p.kind is _PLAIN for p in signature.parameters.values())
    clash = taken & {p.name for p in parameters}
    inner = _as_function(definition, name)
    if simple and not recursive and not (clash or taken & _bound(around.head)):
        body = [*around.head, *inner.body]
    else:
        names = syntax.Names(syntax.all_names(definition) | taken)
        for p in parameters:
            p.name = names.fresh(p.name) if p.name in taken else p.name
        body = [*around.head, inner, gast.Return(_passing_on(name, parameters))]
    own = [p.name for p in parameters]
    made = _definition(name, [*own, *around.variables], body)
    gast.copy_location(made, definition)
    function = _function(made, unit.source, around.values)
    given = [*(p.given for p in parameters), *(("name", v) for v in around.variables)]
    return Lifted(function, given, len(own))


def _check_trip(
    interpreter: Any, definition: Any, functions: list[gast.expr], node: Any
) -> None:
    """Refuse a function of which it is not known what trip of a loop has made it."""
    body = interpreter.unit.node.body
    if not stands_in_a_loop(body, definition):
        return
    stmt = getattr(interpreter, "current", None)

    def transforms(call: gast.Call) -> bool:
        chain = syntax.dotted(call.func)
        root, *rest = (chain or "").split(".")
        try:
            value = interpreter.program.look(interpreter.unit, root)
        except KeyError:
            return False
        for part in rest:
            value = getattr(value, part, None)
        return bool(getattr(value, "__srcjax_maker__", False))

    if not any(
        is_of_this_trip(body, stmt, f, definition, transforms) for f in functions
    ):
        raise interpreter.refuse(
            node,
            "the transformed function was made in a loop: which iteration's function "
            "it is, is only known when the program runs",
            "transform it where it is made, or pass what it needs as arguments",
        )


class _Around:
    """What a function takes from around: variables, functions and live values."""

    def __init__(self, interpreter: Any, unit: Unit, env: Env, node: Any) -> None:
        self.interpreter = interpreter
        self.unit = unit
        self.env = env
        self.node = node
        self.local = syntax.names_written(unit.node) | set(unit.parameters)
        self.variables: list[str] = []
        self.values: dict[str, Any] = {}
        #: Definitions of the local functions that are called.
        self.head: list[gast.stmt] = []
        self.seen: set[str] = set()

    def take(self, names: set[str], definition: Any) -> None:
        if any(isinstance(n, gast.Nonlocal) for n in syntax.walk(definition)):
            raise self.interpreter.refuse(
                self.node,
                "the transformed function rebinds a variable from around (`nonlocal`)",
                "return the value from it",
            )
        for name in sorted(names):
            if name in self.seen:
                continue
            self.seen.add(name)
            if name in self.local:
                self.take_local(name, self.env.get(name))
            else:
                self.take_global(name)

    def take_local(self, name: str, t: Type | None) -> None:
        if isinstance(t, (Closure, Transformed)):
            self.take_function(name, t)
        elif isinstance(t, Const) and callable(t.value):
            self.values[name] = t.value
        elif t is None:
            raise self.interpreter.refuse(
                self.node,
                f"the transformed function uses `{name}`, which has no value yet",
                "an assignment before the call",
            )
        else:
            self.variables.append(name)

    def take_function(self, name: str, t: Type) -> None:
        """Define a local function again, where it is called."""
        if not self.interpreter.is_here(t):
            raise self.interpreter.unclear(self.node, t)
        if isinstance(t, Closure):
            by_name = [syntax.name(name)]
            _check_trip(self.interpreter, t.definition, by_name, self.node)
            self.take(free_names(t.definition) - {name}, t.definition)
            self.head.append(_as_function(t.definition, name))
            return
        assert isinstance(t, Transformed)
        if t.maker is None:
            raise self.interpreter.refuse(
                self.node,
                "a pullback is called in a function that is transformed",
                "`vjp` inside of that function: `lambda dy: vjp(f, x)[1](dy)`; or call "
                "the pullback outside, and pass the result in",
            )
        inner = f"{name}_of"
        self.take_function(inner, t.function)
        maker = f"make_{name}"
        self.values[maker] = t.maker
        options = [_option(a) for a in t.args]
        named = [gast.keyword(k, _option(v)) for k, v in t.kwargs]
        call = gast.Call(syntax.name(maker), [syntax.name(inner), *options], named)
        self.head.append(syntax.assign(name, call))

    def take_global(self, name: str) -> None:
        try:
            value = self.interpreter.program.resolve(self.unit, name)
        except KeyError:
            return
        source = self.unit.source
        known = source.globals.get(name, getattr(builtins, name, None))
        if known is not value or name in source.closure:
            self.values[name] = value


def _option(t: Any) -> gast.expr:
    if isinstance(t, Const):
        return syntax.expression(repr(t.value))
    return gast.Tuple([_option(part) for part in t.items], syntax.LOAD)


def _plan(
    interpreter: Any,
    signature: inspect.Signature,
    count: int,
    keywords: list[str],
    node: Any,
) -> list[_Parameter]:
    """What each parameter of the plain function gets in a call."""
    found: list[_Parameter] = []
    used, left = 0, list(keywords)
    for name, p in signature.parameters.items():
        if p.kind is p.VAR_POSITIONAL:
            for k in range(used, count):
                found.append(_Parameter(f"{name}_{k - used}", ("arg", k)))
            used = count
        elif p.kind is p.VAR_KEYWORD:
            found += [_Parameter(k, ("keyword", k), k) for k in left]
            left = []
        elif used < count and p.kind is not p.KEYWORD_ONLY:
            found.append(_Parameter(name, ("arg", used)))
            used += 1
        else:
            # After `*args` what follows is passed on by keyword.
            passed = name if p.kind is p.KEYWORD_ONLY else None
            if name in left:
                left.remove(name)
                found.append(_Parameter(name, ("keyword", name), passed))
            elif p.default is not p.empty:
                kind = "expression" if isinstance(p.default, gast.AST) else "value"
                found.append(_Parameter(name, (kind, p.default), passed))
            else:
                raise _misfit(interpreter, node, f"no value for `{name}`")
    if used < count or left:
        raise _misfit(interpreter, node, "too many arguments")
    return found


def _misfit(interpreter: Any, node: Any, reason: str) -> Exception:
    error: Exception = interpreter.refuse(
        node,
        f"the arguments do not fit the function that is transformed: {reason}",
        "the arguments of the function",
    )
    return error


def _passing_on(function: str, parameters: list[_Parameter]) -> gast.Call:
    args = [syntax.name(p.name) for p in parameters if p.keyword is None]
    keywords = [
        gast.keyword(p.keyword, syntax.name(p.name))
        for p in parameters
        if p.keyword is not None
    ]
    return gast.Call(syntax.name(function), args, keywords)


def _as_function(definition: Any, name: str) -> gast.FunctionDef:
    """A definition or lambda as a definition of that name."""
    node = syntax.clone(definition)
    if isinstance(node, gast.Lambda):
        returned = gast.copy_location(gast.Return(node.body), node.body)
        made = gast.FunctionDef(name, node.args, [returned], [], None, None, [])
        return gast.copy_location(made, node)
    node.name = name
    return node


def _bound(head: list[gast.stmt]) -> set[str]:
    """Names that the functions in the head bind: a variable must not be one."""
    found: set[str] = set()
    for stmt in head:
        found |= syntax.names_written(stmt)
        for node in syntax.walk(stmt):
            if isinstance(node, (gast.FunctionDef, gast.Lambda)):
                found |= set(parameter_names(node.args))
    return found


def _definition(
    name: str, parameters: list[str], body: list[gast.stmt]
) -> gast.FunctionDef:
    names = [gast.Name(p, gast.Param(), None, None) for p in parameters]
    arguments = gast.arguments(names, [], None, [], [], None, [])
    return gast.FunctionDef(name, arguments, body, [], None, None, [])


_MADE = Kept()


def _function(
    node: gast.FunctionDef, source: FunctionSource, values: dict[str, Any]
) -> Any:
    """The Python function of a definition; the same for the same text and values.

    `read` finds its tree with the positions in the user's file.
    """
    text = syntax.text(node)
    key = (
        text,
        source.filename,
        getattr(node, "lineno", 0),
        id(source.globals),
        *((name, id(value)) for name, value in sorted(values.items())),
    )
    alive = (source.globals, values)
    return _MADE.get(key, alive, lambda: _made(node, text, source, values))


def _made(
    node: gast.FunctionDef, text: str, source: FunctionSource, values: dict[str, Any]
) -> Any:
    space: dict[str, Any] = {}
    names = sorted(values)
    body = "\n    ".join(text.splitlines())
    around = f"def around({', '.join(names)}):\n    {body}\n    return {node.name}\n"
    # Annotations are not evaluated: their names may be those of another module.
    flags = __future__.annotations.compiler_flag
    exec(compile(around, source.filename, "exec", flags), source.globals, space)
    function = space["around"](*(values[name] for name in names))
    function.__qualname__ = node.name
    function.__module__ = source.func.__module__
    there = values.keys() | source.globals.keys()  # what is around it is not all there
    LIFTED[function] = replace(
        source,
        func=function,
        name=node.name,
        node=node,
        docstring=None,
        closure={name: CellType(value) for name, value in values.items()},
        defaults={},
        bound={},
        aliases=source.aliases & there,
        looked_up=source.looked_up & there,
    )
    return function


__all__ = ["Given", "Lifted", "lift", "wrapped"]
