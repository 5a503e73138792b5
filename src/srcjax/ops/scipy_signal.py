"""scipy.signal: linear filters along an axis. Filters made of others are composites.

With `A y = B x`, `A` and `B` the filters with the coefficients `a` and `b`, a change of
`a` is `A dy = -dA y`, and the transpose of a filter is the filter run backwards.
"""

from __future__ import annotations

from typing import Any

import scipy.signal

from srcjax.analysis.types import Array, Type, shape_of
from srcjax.ops.batch_kinds import along_axis, batch
from srcjax.ops.infer_rules import NONE
from srcjax.ops.linalg import linalg_dtype
from srcjax.ops.record import adjoint, tangent

# ruff: noqa: F821
# mypy: disable-error-code="no-redef, name-defined"
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules


def infer_filtered(b: Type, a: Type, x: Type, *_: Type, **__: Type) -> Type:
    return Array(dtype=linalg_dtype(b, a, x), shape=shape_of(x))


@adjoint(
    scipy.signal.lfilter,
    signature="b, a, x, axis=-1, zi=None",
    infer=infer_filtered,
    constant=("zi",),
)
def _(y, b, a, x, axis=-1, zi=None):
    d[b] = lagged_sums(d[y], scipy.signal.lfilter([1.0], a, x, axis), b, axis)
    d[a] = -lagged_sums(d[y], scipy.signal.lfilter([1.0], a, y, axis), a, axis)
    d[x] = np.flip(scipy.signal.lfilter(b, a, np.flip(d[y], axis), axis), axis)


@tangent(scipy.signal.lfilter)
def _(y, b, a, x, axis=-1, zi=None):
    d[y] = scipy.signal.lfilter(d[b], a, x, axis)
    d[y] = -scipy.signal.lfilter(d[a], a, y, axis)
    d[y] = scipy.signal.lfilter(b, a, d[x], axis)


batch(scipy.signal.lfilter)(along_axis("x", default=-1, whole=False))


def has_start(zi: Type = NONE, **_: Type) -> bool:
    """Whether the state of the filter is given: then its last state is returned too."""
    return zi != NONE
