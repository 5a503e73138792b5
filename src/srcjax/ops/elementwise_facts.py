"""What follows of an elementwise operation from its function: no list says it again.

A new operation is its one row; whether its result is floating, or whether it warns of
numbers that another example would not give it, is found by asking the function.
"""

from __future__ import annotations

import functools
import inspect
import math
from typing import Any

import numpy as np

from srcjax.analysis.types import INT, Array, Type, dtype_of
from srcjax.ops.effects import effect_of_function
from srcjax.ops.infer_rules import infer_elementwise
from srcjax.ops.record import Op, lookup
from srcjax.process import warnings_are

#: Ordinary numbers, with zero, negative ones, and some that grow out of range.
_SAMPLES = np.array([-1000.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 1000.0])


def function_named(chain: str) -> Any:
    """The function that `"np.sin"` or `"math.sin"` names, None if there is none."""
    first, _, rest = chain.partition(".")
    value: Any = {"np": np, "math": math}.get(first) if rest else None
    for part in rest.split("."):
        value = getattr(value, part, None)
    return value


def elementwise_operation(chain: str) -> Op | None:
    """The record of an elementwise operation, None for another function."""
    function = function_named(chain)
    op = None if function is None else lookup(function)
    return op if op is not None and op.elementwise else None


@functools.cache
def is_elementwise(chain: str) -> bool:
    """Whether the function is of one argument, and the result has its shape."""
    op = elementwise_operation(chain)
    return op is not None and _arity(op) == 1


@functools.cache
def gives_float(chain: str) -> bool:
    """Whether the function of one argument gives floats for integers too."""
    op = elementwise_operation(chain)
    if op is None or _arity(op) != 1:
        return False
    function, array = function_named(chain), Array(dtype=np.dtype(int), shape=(2,))
    given: list[Type] = [INT] if chain.startswith("math.") else [INT, array]
    infer = op.infer or functools.partial(infer_elementwise, function)
    dtypes = [dtype_of(infer(t)) for t in given]
    return all(dtype is not None and dtype.kind in "fc" for dtype in dtypes)


@functools.cache
def gives_float_of(chain: str, floating: tuple[bool, ...]) -> bool:
    """Whether the function gives floats for arrays of which these are floating.

    Such as `np.linalg.solve` for any, and `np.outer` if one of the two is.
    """
    function = function_named(chain)
    op = None if function is None else lookup(function)
    if op is None or op.infer is None or op.inert:
        return False
    if not effect_of_function(function).pure:
        return False
    kinds = [float if each else int for each in floating]
    try:
        single = function(*(np.array(kind(1)) for kind in kinds))
    except Exception:  # it takes other arguments
        single = None
    if isinstance(single, np.ndarray) and not single.ndim:
        return False  # an array without axes, to which may be written
    for shape in ((2, 2), (2,)):
        given = [Array(dtype=np.dtype(kind), shape=shape) for kind in kinds]
        try:
            dtype = dtype_of(op.infer(*given))
        except Exception:  # it takes other arguments
            continue
        return dtype is not None and dtype.kind in "fc"
    return False


@functools.cache
def is_harmless(chain: str) -> bool:
    """Whether the function gives a number, without a warning, for each number."""
    op = elementwise_operation(chain)
    if op is None or not chain.startswith("np."):
        return False
    count = _arity(op)
    args = [_SAMPLES.reshape([-1] + [1] * k) for k in range(count)]
    try:
        with np.errstate(all="raise"), warnings_are("error"):
            found = function_named(chain)(*args)
    except Exception:
        return False
    return bool(np.all(np.isfinite(found)))


def _arity(op: Op) -> int:
    parameters = op.signature.parameters.values()
    return sum(p.default is inspect.Parameter.empty for p in parameters)
