"""What helpers of linear algebra stand for."""

from __future__ import annotations

import gast

from srcjax import runtime, syntax
from srcjax.analysis.types import Type, rank_of
from srcjax.ops.expand.asking import is_real
from srcjax.ops.expand.table import expands


@expands(runtime.per_matrix)
def _per_matrix(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    rank = rank_of(types[1])
    if rank is None:
        return None
    form = "d" if rank == 2 else "d[..., None, None]"
    return syntax.expression(form, d=args[0])


@expands(runtime.symmetrised)
def _symmetrised(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if rank_of(types[0]) != 2 or not syntax.is_atom(args[0]):
        return None
    if not is_real(types[0]):
        return None
    return syntax.expression("(x + x.T) / 2", x=args[0])
