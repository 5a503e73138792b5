"""Batch rules of linear algebra: most functions of `np.linalg` work on stacks."""

from __future__ import annotations

import gast
import numpy as np

from srcjax import syntax
from srcjax.ops import eigen, linalg  # noqa: F401  (the records)
from srcjax.ops.batch_kinds import batch
from srcjax.ops.batch_operands import as_it_is
from srcjax.ops.batch_products import mapped, operands, rank_of
from srcjax.ops.batching import MappedCall, lift

# -- functions of stacks of matrices -------------------------------------------------

batch(
    np.linalg.inv,
    np.linalg.det,
    np.linalg.slogdet,
    np.linalg.cholesky,
    np.linalg.pinv,
    np.linalg.eigh,
    np.linalg.eigvalsh,
    np.linalg.eig,
    np.linalg.svd,
    np.linalg.svdvals,
    np.linalg.qr,
)(as_it_is("a"))
batch(np.linalg.matrix_rank)(as_it_is("A"))

# -- systems of equations ------------------------------------------------------------


@batch(np.linalg.solve)
def _(call: MappedCall) -> gast.expr | None:
    return solution(call)


def solution(call: MappedCall, matrix: gast.expr | None = None) -> gast.expr | None:
    """`np.linalg.solve`: what has one axis is a vector, all else stacks of matrices."""
    found = operands(call, "a", "b")
    if found is None:
        return None
    a, b = found
    m, n = rank_of(a), rank_of(b)
    if m < 2 or n < 1:
        return None
    x, y = matrix or a[0], b[0]
    if n == 1 and mapped(b):
        if m == 2 and not mapped(a):  # one factorisation for all
            return syntax.expression("np.linalg.solve(x, y.T).T", x=x, y=y)
        if m == 2:
            text = "np.linalg.solve(x, y[:, :, None])[:, :, 0]"
            return syntax.expression(text, x=x, y=y)
        return None
    if n > 1:
        x, y = lift(x, a[1], max(m, n)), lift(y, b[1], max(m, n))
    return syntax.expression("np.linalg.solve(x, y)", x=x, y=y)
