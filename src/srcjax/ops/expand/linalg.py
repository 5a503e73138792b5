"""What helpers of linear algebra stand for."""

from __future__ import annotations

import gast

from srcjax import runtime, syntax
from srcjax.analysis.types import Type, rank_of, shape_of
from srcjax.ops.expand.asking import is_real
from srcjax.ops.expand.table import expands


@expands(runtime.per_matrix)
def _per_matrix(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    rank = rank_of(types[1])
    if rank is None:
        return None
    form = "d" if rank == 2 else "d[..., None, None]"
    return syntax.expression(form, d=args[0])


@expands(runtime.unsolve_right)
def _unsolve_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, a, _ = args
    m, n = shape_of(types[1]), shape_of(types[2])
    if m is None or n is None or len(m) != 2 or len(n) not in (1, 2):
        return None
    return syntax.expression("np.linalg.solve(a.T, d)", d=d, a=a)


@expands(runtime.unsolve_left)
def _unsolve_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, y, a, b = args
    db = _unsolve_right([d, a, b], [types[0], types[2], types[3]])
    if db is None:
        return None
    form = "-np.outer(db, y)" if rank_of(types[3]) == 1 else "-db @ y.T"
    return syntax.expression(form, db=db, y=y)


@expands(runtime.symmetrised)
def _symmetrised(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if rank_of(types[0]) != 2 or not syntax.is_atom(args[0]):
        return None
    if not is_real(types[0]):
        return None
    return syntax.expression("(x + x.T) / 2", x=args[0])
