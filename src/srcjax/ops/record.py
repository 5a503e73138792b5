"""One operation, all its rules side by side, in one record.

Rules are real Python, pasted into the output with names substituted:

    @adjoint(np.tanh)
    def _(y, x):
        d[x] = d[y] * (1 - y * y)

In a rule, `d[v]` is the adjoint of `v`; assigning to `d[x]` contributes to it. In a
tangent rule, `d[v]` is the tangent. The rule's first parameter is the operation's
result, the others are its arguments under the names of its signature. Its docstring
says it in the words of a course (`source(df, explain=True)`). A rule may call
helpers of `srcjax.runtime`; where the types are known, `srcjax.ops.expand` replaces
the call by the plain expression that it stands for.

Where the result is linear in an argument, the tangent is the operation itself, applied
to the tangent; the record names the argument, and no tangent rule is written:

    @adjoint(np.cumsum, linear="a")             # cumsum(a_dot, ...)
    @adjoint(np.matmul, linear=("a", "b"))      # a_dot @ b + a @ b_dot
    @adjoint(np.append, linear=[("x", "values")])       # append(x_dot, values_dot, ...)
    @adjoint(np.einsum, linear="*operands")     # a term for each operand

An operation that plain NumPy can say is a `composite`: a function of the same value,
with no rule at all:

    @composite(np.linalg.trace)
    def trace(x, *, offset=0, dtype=None):
        return np.trace(x, offset, -2, -1, dtype)

Where a differentiated value flows into a call of `np.linalg.trace`, the call is treated
as one of this function, like a helper of the user's: inlined if it is small, else a
function of its own in the generated text. All modes and orders follow. A call that
depends on no differentiated value stays the user's own. Composites live in
`srcjax.ops.composites`, from where `export` copies them. Arguments that the function
does not serve it refuses: `raise NotImplementedError("what is not supported")` on a
branch that is sure to be taken becomes an error at the user's call; so does an argument
that is not in its signature.

Calls with arguments that are in no rule's signature can be a composite too, where the
plain call has rules: `@completes(np.sum)` serves `np.sum(x, where=mask)`. So can calls
with arguments of certain types or values: `@completes(np.interp, when=has_period)`.

Functions are found by identity, bound methods (`scipy.stats.norm.logpdf`, a new object
at each access) by their owner and name. Records of a library that is slow to import
are made when a function of it is first looked up: `register_lazily`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import textwrap
import threading
import types as pytypes
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.arrays import inside
from srcjax.analysis.custom import Rules
from srcjax.analysis.types import Type, has_complex, is_mapping
from srcjax.ops.patched import refuse_foreign


class Template:
    """The body of a rule, as a tree, with its parameter names.

    There are many hundred rules, of which a program needs a few: those of the library
    are parsed when they are first asked for, those of users at once.
    """

    def __init__(
        self,
        parse: Callable[[], list[gast.stmt]],
        parameters: tuple[str, ...],
        globals: dict[str, Any],
        words: str = "",
    ) -> None:
        self.parse = parse
        self.parameters = parameters
        self.globals = globals
        #: What the docstring of the rule says of it (`ops.words`).
        self.words = words
        if not str(globals.get("__name__")).startswith("srcjax."):
            self.body  # noqa: B018  (tells the user what is wrong with it)

    @functools.cached_property
    def body(self) -> list[gast.stmt]:
        """The statements; keys of `d[...]` are marked as no reads of values."""
        body = [s for s in self.parse() if not _is_docstring(s)]
        for node in syntax.walk(body):
            if isinstance(node, gast.Subscript) and syntax.is_name(node.value, "d"):
                node.slice.adjoint_key = True
        return body

    def reads(self, parameter: str) -> bool:
        """Whether the rule needs the value of the parameter."""
        return any(
            isinstance(node, gast.Name)
            and node.id == parameter
            and not getattr(node, "adjoint_key", False)
            for node in syntax.walk(self.body)
        )


@dataclass(frozen=True)
class Fold:
    """How a reduction goes on from one element to the next, for kernels.

    `y` is what was found so far, `x` the next element, `n` how many there are. Sums are
    `added`, which says that their order does not matter.
    """

    start: float
    step: str
    finish: str = ""
    #: Of no elements it raises.
    of_some: bool = False
    #: The kinds of numbers that it is for; truth values are counted as ints.
    kinds: str = "f"


@dataclass
class Op:
    """An operation and everything srcjax knows about it."""

    name: str
    signature: inspect.Signature
    infer: Callable[..., Type] | None = None
    adjoint: Template | None = None
    tangent: Template | None = None
    #: Groups of arguments that the result is linear in (jointly in those of a group).
    #: The tangent is a sum of calls like the user's own, one for each group with an
    #: active argument: the arguments of the group replaced by their tangents, where not
    #: active by zeros of their shape, the others as the user gave them. `("*xs",)` says
    #: linear in each item of the list or tuple `xs`: a term for each. A tangent rule
    #: beside it gives the terms of arguments that are in no group.
    linear: tuple[tuple[str, ...], ...] = ()
    batch: Any = None
    #: What is computed for one element, in Python on numbers under the names of the
    #: arguments, as NumPy computes it (`transforms.kernels`): "np.exp(x)".
    kernel: str | None = None
    #: The kinds of arguments it is right for: floats, ints, bools (`dtype.kind`).
    kinds: str = "f"
    #: Of a reduction: how a kernel computes it.
    fold: Fold | None = None
    #: "fresh": the result shares no memory; "view": it always shares its first
    #: argument's; "read-only": so that it cannot be written to, and an item may stand
    #: in it several times; "maybe": it may; "same": it is the argument itself.
    alias: str = "fresh"
    #: Of "maybe": whether the result of a call is new memory, asked with the types of
    #: its arguments.
    new_for: Callable[..., bool] | None = None
    #: No derivative flows through the result (comparison, index, shape, constructor).
    inert: bool = False
    #: What the types of its results rest on: an attribute of a module.
    rests_on: tuple[Any, str] | None = None
    #: Shape of the result is the broadcast of the arguments' shapes.
    elementwise: bool = False
    #: Over all examples of the axes named by `axis_name` (`ops.collectives`): whether
    #: the result is mapped does not follow from the arguments.
    collective: bool = False
    #: The derivative is right on average, and not the slope of the function, which
    #: jumps: nothing is compared with differences.
    on_average: bool = False
    #: The adjoint rule takes a number where all of the seed's items are that number.
    spreads: bool = False
    #: Cheap enough to compute again rather than save.
    cheap: bool = False
    #: The rules hold for real arguments only: complex ones are refused. None: as all
    #: of the library do (`refuses_complex`).
    real_only: bool | None = None
    #: The result may be complex for real arguments, which the types cannot tell.
    may_be_complex: bool = False
    #: Arguments that a derivative can flow through, where the adjoint does not tell.
    passes: tuple[str, ...] | None = None
    #: Arguments that carry no derivative, besides those that are named in
    #: `ops.carry_nothing`: flags, indices, or zero almost everywhere. Any other that
    #: depends on a differentiated value and is named in no rule is refused.
    constant: tuple[str, ...] = ()
    #: Arguments that the call writes to (`np.copyto`, `out=`).
    writes: tuple[str, ...] = ()
    #: Arguments that may be objects of other classes, which the function itself takes:
    #: a sparse matrix, or a `LinearOperator`. As such they are constant.
    objects: tuple[str, ...] = ()
    functions: list[Any] = field(default_factory=list)
    #: The rule in the words of a course, or by argument, `"y"` that of the tangent
    #: (`ops.words`). Without it, what the docstrings of the rules say, or the row.
    says: str | dict[str, str] = ""
    #: Of a row: the directional derivatives by argument, as they are written there.
    partials: dict[str, str] = field(default_factory=dict, repr=False)
    #: A composite for arguments that the signature does not have (`completes`), and
    #: for those of which this says so, asked with their types.
    otherwise: Callable[..., Any] | None = None
    otherwise_for: Callable[..., bool] | None = None
    #: A composite for complex arguments (`for_complex`).
    of_complex: Callable[..., Any] | None = None
    #: Whether one of so many functions is SciPy's.
    of_scipy: tuple[int, bool] | None = field(default=None, repr=False)
    #: The same of calls whose arguments say another `alias` than most.
    by_alias: dict[str, Op] = field(default_factory=dict, repr=False)
    #: Which arguments parameters get, by how many are given and the names of others.
    places: dict[tuple, dict[str, Any]] = field(default_factory=dict, repr=False)

    def as_called(self, args: list[Type], kwargs: dict[str, Type]) -> Op:
        """The operation of a call whose arguments tell whether the result is new."""
        if self.alias not in ("fresh", "maybe"):
            return self
        alias = self._alias_of(args, kwargs)
        if alias == self.alias:
            return self
        if alias not in self.by_alias:
            self.by_alias[alias] = replace(self, alias=alias, by_alias={})
        return self.by_alias[alias]

    def _alias_of(self, args: list[Type], kwargs: dict[str, Type]) -> str:
        """Whether the result is new memory: by `copy=`, or as `new_for` says."""
        copies = kwargs.get("copy")
        if copies is not None:
            return "fresh" if getattr(copies, "value", None) is True else "maybe"
        if self.new_for is None:
            return self.alias
        try:
            bound = self.bind(args, kwargs)
        except TypeError:
            return self.alias
        return "fresh" if self.new_for(**bound) else self.alias

    @property
    def differentiable(self) -> tuple[str, ...]:
        """Arguments that a derivative can flow through."""
        if self.passes is not None:
            return self.passes
        return () if self.adjoint is None else contributions(self.adjoint)

    def bind(self, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments by parameter name; absent ones are left out, but `*args` is `()`.

        Raises TypeError for an argument that the signature does not have. Keywords of
        the layout of the result are none of the rules' business.
        """
        form = (len(args), *kwargs)
        places = self.places.get(form)
        if places is None:
            places = self.places[form] = self._places(len(args), list(kwargs))
        given: list[Any] = [*args, *kwargs.values()]
        return {
            name: where(given) if callable(where) else given[where]
            for name, where in places.items()
        }

    def _places(self, count: int, names: list[str]) -> dict[str, Any]:
        """Which of the arguments of a call each parameter gets: a place or a getter."""
        known = self.signature.parameters
        keywords = {
            name: count + k
            for k, name in enumerate(names)
            if name in known or name not in LAYOUT
        }
        bound = dict(self.signature.bind(*range(count), **keywords).arguments)
        for name, parameter in known.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                places = bound.get(name, ())
                bound[name] = lambda given, places=places: tuple(
                    given[k] for k in places
                )
            elif parameter.kind is parameter.VAR_KEYWORD and name in bound:
                named = bound[name]
                bound[name] = lambda given, named=named: {
                    key: given[k] for key, k in named.items()
                }
        return bound

    def completed(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The composite for these types, None where the rules serve them."""
        if self.of_complex is not None and any(
            map(has_complex, [*args, *kwargs.values()])
        ):
            return self.of_complex
        if self.otherwise is None:
            return None
        try:
            bound = self.bind(args, kwargs)
        except TypeError:
            return self.otherwise
        if self.otherwise_for is not None and self.otherwise_for(**bound):
            return self.otherwise
        return None

    def taken_as_arrays(self) -> frozenset[str]:
        """The arguments of which a list is taken for the array that it makes."""
        if self.elementwise:
            return frozenset(self.signature.parameters)
        return frozenset(self.differentiable)

    def refuses_complex(self) -> bool:
        """Whether the rules are wrong for complex arguments.

        Those of SciPy were made for real ones, unless their record says otherwise.
        """
        if self.real_only is not None:
            return self.real_only
        if self.of_scipy is None or self.of_scipy[0] != len(self.functions):
            found = any(map(is_of_scipy, self.functions))
            self.of_scipy = len(self.functions), found
        return self.of_scipy[1]


#: Keywords of how a result lies in memory, which change no value. (Where `order` says
#: in which order elements are read, as in `np.reshape`, the rules have it.)
LAYOUT = frozenset(["order", "subok", "casting"])


def is_of_scipy(function: Any) -> bool:
    """Whether SciPy defines the function; its ufuncs do not know their module."""
    home = str(getattr(function, "__module__", None) or type(function).__module__)
    special = sys.modules.get("scipy.special")
    name = getattr(function, "__name__", "")
    own = special is not None and getattr(special, name, None) is function
    return home.startswith("scipy") or (own and isinstance(function, np.ufunc))


_Written = TypeVar("_Written")

#: Operations by the resolved function object (see `key_of`).
TABLE: dict[Any, Op] = {}
#: Functions that are operations for `vmap` alone; derivatives read their source.
MAPPED: dict[Any, Op] = {}
#: Makers of records that forward mode alone goes by; reverse mode reads the source.
TANGENTS: dict[Any, Callable[[], Op]] = {}
#: Whether tangents are what is written.
_FORWARD: ContextVar[bool] = ContextVar("forward", default=False)
#: Functions of the same value, by the function object that they stand for.
COMPOSITES: dict[Any, pytypes.FunctionType] = {}
#: Records for batches only, with the test whether they serve the arguments of a call:
#: `np.median(x)` of a batch is `np.median(x, axis=1)`, and no composite.
NATIVE: dict[Any, tuple[Op, Callable[..., bool]]] = {}
#: Those that are of the same value for real arguments only, by identity.
REAL_COMPOSITES: set[int] = set()
#: Parameters of composites that are refused unless they have their default.
REFUSED: dict[int, tuple[str, ...]] = {}
#: Modules of records that are not imported yet, in their order, by the library (or the
#: key of the function) that they are about.
LAZY: dict[Any, tuple[str, ...]] = {}
#: Operations behind the methods and attributes of arrays, by name.
METHODS: dict[str, Op] = {}
ATTRIBUTES: dict[str, Op] = {}
#: Attributes that arrays are given in transformed functions: what `x.name` is of `x`.
PROPERTIES: dict[str, Any] = {}
#: Functions that are written out, whether their arguments carry a derivative or not.
WRITTEN_OUT: dict[int, pytypes.FunctionType] = {}
#: Keeps the functions alive, so that an id is never used again.
_ALIVE: list[Any] = []


def lookup(function: Any) -> Op | None:
    """The operation behind a function object, None if srcjax has no record of it."""
    key = key_of(function)
    if LAZY and (key not in TABLE or _BEGUN):
        load_records(function)
    found = TABLE.get(key)
    if found is None and isinstance(function, pytypes.MethodType):
        found = TABLE.get(id(function.__func__))  # a method of any object of a class
    if found is None and _FORWARD.get() and key in TANGENTS:
        return _tangent_record(key)
    mapped = MAPPED.get(key) if is_mapping() else None
    return found if mapped is None else mapped


@functools.cache
def _tangent_record(key: Any) -> Op:
    return TANGENTS[key]()


def are_tangents() -> bool:
    """Whether operations are looked up for forward mode."""
    return _FORWARD.get()


@contextmanager
def tangents(on: bool = True) -> Iterator[None]:
    """Inside, operations are looked up for forward mode (or, off, not)."""
    token = _FORWARD.set(on)
    try:
        yield
    finally:
        _FORWARD.reset(token)


def composite_of(function: Any) -> Any:
    """The Python function of the same value, None if there is none.

    For a method of any object of a class (`gaussian_kde.logpdf` is the composite's key)
    it is a method of that object too.
    """
    key = key_of(function)
    if LAZY and (key not in COMPOSITES or _BEGUN):
        load_records(function)
    found = COMPOSITES.get(key)
    if found is None and isinstance(function, pytypes.MethodType):
        of_class = COMPOSITES.get(id(function.__func__))
        return of_class and pytypes.MethodType(of_class, function.__self__)
    return found


def native(function: Any, args: list[Type], kwargs: dict[str, Type]) -> Op | None:
    """The record for batches only that serves these arguments, None without one."""
    op, serves = NATIVE.get(key_of(function), (None, None))
    if op is None or serves is None:
        return None
    try:
        bound = op.bind(args, kwargs)
    except TypeError:
        return None
    return op if serves(**bound) else None


def key_of(function: Any) -> Any:
    """What identifies a function object: bound methods are new at each access."""
    function = inside(function)
    owner = owner_of(function)
    return id(function) if owner is None else (id(owner), function.__name__)


def owner_of(function: Any) -> Any:
    """The object that a bound method belongs to; None for other functions."""
    if not isinstance(function, (pytypes.MethodType, pytypes.BuiltinMethodType)):
        return None
    owner = function.__self__
    return None if isinstance(owner, pytypes.ModuleType) else owner


def register_lazily(library: Any, *modules: str) -> None:
    """Import modules, which make records, once a function of `library` is looked up.

    `library` is a module name such as `"scipy.stats"`; those inside it count too. Or it
    is one function.
    """
    LAZY[library if isinstance(library, str) else key_of(library)] = modules
    _has_library.cache_clear()


def load_records(function: Any) -> None:
    """Import the modules with records of the function, or of its library."""
    key, home = key_of(function), _home_of(function)
    if key not in LAZY and not _has_library(home):
        return
    wanted = [k for k in list(LAZY) if k == key or _is_around(k, home)]
    if not wanted:
        return
    with _LOADING:  # another thread waits until all of them are there
        given = Rules.given
        for library in wanted:
            modules = LAZY.get(library, ())
            if _is_imported_now(modules):
                continue  # it is this import that looks things up
            _BEGUN.add(library)
            try:
                for module in modules:
                    importlib.import_module(module)
            finally:
                _BEGUN.discard(library)
            LAZY.pop(library, None)
        Rules.given = given  # no text would have been another with them


def _is_around(library: Any, home: str) -> bool:
    """Whether a module is in a library."""
    return isinstance(library, str) and f"{home}.".startswith(f"{library}.")


@functools.lru_cache(maxsize=4096)
def _has_library(home: str) -> bool:
    """Whether a library with the module in it is, or was, one of `LAZY`."""
    return any(_is_around(k, home) for k in list(LAZY))


def _is_imported_now(modules: tuple[str, ...]) -> bool:
    """Whether the body of one of the modules is being executed, in this thread."""
    frame = inspect.currentframe()
    while frame is not None:
        if (
            frame.f_code.co_name == "<module>"
            and frame.f_globals["__name__"] in modules
        ):
            return True
        frame = frame.f_back
    return False


def _home_of(function: Any) -> str:
    """The module of a function, or of the class of the object that it is bound to."""
    if isinstance(function, np.ufunc):  # which does not know its own
        return "scipy.special" if is_of_scipy(function) else "numpy"
    owner = owner_of(function)
    home = getattr(function, "__module__", None) if owner is None else None
    if isinstance(home, str):
        return home
    return type(function if owner is None else owner).__module__


#: Held while records are imported; the keys of `LAZY` whose records they are.
_LOADING = threading.RLock()
_BEGUN: set[Any] = set()


def operation(
    *functions: Any,
    name: str | None = None,
    signature: str | None = None,
    methods: Iterable[str] = (),
    attributes: Iterable[str] = (),
    **slots: Any,
) -> Op:
    """Declare (or extend) the operation that the function objects stand for.

    `signature` is text such as `"x, axis=None, *, keepdims=False"`; without it the
    first function's own signature is taken. `methods` are names of ndarray methods
    that mean the same with the array as the first argument.
    """
    if not is_called_by_srcjax():
        Rules.of_users = True
    else:
        refuse_foreign(functions)
    keys = [key_of(f) for f in functions]
    for function in functions if LAZY else ():
        load_records(function)  # what is declared here comes after what is there
    found = next((TABLE[key] for key in keys if key in TABLE), None)
    if found is None:
        first = functions[0]
        shown = name or f"{getattr(first, '__module__', '')}.{first.__name__}".lstrip(
            "."
        )
        shown = shown.replace("_operator.", "operator.")
        parsed = parse_signature(signature) if signature else inspect.signature(first)
        found = Op(shown, parsed)
    for slot, value in slots.items():
        if not hasattr(found, slot):
            raise TypeError(f"an operation has no slot {slot!r}")
        setattr(found, slot, linear_groups(value) if slot == "linear" else value)
    for key, function in zip(keys, functions, strict=True):
        _ALIVE.append(function)
        TABLE[key] = found
        if function not in found.functions:
            found.functions.append(function)
    Rules.given += 1
    for method in methods:
        METHODS[method] = found
    for attribute in attributes:
        ATTRIBUTES[attribute] = found
    return found


def array_property(name: str) -> Callable[[_Written], _Written]:
    """Say of a function of an array that it gives what `x.name` is in programs.

    NumPy's arrays have no such attribute.
    """

    def mark(function: _Written) -> _Written:
        PROPERTIES[name] = function
        return written_out(function)

    return mark


def written_out(what: _Written) -> _Written:
    """Say of a function, or a class, that calls of it (its methods) stand for what is
    in them, whether derivatives go through or not.
    """
    for value in vars(what).values() if isinstance(what, type) else (what,):
        if isinstance(value, pytypes.FunctionType):
            WRITTEN_OUT[id(value)] = value
    return what


def is_called_by_srcjax() -> bool:
    """Whether a module of srcjax is what asks this one for something."""
    frame = inspect.currentframe()
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name != __name__:
            return name.startswith("srcjax.")
        frame = frame.f_back
    return False


def linear_groups(value: Any) -> tuple[tuple[str, ...], ...]:
    """The slot `linear` from its short forms: a name, names, or groups of names.

    >>> linear_groups(("a", "b"))
    (('a',), ('b',))
    >>> linear_groups([("x", "values")])
    (('x', 'values'),)
    """
    items = (value,) if isinstance(value, str) else value
    return tuple((item,) if isinstance(item, str) else tuple(item) for item in items)


@functools.cache
def parse_signature(text: str) -> inspect.Signature:
    """The signature that `def f(<text>)` has."""
    scope: dict[str, Any] = {}
    exec(f"def f({text}): ...", {}, scope)
    return inspect.signature(scope["f"])


def adjoint(*functions: Any, **options: Any) -> Callable[[Callable], Op]:
    """Decorator: the function is the adjoint rule of the operation.

    Its parameters after the first give the operation's signature, unless the
    operation was declared before. Options are those of `operation`.
    """
    return _rule_decorator("adjoint", functions, options)


def tangent(*functions: Any, **options: Any) -> Callable[[Callable], Op]:
    """Decorator: the function is the tangent (forward mode) rule of the operation."""
    return _rule_decorator("tangent", functions, options)


def _rule_decorator(slot: str, functions: Any, options: dict) -> Callable:
    def decorate(rule: Callable) -> Op:
        parameters = list(inspect.signature(rule).parameters.values())[1:]
        template = read_template(rule)
        if lookup(functions[0]) is None and "signature" not in options:
            shown = str(inspect.Signature(parameters))
            options["signature"] = shown[1:-1]
        op = operation(*functions, **options)
        setattr(op, slot, template)
        Rules.given += 1
        if slot == "adjoint":
            op.passes = None
        return op

    return decorate


def read_template(rule: Callable) -> Template:
    """The template with the body of a rule."""

    def parse() -> list[gast.stmt]:
        source = textwrap.dedent(inspect.getsource(rule))
        body: list[gast.stmt] = syntax.gast_of(source).body[0].body
        return body

    parameters = tuple(inspect.signature(rule).parameters)
    words = " ".join((inspect.getdoc(rule) or "").split())
    return Template(parse, parameters, rule.__globals__, words)


def surely(holds: bool) -> bool:
    """In the condition of a rule: false as well where no type tells whether it holds.

    What follows `else` is then for all cases.
    """
    return holds


@functools.cache
def contributions(template: Template) -> tuple[str, ...]:
    """The parameters whose adjoint the rule contributes to."""
    found = []
    for node in syntax.walk(template.body):
        if (
            isinstance(node, gast.Subscript)
            and isinstance(node.ctx, gast.Store)
            and syntax.is_name(node.value, "d")
            and node.slice.id not in found
        ):
            found.append(node.slice.id)
    return tuple(found)


def active_terms(value: gast.expr, active: set[str]) -> gast.expr:
    """The expression of a tangent rule without the terms that are zero.

    A rule is linear in its tangents together; so a term of a sum that reads only those
    of arguments which are not active is zero:

        solve(a, d[b] - d[a] @ y)   ->   solve(a, d[b])      (active: b)
                                    ->   solve(a, -d[a] @ y) (active: a)
    """

    def visit(node: Any) -> Any:
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub)):
            left, right = directions(node.left), directions(node.right)
            if right and not right & active:
                return node.left
            if left and not left & active:
                negative = isinstance(node.op, gast.Sub)
                return _negated(node.right) if negative else node.right
        return node

    return syntax.map_expressions(value, visit)


def directions(value: Any) -> set[str]:
    """The parameters whose `d[...]` an expression of a rule reads."""
    return {
        node.slice.id
        for node in syntax.walk(value)
        if isinstance(node, gast.Subscript)
        and syntax.is_name(node.value, "d")
        and isinstance(node.ctx, gast.Load)
    }


def _negated(value: gast.expr) -> gast.expr:
    """`-value`, with the sign at the first factor of a product: `-a @ b`."""
    if isinstance(value, gast.BinOp) and isinstance(
        value.op, (gast.Mult, gast.MatMult)
    ):
        return gast.BinOp(_negated(value.left), value.op, value.right)
    return gast.UnaryOp(gast.USub(), value)


def elementwise(
    functions: Any, *partials: str | None, kernel: str | None = None, **options: Any
) -> Op:
    """Declare an elementwise operation in one row.

    `partials` are the directional derivatives, one per argument, written with `d` for
    the direction: `"d * (1 - y**2)"` for tanh. Arguments are `x`, or `a, b` (`a, b, c`
    for three), the result is `y`; None says that no derivative flows through that
    argument (or that it is zero). Being linear in `d` and elementwise, one expression
    serves as the adjoint (with `d` the adjoint of `y`, summed to the argument's shape)
    and as the tangent (with `d` the tangent of the argument).
    """
    if not isinstance(functions, tuple):
        functions = (functions,)
    names = ("x",) if len(partials) == 1 else ("a", "b", "c", "e")[: len(partials)]
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    scope = frame.f_back.f_globals
    options.setdefault("signature", ", ".join(names))
    op = operation(*functions, elementwise=True, kernel=kernel, **options)
    given = {n: p for n, p in zip(names, partials, strict=True) if p is not None}
    op.passes = tuple(given)
    op.partials = given
    op.inert = not given
    alike = {name for group in op.linear for name in group}

    def back() -> list[gast.stmt]:
        found = []
        for argument, partial in given.items():
            value = syntax.expression(partial, d=syntax.expression("d[y]"))
            if len(names) > 1:
                value = syntax.expression(f"unbroadcast(v, {argument})", v=value)
            found += syntax.statements(f"d[{argument}] = v", v=value)
        return found

    def forward() -> list[gast.stmt]:
        found = []
        for argument in terms:
            seed = syntax.expression(f"d[{argument}]")
            value = syntax.expression(given[argument], d=seed)
            found += syntax.statements("d[y] = v", v=value)
        return found

    terms = [argument for argument in given if argument not in alike]
    parameters = ("y", *names)
    op.adjoint = Template(back, parameters, scope)
    op.tangent = Template(forward, parameters, scope) if terms else None
    return op


def composite(
    *functions: Any, real_only: bool | None = None, refuses: Iterable[str] = ()
) -> Callable[[Callable], Any]:
    """Decorator: the plain NumPy function has the same value as these functions.

    Its parameters are those of the functions, as far as it serves them: those that it
    `refuses` must be left at their default. What it returns must share memory with its
    arguments where the functions' own result does. With `real_only`, or for functions
    of SciPy unless it is False, complex arguments are refused.
    """

    if is_called_by_srcjax():
        refuse_foreign(functions)

    def decorate(definition: Callable) -> Any:
        REFUSED[id(definition)] = tuple(refuses)
        if real_only or real_only is None and any(map(is_of_scipy, functions)):
            REAL_COMPOSITES.add(id(definition))
        for function in functions:
            _ALIVE.append(function)
            COMPOSITES[key_of(function)] = definition  # type: ignore[assignment]
        return definition

    return decorate


def completes(
    function: Any, refuses: Iterable[str] = (), when: Callable[..., bool] | None = None
) -> Callable[[Callable], Any]:
    """Decorator: the plain NumPy function serves the calls that the rules do not.

    Those with arguments that the operation's signature does not have: `np.sum` has
    rules, and `np.sum(x, where=mask)` is differentiated as this function. `when` gets
    the types of the arguments, by parameter, and says whether it serves other calls
    too: those of `np.pad` with `mode="mean"`.
    """

    def decorate(definition: Callable) -> Any:
        op = lookup(function)
        assert op is not None, f"no record of {function}"
        op.otherwise, op.otherwise_for = definition, when
        REFUSED[id(definition)] = tuple(refuses)
        return definition

    return decorate


def for_complex(function: Any) -> Callable[[Callable], Any]:
    """Decorator: the plain NumPy function serves the calls with complex arguments.

    The operation's own rules are right for real ones only.
    """

    def decorate(definition: Callable) -> Any:
        op = lookup(function)
        assert op is not None, f"no record of {function}"
        op.of_complex = definition
        return definition

    return decorate


def inert(*functions: Any, **options: Any) -> None:
    """Declare functions whose results carry no derivative."""
    for function in functions:
        chosen = dict(options)
        if "signature" not in chosen:
            try:
                inspect.signature(function)
            except (TypeError, ValueError):
                chosen["signature"] = "*args, **kwargs"
        operation(function, inert=True, **chosen)


def _is_docstring(stmt: gast.stmt) -> bool:
    return isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Constant)
