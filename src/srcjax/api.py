"""What users call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from srcjax import tree
from srcjax.analysis.types import with_active
from srcjax.backends.load import annotate
from srcjax.callables import (
    Argnums,
    Gradient,
    KeptPullback,
    Pullback,
    Transform,
    ValueAndPullback,
    make_callable,
    with_source,
)
from srcjax.custom import Checkpointed, CustomRule, CustomTangent
from srcjax.errors import ArgumentError, SrcjaxError
from srcjax.ops.record import inert
from srcjax.stage_texts import recording


def _decorator(make: Callable[[Callable], Callable], function: Callable | None) -> Any:
    """Use as `grad(f, ...)`, `@grad` or `@grad(...)`."""
    return make if function is None else make(function)


def grad(
    f: Callable | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable:
    """The gradient of a function that returns one real number.

    Args:
        f: a Python function of NumPy values (also a lambda, method, partial ...).
        argnums: position or name of the argument to differentiate with respect to;
            a tuple of them gives a tuple of gradients. The arguments may be pytrees.
        has_aux: `f` returns `(value, aux)`, and the result is `(gradient, aux)`.
        holomorphic: `f` is a holomorphic function of complex arguments and returns
            one complex number; the result is its complex derivative. Without it, the
            gradient of a real number to a complex `z = x + iy` is, as in JAX,
            `df/dx - i df/dy` (of `|z|**2`: `2 * conj(z)`).

    Returns:
        A function of the same arguments; the gradient has the structure, shapes and
        dtypes of the argument. Without `f`, a decorator.

    Raises:
        ArgumentError: argnums does not fit, the argument is no real or complex number,
            or `f` does not return one real number. SrcjaxError: `f` uses what is not
            supported.
    """
    return _decorator(
        lambda g: make_callable(Gradient(g, argnums, has_aux, False, holomorphic)), f
    )


def value_and_grad(
    f: Callable | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable:
    """Like `grad`, with the value: `(value, gradient)`, `((value, aux), gradient)`."""
    return _decorator(
        lambda g: make_callable(Gradient(g, argnums, has_aux, True, holomorphic)), f
    )


grad.__srcjax_maker__ = True  # type: ignore[attr-defined]
value_and_grad.__srcjax_maker__ = True  # type: ignore[attr-defined]


def vjp(f: Callable, *primals: Any, has_aux: bool = False) -> Any:
    """The value of `f` and its pullback: `y, pullback = vjp(f, *primals)`.

    `pullback(dy)` takes an adjoint of the structure and shapes of `y` and returns a
    tuple with the adjoint of each primal. It may be called any number of times.
    It reads arrays among the primals, and arrays that `f` reads from around it, as they
    are then: nothing is copied, so give `vjp` a copy of what you will write to before.
    With `has_aux`, `f` returns `(y, aux)` and the result is `(y, pullback, aux)`.

    Given `f` alone, a function of the primals that returns all this; `srcjax.source`
    shows its text, and that of a pullback.
    """
    if not primals and not isinstance(f, CustomRule):
        transform = ValueAndPullback(f, 0)
        if transform.parameters:
            return _value_and_pullback(f, transform, has_aux)
    if isinstance(f, CustomRule) and f.fwd is not None:
        return custom_vjp_call(f, primals)
    f = with_source(f, len(primals))
    return pull_back(_pullback_of(f, tuple(range(len(primals)))), primals, has_aux)


def _value_and_pullback(f: Callable, transform: Transform, has_aux: bool) -> Callable:
    """`vjp(f)`: a function of primals."""
    transform.argnums = tuple(range(len(transform.parameters)))

    def value_and_pullback(*primals: Any) -> tuple:
        found: tuple = vjp(f, *primals, has_aux=has_aux)
        return found

    value_and_pullback.__name__ = f"vjp_{getattr(f, '__name__', 'fn')}"
    value_and_pullback.__doc__ = f"vjp of {getattr(f, '__name__', 'a function')}."
    value_and_pullback.__srcjax_transform__ = transform  # type: ignore[attr-defined]
    return value_and_pullback


def pull_back(transform: Transform, primals: tuple, has_aux: bool = False) -> tuple:
    """The value, and the pullback to the arguments that the transform is about."""
    if transform.depends_on_call():
        called = transform.as_called(len(primals))
        transform = called.__srcjax_transform__  # type: ignore[attr-defined]
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
            kept, seed = tree.copy_saved((saved, seed))
        try:
            result = backward(kept, seed)
        except Exception as error:
            annotate(error)
            raise
        return (result,) if count == 1 else result

    pullback.__srcjax_text__ = module.text  # type: ignore[attr-defined]
    if has_aux:
        value, aux = y

        def pullback_of_value(dy: Any) -> tuple:
            from srcjax.runtime import zeros_like

            return pullback((dy, zeros_like(aux)))

        pullback_of_value.__srcjax_text__ = module.text  # type: ignore[attr-defined]
        return value, pullback_of_value, aux
    return y, pullback


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


def _pullback_of(f: Callable, argnums: tuple[int, ...]) -> Pullback:
    """The transform of `vjp(f, ...)`, kept while `f` is the same function."""
    try:
        key = (id(f), argnums)
        known = _PULLBACKS.get(key)
        if known is not None and known[0] is f:
            return known[1]
    except TypeError:
        pass
    transform = Pullback(f, argnums)
    if len(_PULLBACKS) > 512:
        _PULLBACKS.clear()
    _PULLBACKS[key] = (f, transform)
    return transform


def _pair_of(f: Callable, argnums: tuple[int, ...], count: int) -> KeptPullback:
    """The transform for `vjp(f, ...)` inside of a transformed function."""
    return KeptPullback(f, argnums)


vjp.__srcjax_nested__ = ("vjp", _pair_of)  # type: ignore[attr-defined]


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
    for each argument; arguments at `nondiff_argnums` come first in `bwd`. A call inside
    of a transformed function must give every argument at a position, or by the name of
    one that has a position.
    """
    return _decorator(lambda g: CustomRule(g, tuple(nondiff_argnums)), f)


def custom_jvp(f: Callable | None = None, nondiff_argnums: Sequence[int] = ()) -> Any:
    """Decorator: give a function a derivative of its own with `f.defjvp(rule)`.

    `rule(primals, tangents) -> (y, y_dot)`, both tuples, `y_dot` linear in the
    tangents; arguments at `nondiff_argnums` come first. Or `f.defjvps(*rules)` with a
    `rule(x_dot, y, *args)` for each argument, whose results are added. The rule serves
    forward and reverse mode. Arguments are given as those of `custom_vjp` functions.
    """
    return _decorator(lambda g: CustomTangent(g, tuple(nondiff_argnums)), f)


def checkpoint(f: Callable | None = None) -> Any:
    """Decorator: save nothing of `f`; its backward sweep runs it again.

    Arguments are given as those of `custom_vjp` functions.
    """
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
    text = getattr(f, "__srcjax_text__", None)
    if text is not None:  # of one call, such as that of `linearize`
        return Source(text)
    transform = _transform_of(f)
    module = transform.module_for(args, kwargs)
    return Source(module.text, transform.source.text)


def stages(f: Callable, *args: Any, **kwargs: Any) -> dict[str, str]:
    """The text after each stage, by name, each of them Python.

    - `read`: the functions as written, callees below.
    - `check`: with comments on the names that may carry a derivative, and on what
      becomes of each construct.
    - `normalise`: in core form, one operation a statement.
    - `infer`: with the type of each name (`~` where it carries a derivative).
    - `settle`: with callees written out, and a name for each value of another type.
    - `reverse`, `forward` or `batch`: what the transform wrote.
    - `simplify`: without dead code, copies and identities, nested again.
    - `emit`: the text that `source` gives.
    - `load`: the module it became, and which line comes from which of the user's.

    The function is transformed once more for it, whatever was kept of earlier calls.

    Raises:
        ArgumentError: `f` was not made by srcjax, or the arguments do not fit.
    """
    with recording():
        module = _transform_of(f).module_for(args, kwargs)
    return module.stage_texts()


__all__ = [
    "SrcjaxError",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "grad",
    "source",
    "stages",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
