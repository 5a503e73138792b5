"""`jvp` and `linearize`: tangents along with values."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np

from srcjax.analysis.arrays import as_arrays, as_plain, holds_arrays
from srcjax.analysis.custom import CustomRule, CustomRules
from srcjax.analysis.kept import Kept
from srcjax.api.options import boundary, with_known_options
from srcjax.errors import ArgumentError, NoRuleError, SrcjaxError
from srcjax.frontend.stage_texts import recording
from srcjax.late import late
from srcjax.versions import modes
from srcjax.versions.callables import Transform, Version
from srcjax.versions.dressed import dress
from srcjax.versions.facts import listed
from srcjax.versions.functions import with_source
from srcjax.versions.recipes import Recipe
from srcjax.versions.reverse_mode import pullback_of

if TYPE_CHECKING:
    from srcjax import pipeline, runtime
    from srcjax.analysis import types as ty
    from srcjax.api import linear_map
    from srcjax.backends import module as modules
    from srcjax.versions import tree
else:
    ty = late("srcjax.analysis.types")
    linear_map = late("srcjax.api.linear_map")
    modules = late("srcjax.backends.module")
    pipeline = late("srcjax.pipeline")
    runtime = late("srcjax.runtime")
    tree = late("srcjax.versions.tree")


R = TypeVar("R")


class Pushforward(Transform):
    """`jvp`: one function of the primals and the tangents."""

    name = "jvp"

    def summary(self) -> str:
        names = listed([f"{name}_dot" for name in self.wrt])
        return f"Value of {self.shown_name}, and its derivative along {names}"

    #: Whether the curried form was asked for `(y, y_dot, aux)`.
    has_aux = False

    def build(self, types: list[ty.Type], typed: bool) -> modules.Module:
        return pipeline.jvp(self.request(types))

    def module_for(self, args: tuple, kwargs: dict) -> modules.Module:
        """The module for examples: what holds real numbers has a tangent."""
        if not args or self.chosen:
            return super().module_for(args, kwargs)
        active = tuple(k for k, a in enumerate(args) if tree.has_reals(a))
        other = _transform_of(self.function, active, len(args))
        return other.module_for(args, kwargs)

    #: Whether the arguments with tangents were chosen, not all there are.
    chosen = True

    @functools.cached_property
    def plain(self) -> bool:
        """Whether tangents follow the primals by position (else by keyword)."""
        from srcjax.transforms.forward.calls import plain_signature

        return plain_signature(self.source.node.args)

    def call(self, version: Version, values: list, keywords: dict, dots: list) -> Any:
        """Call the generated function."""
        values, keywords = self.with_dots(version, values, keywords, dots)
        self.last.cell_contents = version
        return version.call(*values, **keywords)

    def with_dots(
        self, version: Version, values: list, keywords: dict, dots: list
    ) -> tuple[list, dict]:
        """The arguments of the generated function: the tangents follow the primals."""
        if self.plain:
            return [*values, *dots], keywords
        code = version.function.__code__
        end = code.co_argcount + code.co_kwonlyargcount
        names = code.co_varnames[end - len(dots) : end]
        return values, {**keywords, **dict(zip(names, dots, strict=True))}

    def along(self, values: list[Any], tangents: list[Any], weights: Any) -> Any:
        args, kwargs = self.arguments(values)
        version, values, keywords = self.prepare(tuple(args), kwargs)
        y_dot = self.call(version, values, keywords, tangents)[1]
        return weights, y_dot[0] if self.has_aux else y_dot

    def opposite(self) -> Transform | None:
        return pullback_of(self.function, tuple(self.wrt), self.has_aux)

    def recorded(self, args: tuple, kwargs: dict) -> tuple[modules.Module, list, dict]:
        """For `jvp(f)`, which is called with primals and tangents."""
        primals, tangents = self.told_apart(args, kwargs)
        active = tuple(k for k, t in enumerate(tangents) if t is not None)
        transform = _transform_of(self.function, active, len(primals)).anew()
        with recording():
            version, values, keywords = transform.prepare(tuple(primals), {})
        dots = [tree.seed_like(tangents[k], primals[k]) for k in active]
        return version.module, *transform.with_dots(version, values, keywords, dots)

    def told_apart(self, args: tuple, named: dict[str, Any]) -> tuple[Any, Any]:
        """The primals and the tangents of a call of `jvp(f)`. Raises ArgumentError."""
        if named.keys() <= {"primals", "tangents"} and len(args) + len(named) == 2:
            primals, tangents = _CALLED.bind(*args, **named).args
            if _are_listed(primals, tangents, self):
                return primals, tangents
        primals, tangents = _told_apart(self, args, named)
        return primals, tangents


def pushforward_of(
    function: Callable, argnums: tuple[str, ...], has_aux: bool
) -> Pushforward:
    """The transform of `jvp`, as what others are compared with."""
    found = Pushforward(function, argnums)
    found.has_aux = has_aux
    return found


Transform.OPPOSITES["forward"] = pushforward_of


@overload
def jvp(
    f: Callable[..., Any],
    primals: None = ...,
    tangents: None = ...,
    has_aux: bool = ...,
    check: bool | None = ...,
) -> Callable[..., Any]: ...
@overload
def jvp(
    f: Callable[..., R],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: Literal[False] = ...,
    check: bool | None = ...,
) -> tuple[R, R]: ...
@overload
def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool,
    check: bool | None = ...,
) -> tuple[Any, ...]: ...
@with_known_options
def jvp(
    f: Callable,
    primals: Any = None,
    tangents: Any = None,
    has_aux: bool = False,
    check: bool | None = None,
) -> Any:
    """The value of `f` and its derivative in a direction: `(y, y_dot)`.

    Args:
        f: a Python function of NumPy values.
        primals: a tuple (or list) with the arguments of `f`.
        tangents: a tuple with a tangent for each: the same structure, shapes and dtypes
            as the argument; None, or zeros of whole numbers and flags, for an argument
            to hold constant.
        has_aux: `f` returns `(y, aux)`, and the result is `(y, y_dot, aux)`.
        check: compare the first call for each kind of arguments with differences and
            with the other mode, and raise DerivativeMismatch if it is wrong. Without
            it, as `srcjax.config.check` says.

    Returns:
        `(y, y_dot)`; `y_dot` has the structure, shapes and dtypes of `y`. Given `f`
        alone, a function of `(primals, tangents)`, whose text `srcjax.source` shows; it
        may be called as that text too: `jvp_f(x, t, x_dot, t_dot)`.

    Raises:
        ArgumentError: the tangents do not fit the primals, or an argument is not real.
        SrcjaxError: `f` uses what is not supported.

    >>> srcjax.jvp(lambda x, w: x * w, (3.0, 2.0), (1.0, 0.0))
    (6.0, 2.0)
    """
    if primals is None and tangents is None:
        return _pushforward(f, has_aux, check)
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise ArgumentError(
                f"jvp: `{name}` is no tuple but {type(given).__name__}",
                instead="`srcjax.jvp(f, (x,), (x_dot,))`",
            )
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"jvp: {len(primals)} primals and {len(tangents)} tangents",
            instead="a tangent for each primal, None to hold it constant",
        )
    if holds_arrays(primals) or holds_arrays(tangents):
        given = as_plain(primals), as_plain(tangents)
        return as_arrays(jvp(f, *given, has_aux=has_aux, check=check))
    if isinstance(f, CustomRules):
        found: tuple = f.rule(tuple(primals), _with_zeros(primals, tangents))
        return found
    if isinstance(f, CustomRule):
        raise NoRuleError(
            f"`{f.__name__}` has a rule for reverse mode only (custom_vjp)",
            instead="`srcjax.custom_jvp`, which serves both modes",
        )
    f = with_source(f, len(primals))
    tangents = _without_zeros_of_ints(primals, tangents)
    active = tuple(k for k, t in enumerate(tangents) if t is not None)
    transform = _transform_of(f, active, len(primals))
    version, values, keywords = transform.prepare(tuple(primals), {})
    dots = [
        tree.seed_like(tangents[k], primals[k], f"tangents[{k}]", "a tangent")
        for k in active
    ]
    y, y_dot = transform.call(version, values, keywords, dots)
    tree.check_result(y, "jvp")
    if modes.ON["debug_nans"]:
        modes.refuse_nans(
            f"jvp of {transform.shown_name}",
            (y, y_dot),
            lambda: transform.call(version, values, keywords, dots),
        )
    if transform.is_to_be_checked(version, check):
        transform.prove(version, tuple(primals), {})
    if has_aux:
        return y[0], y_dot[0], y[1]
    return y, y_dot


def _without_zeros_of_ints(primals: Any, tangents: Any) -> list[Any]:
    """The tangents, None for whole numbers along which nothing moves."""
    if not any(map(tree.is_whole, primals)):
        return list(tangents)
    return [
        None if tree.is_whole(x) and is_leaf(t) and not np.any(t) else t
        for x, t in zip(primals, tangents, strict=True)
    ]


def _with_zeros(primals: Any, tangents: Any) -> tuple:
    """The tangents, zeros where an argument is held."""
    return tuple(
        runtime.zeros_like(x) if t is None else tree.seed_like(t, x, f"tangents[{k}]")
        for k, (x, t) in enumerate(zip(primals, tangents, strict=True))
    )


def _pushforward(f: Callable, has_aux: bool, check: bool | None) -> Callable:
    """`jvp(f)`: a function of primals and tangents."""
    transform = Pushforward(f, 0)
    transform.argnums = tuple(range(len(transform.parameters)))
    transform.chosen = False

    @boundary
    def pushforward(*args: Any, **named: Any) -> Any:
        primals, tangents = transform.told_apart(args, named)
        result = jvp(f, primals, tangents, has_aux, check)
        active = tuple(k for k, t in enumerate(tangents) if t is not None)
        function = with_source(f, len(primals))
        version = _transform_of(function, active, len(primals)).last.cell_contents
        transform.last.cell_contents = version
        looks.note(version)
        return result

    pushforward.__signature__ = _CALLED  # type: ignore[attr-defined]
    options = {"has_aux": has_aux, "check": check}
    looks = dress(pushforward, transform, Recipe("jvp", f, options), False)
    return pushforward


_CALLED = inspect.signature(lambda primals, tangents: None)


def _are_listed(primals: Any, tangents: Any, transform: Pushforward) -> bool:
    """Whether they are a list of primals and one of tangents.

    The one argument of a function may be a list itself.
    """
    both = isinstance(primals, (tuple, list)) and isinstance(tangents, (tuple, list))
    known = list(transform.signature.parameters.values())
    one = len(known) == 1 and known[0].kind is not known[0].VAR_POSITIONAL
    return both and (not one or len(primals) == 1)


def _told_apart(transform: Pushforward, args: tuple, named: dict) -> tuple:
    """Primals and tangents of a call like that of the text, `jvp_f(x, x_dot)`.

    Where the text has no tangent of a parameter, the tangent is None.
    """
    names = transform.parameters
    count = len(names)
    active = names
    if len(args) > count and not named:
        active = [n for n, a in zip(names, args, strict=False) if tree.has_reals(a)]
        active = names if len(args) == 2 * count else active
    order = [*names, *(f"{n}_dot" for n in active)]
    given = dict(zip(order, args, strict=False)) | named
    if len(args) + len(named) == len(given) and names == list(given)[:count]:
        along = [given.pop(f"{n}_dot", None) for n in names]
        if len(given) == count and (named or len(args) == len(order)):
            return tuple(given.values()), tuple(along)
    made, dots = transform.made_name, [f"{n}_dot" for n in names]
    primals, tangents = (", ".join(p) + "," * (len(p) == 1) for p in (names, dots))
    raise ArgumentError(
        f"{made} is called with primals and tangents",
        instead=f"`{made}(({primals}), ({tangents}))`, or, as its text, "
        f"`{made}({', '.join([*names, *dots])})`",
    )


_TRANSFORMS = Kept()


def _transform_of(f: Callable, active: tuple[int, ...], count: int) -> Pushforward:
    """The transform of `jvp(f, ...)`, kept while `f` is the same function."""

    def made() -> Any:
        return _as_called(Pushforward(f, active), count)

    found: Pushforward = _TRANSFORMS.get((id(f), active, count), f, made)
    return found


def _as_called(transform: Transform, count: int) -> Any:
    """The transform for calls of so many arguments, if it depends on that."""
    if not transform.depends_on_call():
        return transform
    return transform.as_called(count).__srcjax_transform__  # type: ignore[attr-defined]


jvp.__srcjax_nested__ = ("jvp", _transform_of)  # type: ignore[attr-defined]


@boundary
def linearize(
    f: Callable[..., R], *primals: Any, check: bool | None = None
) -> tuple[R, Callable[..., R]]:
    """The value of `f`, and its derivative as a function: `y, f_jvp`.

    `f_jvp(*tangents)` is the linear function of the tangents that best approximates
    `f` around the primals: `jvp(f, primals, tangents)[1]`, for a tangent of each primal
    (None to hold it constant). The values of `f` are computed here, once; `f_jvp` reads
    what it needs of them, and `srcjax.source(f_jvp)` shows it.

    Where that cannot be written (an operation whose adjoint has no adjoint), each call
    of `f_jvp` computes the values again. Inside of differentiated code it always does.
    With `check`, the map is compared with differences and with `jvp`, as in `grad`.

    >>> y, f_jvp = srcjax.linearize(lambda x: x**3, 2.0)
    >>> y, f_jvp(1.0), f_jvp(10.0)
    (8.0, 12.0, 120.0)
    """
    f = with_source(f, len(primals))
    active = tuple(k for k, a in enumerate(primals) if tree.has_reals(a))
    if not active:  # Python's integers alone, which `jvp` takes for reals
        return _at_what_they_were(f, primals)
    try:
        transform = _linearized(f, active, len(primals))
        version, values, keywords = transform.prepare(primals, {})
        with np.errstate(all="ignore"):  # the adjoint that is transposed is zero
            y, residuals = version.call(*values, **keywords)
            _try_out(version, residuals, [primals[k] for k in active])
            tree.check_result(y, "linearize")
    except SrcjaxError:
        return _at_what_they_were(f, primals)
    if transform.is_to_be_checked(version, check):
        transform.prove(version, primals, {})
    return y, _linear_function(f, primals, active, version, residuals)


def _at_what_they_were(f: Callable, primals: tuple) -> tuple:
    """`linearize` by way of `jvp`: `f` and others may write to the arguments."""
    kept = tree.copy_saved(primals)
    y = f(*tree.copy_saved(primals))
    tree.check_result(y, "linearize")
    return y, _by_jvp(f, kept)


def _recomputing(f: Callable, *primals: Any, check: bool | None = None) -> tuple:
    """`linearize` by way of `jvp`: what transforms read in its place."""
    return f(*primals), _by_jvp(f, primals)


def _by_jvp(f: Callable, primals: tuple) -> Callable:
    """The linear function that computes the values each time."""

    def f_jvp(*tangents: Any) -> Any:
        return jvp(f, primals, tangents)[1]

    return f_jvp


linearize.__srcjax_inside__ = _recomputing  # type: ignore[attr-defined]

_LINEARIZED = Kept()


def _linearized(f: Callable, active: tuple[int, ...], count: int) -> Any:
    """The transform of `linearize`, kept as for `jvp`."""

    def made() -> Any:
        return _as_called(linear_map.Linearized(f, active), count)

    return _LINEARIZED.get((id(f), active, count), f, made)


def _try_out(version: Version, residuals: Any, primals: list) -> None:
    """Raises what the linear map raises; then the values are computed each time."""
    zeros = [runtime.zeros_like(p) for p in primals]
    if all(map(is_leaf, zeros)):
        _linear(version)(residuals, *zeros)


def _linear(version: Version) -> Callable:
    """The linear map of a module of `linearize`."""
    found: Callable = getattr(version.loaded, version.module.functions[-2].name)
    return found


def is_leaf(value: Any) -> bool:
    """Whether the argument is a number or an array, whose zero is easily made."""
    return isinstance(value, (int, float, complex, np.generic, np.ndarray))


def _linear_function(
    f: Callable, primals: tuple, active: tuple[int, ...], version: Version, kept: Any
) -> Callable:
    """The function of tangents that reads what was kept."""
    linear = _linear(version)

    def served(tangent: Any, primal: Any, k: int) -> bool:
        if k in active:
            return tangent is not None or is_leaf(primal)
        return tangent is None

    @boundary
    def f_jvp(*tangents: Any) -> Any:
        each = range(len(primals))
        if len(tangents) != len(primals) or not all(
            map(served, tangents, primals, each)
        ):
            return jvp(f, primals, tangents)[1]
        dots = [
            runtime.zeros_like(primals[k])
            if tangents[k] is None
            else tree.seed_like(tangents[k], primals[k], f"tangents[{k}]", "a tangent")
            for k in active
        ]
        return linear(kept, *dots)

    f_jvp.__srcjax_inside__ = _by_jvp(f, primals)  # type: ignore[attr-defined]
    f_jvp.__srcjax_module__ = version.module  # type: ignore[attr-defined]
    return f_jvp
