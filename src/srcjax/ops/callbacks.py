"""Calls for what they do, such as those of `srcjax.debug.callback`.

What is called is not looked into: it runs with the values that it is given, once for
each example of a batch, and no derivative goes through it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from srcjax.analysis.types import Const
from srcjax.ops.record import inert


def callback(
    callback: Callable[..., Any],
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> None:
    """Call a function for what it does; what it gives is not used.

    Inside transformed functions it is called with values when the text runs: once in
    a gradient, in its forward sweep, and in a batch once for each example. It must not
    write to the arrays that it is given.

    Args:
        callback: a function of `*args` and `**kwargs`, which is not looked into.
        ordered: accepted; callbacks come in the order of the program.
        partitioned: accepted, and of no effect.
    """
    callback(*args, **kwargs)


inert(
    callback,
    name="srcjax.debug.callback",
    signature="callback, *args, ordered=False, partitioned=False, **kwargs",
    infer=lambda callback, *args, **kwargs: Const(value=None),
)
