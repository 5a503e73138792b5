"""read: a callable -> its syntax tree and the live values that it refers to."""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import keyword
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import gast

from srcjax import syntax
from srcjax.analysis.arrays import inside
from srcjax.analysis.standard import nested
from srcjax.backends.marks import TESTED, copy_marks
from srcjax.errors import (
    ArgumentError,
    SourceNotFoundError,
    UnsupportedError,
    error_at,
)
from srcjax.frontend.local_imports import hoist_imports
from srcjax.frontend.locate import Located, locate
from srcjax.frontend.mangle import mangle
from srcjax.frontend.rebound_globals import rebound_cells, rebound_globals

__all__ = ["FunctionSource", "read"]

LAMBDA_NAME = "fn"
_SETS_GLOBAL, _SETS_CELL = dis.opmap["STORE_GLOBAL"], dis.opmap["STORE_DEREF"]

#: Functions that were taken out of a user's function (`frontend.lift`): what they are.
LIFTED: WeakKeyDictionary[FunctionType, FunctionSource] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class FunctionSource:
    """A function as written, and the live values behind its names.

    - `func`: the Python function that runs, without bound arguments around it.
    - `name`: an identifier to name generated functions after.
    - `node`: a `gast.FunctionDef` without decorators and docstring, made anew for
        each `read`. Its positions are those of the file. A lambda has become a
        function with one `return`.
    - `docstring`: dedented; None if there is none.
    - `filename`: of the file or the notebook cell.
    - `globals`: the live dict. `closure`: the live cells by name, empty ones too.
    - `defaults`: the live default values by parameter, keyword-only ones too.
    - `bound`: the values that a method or `functools.partial` gives beforehand, by
        parameter; leading values of `*args` as a tuple, those of `**kwargs` as a dict.
    """

    func: FunctionType
    name: str
    node: Any
    docstring: str | None
    filename: str
    globals: dict[str, Any]
    closure: dict[str, CellType]
    defaults: dict[str, Any]
    bound: dict[str, Any]
    lines: list[str] = field(repr=False)
    #: Names that `node` has instead of those that generated code needs for itself.
    renamed: dict[str, str] = field(default_factory=dict)
    #: What generated code means by names that something else has around the function.
    freed: dict[str, Any] = field(default_factory=dict)
    #: What the function imports itself, by name.
    imported: dict[str, Any] = field(default_factory=dict)
    #: Names from around that the function sets (`global`, `nonlocal`).
    rebound: set[str] = field(default_factory=set)
    #: Names of NumPy in the user's text for which `node` has `np`.
    aliases: set[str] = field(default_factory=set)
    #: Names from around whose values `node` has been made of.
    looked_up: set[str] = field(default_factory=set)

    def line(self, n: int) -> str:
        """Line `n` (from 1) of the file, stripped; empty if there is no such line."""
        return self.raw_line(n).strip()

    def raw_line(self, n: int) -> str:
        """Line `n` (from 1) of the file with its indentation and line end."""
        return self.lines[n - 1] if 0 < n <= len(self.lines) else ""

    @property
    def text(self) -> str:
        """The function as written, dedented, without decorators."""
        rows = self.lines[self.node.lineno - 1 : self.node.end_lineno]
        return textwrap.dedent("".join(rows)).rstrip("\n") + "\n"

    def sets(self, place: gast.Attribute) -> bool:
        """Whether the attribute is a name from around that the function sets."""
        holder = self.imported.get(getattr(place.value, "id", ""))
        if isinstance(holder, CellType):
            return True
        return isinstance(holder, ModuleType) and place.attr in self.rebound

    def holder(self, name: str) -> Any:
        """What the free name `name` is looked up in: a closure cell, or the globals.

        None for what the function imports itself, whatever else has that name, and for
        what has it from Python.
        """
        if name in self.freed:
            return None
        name = self.renamed.get(name, name)
        if name in self.imported:
            return None
        found = self.closure.get(name)
        if found is None and name in self.globals:
            return self.globals
        return found

    def resolve(self, name: str) -> Any:
        """The value that the free name `name` has now.

        Raises `KeyError` if it has none: unknown, or a closure cell still empty.
        """
        if name in self.freed:
            return self.freed[name]
        name = self.renamed.get(name, name)
        if name in self.imported:
            return self.imported[name]
        if name in self.closure:
            try:
                return self.closure[name].cell_contents
            except ValueError:  # the enclosing function has not assigned it yet
                raise KeyError(name) from None
        if name in self.globals:
            return self.globals[name]
        func: Any = self.func  # mypy does not know this attribute
        return func.__builtins__[name]


def read(func: Callable[..., Any]) -> FunctionSource:
    """Reads the source of any callable that is written in Python.

    A method, `functools.partial` or object with `__call__` gives the function that
    runs and what is `bound`. A function from a decorator is read as what it is, the
    decorator's inner function with a closure: `__wrapped__` is never followed, as
    that would drop what the decorator does.

    Raises `SourceNotFoundError` without (current) source, `UnsupportedError` for
    generators and coroutines, `ArgumentError` for what is not a function at all.
    """
    if isinstance(func, FunctionType) and func in LIFTED:
        return replace(LIFTED[func], node=syntax.clone(LIFTED[func].node))
    function, args, kwargs = _unwrap(inside(func))
    source = _with_values(function, locate(function), _name(func, function))
    _refuse_generators(source)
    source.bound.update(_bind(function, args, kwargs))
    package = source.globals.get("__package__")
    source.imported.update(hoist_imports(source.node, package))
    around = source.globals
    refuse = functools.partial(error_at, UnsupportedError, source)
    if _sets(function.__code__, _SETS_GLOBAL):
        module, names = rebound_globals(source.node, around, refuse)
        source.imported.update(module)
        source.rebound.update(names)
    if source.closure and _sets(function.__code__, _SETS_CELL):
        cells, names = rebound_cells(source.node, source.closure, around, refuse)
        source.imported.update(cells)
        source.rebound.update(names)
    return source


def _sets(code: CodeType, operation: int) -> bool:
    """Whether an instruction of this kind is in the function, or in one inside."""
    return any(operation in each.co_code[::2] for each in nested(code))


def apart(function: FunctionType) -> FunctionType:
    """The same function as another object, which is read like it."""
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    functools.update_wrapper(copy, function)
    del copy.__wrapped__  # type: ignore[attr-defined]
    copy.__kwdefaults__ = function.__kwdefaults__
    if function in LIFTED:
        LIFTED[copy] = replace(LIFTED[function], func=copy)
    copy_marks(function, copy)
    return copy


def read_generator(function: FunctionType) -> FunctionSource:
    """The source of a generator function, which `read` refuses."""
    return _with_values(function, locate(function), function.__name__)


def _unwrap(func: Any) -> tuple[FunctionType, tuple[Any, ...], dict[str, Any]]:
    """The Python function that runs, with the arguments it is given beforehand.

    `__srcjax_inside__` is what a function of srcjax's own is in differentiated code.
    """
    if isinstance(func, FunctionType):
        inside = getattr(func, "__srcjax_inside__", None)
        return (func, (), {}) if inside is None else _unwrap(inside)
    if isinstance(func, MethodType):
        function, args, kwargs = _unwrap(func.__func__)
        return function, (*args, func.__self__), kwargs
    if isinstance(func, functools.partial):
        function, args, kwargs = _unwrap(func.func)
        return function, args + func.args, kwargs | func.keywords
    if isinstance(func, staticmethod):
        return _unwrap(func.__func__)
    if isinstance(func, classmethod) or not callable(func):
        raise ArgumentError(
            f"A function is expected here, not {_describe(func)}.",
            instead="put the transform below @classmethod, on the function itself."
            if isinstance(func, classmethod)
            else "pass a Python function, a lambda or a method.",
        )
    if not isinstance(func, type):
        # Like a call does, look on the type; the descriptor may be a staticmethod.
        call = inspect.getattr_static(type(func), "__call__")
        if hasattr(call, "__get__"):
            call = call.__get__(func, type(func))
        if isinstance(call, FunctionType | MethodType | functools.partial):
            return _unwrap(call)
    raise _not_python(func)


def _not_python(func: Any) -> SourceNotFoundError:
    name = getattr(func, "__name__", type(func).__name__)
    if isinstance(func, type):
        return SourceNotFoundError(
            f"{_describe(func)} is a class, which has no source as a function.",
            instead=f"write a function: lambda *args: {name}(*args).",
        )
    instead = f"call it from a Python function: lambda x: {name}(x)"
    if callable(getattr(func, "__wrapped__", None)):  # functools.lru_cache, say
        instead += ", or pass the function inside it, its `__wrapped__`"
    return SourceNotFoundError(
        f"{_describe(func)} is not written in Python, so it has no source to read.",
        instead=f"{instead}.",
    )


def _describe(func: Any) -> str:
    name = getattr(func, "__qualname__", None) or getattr(func, "__name__", None)
    kind = f"{type(func).__module__}.{type(func).__qualname__}"
    kind = kind.removeprefix("builtins.")
    return (
        f"`{name}` ({kind})" if isinstance(name, str) else f"an object of type {kind}"
    )


def _name(func: Any, function: FunctionType) -> str:
    """An identifier for `func`: a callable object goes by the name of its class."""
    while isinstance(func, functools.partial):
        func = func.func
    if not isinstance(func, FunctionType | MethodType | staticmethod):
        return type(func).__name__
    for name in (function.__name__, function.__code__.co_name):
        if name.isidentifier() and not keyword.iskeyword(name):
            return name
    return LAMBDA_NAME


def _with_values(function: FunctionType, located: Located, name: str) -> FunctionSource:
    code = function.__code__
    is_lambda = isinstance(located.node, ast.Lambda)
    node = _tree(function, located.node)
    if is_lambda:
        node = _lambda_to_def(node, name)
    node.decorator_list = []
    docstring = None if is_lambda else ast.get_docstring(located.node)  # type: ignore[arg-type]
    if function in TESTED:
        del node.body[0]
    if located.class_name is not None:
        mangle(node, located.class_name)
    cells = function.__closure__ or ()
    return FunctionSource(
        func=function,
        name=name,
        node=node,
        docstring=docstring,
        filename=code.co_filename,
        globals=function.__globals__,
        closure=dict(zip(code.co_freevars, cells, strict=True)),
        defaults=_defaults(function),
        bound={},
        lines=located.lines,
    )


#: The trees of functions, each with what it was made of: inference reads functions
#: again and again, and a copy is made sooner.
_TREES: WeakKeyDictionary[FunctionType, tuple[ast.AST, Any]] = WeakKeyDictionary()


def _tree(function: FunctionType, node: ast.AST) -> Any:
    """The tree of a function, to be changed by who asks for it."""
    known = _TREES.get(function)
    if known is None or known[0] is not node:
        tree = gast.ast_to_gast(node)
        if not isinstance(node, ast.Lambda):
            first = tree.body[0]
            tree.body = _without_strings(tree.body) or [
                gast.copy_location(gast.Pass(), first)
            ]
        known = _TREES[function] = node, tree
    return syntax.clone(known[1])


def _without_strings(block: list[Any]) -> list[Any]:
    """Without docstring, `...`, and the strings that stand as comments do."""
    kept = []
    for stmt in block:
        if isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Constant):
            continue
        syntax.rewrite_blocks(stmt, _without_strings)
        kept.append(stmt)
    return kept


def _lambda_to_def(node: Any, name: str) -> Any:
    """`lambda x: x + 1` -> `def name(x): return x + 1`, at the same positions."""
    body = gast.copy_location(gast.Return(node.body), node.body)
    function = gast.FunctionDef(
        name=name,
        args=node.args,
        body=[body],
        decorator_list=[],
        returns=None,
        type_comment=None,
        type_params=[],
    )
    return gast.copy_location(function, node)


def _defaults(function: FunctionType) -> dict[str, Any]:
    positional, _ = _parameter_names(function.__code__)
    values = function.__defaults__ or ()
    # Defaults belong to the last parameters.
    pairs = zip(reversed(positional), reversed(values), strict=False)
    return dict(reversed(list(pairs))) | (function.__kwdefaults__ or {})


def _parameter_names(code: CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Positional parameters, and keyword-only ones."""
    first = code.co_argcount
    last = first + code.co_kwonlyargcount
    return code.co_varnames[:first], code.co_varnames[first:last]


def _star_names(code: CodeType) -> tuple[str | None, str | None]:
    """The names of `*args` and of `**kwargs`, where the function has them."""
    index = code.co_argcount + code.co_kwonlyargcount
    args = kwargs = None
    if code.co_flags & inspect.CO_VARARGS:
        args, index = code.co_varnames[index], index + 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        kwargs = code.co_varnames[index]
    return args, kwargs


def _bind(
    function: FunctionType, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The values by parameter. Raises `ArgumentError` where no call could work."""
    code = function.__code__
    positional, keyword_only = _parameter_names(code)
    star_args, star_kwargs = _star_names(code)
    bound: dict[str, Any] = dict(zip(positional, args, strict=False))
    extra = args[len(positional) :]
    if extra and star_args is None:
        raise ArgumentError(
            f"`{function.__qualname__}` takes {len(positional)} positional arguments, "
            f"but {len(args)} are bound to it already.",
            instead="bind fewer arguments with functools.partial.",
        )
    if extra and star_args is not None:
        bound[star_args] = extra
    by_keyword = {*positional[code.co_posonlyargcount :], *keyword_only}
    for name, value in kwargs.items():
        if name in by_keyword and name not in bound:
            bound[name] = value
        elif name not in by_keyword and star_kwargs is not None:
            bound.setdefault(star_kwargs, {})[name] = value
        else:
            problem = "is bound twice" if name in by_keyword else "is not a parameter"
            raise ArgumentError(
                f"The keyword argument `{name}` of a functools.partial {problem} of "
                f"`{function.__qualname__}`.",
                instead="bind each parameter once, under its own name.",
            )
    return bound


GENERATOR_FLAGS = inspect.CO_GENERATOR | inspect.CO_ITERABLE_COROUTINE
COROUTINE_FLAGS = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def _refuse_generators(source: FunctionSource) -> None:
    flags = source.func.__code__.co_flags
    if flags & COROUTINE_FLAGS:
        raise error_at(
            UnsupportedError,
            source,
            source.node,
            f"`{source.name}` is an async function; its result is not a value yet.",
            "await outside, and differentiate a plain function of the values.",
        )
    if flags & GENERATOR_FLAGS:
        raise error_at(
            UnsupportedError,
            source,
            _first_yield(source.node),
            f"`{source.name}` is a generator function: it yields its values later.",
            "collect the values in a list and return it.",
        )


def _first_yield(function: Any) -> Any:
    """The first `yield` that makes `function` itself a generator."""
    todo = list(reversed(function.body))
    while todo:
        node = todo.pop()
        if isinstance(node, gast.Yield | gast.YieldFrom):
            return node
        if not isinstance(node, gast.FunctionDef | gast.Lambda | gast.ClassDef):
            todo += reversed(list(gast.iter_child_nodes(node)))
    return function
