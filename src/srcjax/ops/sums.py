"""The sum of two adjoints whose type is not known, where it is differentiated again.

It may be a number, an array or a container: the sum of containers is item by item, so
that no operator says it, and the helper's own text asks for types when it runs.
"""

from __future__ import annotations

from typing import Any

from srcjax import runtime
from srcjax.analysis.types import UNKNOWN, Type
from srcjax.ops.record import adjoint

# ruff: noqa: F821
d: Any  # adjoints by name, in the text of rules


def infer_add(a: Type, b: Type) -> Type:
    return a if a == b else UNKNOWN


@adjoint(runtime.add, signature="a, b", infer=infer_add, linear=[("a", "b")])
def _(y, a, b):
    d[a] = d[y]
    d[b] = d[y]
