"""Values that are known by their shape and dtype, and write down what is done to them.

They behave as NumPy's arrays do: operators and NumPy's functions of them are equations
(`operations` has the names), and an entry that is set is a new value of the array.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from srcjax.errors import ArgumentError
from srcjax.jaxprs.forms import (
    Atom,
    Jaxpr,
    JaxprEqn,
    Literal,
    Primitive,
    ShapedArray,
    Var,
)
from srcjax.ops.record import PROPERTIES

#: What is done when NumPy's functions get such values: by function, filled in there.
LOWERINGS: dict[int, Callable] = {}
#: Keeps the keys alive.
_ALIVE: list[Any] = []


def lowering(*functions: Any) -> Callable[[Callable], Callable]:
    """Decorator: what calls of these functions are as equations."""

    def mark(rule: Callable) -> Callable:
        for function in functions:
            LOWERINGS[id(function)] = rule
            _ALIVE.append(function)
        return rule

    return mark


class Unwritable(ArgumentError):
    """There is no notation for what a program does."""


class Trace:
    """Equations, in the order in which they come."""

    def __init__(self) -> None:
        self.eqns: list[JaxprEqn] = []
        #: Equations that are left out where nothing reads what they give.
        self.spare: set[int] = set()
        #: In which parts the equations are, the innermost last, that run as often as
        #: values say.
        self.parts: list[object] = [object()]
        #: Arrays from around the function, by identity.
        self.consts: dict[int, tuple[Var, np.ndarray]] = {}
        #: Arrays that the program did not make, by identity: nothing may write to them.
        self.around: dict[int, np.ndarray] = {}

    def fresh(self, shape: Any, dtype: Any, python: bool = False) -> Traced:
        """A new value without an equation."""
        aval = ShapedArray(tuple(shape), np.dtype(dtype))
        return Traced(self, Var(aval), python)

    def emit(
        self, primitive: str, given: list[Any], shape: Any, dtype: Any, /, **params: Any
    ) -> Traced:
        """The result of a new equation."""
        return self.emit_all(primitive, given, [(shape, dtype)], **params)[0]

    def emit_all(
        self, primitive: str, given: list[Any], results: list[tuple], /, **params: Any
    ) -> list[Traced]:
        """The results of a new equation, of these shapes and dtypes."""
        found = [self.fresh(shape, dtype) for shape, dtype in results]
        atoms = [self.atom(each) for each in given]
        outvars: Any = [each.var for each in found]
        self.eqns.append(JaxprEqn(Primitive(primitive), atoms, outvars, params))
        return found

    def atom(self, value: Any, dtype: Any = None) -> Atom:
        """How an equation reads a value."""
        if isinstance(value, Traced):
            value.refuse_stale()
            return value.var
        if np.ndim(value) == 0:
            found = np.asarray(value, dtype)
            return Literal(found.item(), ShapedArray((), found.dtype))
        if isinstance(value, (list, tuple)):
            value = np.asarray(value)
        return self.constant(value)

    def constant(self, value: np.ndarray) -> Var:
        """The name of an array from around the function."""
        known = self.consts.get(id(value))
        if known is None or not np.array_equal(known[1], value, equal_nan=False):
            var = Var(ShapedArray(value.shape, value.dtype))
            key = id(value) if known is None else len(self.consts)
            self.around[id(value)] = value
            self.consts[key] = known = var, value.copy()
        return known[0]

    @contextmanager
    def inside(self, *, always: bool = False) -> Iterator[list[JaxprEqn]]:
        """Equations are those of a part, as long as this lasts.

        Args:
            always: that the part runs once whenever what is around it does.
        """
        outer, self.eqns = self.eqns, []
        self.parts += () if always else (object(),)
        try:
            yield self.eqns
        finally:
            self.eqns = outer
            del self.parts[len(self.parts) - (not always) :]

    def closed(
        self, eqns: list[JaxprEqn], invars: list[Var], results: list[Atom]
    ) -> tuple[Jaxpr, list[Var]]:
        """The jaxpr of a part, and what it reads from around it."""
        eqns = needed(eqns, results)
        known = {id(v) for v in invars}
        around: list[Var] = []
        for eqn in eqns:
            for value in eqn.invars:
                if isinstance(value, Var) and id(value) not in known:
                    known.add(id(value))
                    around.append(value)
            known |= {id(v) for v in eqn.outvars}
        for value in results:
            if isinstance(value, Var) and id(value) not in known:
                known.add(id(value))
                around.append(value)
        return Jaxpr([], [*around, *invars], eqns, results), around


def needed(
    eqns: list[JaxprEqn], results: list[Atom], spare: set[int] | None = None
) -> list[JaxprEqn]:
    """The equations of which something reads a result; of the `spare` ones."""
    read = {id(v) for v in results}
    found = []
    for eqn in reversed(eqns):
        kept = spare is not None and id(eqn) not in spare
        if kept or any(id(v) in read for v in eqn.outvars):
            found.append(eqn)
            read |= {id(v) for v in eqn.invars}
    return found[::-1]


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """An array, or number, of which shape and dtype are known."""

    #: Whether it is a part of another value, whose memory it shares.
    shared = False
    #: Whether it was written to, in place.
    written = False
    #: That value, and what it was when the part was taken.
    of: tuple[Traced, Atom] | None = None

    def __init__(self, trace: Trace, var: Atom, python: bool = False) -> None:
        self.trace = trace
        self.var = var
        #: The part of the program that may write to it.
        self.part = trace.parts[-1]
        #: Whether it is a number of Python's, which widens no array.
        self.python = python

    # -- what is known -----------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return self.var.aval.shape

    @property
    def dtype(self) -> np.dtype:
        return self.var.aval.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def _unknown(self, *args: Any) -> Any:
        raise Unwritable(
            "make_jaxpr: a value of an argument decides what is computed, where there "
            "is no notation for it",
            instead="a branch, a loop, or a size that is known",
        )

    __bool__ = __int__ = __float__ = __index__ = __complex__ = _unknown
    __hash__ = object.__hash__

    # -- what is done ------------------------------------------------------------------

    def __array_ufunc__(
        self, ufunc: Any, method: str, *args: Any, **kwargs: Any
    ) -> Any:
        if method != "__call__" or kwargs.get("out") is not None:
            raise Unwritable(
                f"make_jaxpr: there is no notation for {ufunc.__name__}.{method}",
                instead="a function of NumPy that gives a new array",
            )
        return apply(ufunc, args, kwargs)

    def __array_function__(
        self, function: Any, types: Any, args: tuple, kwargs: dict
    ) -> Any:
        return apply(function, args, kwargs)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self._unknown()

    def __getitem__(self, index: Any) -> Any:
        return LOWERINGS[id(operator.getitem)](self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.write(LOWERINGS[id(operator.setitem)](self, index, value))

    def write(self, new: Traced) -> None:
        """Let the array have other values, in place."""
        if self.shared:
            raise Unwritable(
                "make_jaxpr: an array is written that shares memory with another one",
                instead="a copy",
            )
        if self.part is not self.trace.parts[-1]:
            raise Unwritable(
                "make_jaxpr: an array is written in a branch or loop of another "
                "function",
                instead="an array that the function makes, or its result",
            )
        self.var, self.written = new.var, True

    def __getattr__(self, name: str) -> Any:
        if name == "T":
            return apply(np.transpose, (self,), {})
        if name in ("real", "imag"):
            return apply(getattr(np, name), (self,), {})
        if name in PROPERTIES:
            return PROPERTIES[name](self)
        function = METHODS.get(name)
        if function is None:
            raise AttributeError(f"an array has no attribute {name!r}")

        def method(*args: Any, **kwargs: Any) -> Any:
            if function in (copied, converted):
                self.refuse_stale()
                found = function(self, *args, **kwargs)
                return found.renamed() if found is self else found
            if name == "flatten":
                return apply(function, (self.renamed(), *args), kwargs)
            return apply(function, (self, *args), kwargs)

        method.__self__ = self  # type: ignore[attr-defined]
        return method

    def part_of(self, base: Traced) -> Traced:
        """The value as a part of another one, or a view of it."""
        found = self if self is not base and self.var is not base.var else base
        if found is not base:
            found.shared, found.of = True, (base, base.var)
        return found

    def refuse_stale(self) -> None:
        """Raise Unwritable if what it is a part of was written since."""
        if self.of is not None:
            base, before = self.of
            base.refuse_stale()
            if base.var is not before:
                raise Unwritable(
                    "make_jaxpr: a part of an array is read after that was written",
                    instead="a copy of the part",
                )

    def renamed(self) -> Traced:
        """The same value as an array of its own."""
        return Traced(self.trace, self.var, self.python)


def copied(x: Any) -> Any:
    """A copy, which is no equation: values do not change."""
    return x.renamed() if isinstance(x, Traced) else np.copy(x)


def converted(x: Any, dtype: Any, **options: Any) -> Any:
    """`x.astype(dtype)`."""
    return LOWERINGS[id(np.ndarray.astype)](x, np.dtype(dtype))


#: Functions that methods of arrays stand for.
METHODS: dict[str, Callable] = {
    **{
        function.__name__: function
        for function in (
            *(np.sum, np.mean, np.max, np.min, np.prod, np.any, np.all, np.argmax),
            *(np.argmin, np.cumsum, np.cumprod, np.var, np.std, np.dot, np.reshape),
            *(np.transpose, np.ravel, np.squeeze, np.swapaxes, np.take, np.repeat),
            *(np.clip, np.round, np.trace, np.diagonal, np.argsort, np.conjugate),
            *(np.searchsorted, np.nonzero),
        )
    },
    "conj": np.conj,
    "flatten": np.ravel,
    "copy": copied,
    "astype": converted,
}


#: Functions whose results share the memory of what they are given.
VIEWS = (
    *(np.transpose, np.reshape, np.ravel, np.swapaxes, np.moveaxis, np.squeeze),
    *(np.expand_dims, np.broadcast_to, np.flip),
)


def apply(function: Any, args: tuple, kwargs: dict) -> Any:
    """A call of a function of arrays, with some such values, as equations."""
    rule = LOWERINGS.get(id(function))
    if rule is not None:
        found = rule(*args, **kwargs)
        base = args[0] if args else None
        if function in VIEWS and isinstance(base, Traced) and isinstance(found, Traced):
            return found.part_of(base)
        return found
    if isinstance(function, np.ufunc):
        return LOWERINGS[id(np.ufunc)](function, *args, **kwargs)
    return by_name(function, args, kwargs)


def trace_of(values: Any) -> Trace | None:
    """The equations that one of the values belongs to."""
    if isinstance(values, Traced):
        return values.trace
    if isinstance(values, dict):
        values = values.values()
    elif not isinstance(values, (tuple, list)):
        return None
    return next((t for t in map(trace_of, values) if t is not None), None)


def stand_in(value: Any, regular: bool = False) -> Any:
    """A value of the same type, of ones; of matrices that are regular."""
    if isinstance(value, Traced):
        if value.python:
            return np.ones((), value.dtype).item()
        found = np.ones(value.shape, value.dtype)
        if regular and value.ndim > 1:
            found = found + value.shape[-1] * np.eye(value.shape[-2], value.shape[-1])
        return found.astype(value.dtype)[()]
    if isinstance(value, (tuple, list)):
        return type(value)(stand_in(each, regular) for each in value)
    if isinstance(value, dict):
        return {key: stand_in(each, regular) for key, each in value.items()}
    return value


def example_of(name: str, function: Any, args: tuple, kwargs: dict) -> Any:
    """What a function gives for some values. Raises Unwritable if it gives nothing."""
    with np.errstate(all="ignore"):
        try:
            return function(*stand_in(args), **stand_in(kwargs))
        except np.linalg.LinAlgError:
            return function(*stand_in(args, True), **stand_in(kwargs, True))
        except Exception as error:
            raise Unwritable(
                f"make_jaxpr: there is no notation for `{name}`: {error}",
                instead="functions of NumPy",
            ) from error


def flat_traced(values: Any) -> Iterator[Traced]:
    """The values of this kind in tuples, lists and dicts."""
    if isinstance(values, Traced):
        yield values
    elif isinstance(values, (tuple, list)):
        for each in values:
            yield from flat_traced(each)
    elif isinstance(values, dict):
        for each in values.values():
            yield from flat_traced(each)


def by_name(function: Any, args: tuple, kwargs: dict) -> Any:
    """An equation with the function's own name: JAX has several in its place."""
    trace = trace_of((args, kwargs))
    assert trace is not None
    name = getattr(function, "__name__", str(function))
    example = example_of(name, function, args, kwargs)
    params = {k: v for k, v in kwargs.items() if trace_of(v) is None}
    if args and isinstance(args[0], str):
        params = {"subscripts": args[0], **params}
    given = list(flat_traced((args, kwargs)))
    single = not isinstance(example, (tuple, list))
    examples = [example] if single else list(example)
    if not all(isinstance(e, (np.ndarray, np.generic, float, int)) for e in examples):
        raise Unwritable(
            f"make_jaxpr: `{name}` gives a {type(example).__name__}",
            instead="functions that give arrays",
        )
    found = trace.emit_all(
        name,
        given,
        [(np.shape(e), np.asarray(e).dtype) for e in examples],
        **params,
    )
    return found[0] if single else tuple(found)
