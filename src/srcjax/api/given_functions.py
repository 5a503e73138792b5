"""Functions that come with what is to be done in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from srcjax.analysis.custom import CustomRule
from srcjax.analysis.registered import NAMESPACE
from srcjax.api.forward import jvp
from srcjax.api.reverse import vjp
from srcjax.api.structures import stand_ins, structs_given
from srcjax.errors import ArgumentError
from srcjax.late import late

if TYPE_CHECKING:
    import optree
else:
    optree = late("optree")


def custom_gradient(fun: Callable) -> CustomRule:
    """Decorator: a function that gives its value and, as a function, its pullback::

        @custom_gradient
        def log1pexp(x):
            e = np.exp(x)
            return np.log(1 + e), lambda g: g * (1 - 1 / (1 + e))

    Args:
        fun: `fun(*args) -> (y, pullback)`; `pullback(dy)` gives the adjoint of the
            argument, or a tuple with that of each of several.

    Returns:
        A function that gives `y`, with a rule for reverse mode, as of `custom_vjp`.
    """

    def value(*args: Any) -> Any:
        return fun(*args)[0]

    def forward(*args: Any) -> Any:
        return fun(*args)

    def backward(pullback: Callable, dy: Any) -> tuple:
        found = pullback(dy)
        return found if isinstance(found, tuple) else (found,)

    found = CustomRule(value)
    found.__name__ = getattr(fun, "__name__", "function")
    if not found.__name__.isidentifier():
        found.__name__ = "function"
    found.__doc__ = fun.__doc__
    found.defvjp(forward, backward)
    return found


def linear_transpose(fun: Callable, *primals: Any) -> Callable:
    """The transpose of a linear function.

    Args:
        fun: a function that is linear in all its arguments together.
        *primals: arguments of the shapes and dtypes that it is called with: arrays,
            `ShapeDtypeStruct`s, or pytrees of these. Their values are not used.

    Returns:
        A function of one value of the structure of what `fun` gives, which gives a
        tuple of values of the structures of the arguments.

    Raises:
        ArgumentError: `fun` is not linear: at some random values it differs from its
            derivative.
    """
    zeros: Any = optree.tree_map(
        np.zeros_like,
        stand_ins(structs_given(primals)),
        none_is_leaf=True,
        namespace=NAMESPACE,
    )
    refuse_if_not_linear(fun, zeros)
    _, pullback = vjp(fun, *zeros)

    def transposed(ct: Any) -> tuple:
        found: tuple = pullback(ct)
        return found

    return transposed


def _transposed_inside(fun: Callable, *primals: Any) -> Callable:
    """`linear_transpose` as transforms read it: the pullback, at any values."""

    def transposed(ct: Any) -> tuple:
        found: tuple = vjp(fun, *primals)[1](ct)
        return found

    return transposed


linear_transpose.__srcjax_inside__ = _transposed_inside  # type: ignore[attr-defined]


def refuse_if_not_linear(fun: Callable, zeros: Any) -> None:
    """Compare a function with its derivative. Raises ArgumentError if it is another."""
    draw = np.random.default_rng(0)

    def some() -> Any:
        def normal(x: Any) -> Any:
            parts = draw.normal(size=(2, *np.shape(x)))
            both = parts[0] + 1j * parts[1] if np.iscomplexobj(x) else parts[0]
            return np.asarray(both).astype(x.dtype)

        return optree.tree_map(normal, zeros, none_is_leaf=True, namespace=NAMESPACE)

    direction = some()
    _, along = jvp(fun, some(), direction)
    for found, expected in zip(
        optree.tree_leaves(fun(*direction), namespace=NAMESPACE),
        optree.tree_leaves(along, namespace=NAMESPACE),
        strict=True,
    ):
        if not np.allclose(found, expected, rtol=1e-3, atol=1e-3):
            raise ArgumentError(
                f"linear_transpose: {getattr(fun, '__name__', 'the function')} is not "
                "linear",
                instead="`srcjax.vjp`, the transpose of the derivative at a point",
            )


def pure_callback(
    callback: Callable,
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """`callback(*args, **kwargs)`: what runs here is Python in any case.

    Transforms go through the callback as through any function, which JAX's do not: what
    has no derivative, or no rule for batches, is refused, or runs in a loop.

    Args:
        callback: a function of NumPy values without side effects.
        result_shape_dtypes: what JAX has to know of the result; it is not looked at.
        sharding: accepted, and of no effect.
        vmap_method: accepted; a batch is run as `vmap` finds best.
    """
    return callback(*args, **kwargs)


__all__ = ["custom_gradient", "linear_transpose", "pure_callback"]
