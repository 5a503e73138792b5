"""What the entry point of a module was written for: its docstring, and a test of it.

    def grad_loss(w, x, y):
        \"\"\"Gradient of loss with respect to w, for w: (n,), x: (m, n), y: (m,).\"\"\"
        if w.ndim != 1 or x.shape[1:] != w.shape or y.shape != x.shape[:1]:
            raise ValueError("grad_loss is for w: (n,), x: (m, n), y: (m,)")

The text serves all sizes of which holds what was supposed of them while it was written
(`Sizes`). Ranks, axes of size 1, the structure of containers, flags and None are what
they were. The test is a part of the text, for whoever exports or copies it; calls by
way of srcjax have been told apart by then, and run the function without it.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.sizes import Sizes, Sym, arguments_in, plus, text_of
from srcjax.analysis.types import (
    Array,
    Const,
    Dict,
    List,
    Object,
    Scalar,
    Tuple,
    Type,
    is_number,
    parts,
)
from srcjax.frontend.read import FunctionSource
from srcjax.frontend.unit import parameter_names, passed_on

if TYPE_CHECKING:
    from srcjax.backends.module import Module

#: Letters for sizes, in the order in which they are taken.
LETTERS = "nmkpqrstuvw"
#: Longer descriptions are in the docstring alone.
LONGEST = 60
WIDTH = 84
#: More tests than this are a function of their own: the text would be about them.
MOST_TESTS = 24


def accepting(parameters: list[str], tests: list[str]) -> Callable[..., bool]:
    """The function that tells whether arguments pass the test, by position."""
    failed = " or ".join(tests) or "False"
    text = f"lambda {', '.join(parameters)}: not ({failed})"
    found: Callable[..., bool] = eval(text, {"np": np})
    return found


def stands_alone(name: str) -> bool:
    """Whether a size is not one of an item in a list.

    What items have to have in common for a loop to run, the loop of the text finds out.
    """
    return re.search(r"\[\d+\]", name.rpartition(".shape")[0]) is None


@dataclass
class Entry:
    """What is known of the entry point and its arguments."""

    #: `Gradient of loss with respect to w`.
    summary: str
    parameters: list[str]
    types: list[Type]
    sizes: Sizes
    #: Parameters that the function reads.
    read: set[str]
    #: Whether the function gives of arrays what it gives of each number (`is_formula`).
    formula: bool
    #: Parameters with a tangent, which follows after all parameters.
    with_tangents: list[str] = field(default_factory=list)


def describe(module: Module, entry: Entry) -> None:
    """Give the entry point a docstring and a test of its arguments."""
    node = next((f for f in module.functions if f.name == module.entry), None)
    if node is None:
        return
    described = Described(entry.parameters, entry.sizes.called)
    spec = described.of(entry.parameters, entry.types, entry.sizes)
    text = f"{entry.summary}, for {spec}." if spec else f"{entry.summary}."
    if len(text) > WIDTH - 6:
        # The first line begins with quotes.
        first = textwrap.wrap(f"{entry.summary}.", WIDTH - 7, break_on_hyphens=False)
        lines = wrapped(f"For {spec}.")
        text = "\n".join([*first, "", *lines, ""] if spec else [*first, ""])
    body: list[Any] = [gast.Expr(syntax.const(text))]
    tangents = parameter_names(node.args)[len(entry.parameters) :]
    tests = Tests(entry, module, node)
    own = list(tests.all())
    found = [*own, *tests.of_tangents(tangents)]
    numbers = all(is_number(t) and not is_flag(t) for t in entry.types)
    calls_itself = any(syntax.count_reads(f, module.entry) for f in module.functions)
    # It calls itself with parts of its arguments, maybe, or with another flag.
    if found and calls_itself and not numbers:
        if entry.with_tangents:
            node = called_by_entry(module, node)
        else:
            found = []  # the forward half of a pair, which `vjp_f` calls
    if found:
        message = f"{module.entry} is for {spec or 'numbers, not for arrays'}"
        shown = repr(message) if len(message) <= LONGEST else f"{module.entry}.__doc__"
        found = list(dict.fromkeys(found))
        test = f"if {' or '.join(found)}:\n    raise ValueError({shown})\n"
        written = syntax.statements(test)
        if len(found) > MOST_TESTS:
            written = [tested_apart(module, written[0], parameter_names(node.args))]
        body += written
        if any("np." in test for test in found):
            module.values.setdefault("np", np)
        module.tested = True
        if tests.any_length:
            module.accepts = accepting(entry.parameters, own)
    node.body[:0] = body
    module.print()


def wrapped(text: str) -> list[str]:
    """Its lines; none ends inside of what is said of sizes: `m + n >= k`."""
    whole = re.sub(r" ([-+*/]+|[!<>=]=?) ", "\0\\1\0", text)
    lines = textwrap.wrap(whole, WIDTH - 4, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def called_by_entry(module: Module, node: gast.FunctionDef) -> gast.FunctionDef:
    """A new entry point that calls the function, which gets another name.

    Before:                             After:

        def jvp_f(x, x_dot):                def f_jvp(x, x_dot):
            ...                                 ...
            jvp_f(x[:m], x_dot[:m])             f_jvp(x[:m], x_dot[:m])

                                            def jvp_f(x, x_dot):
                                                return f_jvp(x, x_dot)
    """
    used = {f.name for f in module.functions} | module.values.keys()
    transform, _, name = module.entry.partition("_")
    names = syntax.Names(used.union(*map(syntax.all_names, module.functions)))
    called = names.fresh(f"{name}_{transform}")
    for function in module.functions:
        syntax.rename(function, {module.entry: called})
    entry = syntax.clone(node)
    text = f"return {called}({', '.join(passed_on(node.args))})"
    entry.name, entry.body = module.entry, syntax.statements(text)
    module.functions.append(entry)
    return entry


def tested_apart(module: Module, test: gast.If, parameters: list[str]) -> gast.Expr:
    """Make the test a function of the module; returns the call of it."""
    used = {f.name for f in module.functions} | module.values.keys()
    called = syntax.Names(used.union(parameters)).fresh("check_arguments")
    read = [p for p in parameters if p in syntax.names_read(test.test)]
    text = f"def {called}({', '.join(read)}):\n    pass\n"
    (function,) = syntax.statements(text)
    says = f"Raise ValueError where the arguments are not what {module.entry} is for."
    function.body = [gast.Expr(syntax.const(says)), test]
    module.functions.insert(0, function)
    return gast.Expr(syntax.call(called, *map(syntax.name, read)))


class Described:
    """Types in a few words: `w: (n,), x: (m, n)`."""

    def __init__(
        self, parameters: Iterable[str], called: Mapping[str, str] | None = None
    ) -> None:
        #: What each size is called.
        self.names = dict(called or {})
        taken = {*parameters, *self.names.values()}
        self.letters = iter([c for c in LETTERS if c not in taken])

    def of(
        self, parameters: list[str], types: list[Type], sizes: Sizes | None = None
    ) -> str:
        """All the parameters; empty where all of them are numbers, or not known."""
        if not any(map(self.tells, types)):
            return ""
        told = [
            f"{name}: {self.type(t)}" for name, t in zip(parameters, types, strict=True)
        ]
        sizes = sizes or Sizes()
        for made, n in sorted(sizes.resolved_made(), key=repr):
            if arguments_in(made) | arguments_in(n) <= self.names.keys():
                told.append(f"{self.dim(made)} = {self.dim(n)}")
        for m, n in sorted(sizes.resolved_order(), key=repr):
            if arguments_in(m) | arguments_in(n) <= self.names.keys():
                told.append(ordered(m, n, self.dim))
        for dim in sizes.resolved_not_one():
            if arguments_in(dim) <= self.names.keys():
                told.append(other_than_one(dim, self.dim, "!="))
        return ", ".join(told)

    def tells(self, t: Type) -> bool:
        """Whether there is more to say than that the value is a number."""
        return isinstance(t, (Array, Tuple, List, Dict, Object)) or (
            isinstance(t, Const) and not isinstance(t.value, (int, float))
        )

    def type(self, t: Type) -> str:
        match t:
            case Array(shape=tuple() as shape):
                inner = ", ".join(map(self.dim, shape))
                return f"({inner},)" if len(shape) == 1 else f"({inner})"
            case Array():
                return "an array"
            case Scalar(dtype=np.dtype() as dtype):
                return dtype.type(0).item().__class__.__name__
            case Const(value=value) if callable(value):
                return str(getattr(value, "__name__", "a function"))
            case Const(value=value):
                return repr(value)
            case Tuple(items=items):
                inner = ", ".join(map(self.type, items))
                return f"({inner},)" if len(items) == 1 else f"({inner})"
            case List(items=tuple() as items) if len(items) > 3:
                return f"a list of {len(items)}"
            case List(items=tuple() as items):
                return f"[{', '.join(map(self.type, items))}]"
            case Dict(items=tuple() as pairs) if len(pairs) <= 6:
                inner = ", ".join(f"{key!r}: {self.type(v)}" for key, v in pairs)
                return f"{{{inner}}}"
            case Dict():
                return "a dict"
            case Object(cls=type() as cls):
                return cls.__name__
        return "any value"

    def dim(self, dim: Any) -> str:
        if not isinstance(dim, Sym):
            return "?" if not isinstance(dim, int) else str(dim)
        return text_of(dim, self.letter)

    def letter(self, name: str) -> str:
        if name not in self.names:
            self.names[name] = next(self.letters, f"n{len(self.names)}")
        return self.names[name]


class Tests:
    """Writes the tests of the arguments: expressions that are true where one fails."""

    def __init__(self, entry: Entry, module: Module, node: gast.FunctionDef) -> None:
        self.entry = entry
        self.node = node
        #: Whether `np` may be written for NumPy.
        taken = syntax.names_written(node.body) | set(parameter_names(node.args))
        self.has_np = "np" not in taken and module.values.get("np", np) is np
        #: Whether it matters that a number is no array.
        self.numbers = not entry.formula or any(map(has_arrays, entry.types))
        self.keeps_dtype = any(map(keeps_dtype, module.functions))
        #: Sizes that are not 1, not tested yet.
        self.not_one = entry.sizes.resolved_not_one()
        #: Sizes that are the same, of which none is one of an argument, not tested yet.
        self.made = sorted(entry.sizes.resolved_made(), key=repr)
        #: Sizes of which the first is not less than the second, not tested yet.
        self.order = sorted(entry.sizes.resolved_order(), key=repr)
        #: Whether there is a list that may have any number of items.
        self.any_length = False
        #: Arrays that were tested, and their shapes.
        self.shapes: list[tuple[str, tuple[Any, ...]]] = []

    def all(self) -> Iterator[str]:
        """The tests of all arguments, in order."""
        for name, t in zip(self.entry.parameters, self.entry.types, strict=True):
            if name in self.entry.read:
                yield from self.of_type(name, t)

    def of_tangents(self, names: list[str]) -> Iterator[str]:
        """Each array's tangent has its shape."""
        types = dict(zip(self.entry.parameters, self.entry.types, strict=True))
        for name, tangent in zip(self.entry.with_tangents, names, strict=False):
            t = types[name]
            if isinstance(t, Array) and t.shape:
                yield f"{tangent}.shape != {name}.shape"

    def of_type(self, place: str, t: Type) -> Iterator[str]:
        match t:
            case Array(shape=tuple() as shape) if shape:
                yield from self.of_shape(place, shape)
                if t.active and t.dtype is not None and self.keeps_dtype:
                    yield f'{place}.dtype.kind != "{t.dtype.kind}"'
            case Scalar(dtype=np.dtype() as dtype):
                if self.numbers and self.has_np and dtype.kind in "fc":
                    yield f"np.ndim({place}) != 0"
            case Const(value=value) if is_flag(t):
                yield f"{place} is not {value}"
            case Const(value=str() as value):
                yield f"{place} != {value!r}"
            case Tuple(items=items):
                yield from self.of_items(place, items)
            case List(items=tuple() as items):
                yield from self.of_items(place, items)
            case Dict(items=tuple() as pairs):
                plain = all(type(key) in (str, int) for key, _ in pairs)
                if plain and pairs:
                    keys = ", ".join(repr(key) for key, _ in pairs)
                    yield f"{place}.keys() != {{{keys}}}"
                    for key, part in pairs:
                        yield from self.of_type(f"{place}[{key!r}]", part)
            case Object(items=pairs):
                for key, part in pairs:
                    yield from self.of_type(f"{place}.{key}", part)

    def of_shape(self, place: str, shape: tuple[Any, ...]) -> Iterator[str]:
        """The rank, and the sizes that are not free."""
        own = [f"{place}.shape[{axis}]" for axis in range(len(shape))]
        free = [
            isinstance(n, Sym) and n.name == name and not n.offset
            for n, name in zip(shape, own, strict=True)
        ]
        first = free.index(False) if False in free else len(free)
        if first == len(free):
            yield f"{place}.ndim != {first}"
        elif not any(free[first:]):
            sliced = f"[{first}:]" if first else ""
            yield f"{place}.shape{sliced} != {self.shape_text(shape[first:])}"
        else:
            yield f"{place}.ndim != {len(shape)}"
            for name, n, is_free in zip(own, shape, free, strict=True):
                if not is_free:
                    yield f"{size_text(Sym(name))} != {size_text(n)}"
        self.shapes.append((place, shape))
        yield from self.of_sizes()

    def of_sizes(self) -> Iterator[str]:
        """What is supposed of sizes, where all of these were seen."""
        seen = {name for _, s in self.shapes for n in s for name in arguments_in(n)}
        for dim in list(self.not_one):
            if arguments_in(dim) <= seen:
                self.not_one.remove(dim)
                yield other_than_one(dim, size_text, "==")
        for same in list(self.made):
            if arguments_in(same[0]) | arguments_in(same[1]) <= seen:
                self.made.remove(same)
                yield f"{size_text(same[0])} != {size_text(same[1])}"
        for pair in list(self.order):
            m, n = pair
            if arguments_in(m) | arguments_in(n) <= seen:
                self.order.remove(pair)
                yield ordered(m, n, size_text, _OTHER_WAY)

    def shape_text(self, dims: tuple[Any, ...]) -> str:
        """`x.shape`, `x.shape[:1]`, or the sizes one by one: `(len(x), 3)`."""
        if any(isinstance(n, Sym) for n in dims):
            for place, shape in self.shapes:
                for start in range(len(shape) - len(dims) + 1):
                    end = start + len(dims)
                    if shape[start:end] == dims:
                        return f"{place}.shape{slice_text(start, end, len(shape))}"
        inner = ", ".join(map(size_text, dims))
        return f"({inner},)" if len(dims) == 1 else f"({inner})"

    def of_items(self, place: str, items: tuple[Type, ...]) -> Iterator[str]:
        """The number of items, and the same tests for each where they are alike."""
        found = []
        for i, t in enumerate(items):
            shapes = list(self.shapes)
            found.append(list(self.of_type(f"{place}[{i}]", t)))
            if i:  # an item is compared with itself and the first, no other one
                self.shapes = shapes
        inside = " ".join(itertools.chain(*found))
        each = next(n for n in _EACH if f"for {n} in" not in inside)
        relative = [
            [test.replace(f"{place}[{i}]", each) for test in tests]
            for i, tests in enumerate(found)
        ]
        first = next((k for k in (0, 1) if self.alike(place, relative[k:])), None)
        if first is None or len(items) < 3 or not loops_only(self.node, place, items):
            yield f"len({place}) != {len(items)}"
        else:
            self.any_length = True
        if first is None:
            for tests in found:
                yield from tests
            return
        if first:
            yield from found[0]
        if relative[first]:
            rest = f"{place}[{first}:]" if first else place
            yield f"any({' or '.join(relative[first])} for {each} in {rest})"

    def alike(self, place: str, relative: list[list[str]]) -> bool:
        """Whether the same tests are made of several items, and of no other item."""
        if len(relative) < 2 or any(tests != relative[0] for tests in relative):
            return False
        others = "".join(relative[0]).replace(f"{place}[0]", "")
        return f"{place}[" not in others


def is_flag(t: Type) -> bool:
    """True, False or None."""
    return isinstance(t, Const) and any(t.value is v for v in (None, True, False))


def slice_text(start: int, end: int, length: int) -> str:
    """`[1:]`, empty for all of it."""
    if (start, end) == (0, length):
        return ""
    return f"[{start or ''}:{end if end < length else ''}]"


def keeps_dtype(function: gast.FunctionDef) -> bool:
    """Whether values are put into arrays of the dtype that an argument has."""
    made = {n.attr for n in syntax.walk(function.body) if isinstance(n, gast.Attribute)}
    return bool(made & _OF_DTYPE)


_OF_DTYPE = frozenset(
    ["zeros_like", "full_like", "empty_like", "dtype", "astype", "copy"]
)


def loops_only(node: gast.FunctionDef, name: str, items: tuple[Type, ...]) -> bool:
    """Whether a container is only looped over, so that any number of items will do.

        for w, b in params: ...
        dparams = [None] * len(params)
        for i in reversed(range(len(params))): params[i] ...

    Each item has to be like the others, and the third like the second: what a loop did
    in the third round, it does in the ones after it.
    """
    allowed = 0
    for part in syntax.walk(node.body):
        if isinstance(part, (gast.For, gast.comprehension)):
            allowed += _is_looped(part.iter, name)
        elif isinstance(part, gast.Call) and syntax.is_name(part.func, "len"):
            allowed += len(part.args) == 1 and syntax.is_name(part.args[0], name)
        elif isinstance(part, gast.Subscript) and isinstance(part.ctx, gast.Load):
            by_name = isinstance(part.slice, gast.Name)
            allowed += by_name and syntax.is_name(part.value, name)
        elif isinstance(part, (gast.List, gast.Tuple)) and len(part.elts) == len(items):
            return False
    mentioned = sum(syntax.is_name(part, name) for part in syntax.walk(node.body))
    return mentioned == allowed


def _is_looped(iterable: gast.expr, name: str) -> bool:
    if isinstance(iterable, gast.Call) and isinstance(iterable.func, gast.Name):
        over = iterable.func.id in ("enumerate", "reversed", "zip")
        return over and sum(syntax.is_name(a, name) for a in iterable.args) == 1
    return syntax.is_name(iterable, name)


def size_text(dim: Any) -> str:
    """The expression for a size: `len(x) - 1`."""
    if not isinstance(dim, (Sym, int)):
        return str(dim)
    return text_of(dim, _length)


def _length(name: str) -> str:
    first = name.endswith(".shape[0]")
    return f"len({name.removesuffix('.shape[0]')})" if first else name


def other_than_one(dim: Sym, text: Callable[[Any], str], sign: str) -> str:
    """`n != 1`, with the constant on the right; or with another sign."""
    return f"{text(plus(dim, -dim.offset))} {sign} {1 - dim.offset}"


def ordered(
    m: Sym | int,
    n: Sym | int,
    text: Callable[[Any], str],
    signs: Mapping[str, str] | None = None,
) -> str:
    """`m >= n`, with the constant on the right; or with other signs."""
    if isinstance(m, int):
        assert isinstance(n, Sym)
        left, sign, right = plus(n, -n.offset), "<=", plus(m, -n.offset)
    else:
        left, sign, right = plus(m, -m.offset), ">=", plus(n, -m.offset)
        if isinstance(right, Sym) and right.offset == 1:  # m >= n + 1
            sign, right = ">", plus(right, -1)
    return f"{text(left)} {signs[sign] if signs else sign} {text(right)}"


_OTHER_WAY = {">=": "<", "<=": ">", ">": "<="}
#: What each item of a container is called in a test, the innermost first.
_EACH = ("item", "row", "group", "part", *(f"part{k}" for k in range(2, 100)))


def is_formula(source: FunctionSource) -> bool:
    """Whether the function is made of arithmetic and functions of single numbers.

    Then its derivative is right for each entry of arrays, too.
    """
    for node in syntax.walk(source.node.body):
        if isinstance(node, gast.Call):
            if not is_elementwise(node.func, source):
                return False
        elif isinstance(node, gast.BinOp):
            if isinstance(node.op, gast.MatMult):
                return False
        elif not isinstance(node, _OF_FORMULAS):
            return False
    return True


_OF_FORMULAS = (
    *(gast.Assign, gast.Return, gast.If, gast.IfExp, gast.While, gast.Pass),
    *(gast.UnaryOp, gast.Compare, gast.BoolOp, gast.Name, gast.Constant),
    *(gast.Attribute, gast.operator, gast.unaryop, gast.cmpop, gast.boolop),
    *(gast.expr_context, gast.Expr),
)


def is_elementwise(function: gast.expr, source: FunctionSource) -> bool:
    """Whether a function of NumPy's or of `math` is one of single numbers."""
    chain = (syntax.dotted(function) or "").split(".")
    try:
        value = source.resolve(chain[0])
        for part in chain[1:]:
            value = getattr(value, part)
    except (KeyError, AttributeError):
        return False
    return isinstance(value, np.ufunc) or getattr(math, chain[-1], None) is value


def has_arrays(t: Type) -> bool:
    """Whether the value or a part of it is an array of some rank."""
    if isinstance(t, Array) and t.shape != ():
        return True
    return any(map(has_arrays, parts(t)))
