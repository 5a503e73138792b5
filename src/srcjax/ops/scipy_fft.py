"""scipy.fft: cosine and sine transforms. What np.fft has too is a composite.

The matrices of the types 1 and 4 are symmetric, and those of 2 and 3 each other's
transposes, all but for the entries at the ends, which SciPy weighs otherwise unless
the matrix is to be orthogonal.
"""

from __future__ import annotations

from typing import Any

import scipy.fft

from srcjax.analysis.types import Array, Const, Type
from srcjax.ops.batch_kinds import along_axis, batch
from srcjax.ops.fft import LAST, NONE, one, signal_dtype, with_sizes
from srcjax.ops.record import adjoint

# ruff: noqa: F821
# mypy: disable-error-code="no-redef, name-defined"
d: Any  # adjoints by name, in the text of rules

TWO = Const(value=2)


def infer_waves(
    x: Type, type: Type = TWO, n: Type = NONE, axis: Type = LAST, **_: Type
) -> Type:
    return Array(dtype=signal_dtype(x), shape=with_sizes(x, one(n), one(axis)))


HOW = (
    "x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, "
    "orthogonalize=None"
)


@adjoint(scipy.fft.dct, signature=HOW, infer=infer_waves, linear="x")
def _(
    y,
    x,
    type=2,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    orthogonalize=None,
):
    d[x] = undct(d[y], x, type, axis, norm, orthogonalize)


@adjoint(scipy.fft.dst, signature=HOW, infer=infer_waves, linear="x")
def _(
    y,
    x,
    type=2,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    orthogonalize=None,
):
    d[x] = undst(d[y], x, type, axis, norm, orthogonalize)


for _transform in (scipy.fft.dct, scipy.fft.dst):
    batch(_transform)(along_axis("x", default=-1, whole=False))
