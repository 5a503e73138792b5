"""`make_jaxpr`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from srcjax.analysis.registered import NAMESPACE
from srcjax.errors import ArgumentError
from srcjax.late import late
from srcjax.ops.structs import ShapeDtypeStruct

if TYPE_CHECKING:
    import optree

    from srcjax.jaxprs import forms, operations, programs, traced
else:
    optree = late("optree")
    forms = late("srcjax.jaxprs.forms")
    operations = late("srcjax.jaxprs.operations")
    programs = late("srcjax.jaxprs.programs")
    traced = late("srcjax.jaxprs.traced")


def make_jaxpr(
    fun: Callable, static_argnums: int | Sequence[int] = (), return_shape: bool = False
) -> Callable:
    """A function that gives the core form of `fun` in JAX's notation.

        >>> make_jaxpr(lambda x: 2 * np.log(x))(1.0)
        { lambda ; a:f64[]. let b:f64[] = log a; c:f64[] = mul 2.0:f64[] b in (c,) }

    Equations have the names of JAX's primitives. A function of NumPy's that is none of
    them is made of several where that is short, and else an equation of its own name
    (`remainder`, `inv`). A branch that a value decides is `cond`, a loop that a value
    ends is `while`. A loop over a range or over rows is `scan`; where it is none, as
    over a list of layers, its trips stand one after the other. A call of what `jit`
    made is `jit[...]`; other calls are written out. An entry that is set is `scatter`.
    Checks that raise are left out.

    Args:
        fun: a Python function of NumPy values, or what a transform made of one.
        static_argnums: positions of arguments that are no variables.
        return_shape: give the shapes and dtypes of the results too.

    Returns:
        A function of the arguments of `fun`: arrays, numbers, `ShapeDtypeStruct`s and
        pytrees of these. It gives a `ClosedJaxpr`, whose `jaxpr.eqns` have a
        `primitive.name`, `invars`, `outvars` and `params`; with `return_shape`, a pair.

    Raises:
        ArgumentError: there is no notation for what the function does.
    """
    static = (static_argnums,) if isinstance(static_argnums, int) else static_argnums

    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        trace = traced.Trace()
        invars: list[Any] = []

        def variable(leaf: Any) -> Any:
            if isinstance(leaf, (np.ndarray, np.generic)) or hasattr(leaf, "dtype"):
                found = trace.fresh(leaf.shape, leaf.dtype)
            elif isinstance(leaf, (bool, int, float, complex)):
                found = trace.fresh((), np.asarray(leaf).dtype, True)
            elif leaf is None or isinstance(leaf, (str, type)) or callable(leaf):
                return leaf
            else:
                raise ArgumentError(
                    f"make_jaxpr: an argument is, or holds, a {type(leaf).__name__}",
                    instead="arrays and numbers in pytrees, or static_argnums",
                )
            invars.append(found.var)
            return found

        def variables(value: Any) -> Any:
            return optree.tree_map(
                variable, value, none_is_leaf=True, namespace=NAMESPACE
            )

        count = len(args)
        fixed = {k % count for k in static}
        given = tuple(a if k in fixed else variables(a) for k, a in enumerate(args))
        named = {k: variables(v) for k, v in sorted(kwargs.items())}
        try:
            result = programs.called(trace, fun, given, named)
        except (AttributeError, NameError, RecursionError, TypeError) as error:
            shown = f"{type(error).__name__}: {error}"
            raise traced.Unwritable(
                f"make_jaxpr: the function cannot be gone through without values "
                f"({shown})",
                instead="functions of NumPy, branches, and loops",
            ) from error
        leaves = optree.tree_leaves(result, none_is_leaf=False, namespace=NAMESPACE)
        outvars = [result_of(trace, leaf) for leaf in leaves]
        constants = list(trace.consts.values())
        eqns = traced.needed(trace.eqns, outvars, trace.spare)
        jaxpr = forms.Jaxpr([v for v, _ in constants], invars, eqns, outvars)
        closed = forms.ClosedJaxpr(jaxpr, [value for _, value in constants])
        if not return_shape:
            return closed
        return closed, optree.tree_map(
            lambda leaf: (
                ShapeDtypeStruct(np.shape(leaf), np.asarray(leaf).dtype)
                if not isinstance(leaf, traced.Traced)
                else ShapeDtypeStruct(leaf.shape, leaf.dtype)
            ),
            result,
            namespace=NAMESPACE,
        )

    return jaxpr_of


def result_of(trace: Any, leaf: Any) -> Any:
    """How a result is read. Raises ArgumentError if it is no number and no array."""
    if isinstance(leaf, traced.Traced):
        leaf.refuse_stale()
        return leaf.var
    if not isinstance(leaf, (np.ndarray, np.generic, bool, int, float, complex)):
        raise ArgumentError(
            f"make_jaxpr: the function gives a {type(leaf).__name__}",
            instead="arrays, numbers, or pytrees of these",
        )
    return operations.traced(trace, leaf).var


__all__ = ["make_jaxpr"]
