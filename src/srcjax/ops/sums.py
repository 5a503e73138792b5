"""The sum of two adjoints whose type is not known, where it is differentiated again.

It may be a number, an array or a container: the sum of containers is item by item, so
that no operator says it, and the helper's own text asks for types when it runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcjax import runtime
from srcjax.analysis.types import (
    Array,
    Object,
    Scalar,
    Type,
    Unknown,
    dtype_of,
    is_active,
    is_number,
    join,
    map_parts,
    parts,
    replace,
    without_buffers,
)
from srcjax.ops.infer_rules import infer_elementwise
from srcjax.ops.record import adjoint

# ruff: noqa: F821
d: Any  # adjoints by name, in the text of rules


def infer_add(a: Type, b: Type) -> Type:
    """Both are adjoints of one value, so the sum has what they have in common.

    A number beside an array is the zero that it started from.
    """
    for number, array in ((a, b), (b, a)):
        if is_number(number) and isinstance(array, Array):
            return infer_elementwise(np.add, a, b)
    return of_sum(join(a, in_classes_of(a, b)))


def in_classes_of(a: Type, b: Type) -> Type:
    """`b` with the classes of the objects of `a`, of which the sum is a copy."""
    inner, others = parts(a), parts(b)
    if len(inner) == len(others) > 0:
        pairs = iter(zip(inner, others, strict=True))
        b = map_parts(b, lambda part: in_classes_of(*next(pairs)))
    if isinstance(a, Object) and isinstance(b, Object):
        return replace(b, cls=a.cls)
    return b


def of_sum(t: Type) -> Type:
    """A new value of the type, of which no number is known."""
    if is_number(t):
        known = not isinstance(getattr(t, "value", None), np.generic)
        python = t.python if isinstance(t, Scalar) else known
        return Scalar(active=is_active(t), dtype=dtype_of(t), python=python)
    if isinstance(t, Array) or parts(t):
        return without_buffers(map_parts(t, of_sum))
    return Unknown(is_active(t), t.buffers)


@adjoint(runtime.add, signature="a, b", infer=infer_add, linear=[("a", "b")])
def _(y, a, b):
    """A sum passes its adjoint on to both terms."""
    d[a] = d[y]
    d[b] = d[y]
