"""Batch rules of calls that derivatives have no rule for: composites, `where=`.

A composite is inlined where a derivative flows through it. A batch needs no such thing
where NumPy's own function has an axis or takes stacks: `np.median(x)` of a vector is
`np.median(x, axis=1)` of a batch, and the derivative of that is the composite's again.

The records are for calls of which only the first argument is mapped; all others are
treated as the composite.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Tuple,
    Type,
    dtype_of,
    is_active,
    shape_of,
)
from srcjax.ops.batch_kinds import along_axis
from srcjax.ops.batch_operands import as_it_is, axis_of, expr, only
from srcjax.ops.batching import MappedCall, Rule, all_axes, shifted, within
from srcjax.ops.eigen import infer_eig
from srcjax.ops.infer_rules import (
    FALSE,
    NONE,
    float_dtype,
    reduced_shape,
    value_of_shape,
)
from srcjax.ops.known import MISSING, known_value
from srcjax.ops.record import NATIVE, Op, key_of, parse_signature
from srcjax.ops.reductions import (
    infer_extreme,
    infer_mean,
    infer_scan,
    infer_sum,
    infer_truth,
)

_function: Any
_AXIS = "a, axis=None, keepdims=False"
_QUANTILE = "a, q, axis=None, *, method='linear', keepdims=False"


def serves(**bound: Type) -> bool:
    """Whether the first argument alone is mapped, and an axis is known."""
    first, *others = bound.values()
    known = known_value(bound.get("axis", NONE)) is not MISSING
    array = isinstance(first, Array) and first.shape is not None
    return known and array and not any(map(is_active, others))


def declare(
    signature: str, infer: Any, rule: Rule, *functions: Any, when: Any = serves
) -> None:
    """The functions serve a batch themselves, where only the first argument is one."""
    for function in functions:
        name = f"{function.__module__}.{function.__name__}"
        op = Op(name, parse_signature(signature), infer, batch=rule)
        op.functions.append(function)
        NATIVE[key_of(function)] = op, when


# -- along an axis -------------------------------------------------------------------

declare(_AXIS, infer_mean, along_axis("a"), np.median, np.nanmedian)
declare(
    "a, axis=None, *, ddof=0, keepdims=False",
    infer_mean,
    along_axis("a"),
    np.nanvar,
    np.nanstd,
)
declare("a, axis=None, *, keepdims=False", infer_sum, along_axis("a"), np.nanprod)
declare(
    "a, axis=None",
    infer_scan,
    along_axis("a", whole=False),
    np.nancumsum,
    np.nancumprod,
)


def infer_norms(x: Type, axis: Type = NONE, keepdims: Type = FALSE, **_: Type) -> Type:
    return infer_mean(x, axis, keepdims=keepdims)


declare(
    "x, /, *, axis=None, keepdims=False, ord=2",
    infer_norms,
    along_axis("x"),
    np.linalg.vector_norm,
)


def shape_of_quantiles(q: Type) -> tuple[Any, ...] | None:
    given = known_value(q)
    return shape_of(q) if given is MISSING else np.shape(given)


def infer_quantile(
    a: Type, q: Type, axis: Type = NONE, keepdims: Type = FALSE, **_: Type
) -> Type:
    """The axes of `q` come first."""
    places = shape_of_quantiles(q)
    rest = reduced_shape(a, axis, keepdims)
    if places is None or rest is None:
        return UNKNOWN
    double = float_dtype(a) == np.dtype(float)
    return value_of_shape(np.dtype(float) if double else None, (*places, *rest))


def quantiles(call: MappedCall) -> gast.expr | None:
    """Of several quantiles, the batch comes before their axes again."""
    made, reduced = along_axis("a")(call), call.result_rank
    given = call.const("q")
    places = call.rank("q") if given is MISSING else np.ndim(given)
    if made is None or places is None or reduced is None:
        return None
    if places == 0:
        return made
    if places == reduced == 1:
        return syntax.expression("y.T", y=made)
    return syntax.expression(f"np.moveaxis(y, {places}, 0)", y=made)


def infer_quantile_of_numbers(a: Type, q: Type, **bound: Type) -> Type:
    """NumPy lays out a table of quantiles as it happens to fall."""
    places = shape_of_quantiles(q)
    known = places is not None and len(places) < 2
    return infer_quantile(a, q, **bound) if known else UNKNOWN


def quantiles_of_numbers(call: MappedCall) -> gast.expr | None:
    """As `quantiles`, of one or of a row."""
    given = call.const("q")
    places = call.rank("q") if given is MISSING else np.ndim(given)
    return quantiles(call) if places is not None and places < 2 else None


declare(_QUANTILE, infer_quantile, quantiles, np.quantile, np.percentile)
declare(
    _QUANTILE,
    infer_quantile_of_numbers,
    quantiles_of_numbers,
    np.nanquantile,
    np.nanpercentile,
)

# -- stacks of matrices --------------------------------------------------------------


def infer_eigvals(a: Type) -> Type:
    found = infer_eig(a)
    assert isinstance(found, Tuple)
    return found.items[0]


def infer_per_matrix(x: Type, *_: Type, **__: Type) -> Type:
    shape = shape_of(x)
    dtype = dtype_of(x)
    kept = dtype if dtype is not None and dtype.char in "fd" else None
    return UNKNOWN if shape is None else value_of_shape(kept, shape[:-2])


declare("a", infer_eigvals, as_it_is("a"), np.linalg.eigvals)
declare("x, p=None", infer_per_matrix, as_it_is("x"), np.linalg.cond)


def infer_matrix_norm(x: Type, keepdims: Type = FALSE, **_: Type) -> Type:
    return infer_per_matrix(x) if known_value(keepdims) is False else UNKNOWN


declare(
    "x, /, *, keepdims=False, ord='fro'",
    infer_matrix_norm,
    as_it_is("x"),
    np.linalg.matrix_norm,
)

# -- reductions of some elements -----------------------------------------------------


def some(**bound: Type) -> bool:
    """Whether the call says which elements, or where to start from."""
    a, axis = bound["a"], known_value(bound.get("axis", NONE))
    given = {"where", "initial"} & bound.keys()
    return bool(given) and shape_of(a) is not None and axis is not MISSING


def of_some(call: MappedCall) -> gast.expr | None:
    """A reduction with `where`, which broadcasts against the examples, or `initial`."""
    rank, axis = call.rank("a"), axis_of(call)
    if not rank or axis is MISSING or not only(call, "a", "where"):
        return None
    axis = all_axes(rank) if axis is None else axis
    if not within(axis, rank):
        return None
    changes = {"axis": expr(shifted(axis, rank))}
    if call.is_mapped("where"):
        where = call.rank("where")
        if where is None or where > rank:
            return None
        changes["where"] = call.lifted("where", rank)
    if not call.is_mapped("a"):
        batch = "np.broadcast_to(a, (n, *np.shape(a)))"
        changes["a"] = syntax.expression(batch, a=call.arg("a"), n=call.size)
    return call.rebuild(**changes)


def declare_some(function: Any, infer: Any, *, start: bool, more: str = "") -> None:
    """The signature with `where` and `initial` as well; derivatives have none."""
    initial = ", initial=None" if start else ""
    signature = f"a, axis=None{more}, *, keepdims=False{initial}, where=True"

    def infer_some(**bound: Type) -> Type:
        bound.pop("initial", None)
        bound.pop("where", None)
        found: Type = infer(**bound)
        return found

    declare(signature, infer_some, of_some, function, when=some)


for _function in (np.sum, np.prod):
    declare_some(_function, infer_sum, start=True, more=", dtype=None")
for _function in (np.max, np.min):
    declare_some(_function, infer_extreme, start=True)
for _function in (np.any, np.all):
    declare_some(_function, infer_truth, start=False)
declare_some(np.mean, infer_mean, start=False, more=", dtype=None")
