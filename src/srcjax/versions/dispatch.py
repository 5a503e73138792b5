"""Functions written to pick a version fast: a call costs little more than its tests.

For `grad(loss)` of `def loss(params, x)` users get a function of the same parameters,
so that Python itself binds keywords and defaults, without `*args` on the way:

    def dispatched(params, x):
        nonlocal last
        try:
            for match, function, last in hot:
                if match(params, x):
                    return function(params, x)
            return general((params, x), {})
        except BaseException as error:
            report(error)
            raise

and each version that is called again gets a `match` with its own tests written out:

    def match(params, x):
        try:
            if type(params) is not tuple or len(params) != 2:
                return False
            params_0, params_1 = params
            if type(params_0) is not ndarray or params_0.dtype is not float64:
                return False
            ...
        except (AttributeError, KeyError, ValueError):
            return False
        return True

A matcher may say no where `signature.signature_key` would find the version (a dtype
that is equal but not the same object, say); it never says yes to values of other types.
"""

from __future__ import annotations

import inspect
import types as pytypes
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from srcjax.analysis.guards import Asked, Fixed, Guard, Seen, Written
from srcjax.analysis.plain import LARGEST_SIZE
from srcjax.backends.load import load, report
from srcjax.backends.tracebacks import PASSES_ON
from srcjax.late import late

if TYPE_CHECKING:
    from srcjax import syntax
    from srcjax.analysis import sizes as sz
    from srcjax.analysis import types as ty
else:
    sz = late("srcjax.analysis.sizes")
    ty = late("srcjax.analysis.types")
    syntax = late("srcjax.syntax")


class Hot(list[tuple[Callable[..., bool], Callable, Any]]):
    """Match functions, the generated functions behind them, and their versions."""

    def __reduce__(self) -> tuple:
        """In another process they are found anew."""
        return Hot, ()


#: Larger pytrees are told apart by their key: a text of their tests would be too long.
MOST_TESTS = 2000


# -- the function that users call ----------------------------------------------------


@dataclass(frozen=True)
class Parameters:
    """Parameters that are all passed by position or by name."""

    names: tuple[str, ...]
    #: How many of them can be passed by position only.
    positional_only: int
    defaults: tuple

    def signature(self) -> inspect.Signature:
        """The same as Python has it."""
        kinds = inspect.Parameter
        required = len(self.names) - len(self.defaults)
        return inspect.Signature(
            [
                kinds(
                    name,
                    kinds.POSITIONAL_ONLY
                    if k < self.positional_only
                    else kinds.POSITIONAL_OR_KEYWORD,
                    default=kinds.empty
                    if k < required
                    else self.defaults[k - required],
                )
                for k, name in enumerate(self.names)
            ]
        )


def plain_parameters(function: Any) -> Parameters | None:
    """The parameters of a Python function or method, told without reading its source.

    None if it has `*args`, keyword-only parameters or `**kwargs`, or is no function.
    """
    bound = int(inspect.ismethod(function))
    if bound:
        function = function.__func__
    if not isinstance(function, pytypes.FunctionType):
        return None
    code = function.__code__
    if code.co_kwonlyargcount:
        return None
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return None
    names = code.co_varnames[bound : code.co_argcount]
    defaults = function.__defaults__ or ()
    if len(names) < code.co_argcount - bound or len(defaults) > len(names):
        return None
    if not all(name.isidentifier() for name in names):  # a comprehension's `.0`
        return None
    return Parameters(names, max(code.co_posonlyargcount - bound, 0), defaults)


def told_parameters(function: Any) -> list[str] | None:
    """The names of all parameters, those of a function or method; None of all else."""
    if not isinstance(function, (pytypes.FunctionType, pytypes.MethodType)):
        return None
    return list(inspect.signature(function, follow_wrapped=False).parameters)


def dispatcher(
    parameters: Parameters, hot: Hot, general: Callable, last: pytypes.CellType
) -> Callable:
    """The function of these parameters that calls the first of `hot` that matches.

    Where none does, the result is `general(args, kwargs)`. `last` holds the version
    that was tried last: the one that was called.
    """
    make, place = _dispatcher_maker(parameters.names, parameters.positional_only)
    function: Any = make(hot, general, report, None)
    cells = list(function.__closure__)
    cells[place] = last
    return pytypes.FunctionType(
        function.__code__,
        function.__globals__,
        argdefs=parameters.defaults,
        closure=tuple(cells),
    )


def unlike(names: Iterable[str], name: str) -> str:
    """The name, or one like it that is none of these."""
    taken = set(names)
    while name in taken:
        name += "_"
    return name


@lru_cache(maxsize=256)
def _dispatcher_maker(
    names: tuple[str, ...], positional_only: int
) -> tuple[Callable, int]:
    """Writes a dispatcher; its own names are not among those of the parameters.

    With it, which of its cells holds the version that was tried last.
    """
    hot, general, annotated, last, match, function, error = (
        unlike(names, name)
        for name in ("hot", "general", "report", "last", "match", "function", "error")
    )
    listed = list(names)
    if positional_only:
        listed.insert(positional_only, "/")
    given = ", ".join(names)
    values = f"({given},)" if names else "()"
    text = f"""\
def make({hot}, {general}, {annotated}, {last}):
    def dispatched({", ".join(listed)}):
        nonlocal {last}
        try:
            for {match}, {function}, {last} in {hot}:
                if {match}({given}):
                    return {function}({given})
            return {general}({values}, {{}})
        except BaseException as {error}:
            {annotated}({error})
            raise
    return dispatched
"""
    made: Callable = load(text, "dispatch", {PASSES_ON: True}).make
    (inside,) = (c for c in made.__code__.co_consts if isinstance(c, pytypes.CodeType))
    return made, inside.co_freevars.index(last)


def behind(function: Callable) -> Callable:
    """What a function only passes its arguments on to; itself where it does more."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    if len(code.co_names) != 1 or code.co_nlocals != len(names):
        return function
    (called,) = code.co_names
    given = ", ".join(names)
    passed = pytypes.FunctionType(
        compile(f"lambda {given}: {called}({given})", "<passed on>", "eval"), {}
    )()
    found = function.__globals__.get(called)
    return found if code.co_code == passed.__code__.co_code and found else function


# -- the tests of a version ----------------------------------------------------------


def matcher(
    names: Sequence[str],
    types: Sequence[ty.Type],
    guards: Iterable[Guard],
    order: Iterable[tuple[ty.Sym | int, ty.Sym | int]] = (),
    made: Iterable[tuple[ty.Sym | int, ty.Sym | int]] = (),
    array_class: type = np.ndarray,
) -> Callable[..., bool] | None:
    """The function that tells whether arguments are of these types and guards hold.

    `order`: sizes of which the first must not be less than the second; `made`: sizes
    that must be the same, of which none is one of an argument.

    None if the types cannot be told apart by a few cheap tests.
    """
    tests = Tests(names, array_class)
    try:
        for name, t in zip(tests.parameters, types, strict=True):
            tests.of_type(name, t)
        tests.of_sizes()
        for m, n in order:
            tests.require(f"{tests.size(m)} < {tests.size(n)}")
        for m, n in made:
            tests.require(f"{tests.size(m)} != {tests.size(n)}")
        for guard in guards:
            tests.of_guard(guard)
    except NotCheap:
        return None
    namespace = tests.values
    code = compile(tests.text(), "<srcjax match>", "exec", dont_inherit=True)
    exec(code, namespace)
    found: Callable[..., bool] = namespace["match"]
    return found


#: Names that the text of a matcher uses itself.
USED = {"match", "type", "len", "range", "AttributeError", "KeyError", "ValueError"}


class NotCheap(Exception):
    """A type that is left to `signature.signature_key`."""


class Tests:
    """Writes the statements of a matcher."""

    def __init__(self, names: Sequence[str], array_class: type) -> None:
        self.names = syntax.Names(USED)
        #: The class of all arrays.
        self.array_class = array_class
        self.parameters = [self.names.fresh(name) for name in names]
        self.lines: list[str] = []
        #: Live values that the tests refer to.
        self.values: dict[str, Any] = {}
        self.known: dict[int, str] = {}
        self.sizes: list[tuple[str, ty.Sym]] = []

    def text(self) -> str:
        body = "".join(f"        {line}\n" for line in self.lines)
        return (
            f"def match({', '.join(self.parameters)}):\n    try:\n{body}"
            "        return True\n"
            "    except (AttributeError, KeyError, ValueError):\n        return False\n"
        )

    def require(self, *tests: str) -> None:
        """Return False unless each of the (negated) tests is false."""
        if len(self.lines) > MOST_TESTS:
            raise NotCheap
        self.lines.append(f"if {' or '.join(tests)}: return False")

    def value(self, value: Any, stem: str) -> str:
        """The name of a live value."""
        if id(value) not in self.known:
            name = self.names.fresh(stem if stem.isidentifier() else "value")
            self.known[id(value)] = name
            self.values[name] = value
        return self.known[id(value)]

    def of_class(self, place: str, cls: type | None) -> str:
        """The (negated) test that a value is of exactly this class."""
        if cls is None:
            raise NotCheap
        return f"type({place}) is not {self.value(cls, cls.__name__)}"

    def of_type(self, place: str, t: ty.Type) -> None:
        """Tests that the value of a name is of the type."""
        match t:
            case ty.Scalar(dtype=np.dtype() as dtype, python=True):
                cls = type(dtype.type().item())
                size = [f"not 0 < {place} <= {LARGEST_SIZE}"] * (t.size is not None)
                self.require(self.of_class(place, cls), *size)
            case ty.Scalar(dtype=np.dtype() as dtype) if dtype.kind in "biufc":
                self.require(self.of_class(place, dtype.type))
            case ty.Array():
                self.of_array(place, t)
            case ty.Const():
                self.of_constant(place, t.value)
            case ty.Tuple(items=items, cls=cls):
                cls = cls or tuple
                if getattr(cls, "__iter__", None) is not tuple.__iter__:
                    raise NotCheap
                self.of_items(place, cls, items)
            case ty.List(items=tuple() as items, cls=cls) if cls is list:
                self.of_items(place, list, items)
            case ty.Dict(items=tuple() as pairs, cls=cls):
                self.of_dict(place, cls, dict(pairs))
            case ty.Object(cls=cls, items=pairs):
                self.require(self.of_class(place, cls))
                for key, part in pairs:
                    name = self.names.fresh(f"{place}_{key}")
                    self.lines.append(f"{name} = {place}.{key}")
                    self.of_type(name, part)
            case ty.Range(values=range() as values):
                self.require(
                    self.of_class(place, range),
                    f"{place} != {self.value(values, 'values')}",
                )
            case ty.Other(cls=cls):
                self.require(self.of_class(place, cls))
            case _:
                raise NotCheap

    def of_array(self, place: str, t: ty.Array) -> None:
        """Dtypes are compared by identity; sizes that may vary are collected."""
        if t.dtype is None or t.shape is None:
            raise NotCheap
        first = [
            self.of_class(place, self.array_class),
            f"{place}.dtype is not {self.value(t.dtype, t.dtype.name)}",
        ]
        if all(isinstance(n, int) for n in t.shape):
            self.require(*first, f"{place}.shape != {t.shape}")
            return
        self.require(*first)
        names = [self.names.fresh(f"{place}_size") for _ in t.shape]
        self.lines.append(f"{', '.join(names)}, = {place}.shape")
        for name, n in zip(names, t.shape, strict=True):
            if isinstance(n, int):
                self.require(f"{name} != {n}")
            elif not isinstance(n, ty.Sym):
                raise NotCheap
            else:
                self.sizes.append((name, n))

    def of_sizes(self) -> None:
        """Sizes that may vary are not 0 or 1, and the same where that is supposed."""
        for name, n in self.sizes:
            text = self.size(n)
            self.require(*[f"{name} != {text}"] * (name != text), f"{name} < 2")

    def size(self, dim: ty.Sym | int) -> str:
        """A size in terms of those that the arguments have."""
        bases = {n.name: name for name, n in reversed(self.sizes) if not n.offset}
        if not sz.arguments_in(dim) <= bases.keys():
            raise NotCheap
        return sz.text_of(dim, bases.__getitem__)

    def of_constant(self, place: str, value: Any) -> None:
        if type(value) in (str, bytes):
            self.require(self.of_class(place, type(value)), f"{place} != {value!r}")
        elif isinstance(value, (bool, type(None))):
            self.require(f"{place} is not {value}")
        elif isinstance(value, (pytypes.FunctionType, type, np.ufunc)):
            self.require(f"{place} is not {self.value(value, 'value')}")
        else:
            raise NotCheap

    def of_items(self, place: str, cls: type, items: Sequence[ty.Type]) -> None:
        self.require(self.of_class(place, cls), f"len({place}) != {len(items)}")
        names = [self.names.fresh(f"{place}_{i}") for i in range(len(items))]
        if names:
            self.lines.append(f"{', '.join(names)}, = {place}")
        for name, item in zip(names, items, strict=True):
            self.of_type(name, item)

    def of_dict(self, place: str, cls: type, items: dict[Any, ty.Type]) -> None:
        """The same keys, in the same order."""
        if not all(type(key) in (str, int) for key in items):
            raise NotCheap
        keys = self.value(list(items), "keys")
        self.require(self.of_class(place, cls), f"[*{place}] != {keys}")
        names = [self.names.fresh(f"{place}_{i}") for i in range(len(items))]
        if names:
            self.lines.append(f"{', '.join(names)}, = {place}.values()")
        for name, item in zip(names, items.values(), strict=True):
            self.of_type(name, item)

    def of_guard(self, guard: Guard) -> None:
        """A global or a cell still holds what was found there."""
        if isinstance(guard, Fixed):
            return
        if isinstance(guard, (Asked, Seen)):
            self.require(f"not {self.value(guard.holds, 'holds')}()")
            return
        holder = self.value(guard.holder, "holder")
        value = self.value(guard.value, "value")
        if isinstance(guard, Written):
            defaults = self.value(guard.defaults, "defaults")
            self.require(f"{holder}.__code__ is not {value}")
            self.require(f"{holder}.__defaults__ is not {defaults}")
            if guard.options:
                self.require(f"not {self.value(guard.holds, 'holds')}()")
            return
        if type(guard.holder) is dict:
            self.require(f"{holder}[{guard.key!r}] is not {value}")
        elif isinstance(guard.holder, pytypes.CellType):
            self.require(f"{holder}.cell_contents is not {value}")
        elif isinstance(guard.holder, type) and guard.key.isidentifier():
            self.require(f"{holder}.{guard.key} is not {value}")
        else:
            raise NotCheap
