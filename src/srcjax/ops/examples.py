"""The results of a loop over the examples as one, where their structure is not known.

The helper's own text looks at the values when it runs, so it is an operation by itself.
"""

from __future__ import annotations

from typing import Any

from srcjax import runtime
from srcjax.analysis.types import UNKNOWN, Type
from srcjax.ops.record import adjoint

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"
d: Any  # adjoints by name, in the text of rules


def infer_stacked(examples: Type, axis: Type) -> Type:
    return UNKNOWN


@adjoint(
    runtime.stacked, signature="examples, axis", infer=infer_stacked, linear="examples"
)
def _(y, examples, axis):
    d[examples] = unstacked(d[y], examples, axis)
