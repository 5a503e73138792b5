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
from collections.abc import Callable
from typing import Any

from srcjax.api import vjp
from srcjax.forward_mode import jvp


def pullback_of(f: Any) -> Callable:
    """The pullback of `f` as a function of the seed and the primals."""
    return _once(_pullback_of, f)


def tangent_of(f: Any) -> Callable:
    """`jvp` of `f` as a function of the primals, and then the tangents."""
    return _once(_tangent_of, f)


def _pullback_of(f: Any) -> Callable:
    def pulled(dy, *primals):
        y, pullback = vjp(f, *primals)
        return pullback(dy)

    return pulled


def _tangent_of(f: Any) -> Callable:
    def pushed(*both):
        count = len(both) // 2
        return jvp(f, both[:count], both[count:])

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
