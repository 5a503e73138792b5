"""What users call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, overload

from srcjax.analysis.arrays import as_arrays, as_plain, holds_arrays
from srcjax.analysis.custom import Checkpointed, CustomRule, CustomTangent
from srcjax.analysis.kept import Kept
from srcjax.analysis.stopped import stop_gradient
from srcjax.api.options import as_decorator, boundary, with_known_options
from srcjax.backends.marks import transform_of
from srcjax.errors import ArgumentError, SrcjaxError, UnsupportedError
from srcjax.frontend.stage_texts import StageTexts, recording
from srcjax.late import late
from srcjax.versions import modes
from srcjax.versions.callables import Argnums, Transform, make_callable
from srcjax.versions.dressed import dress
from srcjax.versions.functions import with_source
from srcjax.versions.recipes import Recipe
from srcjax.versions.reverse_mode import (
    Gradient,
    KeptPullback,
    Pullback,
    ValueAndPullback,
    run_backward,
)

if TYPE_CHECKING:
    from srcjax.versions import tree
else:
    tree = late("srcjax.versions.tree")


P = ParamSpec("P")
R = TypeVar("R")


@overload
def grad(
    f: Callable[P, Any],
    argnums: Argnums = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    check: bool | None = ...,
) -> Callable[P, Any]: ...
@overload
def grad(
    f: None = None,
    argnums: Argnums = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    check: bool | None = ...,
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...
@with_known_options
def grad(
    f: Callable | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    check: bool | None = None,
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
        check: compare the first call for each kind of arguments with differences and
            with the other mode, and raise DerivativeMismatch if it is wrong. Without
            it, as `srcjax.config.check` says.

    Returns:
        A function of the same arguments; the gradient has the structure, shapes and
        dtypes of the argument. Without `f`, a decorator.

    Raises:
        ArgumentError: argnums does not fit, the argument is no real or complex number,
            or `f` does not return one real number. SrcjaxError: `f` uses what is not
            supported.

    >>> srcjax.grad(lambda x: x**3)(2.0)
    12.0
    """
    return as_decorator(_gradient(argnums, has_aux, False, holomorphic, check), f)


def _pushforward_of(
    function: Callable, argnums: tuple[str, ...], has_aux: bool
) -> Transform:
    """Forward mode is imported when something is compared with it."""
    from srcjax.api.forward import pushforward_of

    return pushforward_of(function, argnums, has_aux)


Transform.OPPOSITES.setdefault("forward", _pushforward_of)


def _gradient(
    argnums: Argnums,
    has_aux: bool,
    with_value: bool,
    holomorphic: bool,
    check: bool | None,
) -> Callable[[Callable], Callable]:
    def make(g: Callable) -> Callable:
        transform = Gradient(g, argnums, has_aux, with_value, holomorphic)
        transform.check = check
        options = {"argnums": argnums, "has_aux": has_aux, "check": check}
        options["holomorphic"] = holomorphic
        return make_callable(transform, Recipe(transform.name, g, options))

    return make


@overload
def value_and_grad(
    f: Callable[P, R],
    argnums: Argnums = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    check: bool | None = ...,
) -> Callable[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    f: None = None,
    argnums: Argnums = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    check: bool | None = ...,
) -> Callable[[Callable[P, R]], Callable[P, tuple[R, Any]]]: ...
@with_known_options
def value_and_grad(
    f: Callable | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    check: bool | None = None,
) -> Callable:
    """Like `grad`, with the value: `(value, gradient)`, `((value, aux), gradient)`.

    >>> srcjax.value_and_grad(lambda x: x**3)(2.0)
    (8.0, 12.0)
    """
    return as_decorator(_gradient(argnums, has_aux, True, holomorphic, check), f)


grad.__srcjax_maker__ = True  # type: ignore[attr-defined]
value_and_grad.__srcjax_maker__ = True  # type: ignore[attr-defined]


@overload
def vjp(
    f: Callable[P, Any], *, has_aux: bool = ..., check: bool | None = ...
) -> Callable[P, Any]: ...
@overload
def vjp(
    f: Callable[..., R],
    primal: Any,
    /,
    *primals: Any,
    has_aux: Literal[False] = ...,
    check: bool | None = ...,
) -> tuple[R, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vjp(
    f: Callable[..., Any],
    primal: Any,
    /,
    *primals: Any,
    has_aux: Literal[True],
    check: bool | None = ...,
) -> tuple[Any, Callable[[Any], tuple[Any, ...]], Any]: ...
@boundary
def vjp(
    f: Callable, *primals: Any, has_aux: bool = False, check: bool | None = None
) -> Any:
    """The value of `f` and its pullback: `y, pullback = vjp(f, *primals)`.

    `pullback(dy)` takes an adjoint of the structure and shapes of `y` and returns a
    tuple with the adjoint of each primal. It may be called any number of times.
    Whole numbers and flags beside real numbers are held, as they are: an int stays an
    int, and the adjoint of what holds no real number is zero. Where no primal has a
    real number, Python ints are taken for real numbers, as `grad` does.
    It reads arrays among the primals, and arrays that `f` reads from around it, as they
    are then: nothing is copied, so give `vjp` a copy of what you will write to before.
    With `has_aux`, `f` returns `(y, aux)` and the result is `(y, pullback, aux)`. With
    `check`, the pullback is compared with differences and forward mode, as in `grad`.

    Given `f` alone, a function of the primals that returns all this; `srcjax.source`
    shows its text, and that of a pullback.

    >>> y, pullback = srcjax.vjp(lambda x, w: x * w, 3.0, 2.0)
    >>> y, pullback(1.0)
    (6.0, (2.0, 3.0))
    """
    if holds_arrays(primals):
        found: Any = vjp(f, *as_plain(primals), has_aux=has_aux, check=check)
        y, pulled, *more = found
        return as_arrays(y), _giving_arrays(pulled), *as_arrays(more)
    if not primals and not isinstance(f, CustomRule):
        transform = ValueAndPullback(f, 0)
        if transform.parameters:
            return _value_and_pullback(f, transform, has_aux, check)
    if isinstance(f, CustomRule) and f.fwd is not None:
        return custom_vjp_call(f, primals)
    f = with_source(f, len(primals))
    active = tuple(k for k, x in enumerate(primals) if tree.has_reals(x))
    if not active:  # as `grad` does
        pullback = _pullback_of(f, tuple(range(len(primals))), ints_are_real=True)
        return pull_back(pullback, primals, has_aux, check)
    y, pulled, *aux = pull_back(_pullback_of(f, active), primals, has_aux, check)
    if len(active) < len(primals) or any(map(tree.holds_whole, primals)):
        pulled = _with_held(pulled, primals, active)
    return y, pulled, *aux


def _giving_arrays(pullback: Any) -> Callable:
    """The pullback, with adjoints that are `Array`s."""

    @boundary
    def found(dy: Any) -> tuple:
        adjoints: tuple = as_arrays(pullback(as_plain(dy)))
        return adjoints

    vars(found).update(vars(pullback))
    return found


def _value_and_pullback(
    f: Callable, transform: Transform, has_aux: bool, check: bool | None
) -> Callable:
    """`vjp(f)`: a function of primals."""
    transform.argnums = tuple(range(len(transform.parameters)))

    @boundary
    def value_and_pullback(*primals: Any) -> tuple:
        found: Any = vjp(f, *primals, has_aux=has_aux, check=check)
        return found

    options = {"has_aux": has_aux, "check": check}
    dress(value_and_pullback, transform, Recipe("vjp", f, options))
    return value_and_pullback


def _with_held(pulled: Callable, primals: tuple, active: tuple[int, ...]) -> Callable:
    """The pullback, with zeros for the primals that are held, and their parts."""
    from srcjax.runtime import zeros_like

    places = [active.index(k) if k in active else None for k in range(len(primals))]

    def with_zeros(found: Callable, filled: Callable) -> Callable:
        def pullback(dy: Any) -> tuple:
            dx = found(dy)
            both = zip(places, primals, strict=True)
            return tuple(
                zeros_like(x) if k is None else filled(dx[k], x) for k, x in both
            )

        return pullback

    pullback: Any = boundary(with_zeros(pulled, _zeros_for_whole))
    readable = getattr(pulled, "__srcjax_function__", pulled)
    pullback.__srcjax_function__ = with_zeros(readable, lambda dx, x: dx)
    pullback.__srcjax_module__ = pulled.__srcjax_module__  # type: ignore[attr-defined]
    return pullback


def _zeros_for_whole(dx: Any, x: Any) -> Any:
    """An adjoint in which None for an array of whole numbers is zero."""
    from srcjax.runtime.basics import of_class, zeros_like

    if dx is None:
        return zeros_like(x) if tree.is_whole(x) else None
    if isinstance(x, dict):
        return of_class(x, {key: _zeros_for_whole(d, x[key]) for key, d in dx.items()})
    if isinstance(x, (list, tuple)):
        items = [_zeros_for_whole(d, part) for d, part in zip(dx, x, strict=True)]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    return dx


def _readable(backward: Callable, saved: Any, single: bool, consumes: bool) -> Callable:
    """What a pullback computes, as a function that a transform can read."""

    def pullback(dy: Any) -> tuple:
        kept = tree.copy_saved(saved) if consumes else saved
        return (backward(kept, dy),) if single else backward(kept, dy)

    return pullback


def pull_back(
    transform: Transform,
    primals: tuple,
    has_aux: bool = False,
    check: bool | None = None,
    gives_away: bool = True,
) -> tuple:
    """The value, and the pullback to the arguments that the transform is about.

    Without `gives_away`, the function must not write to its arguments.
    """
    if transform.depends_on_call():
        called = transform.as_called(len(primals))
        transform = called.__srcjax_transform__  # type: ignore[attr-defined]
    version, values, keywords = transform.prepare(primals, {})
    module = version.module
    if not gives_away:
        refuse_writes(transform.function, module)
    forward = version.call
    backward = getattr(version.loaded, module.functions[-1].name)
    y, saved = forward(*values, **keywords)
    tree.check_result(y, "vjp")
    of = f"vjp of {transform.shown_name}"
    if modes.ON["debug_nans"]:
        modes.refuse_nans(of, y, lambda: forward(*values, **keywords))
    if transform.is_to_be_checked(version, check):
        transform.prove(version, primals, {})
    consumes = module.consumes
    count = len(transform.wrt)

    @boundary
    def pullback(dy: Any) -> tuple:
        seed = tree.seed_like(dy, y)

        def run() -> Any:
            if consumes:
                return run_backward(backward, saved, seed)
            return backward(saved, seed)

        result = run()
        if modes.ON["debug_nans"]:
            modes.refuse_nans(of, result, run)
        return (result,) if count == 1 else result

    pullback.__srcjax_module__ = module  # type: ignore[attr-defined]
    readable = _readable(backward, saved, count == 1, consumes)
    pullback.__srcjax_function__ = readable  # type: ignore[attr-defined]
    if has_aux:
        value, aux = y

        @boundary
        def pullback_of_value(dy: Any) -> tuple:
            from srcjax.runtime import zeros_like

            return pullback((dy, zeros_like(aux)))

        pullback_of_value.__srcjax_module__ = module  # type: ignore[attr-defined]
        return value, pullback_of_value, aux
    return y, pullback


def refuse_writes(f: Any, module: Any) -> None:
    """Raise UnsupportedError if a function, found at run time, writes to arguments."""
    if module.writes_arguments:
        name = getattr(f, "__name__", "the function")
        raise UnsupportedError(
            f"`{name}`, found when the program runs, writes to what it is "
            "given, and differentiated code would not see it",
            instead="return the new value, or call each function in its own branch",
        )


def custom_vjp_call(f: CustomRule, primals: tuple) -> tuple:
    """`vjp` of a function with its own rule."""
    assert f.fwd is not None and f.bwd is not None
    y, saved = f.fwd(*primals)
    static = [primals[i] for i in f.nondiff_argnums]
    backward = f.bwd

    def pullback(dy: Any) -> tuple:
        return tuple(backward(*static, saved, dy))

    return y, pullback


_PULLBACKS = Kept()


def _pullback_of(
    f: Callable, argnums: tuple[int, ...], ints_are_real: bool = False
) -> Pullback:
    """The transform of `vjp(f, ...)`, kept while `f` is the same function."""

    def made() -> Pullback:
        transform = Pullback(f, argnums)
        transform.ints_are_real = ints_are_real
        return transform

    found: Pullback = _PULLBACKS.get((id(f), argnums, ints_are_real), f, made)
    return found


def _pair_of(f: Callable, argnums: tuple[int, ...], count: int) -> KeptPullback:
    """The transform for `vjp(f, ...)` inside of a transformed function."""
    return KeptPullback(f, argnums)


vjp.__srcjax_nested__ = ("vjp", _pair_of)  # type: ignore[attr-defined]


@with_known_options
def custom_vjp(f: Callable | None = None, nondiff_argnums: Sequence[int] = ()) -> Any:
    """Decorator: give a function a derivative of its own with `f.defvjp(fwd, bwd)`.

    `fwd(*args) -> (y, residuals)` and `bwd(residuals, dy) -> tuple of adjoints`, one
    for each argument; arguments at `nondiff_argnums` come first in `bwd`. A call inside
    of a transformed function must give every argument at a position, or by the name of
    one that has a position.

    >>> @srcjax.custom_vjp
    ... def clipped(x):
    ...     return x * x
    >>> clipped.defvjp(lambda x: (x * x, x), lambda x, dy: (dy * min(2 * x, 1.0),))
    >>> srcjax.grad(clipped)(3.0)
    1.0
    """
    return as_decorator(lambda g: CustomRule(g, tuple(nondiff_argnums)), f)


@with_known_options
def custom_jvp(f: Callable | None = None, nondiff_argnums: Sequence[int] = ()) -> Any:
    """Decorator: give a function a derivative of its own with `f.defjvp(rule)`.

    `rule(primals, tangents) -> (y, y_dot)`, both tuples, `y_dot` linear in the
    tangents; arguments at `nondiff_argnums` come first. Or `f.defjvps(*rules)` with a
    `rule(x_dot, y, *args)` for each argument, whose results are added. The rule serves
    forward and reverse mode. Arguments are given as those of `custom_vjp` functions.

    >>> @srcjax.custom_jvp
    ... def halved(x):
    ...     return x * x
    >>> halved.defjvps(lambda x_dot, y, x: x * x_dot)
    >>> srcjax.grad(halved)(3.0)
    3.0
    """
    return as_decorator(lambda g: CustomTangent(g, tuple(nondiff_argnums), _pair_of), f)


@overload
def checkpoint(
    f: Callable[P, R],
    *,
    prevent_cse: bool = ...,
    policy: Any = ...,
    static_argnums: int | Sequence[int] = ...,
) -> Callable[P, R]: ...
@overload
def checkpoint(
    f: None = None,
    *,
    prevent_cse: bool = ...,
    policy: Any = ...,
    static_argnums: int | Sequence[int] = ...,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@with_known_options
def checkpoint(
    f: Callable | None = None,
    *,
    prevent_cse: bool = True,
    policy: Any = None,
    static_argnums: int | Sequence[int] = (),
) -> Any:
    """Decorator: save nothing of `f`; its backward sweep runs it again.

    Arguments are given as those of `custom_vjp` functions. Of a function that is made
    inside of the one that is differentiated, and of one that is given such functions or
    objects, what its statements need is saved.

    Args:
        f: a Python function of NumPy values. Without it, a decorator.
        prevent_cse: accepted, and of no effect.
        policy: accepted, and of no effect: nothing but the arguments is saved.
        static_argnums: accepted, and of no effect: functions are read, not traced.

    >>> inner = srcjax.checkpoint(lambda x: x * x * x)
    >>> srcjax.grad(lambda x: 2.0 * inner(x))(2.0)
    24.0
    """
    return as_decorator(Checkpointed, f)


#: A function that is made inside of another one stays what it is there.
checkpoint.__srcjax_keeps__ = True  # type: ignore[attr-defined]
checkpoint.__srcjax_inside__.__srcjax_keeps__ = True  # type: ignore[attr-defined]
#: As in JAX.
remat = checkpoint


# -- the text --------------------------------------------------------------------------


class Source(str):
    """Generated text; a notebook shows it highlighted beside the original.

    So do Python's prompt and IPython's in a terminal, in colours where it has them.
    """

    original: str

    def __new__(cls, text: str, original: str = "") -> Source:
        self = super().__new__(cls, text)
        self.original = original
        return self

    def _repr_html_(self) -> str:
        from srcjax.beside.html import side_by_side

        return side_by_side(self.original, str(self))

    def __repr__(self) -> str:
        """The text itself: what a prompt shows of it is to be read."""
        from srcjax.beside.terminal import for_prompt

        return for_prompt(str(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


class Typeset(Source):
    """Explained text: a notebook shows it with its formulas typeset."""

    markdown: str

    _repr_html_ = None  # type: ignore[assignment]

    def _repr_markdown_(self) -> str:
        return self.markdown


@boundary
def source(
    f: Callable,
    *args: Any,
    general: Any = False,
    explain: Any = False,
    **kwargs: Any,
) -> Source:
    """The generated text of a transformed function.

    With example arguments it is the text for their types. Without them it is that of
    the last call. Before any call it is for what a reader supposes of the function, as
    the docstring of the text says ("for w: (n,), X: (m, n)"): type hints (`float`,
    `int`, `np.ndarray`) are believed, and every other argument is a number, a vector or
    a matrix, with as few axes as the function can do with. Where nothing can be
    supposed, as of an argument that is called, and with `general=True`, the text is for
    arguments of all kinds: it asks at run time, and is longer. `export` writes that
    one, too.

    Instead of examples, shapes may be given by name: `source(df, W="n h", x="m n")`.
    They are names of sizes or numbers, with a dtype before them if it is not float64
    (`x="float32 m n"`), and `""` is a number; hints say so as `Annotated[np.ndarray,
    "m n"]`, or as jaxtyping does.

    With `explain=True` comments say why each line is there: its rule of calculus, what
    a tape or a copy is for, what happens at a tie. The code is the same. Where nothing
    is known of a line, nothing is said. With `explain="latex"` a notebook shows the
    formulas typeset.

    Raises:
        ArgumentError: `f` was not made by srcjax, or the arguments do not fit.

    >>> def square(x):
    ...     return x * x
    >>> print(srcjax.source(srcjax.grad(square), 2.0))
    __all__ = ["grad_square"]
    <BLANKLINE>
    <BLANKLINE>
    def grad_square(x):
        \"\"\"Gradient of square with respect to x.\"\"\"
        # return x * x
        return 2 * x
    <BLANKLINE>
    """
    module = getattr(f, "__srcjax_module__", None)
    if module is not None:  # of one call, such as that of `linearize`
        return explained(module, "", explain) if explain else Source(module.text)
    transform = transform_of(f, "srcjax.source(srcjax.grad(f))")
    if general is not False and "general" in transform.signature.parameters:
        kwargs["general"], general = general, False  # the function has an own one
    if explain is not False and "explain" in transform.signature.parameters:
        kwargs["explain"], explain = explain, False
    if explain:
        module = module_with_reasons(transform, args, kwargs, general)
        return explained(module, transform.source.text, explain)
    last = transform.last.cell_contents
    if general:
        module = transform.shown_for(args, kwargs)
    elif not args and not kwargs and last is not None and last.holds():
        module = last.module.shown()
    else:
        module = transform.module_to_read(args, kwargs)
    return Source(module.text, transform.source.text)


def module_with_reasons(
    transform: Any, args: tuple = (), kwargs: Any = None, general: Any = False
) -> Any:
    """The module that `source` shows, with the rules that its lines were written by.

    Texts that another process kept have none: they are written anew, for arguments like
    those of the call.
    """
    last, kwargs = transform.last.cell_contents, kwargs or {}
    with recording():
        if general:
            return transform.shown_for(args, kwargs)
        if not args and not kwargs and last is not None and last.holds():
            module = last.module.shown()
            if hasattr(module, "stages"):
                return module
            parameters = transform.signature.parameters
            given = zip(transform.parameters, last.example, strict=True)
            args, kwargs = transform.as_call(
                {n: v for n, v in given if v is not parameters[n].default}
            )
        return transform.module_to_read(args, kwargs)


def explained(module: Any, original: str, explain: Any) -> Source:
    """The text with comments on each line. Raises ArgumentError for another wish."""
    from srcjax.backends.explained import as_markdown, explained_text

    if explain is not True and explain != "latex":
        raise ArgumentError(
            f"explain is {explain!r}", instead='`explain=True` or `explain="latex"`'
        )
    functions = getattr(module, "functions", None)
    if not functions or not all(hasattr(f, "body") for f in functions):
        raise ArgumentError(
            "this text was kept by another process, and what its lines are made of was "
            "not",
            instead="the text of a transform: `source(srcjax.vjp(f), x, explain=True)`",
        )
    text = explained_text(module, latex=explain == "latex")
    if explain is True:
        return Source(text, original)
    found = Typeset(text, original)
    found.markdown = as_markdown(module)
    return found


@boundary
def stages(f: Callable, *args: Any, **kwargs: Any) -> StageTexts:
    """The text after each stage and each pass, by name, each of them Python.

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

    Before `settle` and `simplify` stand their passes, as `settle: webs`, `simplify:
    nest` and, where the pass changed something again, `simplify: nest (2)`, with the
    functions that each changed; one that changed nothing is left out.
    `stages(df, x).changes("simplify: nest")` shows what it did as a unified diff. The
    lists of passes are in `srcjax/pipeline.py`.

    The function is transformed once more for it, whatever was kept of earlier calls.

    Raises:
        ArgumentError: `f` was not made by srcjax, or the arguments do not fit.

    >>> list(srcjax.stages(srcjax.grad(lambda x: x * x), 2.0))[:4]
    ['read', 'check', 'normalise', 'infer']
    """
    with recording():
        transform = transform_of(f, "srcjax.stages(srcjax.grad(f))")
        module = transform.shown_for(args, kwargs)
    return module.stage_texts()


__all__ = [
    "SrcjaxError",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "grad",
    "remat",
    "source",
    "stages",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
