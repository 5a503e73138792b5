"""What helpers of linear algebra stand for."""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcjax import runtime, syntax
from srcjax.analysis.types import Type, rank_of
from srcjax.ops.expand.asking import is_real
from srcjax.ops.expand.table import Expansion, expands
from srcjax.ops.known import MISSING, known_value


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


def of_a_triangle(upper_form: str, lower_form: str) -> Expansion:
    """The text for one real matrix, by the triangle that is read."""

    def expand(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
        upper = known_value(types[1]) if len(types) > 1 else False
        if rank_of(types[0]) != 2 or not is_real(types[0]) or upper is MISSING:
            return None
        if not syntax.is_atom(args[0]):
            return None
        return syntax.expression(upper_form if upper else lower_form, x=args[0])

    return expand


expands(runtime.whole_of_triangle)(
    of_a_triangle("np.triu(x) + np.triu(x, 1).T", "np.tril(x) + np.tril(x, -1).T")
)
expands(runtime.to_triangle)(
    of_a_triangle("np.triu(x) + np.triu(x.T, 1)", "np.tril(x) + np.tril(x.T, -1)")
)


def without_zeros(helper: Callable) -> Expansion:
    """`uneigh((dw, None), y)` for `uneigh((dw, np.zeros_like(v)), y)`.

    Nothing flows through that part of the result. It may have no derivative, as the
    vectors of equal eigenvalues have none, and zero times infinity is NaN.
    """

    def expand(args: list[gast.expr], _: list[Type]) -> gast.expr | None:
        seeds = args[0]
        if not isinstance(seeds, gast.Tuple) or not any(map(_is_zero, seeds.elts)):
            return None
        parts = [syntax.const(None) if _is_zero(e) else e for e in seeds.elts]
        return syntax.call(helper.__name__, gast.Tuple(parts, syntax.LOAD), *args[1:])

    return expand


def _is_zero(seed: gast.expr) -> bool:
    called = isinstance(seed, gast.Call) and syntax.dotted(seed.func)
    return called == "np.zeros_like"


for _helper in (
    runtime.uneigh,
    runtime.unsvd,
    runtime.scipy_uneigh,
    runtime.uneigh_tridiagonal,
    runtime.unpolar,
):
    expands(_helper)(without_zeros(_helper))
