"""What users call, and the callables they get."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcjax import pipeline, tree
from srcjax.analysis.binding import signature_of
from srcjax.analysis.types import (
    FLOAT,
    Array,
    Const,
    Scalar,
    Type,
    Unknown,
    type_of,
    with_active,
)
from srcjax.backends.load import annotate, load
from srcjax.custom import Checkpointed, CustomRule
from srcjax.errors import ArgumentError, SrcjaxError
from srcjax.frontend.read import FunctionSource, read
from srcjax.frontend.unit import parameter_names
from srcjax.ops.record import inert, lookup
from srcjax.pipeline import Module, Request

Argnums = int | str | Sequence[int | str]
MAX_EXACT = 2


class Version:
    """One specialisation: generated code for one signature."""

    def __init__(self, module: Module, reals: list[int]) -> None:
        self.module = module
        self.loaded = module.load()
        self.function: Callable = getattr(self.loaded, module.entry)
        self.guards = module.guards
        #: Positions of arguments in which Python ints stand for reals.
        self.reals = reals

    def holds(self) -> bool:
        """Whether everything that was resolved still is what it was."""
        return all(guard.holds() for guard in self.guards)


class Transform:
    """A transform applied to a function: builds, keeps and picks its versions."""

    name = "transform"

    def __init__(self, function: Callable, argnums: Argnums) -> None:
        if not callable(function):
            raise ArgumentError(
                f"{self.name} needs a function, not {type(function).__name__}",
                instead=f"`srcjax.{self.name}(f)`",
            )
        self.function = function
        self.argnums = argnums
        self.check_early()
        self.versions: dict[Any, Version] = {}
        self.exact: dict[Any, int] = {}
        self.general: dict[Any, Version] = {}
        self._spread: dict[int, Callable] = {}
        #: What a call by position needs: the generated function and its guards.
        self.hot: dict[Any, tuple[Callable, list]] = {}

    # -- the function ---------------------------------------------------------------

    @functools.cached_property
    def source(self) -> FunctionSource:
        """The function as written (for a transformed function, what it was made of)."""
        inner = self.inner
        return read(underlying(self.function)) if inner is None else inner.source

    @property
    def inner(self) -> Transform | None:
        """The transform of the function, if it was made by srcjax itself."""
        return getattr(self.function, "__srcjax_transform__", None)

    @functools.cached_property
    def parameters(self) -> list[str]:
        """Names of the arguments of a call."""
        names = parameter_names(self.source.node.args)
        return [n for n in names if n not in self.source.bound]

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The signature of a call."""
        full = signature_of(self.source.node.args, self.source)
        kept = [p for n, p in full.parameters.items() if n not in self.source.bound]
        return full.replace(parameters=kept)

    @functools.cached_property
    def wrt(self) -> list[str]:
        """Names of the differentiated parameters. Raises ArgumentError."""
        found = []
        for which in self.argnums_list():
            if isinstance(which, str):
                if which not in self.parameters:
                    raise ArgumentError(
                        f"argnums names `{which}`, but {self.source.name} has the "
                        f"parameters {', '.join(self.parameters) or '(none)'}",
                        instead="one of these names, or a position",
                    )
                found.append(which)
                continue
            count = len(self.parameters)
            if not -count <= which < count:
                raise ArgumentError(
                    f"argnums={which}, but {self.source.name} has {count} parameter"
                    f"{'' if count == 1 else 's'}",
                    instead=f"a position from 0 to {count - 1}",
                )
            found.append(self.parameters[which])
        if len(set(found)) != len(found):
            raise ArgumentError(
                f"argnums={self.argnums!r} names an argument twice",
                instead="each argument once",
            )
        return found

    def argnums_list(self) -> list[Any]:
        if isinstance(self.argnums, (list, tuple)):
            return list(self.argnums)
        return [self.argnums]

    @property
    def single(self) -> bool:
        """Whether the gradient of one argument (no tuple) is wanted."""
        return not isinstance(self.argnums, (list, tuple))

    # -- versions -------------------------------------------------------------------

    def bind(self, args: tuple, kwargs: dict) -> list[Any]:
        """The value of every parameter, in order. Raises TypeError as Python does."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(f"{self.source.name}(): {error}") from None
        bound.apply_defaults()
        return [bound.arguments[n] for n in self.parameters]

    def version(self, values: list[Any], key: Any) -> Version:
        """The version for these argument values."""
        found = self.versions.get(key)
        if found is not None and found.holds():
            return found
        types = [
            tree.argument_type(value, name, name in self.wrt)
            for name, value in zip(self.parameters, values, strict=True)
        ]
        general, common = tree.generalise(types)
        known = self.general.get(common)
        if known is not None and known.holds():
            self.versions[key] = known
            return known
        reals = [
            i
            for i, (name, value) in enumerate(zip(self.parameters, values, strict=True))
            if name in self.wrt and tree.has_ints(value)
        ]
        if found is None:
            self.exact[common] = self.exact.get(common, 0) + 1
        if self.exact.get(common, 0) > MAX_EXACT:
            version = Version(self.build(general, True), reals)
            self.general[common] = version
        else:
            version = Version(self.build(types, True), reals)
        self.versions[key] = version
        return version

    def build(self, types: list[Type], typed: bool) -> Module:
        """Generate the module for the types."""
        raise NotImplementedError

    def request(self, types: list[Type]) -> Request:
        names = dict(zip(self.parameters, types, strict=True))
        function = underlying(self.function)
        if self.inner is not None:
            function = self.inner.function_for(types)
        return Request(function, names, self.wrt)

    def module_for(self, args: tuple, kwargs: dict) -> Module:
        """The module for example arguments, or for what the type hints say."""
        if self.needs_spreading():
            positions = [n for n in self.argnums_list() if not isinstance(n, str)]
            count = len(args) or max([0, *positions]) + 1
            inner = self.spread(count).__srcjax_transform__  # type: ignore[attr-defined]
            found: Module = inner.module_for(args, kwargs)
            return found
        if args or kwargs:
            values = self.bind(args, kwargs)
            return self.version(values, self.key(values)).module
        return self.build(self.hinted_types(), False)

    def key(self, values: list[Any]) -> Any:
        return tuple([tree.signature_key(v) for v in values])

    def hinted_types(self) -> list[Type]:
        """What annotations and defaults say of the parameters."""
        hints = getattr(self.source.func, "__annotations__", {})
        found: list[Type] = []
        for name in self.parameters:
            hint = hints.get(name)
            t: Type = Unknown(buffers=frozenset([("param", name)]))
            if hint in (float, "float"):
                t = FLOAT
            elif hint in (int, "int"):
                t = Scalar(dtype=np.dtype(int), python=True)
                if name in self.wrt:
                    t = FLOAT
            elif hint in (np.ndarray, "np.ndarray", "numpy.ndarray"):
                t = Array(buffers=frozenset([("param", name)]))
            elif hint in (str, "str", bool, "bool"):
                t = Unknown()
            elif name in self.source.defaults and name not in self.wrt:
                value = self.source.defaults[name]
                if value is None or isinstance(value, (bool, str)):
                    t = Const(value=value)
            parameter = self.signature.parameters[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                t = type_of(())
            elif parameter.kind is parameter.VAR_KEYWORD:
                t = type_of({}, ("param", name))
            found.append(with_active(t, True) if name in self.wrt else t)
        return found

    def convert(self, version: Version, values: list[Any]) -> list[Any]:
        for i in version.reals:
            values[i] = tree.with_reals(values[i])
        return values

    def arguments(self, values: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Values of parameters as a call of the generated function."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, value in zip(self.parameters, values, strict=True):
            kind = self.signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                args.extend(value)
            elif kind is inspect.Parameter.KEYWORD_ONLY:
                kwargs[name] = value
            elif kind is inspect.Parameter.VAR_KEYWORD:
                kwargs.update(value)
            else:
                args.append(value)
        return args, kwargs

    @functools.cached_property
    def positional(self) -> bool:
        """Whether every parameter is passed by position."""
        simple = (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
        return all(p.kind in simple for p in self.signature.parameters.values())

    def prepare(self, args: tuple, kwargs: dict) -> tuple[Version, list, dict]:
        """The version for a call, and the arguments for its function."""
        values = self.bind(args, kwargs)
        key = self.key(values)
        version = self.version(values, key)
        values = self.convert(version, values)
        if self.positional:
            if not version.reals:
                self.hot[key] = (version.function, version.guards)
            return version, values, {}
        return version, *self.arguments(values)

    def check_early(self) -> None:
        """What can be told before a call: argnums of the right kind."""
        for which in self.argnums_list():
            if isinstance(which, bool) or not isinstance(which, (int, str, np.integer)):
                raise ArgumentError(
                    f"argnums must be positions or names, not {which!r}",
                    instead="`argnums=0` or `argnums=(0, 1)`",
                )

    def needs_spreading(self) -> bool:
        """Whether argnums may point into `*args`."""
        code = getattr(underlying(self.function), "__code__", None)
        if self.inner is not None:
            return False
        if code is None or not code.co_flags & inspect.CO_VARARGS:
            return False
        count = code.co_argcount - inspect.ismethod(self.function)
        return any(
            isinstance(n, (int, np.integer)) and (n >= count or n < 0)
            for n in self.argnums_list()
        )

    def spread(self, count: int) -> Callable:
        """The transform of the function with `count` arguments, each with a name."""
        if count not in self._spread:
            fixed = self.parameters[:-1]
            names = fixed[:count]
            names += [f"{self.parameters[-1]}_{k}" for k in range(count - len(names))]
            joined = ", ".join(names)
            name = self.source.name
            text = f"def {name}_({joined}):\n    return {name}({joined})\n"
            values = {name: self.function}
            wrapper = getattr(load(text, f"{name}_", values), f"{name}_")
            other = copy.copy(self)
            for key in list(other.__dict__):
                if key in ("source", "parameters", "signature", "wrt", "positional"):
                    del other.__dict__[key]
            other.function = wrapper
            other.versions, other.exact, other.general = {}, {}, {}
            other.hot = {}
            self._spread[count] = make_callable(other)
        return self._spread[count]

    def function_for(self, types: list[Type]) -> Callable:
        """The generated function for arguments of these types, for other transforms."""
        types = [without_activity(t) for t in types]
        key = ("types", tuple(types))
        found = self.versions.get(key)
        if found is None or not found.holds():
            active = [
                with_active(t, n in self.wrt)
                for n, t in zip(self.parameters, types, strict=True)
            ]
            found = self.versions[key] = Version(self.build(active, True), [])
        return found.function


class Gradient(Transform):
    """`grad` and `value_and_grad`."""

    def __init__(
        self, function: Callable, argnums: Argnums, has_aux: bool, with_value: bool
    ) -> None:
        self.name = "value_and_grad" if with_value else "grad"
        super().__init__(function, argnums)
        self.has_aux = has_aux
        self.with_value = with_value

    def build(self, types: list[Type], typed: bool) -> Module:
        request = self.request(types)
        return pipeline.gradient(
            request, self.single, self.with_value, self.has_aux, typed
        )


class Pullback(Transform):
    """`vjp`: a forward function and a backward function."""

    name = "vjp"

    def build(self, types: list[Type], typed: bool) -> Module:
        return pipeline.vjp(self.request(types))


def without_activity(t: Type) -> Type:
    """A type as a call sees it: a number that is not known by value, no activity."""
    if isinstance(t, Const) and type(t.value) in (int, float):
        return Scalar(dtype=np.dtype(type(t.value)), python=True)
    return with_active(t, False)


def underlying(function: Any) -> Callable:
    """The Python function behind a custom rule or checkpoint."""
    while isinstance(function, (CustomRule, Checkpointed)):
        if isinstance(function, CustomRule):
            return _calling(function)
        function = function.function
    return function


def _calling(rule: CustomRule) -> Callable:
    """A Python function that calls a function with its own rule."""
    if rule.fwd is None or rule.bwd is None:
        raise ArgumentError(
            f"`{rule.__name__}` was made by custom_vjp but has no rule",
            instead=f"`{rule.__name__}.defvjp(forward, backward)`",
        )
    if rule not in _CALLING:
        names = list(inspect.signature(rule.function).parameters)
        joined, name = ", ".join(names), rule.__name__
        text = f"def {name}_({joined}):\n    return {name}({joined})\n"
        _CALLING[rule] = getattr(load(text, f"{name}_", {name: rule}), f"{name}_")
    return _CALLING[rule]


_CALLING: dict[CustomRule, Callable] = {}


def make_callable(transform: Transform) -> Callable:
    """The function that users call; dispatch on argument types is its only work."""
    hot = transform.hot
    signature_key = tree.signature_key
    spread = transform.needs_spreading()

    def transformed(*args: Any, **kwargs: Any) -> Any:
        if spread:
            return transform.spread(len(args))(*args, **kwargs)
        if not kwargs:
            found = hot.get(
                tuple([float if type(a) is float else signature_key(a) for a in args])
            )
            if found is not None and (not found[1] or all(g.holds() for g in found[1])):
                try:
                    return found[0](*args)
                except Exception as error:
                    annotate(error)
                    raise
        version, values, keywords = transform.prepare(args, kwargs)
        try:
            return version.function(*values, **keywords)
        except Exception as error:
            annotate(error)
            raise

    name = getattr(transform.function, "__name__", "function")
    if not name.isidentifier():
        name = "fn"
    transformed.__name__ = f"{transform.name}_{name}"
    transformed.__qualname__ = transformed.__name__
    transformed.__doc__ = f"{transform.name} of {name}, written by srcjax."
    transformed.__module__ = getattr(transform.function, "__module__", __name__)
    transformed.__srcjax_transform__ = transform  # type: ignore[attr-defined]
    return transformed


def _decorator(make: Callable[[Callable], Callable], function: Callable | None) -> Any:
    """Use as `grad(f, ...)`, `@grad` or `@grad(...)`."""
    return make if function is None else make(function)


def grad(
    f: Callable | None = None, argnums: Argnums = 0, has_aux: bool = False
) -> Callable:
    """The gradient of a function that returns one real number.

    Args:
        f: a Python function of NumPy values (also a lambda, method, partial ...).
        argnums: position or name of the argument to differentiate with respect to;
            a tuple of them gives a tuple of gradients. The arguments may be pytrees.
        has_aux: `f` returns `(value, aux)`, and the result is `(gradient, aux)`.

    Returns:
        A function of the same arguments; the gradient has the structure, shapes and
        dtypes of the argument. Without `f`, a decorator.

    Raises:
        ArgumentError: argnums does not fit, the argument is not real, or `f` does not
            return one real number. SrcjaxError: `f` uses what is not supported.
    """
    return _decorator(lambda g: make_callable(Gradient(g, argnums, has_aux, False)), f)


def value_and_grad(
    f: Callable | None = None, argnums: Argnums = 0, has_aux: bool = False
) -> Callable:
    """Like `grad`, with the value: `(value, gradient)`, `((value, aux), gradient)`."""
    return _decorator(lambda g: make_callable(Gradient(g, argnums, has_aux, True)), f)


grad.__srcjax_maker__ = True  # type: ignore[attr-defined]
value_and_grad.__srcjax_maker__ = True  # type: ignore[attr-defined]


def vjp(f: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """The value of `f` and its pullback: `y, pullback = vjp(f, *primals)`.

    `pullback(dy)` takes an adjoint of the structure and shapes of `y` and returns a
    tuple with the adjoint of each primal. It may be called any number of times.
    With `has_aux`, `f` returns `(y, aux)` and the result is `(y, pullback, aux)`.
    """
    if isinstance(f, CustomRule) and f.fwd is not None:
        return custom_vjp_call(f, primals)
    f = _with_source(f, len(primals))
    transform = _pullback_of(f, len(primals))
    if transform.needs_spreading():
        transform = transform.spread(len(primals)).__srcjax_transform__  # type: ignore[attr-defined]
    version, values, keywords = transform.prepare(primals, {})
    module = version.module
    forward = version.function
    backward = getattr(version.loaded, module.functions[-1].name)
    try:
        y, saved = forward(*values, **keywords)
    except Exception as error:
        annotate(error)
        raise
    consumes = module.consumes
    count = len(transform.wrt)

    def pullback(dy: Any) -> tuple:
        seed = tree.seed_like(dy, y)
        kept = saved
        if consumes:
            kept, seed = copy.deepcopy((saved, seed))
        try:
            result = backward(kept, seed)
        except Exception as error:
            annotate(error)
            raise
        return (result,) if count == 1 else result

    if has_aux:
        value, aux = y

        def pullback_of_value(dy: Any) -> tuple:
            from srcjax.runtime import zeros_like

            return pullback((dy, zeros_like(aux)))

        return value, pullback_of_value, aux
    return y, pullback


_WRAPPERS: dict[tuple[int, int], Callable] = {}


def _with_source(f: Callable, count: int) -> Callable:
    """A Python function around an operation such as `np.sin`."""
    if lookup(f) is None or inspect.isfunction(f):
        return f
    key = (id(f), count)
    if key not in _WRAPPERS:
        names = ", ".join("xyzuvw"[:count])
        name = getattr(f, "__name__", "function")
        text = f"def {name}_({names}):\n    return operation({names})\n"
        _WRAPPERS[key] = getattr(load(text, f"{name}_", {"operation": f}), f"{name}_")
    return _WRAPPERS[key]


vjp.__srcjax_opaque__ = True  # type: ignore[attr-defined]


def custom_vjp_call(f: CustomRule, primals: tuple) -> tuple:
    """`vjp` of a function with its own rule."""
    assert f.fwd is not None and f.bwd is not None
    y, saved = f.fwd(*primals)
    static = [primals[i] for i in f.nondiff_argnums]
    backward = f.bwd

    def pullback(dy: Any) -> tuple:
        return tuple(backward(*static, saved, dy))

    return y, pullback


_PULLBACKS: dict[Any, tuple[Any, Pullback]] = {}


def _pullback_of(f: Callable, count: int) -> Pullback:
    """The transform of `vjp(f, ...)`, kept while `f` is the same function."""
    try:
        key = (id(f), count)
        known = _PULLBACKS.get(key)
        if known is not None and known[0] is f:
            return known[1]
    except TypeError:
        pass
    transform = Pullback(f, tuple(range(count)))
    if len(_PULLBACKS) > 512:
        _PULLBACKS.clear()
    _PULLBACKS[key] = (f, transform)
    return transform


def stop_gradient(x: Any) -> Any:
    """The value itself, through which no derivative flows."""
    return x


inert(
    stop_gradient,
    name="srcjax.stop_gradient",
    signature="x",
    infer=lambda x: with_active(x, False),
    alias="same",
)


def custom_vjp(f: Callable | None = None, nondiff_argnums: Sequence[int] = ()) -> Any:
    """Decorator: give a function a derivative of its own with `f.defvjp(fwd, bwd)`.

    `fwd(*args) -> (y, residuals)` and `bwd(residuals, dy) -> tuple of adjoints`, one
    for each argument; arguments at `nondiff_argnums` come first in `bwd`.
    """
    return _decorator(lambda g: CustomRule(g, tuple(nondiff_argnums)), f)


def checkpoint(f: Callable | None = None) -> Any:
    """Decorator: save nothing of `f`; its backward sweep runs it again."""
    return _decorator(Checkpointed, f)


# -- the text --------------------------------------------------------------------------


class Source(str):
    """Generated text; a notebook shows it highlighted beside the original."""

    original: str

    def __new__(cls, text: str, original: str = "") -> Source:
        self = super().__new__(cls, text)
        self.original = original
        return self

    def _repr_html_(self) -> str:
        from srcjax.show.html import side_by_side

        return side_by_side(self.original, str(self))


def _transform_of(f: Any) -> Transform:
    transform = getattr(f, "__srcjax_transform__", None)
    if transform is None:
        raise ArgumentError(
            f"{getattr(f, '__name__', f)!r} was not made by srcjax",
            instead="`srcjax.source(srcjax.grad(f))`",
        )
    return transform


def source(f: Callable, *args: Any, **kwargs: Any) -> Source:
    """The generated text of a transformed function.

    With example arguments (or type hints) the types are known and the text is cleaner.

    Raises:
        ArgumentError: `f` was not made by srcjax, or the arguments do not fit.
    """
    transform = _transform_of(f)
    module = transform.module_for(args, kwargs)
    return Source(module.text, transform.source.text)


def stages(f: Callable, *args: Any, **kwargs: Any) -> dict[str, str]:
    """The text after each stage, by name: read, normalise, infer, reverse, emit."""
    stages_ = _transform_of(f).module_for(args, kwargs).stages
    return {name: text() for name, text in stages_.items()}


__all__ = [
    "SrcjaxError",
    "checkpoint",
    "custom_vjp",
    "grad",
    "source",
    "stages",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
