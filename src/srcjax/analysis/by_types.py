"""What functions give that look at the types of their arguments alone.

    xp = array_namespace(x)         xp.sum(xp.exp(x))
    nx = get_backend(x, y)          nx.dot(x, y)

They give a module or an object, the same one for all values of the types: it decides
what is called later. So the function is run when the text is written, on marks that
stand in the places of the arguments. A mark can be asked for its class, its dtype and
whether it is None, can be handed on and put into a list; whatever else is done with it
ends the run. So does what others would notice: anything written to what was there
before, but for an item that a dict did not have (a cache), and any call that is not of
Python code or known to look only. What it rests on is looked at again by calling the
function itself, on values of these types (`guards.Asked`).
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import importlib
import inspect
import itertools
import operator
import textwrap
import threading
import types as pytypes
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from srcjax.analysis.foreign import own_method
from srcjax.analysis.known_values import class_of
from srcjax.analysis.types import (
    Array,
    Const,
    List,
    Scalar,
    Tuple,
    Type,
)

#: Statements and expressions that are run before it is given up.
MOST = 20_000


class NotByTypes(Exception):
    """The function does more than to look at types."""


def asked(
    function: Any, args: list[Type], kwargs: dict[str, Type]
) -> tuple[Any, Callable[[], Any]]:
    """What the function gives for arguments of these types, and how to ask it again.

    Raises NotByTypes where it is not told by types, or is nothing that is asked for
    functions: a number, an array, a container of these.
    """
    marks = [_mark(t) for t in args]
    named = {k: _mark(t) for k, t in kwargs.items()}
    run = _Run()
    try:
        found = run.call(function, marks, named)
        filled = len(run.filled)
        run.steps = 0
        same = run.call(function, marks, named)
        cached = len(run.filled) == filled
        if not cached or not _is_same(found, same) or not _is_asked(found):
            raise NotByTypes
        values = [_value(t) for t in args]
        keys = {k: _value(t) for k, t in kwargs.items()}
    except Exception as error:  # the function's own, too
        run.undo()
        raise NotByTypes from error

    def ask() -> Any:
        return function(*values, **keys)

    return found, ask


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return all(map(_is_same, a, b))
    return a is b


_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_HELD = (list, dict, set, frozenset, tuple, np.ndarray, np.generic, np.dtype)


def _is_asked(value: Any) -> bool:
    """Whether functions are asked of the value: a module, an object, a few of these."""
    if type(value) is tuple:
        return any(map(_is_asked, value)) and not any(
            isinstance(v, _Mark) for v in value
        )
    data = (*_PLAIN, *_HELD, _Mark, range, slice, np.random.Generator, Iterator)
    return not isinstance(value, data) and not hasattr(value, "__array__")


class _Mark:
    """What stands for an argument. Python cannot ask it anything."""

    def __init__(self, t: Type, cls: type) -> None:
        self.t = t
        self.cls = cls

    def _refuse(self, *_: Any) -> Any:
        raise NotByTypes

    __eq__ = __hash__ = __bool__ = __len__ = __iter__ = _refuse
    __getitem__ = __contains__ = __repr__ = __str__ = __format__ = _refuse
    __array__ = _refuse

    def attribute(self, name: str) -> Any:
        """What is asked of all values of the type."""
        if name == "__class__":
            return self.cls
        dtype = getattr(self.t, "dtype", None)
        if name == "dtype" and isinstance(self.t, Array) and dtype is not None:
            return dtype
        if name == "__array_namespace__" and self.cls is np.ndarray:
            return np.empty(0).__array_namespace__
        raise NotByTypes


def _mark(t: Type) -> Any:
    """What stands for an argument of the type."""
    if isinstance(t, Const):
        return t.value
    if isinstance(t, Tuple) and t.cls is None and t.view is None:
        return tuple(map(_mark, t.items))
    if isinstance(t, List) and t.items is not None and t.view is None and t.cls is list:
        return [_mark(i) for i in t.items]
    if isinstance(t, (Array, Scalar)):
        cls = class_of(t)
        if cls is not None:
            return _Mark(t, cls)
    raise NotByTypes


def _value(t: Type) -> Any:
    """A value of the type."""
    if isinstance(t, Const):
        return t.value
    if isinstance(t, Tuple):
        return tuple(map(_value, t.items))
    if isinstance(t, List):
        return [_value(i) for i in t.items or ()]
    if isinstance(t, Array):
        return np.zeros((1,) * len(t.shape or (1,)), t.dtype or float)
    return class_of(t)(0)


class _Return(Exception):
    pass


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Lambda:
    """A function that is made by the one that is run."""

    def __init__(self, node: ast.Lambda, scope: _Scope) -> None:
        self.node = node
        self.scope = scope


class _Scope:
    """The names of a function that is run."""

    def __init__(self, function: pytypes.FunctionType, names: dict[str, Any]) -> None:
        self.globals = function.__globals__
        code, cells = function.__code__, function.__closure__ or ()
        self.cells = dict(zip(code.co_freevars, cells, strict=True))
        self.names = names

    def within(self, names: dict[str, Any]) -> _Scope:
        """The scope of a comprehension: it sees all, what it sets is its own."""
        inner = copy.copy(self)
        inner.names = self.names | names
        return inner

    def read(self, name: str) -> Any:
        """What a name means."""
        if name in self.names:
            return self.names[name]
        if name in self.cells:
            return self.cells[name].cell_contents
        if name in self.globals:
            return self.globals[name]
        return getattr(builtins, name)


@functools.lru_cache(maxsize=512)
def _tree(code: pytypes.CodeType) -> ast.FunctionDef:
    """The definition of a function."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(code))).body
    if len(tree) != 1 or not isinstance(tree[0], ast.FunctionDef):
        raise NotByTypes
    return tree[0]


#: Functions of Python's that look only; marks may be in the containers they get.
_OF_CONTAINERS = (
    *(len, list, tuple, set, frozenset, dict, zip, enumerate, reversed, range),
    *(iter, any, all, slice),
)
#: The same where no mark is among what they get.
_OF_PLAIN = (
    *(str, int, bool, repr, min, max, sum, sorted, issubclass, callable, id, hash),
    *(format, vars, importlib.import_module, inspect.isclass, inspect.ismodule),
)
#: Classes that no method changes anything of.
_FIXED = (str, bytes, tuple, frozenset, pytypes.MappingProxyType)
#: Methods that look only, and those that write to what they are of.
_LOOK = (
    *(dict.get, dict.keys, dict.values, dict.items, dict.copy),
    *(list.index, list.count, list.copy, set.copy),
    *(set.union, set.intersection, set.difference, set.issubset, set.issuperset),
)
_WRITE = (
    *(dict.setdefault, dict.update, dict.pop, dict.clear),
    *(list.append, list.extend, list.insert, list.pop, list.remove, list.reverse),
    *(set.add, set.discard, set.remove, set.pop, set.update),
)
_OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
    ast.FloorDiv: operator.floordiv,
}
_COMPARISONS: dict[type, Callable] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
#: What may be compared and asked whether it holds: no code of the user's runs then.
_KNOWN = (
    *(bool, int, float, str, bytes, type(None), tuple, list, dict, set, frozenset),
    *(range, slice, pytypes.FunctionType, pytypes.BuiltinFunctionType, np.dtype),
    *(pytypes.ModuleType, pytypes.MethodType, pytypes.MappingProxyType),
)


def _is_known(value: Any) -> bool:
    if type(value) in (tuple, list, set, frozenset):
        return all(map(_is_known, value))
    cls = type(value)
    return isinstance(value, type) or cls in _KNOWN or isinstance(value, _VIEWS)


def _runs_code(function: Any, value: Any) -> bool:
    """Whether `len`, `list`, `set` or one of their kin runs code of the user's.

    The value may answer by itself, or hold what is asked for its place in a set.
    """
    if _has_own(value, _OF_CONTAINERS_ASKED):
        return True
    if function not in (set, frozenset, dict):
        return False
    plain = isinstance(value, (tuple, list, set, frozenset, dict, *_VIEWS))
    return plain and any(_has_own(item, ("__hash__", "__eq__")) for item in value)


def _silent(items: Iterable[Any]) -> Iterator[Any]:
    """The items, of whose truth no code of the user's is asked."""
    for item in items:
        if _has_own(item, ("__bool__", "__len__")):
            raise NotByTypes
        yield item


def _has_own(value: Any, names: tuple[str, ...]) -> bool:
    """Whether the class of the value has one of the methods, written in Python."""
    return any(own_method(type(value), name) for name in names)


#: What containers are asked for.
_OF_CONTAINERS_ASKED = (
    "__len__", "__iter__", "__next__", "__getitem__", "__reversed__", "__index__",
)  # fmt: skip
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))


class _Run:
    """One run of a function on marks."""

    def __init__(self) -> None:
        self.steps = 0
        #: What was made in this run: it may be written to.
        self.made: dict[int, Any] = {}
        #: Items that were added to dicts that were there before.
        self.filled: list[tuple[dict, Any]] = []

    def undo(self) -> None:
        """Take out again what was added."""
        for held, key in self.filled:
            held.pop(key, None)

    def new(self, value: Any) -> Any:
        """A value that was made in this run."""
        self.made[id(value)] = value
        return value

    def is_used_up(self, value: Any) -> bool:
        """Whether it is an iterator from around, which gives its items once."""
        return isinstance(value, Iterator) and id(value) not in self.made

    # -- calls -------------------------------------------------------------------------

    def call(self, f: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What a call gives."""
        self.steps += 1
        if self.steps > MOST:
            raise NotByTypes
        if isinstance(f, _Mark):
            raise NotByTypes
        if isinstance(f, _Lambda):
            names = [a.arg for a in f.node.args.args]
            if kwargs or len(names) != len(args):
                raise NotByTypes
            bound = dict(zip(names, args, strict=True))
            return self.eval(f.node.body, f.scope.within(bound))
        if isinstance(f, pytypes.MethodType):
            return self.call(f.__func__, [f.__self__, *args], kwargs)
        if isinstance(f, functools.partial):
            return self.call(f.func, [*f.args, *args], {**f.keywords, **kwargs})
        if isinstance(f, functools._lru_cache_wrapper):
            return self.call(f.__wrapped__, args, kwargs)
        if isinstance(f, pytypes.FunctionType):
            return self.function(f, args, kwargs)
        found = self.of_type(f, args, kwargs)
        if found is not _NOTHING:
            return found
        given = [*args, *kwargs.values()]
        if any(f is each for each in _OF_CONTAINERS):
            if any(isinstance(v, _Mark) or self.is_used_up(v) for v in given):
                raise NotByTypes
            if any(_runs_code(f, v) for v in given):
                raise NotByTypes
            if f in (any, all):
                args = list(map(_silent, args))
            return self.new(f(*args, **kwargs))
        if any(map(_has_mark, given)):
            return self.method(f, args, kwargs)
        if any(f is each for each in _OF_PLAIN):
            if not all(map(_is_known, given)):
                raise NotByTypes
            return f(*args, **kwargs)
        if isinstance(f, type):
            return self.construct(f, args, kwargs)
        return self.method(f, args, kwargs)

    def function(self, f: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A function that is written in Python."""
        flags = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
        if f.__code__.co_flags & flags:
            raise NotByTypes
        node = _tree(f.__code__)
        signature = inspect.signature(f, follow_wrapped=False)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        names = dict(bound.arguments)
        for parameter in signature.parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                self.new(names[parameter.name])
        scope = _Scope(f, names)
        try:
            self.block(node.body, scope)
        except _Return as left:
            return left.args[0]
        return None

    def of_type(self, f: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Functions that ask a mark; `_NOTHING` of others."""
        first = args[0] if args else None
        if f is type and len(args) == 1:
            return first.cls if isinstance(first, _Mark) else type(first)
        if f is isinstance and len(args) == 2 and not _has_mark(args[1]):
            cls = first.cls if isinstance(first, _Mark) else type(first)
            if any(type(c) is not type for c in _classes(args[1])):
                return self.by_registry(first, cls, args[1])
            return issubclass(cls, args[1])
        if f in (getattr, hasattr) and len(args) >= 2 and isinstance(args[1], str):
            return self.asked_for(f, first, args[1], args[2:])
        if f is map and args:
            called = [self.call(first, [v], {}) for v in self.items(args[1])]
            return self.new(iter(called))
        if f is filter and len(args) == 2:
            keep = self.truth if first is None else self._keeps(first)
            return self.new(iter([v for v in self.items(args[1]) if keep(v)]))
        return _NOTHING

    def _keeps(self, f: Any) -> Callable[[Any], bool]:
        return lambda v: self.truth(self.call(f, [v], {}))

    def by_registry(self, value: Any, cls: type, wanted: Any) -> bool:
        """`isinstance` of classes that say themselves what is one: of `abc` alone."""
        if any(type(type(c)) is not type for c in _classes(wanted)):
            raise NotByTypes
        plain = all(
            type(c).__module__ in ("abc", "builtins", "enum") for c in _classes(wanted)
        )
        if not plain:
            raise NotByTypes
        return issubclass(cls, wanted)

    def asked_for(self, f: Any, value: Any, name: str, default: list[Any]) -> Any:
        """`getattr` and `hasattr`."""
        if not isinstance(value, _Mark):
            try:
                found = self.attribute(value, name)
            except AttributeError:
                if f is hasattr:
                    return False
                if default:
                    return default[0]
                raise
            return True if f is hasattr else found
        if not hasattr(value.cls, name):
            if f is hasattr:
                return False
            if default:
                return default[0]
            raise AttributeError(name)
        return True if f is hasattr else value.attribute(name)

    def method(self, f: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A method of Python's own containers, and the like."""
        owner = getattr(f, "__self__", None)
        name = getattr(f, "__name__", "")
        cls = type(owner)
        if name == "__array_namespace__" and cls is np.ndarray:
            return f(*args, **kwargs)
        own = getattr(cls, name, None) if isinstance(owner, _HELD) else None
        if own in _WRITE and id(owner) in self.made:
            return f(*args, **kwargs)
        if not (cls in _FIXED or own in _LOOK) or not all(map(_is_known, args[:1])):
            raise NotByTypes
        return f(*args, **kwargs)

    def construct(self, cls: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """An object of a class that sets its attributes in Python, or an error."""
        if issubclass(cls, BaseException):
            return self.new(cls(*args, **kwargs))
        made_by: Any = cls.__new__
        if type(cls) is not type or made_by is not object.__new__:
            raise NotByTypes
        made = self.new(object.__new__(cls))
        init: Any = inspect.getattr_static(cls, "__init__")
        if isinstance(init, pytypes.FunctionType):
            self.function(init, [made, *args], kwargs)
        elif init is not object.__init__ or args or kwargs:
            raise NotByTypes
        return made

    # -- statements --------------------------------------------------------------------

    def block(self, body: list[ast.stmt], scope: _Scope) -> None:
        """Run statements."""
        for stmt in body:
            self.steps += 1
            if self.steps > MOST:
                raise NotByTypes
            way = getattr(self, f"on_{type(stmt).__name__}", None)
            if way is None:
                raise NotByTypes
            way(stmt, scope)

    def on_Pass(self, stmt: Any, scope: _Scope) -> None:
        pass

    def on_Expr(self, stmt: Any, scope: _Scope) -> None:
        self.eval(stmt.value, scope)

    def on_Return(self, stmt: Any, scope: _Scope) -> None:
        raise _Return(None if stmt.value is None else self.eval(stmt.value, scope))

    def on_Break(self, stmt: Any, scope: _Scope) -> None:
        raise _Break

    def on_Continue(self, stmt: Any, scope: _Scope) -> None:
        raise _Continue

    def on_Assign(self, stmt: Any, scope: _Scope) -> None:
        value = self.eval(stmt.value, scope)
        for target in stmt.targets:
            self.store(target, value, scope)

    def on_AnnAssign(self, stmt: Any, scope: _Scope) -> None:
        if stmt.value is not None:
            self.store(stmt.target, self.eval(stmt.value, scope), scope)

    def on_AugAssign(self, stmt: Any, scope: _Scope) -> None:
        if not isinstance(stmt.target, ast.Name):
            raise NotByTypes
        old = scope.names[stmt.target.id]
        value = self.eval(stmt.value, scope)
        if not (type(old) is tuple or type(old) in _PLAIN or id(old) in self.made):
            raise NotByTypes
        new = self.operator(stmt.op, old, value)
        if type(old) in (list, set, dict):
            raise NotByTypes
        scope.names[stmt.target.id] = new

    def on_If(self, stmt: Any, scope: _Scope) -> None:
        holds = self.truth(self.eval(stmt.test, scope))
        self.block(stmt.body if holds else stmt.orelse, scope)

    def on_Assert(self, stmt: Any, scope: _Scope) -> None:
        if not self.truth(self.eval(stmt.test, scope)):
            raise AssertionError

    def on_For(self, stmt: Any, scope: _Scope) -> None:
        for item in self.items(self.eval(stmt.iter, scope)):
            self.store(stmt.target, item, scope)
            if not self.goes_on(stmt, scope):
                return
        self.block(stmt.orelse, scope)

    def on_While(self, stmt: Any, scope: _Scope) -> None:
        while self.truth(self.eval(stmt.test, scope)):
            if not self.goes_on(stmt, scope):
                return
        self.block(stmt.orelse, scope)

    def goes_on(self, loop: Any, scope: _Scope) -> bool:
        """Run the body of a loop once; whether no `break` left it."""
        try:
            self.block(loop.body, scope)
        except _Break:
            return False
        except _Continue:
            pass
        return True

    def on_Raise(self, stmt: Any, scope: _Scope) -> None:
        if stmt.exc is None:
            raise NotByTypes
        error = self.eval(stmt.exc, scope)
        raise error if isinstance(error, BaseException) else error()

    def on_Try(self, stmt: Any, scope: _Scope) -> None:
        try:
            self.block(stmt.body, scope)
        except (NotByTypes, _Return, _Break, _Continue):
            self.block(stmt.finalbody, scope)
            raise
        except Exception as error:
            for handler in stmt.handlers:
                kind = Exception
                if handler.type is not None:
                    kind = self.eval(handler.type, scope)
                if isinstance(error, kind):
                    if handler.name:
                        scope.names[handler.name] = error
                    self.block(handler.body, scope)
                    break
            else:
                self.block(stmt.finalbody, scope)
                raise
        else:
            self.block(stmt.orelse, scope)
        self.block(stmt.finalbody, scope)

    def on_Import(self, stmt: Any, scope: _Scope) -> None:
        for alias in stmt.names:
            module = importlib.import_module(alias.name)
            if alias.asname:
                scope.names[alias.asname] = module
            else:
                first = alias.name.partition(".")[0]
                scope.names[first] = importlib.import_module(first)

    def on_ImportFrom(self, stmt: Any, scope: _Scope) -> None:
        names = [a.name for a in stmt.names]
        if "*" in names:
            raise NotByTypes
        given = scope.globals
        module = __import__(stmt.module or "", given, given, names, stmt.level)
        for alias in stmt.names:
            if not hasattr(module, alias.name):
                raise ImportError(alias.name)
            scope.names[alias.asname or alias.name] = getattr(module, alias.name)

    def store(self, target: ast.expr, value: Any, scope: _Scope) -> None:
        """Bind a target."""
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = list(self.items(value))
            if any(isinstance(t, ast.Starred) for t in target.elts):
                raise NotByTypes
            if len(values) != len(target.elts):
                raise ValueError("too many or too few values to unpack")
            for each, item in zip(target.elts, values, strict=True):
                self.store(each, item, scope)
        elif isinstance(target, ast.Subscript):
            held, key = self.eval(target.value, scope), self.eval(target.slice, scope)
            if not _is_known(key) or type(held) not in (dict, list):
                raise NotByTypes
            if id(held) not in self.made:
                if type(held) is not dict or key in held or _has_mark(value):
                    raise NotByTypes
                self.filled.append((held, key))
            held[key] = value
        elif isinstance(target, ast.Attribute):
            owner = self.eval(target.value, scope)
            plain = type(owner).__setattr__ is object.__setattr__
            static = inspect.getattr_static(type(owner), target.attr, None)
            if id(owner) not in self.made or not plain or hasattr(static, "__set__"):
                raise NotByTypes
            if _has_mark(value):
                raise NotByTypes
            setattr(owner, target.attr, value)
        else:
            raise NotByTypes

    # -- expressions -------------------------------------------------------------------

    def truth(self, value: Any) -> bool:
        """Whether a value holds, where no code of the user's says so."""
        cls = type(value)
        silent = not hasattr(cls, "__bool__") and not hasattr(cls, "__len__")
        if isinstance(value, _Mark) or not (silent or cls in _KNOWN):
            raise NotByTypes
        return bool(value)

    def items(self, value: Any) -> Iterator[Any]:
        """What is in a container of Python's own."""
        kinds = (list, tuple, set, frozenset, dict, range, str, *_VIEWS)
        if type(value) in kinds:
            return iter(list(value))
        if isinstance(value, Iterator) and not self.is_used_up(value):
            return value
        raise NotByTypes

    def attribute(self, value: Any, name: str) -> Any:
        """`value.name`, where no code of the user's gives it but a property's."""
        if isinstance(value, _Mark):
            if not hasattr(value.cls, name):
                raise AttributeError(name)
            return value.attribute(name)
        cls = type(value)
        if isinstance(value, pytypes.ModuleType):
            return getattr(value, name)
        plain = cls.__getattribute__
        known = (object.__getattribute__, type.__getattribute__, threading.local)
        static = inspect.getattr_static(cls, name, None)
        if isinstance(static, property) and name not in getattr(value, "__dict__", {}):
            if static.fget is None:
                raise AttributeError(name)
            return self.call(static.fget, [value], {})
        found = inspect.getattr_static(value, name, _NOTHING)
        if found is _NOTHING and hasattr(cls, "__getattr__"):
            raise NotByTypes
        of_python = cls.__module__ in ("builtins", "types", "_thread", "functools")
        if (
            plain not in known
            and not of_python
            and cls not in (*_FIXED, dict, list, set)
        ):
            raise NotByTypes
        described = hasattr(type(found), "__get__") and not isinstance(
            found,
            (
                *(pytypes.FunctionType, staticmethod, classmethod, property),
                *(pytypes.MemberDescriptorType, pytypes.GetSetDescriptorType),
                *(pytypes.MethodDescriptorType, pytypes.BuiltinFunctionType),
                *(pytypes.WrapperDescriptorType, pytypes.ClassMethodDescriptorType),
                *(type, type(np.sum), functools._lru_cache_wrapper),
            ),
        )
        if found is not _NOTHING and described:
            raise NotByTypes
        return getattr(value, name)

    def eval(self, node: ast.expr, scope: _Scope) -> Any:
        """What an expression is."""
        self.steps += 1
        if self.steps > MOST:
            raise NotByTypes
        way = getattr(self, f"of_{type(node).__name__}", None)
        if way is None:
            raise NotByTypes
        return way(node, scope)

    def of_Constant(self, node: Any, scope: _Scope) -> Any:
        return node.value

    def of_Name(self, node: Any, scope: _Scope) -> Any:
        return scope.read(node.id)

    def of_Attribute(self, node: Any, scope: _Scope) -> Any:
        return self.attribute(self.eval(node.value, scope), node.attr)

    def of_Lambda(self, node: Any, scope: _Scope) -> Any:
        plain = node.args
        more = (plain.vararg, plain.kwarg, *plain.kwonlyargs, *plain.defaults)
        if any(more):
            raise NotByTypes
        return _Lambda(node, scope)

    def of_NamedExpr(self, node: Any, scope: _Scope) -> Any:
        value = self.eval(node.value, scope)
        scope.names[node.target.id] = value
        return value

    def of_IfExp(self, node: Any, scope: _Scope) -> Any:
        holds = self.truth(self.eval(node.test, scope))
        return self.eval(node.body if holds else node.orelse, scope)

    def of_BoolOp(self, node: Any, scope: _Scope) -> Any:
        stops = isinstance(node.op, ast.Or)
        for each in node.values[:-1]:
            value = self.eval(each, scope)
            if self.truth(value) is stops:
                return value
        return self.eval(node.values[-1], scope)

    def of_UnaryOp(self, node: Any, scope: _Scope) -> Any:
        value = self.eval(node.operand, scope)
        if isinstance(node.op, ast.Not):
            return not self.truth(value)
        if isinstance(node.op, ast.USub) and type(value) in (int, float):
            return -value
        raise NotByTypes

    def of_BinOp(self, node: Any, scope: _Scope) -> Any:
        left, right = self.eval(node.left, scope), self.eval(node.right, scope)
        return self.operator(node.op, left, right)

    def operator(self, op: Any, left: Any, right: Any) -> Any:
        """What an operator gives of values of Python's own classes."""
        function = _OPERATORS.get(type(op))
        held = (list, tuple)
        joined = function is operator.add and type(left) is type(right) in held
        if function is None or not (joined or _is_known(left) and _is_known(right)):
            raise NotByTypes
        return self.new(function(left, right))

    def of_Compare(self, node: Any, scope: _Scope) -> Any:
        left = self.eval(node.left, scope)
        for op, each in zip(node.ops, node.comparators, strict=True):
            right = self.eval(each, scope)
            if isinstance(op, (ast.Is, ast.IsNot)):
                marks = [isinstance(v, _Mark) for v in (left, right)]
                if all(marks) and left is not right:
                    raise NotByTypes
                holds = (left is right) == isinstance(op, ast.Is)
            else:
                mapped = type(right) is dict and isinstance(op, (ast.In, ast.NotIn))
                if not _is_known(left) or not (mapped or _is_known(right)):
                    raise NotByTypes
                holds = bool(_COMPARISONS[type(op)](left, right))
            if not holds:
                return False
            left = right
        return True

    def of_Tuple(self, node: Any, scope: _Scope) -> Any:
        return tuple(self.listed(node.elts, scope))

    def of_List(self, node: Any, scope: _Scope) -> Any:
        return self.new(self.listed(node.elts, scope))

    def of_Set(self, node: Any, scope: _Scope) -> Any:
        return self.new(set(self.hashed(self.listed(node.elts, scope))))

    def listed(self, nodes: list[ast.expr], scope: _Scope) -> list[Any]:
        """Items of a display, and arguments of a call."""
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += self.items(self.eval(node.value, scope))
            else:
                found.append(self.eval(node, scope))
        return found

    def hashed(self, values: list[Any]) -> list[Any]:
        """Values that no code of the user's compares."""
        if not all(map(_is_hashed, values)):
            raise NotByTypes
        return values

    def of_Dict(self, node: Any, scope: _Scope) -> Any:
        found: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                held = self.eval(value, scope)
                if type(held) is not dict:
                    raise NotByTypes
                found |= held
            else:
                at = self.hashed([self.eval(key, scope)])[0]
                found[at] = self.eval(value, scope)
        return self.new(found)

    def of_Subscript(self, node: Any, scope: _Scope) -> Any:
        held, key = self.eval(node.value, scope), self.eval(node.slice, scope)
        kinds = (list, tuple, dict, str, pytypes.MappingProxyType)
        if type(held) not in kinds or not (_is_known(key) or _is_hashed(key)):
            raise NotByTypes
        return held[key]

    def of_Slice(self, node: Any, scope: _Scope) -> Any:
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if p is None else self.eval(p, scope) for p in parts))

    def of_JoinedStr(self, node: Any, scope: _Scope) -> Any:
        found = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.eval(part.value, scope)
                if not _is_known(value):
                    raise NotByTypes
                found.append(str(value))
            else:
                found.append(self.eval(part, scope))
        return "".join(found)

    def of_Call(self, node: Any, scope: _Scope) -> Any:
        function = self.eval(node.func, scope)
        args = self.listed(node.args, scope)
        kwargs: dict[str, Any] = {}
        for each in node.keywords:
            value = self.eval(each.value, scope)
            if each.arg is not None:
                kwargs[each.arg] = value
            elif type(value) is dict:
                kwargs |= value
            else:
                raise NotByTypes
        return self.call(function, args, kwargs)

    def of_ListComp(self, node: Any, scope: _Scope) -> Any:
        return self.new(list(self.comprehended(node, node.generators, scope)))

    def of_SetComp(self, node: Any, scope: _Scope) -> Any:
        values = list(self.comprehended(node, node.generators, scope))
        return self.new(set(self.hashed(values)))

    def of_GeneratorExp(self, node: Any, scope: _Scope) -> Any:
        return self.new(self.comprehended(node, node.generators, scope))

    def of_DictComp(self, node: Any, scope: _Scope) -> Any:
        pairs = list(self.comprehended(node, node.generators, scope))
        self.hashed([key for key, _ in pairs])
        return self.new(dict(pairs))

    def comprehended(
        self, node: Any, generators: list[ast.comprehension], scope: _Scope
    ) -> Iterator[Any]:
        """The items of a comprehension."""
        if not generators:
            if isinstance(node, ast.DictComp):
                yield self.eval(node.key, scope), self.eval(node.value, scope)
            else:
                yield self.eval(node.elt, scope)
            return
        first, *rest = generators
        for item in self.items(self.eval(first.iter, scope)):
            inner = scope.within({})
            self.store(first.target, item, inner)
            if all(self.truth(self.eval(test, inner)) for test in first.ifs):
                yield from self.comprehended(node, rest, inner)


class _Nothing:
    pass


_NOTHING = _Nothing()


def _is_hashed(value: Any) -> bool:
    """Whether a value is told from others without code of the user's."""
    plain = isinstance(value, (type, pytypes.ModuleType)) or _is_known(value)
    return plain or type(value).__eq__ is object.__eq__


def _has_mark(value: Any) -> bool:
    """Whether a mark is in a value."""
    if isinstance(value, _Mark):
        return True
    if type(value) in (list, tuple):
        return any(map(_has_mark, value))
    if type(value) is dict:
        return any(map(_has_mark, itertools.islice(value.values(), 1000)))
    # What an iterator gives is not looked at: it may have some.
    return isinstance(value, (Iterator, _Lambda))


def _classes(wanted: Any) -> list[Any]:
    """The classes that `isinstance` is asked for."""
    if type(wanted) is tuple:
        return [c for each in wanted for c in _classes(each)]
    if isinstance(wanted, pytypes.UnionType):
        return list(wanted.__args__)
    return [wanted]
