"""Tangents of the runtime helpers that generated gradients call.

The adjoint that a helper computes is linear in the adjoint that it is given, so the
tangent of one is the same call with the tangent:

    dx = untake(dy, x, [2, 0])          dx_dot = untake(dy_dot, x, [2, 0])

Of the other arguments it reads sizes, places and dtypes alone. Reverse mode, and what
is not declared here, read the helper's source.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

from srcjax import runtime
from srcjax.analysis.types import UNKNOWN, Type
from srcjax.ops.helpers import helper_of, result_like
from srcjax.ops.record import TANGENTS, Op, key_of


def linear_in(*parameters: str, tells_more: bool = True) -> Callable[..., None]:
    """The record of helpers whose result is linear in these arguments together.

    Where the type of the result is not told, the helper's source is read in its place,
    unless that `tells_more` of no type: it takes apart what is known at run time only.
    """

    def declare(*functions: Callable) -> None:
        for function in functions:
            TANGENTS[key_of(function)] = functools.partial(
                record, function, parameters, tells_more
            )

    return declare


def record(
    function: Callable, parameters: tuple[str, ...], tells_more: bool = True
) -> Op:
    """What forward mode knows of a helper."""
    helper = helper_of(function)
    assert helper is not None
    signature = inspect.signature(function)

    def infer(**types: Type) -> Type:
        return result_like(function, [], types)

    def is_unknown(**types: Type) -> bool:
        return infer(**types) == UNKNOWN

    op = Op(f"srcjax.runtime.{helper.node.name}", signature, infer)
    op.linear = (parameters,)
    op.passes = parameters
    op.constant = tuple(n for n in signature.parameters if n not in parameters)
    op.alias = helper.alias
    op.functions.append(function)
    if tells_more:
        op.otherwise, op.otherwise_for = function, is_unknown
    return op


linear_in("d")(
    runtime.in_dtype_of,
    runtime.unappend_left,
    runtime.unbroadcast,
    runtime.uncompress,
    runtime.undelete,
    runtime.undiag,
    runtime.undiagonal,
    runtime.unpad,
    runtime.unreduce,
    runtime.unrepeat,
    runtime.unroll,
    runtime.unslide,
    runtime.untake,
    runtime.untake_along_axis,
    runtime.untile,
)
linear_in("a", "b")(runtime.add)
linear_in("rows", tells_more=False)(runtime.stack_rows)
linear_in("columns", tells_more=False)(runtime.stack_columns)

__all__ = ["linear_in", "record"]
