"""Derivatives of functions that are only known when the program runs.

    for f in functions:                   for f in functions:
        y, pullback = vjp(f, x)               y = f(x)
        dx = pullback(dy)[0]                  pulled = pullback_of(f)
                                              dx = pulled(dy, x)[0]

A derivative of the left-hand side, such as a generated gradient has it, needs what
`pullback` does as a function of `x` too: then `transforms.unknown_functions` writes the
right-hand side. `pulled` is an ordinary function, differentiated where it is called.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from srcjax import _generated
from srcjax.analysis.custom import CustomRule
from srcjax.api import forward, reverse
from srcjax.api.forward import jvp
from srcjax.api.reverse import refuse_writes, vjp
from srcjax.errors import UnsupportedError
from srcjax.runtime import zeros_like
from srcjax.versions import tree
from srcjax.versions.functions import with_source


def vjp_at_run_time(f: Any, *primals: Any) -> tuple:
    """`vjp` of a function that is found when the program runs.

    Integers and what else is no real number stay as they are: nothing flows into them.

    Raises:
        UnsupportedError: `f` writes to what it is given, which nobody would see.
    """
    check_functions(primals)
    active = _real(primals)
    if isinstance(f, CustomRule) or not active:
        return vjp(f, *primals)
    transform = reverse._pullback_of(with_source(f, len(primals)), active)
    y, pullback = reverse.pull_back(transform, primals, gives_away=False)

    def pulled(dy: Any) -> tuple:
        found = dict(zip(active, pullback(dy), strict=True))
        return tuple(
            found[k] if k in found else zeros_like(x) for k, x in enumerate(primals)
        )

    return y, (pullback if len(active) == len(primals) else pulled)


def jvp_at_run_time(f: Any, primals: tuple, tangents: tuple) -> tuple:
    """`jvp` of a function that is found when the program runs, in the same way."""
    check_functions(primals)
    active = _real(primals)
    if isinstance(f, CustomRule) or not active:
        return jvp(f, primals, tangents)
    f = with_source(f, len(primals))
    dots = [t if k in active else None for k, t in enumerate(tangents)]
    version, _, _ = forward._transform_of(f, active, len(primals)).prepare(primals, {})
    refuse_writes(f, version.module)
    return jvp(f, primals, dots)


def check_functions(primals: tuple) -> None:
    """Refuse functions that a text makes of real numbers around them.

    These may be differentiated, and a function that is found when the program runs has
    no derivative by what its arguments hold so.
    """
    waiting, seen = list(primals), set()
    while waiting:
        function = waiting.pop()
        if not _generated.holds(function) or id(function) in seen:
            continue
        seen.add(id(function))
        held = list(inspect.getclosurevars(function).nonlocals.values())
        held += [
            *(function.__defaults__ or ()),
            *(function.__kwdefaults__ or {}).values(),
        ]
        waiting += held
        if any(map(tree.has_reals, held)):
            raise UnsupportedError(
                f"`{function.__name__}` uses real numbers from around it, and is "
                "given to a function that is only known when the program runs",
                instead="pass these numbers to it as arguments",
            )


def _real(primals: tuple) -> tuple[int, ...]:
    """The places of what holds real numbers."""
    return tuple(k for k, x in enumerate(primals) if tree.has_reals(x))


def vjp_custom(custom: Any, *args: Any) -> tuple[Any, Callable]:
    """`vjp` of what `custom_jvp` made: the transpose of the rule is the pullback."""
    static = custom.nondiff_argnums
    fixed = [args[i] for i in static]
    primals = tuple(a for i, a in enumerate(args) if i not in static)
    zeros = tuple(zeros_like(p) for p in primals)
    value = custom.rule(*fixed, primals, zeros)[0]
    tangent = custom.tangent(len(static))

    def pullback(dy: Any) -> tuple:
        transform = reverse._pullback_of(tangent, (len(fixed) + 1,))
        pull = reverse.pull_back(transform, (*fixed, primals, zeros))[1]
        found = iter(pull(dy)[0])
        return tuple(
            zeros_like(a) if i in static else next(found) for i, a in enumerate(args)
        )

    return value, pullback


def vjp_checkpointed(checkpointed: Any, *args: Any) -> tuple[Any, Callable]:
    """`vjp` of what `checkpoint` made: its forward sweep runs when pulled back."""
    function = getattr(checkpointed, "function", checkpointed)
    value = function(*args)

    def pullback(dy: Any) -> Any:
        return vjp(function, *args)[1](dy)

    return value, pullback


vjp_at_run_time.__srcjax_nested__ = vjp.__srcjax_nested__  # type: ignore[attr-defined]
jvp_at_run_time.__srcjax_nested__ = jvp.__srcjax_nested__  # type: ignore[attr-defined]


def pullback_of(f: Any) -> Callable:
    """The pullback of `f` as a function of the seed and the primals."""
    return _once(_pullback_of, f)


def tangent_of(f: Any) -> Callable:
    """`jvp` of `f` as a function of the primals, and then the tangents."""
    return _once(_tangent_of, f)


def _pullback_of(f: Any) -> Callable:
    def pulled(dy, *primals):
        y, pullback = vjp_at_run_time(f, *primals)
        return pullback(dy)

    return pulled


def _tangent_of(f: Any) -> Callable:
    def pushed(*both):
        count = len(both) // 2
        return jvp_at_run_time(f, both[:count], both[count:])

    return pushed


@functools.lru_cache(maxsize=256)
def _kept(make: Callable, f: Any) -> Callable:
    return make(f)


def _once(make: Callable, f: Any) -> Callable:
    """The same function for the same `f`, so that it is transformed once."""
    try:
        return _kept(make, f)
    except TypeError:  # a callable object that has no hash
        return make(f)
